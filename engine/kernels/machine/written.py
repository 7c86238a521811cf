"""Machine code that is written in LLVM's language, not made of a program: compiled once and kept like kernels."""

from __future__ import annotations

from .. import store
from .code import Code, loader, processor

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any


def function(symbol: str, text: str, symbols: Mapping[str, int] | None = None) -> tuple[int, Any]:
    """The address of a function of a module, and what must be kept as long as it may be called; `symbols` are the
    addresses of what it calls. Raises Unsupported where this system does not load it."""
    return loader().load(kept(symbol, text) or compiled(symbol, text), symbols=symbols or {})


def key(symbol: str, text: str) -> str:
    return store.key_of(symbol, processor(), text)


def kept(symbol: str, text: str) -> Code | None:
    """What another process has compiled."""
    entry = store.load(key(symbol, text))
    return None if entry is None else Code(entry["object"], symbol)


def compiled(symbol: str, text: str) -> Code:
    from ..compilation.native import object_code

    code = object_code(text)
    store.save(key(symbol, text), {"object": code})
    return Code(code, symbol)
