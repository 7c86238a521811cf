"""Attributes and methods of values: what `x.shape`, `x.sum()`, `xs.append(v)` and `t.gradient(y, x)` mean."""

from __future__ import annotations

from functools import cache

from ..core.dtypes import DType, raw_dtype
from ..core.errors import failure
from ..core.following import path_ends
from ..core.operands import as_operand, describe
from ..core.state import STATE
from ..core.tensor import OPERATORS, Tensor, count, shape_of
from ..core.texts import TEXT_METHODS
from ..core.wording import has_no_attribute
from ..kinds.access import constant_of, get_item, hashable, iterate, rows
from ..kinds.classes import Class, Instance
from ..kinds.functions import Builtin, Function, Method, in_library, invoke
from ..ops.operation import static
from ..ops.registry import METHODS
from ..program.library import public

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

NUMERIC = (Tensor, float, int, complex, bool)
# The classes of functions, and of types such as int and float32.
NAMED = ("Function", "Builtin", "Derived", "Operation", "DType", "Method", "WithDefaultDtypes")

OF_NAMED_TUPLES = ("_asdict", "_fields", "_replace")
# TensorFlow's names for the parts of what top_k, unique, unique_with_counts and slogdet give, and their places.
OF_RESULTS = {"values": 0, "indices": 1, "y": 0, "idx": 1, "sign": 0, "log_abs_determinant": 1, "count": 2}


def get_attribute(value: Any, name: str) -> Any:
    """`value.name`."""
    cls = value.__class__
    if cls in NUMERIC and name in TENSOR_ATTRIBUTES:
        return TENSOR_ATTRIBUTES[name](value)
    of_program = getattr(value, "get_attribute", None)
    if of_program is not None:
        refuse_private(value, name)
        return of_program(name)
    own = getattr(value, "attributes", None)
    if own is not None and name in own:
        return own[name](value)
    if name == "__name__" and cls.__name__ in NAMED:
        return value.name.rpartition(".")[2]
    if cls is tuple and 1 < len(value) > OF_RESULTS.get(name, len(value)):
        return value[OF_RESULTS[name]]
    method = method_of(value, name)
    if method is not None:
        return Method(method, value)
    if hasattr(value, "read_value") and name in of_tensors():
        return get_attribute(value.read_value(), name)
    if cls is tuple and name in ("rank", "ndims"):  # of a shape
        return len(value)
    if cls in (list, tuple) and name in TENSOR_ATTRIBUTES:
        return get_attribute(as_operand(value), name)
    if cls is str and name in OF_STRINGS:
        return TENSOR_ATTRIBUTES[name](value)
    raise no_attribute(value, name)


def written_methods(value: Any) -> dict[str, str]:
    """The methods of a value that are written in the language: their names, and the file of each."""
    file = CONTAINER_FILES.get(value.__class__) or getattr(value, "methods", "")
    return public(file) if file else {}


def refuse_private(value: Any, name: str) -> None:
    """Refuse an attribute with an underscore of a class of the library, or of an instance of one, to all but the library."""
    if name[0] == "_" and name[-2:] != "__" and name not in OF_NAMED_TUPLES and not in_library(STATE.site):
        cls = value.cls if value.__class__ is Instance else value
        if cls.__class__ is Class and cls.library:
            known = [member for base in cls.lineage for member in base.members if member[0] != "_"]
            raise has_no_attribute(describe(value), name, known)


@cache
def of_tensors() -> list[str]:
    """The names of the attributes and methods of tensors."""
    return [*TENSOR_ATTRIBUTES, *METHODS, *TENSOR_METHODS, *public(CONTAINER_FILES[Tensor])]


def no_attribute(value: Any, name: str) -> Exception:
    known = of_tensors()
    if value.__class__ not in NUMERIC:
        known = [m[7:] for m in dir(value) if m.startswith("method_")]
        known = [*CONTAINER_METHODS.get(value.__class__, ()), *known, *written_methods(value)]
    return has_no_attribute(describe(value), name, known)


def dtype_of(value: Any) -> Any:
    if value.__class__ is Tensor:
        return value.dtype.strong
    raw = raw_dtype(value)
    return None if raw is None else raw.strong


def size_of(value: Any) -> int:
    return count(shape_of(value))


TENSOR_ATTRIBUTES: dict[str, Callable[[Any], Any]] = {
    "shape": shape_of,
    "dtype": dtype_of,
    "ndim": lambda x: len(shape_of(x)),
    "size": size_of,
    "T": lambda x: OPERATORS.transpose(x) if len(shape_of(x)) > 1 else x,
    "at": lambda x: invoke(STATE.library("kinds/At", "At"), [x], {}),
    "_keras_mask": lambda x: STATE.masks.get(id(x), (None, None))[1],
    "device": lambda x: "/job:localhost/replica:0/task:0/device:CPU:0",
    "mT": lambda x: invoke(STATE.library("operations/shapes", "matrix_transpose"), [x], {}),
    "real": lambda x: OPERATORS.real(x),
    "imag": lambda x: OPERATORS.imag(x),
}
OF_STRINGS = frozenset(("shape", "dtype", "ndim", "size"))  # what a string has as a scalar tensor


