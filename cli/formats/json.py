"""Results as strict JSON: NaN and infinities are strings, complex numbers are pairs, tensors nested lists."""

from __future__ import annotations

from .numbers import is_array, is_float32, plain, shortest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

SCHEMA = 1


def dumps(value: Any, ascii: bool = False) -> str:
    """The value as JSON on one line."""
    from json.encoder import encode_basestring, encode_basestring_ascii

    return _dumps(value, encode_basestring_ascii if ascii else encode_basestring, False)


def _dumps(value: Any, quote: Any, single: bool) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return quote(value)  # type: ignore[no-any-return]
    if isinstance(value, float):
        return number(value, single)
    if isinstance(value, int):
        return str(value)
    if isinstance(value, dict):
        items = [f"{quote(str(key))}: {_dumps(item, quote, single)}" for key, item in value.items()]
        return "{" + ", ".join(items) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join([_dumps(item, quote, single) for item in value]) + "]"
    if isinstance(value, complex):
        return f"[{number(value.real, single)}, {number(value.imag, single)}]"
    if is_array(value):
        content = value.tolist()
        if str(value.dtype) == "float64" and "n" not in (text := repr(content)):
            return text  # Python's text of a list without nan and inf is JSON, and it is made in C
        return _dumps(content, quote, is_float32(value))
    if hasattr(value, "to_plain"):
        return _dumps(plain(value), quote, single)
    if isinstance(value, set | frozenset):
        return _dumps(sorted(value, key=str), quote, single)
    return quote(str(value))  # type: ignore[no-any-return]


def number(value: float, single: bool) -> str:
    """A number, or the string that stands for one JSON does not have."""
    text = shortest(value) if single else float.__repr__(value)
    return f'"{text}"' if text in ("nan", "inf", "-inf") else text


def document(command: str, content: dict[str, Any]) -> dict[str, Any]:
    """The object a command answers with."""
    return {"schema": SCHEMA, "command": command, **content}
