"""The memory a command may take when nobody says: most of what is free, so that a runaway program is an error."""

from __future__ import annotations

SHARE = 0.9  # of what is free
PROCESS, MACHINE, GROUP = "/proc/self/status", "/proc/meminfo", "/sys/fs/cgroup/memory"


def guard(processes: int = 1) -> None:
    """Limit this process, one of so many, where the system tells what is free and lets us: Linux does."""
    try:
        import resource

        used = field(PROCESS, "VmData:")
        free = min(field(MACHINE, "MemAvailable:"), free_in_group())
        _, hard = resource.getrlimit(resource.RLIMIT_DATA)
        limit = used + int(SHARE * free / processes)
        if hard == resource.RLIM_INFINITY or limit < hard:
            resource.setrlimit(resource.RLIMIT_DATA, (limit, hard))
    except (ImportError, OSError, ValueError):
        return


def field(path: str, name: str) -> int:
    """A size in bytes from a file of the kernel's with lines like `MemAvailable: 1024 kB`."""
    with open(path, "rb", buffering=4096) as file:
        for line in file:
            if line.startswith(name.encode()):
                return int(line.split()[1]) * 1024
    raise ValueError(name)


def free_in_group() -> int:
    """What the container this process lives in has left; no bound where there is none."""
    try:
        with open(f"{GROUP}.max", "rb") as most, open(f"{GROUP}.current", "rb") as current:
            return int(most.read()) - int(current.read())
    except (OSError, ValueError):
        return 1 << 62
