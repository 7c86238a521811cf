"""An independent check of a gradient: complex step where the program allows it, else extrapolated differences.

Complex step: Squire and Trapp, SIAM Review 40 (1998): df/dx = Im f(x + ih) / h with h = 1e-30, exact to rounding for a
program that is analytic and computes in complex numbers. Differences: Ridders, Advances in Engineering Software 4
(1982): central differences with shrinking steps, extrapolated to zero, with an error estimate.
"""

from __future__ import annotations

import math

from ..parser.errors import AdiffError
from .core.dispatch import as_operand, plain
from .core.dtypes import WEAK_COMPLEX
from .core.errors import failure
from .core.state import STATE
from .core.tensor import OPERATORS, Tensor, is_complex
from .nearby import Nearby

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

STEP = 1e-30
# Relative disagreement that fails the check, by method.
TOLERANCE = {"complex step": 1e-9, "Richardson extrapolation": 1e-6}


class Check:
    """The verdict: `sources` gives per source the worst relative error, the method and both values where it is worst."""

    __slots__ = ("max_error", "method", "ok", "sources")

    def __init__(self, ok: bool, max_error: float, method: str, sources: dict[str, dict[str, Any]]) -> None:
        self.ok = ok
        self.max_error = max_error
        self.method = method
        self.sources = sources


def check(evaluation: Any) -> Check:
    """Compare the gradient that `evaluation` has found with one that no rule of the table takes part in."""
    gradients = evaluation.outcome.gradients
    values = Nearby(evaluation)
    sources: dict[str, dict[str, Any]] = {}
    methods: list[str] = []
    kinks, STATE.kinks = STATE.kinks, "adiff"
    notices = list(STATE.notices)
    for name in evaluation.names:
        x = as_operand(evaluation.point[name])
        g = gradients[name]
        if x.__class__ is str or (x.__class__ is Tensor and not (x.dtype.differentiable or x.dtype.weak)):
            continue
        exact = [0.0] * size(x) if g is None else flat(g)
        if is_complex(x):
            independent, method, tolerances = complex_differences(values, name, x), "Richardson extrapolation", None
        else:
            independent, method, tolerances = independent_gradient(values, name, x)
        worst = 0.0
        found: dict[str, Any] = {"error": 0.0, "gradient": 0.0, "independent": 0.0, "index": 0}
        for i, (a, b) in enumerate(zip(exact, independent)):
            error = relative_error(a, b, 0.0 if tolerances is None else tolerances[i])
            if error > worst or i == 0:
                worst = max(worst, error)
                found = {"error": error, "gradient": a, "independent": b, "index": i}
        found["method"] = method
        found["ok"] = worst <= TOLERANCE[method]
        sources[name] = found
        methods.append(method)
    STATE.kinks = kinks
    STATE.notices[:] = notices
    if values.reason:
        evaluation.outcome.reason += f"; the tape gave values to check it with: no kernel for {values.reason}"
    if not sources:
        raise failure("E0304", "there is nothing to check: no input can be differentiated", site=evaluation.end_site())
    worst_error = max(float(s["error"]) for s in sources.values())
    method = "complex step" if all(m == "complex step" for m in methods) else "Richardson extrapolation"
    return Check(all(s["ok"] for s in sources.values()), worst_error, method, sources)


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


def independent_gradient(values: Nearby, name: str, x: Any) -> tuple[list[Any], str, list[float] | None]:
    try:
        found = [values(name, shifted(x, i, complex(0.0, STEP))) for i in range(size(x))]
        base = values(name, values.evaluation.point[name])
        # A program that is not analytic (abs, comparisons, real parts) betrays itself by a changed real part
        # or by losing the imaginary one; differences decide then.
        parts = [complex(v) for v in found]
        if all(close(v.real, complex(base).real) for v in parts) and all(finite(v) for v in parts):
            exact = [v.imag / STEP for v in parts]
            if agrees_with_differences(values, name, x, exact):
                return exact, "complex step", None
    except AdiffError as error:
        if error.code.startswith("E06"):
            raise
    gradient: list[Any] = []
    errors: list[float] = []
    for i in range(size(x)):
        value, uncertainty = ridders(along(values, name, x, i, 1.0), scale(x, i))
        gradient.append(value)
        errors.append(uncertainty)
    return gradient, "Richardson extrapolation", errors


def along(values: Nearby, name: str, x: Any, i: int, unit: Any) -> Callable[[float], float]:
    """The program's value as a function of a step in flat element `i` of a source."""
    return lambda h: real(values(name, shifted(x, i, h * unit)))


def agrees_with_differences(values: Nearby, name: str, x: Any, gradient: list[float]) -> bool:
    """One plain central difference per element: complex step is believed only where it is in the right region."""
    for i in range(min(size(x), 20)):
        h = 1e-5 * scale(x, i)
        slope = (real(values(name, shifted(x, i, h))) - real(values(name, shifted(x, i, -h)))) / (2 * h)
        if not finite(slope) or abs(slope - gradient[i]) > 1e-3 * max(abs(slope), abs(gradient[i]), 1e-3):
            return False
    return True


def real(z: Any) -> float:
    return z.real if z.__class__ is complex else float(z)


def close(a: float, b: float) -> bool:
    return a == b or abs(a - b) <= 1e-12 * max(abs(a), abs(b))


def scale(x: Any, i: int) -> float:
    value = plain(x)
    element = value.reshape(-1)[i] if hasattr(value, "reshape") else value
    return max(abs(float(element)), 0.1)


def ridders(f: Callable[[float], float], width: float) -> tuple[float, float]:
    """f's central difference at 0, extrapolated; and an estimate of its error."""
    shrink = 1.4
    best, error = math.nan, math.inf
    for start in (0.1 * width, 1e-3 * width):
        h = start
        table = [[central(f, h)]]
        for i in range(1, 12):
            h /= shrink
            row = [central(f, h)]
            factor = shrink * shrink
            for j in range(i):
                row.append((row[j] * factor - table[i - 1][j]) / (factor - 1))
                factor *= shrink * shrink
                spread = max(abs(row[j + 1] - row[j]), abs(row[j + 1] - table[i - 1][j]))
                if spread <= error:
                    best, error = row[j + 1], spread
            table.append(row)
            if abs(row[i] - table[i - 1][i - 1]) >= 2 * error:
                break
    return best, error


def central(f: Callable[[float], float], h: float) -> float:
    return (f(h) - f(-h)) / (2 * h)


def complex_differences(values: Nearby, name: str, x: Any) -> list[complex]:
    """dRe(f)/dRe(z) + i dRe(f)/dIm(z): the direction of steepest ascent."""
    found = []
    for i in range(size(x)):
        parts = []
        for unit in (1.0 + 0j, 1j):
            value, _ = ridders(along(values, name, x, i, unit), 1.0)
            parts.append(value)
        found.append(complex(*parts))
    return found
