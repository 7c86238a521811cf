"""Specialising the core program to the kinds and shapes of its inputs: the core program run on symbols.

Whatever is known (lists, shapes, functions, constants) is computed now; what depends on the inputs' values becomes
IR. Loops stay loops, branches that depend on data become `If` with merged values, functions are inlined.
"""

from __future__ import annotations

from ...core.state import STATE
from ...core.tensor import OPERATORS
from ...program import core as c
from ...program.effects import may_change
from .. import ir
from ..inputs import Complex, Discrete, Known, Single
from ..ir import BOOL, FLOAT, INT, Array, Unsupported, Var
from ..symbols.arrays import get, lazy, rows_of_list, view, wrapped
from ..symbols.build import COUNTABLE, Builder, Lazy, Sym, kind_of, pick, raw
from ..symbols.following import Follower, Linked
from ..symbols.operands import Moment
from ..symbols.pairs import Pair
from ..symbols.strength import is_strong
from ..symbols.values import (
    BREAK,
    CONFLICT,
    CONTINUE,
    PARENT,
    RESULT,
    RETURN,
    UNSET,
    VALUE,
    Closure,
    Frame,
    Grid,
    Letter,
    List,
    Recursive,
    new_frame,
    plain,
    read,
    static_index,
)
from . import sliced
from .grids import anew
from .printing import LINES, Printed, Text, Wider
from .sequences import Sequences
from .sliced import opened

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .recursion import Recursion


class Specialised:
    """A program on symbols: the kernel without results, the symbolic result, and the inputs by name."""

    __slots__ = ("builder", "inputs", "kernel", "printed", "result")

    def __init__(
        self, builder: Builder, kernel: ir.Kernel, result: Any, inputs: dict[str, Any], printed: Printed
    ) -> None:
        self.builder = builder
        self.printed = printed
        self.kernel = kernel
        self.result = result
        self.inputs = inputs


def specialise(
    program: c.CoreProgram, inputs: dict[str, Any], last: bool = False, signed: bool = False, outer: bool = True,
    follow: bool = False,
) -> Specialised:  # fmt: skip
    """The IR of a program; `inputs` gives per name a kind ("f", "i"), a shape (floats), or a known value in a list.

    The result is the last value of the program, or that of its `last` statement: None where this one has none. `signed`
    says that decompositions are LAPACK's, which have derivatives of every order, and not ones that are quick; `outer`
    that the whole may be differentiated, derivatives inside it included; `follow` that what rows are given is to be noted.
    """
    recursive: set[c.FunctionCode] = set()
    width = 2
    while True:
        try:
            return attempted(program, inputs, recursive, Printed(width), last, signed, outer, follow)
        except Recursive as found:
            recursive.add(found.code)
        except Wider as found:
            width = found.width
        except ir.Signed:
            signed = True


def attempted(
    program: c.CoreProgram,
    inputs: dict[str, Any],
    recursive: set[c.FunctionCode],
    printed: Printed,
    last: bool,
    signed: bool,
    outer: bool,
    follow: bool,
) -> Specialised:
    """The IR of a program of which some functions are known to be recursive. Raises Recursive for another one, Wider for
    a line with more numbers than there is room for, and Signed where vectors are read that must be LAPACK's."""
    builder = Builder()
    builder.signed = signed
    builder.outer = outer
    if follow:
        builder.follower = Follower(builder)
    parameters: list[Any] = []
    symbols: dict[str, Any] = {}
    frame = new_frame(None)
    for name, slot in program.inputs.items():
        frame[slot] = symbols[name] = parameter(builder, parameters, name, inputs[name])
    for name, (slot, node) in program.optional.items():
        if name in inputs:
            frame[slot] = symbols[name] = parameter(builder, parameters, name, inputs[name])
        else:
            frame[slot] = node.value if node.__class__ is c.Literal else node
    machine = Specialiser(builder, recursive, printed)
    machine.last = last
    frame[LINES] = 0
    machine.frames.append(frame)
    machine.block(program.body, frame)
    if frame[RETURN] is True:
        frame[RESULT] = frame[VALUE]
    elif frame[RETURN] is not False:
        machine.branch(frame[RETURN], frame, lambda: frame.update({RESULT: frame[VALUE]}), lambda: None)
    result = read(frame[RESULT])
    if last and not program.ends_with_value:
        result = None
    if result is UNSET or result is CONFLICT or (result is None and not last):
        raise Unsupported("a program without a numeric result on every path")
    printed.finished(machine, builder.block)
    return Specialised(builder, ir.Kernel(parameters, builder.block, []), result, symbols, printed)


