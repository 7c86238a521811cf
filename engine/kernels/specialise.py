"""Specialising the core program to the kinds and shapes of its inputs: the core program run on symbols.

Whatever is known (lists, shapes, functions, constants) is computed now; what depends on the inputs' values becomes
IR. Loops stay loops, branches that depend on data become `If` with merged values, functions are inlined.
`break`, `continue` and `return` under a data-dependent branch become flags that guard what follows them.
"""

from __future__ import annotations

from ..core.dtypes import DType
from ..core.operation import Operation, static
from ..core.state import STATE
from ..core.tensor import OPERATORS, Tensor
from ..ops.registry import METHODS, NAMES
from ..program import core as c
from . import ir
from .arrays import array_of_list, get, lazy
from .build import NUMBERS, Builder, Lazy, Sym, join, kind_of, raw
from .ir import BOOL, FLOAT, INT, Array, Unsupported, Var

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Frame = dict[Any, Any]

MAX_UNROLL = 64
MAX_INLINE = 40
# The control flags of a frame, beside its slots.
BREAK, CONTINUE, RETURN, VALUE, PARENT, RESULT = "$break", "$continue", "$return", "$value", "$parent", "$result"
FLAGS = (BREAK, CONTINUE, RETURN)


class Unset:
    """A variable that some path has not assigned; reading it leaves the kernel tier, which words no such error."""


UNSET = Unset()


class Closure:
    """A function of the program with the frame it was made in."""

    __slots__ = ("code", "defaults", "frame")

    def __init__(self, code: c.FunctionCode, defaults: list[Any], frame: Frame) -> None:
        self.code = code
        self.defaults = defaults
        self.frame = frame


def specialise(program: c.CoreProgram, inputs: dict[str, Any]) -> tuple[ir.Kernel, Any, dict[str, Any]]:
    """The IR of a program; `inputs` gives per name a kind ("f", "i") or a shape (floats), or a static value wrapped in a list.

    Returns the kernel without results, the symbolic result, and the symbolic inputs by name.
    """
    builder = Builder()
    parameters: list[Any] = []
    symbols: dict[str, Any] = {}
    frame: Frame = {PARENT: None, RESULT: UNSET, BREAK: False, CONTINUE: False, RETURN: False, VALUE: None}
    for name, slot in program.inputs.items():
        spec = inputs[name]
        frame[slot] = symbols[name] = parameter(builder, parameters, name, spec)
    for name, (slot, node) in program.optional.items():
        if name in inputs:
            frame[slot] = symbols[name] = parameter(builder, parameters, name, inputs[name])
        elif node.__class__ is c.Literal:
            frame[slot] = node.value
        else:
            frame[slot] = node
    machine = Specialiser(builder)
    machine.block(program.body, frame)
    result = frame[VALUE] if frame[RETURN] is True else frame[RESULT]
    if frame[RETURN].__class__ is Sym:
        raise Unsupported("a program that returns early")
    if result is UNSET or result is None:
        raise Unsupported("a program without a numeric result")
    return ir.Kernel(parameters, builder.block, []), result, symbols


def parameter(builder: Builder, parameters: list[Any], name: str, spec: Any) -> Any:
    if spec.__class__ is list:
        return spec[0]
    if spec.__class__ is str:
        var = Var(spec, "p")
        parameters.append(var)
        return Sym(builder, var)
    array = Array(FLOAT, spec, "p", "input")
    parameters.append(array)
    return builder.stored(array)


