"""The rows of a table by a kernel: the kernel of one row in a compiled loop, on all cores."""

from __future__ import annotations

from math import prod

from ..core.dtypes import BOOL as BOOL_DTYPE
from ..core.dtypes import WEAK_COUNT, WEAK_FLOAT, WEAK_INT
from ..core.errors import span_of
from ..core.state import STATE, Site, end_of
from ..core.wording import elements_summed
from ..kernels.compile import store
from ..kernels.compile.rows import RowsEntry
from ..kernels.compile.run import OutOfMemory
from ..kernels.inputs import Input, Request, argument, described
from ..kernels.ir import BOOL, FLOAT, INT, LIMIT, Unsupported
from ..kernels.kernels import MOST_KNOWN, compiled_source
from ..kernels.results import facts_of
from ..plain import bind

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

COMMANDS = ("value", "grad", "hessian")
DTYPES = {"float64": (FLOAT, WEAK_FLOAT), "int64": (INT, WEAK_INT), "bool": (BOOL, BOOL_DTYPE)}
# Seconds that a parallel loop over rows takes to be ready: kept from an earlier run, and compiled.
READY_KEPT, READY_COMPILED = 0.1, 1.0
# Rows that are not finite of which the tape finds the origin, one by one.
EXPLAINED = 100
MADE: dict[Any, tuple[RowsEntry, dict[str, Any]]] = {}
MOST_MADE = 100


