"""Loops that take the widest vectors that the machine has: long ones whose arithmetic goes through memory in its order.

LLVM takes vectors of half the width by itself, because of the clock that older processors slow down for the widest. For
arithmetic on neighbouring elements the widest are worth a fifth of the time, most where elements are handed from one
iteration to the next. What gathers its elements, sums them in order or is soon done loses by them: such loops stay as
they are.

LLVM may change the order of additions in a loop whose width it is given, so there must be none between iterations but of
integers.
"""

from __future__ import annotations

import ast

from ..ir import FLOAT, INT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .llvm_writer import Writer

# Fewer iterations are not worth what comes before and after the vectors.
LEAST_TRIPS = 256
# Statements beyond these need more registers than there are.
MOST_STATEMENTS = 64
# Functions that become a few instructions on vectors.
ON_VECTORS = frozenset(("_strong", "abs", "float", "math.sqrt"))


def streams(w: Writer, node: Any) -> bool:
    """Whether a loop of a kernel that computes in float64 is such a one."""
    if not w.kernel or w.module.floats != FLOAT or len(node.body) > MOST_STATEMENTS or not long(node.iter):
        return False
    return Body(w, node.target.id, node.body).streams()


def long(over: Any) -> bool:
    """Whether a range is known to be long, by steps of one."""
    match over.args:
        case [ast.Constant(value=int(stop))]:
            return stop >= LEAST_TRIPS
        case [ast.Constant(value=int(start)), ast.Constant(value=int(stop))]:
            return stop - start >= LEAST_TRIPS
    return False


class Body:
    """The statements of one loop. `steps` says of integers by how much they grow from one iteration to the next, and
    `needs` of the others which values of the iteration before they are made of."""

    def __init__(self, w: Writer, counter: str, body: list[ast.stmt]) -> None:
        self.w = w
        self.body = body
        self.steps: dict[str, int] = {counter: 1}
        self.needs: dict[str, frozenset[str]] = {}
        self.assigned = {
            name.id
            for s in body
            for name in ast.walk(s)
            if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store)
        }
        # What an iteration hands to the next, with what that is made of.
        self.handed: dict[str, frozenset[str]] = {}
        # Whether there is arithmetic: what only moves elements needs no vectors of ours.
        self.works = False

    def streams(self) -> bool:
        """Whether all of it goes through memory in order, and nothing is added up but integers."""
        stores = False
        for statement in self.body:
            match statement:
                case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=values)):
                    found = [self.value(value) for value in values]
                    for target, value, needs in zip(targets, values, found, strict=True):
                        if needs is None or not isinstance(target, ast.Name):
                            return False
                        self.assign(target.id, value, needs)
                case ast.Assign(targets=[ast.Name(id=name)], value=value):
                    needs = self.value(value)
                    if needs is None:
                        return False
                    self.assign(name, value, needs)
                case ast.Assign(targets=[ast.Subscript() as place], value=value):
                    if self.value(value) is None or self.element(place) != 1:
                        return False
                    stores = True
                case ast.AugAssign(target=ast.Subscript() as place, op=ast.Add() | ast.Sub() | ast.Mult(), value=value):
                    if self.value(value) is None or self.element(place) != 1:
                        return False
                    stores = True
                case ast.AugAssign(target=ast.Name(id=name), op=operator, value=value):
                    needs = self.value(value)
                    if needs is None:
                        return False
                    if name in self.needs:
                        self.needs[name] |= needs  # a value of this iteration
                    elif self.w.kinds.get(name) != INT or not isinstance(operator, ast.Add):
                        return False
                case _:
                    return False
        return stores and self.works and not self.goes_round()

    def assign(self, name: str, value: ast.expr, needs: frozenset[str]) -> None:
        step = self.step(value)
        if step is not None:
            self.steps[name] = step
        self.needs[name] = needs
        if name in self.handed:
            self.handed[name] = needs

    def step(self, node: ast.expr) -> int | None:
        """By how much an integer grows from one iteration to the next; None where that is not known, or it is none."""
        match node:
            case ast.Constant(value=int()):
                return 0
            case ast.Name(id=name):
                if name in self.steps:
                    return self.steps[name]
                return 0 if name not in self.assigned and self.w.kinds.get(name) == INT else None
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                step = self.step(operand)
                return None if step is None else -step
            case ast.BinOp(left=left, op=operator, right=right):
                a, b = self.step(left), self.step(right)
                if a is None or b is None:
                    return None
                if isinstance(operator, ast.Add):
                    return a + b
                if isinstance(operator, ast.Sub):
                    return a - b
                return 0 if isinstance(operator, ast.Mult) and a == b == 0 else None
        return None

    def element(self, node: ast.Subscript) -> int | None:
        """How many elements on in an array of floats the next iteration is; None where that is not known."""
        held = isinstance(node.value, ast.Name) and self.w.kinds.get(node.value.id) == FLOAT.upper()
        return self.step(node.slice) if held else None

    def value(self, node: ast.expr) -> frozenset[str] | None:
        """The values of the iteration before that a value is made of; None for a value that no vector holds."""
        match node:
            case ast.Constant(value=int() | float()):
                return frozenset()
            case ast.Name(id=name):
                if name in self.needs:
                    return self.needs[name]
                if name not in self.assigned:
                    return frozenset()
                self.handed.setdefault(name, frozenset((name,)))
                return frozenset((name,))
            case ast.Subscript():
                return frozenset() if self.element(node) in (0, 1) else None
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return self.value(operand)
            case ast.BinOp() if self.step(node) is not None:
                return frozenset()
            case ast.BinOp(left=left, op=ast.Add() | ast.Sub() | ast.Mult() | ast.Div(), right=right):
                self.works = True
                return self.both(left, right)
            case ast.Compare(left=left, comparators=[right]):
                return self.both(left, right)
            case ast.Call(func=called, args=args, keywords=[]) if ast.unparse(called) in ON_VECTORS:
                self.works = True
                found: frozenset[str] = frozenset()
                for arg in args:
                    needs = self.value(arg)
                    if needs is None:
                        return None
                    found |= needs
                return found
        return None

    def both(self, left: ast.expr, right: ast.expr) -> frozenset[str] | None:
        a, b = self.value(left), self.value(right)
        return None if a is None or b is None else a | b

    def goes_round(self) -> bool:
        """Whether what is handed on is made of itself, some iterations ago: a sum, or what no vectors can do."""
        reached = dict(self.handed)
        for _ in reached:
            for name, needs in reached.items():
                reached[name] = needs.union(*(self.handed.get(need, frozenset()) for need in needs))
        return any(name in needs for name, needs in reached.items())
