"""An independent check of a gradient: complex step where the program allows it, else extrapolated differences.

Complex step: Squire and Trapp, SIAM Review 40 (1998): df/dx = Im f(x + ih) / h, exact to rounding for a program that is
analytic. What it does not confirm is judged by differences of steps that stay on one side of every kink (branches.py),
which shrink and are extrapolated to step 0 with an estimate of the error: Ridders, Advances in Engineering Software 4
(1982). On a kink, and where they do not converge, there is no verdict. No rule of the table takes part.
"""

from __future__ import annotations

import math
from itertools import pairwise

from ..parser.errors import AdiffError
from .branches import TooLong, with_branches
from .core.dtypes import COMPLEX128, FLOAT64, MEETING, WEAK_COMPLEX
from .core.errors import failure
from .core.operands import as_operand, plain
from .core.state import STATE
from .core.tensor import OPERATORS, Tensor, is_complex

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .branches import Branches

    Slope = tuple[float, float]  # and how far from the truth it may be

EPSILON = 2.0**-52
COMPLEX_STEP = 1e-30
COMPLEX, DIFFERENCES = "complex step", "Richardson extrapolation"
# Relative disagreement that fails the check, by method.
TOLERANCE = {COMPLEX: 1e-9, DIFFERENCES: 1e-6}
# How well differences must be known, in parts of the gradient, to call it right, and to call it wrong.
CONFIRMS, JUDGES = 3e-6, 1e-3
# Parts of a function's size over that of its input that count as no slope.
NOTHING = 1e-12
# The widest steps, in parts of the input; each extrapolation begins with steps of a tenth of those before it.
WIDEST, LEVELS = 0.1, 11
# Inputs below this one have no steps of their size.
NARROWEST = 1e-290
# Steps of one extrapolation, and each in parts of the one before it.
STEPS, SHRINK = 12, 1.4
# Complex numbers may meet data of float64 in a complex step, which no program of itself may do.
FLOATS_AND_COMPLEX = {(FLOAT64, COMPLEX128): COMPLEX128, (COMPLEX128, FLOAT64): COMPLEX128}


class Check:
    """The verdict: `sources` gives per source the worst relative error, the method and both values where it is worst.

    `ok` is None where there is no verdict: what the gradient is compared with has not converged, or the point is on a kink.
    """

    __slots__ = ("max_error", "method", "ok", "sources")

    def __init__(self, sources: dict[str, dict[str, Any]]) -> None:
        self.sources = sources
        found = list(sources.values())
        self.ok = verdict([source["ok"] for source in found])
        self.max_error = max(float(source["error"]) for source in found)
        self.method = COMPLEX if all(source["method"] == COMPLEX for source in found) else DIFFERENCES

    def __repr__(self) -> str:
        return f"Check(ok={self.ok}, max_error={self.max_error:.2g}, method={self.method!r})"


def check(evaluation: Any) -> Check:
    """Compare the gradient that `evaluation` has found with one that no rule of the table takes part in."""
    sources: dict[str, dict[str, Any]] = {}
    kinks, STATE.kinks = STATE.kinks, "adiff"
    notices = list(STATE.notices)
    pending: list[tuple[str, str]] = []
    try:
        for name in evaluation.names:
            x, g = as_operand(evaluation.point[name]), evaluation.outcome.gradients[name]
            if x.__class__ is str or (x.__class__ is Tensor and not (x.dtype.differentiable or x.dtype.weak)):
                continue
            if g is None and (x.__class__ is int or (x.__class__ is Tensor and x.dtype.kind == "i")):
                pending.append(("N0504", f"'{name}' is not checked: the program takes it for whole numbers alone"))
                continue
            sources[name], why = compared(Source(evaluation, name, x), g)
            if why:
                pending.append(("N0605", f"no verdict by {why}"))
    finally:
        STATE.kinks = kinks
        STATE.notices[:] = notices
    for code, said in pending:
        STATE.notify(code, said, evaluation.end_site())
    if not sources:
        raise failure("E0304", "there is nothing to check: no input can be differentiated", site=evaluation.end_site())
    return Check(sources)


def verdict(parts: list[bool | None]) -> bool | None:
    """What disagrees decides; where nothing does, what has no verdict."""
    return False if False in parts else None if None in parts else True


def compared(source: Source, g: Any) -> tuple[dict[str, Any], str]:
    """The line about a source, at the element where gradient and estimate are furthest apart, and where and why there is
    no verdict, if there is none."""
    exact = [0.0] * source.size if g is None else g.reshape(-1).tolist() if hasattr(g, "reshape") else [g]
    parts, reasons = [], []
    for i, a in enumerate(exact):
        ok, b, error, method, why = judgement(source, i, a)
        parts.append({"error": error, "gradient": a, "independent": b, "index": i, "method": method, "ok": ok})
        if ok is None:
            reasons.append(("" if len(exact) == 1 else f"element {i} of ") + f"'{source.name}': {why}")
    nothing = {"error": 0.0, "gradient": 0.0, "independent": 0.0, "index": 0}
    found = dict(max(parts, key=lambda part: part["error"], default=nothing))
    found["method"] = COMPLEX if all(part["method"] == COMPLEX for part in parts) else DIFFERENCES
    found["ok"] = verdict([part["ok"] for part in parts])
    return found, reasons[0] if found["ok"] is None else ""


