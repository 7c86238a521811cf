"""Sums of products beside nan and infinities: zeros of cotangents are strong, and every product is rounded.

BLAS forms every term, those of zeros too, and fuses products with sums. Where its result shows that this may matter, the
sum of the finite factors is found alone, and terms that are not finite are counted.
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


def may_overflow(np: Any, a: Any, b: Any) -> bool:
    """Whether the product of two finite elements may be beyond the floats."""
    sizes = [np.abs(x[np.isfinite(x)]).max(initial=0.0) for x in (a, b)]
    return not np.isfinite(sizes[0] * sizes[1])


def beside_infinities(np: Any, found: Any, a: Any, b: Any, strong: str, times: Callable[[Any, Any], Any]) -> Any:
    """A bilinear sum of products of real factors that are not all finite, which `times` has `found`: with strong zeros in
    the place of its nans, and nan where an infinity meets a product that overflows to the other one."""
    doubtful = np.isnan(found) & (bool(strong) and may_differ(np, a, b, strong))
    if np.isinf(found).any() and may_overflow(np, a, b):
        doubtful |= np.isinf(found)
    if not doubtful.any():
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
    exact = exact + np.where(up > 0, np.inf, 0.0) - np.where(down > 0, np.inf, 0.0)
    return np.where(doubtful, np.where(lost > 0, np.nan, exact), found).astype(found.dtype)[()]


__all__ = ["NEITHER", "beside_infinities"]
