"""Sequences along an axis: convolution, interpolation, polynomials, quadrature."""

from __future__ import annotations

from ..core.errors import failure, plural
from ..core.operands import as_operand, plain
from ..core.operation import Operation, composite, multilinear
from ..core.tensor import OPERATORS
from .gathering import take_rows
from .products import rounded_sums
from .reductions import mean, reduce_sum
from .shapes import flip
from .strong_products import NEITHER
from .structure import index, reshape, stack
from .support import (
    SQUARE,
    VECTOR,
    WIDE,
    axis_of,
    cases,
    conjugate,
    floating,
    is_complex,
    is_symbol,
    leave_unless,
    shape_of,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


# --- convolution ----------------------------------------------------------------------------------------------------


def _vectors(np: Any, name: str, a: Any, b: Any) -> tuple[Any, Any]:
    a, b = np.atleast_1d(a), np.atleast_1d(b)
    if a.ndim != 1 or b.ndim != 1 or not a.size or not b.size:
        raise failure("E0302", f"{name} takes two vectors, not shapes {list(a.shape)} and {list(b.shape)}")
    return a, b


def _overlaps(np: Any, a: Any, b: Any) -> Any:
    found = np.zeros(len(a) + len(b) - 1)
    for k, factor in enumerate(b):
        found[k : k + len(a)] += a * factor
    return found


def _convolve_full(np: Any, a: Any, b: Any, strong: str = NEITHER) -> Any:
    a, b = _vectors(np, "convolve", a, b)
    return rounded_sums(np, np.convolve, lambda x, y: _overlaps(np, x, y), a, b, strong)


def _correlate_valid(np: Any, a: Any, b: Any, strong: str = NEITHER) -> Any:
    def complete(x: Any, y: Any) -> Any:
        return np.convolve(x, y[::-1], "valid")

    def terms(x: Any, y: Any) -> Any:
        return _overlaps(np, x, y[::-1])[len(y) - 1 : len(x)]

    return rounded_sums(np, complete, terms, a, b, strong)


def _convolve_back(g: Any, y: Any, a: Any, b: Any, strong: str = NEITHER) -> tuple[Any, Any]:
    return (
        correlate_valid(g, conjugate(b), strong="ab" if "b" in strong else "a"),
        correlate_valid(g, conjugate(a), strong="ab" if "a" in strong else "a"),
    )


def _correlate_back(g: Any, y: Any, a: Any, b: Any, strong: str = NEITHER) -> tuple[Any, Any]:
    return (
        convolve_full(g, conjugate(b), strong="ab" if "b" in strong else "a"),
        correlate_valid(conjugate(a), g, strong="ab" if "a" in strong else "b"),
    )


convolve_full: Operation = multilinear(
    "convolve_full", "a, b | strong=''", _convolve_back,
    array=_convolve_full, accepts="ifc",
    domain=cases(((VECTOR, [0.5, -1.0]), {})), internal=True, depends="overlaps",
    doc="Every overlap of two vectors: sum_j a[k-j] b[j]; `strong` as of contract.",
    example=("convolve_full([1, 2], [1, 1])", [1, 3, 2]),
)  # fmt: skip
correlate_valid: Operation = multilinear(
    "correlate_valid", "a, b | strong=''", _correlate_back,
    array=_correlate_valid, accepts="ifc",
    domain=cases(((VECTOR, [0.5, -1.0]), {})), internal=True, depends="overlaps",
    doc="The complete overlaps of a with a vector b that is no longer: sum_j a[k+j] b[j], without conjugation; `strong` as "
    "of contract.",
    example=("correlate_valid([1, 2, 3], [1, 1])", [3, 5]),
)  # fmt: skip


def _part(full: Any, mode: Any, m: int, n: int, same: int) -> Any:
    """What a mode leaves of the overlaps of vectors of `m` and `n` elements; `same` is how many the mode of that name does."""
    if mode == "full":
        return full
    if mode == "same":
        start = (m + n - 1 - same) // 2
        return index(full, index=slice(start, start + same))
    if mode == "valid":
        return index(full, index=slice(min(m, n) - 1, max(m, n)))
    raise failure("E0305", f"convolve: unknown mode {mode!r}", "the modes are full, same and valid")


def _convolve(a: Any, b: Any, mode: Any = "full", first: bool = False) -> Any:
    """The convolution; of mode same as long as the `first` vector, or as the longer one."""
    a, b = [reshape(x, shape=(1,)) if not shape_of(x) else x for x in (as_operand(a), as_operand(b))]
    full, m, n = convolve_full(a, b), shape_of(a)[0], shape_of(b)[0]
    return _part(full, mode, m, n, m if first else max(m, n))


def _correlate(a: Any, b: Any, mode: Any = "valid") -> Any:
    return _convolve(a, conjugate(flip(as_operand(b))), mode)


convolve = composite(
    "convolve", "a, b | mode='full'", lambda a, b, mode="full": _convolve(a, b, mode),
    domain=cases(((VECTOR, [0.5, -1.0]), {}), ((VECTOR, [0.5, -1.0, 0.3]), {"mode": "same"})),
    doc="The discrete convolution of two vectors; mode full, same or valid.",
    example=("convolve([1, 2], [1, 1])", [1, 3, 2]),
)  # fmt: skip
scipy_convolve = composite(
    "scipy.signal.convolve", "in1, in2 | mode='full'", lambda in1, in2, mode="full": _convolve(in1, in2, mode, first=True),
    domain=cases((([0.5, -1.0], VECTOR), {"mode": "same"})),
    doc="convolve, of mode same as long as the first vector and not as the longer one.",
    example=("scipy.signal.convolve([1, 2], [1, 2, 3], 'same')", [4, 7]),
)  # fmt: skip
correlate = composite(
    "correlate", "a, b | mode='valid'", _correlate, domain=cases(((VECTOR, [0.5, -1.0]), {})),
    doc="The cross-correlation of two vectors: sum_j a[k+j] conj(b[j]).",
    example=("correlate([1, 2, 3], [1, 1])", [3, 5]),
)  # fmt: skip


# --- interpolation --------------------------------------------------------------------------------------------------


def _interp(x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None) -> Any:
    import numpy as np

    x, xp, fp = floating(x), floating(xp), floating(fp)
    if is_complex(x) or is_complex(xp):
        raise failure("E0301", "interp needs real points, and these are complex", "write real(x)")
    shape = shape_of(xp)
    if len(shape) != 1 or shape_of(fp) != shape or not shape[0]:
        raise failure("E0302", f"interp needs two vectors of one length, not {list(shape)} and {list(shape_of(fp))}")
    symbols = any(map(is_symbol, (x, xp, fp)))
    if symbols:
        if not shape_of(x):
            return index(_interp(OPERATORS.reshape(x, shape=(1,)), xp, fp, left, right), index=0)
        if shape[0] > 1:
            leave_unless(index(xp, index=slice(1, None)) - index(xp, index=slice(0, -1)) > 0.0)
    elif (np.diff(plain(xp)) <= 0).any():
        raise failure("E0401", "interp: the points xp must increase")
    first, last = index(fp, index=0), index(fp, index=-1)
    if shape[0] == 1:
        inside = first + 0.0 * x
    elif symbols:
        found = OPERATORS.searchsorted(xp, x, side="right") - 1
        inside = _between(x, xp, fp, OPERATORS.minimum(OPERATORS.maximum(found, 0), shape[0] - 2), index)
    else:
        low = np.clip(np.searchsorted(plain(xp), plain(x), "right") - 1, 0, shape[0] - 2)
        inside = _between(x, xp, fp, low, lambda v, index: take_rows(v, indices=index, axis=0))
    below, above = OPERATORS.less(x, index(xp, index=0)), OPERATORS.greater(x, index(xp, index=-1))
    where = OPERATORS.where
    return where(below, first if left is None else left, where(above, last if right is None else right, inside))


def _between(x: Any, xp: Any, fp: Any, low: Any, pick: Any) -> Any:
    """The straight line through the points `low` and `low` + 1."""
    x0, x1, y0, y1 = pick(xp, index=low), pick(xp, index=low + 1), pick(fp, index=low), pick(fp, index=low + 1)
    return y0 + (y1 - y0) * ((x - x0) / (x1 - x0))


interp = composite(
    "interp", "x, xp, fp, left=None, right=None", _interp,
    domain=cases(((0.9, [0.0, 0.5, 2.0], [1.0, -1.0, 3.0]), {}), (([0.2, 1.1], [0.0, 0.5, 2.0], [1.0, -1.0, 3.0]), {})),
    doc="Piecewise linear interpolation through the points (xp, fp), constant outside; at a point the right "
    "slope holds.",
    example=("interp(0.5, [0, 1], [10, 20])", 15.0),
)  # fmt: skip


# --- polynomials ----------------------------------------------------------------------------------------------------


def _polyval(p: Any, x: Any) -> Any:
    coefficients = as_operand(p)
    x = as_operand(x)
    if not shape_of(coefficients) or not shape_of(coefficients)[0]:
        raise failure("E0302", "polyval needs a vector of coefficients")
    total = OPERATORS.zeros_like(x) + index(coefficients, index=0)
    for k in range(1, shape_of(coefficients)[0]):
        total = total * x + index(coefficients, index=k)
    return total


def _vander(x: Any, n: Any = None, increasing: Any = False) -> Any:
    x = as_operand(x)
    if len(shape_of(x)) != 1:
        raise failure("E0302", f"vander takes a vector, not a tensor of {plural(len(shape_of(x)), 'dimension')}")
    columns = shape_of(x)[0] if n is None else n
    powers = [OPERATORS.ones_like(x)]
    for _ in range(1, columns):
        powers.append(powers[-1] * x)
    return stack(powers if increasing else powers[::-1], axis=1)


polyval = composite(
    "polyval", "p, x", _polyval, domain=cases((([1.0, -2.0, 0.5], 1.3), {}), (([1.0, -2.0, 0.5], VECTOR), {})),
    doc="The polynomial with coefficients p, the highest power first, at x.", example=("polyval([1, 2, 3], 2)", 11),
)  # fmt: skip
vander = composite(
    "vander", "x | n=None, increasing=False", _vander,
    domain=cases(((VECTOR,), {}), ((VECTOR,), {"n": 3, "increasing": True})),
    doc="The matrix of the powers of x, the highest first.", example=("vander([2, 3])", [[2, 1], [3, 1]]),
)  # fmt: skip


# --- quadrature and moments -----------------------------------------------------------------------------------------


def _trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: Any = -1) -> Any:
    y = floating(y)
    axis = axis_of("trapezoid", axis, len(shape_of(y)))
    before = (slice(None),) * axis
    sums = index(y, index=(*before, slice(1, None))) + index(y, index=(*before, slice(0, -1)))
    if x is None:
        return reduce_sum(sums, axis=axis) * dx * 0.5
    x = floating(x)
    if len(shape_of(x)) == 1:
        steps = index(x, index=slice(1, None)) - index(x, index=slice(0, -1))
        steps = OPERATORS.reshape(steps, shape=(-1,) + (1,) * (len(shape_of(y)) - 1 - axis))
    else:
        steps = index(x, index=(*before, slice(1, None))) - index(x, index=(*before, slice(0, -1)))
    return reduce_sum(sums * steps, axis=axis) * 0.5


