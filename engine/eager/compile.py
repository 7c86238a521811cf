"""Core program to closures: one Python function per node, each taking the frame.

Scalars go straight through Python's operators; everything else is left to the operators' general forms. A statement's
closure returns None, or a signal: BREAK, CONTINUE, or a one-tuple holding the value of a `return`.
"""

from __future__ import annotations

from sys import getrefcount

from ..core import limits
from ..core.dispatch import ARITHMETIC_FAULTS, describe, path_ends
from ..core.errors import failure
from ..core.limits import LIMITS
from ..core.state import RECORDERS, STATE, Site
from ..core.tensor import OPERATORS, Tensor
from ..kinds.access import delete_item, get_item, iterate, set_item, unpack, write_in_place
from ..program import core as c
from ..program.rewrite import rewrite
from .attributes import get_attribute, invoke_method
from .operators import binary, compare, prefix, truth
from .values import UNSET, Bound, Builtin, Context, Function

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Run = Callable[[list[Any]], Any]
    Assigner = Callable[[list[Any], Any], None]

BREAK: Any = type("Break", (), {})()
CONTINUE: Any = type("Continue", (), {})()


class Compiler:
    """Compiles one program.

    `scalars` allows Python floats; with float32 as default every literal is a tensor. `stable` allows the rewrites of
    program/rewrite.py.
    """

    def __init__(
        self, intrinsics: dict[str, Any], scalars: bool = True, fast: bool = True, stable: bool = True
    ) -> None:
        self.intrinsics = intrinsics
        self.scalars = scalars
        self.fast = fast
        self.stable = stable

    # --- expressions ------------------------------------------------------------------------------------------------

    def expression(self, node: c.Expr) -> Run:
        return EXPRESSIONS[node.__class__](self, node)

    def expressions(self, nodes: list[c.Expr]) -> list[Run]:
        return [self.expression(node) for node in nodes]

    def literal(self, node: c.Literal) -> Run:
        value = node.value
        if value.__class__ is float and not self.scalars:
            from ..core.dispatch import tensor

            value = tensor(value)
        return lambda f: value

    def intrinsic(self, node: c.Intrinsic) -> Run:
        value = self.intrinsics[node.name]
        return lambda f: value

    def load(self, node: c.Load) -> Run:
        slot = node.slot
        depth = node.depth
        if depth == 0:

            def run(f: list[Any]) -> Any:
                value = f[slot]
                if value is UNSET:
                    raise unassigned(node)
                return value

            return run
        if depth == 1:

            def run_outer(f: list[Any]) -> Any:
                value = f[0][slot]
                if value is UNSET:
                    raise unassigned(node)
                return value

            return run_outer

        def run_far(f: list[Any]) -> Any:
            for _ in range(depth):
                f = f[0]
            value = f[slot]
            if value is UNSET:
                raise unassigned(node)
            return value

        return run_far

    def operator(self, node: c.Operator) -> Run:
        # The left spine of a long chain is walked here, not by recursion.
        spine: list[c.Operator] = []
        left: c.Expr = node
        while left.__class__ is c.Operator:
            found = rewrite(left) if self.stable else None
            if found is not None:
                left = found
                break
            spine.append(left)
            left = left.left
        run = self.expression(left)
        if len(spine) > 200:
            return self.chain(run, spine[::-1])
        for item in reversed(spine):
            run = self.operation(item, run, self.expression(item.right))
        return run

    def chain(self, first: Run, spine: list[c.Operator]) -> Run:
        """A very long chain as one loop, so that evaluating it does not nest."""
        accumulator: list[Any] = [None]
        steps = [self.operation(item, lambda f: accumulator[0], self.expression(item.right)) for item in spine]

        def run(f: list[Any]) -> Any:
            value = first(f)
            for step in steps:
                accumulator[0] = value
                value = step(f)
            accumulator[0] = None
            return value

        return run

    def operation(self, node: c.Operator, a: Run, b: Run) -> Run:
        op, symbol, site = node.op, node.symbol, node.site
        scalar = op.scalar
        state = STATE
        if not self.fast or scalar is None:

            def general(f: list[Any]) -> Any:
                x = a(f)
                y = b(f)
                state.site = site
                return binary(op, symbol, x, y)

            return general
        recorded = op.derivative == "partials"
        recorders = RECORDERS
        if node.right.__class__ is c.Literal and node.right.value.__class__ in (int, float):
            constant = node.right.value

            def with_constant(f: list[Any]) -> Any:
                x = a(f)
                if x.__class__ is float:
                    try:
                        return scalar(x, constant)
                    except ARITHMETIC_FAULTS:
                        pass
                elif x.__class__ is Tensor and recorded and x.value.__class__ is float and len(recorders) == 1:
                    recorder = recorders[0]
                    if x.on is recorder.token and recorder.log is not None:
                        try:
                            value = scalar(x.value, constant)
                        except ARITHMETIC_FAULTS:
                            pass
                        else:
                            if value.__class__ is float:
                                out = Tensor(value, x.dtype, x.on)
                                recorder.log += (site, x, constant, out)
                                return out
                state.site = site
                return binary(op, symbol, x, constant)

            return with_constant

        def run(f: list[Any]) -> Any:
            x = a(f)
            y = b(f)
            if x.__class__ is float:
                if y.__class__ is float:
                    try:
                        return scalar(x, y)
                    except ARITHMETIC_FAULTS:
                        pass
                elif y.__class__ is Tensor and recorded and y.value.__class__ is float and len(recorders) == 1:
                    recorder = recorders[0]
                    if y.on is recorder.token and recorder.log is not None:
                        try:
                            value = scalar(x, y.value)
                        except ARITHMETIC_FAULTS:
                            pass
                        else:
                            if value.__class__ is float:
                                out = Tensor(value, y.dtype, y.on)
                                recorder.log += (site, x, y, out)
                                return out
            elif x.__class__ is Tensor and recorded and x.value.__class__ is float and len(recorders) == 1:
                recorder = recorders[0]
                token = recorder.token
                if y.__class__ is float:
                    v, dtype, follow = y, x.dtype, x.on is token
                elif y.__class__ is Tensor and y.value.__class__ is float and x.dtype is y.dtype:
                    v, dtype, follow = y.value, x.dtype, x.on is token or y.on is token
                else:
                    follow = False
                if follow and recorder.log is not None:
                    try:
                        value = scalar(x.value, v)
                    except ARITHMETIC_FAULTS:
                        pass
                    else:
                        if value.__class__ is float:
                            out = Tensor(value, dtype, token)
                            recorder.log += (site, x, y, out)
                            return out
            state.site = site
            return binary(op, symbol, x, y)

        return run

    def prefix(self, node: c.Prefix) -> Run:
        operand = self.expression(node.operand)
        op, symbol, site = node.op, node.symbol, node.site
        state = STATE

        def run(f: list[Any]) -> Any:
            x = operand(f)
            if x.__class__ is float and symbol == "-":
                return -x
            state.site = site
            return prefix(op, symbol, x)

        return run

    def comparison(self, node: c.Comparison) -> Run:
        left = self.expression(node.left)
        rights = self.expressions(node.rights)
        site = node.site
        state = STATE
        if len(rights) == 1:
            right, op, symbol = rights[0], node.ops[0], node.symbols[0]
            scalar = None if op is None else op.scalar
            here = Site(op, site.source, site.start, site.end)
            name = symbol if op is None else op.name
            told: Any = None

            def single(f: list[Any]) -> Any:
                nonlocal told
                x = left(f)
                y = right(f)
                if scalar is not None:
                    if x.__class__ is Tensor:
                        u = x.value
                        if x.on is not None and x.on is not told:
                            # Once a tape and place: in a loop the first comparison stands for all.
                            told = x.on
                            path_ends((x,), name, here)
                    else:
                        u = x
                    if u.__class__ is float and (y.__class__ is float or y.__class__ is int):
                        return scalar(u, y)
                state.site = site
                return compare(op, symbol, x, y)

            return single
        links = list(zip(node.ops, node.symbols, rights))

        def run(f: list[Any]) -> Any:
            x = left(f)
            result: Any = True
            for i, (op, symbol, right) in enumerate(links):
                y = right(f)
                state.site = site
                result = compare(op, symbol, x, y)
                if i + 1 < len(links) and not truth(result):
                    return result
                x = y
            return result

        return run

    def logical(self, node: c.Logical) -> Run:
        values = self.expressions(node.values)
        stop_on = node.symbol == "or"
        site = node.site
        last = values[-1]
        others = values[:-1]

        def run(f: list[Any]) -> Any:
            for value in others:
                x = value(f)
                if x.__class__ is not bool:
                    STATE.site = site
                    if truth(x) is stop_on:
                        return x
                elif x is stop_on:
                    return x
            return last(f)

        return run

    def negation(self, node: c.Not) -> Run:
        operand = self.expression(node.operand)
        site = node.site

        def run(f: list[Any]) -> Any:
            x = operand(f)
            STATE.site = site
            return not truth(x)

        return run

    def choose(self, node: c.Choose) -> Run:
        test = self.expression(node.test)
        then = self.expression(node.then)
        otherwise = self.expression(node.otherwise)
        site = node.site

        def run(f: list[Any]) -> Any:
            x = test(f)
            if x.__class__ is not bool:
                STATE.site = site
                x = truth(x)
            return then(f) if x else otherwise(f)

        return run

    def apply(self, node: c.Apply) -> Run:
        found = rewrite(node) if self.stable else None
        if found is not None:
            return self.expression(found)
        op, site = node.op, node.site
        state = STATE
        args = self.expressions(node.args)
        if not node.keywords and not any(a.__class__ is c.Spread for a in node.args):
            call = op.call
            if len(args) == 1:
                argument = args[0]
                scalar = op.scalar if self.fast and op.nin == 1 and op.function is None else None

                def unary(f: list[Any]) -> Any:
                    x = argument(f)
                    if x.__class__ is float and scalar is not None:
                        try:
                            return scalar(x)
                        except ARITHMETIC_FAULTS:
                            pass
                    state.site = site
                    return call((x,), None)

                return unary

            def several(f: list[Any]) -> Any:
                values = [a(f) for a in args]
                state.site = site
                return call(values, None)

            return several
        collect = self.arguments(node.args, args, node.keywords)

        def run(f: list[Any]) -> Any:
            values, keywords = collect(f)
            state.site = site
            return op.call(values, keywords)

        return run

    def arguments(
        self, nodes: list[c.Expr], args: list[Run], keywords: list[tuple[str, c.Expr]]
    ) -> Callable[[list[Any]], tuple[list[Any], dict[str, Any]]]:
        """The evaluated arguments of a call, spreads spread."""
        spread = [node.__class__ is c.Spread for node in nodes]
        named = [(name, self.expression(value)) for name, value in keywords]
        if not any(spread):
            return lambda f: ([a(f) for a in args], {name: value(f) for name, value in named})

        def collect(f: list[Any]) -> tuple[list[Any], dict[str, Any]]:
            values: list[Any] = []
            for many, a in zip(spread, args):
                if many:
                    values.extend(iterate(a(f)))
                else:
                    values.append(a(f))
            return values, {name: value(f) for name, value in named}

        return collect

    def spread(self, node: c.Spread) -> Run:
        return self.expression(node.value)

    def call(self, node: c.Call) -> Run:
        function = self.expression(node.function)
        args = self.expressions(node.args)
        site = node.site
        state = STATE
        if not node.keywords and not any(a.__class__ is c.Spread for a in node.args):

            def plain(f: list[Any]) -> Any:
                callee = function(f)
                values = [a(f) for a in args]
                state.site = site
                if callee.__class__ is Function:
                    return call_function(callee, values, None)
                return invoke(callee, values, None)

            return plain
        collect = self.arguments(node.args, args, node.keywords)

        def run(f: list[Any]) -> Any:
            callee = function(f)
            values, keywords = collect(f)
            state.site = site
            return invoke(callee, values, keywords)

        return run

    def method(self, node: c.Method) -> Run:
        value = self.expression(node.value)
        collect = self.arguments(node.args, self.expressions(node.args), node.keywords)
        name, site = node.name, node.site

        def run(f: list[Any]) -> Any:
            x = value(f)
            values, keywords = collect(f)
            STATE.site = site
            return invoke_method(x, name, values, keywords)

        return run

    def watch(self, node: c.Watch) -> Run:
        tape = self.expression(node.tape)
        value = self.expression(node.value)
        put = None if node.target is None else self.target(node.target)
        several = node.target.__class__ is c.Unpack  # a display of names is a new list, and each name takes its part
        site = node.site

        def run(f: list[Any]) -> None:
            t = tape(f)
            x = value(f)
            STATE.site = site
            watch = getattr(t, "watch", None)
            if watch is None:
                raise failure("E0304", f"{describe(t)} has no method 'watch'", "GradientTape has")
            watched = watch(x)
            if put is not None and (several or watched is not x):
                put(f, watched)

        return run

    def attribute(self, node: c.Attribute) -> Run:
        value = self.expression(node.value)
        name, site = node.name, node.site

        def run(f: list[Any]) -> Any:
            x = value(f)
            STATE.site = site
            return get_attribute(x, name)

        return run

    def item(self, node: c.Item) -> Run:
        value = self.expression(node.value)
        index = self.expression(node.index)
        site = node.site
        state = STATE

        def run(f: list[Any]) -> Any:
            x = value(f)
            i = index(f)
            state.site = site
            if x.__class__ is list and i.__class__ is int and -len(x) <= i < len(x):
                return x[i]
            return get_item(x, i)

        return run

    def slice_of(self, node: c.SliceOf) -> Run:
        lower, upper, step = [
            (lambda f: None) if part is None else self.expression(part) for part in (node.lower, node.upper, node.step)
        ]
        return lambda f: slice(lower(f), upper(f), step(f))

    def make_list(self, node: c.MakeList) -> Run:
        items = self.expressions(node.items)
        if any(item.__class__ is c.Spread for item in node.items):
            collect = self.arguments(node.items, items, [])
            return lambda f: collect(f)[0]
        return lambda f: [item(f) for item in items]

    def make_tuple(self, node: c.MakeTuple) -> Run:
        items = self.expressions(node.items)
        if any(item.__class__ is c.Spread for item in node.items):
            collect = self.arguments(node.items, items, [])
            return lambda f: tuple(collect(f)[0])
        return lambda f: tuple([item(f) for item in items])

    def make_dict(self, node: c.MakeDict) -> Run:
        keys, values = self.expressions(node.keys), self.expressions(node.values)
        site = node.site

        def run(f: list[Any]) -> dict[Any, Any]:
            from ..kinds.access import hashable

            result = {}
            for key, value in zip(keys, values):
                k = key(f)
                STATE.site = site
                result[hashable(k)] = value(f)
            return result

        return run

    def comprehension(self, node: c.Comprehension) -> Run:
        element = self.expression(node.element)
        key = None if node.key is None else self.expression(node.key)
        clauses = [
            (self.target(clause.target), self.expression(clause.iterable), self.expressions(clause.tests), clause.site)
            for clause in node.clauses
        ]

        def walk(f: list[Any], level: int, found: list[Any]) -> None:
            put, iterable, tests, site = clauses[level]
            items = iterable(f)
            STATE.site = site
            for item in iterate(items):
                if LIMITS.max_steps is not None:
                    limits.step()
                put(f, item)
                if all(truth(test(f)) for test in tests):
                    if level + 1 < len(clauses):
                        walk(f, level + 1, found)
                    elif key is None:
                        found.append(element(f))
                    else:
                        found.append((key(f), element(f)))

        def run(f: list[Any]) -> Any:
            found: list[Any] = []
            walk(f, 0, found)
            if key is None:
                return found
            from ..kinds.access import hashable

            return {hashable(k): v for k, v in found}

        return run

    def format_text(self, node: c.FormatText) -> Run:
        parts: list[Any] = [
            part
            if isinstance(part, str)
            else (self.expression(part[0]), part[1], None if part[2] is None else self.expression(part[2]))
            for part in node.parts
        ]
        site = node.site

        def run(f: list[Any]) -> str:
            from .text import formatted

            pieces = []
            for part in parts:
                if part.__class__ is str:
                    pieces.append(part)
                else:
                    value = part[0](f)
                    spec = "" if part[2] is None else part[2](f)
                    STATE.site = site
                    pieces.append(formatted(value, part[1], spec))
            return "".join(pieces)

        return run

    def make_function(self, node: c.MakeFunction) -> Run:
        code = node.code
        body = code.body
        expression = None
        block = None
        # Compiled on the first call: mutual recursion needs nothing more, and unused functions cost nothing.
        compiled: list[Any] = []
        defaults = [None if d is None else self.expression(d) for d in code.defaults]

        def run(f: list[Any]) -> Function:
            nonlocal expression, block
            if not compiled:
                if len(body) == 1 and body[0].__class__ is c.Return and body[0].value is not None:
                    expression = self.expression(body[0].value)
                else:
                    block = self.block(body)
                compiled.append(True)
            values = [UNSET if d is None else d(f) for d in defaults]
            return Function(code, block, expression, values, f)

        return run

    # --- targets ----------------------------------------------------------------------------------------------------

    def target(self, node: c.Target) -> Assigner:
        if node.__class__ is c.Store:
            depth, slot = node.depth, node.slot
            if depth == 0:

                def put(f: list[Any], value: Any) -> None:
                    f[slot] = value

                return put

            def put_outer(f: list[Any], value: Any) -> None:
                for _ in range(depth):
                    f = f[0]
                f[slot] = value

            return put_outer
        if node.__class__ is c.Unpack:
            puts = [self.target(t) for t in node.targets]
            star, site = node.star, node.site

            def put_all(f: list[Any], value: Any) -> None:
                STATE.site = site
                for put, item in zip(puts, unpack(value, len(puts), star)):
                    put(f, item)

            return put_all
        assert node.__class__ is c.StoreItem
        container = self.expression(node.container)
        index = self.expression(node.index)
        back = None if node.back is None else self.target(node.back)
        item_site = node.site

        def put_item(f: list[Any], value: Any) -> None:
            x = container(f)
            i = index(f)
            STATE.site = item_site
            # Held by one variable and by no tape, a tensor can change in place: loops over its elements stay linear.
            # The references that must be all: the frame's, the name x, and the argument of getrefcount.
            if x.__class__ is Tensor and x.on is None and getrefcount(x) == 3 and write_in_place(x, i, value):
                return
            updated = set_item(x, i, value)
            if updated is not x:
                if back is None:
                    raise failure("E0304", "an item can be replaced only in a variable", "give the tensor a name first")
                back(f, updated)

        return put_item

    # --- statements -------------------------------------------------------------------------------------------------

    def block(self, nodes: list[c.Stmt]) -> Run:
        statements = [STATEMENTS[node.__class__](self, node) for node in nodes]
        if len(statements) == 1:
            return statements[0]

        def run(f: list[Any]) -> Any:
            for statement in statements:
                signal = statement(f)
                if signal is not None:
                    return signal
            return None

        return run

    def evaluate(self, node: c.Evaluate) -> Run:
        value = self.expression(node.value)
        if node.result:

            def keep(f: list[Any]) -> None:
                result = value(f)
                if result is not None:
                    f[1] = result
                f[0] = result

            return keep

        def run(f: list[Any]) -> None:
            value(f)

        return run

    def assign(self, node: c.Assign) -> Run:
        value = self.expression(node.value)
        dtype = node.dtype
        if dtype is not None:
            inner = value

            def value(f: list[Any]) -> Any:
                return OPERATORS["cast"](inner(f), dtype=dtype)

        if len(node.targets) == 1 and node.targets[0].__class__ is c.Store and node.targets[0].depth == 0:
            slot = node.targets[0].slot
            if node.result:

                def store_result(f: list[Any]) -> None:
                    f[0] = f[1] = f[slot] = value(f)

                return store_result

            def store(f: list[Any]) -> None:
                f[slot] = value(f)

            return store
        puts = [self.target(t) for t in node.targets]
        result = node.result

        def run(f: list[Any]) -> None:
            x = value(f)
            for put in puts:
                put(f, x)
            if result:
                f[0] = f[1] = x

        return run

    def augment(self, node: c.Augment) -> Run:
        value = self.expression(node.value)
        op, symbol, site = node.op, node.symbol, node.site
        result = node.result
        state = STATE
        target = node.target
        if target.__class__ is c.Store:
            slot_load = c.Load(target.depth, target.slot, target.name, target.site)
            load = self.load(slot_load)
            put = self.target(target)
            combine = self.operation(c.Operator(symbol, op, slot_load, node.value, site), load, value)
            slot = target.slot
            near = target.depth == 0
            in_place = symbol in ("+", "*")  # what Python changes a list by, instead of making a new one

            def run(f: list[Any]) -> None:
                old = f[slot] if near else load(f)
                if old.__class__ is list and in_place:
                    x = update_list(old, symbol, value(f))
                else:
                    x = combine(f)
                put(f, x)
                if result:
                    f[0] = f[1] = x

            return run
        if target.__class__ is not c.StoreItem:
            raise failure("E0207", "this cannot be updated in place", site=site)
        container = self.expression(target.container)
        index = self.expression(target.index)
        back = None if target.back is None else self.target(target.back)

        def run_item(f: list[Any]) -> None:
            x = container(f)
            i = index(f)
            state.site = site
            old = get_item(x, i)
            new = value(f)
            state.site = site
            if old.__class__ is list and symbol in ("+", "*"):
                changed = update_list(old, symbol, new)
            else:
                changed = binary(op, symbol, old, new)
            updated = set_item(x, i, changed)
            if updated is not x:
                if back is None:
                    raise failure("E0304", "an item can be updated only in a variable", "give the tensor a name first")
                back(f, updated)
            if result:
                f[0] = f[1] = updated

        return run_item

    def if_(self, node: c.If) -> Run:
        test = self.expression(node.test)
        body = self.block(node.body)
        orelse = self.block(node.orelse) if node.orelse else None
        site = node.site

        def run(f: list[Any]) -> Any:
            x = test(f)
            if x.__class__ is not bool:
                STATE.site = site
                x = truth(x)
            if x:
                return body(f)
            if orelse is not None:
                return orelse(f)
            return None

        return run

    def for_(self, node: c.For) -> Run:
        iterable = self.expression(node.iterable)
        body = self.block(node.body)
        orelse = self.block(node.orelse) if node.orelse else None
        put = self.target(node.target)
        site = node.site

        def run(f: list[Any]) -> Any:
            items = iterable(f)
            STATE.site = site
            counted = LIMITS.max_steps is not None
            for item in iterate(items):
                if counted:
                    STATE.site = site
                    limits.step()
                put(f, item)
                signal = body(f)
                if signal is not None:
                    if signal is BREAK:
                        return None
                    if signal is not CONTINUE:
                        return signal
            return None if orelse is None else orelse(f)

        return run

    def while_(self, node: c.While) -> Run:
        test = self.expression(node.test)
        body = self.block(node.body)
        orelse = self.block(node.orelse) if node.orelse else None
        site = node.site

        def run(f: list[Any]) -> Any:
            counted = LIMITS.max_steps is not None
            while True:
                x = test(f)
                if x.__class__ is not bool:
                    STATE.site = site
                    x = truth(x)
                if not x:
                    return None if orelse is None else orelse(f)
                if counted:
                    STATE.site = site
                    limits.step()
                signal = body(f)
                if signal is not None:
                    if signal is BREAK:
                        return None
                    if signal is not CONTINUE:
                        return signal

        return run

    def break_(self, node: c.Break) -> Run:
        return lambda f: BREAK

    def continue_(self, node: c.Continue) -> Run:
        return lambda f: CONTINUE

    def return_(self, node: c.Return) -> Run:
        if node.value is None:
            return lambda f: (None,)
        value = self.expression(node.value)
        return lambda f: (value(f),)

    def define(self, node: c.Define) -> Run:
        function = self.make_function(node.function)
        decorators = self.expressions(node.decorators)
        put = self.target(node.target)
        site = node.site

        def run(f: list[Any]) -> None:
            value: Any = function(f)
            for decorator in reversed(decorators):
                decorate = decorator(f)
                STATE.site = site
                value = invoke(decorate, [value], {})
            put(f, value)

        return run

    def with_(self, node: c.With) -> Run:
        items = [
            (self.expression(context), None if target is None else self.target(target), site)
            for context, target, site in node.items
        ]
        body = self.block(node.body)

        def run(f: list[Any]) -> Any:
            entered: list[Context] = []
            try:
                for context, put, site in items:
                    value = context(f)
                    STATE.site = site
                    if not isinstance(value, Context):
                        raise failure(
                            "E0304", f"'with' cannot enter {describe(value)}", "write: with GradientTape() as t:"
                        )
                    bound = value.enter()
                    entered.append(value)
                    if put is not None:
                        put(f, bound)
                return body(f)
            finally:
                for value in reversed(entered):
                    value.leave()

        return run

    def assert_(self, node: c.Assert) -> Run:
        test = self.expression(node.test)
        message = None if node.message is None else self.expression(node.message)
        site = node.site

        def run(f: list[Any]) -> None:
            x = test(f)
            STATE.site = site
            if not truth(x):
                from .text import text

                raise failure(
                    "E0406", "assertion failed" + ("" if message is None else f": {text(message(f))}"), site=site
                )

        return run

    def delete(self, node: c.Delete) -> Run:
        removals: list[Run] = []
        for target in node.targets:
            removals.append(self.removal(target))

        def run(f: list[Any]) -> None:
            for removal in removals:
                removal(f)

        return run

    def removal(self, target: c.Target) -> Run:
        if target.__class__ is c.Store:
            load = self.load(c.Load(target.depth, target.slot, target.name, target.site))
            put = self.target(target)

            def remove(f: list[Any]) -> None:
                load(f)
                put(f, UNSET)

            return remove
        if target.__class__ is c.StoreItem:
            container = self.expression(target.container)
            index = self.expression(target.index)
            site = target.site

            def remove_item(f: list[Any]) -> None:
                x, i = container(f), index(f)
                STATE.site = site
                delete_item(x, i)

            return remove_item
        inner = [self.removal(t) for t in target.targets]  # type: ignore[attr-defined]

        def remove_all(f: list[Any]) -> None:
            for each in inner:
                each(f)

        return remove_all


