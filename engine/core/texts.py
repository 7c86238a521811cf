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


TEXT_METHODS: dict[str, Callable[..., Any]] = {
    "upper": lambda s: s.upper(), "lower": lambda s: s.lower(), "strip": lambda s: s.strip(),
    "split": lambda s, sep=None: s.split(sep), "startswith": lambda s, p: s.startswith(p),
    "endswith": lambda s, p: s.endswith(p), "replace": lambda s, a, b: s.replace(a, b),
    "rjust": lambda s, width, fill=" ": s.rjust(width, fill), "ljust": lambda s, width, fill=" ": s.ljust(width, fill),
    "center": lambda s, width, fill=" ": s.center(width, fill), "zfill": lambda s, width: s.zfill(width),
    "title": lambda s: s.title(), "decode": lambda s, encoding="utf-8": recoded(s, "utf-8", encoding),
    "encode": lambda s, encoding="utf-8": recoded(s, encoding, "utf-8"),
}  # fmt: skip
