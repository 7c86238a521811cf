"""Kernels kept on disk: what was compiled once starts, in another process, without Numba.

An entry is a file in adiff's cache folder (parser/cache.py: written whole or not at all, by and for this user only). Its
name is a digest of everything that it depends on; its content repeats that in full, behind a digest of its own. What is
truncated, foreign or of another machine is ignored, and replaced when the kernel has been compiled again. Nothing is kept,
or read, while the table has rows from outside of adiff's sources: a change in them would go unnoticed.
"""

from __future__ import annotations

import marshal
import os
import sys

from ....parser import cache
from ...ops import registry
from ..ir import Emitted
from .load import Code

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

PREFIX = "kernel-"
# Raise this where an entry of the same key comes to mean something else.
MAGIC = b"adiff kernel 3\n"
DIGEST_BYTES = 16
FORM = f"{PREFIX}[0-9a-f]{{{2 * DIGEST_BYTES}}}"
# Entries are removed, the oldest first, where they take more than this.
MOST_BYTES = 256 << 20
BROKEN = (EOFError, ValueError, TypeError, KeyError, IndexError, AttributeError, OverflowError)
LIBRARIES = ("numba", "llvmlite", "numpy", "scipy")
ENVIRONMENT: list[str] = []


def digest(content: bytes) -> bytes:
    """A fingerprint of bytes."""
    try:
        from _blake2 import blake2b  # hashlib would load OpenSSL for it
    except ImportError:
        from hashlib import blake2b
    return blake2b(content, digest_size=DIGEST_BYTES).digest()


def environment() -> str:
    """What machine code depends on beside its program: this Python, the libraries, adiff's sources and the processor."""
    from importlib.machinery import PathFinder

    root = os.path.abspath(__file__)
    for _ in range(4):
        root = os.path.dirname(root)
    found = [getattr(PathFinder.find_spec(name), "origin", None) for name in LIBRARIES]
    for top in ("engine", "parser"):
        for folder, _, names in os.walk(os.path.join(root, top)):
            found += [os.path.join(folder, name) for name in names if name.endswith((".py", ".lark"))]
    states = [(path, os.stat(path)) for path in sorted(filter(None, found))]
    files = [(path, state.st_mtime_ns, state.st_size) for path, state in states]
    return repr((sys.hexversion, sys.platform, files, processor()))


def processor() -> bytes:
    """What tells processors apart."""
    try:
        with open("/proc/cpuinfo", "rb") as file:
            lines = file.read(8192).split(b"\n")
        return b"\n".join(x for x in lines[:40] if x.startswith((b"model name", b"flags", b"Features", b"CPU")))
    except OSError:
        return " ".join(getattr(os, "uname", tuple)()[-1:]).encode()


def key_of(*parts: Any) -> str:
    """The key of a kernel: what it was made from, and what made it."""
    if not ENVIRONMENT:
        ENVIRONMENT.append(digest(environment().encode()).hex())
    return ENVIRONMENT[0] + repr(parts)


def load(key: str) -> tuple[Emitted, Code, Any] | None:
    """The source, the code and whatever else was saved under a key, or None."""
    content = cache.read(file_of(key)) if len(registry.ROWS) == registry.OWN else None
    if content is None:
        return None
    start = len(MAGIC) + DIGEST_BYTES
    if content[:start] == MAGIC + digest(content[start:]):
        try:
            found_key, emitted, constants, code, more = marshal.loads(content[start:])
            if found_key == key:
                if constants:
                    from numpy import frombuffer

                    constants = [frombuffer(held, dtype).reshape(shape) for held, dtype, shape in constants]
                return Emitted(*emitted, constants, False), Code(*code), more
        except BROKEN:
            pass
    cache.remove(os.path.join(cache.folder(), file_of(key)))
    return None


def save(key: str, emitted: Emitted, code: Code, more: Any = None) -> bool:
    """Keep a kernel, and `more` of plain types; True if it was kept."""
    if len(registry.ROWS) != registry.OWN:
        return False
    constants = [(x.tobytes(), x.dtype.str, x.shape) for x in emitted.constants]
    known = (emitted.text, list(emitted.parameters), list(emitted.results), emitted.slots, emitted.flags)
    content = marshal.dumps((key, known, constants, (code.object, list(code.externals)), more))
    make_room(len(content))
    return cache.write(file_of(key), MAGIC + digest(content) + content)


def file_of(key: str) -> str:
    return PREFIX + digest(key.encode("utf-8", "surrogatepass")).hex()


def make_room(size: int) -> None:
    """Remove the oldest entries where those that there are, and one of `size` bytes, would take too much."""
    files = cache.files(FORM)
    total = size + sum(own for _, own, _ in files)
    for _, own, path in files:
        if total <= MOST_BYTES:
            break
        cache.remove(path)
        total -= own
