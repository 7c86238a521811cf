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


def shared() -> bool:
    """Whether anybody may write to the folder: nothing is taken from such a one, and nothing kept there."""
    try:
        return hasattr(os, "getuid") and bool(os.stat(folder()).st_mode & 0o002)
    except (OSError, ValueError):
        return False


def problem() -> str | None:
    """Why nothing is kept in the folder, in words for its user; None where something can, which is found by trying."""
    if shared():
        return "everybody may write to it, so that nothing in it is used: chmod 700 makes it yours"
    probe = os.path.join(folder(), f".adiff.{os.getpid()}.{os.urandom(4).hex()}")
    try:
        os.makedirs(folder(), mode=0o700, exist_ok=True)
        os.mkdir(probe)
        os.rmdir(probe)
    except FileExistsError:
        return "it is no folder"
    except (OSError, ValueError) as fault:
        return str(getattr(fault, "strerror", fault)).lower()
    return None


def read(name: str) -> bytes | None:
    """The file's bytes, or None where there is none that this user wrote."""
    if shared():
        return None
    try:
        with open(os.path.join(folder(), name), "rb", buffering=0) as file:
            # Tables and machine code are trusted when loaded, so a file that another user could write is not taken.
            state = os.fstat(file.fileno())
            if hasattr(os, "getuid") and (state.st_uid != os.getuid() or state.st_mode & 0o022):
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
        if shared():
            return False
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


# What `write` adds to a name while it writes.
TEMPORARY = r"(\.[0-9]+\.[0-9a-f]{8})?"


def files(form: str) -> list[tuple[float, int, str]]:
    """When each file was modified, its size in bytes and its path, the oldest first: of the files in the folder with names of a
    form, or on the way to one; none where it cannot be read.

    The form is a regular expression. The folder may be one that a user has chosen and keeps other files in.
    """
    import re

    found: list[tuple[float, int, str]] = []
    of_form = re.compile(form + TEMPORARY).fullmatch
    try:
        with os.scandir(folder()) as entries:
            for entry in entries:
                try:
                    if of_form(entry.name) and entry.is_file(follow_symlinks=False):
                        state = entry.stat(follow_symlinks=False)
                        found.append((state.st_mtime, state.st_size, entry.path))
                except OSError:
                    continue  # removed by another process in the meantime
    except (OSError, ValueError):
        pass
    return sorted(found)
