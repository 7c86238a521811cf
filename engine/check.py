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
from .branches import branches_of, same_branches
from .core.dtypes import COMPLEX128, FLOAT64, MEETING, WEAK_COMPLEX, WEAK_FLOAT
from .core.errors import failure
from .core.operands import as_operand, plain
from .core.state import RECORDERS, STATE
from .core.tensor import OPERATORS, Tensor, is_complex

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Slope = tuple[float, float]  # and how far from the truth it may be

EPSILON = 2.0**-52
COMPLEX_STEP = 1e-30
# Relative disagreement that fails the check, by method.
COMPLEX, DIFFERENCES = "complex step", "Richardson extrapolation"
TOLERANCE = {COMPLEX: 1e-9, DIFFERENCES: 1e-6}
# How well differences must be known, in parts of the gradient, to call it right, and to call it wrong.
CONFIRMS, JUDGES = 3e-6, 1e-3
# Parts of a function's size over that of its input that count as no slope.
NOTHING = 1e-12
# Steps below this one are lost in rounding, or are no numbers.
NARROWEST = 1e-250
# What the extrapolations begin with, in parts of the width, and each step in parts of the one before it.
STARTS = (1e-1, 1e-3, 1e-5, 1e-7, 1e-8)
SHRINK, STEPS = 1.4, 12
# Complex numbers may meet data of float64 in a complex step, which no program of itself may do.
FLOATS_AND_COMPLEX = {(FLOAT64, COMPLEX128): COMPLEX128, (COMPLEX128, FLOAT64): COMPLEX128}


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
    pending: list[tuple[str, str]] = []
    try:
        for name in evaluation.names:
            source = Source(evaluation, name)
            x, g = source.x, evaluation.outcome.gradients[name]
            if x.__class__ is str or (x.__class__ is Tensor and not (x.dtype.differentiable or x.dtype.weak)):
                continue
            if g is None and counts(source):
                said = "is not checked: the program takes only whole numbers for it, which have no derivative"
                pending.append(("N0504", f"'{name}' {said}"))
                continue
            exact = [0.0] * source.size if g is None else g.reshape(-1).tolist() if hasattr(g, "reshape") else [g]
            sources[name], question = compared(source, exact)
            if question:
                pending.append(("N0605", question))
    finally:
        STATE.kinks = kinks
        STATE.notices[:] = notices
    for code, said in pending:
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
    parts = [judgement(source, i, a) for i, a in enumerate(exact)]
    nothing = {"error": 0.0, "gradient": 0.0, "independent": 0.0, "index": 0}
    found = dict(max(parts, key=lambda part: part["error"], default=nothing))
    found["method"] = COMPLEX if all(p["method"] == COMPLEX for p in parts) else DIFFERENCES
    found["ok"] = verdict([p["ok"] for p in parts])
    found.pop("why", None)
    if found["ok"] is not None:
        return found, ""
    first = next(part for part in parts if part["ok"] is None)
    element = f"'{source.name}'" if len(exact) == 1 else f"element {first['index']} of '{source.name}'"
    return found, f"no verdict by {element}: {first['why']}"


def judgement(source: Source, i: int, a: Any) -> dict[str, Any]:
    """Whether `a` is the slope in an element, an independent one, the relative error, the method, and why there is no verdict."""
    width = source.widths(i)[-1]
    sizes = [abs(source.value(i, step * width)) for step in (0.0, STARTS[1])]
    floor = NOTHING * max(filter(finite, sizes), default=0.0) / width

    def found(ok: bool | None, b: Any, method: str, why: str = "") -> dict[str, Any]:
        error = relative_error(a, b, floor)
        return {"error": error, "gradient": a, "independent": b, "index": i, "method": method, "ok": ok, "why": why}

    stepped = complex_step(source, i)
    if stepped is not None and relative_error(a, stepped, floor) <= TOLERANCE[COMPLEX]:
        return found(True, stepped, COMPLEX)
    b, uncertainty, kink, on_piece = differences(source, i, floor)
    method = DIFFERENCES
    if kink:
        where = f"the point is on a kink or a jump, beside which the slopes are {kink}, and the gradient is {a:.6g}"
        return found(None, b, method, where)
    agree = stepped is None or abs(stepped - b) <= 10 * uncertainty + TOLERANCE[method] * abs(b)
    if stepped is not None and agree and uncertainty <= JUDGES * abs(b):
        # Rounding in the input is passed on: by as much as it changes the complex step, gradients may be off too.
        near = [complex_step(source, i, sign * 4 * EPSILON * width) for sign in (-1.0, 1.0)]
        b, method = stepped, COMPLEX
        uncertainty = max(math.inf if x is None else 10 * abs(x - b) for x in near)
    ok = judged(a, b, uncertainty, floor, TOLERANCE[method])
    why = f"an independent estimate has not converged: {b:.6g} ± {uncertainty:.2g} beside the gradient {a:.6g}"
    if not (finite(b) and finite(uncertainty)):
        why = (source.here and source.here.stops) or "neither a complex step nor differences give a finite estimate"
    return found(ok if agree and on_piece else ok or None, b, method, why)


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
    return float(abs(a - b) / max(abs(a), abs(b), least)) if finite(a) and finite(b) else math.inf


