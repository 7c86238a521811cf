"""An independent check of a gradient: complex step where the program allows it, else extrapolated differences.

Complex step: Squire and Trapp, SIAM Review 40 (1998): df/dx = Im f(x + ih) / h with h = 1e-30, exact to rounding for a
program that is analytic and computes in complex numbers. Differences are those of differences.py. Where neither is known
well enough to judge by, there is no verdict.
"""

from __future__ import annotations

import math

from ..parser.errors import AdiffError
from .core.dispatch import as_operand, plain
from .core.dtypes import WEAK_COMPLEX
from .core.errors import failure
from .core.state import STATE
from .core.tensor import OPERATORS, Tensor, is_complex
from .differences import EPSILON, NARROWEST, confirms, derivative
from .nearby import Nearby

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

STEP = 1e-30
# Relative disagreement that fails the check, by method.
COMPLEX, DIFFERENCES = "complex step", "Richardson extrapolation"
TOLERANCE = {COMPLEX: 1e-9, DIFFERENCES: 1e-6}
# Elements of a source of which a difference confirms the complex step.
MOST = 20


# An estimate whose error may be a larger part of the gradient judges nothing.
JUDGES = 1e-3
# Rounding in an input is passed on: what the complex step changes by where the input does by ROUNDING parts of it is its
# own error, of which gradients have a few times as much.
ROUNDING, TIMES = 4 * EPSILON, 10


class Check:
    """The verdict: `sources` gives per source the worst relative error, the method and both values where it is worst.

    `ok` is None where there is no verdict: what the gradient is compared with has not converged.
    """

    __slots__ = ("max_error", "method", "ok", "sources")

    def __init__(self, ok: bool | None, max_error: float, method: str, sources: dict[str, dict[str, Any]]) -> None:
        self.ok = ok
        self.max_error = max_error
        self.method = method
        self.sources = sources


class Estimate:
    """A source's gradient by another way: flat elements, and how far from the truth each of them may be."""

    __slots__ = ("errors", "method", "values")

    def __init__(self, values: list[Any], method: str, errors: list[float]) -> None:
        self.values = values
        self.method = method
        self.errors = errors


def check(evaluation: Any) -> Check:
    """Compare the gradient that `evaluation` has found with one that no rule of the table takes part in."""
    gradients = evaluation.outcome.gradients
    values = Nearby(evaluation)
    sources: dict[str, dict[str, Any]] = {}
    open_questions: list[str] = []
    kinks, STATE.kinks = STATE.kinks, "adiff"
    notices = list(STATE.notices)
    for name in evaluation.names:
        x = as_operand(evaluation.point[name])
        g = gradients[name]
        if x.__class__ is str or (x.__class__ is Tensor and not (x.dtype.differentiable or x.dtype.weak)):
            continue
        exact = [0.0] * size(x) if g is None else flat(g)
        estimate = complex_differences(values, name, x) if is_complex(x) else real_gradient(values, name, x, exact)
        sources[name], question = compared(name, exact, estimate, values.size / width(x))
        if question:
            open_questions.append(question)
    STATE.kinks = kinks
    STATE.notices[:] = notices
    if values.reason:
        evaluation.outcome.reason += f"; the tape gave values to check it with: no kernel for {values.reason}"
    if not sources:
        raise failure("E0304", "there is nothing to check: no input can be differentiated", site=evaluation.end_site())
    for question in open_questions:
        STATE.notify("N0605", question, evaluation.end_site())
    worst_error = max(float(s["error"]) for s in sources.values())
    method = COMPLEX if all(s["method"] == COMPLEX for s in sources.values()) else DIFFERENCES
    return Check(verdict([s["ok"] for s in sources.values()]), worst_error, method, sources)


def verdict(parts: list[bool | None]) -> bool | None:
    """What disagrees decides; where nothing does, what has no verdict."""
    return False if False in parts else None if None in parts else True


def compared(name: str, exact: list[Any], estimate: Estimate, slope: float) -> tuple[dict[str, Any], str]:
    """The line about a source, at the element where gradient and estimate are furthest apart, and why it is no verdict,
    if it is none. `slope` is that of a function that changes by its own size over that of its input."""
    worst = 0.0
    found: dict[str, Any] = {"error": 0.0, "gradient": 0.0, "independent": 0.0, "index": 0}
    parts: list[bool | None] = []
    question = ""
    for i, (a, b, uncertainty) in enumerate(zip(exact, estimate.values, estimate.errors)):
        error = relative_error(a, b, uncertainty)
        if a == b or judges(b, uncertainty, slope):
            parts.append(error <= TOLERANCE[estimate.method])
        else:
            parts.append(None)
            error = relative_error(a, b, 0.0)
            question = question or no_verdict(name, i, len(exact), a, b, uncertainty)
        if error > worst or i == 0:
            worst = max(worst, error)
            found = {"error": error, "gradient": a, "independent": b, "index": i}
    found["method"] = estimate.method
    found["ok"] = verdict(parts)
    return found, question if found["ok"] is None else ""


