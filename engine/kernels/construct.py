"""The IR of whole kernels: a program traced for the kinds of its inputs, with the derivatives that a command asks for."""

from __future__ import annotations

from ...parser.errors import AdiffError
from ..core.dtypes import WEAK_FLOAT
from ..core.operands import as_operand, describe
from ..core.state import STATE
from ..core.tensor import OPERATORS, Tensor, shape_of
from ..eager.structure import flatten, rebuild
from .builder import Builder
from .ir import FLOAT, Kernel, Unsupported, Var
from .paths import Masks, Reach
from .replay import Replay
from .rules import zeros
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


class Constructed:
    """A kernel's IR, and what its results mean.

    `value` is the form of the program's value, with a "leaf" for each result of the kernel. `derived` has, in an order that the
    command decides, numbers of results, or None for a derivative that is zero because no path leads to it. `mask` is the number of the
    result that says which sources reach the value (bit i for source i), or the mask itself, in which the sources `undecided` may
    not: data decide.
    """

    __slots__ = ("apart", "derived", "kernel", "mask", "mode", "shape", "undecided", "value")

    def __init__(self) -> None:
        self.kernel: Kernel
        self.value: Any = None
        self.derived: list[int | None] = []
        self.mask: tuple[str, int] = ("known", 0)
        self.undecided: list[int] = []
        self.mode = ""
        self.shape: tuple[int, ...] = ()
        self.apart: str | None = None


class Construction:
    """Builds the kernel of a request."""

    def __init__(
        self, core: CoreProgram, point: Mapping[str, Any], inputs: Mapping[str, Input], request: Request, careful: bool
    ) -> None:  # fmt: skip
        self.core = core
        self.request = request
        self.builder = Builder()
        self.builder.careful = careful
        self.parameters: list[Var] = []
        self.results: list[Any] = []
        self.made = Constructed()
        values: dict[str, Any] = {}
        for name, spec in inputs.items():
            if not spec.kind:
                values[name] = spec.value
                continue
            var = self.parameter(spec.kind, spec.shape, "x")
            values[name] = Sym(self.builder, var, spec.dtype or WEAK_FLOAT)
        self.sources = [values[name].var for name in request.names]
        self.inputs = values
        self.point = point

    def parameter(self, kind: str, shape: tuple[int, ...], hint: str) -> Var:
        var = Var(kind, shape, hint)
        self.parameters.append(var)
        return var

    def result(self, x: Any) -> int:
        """The number of a result."""
        self.results.append(x if x.__class__ is Var else self.builder.operand(x))
        return len(self.results) - 1

    def build(self) -> Constructed:
        """The kernel. Raises Unsupported, also for what is an error of the program: the tape says it."""
        try:
            return self.built()
        except AdiffError as error:
            raise Unsupported(f"what is an error if it is reached ({error.message})", STATE.site) from None

    def built(self) -> Constructed:
        from .operations import dead_code, expand
        from .trace import Tracer

        builder, request, made = self.builder, self.request, self.made
        tracer = Tracer(self.core, builder)
        tracer.last_statement = request.last
        found = tracer.run(dict(self.inputs))
        if request.command == "value":
            made.value = self.layout(found)
        else:
            y, made.apart = numeric(found)
            made.shape = shape_of(y)
            self.reach = Reach(self.builder.block, {x: 1 << i for i, x in enumerate(self.sources)})
            if y.__class__ is Sym:
                made.mask = ("known", self.reach.may.get(y.var, 0))
            # What reaches the value has been decided: from here on only values matter.
            builder.keeps_paths = False
            y, found = self.masked(y, found)
            made.value = self.layout(found if request.command == "grad" and found.__class__ in STRUCTURES else y)
            y = self.tidied(y)
            getattr(self, request.command)(y)
        made.kernel = Kernel(self.parameters, builder.preamble + builder.block, self.results, builder.flags)
        dead_code(made.kernel)
        expand(made.kernel)
        dead_code(made.kernel)
        return made

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

    # --- paths --------------------------------------------------------------------------------------------------------

    def masked(self, y: Any, found: Any) -> tuple[Any, Any]:
        """The value, with a mask computed beside it where data decide which sources reach it."""
        if y.__class__ is not Sym or self.reach.decided(y.var):
            return y, found
        if not self.builder.careful and self.request.command in ("grad", "vjp"):
            # A derivative that is not zero tells that its source is reached.
            doubt = self.reach.may[y.var] ^ self.reach.must.get(y.var, 0)
            self.made.undecided = [i for i in range(len(self.sources)) if doubt >> i & 1]
            return y, found
        block = self.builder.block
        self.builder.scopes[0] = type(self.builder.scopes[0])([])
        masks = Masks(self.builder, self.reach)
        masks.block(block)

        def renamed(x: Any) -> Any:
            return self.builder.sym(masks.at(x.var), x.dtype) if x.__class__ is Sym else x

        self.made.mask = ("result", self.result(masks.companion_of(y.var)))
        return renamed(y), rebuild(found, [renamed(x) for x in flatten(found)])

    def tidied(self, y: Any) -> Any:
        """The value, with a block of what it and the results so far need: less is differentiated."""
        from .operations import dead_code

        if y.__class__ is not Sym:
            return y
        needed = Kernel(self.parameters, self.builder.preamble + self.side(), [*self.results, y.var], [])
        dead_code(needed)
        replay = Replay(self.builder)
        replay.repeats_checks = True
        replay.block(needed.body)
        self.rename(replay)
        return self.builder.sym(replay.at(y.var), y.dtype)

    # --- commands -----------------------------------------------------------------------------------------------------

    def grad(self, y: Any) -> None:
        self.made.derived = self.results_of(self.gradients(y, self.ones(y)))

    def vjp(self, y: Any) -> None:
        shape = self.request.cotangent
        if shape is None:
            seed = self.ones(y)
        else:
            if shape != shape_of(y):
                raise Unsupported("a cotangent of another shape than the value")
            seed = self.builder.sym(self.parameter(FLOAT, shape, "cotangent"))
        self.made.derived = self.results_of(self.gradients(y, seed))

    def gradients(self, y: Any, seed: Any) -> list[Any]:
        return gradients(self.builder, list(self.builder.block), y, self.sources, seed)

    def ones(self, y: Any) -> Any:
        """The seed of a gradient: the elements of a value are summed."""
        return self.builder.full(1.0, shape_of(y))

    def results_of(self, found: Sequence[Any]) -> list[int | None]:
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
        self.made.derived = [self.result(forward.of(y.var) if y.__class__ is Sym else zeros(self.builder, shape_of(y)))]

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
        self.made.derived = self.results_of([*values, *products])

    def hessian(self, y: Any) -> None:
        found = self.gradients(scalar(y), self.ones(y))
        self.rows([g for g in found if g.__class__ is Sym], found)

    def rows(self, varying: list[Sym], gradients: list[Any]) -> None:
        side = self.side()
        primal = Replay(self.builder)
        tables = along_directions(self.builder, side, self.sources, [g.var for g in varying], primal)
        self.rename(primal)
        values = [self.builder.sym(primal.at(g.var)) if g.__class__ is Sym else g for g in gradients]
        by_gradient = iter(tables)
        self.made.derived = self.results_of(values)
        self.made.derived += [self.result(next(by_gradient)) if g.__class__ is Sym else None for g in gradients]

    def jacobian(self, y: Any) -> None:
        """For each source the rows by the elements of the source (forward), or those by the elements of the value (reverse)."""
        count = sum(x.size for x in self.sources)
        size = getattr(y, "size", 1)
        mode = self.request.mode
        if mode == "auto":
            mode = "forward" if 2 * count < size else "reverse"
        self.made.mode = mode
        if y.__class__ is not Sym:
            self.made.derived = [None for _ in self.sources]
        elif mode == "forward":
            side = self.side()
            primal = Replay(self.builder)
            (table,) = along_directions(self.builder, side, self.sources, [y.var], primal)
            self.rename(primal)
            self.made.derived = [self.result(table)]
        else:
            self.made.derived = self.results_of(self.by_cotangents(y))

    def by_cotangents(self, y: Sym) -> list[Any]:
        """For each source the gradients of the elements of the value, a row for each."""
        recorded = list(self.builder.block)

        def row(element: Sym) -> list[Any]:
            seed = seeds([y.var], element)[y.var] if y.shape else 1.0
            return gradients(self.builder, recorded, y, self.sources, seed)

        return tables(self.builder, y.size, [x.size for x in self.sources], row)


