"""What a survey of a program (survey.py) knows of its values: numbers, shapes, lists and functions."""

from __future__ import annotations

import operator
from math import prod

from ..program import core as c

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

# Known integers are no larger.
LARGEST = 1e15

ARITHMETIC: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "//": operator.floordiv,
    "%": operator.mod,
}  # fmt: skip
COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "==": operator.eq, "!=": operator.ne,
}  # fmt: skip


class About(float):
    """A number that stands for those that a loop's counter takes: what it bounds is bounded about so, and nothing is
    decided by it."""


NUMBERS = (int, float, bool, About)
# Stands for a complex number, of which no more is known.
COMPLEX = 1j


class Listed:
    """A list of so many items (None: nobody knows), one of which is `item`; all of them, of a short one that does not
    change. `growing` counts the loops around, begun after it was made, that append to it; lists are numbered in the order
    in which they are made."""

    __slots__ = ("growing", "item", "items", "length", "number")
    count = 0

    def __init__(self, length: float | None, item: Any, items: list[Any] | None = None) -> None:
        Listed.count += 1
        self.number = Listed.count
        self.growing = 0
        self.length = length
        self.item = item
        self.items = items


class Closure:
    """A function of the program's, and the frame around it."""

    __slots__ = ("code", "frame")

    def __init__(self, code: c.FunctionCode, frame: list[Any]) -> None:
        self.code = code
        self.frame = frame


class Derived:
    """A derivative of a function, by the transform of a name, of so many gradients."""

    __slots__ = ("function", "gradients", "name")

    def __init__(self, function: Any, name: str, gradients: float) -> None:
        self.function = function
        self.name = name
        self.gradients = gradients


def is_number(x: Any) -> bool:
    return x.__class__ in NUMBERS


def decides(x: Any) -> bool:
    """Whether a condition is known."""
    return x.__class__ in NUMBERS and x.__class__ is not About


def varies(node: Any, value: Any) -> bool:
    """Whether a value is a number that a derivative may be taken by, as far as one knows."""
    return (value is None or value.__class__ in (float, complex)) and node.__class__ is not c.Literal


def known(x: Any) -> Any:
    """A number, if it is one that may be counted with."""
    return x if x.__class__ in NUMBERS and abs(x) < LARGEST else None


def either(x: Any, y: Any) -> Any:
    """What is known of a value that is one of two."""
    if x is y or y is None:
        return None if x is not y and is_number(x) else x
    if is_number(x) and is_number(y):
        return x if x == y else None
    return (None if is_number(y) else y) if x is None or is_number(x) else x


def broadcast(shapes: list[tuple[int, ...]]) -> tuple[int, ...]:
    """The common shape of tensors; where they have none, that of the largest."""
    rank = max(map(len, shapes))
    sides = []
    for axis in range(-rank, 0):
        found = {shape[axis] for shape in shapes if len(shape) >= -axis} - {1}
        if len(found) > 1:
            return max(shapes, key=prod)
        sides.append(found.pop() if found else 1)
    return tuple(sides)


def computed(symbol: str, left: Any, right: Any) -> Any:
    """An operator on known numbers; None where its result is not to be counted with."""
    found: Any = None
    try:
        if symbol in ARITHMETIC:
            found = known(ARITHMETIC[symbol](left, right))
        elif symbol == "**" and abs(left) < 1e6 and abs(right) < 64:
            found = known(left**right)
    except ArithmeticError:
        pass
    return About(found) if found is not None and About in (left.__class__, right.__class__) else found


def whole(x: Any) -> Any:
    """A number as an integer, where it is one, or stands for some."""
    return int(x) if x.__class__ is About or (is_number(x) and x == int(x)) else None


def alike(x: Any) -> Any:
    """What tells arguments apart that make a function take other ways."""
    if x.__class__ is Listed:
        return "list", x.length, alike(x.item)
    return x if x.__class__ in (*NUMBERS, tuple, complex) else id(x) if x.__class__ in (Closure, Derived) else None


def widened(x: Any) -> Any:
    """An argument, of which no more is known than of any number where it is a float."""
    return None if x.__class__ is float else x


def flat(values: list[Any]) -> list[Any]:
    """Values, and those in lists of theirs."""
    found: list[Any] = []
    for x in values:
        if x.__class__ is Listed:
            found += flat(x.items if x.items is not None else [x.item])
        else:
            found.append(x)
    return found


def joined(symbol: str, left: Any, right: Any) -> Any:
    """Python's operators on lists."""
    if left.__class__ is Listed and right.__class__ is Listed:
        length = None if left.length is None or right.length is None else left.length + right.length
        items = left.items + right.items if left.items is not None and right.items is not None else None
        return Listed(length, right.item if left.item is None else left.item, items)
    one, times = (left, right) if left.__class__ is Listed else (right, left)
    if symbol == "*" and is_number(times):
        return Listed(None if one.length is None else one.length * max(times, 0), one.item)
    return one


def stacked(x: Any) -> tuple[int, ...]:
    """The shape of a list as a tensor."""
    if x.__class__ is Listed:
        return (int(x.length or 1), *stacked(x.item))
    return x if x.__class__ is tuple else ()