def finite(z: Any) -> bool:
    return z - z == 0  # type: ignore[no-any-return]


def complex_step(source: Source, i: int, beside: float = 0.0) -> float | None:
    """The slope in an element by a complex step; None where the program takes none, or is not analytic."""
    if source.complex or (source.here is not None and not source.here.analytic):
        return None
    there, here = complex(source.value(i, complex(beside, COMPLEX_STEP))), complex(source.value(i, beside))
    if not finite(there) or abs(there.real - here.real) > 1e-6 * abs(here.real) + COMPLEX_STEP:
        return None
    return there.imag / COMPLEX_STEP


def differences(source: Source, i: int, floor: float) -> tuple[Any, float, str, bool]:
    """The slope in an element by differences, how far from the truth it may be, the slopes on both sides where the point
    is on a kink, and whether it is on a piece: that of a complex number is dRe(f)/dRe(z) + i dRe(f)/dIm(z)."""
    slopes, beside, uncertainty, on_piece, smooth = [], [], 0.0, True, True
    for unit in (1.0, 1j) if source.complex else (1.0,):

        def f(h: float, unit: Any = unit) -> float:
            return complex(source.value(i, h * unit)).real

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


def derivative(f: Callable[[float], float], *widths: float, reach: float = math.inf) -> Slope:
    """f'(0) by central differences, and an estimate of its error, infinite where there is none; f is known to vary over
    each of `widths`, and to be smooth within `reach` of 0."""

    def quotient(h: float) -> Slope:
        above, below = f(h), f(-h)
        return (above - below) / (2 * h), EPSILON * max(abs(above), abs(below)) / h

    found: list[Slope] = []
    for width in widths:
        starts = [start * width for start in STARTS if start * width <= reach]
        if len(starts) < len(STARTS):
            starts = [reach, 0.7 * reach, reach / 100, *starts]
        found += extrapolations(quotient, starts, 2)
    return best_of(found)


def one_sided(f: Callable[[float], float], width: float) -> Slope:
    """The slope at 0 on the side to which the steps of `width` go; infinite over a jump, where half a step changes as much."""
    here = f(0.0)

    def quotient(h: float) -> Slope:
        there = f(h)
        return (there - here) / h, EPSILON * max(abs(there), abs(here)) / abs(h)

    whole, half = quotient(width)[0], quotient(width / 2)[0]
    if half and abs(half - 2 * whole) <= 1e-3 * abs(half):
        return math.copysign(math.inf, half), 0.0
    return best_of(extrapolations(quotient, [width, width / 2, width / 4], 1))


def extrapolations(quotient: Callable[[float], Slope], starts: list[float], order: int) -> list[Slope]:
    """The slope from each of `starts`, until two of them agree."""
    found: list[Slope] = []
    for start in starts:
        found.append(extrapolated(quotient, start, SHRINK**order))
        slope, error = best_of(found)
        if error <= 1e-7 * abs(slope):
            break
    return found


def best_of(found: list[Slope]) -> Slope:
    """The slope on which steps of two sizes agree best: it is known no better than they do, or than another allows that
    seems known and contradicts it."""
    pairs = [(a, b) if a[1] <= b[1] else (b, a) for a, b in pairwise(found)]
    known = [(a[0], max(a[1], abs(a[0] - b[0]))) for a, b in pairs if math.isfinite(a[1] + b[1])]
    best, error = min(known, key=lambda pair: pair[1], default=(math.nan, math.inf))
    for slope, uncertainty in known:
        if uncertainty <= 1e-2 * abs(slope) and abs(slope - best) > 10 * (error + uncertainty):
            error = max(error, abs(slope - best))
    return best, error


