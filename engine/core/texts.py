"""The methods of texts that need nothing but texts: both executors have them."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

TEXT_METHODS: dict[str, Callable[..., Any]] = {
    "upper": lambda s: s.upper(), "lower": lambda s: s.lower(), "strip": lambda s: s.strip(),
    "split": lambda s, sep=None: s.split(sep), "startswith": lambda s, p: s.startswith(p),
    "endswith": lambda s, p: s.endswith(p), "replace": lambda s, a, b: s.replace(a, b),
    "title": lambda s: s.title(), "decode": lambda s, encoding="utf-8": s, "encode": lambda s, encoding="utf-8": s,
}  # fmt: skip

__all__ = ["TEXT_METHODS"]
