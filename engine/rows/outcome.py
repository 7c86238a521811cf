"""What came of a table: columns of values and derivatives, the errors of rows, and notices with their number of rows."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from ...parser.errors import AdiffError
    from ...parser.source import Span


class RowsNotice:
    """Something worth knowing about some rows' results, once for its place; `rows` is how many rows it is true of."""

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
    one; `one_by_one` why rows were evaluated each by itself.
    """

    __slots__ = (
        "emitted",
        "engine",
        "errors",
        "gradients",
        "hessian",
        "notices",
        "one_by_one",
        "reason",
        "reason_span",
        "timings",
        "value",
    )

    def __init__(self) -> None:
        self.value: Any = None
        self.gradients: dict[str, Any] | None = None
        self.hessian: dict[str, dict[str, Any]] | None = None
        self.errors: dict[int, AdiffError] = {}
        self.notices: list[RowsNotice] = []
        self.engine = "tape"
        self.reason = ""
        self.reason_span: Any = None
        self.emitted: str | None = None
        # How many rows were evaluated one by one, by the reason.
        self.one_by_one: dict[str, int] = {}
        self.timings: dict[str, float] = {}

    def __repr__(self) -> str:
        shown = f"value={self.value!r}, engine={self.engine!r}"
        if self.errors:
            shown += f", errors in {len(self.errors)} rows"
        return f"RowsOutcome({shown})"


class Gathered:
    """One column of results, put together from pieces that come in any order."""

    __slots__ = ("blank", "count", "pieces")

    def __init__(self, count: int) -> None:
        self.count = count
        self.blank: Any = None  # results of no rows, which have a shape all the same
        self.pieces: list[tuple[Any, Any]] = []

    def add(self, index: Any, values: Any) -> None:
        """Results of the rows `index`: an array with these rows along its first axis, or None where there is none."""
        if len(index) or not self.count:  # of no rows, it is not known whether they have one
            self.pieces.append((index, values))
        elif values is not None:
            self.blank = values

    def column(self) -> Any:
        """The whole column; rows without a result are nan. None if no row has one."""
        import numpy as np

        pieces = [(index, values) for index, values in self.pieces if values is not None]
        if not pieces:
            # Where every row has failed nothing is known but their shape.
            blank = None if self.pieces else self.blank
            return None if blank is None else np.full((self.count, *blank.shape[1:]), np.nan)
        shapes = {values.shape[1:] for _, values in pieces}
        filled = sum(len(index) for index, _ in pieces)
        if len(shapes) > 1 or any(values.dtype == object for _, values in pieces):
            found = np.full(self.count, None, object)
            for index, values in pieces:
                for i, value in zip(list(index), values):
                    found[i] = value.tolist() if hasattr(value, "tolist") else value
            return found
        if len(pieces) == 1 and filled == self.count:
            return pieces[0][1]
        dtype = np.result_type(*(values.dtype for _, values in pieces))
        missing = filled < self.count
        if missing and dtype.kind in "biu":
            dtype = np.dtype(np.float64)
        found = (
            np.full((self.count, *shapes.pop()), np.nan, dtype)
            if missing
            else np.empty((self.count, *shapes.pop()), dtype)
        )
        for index, values in pieces:
            found[span_of_rows(index)] = values
        for index, values in self.pieces:
            if values is None:  # rows on whose path the input does not occur
                found[span_of_rows(index)] = 0.0
        return found


def span_of_rows(index: Any) -> Any:
    """Ascending row numbers as a slice where they follow one another: then copying is a copy."""
    if len(index) and index[-1] - index[0] + 1 == len(index):
        return slice(int(index[0]), int(index[-1]) + 1)
    return index


class Notices:
    """Notices of many rows, one for each place."""

    def __init__(self) -> None:
        self.found: dict[tuple[Any, ...], RowsNotice] = {}

    def add(self, code: str, message: str, span: Span | None, rows: int) -> None:
        place = None if span is None else (span.start, span.end)
        # What the operands were is different in every row.
        key = (code, place) if code in ("N0601", "N0602") else (code, message, place)
        notice = self.found.get(key)
        if notice is None:
            self.found[key] = RowsNotice(code, message, span, rows)
        else:
            notice.rows += rows

    def sorted(self) -> list[RowsNotice]:
        return sorted(self.found.values(), key=lambda n: (-1 if n.span is None else n.span.start, n.code))


def no_derivative_by(name: str, dtype: str) -> str:
    """What is said of a source whose dtype has no derivatives."""
    return (
        f"'{name}' has dtype {dtype} and cannot be differentiated: its gradient is None; "
        f"bind a float, or write cast({name}, float64)"
    )


def stacked(values: Sequence[Any]) -> Any:
    """Plain values of rows as an array along whose first axis the rows are; objects where they do not fit together."""
    import numpy as np

    try:
        array = np.array([np.asarray(v) for v in values])
    except ValueError:
        array = None
    if array is None or array.dtype == object or array.dtype.kind not in "bifc":
        found = np.empty(len(values), object)
        for i, value in enumerate(values):
            found[i] = value
        return found
    return array


__all__ = ["Gathered", "Notices", "RowsNotice", "RowsOutcome", "no_derivative_by", "stacked"]