def gathered(x: Listed) -> int:
    """How many elements a list of tensors has."""
    if x.items is not None:
        return sum(prod(item) if item.__class__ is tuple else prod(stacked(item)) for item in x.items)
    return int(x.length or 1) * prod(stacked(x.item))


def shaped(values: list[Any], size: int) -> tuple[int, ...]:
    """The shape that arguments say."""
    sides = [x for x in flat(values) if x is None or is_number(x)]
    known = [int(x) for x in sides if x is not None and x > 0]
    if len(known) == len(sides):
        return tuple(known)
    return (*known, max(1, size // max(1, prod(known))))


def created(name: str, values: list[Any]) -> tuple[int, ...]:
    """The shape of a tensor that is made of numbers."""
    numbers = [x for x in flat(values) if is_number(x)]
    if name in ("arange", "ramp"):
        start, stop, step = (0, *numbers, 1) if len(numbers) == 1 else (*numbers, 0, 1, 1)[:3]
        return (max(1, int((stop - start) / (step or 1))),)
    if name in ("linspace", "logspace", "geomspace", "linspace_points"):
        return (max(1, int(values[2])) if len(values) > 2 and is_number(values[2]) else 50,)
    if name in ("eye", "tri"):
        return (int(values[0]),) * 2 if values and is_number(values[0]) else (1, 1)
    first = values[0] if values else None
    if first.__class__ is tuple:
        return first
    return tuple(max(1, int(x)) for x in flat([first]) if is_number(x)) or (1,)


def reduced(shape: tuple[int, ...], axis: Any, named: bool) -> tuple[int, ...]:
    """A shape less an axis; () without one."""
    axes = [x for x in flat([axis]) if x.__class__ is int]
    kept = [side for k, side in enumerate(shape) if k not in axes and k - len(shape) not in axes]
    return tuple(kept) if axes else ()


def stored(body: list[c.Stmt]) -> set[tuple[int, int]]:
    """The variables that statements assign, by depth and slot."""
    found: set[tuple[int, int]] = set()

    def target(x: Any) -> None:
        if x.__class__ is c.Store:
            found.add((x.depth, x.slot))
        elif x.__class__ is c.Unpack:
            for inner in x.targets:
                target(inner)

    for s in body:
        cls = s.__class__
        if cls is c.Assign:
            for x in s.targets:  # type: ignore[attr-defined]
                target(x)
        elif cls in (c.Augment, c.For, c.Define):
            target(s.target)  # type: ignore[attr-defined]
        for part in ("body", "orelse"):
            found |= stored(getattr(s, part, []))
    return found


def appended_to(body: list[c.Stmt]) -> set[tuple[int, int]]:
    """The variables with lists that statements append to, by depth and slot."""
    found: set[tuple[int, int]] = set()
    for s in body:
        x = s.value if s.__class__ is c.Evaluate else None
        if x.__class__ is c.Method and x.name == "append" and x.value.__class__ is c.Load:
            found.add((x.value.depth, x.value.slot))
        for part in ("body", "orelse"):
            found |= appended_to(getattr(s, part, []))
    return found


def in_variable(place: tuple[int, int], frame: list[Any]) -> Any:
    depth, slot = place
    for _ in range(depth):
        frame = frame[c.PARENT]
    return frame[slot]


def forget(places: set[tuple[int, int]], frame: list[Any]) -> None:
    """The numbers in variables are not known any more."""
    for depth, slot in places:
        inner = frame
        for _ in range(depth):
            inner = inner[c.PARENT]
        if is_number(inner[slot]):
            inner[slot] = None


def same_place(target: Any, load: c.Load) -> bool:
    return target.__class__ is c.Store and (target.depth, target.slot) == (load.depth, load.slot)


def step_of(s: c.Stmt, load: c.Load) -> tuple[str, c.Expr] | None:
    """The sign and the size of the step by which a statement changes a variable: `i += 1`, or `i = i + 1`."""
    if s.__class__ is c.Augment and same_place(s.target, load):
        step: Any = s
        size = step.value
    elif s.__class__ is c.Assign and len(s.targets) == 1 and same_place(s.targets[0], load):
        step = s.value
        if step.__class__ is not c.Operator or step.left.__class__ is not c.Load:
            return None
        if (step.left.depth, step.left.slot) != (load.depth, load.slot):
            return None
        size = step.right
    else:
        return None
    return (step.symbol, size) if step.symbol in ("+", "-") else None


def count_stores(body: list[c.Stmt], load: c.Load) -> int:
    """How many statements assign a variable."""
    found = 0
    for s in body:
        targets = s.targets if s.__class__ is c.Assign else [getattr(s, "target", None)]
        found += sum(1 for x in targets if same_place(x, load))
        found += 2 * sum(1 for x in targets if x.__class__ is c.Unpack and any(same_place(y, load) for y in x.targets))
        for part in ("body", "orelse"):
            found += 2 * count_stores(getattr(s, part, []), load)
    return found
