"""An independent check of a gradient: complex step where the program allows it, else extrapolated differences.

Complex step: Squire and Trapp, SIAM Review 40 (1998): df/dx = Im f(x + ih) / h, exact to rounding for a program that is
analytic. What it does not confirm is judged by the slopes to both sides: differences of steps that shrink, extrapolated to
step 0 with an estimate of the error: Ridders, Advances in Engineering Software 4 (1982). Where these differ, as on a kink,
and where they do not converge, there is no verdict. No rule of the table takes part.
"""

from __future__ import annotations

import math

import numpy as np

from ..parser.errors import AdiffError
from .core.dtype_rules import MEETING
from .core.dtypes import COMPLEX128, FLOAT64, WEAK_COMPLEX
from .core.errors import failure
from .core.following import add_mark
from .core.operands import as_operand, plain, tensor
from .core.state import RECORDERS, STATE
from .core.tensor import OPERATORS, Tensor, Token, is_complex

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

COMPLEX_STEP = 1e-30
COMPLEX, DIFFERENCES = "complex step", "Richardson extrapolation"
# Rounding; the relative disagreement with which a complex step confirms a gradient, and with which differences do; how well
# a slope must be known to judge it; the part of a function's size over that of its input that counts as no slope.
DOUBLE = (2.0**-52, 1e-9, 1e-6, 3e-6, 1e-12)
SINGLE = (2.0**-23, 1e-5, 1e-3, 3e-3, 1e-4)
# The widest steps of the extrapolations, in parts of the input.
WIDEST = [0.1 / 10**level for level in range(11)]
# A run of more operations than these takes longer than differences are worth.
MOST_STEPS = 200_000
# Steps of one extrapolation, and each in parts of the one before it.
STEPS, SHRINK = 12, 1.4
# Complex numbers may meet data of float64 in a complex step, which no program of itself may do.
FLOATS_AND_COMPLEX = {(FLOAT64, COMPLEX128): COMPLEX128, (COMPLEX128, FLOAT64): COMPLEX128}


class Check:
    """The verdict: `sources` gives per source the worst relative error, the method and both values where it is worst.

    `ok` is None where there is no verdict: what the gradient is compared with has not converged, or the point is on a kink.
    """

    def __init__(self, sources: dict[str, dict[str, Any]]) -> None:
        self.sources = sources
        self.max_error = max(float(source["error"]) for source in sources.values())
        self.ok, self.method = verdict(list(sources.values()))

    def __repr__(self) -> str:
        return f"Check(ok={self.ok}, max_error={self.max_error:.2g}, method={self.method!r})"


def verdict(parts: list[dict[str, Any]]) -> tuple[bool | None, str]:
    """What disagrees decides; where nothing does, what has no verdict. And the method, if one was used throughout."""
    found = [part["ok"] for part in parts]
    method = COMPLEX if all(part["method"] == COMPLEX for part in parts) else DIFFERENCES
    return False if False in found else None if None in found else True, method


def check(evaluation: Any) -> Check:
    """Compare the gradient that `evaluation` has found with one that no rule of the table takes part in."""
    sources: dict[str, dict[str, Any]] = {}
    kinks, STATE.kinks = STATE.kinks, "adiff"
    notices = list(STATE.notices)
    MEETING.update(FLOATS_AND_COMPLEX)
    pending: list[tuple[str, str]] = []
    floating = np.seterr(all="ignore")
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
        np.seterr(**floating)
        MEETING.clear()
        STATE.kinks = kinks
        STATE.notices[:] = notices
    for code, said in pending:
        STATE.notify(code, said, evaluation.end_site())
    if not sources:
        raise failure("E0304", "there is nothing to check: no input can be differentiated", site=evaluation.end_site())
    return Check(sources)


