"""What this machine has: cores and memory."""

from __future__ import annotations

import os

from ...parser.errors import AdiffError


def cores() -> int:
    """How many cores this process may use: as many as the system says, or as the environment variable ADIFF_THREADS."""
    wanted = os.environ.get("ADIFF_THREADS")
    if wanted:
        if not (wanted.isascii() and wanted.isdigit() and int(wanted[:9])):
            raise AdiffError("E0812", f"ADIFF_THREADS is {wanted!r}, and can be a positive integer")
        return int(wanted[:9])
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def physical_memory() -> int:
    """The bytes that this machine has; more than any has where it does not say."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return 1 << 46


def size_in(path: str, name: str) -> int:
    """A size in bytes from a file of the kernel's with lines like `MemAvailable: 1024 kB`."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        text = os.read(descriptor, 8192).decode()
    finally:
        os.close(descriptor)
    return int(text[text.index(name) + len(name) :].split(None, 1)[0]) * 1024


def data_size() -> int:
    """The bytes of the data segment, of which the system limits the number."""
    return size_in("/proc/self/status", "VmData:")
