"""`value`: the value of a program."""

from __future__ import annotations

from ..command import BY_ROW, EVALUATE, EVALUATED, Command

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..evaluation import Evaluation


def compute(evaluation: Evaluation) -> None:
    """The value; under `last_statement` that of a last statement that is an expression, if it is one, and under `last_tape`
    the tape that was last asked for a gradient."""
    from ..program.core import UNSET

    if evaluation.options.get("last_tape"):
        from ..tape_rows import last_tape

        last_tape(evaluation)
        return
    as_script = evaluation.options.get("last_statement")
    if (not as_script or evaluation.core.ends_with_value) and evaluation.kernel_result(COMMAND):
        return
    result = evaluation.execute(evaluation.point) if as_script else evaluation.result_of(evaluation.point)
    if result is not UNSET and result is not None:
        evaluation.keep_value(result)


def fill(result: Any, outcome: Any) -> None:
    result.document = {"value": outcome.value}
    result.lines = result.columns = [("value", outcome.value)]


def draw(drawing: Any, result: Any) -> None:
    """The value alone: there is nothing to set beside it."""
    for _, value in result.lines:
        drawing.value(value)


COMMAND = Command(
    "value", EVALUATE, "The value of an expression.",
    (
        'adiff value "2+2"',
        'adiff value "sin(x)**2" --at x=pi/4',
        "adiff value -f rosenbrock.adiff --at @start.json",
    ),
    (*EVALUATED, *BY_ROW), row_order=lambda options: 0, alias="eval", compute=compute, differentiates=False, fill=fill, draw=draw,
)  # fmt: skip
