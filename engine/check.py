"""An independent check of a gradient: complex step where the program allows it, else extrapolated differences.

Complex step: Squire and Trapp, SIAM Review 40 (1998): df/dx = Im f(x + ih) / h, exact to rounding for a program that is
analytic. What it does not confirm is judged by differences of steps that stay on one side of every kink (branches.py);
on a kink, and where they do not converge, there is no verdict.
"""

from __future__ import annotations

import math

from .core.errors import failure
from .core.operands import plain
from .core.state import STATE
from .core.tensor import Tensor
from .differences import EPSILON, STARTS, derivative, one_sided
from .perturbed import Source

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

STEP = 1e-30
# Relative disagreement that fails the check, by method.
COMPLEX, DIFFERENCES = "complex step", "Richardson extrapolation"
TOLERANCE = {COMPLEX: 1e-9, DIFFERENCES: 1e-6}
# How well differences must be known, in parts of the gradient, to call it right, and to call it wrong.
CONFIRMS, JUDGES = 3e-6, 1e-3
# Parts of a function's size over that of its input that count as no slope.
NOTHING = 1e-12
# Parts of an input that rounding may make.
ROUNDING = 4 * EPSILON


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

    def __repr__(self) -> str:
        return f"Check(ok={self.ok}, max_error={self.max_error:.2g}, method={self.method!r})"


def check(evaluation: Any) -> Check:
    """Compare the gradient that `evaluation` has found with one that no rule of the table takes part in."""
    sources: dict[str, dict[str, Any]] = {}
    kinks, STATE.kinks = STATE.kinks, "adiff"
    notices = list(STATE.notices)
    told: list[tuple[str, str]] = []
    try:
        for name in evaluation.names:
            source = Source(evaluation, name)
            x, g = source.x, evaluation.outcome.gradients[name]
            if x.__class__ is str or (x.__class__ is Tensor and not (x.dtype.differentiable or x.dtype.weak)):
                continue
            if g is None and counts(source):
                said = "is not checked: the program takes only whole numbers for it, which have no derivative"
                told.append(("N0504", f"'{name}' {said}"))
                continue
            exact = [0.0] * source.size if g is None else g.reshape(-1).tolist() if hasattr(g, "reshape") else [g]
            sources[name], question = compared(source, exact)
            if question:
                told.append(("N0605", question))
    finally:
        STATE.kinks = kinks
        STATE.notices[:] = notices
    for code, said in told:
        STATE.notify(code, said, evaluation.end_site())
    if not sources:
        raise failure("E0304", "there is nothing to check: no input can be differentiated", site=evaluation.end_site())
    worst_error = max(float(s["error"]) for s in sources.values())
    method = COMPLEX if all(s["method"] == COMPLEX for s in sources.values()) else DIFFERENCES
    return Check(verdict([s["ok"] for s in sources.values()]), worst_error, method, sources)


def counts(source: Source) -> bool:
    """Whether the program takes an input that is an integer, or integers, for whole numbers alone: as a size, or an index."""
    value = plain(source.x)
    whole = value.__class__ is int or (hasattr(value, "dtype") and value.dtype.kind == "i" and value.size > 0)
    return whole and not all(finite(source.value(0, step)) for step in (STARTS[1], -STARTS[1]))


def verdict(parts: list[bool | None]) -> bool | None:
    """What disagrees decides; where nothing does, what has no verdict."""
    return False if False in parts else None if None in parts else True


def compared(source: Source, exact: list[Any]) -> tuple[dict[str, Any], str]:
    """The line about a source, at the element where gradient and estimate are furthest apart, and why it is no verdict,
    if it is none."""
    found: dict[str, Any] = {"error": 0.0, "gradient": 0.0, "independent": 0.0, "index": 0}
    parts: list[bool | None] = []
    question, method = "", COMPLEX
    for i, a in enumerate(exact):
        ok, b, error, used, why = estimated(source, i, a)
        method = COMPLEX if used == method == COMPLEX else DIFFERENCES
        if ok is None and not question:
            element = f"'{source.name}'" if len(exact) == 1 else f"element {i} of '{source.name}'"
            question = f"no verdict by {element}: {why}"
        parts.append(ok)
        if not i or error > found["error"]:
            found = {"error": error, "gradient": a, "independent": b, "index": i}
    found["method"] = method
    found["ok"] = verdict(parts)
    return found, question if found["ok"] is None else ""


def complex_step(source: Source, i: int, beside: float = 0.0) -> float | None:
    """The slope in an element by a complex step; None where the program takes none, or is not analytic."""
    if source.complex or (source.here is not None and not source.here.analytic):
        return None
    there, here = complex(source.value(i, complex(beside, STEP))), complex(source.value(i, beside))
    if not finite(there) or abs(there.real - here.real) > 1e-6 * abs(here.real) + STEP:
        return None
    return there.imag / STEP


