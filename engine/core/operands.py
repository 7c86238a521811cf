"""What rows are applied to: numbers, strings and tensors, of whatever a program hands over; and results as such."""

from __future__ import annotations

from ...parser.errors import AdiffError
from . import limits
from .dtype_rules import rank
from .dtypes import BOOL, RAW, STRING, WEAK_COUNT, WEAK_FLOAT, DType, raw_dtype
from .errors import failure
from .following import path_ends
from .state import STATE
from .tensor import OPERATORS, SCALARS, Tensor

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..ops.operation import Operation

# Dtypes whose scalars are Python scalars.
NATIVE = {"float64": float, "int64": int, "complex128": complex, "bool": bool}


def bare(x: Any) -> Any:
    """A number of the language as a program has it: a float is a float32 where `--dtype float32` is asked for."""
    return tensor(x) if x.__class__ is float and STATE.weak_float is not WEAK_FLOAT else x


def counts(x: Any) -> bool:
    """Whether a number counts as an integer: a bare one, or one that is a float because it is differentiated."""
    return x.__class__ is int or (x.__class__ is Tensor and x.dtype is WEAK_COUNT)


def counted(x: Any) -> Any:
    """The integer that a differentiated bare integer (`--at n=5`) still is where things are counted; else `x` itself."""
    if x.__class__ is Tensor and x.dtype is WEAK_COUNT and not x.ndim and float(x.value).is_integer():
        path_ends((x,), "a place where it counts as an integer")
        return int(x.value)
    return x


def as_operand(x: Any, op: Operation | None = None) -> Any:
    """An input as a number, a string or a tensor: lists are stacked, variables are read."""
    cls = x.__class__
    if cls is Tensor or cls in (float, int, bool, complex, str):
        return x
    if cls is list or cls is tuple:
        return tensor_of_list(x)
    if cls is range:
        return tensor_of_list(limits.listed(x))
    if hasattr(x, "__next__") or cls.__name__ in ("dict_keys", "dict_values"):
        return tensor_of_list(list(x))
    read = getattr(x, "read_value", None)
    if read is not None:
        return read()
    symbolic = getattr(x, "as_symbol", None)
    if symbolic is not None:
        return x
    dense = getattr(x, "dense", None)
    if dense is not None:
        return dense()
    name = "this operation" if op is None else op.name
    if x is None:
        raise failure("E0304", f"{name} needs a number or a tensor, and got None", "is a gradient unconnected here?")
    what = describe(x)
    hint = getattr(x, "hint", None)
    if what.startswith("the function"):
        # An input may have the name of an operation, but not that of a function which the program makes.
        hint = "call it" + (f", or bind an input of that name: --at {x.name}=..." if hasattr(x, "signature") else "")
    raise failure("E0304", f"{name} needs a number or a tensor, and got {what}", hint)


NUMBERS = {"i": "an integer", "f": "a float", "c": "a complex number"}
WORDS = {int: "an integer", complex: "a complex number", str: "a string"}


def kind_of(inputs: Any) -> Any:
    """The first operand, or item of a list of operands, of a kind that operates by itself; None where there is none."""
    for x in inputs:
        if x.__class__ is list or x.__class__ is tuple:
            for item in x:
                if hasattr(item, "operate"):
                    return item
        elif hasattr(x, "operate"):
            return x
    return None


def describe(x: Any) -> str:
    """What a value is, in the user's words."""
    cls = x.__class__
    if cls is Tensor:
        if not x.ndim and x.dtype.kind in NUMBERS:
            return NUMBERS[x.dtype.kind] if x.dtype.weak else f"a {x.dtype.name} number"
        return f"a {x.dtype.name} tensor of shape {shape_text(x.shape)}"
    if x is None:
        return "None"
    if cls in WORDS:
        return WORDS[cls]
    words = f"an array of shape {shape_text(x.shape)}" if hasattr(x, "ndim") else f"a {cls.__name__}"
    return getattr(x, "description", words)


def shown(x: Any) -> str:
    """A value in a message: a number or a text as it is, else what it is; a tuple item by item."""
    if x.__class__ is tuple:
        return "(" + ", ".join(map(shown, x)) + "," * (len(x) == 1) + ")"
    return repr(x) if x is None or x.__class__ in (bool, int, float, complex, str) else describe(x)


