"""What the tensor families share: shapes and axes, dtype rules, kinks, and the samples that tests evaluate rows at.

The helpers for derivative rules (`spread`, `to_front`, `shifted`, ...) are written in rows, as rules are.
"""

from __future__ import annotations

from ..core import limits
from ..core.dtype_rules import common_dtype, real_part
from ..core.dtypes import BOOL, COMPLEX_OF, INT32, INT64, WEAK_INT, DType
from ..core.errors import failure, plural
from ..core.operands import as_operand, describe, operand_dtype, plain, shape_text, shown
from ..core.state import STATE
from ..core.tensor import OPERATORS, Tensor
from ..core.tensor import conjugate as conjugate
from ..core.tensor import count as count
from ..core.tensor import is_complex as is_complex
from ..core.tensor import shape_of as shape_of
from ..core.wording import singular
from .operation import Singular, static

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from .operation import Operation

# --- shapes and axes ------------------------------------------------------------------------------------------------


def operand_shape(x: Any) -> tuple[int, ...]:
    """The shape of any operand, lists included."""
    return shape_of(as_operand(x))


def as_shape(shape: Any) -> tuple[int, ...]:
    """A shape from what users write: 3, (2, 3), [2, 3]; sizes must be whole and not negative."""
    sizes = tuple(shape) if shape.__class__ in (tuple, list) else (shape,)
    for size in sizes:
        if size.__class__ is not int:
            raise failure("E0304", f"a shape is a list of integers, and this one has {shown(size)}")
        if size < 0:
            raise failure("E0302", f"a size cannot be negative: {size}")
    return sizes


def axis_of(name: str, axis: Any, rank: int) -> int:
    """An axis counted from the front.

    Raises AdiffError E0304 for one that is no integer, E0405 for one that the tensor does not have.
    """
    if axis.__class__ is not int:
        raise failure("E0304", f"{name}: an axis is an integer, not {shown(axis)}")
    if not -rank <= axis < rank:
        raise failure(
            "E0405", f"{name}: axis {axis} is out of range for a tensor of {plural(rank, 'dimension')}",
            f"valid axes are {-rank} to {rank - 1}" if rank else "a scalar has no axes",
        )  # fmt: skip
    return axis % rank


def axes_of(name: str, axis: Any, rank: int) -> tuple[int, ...]:
    """One axis or several, counted from the front; None means all."""
    if axis is None:
        return tuple(range(rank))
    if axis.__class__ is int:
        return (axis_of(name, axis, rank),)
    if axis.__class__ not in (tuple, list):
        raise failure("E0304", f"{name}: an axis is an integer, not {shown(axis)}")
    axes = tuple([axis_of(name, one, rank) for one in axis])
    if len(set(axes)) < len(axes):
        raise failure("E0405", f"{name}: an axis is named twice in {list(axis)}")
    return axes


def kept(shape: Sequence[int], axes: Sequence[int]) -> tuple[int, ...]:
    """A shape with ones at the reduced axes."""
    return tuple([1 if i in axes else size for i, size in enumerate(shape)])


def spread(g: Any, shape: tuple[int, ...], axes: Sequence[int], keepdims: Any = False) -> Any:
    """A reduction's result or cotangent with the reduced axes back as ones, so that it broadcasts to `shape`."""
    if keepdims or len(axes) == len(shape):
        return g
    return OPERATORS.reshape(g, shape=kept(shape, axes))


def to_front(x: Any, axes: Sequence[int]) -> Any:
    """`x` with the given axes joined to one that comes first."""
    shape = shape_of(x)
    rest = [i for i in range(len(shape)) if i not in axes]
    if tuple(axes) != tuple(range(len(axes))):
        x = OPERATORS.transpose(x, axes=(*axes, *rest))
    if len(axes) != 1:
        x = OPERATORS.reshape(x, shape=(count([shape[i] for i in axes]), *[shape[i] for i in rest]))
    return x


def from_front(x: Any, axes: Sequence[int], shape: Sequence[int]) -> Any:
    """The inverse of `to_front` for a tensor whose shape was `shape`."""
    rest = [i for i in range(len(shape)) if i not in axes]
    order = (*axes, *rest)
    if len(axes) != 1:
        x = OPERATORS.reshape(x, shape=tuple([shape[i] for i in order]))
    if order != tuple(range(len(shape))):
        x = OPERATORS.transpose(x, axes=tuple([order.index(i) for i in range(len(shape))]))
    return x


def is_symbol(x: Any) -> bool:
    """Whether an operand is a symbol of the compiler, whose value is not known."""
    return hasattr(x, "as_symbol")


def beside(real: Any, x: Any) -> Any:
    """A real operand that is to meet `x`: complex where `x` is, since strong dtypes do not mix."""
    if is_complex(x) and not is_complex(real):
        return OPERATORS.complex(real, 0.0)
    return real


