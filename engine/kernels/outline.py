"""What there is to do in a kernel, read off its statements: for the tape, and for the compiler."""

from __future__ import annotations

from . import ir
from .ir import Stmt, Var
from .passes.statements import blocks_of, everything
from .work import (
    ELEMENT_WRITE,
    ESTIMATES,
    LOOP_STATEMENT_SECONDS,
    OF_ELEMENTS,
    SOME_TRIPS,
    STATEMENT_SECONDS,
    Work,
    parameter,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def outline(kernel: ir.Kernel, cost_of_one: float = 1.0) -> list[Any]:
    """What the tape's work for a kernel's program is estimated from, in plain types.

    A number is so many operations; ("work", parts of a Work) is that of operations on tensors and their elements; ("set", variable,
    operation, operands) follows an integer; ("loop", index, start, stop, step, items) repeats items; ("unknown",) is a
    loop whose end data decides; ("if", items, items) is a branch. Variables are names; that of the parameter k is
    `parameter(k)`. An operation on numbers costs the tape `cost_of_one` of those on bare ones.
    """
    bounds: set[Any] = set()
    body = kernel.body

    def steering(block: list[Stmt]) -> None:
        for s in block[::-1]:
            for inner in blocks_of(s):
                steering(inner)
            if s.__class__ is ir.Loop:
                bounds.update((s.start, s.stop, s.step))
            elif s.__class__ is ir.Set and s.var in bounds:
                bounds.update(s.args)

    names = {p: parameter(k) for k, p in enumerate(kernel.parameters)}

    def plain(x: Any) -> Any:
        return names.get(x, x.name) if x.__class__ is Var else x

    def items(block: list[Stmt]) -> list[Any]:
        found: list[Any] = []
        cost, tensors = 0.0, Work()
        on_elements = cost_of_one < OF_ELEMENTS and any(s.__class__ is ir.Load for s in block)
        for s in block:
            if s.__class__ is ir.Loop and s.own:
                if s.test is not None:
                    found.append(("unknown",))
                else:
                    index = None if s.index is None else plain(s.index)
                    found.append(("loop", index, plain(s.start), plain(s.stop), plain(s.step), items(s.body)))
            elif s.__class__ is ir.Region and any(map(loops_of_its_own, s.body)):
                found.extend(items(s.body))  # a function of the program's, with a rule
            elif s.__class__ in (ir.Loop, ir.Region):
                tensors = tensors.plus(array_work(s))
            elif s.__class__ is ir.Store:
                cost += ELEMENT_WRITE
            elif s.__class__ is ir.If:
                found.append(("if", items(s.then), items(s.orelse)))
            else:
                if on_elements:
                    tensors.items += 1.0
                else:
                    cost += cost_of_one
                if s.__class__ is ir.Set and s.op in ESTIMATES and s.var in bounds:
                    found.append(("set", plain(s.var), s.op, [plain(a) for a in s.args]))
        if tensors.loops or tensors.items:
            found.insert(0, ("work", tensors.parts()))
        return [cost, *found] if cost else found

    steering(body)
    return items(body)


def loops_of_its_own(s: Stmt) -> bool:
    """Whether a statement is, or has inside, a loop of the program's."""
    return any(inner.__class__ is ir.Loop and inner.own for inner in everything([s]))


def array_work(statement: Stmt) -> Work:
    """The work of operations on tensors that became one statement: a loop, or the region of a row.

    A loop is as many operations of the tape as floats are computed of an element; a row's region is one, and its
    products are summed by a library.
    """
    found = Work(loops=1.0)
    values: dict[Any, float] = {}
    whole = statement.__class__ is ir.Region

    def number(x: Any) -> float | None:
        return values.get(x) if x.__class__ is Var else float(x)

    def visit(block: list[Stmt], times: float) -> None:
        for s in block:
            if s.__class__ is ir.Loop:
                start, stop, step = number(s.start), number(s.stop), number(s.step)
                trips = float(SOME_TRIPS)
                if s.test is None and start is not None and stop is not None and step:
                    trips = max((stop - start) / step, 0.0)
                    if s.index is not None:
                        values[s.index] = (start + stop) / 2
                visit(s.body, times * trips)
            elif s.__class__ is ir.Set:
                operands = [number(a) for a in s.args if a.__class__ in (Var, int, float)]
                if s.op in ESTIMATES and s.var.kind == ir.INT and None not in operands:
                    values[s.var] = ESTIMATES[s.op](*operands)
                elif s.var.kind == ir.FLOAT and not whole:
                    found.arrays += 1.0
                    found.elements += times
                elif s.op == "multiply" and s.var.kind == ir.FLOAT:
                    found.products += times
            elif s.__class__ is ir.Store and whole:
                found.elements = max(found.elements, min(times, float(s.array.size or times)))
            else:
                for inner in blocks_of(s):
                    visit(inner, times)

    visit([statement] if not whole else statement.body, 1.0)  # type: ignore[attr-defined]
    found.arrays = max(found.arrays, 1.0)
    return found


def compile_seconds(block: list[Stmt]) -> float:
    """How long a kernel takes to compile, beyond what every kernel takes."""
    total = 0.0
    for s in block:
        looped = isinstance(s, ir.Loop | ir.ReverseLoop)
        inside = sum(map(statements if looped else compile_seconds, blocks_of(s)))
        total += STATEMENT_SECONDS + (LOOP_STATEMENT_SECONDS * inside if looped else inside)
    return total


def statements(block: list[Stmt]) -> int:
    """How many statements there are, in the blocks inside too."""
    return sum(1 for _ in everything(block))