def limit(name: str) -> Callable[[DType], Any]:
    """An attribute of dtypes that NumPy's iinfo or finfo has."""

    def read(dtype: DType) -> Any:
        import numpy as np

        info: Any = np.iinfo(dtype.name) if dtype.kind == "i" else np.finfo(dtype.name) if dtype.kind in "fc" else None
        if not hasattr(info, name):
            raise failure("E0414", f"the dtype {dtype.name} has no attribute '{name}'")
        return int(getattr(info, name)) if dtype.kind == "i" else float(getattr(info, name))

    return read


# What a program can ask of a dtype.
DType.attributes = {  # type: ignore[attr-defined]
    "name": lambda dtype: dtype.name,
    "size": lambda dtype: (dtype.bits + 7) // 8,
    "as_numpy_dtype": lambda dtype: dtype,
    **{word: lambda dtype, kind=kind: dtype.kind == kind
       for word, kind in (("is_floating", "f"), ("is_integer", "i"), ("is_complex", "c"), ("is_bool", "b"))},
    **{name: limit(name) for name in ("max", "min", "eps", "epsneg", "tiny", "smallest_normal")},
}  # fmt: skip


def item(x: Any, *index: Any) -> Any:
    if index:
        x = get_item(x, index if len(index) > 1 else index[0])
    if size_of(x) != 1:
        raise failure("E0304", f"item() needs one element, and this tensor has {size_of(x)}")
    path_ends((x,), "item()")
    return static(x) if shape_of(x) == () else static(OPERATORS.reshape(x, shape=()))


def to_list(x: Any) -> Any:
    """Nested lists of the rows, down to scalars that still carry their derivative."""
    if x.__class__ is not Tensor or x.shape == ():
        return x
    if x.on is None:
        return x.value.tolist()
    return [to_list(row) for row in rows(x)]


TENSOR_METHODS: dict[str, Callable[..., Any]] = {
    "numpy": constant_of,
    "item": item,
    "tolist": to_list,
    "eval": constant_of,
}


def join(s: str, items: Any) -> str:
    parts = list(iterate(items))
    if any(p.__class__ is not str for p in parts):
        raise failure("E0304", "join needs strings", "str(x) makes one of a number")
    return s.join(parts)


# What the methods of Python's values are; the others of lists, tuples and dicts, and of tensors, are written in the language.
CONTAINER_METHODS: dict[type, dict[str, Callable[..., Any]]] = {
    list: {"append": lambda items, value: items.append(value)},
    dict: {
        "keys": lambda d: d.keys(), "values": lambda d: d.values(), "items": lambda d: d.items(),
        "get": lambda d, key, default=None: d.get(hashable(key), default),
    },
    str: {**TEXT_METHODS, "join": join, "numpy": lambda s: s},
}  # fmt: skip
CONTAINER_FILES = {
    list: "kinds/list",
    tuple: "kinds/tuple",
    dict: "kinds/dict",
    str: "kinds/str",
    **dict.fromkeys(NUMERIC, "kinds/Tensor"),
}


def method_of(value: Any, name: str) -> Any:
    """What `value.name(...)` calls, with the value as its first argument; None where there is no such method."""
    cls = value.__class__
    run = (TENSOR_METHODS if cls in NUMERIC else CONTAINER_METHODS.get(cls, {})).get(name)
    if run is None:
        run = getattr(cls, "method_" + name, None)
    if run is not None:
        return Builtin(name, run, bound=1)
    written = written_methods(value).get(name)
    if written is not None:
        return STATE.library(written, name)
    return METHODS.get(name) if cls in NUMERIC else None


def invoke_method(value: Any, name: str, args: list[Any], keywords: dict[str, Any]) -> Any:
    """`value.name(*args, **keywords)`."""
    if hasattr(value, "call_method"):
        refuse_private(value, name)
        return value.call_method(name, args, keywords)
    found = None if hasattr(value, "get_attribute") else method_of(value, name)
    if found is None and value.__class__ in (list, tuple) and name in of_tensors():
        return invoke_method(as_operand(value), name, args, keywords)
    if found is None:
        return invoke(get_attribute(value, name), args, keywords)
    return (
        invoke(found, [value, *args], keywords) if found.__class__ is Function else found.call([value, *args], keywords)
    )


def set_attribute(value: Any, name: str, new: Any) -> None:
    """`value.name = new`."""
    put = getattr(value, "set_attribute", None)
    if put is None:
        raise failure(
            "E0304", f"attributes of {describe(value)} cannot be assigned",
            "tensors are values; a Variable has v.assign(...)" if value.__class__ in NUMERIC else None,
        )  # fmt: skip
    refuse_private(value, name)
    put(name, new)
