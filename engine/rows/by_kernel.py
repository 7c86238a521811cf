"""The kernel tier on a table: a compiled loop over its rows, and the tape for the rows that it leaves.

Rows at singular points, with nan or infinity, with errors or with integers beyond 2**53 are few, and have something to
tell: the tape evaluates them anew.
"""

from __future__ import annotations

from ..core.state import STATE
from ..core.tensor import Tensor
from ..kernels.construct import Built, Lowered, build
from ..kernels.derivatives import hessian
from ..kernels.ir import BOOL, FLOAT, INT, Array, Unsupported
from ..kernels.over_rows import compiled_loop, loop_over_rows, run_over_rows
from ..kernels.primitives import LIMIT
from ..kernels.runtime import Kernels, arguments, specification
from .outcome import RowsOutcome
from .request import Request

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .by_columns import ByColumns, Results

ELEMENTS = {FLOAT: "float64", INT: "int64", BOOL: "bool"}


class RowKernel:
    """A compiled loop: what it computes, its source, and the columns of its results by kind and size."""

    __slots__ = ("built", "columns", "run", "source", "sources")

    def __init__(self, built: Built, sources: list[str], varying: set[str]) -> None:
        emitted, self.columns = loop_over_rows(built, varying)
        self.built = built
        self.sources = sources  # of a Hessian: the sources that the result depends on, in the order of its rows
        self.source = emitted.text
        self.run = compiled_loop(emitted)


