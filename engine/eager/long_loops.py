"""Long loops on the tape in bounded memory: a block of iterations is recorded at a time, the last block first.

The loop runs without records, and the tape gets one record for all of it. When the sweep comes to that, it goes forward
from the nearest state that was kept to the start of a block, keeping states on the way as the binomial schedule says
(autodiff/revolve.py), records the block, and sweeps it with the cotangents that it goes on with itself. So every
cotangent is added up in the order in which it would have been, to the last bit.

A state is the program's frame, whose values do not change. Where they may (a list that is changed in place, a Variable,
a tape), or where somebody else records, the loop runs as any other does.
"""

from __future__ import annotations

from ..autodiff.checkpoint_sizes import shares, states_for
from ..autodiff.revolve import revolve
from ..autodiff.tape import REPLAY, Tape, sweep
from ..core import limits
from ..core.following import follows
from ..core.limits import LIMITS
from ..core.operation import Operation
from ..core.state import RECORDERS, STATE, Site
from ..core.tensor import Tensor
from ..kinds.access import get_item
from ..ops.registry import METHODS
from ..program import core as c
from .operators import truth
from .statements import BREAK, CONTINUE
from .structure import flatten
from .values import UNSET, Function

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Frame = list[Any]
    # Runs the iteration of a number: None, BREAK after the last, or CONTINUE where there is none of that number.
    Step = Callable[[Frame, int], Any]

# What a record takes, with its result; what a slot of a state takes, and a tensor in it.
RECORD_BYTES = 130
SLOT_BYTES = 8
TENSOR_BYTES = 200

CHANGING = (c.StoreItem, c.Delete, c.With, c.Watch)
# Values that are what they are; whatever else a program may hold can change.
FIXED = frozenset(
    "float int bool complex str NoneType range Tensor Operation Intrinsic Builtin Derived DType ellipsis".split()
)


class Forgotten(list):  # type: ignore[type-arg]
    """The log of a tape that keeps no records: how much they would have taken, and what they used of `given`."""

    def __init__(self, given: set[Tensor]) -> None:
        super().__init__()
        self.bytes = 0
        self.given = given
        self.used: dict[Tensor, None] = {}

    def __iadd__(self, record: Any) -> Forgotten:  # type: ignore[misc]
        _, a, b, out = record
        self.bytes += RECORD_BYTES
        for x in a if a.__class__ is tuple else (a, b):
            if x.__class__ is Tensor and x in self.given:
                self.used[x] = None
        for part in out if out.__class__ is tuple else (out,):
            self.bytes += getattr(part.value, "nbytes", 0)
        return self


def forgetful(tape: Tape, given: set[Tensor]) -> Tape:
    """A tape that follows what `tape` follows, and keeps nothing."""
    made = Tape(changing=tape.changing is not None)
    made.token = tape.token
    made.breaks, made.room = tape.breaks, tape.room
    made.log = Forgotten(given)
    return made


# --- which loops ----------------------------------------------------------------------------------------------------


def changes_values(node: Any) -> bool:
    """Whether code may change a list or dict in place."""
    if node.__class__ in (list, tuple):
        return any(map(changes_values, node))
    if isinstance(node, CHANGING) or (node.__class__ is c.Method and node.name not in METHODS):
        return True
    if node.__class__ is c.FunctionCode:
        return changes_values(node.body)
    return isinstance(node, c.Node) and any(changes_values(getattr(node, name)) for name in node.__slots__)


def fixed(frame: Frame, lists: bool) -> bool:
    """Whether the values in a program's frame stay what they are; lists do where nothing changes them (`lists`)."""

    def is_fixed(value: Any) -> bool:
        cls = value.__class__
        if cls in (list, dict):
            return lists and all(map(is_fixed, value.values() if cls is dict else value))
        if cls is tuple:
            return all(map(is_fixed, value))
        if cls is Function:
            return value.frame is frame and all(map(is_fixed, value.defaults))
        return value is UNSET or cls.__name__ in FIXED

    return all(map(is_fixed, frame))


