"""The rows of a table by a kernel: the kernel of one row in a compiled loop, on all cores."""

from __future__ import annotations

from math import prod

from ..core.dtypes import BOOL as BOOL_DTYPE
from ..core.dtypes import WEAK_COUNT, WEAK_FLOAT, WEAK_INT
from ..core.errors import span_of
from ..core.state import Site, end_of
from ..core.wording import elements_summed
from ..kernels.compile.run import OutOfMemory
from ..kernels.inputs import Input, Request, argument
from ..kernels.ir import BOOL, FLOAT, INT, LIMIT, Unsupported
from ..kernels.kernels import Compiled, Kernels, mask_of
from ..plain import bind

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

COMMANDS = ("value", "grad", "hessian")
DTYPES = {"float64": (FLOAT, WEAK_FLOAT), "int64": (INT, WEAK_INT), "bool": (BOOL, BOOL_DTYPE)}
# Seconds that a parallel loop over rows takes to be ready: kept from an earlier run, and compiled.
READY_KEPT, READY_COMPILED = 0.1, 1.0
# Rows that are not finite of which the tape finds the origin, one by one.
EXPLAINED = 100
MADE: dict[Any, Compiled] = {}
MOST_MADE = 100


class KernelRows(Kernels):
    """Evaluates the rows of a table request. Raises Unsupported where there is no kernel for them."""

    def __init__(self, program: Any, table: Any) -> None:
        super().__init__(program.core)
        self.careful = True
        self.made = MADE  # which all tables share
        if len(MADE) >= MOST_MADE:
            MADE.clear()
        self.table = table
        self.request = Request(COMMANDS[table.order], table.names)
        self.point = {name: bind(x, name) for name, x in table.point(0).items()}
        self.source = ""

    def inputs(self, point: Mapping[str, Any], request: Request) -> dict[str, Input]:
        """What the kernel of one row is specialised to."""
        if self.table.options.get("max_steps") is not None:
            raise Unsupported("a limit of steps")
        found = super().inputs(point, request)
        return {name: self.of_column(name) if name in self.table.columns else x for name, x in found.items()}

    def of_column(self, name: str) -> Input:
        if name in self.known:
            raise Unsupported(f"'{name}', a column that decides a size")
        column, source = self.table.columns[name], name in self.table.names
        if column.dtype.name not in DTYPES:
            raise Unsupported(f"a column of dtype {column.dtype.name}")
        kind, dtype = DTYPES[column.dtype.name]
        if kind == INT and column.size and not (column.min() >= -LIMIT and column.max() <= LIMIT):
            raise Unsupported("integers beyond 2**53")
        if source and kind == INT:
            kind, dtype = FLOAT, WEAK_FLOAT if column.ndim > 1 else WEAK_COUNT
        if source and kind == BOOL:
            raise Unsupported("a derivative by a truth value")
        return Input(kind, column.shape[1:], dtype, None)

    def by_row(self, inputs: Mapping[str, Input]) -> list[bool]:
        return [name in self.table.columns for name, spec in inputs.items() if spec.kind]

    def key(self, inputs: Mapping[str, Input], request: Request) -> tuple[Any, ...]:
        return "rows", self.core.source.text, tuple(self.by_row(inputs)), super().key(inputs, request)

    def ready_seconds(self) -> float:
        """How long it takes, about, until the kernel can run."""
        if self.at_hand(self.point, self.request) is not None:
            return 0.0
        return READY_COMPILED if self.kept(self.point, self.request) is None else READY_KEPT

    def run(self, first: int, results: Any) -> Any:
        """Evaluate the rows from `first` on; the numbers of those that are left to the tape."""
        import numpy as np

        table = self.table
        compiled = self.find(self.point, self.request)
        facts = compiled.facts
        if facts["value"][0] != "leaf" or facts["apart"] is not None:
            raise Unsupported("rows whose results are structures, or the same in every row")
        self.source = compiled.text
        count = table.count - first
        values = [
            table.columns[name][first:] if name in table.columns else argument(name, self.point[name], spec)
            for name, spec in compiled.inputs.items()
            if spec.kind
        ]
        try:
            found, status, flags = compiled.entry(count, *values)
        except OutOfMemory:
            raise MemoryError from None
        good = status == 0
        finite = good.copy()
        for column in found:
            if column.dtype.kind == "f":
                elements = np.isfinite(column)
                finite &= elements if column.ndim == 1 else elements.reshape(count, -1).all(axis=1)
        left = ~good
        left[np.flatnonzero(good & ~finite)[:EXPLAINED]] = True
        # In which rows the value depends on a source.
        mask = mask_of(facts, found)
        reached = [good & (mask >> i & 1 == 1) for i in range(len(table.names))]
        if not all(there.any() for there in reached):
            # The tape says of one row why its result does not depend on a source.
            left[np.flatnonzero(good)[:1]] = True
        kept = np.flatnonzero(~left)
        if len(kept) < count:
            found, flags = [column[kept] for column in found], flags[kept]
        self.give(results, facts, found, kept + first, reached)
        self.notify(results, facts, flags, len(kept))
        return np.flatnonzero(left) + first

    def give(self, results: Any, facts: dict[str, Any], found: list[Any], rows: Any, reached: list[Any]) -> None:
        """Hand over the columns of the rows that the kernel has answered."""
        names = self.table.names
        results.value.add(rows, found[facts["value"][1]])

        def add(column: Any, there: Any, values: Any) -> None:
            # A derivative is never -0.0.
            values += 0.0
            column.add(rows, values if there.any() else None)

        places, shapes = facts["derived"], [self.table.shape(name) for name in names]
        for i, name in enumerate(names):
            add(results.gradients[name], reached[i], found[places[i]])
            if self.table.order == 2:
                self.give_hessian(results, found, places[len(names) + i], i, shapes, reached, add)

    def give_hessian(
        self, results: Any, found: list[Any], place: Any, i: int, shapes: Any, reached: Any, add: Any
    ) -> None:
        names = self.table.names
        start = 0
        for j, other in enumerate(names):
            size = prod(shapes[j])
            part = found[place][:, start : start + size, :]
            block = part.transpose(0, 2, 1).reshape(len(part), *shapes[i], *shapes[j])
            add(results.hessian[names[i]][other], reached[i] & reached[j], block)
            start += size

    def notify(self, results: Any, facts: dict[str, Any], flags: Any, count: int) -> None:
        """Notices of singular points, and of results that are summed, each with its number of rows."""
        source = self.core.source
        for number, (text, start, end) in enumerate(facts["flags"]):
            hit = int((flags[:, number] != 0).sum())
            if hit:
                results.notify("N0501", text, span_of(Site(None, source, start, end)), hit)
        if self.table.order == 1 and facts["shape"] and count:
            results.notify("N0503", elements_summed(facts["shape"]), span_of(end_of(source)), count)


__all__ = ["KernelRows", "Unsupported"]
