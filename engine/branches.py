"""Which branches a run takes: the sides of a program's kinks and jumps that a point is on.

A program is smooth near a point where every run beside it makes the choices that the run there makes: each comparison,
each side of `abs` or `max`, each whole number that a value is rounded to, each order of what is sorted. Differences tell
a slope among such runs; across a kink or a jump they tell none, however well they converge.
"""

from __future__ import annotations

from .core.following import CONDITION, add_mark, follows
from .core.operands import plain, tensor
from .core.state import RECORDERS, STATE
from .core.tensor import OPERATORS, Tensor, Token, is_complex
from .ops.sides import between

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .core.operation import Operation

# What a run may be asked for: more steps than these take longer than a verdict is worth.
MOST_STEPS = 2_000_000
# Singular points that a step keeps away from: by it, the distance changes by less than this part of itself.
NEARER = 0.5


class Branches:
    """What one run chose, and how near it came to singular points; `analytic` says that it chose
    nothing, and `stops` why no estimate can follow."""

    __slots__ = ("analytic", "choices", "distances", "stops")

    def __init__(self) -> None:
        self.analytic = True
        self.stops = ""
        self.choices: list[Any] = []
        self.distances: list[Any] = []


class TooLong(Exception):
    """A run of more steps than MOST_STEPS."""


class BranchRecorder:
    """A recorder that follows one input, and keeps nothing but the choices that depend on it."""

    __slots__ = ("branches", "counted", "log", "steps", "token")

    def __init__(self) -> None:
        self.token = Token()
        self.log = None
        self.counted: Any = None
        self.steps = 0
        self.branches = Branches()

    def record(self, op: Operation, inputs: tuple[Any, ...], attributes: dict[str, Any] | None, out: Any) -> Any:
        self.steps += 1
        if self.steps > MOST_STEPS:
            raise TooLong
        branches = self.branches
        if op.derivative in ("none", "zero"):
            if op.reason != "a constant":
                if op is OPERATORS.stop_gradient:
                    branches.stops = "stop_gradient leaves out a part of the derivative, and no estimate does"
                self.decided(out)
            return out
        side, distance = op.side, op.distance
        if op is OPERATORS.abs and is_complex(inputs[0]):
            side, distance = None, abs  # a cone, whose one singular point is 0
        if side is not None:
            self.note(branches.choices, side(*map(plain, inputs), **(attributes or {})))
        elif distance is not None:
            self.note(branches.distances, distance(*map(plain, inputs), **(attributes or {})))
        if side is not None or not op.analytic:
            branches.analytic = False
        return tuple(self.marked(x) for x in out) if out.__class__ is tuple else self.marked(out)

    def broken(self, site: Any, inputs: Any, reason: str) -> bool:
        """Where paths end is not kept: the choices tell."""
        return False

    def marked(self, x: Any) -> Any:
        x = x if x.__class__ is Tensor else tensor(x)
        add_mark(x, self.token)
        return x

    def note(self, where: list[Any], value: Any) -> None:
        where.append(value.copy() if hasattr(value, "copy") else value)

    def decided(self, value: Any) -> None:
        self.branches.analytic = False
        self.note(self.branches.choices, plain(value))

    def chose(self, reason: str, values: Any) -> None:
        """A value that decides something, or two that are compared."""
        if not any(follows(x, self.token) for x in values):
            return
        values = [plain(x) for x in values]
        if reason == CONDITION:
            values = [bool(x) for x in values]
        elif reason.startswith("int()"):
            self.counted = values[0]
            values = [int(x) if x - x == 0 else x for x in values]
        elif values[0] is self.counted:
            return  # what int() has taken
        if len(values) == 2:
            try:
                values = [between(values[0], values[1])]
            except TypeError:  # of what is compared, one is no number
                values = [None]
        for value in values:
            self.decided(value)


def branches_of(run: Callable[[Any], Any], x: Any) -> Branches | None:
    """What a run with the source `x` chooses; None where that cannot be told."""
    import numpy as np

    recorder = BranchRecorder()
    source = Tensor(plain(x), tensor(x).dtype)
    source.on = recorder.token
    RECORDERS.append(recorder)
    STATE.choices = recorder.chose
    try:
        with np.errstate(all="ignore"):
            run(source)
    except TooLong:
        return None
    finally:
        STATE.choices = None
        RECORDERS.clear()
    return recorder.branches


def same_branches(a: Branches, b: Branches) -> bool:
    """Whether two runs are on one piece, and neither is much nearer to a singular point."""
    if len(a.choices) != len(b.choices) or len(a.distances) != len(b.distances):
        return False
    import numpy as np

    for x, y in zip(a.choices, b.choices):
        if not np.array_equal(x, y):
            return False
    return all(
        np.shape(x) == np.shape(y) and bool(np.all(np.abs(np.subtract(x, y)) <= NEARER * np.abs(x)))
        for x, y in zip(a.distances, b.distances)
    )
