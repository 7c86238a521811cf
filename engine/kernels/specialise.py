"""Specialising the core program to the kinds and shapes of its inputs: the core program run on symbols.

Whatever is known (lists, shapes, functions, constants) is computed now; what depends on the inputs' values becomes
IR. Loops stay loops, branches that depend on data become `If` with merged values, functions are inlined.
"""

from __future__ import annotations

from ..program import core as c
from . import ir
from .arrays import get, lazy, view
from .build import Builder, Lazy, Sym, pick, raw
from .control import Control
from .ir import BOOL, FLOAT, INT, Array, Unsupported, Var
from .values import BREAK, CONFLICT, CONTINUE, RESULT, RETURN, UNSET, VALUE, new_frame, static_index

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .values import Frame


class Specialised:
    """A program on symbols: the kernel without results, the symbolic result, and the inputs by name."""

    __slots__ = ("builder", "inputs", "kernel", "result")

    def __init__(self, builder: Builder, kernel: ir.Kernel, result: Any, inputs: dict[str, Any]) -> None:
        self.builder = builder
        self.kernel = kernel
        self.result = result
        self.inputs = inputs


def specialise(program: c.CoreProgram, inputs: dict[str, Any]) -> Specialised:
    """The IR of a program; `inputs` gives per name a kind ("f", "i"), a shape (floats), or a known value in a list."""
    builder = Builder()
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
    machine = Specialiser(builder)
    machine.block(program.body, frame)
    if frame[RETURN] is True:
        frame[RESULT] = frame[VALUE]
    elif frame[RETURN] is not False:
        machine.branch(frame[RETURN], frame, lambda: frame.update({RESULT: frame[VALUE]}), lambda: None)
    result = frame[RESULT]
    if result is UNSET or result is CONFLICT or result is None:
        raise Unsupported("a program without a numeric result on every path")
    return Specialised(builder, ir.Kernel(parameters, builder.block, []), result, symbols)


def parameter(builder: Builder, parameters: list[Any], name: str, spec: Any) -> Any:
    if spec.__class__ is list:
        return spec[0]
    if spec.__class__ is str:
        var = Var(spec, "p")
        var.name = name
        builder.inputs.add(var)
        parameters.append(var)
        return Sym(builder, var)
    array = Array(FLOAT, spec, "p", "input")
    array.name = name
    parameters.append(array)
    return builder.stored(array)


