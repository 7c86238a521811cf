"""Errors inside a kernel, in the words of the tape: what is known where the kernel left, said as the row says it."""

from __future__ import annotations

from ..core.errors import failure, span_of
from ..core.limits import out_of_memory
from ..core.state import STATE
from .ir import Left, Stopped, Unsupported
from .machine import FAILED, NO_MEMORY

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ...parser.errors import AdiffError
    from .emitted import Emitted


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
            error: AdiffError = FAILURES[name](*facts, left.number)
            return error
    return Unsupported("an operation that fails, or leaves the integers that a float holds")


def interruption(stopped: Stopped, emitted: Emitted) -> BaseException:
    """The exception of a signal that stopped a kernel; a limit's carries the place where the kernel was."""
    cause = stopped.__cause__
    assert cause is not None
    site = emitted.sites[stopped.where][0]
    if hasattr(cause, "span") and site is not None:
        cause.span = span_of(site)
    return cause


def index_on_axis(axis: int, size: int, index: int) -> AdiffError:
    """An index of a tensor that is out of range (ops/structure.py says the same of arrays)."""
    return failure(
        "E0405", f"index {index} is out of range for axis {axis} of size {size}",
        f"valid indices are {-size} to {size - 1}" if size else "the axis is empty",
    )  # fmt: skip


FAILURES: dict[str, Callable[..., Any]] = {"index_on_axis": index_on_axis}
