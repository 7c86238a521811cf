"""Values as the outside sees them: Python scalars, NumPy arrays, and containers of those."""

from __future__ import annotations

from ..parser.errors import AdiffError
from .core.dtypes import STRONG, WEAK_INT, DType, of_numpy, raw_dtype
from .core.errors import failure
from .core.limits import LIMITS, MAX_SHOWN_BITS, listed, nest
from .core.operands import as_operand, bare, describe, tensor_of_list, wrap
from .core.tensor import Tensor

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


# Bytes of an array from which on C libraries take memory for it from the system.
LARGE = 1 << 17
# Bytes of an array just below the largest whose size changes what glibc keeps; it has a header and takes whole pages.
LARGEST_KEPT = (1 << 25) - (1 << 14)


class Binding:
    """A value of the language given from outside, with its dtype and weakness: what `--at x=...` makes."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __repr__(self) -> str:
        dtype = type_of(self.value)
        return f"Binding({to_plain(self.value)!r}{'' if dtype is None else f', {dtype[0]}'})"


def to_plain(value: Any, depth: int = 0) -> Any:
    """A result for the outside. Raises E0304 where a value has no outside form (a function, a tape)."""
    cls = value.__class__
    if cls is Tensor:
        found = value.value
        return found if found.__class__ in (float, int, complex, bool, str) or found.ndim else found[()]
    if cls is int and value.bit_length() > MAX_SHOWN_BITS:
        raise failure("E0604", f"the result is an integer of {value.bit_length()} bits: too many digits to be shown")
    if cls in (float, int, bool, complex, str) or value is None:
        return value
    if cls in (list, tuple, dict):
        depth = nest(depth)
        if cls is dict:
            return {k: to_plain(v, depth) for k, v in value.items()}
        items = [to_plain(v, depth) for v in value]
        return items if cls is list else tuple(items)
    if cls is range:
        return listed(value)
    if cls is DType:
        return value.name
    in_words = getattr(value, "as_result", None)
    if in_words is not None:
        return to_plain(in_words(), nest(depth))
    own = getattr(value, "to_plain", None)
    if own is not None:
        return to_plain(own(), nest(depth)) if getattr(value, "listed", False) else value
    if hasattr(value, "read_value"):
        return to_plain(value.read_value())
    if hasattr(value, "__next__"):
        return [to_plain(v, nest(depth)) for v in value]
    raise failure(
        "E0304",
        f"the result is {describe(value)}, which has no value to show",
        "end the program with a number or a tensor",
    )


def bind(value: Any, name: str) -> Any:
    """An input of the program from a value given from outside.

    Python numbers and nested lists are weak; NumPy arrays and `Binding`s keep their dtype.
    """
    if value.__class__ is Binding:
        value = value.value
    cls = value.__class__
    if (cls is list or cls is tuple) and holds_arrays(value):
        import numpy as np

        try:
            return bind(np.asarray(value), name)
        except ValueError:
            return [bind(v, name) for v in value]  # of several shapes: a list of tensors
    if cls is list or cls is tuple:
        try:
            return kept(tensor_of_list(value))
        except AdiffError as error:
            if error.code == "E0302":
                return [bind(v, name) for v in value]  # ragged: a list of tensors
            if error.code == "E0304" and holds_none(value):
                raise AdiffError(
                    "E0802", f"the value of '{name}' holds None (null in JSON), which is no number", None,
                    "give a number in its place: nan where there is none",
                ) from None  # fmt: skip
            raise
    if cls is float or cls is int or cls is complex:
        return bare(value)
    if cls is Tensor:
        return kept(value)
    if raw_dtype(value) is not None or value is None:
        return value
    if cls is dict:
        return {key: bind(v, name) for key, v in value.items()}
    if hasattr(value, "dtype") and hasattr(value, "shape"):
        import numpy as np

        if np.ma.is_masked(value):
            raise failure("E0802", f"the value of '{name}' has masked elements", "fill them: value.filled(nan)")
        array = np.asarray(value)
        if array.dtype.kind == "O" and not all(x.__class__ is str for x in array.flat):
            return bind(array.tolist(), name)
        if (
            array.dtype.kind in "iu"
        ):  # bare, as in a list: they count where integers are needed, and are floats where derived
            if array.dtype.kind == "u" and array.size and array.max() >= 2**63:
                raise failure("E0303", f"the integer {array.max()} does not fit int64", "write it as a float: 1e20")
            return kept(Tensor(array.astype("int64"), WEAK_INT)) if array.ndim else int(array)
        dtype = of_numpy(array.dtype)
        if not array.dtype.isnative:
            array = array.astype(array.dtype.newbyteorder("="))
        if dtype is None:
            if array.dtype.kind != "f":
                raise failure("E0802", f"the value of '{name}' has dtype {array.dtype}, which adiff does not know")
            dtype = STRONG["float64" if array.dtype.itemsize > 4 else "float32"]
        return kept(wrap(array.astype(object) if dtype.kind == "s" else array, dtype))
    if hasattr(value, "read_value") or hasattr(value, "leaves"):
        return value
    hint = "give a number, nested lists, or an array of NumPy" + ": float(x)" * hasattr(value, "__float__")
    raise failure("E0802", f"the value of '{name}' is {describe(value)}, which adiff does not know", hint)


def kept(x: Any) -> Any:
    """An input. If it is large, and no memory limit is in force, glibc keeps the memory of arrays from here on: it keeps no
    more than twice the largest one that was ever freed, and fresh pages cost more than most operations on them.
    """
    if x.__class__ is Tensor and getattr(x.value, "nbytes", 0) >= LARGE and LIMITS.max_memory is None:
        import numpy as np

        np.empty(LARGEST_KEPT, dtype=np.uint8)
    return x


def holds_none(items: Any) -> bool:
    """Whether a nested list holds None anywhere."""
    return any(item is None or (item.__class__ in (list, tuple) and holds_none(item)) for item in items)


def holds_arrays(items: Any) -> bool:
    """Whether a nested list holds arrays or numbers of NumPy's anywhere."""
    return any(holds_arrays(x) if x.__class__ in (list, tuple) else hasattr(x, "__array__") for x in items)


