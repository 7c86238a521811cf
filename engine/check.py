"""An independent check of a gradient: complex step where the program allows it, else extrapolated differences.

Complex step: Squire and Trapp, SIAM Review 40 (1998): df/dx = Im f(x + ih) / h with h = 1e-30, exact to rounding for a
program that is analytic and computes in complex numbers. Differences are those of differences.py, of steps that stay on
one side of every kink (branches.py). Where neither is known well enough to judge by, there is no verdict: a gradient is
called right where an estimate known to a few parts in 10^6 agrees with it, and wrong where one that is known at all does
not.
"""

from __future__ import annotations

import math

from ..parser.errors import AdiffError
from .branches import same_branches
from .core.dtypes import WEAK_COMPLEX
from .core.errors import failure
from .core.operands import as_operand, plain
from .core.state import STATE
from .core.tensor import OPERATORS, Tensor, is_complex
from .differences import EPSILON, NARROWEST, STARTS, attained, derivative
from .perturbed import Perturbed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from .branches import Branches

STEP = 1e-30
# Relative disagreement that fails the check, by method.
COMPLEX, DIFFERENCES = "complex step", "Richardson extrapolation"
TOLERANCE = {COMPLEX: 1e-9, DIFFERENCES: 1e-6}
# How well an estimate must be known, in parts of the gradient, to call it right, and to call it wrong.
CONFIRMS, JUDGES = 3e-6, 1e-3
# Steps to both sides of a kink, in parts of the width of the input.
BESIDE = 1e-4
# Parts of a function's own slope (its size over that of its input) that count as no slope, and that rounding may make.
NOTHING = 1e-8
SMALL, LOST = 1e-12, 100 * EPSILON
# Elements of a source of which differences are held against the complex step.
MOST = 20
# Rounding in an input is passed on: what the complex step changes by where the input does by ROUNDING parts of it is its
# own error, of which gradients have a few times as much.
ROUNDING, TIMES = 4 * EPSILON, 10
# A complex step and a difference that is known this well, and is that far from it, contradict each other.
KNOWN, AGREE = 1e-2, 1e-3
# Steps that are looked at for one that stays on a piece, each in parts of the one before it, and how closely it is found.
NARROWER, HALVINGS = 1.0 / 32.0, 3


class Check:
    """The verdict: `sources` gives per source the worst relative error, the method and both values where it is worst.

    `ok` is None where there is no verdict: what the gradient is compared with has not converged, or the point is on a kink.
    """

    __slots__ = ("max_error", "method", "ok", "sources")

    def __init__(self, ok: bool | None, max_error: float, method: str, sources: dict[str, dict[str, Any]]) -> None:
        self.ok = ok
        self.max_error = max_error
        self.method = method
        self.sources = sources


class Estimate:
    """A source's gradient by another way: flat elements, and how far from the truth each of them may be.

    `at_kinks` are the elements where the program goes from one piece to another, and its slopes there on either side:
    where these differ, an estimate neither refutes nor confirms anything.
    """

    __slots__ = ("at_kinks", "errors", "method", "values")

    def __init__(
        self, values: list[Any], method: str, errors: list[float], at_kinks: Mapping[int, Sides] | None = None
    ) -> None:
        self.values = values
        self.method = method
        self.errors = errors
        self.at_kinks = at_kinks or {}


class Sides:
    """The slopes on both sides of a point, `below` and `above`, in one direction or in several."""

    __slots__ = ("above", "below")

    def __init__(self) -> None:
        self.below: list[float] = []
        self.above: list[float] = []

    def add(self, f: Callable[[float], float], width: float) -> None:
        """Look at the function of a step, over steps that are small beside `width`."""
        for sign, found in ((-1.0, self.below), (1.0, self.above)):
            h = sign * BESIDE * width
            here = f(0.0)
            whole, half, quarter = ((f(step) - here) / step for step in (h, h / 2, h / 4))
            slope = 2.0 * quarter - half
            # Over a jump half a step changes as much as a whole one; beside an infinite slope, or a power with a broken
            # exponent, these steps say nothing.
            if quarter and abs(quarter - 2.0 * half) <= JUDGES * abs(quarter):
                slope = math.copysign(math.inf, quarter)
            elif not abs(slope - (2.0 * half - whole)) <= JUDGES * max(abs(slope), abs(whole)):
                slope = math.nan
            found.append(slope)

    def known(self) -> bool:
        return not any(map(math.isnan, (*self.below, *self.above)))

    def is_smooth(self, slopes: Slopes) -> bool:
        """Whether the sides meet without a kink, as those of `x*abs(x)` do."""
        pairs = zip(self.below, self.above)
        return all(abs(a - b) <= JUDGES * max(min(abs(a), abs(b)), slopes.greatest) for a, b in pairs)

    def words(self) -> str:
        sides = [f"{a:.3g} and {b:.3g}" for a, b in zip(self.below, self.above)]
        return f"beside which the slopes are {', '.join(sides)}"


