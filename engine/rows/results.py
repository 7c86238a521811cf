"""What rows give, gathered from whoever evaluates them, and how many of them hit a singular point."""

from __future__ import annotations

from ...parser.errors import AdiffError
from ..core.state import RECORDERS, STATE, Site
from ..core.tensor import Tensor
from ..eager.row_sets import NotTogether, Table
from .outcome import Gathered, Notices, RowsOutcome
from .request import Request

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

PATH_ENDS = "the path from the source ends at"


class Results:
    """The columns of results of a request, gathered from whoever evaluates its rows."""

    def __init__(self, request: Request) -> None:
        self.request = request
        self.value = Gathered(request.count)
        self.gradients = {name: Gathered(request.count) for name in request.names}
        self.hessian = {a: {b: Gathered(request.count) for b in request.names} for a in request.names}
        self.notices = Notices()
        self.errors: dict[int, AdiffError] = {}
        self.one_by_one: dict[str, int] = {}
        # Why no row's result depends on a source, from those who looked: name -> (code, message, span).
        self.unconnected: dict[str, tuple[str, str, Any]] = {}
        self.explained = 0
        self.unexplained = 0

    def unconnected_by(self, name: str, why: tuple[str, str, Any]) -> None:
        """Keep why no result depends on a source: the first reason, unless that is of rows without a path at all, and in
        others there is one that ends."""
        before = self.unconnected.get(name)
        if before is None or (PATH_ENDS not in before[1] and PATH_ENDS in why[1]):
            self.unconnected[name] = why

    def take(self, part: Results, rows: Any) -> None:
        """Take over what a part of the request gave, the table of some of its `rows`."""
        import numpy as np

        def moved(column: Gathered, other: Gathered) -> None:
            for index, values in other.pieces:
                column.add(rows[np.asarray(index)], values)

        moved(self.value, part.value)
        for name, found in part.gradients.items():
            moved(self.gradients[name], found)
            for other in part.hessian[name]:
                moved(self.hessian[name][other], part.hessian[name][other])
        for notice in part.notices.found.values():
            self.notices.add(notice.code, notice.message, notice.span, notice.rows)
        self.errors.update({int(rows[row]): error for row, error in part.errors.items()})
        for reason, count in part.one_by_one.items():
            self.one_by_one[reason] = self.one_by_one.get(reason, 0) + count
        for name, why in part.unconnected.items():
            self.unconnected_by(name, why)
        self.explained, self.unexplained = part.explained, self.unexplained + part.unexplained

    def into(self, outcome: RowsOutcome) -> RowsOutcome:
        """Fill an outcome."""
        request = self.request
        outcome.value = self.value.column()
        if outcome.value is None:
            import numpy as np

            outcome.value = np.full(request.count, np.nan)
        if request.order:
            outcome.gradients = {name: found.column() for name, found in self.gradients.items()}
            if len(self.errors) < request.count:
                for name, column in outcome.gradients.items():
                    if column is None and name in self.unconnected:
                        self.notices.add(*self.unconnected[name], request.count - len(self.errors))
        if request.order == 2:
            outcome.hessian = {a: {b: found.column() for b, found in row.items()} for a, row in self.hessian.items()}
        if request.order and len(self.errors) == request.count:
            self.nothing(outcome)
        if self.unexplained:
            self.notices.add(
                "N0604", f"the results of {self.unexplained} more rows hold nan or inf, and were not looked into", None,
                self.unexplained,
            )  # fmt: skip
        outcome.notices = self.notices.sorted()
        outcome.errors = {row: self.errors[row] for row in sorted(self.errors)}
        outcome.one_by_one = self.one_by_one
        return outcome

    def nothing(self, outcome: RowsOutcome) -> None:
        """Derivatives where there are no rows, or all have failed: nan in the shapes that they would have."""
        import numpy as np

        request = self.request
        rows = {name: request.columns[name].shape[1:] for name in request.names if name in request.columns}
        rows |= {name: np.shape(request.constants[name]) for name in request.names if name not in rows}
        numeric = [name for name in rows if name not in request.columns or request.columns[name].dtype.kind in "fi"]

        def blank(*shape: int) -> Any:
            return np.full((request.count, *shape), np.nan)

        outcome.gradients = {name: blank(*rows[name]) if name in numeric else None for name in rows}
        if request.order == 2:
            outcome.hessian = {
                a: {b: blank(*rows[a], *rows[b]) if {a, b} <= set(numeric) else None for b in rows} for a in rows
            }


class Tally:
    """Counts, for notices of singular points, the rows that hit them."""

    def __init__(self, table: Table) -> None:
        self.table = table
        # By place and, as there `STATE.notify_singular` chooses among several, by rank and message: which of all rows.
        self.met: dict[tuple[int, int], dict[tuple[int, str], tuple[Site, Any]]] = {}

    def __call__(self, message: str, mask: Any, x: Any, g: Any) -> None:
        """A row's operand `x` is singular where a mask holds, which matters where the cotangent `g` is not zero."""
        import numpy as np

        here = self.met.setdefault((STATE.site.start, STATE.site.end), {})
        blank = STATE.site, np.zeros(self.table.all.size, bool)
        here.setdefault((-len(RECORDERS), message), blank)[1][self.rows_at(mask, x, g)] = True

    def counts(self) -> list[tuple[str, Site, int]]:
        """The notices with the number of the rows that have come to the end: of each place one in a row."""
        import numpy as np

        there = self.table.active.places_in(self.table.all)
        found = []
        for here in self.met.values():
            told = np.zeros(len(there), bool)
            for (_, message), (site, rows) in sorted(here.items(), key=lambda item: item[0]):
                fresh = rows[there] & ~told
                told |= fresh
                if fresh.any():
                    found.append((message, site, int(fresh.sum())))
        return found

    def forbid(self, error: AdiffError, mask: Any, x: Any, g: Any) -> None:
        """Let the rows fail that are at a singular point where that is an error."""
        self.table.forbid(self.rows_at(mask, x, g), error)

    def rows_at(self, mask: Any, x: Any, g: Any) -> Any:
        """The places among all rows of those for which a mask holds where a cotangent is not zero."""
        import numpy as np

        values = getattr(g, "value", g)
        hit: Any = np.asarray(mask & (values != 0))
        table = self.table
        rows, live = table.rows_of.get(x, (None, None)) if x.__class__ is Tensor else (None, None)
        if rows is not None and (hit.ndim == 0 or hit.shape[0] == rows.size):
            index = rows.index
        else:
            # Of operations that derivatives are made of, inside the program, nobody has said what rows they have.
            index, live = None if hit.ndim == 0 else table.of_size(hit.shape[0]), None
            if index is None:
                raise NotTogether("a singular point of a derivative inside the program")
        hit = hit if hit.ndim else np.broadcast_to(hit, index.size)
        hit = hit if hit.ndim == 1 else hit.reshape(index.size, -1).any(axis=1)
        if live is not None:
            hit = hit & live
        return np.searchsorted(table.all.index, index[hit])


__all__ = ["PATH_ENDS", "Results", "Tally"]
