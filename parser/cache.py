"""A folder of files that can be made again, shared by any number of processes.

Nothing here may fail a command: what cannot be read is a miss, what cannot be written is not kept.
"""

from __future__ import annotations

import os
import sys


def folder() -> str:
    """Where this user's cached files go; ``ADIFF_CACHE_DIR`` overrides the custom of the platform."""
    environment = os.environ
    chosen = environment.get("ADIFF_CACHE_DIR")
    if chosen:
        return chosen
    if sys.platform == "win32":
        parent = environment.get("LOCALAPPDATA") or os.path.expanduser(r"~\AppData\Local")
        return os.path.join(parent, "adiff", "Cache")
    # XDG asks that a relative path be ignored.
    parent = environment.get("XDG_CACHE_HOME", "")
    if not os.path.isabs(parent):
        parent = os.path.expanduser("~/Library/Caches" if sys.platform == "darwin" else "~/.cache")
    return os.path.join(parent, "adiff")


def read(name: str) -> bytes | None:
    """The file's bytes, or None where there is none that this user wrote."""
    try:
        with open(os.path.join(folder(), name), "rb", buffering=0) as file:
            # Cached tables and machine code are trusted when loaded, so another user's file is not taken.
            if hasattr(os, "getuid") and os.fstat(file.fileno()).st_uid != os.getuid():
                return None
            return file.read()
    except (OSError, ValueError):
        return None


def write(name: str, content: bytes) -> bool:
    """Keep bytes under a name, readable by this user only; True if they were kept.

    The file appears whole or not at all, so readers and writers need no lock: of several writers the last one wins.
    """
    directory = folder()
    temporary = os.path.join(directory, f"{name}.{os.getpid()}.{os.urandom(4).hex()}")
    try:
        os.makedirs(directory, mode=0o700, exist_ok=True)
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o600)
    except (OSError, ValueError):
        return False
    try:
        with open(descriptor, "wb") as file:
            file.write(content)
        os.replace(temporary, os.path.join(directory, name))
    except OSError:
        remove(temporary)
        return False
    return True


def remove(path: str) -> None:
    """Delete a file if it is there and may be deleted."""
    try:
        os.remove(path)
    except OSError:
        pass
