"""Recursion removal: recursion that data decides, as a loop over an explicit stack of frames.

A frame holds the arguments of one call and the results of the calls that it has made so far. Each turn of the loop runs
the body of the frame on top from its beginning, with those results, up to the first call whose result is not there:
that one becomes a new frame. Where the body returns, its value becomes one more result of the frame below. A body must
change nothing outside itself, since it runs once more than it makes calls.

Stacks are arrays as deep as the tape's recursion may be, which the loop changes in place: whatever derives loops derives
recursion too.
"""

from __future__ import annotations

from ...core.state import STATE
from ...ops.registry import NAMES
from ...program import core as c
from .. import ir
from ..ir import BOOL, FLOAT, INT, Unsupported, Var
from ..symbols.arrays import get
from ..symbols.symbol import NUMBERS, Lazy, Sym, join, kind_of, raw
from ..symbols.values import RETURN, SUSPEND, UNSET, VALUE, Closure, Frame, Mismatch, Unset, equal, new_frame, rebuild
from .a_normal_form import Hoisted
from .functional import leaves_of
from .heap import Heap, same
from .steps import STEPS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .heap import Contents
    from .statements import Specialiser

# As deep as the tape lets a function call itself; as many calls as a body may make that makes them in a loop.
MAX_DEPTH = 5_000
MANY_RESULTS = 32
MAX_ROUNDS = 50
SCALARS = (*NUMBERS, Sym)


class Changed(Exception):
    """What a frame must hold has turned out otherwise: everything is begun again."""


class Kind:
    """The kind and shape of a leaf of what is kept on a stack."""

    __slots__ = ("kind", "shape")

    def __init__(self, kind: str, shape: tuple[int, ...]) -> None:
        self.kind = kind
        self.shape = shape

    def joined(self, other: Kind) -> Kind:
        kind = join([self.kind, other.kind])
        if self.shape != other.shape or (BOOL in (self.kind, other.kind) and self.kind != other.kind):
            raise Unsupported("a recursion with values of several kinds or shapes")
        return self if kind == self.kind else Kind(kind, self.shape)


def kind_of_leaf(x: Any) -> Kind:
    if x.__class__ in SCALARS:
        return Kind(kind_of(x), ())
    if x.__class__ is Lazy:
        return Kind(x.kind, x.shape)
    raise Unsupported("a recursion with values that are no numbers and no tensors")