def judgement(source: Source, i: int, a: Any) -> tuple[bool | None, Any, float, str, str]:
    """Whether `a` is the slope in an element, an independent one, the relative error, the method, and why there is no verdict."""
    floor = NOTHING * (abs(source.centre) if finite(source.centre) else 0.0) / source.widths(i)[-1]
    stepped = complex_step(source, i)
    if stepped is not None and relative_error(a, stepped, floor) <= TOLERANCE[COMPLEX]:
        return True, stepped, relative_error(a, stepped, floor), COMPLEX, ""
    b, uncertainty, beside = differences(source, i)
    method, agree = DIFFERENCES, True
    if stepped is not None:
        agree = abs(stepped - b) <= 10 * uncertainty + TOLERANCE[DIFFERENCES] * abs(b)
        if agree and uncertainty <= JUDGES * abs(b):
            # Rounding in the input is passed on: by as much as it changes the complex step, gradients may be off too.
            near = [complex_step(source, i, sign * 4 * EPSILON * source.widths(i)[-1]) for sign in (-1.0, 1.0)]
            b, method = stepped, COMPLEX
            uncertainty = max(math.inf if x is None else 10 * abs(x - b) for x in near)
    why = f"an independent estimate has not converged: {b:.6g} ± {uncertainty:.2g} beside the gradient {a:.6g}"
    if source.here is not None and source.here.stopped:
        why = "stop_gradient leaves out a part of the derivative, and no estimate does"
    elif not agree or not (finite(b) and finite(uncertainty)):
        why = "a complex step and differences give no finite estimate on which they agree"
    elif not beside:
        return judged(a, b, uncertainty, floor, TOLERANCE[method]), b, relative_error(a, b, floor), method, why
    elif judged(a, b, uncertainty, floor, TOLERANCE[method]):
        return True, b, relative_error(a, b, floor), method, why
    else:
        why = f"the point is on a kink or a jump, or too near one{beside}, and the gradient is {a:.6g}"
    return None, b, relative_error(a, b, floor), method, why


def judged(a: Any, b: Any, uncertainty: float, floor: float, tolerance: float) -> bool | None:
    """Whether a gradient `a` is right beside an estimate `b`; None where that cannot be told."""
    refutes = uncertainty <= max(JUDGES * abs(b), 10 * floor)
    if not finite(a):
        return False if refutes else None
    scale, gap = max(abs(a), abs(b)), abs(a - b)
    known = uncertainty <= CONFIRMS * scale or (scale <= floor and uncertainty <= 10 * floor)
    if known and gap <= tolerance * scale + uncertainty:
        return True
    return False if refutes and gap > tolerance * scale + 2 * uncertainty else None


def relative_error(a: Any, b: Any, least: float) -> float:
    """|a - b| over their size, or over `least` where that is more."""
    if a == b or (a != a and b != b):
        return 0.0
    return float(abs(a - b) / max(abs(a), abs(b), least)) if finite(a) and finite(b) else math.inf


def finite(z: Any) -> bool:
    return z - z == 0  # type: ignore[no-any-return]


def complex_step(source: Source, i: int, beside: float = 0.0) -> float | None:
    """The slope in an element by a complex step; None where the program takes none, or is not analytic."""
    if source.complex or source.here is None or not source.here.analytic:
        return None
    there, here = (complex(source.complex_value(i, complex(beside, step))) for step in (COMPLEX_STEP, 0.0))
    if not finite(there) or abs(there.real - here.real) > 1e-6 * abs(here.real) + COMPLEX_STEP:
        return None
    return there.imag / COMPLEX_STEP


# --- differences ----------------------------------------------------------------------------------------------------


def differences(source: Source, i: int) -> tuple[Any, float, str]:
    """The slope in an element by differences, how far from the truth it may be, and the slopes on both sides where no step
    stays on the piece of the point. That by a complex number is dRe(f)/dRe(z) + i dRe(f)/dIm(z)."""
    slopes, uncertainty, beside = [], 0.0, ""
    for unit in (1.0, 1j) if source.complex else (1.0,):
        slope, error = central(source, i, unit)
        if not finite(slope):
            (below, below_error), (above, above_error) = (one_sided(source, i, sign * unit) for sign in (-1.0, 1.0))
            slope, error = (above - below) / 2, below_error + above_error + abs(above + below)
            known = below_error + above_error <= JUDGES * max(abs(below), abs(above))
            beside = (
                f": beside it the slopes are {0.0 - below:.3g} and {above + 0.0:.3g}" if known else ": none is known"
            )
        slopes.append(slope)
        uncertainty = max(uncertainty, error)
    return complex(*slopes) if source.complex else slopes[0], uncertainty, beside


