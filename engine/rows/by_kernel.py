"""The kernel tier on a table: a compiled loop over its rows, and the tape for the rows that it leaves.

Rows at singular points, with nan or infinity or with integers beyond 2**53 are few, and have something to tell: the tape
evaluates them anew, as it does rows with errors that the loop has no words for.
"""

from __future__ import annotations

from math import prod

from ...parser.errors import AdiffError
from ..core.errors import span_of
from ..core.tensor import Tensor
from ..core.wording import elements_summed
from ..eager.row_sets import FINAL
from ..kernels.built import Built
from ..kernels.inputs import ROOMS, Complex, Single, arguments, shape_of, specification
from ..kernels.ir import BOOL, FLOAT, INT, LIMIT, Crowded, Left, Needed, Unsupported
from ..kernels.lowering.structures import stacked_shape
from ..kernels.machine import spare
from ..kernels.machine.failures import error_of
from ..kernels.machine.record import FAILED
from ..kernels.runtime import Kernels
from .outcome import RowsOutcome, no_derivative_by
from .request import Request
from .structured import is_array, restructured
from .workers import Workers

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from ..kernels.emitted import Emitted
    from .by_columns import ByColumns
    from .results import Results


class ByKernel:
    """Evaluates rows of a request in a compiled loop; `tape` evaluates the rows that are left.

    Raises Unsupported where the tape is to evaluate all.
    """

    def __init__(self, program: Any, request: Request, results: Results, tape: ByColumns) -> None:
        self.core = program.core
        self.request = request
        self.results = results
        self.tape = tape
        if program.kernels is None:
            program.kernels = Kernels(program.core, program.source)
        self.kernels: Kernels = program.kernels
        self.spec: dict[str, Any] = {}
        self.values: dict[str, Any] = {}
        # What is differentiated by: truth values are named in vain.
        self.sources: list[str] = []
        self.varying: set[str] = set()
        # The inputs that are floats wherever they come from, and count nothing.
        self.fractional: set[str] = set()
        self.bind()
        self.identify()

    def identify(self) -> None:
        # The order in which the loop takes its inputs.
        names = [*self.core.inputs, *(name for name in self.core.optional if name in self.spec)]
        self.names = [name for name in names if self.spec[name].__class__ is not list]
        self.parameters = [name for name in self.names for _ in range(2 if self.spec[name].__class__ is Complex else 1)]
        parts = ("rows", sorted(self.spec.items()), sorted(self.varying), self.sources, self.request.order)
        self.key = self.kernels.key(parts)

    def bind(self) -> None:
        """The inputs' values, columns and constants, and what the kernel is specialised to."""
        import numpy as np

        request = self.request
        constants = dict(request.bound_constants())
        columns: dict[str, Any] = dict(request.columns)
        for name in request.names:
            if name not in columns:
                value = constants.pop(name)
                array = np.asarray(value.value if value.__class__ is Tensor else value)
                columns[name] = np.broadcast_to(array, (request.count, *array.shape))
        self.sources = [name for name in request.names if columns[name].dtype.kind != "b"]
        single = any(column.dtype.name == "float32" for column in columns.values())
        self.spec = specification(constants, (), self.kernels.known, single)
        if self.kernels.rooms:
            self.spec[ROOMS] = self.kernels.roomy()
        self.values = dict(constants)
        self.varying = set(columns)
        self.fractional = {name for name, x in {**constants, **columns}.items() if is_fractional(x)}
        for name, column in columns.items():
            kind, source = column.dtype.name, name in self.sources
            if kind == "int64" and source:
                column, kind = column.astype(np.float64), "float64"
            if kind == "float32":
                self.spec[name] = Single(column.shape[1:])
            elif column.ndim > 1 and kind == "float64":
                self.spec[name] = column.shape[1:]
            elif column.ndim > 1 or kind not in ("float64", "int64", "bool"):
                raise Unsupported(f"a column of {kind}" + (" tensors" if column.ndim > 1 else ""))
            elif kind == "bool":
                self.spec[name] = BOOL
            else:
                self.spec[name] = FLOAT if kind == "float64" else INT
            self.values[name] = np.ascontiguousarray(column)

    # --- the kernel -------------------------------------------------------------------------------------------------

    def make(self) -> Built:
        from ..kernels.construction.construct import Lowered, build
        from ..kernels.source.over_rows import loop_over_rows

        request = self.request
        if request.order and not self.sources:
            raise Unsupported("a derivative by no inputs")
        if request.order < 2:
            return loop_over_rows(build(self.core, self.spec, self.sources if request.order else None), self.varying)
        from ..kernels.construction.derivatives import hessian

        return loop_over_rows(hessian(Lowered(self.core, self.spec, self.sources)), self.varying)

    def seconds_if_kept(self) -> float | None:
        """How long it takes until the loop can run; None if it has not been compiled."""
        from ..kernels.work import load_seconds

        if not self.kernels.find(self.key):
            return None
        return 0.0 if self.key in self.kernels.compiled else load_seconds()

    def seconds_to_compile(self) -> float:
        from ..kernels.work import ready_seconds

        return ready_seconds(self.described())

    def described(self) -> Built:
        kernels = self.kernels
        if not kernels.find(self.key) and self.key not in kernels.built:
            kernels.built[self.key] = kernels.attempt(self.make)
        built = kernels.built[self.key]
        if isinstance(built, Needed) and self.varying.isdisjoint(built.names) and kernels.learn(built.names):
            # Constants whose values decide what is compiled: `ones(n)`.
            self.bind()
            self.identify()
            return self.described()
        if isinstance(built, Unsupported):
            raise built
        found: Built = built
        if found.meetings:
            raise Unsupported("complex numbers beside columns")
        if any(self.parameters[position] in self.fractional for position in found.counted):
            raise Unsupported("a range to a float")
        if found.structure is not None:
            is_array(found.structure, *found.shape)
        return found

    # --- rows -------------------------------------------------------------------------------------------------------

    def run(self, start: int, outcome: RowsOutcome) -> None:
        """Evaluate the rows from `start` on."""
        import numpy as np

        request, results = self.request, self.results
        self.described()
        loop = self.kernels.ready(self.key, self.make)
        built = loop.built
        count = request.count - start
        unfit, given = self.arguments(built, start)
        *columns, doubt = made = spare.arrays(
            loop.entry, [*((kind, count * size) for kind, size in built.columns), (BOOL, count)]
        )
        # Where a row failed, counted from 1, and about which number: memory that is not touched unless one does.
        noted = [np.zeros(count, np.int64), np.empty(count, np.int64)] if built.fails else []
        workers = Workers(loop.entry, given, columns, doubt, noted, loop.emitted.heaviest)
        try:
            workers.run()
        except AdiffError as limit:
            site = None if workers.stopped_at is None else loop.emitted.sites[workers.stopped_at][0]
            if limit.span is None and site is not None:
                limit.span = span_of(site)
            raise
        if any(map(self.kernels.make_room, crowded(workers.left, loop.emitted))):
            spare.leave_arrays(loop.entry, made)
            self.bind()
            self.identify()
            self.run(start, outcome)
            return
        if unfit is not None:
            doubt |= unfit
        names = [name for name in self.sources if request.order < 2 or name not in built.lost]
        slopes = columns[1:]
        self.connection(built, names, slopes, doubt, start)
        if built.structure is not None and not is_array(built.structure, *built.shape):
            # What is an integer and what a float is to be seen in what is no array.
            for place in built.doubtful:
                leaves = columns[0].reshape(count, *built.shape)[:, place]
                doubt |= leaves == np.floor(leaves)
        everything = not doubt.any()
        rows: Any = slice(None) if everything else np.flatnonzero(~doubt)
        index: Any = range(start, request.count) if everything else rows + start

        def keep(gathered: Any, found: Any, shape: Sequence[int] = ()) -> None:
            gathered.add(index, found.reshape(count, *shape)[rows])

        if not len(index) and request.count:
            pass  # the shape of a value that no row has is nobody's to know
        elif built.structure is None:
            keep(results.value, columns[0], built.shape)
        elif len(index):
            results.value.add(index, restructured(columns[0].reshape(count, *built.shape)[rows], built.structure))
        for name, slope in zip(names, slopes):
            if name not in built.lost:
                keep(results.gradients[name], self.in_width(slope, columns[0], name), shape_of(self.spec[name]))
        for name, (reason, site) in built.lost.items():
            results.gradients[name].add(index, None)
            if reason:
                why = ("N0502", f"{name}: the gradient is None: {reason}", self.tape.span_of(site))
                results.unconnected[name] = why
            elif name not in results.unconnected and len(index):
                self.tape.explain_unconnected(name, index)
        for name in request.names:
            if name not in self.sources and len(index):
                results.gradients[name].add(index, None)
                results.notices.add("N0504", no_derivative_by(name, "bool"), self.tape.span_of(None), len(index))
        if request.order == 2:
            for one in request.names:
                for other in request.names:
                    if one not in names or other not in names:
                        results.hessian[one][other].add(index, None)
        if request.order == 2 and names:
            self.keep_blocks(
                slopes[len(names)][: count * self.numbers(names) ** 2].reshape(count, -1)[rows],
                columns[0],
                names,
                index,
            )
        shape = built.shape if built.structure is None else stacked_shape(built.structure)
        if (shape or built.apart) and request.order and len(index):
            words = elements_summed(shape or (), built.apart, "grad" if request.order == 1 else "hessian")
            results.notices.add("N0503", words, self.tape.span_of(None), len(index))
        outcome.emitted = loop.source
        if not everything:
            self.failed(loop.emitted, start, doubt, unfit, workers.left, noted)
            self.tape.run(np.flatnonzero(doubt) + start)
        spare.leave_arrays(loop.entry, made)

    def numbers(self, names: Sequence[str]) -> int:
        """How many numbers a row has in some columns."""
        return sum(prod(shape_of(self.spec[name])) for name in names)

    def keep_blocks(self, tables: Any, value: Any, names: list[str], index: Any) -> None:
        """Hand over the Hessians of rows, of each a table with a column for every direction, as blocks of two sources."""
        import numpy as np

        total = self.numbers(names)
        tables = tables.reshape(len(tables), total, total)
        places: dict[str, slice] = {}
        for name in names:
            start = sum(part.stop - part.start for part in places.values())
            places[name] = slice(start, start + prod(shape_of(self.spec[name])))
        for later, a in enumerate(names):
            for b in names[: later + 1]:
                # The directions of the earlier source serve both blocks, as on the tape.
                block = tables[:, places[a], places[b]]
                for one, other, part in ((a, b, block), (b, a, block.transpose(0, 2, 1)))[: 1 + (a != b)]:
                    shape = shape_of(self.spec[one]) + shape_of(self.spec[other])
                    found = np.ascontiguousarray(part).reshape(len(tables), *shape)
                    self.results.hessian[one][other].add(index, self.in_width(found, value, one, other))

    def in_width(self, found: Any, value: Any, *names: str) -> Any:
        """Derivatives by columns in their dtype: float32 by those of float32, and by others where the value is one."""
        single = value.dtype.name == "float32" or all(self.spec[n].__class__ is Single for n in names)
        return found.astype("float32" if single else "float64", copy=False) if found.dtype.kind == "f" else found

    def failed(
        self,
        emitted: Emitted,
        start: int,
        doubt: Any,
        unfit: Any,
        left: dict[int, tuple[int, int, int]],
        noted: list[Any],
    ) -> None:
        """Give the rows that failed, counted from row `start`, the error for which they did, and take them out of doubt.

        The others are the tape's to explain. Raises the error of a limit, which ends them all.
        """
        import numpy as np

        groups = [(np.array([row]), why) for row, why in left.items()]
        if noted:
            rows = np.flatnonzero(doubt)
            places, numbers = (column[rows] for column in noted)
            for place in np.flatnonzero(np.bincount(places)).tolist():
                if place:
                    groups += by_number(rows[places == place], numbers[places == place], place - 1)
        errors: dict[tuple[int, int, int], Exception] = {}
        certain = [np.zeros(0, np.int64)]
        for rows, why in groups:
            error = errors.get(why)
            if error is None:
                error = errors[why] = error_of(Left(*why), emitted)
            if isinstance(error, AdiffError):
                if error.code in FINAL:
                    raise error
                certain.append(rows if unfit is None else rows[~unfit[rows]])
                self.results.errors.update(dict.fromkeys((certain[-1] + start).tolist(), error))
        doubt[np.concatenate(certain)] = False

    def arguments(self, built: Built, start: int) -> tuple[Any, list[Any]]:
        """The rows from `start` on that no kernel takes, None where there can be none, and the loop's arguments."""
        import numpy as np

        doubts = []
        given: list[Any] = []
        for name in self.names:
            if name not in self.varying:
                constant = {name: self.values[name]}
                given.extend(arguments(Inputs(constant), constant, self.spec))  # type: ignore[arg-type]
                continue
            column = self.values[name][start:]
            if column.dtype.kind == "i":
                doubts.append((column > LIMIT) | (column < -LIMIT))
            elif len(given) in built.counted:
                doubts.append(column != np.floor(column))
            given.append(column.reshape(-1))
        return np.logical_or.reduce(doubts) if doubts else None, given

    def connection(self, built: Built, names: list[str], slopes: list[Any], doubt: Any, start: int) -> None:
        """Raise Unsupported if a gradient is 0 in all rows and may be None instead.

        Rows in doubt are not looked at: what their columns hold nobody has written.
        """
        for name, slope in zip(names, slopes):
            unsure = name not in built.sure and name not in built.lost
            if unsure and not doubt.all() and not slope.reshape(len(doubt), -1)[~doubt].any():
                raise Unsupported("an input that reaches the result on some paths of the program only")
        for name in built.unexplained:
            # No number leads from it to the result, and a part of a tensor may: an imaginary part, of which there is the real.
            if name not in self.results.unconnected and not doubt.all():
                alone = self.tape.evaluate(start + int(doubt.argmin()), "grad")
                if alone.gradients[name] is not None:
                    raise Unsupported("an input that reaches the result as a part of a tensor")