def extrapolated(quotient: Callable[[float], Slope], start: float, power: float) -> Slope:
    """The slope from steps that shrink from `start`, and an estimate of its error; the errors of the quotients are a
    series in powers of the step, of which one falls by `power` a step more than the one before it."""
    best, error = math.nan, math.inf
    before: list[float] = []
    h = start
    for i in range(STEPS):
        slope, rounding = quotient(h)
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
    """The program as a function of one source, its result summed, by a kernel where one has found the derivatives."""

    def __init__(self, evaluation: Any, name: str) -> None:
        self.evaluation = evaluation
        self.name = name
        self.x = as_operand(evaluation.point[name])
        self.complex = is_complex(self.x)
        self.size = int(getattr(plain(self.x), "size", 1))
        self.here = None if self.x.__class__ is str else self.branches(self.x)

    def value(self, i: int, step: Any) -> Any:
        """The sum of the result's elements with `step` added to flat element `i`; nan where there is none, as where a
        matrix is singular."""
        x = self.shifted(i, step)
        point = {**self.evaluation.point, self.name: x}
        if is_complex(x) and not self.complex and STATE.weak_float is WEAK_FLOAT:
            # An array of float64 is as one of a list's numbers, which meets complex numbers.
            for name, y in point.items():
                if y.__class__ is Tensor and y.dtype is FLOAT64 and y.on is None:
                    point[name] = Tensor(y.value, WEAK_FLOAT)
        found = by_kernel(self.evaluation, point) if self.evaluation.outcome.engine == "kernel" else None
        if found is None:
            if is_complex(x) and not self.complex:
                MEETING.update(FLOATS_AND_COMPLEX)
            try:
                found = attempted(lambda: self.evaluation.result_of(point))
            finally:
                MEETING.clear()
        result = math.nan if found is None else plain(self.evaluation.numeric(found)[0])
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

    def branches(self, x: Any) -> Any:
        """What a run with the source replaced chooses; None where that cannot be told."""
        point = self.evaluation.point
        return attempted(lambda: branches_of(lambda source: self.evaluation.result_of({**point, self.name: source}), x))

    def stays(self, i: int, steps: list[Any], here: Any) -> bool:
        """Whether steps in an element lead to places on the piece of a run."""
        found = (self.branches(self.shifted(i, step)) for step in steps)
        return here is not None and all(there is not None and same_branches(here, there) for there in found)

    def reach(self, i: int, unit: Any) -> float:
        """A step in an element, near the largest, that stays on the piece of the point; 0 where none does."""
        here = self.here
        if here is None or not (here.choices or here.distances):
            return math.inf
        both = [part * unit for part in (1.0, -1.0, 0.7, -0.7)]
        widths = self.widths(i)
        h = first = STARTS[0] * max(widths)
        while not self.stays(i, [h * part for part in both], here):
            h /= 2
            if not max(EPSILON * min(widths), NARROWEST) <= h < math.inf:  # nan or infinite where the input is
                return 0.0
        if h == first:
            return math.inf
        return next((k * h for k in (1.8, 1.5, 1.2) if self.stays(i, [k * h * part for part in both], here)), h)

    def side(self, i: int, unit: Any, sign: float) -> float:
        """A step to one side of a kink such that it and smaller ones are on one piece; 0 where none is found."""
        for part in STARTS[1:]:
            h = sign * part * min(self.widths(i))
            if self.stays(i, [0.7 * h * unit, 0.02 * h * unit], self.branches(self.shifted(i, h * unit))):
                return h
        return 0.0


def attempted(run: Callable[[], Any]) -> Any:
    """What a run of the program gives; None where it ends with an error, unless that is a limit."""
    RECORDERS.clear()
    try:
        return run()
    except AdiffError as error:
        if error.code.startswith("E06"):
            raise
        return None


def by_kernel(evaluation: Any, point: dict[str, Any]) -> Any:
    """The result by a kernel, or None where the tape is to give it."""
    from .kernels.compile.run import Failed
    from .kernels.inputs import Request
    from .kernels.ir import Unsupported

    try:
        return evaluation.program.kernels.find(point, Request("value"))(point).value
    except (Unsupported, Failed):
        return None