def judges(b: Any, uncertainty: float, slope: float) -> bool:
    """Whether an estimate is known well enough for a verdict."""
    if not finite(b) or not finite(uncertainty):
        return False
    return bool(uncertainty <= JUDGES * max(abs(b), JUDGES, JUDGES * JUDGES * slope))


def no_verdict(name: str, index: int, count: int, a: Any, b: Any, uncertainty: float) -> str:
    """Why the gradient by a source is neither right nor wrong."""
    element = f"'{name}'" if count == 1 else f"element {index} of '{name}'"
    if not finite(b) or not finite(uncertainty):
        return f"no verdict by {element}: neither a complex step nor differences give a finite estimate"
    return (
        f"no verdict by {element}: an independent estimate has not converged: "
        f"{b:.6g} ± {uncertainty:.2g} beside the gradient {a:.6g}"
    )


def relative_error(a: Any, b: Any, uncertainty: float) -> float:
    """|a - b| over their size, beyond what the independent value itself leaves open."""
    if a == b or (a != a and b != b):
        return 0.0
    if not (finite(a) and finite(b)):
        return math.inf
    gap = max(abs(a - b) - uncertainty, 0.0)
    return float(gap / max(abs(a), abs(b), 1e-8))


def finite(z: Any) -> bool:
    return z - z == 0  # type: ignore[no-any-return]


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
        else Tensor(array, x.dtype if x.dtype.kind == "f" else OPERATORS["add"](x, 0.0).dtype)
    )


def real_gradient(values: Nearby, name: str, x: Any, exact: list[Any]) -> Estimate:
    """The gradient by a real source, beside the one that is `exact` if it is right."""
    try:
        found = complex_step(values, name, x)
        if found is not None:
            errors = [0.0] * len(found)
            for i, (a, b) in enumerate(zip(exact, found)):
                if relative_error(a, b, 0.0) > TOLERANCE[COMPLEX]:
                    errors[i] = passed_on(values, name, x, i, b)
                    if relative_error(a, b, errors[i]) > TOLERANCE[COMPLEX] and refuted(values, name, x, i, b):
                        break
            else:
                return Estimate(found, COMPLEX, errors)
    except AdiffError as error:
        if error.code.startswith("E06"):
            raise
    pairs = [derivative(along(values, name, x, i, 1.0), *widths(x, i)) for i in range(size(x))]
    return Estimate([value for value, _ in pairs], DIFFERENCES, [error for _, error in pairs])


def complex_step(values: Nearby, name: str, x: Any) -> list[float] | None:
    """The gradient by a complex step; None where it means nothing.

    A program that is not analytic (abs, comparisons, real parts) betrays itself by a changed real part, or by losing the
    imaginary one, which plain differences show.
    """
    found = [values(name, shifted(x, i, complex(0.0, STEP))) for i in range(size(x))]
    base = complex(values(name, values.evaluation.point[name]))
    parts = [complex(v) for v in found]
    if not all(close(v.real, base.real) and finite(v) for v in parts):
        return None
    gradient = [v.imag / STEP for v in parts]
    for i in range(min(size(x), MOST)):
        if not confirms(along(values, name, x, i, 1.0), gradient[i], *widths(x, i)):
            return None
    return gradient


def refuted(values: Nearby, name: str, x: Any, i: int, slope: float) -> bool:
    """Whether differences say that a complex step has lost a small part of a slope, as `abs` of complex numbers does."""
    found, error = derivative(along(values, name, x, i, 1.0), *widths(x, i))
    return abs(found - slope) > TIMES * error + TOLERANCE[DIFFERENCES] * abs(slope)


def passed_on(values: Nearby, name: str, x: Any, i: int, slope: float) -> float:
    """How far rounding in an element of a source may take its complex step: what the step changes by beside it."""
    beside = [
        values(name, shifted(x, i, complex(sign * ROUNDING * scale(x, i), STEP))).imag / STEP for sign in (-1.0, 1.0)
    ]
    return float(TIMES * max(abs(other - slope) for other in beside))


def along(values: Nearby, name: str, x: Any, i: int, unit: Any) -> Callable[[float], float]:
    """The program's value as a function of a step in flat element `i` of a source."""
    return lambda h: real(values(name, shifted(x, i, h * unit)))


def real(z: Any) -> float:
    return z.real if z.__class__ is complex else float(z)


def close(a: float, b: float) -> bool:
    """But for rounding, which long loops collect; a step on another branch is found out by differences too."""
    return a == b or abs(a - b) <= 1e-6 * max(abs(a), abs(b))


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


def complex_differences(values: Nearby, name: str, x: Any) -> Estimate:
    """dRe(f)/dRe(z) + i dRe(f)/dIm(z): the direction of steepest ascent."""
    found, errors = [], []
    for i in range(size(x)):
        parts = [derivative(along(values, name, x, i, unit), 1.0) for unit in (1.0 + 0j, 1j)]
        found.append(complex(*(value for value, _ in parts)))
        errors.append(max(error for _, error in parts))
    return Estimate(found, DIFFERENCES, errors)