def check(evaluation: Any) -> Check:
    """Compare the gradient that `evaluation` has found with one that no rule of the table takes part in."""
    gradients = evaluation.outcome.gradients
    values = Perturbed(evaluation)
    sources: dict[str, dict[str, Any]] = {}
    open_questions: list[str] = []
    counted: list[str] = []
    kinks, STATE.kinks = STATE.kinks, "adiff"
    notices = list(STATE.notices)
    try:
        for name in evaluation.names:
            x = as_operand(evaluation.point[name])
            g = gradients[name]
            if x.__class__ is str or (x.__class__ is Tensor and not (x.dtype.differentiable or x.dtype.weak)):
                continue
            if g is None and counts(values, name, x):
                counted.append(name)
                continue
            exact = [0.0] * size(x) if g is None else flat(g)
            estimate = complex_differences(values, name, x) if is_complex(x) else real_gradient(values, name, x, exact)
            sources[name], question = compared(name, exact, estimate, Slopes(values, name, x))
            if question:
                open_questions.append(question)
    finally:
        STATE.kinks = kinks
        STATE.notices[:] = notices
    if values.reason:
        evaluation.outcome.reason += f"; the tape gave values to check it with: no kernel for {values.reason}"
    for name in counted:
        said = f"'{name}' is not checked: the program takes only whole numbers for it, which have no derivative"
        STATE.notify("N0504", said, evaluation.end_site())
    if not sources:
        raise failure("E0304", "there is nothing to check: no input can be differentiated", site=evaluation.end_site())
    for question in open_questions:
        STATE.notify("N0605", question, evaluation.end_site())
    worst_error = max(float(s["error"]) for s in sources.values())
    method = COMPLEX if all(s["method"] == COMPLEX for s in sources.values()) else DIFFERENCES
    return Check(verdict([s["ok"] for s in sources.values()]), worst_error, method, sources)


def counts(values: Perturbed, name: str, x: Any) -> bool:
    """Whether the program takes an input that is an integer, or integers, for whole numbers alone: as a size, or an index."""
    if not is_integer(plain(x)):
        return False
    reason = values.reason
    try:
        for part in (STARTS[1], -STARTS[1]):
            values(name, shifted(x, 0, part))
    except AdiffError as error:
        if error.code.startswith("E06"):
            raise
        values.reason = reason  # which is about values that are compared
        return True
    return False


class Slopes:
    """What slopes are measured by: those of a function that changes by its own size over the width of its input. The size
    is that at the point, or beside it where it is 0 there; or the greatest that was seen."""

    __slots__ = ("greatest", "here")

    def __init__(self, values: Perturbed, name: str, x: Any) -> None:
        over = width(x)
        here = abs(values(name, values.evaluation.point[name]))
        if not here:
            near = [beside(values, name, shifted(x, i, STARTS[1] * scale(x, i))) for i in range(min(size(x), MOST))]
            here = max((abs(v) for v in near if finite(v)), default=0.0)
        self.here = here / over
        self.greatest = values.size / over


def verdict(parts: list[bool | None]) -> bool | None:
    """What disagrees decides; where nothing does, what has no verdict."""
    return False if False in parts else None if None in parts else True


