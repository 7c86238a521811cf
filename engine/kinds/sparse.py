"""SparseTensor: the entries of a tensor that are given, each with its place; all others are zero, or missing."""

from __future__ import annotations

from ..core.dtypes import STRONG
from ..core.errors import failure
from ..core.operands import as_operand, plain, shape_text, tensor
from ..core.tensor import OPERATORS, Tensor, count, shape_of
from ..core.wording import index_in
from ..ops.support import as_shape, integers
from .kind import Kind

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any, ClassVar

    from ..core.operation import Operation

# The rows of one input that apply to the values: each is 0 at 0, or keeps what it is given.
MAPPED = frozenset(
    "abs negative sign square sqrt erf tanh i0e i1e cast identity stop_gradient round floor ceil".split()
)
# The functions of `sparse.` that do what rows of other names do to tensors.
SPARSE_NAMES = {
    "@": "sparse.sparse_dense_matmul",
    "sum": "sparse.reduce_sum",
    "max": "sparse.reduce_max",
    "-": "sparse.add",
    "index": "sparse.slice",
}

SIZES: dict[str, Callable[[Any], Any]] = {
    "shape": lambda s: int64(s.shape),
    "size": lambda s: count(s.shape),
    "ndim": lambda s: len(s.shape),
}
# The functions of engine/library/kinds/sparse.adiff that a program may have meant by a row.
TAKEN = frozenset(
    """
    add concat expand_dims maximum minimum reduce_max reduce_sum reshape segment_mean segment_sum slice softmax
    sparse_dense_matmul split transpose
    """.split()
)


class SparseTensor(Kind):
    """`indices` of shape (entries, rank), `values` of shape (entries,), and the full `shape`.

    `values` is a tensor that tapes follow; in results of the sparse Hessian it is an array.
    """

    __slots__ = ("indices", "shape", "values")
    description = "a SparseTensor"
    hint = "sparse.to_dense(s) makes a tensor of it, and sparse.map_values(f, s) applies f to its values"
    attributes: ClassVar[dict[str, Any]] = {
        "indices": lambda s: int64(s.indices),
        "values": lambda s: s.values,
        "dense_shape": lambda s: int64(s.shape),
        "shape": lambda s: s.shape,
        "dtype": lambda s: s.values.dtype.strong,
        "ndim": lambda s: len(s.shape),
        "rank": lambda s: len(s.shape),
    }

    def __init__(self, indices: Any, values: Any, shape: tuple[int, ...]) -> None:
        self.indices = indices
        self.values = values
        self.shape = shape

    def leaves(self) -> list[Any]:
        return [self.values]

    def with_leaves(self, leaves: list[Any]) -> SparseTensor:
        return SparseTensor(self.indices, leaves[0], self.shape)

    def text(self, show: Callable[[Any], str]) -> str:
        import numpy as np

        indices, values = np.array2string(self.indices, separator=", "), plain(self.values)
        return f"SparseTensor(indices={indices}, values={values}, shape={self.shape})".replace("\n", "")

    def to_plain(self) -> dict[str, Any]:
        """As results are written: {indices, values, shape}."""
        return {"indices": self.indices, "values": plain(self.values), "shape": list(self.shape)}

    def to_dense(self) -> Any:
        """The whole array of a result; entries at one place add up."""
        import numpy as np

        values = plain(self.values)
        dense = np.zeros(self.shape, dtype=values.dtype)
        np.add.at(dense, tuple(self.indices.T), values if self.shape else values.sum())
        return dense

    # --- rows of the table ------------------------------------------------------------------------------------------

    def operate(self, op: Operation, inputs: tuple[Any, ...], attributes: dict[str, Any] | None) -> Any:
        """Rows that apply to the values alone; products and quotients with what broadcasts to the shape; sizes."""
        name = op.name.removeprefix("tf.")
        if name in MAPPED:
            return self.with_leaves([op.call((self.values,), attributes)])
        if op.symbol == "*" or (op.symbol == "/" and inputs[0] is self):
            other = inputs[1] if inputs[0] is self else inputs[0]
            if other.__class__ is not SparseTensor:
                picked = self.picked(name, other)
                return self.with_leaves([op(self.values, picked) if inputs[0] is self else op(picked, self.values)])
        if name in SIZES:
            return SIZES[name](self)
        if name == "index" and attributes is not None and attributes["index"].__class__ is int:
            return self.part(attributes["index"])
        raise self.refusal(
            f"{name} does not take {self.description}", SPARSE_NAMES.get(op.symbol or name, f"sparse.{name}")
        )

    def part(self, index: int) -> SparseTensor:
        """One place of the first axis, without that axis."""
        size = self.shape[0] if self.shape else 0
        if not -size <= index < size:
            raise index_in(self.description, size, index)
        here = (self.indices[:, 0] == index % size).nonzero()[0]
        values = OPERATORS.take_rows(self.values, indices=here)
        return SparseTensor(self.indices[here, 1:], values, self.shape[1:])

    def picked(self, name: str, x: Any) -> Any:
        """The elements of a dense operand, broadcast to this shape, that stand at the places of the entries."""
        x = as_operand(x)
        size = shape_of(x)
        if not size:
            return x
        own = self.shape[len(self.shape) - len(size) :]
        if len(size) > len(self.shape) or any(n not in (1, m) for n, m in zip(size, own)):
            raise failure(
                "E0302", f"{name}: shape {shape_text(size)} does not broadcast to that of the SparseTensor, "
                f"{shape_text(self.shape)}", "the dense operand alone is broadcast",
            )  # fmt: skip
        places = keys(self.indices[:, len(self.shape) - len(size) :] * [n > 1 for n in size], size)
        return OPERATORS.take_rows(OPERATORS.reshape(x, shape=-1), indices=places)

    def refusal(self, message: str, name: str = "") -> Exception:
        return failure("E0304", message, f"{name} takes SparseTensors" if name[7:] in TAKEN else self.hint)

    def get_item(self, index: Any) -> Any:
        return OPERATORS.index(self, index=index)

    def length(self) -> int:
        raise self.refusal("a SparseTensor has no length")

    def iterate(self) -> Any:
        raise failure("E0304", "a SparseTensor cannot be iterated over", "write zip(s.indices, s.values)")

    # --- methods ----------------------------------------------------------------------------------------------------

    def method_with_values(self, new_values: Any) -> SparseTensor:
        values = tensor(new_values)
        if values.shape != (len(self.indices),):
            raise failure(
                "E0302", f"with_values: {len(self.indices)} entries need values of shape [{len(self.indices)}], "
                f"not {shape_text(values.shape)}",
            )  # fmt: skip
        return self.with_leaves([values])

    def method_get_shape(self) -> tuple[int, ...]:
        return self.shape