class Specialiser:
    def __init__(self, builder: Builder) -> None:
        self.builder = builder
        self.depth = 0  # of inlined calls
        self.dynamic = 0  # of blocks that may run any number of times

    # --- statements -------------------------------------------------------------------------------------------------

    def block(self, statements: list[c.Stmt], frame: Frame) -> None:
        for k, statement in enumerate(statements):
            handler = STATEMENTS.get(statement.__class__)
            if handler is None:
                raise Unsupported(f"the statement '{statement.__class__.__name__}'")
            handler(self, statement, frame)
            stopped = self.stopped(frame)
            if stopped is True:
                return
            if stopped is not False:
                rest = statements[k + 1 :]
                if rest:
                    self.branch(stopped, frame, lambda f: None, lambda f, rest=rest: self.block(rest, f))  # type: ignore[misc]
                return

    def stopped(self, frame: Frame) -> Any:
        """Whether a break, continue or return has been reached: a bool, or a symbol."""
        flags = [frame[name] for name in FLAGS if frame[name] is not False]
        if not flags:
            return False
        if any(flag is True for flag in flags):
            return True
        result = flags[0]
        for flag in flags[1:]:
            result = self.builder.emit("logical_or", (result, flag), BOOL)
        return result

    def branch(
        self, condition: Sym, frame: Frame, then: Callable[[Frame], None], orelse: Callable[[Frame], None]
    ) -> None:
        """Run both sides on copies of the frame, and merge what they assigned."""
        self.dynamic += 1
        sides: list[Frame] = []
        blocks: list[list[ir.Stmt]] = []
        for run in (then, orelse):
            side = dict(frame)
            block, _ = self.builder.nested(lambda run=run, side=side: run(side))  # type: ignore[misc]
            sides.append(side)
            blocks.append(block)
        self.dynamic -= 1
        merges: list[tuple[Var, Any, Any]] = []
        for key in {**sides[0], **sides[1]}:
            a, b = sides[0].get(key, UNSET), sides[1].get(key, UNSET)
            if a is b:
                frame[key] = a
            else:
                frame[key] = self.merge(a, b, blocks, merges, key)
        self.builder.block.append(ir.If(condition.var, blocks[0], blocks[1], merges))

    def merge(self, a: Any, b: Any, blocks: list[list[ir.Stmt]], merges: list[tuple[Var, Any, Any]], key: Any) -> Any:
        """The value after a branch of a variable that is `a` on one side and `b` on the other."""
        if key == VALUE and (a is None or b is None):
            # Only the side that returned has a value; the flag says which.
            a, b = (b if a is None else a), (a if b is None else b)
            if a.__class__ in NUMBERS or b.__class__ in NUMBERS or Sym in (a.__class__, b.__class__):
                a = 0.0 if a.__class__ not in (*NUMBERS, Sym) else a
                b = 0.0 if b.__class__ not in (*NUMBERS, Sym) else b
        if key == VALUE and a.__class__ in (*NUMBERS, Sym) and b.__class__ in (*NUMBERS, Sym):
            # The side without the value must not read a variable of the other side's block.
            pass
        if a is UNSET or b is UNSET:
            return UNSET
        scalar = (*NUMBERS, Sym)
        if a.__class__ in scalar and b.__class__ in scalar:
            if a.__class__ in NUMBERS and a.__class__ is b.__class__ and (a == b and str(a) == str(b)):
                return a
            kind = join([kind_of(a), kind_of(b)])
            if kind == FLOAT:
                a = self.within(blocks[0], a)
                b = self.within(blocks[1], b)
            var = Var(kind, "m")
            merges.append((var, raw(a), raw(b)))
            return Sym(self.builder, var)
        if a.__class__ is tuple and b.__class__ is tuple and len(a) == len(b):
            return tuple(self.merge(x, y, blocks, merges, key) if x is not y else x for x, y in zip(a, b))
        if a.__class__ is Lazy and b.__class__ is Lazy and a.shape == b.shape:
            array = Array(FLOAT, a.shape)
            self.builder.block.append(ir.Alloc(array, False))
            for block, x in zip(blocks, (a, b)):
                self.copy_into(block, array, x)
            return self.builder.stored(array)
        return UNSET

    def within(self, block: list[ir.Stmt], x: Any) -> Any:
        """`x` as a float, converted at the end of its own block."""
        if x.__class__ is not Sym:
            return float(x)
        if x.kind == FLOAT:
            return x
        converted = Var(FLOAT)
        block.append(ir.Set(converted, "to_float", (x.var,), STATE.site))
        return Sym(self.builder, converted)

    def copy_into(self, block: list[ir.Stmt], array: Array, x: Lazy) -> None:
        builder = self.builder

        def store(index: tuple[Any, ...]) -> None:
            builder.block.append(
                ir.Store(array, raw(builder.flat(index, array.shape)), raw(builder.to_float(x.element(index))))
            )

        extra, _ = builder.nested(lambda: builder.each(array.shape, store))
        block.extend(extra)

    def if_(self, node: c.If, frame: Frame) -> None:
        condition = self.truth(self.expression(node.test, frame))
        if condition.__class__ is bool:
            self.block(node.body if condition else node.orelse, frame)
            return
        self.branch(condition, frame, lambda f: self.block(node.body, f), lambda f: self.block(node.orelse, f))

    def truth(self, x: Any) -> Any:
        """A condition as a bool or a bool symbol."""
        if x.__class__ is Sym:
            return x if x.kind == BOOL else self.builder.scalar(NAMES["not_equal"], (x, 0))
        if x.__class__ is Lazy:
            raise Unsupported("the truth of an array")
        return bool(x)

    def evaluate(self, node: c.Evaluate, frame: Frame) -> None:
        value = self.expression(node.value, frame)
        if node.result and value is not None:
            frame[RESULT] = value

    def assign(self, node: c.Assign, frame: Frame) -> None:
        if node.dtype is not None and node.dtype.name != "float64":
            raise Unsupported(f"the dtype {node.dtype.name}")
        value = self.builder.settle(self.expression(node.value, frame))
        for target in node.targets:
            self.put(target, value, frame)
        if node.result:
            frame[RESULT] = value

    def put(self, target: c.Target, value: Any, frame: Frame) -> None:
        if target.__class__ is c.Store:
            if target.depth:
                raise Unsupported("an assignment to an outer variable")
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
        array = Array(FLOAT, x.shape)
        builder.block.append(ir.Alloc(array, False))
        places = get(builder, coordinates(builder, x.shape), index)
        # Copy, then overwrite: the overwritten elements are copied as constants, so no cotangent reaches them twice.
        selected = builder.stored(array)
        block: list[ir.Stmt] = []
        self.copy_into(block, array, x)
        builder.block.extend(block)
        source = lazy(builder, value)
        shape = places.shape if places.__class__ is Lazy else ()

        def write(at: tuple[Any, ...]) -> None:
            place = places.element(at) if places.__class__ is Lazy else places
            own = at[len(shape) - len(source.shape) :]
            item = source.element(tuple(0 if n == 1 else i for i, n in zip(own, source.shape)))
            builder.block.append(ir.Store(array, raw(place), raw(builder.to_float(item))))

        builder.each(shape, write)
        assert selected.stored is array
        return builder.stored(array)

    def augment(self, node: c.Augment, frame: Frame) -> None:
        target = node.target
        if target.__class__ is c.Store:
            old = self.load(c.Load(target.depth, target.slot, target.name, target.site), frame)
            new = self.builder.settle(
                self.combine(node.op, node.symbol, old, self.expression(node.value, frame), node.site)
            )
            self.put(target, new, frame)
        elif target.__class__ is c.StoreItem:
            old = self.item_of(self.expression(target.container, frame), self.expression(target.index, frame))
            new = self.combine(node.op, node.symbol, old, self.expression(node.value, frame), node.site)
            self.put_item(target, new, frame)
        else:
            raise Unsupported("an augmented assignment of this kind")
        if node.result:
            frame[RESULT] = new

    def for_(self, node: c.For, frame: Frame) -> None:
        items = self.expression(node.iterable, frame)
        if items.__class__ is Range:
            self.counted(node, items, frame)
        elif items.__class__ is Lazy:
            rows = items
            self.counted(node, Range(0, rows.shape[0], 1), frame, lambda i: get(self.builder, rows, i))
        else:
            self.unrolled(node, self.items(items), frame)
        if node.orelse:
            raise Unsupported("'else' on a loop")

    def unrolled(self, node: c.For, items: list[Any], frame: Frame) -> None:
        if len(items) > MAX_UNROLL:
            raise Unsupported("a long loop over a list")
        for item in items:
            frame[CONTINUE] = False
            self.put(node.target, item, frame)
            self.block(node.body, frame)
            if frame[BREAK] is True or frame[RETURN] is True:
                break
            if frame[BREAK] is not False or frame[RETURN] is not False:
                raise Unsupported("a break that depends on data in a loop over a list")
        frame[BREAK] = frame[CONTINUE] = False

    def counted(self, node: c.For, counter: Range, frame: Frame, item: Callable[[Any], Any] | None = None) -> None:
        """A loop over a range, kept as a loop."""

        def head(inner: Frame, index: Any) -> None:
            self.put(node.target, index if item is None else item(index), inner)

        self.loop(node.body, frame, counter, head, None)

    def while_(self, node: c.While, frame: Frame) -> None:
        if node.orelse:
            raise Unsupported("'else' on a loop")
        self.loop(node.body, frame, None, None, node.test)

    def loop(self, body: list[c.Stmt], frame: Frame, counter: Range | None, head: Any, test: c.Expr | None) -> None:
        builder = self.builder
        keys = sorted(assigned(body))
        kinds: dict[Any, str] = {}
        carried_keys: list[Any] = []
        statics: set[Any] = set()
        for key in [*keys, RESULT]:
            value = frame.get(key, UNSET)
            if value.__class__ in (*NUMBERS, Sym):
                kinds[key] = kind_of(value)
                carried_keys.append(key)
            elif value.__class__ is Lazy and key in keys:
                raise Unsupported("an array that changes from iteration to iteration")
        for _ in range(8):
            outcome = self.attempt(body, frame, counter, head, test, carried_keys, kinds, statics)
            if outcome is not None:
                statement, results, locals_ = outcome
                break
        else:
            raise Unsupported("a loop whose values do not settle on kinds")
        builder.block.append(statement)
        for key in locals_:
            frame[key] = UNSET
        for key, phi in results.items():
            frame[key] = Sym(builder, phi)
        frame[BREAK] = frame[CONTINUE] = False

    def attempt(
        self, body: list[c.Stmt], frame: Frame, counter: Range | None, head: Any, test: c.Expr | None,
        carried_keys: list[Any], kinds: dict[Any, str], statics: set[Any],
    ) -> Any:  # fmt: skip
        """Run the body on symbols once; None if a carried value turned out to be of another kind (noted in `kinds`)."""
        builder = self.builder
        inner: Frame = dict(frame)
        phis: dict[Any, Var] = {}
        for key in carried_keys:
            phis[key] = Var(kinds[key], "l")
            inner[key] = Sym(builder, phis[key])
        index = Var(INT, "i") if counter is not None else None
        if counter is not None and head is not None:
            inner_index: Any = Sym(builder, index)  # type: ignore[arg-type]
        self.dynamic += 1
        try:
            test_block, condition = None, None
            if test is not None:
                test_block, condition = builder.nested(lambda: self.truth(self.expression(test, inner)))

            def run() -> None:
                if head is not None:
                    head(inner, inner_index)
                self.block(body, inner)

            block, _ = builder.nested(run)
        finally:
            self.dynamic -= 1
        stop = [
            inner[flag]
            for flag in (BREAK, RETURN)
            if inner[flag] is not False and not (flag == RETURN and inner[flag] is frame[flag])
        ]
        stop_when: Any = None
        for flag in stop:
            if flag.__class__ is Sym and flag.var is phis.get(RETURN):
                continue
            stop_when = flag if stop_when is None else Sym(builder, self.or_at_end(block, stop_when, flag))
        changed = False
        carried: list[tuple[Var, Any, Any]] = []
        locals_: list[Any] = []
        if test is not None and condition.__class__ is bool and condition is False:
            return None
        for key in {**inner}:
            if key in (BREAK, CONTINUE, PARENT):
                continue
            value = inner[key]
            if key in phis:
                if value.__class__ not in (*NUMBERS, Sym):
                    raise Unsupported("a variable that is a number in one iteration and something else in the next")
                kind = join([kinds[key], kind_of(value)])
                if kind != kinds[key]:
                    kinds[key] = kind
                    changed = True
                    continue
                following = self.within(block, value) if kind == FLOAT else value
                initial = frame[key]
                if kind == FLOAT:
                    initial = builder.to_float(initial)
                if following.__class__ is Sym and following.var is phis[key]:
                    # Never assigned after all.
                    pass
                carried.append((phis[key], raw(initial), raw(following)))
            elif value is not frame.get(key, UNSET):
                # First assigned in the body. Floats are carried from a dummy, so that the last one outlives the loop.
                if value.__class__ in (*NUMBERS, Sym) and key != VALUE:
                    locals_.append(key)
                    if counter is None or not counter.nonempty:
                        continue
                    phi = Var(kind_of(value), "l")
                    zero: Any = {FLOAT: 0.0, INT: 0, BOOL: False}[phi.kind]
                    carried.append((phi, zero, raw(value)))
                    phis[key] = phi
                    locals_.remove(key)
                elif key == VALUE and value.__class__ in (*NUMBERS, Sym):
                    kinds[key] = kind_of(value)
                    carried_keys.append(key)
                    if frame.get(VALUE) is None:
                        frame[VALUE] = 0.0
                    changed = True
                else:
                    locals_.append(key)
        if inner[RETURN] is not frame[RETURN] and RETURN not in kinds:
            kinds[RETURN] = BOOL
            carried_keys.append(RETURN)
            changed = True
        if changed:
            return None
        loop = ir.Loop(
            index, *(raw(x) for x in (counter.start, counter.stop, counter.step)) if counter is not None else (0, 0, 1),
            test_block, raw(condition), carried, block, raw(stop_when), {}, Var(INT, "t"), True,
        )  # fmt: skip
        return loop, phis, locals_

    def or_at_end(self, block: list[ir.Stmt], a: Any, b: Any) -> Var:
        var = Var(BOOL)
        block.append(ir.Set(var, "logical_or", (raw(a), raw(b)), STATE.site))
        return var

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

    # --- expressions ------------------------------------------------------------------------------------------------

    def expression(self, node: c.Expr, frame: Frame) -> Any:
        handler = EXPRESSIONS.get(node.__class__)
        if handler is None:
            raise Unsupported(f"the expression '{node.__class__.__name__}'")
        return handler(self, node, frame)

    def literal(self, node: c.Literal, frame: Frame) -> Any:
        return node.value

    def intrinsic(self, node: c.Intrinsic, frame: Frame) -> Any:
        return node

    def load(self, node: c.Load, frame: Frame) -> Any:
        for _ in range(node.depth):
            frame = frame[PARENT]
        value = frame.get(node.slot, UNSET)
        if value is UNSET:
            raise Unsupported(f"'{node.name}' may be read before it is assigned")
        return value

    def operator(self, node: c.Operator, frame: Frame) -> Any:
        spine: list[c.Operator] = []
        left: c.Expr = node
        while left.__class__ is c.Operator:
            spine.append(left)
            left = left.left
        value = self.expression(left, frame)
        for item in reversed(spine):
            value = self.combine(item.op, item.symbol, value, self.expression(item.right, frame), item.site)
        return value

    def combine(self, op: Operation, symbol: str, x: Any, y: Any, site: Any) -> Any:
        STATE.site = site
        if x.__class__ in (Sym, Lazy) or y.__class__ in (Sym, Lazy):
            return self.builder.apply(op, (x, y), None)
        if x.__class__ in (list, tuple) and ((symbol == "+" and x.__class__ is y.__class__) or (symbol == "*" and y.__class__ is int)):
            return python_operator(symbol, x, y)
        if x.__class__ in NUMBERS and y.__class__ in NUMBERS:
            return op(x, y)
        if not symbolic(x) and not symbolic(y):
            return self.constant(op(x, y))
        return self.builder.apply(op, (x, y), None)

    def prefix(self, node: c.Prefix, frame: Frame) -> Any:
        x = self.expression(node.operand, frame)
        STATE.site = node.site
        if x.__class__ in (Sym, Lazy):
            return self.builder.apply(node.op, (x,), None)
        return node.op(x)

    def comparison(self, node: c.Comparison, frame: Frame) -> Any:
        x = self.expression(node.left, frame)
        result: Any = True
        for op, symbol, right in zip(node.ops, node.symbols, node.rights):
            y = self.expression(right, frame)
            STATE.site = node.site
            if x.__class__ in (Sym, Lazy) or y.__class__ in (Sym, Lazy):
                if op is None:
                    if symbol in ("is", "is not"):
                        link: Any = symbol == "is not"
                    else:
                        raise Unsupported(f"'{symbol}' on compiled values")
                else:
                    link = self.builder.apply(op, (x, y), None)
            else:
                from .static import compare_static

                link = compare_static(op, symbol, x, y)
            result = self.both(result, link)
            x = y
        return result

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
        for other in node.values[1:]:
            condition = self.truth(value)
            if condition.__class__ is bool:
                if condition == (node.symbol == "or"):
                    return value
                value = self.expression(other, frame)
                continue
            value = condition
            chosen = self.choice(
                condition,
                (lambda: True)
                if node.symbol == "or"
                else (lambda other=other: self.truth(self.expression(other, frame))),  # type: ignore[misc]
                (lambda: False)
                if node.symbol == "and"
                else (lambda other=other: self.truth(self.expression(other, frame))),  # type: ignore[misc]
            )
            value = chosen
        return value

    def choice(self, condition: Sym, then: Callable[[], Any], orelse: Callable[[], Any]) -> Any:
        """A value that depends on a condition; each side is computed only when it is taken."""
        frame: Frame = {}

        def side(f: Frame, compute: Callable[[], Any]) -> None:
            f["value"] = self.builder.settle(compute())

        self.branch(condition, frame, lambda f: side(f, then), lambda f: side(f, orelse))
        if frame["value"] is UNSET:
            raise Unsupported("a choice between values of different kinds")
        return frame["value"]

    def negation(self, node: c.Not, frame: Frame) -> Any:
        x = self.truth(self.expression(node.operand, frame))
        return (not x) if x.__class__ is bool else self.builder.apply(NAMES["logical_not"], (x,), None)

    def choose(self, node: c.Choose, frame: Frame) -> Any:
        condition = self.truth(self.expression(node.test, frame))
        if condition.__class__ is bool:
            return self.expression(node.then if condition else node.otherwise, frame)
        return self.choice(
            condition, lambda: self.expression(node.then, frame), lambda: self.expression(node.otherwise, frame)
        )

    def apply(self, node: c.Apply, frame: Frame) -> Any:
        args, keywords = self.arguments(node, frame)
        STATE.site = node.site
        return self.apply_row(node.op, args, keywords)

    def apply_row(self, op: Operation, args: list[Any], keywords: dict[str, Any]) -> Any:
        if not any(map(symbolic, [*args, *keywords.values()])):
            value = op.call(args, keywords)
            return self.constant(value)
        if any(k for k, v in keywords.items() if symbolic(v)):
            raise Unsupported(f"{op.name} with a computed parameter")
        inputs, attributes = op.bind(args, keywords)
        return self.builder.apply(op, inputs, attributes)

    def constant(self, value: Any) -> Any:
        """A tensor that is known now: scalars as numbers, arrays as constants of the kernel."""
        if value.__class__ is Tensor:
            if value.dtype.name not in ("float64", "int64", "bool"):
                raise Unsupported(f"the dtype {value.dtype.name}")
            if value.shape == ():
                return value.value
            from .arrays import constant_array

            return constant_array(self.builder, value.value)
        return value

    def arguments(self, node: c.Apply | c.Call | c.Method, frame: Frame) -> tuple[list[Any], dict[str, Any]]:
        args: list[Any] = []
        for a in node.args:
            if a.__class__ is c.Spread:
                args.extend(self.items(self.expression(a.value, frame)))
            else:
                args.append(self.expression(a, frame))
        return args, {name: self.expression(value, frame) for name, value in node.keywords}

    def call(self, node: c.Call, frame: Frame) -> Any:
        callee = self.expression(node.function, frame)
        args, keywords = self.arguments(node, frame)
        STATE.site = node.site
        return self.invoke(callee, args, keywords)

    def invoke(self, callee: Any, args: list[Any], keywords: dict[str, Any]) -> Any:
        if callee.__class__ is Closure:
            return self.inline(callee, args, keywords)
        if callee.__class__ is Operation:
            return self.apply_row(callee, args, keywords)
        if callee.__class__ is c.Intrinsic:
            from .static import INTRINSICS

            run = INTRINSICS.get(callee.name)
            if run is None:
                raise Unsupported(f"'{callee.name}'")
            return run(self, *args, **keywords)
        if callee.__class__ is DType and len(args) == 1 and callee.name == "float64":
            return self.builder.to_float(args[0])
        raise Unsupported("a call of this kind")

    def inline(self, function: Closure, args: list[Any], keywords: dict[str, Any]) -> Any:
        code = function.code
        if self.depth >= MAX_INLINE:
            raise Unsupported(f"the recursion of {code.name}")
        if len(args) > len(code.parameters) or any(k not in code.parameters for k in keywords):
            raise Unsupported("a call that does not fit")
        inner: Frame = {
            PARENT: function.frame,
            RESULT: UNSET,
            BREAK: False,
            CONTINUE: False,
            RETURN: False,
            VALUE: None,
        }
        for i, name in enumerate(code.parameters):
            if i < len(args):
                value = args[i]
            elif name in keywords:
                value = keywords[name]
            else:
                value = function.defaults[i]
                if value is UNSET:
                    raise Unsupported("a call that does not fit")
            inner[2 + i] = self.builder.settle(value)
        self.depth += 1
        try:
            self.block(code.body, inner)
        finally:
            self.depth -= 1
        if inner[RETURN].__class__ is Sym and inner[VALUE] is None:
            raise Unsupported("a function that may return nothing")
        return inner[VALUE]

    def method(self, node: c.Method, frame: Frame) -> Any:
        value = self.expression(node.value, frame)
        args, keywords = self.arguments(node, frame)
        STATE.site = node.site
        if value.__class__ is list and node.name == "append" and len(args) == 1:
            if self.dynamic:
                raise Unsupported("a list that grows inside a loop or branch")
            value.append(args[0])
            return None
        if node.name in ("numpy", "read_value") and not args:
            return value
        row = METHODS.get(node.name)
        if row is None or value.__class__ not in (Sym, Lazy):
            raise Unsupported(f"the method '{node.name}'")
        return self.apply_row(row, [value, *args], keywords)

    def attribute(self, node: c.Attribute, frame: Frame) -> Any:
        value = self.expression(node.value, frame)
        shape = value.shape if value.__class__ is Lazy else ()
        if node.name == "shape":
            return shape
        if node.name == "ndim":
            return len(shape)
        if node.name == "size":
            size = 1
            for n in shape:
                size *= n
            return size
        if node.name == "T" and value.__class__ is Lazy:
            return self.builder.apply(OPERATORS["transpose"], (value,), {})
        raise Unsupported(f"the attribute '{node.name}'")

    def item(self, node: c.Item, frame: Frame) -> Any:
        value = self.expression(node.value, frame)
        index = self.expression(node.index, frame)
        STATE.site = node.site
        return self.item_of(value, index)

    def item_of(self, value: Any, index: Any) -> Any:
        if value.__class__ is Lazy:
            return get(self.builder, value, index)
        if value.__class__ in (list, tuple) and index.__class__ is Sym:
            return get(self.builder, array_of_list(self.builder, list(value)), index)
        if value.__class__ in (list, tuple, dict, Range, str):
            key = static_index(index)
            try:
                return value[key]
            except (IndexError, KeyError, TypeError):
                raise Unsupported("an index that does not fit") from None
        raise Unsupported("an index of this kind")

    def slice_of(self, node: c.SliceOf, frame: Frame) -> slice:
        parts = [None if p is None else self.expression(p, frame) for p in (node.lower, node.upper, node.step)]
        if any(p.__class__ is Sym for p in parts):
            raise Unsupported("a slice whose bounds depend on data")
        return slice(*parts)

    def make_list(self, node: c.MakeList, frame: Frame) -> list[Any]:
        return self.spread(node.items, frame)

    def make_tuple(self, node: c.MakeTuple, frame: Frame) -> tuple[Any, ...]:
        return tuple(self.spread(node.items, frame))

    def spread(self, nodes: list[c.Expr], frame: Frame) -> list[Any]:
        found: list[Any] = []
        for n in nodes:
            if n.__class__ is c.Spread:
                found.extend(self.items(self.expression(n.value, frame)))
            else:
                found.append(self.builder.settle(self.expression(n, frame)))
        return found

    def make_dict(self, node: c.MakeDict, frame: Frame) -> dict[Any, Any]:
        return {
            static_index(self.expression(k, frame)): self.expression(v, frame) for k, v in zip(node.keys, node.values)
        }

    def comprehension(self, node: c.Comprehension, frame: Frame) -> Any:
        if node.kind != "list" or len(node.clauses) != 1:
            raise Unsupported("a comprehension of this kind")
        clause = node.clauses[0]
        items = self.items(self.expression(clause.iterable, frame))
        found = []
        for item in items:
            self.put(clause.target, item, frame)
            kept = [self.truth(self.expression(t, frame)) for t in clause.tests]
            if any(k.__class__ is Sym for k in kept):
                raise Unsupported("a comprehension that filters by data")
            if all(kept):
                found.append(self.builder.settle(self.expression(node.element, frame)))
        return found

    def make_function(self, node: c.MakeFunction, frame: Frame) -> Closure:
        defaults = [UNSET if d is None else self.expression(d, frame) for d in node.code.defaults]
        return Closure(node.code, defaults, frame)

    def items(self, value: Any) -> list[Any]:
        """The items of something whose length is known."""
        if value.__class__ is Range:
            if not value.known or len(value.range()) > MAX_UNROLL:
                raise Unsupported("a long or unknown range as a list")
            return list(value.range())
        if value.__class__ is Lazy:
            if value.shape[0] > MAX_UNROLL:
                raise Unsupported("the rows of a large array as a list")
            return [get(self.builder, value, i) for i in range(value.shape[0])]
        if value.__class__ in (list, tuple, dict):
            return list(value)
        raise Unsupported("a value that is no list")


