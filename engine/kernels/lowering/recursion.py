"""Recursion removal: recursion that data decides, as a loop over an explicit stack of frames.

A frame holds the arguments of one call and the results of the calls that it has made so far. Each turn of the loop runs
the body of the frame on top from its beginning, with those results, up to the first call whose result is not there:
that one becomes a new frame. Where the body returns, its value becomes one more result of the frame below. A body must
change nothing outside itself, since it runs once more than it makes calls.

Functions that call one another share one loop, whose frames say which function is theirs. One of them that does not call
itself before it comes back to another is inlined there, and has no frames.

Stacks are arrays as deep as the tape's recursion may be, which the loop changes in place: whatever derives loops derives
recursion too.
"""

from __future__ import annotations

from ...core.state import STATE
from ...ops.registry import NAMES
from ...program import core as c
from .. import ir
from ..budget import check_budget
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

    from ...core.state import Site
    from ..symbols.build import Builder
    from .heap import Contents
    from .statements import Specialiser

# As deep as the tape lets a function call itself; as many calls as a body may make that makes them in a loop.
MAX_DEPTH = 5_000
MANY_RESULTS = 32
# How often it is begun again: one recursion, and all of a program together, those inside others each time these are.
MAX_ROUNDS = 50
MANY_ROUNDS = 500
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


class Member:
    """A function whose calls are frames of a recursion, and what these hold."""

    __slots__ = ("first", "function", "kept", "kinds", "number", "parameters", "structure", "structures", "whole")

    def __init__(self, function: Closure, args: list[Any], number: int) -> None:
        self.function = function
        self.number = number
        self.first = args
        # What each parameter is: None as long as all calls pass the same. What is computed inside the loop is not.
        self.kept: list[list[Kind] | None] = [None if number == 0 or known(x) else kinds_of(x) for x in args]
        self.structures: list[Any] = list(args)
        # What it returns: the kinds of the leaves, and a value of that structure.
        self.kinds: list[Kind] | None = None
        self.structure: Any = None
        # Which leaves of its results, and of each parameter, are floats that may be integers of the program: of some call.
        self.whole: set[int] = set()
        self.parameters: list[set[int]] = [set() for _ in args]

    def fit(self, i: int, value: Any, builder: Builder) -> None:
        """See that parameter `i` can hold `value`. Raises Unsupported where it has other parts than the first."""
        kept = self.kept[i]
        if len(leaves_of(value)) != len(leaves_of(self.first[i])):
            raise Unsupported("a recursion with lists of several lengths")
        if kept is None:
            if equal(value, self.first[i]) or known_same(value, self.first[i]):
                return
            kept = kinds_of(self.first[i])
            self.kept[i] = [a.joined(b) for a, b in zip(kept, kinds_of(value), strict=True)]
            raise Changed
        joined = [a.joined(b) for a, b in zip(kept, kinds_of(value), strict=True)]
        whole = may_be_whole(builder, joined, value) | may_be_whole(builder, joined, self.first[i])
        if any(a is not b for a, b in zip(joined, kept)) or not whole <= self.parameters[i]:
            self.kept[i] = joined
            self.parameters[i] |= whole
            raise Changed

    def returned(self, inner: Frame, builder: Builder) -> Any:
        """What a body has returned; the kinds of results are widened to it."""
        value = inner[VALUE]
        if inner[RETURN] is False:
            if inner[SUSPEND] is not False:
                raise Unsupported(f"the recursion of {self.function.code.name}, which seems to have no end")
            raise Unsupported("a function that returns nothing on some path")
        if value.__class__ is Unset:
            raise Unsupported("a function that returns values of different kinds")
        kinds = kinds_of(value)
        if self.kinds is None:
            self.kinds, self.structure = kinds, value
            return value
        if len(kinds) != len(self.kinds):
            raise Unsupported("a function that returns values of different kinds")
        joined = [a.joined(b) for a, b in zip(self.kinds, kinds)]
        whole = may_be_whole(builder, joined, value)
        if any(a is not b for a, b in zip(joined, self.kinds)) or not whole <= self.whole:
            self.kinds = joined
            self.whole |= whole
            raise Changed
        return value


