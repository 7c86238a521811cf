"""What signatures say of tensors: nothing is checked by it."""

from __future__ import annotations

from ..core.tensor import Tensor
from ..ops.structure import as_dtype
from .kind import Kind

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, ClassVar


class TensorSpec(Kind):
    """The shape and the dtype of a tensor; `ragged` where a result may be a RaggedTensor."""

    __slots__ = ("dtype", "ragged", "shape")
    description = "a TensorSpec"
    attributes: ClassVar[dict[str, Any]] = {"shape": lambda spec: spec.shape, "dtype": lambda spec: spec.dtype}

    def __init__(self, shape: Any, dtype: Any, ragged: bool = False) -> None:
        self.shape = shape
        self.dtype = as_dtype(dtype or "float32")
        self.ragged = ragged

    def text(self, show: Callable[[Any], str]) -> str:
        return f"{'Ragged' * self.ragged}TensorSpec(shape={show(self.shape)}, dtype={show(self.dtype)})"


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "is_tensor": lambda x: x.__class__ is Tensor or getattr(x, "read_value", None) is not None,
    "RaggedTensorSpec": lambda shape=None, dtype=None, ragged_rank=None, row_splits_dtype=None: TensorSpec(
        shape, dtype, True
    ),
    "SparseTensorSpec": lambda shape=None, dtype=None: TensorSpec(shape, dtype),
    "TensorSpec": lambda shape=None, dtype=None: TensorSpec(shape, dtype),
}
