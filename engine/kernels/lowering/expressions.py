"""Expressions of the core program on symbols and on what is known."""

from __future__ import annotations

from ...core.following import CONDITION
from ...core.operands import describe
from ...core.operation import Operation
from ...core.state import STATE
from ...core.tensor import OPERATORS
from ...ops.registry import NAMES
from ...program import core as c
from ...program.rewrite import rewrite
from ..ir import LEAST, MOST, Outlived, Unsupported
from ..symbols.operands import Moment
from ..symbols.pairs import Pair
from ..symbols.symbol import NUMBERS, Lazy, Sym
from ..symbols.values import (
    CONFLICT,
    PARENT,
    UNSET,
    Closure,
    Frame,
    Grid,
    Letter,
    List,
    Range,
    Records,
    Selected,
    Unset,
    Variable,
    plain,
    read,
    symbolic,
)
from .calls import SYMBOLS, Calls
from .printing import Text, joined, percent, piece

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ...core.state import Site
    from .printing import Printed

SMALL_INTEGERS = frozenset(("+", "-", "*", "/", "//", "%", "**", "<<", ">>", "&", "|", "^"))
# Whose right operand is a count of bits, or nearly.
COUNTED = frozenset(("**", "<<", ">>"))


class Expressions(Calls):
    """The part of the specialiser that evaluates expressions."""

    # The tapes that record now, the outermost first, and the Variables of the program.
    tapes: list[Any]
    variables: list[Variable]
    # What is printed, how many functions that are differentiated are running, and whether the result is that of the
    # last statement.
    printed: Printed
    derived: int
    last: bool
    outlived: dict[tuple[int, Any], tuple[int, int]]
    read_after: set[tuple[int, int]]

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
            place = self.outlived.get((id(frame), node.slot))
            why = f"'{node.name}' may be read before it is assigned"
            raise Unsupported(why) if place is None or place in self.read_after else Outlived(why, place)
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
        if symbol == "%" and x.__class__ is str:
            return percent(x, y)
        if x.__class__ is Grid or y.__class__ is Grid:
            raise Unsupported(f"'{symbol}' on lists of lists")
        if x.__class__ is Selected or y.__class__ is Selected:
            from .selected import elementwise, row

            return row(self, op, [x, y], {}) if symbol == "@" else elementwise(self, op, [x, y])
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
            return self.of_program(lambda: self.builder.apply(op, (x, y), None)) if known is None else known
        if x.__class__ in (int, bool) and y.__class__ in (int, bool):
            held = LEAST <= x <= MOST and LEAST <= y <= MOST
            if symbol not in SMALL_INTEGERS or not held or (symbol in COUNTED and not 0 <= y < 63):
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
        return self.of_program(lambda: self.builder.apply(op, (x, y), None))

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

        What stands behind a link that fails is not evaluated, unless nobody could tell, as who follows inputs could.
        """
        result: Any = True
        for k, right in enumerate(node.rights[first:], first):
            if result.__class__ is Sym and not (harmless(right) and self.builder.follower is None):
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
            elif symbol in ("==", "!=") and any(each.__class__ in (List, tuple) for each in (x, y)):
                from .choosing import same

                found = same(self, x, y)
                return found if symbol == "==" else self.inverse(found)
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
            condition = self.truth(value, node.site)
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

    def condition(self, node: c.Expr, frame: Frame, site: Site | None = None) -> Any:
        """An expression as a condition, a bool or a bool symbol: what `and` and `or` give is not needed as a value. It is
        one of what stands at `site`."""
        if node.__class__ is c.Not:
            inner = self.condition(node.operand, frame, node.site)
            return self.inverse(inner)
        if node.__class__ is not c.Logical:
            return self.truth(self.expression(node, frame), site)
        found = self.condition(node.values[0], frame, node.site)
        for k, _ in enumerate(node.values[1:], 1):
            if found.__class__ is bool:
                if found == (node.symbol == "or"):
                    return found
                found = self.condition(node.values[k], frame, site if k + 1 == len(node.values) else node.site)
                continue

            def rest(k: int = k) -> Any:
                last = k + 1 == len(node.values)
                return self.condition(
                    node.values[k] if last else c.Logical(node.symbol, node.values[k:], node.site), frame, site
                )

            if node.symbol == "or":
                return self.choice(found, lambda: True, rest)
            return self.choice(found, rest, lambda: False)
        return found

    def inverse(self, x: Any) -> Any:
        return (not x) if x.__class__ is bool else self.builder.apply(NAMES["logical_not"], (x,), None)

    def put(self, target: c.Target, value: Any, frame: Frame) -> None:
        raise NotImplementedError

    def truth(self, x: Any, site: Site | None = None) -> Any:
        """A condition, of what stands at `site`, as a bool or a bool symbol."""
        x = read(x)
        follower = self.builder.follower
        if follower is not None and x.__class__ in (Sym, Lazy):
            if site is not None:
                STATE.site = site
            follower.end(list(follower.operands(x)), CONDITION)
        if x.__class__ is Sym:
            return self.builder.to_bool(x)
        if x.__class__ is Lazy:
            if x.shape == ():
                return self.truth(x.element(()))
            raise Unsupported("a tensor of several elements as a condition")
        if x.__class__ in (List, Records, Grid, Range):
            from .static import len_

            length = len_(self, x)  # type: ignore[arg-type]
            return length > 0 if length.__class__ is int else self.builder.apply(NAMES["greater"], (length, 0), None)
        if x.__class__ in (*NUMBERS, complex, str, tuple, dict) or x is None:
            return bool(x)
        raise Unsupported(f"{describe(x)} as a condition")

    def negation(self, node: c.Not, frame: Frame) -> Any:
        return self.inverse(self.condition(node.operand, frame, node.site))

    def choose(self, node: c.Choose, frame: Frame) -> Any:
        condition = self.condition(node.test, frame, node.site)
        if condition.__class__ is bool:
            return self.expression(node.then if condition else node.otherwise, frame)
        return self.choice(
            condition, lambda: self.expression(node.then, frame), lambda: self.expression(node.otherwise, frame)
        )

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
            return self.builder.apply(OPERATORS["transpose"], (value,), {}) if len(shape) > 1 else value
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
