"""Element writes in place: `y[i] = v` in a loop takes no copy of y where nobody could see the difference.

A tensor is held by the variable that is written to. Whoever else holds it (another name, a list, a caller, an iterator)
must see what it was, which the number of references tells. Tapes hold it too, in the records of its elements' reads and
writes: these need its identity, not its elements, so they do not count. A record of a whole tensor does, and the next
write makes a copy.

A tape records a write in place as `index_update` of a tensor, with that tensor as its result. An outermost forward
accumulator changes the tangent in place too.
"""

from __future__ import annotations

from sys import getrefcount

from ..autodiff.forward import Forward, tangent_of
from ..autodiff.tape import Tape
from ..core.following import add_mark, follows, site_for
from ..core.operands import plain
from ..core.state import RECORDERS
from ..core.tensor import OPERATORS, SCALARS, Dual, Tensor

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def own_references() -> int:
    """What getrefcount gives of a value that a frame holds and a local name; Python's versions borrow more or less."""
    frame = [object()]
    x = frame[0]
    return getrefcount(x)


OWN = own_references()


def written(x: Tensor, index: Any, value: Any, others: int) -> bool:
    """Write a number into a tensor of which there are so many `others` references; whether it was done."""
    number = value.value if value.__class__ is Tensor and value.dtype.name == "float64" else value
    if number.__class__ not in (float, int) or not is_element(x, index):
        return False
    if x.on is None and number is value:
        if others:
            return False
        x.value[index] = number
        return True
    recorder: Any = RECORDERS[-1] if RECORDERS else None
    if recorder.__class__ is Forward and len(RECORDERS) == 1:
        if others:
            return False
        x.value[index] = number
        push(recorder, x, index, value)
        return True
    if recorder.__class__ is not Tape or not recorder.changing or recorder.changing.get(x) != others:
        return False
    before = getrefcount(x)
    x.value[index] = number
    record(x, value, {"index": index})
    recorder.changing[x] = others + getrefcount(x) - before
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
    """Tell every recorder that follows the tensor or the number."""
    inputs = (x, value)
    site = site_for(OPERATORS.index_update)
    for recorder in RECORDERS:
        if any(follows(part, recorder.token) for part in inputs):
            if recorder.__class__ is Forward:
                push(recorder, x, attributes["index"], value)
            else:
                recorder.log += (site, inputs, attributes, x)
                add_mark(x, recorder.token)


def push(forward: Any, x: Tensor, index: Any, value: Any) -> None:
    """Write the tangent of a number into that of a tensor, which becomes one that nobody else holds."""
    import numpy as np

    t = tangent_of(value, forward.token)
    tangent = tangent_of(x, forward.token)
    if tangent is None and t is None:
        return
    if tangent.__class__ is not Tensor or getrefcount(tangent) != OWN or not is_element(tangent, index):
        array = np.zeros(x.shape) if tangent is None else np.array(np.broadcast_to(plain(tangent), x.shape))
        tangent = Tensor(array, x.dtype)
        add_mark(x, Dual(forward.token, tangent))
    tangent.value[index] = 0.0 if t is None else plain(t)


def may_change(x: Any, others: int) -> None:
    """Let a tensor that was made by a write, of which there are so many other references, change in place from now on."""
    if x.__class__ is not Tensor or not RECORDERS or RECORDERS[-1].__class__ is not Tape:
        return
    first = 1 if RECORDERS[0].__class__ is Forward else 0  # its tangents are followed by nobody
    if all(r.__class__ is Tape and r.changing is not None for r in RECORDERS[first:]):
        tape: Any = RECORDERS[-1]
        if follows(x, tape.token):
            tape.changing[x] = others + 1  # the reference of `changing` itself
