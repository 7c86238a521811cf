"""The IR of whole kernels: a program traced for the kinds of its inputs, with the derivatives that a command asks for."""

from __future__ import annotations

from ...parser.errors import AdiffError
from ..core.dtypes import WEAK_FLOAT
from ..core.operands import describe
from ..core.state import STATE
from ..core.tensor import Tensor, shape_of
from ..eager.structure import one_operand
from .adjoint import zeros
from .builder import Builder
from .ir import FLOAT, Kernel, Loop, Unsupported, Var, walk
from .masks import Masks
from .replay import Replay
from .symbols import Sym
from .tangent import Tangent
from .transforms import along_directions, gradients, seeds, tables

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from ..program.core import CoreProgram
    from .inputs import Input, Request
    from .ir import Block

STRUCTURES = (list, tuple, dict)
# Inputs that have a bit each in an integer.
MOST_MASKED = 53


class Construction:
    """Builds the kernel of a request, and `facts`, what its results mean, in plain types as the store keeps them.

    `value` is the form of the program's value, with a "leaf" for each result of the kernel. `derived` has, in an order that the
    command decides, numbers of results. `mask` says which sources reach the value (bit i for source i); where data decide, the
    result of number `decided` does. `apart` says what a value was whose parts are summed, and `conditional` whether a loop runs
    until data end it.
    """

    def __init__(
        self, core: CoreProgram, inputs: Mapping[str, Input], request: Request, careful: bool
    ) -> None:  # fmt: skip
        self.core = core
        self.request = request
        self.builder = Builder()
        self.builder.careful = careful
        self.parameters: list[Var] = []
        self.results: list[Any] = []
        self.derived: list[int] = []
        self.facts: dict[str, Any] = {"mask": 0, "decided": None, "mode": "", "shape": (), "apart": None}
        values: dict[str, Any] = {}
        for name, spec in inputs.items():
            if not spec.kind:
                values[name] = spec.value
                continue
            var = self.parameter(spec.kind, spec.shape, "x")
            values[name] = Sym(self.builder, var, spec.dtype or WEAK_FLOAT)
        self.sources = [values[name].var for name in request.names]
        self.inputs = values

    def parameter(self, kind: str, shape: tuple[int, ...], hint: str) -> Var:
        var = Var(kind, shape, hint)
        self.parameters.append(var)
        return var

    def result(self, x: Any) -> int:
        """The number of a result."""
        self.results.append(x if x.__class__ is Var else self.builder.operand(x))
        return len(self.results) - 1

    def build(self) -> tuple[Kernel, dict[str, Any]]:
        """The kernel, and the facts. Raises Unsupported, also for what is an error of the program: the tape says it."""
        try:
            return self.built()
        except AdiffError as error:
            raise Unsupported(f"what is an error if it is reached ({error.message})", STATE.site) from None

    def built(self) -> tuple[Kernel, dict[str, Any]]:
        from .operations import dead_code, expand
        from .trace import Tracer

        builder, request, facts = self.builder, self.request, self.facts
        found = Tracer(self.core, builder).run(dict(self.inputs))
        if request.command == "value":
            facts["value"] = self.layout(found)
        else:
            y, facts["apart"] = one_operand(found)
            facts["shape"] = shape_of(y)
            facts["value"] = self.layout(found if request.command == "grad" and found.__class__ in STRUCTURES else y)
            y = self.tidied(y)
            getattr(self, request.command)(y)
        kernel = Kernel(self.parameters, builder.preamble + builder.block, self.results, builder.flags)
        dead_code(kernel)
        expand(kernel)
        dead_code(kernel)
        facts["derived"] = self.derived
        facts["conditional"] = any(stmt.__class__ is Loop and stmt.index is None for stmt in walk(kernel.body))
        facts["flags"] = [(flag.text, *place(flag.site)) for flag in kernel.flags]
        return kernel, facts

    def layout(self, found: Any) -> tuple[Any, ...]:
        """The form of a structure: its symbols are results of the kernel, of a dtype."""
        cls = found.__class__
        if cls is Sym or (cls is Tensor and found.dtype.kind in "fib"):
            return "leaf", self.result(found), found.dtype.name, found.dtype.weak
        if cls is dict:
            return ("dict", *[(key, self.layout(x)) for key, x in found.items()])
        if cls in (list, tuple):
            return (cls.__name__, *[self.layout(x) for x in found])
        if cls in (float, int, bool, str) or found is None:
            return "known", found
        raise Unsupported(f"a result that is {describe(found)}")

    def tidied(self, y: Any) -> Any:
        """The value, with a block of what it and the results so far need: less is differentiated. Which sources reach it is noted."""
        from .operations import dead_code

        if y.__class__ is not Sym:
            return y
        needed = Kernel(self.parameters, self.builder.preamble + self.side(), [*self.results, y.var], [])
        dead_code(needed)
        replay = Masks(self.builder, needed.body, self.sources)
        replay.block(needed.body)
        self.rename(replay)
        self.facts["mask"] = replay.known.get(y.var, 0)
        if y.var in replay.varied:
            if len(self.sources) > MOST_MASKED:
                raise Unsupported("so many inputs of which data decide whether they reach the value")
            self.facts["decided"] = self.result(replay.of(y.var))
        return self.builder.sym(replay.at(y.var), y.dtype)

    # --- commands -----------------------------------------------------------------------------------------------------

    def grad(self, y: Any) -> None:
        self.derived = self.results_of(self.gradients(y, self.ones(y)))

    def vjp(self, y: Any) -> None:
        shape = self.request.cotangent
        if shape is None:
            seed = self.ones(y)
        else:
            if shape != shape_of(y):
                raise Unsupported("a cotangent of another shape than the value")
            seed = self.builder.sym(self.parameter(FLOAT, shape, "cotangent"))
        self.derived = self.results_of(self.gradients(y, seed))

    def gradients(self, y: Any, seed: Any) -> list[Any]:
        return gradients(self.builder, list(self.builder.block), y, self.sources, seed)

    def ones(self, y: Any) -> Any:
        """The seed of a gradient: the elements of a value are summed."""
        return self.builder.full(1.0, shape_of(y))

    def results_of(self, found: Sequence[Any]) -> list[int]:
        return [self.result(x) for x in found]

    def directions(self) -> dict[Var, Any]:
        by_name = dict(zip(self.request.names, self.sources))
        return {
            by_name[name]: self.builder.sym(self.parameter(FLOAT, by_name[name].shape, "direction"))
            for name in self.request.directions
        }

    def side(self) -> Block:
        """The block so far, apart, for it to be replayed."""
        block = self.builder.block
        self.builder.scopes[0] = type(self.builder.scopes[0])([])
        return block

    def jvp(self, y: Any) -> None:
        side = self.side()
        forward = Tangent(self.builder, side, self.directions())
        forward.block(side)
        self.rename(forward)
        self.derived = [self.result(forward.of(y.var) if y.__class__ is Sym else zeros(self.builder, shape_of(y)))]

    def rename(self, replay: Replay) -> None:
        """The results so far, where a block has been replayed."""
        self.results[:] = [replay.at(x) for x in self.results]

    def hvp(self, y: Any) -> None:
        found = self.gradients(scalar(y), self.ones(y))
        side = self.side()
        forward = Tangent(self.builder, side, self.directions())
        forward.block(side)
        self.rename(forward)
        values = [self.builder.sym(forward.at(g.var)) if g.__class__ is Sym else g for g in found]
        products = [
            forward.of(g.var) if g.__class__ is Sym else zeros(self.builder, x.shape)
            for g, x in zip(found, self.sources)
        ]
        self.derived = self.results_of([*values, *products])

    def hessian(self, y: Any) -> None:
        """The gradients, and for each a table whose row i is its derivative by element i of all sources."""
        found = self.gradients(scalar(y), self.ones(y))
        side = self.side()
        primal = Replay(self.builder)
        varying = [g.var for g in found if g.__class__ is Sym]
        by_gradient = iter(along_directions(self.builder, side, self.sources, varying, primal))
        self.rename(primal)
        values = [self.builder.sym(primal.at(g.var)) if g.__class__ is Sym else g for g in found]
        count = sum(x.size for x in self.sources)
        constant = [zeros(self.builder, (count, x.size)) for x in self.sources]
        tables = [next(by_gradient) if g.__class__ is Sym else none for g, none in zip(found, constant)]
        self.derived = self.results_of([*values, *tables])

    def jacobian(self, y: Any) -> None:
        """For each source the rows by the elements of the source (forward), or those by the elements of the value (reverse)."""
        count = sum(x.size for x in self.sources)
        size = getattr(y, "size", 1)
        mode = self.request.mode
        if mode == "auto":
            mode = "forward" if 2 * count < size else "reverse"
        self.facts["mode"] = mode
        if y.__class__ is not Sym:
            return  # no source reaches it
        if mode == "forward":
            side = self.side()
            primal = Replay(self.builder)
            (table,) = along_directions(self.builder, side, self.sources, [y.var], primal)
            self.rename(primal)
            self.derived = [self.result(table)]
        else:
            self.derived = self.results_of(self.by_cotangents(y))

    def by_cotangents(self, y: Sym) -> list[Any]:
        """For each source the gradients of the elements of the value, a row for each."""
        recorded = list(self.builder.block)

        def row(element: Sym) -> list[Any]:
            seed = seeds([y.var], element)[y.var] if y.shape else 1.0
            return gradients(self.builder, recorded, y, self.sources, seed)

        return tables(self.builder, y.size, [x.size for x in self.sources], row)


def place(site: Any) -> tuple[int, int]:
    return (0, 0) if site is None else (site.start, site.end)


def scalar(y: Any) -> Any:
    """A value whose second derivatives are asked for. Raises Unsupported for a tensor: the tape refuses it in words."""
    if shape_of(y):
        raise Unsupported("second derivatives of a value that is no number")
    return y
