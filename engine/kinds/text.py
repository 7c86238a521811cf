"""Values as text: print, str, f-strings, %-formatting. NumPy's and Python's forms, so that a pasted cell prints alike."""

from __future__ import annotations

from ..core.dtypes import WEAK_COUNT
from ..core.errors import failure
from ..core.limits import MAX_SHOWN_BITS, nest
from ..core.operands import as_operand, describe
from ..core.tensor import Tensor, count
from .functions import Builtin, Function

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


# The functions that are types too, for what `type(x)` prints.
TYPES = frozenset("int float bool complex str list tuple dict range zip enumerate Variable Tensor".split())


def text(value: Any) -> str:
    """What print shows."""
    if value.__class__ is str:
        return value
    if value.__class__ is Tensor:
        whole = value.dtype is WEAK_COUNT and not value.ndim and float(value.value).is_integer()
        return str(int(value.value) if whole else value.value)
    if hasattr(value, "read_value"):
        return text(value.read_value())
    if hasattr(value, "shown"):
        return str(value.shown())
    return representation(value)


def integer_text(value: int) -> str:
    if value.bit_length() > MAX_SHOWN_BITS:
        raise failure("E0604", f"an integer of {value.bit_length()} bits has too many digits to be shown")
    return repr(value)


def representation(value: Any, depth: int = 0) -> str:
    """What print shows inside a list."""
    cls = value.__class__
    if cls in (list, tuple, dict):
        depth = nest(depth)
    if cls is Tensor:
        if value.shape == ():
            return str(value.value)
        return repr(value.value)
    if cls is list:
        return "[" + ", ".join([representation(v, depth) for v in value]) + "]"
    if cls is tuple:
        inner = ", ".join([representation(v, depth) for v in value])
        return f"({inner},)" if len(value) == 1 else f"({inner})"
    if cls.__name__ in ("dict_keys", "dict_values", "dict_items"):
        return f"{cls.__name__}({representation(list(value), depth)})"
    if cls is dict:
        return (
            "{" + ", ".join([f"{representation(k, depth)}: {representation(v, depth)}" for k, v in value.items()]) + "}"
        )
    if cls is int:
        return integer_text(value)
    if cls in (str, float, complex, bool, range) or value is None or value is Ellipsis:
        return repr(value)
    if cls.__name__ == "DType":
        return str(value.name)
    if cls is Builtin and value.name in TYPES:
        return f"<class '{value.name}'>"
    if isinstance(value, (Function, Builtin)) or cls.__name__ in ("Operation", "WithDefaultDtypes"):
        return f"<function {value.name}>"
    own = getattr(value, "text", None)
    if own is not None:
        return str(own(representation))
    if hasattr(value, "read_value"):
        return representation(value.read_value())
    if hasattr(value, "__next__"):
        return f"<{cls.__name__}>"
    return f"<{describe(value)}>"


def formatted(value: Any, conversion: str | None, spec: str) -> str:
    """One field of an f-string; with the conversion "%" one of a text before `%`."""
    if conversion == "%":
        return percent(spec, (value,))
    if conversion in ("r", "a"):
        value = representation(value)
    elif conversion == "s":
        value = text(value)
    if not spec:
        return text(value)
    if hasattr(value, "read_value"):
        value = as_operand(value)
    given = value
    if value.__class__ is Tensor:
        value = value.value
    if value.__class__ not in (str, int, float, complex, bool) and getattr(value, "ndim", 0) != 0:
        raise failure(
            "E0304", "a tensor cannot be formatted with a width or a precision", "format its elements one by one"
        )
    check_width(spec)
    if value.__class__ is int:
        integer_text(value)
    try:
        return format(value, spec)
    except (ValueError, TypeError, OverflowError):
        raise failure("E0401", f"the format '{spec}' does not fit {describe(given)}") from None


def check_width(spec: str) -> None:
    if "*" in spec:
        raise failure(
            "E0604", "a width or precision taken from the values is refused", "write it into the format: %8.3f"
        )
    digits = "".join(ch if ch.isdecimal() else " " for ch in spec).split()
    if any(int(d) > 10_000 for d in digits if len(d) < 20) or any(len(d) >= 20 for d in digits):
        raise failure("E0604", "a width or precision above 10000 is refused")


def percent(template: str, values: Any) -> str:
    """`template % values`."""
    plain: Any = tuple(_plain(v) for v in values) if values.__class__ is tuple else _plain(values)
    if values.__class__ is dict:
        plain = {key: _plain(v) for key, v in values.items()}
    for field in template.replace("%%", "").split("%")[1:]:
        field = field[field.find(")") + 1 :] if field.startswith("(") else field
        check_width(field[: len(field) - len(field.lstrip("#0123456789- +.*"))])
    try:
        return str(template % plain)
    except (ValueError, TypeError, OverflowError) as fault:
        raise failure("E0401", f"the format does not fit its values: {fault}") from None


class Element(float):
    """The only element of a tensor under `%`: a number to `%f`, the text of the tensor to `%s`."""

    text = ""

    def __str__(self) -> str:
        return self.text


def _plain(value: Any) -> Any:
    if hasattr(value, "read_value"):
        value = as_operand(value)
    if value.__class__ is int:
        integer_text(value)
    if value.__class__ in (int, float, str, complex, bool):
        return value
    if value.__class__ is Tensor and value.shape == ():
        return value.value.item() if hasattr(value.value, "item") else value.value
    if value.__class__ is Tensor and count(value.shape) == 1 and value.dtype.kind in "if":
        element = Element(value.value.item())
        element.text = text(value)
        return element
    return text(value)