def compared(name: str, exact: list[Any], estimate: Estimate, slopes: Slopes) -> tuple[dict[str, Any], str]:
    """The line about a source, at the element where gradient and estimate are furthest apart, and why it is no verdict,
    if it is none."""
    found: dict[str, Any] = {}
    worst = -1.0
    parts: list[bool | None] = []
    question = ""
    tolerance = TOLERANCE[estimate.method]
    for i, (a, b, uncertainty) in enumerate(zip(exact, estimate.values, estimate.errors)):
        ok = judged(a, b, uncertainty, tolerance, slopes)
        kink = estimate.at_kinks.get(i)
        if kink is not None and (kink.is_smooth(slopes) or not kink.known()):
            ok, kink = ok or None, None
        if kink is not None:
            ok = None
        error = relative_error(a, b, 0.0 if ok is None else uncertainty, NOTHING * slopes.here)
        parts.append(ok)
        if ok is None:
            question = question or no_verdict(name, i, len(exact), a, b, uncertainty, kink)
        if error > worst:
            worst = error
            found = {"error": error, "gradient": a, "independent": b, "index": i}
    found = found or {"error": 0.0, "gradient": 0.0, "independent": 0.0, "index": 0}
    found["method"] = estimate.method
    found["ok"] = verdict(parts)
    return found, question if found["ok"] is None else ""


def judged(a: Any, b: Any, uncertainty: float, tolerance: float, slopes: Slopes) -> bool | None:
    """Whether a gradient `a` is right beside an estimate `b`; None where that cannot be told."""
    if not finite(b) or not finite(uncertainty):
        return None
    if not finite(a):
        return False if uncertainty <= JUDGES * abs(b) else None
    scale, gap = max(abs(a), abs(b)), abs(a - b)
    none = scale <= SMALL * slopes.here and uncertainty <= NOTHING * slopes.here
    known = none or uncertainty <= CONFIRMS * scale
    if known and gap <= tolerance * scale + uncertainty:
        return True
    if scale <= LOST * slopes.greatest:
        return None  # of a slope as small as this, rounding leaves nothing
    return False if uncertainty <= JUDGES * scale and gap > tolerance * scale + 2 * uncertainty else None


def no_verdict(name: str, index: int, count: int, a: Any, b: Any, uncertainty: float, kink: Sides | None = None) -> str:
    """Why the gradient by a source is neither right nor wrong."""
    element = f"'{name}'" if count == 1 else f"element {index} of '{name}'"
    if kink is not None:
        return f"no verdict by {element}: the point is on a kink or a jump, {kink.words()}, and the gradient is {a:.6g}"
    if not finite(b) or not finite(uncertainty):
        return f"no verdict by {element}: neither a complex step nor differences give a finite estimate"
    return (
        f"no verdict by {element}: an independent estimate has not converged: "
        f"{b:.6g} ± {uncertainty:.2g} beside the gradient {a:.6g}"
    )


def relative_error(a: Any, b: Any, uncertainty: float, least: float) -> float:
    """|a - b| over their size, or over `least` where that is more, beyond what the independent value itself leaves open."""
    if a == b or (a != a and b != b):
        return 0.0
    if not (finite(a) and finite(b)):
        return math.inf
    return float(max(abs(a - b) - uncertainty, 0.0) / max(abs(a), abs(b), least))


def finite(z: Any) -> bool:
    return z - z == 0  # type: ignore[no-any-return]


def is_integer(value: Any) -> bool:
    return value.__class__ is int or (hasattr(value, "dtype") and value.dtype.kind == "i" and value.size > 0)


def size(x: Any) -> int:
    return int(getattr(plain(x), "size", 1))


def flat(x: Any) -> list[Any]:
    return list(x.reshape(-1).tolist()) if hasattr(x, "reshape") else [x]


def shifted(x: Any, i: int, delta: Any) -> Any:
    """`x` with `delta` added to flat element `i`, computed in complex numbers where `delta` is complex."""
    value = plain(x)
    if not hasattr(value, "reshape"):
        return value + delta
    import numpy as np

    array = np.array(value, dtype="complex128" if delta.__class__ is complex else "float64").reshape(-1)
    array[i] += delta
    array = array.reshape(value.shape)
    return (
        Tensor(array, WEAK_COMPLEX)
        if delta.__class__ is complex
        else Tensor(array, x.dtype if x.dtype.kind == "f" else OPERATORS.add(x, 0.0).dtype)
    )


