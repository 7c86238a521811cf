"""`run`: a program file, what it prints as it prints it; then its result."""

from __future__ import annotations

from ...engine.command import AT, COMPUTED, ENGINE, EVALUATE, GRAPH, KINKS, OUTPUT, Argument, Command, Option
from ...engine.commands import tape, value
from ..evaluate import inputs, options
from ..formats.json import dumps
from ..progress import Progress
from ..result import Result, from_outcome
from ..text import program_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..output import Output
    from ..request import Request


class Printer:
    """What the program prints: passed on a whole line at a time, or kept where the format has a place for it."""

    __slots__ = ("format", "lines", "output", "pending")

    def __init__(self, output: Output, format: str) -> None:
        self.output = output
        self.format = format
        self.lines: list[str] = []
        self.pending = ""

    def write(self, text: str) -> None:
        """Take what one print() gave."""
        whole, end, self.pending = (self.pending + text).rpartition("\n")
        if end:
            self.emit(whole)

    def finish(self) -> None:
        """Take a last line that has no end."""
        if self.pending:
            self.emit(self.pending)

    def emit(self, text: str) -> None:
        if self.format == "json":
            self.lines.extend(text.split("\n"))
        elif self.format == "ndjson":
            self.output.write("".join(dumps({"printed": line}) + "\n" for line in text.split("\n")))
        elif self.format in ("csv", "tsv"):
            self.output.environment.write_error(text + "\n")
        else:
            self.output.write(text + "\n")


def answer(request: Request, output: Output) -> Result:
    """Run the program; its result says nothing more where the last statement gives None."""
    style = output.style
    text, name = program_text(request, output.environment)
    from ... import program

    parsed = program(text, name)
    at = inputs(request, parsed)
    printer = Printer(output, style.format)
    progress = Progress(output.environment, True, "")
    as_tape = request.flag("tape") or request.flag("graph")
    try:
        outcome = parsed.evaluate(
            "value", at=at, write=printer.write, progress=progress.show, last_statement=True, last_tape=as_tape,
            **options(request),
        )  # fmt: skip
    finally:
        progress.clear()
    printer.finish()
    result = from_outcome((tape if as_tape else value).COMMAND, text, at, outcome)
    if as_tape:
        return result
    if outcome.value is None:
        result.lines = result.columns = []
    if style.format == "json":
        result.document = {"printed": printer.lines, **result.document}
    return result


COMMAND = Command(
    "run", EVALUATE, "Run a program file: what it prints, then its result.",
    ("adiff run rosenbrock.adiff --at @start.json",),
    (
        AT, KINKS, ENGINE, *COMPUTED, GRAPH,
        Option("--tape", "flag", "", OUTPUT, "Show the tape that was last asked for a gradient."),
    ),
    (Argument("file", "FILE", "A program file ('-' is standard input)."),),
    answer=answer, keys={"printed": "the lines that the program printed"},
)  # fmt: skip
