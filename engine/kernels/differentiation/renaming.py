"""Cloning: what a reverse sweep repeats, or is differentiated more than once, stands again with variables of its own."""

from __future__ import annotations

from .. import ir
from ..ir import Array, Stack, Stmt, Unsupported, Var

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..passes.stored_intermediates import Kept


def renamed(
    block: list[Stmt], names: dict[Any, Any], origin: dict[Any, Any] | None = None, kept: Kept | None = None
) -> list[Stmt]:
    """A copy of a block with variables of its own, which `names` is given; index checks are not repeated.

    `origin` is told where each comes from, and `kept` holds for the copies what it holds for the originals.
    """
    origin = {} if origin is None else origin
    kept = {} if kept is None else kept

    def new(x: Any) -> Any:
        if x.__class__ in (Var, Array):
            return names.get(x, x)
        return x

    def define(x: Any) -> Any:
        made = Var(x.kind, "r") if x.__class__ is Var else Array(x.kind, x.shape, "ra", x.role)
        if made.__class__ is Array:
            made.grown = x.grown
        names[x] = made
        origin[made] = origin.get(x, x)
        return made

    copied: list[Stmt] = []
    for s in block:
        if s.__class__ is ir.Set:
            args = tuple(new(a) for a in s.args)
            copied.append(ir.Set(define(s.var), s.op, args, s.site, s.attributes))
            if s.var in kept:
                array, place = kept[s.var]
                kept[names[s.var]] = (array, new(place))
        elif s.__class__ is ir.Load:
            array, index = new(s.array), new(s.index)
            copied.append(ir.Load(define(s.var), array, index))
        elif s.__class__ is ir.Check:
            continue
        elif s.__class__ is ir.OpenLog:
            copied.append(ir.OpenLog(new(s.array)))
        elif s.__class__ is ir.Keep:
            copied.append(ir.Keep(new(s.array), new(s.index)))
        elif s.__class__ is ir.Mark:
            array = new(s.array)
            copied.append(ir.Mark(define(s.var), array))
        elif s.__class__ is ir.Alloc:
            copied.append(ir.Alloc(define(s.array), s.zero))
        elif s.__class__ is ir.Routine:
            copied.append(ir.Routine(new(s.array), 0, new(s.value), s.name, s.rows, s.columns))
        elif isinstance(s, ir.Store | ir.AddTo):
            copied.append(s.__class__(new(s.array), new(s.index), new(s.value)))
        elif s.__class__ is ir.Region:
            operands = tuple(map(new, s.operands))
            body = renamed(s.body, names, origin, kept)
            copied.append(s.replace(results=list(map(new, s.results)), operands=operands, body=body))
        elif s.__class__ is ir.Loop:
            start, stop, step = new(s.start), new(s.stop), new(s.step)
            initials = [new(initial) for _, initial, _ in s.carried]
            phis = [define(phi) for phi, _, _ in s.carried]
            index = None if s.index is None else define(s.index)
            test = None if s.test is None else renamed(s.test, names, origin, kept)
            condition = new(s.condition)
            body = renamed(s.body, names, origin, kept)
            carried = [(p, i, new(f)) for p, i, (_, _, f) in zip(phis, initials, s.carried)]
            stacks = {}
            for phi, stack in s.stacks.items():
                stacks[names.get(phi, phi)] = names[stack] = Stack(stack.kind, width=stack.width)
            copied.append(
                s.replace(
                    index=index, start=start, stop=stop, step=step, test=test, condition=condition, carried=carried,
                    body=body, stop_when=new(s.stop_when), stacks=stacks, trips=define(s.trips),
                )
            )  # fmt: skip
        elif s.__class__ is ir.ReverseLoop:
            trips, start, step = new(s.trips), new(s.start), new(s.step)
            restore = [(define(phi) if phi.__class__ is Var else new(phi), names[stack]) for phi, stack in s.restore]
            position, index = define(s.position), None if s.index is None else define(s.index)
            body = renamed(s.body, names, origin, kept)
            copied.append(ir.ReverseLoop(trips, position, index, start, step, restore, body))
        elif s.__class__ is ir.Accumulate:
            copied.append(ir.Accumulate(new(s.var), new(s.value)))
        elif s.__class__ is ir.TakeBack:
            copied.append(ir.TakeBack(new(s.array)))
        elif s.__class__ is ir.Rewind:
            copied.append(ir.Rewind(new(s.array), new(s.value)))
        elif s.__class__ is ir.If:
            condition = new(s.condition)
            then, orelse = renamed(s.then, names, origin, kept), renamed(s.orelse, names, origin, kept)
            sides = [(new(a), new(b)) for _, a, b in s.merges]
            copied.append(
                ir.If(condition, then, orelse, [(define(v), a, b) for (v, _, _), (a, b) in zip(s.merges, sides)])
            )
        else:
            raise Unsupported("a derivative through this")
    return copied