def crowded(left: dict[int, tuple[int, int, int]], emitted: Emitted) -> list[Crowded]:
    """The loops in which rows have left the kernel because a list had no more room."""
    places = {(why, where): number for why, where, number in left.values()}
    errors = [error_of(Left(*place, number), emitted) for place, number in places.items()]
    return [error for error in errors if isinstance(error, Crowded)]


def by_number(rows: Any, numbers: Any, place: int) -> list[tuple[Any, tuple[int, int, int]]]:
    """Rows that failed at one place, by the number that it was about in each: what `Left` holds of them."""
    import numpy as np

    distinct, which = np.unique(numbers, return_inverse=True)
    parts = np.split(rows[np.argsort(which, kind="stable")], np.cumsum(np.bincount(which))[:-1])
    return [(part, (FAILED, place, number)) for part, number in zip(parts, distinct.tolist())]


def is_fractional(x: Any) -> bool:
    """Whether a column or a constant is of floats."""
    return x.__class__ is float or (hasattr(x, "dtype") and getattr(x.dtype, "kind", "") == "f")


class Inputs:
    """The names of constants, in the place of a program's inputs."""

    def __init__(self, constants: dict[str, Any]) -> None:
        self.inputs = constants
        self.optional: dict[str, Any] = {}


__all__ = ["ByKernel"]
