"""What tensors are made of: indexing, functional updates, stacking, broadcasting, dtype changes, stopping gradients."""

from __future__ import annotations

from ..core import limits
from ..core.dtype_rules import common_dtype
from ..core.dtypes import STRONG, WEAK_COUNT, WEAK_FLOAT, DType, numpys, raw_dtype
from ..core.errors import failure, plural
from ..core.operands import as_operand, shown, tensor
from ..core.state import STATE
from ..core.tensor import OPERATORS, Tensor
from .operation import Operation, composite, linear, no_tangent, static
from .support import FOR_LIBRARY, as_shape, axis_of, count, mask_tensor, shape_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# --- indexing -------------------------------------------------------------------------------------------------------


def is_basic(index: Any) -> bool:
    """Whether an index selects each element at most once and NumPy answers with a view. A kernel's own indices do."""
    items = index if index.__class__ is tuple else (index,)
    return all(
        item is None or item is Ellipsis or item.__class__ in (int, slice) or getattr(item, "shape", None) == ()
        for item in items
    )


def _index(np: Any, x: Any, index: Any) -> Any:
    x = np.asarray(x)
    try:
        found = x[index]
    except IndexError as fault:
        raise index_failure(x.shape, fault) from None
    # A small part of a large tensor must not keep all of it alive.
    return found.copy() if found.__class__ is np.ndarray and found.base is not None else found


def index_failure(shape: tuple[int, ...], fault: Exception) -> Exception:
    """NumPy's IndexError in words that name the axis, its size and the index."""
    from re import findall

    text, numbers = str(fault), [int(n) for n in findall(r"-?\d+", str(fault))]
    if "out of bounds" in text:
        found, axis, size = numbers
        hint = f"valid indices are {-size} to {size - 1}" if size else "the axis is empty"
        return failure("E0405", f"index {found} is out of range for axis {axis} of size {size}", hint)
    if text.startswith("too many indices"):
        return failure("E0405", f"too many indices: {numbers[1]} for a tensor of {plural(len(shape), 'dimension')}")
    if text.startswith("boolean index"):
        axis, size, given = numbers
        return failure("E0405", f"a boolean index of size {given} does not fit axis {axis} of size {size}")
    return failure("E0405", text)


def places(shape: tuple[int, ...], index: Any) -> Any:
    """The flat positions that an index selects, in the shape of the selection."""
    import numpy as np

    return np.arange(count(shape)).reshape(shape)[index]


def _accumulate_index(buffer: Any, g: Any, index: Any) -> None:
    """buffer[index] += g in place, with duplicates summed."""
    if is_basic(index):
        buffer[index] += g
    else:
        import numpy as np

        np.add.at(buffer, index, g)


index: Operation = linear(
    "index", "x | index", lambda g, y, x, index: index_scatter(g, shape=shape_of(x), index=index), code="element",
    accumulate=_accumulate_index, array=_index, moves=True, dtype="first", accepts="bifcs",
    doc="The elements that an index selects: x[index], with NumPy's rules for slices, integers, newaxis, ... and "
    "tensors.",
    example=("[10, 20, 30][1:]", [20, 30]),
)  # fmt: skip


def _index_scatter(np: Any, x: Any, shape: tuple[int, ...], index: Any) -> Any:
    x = np.asarray(x)
    limits.allocate(count(shape), x.dtype.itemsize)
    out = np.zeros(shape, dtype=x.dtype)
    try:
        _accumulate_index(out, x, index)
    except IndexError as fault:
        raise index_failure(shape, fault) from None
    return out


index_scatter: Operation = linear(
    "index_scatter", "x | shape, index", lambda g, y, x, shape, index: OPERATORS.index(g, index=index),
    kernel=lambda k, x, shape, index: k.index_scatter(x, shape, index), array=_index_scatter, dtype="first", internal=True,
    depends="sums", doc="The transpose of indexing: zeros of a shape with x added at the indexed places.",
    example=("index_scatter(7, (3,), 1)", [0, 7, 0]),
)  # fmt: skip


