"""The default dtypes of TensorFlow and NumPy: what bare numbers become where a prefix says whose defaults hold."""

from __future__ import annotations

from ..core.dispatch import integer_fit
from ..core.dtypes import INT32, WEAK_COUNT, numpys
from ..core.errors import failure
from ..core.operands import as_operand, operand_dtype
from ..core.tensor import OPERATORS, Tensor
from .creation import arange, eye, full, linspace, ones, zeros
from .gathering import count_nonzero
from .operation import Operation, composite
from .sorting import argmax, argmin, searchsorted
from .structure import as_dtype, cast_to, constant, ones_like, zeros_like
from .support import as_shape, operand_shape, shape_of, with_default_dtype

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def _constant(value: Any, dtype: Any = None, shape: Any = None) -> Any:
    """An array keeps its dtype, as in TensorFlow; a number, a list and what is made of them have none of their own."""
    x = as_operand(value)
    own = operand_dtype(x)
    array = value.__class__ is Tensor and bool(value.ndim)
    if dtype is not None:
        target = as_dtype(dtype)
        exact = target.kind == "i" and own.kind in "fc" and own is not WEAK_COUNT
        if (not own.weak and own is not target and own.kind not in "bs") or (
            own.weak and exact and not array and 0 not in shape_of(x)
        ):
            raise failure(
                "E0301", f"constant cannot turn {own.name} into {target.name}: dtypes do not change by themselves",
                f"write cast(x, {target.name})", exception="TypeError",
            )  # fmt: skip
        if x.__class__ is int:
            integer_fit(x, target.name)
        found = cast_to(x, dtype=target)
    else:
        found = constant(x) if array else with_default_dtype(x)
    if shape is None:
        return found
    sizes = as_shape(shape)
    if shape_of(found) == ():
        return full(sizes, found)
    return OPERATORS.reshape(found, shape=sizes)


def _shape(x: Any, out_type: Any = None) -> Any:
    return cast_to(list(operand_shape(x)), dtype=INT32 if out_type is None else as_dtype(out_type))


def _numpy_array(value: Any, dtype: Any = None) -> Any:
    """NumPy's arrays adopt the dtype of the tensors they meet, as TensorFlow has it."""
    x = as_operand(value)
    return x if dtype is None else cast_to(x, dtype=numpys(as_dtype(dtype)))


def of_numpy(x: Any) -> Any:
    """What a function of `np.` gives: it adopts the dtype of the tensors that it meets."""
    dtype = operand_dtype(x)
    target = numpys(dtype)
    return x if target is dtype else cast_to(x, dtype=target)


def _with_defaults(row: Operation, prefix: str = "tf", defaults: Any = with_default_dtype) -> Operation:
    """The row as `tf.` or `np.` has it."""
    return composite(
        f"{prefix}.{row.name}", row.signature, lambda *inputs, **static: defaults(row(*inputs, **static)),
        doc=row.doc, example=row.example, internal=True,
    )  # fmt: skip


# By the names of the rows that they replace under a prefix.
TENSORFLOW: dict[str, Operation] = {
    row.name: _with_defaults(row)
    for row in (
        arange, eye, full, linspace, ones, ones_like, zeros, zeros_like
    )
}  # fmt: skip
TENSORFLOW["constant"] = composite(
    "tf.constant", "value | dtype=None, shape=None", _constant, internal=True,
    doc="A tensor of TensorFlow's dtypes: float32 or int32 where the value has none.", example=("tf.constant(2)", 2),
)  # fmt: skip
TENSORFLOW["shape"] = composite(
    "tf.shape", "input | out_type=None", _shape, internal=True,
    doc="The sizes of a tensor along its axes, as a tensor.", example=("tf.shape([[1, 2, 3], [4, 5, 6]])", [2, 3]),
)  # fmt: skip
# What a function of `tf.` gives that is called with literals alone: tf.sqrt(2.0) is a float32.
WITH_DEFAULT_DTYPE = composite(
    "tf.with_default_dtype", "x", with_default_dtype, internal=True,
    doc="A result with TensorFlow's dtype where its own is a bare number's.",
    example=("tf.constant(2)", 2),
)  # fmt: skip
NUMPY: dict[str, Operation] = {
    "constant": composite(
        "np.array", "value | dtype=None", _numpy_array, internal=True,
        doc="A NumPy array: it adopts the dtype of what it meets.", example=("np.array([1.0])", [1.0]),
    ),
    **{row.name: _with_defaults(row, "np", of_numpy) for row in (
        arange, eye, full, linspace, ones, ones_like, zeros, zeros_like, argmax, argmin, count_nonzero, searchsorted
    )},
}  # fmt: skip
