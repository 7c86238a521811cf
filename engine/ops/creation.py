"""Tensors from nothing but sizes and numbers. Those made of float arguments carry their gradients."""

from __future__ import annotations

import math

from ..core import limits
from ..core.dtypes import WEAK_FLOAT, DType
from ..core.errors import failure
from ..core.operands import as_operand, counted, plain
from ..core.state import STATE
from ..core.tensor import OPERATORS, Tensor
from .operation import Operation, composite, linear, no_tangent, static
from .reductions import reduce_sum
from .structure import as_dtype, broadcast_to, cast_to
from .support import (
    as_shape,
    axis_of,
    beside,
    count,
    shape_of,
    to_front,
    whole,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def _made_dtype(op: Operation, dtypes: list[DType], attributes: Any) -> tuple[DType, DType]:
    """The dtype that was asked for; without one the default float, weak so that it adopts what it meets."""
    asked = attributes["dtype"]
    dtype = STATE.weak_float if asked is None else as_dtype(asked)
    return dtype, dtype


def checked_shape(shape: Any, itemsize: int = 8) -> tuple[int, ...]:
    sizes = as_shape(shape)
    limits.allocate(count(sizes), itemsize)
    return sizes


def _constant_row(name: str, doc: str, value: float, aliases: str = "") -> Operation:
    return no_tangent(
        name, "| shape, dtype=None",
        array=lambda np, shape, dtype: getattr(np, name)(checked_shape(shape), as_dtype(dtype or "float64").name),
        dtype=_made_dtype, aliases=aliases, doc=doc, example=(f"{name}(2)", [value, value]), reason="a constant",
    )  # fmt: skip


zeros = _constant_row("zeros", "A tensor of zeros.", 0.0, "empty")
ones = _constant_row("ones", "A tensor of ones.", 1.0)


def _full(shape: Any, fill_value: Any, dtype: Any = None) -> Any:
    value = as_operand(fill_value)
    value = value if dtype is None else cast_to(value, dtype=dtype)
    return broadcast_to(value, shape=checked_shape(static(as_operand(shape))))


full = composite(
    "full", "shape, fill_value | dtype=None", _full, aliases="fill", doc="A tensor of one value.",
    example=("full(2, 7)", [7, 7]),
)  # fmt: skip


def _eye(np: Any, n: Any, m: Any, k: Any, batch_shape: Any, dtype: Any) -> Any:
    rows, columns = as_shape([n, n if m is None else m])
    batch = () if batch_shape is None else as_shape(batch_shape)
    limits.allocate(count(batch) * rows * columns)
    return np.broadcast_to(np.eye(rows, columns, k), (*batch, rows, columns)).copy()


eye = no_tangent(
    "eye", "| n, m=None, k=0, batch_shape=None, dtype=None", array=_eye, dtype=_made_dtype,
    aliases="np.identity jnp.identity", doc="The identity matrix, or ones on another diagonal.",
    example=("eye(2)", [[1.0, 0.0], [0.0, 1.0]]), reason="a constant",
)  # fmt: skip


# --- evenly spaced --------------------------------------------------------------------------------------------------


def _linspace(np: Any, start: Any, stop: Any, num: int, endpoint: bool, axis: int) -> Any:
    return np.linspace(start, stop, num, endpoint=endpoint, axis=axis)


def _linspace_back(g: Any, y: Any, start: Any, stop: Any, num: int, endpoint: bool, axis: int) -> tuple[Any, Any]:
    lines, strong = to_front(g, (axis % len(shape_of(y)),)), OPERATORS.strong_multiply
    gaps = max(num - 1 if endpoint else num, 1)
    # How far each place is between the ends.
    far = OPERATORS.reshape(ramp(0.0, 1.0, num=num) / gaps, shape=(-1, *[1] * (len(shape_of(lines)) - 1)))
    far = beside(far, lines)
    return (
        # The ends do not depend on one another: nothing of an infinite cotangent passes.
        reduce_sum(strong(1.0 - far, lines), axis=0),
        reduce_sum(strong(far, lines), axis=0),
    )


linspace_row = linear(
    "linspace_points", "start, stop | num, endpoint, axis", _linspace_back, array=_linspace, dtype="float",
    kernel=lambda k, start, stop, num, endpoint, axis: k.linspace(start, stop, num, endpoint, axis), internal=True,
    doc="What linspace is made of.", example=("linspace_points(0.0, 1.0, 3, False, 0)", [0.0, 1 / 3, 2 / 3]),
)  # fmt: skip


def _linspace_function(start: Any, stop: Any, num: Any = 50, endpoint: Any = True, axis: Any = 0) -> Any:
    start, stop = as_operand(start), as_operand(stop)
    points = whole("linspace", "num", num, 0)
    limits.allocate(points)
    rank = max(len(shape_of(start)), len(shape_of(stop))) + 1
    return linspace_row(start, stop, num=points, endpoint=bool(endpoint), axis=axis_of("linspace", axis, rank))


linspace = composite(
    "linspace", "start, stop, num=50 | endpoint=True, axis=0", _linspace_function, aliases="lin_space",
    doc="Evenly spaced numbers from start to stop, both included; the gradient flows to both.",
    example=("linspace(0, 1, 3)", [0.0, 0.5, 1.0]),
)  # fmt: skip


def _ramp(np: Any, start: Any, step: Any, num: int) -> Any:
    return start + np.arange(num) * step


def _ramp_back(g: Any, y: Any, start: Any, step: Any, num: int) -> tuple[Any, Any]:
    import numpy as np

    return reduce_sum(g), reduce_sum(g * Tensor(np.arange(num, dtype="float64"), WEAK_FLOAT))


ramp = linear(
    "ramp", "start, step | num", _ramp_back, array=_ramp, dtype="promote", accepts="if", code="element", internal=True,
    doc="start, start + step, start + 2*step, ...: what arange is made of.", example=("ramp(1, 2, 3)", [1, 3, 5]),
)  # fmt: skip


def _arange(start: Any, stop: Any = None, step: Any = 1, dtype: Any = None) -> Any:
    if stop is None:
        start, stop = 0, start
    start, stop, step = as_operand(start), counted(as_operand(stop)), as_operand(step)
    first, last, width = plain(start), plain(stop), plain(step)
    for value in (first, last, width):
        if getattr(value, "ndim", 0) or value.__class__ in (complex, str):
            raise failure("E0304", "arange takes real numbers, not tensors of more than one element")
    if width == 0:
        raise failure("E0401", "arange: the step cannot be 0")
    # Floats join with integers by the usual rule, so that arange(0, x, 1) has the dtype of x.
    zero = OPERATORS.stop_gradient(stop) * 0
    points = max(0, math.ceil((last - first) / width))
    limits.allocate(points)
    found = ramp(start + zero, step + zero, num=points)
    return found if dtype is None else cast_to(found, dtype=dtype)


arange = composite(
    "arange", "start, stop=None, step=1 | dtype=None", _arange, aliases="tf.range",
    doc="start, start + step, ... as long as they are below stop; arange(n) counts from 0.",
    example=("arange(1, 6, 2)", [1, 3, 5]),
)  # fmt: skip
