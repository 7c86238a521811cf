"""The methods of texts that need nothing but texts: both executors have them."""

from __future__ import annotations

from .errors import failure

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


def recoded(text: str, written: str, read: str) -> str:
    """The bytes of a text in one encoding, read in another: `encode` and `decode`, as bytes are text here."""
    try:
        return text.encode(written, "surrogateescape").decode(read, "surrogateescape")
    except (LookupError, UnicodeError) as fault:
        raise failure("E0401", f"{text[:40]!r} cannot be read from {written} as {read}: {fault}") from None


def method(name: str) -> Callable[..., Any]:
    """Python's method of strings of that name, of texts and numbers."""

    def run(s: str, *args: Any, **named: Any) -> Any:
        try:
            return getattr(s, name)(*args, **named)
        except ValueError as fault:
            raise failure("E0401", f"{name}: {fault}") from None

    return run


PLAIN = """
split upper lower strip lstrip rstrip rsplit splitlines startswith endswith find rfind index
rindex count capitalize swapcase casefold partition rpartition removeprefix removesuffix title isdigit isdecimal isnumeric
isalpha isalnum isupper islower isspace istitle isidentifier isascii isprintable
"""

TEXT_METHODS: dict[str, Callable[..., Any]] = {
    **{name: method(name) for name in PLAIN.split()},
    "replace": lambda s, old, new, count=-1: s.replace(old, new, count),
    "rjust": lambda s, width, fill=" ": s.rjust(width, fill), "ljust": lambda s, width, fill=" ": s.ljust(width, fill),
    "center": lambda s, width, fill=" ": s.center(width, fill), "zfill": lambda s, width: s.zfill(width),
    "decode": lambda s, encoding="utf-8": recoded(s, "utf-8", encoding),
    "encode": lambda s, encoding="utf-8": recoded(s, encoding, "utf-8"),
}  # fmt: skip