class KernelRows:
    """Evaluates the rows of a table request. Raises Unsupported where there is no kernel for them."""

    def __init__(self, program: Any, table: Any) -> None:
        self.program = program
        self.table = table
        self.request = Request(COMMANDS[table.order], table.names)
        self.point = {name: bind(x, name) for name, x in table.point(0).items()}
        self.known: set[str] = set()
        self.inputs = self.specified()
        self.source = ""

    def specified(self) -> dict[str, Input]:
        """What the kernel of one row is specialised to."""
        if STATE.weak_float.bits == 32 or self.table.options.get("max_steps") is not None:
            raise Unsupported("float32, or a limit of steps")
        core = self.program.core
        found: dict[str, Input] = {}
        for name in [*core.inputs, *(name for name in core.optional if name in self.point)]:
            source = name in self.table.names
            if name in self.known or name not in self.table.columns:
                found[name] = described(name, self.point[name], source, name in self.known)
                continue
            column = self.table.columns[name]
            if column.dtype.name not in DTYPES:
                raise Unsupported(f"a column of dtype {column.dtype.name}")
            kind, dtype = DTYPES[column.dtype.name]
            if kind == INT and column.size and not (column.min() >= -LIMIT and column.max() <= LIMIT):
                raise Unsupported("integers beyond 2**53")
            if source and kind == INT:
                kind, dtype = FLOAT, WEAK_FLOAT if column.ndim > 1 else WEAK_COUNT
            if source and kind == BOOL:
                raise Unsupported("a derivative by a truth value")
            found[name] = Input(kind, column.shape[1:], dtype, None)
        return found

    def key(self) -> tuple[Any, ...]:
        inputs = tuple([(name, *spec.key(), name in self.table.columns) for name, spec in self.inputs.items()])
        return "rows", self.program.source.text, inputs, self.request.key(), STATE.kinks

    def ready_seconds(self) -> float:
        """How long it takes, about, until the kernel can run."""
        key = self.key()
        if key in MADE:
            return 0.0
        return READY_COMPILED if self.loaded(key) is None else READY_KEPT

    def loaded(self, key: Any) -> tuple[RowsEntry, dict[str, Any]] | None:
        found = MADE.get(key)
        if found is None:
            entry = store.load(store.key_of(key))
            if entry is None:
                return None
            interface, code, facts = entry
            found = self.keep(key, RowsEntry(interface, code, self.by_row()), facts)
        return found

    def keep(self, key: Any, entry: RowsEntry, facts: dict[str, Any]) -> tuple[RowsEntry, dict[str, Any]]:
        if len(MADE) >= MOST_MADE:
            MADE.clear()
        MADE[key] = entry, facts
        return MADE[key]

    def by_row(self) -> list[bool]:
        """Which parameters have a value in each row."""
        return [name in self.table.columns for name, spec in self.inputs.items() if spec.kind]

    def kernel(self) -> tuple[RowsEntry, dict[str, Any]]:
        """The kernel, which is made if it must be."""
        from ..kernels.trace import NeedsValue

        for _ in range(MOST_KNOWN):
            key = self.key()
            found = self.loaded(key)
            if found is not None:
                return found
            try:
                made, emitted, code = compiled_source(
                    self.program.core, self.point, self.inputs, self.request, True, self.by_row()
                )
            except NeedsValue as needs:
                if needs.name in self.known or needs.name in self.table.columns:
                    raise
                self.known.add(needs.name)
                self.inputs = self.specified()
                continue
            facts = facts_of(made, emitted)
            if facts["value"][0] != "leaf" or facts["apart"] is not None:
                raise Unsupported("rows whose results are structures, or the same in every row")
            store.save(store.key_of(key), emitted, code, facts)
            return self.keep(key, RowsEntry(emitted, code, self.by_row()), facts)
        raise Unsupported("a program in which so many inputs decide sizes")

    def run(self, first: int, results: Any) -> Any:
        """Evaluate the rows from `first` on; the numbers of those that are left to the tape."""
        import numpy as np

        table = self.table
        entry, facts = self.kernel()
        self.source = facts["text"]
        count = table.count - first
        values = [
            table.columns[name][first:] if name in table.columns else argument(name, self.point[name], spec)
            for name, spec in self.inputs.items()
            if spec.kind
        ]
        try:
            found, status, flags = entry(count, *values)
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
        for reached in self.reached(facts, found, count):
            # The tape says of one row why its result does not depend on a source.
            left[np.flatnonzero(good & ~reached)[:1]] = True
        kept = np.flatnonzero(~left)
        if len(kept) < count:
            found, flags = [column[kept] for column in found], flags[kept]
        self.give(results, facts, found, kept + first)
        self.notify(results, facts, flags, len(kept))
        return np.flatnonzero(left) + first

    def reached(self, facts: dict[str, Any], found: list[Any], count: int) -> list[Any]:
        """For each source in which rows the value depends on it."""
        import numpy as np

        kind, mask = facts["mask"]
        masks = mask if kind == "known" else found[mask].astype(np.int64)
        return [np.broadcast_to(masks >> i & 1 == 1, count) for i in range(len(self.table.names))]

    def give(self, results: Any, facts: dict[str, Any], found: list[Any], rows: Any) -> None:
        """Hand over the columns of the rows that the kernel has answered."""
        names = self.table.names
        results.value.add(rows, found[facts["value"][1]])
        if not names:
            return
        import numpy as np

        reached = self.reached(facts, found, len(rows))

        def add(column: Any, there: Any, values: Any, shape: tuple[int, ...]) -> None:
            # A derivative is never -0.0.
            values = np.zeros((len(rows), *shape)) if values is None else values
            values += 0.0
            if there.all():
                column.add(rows, values)
            else:
                column.add(rows[~there], None)
                column.add(rows[there], values[there])

        places, shapes = facts["derived"], [self.table.shape(name) for name in names]
        for i, name in enumerate(names):
            add(results.gradients[name], reached[i], found[places[i]], shapes[i])
            if self.table.order == 2:
                self.give_hessian(results, found, places[len(names) + i], i, shapes, reached, add)

    def give_hessian(
        self, results: Any, found: list[Any], place: Any, i: int, shapes: Any, reached: Any, add: Any
    ) -> None:
        names = self.table.names
        start = 0
        for j, other in enumerate(names):
            size = prod(shapes[j])
            block = None
            if place is not None:
                part = found[place][:, start : start + size, :]
                block = part.transpose(0, 2, 1).reshape(len(part), *shapes[i], *shapes[j])
            add(results.hessian[names[i]][other], reached[i] & reached[j], block, (*shapes[i], *shapes[j]))
            start += size

    def notify(self, results: Any, facts: dict[str, Any], flags: Any, count: int) -> None:
        """Notices of singular points, and of results that are summed, each with its number of rows."""
        source = self.program.source
        for number, (text, start, end) in enumerate(facts["flags"]):
            hit = int((flags[:, number] != 0).sum())
            if hit:
                results.notify("N0501", text, span_of(Site(None, source, start, end)), hit)
        if self.table.order == 1 and facts["shape"] and count:
            results.notify("N0503", elements_summed(facts["shape"]), span_of(end_of(source)), count)


__all__ = ["KernelRows", "Unsupported"]
