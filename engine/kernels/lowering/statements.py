"""The statements of the core program, run on symbols."""

from __future__ import annotations

from ...core.limits import step_limit
from ...core.state import STATE
from ...core.tensor import OPERATORS
from ...program import core as c
from ...program.effects import may_change
from .. import ir
from ..ir import Unsupported
from ..symbols.build import Builder
from ..symbols.operands import Moment
from ..symbols.symbol import Lazy, raw
from ..symbols.values import BREAK, CONTINUE, RESULT, RETURN, UNSET, VALUE, Closure, Frame, List, Mutual
from .assigning import Assigning
from .grids import anew, apart, exchanges
from .lengthening import lengthened
from .printing import Printed, print_
from .sizes import Sizes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .recursion import Recursion

    Functions = dict[c.FunctionCode, set[c.FunctionCode]]


class Specialiser(Assigning):
    """Runs the core program on symbols."""

    def __init__(self, builder: Builder, recursive: Functions, printed: Printed, sizes: Sizes) -> None:
        self.builder = builder
        self.sizes = sizes
        self.printed = printed
        self.derived = 0
        # Whether a derivative inside the program was not finite, as it was found first.
        self.careful = False
        # Whether the kernel tells which elements of a gradient depend on which inputs.
        self.pattern = False
        self.most_steps = step_limit()
        self.last = False
        self.tables = self.written = self.tensors_apart = self.at_length = False
        self.spared = None
        self.outlived, self.read_after = {}, set()
        self.rooms, self.crowding = {}, {}
        self.pops, self.shrinking = {}, set()
        self.frozen_dicts = {}
        self.recursive = recursive
        self.recursion: Recursion | None = None
        self.rounds = 0  # of all recursions, until what their frames hold was known
        self.may_stop = False
        self.place = STATE.site
        builder.known_value = self.whole
        self.frames: list[Frame] = []  # of the functions that are running
        self.offsets = {}
        self.tapes = []
        self.variables = []
        self.active: list[tuple[c.FunctionCode, int]] = []  # the functions being inlined, and `dynamic` there
        self.calls = 0
        self.new: tuple[List, ...] = ()  # the lists that are being assigned, if nothing else refers to them
        self.dynamic = 0  # how many blocks around may run any number of times
        self.gone_through = []  # what loops around go through
        self.around = []  # what loops and branches around found

    def statement(self, node: c.Stmt, frame: Frame) -> None:
        handler = STATEMENTS.get(node.__class__)
        if handler is None:
            raise Unsupported("a statement of this kind")
        try:
            handler(self, node, frame)
        except Unsupported as why:
            why.place(node)
            raise

    def recurse(self, function: Closure, args: list[Any]) -> Any:
        from .recursion import Recursion

        running = [code for code, _ in self.active]
        if function.code in running:
            around = running[running.index(function.code) :]
            raise Mutual({code for code in around if code in self.recursive})
        outer, self.recursion = self.recursion, Recursion(self, function, args)
        try:
            return self.recursion.run()
        finally:
            self.recursion = outer

    def evaluate(self, node: c.Evaluate, frame: Frame) -> None:
        value = self.expression(node.value, frame)
        if node.result and (value is not None or self.last):
            # In a loop, what follows may change it in place.
            frame[RESULT] = self.builder.settle(value) if self.dynamic else value

    def assign(self, node: c.Assign, frame: Frame) -> None:
        value = lengthened(self, node, frame)
        if value is UNSET:
            value = self.expression(node.value, frame)
        value = self.builder.settle(value)
        if node.dtype is not None:
            value = self.builder.settle(self.apply_row(OPERATORS["cast"], [value], {"dtype": node.dtype}))
        self.new = (value,) if len(node.targets) == 1 and value.__class__ is List and anew(node.value) else ()
        if self.new and node.targets[0].__class__ is c.Store and not node.targets[0].depth:
            value.home = frame
        if value.__class__ is tuple and exchanges(node):
            self.new = apart(self, value)
            value = self.new or value
        for target in node.targets:
            self.put(target, value, frame)
        if node.result:
            frame[RESULT] = value

    def augment(self, node: c.Augment, frame: Frame) -> None:
        target = node.target
        result: Any
        if target.__class__ is c.Store:
            old = self.load(c.Load(target.depth, target.slot, target.name, target.site), frame)
            moment = Moment(self.builder)
            value = self.expression(node.value, frame)
            old = moment.as_then(old)
            new = result = self.augmented(node, old, value)
            if new is not old or may_change(node.value):
                self.put(target, new, frame)
        elif target.__class__ is c.StoreItem:
            container = self.expression(target.container, frame)
            moment = Moment(self.builder)
            index = self.expression(target.index, frame)
            STATE.site = node.site
            index = self.known_slices(index, container)
            container = moment.as_then(container)
            old = self.item_of(container, index)
            moment = Moment(self.builder)
            value = self.expression(node.value, frame)
            container, old = moment.as_then(container), moment.as_then(old)
            STATE.site = node.site
            new = self.augmented(node, old, value)
            # The value of such a statement is that of all that it has changed a part of.
            result = container
            if new is not old or may_change(node.value):
                result = self.put_item(container, index, new, target.back, frame)
        else:
            raise Unsupported("an augmented assignment to this")
        if node.result:
            frame[RESULT] = result

    def augmented(self, node: c.Augment, old: Any, value: Any) -> Any:
        """`old op= value`: Python changes a list itself, which other names may share."""
        if old.__class__ is not List:
            return self.builder.settle(self.combine(node.op, node.symbol, old, value, node.site))
        if node.symbol != "+":
            raise Unsupported("an augmented assignment to a list")
        for item in self.items(value):
            self.grow(old, item)
        return old

    def with_(self, node: c.With, frame: Frame) -> None:
        from .tapes import Tape

        entered: list[Tape] = []
        try:
            for context, target, _ in node.items:
                tape = self.expression(context, frame)
                if tape.__class__ is not Tape:
                    raise Unsupported("'with' on what is no GradientTape")
                tape.enter()
                entered.append(tape)
                if target is not None:
                    self.put(target, tape, frame)
            self.block(node.body, frame)
        finally:
            for tape in reversed(entered):
                tape.leave()

    def delete(self, node: c.Delete, frame: Frame) -> None:
        for target in node.targets:
            if target.__class__ is not c.Store or target.depth:
                raise Unsupported("deleting what is no variable")
            old = frame.get(target.slot, UNSET)
            if old is UNSET or (old.__class__ is Lazy and old.volatile):
                raise Unsupported("deleting a variable in a loop, or one that is not there")
            frame[target.slot] = UNSET

    def break_(self, node: c.Break, frame: Frame) -> None:
        frame[BREAK] = True

    def continue_(self, node: c.Continue, frame: Frame) -> None:
        frame[CONTINUE] = True

    def return_(self, node: c.Return, frame: Frame) -> None:
        frame[VALUE] = None if node.value is None else self.expression(node.value, frame)
        frame[RETURN] = True

    def define(self, node: c.Define, frame: Frame) -> None:
        made: Any = self.make_function(node.function, frame)
        for decorator in reversed(node.decorators):
            made = self.invoke(self.expression(decorator, frame), [made], {})
        self.put(node.target, made, frame)

    def assertion(self, node: c.Assert, frame: Frame) -> None:
        holds = self.condition(node.test, frame, node.site)
        if holds is False:
            raise Unsupported("an assertion that fails")
        if holds is not True:
            failure: tuple[Any, ...] = ("assertion_failed", None)
            if node.message.__class__ is c.Literal and node.message.value.__class__ is str:
                failure = ("assertion_failed", node.message.value)
            elif node.message is not None and self.printed.telling:
                # The last line that this kernel prints.
                message = node.message
                self.branch(holds, frame, lambda: None, lambda: print_(self, self.expression(message, frame), end=""))
                failure = ("assertion_told",)
            elif node.message is not None:
                failure = ("assertion_untold",)  # but by another kernel
            self.builder.append(ir.Check(raw(holds), 1, 2, node.site, failure))


STATEMENTS: dict[type, Callable[[Specialiser, Any, Frame], None]] = {
    c.Evaluate: Specialiser.evaluate,
    c.Assign: Specialiser.assign,
    c.Augment: Specialiser.augment,
    c.If: Specialiser.if_,
    c.For: Specialiser.for_,
    c.While: Specialiser.while_,
    c.With: Specialiser.with_,
    c.Break: Specialiser.break_,
    c.Continue: Specialiser.continue_,
    c.Return: Specialiser.return_,
    c.Define: Specialiser.define,
    c.Assert: Specialiser.assertion,
    c.Delete: Specialiser.delete,
}
