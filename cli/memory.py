"""The memory a command may take when nobody says: most of what is free, so that a runaway program is an error."""

from __future__ import annotations

from ..engine.core.machine import data_size, size_in

SHARE = 0.9  # of what is free
MACHINE, GROUP = "/proc/meminfo", "/sys/fs/cgroup/memory"


def guard(processes: int = 1) -> None:
    """Limit this process, one of so many, where the system tells what is free and lets us: Linux does."""
    try:
        import resource

        used = data_size()
        free = min(size_in(MACHINE, "MemAvailable:"), free_in_group())
        _, hard = resource.getrlimit(resource.RLIMIT_DATA)
        limit = used + int(SHARE * free / processes)
        if hard == resource.RLIM_INFINITY or limit < hard:
            resource.setrlimit(resource.RLIMIT_DATA, (limit, hard))
    except (ImportError, OSError, ValueError):
        return


def free_in_group() -> int:
    """What the container this process lives in has left; no bound where there is none."""
    try:
        with open(f"{GROUP}.max", "rb") as most, open(f"{GROUP}.current", "rb") as current:
            return int(most.read()) - int(current.read())
    except (OSError, ValueError):
        return 1 << 62
