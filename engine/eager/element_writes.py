"""Element writes in place: `y[i] = v` in a loop takes no copy of y where nobody could see the difference.

A tensor is held by the variable that is written to. Whoever else holds it (another name, a list, a caller, an iterator)
must see what it was, which the number of references tells. Tapes hold it too, in the records of its elements' reads and
writes: these need its identity, not its elements, so they do not count. A record of a whole tensor does, and the next
write makes a copy.

A tape records a write in place as `index_update` of a tensor, with that tensor as its result. Under forward mode each
write is a copy.
"""

from __future__ import annotations

from sys import getrefcount

from ..autodiff.tape import Tape
from ..core.following import add_mark, follows
from ..core.state import RECORDERS, STATE
from ..core.tensor import OPERATORS, SCALARS, Tensor

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def own_references() -> int:
    """What getrefcount gives of a value that a frame holds and a local name; Python's versions borrow more or less."""
    frame = [object()]
    x = frame[0]
    return getrefcount(x)


OWN = own_references()
GONE = -1  # the number of other references to a tensor that is not where it was any more


def written(x: Tensor, index: Any, value: Any, others: int) -> bool:
    """Write a number into a tensor of which there are so many `others` references; whether it was done."""
    number = value.value if value.__class__ is Tensor and value.dtype.name == "float64" else value
    if number.__class__ not in (float, int) or not is_element(x, index):
        return False
    followed = x.on is not None or number is not value
    changing = getattr(RECORDERS[-1], "changing", None) if followed and RECORDERS else None
    if (others or followed) and not (changing and changing.get(x) == others):
        return False
    before = getrefcount(x)
    x.value[index] = number
    if changing:
        record(x, value, {"index": index})
        changing[x] = others + getrefcount(x) - before
    return True


def is_element(x: Tensor, index: Any) -> bool:
    """Whether an index is that of one element, of an array that is nobody else's."""
    array = x.value
    if index.__class__ not in (int, tuple) or x.dtype.name != "float64" or array.__class__ in SCALARS:
        return False
    if array.base is not None or not array.flags.writeable or getrefcount(array) != OWN:
        return False
    places = index if index.__class__ is tuple else (index,)
    return len(places) == array.ndim and all(
        i.__class__ is int and -n <= i < n for i, n in zip(places, array.shape)
    )  # fmt: skip


def record(x: Tensor, value: Any, attributes: dict[str, Any]) -> None:
    """Tell every tape that follows the tensor or the number."""
    site = STATE.site.of(OPERATORS.index_update)
    for tape in RECORDERS:
        if follows(x, tape.token) or follows(value, tape.token):
            tape.log += (site, (x, value), attributes, x)
            add_mark(x, tape.token)


def may_change(x: Any, others: int) -> None:
    """Let a tensor that was made by a write, of which there are so many other references, change in place from now on."""
    if x.__class__ is Tensor and RECORDERS and all(r.__class__ is Tape and r.changing is not None for r in RECORDERS):
        tape: Any = RECORDERS[-1]
        if follows(x, tape.token):
            tape.changing[x] = others + 1  # the reference of `changing` itself
