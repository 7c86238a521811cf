"""What depends on the inputs: the variables that need cotangents, and what a tape would surely, or may, follow."""

from __future__ import annotations

from ..ops.registry import ROWS
from . import ir
from .ir import FLOAT, Array, Stack, Stmt, Var

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    Edges = dict[Any, set[Any]]


def carries(s: ir.Set) -> bool:
    """Whether a tape records the statement's row: its result is a float that its inputs lead to."""
    row = ROWS.get(s.op)
    return s.var.kind == FLOAT and s.op not in ("weight", "divisor_unit") and (row is None or row.derivative != "none")


def region_carries(s: ir.Region) -> bool:
    """Whether a tape records the row of a region."""
    return s.row not in ROWS or ROWS[s.row].derivative != "none"


def arguments(s: ir.Region) -> tuple[Any, ...]:
    """The operands that the results have derivatives by: without those that a rule of the program's takes on its own."""
    rule = s.attributes.get("rule")
    return s.operands if rule is None else s.operands[: len(rule.made)]


def dependencies(kernel: ir.Kernel, steps: bool = True) -> Edges:
    """Which floats each float leads to; without `steps`, not through rows that are constant piece by piece."""
    edges: Edges = {}

    def edge(source: Any, target: Any) -> None:
        if source.__class__ in (Var, Array, Stack) and source.kind == FLOAT and target.kind == FLOAT:
            edges.setdefault(source, set()).add(target)

    def walk(block: list[Stmt]) -> None:
        for s in block:
            if s.__class__ is ir.Set:
                if carries(s) and (steps or s.op not in ROWS or ROWS[s.op].derivative != "zero"):
                    for a in s.args:
                        edge(a, s.var)
            elif s.__class__ is ir.Load:
                edge(s.array, s.var)
            elif isinstance(s, ir.Store | ir.AddTo):
                edge(s.value, s.array)
            elif s.__class__ is ir.Accumulate:
                edge(s.value, s.var)
            elif s.__class__ is ir.Region:
                if region_carries(s):
                    for operand in arguments(s):
                        for result in s.results:
                            edge(operand, result)
            elif s.__class__ is ir.Loop:
                for phi, initial, following in s.carried:
                    edge(initial, phi)
                    edge(following, phi)
                for phi, stack in s.stacks.items():
                    edge(phi, stack)
                walk(s.body)
            elif s.__class__ is ir.ReverseLoop:
                for phi, stack in s.restore:
                    edge(stack, phi)
                walk(s.body)
            elif s.__class__ is ir.If:
                walk(s.then)
                walk(s.orelse)
                for var, a, b in s.merges:
                    edge(a, var)
                    edge(b, var)

    walk(kernel.body)
    return edges


def reach(edges: Edges, start: Iterable[Any]) -> set[Any]:
    """Everything that `start` leads to."""
    found = set(start)
    pending = list(found)
    while pending:
        for target in edges.get(pending.pop(), ()):
            if target not in found:
                found.add(target)
                pending.append(target)
    return found


def active_set(kernel: ir.Kernel, result: Any, sources: Iterable[Any]) -> set[Any]:
    """What depends on a source and on which the result depends: only this has cotangents."""
    edges = dependencies(kernel)
    backwards: Edges = {}
    for source, targets in edges.items():
        for target in targets:
            backwards.setdefault(target, set()).add(source)
    return reach(edges, sources) & reach(backwards, [result])


def may_reach(kernel: ir.Kernel, source: Any, result: Any) -> bool:
    """Whether some path through the program leads from a source to the result."""
    return result in reach(dependencies(kernel), [source])


def bounded_by_parameters(kernel: ir.Kernel) -> list[ir.Loop]:
    """The program's loops of which an integer parameter tells whether they run at all."""
    found: list[ir.Loop] = []

    def walk(block: list[Stmt]) -> None:
        for s in block:
            if s.__class__ is ir.Loop:
                if s.own and s.test is None and s.start.__class__ is s.step.__class__ is int and s.step > 0:
                    if s.stop.__class__ is Var and s.stop in kernel.parameters:
                        found.append(s)
                walk(s.body)
            elif s.__class__ is ir.If:
                walk(s.then)
                walk(s.orelse)

    walk(kernel.body)
    return found


def surely_reached(
    kernel: ir.Kernel, sources: Iterable[Any], running: Iterable[ir.Loop] = ()
) -> tuple[set[Any], set[Any]]:
    """What every path through the program connects to one of the sources: after its loop, and inside it.

    The two differ for a carried variable that the first iteration connects. The loops in `running` are taken to run.
    """
    known: set[Any] = set(sources)
    # A list's element is connected only if that element is; a tensor's if any is, until another takes its place.
    doubtful: set[Any] = set()
    later: set[Any] = set()

    def has(x: Any) -> bool:
        return x.__class__ in (Var, Array) and x in known

    def walk(block: list[Stmt]) -> None:
        for s in block:
            if s.__class__ is ir.Set:
                if carries(s) and any(map(has, s.args)):
                    known.add(s.var)
            elif s.__class__ is ir.Load:
                if has(s.array) and s.array not in doubtful:
                    known.add(s.var)
            elif isinstance(s, ir.Store | ir.AddTo):
                if has(s.value):
                    known.add(s.array)
                elif s.array.mixed:
                    doubtful.add(s.array)
            elif s.__class__ is ir.Region:
                if region_carries(s) and any(map(has, arguments(s))):
                    known.update(x for x in s.results if x.kind == FLOAT)
            elif s.__class__ is ir.Loop:
                loop(s)
            elif s.__class__ is ir.If:
                walk_side(s.then)
                walk_side(s.orelse)
                known.update(var for var, a, b in s.merges if has(a) and has(b))

    def walk_side(block: list[Stmt]) -> None:
        """A branch: an array that only one side fills is not sure to be connected."""
        arrays = {x for x in known if x.__class__ is Array}
        walk(block)
        for x in [x for x in known if x.__class__ is Array and x not in arrays]:
            known.discard(x)

    def loop(s: ir.Loop) -> None:
        runs = not s.own or any(s is other for other in running)
        if s.test is None and all(x.__class__ is int for x in (s.start, s.stop, s.step)):
            runs = runs or len(range(s.start, s.stop, s.step)) > 0
        candidates = [entry for entry in s.carried if has(entry[1])]
        arrays = {x for x in known if x.__class__ is Array}
        while True:
            before = set(known)
            doubts = len(doubtful)
            known.update(phi for phi, _, _ in candidates)
            walk(s.body)
            kept = [entry for entry in candidates if has(entry[2])]
            if len(kept) == len(candidates) and len(doubtful) == doubts:
                break
            # The values that an iteration hands on decide about the next one.
            known.clear()
            known.update(before)
            candidates = kept
        if not runs:
            known.difference_update([x for x in known if x.__class__ is Array and x not in arrays])
        if runs:
            reached = {phi for phi, _, following in s.carried if has(following)}
            later.update(reached - known)
            known.update(reached)

    walk(kernel.body)
    return known, known - later