def update_list(items: list[Any], symbol: str, value: Any) -> list[Any]:
    """`items += value` and `items *= value` change the list that every name of it sees."""
    if symbol == "+":
        items.extend(list(iterate(value)))
    else:
        items[:] = binary(OPERATORS["multiply"], "*", items, value)
    return items


def unassigned(node: c.Load) -> Exception:
    return failure(
        "E0408",
        f"'{node.name}' is read before it is assigned",
        "a name that the program assigns is no input: read the input under another name, as in y = x",
        node.site,
    )


def invoke(callee: Any, args: list[Any], keywords: dict[str, Any] | None) -> Any:
    """Call any value that can be called."""
    cls = callee.__class__
    if cls is Function:
        return call_function(callee, args, keywords)
    if cls is Bound:
        return invoke_method(callee.value, callee.name, args, keywords or {})
    call = getattr(callee, "call", None)
    if call is not None:
        site = STATE.site
        if site.op is None and cls is not Builtin:
            from ..core.state import Site

            STATE.site = Site(callee if cls.__name__ == "Operation" else None, site.source, site.start, site.end)
        return call(args, keywords or {})
    from ..core.dtypes import DType

    if cls is DType:
        if len(args) != 1:
            raise failure("E0305", f"{callee.name} takes one value")
        return OPERATORS["constant"](args[0], dtype=callee)
    raise failure(
        "E0304",
        f"{describe(callee)} cannot be called",
        "write '*' to multiply" if cls in (int, float, Tensor) else None,
    )


