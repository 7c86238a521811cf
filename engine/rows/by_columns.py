"""The tape tier on a table: whole columns under the ordinary tapes, chunk by chunk, and row by row what does not fit.

Rows do not mix, so one reverse sweep from ones gives every row its own gradient, and a sweep back along the tape of
that, from ones at a number of a source, every row its own second derivatives.
"""

from __future__ import annotations

from math import prod

from ...parser.errors import AdiffError
from ..autodiff import drivers
from ..autodiff.tape import Tape, gradient, unconnected_reason
from ..core.dtypes import WEAK_COUNT
from ..core.errors import span_of
from ..core.following import follows
from ..core.garbage import without_collection
from ..core.limits import LIMITS
from ..core.operands import as_operand, bare
from ..core.operation import UNFIT
from ..core.state import RECORDERS, RUNNING, STATE, Site, end_of
from ..core.tensor import OPERATORS, Tensor
from ..core.wording import elements_summed
from ..eager.builtins import INTRINSICS
from ..eager.columns import Column, unit, whole_column
from ..eager.columnwise import ColumnCompiler
from ..eager.row_sets import FINAL, GONE, Alike, Meeting, NobodyLeft, NotTogether, Table
from ..eager.structure import flatten
from ..eager.values import UNSET
from .outcome import no_derivative_by
from .request import WEAK_OF, Request
from .results import PATH_ENDS, Results, Tally
from .single import SingleRows

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

# Rows that are evaluated together: enough to hide what an operation costs beside its elements, few enough for the
# caches to hold the columns between two operations.
CHUNK = 32_768
# A group that fails is halved until its failing rows stand alone, or it is so small.
FEW = 32
# Rows that leave the others in the middle, since what they hold is of another kind or length, begin again together: no
# fewer than cost as much alone, and so many times, of which each may part from others again.
SOME = 8
TIMES = 40
# Errors of dtypes, shapes, names and what all rows have alike, which no number of a column decides.
ALIKE = frozenset(
    ("E0301", "E0302", "E0304", "E0305", "E0306", "E0405", "E0406", "E0408", "E0504", "E0505", "E0507", "E0508")
)
# Rows with nan or infinity whose origin is looked for; and rows that are asked one by one why none depends on a source.
EXPLAINED = 100


