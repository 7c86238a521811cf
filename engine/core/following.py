"""Which recorders (tapes, forward accumulators) follow a value, and what they are told of it."""

from __future__ import annotations

from .state import RECORDERS, STATE
from .tensor import Tensor

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# Why a path ends where a number itself is a condition: `a if x else b`, `x or b`, `not x`.
CONDITION = "the truth of a condition"


def follows(x: Any, token: Any) -> bool:
    """Whether the recorder of `token` follows `x`."""
    if x.__class__ is not Tensor:
        return False
    on = x.on
    if on is None:
        return False
    if on.__class__ is tuple:
        return any(entry.token is token for entry in on)
    return on.token is token


def path_ends(values: Any, reason: str, site: Any = None) -> None:
    """Tell the tapes that follow one of `values` that its path ends here; they quote it where a gradient is None."""
    site = STATE.outward(STATE.site if site is None else site)
    for recorder in RECORDERS:
        followed = [x for x in values if follows(x, recorder.token)]
        if followed:
            recorder.broken(site, followed, reason)


def add_mark(x: Tensor, mark: Any) -> None:
    """Let the recorder of `mark` follow `x`."""
    on = x.on
    if on is None:
        x.on = mark
    elif on.__class__ is tuple:
        x.on = (*(entry for entry in on if entry.token is not mark.token), mark)
    elif on.token is not mark.token:
        x.on = (on, mark)
    else:
        x.on = mark