def _indexed_shape(np: Any, x: Any, index: Any) -> tuple[int, ...]:
    try:
        return np.broadcast_to(np.zeros((), bool), x.shape)[index].shape  # type: ignore[no-any-return]
    except IndexError as fault:
        raise index_failure(x.shape, fault) from None


def _fitting(np: Any, x: Any, value: Any, index: Any) -> Any:
    """`value` in the shape of x[index], by NumPy's rule for item assignment: leading ones are dropped."""
    shape = _indexed_shape(np, x, index)
    value = np.asarray(value)
    given = value.shape
    while value.ndim > len(shape) and value.shape[0] == 1:
        value = value[0]
    try:
        return np.broadcast_to(value, shape)
    except ValueError:
        raise failure(
            "E0302", f"a value of shape {list(given)} does not fit the indexed part of shape {list(shape)}"
        ) from None


def _unfitting(g: Any, value: Any) -> Any:
    """The transpose of `_fitting`."""
    shape = shape_of(value)
    beyond = max(len(shape) - len(shape_of(g)), 0)
    found = sum_to(g, shape=shape[beyond:])
    return reshape(found, shape=shape) if beyond else found


def winners(shape: tuple[int, ...], index: Any) -> Any:
    """Of an indexed write: true where an element stays, false where a later write of the same place replaces it."""
    import numpy as np

    positions = places(shape, index)
    # np.unique finds first occurrences; read backwards they are the last.
    last = positions.size - 1 - np.unique(positions.ravel()[::-1], return_index=True)[1]
    mask = np.zeros(positions.size, dtype=bool)
    mask[last] = True
    return mask.reshape(positions.shape)


def _index_update(np: Any, x: Any, value: Any, index: Any) -> Any:
    out = np.array(x, order="C")  # `reshape` below is a view
    fitted = _fitting(np, out, value, index)
    if is_basic(index):
        out[index] = fitted
    else:
        # NumPy leaves the order of duplicate writes open; here the last one wins.
        mask = winners(out.shape, index)
        out.reshape(-1)[places(out.shape, index)[mask]] = fitted[mask]
    return out


def joined_dtype(op: Operation, dtypes: list[DType], attributes: Any) -> tuple[DType, DType]:
    """The dtype rule of rows that join tensors."""
    if not dtypes:
        raise failure("E0304", f"{op.name} needs at least one tensor")
    computed = common_dtype(op, dtypes)
    return computed, computed


def _put_elements(np: Any, *values: Any, shape: tuple[int, ...], places: list[int]) -> Any:
    items = np.array(values)
    limits.allocate(count(shape), items.itemsize)
    out = np.zeros(shape, dtype=items.dtype)
    np.add.at(out.reshape(-1), places, items)
    return out


def _read_elements(g: Any, y: Any, *values: Any, shape: tuple[int, ...], places: list[int]) -> tuple[Any, ...]:
    import numpy as np

    indices = zip(*[axis.tolist() for axis in np.unravel_index(places, shape)])
    return tuple([index(g, index=place) for place in indices])


put_elements: Operation = linear(
    "put_elements", "[values] | shape, places", _read_elements, array=_put_elements, dtype=joined_dtype, internal=True,
    depends="sums", doc="The transpose of reading single elements: scalars added up at their places among zeros.",
    example=("put_elements([1, 2, 3], (4,), [2, 0, 2])", [2, 0, 4, 0]),
)  # fmt: skip


def _index_update_transpose(g: Any, y: Any, x: Any, value: Any, index: Any) -> Any:
    to_value = OPERATORS.index(g, index=index)  # first, so that kernels may clear the elements in place
    to_x = index_update(g, 0.0, index=index)
    if not is_basic(index):
        to_value = OPERATORS.where(mask_tensor(winners(shape_of(g), index)), to_value, 0.0)
    return to_x, _unfitting(to_value, value)