trapezoid = composite(
    "trapezoid", "y, x=None, dx=1.0 | axis=-1", _trapezoid,
    aliases="trapz", domain=cases(((VECTOR, [0.0, 0.5, 1.5, 2.0]), {}), ((WIDE,), {"axis": 0})),
    doc="The integral of y by the trapezoidal rule, over points x or with spacing dx.",
    example=("trapezoid([1.0, 2.0, 3.0])", 4.0),
)  # fmt: skip


def _cov(m: Any, rowvar: Any = True, ddof: Any = 1) -> Any:
    m = floating(m)
    rows = m if len(shape_of(m)) == 2 else OPERATORS.reshape(m, shape=(1, -1))
    if not rowvar and shape_of(rows)[0] != 1:
        rows = OPERATORS.transpose(rows, axes=(1, 0))
    deviations = rows - mean(rows, axis=1, keepdims=True)
    product = OPERATORS.matmul(deviations, conjugate(OPERATORS.transpose(deviations, axes=(1, 0))))
    found = product / (shape_of(rows)[1] - ddof)
    return index(found, index=(0, 0)) if len(shape_of(m)) == 1 else found


def _corrcoef(m: Any, rowvar: Any = True) -> Any:
    covariance = _cov(m, rowvar)
    if not shape_of(covariance):
        return covariance / covariance
    sides = OPERATORS.sqrt(OPERATORS.diag_part(covariance))
    return covariance / (OPERATORS.reshape(sides, shape=(-1, 1)) * sides)


cov = composite(
    "cov", "m | rowvar=True, ddof=1", _cov, domain=cases(((SQUARE,), {}), ((WIDE,), {"rowvar": False})),
    doc="The covariance matrix of the rows of m, over n - 1.",
    example=("cov([[1.0, 3.0], [2.0, 6.0]])", [[2.0, 4.0], [4.0, 8.0]]),
)  # fmt: skip
corrcoef = composite(
    "corrcoef", "m | rowvar=True", _corrcoef, domain=cases(((SQUARE,), {})),
    doc="The matrix of correlation coefficients of the rows of m.",
    example=("corrcoef([[1.0, 2.0], [2.0, 1.0]])", [[1, -1], [-1, 1]]),
)  # fmt: skip