class Recursion:
    """One function that calls itself, directly or through others."""

    def __init__(self, machine: Specialiser, function: Closure, args: list[Any]) -> None:
        self.machine = machine
        self.builder = machine.builder
        self.function = function
        self.hoisted: dict[int, Hoisted] = {}
        self.first = args
        self.outer = len(machine.active)
        # What each parameter is: None as long as all calls pass the same.
        self.kept: list[list[Kind] | None] = [None] * len(args)
        self.structures: list[Any] = list(args)
        # What it returns: the kinds of the leaves, and a value of that structure.
        self.kinds: list[Kind] | None = None
        self.structure: Any = None
        # How many results a frame has room for.
        self.width = 1
        self.frame = Frame()
        self.depth: Any = None
        self.answered: Any = None

    def run(self) -> Any:
        machine = self.machine
        for _ in range(MAX_ROUNDS):
            heap = Heap(machine.frames)
            mark = self.builder.mark()
            try:
                if self.kinds is None:
                    self.discover()
                else:
                    return self.loop()
            except Changed:
                pass
            heap.restore()
            self.builder.undo(mark)
        raise Unsupported(f"the recursion of '{self.function.code.name}', whose values change their kind or shape")

    def body_of(self, code: c.FunctionCode) -> list[c.Stmt]:
        """The body of a function with its calls as statements."""
        if id(code) not in self.hoisted:
            self.hoisted[id(code)] = Hoisted(code.body, self.machine.most_steps is not None)
        return self.hoisted[id(code)].body

    def may_stop_at(self, node: c.Call) -> bool:
        return any(id(node) in hoisted.calls for hoisted in self.hoisted.values())

    # --- one body ---------------------------------------------------------------------------------------------------

    def body(self, args: list[Any]) -> Frame:
        """The frame after the body of one call."""
        machine, code = self.machine, self.function.code
        inner = new_frame(self.function.frame)
        for i, value in enumerate(args):
            inner[2 + i] = value
        machine.frames.append(inner)
        machine.active.append((code, machine.dynamic))
        outside = Heap([*machine.frames[:-1], self.function.frame, tuple(args)])
        own = {id(self.frame), id(inner)}
        try:
            machine.block(self.body_of(code), inner)
        finally:
            machine.frames.pop()
            machine.active.pop()
        before = outside.before
        for key, held in outside.changes().items():
            if key in own or (key == id(machine.frames[0]) and same_but_steps(held, before[key])):
                continue
            raise Unsupported("a recursion that changes what is outside of it")
        return inner

    def discover(self) -> None:
        """Find what is returned where the function does not call itself."""
        self.answered = None
        args = list(self.first)

        def run() -> None:
            for i, kinds in enumerate(self.kept):
                if kinds is not None:
                    args[i] = rebuild(self.structures[i], [self.anything(kind) for kind in kinds])
            self.returned(self.body(args))

        self.builder.nested(run)
        if self.kinds is None:
            raise Unsupported(f"the recursion of {self.function.code.name}, which seems to have no end")
        raise Changed

    def anything(self, kind: Kind) -> Any:
        """A leaf of which only the kind is known."""
        if kind.shape:
            return self.builder.blank(kind.kind, kind.shape)
        return Sym(self.builder, Var(kind.kind))

    def returned(self, inner: Frame) -> Any:
        """What a body has returned; the kinds of results are widened to it."""
        value = inner[VALUE]
        if inner[RETURN] is False:
            if inner[SUSPEND] is not False:
                raise Unsupported(f"the recursion of {self.function.code.name}, which seems to have no end")
            raise Unsupported("a function that returns nothing on some path")
        if value.__class__ is Unset:
            raise Unsupported("a function that returns values of different kinds")
        kinds = [kind_of_leaf(leaf) for leaf in leaves_of(value)]
        if self.kinds is None:
            self.kinds, self.structure = kinds, value
            return value
        if len(kinds) != len(self.kinds):
            raise Unsupported("a function that returns values of different kinds")
        joined = [a.joined(b) for a, b in zip(self.kinds, kinds)]
        if any(a is not b for a, b in zip(joined, self.kinds)):
            self.kinds = joined
            raise Changed
        return value

    def call(self, args: list[Any]) -> Any:
        """A call of the function inside itself: its result if it is there; else the body stops here."""
        machine, builder = self.machine, self.builder
        for i, value in enumerate(args):
            self.fit(i, value)
        caller = machine.frames[-1]
        if self.answered is None:
            caller[SUSPEND] = True
            return UNSET
        assert self.kinds is not None
        frame = self.frame
        number = frame["calls"]
        frame["calls"] = builder.integer("add", number, 1)
        missing = builder.apply(NAMES["greater_equal"], (number, self.answered), None)
        width = MANY_RESULTS if number.__class__ is Sym else number + 1
        if width > self.width:
            if width > MANY_RESULTS:
                raise Unsupported("a recursion with this many calls in its body")
            self.width = width
            raise Changed
        if number.__class__ is Sym:
            builder.append(ir.Check(raw(number), 0, self.width))
        place = builder.integer("add", builder.integer("multiply", self.depth, self.width), number)
        leaves = [self.top(frame["results", k], place) for k in range(len(self.kinds))]

        site = STATE.site
        # The tape counts all calls: those around the first one, and those between one and the next.
        between = len(machine.active) - self.outer - 1
        deepest = (MAX_DEPTH - self.outer) // (1 + between) - 1

        def stop() -> None:
            failure = None if between else ("calls_itself", self.function.code.name)
            builder.append(ir.Check(raw(self.depth), 0, deepest, site, failure))
            caller[SUSPEND] = True
            for i, kinds in enumerate(self.kept):
                if kinds is not None:
                    for k, leaf in enumerate(leaves_of(args[i])):
                        frame["next", i, k] = self.as_kind(leaf, kinds[k])

        if missing.__class__ is Sym:
            machine.branch(missing, caller, stop, lambda: None)
        elif missing:
            stop()
        return rebuild(self.structure, leaves)

    def as_kind(self, x: Any, kind: Kind) -> Any:
        return self.builder.of_kind(kind.kind, x) if x.__class__ in SCALARS else self.builder.settle(x)

    def fit(self, i: int, value: Any) -> None:
        """See that parameter `i` can hold `value`. Raises Unsupported where it has other parts than the first."""
        kept = self.kept[i]
        if len(leaves_of(value)) != len(leaves_of(self.first[i])):
            raise Unsupported("a recursion with lists of several lengths")
        if kept is None:
            if equal(value, self.first[i]) or known_same(value, self.first[i]):
                return
            kept = self.kinds_of(self.first[i])
            self.kept[i] = [a.joined(b) for a, b in zip(kept, self.kinds_of(value), strict=True)]
            raise Changed
        joined = [a.joined(b) for a, b in zip(kept, self.kinds_of(value), strict=True)]
        if any(a is not b for a, b in zip(joined, kept)):
            self.kept[i] = joined
            raise Changed

    def kinds_of(self, x: Any) -> list[Kind]:
        return [kind_of_leaf(leaf) for leaf in leaves_of(x)]

    # --- the loop ---------------------------------------------------------------------------------------------------

    def top(self, stack: Lazy, place: Any) -> Any:
        return self.builder.settle(get(self.builder, stack, place))

    def store(self, key: Any, place: Any, value: Any) -> None:
        frame, machine = self.frame, self.machine
        # Nothing of the program's that would use what is kept.
        frame[key] = self.builder.aside(lambda: machine.updated(frame[key], place, value))

    def loop(self) -> Any:
        machine, builder = self.machine, self.builder
        assert self.kinds is not None
        frame = self.frame = new_frame(None)
        frame["depth"] = 0
        frame["made"] = builder.blank(INT, (MAX_DEPTH,))
        if machine.most_steps is not None:
            # The steps of each body up to where it stopped last, which its next run counts again.
            frame["counted"] = builder.blank(INT, (MAX_DEPTH,))
            self.store("counted", 0, 0)
        for k, kind in enumerate(self.kinds):
            frame["results", k] = builder.blank(kind.kind, (MAX_DEPTH * self.width, *kind.shape))
            frame["value", k] = self.nothing(kind)
        for i, kinds in enumerate(self.kept):
            for k, kind in enumerate(kinds or ()):
                stack = builder.blank(kind.kind, (MAX_DEPTH, *kind.shape))
                frame["stack", i, k] = stack
                self.store(("stack", i, k), 0, self.as_kind(leaves_of(self.first[i])[k], kind))
        machine.frames.append(frame)
        try:
            machine.repeat(
                lambda: builder.apply(NAMES["greater_equal"], (frame["depth"], 0), None), frame, self.turn, {"depth"}
            )
        except Mismatch as why:
            raise Unsupported(str(why)) from None
        finally:
            machine.frames.pop()
        return rebuild(self.structure, [frame["value", k] for k in range(len(self.kinds))])

    def ends(self, returned: Any, stopped: Any) -> Any:
        """Whether a body has returned or stopped: where it has not, it gives None, and the tape says what is wrong."""
        if returned is True or stopped is True:
            return True
        if returned is False:
            return stopped
        return returned if stopped is False else self.builder.apply(NAMES["logical_or"], (returned, stopped), None)

    def nothing(self, kind: Kind) -> Any:
        return self.builder.blank(kind.kind, kind.shape) if kind.shape else {FLOAT: 0.0, INT: 0, BOOL: False}[kind.kind]

    def turn(self) -> None:
        """The frame on top, once."""
        machine, frame = self.machine, self.frame
        assert self.kinds is not None
        depth = self.depth = frame["depth"]
        self.answered = get(self.builder, frame["made"], depth)
        frame["calls"] = 0
        args = list(self.first)
        for i, kinds in enumerate(self.kept):
            if kinds is not None:
                leaves = [self.top(frame["stack", i, k], depth) for k in range(len(kinds))]
                args[i] = rebuild(self.structures[i], list(leaves))
                for k, kind in enumerate(kinds):
                    frame["next", i, k] = self.nothing(kind) if not kind.shape else leaves[k]
        counted = machine.most_steps is not None
        if counted:
            start = self.builder.integer(
                "subtract", machine.frames[0][STEPS], get(self.builder, frame["counted"], depth)
            )
            machine.frames[0][STEPS] = start
        inner = self.body(args)
        value = self.returned(inner)
        stopped = inner[SUSPEND]
        ends = self.ends(inner[RETURN], stopped)
        if ends is not True:
            self.builder.append(ir.Check(raw(ends), 1, 2))

        def push() -> None:
            above = self.builder.integer("add", depth, 1)
            for i, kinds in enumerate(self.kept):
                for k, _ in enumerate(kinds or ()):
                    self.store(("stack", i, k), above, frame["next", i, k])
            self.store("made", above, 0)
            if counted:
                self.store("counted", depth, self.builder.integer("subtract", machine.frames[0][STEPS], start))
                self.store("counted", above, 0)
            frame["depth"] = above

        def pop() -> None:
            assert self.kinds is not None
            below = self.builder.integer("subtract", depth, 1)
            leaves = [self.as_kind(leaf, kind) for leaf, kind in zip(leaves_of(value), self.kinds)]

            def hand_down() -> None:
                number = get(self.builder, frame["made"], below)
                place = self.builder.integer("add", self.builder.integer("multiply", below, self.width), number)
                for k, leaf in enumerate(leaves):
                    self.store(("results", k), place, leaf)
                self.store("made", below, self.builder.integer("add", number, 1))

            deeper = self.builder.apply(NAMES["greater"], (depth, 0), None)
            machine.where_it_holds(deeper, frame, hand_down)
            for k, leaf in enumerate(leaves):
                frame["value", k] = leaf
            frame["depth"] = below

        if stopped.__class__ is Sym:
            machine.branch(stopped, frame, push, pop)
        elif stopped:
            push()
        else:
            pop()


def same_but_steps(now: Contents, before: Contents) -> bool:
    """Whether the program's frame has changed in nothing but the number of its steps."""
    return now.keys() == before.keys() and all(same(now[k], before[k]) for k in now if k != STEPS)


def known_same(a: Any, b: Any) -> bool:
    """Whether two numbers are the same variable, or the same constant."""
    if a.__class__ is Sym and b.__class__ is Sym:
        return a.var is b.var
    return a.__class__ in NUMBERS and a.__class__ is b.__class__ and str(a) == str(b)