def central(source: Source, i: int, unit: Any) -> Slope:
    """The slope by steps to both sides that stay on the piece of the point."""

    def quotient(h: float) -> Slope:
        above = source.on_piece(i, h * unit, source.here)
        below = source.on_piece(i, -h * unit, source.here) if finite(above) else math.nan
        return (above - below) / (2 * h), EPSILON * max(abs(above), abs(below)) / h

    found: list[Slope] = []
    for width in source.widths(i):
        for level in range(LEVELS):
            found.append(extrapolated(quotient, WIDEST * width / 10**level, SHRINK**2))
            slope, error = best_of(found)
            if error <= 1e-7 * abs(slope):
                return slope, error
    return best_of(found)


def one_sided(source: Source, i: int, unit: Any) -> Slope:
    """The slope to one side of a kink by steps that stay on one piece."""
    width = 1e-5 * source.widths(i)[-1] * unit
    here, piece = complex(source.centre).real, source.run(i, width)[1]

    def quotient(h: float) -> Slope:
        there = source.on_piece(i, h * width, piece)
        return (there - here) / (h * abs(width)), EPSILON * max(abs(there), abs(here)) / (h * abs(width))

    return best_of([extrapolated(quotient, start, SHRINK) for start in (1.0, 0.1)])


def best_of(found: list[Slope]) -> Slope:
    """The slope on which steps of two sizes agree best, and which is known no better than they do."""
    known = [(b[0], max(a[1], b[1], abs(a[0] - b[0]))) for a, b in pairwise(found)]
    return min((slope for slope in known if finite(slope[1])), key=error_of, default=(math.nan, math.inf))


def error_of(slope: Slope) -> float:
    return slope[1]


def extrapolated(quotient: Callable[[float], Slope], start: float, power: float) -> Slope:
    """The slope from steps that shrink from `start`, and an estimate of its error; the errors of the quotients are a
    series in powers of the step, of which one falls by `power` a step more than the one before it."""
    best, error = math.nan, math.inf
    before: list[float] = []
    h = start
    for i in range(STEPS):
        slope, rounding = quotient(h)
        if not finite(slope):
            break
        row, factor = [slope], power
        for j, coarse in enumerate(before):
            row.append((row[j] * factor - coarse) / (factor - 1))
            factor *= power
            spread = max(abs(row[j + 1] - row[j]), abs(row[j + 1] - coarse), rounding)
            if spread <= error:
                best, error = row[j + 1], spread
        if i and abs(row[i] - before[i - 1]) >= 2 * error:
            break
        before = row
        h /= SHRINK
    return best, error


# --- the program beside the point -----------------------------------------------------------------------------------


class Source:
    """The program as a function of one source, its result summed; `here` are the branches at the point, if it can be run."""

    def __init__(self, evaluation: Any, name: str, x: Any) -> None:
        self.evaluation = evaluation
        self.name = name
        self.x = x
        self.complex = is_complex(x)
        self.size = int(getattr(plain(x), "size", 1))
        self.centre, self.here = self.recorded(x)

    def complex_value(self, i: int, step: complex) -> Any:
        """The value with a complex `step` added to flat element `i`."""
        MEETING.update(FLOATS_AND_COMPLEX)
        try:
            return self.value(self.shifted(i, step))
        finally:
            MEETING.clear()

    def run(self, i: int, step: Any) -> tuple[Any, Branches | None]:
        """The value with `step` added to flat element `i`, and the branches that the run takes."""
        return self.recorded(self.shifted(i, step))

    def on_piece(self, i: int, step: Any, piece: Branches | None) -> float:
        """The real value with `step` added to flat element `i`; nan where other branches are taken than those of `piece`."""
        value, branches = self.run(i, step)
        return complex(value).real if piece is not None and branches == piece else math.nan

    def recorded(self, x: Any) -> tuple[Any, Branches | None]:
        """The value with the source `x`, and the branches that the run takes: None of one that is too long."""
        try:
            return with_branches(self.value, x)
        except TooLong:
            return math.nan, None

    def value(self, x: Any) -> Any:
        """The sum of the result's elements; nan where the run ends with an error, unless that is a limit."""
        try:
            result = plain(
                self.evaluation.numeric(self.evaluation.result_of({**self.evaluation.point, self.name: x}))[0]
            )
        except AdiffError as error:
            if error.code.startswith("E06"):
                raise
            return math.nan
        return complex(result.sum()) if hasattr(result, "sum") else result

    def shifted(self, i: int, step: Any) -> Any:
        """The source with `step` added to flat element `i`, complex where `step` is."""
        value = plain(self.x)
        if not hasattr(value, "reshape"):
            return value + step
        array = value.astype("complex128" if step.__class__ is complex else "float64", order="C")
        array.reshape(-1)[i] += step
        if step.__class__ is complex:
            return Tensor(array, WEAK_COMPLEX)
        return Tensor(array, self.x.dtype if self.x.dtype.kind == "f" else OPERATORS.add(self.x, 0.0).dtype)

    def widths(self, i: int) -> tuple[float, ...]:
        """Over which the program may vary in an element: a small one may be that far from a kink or a pole at 0."""
        value = plain(self.x)
        near = float(abs(value.reshape(-1)[i] if hasattr(value, "reshape") else value))
        return (near, 0.1) if NARROWEST < near < 0.1 else (max(near, 0.1),)