def shape_text(shape: tuple[int | None, ...]) -> str:
    """A shape as TensorFlow's messages show it: [2,3]."""
    return "[" + ",".join(map(str, shape)) + "]"


def stacked(items: Any) -> Any:
    """The parts of a list, tensors among them, as one tensor."""
    try:
        return OPERATORS.stack([as_operand(item) for item in items])
    except AdiffError as error:
        # Nobody has said `stack`.
        where = error.message.removeprefix("stack needs equal shapes: ")
        if where != error.message:
            error.message = f"the parts of this list differ in shape, so it is no tensor: {where}"
            error.args = (error.message,)
            error.advice = "make them of one shape, or keep a list of tensors"
        raise


def tensor_of_list(items: Any) -> Any:
    """A nested list as one tensor. A list of constants becomes one array at once; else its parts are stacked."""
    classes: set[type] = set()
    stack = [(items, 0)]
    while stack:
        level, depth = stack.pop()
        found = set(map(type, level))
        classes |= found
        if list in found or tuple in found:
            stack += [(item, limits.nest(depth)) for item in level if item.__class__ in (list, tuple)]
    dtypes = {RAW[cls] for cls in classes if cls in RAW}
    if STRING in dtypes and len(dtypes) > 1:
        raise failure("E0301", "a list cannot mix strings and numbers", exception="ValueError")
    if not classes <= {*RAW, list, tuple}:
        return stacked(items)
    weak = max(dtypes, key=rank, default=WEAK_FLOAT)
    if weak is WEAK_FLOAT:
        weak = STATE.weak_float
    import numpy as np

    try:
        if weak is STRING:
            value = np.array(items, dtype=object)
            if any(item.__class__ in (list, tuple) for item in value.flat):
                raise ValueError
        else:
            with np.errstate(over="ignore"):  # an infinity where a number is beyond float32
                value = np.array(items, dtype=weak.name)
    except OverflowError:
        raise failure("E0303", "an integer in this list does not fit int64", "write it as a float: 1e20") from None
    except ValueError:
        raise failure(
            "E0302",
            "the rows of this list differ in length, so it is no tensor",
            "make the rows equally long, or keep a list of tensors",
            exception="ValueError",
        ) from None
    return Tensor(value, weak)


def operand_dtype(x: Any) -> DType:
    """The dtype of what `as_operand` gives."""
    found: DType | None = x.dtype if x.__class__ is Tensor else raw_dtype(x)
    return x.dtype if found is None else found  # None: a symbol of the compiler


def wrap(value: Any, dtype: DType) -> Any:
    """A computed value as a Tensor; float64, int64, complex128 and bool scalars as Python scalars inside it."""
    cls = value.__class__
    native = NATIVE.get(dtype.name)
    if native is not None and cls in SCALARS:
        return Tensor(native(value), dtype) if dtype is not BOOL else bool(value)
    if issubclass(cls, str):
        return str(value)
    import numpy as np

    if dtype is STRING:
        array = np.asarray(value, dtype=object)
        return array.item() if array.ndim == 0 else Tensor(array, STRING)
    array = np.asarray(value)
    if array.ndim == 0:
        if native is bool:
            return bool(array)
        if native is not None:
            return Tensor(native(array.item()), dtype)
    if array.dtype != dtype.name:
        if array.dtype.kind == "c" and dtype.kind != "c":  # of a parameter that is one
            raise failure(
                "E0301", f"a result of dtype {dtype.name} cannot be complex", "write real(z) for a parameter z"
            )
        with np.errstate(over="ignore"):  # an infinity where a number is beyond float32
            array = array.astype(dtype.name)
    return Tensor(array, dtype)


def tensor(value: Any, dtype: DType | None = None) -> Tensor:
    """Any operand as a Tensor, keeping a tensor's identity. A bare number becomes a weak tensor."""
    value = as_operand(value)
    if value.__class__ is Tensor:
        return value
    raw = raw_dtype(value)
    if raw is None:  # a symbol
        raise failure("E0304", f"{describe(value)} is no tensor")
    if raw is WEAK_FLOAT and STATE.weak_float is not WEAK_FLOAT:
        found: Tensor = wrap(value, STATE.weak_float)
        return found
    return Tensor(value, dtype or raw)


def plain(x: Any) -> Any:
    """The bare value of an operand: a Python scalar, a string or an array."""
    return x.value if x.__class__ is Tensor else x
