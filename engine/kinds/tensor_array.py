"""TensorArray: a list of tensors of one dtype that a loop writes and reads. Its elements are what tapes follow."""

from __future__ import annotations

from ..core import limits
from ..core.errors import failure, plural
from ..core.operands import as_operand, describe, operand_dtype, shape_text
from ..core.state import STATE
from ..core.tensor import OPERATORS, shape_of
from ..ops.structure import as_dtype
from ..ops.support import integers
from .kind import Kind, of_dtype, whole

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, ClassVar

Shape = tuple[int | None, ...] | None  # None where the rank, or a size, is not known


class TensorArray(Kind):
    """`write` changes the array in place, as eager TensorFlow's does, and gives it back."""

    __slots__ = ("cleared", "clears", "dtype", "dynamic", "element_shape", "elements", "infer")
    description = "a TensorArray"
    listed = True
    attributes: ClassVar[dict[str, Any]] = {
        "dtype": lambda a: a.dtype,
        "dynamic_size": lambda a: a.dynamic,
        "element_shape": lambda a: a.element_shape,
    }

    def __init__(
        self, dtype: Any, elements: list[Any], dynamic: bool, clears: bool, element_shape: Shape, infer: bool
    ) -> None:
        self.dtype = dtype
        self.elements = elements
        self.dynamic = dynamic
        self.clears = clears
        self.element_shape = element_shape
        self.infer = infer
        self.cleared: set[int] = set()  # what was read, and is no more

    # --- the protocol -----------------------------------------------------------------------------------------------

    def leaves(self) -> list[Any]:
        return [x for x in self.elements if x is not None]

    def with_leaves(self, leaves: list[Any]) -> TensorArray:
        remaining = iter(leaves)
        elements = [None if x is None else next(remaining) for x in self.elements]
        return TensorArray(self.dtype, elements, self.dynamic, self.clears, self.element_shape, self.infer)

    def text(self, show: Callable[[Any], str]) -> str:
        return f"<TensorArray size={len(self.elements)} dtype={self.dtype.name}>"

    def to_plain(self) -> list[Any]:
        return self.elements

    # --- elements ---------------------------------------------------------------------------------------------------

    def position(self, index: Any, doing: str) -> int:
        i = whole("TensorArray", "an index", index)
        if i < 0:
            raise failure("E0405", f"TensorArray: {doing} negative indices (index {i}) is not allowed")
        return i

    def fitted(self, value: Any) -> Any:
        """A value as an element: of the dtype, and of the shape of the others."""
        given = as_operand(value)
        x = of_dtype(given, self.dtype)
        if x is None:
            raise failure(
                "E0301", f"TensorArray dtype is {self.dtype.name}, and the value is {operand_dtype(given).name}",
                f"write cast(x, {self.dtype.name})",
            )  # fmt: skip
        known, shape = self.element_shape, shape_of(x)
        if known is not None:
            if len(known) != len(shape) or any(a is not None and a != b for a, b in zip(known, shape)):
                raise failure(
                    "E0302", f"TensorArray: incompatible shape for value ({shape_text(shape)}), "
                    f"expected ({shape_text(known)})", "infer_shape=False allows elements of different shapes",
                )  # fmt: skip
        if self.infer:
            self.element_shape = shape
        return x

    def element(self, i: int) -> Any:
        """An element; zeros where nothing was written and the shape is known."""
        if self.elements[i] is None:
            if i in self.cleared:
                raise failure(
                    "E0405", f"TensorArray: Could not read index {i} twice because it was cleared after a previous read",
                    "write clear_after_read=False",
                )  # fmt: skip
            if self.element_shape is None or None in self.element_shape:
                raise failure(
                    "E0405", f"TensorArray: index {i} is read before it is written, and the shape of an element is not known"
                )  # fmt: skip
            STATE.notify("N0505", f"TensorArray: nothing was written to index {i}: it reads as zeros")
            blank: Any = "" if self.dtype.kind == "s" else OPERATORS.cast(0, dtype=self.dtype)
            self.elements[i] = OPERATORS.broadcast_to(blank, shape=self.element_shape)
        return self.elements[i]

    def all_elements(self) -> list[Any]:
        return [self.element(i) for i in range(len(self.elements))]

    def replace(self, values: list[Any], what: str) -> TensorArray:
        """All elements at once."""
        size = len(self.elements)
        if len(values) > size and not self.dynamic:
            raise failure(
                "E0401", f"TensorArray: cannot {what} {plural(len(values), 'tensor')} into an array of static size {size}",
                "write dynamic_size=True",
            )  # fmt: skip
        self.elements = [self.fitted(value) for value in values]
        return self

    # --- methods ----------------------------------------------------------------------------------------------------

    def method_write(self, index: Any, value: Any) -> TensorArray:
        i = self.position(index, "writing to")
        size = len(self.elements)
        if i >= size:
            if not self.dynamic:
                raise failure(
                    "E0405", f"TensorArray: Tried to write to index {i} but array is not resizeable and size is: {size}",
                    "write dynamic_size=True",
                )  # fmt: skip
            limits.allocate(i - size)
            self.elements.extend([None] * (i + 1 - size))
        self.elements[i] = self.fitted(value)
        return self

    def method_read(self, index: Any) -> Any:
        i = self.position(index, "reading from")
        if i >= len(self.elements):
            raise failure("E0405", f"TensorArray: Tried to read from index {i} but array size is: {len(self.elements)}")
        found = self.element(i)
        if self.clears:
            self.elements[i] = None
            self.cleared.add(i)
        return found

    def method_stack(self) -> Any:
        if not self.elements:
            shape = [0, *[0 if size is None else size for size in self.element_shape or ()]]
            return OPERATORS.cast(OPERATORS.zeros(shape=shape), dtype=self.dtype)
        return OPERATORS.stack(self.all_elements())

    def method_gather(self, indices: Any) -> Any:
        places = [int(i) for i in integers("TensorArray.gather", "indices", indices).reshape(-1)]
        for i in places:
            self.position(i, "reading from")
            if i >= len(self.elements):
                raise failure(
                    "E0405", f"TensorArray: Tried to gather index {i} but array size is: {len(self.elements)}"
                )
        return OPERATORS.stack([self.element(i) for i in places])

    def method_concat(self) -> Any:
        values = self.all_elements()
        for i, x in enumerate(values):
            if not shape_of(x):
                raise failure(
                    "E0302", f"TensorArray: concat saw a scalar shape at index {i} but requires at least vectors",
                    "stack() makes a vector of scalars",
                )  # fmt: skip
        return OPERATORS.concat(values, axis=0)

    def method_unstack(self, value: Any) -> TensorArray:
        value = as_operand(value)
        return self.replace(OPERATORS.unstack(value), "unstack")

    def method_scatter(self, indices: Any, value: Any) -> TensorArray:
        places = integers("TensorArray.scatter", "indices", indices).reshape(-1)
        values = OPERATORS.unstack(as_operand(value))
        if len(places) != len(values):
            raise failure(
                "E0302", f"TensorArray: scatter has {plural(len(places), 'index')} and {plural(len(values), 'value')}"
            )
        for i, x in zip(places, values):
            self.method_write(int(i), x)
        return self

    def method_split(self, value: Any, lengths: Any) -> TensorArray:
        value = as_operand(value)
        sizes = integers("TensorArray.split", "lengths", lengths)
        shape = shape_of(value)
        if sizes.ndim != 1 or not shape:
            raise failure(
                "E0302", "TensorArray: split needs a vector of lengths, and a value that is at least a vector"
            )
        if sizes.sum() != shape[0] or (sizes < 0).any():
            raise failure(
                "E0302", "TensorArray: Expected sum of lengths to be equal to values.shape[0], but sum of lengths is "
                f"{sizes.sum()} and value's shape is: {shape_text(shape)}",
            )  # fmt: skip
        if len(sizes) != len(self.elements) and not self.dynamic:
            raise failure(
                "E0302", f"TensorArray's size is not equal to the size of lengths ({len(self.elements)} vs. {len(sizes)})",
                "write dynamic_size=True",
            )  # fmt: skip
        ends = sizes.cumsum()
        index = OPERATORS.index
        parts = [index(value, index=slice(int(end - size), int(end))) for size, end in zip(sizes, ends)]
        self.element_shape = (None, *shape[1:]) if self.infer else self.element_shape
        infer, self.infer = self.infer, False
        self.replace(parts, "split")
        self.infer = infer and len(set(sizes.tolist())) == 1
        return self

    def method_size(self) -> Any:
        return OPERATORS.cast(len(self.elements), dtype="int32")

    def method_identity(self) -> TensorArray:
        return self

    def method_close(self) -> None:
        self.elements = []