def estimated(source: Source, i: int, a: Any) -> tuple[bool | None, Any, float, str, str]:
    """Whether `a` is the slope in an element, an independent one, the relative error, the method, and why there is no verdict."""
    width = source.widths(i)[-1]
    sizes = [abs(source.value(i, step * width)) for step in (0.0, STARTS[1])]
    floor = NOTHING * max(filter(finite, sizes), default=0.0) / width
    stepped = complex_step(source, i)
    if stepped is not None and relative_error(a, stepped, floor) <= TOLERANCE[COMPLEX]:
        return True, stepped, relative_error(a, stepped, floor), COMPLEX, ""
    b, uncertainty, kink, on_piece = differences(source, i, floor)
    method = DIFFERENCES
    if kink:
        where = f"the point is on a kink or a jump, beside which the slopes are {kink}, and the gradient is {a:.6g}"
        return None, b, relative_error(a, b, floor), method, where
    agree = stepped is None or abs(stepped - b) <= 10 * uncertainty + TOLERANCE[method] * abs(b)
    if stepped is not None and agree and uncertainty <= JUDGES * abs(b):
        # Rounding in the input is passed on: by as much as it changes the complex step, gradients may be off too.
        near = [complex_step(source, i, sign * ROUNDING * width) for sign in (-1.0, 1.0)]
        b, method = stepped, COMPLEX
        uncertainty = max(math.inf if x is None else 10 * abs(x - b) for x in near)
    error = relative_error(a, b, floor)
    ok = judged(a, b, uncertainty, floor, TOLERANCE[method])
    if not (agree and on_piece):
        ok = ok or None
    if not (finite(b) and finite(uncertainty)):
        return ok, b, error, method, "neither a complex step nor differences give a finite estimate"
    why = f"an independent estimate has not converged: {b:.6g} ± {uncertainty:.2g} beside the gradient {a:.6g}"
    return ok, b, error, method, why


def differences(source: Source, i: int, floor: float) -> tuple[Any, float, str, bool]:
    """The slope in an element by differences, how far from the truth it may be, the slopes on both sides where the point
    is on a kink, and whether it is on a piece: that of a complex number is dRe(f)/dRe(z) + i dRe(f)/dIm(z)."""
    slopes, uncertainty, beside = [], 0.0, []
    on_piece, smooth = True, True
    for unit in (1.0, 1j) if source.complex else (1.0,):
        f = along(source, i, unit)
        reach = source.reach(i, unit)
        if reach:
            slope, error = derivative(f, *source.widths(i), reach=reach)
        else:
            on_piece = False
            steps = [source.side(i, unit, sign) for sign in (-1.0, 1.0)]
            below, above = (one_sided(f, h) if h else (math.nan, math.inf) for h in steps)
            slope, error = (below[0] + above[0]) / 2, max(below[1], above[1]) + abs(below[0] - above[0])
            known = all(e <= JUDGES * abs(s) + floor for s, e in (below, above))
            if known and abs(below[0] - above[0]) > JUDGES * min(abs(below[0]), abs(above[0])) + floor:
                smooth = False
            beside.append(f"{below[0] + 0.0:.3g} and {above[0] + 0.0:.3g}")
        slopes.append(slope)
        uncertainty = max(uncertainty, error)
    return complex(*slopes) if source.complex else slopes[0], uncertainty, "" if smooth else ", ".join(beside), on_piece


def along(source: Source, i: int, unit: Any) -> Any:
    """The program's real value as a function of a step in flat element `i`."""
    return lambda h: complex(source.value(i, h * unit)).real


def judged(a: Any, b: Any, uncertainty: float, floor: float, tolerance: float) -> bool | None:
    """Whether a gradient `a` is right beside an estimate `b`; None where that cannot be told."""
    if not finite(b) or not finite(uncertainty):
        return None
    refutes = uncertainty <= max(JUDGES * abs(b), 1e4 * floor)
    if not finite(a):
        return False if refutes else None
    scale, gap = max(abs(a), abs(b)), abs(a - b)
    known = uncertainty <= CONFIRMS * scale or (scale <= floor and uncertainty <= 1e4 * floor)
    if known and gap <= tolerance * scale + uncertainty:
        return True
    return False if refutes and gap > tolerance * scale + 2 * uncertainty else None


def relative_error(a: Any, b: Any, least: float) -> float:
    """|a - b| over their size, or over `least` where that is more."""
    if a == b or (a != a and b != b):
        return 0.0
    if not (finite(a) and finite(b)):
        return math.inf
    return float(abs(a - b) / max(abs(a), abs(b), least))


def finite(z: Any) -> bool:
    return z - z == 0  # type: ignore[no-any-return]
