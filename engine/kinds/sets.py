"""`tf.sets`: the last axis of a tensor, SparseTensor or RaggedTensor as sets, in rows of any number of axes."""

from __future__ import annotations

import numpy as np

from ..core.dtypes import STRING, STRONG, DType
from ..core.errors import failure
from ..core.operands import plain, shape_text, tensor
from ..core.tensor import Tensor, count
from .sparse import SparseTensor, keys, places

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Sets = tuple[dict[int, set[Any]], tuple[int, ...], DType]


def sets_of(name: str, x: Any) -> Sets:
    """The set of each row by its place, the shape of the rows, and the dtype."""
    if hasattr(x, "method_to_sparse"):
        x = x.method_to_sparse()
    if x.__class__ is not SparseTensor:
        x = tensor(x)
    values = x.values if x.__class__ is SparseTensor else x
    if values.dtype.kind not in "is":
        raise failure(
            "E0301", f"{name}: sets are of integers or strings, and these are of {values.dtype.name}",
            "write cast(x, int64)",
        )  # fmt: skip
    if not x.shape:
        raise failure("E0302", f"{name}: a scalar is no set", "the sets are the rows of the last axis")
    shape = x.shape[:-1]
    if x.__class__ is SparseTensor:
        rows = keys(x.indices[:, :-1], shape)
    else:
        rows = np.repeat(np.arange(count(shape)), x.shape[-1])
    found: dict[int, set[Any]] = {}
    for row, value in zip(rows.tolist(), plain(values).reshape(-1).tolist()):
        found.setdefault(row, set()).add(value)
    return found, shape, values.dtype


def joined(name: str, a: Any, b: Any, join: Callable[[set[Any], set[Any]], set[Any]]) -> SparseTensor:
    """The sets that `join` makes of those of a and b, in order along the last axis."""
    (left, shape, dtype), (right, other, other_dtype) = sets_of(name, a), sets_of(name, b)
    if shape != other:
        raise failure(
            "E0302", f"{name}: rows of shape {shape_text(shape)} and {shape_text(other)} must be as many",
            "shapes must be equal but for the last axis",
        )  # fmt: skip
    if dtype.kind != other_dtype.kind or not (dtype.weak or other_dtype.weak or dtype is other_dtype):
        raise failure("E0301", f"{name}: sets of {dtype.name} and of {other_dtype.name} do not mix")
    dtype = other_dtype if dtype.weak else dtype
    rows, members = [], []
    for row in sorted(left.keys() | right.keys()):
        for place, member in enumerate(sorted(join(left.get(row, set()), right.get(row, set())))):
            rows.append((row, place))
            members.append(member)
    at = np.array(rows, dtype="int64").reshape(-1, 2)
    longest = int(at[:, 1].max(initial=-1)) + 1
    values = np.array(members, dtype=object if dtype is STRING else dtype.name)
    indices = np.concatenate([places(at[:, 0], shape), at[:, 1:]], axis=1)
    return SparseTensor(indices, Tensor(values, dtype), (*shape, longest))


def difference(a: Any, b: Any, aminusb: Any = True, validate_indices: Any = True) -> SparseTensor:
    first, second = (a, b) if aminusb else (b, a)
    return joined("sets.difference", first, second, set.difference)


def size(a: Any, validate_indices: Any = True) -> Any:
    """The number of distinct elements of each row."""
    found, shape, _ = sets_of("sets.size", a)
    sizes = np.zeros(count(shape), dtype="int32")
    for row, members in found.items():
        sizes[row] = len(members)
    return Tensor(sizes.reshape(shape), STRONG["int32"]) if shape else int(sizes[0])


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "sets.difference": difference,
    "sets.intersection": lambda a, b, validate_indices=True: joined("sets.intersection", a, b, set.intersection),
    "sets.size": size,
    "sets.union": lambda a, b, validate_indices=True: joined("sets.union", a, b, set.union),
}