class Specialiser(Control):
    """Runs the core program on symbols."""

    def __init__(self, builder: Builder) -> None:
        self.builder = builder
        self.active: list[tuple[c.FunctionCode, int]] = []  # the functions being inlined, and `dynamic` there
        self.calls = 0
        self.dynamic = 0  # how many blocks around may run any number of times

    def statement(self, node: c.Stmt, frame: Frame) -> None:
        handler = STATEMENTS.get(node.__class__)
        if handler is None:
            raise Unsupported(f"the statement '{node.__class__.__name__}'")
        handler(self, node, frame)

    def evaluate(self, node: c.Evaluate, frame: Frame) -> None:
        value = self.expression(node.value, frame)
        if node.result and value is not None:
            frame[RESULT] = value

    def assign(self, node: c.Assign, frame: Frame) -> None:
        if node.dtype is not None:
            raise Unsupported("an annotated assignment")
        value = self.builder.settle(self.expression(node.value, frame))
        for target in node.targets:
            self.put(target, value, frame)
        if node.result:
            frame[RESULT] = value

    def put(self, target: c.Target, value: Any, frame: Frame) -> None:
        if target.__class__ is c.Store:
            if target.depth:
                raise Unsupported("an assignment to an outer variable")
            old = frame.get(target.slot)
            if old.__class__ is Lazy and old.volatile:
                self.replace(old, value)
                return
            frame[target.slot] = value
        elif target.__class__ is c.Unpack:
            if target.star is not None:
                raise Unsupported("a starred target")
            items = self.items(value)
            if len(items) != len(target.targets):
                raise Unsupported("an unpacking that does not fit")
            for each, item in zip(target.targets, items):
                self.put(each, item, frame)
        else:
            assert target.__class__ is c.StoreItem
            self.put_item(target, value, frame)

    def replace(self, old: Lazy, value: Any) -> None:
        """Assign an array that a loop carries: its elements change, and it stays where it is."""
        if value is old:
            return
        if value.__class__ is not Lazy or value.shape != old.shape or value.kind == BOOL:
            raise Unsupported("a tensor that becomes something else in a loop")
        builder = self.builder
        value = builder.settle(value)
        builder.each(
            old.shape, lambda index: builder.overwrite(old, builder.flat(index, old.shape), value.element(index))
        )

    def put_item(self, target: c.StoreItem, value: Any, frame: Frame) -> None:
        container = self.expression(target.container, frame)
        index = self.expression(target.index, frame)
        if container.__class__ in (list, dict):
            if self.dynamic:
                raise Unsupported("a list or dict that changes inside a loop or branch")
            container[static_index(index)] = value
            return
        if container.__class__ is not Lazy or target.back is None:
            raise Unsupported("an item assignment of this kind")
        self.put(target.back, self.updated(container, index, value), frame)

    def updated(self, x: Lazy, index: Any, value: Any) -> Lazy:
        """A copy of `x` with the elements at `index` replaced."""
        builder = self.builder
        source = lazy(builder, value)
        if x.kind != FLOAT or source.kind == BOOL:
            raise Unsupported("an update of a tensor of integers")
        places = lazy(builder, get(builder, coordinates(builder, x.shape), index))
        # The places are checked before anything is written, as the tape checks them.
        if len(source.shape) > len(places.shape) or any(
            n not in (1, m) for n, m in zip(source.shape[::-1], places.shape[::-1])
        ):
            raise Unsupported("a value that does not fit the part of a tensor that it updates")
        if x.volatile:
            source = lazy(builder, builder.settle(source) if source.shape else source.element(()))
            builder.each(
                places.shape,
                lambda at: builder.overwrite(x, places.element(at), pick(source, at, places.shape)),
            )
            return x
        array = Array(FLOAT, x.shape, role="updated")
        builder.append(ir.Alloc(array, False))
        # Copy, then overwrite: the cotangent of what is overwritten is taken by the later store.
        builder.fill(array, x)

        def write(at: tuple[Any, ...]) -> None:
            item = pick(source, at, places.shape)
            builder.append(ir.Store(array, raw(places.element(at)), raw(builder.to_float(item))))

        builder.each(places.shape, write)
        return builder.stored(array)

    def augment(self, node: c.Augment, frame: Frame) -> None:
        target = node.target
        if target.__class__ is c.Store:
            old = self.load(c.Load(target.depth, target.slot, target.name, target.site), frame)
            value = self.expression(node.value, frame)
            new = self.builder.settle(self.combine(node.op, node.symbol, old, value, node.site))
            if old.__class__ is list:
                # Python changes the list itself, which other names may share.
                if self.dynamic:
                    raise Unsupported("a list that changes inside a loop or branch")
                old[:] = new
                new = old
            self.put(target, new, frame)
        elif target.__class__ is c.StoreItem:
            old = self.item_of(self.expression(target.container, frame), self.expression(target.index, frame))
            if old.__class__ is list:
                raise Unsupported("an augmented assignment to a list inside another")
            new = self.combine(node.op, node.symbol, old, self.expression(node.value, frame), node.site)
            self.put_item(target, new, frame)
        else:
            raise Unsupported("an augmented assignment of this kind")
        if node.result:
            frame[RESULT] = new

    def break_(self, node: c.Break, frame: Frame) -> None:
        frame[BREAK] = True

    def continue_(self, node: c.Continue, frame: Frame) -> None:
        frame[CONTINUE] = True

    def return_(self, node: c.Return, frame: Frame) -> None:
        frame[VALUE] = None if node.value is None else self.expression(node.value, frame)
        frame[RETURN] = True

    def define(self, node: c.Define, frame: Frame) -> None:
        if node.decorators:
            raise Unsupported("a decorated function")
        self.put(node.target, self.make_function(node.function, frame), frame)

    def assertion(self, node: c.Assert, frame: Frame) -> None:
        if self.truth(self.expression(node.test, frame)) is not True:
            raise Unsupported("an assertion on data")


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
    c.Break: Specialiser.break_,
    c.Continue: Specialiser.continue_,
    c.Return: Specialiser.return_,
    c.Define: Specialiser.define,
    c.Assert: Specialiser.assertion,
}
