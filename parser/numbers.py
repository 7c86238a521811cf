"""Number literals, as Python reads them."""

from __future__ import annotations

from math import inf

from .mistake import Mistake
from .syntax import Number


def number(text: str, start: int, end: int) -> Number:
    """The node of a literal that the lexer's pattern has matched."""
    value: complex
    try:
        if text[-1] in "jJ":
            value = complex(text)
        elif text.isdigit() or text[:2].lower() in ("0x", "0b", "0o") or not set(text) & set(".eE"):
            value = int(text, 0)
        else:
            value = float(text)
    except ValueError:
        raise _refusal(text, start, end) from None
    if abs(value) == inf:
        raise Mistake(
            "E0124", "this number is too large for a double", start, end, "write inf; 1.797e308 is the largest"
        )
    return Number(value, start, end)


def _refusal(text: str, start: int, end: int) -> Mistake:
    if text[0] == "0":
        plain = text.lstrip("0_")
        hint = f"write {plain}, or 0o{plain} for an octal number" if set(plain) <= set("01234567") else f"write {plain}"
        return Mistake("E0123", "a whole number cannot begin with 0", start, end, hint)
    # Python converts decimal text of any length only on request, because the time grows with its square.
    digits = len(text.replace("_", ""))
    message = f"this whole number has {digits} digits, which is more than can be converted"
    hint = "write it as a power or in hexadecimal, or as a float with an exponent"
    return Mistake("E0124", message, start, end, hint)
