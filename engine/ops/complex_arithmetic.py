"""Products of complex arrays, where a part may be infinite or nan.

As NumPy has them element by element, rounded after every operation: its vectors fuse products with sums, and BLAS multiplies
the result by 1 + 0j, each of which makes nan of what is beyond the floats.
"""

from __future__ import annotations

from .arithmetic import of_parts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


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
