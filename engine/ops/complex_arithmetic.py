"""Products and powers of complex arrays, where a part may be infinite or nan.

As NumPy has them element by element, rounded after every operation: its vectors fuse products with sums, BLAS multiplies
the result by 1 + 0j, and its powers begin with such a product, each of which makes nan of what is beyond the floats.
The kernels' formulas are the same (kernels/operations/complex_formulas.py).
"""

from __future__ import annotations

from .arithmetic import of_parts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

# Whole exponents below this one are products of squares.
WHOLE_POWERS = 100


def by_parts(np: Any, times: Callable[[Any, Any], Any], a: Any, b: Any, whole: Callable[[Any, Any], Any]) -> Any:
    """A bilinear product of complex arrays: `whole(a, b)`, or what `times` gives of the parts where that is not finite."""
    found = whole(a, b)
    if np.isfinite(found).all():
        return found
    re = times(a.real, b.real) - times(a.imag, b.imag)
    im = times(a.real, b.imag) + times(a.imag, b.real)
    return of_parts(np, re, im, found.dtype)


def of_real(np: Any, times: Callable[[Any, Any], Any], a: Any, b: Any) -> Any:
    """A real factor times both parts of the other."""
    parts = (times(a.real, b), times(a.imag, b)) if a.dtype.kind == "c" else (times(a, b.real), times(a, b.imag))
    return of_parts(np, *parts, np.result_type(a, b))


def product(np: Any, a: Any, b: Any) -> Any:
    """a*b, element by element."""
    if a.dtype.kind != "c" or b.dtype.kind != "c":
        return of_real(np, np.multiply, a, b)
    return by_parts(np, np.multiply, a, b, np.multiply)


def strong_product(np: Any, g: Any, p: Any, both: bool = False) -> Any:
    """g*p, where a part of g, or of `both`, that is 0 takes no part in the product beside one that is not finite."""

    def times(u: Any, v: Any) -> Any:
        zero = np.equal(u, 0) | np.equal(v, 0) if both else np.equal(u, 0)
        return np.where(zero, 0.0, np.multiply(u, v))

    if g.dtype.kind != "c" or p.dtype.kind != "c":
        return of_real(np, times, g, p)
    return by_parts(np, times, g, p, np.multiply)


def power(np: Any, a: Any, b: Any) -> Any:
    """a**b: products for small whole exponents, else exp(b*log(a)), where a real b multiplies both parts."""
    if b.ndim == 0:
        return whole_power(np, a, int(b.real)) if is_small(np, b) else general_power(np, a, b)
    a, b = np.broadcast_arrays(a, b)
    found = np.empty(a.shape, a.dtype)
    small = is_small(np, b)
    found[~small] = general_power(np, a[~small], b[~small])
    for n in np.unique(b.real[small]):
        here = small & (b.real == n)
        found[here] = whole_power(np, a[here], int(n))
    return found


def is_small(np: Any, b: Any) -> Any:
    """Where an exponent is whole, real, and small enough for products."""
    return (b.imag == 0) & (np.abs(b.real) < WHOLE_POWERS) & (b.real == np.floor(b.real))


def whole_power(np: Any, a: Any, n: int) -> Any:
    """Products of squares; one over them for a negative exponent, and nan at 0."""
    found, factor, rest = None, a, abs(n)
    while rest:
        if rest & 1:
            found = factor if found is None else product(np, found, factor)
        rest >>= 1
        if rest:
            factor = product(np, factor, factor)
    if found is None:
        return np.ones_like(a)
    if n > 0:
        return found
    return np.where(np.equal(a, 0), complex(np.nan, np.nan), np.divide(found.dtype.type(1), found))


def general_power(np: Any, a: Any, b: Any) -> Any:
    """exp(b*log(a)); at 0 it is 0 or nan."""
    log = np.log(a)
    general, on_axis = product(np, b, log), np.equal(b.imag, 0)
    re = np.where(on_axis, b.real * log.real, general.real)
    im = np.where(on_axis, b.real * log.imag, general.imag)
    at_zero = np.where(np.greater(b.real, 0), 0, complex(np.nan, np.nan))
    return np.where(np.equal(a, 0), at_zero, np.exp(of_parts(np, re, im, a.dtype)))