def call_function(function: Function, args: list[Any], keywords: dict[str, Any] | None) -> Any:
    """Call a function of the program."""
    code = function.code
    names = code.parameters
    count = len(args)
    if count > len(names):
        raise failure(
            "E0305", f"{code.name} takes {len(names)} argument{'s' if len(names) != 1 else ''}, and {count} were given",
        )  # fmt: skip
    frame = [UNSET] * code.size
    frame[0] = function.frame
    frame[2 : 2 + count] = args
    if keywords:
        for key, value in keywords.items():
            if key not in names:
                raise failure(
                    "E0305", f"{code.name} has no parameter '{key}'", f"its parameters are {', '.join(names)}"
                )
            slot = 2 + names.index(key)
            if frame[slot] is not UNSET:
                raise failure("E0305", f"{code.name} got '{key}' twice")
            frame[slot] = value
    if count < len(names):
        for i in range(len(names)):
            if frame[2 + i] is UNSET:
                default = function.defaults[i]
                if default is UNSET:
                    raise failure("E0305", f"{code.name} needs an argument for '{names[i]}'")
                frame[2 + i] = default
    state = STATE
    if state.depth >= limits.MAX_CALL_DEPTH:
        raise failure(
            "E0605", f"{code.name} calls itself more than {limits.MAX_CALL_DEPTH} deep", "does the recursion end?"
        )
    if LIMITS.max_steps is not None:
        limits.step()
    state.depth += 1
    try:
        if function.expression is not None:
            return function.expression(frame)
        signal = function.body(frame)
        return signal[0] if signal is not None else None
    finally:
        state.depth -= 1


