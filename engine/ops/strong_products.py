"""Sums of products in which a cotangent's zeros are strong: 0 beside nan and infinities, term by term.

Of finite factors these are products of matrices as any other; what is said here is wanted where BLAS, which forms every
term, gave a nan.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

# Of two factors `a` and `b` those that are cotangents, by their names: "", "a", "b" or "ab".
NEITHER = ""


def may_differ(np: Any, a: Any, b: Any, strong: str) -> bool:
    """Whether a cotangent has a zero, and the other factor something beside which it is strong."""
    return any(
        name in strong and not np.all(factor) and not np.isfinite(other).all()
        for name, factor, other in (("a", a, b), ("b", b, a))
    )


def with_strong_zeros(np: Any, found: Any, a: Any, b: Any, strong: str, times: Callable[[Any, Any], Any]) -> Any:
    """A bilinear sum of products of real factors, `found` by `times`, with strong zeros in the place of its nans.

    The sum of the finite factors, and how many terms of either infinity and of nan there are beside it.
    """
    undefined = np.isnan(found)
    if not strong or not undefined.any() or not may_differ(np, a, b, strong):
        return found

    def count(x: Any, y: Any) -> Any:
        return times(x.astype(found.dtype), y.astype(found.dtype))

    infinite_a, infinite_b = np.isinf(a), np.isinf(b)
    up = count(infinite_a & (a > 0), b > 0) + count(infinite_a & (a < 0), b < 0)
    up = up + count(a > 0, infinite_b & (b > 0)) + count(a < 0, infinite_b & (b < 0))
    down = count(infinite_a & (a > 0), b < 0) + count(infinite_a & (a < 0), b > 0)
    down = down + count(a > 0, infinite_b & (b < 0)) + count(a < 0, infinite_b & (b > 0))
    lost = count(np.isnan(a), b != 0) + count(a != 0, np.isnan(b))
    if "a" not in strong:
        lost = lost + count(a == 0, ~np.isfinite(b))
    if "b" not in strong:
        lost = lost + count(~np.isfinite(a), b == 0)
    exact = times(np.where(np.isfinite(a), a, 0.0), np.where(np.isfinite(b), b, 0.0))
    exact = np.where(up > 0, np.inf, exact)
    exact = np.where(down > 0, np.where(up > 0, np.nan, -np.inf), exact)
    return np.where(undefined, np.where(lost > 0, np.nan, exact), found).astype(found.dtype)


__all__ = ["NEITHER", "with_strong_zeros"]