class ByKernel:
    """Evaluates a request in a compiled loop; `tape` evaluates the rows that are left."""

    def __init__(self, program: Any, request: Request, results: Results, tape: ByColumns) -> None:
        self.core = program.core
        self.request = request
        self.results = results
        self.tape = tape
        if program.kernels is None:
            program.kernels = Kernels(program.core)
        self.kernels: Kernels = program.kernels

    def given(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """What the kernel is specialised to, and the values of the inputs: columns, and constants as they are bound."""
        import numpy as np

        request = self.request
        constants = request.bound_constants()
        columns: dict[str, Any] = dict(request.columns)
        for name in request.names:
            if name not in columns:
                value = constants.pop(name)
                array = np.asarray(value.value if value.__class__ is Tensor else value)
                columns[name] = np.broadcast_to(array, (request.count, *array.shape))
        spec = specification(constants, ())
        values: dict[str, Any] = dict(constants)
        for name, column in columns.items():
            kind, source = column.dtype.name, name in request.names
            if kind == "int64" and source:
                column, kind = column.astype(np.float64), "float64"
            if column.ndim > 1 and kind == "float64":
                spec[name] = column.shape[1:]
            elif column.ndim > 1 or kind not in ("float64", "int64", "bool"):
                raise Unsupported(f"a column of {kind}" + (" tensors" if column.ndim > 1 else ""))
            elif kind == "bool":
                if source:
                    raise Unsupported("a derivative by booleans")
                spec[name] = BOOL
            else:
                spec[name] = FLOAT if kind == "float64" else INT
            values[name] = np.ascontiguousarray(column)
        return spec, values

    def prepared(self, spec: dict[str, Any], varying: set[str]) -> Any:
        """The loop for a specification; Unsupported, as a value, where there is none."""
        request = self.request
        key = (
            "rows",
            repr(sorted(spec.items())),
            tuple(sorted(varying)),
            tuple(request.names),
            request.order,
            STATE.kinks,
        )

        def make() -> Built:
            if request.order < 2:
                return build(self.core, spec, request.names if request.order else None)
            return hessian(Lowered(self.core, spec, request.names))

        kernels = self.kernels
        if key not in kernels.built:
            kernels.built[key] = kernels.attempt(make)
        built = kernels.built[key]
        if built.__class__ is Unsupported:
            raise built
        if request.order and not request.names:
            raise Unsupported("a derivative by nothing")
        return key, built

    def compiled(self, key: Any, built: Built, varying: set[str]) -> RowKernel:
        kernels: Any = self.kernels
        if key not in kernels.compiled:
            sources = [name for name in self.request.names if name not in built.lost]
            made = kernels.attempt(lambda: RowKernel(built, sources, varying))
            if made.__class__ is Unsupported:
                kernels.built[key] = made
                raise made
            kernels.compiled[key] = made
        found: RowKernel = kernels.compiled[key]
        return found

    def evaluate(self, outcome: RowsOutcome, worthwhile: Callable[[Built, bool], bool] | None) -> bool:
        """Evaluate all rows, if that is the sooner way. Raises Unsupported where the tape is to do it."""
        import numpy as np

        request, results = self.request, self.results
        spec, values = self.given()
        varying = {name for name, value in values.items() if name in request.columns or name in request.names}
        key, built = self.prepared(spec, varying)
        if worthwhile is not None and not worthwhile(built, key in self.kernels.compiled):
            return False
        loop = self.compiled(key, built, varying)
        count = request.count
        doubt, given = self.arguments(loop, spec, values, varying)
        columns = [np.empty(count * size, ELEMENTS[kind]) for kind, size in loop.columns]
        doubt |= run_over_rows(loop.run, count, given, columns)
        value, *slopes = [
            column if size == 1 else column.reshape(count, -1) for column, (_, size) in zip(columns, loop.columns)
        ]
        if built.shape:
            value = value.reshape(count, *built.shape)
        self.connection(loop, slopes, doubt)
        for found in (value, *slopes):
            doubt |= not_finite(found)
        rows = np.flatnonzero(~doubt)
        everything = len(rows) == count

        def kept(found: Any) -> Any:
            return found if everything else found[rows]

        results.value.add(rows, kept(value))
        if request.order:
            self.keep(loop, spec, slopes, rows, kept)
        outcome.emitted = loop.source
        if not everything:
            self.tape.run(np.flatnonzero(doubt))
        if built.shape and request.order and everything:
            shape = ",".join(map(str, built.shape))
            results.notices.add(
                "N0503", f"the result has shape [{shape}]: its elements are summed for the gradient",
                self.tape.end_span(), count,
            )  # fmt: skip
        return True

    def arguments(
        self, loop: RowKernel, spec: dict[str, Any], values: dict[str, Any], varying: set[str]
    ) -> tuple[Any, list[Any]]:
        """The loop's arguments in order, and the rows that no kernel takes."""
        import numpy as np

        count = self.request.count
        doubt = np.zeros(count, bool)
        kernel = loop.built.kernel
        constants = {name: value for name, value in values.items() if name not in varying}
        order = {name: k for k, name in enumerate(constants)}
        plain = arguments(Inputs(list(order)), constants, {name: spec[name] for name in order})  # type: ignore[arg-type]
        known = [name for name in order if spec[name].__class__ is not list]
        by_name = dict(zip(known, plain))
        given = []
        for position, p in enumerate(kernel.parameters):
            if p.name not in varying:
                given.append(by_name[p.name])
                continue
            column = values[p.name]
            if p.__class__ is not Array:
                if column.dtype.kind == "i":
                    doubt |= (column > LIMIT) | (column < -LIMIT)
                elif position in loop.built.counted:
                    doubt |= column != np.floor(column)
            given.append(column.reshape(-1))
        return doubt, given

    def connection(self, loop: RowKernel, slopes: list[Any], doubt: Any) -> None:
        """Raise Unsupported if a gradient is 0 in all rows and may be None instead."""
        if not self.request.order:
            return
        names = loop.sources if self.request.order == 2 else self.request.names
        for name, slope in zip(names, slopes):
            if name not in loop.built.sure and name not in loop.built.lost and not slope[~doubt].any():
                raise Unsupported("an input of which it is doubtful that the result depends on it")

    def keep(self, loop: RowKernel, spec: dict[str, Any], slopes: list[Any], rows: Any, kept: Any) -> None:
        """Hand over gradients and Hessians."""
        request, results, built = self.request, self.results, loop.built
        count = request.count
        names = loop.sources if request.order == 2 else request.names
        for name, slope in zip(names, slopes):
            shape = spec[name] if spec[name].__class__ is tuple else ()
            lost = name in built.lost
            results.gradients[name].add(rows, None if lost else kept(slope.reshape(count, *shape)) + 0.0)
        for name, (reason, site) in built.lost.items():
            if name not in names:
                results.gradients[name].add(rows, None)
            results.unconnected[name] = ("N0502", f"{name}: the gradient is None: {reason}", self.tape.span_of(site))
        if request.order < 2:
            return
        table = slopes[len(names)]
        if any(spec[name].__class__ is tuple for name in names):
            raise Unsupported("a Hessian by vectors")
        total = len(names)
        table = table.reshape(count, total, total)
        for i, a in enumerate(names):
            for j, b in enumerate(names):
                results.hessian[a][b].add(rows, kept(table[:, max(i, j), min(i, j)]) + 0.0)


class Inputs:
    """The names of constants, in the place of a program's inputs."""

    def __init__(self, names: list[str]) -> None:
        self.inputs = dict.fromkeys(names)
        self.optional: dict[str, Any] = {}


def not_finite(found: Any) -> Any:
    """Which rows hold nan or infinity."""
    import numpy as np

    if found.dtype.kind != "f":
        return False
    # One pass for a column in which there is none.
    if np.isfinite(np.sum(found)):
        return False
    finite = np.isfinite(found)
    return ~(finite if finite.ndim == 1 else finite.reshape(len(found), -1).all(axis=1))


__all__ = ["ByKernel"]