class ByColumns(SingleRows):
    """Evaluates the rows of a request on whole columns; `program` evaluates single rows."""

    def __init__(self, program: Any, request: Request, results: Results) -> None:
        super().__init__(program, request, results)
        self.core = program.core
        self.table = Table()
        self.body: Callable[[list[Any]], Any] | None = None
        self.constants: dict[str, Any] | None = None

    def run(self, index: Any) -> None:
        """Evaluate the rows `index`, ascending, chunk by chunk."""
        if not self.request.numeric:
            self.row_by_row(index, "a column that is not of numbers")
            return
        # A Hessian by vectors has more numbers than the rows themselves.
        each = [prod(self.request.shape(name)) for name in self.request.names]
        size = max(FEW, CHUNK // max(1, *each)) if self.request.order == 2 and each else CHUNK
        for start in range(0, len(index), size):
            self.together(index[start : start + size])
        self.table.reset(index[:0])  # nothing of the last chunk is kept

    def together(self, index: Any, times: int = TIMES) -> None:
        """Rows at once, and then those that did not go along, by themselves, which may be parted so many times."""
        import numpy as np

        on_the_way = True
        try:
            dropped = self.chunk(index)
        except NobodyLeft:
            dropped = self.table.dropped
        except (NotTogether, AdiffError, *UNFIT) as fault:
            if getattr(fault, "code", "") in FINAL:
                raise
            on_the_way = False
            rest = index
            for rows, _ in self.table.failed:
                rest = rest[~np.isin(rest, rows, assume_unique=True)]
            dropped = [(rest, fault)]
        finally:
            self.let_go()
        for rows, error in self.table.failed:
            self.results.errors.update(dict.fromkeys(rows.tolist(), error))
        for rows, reason in dropped:
            if on_the_way and fails_alike(reason) and self.alike(rows):
                continue
            if isinstance(reason, AdiffError) and len(rows) > FEW:
                half = len(rows) // 2
                self.together(rows[:half], times)
                self.together(rows[half:], times)
            elif isinstance(reason, NotTogether) and SOME <= len(rows) < len(index) and times:
                self.together(rows, times - 1)
            else:
                self.row_by_row(rows, described(reason))

    def let_go(self) -> None:
        """What is left where rows were evaluated together, or were not."""
        RECORDERS.clear()
        STATE.tally = None
        STATE.quiet = False
        self.table.rows_of = {}

    # --- whole columns ----------------------------------------------------------------------------------------------

    def chunk(self, index: Any) -> list[Any]:
        """Evaluate rows together. Gives the groups that left, with their reasons; raises if all must leave."""
        request, table = self.request, self.table
        STATE.reset()
        STATE.kinks = request.options.get("kinks") or "adiff"
        table.forbidden = {}
        LIMITS.each = table.count_step
        with RUNNING:
            try:
                with_sources = self.sources(index)
                STATE.tally = Tally(table)
                if request.order == 0:
                    y = self.result(index, {})
                    self.keep(y, None, {})
                else:
                    self.derive(index, with_sources)
                for name, x in with_sources.items():
                    if not x.dtype.differentiable:
                        self.results.notices.add(
                            "N0504", no_derivative_by(name, x.dtype.name), self.span_of(None), table.active.size
                        )
                for notice in STATE.notices:
                    if notice.code != "N0501" or STATE.tally is None:
                        self.results.notices.add(notice.code, notice.message, span_of(notice.site), table.active.size)
                if STATE.tally is not None:
                    for message, site, rows in STATE.tally.counts():
                        self.results.notices.add("N0501", message, span_of(site), rows)
            finally:
                LIMITS.each = None
        dropped = table.dropped
        self.explain(table.active.index)
        return dropped

    def sources(self, index: Any) -> dict[str, Tensor]:
        """A fresh tensor for each source, its rows along the first axis."""
        found = {}
        for name in self.request.names:
            if name in self.request.columns:
                values = self.request.columns[name][index]
                dtype = WEAK_OF[values.dtype.name]
            else:
                constant = as_operand(self.bound()[name])
                self.table.reset(index)
                tensor = whole_column(self.table, constant)
                values, dtype = tensor.value, tensor.dtype
            if dtype.weak and dtype.kind == "i":
                values, dtype = values.astype("float64"), WEAK_COUNT
            found[name] = Tensor(values, dtype)
        return found

    def bound(self) -> dict[str, Any]:
        if self.constants is None:
            self.constants = self.request.bound_constants()
        return self.constants

    def result(self, index: Any, sources: dict[str, Tensor]) -> Any:
        """The program's result for the rows: a column, or a value that is the same in all."""
        table = self.table
        table.reset(index)
        if self.body is None:
            self.body = without_collection(lambda: ColumnCompiler(INTRINSICS, table).block(self.core.body))
        frame: list[Any] = [UNSET] * self.core.size
        frame[0] = None
        values: dict[str, Any] = dict(self.bound())
        for name, column in self.request.columns.items():
            if name not in sources:
                part = column[index]
                values[name] = Column(table, Tensor(part, WEAK_OF[part.dtype.name]), table.all)
        for name, x in sources.items():
            values[name] = Column(table, x, table.all)
        for name, (slot, node) in self.core.optional.items():
            frame[slot] = (
                values[name]
                if name in values
                else bare(node.value)
                if hasattr(node, "value")
                else INTRINSICS[node.name]
            )
        for name, slot in self.core.inputs.items():
            frame[slot] = values[name]
        body = self.body
        signal = table.run(table.all, lambda: body(frame))
        pieces = table.returned
        if signal is not GONE:
            pieces.append((table.active, frame[1] if signal is None else signal[0]))
        result = table.meet(pieces, table.all)
        table.end_forbidden()
        if result.__class__ is Meeting:
            result = table.settled(result)
        if result is UNSET or result is None:
            raise NotTogether("a program without a value")
        return self.numeric(result)

    def numeric(self, result: Any) -> Any:
        """A result as one operand; a list of values of one shape is stacked."""
        if result.__class__ in (list, tuple, dict):
            leaves = [as_operand(leaf) for leaf in flatten(result)]
            shapes = {leaf.shape if leaf.__class__ in (Tensor, Column) else () for leaf in leaves}
            nested = result.__class__ is dict or any(item.__class__ in (list, tuple, dict) for item in result)
            if nested or len(shapes) != 1 or len(leaves) != len(result):
                raise NotTogether("a result that is no list of values of one shape")
            return as_operand(list(result))
        found = as_operand(result)
        if found.__class__ is str or (found.__class__ in (Tensor, Column) and found.dtype.kind == "s"):
            raise NotTogether("a result that is a string")
        return found

    def here(self, y: Any) -> Tensor:
        """A result as a tensor of the active rows."""
        return y.here() if y.__class__ is Column else whole_column(self.table, y)

    def derive(self, index: Any, sources: dict[str, Tensor]) -> None:
        """Values, gradients and, if asked for, Hessians: what `drivers` has for a single row, on columns."""
        table, request = self.table, self.request
        names, tensors = list(sources), list(sources.values())
        tape, outer = Tape(), Tape() if request.order == 2 else None
        recorders = [tape] if outer is None else [outer, tape]
        for x in tensors:
            if x.dtype.differentiable:
                for recorder in recorders:
                    recorder.watch(x)
        RECORDERS.extend(recorders)
        try:
            y = self.here(self.result(index, sources))
        finally:
            RECORDERS.clear()
        if y.value.ndim > 1:
            if outer is not None:
                table.drop(Alike("a Hessian of a result that is no scalar"))
                raise NobodyLeft
            STATE.notify("N0503", elements_summed(y.shape[1:]), end_of(self.program.source))
        log = tape.log.copy() if tape.breaks or len(tape.log) < 4000 else None
        before = table.active
        found = self.swept(tape, outer, y, tensors)
        table.end_forbidden()
        if table.active is not before:
            y = Tensor(y.value[table.active.places_in(before)], y.dtype, y.on)
        for name, x, g in zip(names, tensors, found):
            if g is None and x.dtype.differentiable:
                self.results.unconnected_by(name, self.why_unconnected(tape, log, name, x, y))
        blocks = {} if outer is None else self.second(outer, names, y, tensors, found)
        gradients = {name: self.derivative(g, y, x) for name, g, x in zip(names, found, tensors)}
        self.keep(y, gradients, blocks)

    def swept(self, tape: Tape, outer: Tape | None, y: Tensor, sources: list[Tensor]) -> list[Any]:
        """The gradients of every row, which `outer` follows if there is one."""
        ones, wanted = OPERATORS["ones_like"](y), [[x] for x in sources]
        if outer is None:
            return gradient(tape, [y], [ones], wanted, consume=True)
        RECORDERS.append(outer)
        try:
            with drivers.several_directions():
                return gradient(tape, [y], [ones], wanted, consume=True)
        finally:
            RECORDERS.clear()

    def why_unconnected(
        self, tape: Tape, log: list[Any] | None, name: str, x: Tensor, y: Tensor
    ) -> tuple[str, str, Any]:
        """The notice for a source without a gradient, as `grad` words it."""
        reason, site = "the target does not depend on the source", None
        if y.on is None and not tape.breaks:
            reason = "the target does not depend on anything that was watched"
        elif log is not None:
            where, site = unconnected_reason(tape, log, [x])
            if site is not None:
                reason = f"{PATH_ENDS} {where}, which carries no derivative"
            elif where == "unused":
                reason = "the source is never used"
        return "N0502", f"{name}: the gradient is None: {reason}", span_of(site or end_of(self.program.source))

    def second(
        self, outer: Tape, names: list[str], y: Tensor, sources: list[Tensor], gradients: list[Any]
    ) -> dict[tuple[str, str], Any]:
        """The blocks of the Hessian on and above the diagonal: a sweep back along the tape of the gradient for each number of
        a source."""
        import numpy as np

        blocks: dict[tuple[str, str], Any] = {}
        last = max((i for i, g in enumerate(gradients) if g is not None), default=-1)
        for i, (name, x, g) in enumerate(zip(names, sources, gradients)):
            shape = x.value.shape[1:]
            places = list(np.ndindex(shape))
            wanted = [[z] for z in sources[i:]]
            parts: list[list[Any]] = []
            with drivers.without_notices():
                for place in places if g is not None and follows(g, outer.token) else ():
                    consume = i == last and len(parts) + 1 == len(places)
                    parts.append(gradient(outer, [g], [unit(g, place)], wanted, consume))
            for k, (other, z) in enumerate(zip(names[i:], sources[i:])):
                if g is None or gradients[i + k] is None:
                    blocks[name, other] = None
                    continue
                rows = [part[k] for part in parts] or [None for _ in places]
                arrays = [self.derivative(OPERATORS["zeros_like"](z) if row is None else row, y, x) for row in rows]
                size = self.table.active.size
                block = np.stack(arrays, axis=1) if arrays else np.zeros((size, 0))
                blocks[name, other] = block.reshape(size, *shape, *z.value.shape[1:])
        return blocks

    def derivative(self, g: Any, y: Any, x: Tensor) -> Any:
        """A derivative by a source for the active rows, as an array in its dtype."""
        if g is None:
            return None
        g = as_operand(g)
        values = g.value if g.__class__ is Tensor else self.here(g).value
        active, everything = self.table.active, self.table.all
        values = values if active is everything else values[active.places_in(everything)]
        values = values + 0.0  # a derivative of -0.0 is 0.0 to everybody
        dtype = drivers.dtype_of_derivative(y, x)
        return values.astype(dtype.name) if dtype.kind in "fc" and values.dtype.name != dtype.name else values

    def keep(self, y: Any, gradients: dict[str, Any] | None, blocks: dict[tuple[str, str], Any]) -> None:
        """Hand over the results of the active rows."""
        value = (y if y.__class__ is Tensor and gradients is not None else self.here(y)).value
        if self.table.doubtful:
            value, gradients, blocks = self.certain(value, gradients or {}, blocks)
        results, rows = self.results, self.table.active.index
        self.last: list[Any] = [value]
        results.value.add(rows, value)
        for name, g in (gradients or {}).items():
            self.last.append(g)
            results.gradients[name].add(rows, g)
        for (a, b), block in blocks.items():
            self.last.append(block)
            results.hessian[a][b].add(rows, block)
            if a != b:
                results.hessian[b][a].add(rows, None if block is None else self.transposed(block, b))

    def certain(
        self, value: Any, gradients: dict[str, Any], blocks: dict[tuple[str, str], Any]
    ) -> tuple[Any, dict[str, Any], dict[tuple[str, str], Any]]:
        """Results without the rows that hold nan, which leave: a rule may have brought it to what they do not depend on."""
        import numpy as np

        arrays = [x for x in (value, *gradients.values(), *blocks.values()) if x is not None and x.dtype.kind in "fc"]
        size = self.table.active.size
        if not arrays or not size:
            return value, gradients, blocks
        doubtful = np.logical_or.reduce([np.isnan(x).reshape(size, -1).any(axis=1) for x in arrays])
        if not doubtful.any():
            return value, gradients, blocks
        self.table.leave(doubtful, f"nan beside {self.table.doubtful}")

        def kept(x: Any) -> Any:
            return None if x is None else x[~doubtful]

        return (
            kept(value), {name: kept(x) for name, x in gradients.items()}, {name: kept(x) for name, x in blocks.items()}
        )  # fmt: skip

    def transposed(self, block: Any, name: str) -> Any:
        """A block of the Hessian whose last axes are those of the source `name` as the block on the other side."""
        import numpy as np

        last = len(self.request.shape(name))
        axes = range(1, block.ndim)
        return np.ascontiguousarray(block.transpose(0, *axes[len(axes) - last :], *axes[: len(axes) - last]))

    def span_of(self, site: Site | None) -> Any:
        return span_of(site or end_of(self.program.source))

    # --- single rows ------------------------------------------------------------------------------------------------

    def explain(self, rows: Any) -> None:
        """Where the first nan or infinity of a row arises, as the evaluation of the row alone says it."""
        import numpy as np

        bad = np.zeros(len(rows), bool)
        for values in self.last:
            if values is not None and values.dtype.kind in "fc":
                finite = np.isfinite(values)
                if not finite.all():
                    bad |= ~finite.reshape(len(rows), -1).all(axis=1)
        self.last = []
        if not bad.any() or STATE.kinks == "error":
            return
        numbers = rows[bad]
        looked_into = numbers[: max(0, EXPLAINED - self.results.explained)]
        self.results.explained += len(looked_into)
        self.results.unexplained += len(numbers) - len(looked_into)
        dropped = self.table.dropped
        for row in looked_into:
            try:
                alone = self.evaluate(int(row))
            except AdiffError as error:
                if error.code in FINAL:
                    raise
                continue  # a limit that this row alone reaches; its results stand
            for notice in alone.notices:
                if notice.code in ("N0601", "N0602"):
                    self.results.notices.add(notice.code, notice.message, notice.span, 1)
        self.table.dropped = dropped

    def explain_unconnected(self, name: str, rows: Any) -> None:
        """Note why no result depends on a source, as all of the rows together say it, chunk by chunk until one knows where a
        path ends; or else, as the first of some rows says it that can be evaluated alone."""
        import numpy as np

        rows = np.asarray(rows)
        asked = ByColumns(self.program, self.request.of_gradients(name), Results(self.request))
        asked.results.explained = EXPLAINED  # where a nan arises is not asked again
        try:
            for start in range(0, len(rows), CHUNK):
                asked.chunk(rows[start : start + CHUNK])
                if PATH_ENDS in asked.results.unconnected.get(name, ("", ""))[1]:
                    break
        except (NobodyLeft, NotTogether, AdiffError, *UNFIT) as fault:
            if getattr(fault, "code", "") in FINAL:
                raise
        finally:
            asked.let_go()
        if name in asked.results.unconnected:
            self.results.unconnected_by(name, asked.results.unconnected[name])
            return
        for row in rows[:: -(-len(rows) // EXPLAINED)]:
            try:
                alone = self.evaluate(int(row), "grad")
            except AdiffError as error:
                if error.code in FINAL:
                    raise
                continue
            for notice in alone.notices:
                if notice.code == "N0502" and notice.message.startswith(f"{name}:"):
                    self.results.unconnected_by(name, (notice.code, notice.message, notice.span))
            return


def fails_alike(reason: BaseException) -> bool:
    """Whether rows that end for a reason on their way all do, whatever their numbers are."""
    return isinstance(reason, Alike) or getattr(reason, "code", "") in ALIKE


def described(reason: BaseException) -> str:
    return (
        str(reason)
        if isinstance(reason, NotTogether)
        else "an error in some rows"
        if isinstance(reason, AdiffError)
        else (f"a function that does not take columns ({type(reason).__name__})")
    )


__all__ = ["CHUNK", "ByColumns"]