class Range:
    """A range whose bounds may be symbols."""

    __slots__ = ("start", "step", "stop")

    def __init__(self, start: Any, stop: Any, step: Any) -> None:
        self.start = start
        self.stop = stop
        self.step = step

    @property
    def known(self) -> bool:
        return all(x.__class__ is int for x in (self.start, self.stop, self.step))

    @property
    def nonempty(self) -> bool:
        return self.known and len(self.range()) > 0

    def range(self) -> range:
        return range(self.start, self.stop, self.step)

    def __getitem__(self, i: int) -> Any:
        if not self.known:
            raise Unsupported("an item of an unknown range")
        return self.range()[i]


def symbolic(x: Any) -> bool:
    if x.__class__ in (Sym, Lazy):
        return True
    if x.__class__ in (list, tuple):
        return any(symbolic(item) for item in x)
    return False


def python_operator(symbol: str, x: Any, y: Any) -> Any:
    """`+` and `*` on lists and tuples."""
    return x + y if symbol == "+" else x * y


def static_index(index: Any) -> Any:
    if index.__class__ is Sym:
        raise Unsupported("an index that depends on data")
    return static(index)


def coordinates(builder: Builder, shape: tuple[int, ...]) -> Lazy:
    """The array of flat places: indexing it tells where an index points."""
    from .arrays import view

    return view(builder, INT, shape, lambda index: builder.flat(index, shape))