index_update: Operation = linear(
    "index_update", "x, value | index", _index_update_transpose, code="update", array=_index_update, moves=True,
    dtype="promote", accepts="bifcs",
    doc="A copy of x with the indexed elements replaced by value: what `x[index] = value` rebinds x to. "
    "Of duplicate places the last write wins.",
    example=("index_update([1, 2, 3], 9, 0)", [9, 2, 3]),
)  # fmt: skip


def _index_add(np: Any, x: Any, value: Any, index: Any) -> Any:
    out = np.array(x)
    _accumulate_index(out, _fitting(np, out, value, index), index)
    return out


index_add = linear(
    "index_add", "x, value | index", lambda g, y, x, value, index: (g, _unfitting(OPERATORS.index(g, index=index), value)),
    code="update", array=_index_add, dtype="promote", accepts="ifc", depends="sums",
    doc="A copy of x with value added to the indexed elements; duplicate places add up.",
    example=("index_add([1, 2, 3], 9, 0)", [10, 2, 3]),
)  # fmt: skip


# --- joining --------------------------------------------------------------------------------------------------------


def _stack_transpose(g: Any, y: Any, *parts: Any, axis: int) -> tuple[Any, ...]:
    before = (slice(None),) * (axis % len(shape_of(y)))
    return tuple([OPERATORS.index(g, index=(*before, i)) for i in range(len(parts))])


def _stack(np: Any, *parts: Any, axis: int) -> Any:
    shapes = [np.shape(part) for part in parts]
    for i, shape in enumerate(shapes):
        if shape != shapes[0]:
            raise failure(
                "E0302", f"stack needs equal shapes: element 0 has {list(shapes[0])} and element {i} has {list(shape)}",
                "concat joins tensors of different lengths along an axis",
            )  # fmt: skip
    return np.stack(parts, axis=axis_of("stack", axis, len(shapes[0]) + 1))


stack = linear(
    "stack", "[values] | axis=0", _stack_transpose, code="joined", array=_stack, moves=True, dtype=joined_dtype,
    accepts="bifcs", doc="Tensors of one shape joined along a new axis.",
    example=("stack([[1, 2], [3, 4]])", [[1, 2], [3, 4]]),
)  # fmt: skip


# --- broadcasting ---------------------------------------------------------------------------------------------------


# Sums of single floats are rounded once, as kernels have them: no term is lost, and no sum on the way leaves the floats.
WIDER = {"float32": "float64", "complex64": "complex128"}


def summed(np: Any, x: Any, axes: tuple[int, ...], keepdims: bool = False) -> Any:
    """The sum over some axes, in the dtype of x."""
    wider = WIDER.get(x.dtype.name)
    if wider is None:
        return np.sum(x, axis=axes, keepdims=keepdims)
    return np.sum(x, axis=axes, keepdims=keepdims, dtype=wider).astype(x.dtype)


def _sum_to(np: Any, x: Any, shape: tuple[int, ...]) -> Any:
    extra = x.ndim - len(shape)
    axes = tuple(range(extra)) + tuple(
        i + extra for i, size in enumerate(shape) if size == 1 and x.shape[i + extra] != 1
    )
    return summed(np, x, axes).reshape(shape) if axes else x.reshape(shape)


sum_to: Operation = linear(
    "sum_to", "x | shape", lambda g, y, x, shape: broadcast_to(g, shape=shape_of(x)),
    kernel=lambda k, x, shape: k.sum_to(x, shape), array=lambda np, x, shape: _sum_to(np, np.asarray(x), shape),
    dtype="first", internal=True, depends="sums",
    doc="The transpose of broadcasting: x summed over the axes that broadcasting a tensor of that shape repeated.",
    example=("sum_to([[1, 2], [3, 4]], (2,))", [4, 6]),
)  # fmt: skip


