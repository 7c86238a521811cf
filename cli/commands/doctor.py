"""`doctor`: whether all is there that adiff needs, and works."""

from __future__ import annotations

import os
import sys

from ...engine.command import UNDERSTAND, Command
from ...parser import cache
from ...parser.errors import AdiffError
from ..config import location, settings
from ..environment import is_ascii, is_terminal
from ..errors import from_exception
from ..result import Result

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..environment import Environment
    from ..output import Output
    from ..request import Request

INTERNAL = ("test", "dev", "docs")  # extras that are for work on adiff


def answer(request: Request, output: Output) -> Result:
    """A line for each thing that was looked at; what is wrong has a remedy, and makes the exit status 1."""
    from ... import __version__
    from ...engine.core.machine import cores

    given = output.environment.variables
    found: list[tuple[str, str, str]] = [
        ("adiff", f"{__version__} in {os.path.dirname(os.path.dirname(os.path.dirname(__file__)))}", ""),
        ("Python", f"{sys.version.split()[0]}, {sys.executable}", ""),
        *libraries(),
        ("kernels", *attempted(compiled)),
        ("cache", cache.folder(), cache.problem() or ""),
        ("configuration", *attempted(lambda: f"{len(settings(given))} defaults are set; {location(given)}")),
        ("cores", *attempted(lambda: f"{cores()} of {os.cpu_count()}")),
        ("terminal", terminal(output.environment), ""),
    ]
    result = Result({"checks": [{"name": name, "found": x, "problem": wrong or None} for name, x, wrong in found]})
    result.lines = [(name, x + (f"{'; ' if x else ''}PROBLEM: {wrong}" if wrong else "")) for name, x, wrong in found]
    result.columns = list(result.lines)
    result.ok = not any(wrong for _, _, wrong in found)
    return result


def libraries() -> list[tuple[str, str, str]]:
    """The libraries that adiff names in its own metadata; those of an extra may be absent."""
    import re
    from importlib import metadata

    found = []
    for line in metadata.requires("adiff") or ():
        wanted, _, marker = line.partition(";")
        extra = re.search(r"""extra\s*==\s*["'](\w+)""", marker)
        name = re.match(r"[\w.-]+", wanted)[0]  # type: ignore[index]
        if name == "adiff" or (extra and extra[1] in INTERNAL):
            continue
        try:
            version = metadata.version(name)
        except metadata.PackageNotFoundError:
            remedy = f'pip install "adiff[{extra[1]}]"' if extra else f"is not installed: pip install {name}"
            found.append((name, f"not installed: {remedy}", "") if extra else (name, "", remedy))
        else:
            found.append((name, version, ""))
    return found


def attempted(look: Any) -> tuple[str, str]:
    """What is found, or what goes wrong."""
    try:
        return look(), ""
    except Exception as error:
        reported: AdiffError = from_exception(error)
        place = f"{reported.span.source.name}:{reported.span.line}: " if reported.span else ""
        return "", place + reported.message


def compiled() -> str:
    """A gradient from a compiled kernel."""
    from ... import program

    outcome = program("y = x\nfor i in range(n):\n    y = y + 0.5*y\ny").evaluate(
        "grad", {"x": 2.0, "n": 3}, engine="kernel"
    )
    gradients: Any = outcome.gradients
    if outcome.engine != "kernel" or abs(gradients["x"] - 1.5**3) > 1e-12:
        raise AdiffError("E0911", f"the compiler does not work: {outcome.reason or gradients}")
    return "compiled, run and right"


def terminal(environment: Environment) -> str:
    """What adiff takes standard output for."""
    stream = environment.stdout
    where = f"{environment.width()} columns" if is_terminal(stream) else "none"
    colour = "colour" if environment.colour(stream) else "no colour"
    return f"{where}, {'ASCII' if is_ascii(stream) else 'Unicode'}, {colour}"


COMMAND = Command(
    "doctor", UNDERSTAND,
    "Whether adiff has all it needs: libraries and extras, a kernel that compiles, cache, configuration, cores, terminal; exit 1 "
    "where something is wrong.",
    ("adiff doctor", "adiff doctor --json"), (), (), answer=answer,
    draw=lambda drawing, result: drawing.canvas.listing(result.lines),
)  # fmt: skip