def compared(source: Source, g: Any) -> tuple[dict[str, Any], str]:
    """The line about a source, at the element where gradient and estimate are furthest apart, and where and why there is
    no verdict, if there is none."""
    exact = [0.0] * source.size if g is None else np.ravel(g).tolist()
    parts: list[dict[str, Any]] = []
    reasons = []
    for i, a in enumerate(exact):
        least = source.least(i)
        b, method, why = complex_step(source, i), COMPLEX, ""
        ok: bool | None = b is not None and relative_error(a, b, least) <= source.exact
        if not ok:
            least = source.least(i, WIDEST[0], -WIDEST[0])
            ok, b, method, why = judged(source, i, a, b, least)
        if ok is False and g is None:
            ok, why = None, f"the gradient is None, and an independent estimate is {b:.6g}"
        error = relative_error(a, b, least)
        parts.append({"error": error, "gradient": a, "independent": b, "index": i, "method": method, "ok": ok})
        if ok is None:
            reasons.append(("" if len(exact) == 1 else f"element {i} of ") + f"'{source.name}': {why}")
    nothing = {"error": 0.0, "gradient": 0.0, "independent": 0.0, "index": 0}
    ok, method = verdict(parts)
    worst = max(parts, key=lambda part: part["error"], default=nothing)
    return {**worst, "method": method, "ok": ok}, reasons[0] if ok is None else ""


def judged(source: Source, i: int, a: Any, stepped: float | None, least: float) -> tuple[bool | None, Any, str, str]:
    """Whether the gradient `a` is right, an independent one, the method, and why there is no verdict."""
    if source.stopped:
        return None, math.nan, DIFFERENCES, "stop_gradient leaves out a part of the derivative, and no estimate does"
    if source.steps > MOST_STEPS:
        return None, math.nan, DIFFERENCES, f"a run of {source.steps} operations takes too long for differences"
    b, uncertainty, why = differences(source, i, a)
    method, tolerance, known = DIFFERENCES, source.tolerance, source.known
    refutes = uncertainty <= max(known * abs(b), 10 * least)
    if refutes and stepped is not None and abs(stepped - b) <= 10 * uncertainty + tolerance * abs(b):
        # Rounding in the input is passed on: by as much as it changes the complex step, gradients may be off too.
        near = [complex_step(source, i, sign * 4 * source.epsilon * source.width(i)) for sign in (-1.0, 1.0)]
        b, method, tolerance = stepped, COMPLEX, source.exact
        uncertainty = max(math.inf if x is None else 10 * abs(x - stepped) for x in near)
        refutes = uncertainty <= max(known * abs(b), 10 * least)
    gap, scale = (abs(a - b), max(abs(a), abs(b))) if finite(a) else (math.inf, 0.0)
    if uncertainty <= max(known * scale, 10 * least) and gap <= tolerance * scale + uncertainty:
        return True, b, method, ""
    if refutes and gap > tolerance * scale + 2 * uncertainty:
        return False, b, method, ""
    why = why or f"an independent estimate has not converged: {b:.6g} ± {uncertainty:.2g} beside the gradient {a:.6g}"
    return None, b, method, why


def relative_error(a: Any, b: Any, least: float) -> float:
    """|a - b| over their size, or over `least` where that is more."""
    if a == b or (a != a and b != b):
        return 0.0
    return float(abs(a - b) / max(abs(a), abs(b), least)) if finite(a) and finite(b) else math.inf


def finite(z: Any) -> bool:
    return z - z == 0  # type: ignore[no-any-return]


def complex_step(source: Source, i: int, beside: float = 0.0) -> float | None:
    """The slope in an element by a complex step; None where the program takes none, or is not analytic."""
    if source.complex or not source.analytic:
        return None
    there, here = (complex(source.value(source.shifted(i, complex(beside, step)))) for step in (COMPLEX_STEP, 0.0))
    if not finite(there) or abs(there.real - here.real) > 1e-6 * abs(here.real) + COMPLEX_STEP:
        return None
    return there.imag / COMPLEX_STEP


def differences(source: Source, i: int, a: Any) -> tuple[Any, float, str]:
    """The slope in an element by differences, how far from the truth it may be, and of a kink the words for it.

    That by a complex number is dRe(f)/dRe(z) + i dRe(f)/dIm(z).
    """
    slopes, uncertainty, why = [], 0.0, ""
    for unit in (1.0, 1j) if source.complex else (1.0,):
        (below, below_error), (above, above_error) = (one_sided(source, i, side) for side in (-unit, unit))
        gap, error, size = abs(above + below), below_error + above_error, max(abs(below), abs(above))
        if error <= source.known * size < gap:
            sides = f"beside it the slopes are {0.0 - below:.3g} and {above + 0.0:.3g}"
            why = f"the point is on a kink or a jump, or too near one: {sides}, and the gradient is {a:.6g}"
        slopes.append((above - below) / 2)
        uncertainty = max(uncertainty, error + gap)
    return complex(*slopes) if source.complex else slopes[0], uncertainty, why