class Recursion:
    """One function that calls itself, directly or through others, and those of the others that have frames too."""

    def __init__(self, machine: Specialiser, function: Closure, args: list[Any]) -> None:
        self.machine = machine
        self.builder = machine.builder
        self.function = function
        self.hoisted: dict[int, Hoisted] = {}
        self.outer = len(machine.active)
        # The first is the function that is called from outside.
        self.members: dict[c.FunctionCode, Member] = {function.code: Member(function, args, 0)}
        # How many results a frame has room for.
        self.width = 1
        # How many calls that have no frames there are between one that has and the next.
        self.between: set[int] = set()
        self.frame = Frame()
        self.depth: Any = None
        # How many results the frame on top has: None while no loop is made, where no call has any.
        self.answered: Any = None

    def run(self) -> Any:
        machine = self.machine
        dynamic = machine.dynamic
        for _ in range(MAX_ROUNDS):
            check_budget()
            machine.rounds += 1
            if machine.rounds > MANY_ROUNDS:
                raise Unsupported("recursions inside recursions, of which there are this many")
            heap = Heap(machine.frames)
            mark = self.builder.mark()
            try:
                unknown = [member for member in self.members.values() if member.kinds is None]
                if not unknown:
                    return self.loop()
                self.discover(unknown[0])
            except Changed:
                machine.dynamic = dynamic
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

    def has_frames_of(self, code: c.FunctionCode) -> bool:
        """Whether a call of one of the functions that call one another is to be a frame, and not to be inlined."""
        if self.answered is not None and code in self.members:
            return True
        return any(active is code for active, _ in self.machine.active[self.outer :])

    # --- one body ---------------------------------------------------------------------------------------------------

    def body(self, function: Closure, args: list[Any]) -> Frame:
        """The frame after the body of one call."""
        machine, code = self.machine, function.code
        inner = new_frame(function.frame)
        for i, value in enumerate(args):
            inner[2 + i] = value
        machine.frames.append(inner)
        machine.active.append((code, machine.dynamic))
        outside = Heap([*machine.frames[:-1], function.frame, tuple(args)])
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

    def discover(self, member: Member) -> None:
        """Find what is returned where a function calls none that is running."""
        self.answered = None
        args = list(member.first)

        def run() -> None:
            for i, kinds in enumerate(member.kept):
                if kinds is not None:
                    args[i] = rebuild(member.structures[i], [self.anything(kind) for kind in kinds])
            member.returned(self.body(member.function, args), self.builder)

        self.builder.nested(run)
        if member.kinds is None:
            raise Unsupported(f"the recursion of {member.function.code.name}, which seems to have no end")

    def anything(self, kind: Kind) -> Any:
        """A leaf of which only the kind is known."""
        if kind.shape:
            return self.builder.blank(kind.kind, kind.shape)
        return Sym(self.builder, Var(kind.kind))

    def call(self, function: Closure, args: list[Any]) -> Any:
        """A call that is a frame: its result if it is there; else the body stops here."""
        machine, builder = self.machine, self.builder
        member = self.members.get(function.code)
        if member is None:
            self.members[function.code] = Member(function, args, len(self.members))
            raise Changed
        if member.function.frame is not function.frame:
            raise Unsupported(f"the recursion of {function.code.name}, which is another function in each call")
        for i, value in enumerate(args):
            member.fit(i, value, builder)
        caller = machine.frames[-1]
        if self.answered is None:
            caller[SUSPEND] = True
            return UNSET
        assert member.kinds is not None
        frame = self.frame
        number = frame["calls"]
        frame["calls"] = builder.integer("add", number, 1)
        missing = builder.apply(NAMES["greater_equal"], (number, self.answered), None)
        width = MANY_RESULTS if number.__class__ is Sym else number + 1
        between = len(machine.active) - self.outer - 1
        if width > self.width or between not in self.between:
            if width > MANY_RESULTS:
                raise Unsupported("a recursion with this many calls in its body")
            self.width = max(width, self.width)
            self.between.add(between)
            raise Changed
        if number.__class__ is Sym:
            builder.append(ir.Check(raw(number), 0, self.width))
        place = builder.integer("add", builder.integer("multiply", self.depth, self.width), number)
        leaves = [self.top(frame["results", member.number, k], place) for k in range(len(member.kinds))]
        builder.doubtful.update(leaves[k].var for k in member.whole)
        self.called.add(member.number)

        site = STATE.site

        def stop() -> None:
            self.check_depth(between, site)
            caller[SUSPEND] = True
            if len(self.members) > 1:
                frame["callee"] = member.number
            for i, kinds in enumerate(member.kept):
                if kinds is not None:
                    for k, leaf in enumerate(leaves_of(args[i])):
                        frame["next", member.number, i, k] = self.as_kind(leaf, kinds[k])

        if missing.__class__ is Sym:
            machine.branch(missing, caller, stop, lambda: None)
        elif missing:
            stop()
        return rebuild(member.structure, leaves)

    def check_depth(self, between: int, site: Site) -> None:
        """The tape counts all calls: those around the first one, and those between one and the next."""
        if len(self.between) > 1:
            level = self.builder.integer("add", self.level, 1 + between)
            self.builder.append(ir.Check(raw(level), 0, MAX_DEPTH - self.outer, site, None))
            self.frame["level"] = level
            return
        alone = not between and len(self.members) == 1
        failure = ("calls_itself", self.function.code.name) if alone else None
        deepest = (MAX_DEPTH - self.outer) // (1 + between) - 1
        self.builder.append(ir.Check(raw(self.depth), 0, deepest, site, failure))

    def as_kind(self, x: Any, kind: Kind) -> Any:
        return self.builder.of_kind(kind.kind, x) if x.__class__ in SCALARS else self.builder.settle(x)

    # --- the loop ---------------------------------------------------------------------------------------------------

    def top(self, stack: Lazy, place: Any) -> Any:
        return self.builder.settle(get(self.builder, stack, place))

    def store(self, key: Any, place: Any, value: Any) -> None:
        frame, machine = self.frame, self.machine
        # Nothing of the program's that would use what is kept.
        frame[key] = self.builder.aside(lambda: machine.updated(frame[key], place, value))

    def loop(self) -> Any:
        machine, builder = self.machine, self.builder
        frame = self.frame = new_frame(None)
        frame["depth"] = 0
        frame["made"] = builder.blank(INT, (MAX_DEPTH,))
        if machine.most_steps is not None:
            # The steps of each body up to where it stopped last, which its next run counts again.
            frame["counted"] = builder.blank(INT, (MAX_DEPTH,))
            self.store("counted", 0, 0)
        # Whose each frame is, and how deep it is for the tape, where they differ.
        others = ["callee"] * (len(self.members) > 1) + ["level"] * (len(self.between) > 1)
        for key in others:
            frame[key] = 0
            frame["stack", key] = builder.blank(INT, (MAX_DEPTH,))
            self.store(("stack", key), 0, 0)
        for member in self.members.values():
            assert member.kinds is not None
            for k, kind in enumerate(member.kinds):
                stack = builder.blank(kind.kind, (MAX_DEPTH * self.width, *kind.shape))
                frame["results", member.number, k] = stack
                if member.number == 0:
                    frame["value", k] = self.nothing(kind)
            for i, kinds in enumerate(member.kept):
                for k, kind in enumerate(kinds or ()):
                    frame["stack", member.number, i, k] = builder.blank(kind.kind, (MAX_DEPTH, *kind.shape))
                    if member.number == 0:
                        first = self.as_kind(leaves_of(member.first[i])[k], kind)
                        self.store(("stack", 0, i, k), 0, first)
        machine.frames.append(frame)
        try:
            machine.repeat(
                lambda: builder.apply(NAMES["greater_equal"], (frame["depth"], 0), None), frame, self.turn, {"depth"}
            )
        except Mismatch as why:
            raise Unsupported(str(why)) from None
        finally:
            machine.frames.pop()
        entry = self.members[self.function.code]
        return rebuild(entry.structure, [frame["value", k] for k in range(len(entry.kinds or ()))])

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
        depth = self.depth = frame["depth"]
        self.answered = get(self.builder, frame["made"], depth)
        self.level = get(self.builder, frame["stack", "level"], depth) if len(self.between) > 1 else None
        members = list(self.members.values())
        whose = get(self.builder, frame["stack", "callee"], depth) if len(members) > 1 else 0

        def from_here(number: int) -> None:
            if number == len(members) - 1:
                self.run_body(members[number])
                return
            this = self.builder.apply(NAMES["equal"], (whose, number), None)
            machine.branch(this, frame, lambda: self.run_body(members[number]), lambda: from_here(number + 1))

        from_here(0)

    def run_body(self, member: Member) -> None:
        """The frame on top, whose function is known."""
        machine, frame, depth = self.machine, self.frame, self.depth
        frame["calls"] = 0
        self.called: set[int] = set()
        args = list(member.first)
        for other in self.members.values():
            for i, kinds in enumerate(other.kept):
                leaves = []
                if kinds is not None and other is member:
                    leaves = [self.top(frame["stack", other.number, i, k], depth) for k in range(len(kinds))]
                    self.builder.doubtful.update(leaves[k].var for k in other.parameters[i])
                    args[i] = rebuild(other.structures[i], list(leaves))
                for k, kind in enumerate(kinds or ()):
                    own = leaves and kind.shape
                    frame["next", other.number, i, k] = leaves[k] if own else self.nothing(kind)
        counted = machine.most_steps is not None
        if counted:
            start = self.builder.integer(
                "subtract", machine.frames[0][STEPS], get(self.builder, frame["counted"], depth)
            )
            machine.frames[0][STEPS] = start
        inner = self.body(member.function, args)
        value = member.returned(inner, self.builder)
        stopped = inner[SUSPEND]
        ends = self.ends(inner[RETURN], stopped)
        if ends is not True:
            self.builder.append(ir.Check(raw(ends), 1, 2))

        def push() -> None:
            above = self.builder.integer("add", depth, 1)
            for other in self.members.values():
                for i, kinds in enumerate(other.kept if other.number in self.called else ()):
                    for k, _ in enumerate(kinds or ()):
                        self.store(("stack", other.number, i, k), above, frame["next", other.number, i, k])
            for key in ("callee", "level"):
                if ("stack", key) in frame:
                    self.store(("stack", key), above, frame[key])
            self.store("made", above, 0)
            if counted:
                self.store("counted", depth, self.builder.integer("subtract", machine.frames[0][STEPS], start))
                self.store("counted", above, 0)
            frame["depth"] = above

        def pop() -> None:
            assert member.kinds is not None
            below = self.builder.integer("subtract", depth, 1)
            leaves = [self.as_kind(leaf, kind) for leaf, kind in zip(leaves_of(value), member.kinds)]

            def hand_down() -> None:
                number = get(self.builder, frame["made"], below)
                place = self.builder.integer("add", self.builder.integer("multiply", below, self.width), number)
                for k, leaf in enumerate(leaves):
                    self.store(("results", member.number, k), place, leaf)
                self.store("made", below, self.builder.integer("add", number, 1))

            deeper = self.builder.apply(NAMES["greater"], (depth, 0), None)
            machine.where_it_holds(deeper, frame, hand_down)
            if member.number == 0:
                for k, leaf in enumerate(leaves):
                    frame["value", k] = leaf
            frame["depth"] = below

        if stopped.__class__ is Sym:
            machine.branch(stopped, frame, push, pop)
        elif stopped:
            push()
        else:
            pop()


def may_be_whole(builder: Builder, kinds: list[Kind], x: Any) -> set[int]:
    """The leaves of a value that are kept as floats and may be integers of the program."""
    leaves = enumerate(zip(kinds, leaves_of(x)))
    return {k for k, (kind, x) in leaves if kind.kind == FLOAT and not kind.shape and builder.may_be_whole(x)}


def kinds_of(x: Any) -> list[Kind]:
    return [kind_of_leaf(leaf) for leaf in leaves_of(x)]


def known(x: Any) -> bool:
    """Whether a value is the same wherever it is read: nothing that is computed is in it."""
    return not any(leaf.__class__ is Sym or leaf.__class__ is Lazy for leaf in leaves_of(x))


def same_but_steps(now: Contents, before: Contents) -> bool:
    """Whether the program's frame has changed in nothing but the number of its steps."""
    return now.keys() == before.keys() and all(same(now[k], before[k]) for k in now if k != STEPS)


def known_same(a: Any, b: Any) -> bool:
    """Whether two numbers are the same variable, or the same constant."""
    if a.__class__ is Sym and b.__class__ is Sym:
        return a.var is b.var
    return a.__class__ in NUMBERS and a.__class__ is b.__class__ and str(a) == str(b)
