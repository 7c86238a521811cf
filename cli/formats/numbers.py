"""Values as text: numbers as the shortest text that reads back to the same number, tensors as nested lists."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    Entry = tuple[tuple[int | str, ...], Any, bool]

SCALARS = (float, int, bool, complex)


def is_array(value: object) -> bool:
    """Whether a value is a NumPy array or scalar, asked without importing NumPy."""
    return hasattr(value, "dtype") and hasattr(value, "tolist")


def plain(value: Any) -> Any:
    """A value of another kind (ragged, sparse, Variable, …) as lists, dicts and arrays; others as they are."""
    return value.to_plain() if hasattr(value, "to_plain") else value


def is_float32(array: Any) -> bool:
    """Whether an array's shortest text differs from that of the float64 numbers in it."""
    return str(array.dtype) in ("float32", "complex64", "float16")


def shortest(number: float) -> str:
    """The shortest text of a number that reads back to the same float32 (numbers are given as float64)."""
    import numpy

    return repr(float(str(numpy.float32(number))))


def scalar_text(value: Any, precision: int | None = None, single: bool = False) -> str:
    """A number, boolean or None as Python prints it, or with `precision` significant digits."""
    if isinstance(value, bool) or value is None:
        return str(value)
    if isinstance(value, float):
        if precision is not None:
            return f"{value:.{precision}g}"
        return shortest(value) if single else float.__repr__(value)
    if isinstance(value, complex):
        if precision is None and not single:
            return complex.__repr__(value)
        imaginary = scalar_text(value.imag, precision, single)
        sign = "" if imaginary.startswith(("-", "+")) else "+"
        return f"({scalar_text(value.real, precision, single)}{sign}{imaginary}j)"
    return str(value)


def value_text(value: Any, precision: int | None = None, inside: bool = False, single: bool = False) -> str:
    """Any value on one line, where it is `single` of float32; a string is bare on its own and quoted inside a list."""
    value = plain(value)
    if isinstance(value, str):
        return repr(value) if inside else value
    if value is None or isinstance(value, SCALARS):
        return scalar_text(value, precision, single)
    if is_array(value):
        return array_text(value, precision, inside)
    if isinstance(value, list | tuple):
        items = ", ".join([value_text(item, precision, True, single) for item in value])
        if isinstance(value, tuple):
            return f"({items},)" if len(value) == 1 else f"({items})"
        return f"[{items}]"
    if isinstance(value, dict):
        pairs = [(value_text(key, None, True), value_text(item, precision, True)) for key, item in value.items()]
        return "{" + ", ".join(f"{key}: {item}" for key, item in pairs) + "}"
    if isinstance(value, set | frozenset):
        return "{" + ", ".join(sorted(value_text(item, precision, True) for item in value)) + "}"
    return str(value)


def array_text(array: Any, precision: int | None, inside: bool) -> str:
    """An array as nested lists; its entries are turned to text by Python itself wherever that is right."""
    content = array.tolist()
    if precision is None and not is_float32(array):
        return content if isinstance(content, str) and not inside else repr(content)
    return value_text(content, precision, inside, is_float32(array))


def entries(value: Any) -> Iterator[Entry]:
    """Every scalar of a value with its indices, and whether it is a float32."""
    value = plain(value)
    single = is_array(value) and is_float32(value)
    return _entries(value.tolist() if is_array(value) else value, (), single)


def _entries(value: Any, path: tuple[int | str, ...], single: bool) -> Iterator[Entry]:
    if is_array(value) or hasattr(value, "to_plain"):
        for inner, scalar, is_single in entries(value):
            yield path + inner, scalar, is_single
    elif isinstance(value, list | tuple):
        for index, item in enumerate(value):
            yield from _entries(item, (*path, index), single)
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _entries(item, (*path, str(key)), single)
    else:
        yield path, value, single