def _broadcast_to(np: Any, x: Any, shape: Any) -> Any:
    shape = as_shape(shape)
    x = np.asarray(x)
    limits.allocate(count(shape), x.dtype.itemsize)
    try:
        return np.broadcast_to(x, shape).copy()
    except ValueError:
        raise failure(
            "E0302", f"broadcast_to: shape {list(x.shape)} does not broadcast to {list(shape)}",
            "sizes must be equal or 1, compared from the right",
        ) from None  # fmt: skip


broadcast_to: Operation = linear(
    "broadcast_to", "x | shape", lambda g, y, x, shape: sum_to(g, shape=shape_of(x)), code="element", array=_broadcast_to,
    moves=True, dtype="first", accepts="bifcs", doc="x repeated to a larger shape by NumPy's broadcasting rules.",
    example=("broadcast_to([1, 2], (2, 2))", [[1, 2], [1, 2]]),
)  # fmt: skip


def _reshape(np: Any, x: Any, shape: Any) -> Any:
    sizes = tuple(shape) if shape.__class__ in (tuple, list) else (shape,)
    x = np.asarray(x)
    for size in sizes:
        if size.__class__ is not int:
            raise failure("E0304", f"reshape: a shape is a list of integers, and this one has {shown(size)}")
    if sizes.count(-1) > 1 or any(size < -1 for size in sizes):
        raise failure("E0302", f"reshape: {list(sizes)} is no shape", "one size may be -1: it is worked out")
    try:
        return x.reshape(sizes)
    except ValueError:
        raise failure(
            "E0302", f"reshape: {plural(x.size, 'element')} of shape {list(x.shape)} do not fill shape {list(sizes)}",
            "one size may be -1: it is worked out",
        ) from None  # fmt: skip


reshape: Operation = linear(
    "reshape", "x | shape", lambda g, y, x, shape: reshape(g, shape=shape_of(x)), code="element", array=_reshape,
    moves=True, dtype="first", accepts="bifcs", method=True,
    doc="The same elements, in the same order, in another shape; one size may be -1.",
    example=("reshape([1, 2, 3, 4], (2, 2))", [[1, 2], [3, 4]]),
)  # fmt: skip


def line_axis(name: str, x: Any, axis: Any) -> tuple[Any, int]:
    """`x` and an axis counted from the front; axis None means the elements in one row."""
    x = as_operand(x)
    if axis is None:
        return reshape(x, shape=-1), 0
    return x, axis_of(name, axis, len(shape_of(x)))


FOR_LIBRARY["internal.line_axis"] = lambda name, x, axis: line_axis(name, x, static(axis))


# --- likenesses -----------------------------------------------------------------------------------------------------


def _like(name: str, doc: str, value: float) -> Operation:
    def array(np: Any, x: Any, dtype: Any = None) -> Any:
        return getattr(np, name)(x, dtype=None if dtype is None else as_dtype(dtype).name)

    def rule(op: Operation, dtypes: list[DType], attributes: Any) -> tuple[DType, DType]:
        chosen = None if attributes is None else attributes["dtype"]
        return dtypes[0], dtypes[0] if chosen is None else as_dtype(chosen)

    return no_tangent(
        name, "x | dtype=None", kernel=lambda k, x, dtype: k.full(value, x.shape), array=array, dtype=rule, accepts="bifc", doc=doc,
        example=(f"{name}([1.5, 2.5])", [value] * 2),
        reason="a constant",
    )  # fmt: skip


zeros_like = _like("zeros_like", "Zeros of the shape and dtype of x.", 0.0)
ones_like = _like("ones_like", "Ones of the shape and dtype of x.", 1.0)


# --- dtypes ---------------------------------------------------------------------------------------------------------


def as_dtype(spec: Any) -> DType:
    """A dtype from what users write: float32, "float32", tf.float32, float."""
    if spec.__class__ is DType:
        return spec.strong
    from ..core.dtypes import SPELLINGS

    name = spec if spec.__class__ is str else getattr(spec, "name", getattr(spec, "__name__", str(spec)))
    found = SPELLINGS.get(name)
    if found is None:
        what = shown(name if spec.__class__ is str else spec)
        raise failure("E0306", f"unknown dtype {what}", f"the dtypes are {', '.join(STRONG)}")
    return found