def all_finite(value: Any) -> bool:
    """Whether every number in a plain result is finite."""
    cls = value.__class__
    if value is None or cls in (str, bool, int):
        return True
    if cls is float:
        return value - value == 0.0  # type: ignore[no-any-return]
    if cls is complex:
        return value.real - value.real == 0.0 and value.imag - value.imag == 0.0  # type: ignore[no-any-return]
    if cls in (list, tuple):
        return all(all_finite(v) for v in value)
    if cls is dict:
        return all(all_finite(v) for v in value.values())
    if hasattr(value, "dtype") and value.dtype.kind in "fc":
        import numpy as np

        # A sum is finite unless an element is not, or it overflows itself. A product of vectors is quicker for few, and
        # for many it would wait for the threads of the BLAS.
        with np.errstate(all="ignore"):
            total = value.sum() if value.size > 1_000 else np.vdot(value, value).real
        return bool(np.isfinite(total) or np.isfinite(value).all())
    return True


def type_of(value: Any) -> tuple[str, tuple[int, ...]] | None:
    """(dtype, shape) of a value, or None for one that is no tensor. A bare integer beyond int64 is Python's `int`."""
    if value.__class__ is int and not -(2**63) <= value < 2**63:
        return "int", ()
    if value.__class__ is Tensor:
        return value.dtype.name, value.shape
    raw = raw_dtype(value)
    if raw is not None:
        return raw.name, ()
    own = getattr(value, "attributes", {})
    if "dtype" in own and getattr(value, "shape", None) is not None:
        return own["dtype"](value).name, value.shape
    if hasattr(value, "read_value"):
        return type_of(value.read_value())
    if value.__class__ in (list, tuple):
        try:
            return type_of(as_operand(value))
        except AdiffError as error:
            if error.kind == "limit":
                raise
            return None
    return None
