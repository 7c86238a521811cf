"""On which piece of a program a point is: the sides of its kinks and jumps that a run takes.

A program is smooth near a point where every run beside it makes the choices that the run there makes: each comparison,
each side of `abs` or `max`, each whole number that a value is rounded to, each order of what is sorted. Differences tell
a slope on such a piece; across a kink or a jump they tell none, however well they converge.
"""

from __future__ import annotations

from .core.following import CONDITION, add_mark, follows
from .core.operands import plain, tensor
from .core.state import RECORDERS, STATE
from .core.tensor import Tensor, Token, is_complex

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .core.operation import Operation

# What a run may be asked for: more steps than these take longer than a verdict is worth.
MOST_STEPS = 2_000_000
# Singular points that a step keeps away from: by it, the distance changes by less than this part of itself.
NEARER = 0.5


def sign(x: Any, **attributes: Any) -> Any:
    import numpy as np

    return np.sign(np.real(x))


def order(x: Any, **attributes: Any) -> Any:
    import numpy as np

    axis = attributes.get("axis")
    x = np.asarray(x)
    return np.argsort(x, axis=axis if axis.__class__ is int else None, kind="stable") if x.ndim else 0


def quotient(a: Any, b: Any) -> Any:
    import numpy as np

    return np.floor_divide(a, b)


def beyond(*edges: float) -> Callable[..., Any]:
    return lambda x: sum((x > edge) * 1 for edge in edges)


def to_pole(x: Any) -> Any:
    """How far a number is from the integers that are not positive."""
    import numpy as np

    return np.where(x > 0, x, x - np.rint(x))


def base_of(a: Any, b: Any) -> Any:
    """The base of a power, which is singular at 0 but for exponents that are whole."""
    import numpy as np

    return np.where((np.floor(b) == b) & (np.real(b) >= 0), 1.0, a)


def determinant(a: Any) -> Any:
    import numpy as np

    return np.linalg.det(a)


def cosine(x: Any) -> Any:
    import numpy as np

    return np.cos(x)


# Which side of its kinks or jumps a row is on, by its inputs.
SIDES: dict[str, Callable[..., Any]] = {
    "abs": sign, "relu": sign, "leaky_relu": sign, "selu": sign, "i0e": sign, "heaviside": lambda x, h: sign(x),
    "relu6": beyond(0, 6), "hard_tanh": beyond(-1, 1), "hard_sigmoid": beyond(-3, 3),
    "maximum": lambda a, b: sign(a - b), "minimum": lambda a, b: sign(a - b),
    "fmax": lambda a, b: sign(a - b), "fmin": lambda a, b: sign(a - b),
    "clip_between": lambda x, low, high: sign(x - low) + sign(x - high),
    "copysign": lambda x, s: sign(x) + 3 * sign(s),
    "mod": quotient, "fmod": quotient,
    "sort_along": order, "cummax_along": order, "cummin_along": order, "max": order, "min": order,
    "segments_max": lambda x, *rest, **attributes: order(x), "segments_min": lambda x, *rest, **attributes: order(x),
    "power_norm": lambda x, **attributes: sign(x),
}  # fmt: skip
# How far a row is from a point that it is not analytic at, by its inputs.
DISTANCES: dict[str, Callable[..., Any]] = {
    **dict.fromkeys(("sqrt", "rsqrt", "cbrt", "log", "log2", "log10", "reciprocal"), lambda x: x),
    "divide": lambda a, b: b, "power": base_of, "hypot": lambda a, b: abs(a) + abs(b), "log1p": lambda x: 1 + x,
    "euclidean_norm": lambda x, **attributes: abs(x).max(initial=0.0), "arctan2": lambda a, b: abs(a) + abs(b),
    **dict.fromkeys(("gamma", "lgamma", "digamma"), to_pole), "tan": cosine,
    **dict.fromkeys(("inv", "solve", "slogdet", "cholesky"), lambda a, *rest, **attributes: determinant(a)),
}  # fmt: skip
# Rows that invert their first input.
INVERTING = frozenset(("inv", "solve", "slogdet", "cholesky", "det"))
EPSILON = 2.0**-52
# Rows that are no functions of a complex variable, though they take complex numbers.
NOT_ANALYTIC = frozenset(
    "abs real imag conj angle unit sign signum euclidean_norm power_norm hypot var std copysign".split()
)


def lost_in_inverse(a: Any, *rest: Any, **attributes: Any) -> float:
    """What rounding may leave of a derivative of a matrix's inverse, which has the size of its square."""
    import numpy as np

    a = np.asarray(a)
    if not a.size or not np.isfinite(a).all():
        return 0.0
    smallest = float(np.linalg.svd(a, compute_uv=False)[..., -1].min())
    return EPSILON / smallest**2 if smallest else float("inf")


class Story:
    """What one run chose, and how near it came to singular points; `analytic` says that it chose nothing, `lost` what rounding
    may leave of derivatives through a matrix that is nearly singular."""

    __slots__ = ("analytic", "choices", "distances", "lost")

    def __init__(self) -> None:
        self.analytic = True
        self.lost = 0.0
        self.choices: list[Any] = []
        self.distances: list[Any] = []


class TooLong(Exception):
    """A run of more steps than MOST_STEPS."""


class Listener:
    """A recorder that follows one input, and keeps nothing but the choices that depend on it."""

    __slots__ = ("counted", "log", "measuring", "steps", "story", "token")

    def __init__(self, measuring: bool) -> None:
        self.measuring = measuring
        self.token = Token()
        self.log = None
        self.counted: Any = None
        self.steps = 0
        self.story = Story()

    def record(self, op: Operation, inputs: tuple[Any, ...], attributes: dict[str, Any] | None, out: Any) -> Any:
        self.steps += 1
        if self.steps > MOST_STEPS:
            raise TooLong
        name = op.name
        story = self.story
        if op.derivative in ("none", "zero"):
            if name not in ("zeros_like", "ones_like"):
                self.decided(out)
            return out
        sides, distance = SIDES.get(name), DISTANCES.get(name)
        if name == "abs" and is_complex(inputs[0]):
            sides, distance = None, abs  # a cone, whose one singular point is 0
        if sides is not None:
            self.note(story.choices, sides(*map(plain, inputs), **(attributes or {})))
            story.analytic = False
        elif distance is not None:
            self.note(story.distances, distance(*map(plain, inputs), **(attributes or {})))
        if self.measuring and name in INVERTING:
            story.lost = max(story.lost, lost_in_inverse(*map(plain, inputs)))
        if name in NOT_ANALYTIC:
            story.analytic = False
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
        self.story.analytic = False
        self.note(self.story.choices, plain(value))

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
                values = [sign(values[0] - values[1])]
            except TypeError:  # of what is compared, one is no number
                values = [None]
        for value in values:
            self.decided(value)


def story(run: Callable[[Any], Any], x: Any, measuring: bool = False) -> Story | None:
    """What a run with the source `x` chooses, and what it loses if that is to be measured; None where that cannot be told."""
    import numpy as np

    listener = Listener(measuring)
    source = Tensor(plain(x), tensor(x).dtype)
    source.on = listener.token
    RECORDERS.append(listener)
    STATE.choices = listener.chose
    try:
        with np.errstate(all="ignore"):
            run(source)
    except TooLong:
        return None
    finally:
        STATE.choices = None
        RECORDERS.clear()
    return listener.story


def same_piece(a: Story, b: Story) -> bool:
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


__all__ = ["same_piece", "story"]
