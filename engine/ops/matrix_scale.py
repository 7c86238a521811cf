"""Powers of four that bring matrices of extreme numbers to ordinary size before they are factored.

Products of their elements would leave the floats, or lose their digits among the subnormal numbers. Kernels leave such
matrices to the tape (kernels/operations/array_loops.py), so that there is one definition.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

# A matrix is factored as it is where the largest of its elements is up to this power of two, and down to its inverse.
BITS, BITS_OF_FLOAT32 = 400, 60
# How the results of functions of matrices grow with a factor of the matrix, in halves of its exponent.
FIXED, ROOT, LINEAR, INVERSE = 0, 1, 2, -2


def scaled(np: Any, x: Any) -> tuple[Any, Any]:
    """Matrices without extreme numbers, and for each the even exponent of the power of two that was taken out; None
    where all are as they were. A matrix stays as it is where the smallest of its elements would lose digits."""
    bits = BITS_OF_FLOAT32 if x.dtype.name in ("float32", "complex64") else BITS
    sizes = np.maximum(np.abs(x.real), np.abs(x.imag)) if x.dtype.kind == "c" else np.abs(x)
    largest = np.max(sizes, axis=(-2, -1), initial=0.0)
    extreme = ((largest > 2.0**bits) & (largest < np.inf)) | ((largest < 2.0**-bits) & (largest > 0.0))
    if not extreme.any():
        return x, None
    exponents = np.frexp(largest)[1]
    exponents = np.where(exponents > 0, exponents - bits, exponents)
    exponents = np.where(extreme, exponents + exponents % 2, 0)
    exact = (shifted(np, shifted(np, x, -exponents), exponents) == x).all((-2, -1))
    exponents = np.where(exact, exponents, 0)
    return shifted(np, x, -exponents), exponents


def shifted(np: Any, x: Any, exponents: Any) -> Any:
    """Matrices, or vectors or numbers of which each belongs to one, times powers of two."""
    exponents = np.reshape(exponents, np.shape(exponents) + (1,) * (np.ndim(x) - np.ndim(exponents)))
    if x.dtype.kind != "c":
        return np.ldexp(x, exponents)
    found = np.empty(x.shape, dtype=x.dtype)
    found.real, found.imag = np.ldexp(x.real, exponents), np.ldexp(x.imag, exponents)
    return found


def factored(np: Any, x: Any, function: Callable[[Any], Any], *growth: int) -> Any:
    """A function of matrices, applied to scaled ones; `growth` of each of its results."""
    x, exponents = scaled(np, x)
    found = function(x)
    if exponents is None:
        return found
    halves = exponents // 2
    if found.__class__ is not tuple:
        return shifted(np, found, growth[0] * halves)
    return tuple(shifted(np, part, power * halves) if power else part for part, power in zip(found, growth))