def assigned(body: list[c.Stmt]) -> set[int]:
    """The slots that statements assign, not looking into functions."""
    slots: set[int] = set()

    def target(t: Any) -> None:
        if t.__class__ is c.Store and t.depth == 0:
            slots.add(t.slot)
        elif t.__class__ is c.Unpack:
            for each in t.targets:
                target(each)
        elif t.__class__ is c.StoreItem and t.back is not None:
            target(t.back)

    pending = list(body)
    while pending:
        s = pending.pop()
        for t in getattr(s, "targets", ()):
            target(t)
        if hasattr(s, "target"):
            target(s.target)
        pending.extend(getattr(s, "body", ()))
        pending.extend(getattr(s, "orelse", ()))
    return slots


def assertion(machine: Specialiser, node: c.Assert, frame: Frame) -> None:
    condition = machine.truth(machine.expression(node.test, frame))
    if condition is not True:
        raise Unsupported("an assertion on data")


EXPRESSIONS: dict[type, Callable[[Specialiser, Any, Frame], Any]] = {
    c.Literal: Specialiser.literal,
    c.Intrinsic: Specialiser.intrinsic,
    c.Load: Specialiser.load,
    c.Operator: Specialiser.operator,
    c.Prefix: Specialiser.prefix,
    c.Comparison: Specialiser.comparison,
    c.Logical: Specialiser.logical,
    c.Not: Specialiser.negation,
    c.Choose: Specialiser.choose,
    c.Apply: Specialiser.apply,
    c.Call: Specialiser.call,
    c.Method: Specialiser.method,
    c.Attribute: Specialiser.attribute,
    c.Item: Specialiser.item,
    c.SliceOf: Specialiser.slice_of,
    c.MakeList: Specialiser.make_list,
    c.MakeTuple: Specialiser.make_tuple,
    c.MakeDict: Specialiser.make_dict,
    c.Comprehension: Specialiser.comprehension,
    c.MakeFunction: Specialiser.make_function,
}

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
    c.Assert: assertion,
}
