"""The results of rows, gathered in any order and put together as columns."""

from __future__ import annotations

from ...parser.fields import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from ...parser.errors import AdiffError
    from ...parser.source import Span
    from .request import Request

# Notices that name what the operands were, which differs from row to row: one message stands for all rows of a place.
OF_OPERANDS = ("N0601", "N0602")


class RowsNotice(Record):
    """A notice about some rows, given once for its place in the program; `rows` is how many rows it is true of."""

    code: str
    message: str
    span: Span | None
    rows: int

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


class Gathered:
    """One column of results. A result may be None: a derivative by a source that the row's result does not depend on."""

    __slots__ = ("count", "pieces")

    def __init__(self, count: int) -> None:
        self.count = count
        self.pieces: list[tuple[Any, Any]] = []

    def add(self, index: Any, values: Any) -> None:
        """Add the results of the rows `index`, in ascending order: an array with these rows along its first axis, which nobody
        else holds, or None."""
        if len(index):
            self.pieces.append((index, values))

    def column(self) -> Any:
        """The whole column, nan where a row has no result. None if no row has one that is not None."""
        import numpy as np

        pieces = self.pieces
        there = [(index, values) for index, values in pieces if values is not None]
        if not there:
            return None
        if len(pieces) == 1 and len(there[0][0]) == self.count and there[0][1].dtype != object:
            return there[0][1]
        shapes = {values.shape[1:] for _, values in there}
        if len(shapes) > 1 or any(values.dtype == object for _, values in there):
            found = np.full(self.count, None, object)
            for index, values in there:
                for i, value in zip(index, values):
                    found[i] = value.tolist() if values.dtype != object else value
            return found
        dtype = np.result_type(*{values.dtype for _, values in there})
        if sum(len(index) for index, _ in pieces) < self.count and dtype.kind in "biu":
            dtype = np.dtype(np.float64)
        found = np.zeros((self.count, *shapes.pop()), dtype)
        if dtype.kind in "fc":
            found[...] = np.nan
        for index, values in pieces:
            found[index] = 0 if values is None else values
        return found


def alone(value: Any) -> Any:
    """The plain value of a row as an array of one row; of objects where it is no number, and no array of some."""
    import numpy as np

    if value is None:
        return None
    try:
        array = np.asarray(value)[np.newaxis]
    except ValueError:
        array = None
    if array is None or array.dtype.kind not in "bifc":
        array = np.empty(1, object)
        array[0] = value
    return array


class Results:
    """What the rows of a request gave: columns, errors by row, notices by place."""

    def __init__(self, request: Request) -> None:
        self.request = request
        count, names = request.count, request.names
        self.value = Gathered(count)
        self.gradients = {name: Gathered(count) for name in names}
        self.hessian = {a: {b: Gathered(count) for b in names} for a in names if request.order == 2}
        self.errors: dict[int, AdiffError] = {}
        self.one_by_one: dict[str, int] = {}
        self.notices: dict[tuple[Any, ...], RowsNotice] = {}
        # Why a row's result does not depend on a source, by name: one reason for all rows.
        self.unconnected: dict[str, tuple[str, str, Span | None]] = {}

    def notify(self, code: str, message: str, span: Span | None, rows: int) -> None:
        """Add a notice about so many rows."""
        place = None if span is None else (span.start, span.end)
        key = code, message.partition(", in ")[0] if code in OF_OPERANDS else message, place
        if key in self.notices:
            self.notices[key].rows += rows
        else:
            self.notices[key] = RowsNotice(code, message, span, rows)

    def take_notices(self, notices: Sequence[Any]) -> None:
        """Take over the notices of a row."""
        for notice in notices:
            if notice.code == "N0502":
                name = notice.message.partition(":")[0]
                self.unconnected.setdefault(name, (notice.code, notice.message, notice.span))
            elif notice.code != "N0801":  # the request has given it already
                self.notify(notice.code, notice.message, notice.span, 1)

    def add_outcome(self, row: int, found: Any) -> None:
        """Add what the evaluation of one row gave."""
        self.value.add([row], alone(found.value))
        for name, column in self.gradients.items():
            column.add([row], alone(found.gradients[name]))
        for a, blocks in self.hessian.items():
            for b, block in blocks.items():
                block.add([row], alone(found.hessian[a][b]))
        self.take_notices(found.notices)

    def into(self, outcome: RowsOutcome) -> RowsOutcome:
        """Fill an outcome."""
        import numpy as np

        count = self.request.count
        value = self.value.column()
        outcome.value = np.full(count, np.nan) if value is None else value
        if self.request.order and len(self.errors) == count:
            self.without_rows(outcome)
        elif self.request.order:
            outcome.gradients = {name: found.column() for name, found in self.gradients.items()}
            for name, column in outcome.gradients.items():
                if column is None and name in self.unconnected:
                    self.notify(*self.unconnected[name], count - len(self.errors))
            if self.request.order == 2:
                outcome.hessian = {a: {b: x.column() for b, x in row.items()} for a, row in self.hessian.items()}
        outcome.notices = sorted(self.notices.values(), key=lambda n: (-1 if n.span is None else n.span.start, n.code))
        outcome.errors = {row: self.errors[row] for row in sorted(self.errors)}
        outcome.one_by_one = self.one_by_one
        return outcome

    def without_rows(self, outcome: RowsOutcome) -> None:
        """The derivatives where there are no rows, or all have failed: nan in the shapes that they would have."""
        import numpy as np

        request = self.request
        other = [name for name, column in request.columns.items() if column.dtype.kind not in "fi"]
        shapes = {name: request.shape(name) for name in request.names if name not in other}

        def blank(*names: str) -> Any:
            if not shapes.keys() >= set(names):
                return None
            return np.full((request.count, *(size for name in names for size in shapes[name])), np.nan)

        outcome.gradients = {name: blank(name) for name in request.names}
        if request.order == 2:
            outcome.hessian = {a: {b: blank(a, b) for b in request.names} for a in request.names}
