"""Transposition of rules: tangents of rows that have a rule for their cotangents alone.

The rule is linear in the cotangents, and its transpose is the tangent (Frostig, Johnson, Maclaurin, Paszke and Radul,
Decomposing reverse-mode automatic differentiation, 2021).

Where elements are tied, the statements of such a row follow one of them, and the rule shares among all. What the rule makes
of unknown cotangents is written out, and the reverse sweep back through that gives the tangents of the results, as the tape
has them (`pullback.transpose_of_rule`).
"""

from __future__ import annotations

from ...ops.registry import ROWS
from .. import ir
from ..ir import FLOAT, Array, Stmt, Var
from ..symbols.build import Builder
from ..symbols.symbol import Lazy, Sym, pick
from .activity import active_set
from .adjoint import Adjoint

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ...core.operation import Singular


class Silent(Adjoint):
    """A sweep that notices nothing: what is to be told is found by the one of the program."""

    def met(self, spot: Singular, at: Any, matters: Any) -> None:
        """Nothing."""

    def note(
        self, spot: Singular, mask: Any, g: Any, s: Any, inputs: list[Any], operands: tuple[Any, ...] = ()
    ) -> None:
        """Nothing."""


class Ruled(Silent):
    """A row's rule, applied to cotangents that are variables and arrays of their own."""

    def __init__(self, s: ir.Region, moved: list[Any]) -> None:
        super().__init__({*s.results, *moved}, (set(), {}))
        # By result: what stands for its cotangent.
        self.cotangents: list[Any] = []
        # The operands with what the rule gives them.
        self.given: list[tuple[Any, Any]] = []
        for x in s.results:
            if x.__class__ is Array:
                self.arrays[x] = Array(FLOAT, x.shape, "u")
                self.cotangents.append(self.arrays[x])
            else:
                self.bars[x] = Var(FLOAT, "u")
                self.cotangents.append(self.bars[x])

    def give_all(self, x: Any, c: Any) -> None:
        self.given.append((x, c))


def tangents_of(
    builder: Builder, s: ir.Region, moved: dict[Any, Callable[[Builder, Any], Any]], again: bool
) -> list[Any]:
    """Variables and arrays with the tangents of a region's results; `moved` gives those of operands, in code
    of a builder and by place.

    What computes them is appended where the builder stands. With `again` they are to be differentiated in their turn.
    """
    rule = Ruled(s, list(moved))
    inner = rule.builder

    def apply() -> Any:
        rule.reverse_region(s)
        total: Any = None
        for x, c in rule.given:
            shape = x.shape if x.__class__ is Array else ()
            if c.__class__ is Lazy and c.shape != shape and len(c.shape) >= len(shape):
                c = inner.apply(ROWS["sum_to"], (c,), {"shape": shape})

            def term(index: tuple[Any, ...], x: Any = x, c: Any = c, shape: tuple[int, ...] = shape) -> Any:
                place = inner.flat(index, shape) if shape else 0
                factor = pick(c, index, shape) if c.__class__ is Lazy else c
                return inner.scalar_or_static("multiply", factor, moved[x](inner, place))

            found = inner.total(shape, term) if shape else term(())
            total = found if total is None else inner.scalar_or_static("add", total, found)
        return total

    block, total = inner.nested(apply)
    begun: list[Stmt] = []
    for u in rule.cotangents:
        begun.append(ir.Alloc(u, True) if u.__class__ is Array else ir.Set(u, "zero", (), None, None))
    builder.block.extend(begun)
    if total.__class__ is not Sym:
        return list(rule.cotangents)  # the rule gives nothing: zeros
    block = [*inner.root, *block]
    kernel = ir.Kernel(list(rule.cotangents), block, [total.var])
    back = Silent(active_set(kernel, total.var, rule.cotangents), (set(), {}), again)
    builder.block.extend(back.sweep(block, total.var, rule.cotangents))
    return [back.arrays[u] if u.__class__ is Array else back.bars[u] for u in rule.cotangents]


__all__ = ["tangents_of"]