def part_by_part(change: Callable[[Any], Any], x: Any) -> Any:
    """What `change` gives of a real operand, or of both parts of a complex one."""
    if not is_complex(x):
        return change(x)
    return OPERATORS.complex(*[change(OPERATORS[name](x)) for name in ("real", "imag")])


def adjoint(x: Any) -> Any:
    """The conjugate transpose of the last two axes."""
    return conjugate(OPERATORS.transpose(x, axes=swapped(len(shape_of(x)))))


def strong(g: Any, p: Any) -> Any:
    """The product of a cotangent and what it meets in a rule: a zero cotangent stays zero beside nan and infinities."""
    return strong_terms(g, p)


def strong_terms(g: Any, p: Any, both: bool = False) -> Any:
    """`strong(g, p)`; if p is a cotangent as well, a zero of `both` stays zero."""
    return OPERATORS["multiply_cotangents" if both else "strong_multiply"](g, p)


def swapped(rank: int, first: int = -1, second: int = -2) -> tuple[int, ...]:
    """The permutation that exchanges two axes, the last two if none are named."""
    order = list(range(rank))
    order[first], order[second] = order[second], order[first]
    return tuple(order)


# --- constants in rules ---------------------------------------------------------------------------------------------


def mask_tensor(mask: Any) -> Any:
    """A NumPy mask as an operand; a compiler's symbols as they are."""
    if is_symbol(mask):
        return mask
    return Tensor(mask, BOOL) if getattr(mask, "ndim", 0) else bool(mask)


def whole_tensor(values: Any) -> Tensor:
    """A NumPy array of integers as an operand."""
    return Tensor(values, WEAK_INT)


def ndarray(x: Any) -> Any:
    """The value of an operand as an array, lists included: for indices, masks and labels, which carry no tangent."""
    import numpy as np

    return np.asarray(x if x.__class__ is np.ndarray else plain(as_operand(x)))


def integers(name: str, what: str, x: Any, symbols: bool = False) -> Any:
    """The value of an operand that must be integers, as an int64 array; with `symbols` a compiler's symbols as they are.

    Raises AdiffError E0301 that names the dtype and the cast.
    """
    if x.__class__ in (list, tuple):
        x = as_operand(x)
    if is_symbol(x) and x.dtype.kind == "i":
        if symbols:
            return x
        import numpy as np

        known = x.elements() if x.shape else x.as_static()
        x = np.asarray(known).reshape(x.shape)  # of no elements lists tell no shape
    values = ndarray(x)
    if values.size == 0:
        return values.astype("int64")
    if values.dtype.kind not in "iu":
        raise failure(
            "E0301", f"{name}: {what} must be integers, and they are {values.dtype.name}", "write cast(..., int64)"
        )
    return values.astype("int64")


def whole(name: str, what: str, x: Any, least: int | None = None) -> int:
    """An argument that must be an integer, and no less than `least`."""
    value = static(as_operand(x))
    if value.__class__ is float and value.is_integer():
        value = int(value)
    if value.__class__ is not int:
        raise failure("E0304", f"{name}: {what} must be an integer, not {describe(x)}", "write int(n)")
    if least is not None and value < least:
        raise failure("E0304", f"{name}: {what} must be an integer of {least} or more, not {value}")
    return value


# --- dtype rules ----------------------------------------------------------------------------------------------------


def float_of(dtype: DType) -> DType:
    """The dtype in which an integer or bool operand becomes a float; others stay."""
    if dtype.kind not in "bi":
        return dtype
    return STATE.weak_float if dtype.weak or dtype.kind == "b" else STATE.default_float


def results(kinds: str, in_complex: bool = False) -> Callable[..., Any]:
    """A dtype rule: integers become floats, or all numbers complex; of the results those of kind "r" are real."""

    def rule(op: Operation, dtypes: list[DType], attributes: Any) -> tuple[DType, Any]:
        computed = float_of(common_dtype(op, dtypes))
        computed = COMPLEX_OF.get(computed, computed) if in_complex else computed
        found = tuple([real_part(computed) if kind == "r" else computed for kind in kinds])
        return computed, found if len(found) > 1 else found[0]

    return rule


real_of_float = results("r")


def floating(x: Any) -> Any:
    """An operand as a float: integers and bools cast, others as they are."""
    x = as_operand(x)
    if is_symbol(x):
        return x if x.dtype.kind in "fc" else OPERATORS.cast(x, dtype="float64")
    if x.__class__ is not Tensor:
        return float(x) if x.__class__ in (int, bool) else x
    if x.dtype.kind not in "bi":
        return x
    return x * 1.0 if x.dtype.weak else OPERATORS.cast(x, dtype=float_of(x.dtype).strong)


# --- kinks ----------------------------------------------------------------------------------------------------------