def scalar(y: Any) -> Any:
    """A value whose second derivatives are asked for. Raises Unsupported for a tensor: the tape refuses it in words."""
    if shape_of(y):
        raise Unsupported("second derivatives of a value that is no number")
    return y


def numeric(result: Any) -> tuple[Any, str | None]:
    """A result as one operand, as engine/evaluation.py makes it: a list of tensors of one shape stacked, others summed; and what a
    result is that was summed: a dict, a list, a tuple."""
    if result.__class__ not in STRUCTURES:
        y = as_operand(result)
        if y.__class__ is str or (y.__class__ is Tensor and y.dtype.kind == "s"):
            raise Unsupported("strings")
        return y, None
    leaves = [as_operand(leaf) for leaf in flatten(result)]
    if any(leaf.__class__ is str for leaf in leaves):
        raise Unsupported("strings")
    integers = [leaf.__class__ in (Sym, Tensor) and leaf.dtype.kind == "i" and not leaf.dtype.weak for leaf in leaves]
    if any(integers) and not all(integers):
        leaves = [OPERATORS.cast(x, dtype="float64") if whole else x for x, whole in zip(leaves, integers)]
    flat = result.__class__ is not dict and not any(part.__class__ in STRUCTURES for part in result)
    if flat and len({shape_of(leaf) for leaf in leaves}) == 1:
        return as_operand(leaves), None
    total: Any = 0.0
    for leaf in leaves:
        total = total + (OPERATORS.sum_to(leaf, shape=()) if shape_of(leaf) else leaf)
    return total, result.__class__.__name__
