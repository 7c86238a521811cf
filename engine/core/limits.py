"""The limits that make untrusted programs safe: steps, memory, time, depth.

Memory is limited by the operating system (the data segment's soft limit) so that no allocation escapes, and a
request that is hopeless from its shape alone is refused before it is made. Many small ones are ended before the system
refuses one (`watchdog.py`).
"""

from __future__ import annotations

from time import thread_time

from .errors import failure
from .machine import data_size, physical_memory

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from ...parser.errors import AdiffError
    from .watchdog import Watchdog

MAX_CALL_DEPTH = 5_000
# The highest order whose factorial is a float: what goes by power series multiplies with it.
MOST_ORDER = 170
# How deep lists may nest where they are shown, compared or made tensors; a list that holds itself has no end.
MAX_NESTING = 1_000
MAX_INTEGER_BITS = 1_000_000
# Integers are shown in decimal, which costs the square of their length: Python refuses above 4300 digits, and so do we.
MAX_SHOWN_BITS = 14_000


# Steps between two looks at the clock.
LOOK = 100


class GivesWay(BaseException):
    """The tape has taken so long, or will, that a kernel should be tried: longer than so many `seconds`, its argument. No
    error: nothing that handles errors may take it."""


class Limits:
    """The limits in force. `max_memory` is in bytes; None means no limit.

    `patience` is the time of the thread (that others are busy is no reason) from which on a step gives way to a kernel,
    `waited` seconds after it was set; steps are counted for it too. `more`, called once when that time has come, says how many
    seconds longer to wait.
    """

    more: Callable[[], float] | None = None
    max_steps: int | None = None
    max_memory: int | None = None
    patience: float | None = None
    waited = 0.0
    steps = 0


LIMITS = Limits()


# What no single array may take where nobody has set a limit.
MACHINE = physical_memory()
IMPOSSIBLE = 1 << 46  # bytes that no machine has


def step() -> None:
    """Count one iteration or call of the program."""
    LIMITS.steps += 1
    if LIMITS.max_steps is not None and LIMITS.steps > LIMITS.max_steps:
        if LIMITS.patience is None:
            raise failure(
                "E0601", f"the program took more than {LIMITS.max_steps} steps", "raise the limit: --max-steps N"
            )
        look_at_clock()
        LIMITS.max_steps = LIMITS.steps + LOOK


def give_way_after(seconds: float, more: Callable[[], float] | None = None) -> None:
    """Steps from now on give way to a kernel once so many seconds have gone, and those that `more` then says."""
    LIMITS.waited = seconds
    LIMITS.patience = thread_time() + seconds
    LIMITS.more = more
    LIMITS.max_steps = LIMITS.steps + LOOK


def look_at_clock() -> None:
    """Give way once the time for it has come."""
    if LIMITS.patience is None or thread_time() <= LIMITS.patience:
        return
    more, LIMITS.more = LIMITS.more, None
    longer = 0.0 if more is None else more()
    if longer <= 0.0:
        raise GivesWay(LIMITS.waited)
    LIMITS.waited += longer
    LIMITS.patience += longer


def stay() -> None:
    """Steps do not give way any more."""
    if LIMITS.patience is not None:
        LIMITS.patience = LIMITS.max_steps = None


def allocate(count: int, itemsize: int = 8) -> None:
    """Refuse an array of `count` elements that cannot fit."""
    size = count * itemsize
    possible = size <= IMPOSSIBLE
    if not (fits(size) and possible):
        raised = LIMITS.max_memory is not None and possible
        advice = "raise the limit: --max-memory SIZE" if raised else "check the shape"
        raise too_large("this", size, advice)


def fits(size: int) -> bool:
    """Whether so many bytes are within the limit, or the memory of the machine."""
    return size <= (MACHINE if LIMITS.max_memory is None else LIMITS.max_memory)


def too_large(what: str, size: int, advice: str) -> AdiffError:
    limit = LIMITS.max_memory
    beside = f", and the limit is {size_text(limit)}" if limit else f", and this machine has {size_text(MACHINE)}"
    if size > IMPOSSIBLE:
        beside = ""
    return failure("E0602", f"{what} would need {size_text(size)} of memory{beside}", advice)