def found_by_rule(message: str, subgradients: str = "") -> Singular:
    """A singular point that a rule finds and resolves itself, declared for the notice and the documentation."""
    return Singular(lambda *inputs: False, message, subgradients=subgradients)


def some(mask: Any) -> bool:
    """Whether a mask, or a single truth value, may hold anywhere: a compiler cannot say that it does not."""
    if is_symbol(mask):
        return True
    return bool(mask.any()) if hasattr(mask, "any") else bool(mask)


def meet(row: Operation, at: Any, number: int = 0, matters: Any = True) -> None:
    """Report, as the policy asks, that a derivative was taken at a singular point of `row` where it mattered.

    `at` says where the point is met and `matters` where the choice there makes a difference to the cotangents at hand.
    """
    spot = row.singular[number]
    if is_symbol(at) or is_symbol(matters):
        (at if is_symbol(at) else matters).builder.meets(spot, at, matters)
        return
    if STATE.quiet or not some(at if matters is True or STATE.transposing else at & matters):
        return
    if STATE.kinks == "error":
        raise singular(spot.message)
    text = spot.message
    if spot.subgradients:
        text += f": {spot.subgradients}"
    STATE.notify("N0501", text)


# --- what operations that are written in the language call as `internal.name` (engine/library/operations/) -----------


def require(holds: Any, code: str, message: str, hint: str | None = None) -> None:
    """Raise an error with a code unless a condition holds; a kernel is left there."""
    if is_symbol(holds):
        holds.builder.check(holds)
    elif not plain(holds):
        raise failure(code, message, hint)


def fail(code: Any, message: Any, hint: Any = None, exception: Any = None) -> None:
    """Raise an error with a code."""
    raise failure(code, message, hint, exception=exception)


def part(x: Any, axis: int, start: int | None, stop: int | None) -> Any:
    """The elements of x from `start` to `stop` along an axis."""
    return OPERATORS.index(x, index=(slice(None),) * axis + (slice(start, stop),))


def of_kind(name: str, *inputs: Any) -> Any:
    """What the value kind of an input makes of an operation; None of tensors alone."""
    kind = next((x for x in inputs if hasattr(x, "operation")), None)
    return None if kind is None else kind.operation(name, inputs)


def counts(x: Any, total: Any) -> Tensor:
    """How often each integer from 0 on occurs, up to `total` or the largest one."""
    import numpy as np

    values, total = ndarray(x), 0 if total is None else static(total)
    limits.allocate(max(total, int(values.max(initial=-1)) + 1))
    return whole_tensor(np.bincount(values, minlength=total))


def library_integers(name: str, what: str, x: Any) -> Any:
    found = integers(name, what, x, symbols=True)
    return found if is_symbol(found) else Tensor(found, INT64)


def default_dtype(x: Any) -> DType:
    """TensorFlow's dtype for an operand: float32 for a bare float, int32 for a bare integer that fits it."""
    dtype = operand_dtype(x)
    if not dtype.bare:
        return dtype.strong
    if dtype.kind == "f":
        return STATE.tensorflow_float
    if dtype.kind != "i":
        return dtype.strong
    value = plain(x)
    low, high = (value.min(), value.max()) if getattr(value, "size", 0) else (0, 0) if shape_of(x) else (value, value)
    return INT32 if low >= -(2**31) and high < 2**31 else INT64


def with_default_dtype(x: Any) -> Any:
    """A result with TensorFlow's dtype where its own is a bare number's."""
    if x.__class__ in (list, tuple):
        return x.__class__([with_default_dtype(part) for part in x])
    if x is None or x.__class__ in (str, bool):
        return x
    dtype = default_dtype(x)
    return x if dtype is operand_dtype(x) else OPERATORS.cast(x, dtype=dtype)


FOR_LIBRARY: dict[str, Callable[..., Any]] = {
    "internal.as_operand": as_operand,
    "internal.axes_of": lambda name, axis, rank: axes_of(name, static(axis), rank),
    "internal.axis_of": lambda name, axis, rank: axis_of(name, static(axis), rank),
    "internal.beside": beside,
    "internal.counts": counts,
    "internal.fail": fail,
    "internal.floating": floating,
    "internal.integers": library_integers,
    "internal.is_complex": is_complex,
    "internal.keeps_formula": lambda x: (
        hasattr(x, "operation") or is_complex(x if hasattr(x, "dtype") else as_operand(x))
    ),
    "internal.known": lambda name, what, x: Tensor(integers(name, what, x), INT64),
    "internal.notify": lambda code, message: STATE.notify(code, message),
    "internal.of_kind": of_kind,
    "internal.part": part,
    "internal.require": require,
    "internal.shape_text": shape_text,
    "internal.static": static,
    "internal.whole": whole,
    "internal.with_default_dtype": with_default_dtype,
}
