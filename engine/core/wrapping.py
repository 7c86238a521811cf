"""Integers of a fixed size that wrap around: NumPy's and TensorFlow's do so in silence, here a notice says it."""

from __future__ import annotations

from .state import STATE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..ops.operation import Operation
    from .dtypes import DType


def tell_wrapped(op: Operation, values: list[Any], attributes: dict[str, Any] | None, value: Any, dtype: DType) -> None:
    """Say so if the integers of `value` are not those that the operation has: they differ by multiples of 2**bits."""
    import numpy as np

    arrays = [np.asarray(v) for v in values]
    if not all(a.size and a.dtype.kind in "bi" for a in arrays):
        return
    sizes = [max(abs(float(a.max())), abs(float(a.min()))) for a in arrays]
    unsigned = dtype.name[0] == "u"
    half = 2.0**dtype.bits if unsigned else 2.0 ** (dtype.bits - 1)
    if op.largest and op.largest(sizes, arrays[0].size) < half and not unsigned:
        return
    with np.errstate(all="ignore"):
        exact = op.array(np, *[a.astype(float) for a in arrays], **(attributes or {}))  # type: ignore[misc]
        wrapped = np.abs(exact - np.asarray(value, dtype=float)) >= 2.0 ** (dtype.bits - 1)
    if wrapped.any():
        name = op.name.removesuffix("_along")
        STATE.notify(
            "N0302",
            f"{name} does not fit {dtype.name} and wraps around, as in NumPy: cast to float64 for larger numbers",
        )