def int64(values: Any) -> Tensor:
    import numpy as np

    return Tensor(np.asarray(values, dtype="int64"), STRONG["int64"])


def keys(indices: Any, shape: Sequence[int]) -> Any:
    """The place of each entry in the flattened tensor."""
    import numpy as np

    return indices @ np.cumprod([1, *shape[:0:-1]], dtype="int64")[::-1][: len(shape)]


def places(keys: Any, shape: Sequence[int]) -> Any:
    """What `keys` undoes: the indices of places in the flattened tensor."""
    import numpy as np

    indices = np.empty((len(keys), len(shape)), dtype="int64")
    for d in reversed(range(len(shape))):
        keys, indices[:, d] = np.divmod(keys, max(shape[d], 1))
    return indices


def sparse_tensor(indices: Any, values: Any, dense_shape: Any) -> SparseTensor:
    """`SparseTensor(indices, values, dense_shape)`. Raises E0302 for shapes that do not fit, E0405 for places outside."""
    name = "SparseTensor"
    rows, values = integers(name, "indices", indices), tensor(values)
    shape = as_shape(integers(name, "dense_shape", dense_shape).tolist())
    rows = rows.reshape(0, len(shape)) if rows.size == 0 else rows
    if count(shape) >= 2**63:
        raise failure(
            "E0302", f"{name}: a tensor of shape {shape_text(shape)} has too many places", "at most 2**63 - 1"
        )
    if rows.ndim != 2 or rows.shape[1] != len(shape):
        raise failure(
            "E0302", f"{name}: indices of shape {shape_text(rows.shape)} do not fit dense_shape {shape_text(shape)}",
            f"each entry has a row of {len(shape)} integers, one for each axis",
        )  # fmt: skip
    if values.shape != (len(rows),):
        raise failure(
            "E0302",
            f"{name}: {len(rows)} indices need values of shape [{len(rows)}], not {shape_text(values.shape)}",
            exception="ValueError",
        )
    outside = ((rows < 0) | (rows >= shape)).any(axis=1)
    if outside.any():
        k = int(outside.argmax())
        raise failure("E0405", f"{name}: indices[{k}] = {rows[k].tolist()} is not inside the shape {shape_text(shape)}")
    return SparseTensor(rows, values, shape)


def of_entries(indices: Any, values: Any, shape: Any) -> SparseTensor:
    """A SparseTensor of what is known to fit."""
    rows = integers("SparseTensor", "indices", indices)
    return SparseTensor(rows, tensor(values), tuple([int(n) for n in shape]))


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "SparseTensor": sparse_tensor,
    "sparse.SparseTensor": sparse_tensor,
    "internal.sparse.of": of_entries,
    "internal.sparse.keys": lambda indices, shape: int64(keys(integers("SparseTensor", "indices", indices), shape)),
    "internal.sparse.places": lambda at, shape: int64(places(integers("SparseTensor", "places", at), shape)),
}
