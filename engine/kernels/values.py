"""What the specialiser knows beside symbols and arrays: frames, functions, ranges, and what is not assigned."""

from __future__ import annotations

from ..core.operation import static
from ..program import core as c
from .build import Lazy, Sym
from .ir import Unsupported

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Frame = dict[Any, Any]

# Loops over lists, and lists of rows, are written out up to this length.
MAX_UNROLL = 64
# The entries of a frame beside its variables: control flags, the value returned, the enclosing frame, the result.
BREAK, CONTINUE, RETURN, VALUE, PARENT, RESULT = "$break", "$continue", "$return", "$value", "$parent", "$result"
FLAGS = (BREAK, CONTINUE, RETURN)


class Unset:
    """A variable that some path has not assigned; reading it leaves the kernel tier, which words no such error."""


UNSET = Unset()
# What a function returns where its paths return values of different kinds.
CONFLICT = Unset()


def new_frame(parent: Frame | None) -> Frame:
    """A frame in which nothing has happened."""
    return {PARENT: parent, RESULT: UNSET, BREAK: False, CONTINUE: False, RETURN: False, VALUE: UNSET}


class Closure:
    """A function of the program with the frame it was made in."""

    __slots__ = ("code", "defaults", "frame")

    def __init__(self, code: c.FunctionCode, defaults: list[Any], frame: Frame) -> None:
        self.code = code
        self.defaults = defaults
        self.frame = frame


class Range:
    """A range whose bounds may be symbols."""

    __slots__ = ("start", "step", "stop")

    def __init__(self, start: Any, stop: Any, step: Any) -> None:
        self.start = start
        self.stop = stop
        self.step = step

    @property
    def known(self) -> bool:
        return all(x.__class__ is int for x in (self.start, self.stop, self.step))

    @property
    def nonempty(self) -> bool:
        return self.known and len(self.range()) > 0

    def range(self) -> range:
        return range(self.start, self.stop, self.step)

    def __getitem__(self, i: int) -> Any:
        if not self.known:
            raise Unsupported("an item of an unknown range")
        return self.range()[i]


def symbolic(x: Any) -> bool:
    if x.__class__ in (Sym, Lazy):
        return True
    if x.__class__ in (list, tuple):
        return any(symbolic(item) for item in x)
    return False


def python_operator(symbol: str, x: Any, y: Any) -> Any:
    """`+` and `*` on lists and tuples."""
    return x + y if symbol == "+" else x * y


def static_index(index: Any) -> Any:
    if index.__class__ is Sym:
        raise Unsupported("an index that depends on data")
    return static(index)


def assigned(body: list[c.Stmt]) -> set[int]:
    """The slots that statements assign, not looking into functions."""
    slots: set[int] = set()

    def target(t: Any) -> None:
        if t.__class__ is c.Store and t.depth == 0:
            slots.add(t.slot)
        elif t.__class__ is c.Unpack:
            for each in t.targets:
                target(each)
        elif t.__class__ is c.StoreItem and t.back is not None:
            target(t.back)

    pending = list(body)
    while pending:
        s = pending.pop()
        for t in getattr(s, "targets", ()):
            target(t)
        if hasattr(s, "target"):
            target(s.target)
        pending.extend(getattr(s, "body", ()))
        pending.extend(getattr(s, "orelse", ()))
    return slots