def real_gradient(values: Perturbed, name: str, x: Any, exact: list[Any]) -> Estimate:
    """The gradient by a real source, beside the one that is `exact` if it is right."""
    here = values.branches(name, x, measuring=True)
    lost = 0.0 if here is None else here.lost
    slopes: dict[int, tuple[float, float]] = {}
    at_kinks: dict[int, Sides] = {}

    def difference(i: int) -> tuple[float, float]:
        if i not in slopes:
            within = math.inf if here is None else reach(values, name, x, i, here)
            if not within:
                at_kinks[i] = Sides()
                at_kinks[i].add(along(values, name, x, i, 1.0), min(widths(x, i)))
            slopes[i] = by_differences(values, name, x, i, within)
        return slopes[i]

    def attains(i: int, slope: float) -> bool:
        return any(attained(along(values, name, x, i, 1.0), slope, width) for width in widths(x, i))

    def contradicted(i: int, slope: float) -> bool:
        return not attains(i, slope) and contradicts(difference(i), slope)

    found = complex_step(values, name, x) if here is None or here.analytic else None
    if found is not None and not any(contradicted(i, found[i]) for i in range(min(size(x), MOST))):
        errors = [0.0] * len(found)
        for i, (a, b) in enumerate(zip(exact, found)):
            apart = relative_error(a, b, 0.0, 0.0) > TOLERANCE[COMPLEX]
            if apart and abs(a - b) <= STEP * size_beside(values, name, x, i) / scale(x, i):
                errors[i] = abs(a - b)  # what a step of this length leaves
                continue
            if apart:
                if contradicted(i, b) or confirms(difference(i), a, b):
                    break
                errors[i] = max(lost, passed_on(values, name, x, i, b))
            if (apart or (not b and a)) and i < MOST and not attains(i, b) and unknown(difference(i), a, b):
                errors[i] = math.inf  # it may have lost its digits: nothing else knows it
        else:
            return Estimate(found, COMPLEX, errors)
    pairs = [difference(i) for i in range(size(x))]
    errors = [
        max(error, lost) if relative_error(a, value, 0.0, 0.0) > TOLERANCE[DIFFERENCES] else error
        for a, (value, error) in zip(exact, pairs)
    ]
    return Estimate([value for value, _ in pairs], DIFFERENCES, errors, at_kinks)


def size_beside(values: Perturbed, name: str, x: Any, i: int) -> float:
    """How large the values are near the point."""
    f = along(values, name, x, i, 1.0)
    sizes = [abs(f(part * scale(x, i))) for part in (-STARTS[2], 0.0, STARTS[2])]
    return max(size for size in sizes if finite(size))


def contradicts(difference: tuple[float, float], slope: float) -> bool:
    """Whether a complex step is another slope than a difference that is known: it has lost a part, or its digits."""
    other, error = difference
    larger = max(abs(other), abs(slope))
    return error <= KNOWN * larger and abs(other - slope) > TIMES * error + AGREE * larger


def unknown(difference: tuple[float, float], *slopes: Any) -> bool:
    """Whether a difference is too little known to tell one slope from another."""
    other, error = difference
    return not error <= KNOWN * max(abs(other), *map(abs, slopes))


def confirms(difference: tuple[float, float], slope: Any, found: float) -> bool:
    """Whether a difference is a slope, as nearly as a gradient must be known to be called right, and is not the one that a
    complex step has found."""
    other, error = difference
    within = TOLERANCE[DIFFERENCES] * abs(other)
    near = error <= CONFIRMS * abs(other) and abs(other - slope) <= within + error
    return near and abs(other - found) > within + TIMES * error


def by_differences(values: Perturbed, name: str, x: Any, i: int, within: float) -> tuple[float, float]:
    """The slope in an element by differences of steps `within` the piece of the program where the point is; by steps of
    all sizes where that is 0, on a kink or a jump."""
    f = along(values, name, x, i, 1.0)
    if not finite(f(0.0)):
        return math.nan, math.inf
    return derivative(f, *widths(x, i), reach=within or math.inf, fine=not within)