def count_of(x: range) -> int:
    """How many numbers a range has, beyond what len() can say."""
    return max(0, -((x.start - x.stop) // x.step))


def listed(x: range) -> list[int]:
    """The numbers of a range, if there can be such a list."""
    allocate(count_of(x), 36)
    return list(x)


def allow_table(n: int, rows: int = 1) -> None:
    """Refuse dense Hessians by n numbers, one for each row of a table, that cannot fit."""
    size = 8 * n * n * rows
    if not fits(size):
        what = "the Hessian" if rows == 1 else f"the Hessians of {rows:,} rows"
        advice = "--sparse gives the entries that may differ from zero; `adiff hvp` gives its product with a vector"
        raise too_large(f"{what} by {n:,} numbers", size, advice)


def out_of_memory(limit: int | None, fault: MemoryError | None = None) -> AdiffError:
    """The error for memory that is not there; `limit` is the one that was in force."""
    within = f" (limit {size_text(limit)})" if limit else ""
    wanted = getattr(fault, "_total_size", 0)  # NumPy's error says what it could not have
    # A request for a small part of the limit is not to blame for what others took before it.
    asked = f": it asked for {size_text(wanted)} at once" if wanted * 8 >= (limit or MACHINE) else ""
    advice = "raise the limit: --max-memory SIZE; for a derivative of a long loop, --checkpoint SIZE takes less"
    return failure("E0602", f"the program ran out of memory{within}{asked}", advice)


def is_not_loaded(fault: BaseException) -> bool:
    """Whether a library was not loaded, for which there may be no memory; one of adiff's own modules is always there."""
    own = __name__.partition(".")[0]
    return isinstance(fault, OSError | ImportError) and not (getattr(fault, "name", None) or "").startswith(own)


def nest(depth: int) -> int:
    """The next level of nesting, if there may be one."""
    if depth >= MAX_NESTING:
        raise failure("E0605", f"lists nested more than {MAX_NESTING} deep", "does a list hold itself?")
    return depth + 1


def size_text(size: int) -> str:
    """A number of bytes for people: 1.5 GiB."""
    amount = float(min(size, 10**300))  # a float has no more
    for unit in ("B", "KiB", "MiB", "GiB", "TiB", "PiB"):
        if amount < 1024:
            return f"{amount:.3g} {unit}"
        amount /= 1024
    return f"{amount:.3g} EiB"


# Bytes above a program's limit: up to the first a small value may take it, and the system refuses memory beyond the second.
ROOM, BEYOND = 32 << 20, 64 << 20
IN_FORCE: list[enforced] = []  # the limits of memory that hold


class memory_of_adiff:
    """A context for work of adiff's own, such as a compiler's, that is no part of what a program may take."""

    def __enter__(self) -> None:
        for limit in IN_FORCE:
            limit.lift_memory()

    def __exit__(self, *exception: object) -> None:
        for limit in IN_FORCE:
            limit.limit_memory()


class enforced:
    """A context in which steps, memory (bytes) and time (seconds) are limited; None means no limit."""

    def __init__(self, max_steps: int | None, max_memory: int | None, timeout: float | None) -> None:
        self.max_steps = max_steps
        self.max_memory = max_memory
        self.timeout = timeout
        self.watchdog: Watchdog | None = None

    def __enter__(self) -> None:
        LIMITS.steps = 0
        LIMITS.patience = None
        LIMITS.max_steps = self.max_steps
        LIMITS.max_memory = self.max_memory
        if self.max_memory is None and self.timeout is None:
            return
        from .watchdog import Watchdog

        self.watchdog = Watchdog(self.timeout)
        if self.max_memory is not None:
            self.limit_memory()
        self.watchdog.start()

    def limit_memory(self) -> None:
        """Limit the data segment to what is used now and `max_memory` more, where the system can."""
        try:
            import resource
        except ImportError:  # not on Windows: hopeless shapes are refused, other allocations are not limited
            return
        assert self.watchdog is not None
        assert self.max_memory is not None
        if self.max_memory < 1 << 30:
            # OpenBLAS starts its threads when NumPy is imported and dies loudly where it cannot: let it start now, before
            # what is used is looked at, since that memory is none of the program's.
            import numpy  # noqa: F401
        try:
            used = data_size()
            self.watchdog.most_memory = used + self.max_memory + ROOM
        except (OSError, ValueError):  # not where the system does not say what is used
            used = 1 << 30
        if self not in IN_FORCE:
            self.saved = resource.getrlimit(resource.RLIMIT_DATA)
            IN_FORCE.append(self)
        wanted, hard = used + self.max_memory + BEYOND, self.saved[1]
        resource.setrlimit(
            resource.RLIMIT_DATA, (wanted if hard == resource.RLIM_INFINITY else min(wanted, hard), hard)
        )

    def lift_memory(self) -> None:
        """The data segment's limit as it was before."""
        import resource

        assert self.watchdog is not None
        self.watchdog.most_memory = None
        resource.setrlimit(resource.RLIMIT_DATA, self.saved)

    def __exit__(self, *exception: object) -> None:
        self.lift()

    def lift(self) -> None:
        """End the limits. Who enters them calls this in a `finally` too: the watchdog may strike on the way in or out."""
        if self.watchdog is not None:
            self.watchdog.cancel()
        if self in IN_FORCE:
            self.lift_memory()
            IN_FORCE.remove(self)
        LIMITS.max_steps = LIMITS.patience = LIMITS.max_memory = None
