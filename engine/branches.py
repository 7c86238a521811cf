"""Which branches a run takes: the sides of a program's kinks and jumps that a point is on.

A program is smooth near a point where every run beside it makes the choices that the run there makes: each comparison,
each side of `abs` or `max` or of a pole, each whole number that a value is rounded to, each order of what is sorted. Differences tell
a slope among such runs; across a kink or a jump they tell none, however well they converge.
"""

from __future__ import annotations

from .core.following import CONDITION, add_mark, follows
from .core.operands import plain, tensor
from .core.state import RECORDERS, STATE
from .core.tensor import OPERATORS, Tensor, Token, is_complex
from .ops.sides import between, of_zero

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .core.operation import Operation

# A run of more operations than these takes longer than a verdict is worth.
MOST_STEPS = 200_000


class TooLong(Exception):
    """A run of more operations than MOST_STEPS."""


class Branches:
    """A recorder that follows one input, and keeps nothing but the choices that depend on it.

    `analytic` says that there are none, and no operation that is not analytic. `stopped`: stop_gradient has been applied.
    """

    __slots__ = ("analytic", "choices", "counted", "log", "steps", "stopped", "token")

    def __init__(self) -> None:
        self.token = Token()
        self.log = None
        self.counted: Any = None
        self.steps = 0
        self.choices: list[Any] = []
        self.analytic = True
        self.stopped = False

    def record(self, op: Operation, inputs: tuple[Any, ...], attributes: dict[str, Any] | None, out: Any) -> Any:
        self.steps += 1
        if self.steps > MOST_STEPS:
            raise TooLong
        if op.derivative in ("none", "zero"):
            if op.reason != "a constant":
                self.stopped = self.stopped or op is OPERATORS.stop_gradient
                self.decide(plain(out))
            return out
        self.analytic = self.analytic and op.analytic
        if op.side is not None and not (op is OPERATORS.abs and is_complex(inputs[0])):
            self.decide(op.side(*map(plain, inputs), **(attributes or {})))
        elif op.pole is not None:
            self.note(of_zero(op.pole(*map(plain, inputs), **(attributes or {}))))
        return tuple(self.marked(x) for x in out) if out.__class__ is tuple else self.marked(out)

    def broken(self, site: Any, inputs: Any, reason: str) -> bool:
        """Where paths end is not kept: the choices tell."""
        return False

    def marked(self, x: Any) -> Any:
        x = x if x.__class__ is Tensor else tensor(x)
        add_mark(x, self.token)
        return x

    def decide(self, value: Any) -> None:
        self.analytic = False
        self.note(value)

    def note(self, value: Any) -> None:
        self.choices.append((value.shape, value.tobytes()) if getattr(value, "ndim", 0) else value)

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
            self.decide(value)

    def __eq__(self, other: object) -> bool:
        """Whether two runs are on one piece."""
        return isinstance(other, Branches) and self.choices == other.choices


def with_branches(run: Callable[[Any], Any], x: Any) -> tuple[Any, Branches]:
    """What a run with the source `x` gives, and the branches that it takes. Raises TooLong."""
    import numpy as np

    branches = Branches()
    source = Tensor(plain(x), tensor(x).dtype)
    source.on = branches.token
    RECORDERS[:] = [branches]
    STATE.choices = branches.chose
    try:
        with np.errstate(all="ignore"):
            return run(source), branches
    finally:
        STATE.choices = None
        RECORDERS.clear()
