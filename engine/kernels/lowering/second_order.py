"""The derivative of a gradient that a reverse sweep has found inside a program.

No sweep goes back through a sweep. What cotangents v of the gradient g(x, p) of f give to the inputs x, and to all else
that f is computed from, p, is the gradient of v . g(x, p): and that is the derivative of f along v, which forward mode
finds in code that can be swept through (Griewank and Walther, Evaluating Derivatives, section 3.2: adjoint of tangent).
"""

from __future__ import annotations

from .. import ir
from ..differentiation.activity import active_set
from ..differentiation.adjoint import Adjoint
from ..differentiation.renaming import renamed
from ..differentiation.tangent import Tangent
from ..ir import FLOAT, Array, Stmt, Unsupported, Var
from ..symbols.regions import dissolved
from ..symbols.symbol import Lazy, raw
from .custom_rules import free

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class GradientRule:
    """The rule of a region that holds the sweep back through `block` from `y` to the sources.

    `made` are the sources and the floats that the block takes from around it, the first operands of the region;
    `captured` is what else it takes, the others.
    """

    __slots__ = ("block", "captured", "made", "sources", "y")

    def __init__(self, block: list[Stmt], y: Var, sources: list[Any]) -> None:
        taken = [x for x in free(block) if x not in sources]
        self.block = block
        self.y = y
        self.sources = sources
        self.made = [*sources, *(x for x in taken if x.kind == FLOAT)]
        self.captured = [x for x in taken if x.kind != FLOAT]

    @property
    def operands(self) -> tuple[Any, ...]:
        return (*self.made, *self.captured)

    def apply(self, adjoint: Adjoint, s: ir.Region) -> list[Any]:
        """The cotangents of what was `made`, for those of the gradient as the sweep has them.

        Along all of them at once: an infinite one would make nan of what the others lead to. Raises Unsupported where
        every product is to be formed as a tape forms it.
        """
        builder = adjoint.builder
        if builder.careful:
            raise Unsupported("the derivative of a gradient, beside what is not finite")
        builder.hasty = True
        names: dict[Any, Any] = dict(zip(self.operands, s.operands))
        seeds: dict[Any, Any] = {}
        for x, result in zip(self.sources, s.results):
            found = adjoint.collected(result)
            if result.__class__ is Var:
                seeds[names[x]] = [raw(found)]
            else:
                stored = found.stored if found.__class__ is Lazy else None
                seeds[names[x]] = builder.materialised(found).stored if stored is None else stored
        wanted = [names[x] for x in self.made]
        if any(x.__class__ not in (Var, Array) for x in wanted):
            raise Unsupported("the derivative of a gradient by a constant")
        block = renamed(self.block, names)
        y = names.get(self.y, self.y)
        tangent = Tangent(ir.Kernel(wanted, dissolved(block), [y]), seeds, 1, True)
        moved = tangent.run(block)
        (along,) = tangent.of(y)
        if along.__class__ is not Var:
            return [0.0 if x.__class__ is Var else adjoint.symbol(zeros(adjoint, x)) for x in wanted]
        inner = Adjoint(active_set(ir.Kernel(wanted, moved, [along]), along, wanted), (set(), {}), adjoint.again)
        inner.flags, inner.noted, inner.every = adjoint.flags, adjoint.noted, adjoint.every
        inner.slopes = adjoint.slopes
        like = [(x, x) for x in free(moved)]
        like += [(seed, r) for x, r in zip(self.sources, s.results) for seed in parts_of(seeds[names[x]])]
        inner.widths = adjoint.widths.inside(moved, like, adjoint.origin)
        for statement in inner.sweep(moved, along, wanted):
            builder.append(statement)
        return [adjoint.symbol(inner.bars[x] if x.__class__ is Var else inner.arrays[x]) for x in wanted]


def parts_of(seed: Any) -> list[Any]:
    return seed if seed.__class__ is list else [seed]


def zeros(adjoint: Adjoint, x: Array) -> Array:
    """An array of zeros like another."""
    found = Array(FLOAT, x.shape)
    adjoint.builder.append(ir.Alloc(found, True))
    return found


__all__ = ["GradientRule"]