def reach(values: Perturbed, name: str, x: Any, i: int, here: Branches, unit: Any = 1.0) -> float:
    """The largest step in an element, up to a tenth of its width, that stays on a piece; 0 where none does."""
    if not here.choices and not here.distances:
        return math.inf

    def stays(h: float) -> bool:
        for part in (1.0, -1.0, 0.7, -0.7):
            there = values.branches(name, shifted(x, i, part * h * unit))
            if there is None or not same_branches(here, there):
                return False
        return True

    h = first = STARTS[0] * max(widths(x, i))
    least = max(EPSILON * magnitude(x, i), NARROWEST)
    while not stays(h):
        h *= NARROWER
        if h < least:
            return 0.0
    if h == first:
        return math.inf
    # The largest that stays is less than one step of the search wider.
    factor = NARROWER
    for _ in range(HALVINGS):
        factor = math.sqrt(factor)
        if stays(h / factor):
            h /= factor
    return h


def complex_step(values: Perturbed, name: str, x: Any) -> list[float] | None:
    """The gradient by a complex step; None where the program takes none."""
    try:
        found = [complex(values(name, shifted(x, i, complex(0.0, STEP)))) for i in range(size(x))]
        base = complex(values(name, values.evaluation.point[name]))
    except AdiffError as error:
        if error.code.startswith("E06"):
            raise
        return None
    # A program that is not analytic may betray itself by a changed real part.
    if not all(close(v.real, base.real) and finite(v) for v in found):
        return None
    return [v.imag / STEP for v in found]


def passed_on(values: Perturbed, name: str, x: Any, i: int, slope: float) -> float:
    """How far rounding in an element of a source may take its complex step: what the step changes by beside it."""
    steps = [complex(sign * ROUNDING * scale(x, i), STEP) for sign in (-1.0, 1.0)]
    near = [complex(beside(values, name, shifted(x, i, step))).imag / STEP for step in steps]
    return float(TIMES * max(abs(other - slope) for other in near))


def along(values: Perturbed, name: str, x: Any, i: int, unit: Any) -> Callable[[float], float]:
    """The program's value as a function of a step in flat element `i` of a source."""
    return lambda h: real(beside(values, name, shifted(x, i, h * unit)))


def beside(values: Perturbed, name: str, x: Any) -> Any:
    """A value near the point; nan where the program has none, as where a matrix is singular."""
    try:
        return values(name, x)
    except AdiffError as error:
        if error.code.startswith("E06"):
            raise
        return math.nan


def real(z: Any) -> float:
    return z.real if z.__class__ is complex else float(z)


def close(a: float, b: float) -> bool:
    """But for rounding, which long loops collect; a step on another branch is found out by differences too."""
    return a == b or abs(a - b) <= max(1e-6 * max(abs(a), abs(b)), STEP)


def magnitude(x: Any, i: int) -> float:
    value = plain(x)
    return float(abs(value.reshape(-1)[i] if hasattr(value, "reshape") else value))


def scale(x: Any, i: int) -> float:
    """Over which a program may be taken to vary in an element, which may be 0."""
    return max(magnitude(x, i), 0.1)


def widths(x: Any, i: int) -> tuple[float, ...]:
    """Over which a program may vary in an element: a small one may be that far from a kink or a pole at 0."""
    near, usual = magnitude(x, i), scale(x, i)
    return (near, usual) if NARROWEST < near < usual else (usual,)


def width(x: Any) -> float:
    """Over which a source may be taken to vary as a whole."""
    return max((scale(x, i) for i in range(min(size(x), MOST))), default=1.0)


def complex_differences(values: Perturbed, name: str, x: Any) -> Estimate:
    """dRe(f)/dRe(z) + i dRe(f)/dIm(z): the direction of steepest ascent."""
    here = values.branches(name, x)
    found, errors = [], []
    at_kinks: dict[int, Sides] = {}
    for i in range(size(x)):
        parts = []
        for unit in (1.0 + 0j, 1j):
            within = math.inf if here is None else reach(values, name, x, i, here, unit)
            if not within:
                at_kinks.setdefault(i, Sides()).add(along(values, name, x, i, unit), min(widths(x, i)))
            parts.append(derivative(along(values, name, x, i, unit), 1.0, reach=within or math.inf, fine=not within))
        found.append(complex(*(value for value, _ in parts)))
        errors.append(max(error for _, error in parts))
    return Estimate(found, DIFFERENCES, errors, at_kinks)