def parameter(builder: Builder, parameters: list[Any], name: str, spec: Any) -> Any:
    if spec.__class__ is list:
        return spec[0]
    if spec.__class__ is Single:
        found = parameter(builder, parameters, name, spec.shape or FLOAT)
        builder.singles.add(parameters[-1])
        return found
    if spec.__class__ in (str, Known):
        var = Var(str(spec), "p")
        var.name = name
        builder.inputs.add(var)
        if spec.__class__ is Known:
            builder.values[var] = spec.value
        if var.kind == INT:
            builder.ranges[var] = COUNTABLE
        parameters.append(var)
        return Sym(builder, var)
    if spec.__class__ is Complex:
        parts = [parameter(builder, parameters, name, spec.shape or FLOAT) for name in (f"{name}_re", f"{name}_im")]
        return Pair(builder, *parts)
    discrete = spec.__class__ is Discrete
    array = Array(spec.kind, spec.shape, "p", "input") if discrete else Array(FLOAT, spec, "p", "input")
    array.name = name
    if discrete and spec.strong:
        builder.strong.add(array)
    parameters.append(array)
    return builder.stored(array)


class Specialiser(Sequences):
    """Runs the core program on symbols."""

    def __init__(self, builder: Builder, recursive: set[c.FunctionCode], printed: Printed) -> None:
        self.builder = builder
        self.printed = printed
        self.derived = 0
        self.last = False
        self.recursive = recursive
        self.recursion: Recursion | None = None
        self.may_stop = False
        builder.known_value = self.whole
        self.frames: list[Frame] = []  # of the functions that are running
        self.offsets = {}
        self.tapes = []
        self.variables = []
        self.active: list[tuple[c.FunctionCode, int]] = []  # the functions being inlined, and `dynamic` there
        self.calls = 0
        self.new: List | None = None  # the list that is being assigned, if nothing else refers to it
        self.dynamic = 0  # how many blocks around may run any number of times

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
        value = self.builder.settle(self.expression(node.value, frame))
        if node.dtype is not None:
            value = self.builder.settle(self.apply_row(OPERATORS["cast"], [value], {"dtype": node.dtype}))
        self.new = value if len(node.targets) == 1 and value.__class__ is List and anew(node.value) else None
        for target in node.targets:
            self.put(target, value, frame)
        if node.result:
            frame[RESULT] = value

    def put(self, target: c.Target, value: Any, frame: Frame) -> None:
        if target.__class__ is c.Store:
            for _ in range(target.depth):
                frame = frame[PARENT]
            old = frame.get(target.slot)
            if old.__class__ is Lazy and old.volatile:
                self.replace(old, value)
                return
            frame[target.slot] = value
        elif target.__class__ is c.Unpack:
            items = self.items(value)
            count, star = len(target.targets), target.star
            if len(items) < count - 1 if star is not None else len(items) != count:
                raise Unsupported("an unpacking of another number of values")
            if star is not None:
                end = len(items) - (count - star - 1)
                items = [*items[:star], List(items[star:end]), *items[end:]]
            for each, item in zip(target.targets, items):
                self.put(each, item, frame)
        else:
            assert target.__class__ is c.StoreItem
            container = self.expression(target.container, frame)
            moment = Moment(self.builder)
            index = self.known_slices(self.expression(target.index, frame), container)
            STATE.site = target.site
            self.put_item(moment.as_then(container), index, value, target.back, frame)

    def put_item(self, container: Any, index: Any, value: Any, back: c.Target | None, frame: Frame) -> Any:
        """`container[index] = value`; what the container is then."""
        if container.__class__ is List:
            self.put_in_list(container, index, value)
        elif container.__class__ is Grid:
            from . import grids

            grids.put(self, container, index, value, self.new is value)
        elif container.__class__ is dict and index.__class__ in (Sym, Letter, Text):
            from .choosing import put_at

            put_at(self, container, index, value)
        elif container.__class__ is dict:
            old = container.get(key := static_index(index))
            if old.__class__ is Lazy and old.volatile:
                self.replace(old, value)
            else:
                container[key] = self.builder.settle(value)
        elif container.__class__ is Lazy and back is not None:
            updated = self.updated(container, index, value)
            if updated is not container:
                self.put(back, updated, frame)
            return updated
        else:
            raise Unsupported("an item assignment to this value")
        return container

    def put_in_list(self, container: List, index: Any, value: Any) -> None:
        if container.frozen:
            raise Unsupported("a change of a list that is one or another, depending on data")
        if container.items is not None and index.__class__ is Sym:
            rows = rows_of_list(self.builder, plain(container))
            container.items, container.array, container.length = None, rows, rows.shape[0]
        if container.items is None:
            place = self.place_in(container, index)
            self.with_floats(container, value)
            container.array = self.updated(container.array, place, value, True)
            return
        key = static_index(index)
        if key.__class__ is slice:
            container.items[key] = [self.builder.settle(item) for item in self.items(value)]
            container.length = len(container.items)
            return
        if key.__class__ is not int or not -len(container.items) <= key < len(container.items):
            raise Unsupported("an index that is out of range, or no key")
        old = container.items[key]
        if old.__class__ is Lazy and old.volatile:
            self.replace(old, value)
        else:
            container.items[key] = self.builder.settle(value)

    def with_floats(self, container: List, value: Any) -> None:
        """Make a list that is an array of integers one of floats, where it is given a float; note integers among floats."""
        builder, array, item = self.builder, container.array, read(value)
        if item.__class__ not in (Sym, float, int) or is_strong(builder, item):
            return
        if array.kind == INT and kind_of(item) == FLOAT and array.stored not in builder.strong:
            made = Array(FLOAT, array.shape, role="list")
            builder.listed(made)
            builder.append(ir.Alloc(made, False))
            builder.fill(made, array)
            container.array = builder.stored(made)
        if container.array.kind == FLOAT and builder.may_be_whole(item):
            builder.some_whole.add(container.array.stored)

    def known_count(self, index: Any) -> Any:
        """An index; of an input that is differentiated, and counts all the same, the integer that it is."""
        if index.__class__ is Sym and index.kind == FLOAT:
            return self.whole(index, "this value as an index")
        return index

    def place_in(self, container: List, index: Any) -> Any:
        """Where an index into a list that is an array points."""
        length = container.length
        index = self.known_count(index)
        if index.__class__ not in (int, Sym) or (index.__class__ is Sym and index.kind != INT):
            raise Unsupported("this value as an index")
        if length.__class__ is int:
            if index.__class__ is int:
                if not -length <= index < length:
                    raise Unsupported("an index that is out of range, or no key")
                return index % length
            return wrapped(self.builder, index, length, ("index_in", "a list", length))  # type: ignore[arg-type]
        room = container.array.shape[0]
        builder, site = self.builder, STATE.site
        if index.__class__ is int and index < 0:
            failure: tuple[Any, ...] = ("index_before_front", index)
            index = self.longer(length, index)
            builder.append(ir.Check(raw(index), 0, room, site, failure))
        else:
            if index.__class__ is Sym and builder.interval(index)[0] < 0:
                negative = builder.emit("less", (index, 0), BOOL)
                index = builder.emit("where_select", (negative, builder.integer("add", index, length), index), INT)
                builder.append(ir.Check(raw(index), 0, room, site, ("index_from_front",), raw(length)))
            rest = builder.integer("subtract", self.longer(length, -1), index)
            builder.append(ir.Check(raw(rest), 0, room, site, ("index_from_end",), raw(length)))
        return wrapped(builder, index, room) if index.__class__ is Sym else index

    def grow(self, container: List, value: Any) -> None:
        """`container.append(value)`."""
        builder = self.builder
        value = builder.settle(value)
        if container.frozen:
            raise Unsupported("a change of a list that is one or another, depending on data")
        if container.items is not None:
            container.items.append(value)
            container.length = len(container.items)
            return
        item = lazy(builder, value)
        array = container.array
        if item.shape != array.shape[1:] or (BOOL in (item.kind, array.kind) and item.kind != array.kind):
            raise Unsupported("a list whose items are of several kinds or shapes")
        if not array.volatile:
            # Room for one more: how much a loop needs is found from this.
            wider = Array(
                ir.FLOAT if FLOAT in (item.kind, array.kind) else array.kind,
                (array.shape[0] + 1, *array.shape[1:]),
                role="list",
            )
            builder.append(ir.Alloc(wider, True))
            builder.fill(wider, array)
            array = builder.stored(wider)
        whole = value.__class__ is not Lazy and builder.may_be_whole(value)
        if array.kind == FLOAT and (whole or container.array.kind == INT):
            builder.some_whole.add(array.stored)
        length = container.length
        if array.volatile or length.__class__ is Sym:
            builder.append(ir.Check(raw(length), 0, array.shape[0]))
        size = 1
        for n in item.shape:
            size *= n
        start = builder.integer("multiply", length, size)

        def write(at: tuple[Any, ...]) -> None:
            place = builder.integer("add", start, builder.flat(at, item.shape))
            builder.append(ir.Store(array.stored, raw(place), raw(builder.of_kind(array.kind, item.element(at)))))

        builder.each(item.shape, write)
        container.array, container.length = array, self.longer(length, 1)

    def updated(self, x: Lazy, index: Any, value: Any, listed: bool = False) -> Lazy:
        """A copy of `x` with the elements at `index` replaced; `listed` says that it stands for a list."""
        builder = self.builder
        if index.__class__ is Lazy and index.kind == BOOL and index.known is None and index.shape:
            from .selected import updated_where

            found = updated_where(builder, x, index, value)
            if not x.volatile:
                return found
            self.replace(x, found)
            return x
        parts = opened(builder, x, index)
        if parts is not None:
            return self.updated(x, parts[0], sliced.updated(builder, x, *parts, plain(value)))
        source = lazy(builder, plain(value))
        given = [] if builder.follower is None or listed else list(builder.follower.operands((x, source)))
        if source.kind != x.kind and (source.kind != INT or x.kind != FLOAT):
            raise Unsupported("an update of a tensor by elements of another dtype")
        places = lazy(builder, get(builder, coordinates(builder, x.shape), plain(index)))
        # The places are checked before anything is written, as the tape checks them.
        if len(source.shape) > len(places.shape) or any(
            n not in (1, m) for n, m in zip(source.shape[::-1], places.shape[::-1])
        ):
            raise Unsupported("a value that does not fit into what it replaces")
        if x.volatile:
            source = lazy(builder, builder.settle(source) if source.shape else source.element(()))
            builder.each(
                places.shape,
                lambda at: builder.overwrite(x, places.element(at), pick(source, at, places.shape)),
            )
            self.made_of(x.stored, given)
            return x
        array = Array(x.kind, x.shape, role="updated")
        if x.stored in builder.some_whole:
            builder.some_whole.add(array)
        if listed:
            array.mixed = True
            builder.listed(array)
        builder.append(ir.Alloc(array, False))
        # Copy, then overwrite: the cotangent of what is overwritten is taken by the later store.
        builder.fill(array, x)

        def write(at: tuple[Any, ...]) -> None:
            item = pick(source, at, places.shape)
            builder.append(ir.Store(array, raw(places.element(at)), raw(builder.of_kind(x.kind, item))))

        builder.each(places.shape, write)
        self.made_of(array, given)
        return builder.stored(array)

    def made_of(self, updated: Array | None, given: list[Any]) -> None:
        """Note that a tensor with new elements depends on what it is made of, though no element may be of that."""
        follower = self.builder.follower
        if given and follower is not None and updated is not None:
            whole = updated.kind == FLOAT and updated not in follower.listed and updated.role != "list"
            self.builder.append(Linked([updated] if whole else [], given, True))

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
            index = self.known_slices(self.expression(target.index, frame), container)
            container = moment.as_then(container)
            old = self.item_of(container, index)
            moment = Moment(self.builder)
            value = self.expression(node.value, frame)
            container, old = moment.as_then(container), moment.as_then(old)
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
        holds = self.condition(node.test, frame)
        if holds is False:
            raise Unsupported("an assertion that fails")
        if holds is not True:
            # Words that are to be computed are the tape's to say.
            failure: tuple[Any, ...] | None = ("assertion_failed", None) if node.message is None else None
            if node.message.__class__ is c.Literal and node.message.value.__class__ is str:
                failure = ("assertion_failed", node.message.value)
            self.builder.append(ir.Check(raw(holds), 1, 2, node.site, failure))


def coordinates(builder: Builder, shape: tuple[int, ...]) -> Lazy:
    """The array of flat places: indexing it tells where an index points."""
    return view(builder, INT, shape, lambda index: builder.flat(index, shape))


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
