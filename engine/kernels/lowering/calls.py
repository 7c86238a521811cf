"""Calls: functions of the program inlined where they are called, the language's own, rows and methods."""

from __future__ import annotations

from ...core.dtypes import DType
from ...core.operands import describe
from ...core.operation import Operation
from ...core.state import STATE
from ...core.tensor import OPERATORS
from ...core.texts import TEXT_METHODS
from ...ops.registry import METHODS, NAMES
from ...program import core as c
from ..ir import Unsupported
from ..symbols.following import refuse
from ..symbols.operands import Moment
from ..symbols.pairs import Pair
from ..symbols.symbol import NUMBERS, Lazy, Sym
from ..symbols.values import (
    RETURN,
    SUSPEND,
    UNSET,
    VALUE,
    Chosen,
    Closure,
    Frame,
    List,
    Made,
    Recorder,
    Records,
    Recursive,
    Selected,
    Unset,
    Variable,
    new_frame,
    read,
    symbolic,
)
from .applying import Applying
from .steps import count_step

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ...core.state import Site
    from .recursion import Recursion

MAX_INLINE = 40
# Calls of a function of functions inside itself: a minimum of minima.
MAX_INNER = 4
# A recursion of more calls runs as a loop.
MAX_CALLS = 300
MANY_CALLS = 5_000
SYMBOLS = (Sym, Lazy, Pair)


def fitting(name: str, run: Callable[..., Any], args: list[Any], keywords: dict[str, Any]) -> Any:
    """What `run` gives for arguments that are as the program has them. Raises Unsupported where it takes others."""
    try:
        return run(*args, **keywords)
    except TypeError:
        from inspect import signature

        try:
            signature(run).bind(*args, **keywords)
        except TypeError:
            raise Unsupported(f"a call whose arguments do not fit '{name}'", STATE.site) from None
        raise


def of_texts(name: str, value: str, args: list[Any]) -> Any:
    """A method of a text that is known. Raises Unsupported where its arguments are none."""
    if any(x.__class__ is not str and x is not None for x in args):
        raise Unsupported(f"the method '{name}' of a string with what is no text that is known")
    try:
        found = fitting(name, TEXT_METHODS[name], [value, *args], {})
    except (TypeError, ValueError):
        raise Unsupported(f"the method '{name}' of a string that fails") from None
    return List(found) if found.__class__ is list else found