def one_sided(source: Source, i: int, unit: Any) -> tuple[float, float]:
    """The slope to one side and its error, on which steps of two sizes agree best: it is known no better than they do."""
    here = complex(source.centre).real

    def quotient(h: float) -> tuple[float, float]:
        there = complex(source.value(source.shifted(i, h * unit))).real
        return (there - here) / h, source.epsilon * max(abs(there), abs(here)) / h

    best = before = math.nan, math.inf
    for width in WIDEST:
        found = extrapolated(quotient, width * source.width(i))
        error = max(before[1], found[1], abs(before[0] - found[0]))
        if finite(error) and error < best[1]:
            best = found[0], error
            if error <= 1e-9 * abs(found[0]):
                break
        before = found
    return best


def extrapolated(quotient: Callable[[float], tuple[float, float]], h: float) -> tuple[float, float]:
    """The slope from steps that shrink from `h`, and an estimate of its error; those of the quotients are a power series."""
    best, error = math.nan, math.inf
    before: list[float] = []
    for i in range(STEPS):
        slope, rounding = quotient(h)
        if not finite(slope):
            break
        row, factor = [slope], SHRINK
        for j, coarse in enumerate(before):
            row.append((row[j] * factor - coarse) / (factor - 1))
            factor *= SHRINK
            spread = max(abs(row[j + 1] - row[j]), abs(row[j + 1] - coarse), rounding)
            if spread <= error:
                best, error = row[j + 1], spread
        if i and abs(row[i] - before[i - 1]) >= 2 * error:
            break
        before = row
        h /= SHRINK
    return best, error


class Source:
    """The program as a function of one source, its result summed; a recorder of what is done with it.

    It is `analytic` unless an operation is not, or something is decided by it; `stopped`: stop_gradient has been applied.
    """

    log = None

    def __init__(self, evaluation: Any, name: str, x: Any) -> None:
        self.evaluation = evaluation
        self.name = name
        self.x = x
        self.complex = is_complex(x)
        self.size = np.size(plain(x))
        self.token = Token()
        self.analytic, self.stopped, self.steps = True, False, 0
        self.epsilon, self.exact, self.tolerance, self.known, self.nothing = DOUBLE
        RECORDERS[:] = [self]
        try:
            self.centre = self.value(self.marked(Tensor(plain(x), tensor(x).dtype)))
        finally:
            RECORDERS.clear()

    def record(self, op: Any, inputs: tuple[Any, ...], attributes: dict[str, Any] | None, out: Any) -> Any:
        self.steps += 1
        if out.__class__ is Tensor and out.dtype.name in ("float32", "complex64"):
            self.epsilon, self.exact, self.tolerance, self.known, self.nothing = SINGLE
        if op.derivative in ("none", "zero"):
            self.analytic = self.analytic and op.reason == "a constant"
            self.stopped = self.stopped or op is OPERATORS.stop_gradient
            return out
        self.analytic = self.analytic and op.analytic
        return tuple(map(self.marked, out)) if out.__class__ is tuple else self.marked(out)

    def marked(self, x: Any) -> Tensor:
        marked: Tensor = tensor(x)
        add_mark(marked, self.token)
        return marked

    def broken(self, site: Any, inputs: Any, reason: str) -> None:
        """Where paths end is not kept."""
        self.analytic = False

    def value(self, x: Any) -> Any:
        """The sum of the result's elements; nan where the run ends with an error, unless that is a limit."""
        evaluation = self.evaluation
        try:
            result = plain(evaluation.numeric(evaluation.result_of({**evaluation.point, self.name: x}))[0])
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

    def least(self, i: int, *steps: float) -> float:
        """What is too small to be a slope in an element, by the function's size here and at steps in parts of the width."""
        values = [self.centre, *(self.value(self.shifted(i, step * self.width(i))) for step in steps)]
        return self.nothing * max((abs(value) for value in values if finite(value)), default=0.0) / self.width(i)

    def width(self, i: int) -> float:
        """Over which the program may vary in an element."""
        return max(float(abs(np.ravel(plain(self.x))[i])), 0.1)
