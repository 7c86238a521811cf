"""How many cores are ours."""

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
