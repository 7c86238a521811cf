"""What `Program.rows` gives: columns of values and derivatives, the errors of rows, and notices with a number of rows."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ...parser.errors import AdiffError
    from ...parser.source import Span


class RowsNotice:
    """A notice about some rows, given once for its place in the program; `rows` is how many rows it is true of."""

    __slots__ = ("code", "message", "rows", "span")

    def __init__(self, code: str, message: str, span: Span | None, rows: int) -> None:
        self.code = code
        self.message = message
        self.span = span
        self.rows = rows

    def __repr__(self) -> str:
        return f"RowsNotice({self.code!r}, {self.message!r}, rows={self.rows})"


class RowsOutcome:
    """The results of a program over the n rows of a table.

    `value` has shape (n,), or (n, *shape) where a row's value is a tensor; `gradients[name]` the shape of the source's
    column, or is None where no row's result depends on it; `hessian[row][column]` likewise. A row that failed holds nan
    there, and its error is in `errors` under its number. Rows whose values have no common shape come as an array of
    objects. `engine` is "tape" or "kernel", `reason` says why, with its place in the program in `reason_span` where it has
    one; `emitted` is the source of the kernel; `one_by_one` maps each reason for evaluating rows one by one to the number
    of these rows; `timings` are in seconds.
    """

    def __init__(self) -> None:
        self.value: Any = None
        self.gradients: dict[str, Any] | None = None
        self.hessian: dict[str, dict[str, Any]] | None = None
        self.errors: dict[int, AdiffError] = {}
        self.notices: list[RowsNotice] = []
        self.engine = "tape"
        self.reason = ""
        self.reason_span: Span | None = None
        self.emitted: str | None = None
        self.one_by_one: dict[str, int] = {}
        self.timings: dict[str, float] = {}

    def __repr__(self) -> str:
        shown = f"value={self.value!r}, engine={self.engine!r}"
        if self.errors:
            shown += f", errors in {len(self.errors)} rows"
        return f"RowsOutcome({shown})"