def shape_given(name: str, shape: Any) -> Shape:
    """A shape whose sizes may be None."""
    if shape is None:
        return None
    sizes = shape if shape.__class__ in (list, tuple) else [shape]
    return tuple(None if size is None or size == -1 else whole(name, "a size", size) for size in sizes)


def tensor_array(
    dtype: Any,
    size: Any = None,
    dynamic_size: Any = None,
    clear_after_read: Any = None,
    tensor_array_name: Any = None,
    handle: Any = None,
    flow: Any = None,
    infer_shape: Any = True,
    element_shape: Any = None,
    colocate_with_first_write_call: Any = True,
) -> TensorArray:
    count = 0 if size is None else whole("TensorArray", "size", size)
    if count < 0:
        raise failure("E0302", f"TensorArray: the size cannot be negative: {count}")
    limits.allocate(count)
    for what, flag in (("dynamic_size", dynamic_size), ("infer_shape", infer_shape)):
        if flag.__class__ not in (bool, type(None)):
            raise failure("E0304", f"TensorArray: {what} must be a bool, not {describe(flag)}")
    return TensorArray(
        as_dtype(dtype), [None] * count, bool(dynamic_size), clear_after_read is not False,
        shape_given("TensorArray", element_shape), bool(infer_shape),
    )  # fmt: skip


FUNCTIONS: dict[str, Callable[..., Any]] = {"TensorArray": tensor_array}
