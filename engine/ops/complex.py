"""Complex numbers: parts, conjugate, angle.

A real function of a complex z has the partial d/dRe - i d/dIm: its conjugate is the direction of steepest ascent, and
the real part of its product with a tangent is the change of the value (see the head of autodiff/pullback.py).
"""

from __future__ import annotations

import math

from ..core.tensor import OPERATORS
from .arithmetic import divide, everywhere, is_complex, of_parts
from .operation import Singular, elementwise, linear
from .support import real_of_float

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


conj = linear(
    "conj", "z", lambda g, y, z: conj(g), kernel=lambda k, z: z, scalar=lambda z: z, array=lambda np, z: np.conj(z),
    dtype="promote", aliases="conjugate", method=True, depends="elements", analytic=False,
    doc="The complex conjugate; a real number is its own.", example=("conj(1 + 2j)", 1 - 2j),
)  # fmt: skip
real = linear(
    "real", "z", lambda g, y, z: g, kernel=lambda k, z: z, scalar=lambda z: z, array=lambda np, z: np.real(z).copy(),
    dtype="real", depends="elements", analytic=False, doc="The real part.", example=("real(1 + 2j)", 1.0),
)  # fmt: skip
imag = linear(
    "imag", "z", lambda g, y, z: complex_of(0.0, g) if is_complex(z) else OPERATORS.zeros_like(g),
    scalar=lambda z: z.__class__(0), array=lambda np, z: np.imag(z).copy(), dtype="real", depends="elements",
    analytic=False, doc="The imaginary part; 0 for a real number.", example=("imag(1 + 2j)", 2.0),
)  # fmt: skip


def _complex(np: Any, re: Any, im: Any) -> Any:
    re, im = np.broadcast_arrays(re, im)
    return of_parts(np, re, im, np.result_type(re.dtype, np.complex64))


complex_of = linear(
    "complex", "re, im=0.0", lambda g, y, re, im: (real(g), imag(g)), array=_complex, dtype="complex", accepts="bif",
    domain=[(-3, 3), (-3, 3)], depends="elements", doc="The complex number re + i*im.", example=("complex(1, 2)", 1 + 2j),
)  # fmt: skip


def _angle_slope(y: Any, z: Any, deg: bool) -> Any:
    if not is_complex(z):
        return 0.0
    return divide(-1j * (180 / math.pi if deg else 1.0), z)


angle = elementwise(
    "angle", "z | deg=False", [_angle_slope], array=lambda np, z, deg: np.angle(z, deg=deg), dtype=real_of_float,
    aliases="phase", kernel="(math.atan2(0.0, {0}) * (57.29577951308232 if {deg} else 1.0))",
    singular=[Singular(lambda z: z == 0, "the angle is not differentiable at 0", **everywhere(0.0), subgradients="no limit")],
    analytic=False, doc="The angle of a complex number in (-pi, pi].", example=("angle(1j)", math.pi / 2),
)  # fmt: skip


# --- products of arrays in which a part may be infinite or nan --------------------------------------------------------
#
# As NumPy has them element by element, rounded after every operation: its vectors fuse products with sums, and BLAS multiplies
# the result by 1 + 0j, each of which makes nan of what is beyond the floats.


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
