"""Removing what no result needs: statements, carried values, heads, loops and branches."""

from __future__ import annotations

from . import ir
from .ir import Array, Stack, Stmt, Var

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def simplify(kernel: ir.Kernel, logs: bool = False) -> ir.Kernel:
    """The kernel without dead code; with `logs`, those of overwritten elements stay for an adjoint to come."""
    needed = live(kernel, logs)
    return ir.Kernel(kernel.parameters, sweep(kernel.body, needed), kernel.results)


def live(kernel: ir.Kernel, logs: bool) -> set[Any]:
    """Everything that a result depends on, control included."""
    edges: dict[Any, list[Any]] = {}
    roots: list[Any] = list(kernel.results)
    marked: dict[Var, Array] = {}

    def need(target: Any, *sources: Any) -> None:
        edges.setdefault(target, []).extend(x for x in sources if x.__class__ in (Var, Array, Stack, tuple))

    def walk(block: list[Stmt], control: list[Any]) -> None:
        for s in block:
            if s.__class__ is ir.Set:
                need(s.var, *s.args, *control)
            elif s.__class__ is ir.Load:
                need(s.var, s.array, s.index, *control)
            elif s.__class__ is ir.Check:
                roots.extend(x for x in (s.index, *control) if x.__class__ is Var)
            elif s.__class__ is ir.Alloc:
                need(s.array, *control)
            elif isinstance(s, ir.Store | ir.AddTo):
                need(s.array, s.index, s.value, *control)
            elif s.__class__ is ir.Keep:
                need(("log", s.array), s.index, *control)
                if logs:
                    need(s.array, ("log", s.array))
            elif s.__class__ is ir.Mark:
                need(s.var, ("log", s.array))
                marked[s.var] = s.array
            elif isinstance(s, ir.TakeBack | ir.Rewind):
                need(s.array, ("log", s.array), getattr(s, "value", None), *control)
            elif s.__class__ is ir.Accumulate:
                need(s.var, s.value, *control)
            elif s.__class__ is ir.Region:
                # A rule takes all operands and results, whatever the statements use.
                for result in s.results:
                    need(result, *s.operands, *s.results)
                walk(s.body, control)
            elif s.__class__ is ir.Loop:
                inner = [*control, s.trips]
                steering = [x for x in (s.start, s.stop, s.step, s.condition, s.stop_when) if x.__class__ is Var]
                need(s.trips, *steering, *control)
                if s.test is not None:
                    walk(s.test, control)
                if s.index is not None:
                    need(s.index, s.start, s.step)
                for phi, initial, following in s.carried:
                    need(phi, initial, following, *inner)
                    if phi in s.stacks:
                        need(s.stacks[phi], phi)
                walk(s.body, inner)
                if logs:
                    for phi, _, following in s.carried:
                        if following.__class__ is Var and following in marked:
                            need(marked[following], phi)
            elif s.__class__ is ir.ReverseLoop:
                inner = [*control, s.trips]
                if s.index is not None:
                    need(s.index, s.start, s.step)
                for phi, stack in s.restore:
                    need(phi, stack)
                walk(s.body, inner)
            elif s.__class__ is ir.If:
                inner = [*control, s.condition]
                walk(s.then, inner)
                walk(s.orelse, inner)
                for var, a, b in s.merges:
                    need(var, a, b, *inner)

    walk(kernel.body, [])
    found: set[Any] = set()
    pending = roots
    while pending:
        x = pending.pop()
        if x.__class__ in (Var, Array, Stack, tuple) and x not in found:
            found.add(x)
            pending.extend(edges.get(x, ()))
    return found


def sweep(block: list[Stmt], needed: set[Any]) -> list[Stmt]:
    kept: list[Stmt] = []
    for s in block:
        if isinstance(s, ir.OpenLog | ir.Keep):
            if ("log", s.array) in needed:
                kept.append(s)
        elif isinstance(s, ir.Set | ir.Load | ir.Accumulate | ir.Mark):
            if s.var in needed:
                kept.append(s)
        elif isinstance(s, ir.Alloc | ir.Constant | ir.Store | ir.AddTo | ir.TakeBack | ir.Rewind):
            if s.array in needed:
                kept.append(s)
        elif s.__class__ is ir.Loop:
            body = sweep(s.body, needed)
            carried = [entry for entry in s.carried if entry[0] in needed]
            if body or carried or s.trips in needed:
                stacks = {phi: stack for phi, stack in s.stacks.items() if stack in needed}
                test = None if s.test is None else sweep(s.test, needed)
                kept.append(s.replace(carried=carried, body=body, stacks=stacks, test=test))
        elif s.__class__ is ir.ReverseLoop:
            body = sweep(s.body, needed)
            if body:
                restore = [(phi, stack) for phi, stack in s.restore if phi in needed]
                # Where an index that nobody reads would start is of no interest.
                index, start, step = (s.index, s.start, s.step) if s.index in needed else (None, 0, 1)
                kept.append(ir.ReverseLoop(s.trips, s.position, index, start, step, restore, body))
        elif s.__class__ is ir.Region:
            if any(x in needed for x in s.results):
                kept.append(ir.Region(s.row, s.results, s.operands, s.attributes, sweep(s.body, needed), s.site))
        elif s.__class__ is ir.If:
            then, orelse = sweep(s.then, needed), sweep(s.orelse, needed)
            merges = [entry for entry in s.merges if entry[0] in needed]
            if then or orelse or merges:
                kept.append(ir.If(s.condition, then, orelse, merges))
        else:
            kept.append(s)
    return kept
