"""Discrete Fourier transforms, NumPy's. They are linear, and their matrices F symmetric: the adjoint of F is
g -> conj(F(conj(g))).
"""

from __future__ import annotations

from ..core.errors import failure
from ..core.operands import shown
from ..core.tensor import conjugate, is_complex
from .complex import real
from .operation import Operation, linear
from .sorting import weak
from .structure import index, index_scatter
from .support import axis_of, results, shape_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def resized(x: Any, axis: int, size: int) -> Any:
    """`x` cut along an axis, or filled up with zeros."""
    shape = shape_of(x)
    axis %= len(shape)
    part = (*[slice(None)] * axis, slice(0, min(size, shape[axis])))
    if size <= shape[axis]:
        return x if size == shape[axis] else index(x, index=part)
    return index_scatter(x, shape=(*shape[:axis], size, *shape[axis + 1 :]), index=part)


def length(name: str, x: Any, n: Any, axis: Any) -> tuple[int | None, int]:
    """The length that is asked for (TensorFlow's is a list of one), and the axis from the front."""
    if n.__class__ in (list, tuple) and len(n) == 1:
        n = n[0]
    if n is not None and (n.__class__ is not int or n < 1):
        raise failure("E0401", f"{name}: the length must be an integer of 1 or more, not {shown(n)}")
    return n, axis_of(name, axis, len(shape_of(x)))


def _array(name: str) -> Any:
    def array(np: Any, x: Any, n: Any, axis: int) -> Any:
        return getattr(np.fft, name)(x, *length(name, x, n, axis))

    return array


def _transform(name: str, doc: str, example: Any, aliases: str) -> Operation:
    def transpose(g: Any, y: Any, x: Any, n: Any, axis: int) -> Any:
        back = resized(conjugate(row(conjugate(g), n=None, axis=axis)), axis, shape_of(x)[axis])
        return back if is_complex(x) else real(back)

    row: Operation = linear(
        name, "x | n=None, axis=-1", transpose, array=_array(name), dtype="complex", accepts="bifc", aliases=aliases,
        doc=doc, example=example,
    )  # fmt: skip
    return row


fft = _transform(
    "fft", "The discrete Fourier transform along an axis: sum over k of x[k]*exp(-2*pi*i*j*k/n).",
    ("fft([1, 0, 1, 0])", [2 + 0j, 0j, 2 + 0j, 0j]), "np.fft.fft jnp.fft.fft",
)  # fmt: skip
ifft = _transform(
    "ifft", "The inverse of fft.", ("ifft([2, 0, 2, 0])", [1 + 0j, 0j, 1 + 0j, 0j]), "np.fft.ifft jnp.fft.ifft"
)


def _rfft_transpose(g: Any, y: Any, x: Any, n: Any, axis: int) -> Any:
    n, axis = length("rfft", x, n, axis)
    n = n or shape_of(x)[axis]
    return resized(real(fft(conjugate(g), n=n, axis=axis)), axis, shape_of(x)[axis])


rfft = linear(
    "rfft", "x | n=None, axis=-1", _rfft_transpose, array=_array("rfft"), dtype="complex", accepts="bif",
    aliases="np.fft.rfft jnp.fft.rfft",
    doc="The first n//2 + 1 elements of the fft of a real tensor: the others are their conjugates.",
    example=("rfft([1, 0, 1, 0])", [2 + 0j, 0j, 2 + 0j]),
)  # fmt: skip


def _irfft_transpose(g: Any, y: Any, x: Any, n: Any, axis: int) -> Any:
    import numpy as np

    n, axis = length("irfft", x, n, axis)
    size = shape_of(g)[axis]
    weights = np.full(size // 2 + 1, 2.0 / size)  # all but the first, and the last of an even length, stand for two
    weights[0] = 1.0 / size
    if size % 2 == 0:
        weights[-1] = 1.0 / size
    weights = weights.reshape([-1] + [1] * (len(shape_of(g)) - 1 - axis))
    back = resized(rfft(g, axis=axis) * weak(weights), axis, shape_of(x)[axis])
    return back if is_complex(x) else real(back)


irfft = linear(
    "irfft", "x | n=None, axis=-1", _irfft_transpose, array=_array("irfft"), dtype=results("r", in_complex=True),
    accepts="bifc", aliases="np.fft.irfft jnp.fft.irfft",
    doc="The inverse of rfft: a real tensor of length n, 2*(m - 1) where none is given.",
    example=("irfft([2, 0, 2])", [1.0, 0.0, 1.0, 0.0]),
)  # fmt: skip
