"""Expressions of the core program on symbols and on what is known."""

from __future__ import annotations

from ..core.dispatch import describe, wrap
from ..core.dtypes import FLOAT32, WEAK_FLOAT, WEAK_FLOAT32, DType
from ..core.operation import Operation
from ..core.state import STATE
from ..core.tensor import OPERATORS, Tensor
from ..ops.registry import METHODS, NAMES
from ..program import core as c
from ..program.rewrite import rewrite
from .array_rows import to_single
from .arrays import constant_array
from .build import NUMBERS, Lazy, Sym
from .following import refuse
from .inputs import EVERY, SOME
from .ir import BOOL, INT, LEAST, MOST, Unsupported
from .items import Items
from .operands import Moment
from .pairs import Pair
from .printing import Text, joined, piece
from .strength import own
from .values import (
    CONFLICT,
    PARENT,
    RETURN,
    SUSPEND,
    UNSET,
    VALUE,
    Chosen,
    Closure,
    Frame,
    Letter,
    List,
    Made,
    Range,
    Recorder,
    Recursive,
    Selected,
    Unset,
    Variable,
    new_frame,
    plain,
    read,
    symbolic,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .printing import Printed
    from .recursion import Recursion

MAX_INLINE = 40
# Calls of a function of functions inside itself: a minimum of minima.
MAX_INNER = 4
# A recursion of more calls runs as a loop.
MAX_CALLS = 300
MANY_CALLS = 5_000
SYMBOLS = (Sym, Lazy, Pair)
SMALL_INTEGERS = frozenset(("+", "-", "*", "/", "//", "%", "**"))


class Expressions(Items):
    """The part of the specialiser that evaluates expressions."""

    dynamic: int
    active: list[tuple[c.FunctionCode, int]]
    calls: int
    frames: list[Frame]
    # The functions that run as loops over stacks of frames, the one that does so now, and whether it may stop here.
    recursive: set[c.FunctionCode]
    recursion: Recursion | None
    may_stop: bool
    # The tapes that record now, the outermost first, and the Variables of the program.
    tapes: list[Any]
    variables: list[Variable]
    # What is printed, how many functions that are differentiated are running, and whether the result is that of the
    # last statement.
    printed: Printed
    derived: int
    last: bool

    def expression(self, node: c.Expr, frame: Frame) -> Any:
        handler = EXPRESSIONS.get(node.__class__)
        if handler is None:
            raise Unsupported("an expression of this kind")
        try:
            return handler(self, node, frame)
        except Unsupported as why:
            why.place(node)
            raise

    def literal(self, node: c.Literal, frame: Frame) -> Any:
        return self.builder.rounded(node.value)

    def intrinsic(self, node: c.Intrinsic, frame: Frame) -> Any:
        return node

    def load(self, node: c.Load, frame: Frame) -> Any:
        for _ in range(node.depth):
            frame = frame[PARENT]
        value = frame.get(node.slot, UNSET)
        if value.__class__ is Unset:
            if value is CONFLICT:
                raise Unsupported(f"'{node.name}', which is of one kind or another, depending on data")
            raise Unsupported(f"'{node.name}' may be read before it is assigned")
        return value

    def operator(self, node: c.Operator, frame: Frame) -> Any:
        spine: list[c.Operator] = []
        left: c.Expr = node
        while left.__class__ is c.Operator:
            stable = rewrite(left)
            if stable is not None:
                left = stable
                break
            spine.append(left)
            left = left.left
        value = self.expression(left, frame)
        for item in reversed(spine):
            moment = Moment(self.builder)
            right = self.expression(item.right, frame)
            value = self.combine(item.op, item.symbol, moment.as_then(value), right, item.site)
        return value

    def combine(self, op: Operation, symbol: str, x: Any, y: Any, site: Any) -> Any:
        STATE.site = site
        x, y = read(x), read(y)
        if x.__class__ is Selected or y.__class__ is Selected:
            from .selected import elementwise

            return elementwise(self, op, [x, y])
        if x.__class__ in (List, tuple) or y.__class__ in (List, tuple):
            if symbol == "+" and x.__class__ is y.__class__:
                return List(self.items(x) + self.items(y)) if x.__class__ is List else x + y
            if symbol == "*":
                items, times = (x, y) if x.__class__ in (List, tuple) else (y, x)
                if times.__class__ is int:
                    return self.repeated(items, times)
                if times.__class__ is Sym and x.__class__ is not y.__class__:
                    times = self.whole(times, "a list repeated a number of times that depends on data")
                    return self.repeated(items, times)
            x, y = plain(x), plain(y)
        if x.__class__ in SYMBOLS or y.__class__ in SYMBOLS:
            known = self.folded(op, [x, y])
            return self.builder.apply(op, (x, y), None) if known is None else known
        if x.__class__ in (int, bool) and y.__class__ in (int, bool):
            held = LEAST <= x <= MOST and LEAST <= y <= MOST
            if symbol not in SMALL_INTEGERS or not held or (symbol == "**" and not 0 <= y < 64):
                raise Unsupported("integers beyond int64 that are known before the program runs")
            return self.builder.rounded(op(x, y) if symbol != "/" or y == 0 else x / y)
        if x.__class__ in NUMBERS and y.__class__ in NUMBERS:
            return self.builder.rounded(op(x, y))
        if symbol == "+" and x.__class__ in (str, Text) and y.__class__ in (str, Text):
            return joined([x, y])
        if any(v.__class__ in (str, dict, Range, Closure, Text) or v is None for v in (x, y)):
            raise Unsupported(f"'{symbol}' with {describe(x)} and {describe(y)}")
        if not symbolic(x) and not symbolic(y):
            return self.constant(self.evaluated(op, x, y))
        return self.builder.apply(op, (x, y), None)

    def prefix(self, node: c.Prefix, frame: Frame) -> Any:
        x = self.expression(node.operand, frame)
        STATE.site = node.site
        x = plain(x)
        if x.__class__ is Selected:
            from .selected import elementwise

            return elementwise(self, node.op, [x])
        if x.__class__ in SYMBOLS or symbolic(x):
            known = self.folded(node.op, [x])
            return self.builder.apply(node.op, (x,), None) if known is None else known
        if x.__class__ is complex:
            return node.op(x)
        if x.__class__ not in NUMBERS:
            raise Unsupported(f"'{node.symbol}' with {describe(x)}")
        return node.op.scalar(x) if x.__class__ in (int, bool) else node.op(x)  # type: ignore[misc]

    def comparison(self, node: c.Comparison, frame: Frame) -> Any:
        return self.chained(node, 0, self.expression(node.left, frame), frame)

    def chained(self, node: c.Comparison, first: int, x: Any, frame: Frame) -> Any:
        """A chain of comparisons from its link `first` on, whose left operand is `x`.

        What stands behind a link that fails is not evaluated, unless nobody could tell.
        """
        result: Any = True
        for k, right in enumerate(node.rights[first:], first):
            if result.__class__ is Sym and not harmless(right):
                return self.choice(result, lambda k=k, x=x: self.chained(node, k, x, frame), lambda: False)  # type: ignore[misc]
            moment = Moment(self.builder)
            y = self.expression(right, frame)
            STATE.site = node.site
            link = self.compared(node, k, moment.as_then(x), y)
            if result is True and k + 1 == len(node.rights):
                return link
            result = self.both(result, self.truth(link))
            if result is False:
                return False
            x = y
        return result

    def compared(self, node: c.Comparison, k: int, x: Any, y: Any) -> Any:
        """The link `k` of a chain of comparisons."""
        op, symbol = node.ops[k], node.symbols[k]
        if symbol in ("in", "not in") and not statically(x, y):
            from .choosing import contains

            found = contains(self, read(y), read(x))
            return found if symbol == "in" else self.inverse(found)
        if symbol not in ("is", "is not", "in", "not in"):
            x, y = read(x), read(y)
            if symbol in ("==", "!=") and Letter in (x.__class__, y.__class__):
                from .choosing import same_letter

                found = same_letter(self, x, y)
                return found if symbol == "==" else self.inverse(found)
            if Lazy in (x.__class__, y.__class__):
                x, y = plain(x), plain(y)
        if x.__class__ not in SYMBOLS and y.__class__ not in SYMBOLS:
            from .static import compare_static

            return compare_static(op, symbol, x, y)
        if symbol in ("is", "is not", "==", "!=") and (x is None or y is None):
            return symbol in ("is not", "!=")
        if op is None or any(v.__class__ not in (*SYMBOLS, *NUMBERS, complex) for v in (x, y)):
            raise Unsupported(f"'{symbol}' with {describe(x)} and {describe(y)}")
        return self.linked(len(node.ops), op, x, y)

    def linked(self, count: int, op: Operation, x: Any, y: Any) -> Any:
        """One of `count` comparisons in a chain."""
        follower = self.builder.follower
        if follower is None:
            return self.builder.apply(op, (x, y), None)
        outer, follower.links = follower.links, count
        found = self.builder.apply(op, (x, y), None)
        follower.links = outer
        return found

    def both(self, a: Any, b: Any) -> Any:
        if a is True:
            return b
        if a is False or b is False:
            return False
        if b is True:
            return a
        return self.builder.apply(NAMES["logical_and"], (a, b), None)

    def logical(self, node: c.Logical, frame: Frame) -> Any:
        """`and` and `or`: the right side runs only if the left one does not decide."""
        value = self.expression(node.values[0], frame)
        for k, other in enumerate(node.values[1:], 1):
            condition = self.truth(value)
            if condition.__class__ is bool:
                if condition == (node.symbol == "or"):
                    return value
                value = self.expression(other, frame)
                continue

            def rest(k: int = k) -> Any:
                return self.logical(c.Logical(node.symbol, node.values[k:], node.site), frame)

            if node.symbol == "or":
                return self.choice(condition, lambda value=value: value, rest)  # type: ignore[misc]
            return self.choice(condition, rest, lambda value=value: value)  # type: ignore[misc]
        return value

    def condition(self, node: c.Expr, frame: Frame) -> Any:
        """An expression as a condition, a bool or a bool symbol: what `and` and `or` give is not needed as a value."""
        if node.__class__ is c.Not:
            inner = self.condition(node.operand, frame)
            return self.inverse(inner)
        if node.__class__ is not c.Logical:
            return self.truth(self.expression(node, frame))
        found = self.condition(node.values[0], frame)
        for k, _ in enumerate(node.values[1:], 1):
            if found.__class__ is bool:
                if found == (node.symbol == "or"):
                    return found
                found = self.condition(node.values[k], frame)
                continue

            def rest(k: int = k) -> Any:
                return self.condition(c.Logical(node.symbol, node.values[k:], node.site), frame)

            if node.symbol == "or":
                return self.choice(found, lambda: True, rest)
            return self.choice(found, rest, lambda: False)
        return found

    def inverse(self, x: Any) -> Any:
        return (not x) if x.__class__ is bool else self.builder.apply(NAMES["logical_not"], (x,), None)

    def choice(self, condition: Sym, then: Callable[[], Any], orelse: Callable[[], Any]) -> Any:
        raise NotImplementedError

    def put(self, target: c.Target, value: Any, frame: Frame) -> None:
        raise NotImplementedError

    def block(self, statements: list[c.Stmt], frame: Frame) -> None:
        raise NotImplementedError

    def truth(self, x: Any) -> Any:
        """A condition as a bool or a bool symbol."""
        x = read(x)
        if x.__class__ is Sym:
            return self.builder.to_bool(x)
        if x.__class__ is Lazy:
            if x.shape == ():
                return self.truth(x.element(()))
            raise Unsupported("a tensor of several elements as a condition")
        if x.__class__ is List:
            if x.length.__class__ is int:
                return x.length > 0
            return self.builder.apply(NAMES["greater"], (x.length, 0), None)
        if x.__class__ in (Closure, Operation, c.Intrinsic) or hasattr(x, "dtype"):
            raise Unsupported(f"{describe(x)} as a condition")
        return bool(x)

    def negation(self, node: c.Not, frame: Frame) -> Any:
        return self.inverse(self.condition(node.operand, frame))

    def choose(self, node: c.Choose, frame: Frame) -> Any:
        condition = self.condition(node.test, frame)
        if condition.__class__ is bool:
            return self.expression(node.then if condition else node.otherwise, frame)
        return self.choice(
            condition, lambda: self.expression(node.then, frame), lambda: self.expression(node.otherwise, frame)
        )

    def apply(self, node: c.Apply, frame: Frame) -> Any:
        stable = rewrite(node)
        if stable is not None:
            return self.expression(stable, frame)
        args, keywords = self.arguments(node, frame)
        STATE.site = node.site
        return self.apply_row(node.op, args, keywords)

    def apply_row(self, op: Operation, args: list[Any], keywords: dict[str, Any]) -> Any:
        args, keywords = [plain(x) for x in args], {name: plain(x) for name, x in keywords.items()}
        if not any(map(symbolic, [*args, *keywords.values()])):
            return self.constant(self.evaluated(lambda: op.call(args, keywords)))
        if op.name == "stack" and len(args) == 1 and not keywords and args[0].__class__ is Lazy and args[0].shape:
            return self.builder.indexed(args[0], lambda: args[0])  # a list that is an array already
        known = self.folded(
            lambda *values: op.call(list(values[: len(args)]), dict(zip(keywords, values[len(args) :]))),
            [*args, *keywords.values()],
        )
        if known is not None:
            return known
        if any(x.__class__ is Selected for x in args):
            from .selected import row

            return row(self, op, args, keywords)
        inputs, attributes = op.bind(args, keywords)
        if op.name == "arange":
            inputs = tuple(self.whole(x, "arange with bounds that depend on data") for x in inputs)
        if op.name in ("boolean_mask", "dynamic_partition"):
            found = self.parts(op.name, list(inputs), attributes or {})
            if found is not None:
                return found
        if any(map(symbolic, (attributes or {}).values())):
            why = f"{op.name} with an option that depends on data"
            attributes = {name: self.whole(value, why) for name, value in (attributes or {}).items()}
        if not any(map(symbolic, inputs)):
            return self.constant(self.evaluated(lambda: op(*inputs, **(attributes or {}))))
        found = self.builder.apply(op, inputs, attributes)
        if self.dynamic and found.__class__ in (list, tuple):
            # In a loop, what they are made of may change in place.
            found = found.__class__([self.builder.settle(part) for part in found])
        return List(found) if found.__class__ is list else found

    def parts(self, name: str, inputs: list[Any], attributes: dict[str, Any]) -> Any:
        """The part of a tensor for a mask, or the parts for a partition, which data decide; None for other operands."""
        if len(inputs) < 2 or inputs[0].__class__ is not Lazy or inputs[1].__class__ is not Lazy:
            return None
        from .selected import by_mask, partitioned

        x, places = inputs[:2]
        if name == "boolean_mask" and places.kind == BOOL and attributes.get("axis") in (None, 0):
            return by_mask(self.builder, x, places)
        count = attributes.get("num_partitions", inputs[2] if len(inputs) > 2 else None)
        if name == "dynamic_partition" and places.kind == INT and count.__class__ is int:
            return partitioned(self.builder, x, places, count)
        return None

    def folded(self, run: Callable[..., Any], operands: list[Any]) -> Any:
        """What `run` gives for operands all of which are known; None where they are not, or what it gives is no
        constant of a kernel."""
        values = known_values(operands)
        if values is None:
            return None
        try:
            return self.constant(self.evaluated(run, *values))
        except Unsupported:
            return None

    def constant(self, value: Any) -> Any:
        """A tensor that is known now: scalars as numbers, arrays as constants of the kernel."""
        if value.__class__ is list:
            return List([self.constant(item) for item in value])
        if value.__class__ is tuple:
            return tuple(self.constant(item) for item in value)
        if value.__class__ is Tensor:
            single = value.dtype.name == "float32"
            if self.builder.mode:
                value = self.constant_beside_float32(value)
            if single and self.builder.mode == SOME:
                return to_single(self.builder, self.constant(value))
            if value.dtype.name not in ("float64", "int64", "bool"):
                raise Unsupported(f"the dtype {value.dtype.name}")
            strong = value.dtype.name == "int64" and not value.dtype.weak
            self.builder.made_strong[0] |= not value.dtype.weak
            if value.shape == ():
                if strong:
                    raise Unsupported("an integer with a dtype of its own")
                return value.value
            found = constant_array(self.builder, value.value)
            found.known = value
            return own(self.builder, found) if strong else found
        return self.builder.rounded(value)

    def constant_beside_float32(self, value: Tensor) -> Tensor:
        """A tensor that is known now, in a kernel of float32: what is a float32 in float64, which every one of them is.

        Raises Unsupported for one of float64, which mixes with none of float32.
        """
        name, every = value.dtype.name, self.builder.mode == EVERY
        if name == "float64" and not value.dtype.weak:
            raise Unsupported("float64 beside float32")
        if name == "float32":
            value = wrap(value.value.astype("float64"), WEAK_FLOAT)
        elif name == "float64" and every and value.shape:
            value = wrap(value.value.astype("float32").astype("float64"), WEAK_FLOAT)
        return value

    def evaluated(self, run: Callable[..., Any], *values: Any) -> Any:
        """What `run` gives for known values on the tape, in the floats of the evaluation."""
        if self.builder.mode != EVERY:
            return run(*values)
        kept = STATE.weak_float, STATE.default_float
        STATE.weak_float, STATE.default_float = WEAK_FLOAT32, FLOAT32
        try:
            return run(*values)
        finally:
            STATE.weak_float, STATE.default_float = kept

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
        return self.invoke(callee, args, keywords)

    def invoke(self, callee: Any, args: list[Any], keywords: dict[str, Any]) -> Any:
        if callee.__class__ is Closure:
            return self.inline(callee, args, keywords)
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
                from .nested import OPERATORS as DERIVATIVES

                run = DERIVATIVES.get(callee.name)
            if run is None:
                raise Unsupported(f"'{callee.name}'")
            return run(self, *map(read, args), **keywords)
        floats = "float32" if self.builder.mode else "float64"
        if callee.__class__ is DType and len(args) == 1 and callee.name == floats:
            if self.builder.mode == SOME:
                return self.apply_row(OPERATORS["cast"], args, {"dtype": callee})
            return self.builder.cast_to_float(args[0])
        raise Unsupported(f"a call of {describe(callee)}")

    def inline(self, function: Closure, args: list[Any], keywords: dict[str, Any]) -> Any:
        code = function.code
        may_stop, self.may_stop = self.may_stop, False
        values = self.bound(function, args, keywords)
        recursion = self.recursion
        if code in self.recursive:
            if recursion is None or recursion.function.code is not code:
                return self.recurse(function, values)
            if not may_stop or recursion.function.frame is not function.frame:
                raise Unsupported(f"the recursion of {code.name}, at a place where it cannot stop")
            return recursion.call(values)
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
        value = self.expression(node.value, frame)
        moment = Moment(self.builder)
        args, keywords = self.arguments(node, frame)
        value = moment.as_then(value)
        STATE.site = node.site
        if value.__class__ in (List, dict):
            from .sequences import METHODS as OWN

            run = OWN[value.__class__].get(node.name)
            if run is None:
                raise Unsupported(f"the method '{node.name}' of {describe(value)}")
            return run(self, value, *args, **keywords)
        if value.__class__ is Variable or isinstance(value, Recorder):
            from .variables import method as own_method

            return own_method(self, value, node.name, args, keywords)
        if node.name == "numpy" and not args and value.__class__ in (*SYMBOLS, *NUMBERS, complex):
            return self.still(value)
        row = METHODS.get(node.name)
        if row is None or (value.__class__ not in SYMBOLS and value.__class__ is not Selected):
            raise Unsupported(f"the method '{node.name}' of {describe(value)}")
        return self.apply_row(row, [value, *args], keywords)

    def still(self, x: Any) -> Any:
        """A value as a constant: no derivative passes."""
        return self.builder.settle(self.builder.apply(NAMES["stop_gradient"], (x,), {})) if symbolic(x) else x

    def attribute(self, node: c.Attribute, frame: Frame) -> Any:
        value = self.expression(node.value, frame)
        if value.__class__ is Variable:
            if node.name == "trainable":
                return value.trainable
            value = value.value
        if value.__class__ is Selected and node.name in ("size", "shape"):
            from .selected import length

            n, rest = length(self.builder, value), value.rows.shape[1:]
            if node.name == "shape":
                return (n, *rest)
            for m in rest:
                n = self.builder.integer("multiply", n, m)
            return n
        if value.__class__ not in (Lazy, Pair) and (value.__class__ is not Sym or node.name == "T"):
            raise Unsupported(f"the attribute '{node.name}' of {describe(value)}")
        if node.name in ("real", "imag"):
            return self.builder.apply(OPERATORS[node.name], (value,), None)
        shape = value.shape
        if node.name == "shape":
            return shape
        if node.name == "ndim":
            return len(shape)
        if node.name == "size":
            size = 1
            for n in shape:
                size *= n
            return size
        if node.name == "T":
            return self.builder.apply(OPERATORS["transpose"], (value,), {})
        raise Unsupported(f"the attribute '{node.name}' of {describe(value)}")

    def format_text(self, node: c.FormatText, frame: Frame) -> Any:
        pieces: list[Any] = []
        for part in node.parts:
            if isinstance(part, str):
                pieces.append(part)
                continue
            expression, conversion, form = part
            value = self.expression(expression, frame)
            spec = "" if form is None else self.expression(form, frame)
            if spec.__class__ is not str:
                raise Unsupported("a text whose format depends on data")
            pieces.append(piece(value, conversion, spec))
        return joined(pieces)

    def watch(self, node: c.Watch, frame: Frame) -> None:
        from .tapes import Tape

        tape = self.expression(node.tape, frame)
        x = self.expression(node.value, frame)
        STATE.site = node.site
        if tape.__class__ is not Tape:
            raise Unsupported("'watch' on what is no GradientTape")
        watched = tape.watch(x)
        if node.target is not None and (node.target.__class__ is c.Unpack or watched is not x):
            self.rebind(node.target, watched, frame)

    def rebind(self, target: c.Target, value: Any, frame: Frame) -> None:
        """Make a place refer to what a tape watches: a copy, which must stay apart from what a loop carries there."""
        if target.__class__ is c.Unpack and target.star is None:
            for each, item in zip(target.targets, self.items(value)):
                self.rebind(each, item, frame)
        elif target.__class__ is c.Store:
            for _ in range(target.depth):
                frame = frame[PARENT]
            frame[target.slot] = value
        else:
            self.put(target, value, frame)

    def repeated(self, value: Any, times: int) -> Any:
        raise NotImplementedError

    def comprehension(self, node: c.Comprehension, frame: Frame) -> Any:
        raise NotImplementedError

    def make_function(self, node: c.MakeFunction, frame: Frame) -> Closure:
        defaults = [UNSET if d is None else self.builder.settle(self.expression(d, frame)) for d in node.code.defaults]
        return Closure(node.code, defaults, frame)


def statically(x: Any, container: Any) -> bool:
    """Whether it is known now if a container holds a value."""
    return not (x.__class__ in (Letter, Text) or symbolic(x) or symbolic(container)) and (
        container.__class__ is not Range or container.known
    )


def harmless(node: Any) -> bool:
    """Whether an expression can be evaluated where the program does not: it changes nothing and does not fail."""
    cls = node.__class__
    if cls is c.Operator:
        return node.symbol in "+-*" and harmless(node.left) and harmless(node.right)
    if cls is c.Prefix:
        return harmless(node.operand)
    if cls is c.Call:
        named = node.function.__class__ is c.Intrinsic and node.function.name == "len" and not node.keywords
        return named and all(map(harmless, node.args))
    return cls is c.Literal or cls is c.Load


def known_values(xs: list[Any]) -> list[Any] | None:
    """Values with constant arrays as the tensors that they are; None where something is not known."""

    def value_of(x: Any) -> Any:
        if x.__class__ is Lazy:
            if x.known is None:
                raise LookupError
            return x.known
        if x.__class__ in (list, tuple):
            return x.__class__([value_of(item) for item in x])
        if x.__class__ is slice:
            return slice(value_of(x.start), value_of(x.stop), value_of(x.step))
        if symbolic(x):
            raise LookupError
        return x

    try:
        return [value_of(x) for x in xs]
    except LookupError:
        return None


EXPRESSIONS: dict[type, Callable[[Expressions, Any, Frame], Any]] = {
    c.Literal: Expressions.literal,
    c.Intrinsic: Expressions.intrinsic,
    c.Load: Expressions.load,
    c.Operator: Expressions.operator,
    c.Prefix: Expressions.prefix,
    c.Comparison: Expressions.comparison,
    c.Logical: Expressions.logical,
    c.Not: Expressions.negation,
    c.Choose: Expressions.choose,
    c.Apply: Expressions.apply,
    c.Call: Expressions.call,
    c.Method: Expressions.method,
    c.Attribute: Expressions.attribute,
    c.FormatText: Expressions.format_text,
    c.Watch: Expressions.watch,
    c.Item: Expressions.item,
    c.SliceOf: Expressions.slice_of,
    c.MakeList: Expressions.make_list,
    c.MakeTuple: Expressions.make_tuple,
    c.MakeDict: Expressions.make_dict,
    c.Comprehension: lambda machine, node, frame: machine.comprehension(node, frame),
    c.MakeFunction: Expressions.make_function,
}