class Unbounded:
    """Around a loop that is recorded as any other: says so if its records took more than the budget."""

    __slots__ = ("logs", "outermost", "site")

    inside = 0  # how many such loops are running: the outermost speaks for those in it

    def __init__(self, site: Site, outermost: bool) -> None:
        self.site = site
        self.outermost = outermost
        self.logs = [(r.log, len(r.log)) for r in RECORDERS if r.log is not None and r.log.__class__ is not Forgotten]

    def __enter__(self) -> None:
        Unbounded.inside += 1

    def __exit__(self, *exception: object) -> None:
        Unbounded.inside -= 1
        budget = STATE.checkpoint
        taken = sum(len(log) - before for log, before in self.logs) // 4 * RECORD_BYTES
        if Unbounded.inside or budget is None or taken <= budget:
            return
        reason = (
            "it stands in a function, a branch or another loop"
            if not self.outermost
            else "several derivatives are taken at once"
            if len(RECORDERS) > 1
            else "it changes values in place"
        )
        STATE.notify(
            "N0606",
            f"the tape keeps more of this loop than --checkpoint {limits.size_text(budget)}, which does not bound it: {reason}",
            self.site,
        )


# --- iterations -----------------------------------------------------------------------------------------------------


def run_for(f: Frame, node: c.For, items: Any, put: Any, body: Any) -> Any:
    """Run a `for` over items that can be had again: CONTINUE at its end, or BREAK; None where it is to run as any."""
    item: Any
    if items.__class__ in (range, list, tuple):
        length, item = len(items), items.__getitem__
    elif items.__class__ is Tensor and items.ndim > 0:
        length, item = items.shape[0], lambda number: get_item(items, number)
    else:
        return None

    def step(f: Frame, number: int) -> Any:
        if number >= length:
            return CONTINUE
        if LIMITS.max_steps is not None:
            STATE.site = node.site
            limits.step()
        put(f, item(number))
        return after(body(f))

    return run_long(f, node, step)


def run_while(f: Frame, node: c.While, test: Any, body: Any) -> Any:
    """Run a `while` likewise."""

    def step(f: Frame, number: int) -> Any:
        STATE.site = node.site
        x = test(f)
        if x.__class__ is not bool:
            STATE.site = node.site
            x = truth(x)
        if not x:
            return CONTINUE
        if LIMITS.max_steps is not None:
            STATE.site = node.site
            limits.step()
        return after(body(f))

    return run_long(f, node, step)


def after(signal: Any) -> Any:
    """What the signal of a body means for the loop around it."""
    if signal is None or signal is CONTINUE:
        return None
    if signal is BREAK:
        return BREAK
    raise AssertionError("a loop of the program itself holds no return")


# --- running --------------------------------------------------------------------------------------------------------


def run_long(f: Frame, node: c.For | c.While, step: Step) -> Any:
    """Run a loop of the program's and leave one record of it; BREAK or CONTINUE, or None if it must run as any other."""
    if len(RECORDERS) != 1 or RECORDERS[0].__class__ is not Tape or RECORDERS[0].log.__class__ is Forgotten:
        return None
    if STATE.trace is not None or STATE.trace_adjoint is not None:
        return None
    functions = [x for x in f if x.__class__ is Function]
    lists = not changes_values(node) and not any(changes_values(x.code) for x in functions)
    if not fixed(f, lists):
        return None
    tape: Tape = RECORDERS[0]
    start = f.copy()
    before = set(leaves(start))
    forgetting = forgetful(tape, before)
    RECORDERS[0] = forgetting
    try:
        count, ended = go(f, step, 0, None)
    finally:
        RECORDERS[0] = tape
    if not fixed(f, lists):
        # The body left a list behind that it may change: the loop once more, recorded, silently.
        f[:] = start
        with_limits_off(lambda: go(f, step, 0, count))
        return ended
    made = [x for x in dict.fromkeys(leaves(f)) if follows(x, tape.token) and x not in before]
    if made:
        log: Any = forgetting.log
        site = node.site
        loop = LongLoop(f, step, tape, start, count, log.bytes)
        inputs = tuple(x for x in log.used if follows(x, tape.token))
        row = Operation("loop", "x", "rule", vjp=not_by_rule)
        tape.log += (Site(row, site.source, site.start, site.end), inputs, {REPLAY: loop.replay}, tuple(made))
    return ended


