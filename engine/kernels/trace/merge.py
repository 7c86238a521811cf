"""Conditions that data decide: both branches are traced, and what they leave is merged."""

from __future__ import annotations

from ....parser.errors import AdiffError
from ...core.operands import operand_dtype
from ...core.state import STATE
from ...core.tensor import OPERATORS, shape_of
from ...program.core import UNSET
from ..ir import Check, If, Unsupported, Var, kind_of
from ..symbols import Sym
from .containers import Heap, differing, leaves_of, of_leaves
from .values import ERRORS, NOTHING, Clash, Conflict, Frame, Maybe, common_dtype, is_numeric, same

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ..ir import Block
    from .tracer import Tracer


def branch(t: Tracer, condition: Any, then: Callable[[], None], orelse: Callable[[], None]) -> None:
    """Run one of two branches, or both where data decide, and merge what they leave."""
    if condition.__class__ is not Sym:
        (then if condition else orelse)()
        return
    merge = Merge(t, condition)
    heap, site, depth = merge.heap, STATE.site, len(t.roots)
    refused: list[Unsupported] = []
    for run, block in zip((then, orelse), merge.blocks):
        STATE.site = site
        try:
            with t.builder.inside(block):
                run()
            merge.left.append(heap.contents())
            merge.ends.append(Heap(t.roots))
        except (AdiffError, Unsupported) as error:
            # What is an error where it is reached stops the kernel there.
            refusal = error if isinstance(error, Unsupported) else t.fault(error)
            if not str(refusal).startswith(ERRORS):
                raise refusal from None
            refused.append(refusal)
            block[:] = [Check(False)]
            merge.left.append(heap.saved)
            merge.ends.append(heap)
        finally:
            del t.roots[depth:]
        heap.restore()
    if len(refused) == 2:
        raise refused[1]
    STATE.site = site
    first, second = merge.left
    changed = list(differing(first, second))
    heap.restore(first)
    for number, key in changed:
        heap.containers[number][key] = merge.cell(heap.containers[number], first[number][key], second[number][key])
    if merge.outs or merge.blocks[0] or merge.blocks[1]:
        t.builder.block.append(If(condition.var, *merge.blocks, merge.outs))


class Merge:
    """Makes one value of those that the two branches of a condition leave; `outs` are those of the `If`."""

    def __init__(self, t: Tracer, condition: Sym) -> None:
        self.t = t
        self.builder = t.builder
        self.condition = condition
        self.heap = Heap(t.roots)
        # The contents of these containers at the ends of the branches, and all containers there.
        self.left: list[list[Any]] = []
        self.ends: list[Heap] = []
        self.blocks: tuple[Block, Block] = ([], [])
        self.outs: list[tuple[Var, Any, Any]] = []
        self.made: dict[tuple[int, int], Any] = {}
        self.pairs: dict[Any, Sym] = {}

    def cell(self, container: Any, a: Any, b: Any) -> Any:
        """The value of a cell. In a frame it may be one that must not be read."""
        try:
            return self.value(a, b)
        except Clash as clash:
            if container.__class__ is not Frame:
                raise Unsupported(str(clash), STATE.site) from None
            return Conflict(str(clash))

    def value(self, a: Any, b: Any) -> Any:
        if same(a, b):
            return a
        if is_numeric(a) and is_numeric(b):
            return self.number(a, b)
        classes = a.__class__, b.__class__
        if Conflict in classes:
            raise Clash((a if classes[0] is Conflict else b).reason)
        if a is NOTHING or b is NOTHING:
            return self.alone(a if b is NOTHING else b, 0 if b is NOTHING else 1)
        if Maybe in classes or a is UNSET or b is UNSET:
            (u, p), (v, q) = optional(a), optional(b)
            return Maybe(self.value(u, v), self.value(p, q))
        if classes[0] is not classes[1] or classes[0] not in (tuple, list, dict):
            raise Clash("a value whose form depends on data")
        key = (id(a), id(b))
        if key not in self.made:
            self.made[key] = self.structure(a, b)
        return self.made[key]

    def structure(self, a: Any, b: Any) -> Any:
        """A list, tuple or dict of merged parts."""
        if self.ends[0].shared(a) or self.ends[1].shared(b):
            raise Clash("a list or dict that data choose, and that has other names")
        first, second = self.content(a, 0), self.content(b, 1)
        if a.__class__ is dict:
            if list(first) != list(second):
                raise Clash("a dict with keys that depend on data")
            return {k: self.value(first[k], second[k]) for k in first}
        if len(first) != len(second):
            raise Clash(f"a {a.__class__.__name__} with a length that depends on data")
        return a.__class__([self.value(x, y) for x, y in zip(first, second)])

    def content(self, x: Any, way: int) -> Any:
        """What a container holds at the end of a branch."""
        number = self.heap.numbers.get(id(x))
        return x if number is None else self.left[way][number]

    def alone(self, x: Any, way: int) -> Any:
        """A value that only one branch has, for what is read only if that branch was taken."""
        if id(x) in self.heap.numbers or self.ends[way].shared(x):
            raise Clash("a list or dict that data choose, and that has other names")
        leaves: list[Any] = []
        form = leaves_of(x, leaves, self.heap.outlives)
        return of_leaves(form, iter([self.half(leaf, way) if leaf.__class__ is Sym else leaf for leaf in leaves]))

    def half(self, x: Sym, way: int) -> Sym:
        other = self.builder.zero(x.kind, x.shape)
        return self.out(x.dtype, x.shape, *((other, x.var) if way else (x.var, other)))

    def number(self, a: Any, b: Any) -> Any:
        shape = shape_of(a)
        if shape != shape_of(b):
            raise Clash("an array whose shape depends on data")
        if a is True and b is False:
            return self.condition
        if a is False and b is True:
            return OPERATORS.logical_not(self.condition)
        dtype = common_dtype(operand_dtype(a), operand_dtype(b))
        operands = []
        for x, block in zip((a, b), self.blocks):
            with self.builder.inside(block):
                operands.append(self.builder.operand(x, kind_of(dtype)))
        return self.out(dtype, shape, *operands)

    def out(self, dtype: Any, shape: tuple[int, ...], a: Any, b: Any) -> Sym:
        """An output of the `If`, one for each pair of operands."""
        key = (*[x if x.__class__ is Var else repr(x) for x in (a, b)], id(dtype))
        if key not in self.pairs:
            out = Var(kind_of(dtype), shape)
            self.outs.append((out, a, b))
            self.pairs[key] = Sym(self.builder, out, dtype)
        return self.pairs[key]


def optional(x: Any) -> tuple[Any, Any]:
    """The value of a variable that may not be assigned, and whether it is."""
    if x is UNSET:
        return NOTHING, False
    return (x.value, x.assigned) if x.__class__ is Maybe else (x, True)
