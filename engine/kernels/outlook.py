"""What a program itself says of the tape's time and a kernel's, before anything is loaded or compiled."""

from __future__ import annotations

import operator
import sys
from math import prod

from ..core.state import STATE
from ..program import core as c
from . import work

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ..program.core import CoreProgram

# The nodes that compute.
OPERATIONS = (c.Operator, c.Apply, c.Call, c.Method, c.Item, c.Prefix, c.Comparison)
# What bounds of loops are made with.
ARITHMETIC: dict[str, Callable[[int, int], int]] = {"+": operator.add, "-": operator.sub, "*": operator.mul}


class Outlook:
    """The seconds that a program will take, as far as its text and its inputs tell.

    `seconds` is the most that a gradient takes, None where that cannot be read off, `tensors` whether it is that of
    operations on tensors; `imports` the seconds of what the tape must import for it first, and a kernel perhaps not;
    `ready` the least that a kernel takes to compile.
    """

    __slots__ = ("imports", "ready", "seconds", "tensors")

    def __init__(self, core: CoreProgram, point: dict[str, Any], looped: bool) -> None:
        known = {slot: point.get(name) for name, slot in core.inputs.items()}
        size = max((prod(getattr(x, "shape", ())) for x in point.values()), default=1)
        tensors = any(getattr(x, "shape", ()) for x in point.values())
        nodes = 0
        pending: list[Any] = [core.body]
        while pending:
            item = pending.pop()
            if item.__class__ is list or item.__class__ is tuple:
                pending.extend(item)
            elif isinstance(item, c.Node):
                nodes += isinstance(item, OPERATIONS)
                if (item.__class__ is c.Apply and item.op.scalar is None) or item.__class__ is c.Method:
                    tensors = True
                    size = max(size, counted(item.args, known))
                pending.extend(getattr(item, name) for name in item.__slots__ if name != "site")
        self.tensors = tensors
        each = work.ARRAY_SECONDS + size * work.ELEMENT_SECONDS if tensors else work.TAPE_SECONDS
        if not tensors and (STATE.weak_float.bits == 32 or any(map(is_float32, point.values()))):
            each *= work.OF_FLOAT32
        self.imports = work.NUMPY_SECONDS if tensors and "numpy" not in sys.modules else 0.0
        self.ready = work.START_SECONDS + nodes * (work.TENSOR_NODE_SECONDS if tensors else work.NODE_SECONDS)
        if looped:
            operations = written_operations(core.body, known)
            self.seconds = None if operations is None else operations * each
        else:
            self.seconds = nodes * each


def is_float32(x: Any) -> bool:
    """Whether an input is a float32, which the tape computes with as with a tensor."""
    return getattr(getattr(x, "dtype", None), "name", "") == "float32"


def counted(args: list[c.Expr], known: dict[int, Any]) -> int:
    """How many elements a tensor may have that is made with such arguments: the product of the integers in them."""
    product = 1
    pending: list[Any] = list(args)
    while pending:
        node = pending.pop()
        value = written(node, known)
        if value is not None:
            product *= max(value, 1)
        elif node.__class__ in (c.MakeList, c.MakeTuple):
            pending.extend(node.items)
        elif node.__class__ is c.Operator:
            pending += (node.left, node.right)
    return product


def written(node: Any, known: dict[int, Any]) -> int | None:
    """The integer that an expression is, of literals and what is `known` by its slot; None where that does not tell."""
    if node.__class__ is c.Operator and node.symbol in ARITHMETIC:
        left, right = written(node.left, known), written(node.right, known)
        return None if left is None or right is None else ARITHMETIC[node.symbol](left, right)
    if node.__class__ is c.Load and node.depth == 0:
        node = known.get(node.slot)
    elif node.__class__ is c.Literal:
        node = node.value
    return int(node) if node.__class__ in (int, float) and node == node and abs(node) < 1e15 else None


def written_operations(body: list[c.Stmt], known: dict[int, Any]) -> float | None:
    """An upper estimate of the scalar operations of statements; None where their number cannot be read off.

    A loop that data ends counts as nothing, since no kernel is compiled for it unasked. A counter that bounds a loop
    inside its own counts as the middle of its range.
    """

    total = 0.0
    for s in body:
        if s.__class__ is c.While:
            return 0.0
        if s.__class__ is c.Define:
            if has_loop(s.function.code.body):
                return None  # it may run any number of times
            total += 10.0
        elif s.__class__ is c.If:
            for side in (s.body, s.orelse):
                inner = written_operations(side, known)
                if inner is None:
                    return None
                total += inner
        elif s.__class__ is c.With:
            inner = written_operations(s.body, known)
            if inner is None:
                return None
            total += work.RECORDED * (inner + 10.0)
        elif s.__class__ is c.For:
            call = s.iterable
            if (
                call.__class__ is not c.Call
                or call.function.__class__ is not c.Intrinsic
                or call.function.name != "range"
            ):
                return None
            bounds = [written(a, known) for a in call.args]
            if None in bounds or not 1 <= len(bounds) <= 3 or (len(bounds) == 3 and not bounds[2]):
                return None
            counts = range(*bounds)  # type: ignore[arg-type]
            if s.target.__class__ is c.Store and s.target.depth == 0 and counts:
                known = {**known, s.target.slot: counts[len(counts) // 2]}
            inner = written_operations(s.body, known)
            if inner is None:
                return None
            total += len(counts) * (inner + 1.0)
        else:
            total += statement_operations(s)
    return total


def statement_operations(statement: c.Stmt) -> float:
    """About how many scalar operations a statement is, or more: what a function that it calls does is not known."""
    count, factor = 1.0, 1.0
    pending: list[Any] = [statement]
    while pending:
        item = pending.pop()
        if item.__class__ is list or item.__class__ is tuple:
            pending.extend(item)
        elif isinstance(item, c.Node):
            if item.__class__ is c.Item:
                factor = work.OF_ELEMENTS
            count += 10.0 if isinstance(item, c.Call | c.Method) else isinstance(item, OPERATIONS)
            pending.extend(getattr(item, name) for name in item.__slots__ if name != "site")
    return count * factor


def has_loop(body: list[c.Stmt]) -> bool:
    return any(
        isinstance(s, c.For | c.While)
        or has_loop(getattr(s, "body", []))
        or has_loop(getattr(s, "orelse", []))
        or (s.__class__ is c.Define and has_loop(s.function.code.body))
        for s in body
    )