def _cast_dtype(op: Operation, dtypes: list[DType], attributes: Any) -> tuple[None, DType]:
    # A dtype that is weak is asked for by the rule below alone: programs have strong ones.
    target = attributes["dtype"]
    target = target if target.__class__ is DType else as_dtype(target)
    if ("s" in (dtypes[0].kind, target.kind)) and dtypes[0].kind != target.kind:
        raise failure(
            "E0301", f"cast cannot turn {dtypes[0].name} into {target.name}",
            "strings.to_number(s) reads numbers, strings.as_string(x) writes them",
        )  # fmt: skip
    return None, target


def _cast(np: Any, x: Any, dtype: Any) -> Any:
    target = as_dtype(dtype)
    if target.kind == "s":
        return x
    x = np.asarray(x)
    if target.kind != "c" and x.dtype.kind == "c":
        x = x.real
    if target.kind == "i" and x.dtype.kind == "f" and not np.isfinite(x).all():
        raise failure("E0401", f"cast: nan and inf have no {target.name} value")
    return x.astype(target.name)


def _uncast(g: Any, y: Any, x: Any, dtype: Any) -> Any:
    """The cotangent in the dtype of x. That of a bare number is bare, and meets what x itself may meet."""
    back = x.dtype if x.__class__ is Tensor else raw_dtype(x)
    assert back is not None
    return cast_to(g, dtype=WEAK_FLOAT if back is WEAK_COUNT else back)


cast_to: Operation = linear(
    "cast", "x | dtype", _uncast, array=_cast, dtype=_cast_dtype, accepts="bifcs", aliases="to_float to_double",
    depends="elements", doc="x in another dtype. A cast to an integer or a bool carries no gradient.",
    example=("cast(2.7, int64)", 2),
)  # fmt: skip

astype = composite(
    "astype", "x | dtype", lambda x, dtype: cast_to(x, dtype=numpys(as_dtype(dtype))), method="astype",
    doc="x in another dtype, as an array of NumPy's: it adopts the dtype of the tensors that it meets.",
    example=("astype(2.7, int64)", 2),
)  # fmt: skip


stop_gradient = no_tangent(
    "stop_gradient", "x", kernel=lambda k, x: x, scalar=lambda x: x, array=lambda np, x: x, dtype="first", accepts="bifcs",
    keeps=True, doc="x itself, as a constant: no derivative passes.", example=("stop_gradient(3.0)", 3.0), reason="asked to stop",
)  # fmt: skip


identity = linear(
    "identity", "x", lambda g, y, x: g, scalar=lambda x: x, array=lambda np, x: np.array(x), moves=True, dtype="first",
    accepts="bifcs", aliases="copy", method="copy", doc="x itself.", example=("identity(3.0)", 3.0),
)  # fmt: skip


def _astensor(x: Any, dtype: Any = None) -> Any:
    """A strong tensor of a value: what tf.constant and np.array make of it."""
    x = as_operand(x)
    if dtype is not None:
        return cast_to(x, dtype=dtype)
    if x.__class__ is str or x.__class__ is bool:
        return x
    if hasattr(x, "as_strong"):  # a compiler's symbol
        return x.as_strong()
    x = tensor(x)
    if not x.dtype.weak:
        return x
    target = STATE.default_float if x.dtype.kind == "f" and x.dtype.bare else x.dtype.strong
    if x.on is None and x.dtype.name == target.name:
        return Tensor(x.value, target)
    return cast_to(x, dtype=target)


constant = composite(
    "constant", "value | dtype=None", lambda value, dtype=None: _astensor(value, dtype),
    aliases="array asarray convert_to_tensor tensor as_tensor",
    doc="A tensor of its own dtype from a number, a list or a tensor. Such a tensor does not mix with other dtypes.",
    example=("constant([1.0, 2.0])", [1.0, 2.0]),
)  # fmt: skip