class Calls(Applying):
    """The part of the specialiser that calls functions."""

    active: list[tuple[c.FunctionCode, int]]
    calls: int
    frames: list[Frame]
    # The functions that run as loops over stacks of frames, each with those that it shares one with as they call one
    # another; the loop that is made now, and whether it may stop here.
    recursive: dict[c.FunctionCode, set[c.FunctionCode]]
    recursion: Recursion | None
    may_stop: bool
    # Where the call is that runs.
    place: Site

    def choice(self, condition: Sym, then: Callable[[], Any], orelse: Callable[[], Any]) -> Any:
        raise NotImplementedError

    def block(self, statements: list[c.Stmt], frame: Frame) -> None:
        raise NotImplementedError

    def arguments(self, node: c.Apply | c.Call | c.Method, frame: Frame) -> tuple[list[Any], dict[str, Any]]:
        args: list[Any] = []
        named: dict[str, Any] = {}
        moments: list[Moment] = []
        for a in node.args:
            if a.__class__ is c.Spread:
                args.extend(self.items(self.expression(a.value, frame)))
            else:
                args.append(self.expression(a, frame))
            moments += [Moment(self.builder)] * (len(args) - len(moments))
        for name, value in node.keywords:
            named[name] = self.expression(value, frame)
            moments.append(Moment(self.builder))
        # What comes later is copied first: a copy is put where its moment was.
        values = [moment.as_then(x) for moment, x in zip(moments, [*args, *named.values()])]
        return values[: len(args)], dict(zip(named, values[len(args) :]))

    def call(self, node: c.Call, frame: Frame) -> Any:
        callee = self.expression(node.function, frame)
        if callee.__class__ is c.Intrinsic and callee.name in ("any", "all", "sum"):
            from .static import folded_call

            found = folded_call(self, callee.name, node, frame)  # type: ignore[arg-type]
            if found is not None:
                return found
        args, keywords = self.arguments(node, frame)
        STATE.site = node.site
        self.may_stop = self.recursion is not None and callee.__class__ is Closure and self.recursion.may_stop_at(node)
        outer, self.place = self.place, node.site
        direct = callee.__class__ is Closure
        found = self.inline(callee, args, keywords) if direct else self.invoke(callee, args, keywords)
        self.place = outer
        return found

    def invoke(self, callee: Any, args: list[Any], keywords: dict[str, Any]) -> Any:
        if callee.__class__ is Closure:
            # What calls it goes on at its own place, as on the tape.
            site = STATE.site
            found = self.inline(callee, args, keywords)
            STATE.site = site
            return found
        if callee.__class__ is Chosen:
            return self.choice(
                callee.condition,
                lambda: self.invoke(callee.then, args, keywords),
                lambda: self.invoke(callee.otherwise, args, keywords),
            )
        if callee.__class__ is Made:
            return callee.run(args, keywords)
        if callee.__class__ is Operation:
            return self.apply_row(callee, args, keywords)
        if callee.__class__ is c.Intrinsic:
            from .static import INTRINSICS

            if callee.name in ("GradientTape", "Variable", "custom_gradient"):
                refuse(self.builder, f"'{callee.name}'")
            run = INTRINSICS.get(callee.name)
            if run is None:
                refuse(self.builder, f"'{callee.name}'")
                from .derivative_operators import OPERATORS as DERIVATIVES

                run = DERIVATIVES.get(callee.name)
            if run is None:
                raise Unsupported(f"'{callee.name}'")
            given = args if callee.name == "int" else map(read, args)
            return fitting(callee.name, run, [self, *given], keywords)
        if callee.__class__ is DType and len(args) == 1:
            return self.apply_row(OPERATORS["constant"], args, {"dtype": callee})
        raise Unsupported(f"a call of {describe(callee)}")

    def inline(self, function: Closure, args: list[Any], keywords: dict[str, Any]) -> Any:
        code = function.code
        may_stop, self.may_stop = self.may_stop, False
        values = self.bound(function, args, keywords)
        count_step(self, self.place)  # type: ignore[arg-type]
        recursion = self.recursion
        if code in self.recursive:
            if recursion is None or code not in self.recursive[recursion.function.code]:
                return self.recurse(function, values)
            if recursion.has_frames_of(code):
                if not may_stop:
                    raise Unsupported(f"the recursion of {code.name}, at a place where it cannot stop")
                return recursion.call(function, values)
        running = [depth for active, depth in self.active if active is code]
        # Recursion that data decides never ends here; what is decided now may, as may a function of functions.
        decided = all(depth == self.dynamic for depth in running) or (
            len(running) < MAX_INNER and any(value.__class__ is Closure for value in values)
        )
        if not decided or (running and (len(self.active) >= MAX_INLINE or self.calls > MAX_CALLS)):
            raise Recursive(code)
        if len(self.active) >= MAX_INLINE:
            raise Unsupported("calls nested this deeply")
        inner = new_frame(function.frame)
        for i, value in enumerate(values):
            inner[2 + i] = value
        self.calls += 1
        if self.calls > MANY_CALLS:
            raise Unsupported("a program with this many calls")
        caller = self.frames[-1]
        self.active.append((code, self.dynamic))
        self.frames.append(inner)
        try:
            self.block(code.body if recursion is None else recursion.body_of(code), inner)
        finally:
            self.active.pop()
            self.frames.pop()
        stopped = inner[SUSPEND]
        if stopped is not False:
            if not may_stop:
                raise Unsupported("a recursive call at this place")
            caller[SUSPEND] = stopped
            if inner[RETURN] is False:
                return UNSET
        if inner[RETURN] is False:
            return None
        if (inner[RETURN] is not True and stopped is False) or inner[VALUE].__class__ is Unset:
            raise Unsupported("a function that returns values of different kinds, or nothing on some path")
        return inner[VALUE]

    def bound(self, function: Closure, args: list[Any], keywords: dict[str, Any]) -> list[Any]:
        """The values of a function's parameters."""
        code = function.code
        if len(args) > len(code.parameters) or any(k not in code.parameters for k in keywords):
            raise Unsupported("a call whose arguments do not fit the function")
        values: list[Any] = []
        for i, name in enumerate(code.parameters):
            if i < len(args):
                if name in keywords:
                    raise Unsupported("a call whose arguments do not fit the function")
                value = args[i]
            elif name in keywords:
                value = keywords[name]
            else:
                value = function.defaults[i]
                if value is UNSET:
                    raise Unsupported("a call whose arguments do not fit the function")
            values.append(self.builder.settle(value))
        return values

    def recurse(self, function: Closure, args: list[Any]) -> Any:
        raise NotImplementedError

    def method(self, node: c.Method, frame: Frame) -> Any:
        if node.value.__class__ is c.Item and node.name == "assign":
            container = self.expression(node.value.value, frame)
            moment = Moment(self.builder)
            index = self.expression(node.value.index, frame)
            STATE.site = node.value.site
            if container.__class__ is Variable:
                from .variables import part_assigned

                container.read()
                args, keywords = self.arguments(node, frame)
                return fitting("assign", part_assigned, [self, container, index, *args], keywords)
            value = self.item_of(moment.as_then(container), index)
        else:
            value = self.expression(node.value, frame)
        moment = Moment(self.builder)
        args, keywords = self.arguments(node, frame)
        value = moment.as_then(value)
        STATE.site = node.site
        if value.__class__ in (List, Records, dict):
            from .sequences import METHODS as OWN

            run = OWN[value.__class__].get(node.name)
            if run is None:
                raise Unsupported(f"the method '{node.name}' of {describe(value)}")
            return fitting(node.name, run, [self, value, *args], keywords)
        if value.__class__ is Variable or isinstance(value, Recorder):
            from .variables import method as own_method

            return own_method(self, value, node.name, args, keywords)
        if node.name == "numpy" and not args and value.__class__ in (*SYMBOLS, *NUMBERS, complex):
            return self.still(value)
        if node.name == "format" and value.__class__ is str:
            from .printing import format_

            return format_(value, args, keywords)
        if value.__class__ is str and node.name in TEXT_METHODS and not keywords:
            return of_texts(node.name, value, args)
        row = METHODS.get(node.name)
        if row is None or (value.__class__ not in SYMBOLS and value.__class__ is not Selected):
            raise Unsupported(f"the method '{node.name}' of {describe(value)}")
        return self.apply_row(row, [value, *args], keywords)

    def still(self, x: Any) -> Any:
        """A value as a constant: no derivative passes."""
        return self.builder.settle(self.builder.apply(NAMES["stop_gradient"], (x,), {})) if symbolic(x) else x
