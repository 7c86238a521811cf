"""`config`: the defaults of options that hold, and where each comes from."""

from __future__ import annotations

from ...engine.command import UNDERSTAND, Command
from ..config import OPTIONS, location, settings
from ..result import Result

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..output import Output
    from ..request import Request


def answer(request: Request, output: Output) -> Result:
    """Each setting with its value, None where the command decides, and the place that says so."""
    found = settings(output.environment.variables)
    values = {key.replace("_", "-"): found.get(key, (None, "default")) for key in OPTIONS}
    path = location(output.environment.variables)
    result = Result(
        {"file": path, "settings": {key: {"value": x, "from": place} for key, (x, place) in values.items()}}
    )
    result.header = ("setting", "value", "from")
    result.rows = [(key, x, place) for key, (x, place) in values.items()]
    return result


def draw(drawing: Any, result: Result) -> None:
    """The table, under the place of the file."""
    drawing.remark(f"defaults in {result.document['file']}, and in ADIFF_* variables")
    drawing.columns(result.header, *zip(*result.rows))


COMMAND = Command(
    "config", UNDERSTAND, "The defaults of options that hold, and what sets them: the file config.toml and ADIFF_* variables.",
    ("adiff config", "adiff config --json"), (), (), answer=answer, draw=draw,
)  # fmt: skip
