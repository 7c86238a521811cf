"""What a command answers, before any format: a JSON document, name-value lines, columns, and tables of rows."""

from __future__ import annotations

from ..parser.fields import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ..engine.api import Notice, Outcome
    from ..engine.command import Command
    from ..parser.source import Span


class Result:
    """An answer.

    document: the JSON object's content, in the order of its keys.
    lines: what plain prints; one line is printed bare.
    columns: what csv and tsv write as one record.
    header, rows: an answer that is a list of records; csv writes them, and so does plain where there are no lines.
    subject: what the table format draws from; draw: how, by a Drawing.
    """

    def __init__(self, document: dict[str, Any]) -> None:
        self.document = document
        self.lines: list[tuple[str, Any]] = []
        self.columns: list[tuple[str, Any]] = []
        self.header: tuple[str, ...] = ()
        self.rows: Any = []
        self.subject: Any = None
        self.draw: Callable[[Any, Result], None] | None = None
        self.notices: list[Notice] = []
        self.ok = True
        self.written = False  # on the way
        self.engine: str | None = None
        self.loaded = False  # a kernel that was kept, and not compiled
        self.mode: str | None = None
        self.reason: str | None = None
        self.reason_span: Span | None = None
        self.timings: dict[str, float] = {}


class Evaluated(Record):
    """What the tables of an evaluation are drawn from. `outcome` is an Outcome whose attributes the command has set."""

    text: str
    inputs: dict[str, Any]
    outcome: Any

    def input(self, name: str) -> Any:
        """The value that a name is bound to."""
        from .bindings import plain_value

        return plain_value(self.inputs[name])


def from_outcome(command: Command, text: str, inputs: dict[str, Any], outcome: Outcome) -> Result:
    """The answer of an evaluating command."""
    result = Result({})
    command.fill(result, outcome)
    result.draw = command.draw
    result.document["types"] = {
        name: {"dtype": dtype, "shape": list(shape)} for name, (dtype, shape) in (outcome.types or {}).items()
    }
    attach(result, outcome)
    result.subject = Evaluated(text, inputs, outcome)
    return result


def attach(result: Result, outcome: Outcome) -> None:
    """What every evaluation leaves beside its values."""
    result.notices = result.document["notices"] = list(outcome.notices or ())
    result.engine, result.reason, result.mode = outcome.engine, outcome.reason, outcome.mode
    result.reason_span = outcome.reason_span
    result.loaded = outcome.kernel is not None and outcome.kernel.loaded
    result.timings = outcome.timings
