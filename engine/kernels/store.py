"""Kernels kept on disk: what was compiled once starts, in another process, without a compiler.

An entry is a file in adiff's cache folder (parser/cache.py: written whole or not at all, by and for this user only). Its
name is a digest of everything that it depends on; its content says the same in full, behind a digest of its own. What
is truncated, foreign or of another machine is not taken, and is replaced when the kernel has been compiled again. Nothing is
kept, or taken, while the table has rows from outside of adiff's sources: nobody would see that these have changed.
"""

from __future__ import annotations

import marshal
import os
import sys

from ...parser import cache
from ..ops import registry

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

PREFIX = "kernel-"
# Raise this where an entry of the same key comes to mean something else.
MAGIC = b"adiff kernel 1\n"
DIGEST_BYTES = 16
FORM = f"{PREFIX}[0-9a-f]{{{2 * DIGEST_BYTES}}}"
# Entries are removed, the oldest first, where they take more than this.
MOST_BYTES = 256 << 20
# An entry that takes more than one part in so many of them is not kept: it would cost many others their place.
FEWEST_ENTRIES = 8
BROKEN = (EOFError, ValueError, TypeError, KeyError, IndexError, AttributeError, OverflowError)


def digest(content: bytes) -> bytes:
    """A fingerprint of bytes."""
    try:
        from _blake2 import blake2b  # hashlib would load OpenSSL for it
    except ImportError:
        from hashlib import blake2b
    return blake2b(content, digest_size=DIGEST_BYTES).digest()


ENVIRONMENT: list[str] = []


def environment() -> str:
    """What machine code depends on beside its program: this Python, the libraries, adiff's own sources and the
    processor; and the compiler that was asked for, if it is not adiff's. Raises AdiffError where there is none such."""
    other = ""
    if os.environ.get("ADIFF_COMPILER"):
        from .compilation.compiler import COMPILERS, chosen

        other = chosen().replace(COMPILERS[0], "")
    versions = [own_version(name) for name in ("llvmlite", "numpy", "scipy", other) if name]
    return repr((sys.hexversion, sys.platform, other, versions, sources(), processor()))


def own_version(package: str) -> bytes:
    """What a package says of its version, read without importing it."""
    from importlib.machinery import PathFinder

    found = PathFinder.find_spec(package)
    if found is None or found.origin is None:
        return b""
    for name in ("_version.py", "version.py"):
        try:
            with open(os.path.join(os.path.dirname(found.origin), name), "rb") as file:
                return file.read()
        except OSError:
            continue
    return found.origin.encode()


def sources() -> list[tuple[str, int, int]]:
    """Name, time and size of the files that decide what a program compiles to."""
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    found: list[tuple[str, int, int]] = []
    pending = [os.path.join(root, "engine"), os.path.join(root, "parser")]
    while pending:
        with os.scandir(pending.pop()) as entries:
            for entry in entries:
                if entry.name.endswith((".py", ".lark")):
                    state = entry.stat()
                    found.append((entry.path[len(root) :], state.st_mtime_ns, state.st_size))
                elif entry.is_dir() and entry.name != "__pycache__":
                    pending.append(entry.path)
    return sorted(found)


def processor() -> bytes:
    """What tells processors apart at a glance; an entry names the one it was made for exactly."""
    try:
        with open("/proc/cpuinfo", "rb") as file:
            lines = file.read(8192).split(b"\n")
        return b"\n".join(
            line for line in lines[:40] if line.startswith((b"model name", b"flags", b"Features", b"CPU"))
        )
    except OSError:
        return " ".join(getattr(os, "uname", tuple)()[-1:]).encode()


def key_of(*parts: Any) -> str:
    """The key of a kernel: what it was made from, and what made it."""
    if not ENVIRONMENT:
        ENVIRONMENT.append(digest(environment().encode()).hex())
    return ENVIRONMENT[0] + repr(parts)


def file_of(key: str) -> str:
    return PREFIX + digest(key.encode("utf-8", "surrogatepass")).hex()


def load(key: str) -> dict[str, Any] | None:
    """The entry of a key, or None."""
    content = cache.read(file_of(key)) if len(registry.ROWS) == registry.OWN else None
    if content is None:
        return None
    start = len(MAGIC) + DIGEST_BYTES
    if content[: len(MAGIC)] == MAGIC and digest(content[start:]) == content[len(MAGIC) : start]:
        try:
            entry = marshal.loads(content[start:])
            if entry["key"] == key:
                return entry["kept"]  # type: ignore[no-any-return]
        except BROKEN:
            pass
    forget(key)
    return None


def save(key: str, kept: dict[str, Any]) -> bool:
    """Keep an entry of plain types; True if it was kept, which one that is very large is not."""
    if len(registry.ROWS) != registry.OWN:
        return False
    content = marshal.dumps({"key": key, "kept": kept})
    if len(content) * FEWEST_ENTRIES > MOST_BYTES:
        return False
    make_room(len(content))
    return cache.write(file_of(key), MAGIC + digest(content) + content)


def forget(key: str) -> None:
    """Drop the entry of a key."""
    cache.remove(os.path.join(cache.folder(), file_of(key)))


def make_room(size: int) -> None:
    """Remove the oldest entries where those that there are, and one of `size` bytes, would take too much."""
    files = cache.files(FORM)
    total = size + sum(file.size for file in files)
    for file in sorted(files, key=lambda file: file.modified):
        if total <= MOST_BYTES:
            break
        cache.remove(file.path)
        total -= file.size
