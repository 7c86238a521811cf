"""`run`: a program file, what it prints, and then its result."""

from __future__ import annotations

from ...engine.command import AT, COMPUTED, ENGINE, EVALUATE, GRAPH, KINKS, OUTPUT, Argument, Command, Option
from ...engine.commands import tape, value
from ..evaluate import Printer, inputs, options, program_of
from ..progress import Progress
from ..result import Result, from_outcome

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..output import Output
    from ..request import Request


def answer(request: Request, output: Output) -> Result:
    """Run the program; its result says nothing more where the last statement gives None."""
    style = output.style
    parsed = program_of(request, output.environment)
    at = inputs(request, parsed)
    beside = output.environment.write_error if style.format in ("csv", "tsv") else output.write
    printer = Printer(output, beside)
    progress = Progress(output.environment, True, "")
    as_tape = request.flag("tape") or request.flag("graph")
    try:
        outcome = parsed.evaluate(
            "value", at=at, write=printer.write, progress=progress.show, last_statement=True, last_tape=as_tape,
            **options(request),
        )  # fmt: skip
    finally:
        progress.clear()
    result = from_outcome((tape if as_tape else value).COMMAND, parsed.source.text, at, outcome)
    if as_tape:
        return result
    if outcome.value is None:
        result.lines = result.columns = []
    printer.finish(result)
    return result


COMMAND = Command(
    "run", EVALUATE, "Run a program file: what it prints, then its result.",
    ("adiff run rosenbrock.adiff --at @start.json",),
    (
        AT, KINKS, ENGINE, *COMPUTED, GRAPH,
        Option("--tape", "flag", "", OUTPUT, "Show the tape that was last asked for a gradient."),
    ),
    (Argument("file", "FILE", "A program file ('-' is standard input)."),),
    answer=answer,
)  # fmt: skip