EXPRESSIONS: dict[type, Callable[[Compiler, Any], Run]] = {
    c.Literal: Compiler.literal,
    c.Intrinsic: Compiler.intrinsic,
    c.Load: Compiler.load,
    c.Operator: Compiler.operator,
    c.Prefix: Compiler.prefix,
    c.Comparison: Compiler.comparison,
    c.Logical: Compiler.logical,
    c.Not: Compiler.negation,
    c.Choose: Compiler.choose,
    c.Apply: Compiler.apply,
    c.Spread: Compiler.spread,
    c.Call: Compiler.call,
    c.Method: Compiler.method,
    c.Watch: Compiler.watch,
    c.Attribute: Compiler.attribute,
    c.Item: Compiler.item,
    c.SliceOf: Compiler.slice_of,
    c.MakeList: Compiler.make_list,
    c.MakeTuple: Compiler.make_tuple,
    c.MakeDict: Compiler.make_dict,
    c.Comprehension: Compiler.comprehension,
    c.FormatText: Compiler.format_text,
    c.MakeFunction: Compiler.make_function,
}

STATEMENTS: dict[type, Callable[[Compiler, Any], Run]] = {
    c.Evaluate: Compiler.evaluate,
    c.Assign: Compiler.assign,
    c.Augment: Compiler.augment,
    c.If: Compiler.if_,
    c.For: Compiler.for_,
    c.While: Compiler.while_,
    c.Break: Compiler.break_,
    c.Continue: Compiler.continue_,
    c.Return: Compiler.return_,
    c.Define: Compiler.define,
    c.With: Compiler.with_,
    c.Assert: Compiler.assert_,
    c.Delete: Compiler.delete,
}
