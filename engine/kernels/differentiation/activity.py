"""Activity analysis: what depends on the inputs, so which variables need cotangents, and what a tape may follow."""

from __future__ import annotations

from ...ops.registry import ROWS
from .. import ir
from ..ir import FLOAT, Array, Stack, Stmt, Var
from ..passes.statements import everything

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    Edges = dict[Any, set[Any]]


def carries(s: ir.Set) -> bool:
    """Whether a tape records the statement's row: its result is a float that its inputs lead to."""
    row = ROWS.get(s.op)
    return s.var.kind == FLOAT and s.op not in ("weight", "divisor_unit") and (row is None or row.derivative != "none")


def followed(s: ir.Set) -> tuple[Any, ...]:
    """What a statement's result has derivatives by: not what tells how wide it is, nor the order of a polygamma function."""
    if s.op == "as_wide":
        return s.args[:1]
    row = ROWS.get(s.op)
    if row is None or row.direct or row.derivative != "partials" or row.transpose is not None:
        return s.args
    return tuple(x for x, partial in zip(s.args, row.partials) if partial is not None)


def region_carries(s: ir.Region) -> bool:
    """Whether a tape records the row of a region."""
    return s.row not in ROWS or ROWS[s.row].derivative != "none"


def arguments(s: ir.Region) -> tuple[Any, ...]:
    """The operands that the results have derivatives by: without those that a rule of the program's takes on its own."""
    rule = s.attributes.get("rule")
    return s.operands if rule is None else s.operands[: len(rule.made)]


def dependencies(kernel: ir.Kernel, steps: bool = True, every: bool = False) -> Edges:
    """Which floats each float leads to; without `steps`, not through rows that are constant piece by piece.

    With `every`, what any operand leads to, by comparisons and conditions too.
    """
    edges: Edges = {}

    def edge(source: Any, target: Any) -> None:
        if source.__class__ in (Var, Array, Stack) and (every or source.kind == target.kind == FLOAT):
            edges.setdefault(source, set()).add(target)

    def walk(block: list[Stmt]) -> None:
        for s in block:
            if s.__class__ is ir.Set:
                if every or (carries(s) and (steps or s.op not in ROWS or ROWS[s.op].derivative != "zero")):
                    for a in s.args if every else followed(s):
                        edge(a, s.var)
            elif s.__class__ is ir.Load:
                edge(s.array, s.var)
            elif isinstance(s, ir.Store | ir.AddTo):
                edge(s.value, s.array)
            elif s.__class__ is ir.Accumulate:
                edge(s.value, s.var)
            elif s.__class__ is ir.Region:
                if region_carries(s):
                    # Of a gradient its statements tell by what it changes: that of a sum of products is constant.
                    own = dependencies(ir.Kernel([], s.body, []), steps, every) if s.row == "gradient" else None
                    for operand in arguments(s):
                        reached = s.results if own is None else reach(own, [operand])
                        for result in s.results:
                            if result in reached:
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
                    if every:
                        edge(s.condition, var)

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


def reversed_edges(edges: Edges) -> Edges:
    backwards: Edges = {}
    for source, targets in edges.items():
        for target in targets:
            backwards.setdefault(target, set()).add(source)
    return backwards


def active_set(kernel: ir.Kernel, result: Any, sources: Iterable[Any]) -> set[Any]:
    """What depends on a source and on which the result depends: only this has cotangents."""
    edges = dependencies(kernel)
    return reach(edges, {*sources, *inert(kernel)}) & reach(reversed_edges(edges), [result])


def inert(kernel: ir.Kernel) -> set[Var]:
    """What a tape may follow though it is a known number: what is singular there is told of."""
    return {s.var for s in everything(kernel.body) if s.__class__ is ir.Set and s.op == "inert"}


def empty(source: Any) -> bool:
    """Whether a source has no elements, so that no statement reads it."""
    return source.__class__ is Array and not source.size


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