def not_by_rule(g: Any, y: Any, *xs: Any) -> tuple[Any, ...]:
    raise AssertionError("a long loop is swept by its replay")


def go(f: Frame, step: Step, first: int, last: int | None) -> tuple[int, Any]:
    """Run the iterations from `first` to before `last`, or to the end; how many there are then, and how it ended."""
    number = first
    while number != last:
        ended = step(f, number)
        if ended is CONTINUE:
            return number, ended
        number += 1
        if ended is BREAK:
            return number, ended
    return number, None


def with_limits_off(run: Callable[[], Any]) -> None:
    """Run iterations again: they print nothing, and take no steps."""
    saved = STATE.write, STATE.site, LIMITS.max_steps, LIMITS.steps
    STATE.write = None
    LIMITS.max_steps = None
    try:
        run()
    finally:
        STATE.write, STATE.site, LIMITS.max_steps, LIMITS.steps = saved


def leaves(frame: Frame) -> list[Tensor]:
    """The tensors of a state, in order."""
    return [x for value in frame for x in flatten(value) if x.__class__ is Tensor]


class LongLoop:
    """A loop that ran without records: what runs it again, backwards in blocks."""

    def __init__(self, f: Frame, step: Step, tape: Tape, start: Frame, count: int, taken: int) -> None:
        self.f = f
        self.step = step
        self.tape = tape
        self.start = start
        self.end = f.copy()
        self.count = count
        budget = STATE.checkpoint or 0
        each = max(1, taken // count)
        new = {id(x): x for x in leaves(self.end)}
        state = SLOT_BYTES * len(f) + sum(TENSOR_BYTES + getattr(x.value, "nbytes", 0) for x in new.values())
        self.block, room = shares(budget, each, state, count)
        self.slots = states_for(-(-count // self.block), room)

    def replay(self, adjoints: dict[Any, Any]) -> None:
        """Go from the cotangents of the state after the loop to those of the state before it."""
        saved = self.f.copy()
        try:
            with_limits_off(lambda: self.blocks(adjoints))
        finally:
            self.f[:] = saved

    def blocks(self, adjoints: dict[Any, Any]) -> None:
        f, block = self.f, self.block
        kept = [(0, self.start)]
        end = self.end
        for wanted in reversed(range(-(-self.count // block))):
            number, state = kept[-1]
            if number == wanted:
                kept.pop()
            f[:] = state
            while number < wanted:
                ahead = number + revolve(wanted - number, self.slots - len(kept))
                self.run(forgetful(self.tape, set()), number * block, ahead * block)
                number = ahead
                if number < wanted:
                    kept.append((number, f.copy()))
            start = f.copy()
            part = Tape(changing=True)
            part.token = self.tape.token
            self.run(part, wanted * block, min((wanted + 1) * block, self.count))
            moved = [
                (adjoints.pop(old), new)
                for old, new in zip(leaves(end), leaves(f))
                if old is not new and old in adjoints
            ]
            for g, new in moved:
                adjoints[new] = g if new not in adjoints else adjoints[new] + g
            sweep(part, adjoints, (), True)
            end = start

    def run(self, tape: Tape, first: int, last: int) -> None:
        """The iterations from `first` to before `last` under a tape."""
        RECORDERS.append(tape)
        try:
            go(self.f, self.step, first, last)
        finally:
            RECORDERS.remove(tape)
