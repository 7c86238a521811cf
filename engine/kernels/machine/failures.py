"""Errors inside a kernel, in the words of the tape: what is known where the kernel left, said as the row says it."""

from __future__ import annotations

from ...core import wording
from ...core.errors import span_of
from ...core.limits import out_of_memory, too_many_steps
from ...core.state import STATE
from ..ir import Crowded, Left, Parted, Resized, Stopped, Told, Unsupported, Untold
from .record import FAILED, NO_MEMORY

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from ....parser.errors import AdiffError
    from ..emitted import Emitted

# A kernel that leaves gives one number. Of two, the first is brought within FAR and multiplied by BESIDE.
FAR = 1 << 30
BESIDE = 1 << 32


def error_of(left: Left, emitted: Emitted) -> Exception:
    """The error for which a kernel left; Unsupported where the tape is to say it."""
    if left.why == NO_MEMORY:
        site = emitted.slot_sites[left.where]
        if site is None:
            # Memory of a size that the program states: the tape refuses it, or has a better way.
            return Unsupported("an array for which there is no memory")
        STATE.site = site
        return out_of_memory()
    if left.why == FAILED:
        site, said = emitted.sites[left.where]
        if said is not None and site is not None:
            STATE.site = site
            name, *facts = said
            error = FAILURES[name](*facts, left.number)
            if isinstance(error, Unsupported):
                error.site = site
            if error is not None:
                return error
        return Unsupported("a step with values that only the tape takes", site)
    return Unsupported("an operation that fails, or an integer beyond int64")


def interruption(stopped: Stopped, emitted: Emitted) -> BaseException:
    """The exception of a signal that stopped a kernel; a limit's carries the place where the kernel was."""
    cause = stopped.__cause__
    assert cause is not None
    site = emitted.sites[stopped.where][0]
    if hasattr(cause, "span") and site is not None:
        cause.span = span_of(site)
    return cause


def index_from_front(number: int) -> AdiffError | None:
    """An index of a list whose length changes, where it is negative even after the length has been added to it."""
    index, length = divmod(number, BESIDE)
    return wording.index_in("a list", length, index - length) if index > -FAR else None


def index_from_end(number: int) -> AdiffError | None:
    """The same for an index that is too large, given as what is left of the list after it."""
    rest, length = divmod(number, BESIDE)
    return wording.index_in("a list", length, length - 1 - rest) if rest > -FAR else None


def index_before_front(index: int, place: int) -> AdiffError:
    """The same for an index that the program states, given as the place that it is from the front."""
    return wording.index_in("a list", place - index, index)


def no_integer_value(sign: int) -> AdiffError:
    """The integer of a float that is not finite."""
    return wording.no_integer_value({0: float("nan"), 1: float("inf"), -1: float("-inf")}[sign])


def another_size(number: int, size: int) -> Resized:
    """A size that data decides, of a kernel that was made for another one."""
    return Resized(number, size)


def other_sizes(number: int, differs: int) -> Resized:
    """The same for several integers together."""
    return Resized(number, None)


def no_more_room(place: int, room: int, number: int) -> Crowded:
    """A list that has outgrown the room that it has in a loop of unknown length."""
    return Crowded(place, room)


# By name, from what the compiler knows and the number with which the kernel left.
FAILURES: dict[str, Callable[..., Exception | None]] = {
    "index_on_axis": wording.index_on_axis,
    "index_in": wording.index_in,
    "index_from_front": index_from_front,
    "index_from_end": index_from_end,
    "index_before_front": index_before_front,
    "integer_division_by_zero": lambda number: wording.integer_division_by_zero(),
    "no_integer_value": no_integer_value,
    "assertion_failed": lambda message, number: wording.assertion_failed(message),
    "assertion_untold": lambda number: Untold("an assertion that fails"),
    "assertion_told": lambda number: Told("an assertion that fails"),
    "too_many_steps": lambda most, number: too_many_steps(most),
    "another_size": another_size,
    "other_sizes": other_sizes,
    "no_more_room": no_more_room,
    "beyond_the_axis": lambda number: Parted("a slice that ends outside its axis"),
    "calls_itself": lambda name, number: wording.calls_itself(name),
}
