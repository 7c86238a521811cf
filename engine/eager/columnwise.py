"""The tape tier on whole columns: control flow that depends on a row's data divides the rows, and unites them after.

Everything straight is the ordinary compiler's. Here are the nodes at which rows can part: conditions, loops and what
leaves them, functions that return in several places; and the guards before what would change a container for rows that
are not active.
"""

from __future__ import annotations

from ..core import limits
from ..core.dtypes import BOOL, WEAK_COUNT
from ..core.limits import LIMITS
from ..core.state import STATE
from ..core.tensor import Tensor
from ..core.wording import assertion_failed
from ..kinds.access import get_item, iterate
from ..ops.registry import METHODS
from ..program import core as c
from ..program.rewrite import rewrite
from . import calls, expressions, statements
from .attributes import get_attribute, invoke_method, method_arguments
from .calls import arguments, call_function, invoke
from .column_derivatives import ColumnDerived, ColumnTape, derivatives_of
from .column_functions import COLUMN_FUNCTIONS, STEPS, call_row, item_of, safe_to_call
from .columns import Column, holds_column
from .compile import EXPRESSIONS, STATEMENTS, Compiler
from .expressions import unassigned
from .operators import compare, truth
from .row_sets import GONE, Meeting, NobodyLeft, NotTogether, Table
from .statements import BREAK, CONTINUE
from .values import UNSET, Builtin, Function

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Run = Callable[[list[Any]], Any]

# Methods that change the list or dict they belong to.
CHANGING = frozenset("append extend pop insert remove clear sort reverse update".split())
CONTAINERS = {list, tuple, dict, str}
PLAIN = (list, tuple, dict, str, Tensor, float, int, bool, complex, range)


class ColumnCompiler(Compiler):
    """Compiles one program for the columns of `table`."""

    def __init__(self, intrinsics: dict[str, Any], table: Table, scalars: bool = True) -> None:
        super().__init__({**intrinsics, **COLUMN_FUNCTIONS, **derivatives_of(table, self.call_value)}, scalars)
        self.table = table

    def expression(self, node: c.Expr) -> Run:
        return COLUMN_EXPRESSIONS[node.__class__](self, node)  # type: ignore[no-any-return]

    # --- names ------------------------------------------------------------------------------------------------------

    def load(self, node: c.Load) -> Run:
        slot, depth = node.slot, node.depth
        settled = self.table.settled

        def run(f: list[Any]) -> Any:
            for _ in range(depth):
                f = f[0]
            value = f[slot]
            if value.__class__ is Meeting:
                return settled(value)
            if value is UNSET:
                raise unassigned(node)
            return value

        return run

    def target(self, node: c.Target) -> Any:
        table = self.table
        put = super().target(node)
        if node.__class__ is c.Store and node.depth:

            def put_outer(f: list[Any], value: Any) -> None:
                if table.divided:
                    raise NotTogether("an assignment to a variable of another function")
                put(f, value)

            return put_outer
        if node.__class__ is c.StoreItem:
            check = self.changes(node.container)

            def put_item(f: list[Any], value: Any) -> None:
                check(f)
                put(f, value)

            return put_item
        return put

    def changes(self, container: c.Expr) -> Callable[[list[Any]], None]:
        """A check before a container is changed in place: are the active rows all that it is for?"""
        table = self.table
        load = self.expression(container) if container.__class__ is c.Load else None

        def check(f: list[Any]) -> None:
            if load is None:
                if table.divided or table.frozen:
                    raise NotTogether("a change inside a container")
                return
            value = load(f)
            if value.__class__ in (list, dict):
                table.may_change(value)
            elif value.__class__ not in PLAIN and value.__class__ is not Column and table.divided:
                raise NotTogether("a change of a value that other rows share")

        return check

    def augment(self, node: c.Augment) -> Run:
        run = statements.augment(self, node)
        target = node.target
        table = self.table
        if target.__class__ is c.StoreItem:
            check = self.changes(target.container)
        elif target.__class__ is c.Store and node.symbol in ("+", "*"):
            load = self.load(c.Load(target.depth, target.slot, target.name, target.site))

            def check(f: list[Any]) -> None:
                value = load(f)
                if value.__class__ is list:
                    table.may_change(value)

        else:
            return run

        def checked(f: list[Any]) -> Any:
            check(f)
            return run(f)

        return checked

    def delete(self, node: c.Delete) -> Run:
        run = statements.delete(self, node)
        table = self.table

        def checked(f: list[Any]) -> Any:
            if table.frozen or (table.divided and any(t.__class__ is not c.Store for t in node.targets)):
                raise NotTogether("a deletion")
            return run(f)

        return checked

    def make_list(self, node: c.MakeList) -> Run:
        run, own = expressions.make_list(self, node), self.table.own
        return lambda f: own(run(f))

    def make_dict(self, node: c.MakeDict) -> Run:
        run, own = expressions.make_dict(self, node), self.table.own
        return lambda f: own(run(f))

    def comprehension(self, node: c.Comprehension) -> Run:
        run, own = expressions.comprehension(self, node), self.table.own
        return lambda f: own(run(f))

    # --- conditions -------------------------------------------------------------------------------------------------

    def comparison(self, node: c.Comparison) -> Run:
        left, rights = self.expression(node.left), self.expressions(node.rights)
        links = list(zip(node.ops, node.symbols, rights))
        site, table = node.site, self.table

        def link(f: list[Any], x: Any, i: int) -> Any:
            op, symbol, right = links[i]
            y = right(f)
            STATE.site = site
            if x.__class__ is Column or y.__class__ is Column:
                if x is None or y is None or {x.__class__, y.__class__} & CONTAINERS:
                    if symbol not in ("is", "is not"):
                        raise NotTogether("a comparison of a column with no number")
                    result: Any = symbol == "is not"
                elif op is None:
                    raise NotTogether(f"'{symbol}' of a column")
                else:
                    result = op(x, y)
            else:
                result = compare(op, symbol, x, y)
            if i + 1 == len(links):
                return result
            if result.__class__ is Column:
                return table.choose(truths(result), lambda: link(f, y, i + 1), lambda: result)
            return link(f, y, i + 1) if truth(result) else result

        return lambda f: link(f, left(f), 0)

    def logical(self, node: c.Logical) -> Run:
        values = self.expressions(node.values)
        stop_on = node.symbol == "or"
        site, table = node.site, self.table

        def operand(f: list[Any], i: int) -> Any:
            x = values[i](f)
            if i + 1 == len(values):
                return x
            STATE.site = site
            if x.__class__ is Column:
                decided = truths(x)
                return table.choose(decided if stop_on else ~decided, lambda: x, lambda: operand(f, i + 1))
            return x if truth(x) is stop_on else operand(f, i + 1)

        return lambda f: operand(f, 0)

    def negation(self, node: c.Not) -> Run:
        operand, site, table = self.expression(node.operand), node.site, self.table

        def run(f: list[Any]) -> Any:
            x = operand(f)
            STATE.site = site
            if x.__class__ is Column:
                return Column(table, Tensor(~truths(x), BOOL), table.active)
            return not truth(x)

        return run

    def choose(self, node: c.Choose) -> Run:
        test, then, otherwise = self.expression(node.test), self.expression(node.then), self.expression(node.otherwise)
        site, table = node.site, self.table

        def run(f: list[Any]) -> Any:
            x = test(f)
            STATE.site = site
            if x.__class__ is Column:
                return table.choose(truths(x), lambda: then(f), lambda: otherwise(f))
            return then(f) if truth(x) else otherwise(f)

        return run

    def assertion(self, node: c.Assert) -> Run:
        test, site, table = self.expression(node.test), node.site, self.table
        ordinary = STATEMENTS[c.Assert](self, node)
        words = None if node.message is None else self.words(node.message)

        def run(f: list[Any]) -> None:
            x = test(f)
            STATE.site = site
            if x.__class__ is Column:
                held = truths(x)
                if held.all():
                    return
                failing, holding = table.active.divided(~held)
                said = None if words is None else table.run(failing, lambda: words(f))
                if said is not GONE:
                    several = said.__class__ is list
                    table.end(
                        failing,
                        (lambda one: assertion_failed(one, site)) if several else lambda: assertion_failed(said, site),
                        said if several else None,
                    )
                table.active = holding
                if not holding.size:
                    raise NobodyLeft
            elif not truth(x):
                ordinary(f)

        return run

    def words(self, node: c.Expr) -> Callable[[list[Any]], str | list[str]]:
        """A text, or a list of one for each active row where it holds the numbers of columns."""
        from .text import formatted, text

        if not isinstance(node, c.FormatText):
            message = self.expression(node)

            def whole(f: list[Any]) -> str:
                said = message(f)
                if holds_column(said):
                    raise NotTogether("the text of a number")
                return text(said)

            return whole
        parts: list[Any] = [
            part
            if isinstance(part, str)
            else (self.expression(part[0]), part[1], None if part[2] is None else self.expression(part[2]))
            for part in node.parts
        ]
        site = node.site

        def run(f: list[Any]) -> str | list[str]:
            pieces: list[Any] = []
            for part in parts:
                if part.__class__ is str:
                    pieces.append(part)
                    continue
                value, spec = part[0](f), "" if part[2] is None else part[2](f)
                STATE.site = site
                if value.__class__ is not Column and holds_column(value):
                    raise NotTogether("the text of a number")
                if value.__class__ is Column:
                    pieces.append([formatted(one, part[1], spec) for one in single_numbers(value)])
                else:
                    pieces.append(formatted(value, part[1], spec))
            columns = [piece for piece in pieces if piece.__class__ is list]
            if not columns:
                return "".join(pieces)
            repeated = [piece if piece.__class__ is list else [piece] * len(columns[0]) for piece in pieces]
            return list(map("".join, zip(*repeated)))

        return run

    # --- what looks inside values -----------------------------------------------------------------------------------

    def apply(self, node: c.Apply) -> Run:
        found = rewrite(node) if self.stable else None
        if found is not None:
            return self.expression(found)
        op, site, table = node.op, node.site, self.table
        collect = arguments(self, node.args, self.expressions(node.args), node.keywords)

        def run(f: list[Any]) -> Any:
            values, keywords = collect(f)
            STATE.site = site
            return call_row(table, op, values, keywords)

        return run

    def call(self, node: c.Call) -> Run:
        function = self.expression(node.function)
        collect = arguments(self, node.args, self.expressions(node.args), node.keywords)
        site = node.site

        def run(f: list[Any]) -> Any:
            callee = function(f)
            values, keywords = collect(f)
            STATE.site = site
            return self.call_value(callee, values, keywords)

        return run

    def call_value(self, callee: Any, values: list[Any], keywords: dict[str, Any]) -> Any:
        """Call a value of the program."""
        if callee.__class__ is Function:
            site = STATE.site
            found = call_function(callee, values, keywords)
            STATE.site = site
            return found
        if callee.__class__ is ColumnDerived:
            return callee.run(values, keywords)
        safe_to_call(self.table, callee, values, keywords)
        if callee.__class__.__name__ == "Operation":
            return call_row(self.table, callee, values, keywords)
        found = invoke(callee, values, keywords)
        return self.table.own(found) if found.__class__ is list else found

    def method(self, node: c.Method) -> Run:
        value = self.expression(node.value)
        collect = arguments(self, node.args, self.expressions(node.args), node.keywords)
        name, site, table = node.name, node.site, self.table

        def run(f: list[Any]) -> Any:
            x = value(f)
            values, keywords = collect(f)
            STATE.site = site
            if x.__class__ in (list, dict) and name in CHANGING:
                table.may_change(x)
            elif x.__class__ is Column or (x.__class__ is Tensor and holds_column(values)):
                row = METHODS.get(name)
                if row is None:
                    raise NotTogether(f"the method '{name}' of a column")
                return call_row(table, row, method_arguments(row, x, values), keywords)
            elif x.__class__ is ColumnTape and name == "gradient":
                return Builtin(name, ColumnTape.ask).call([x, *values], keywords, bound=1)
            elif x.__class__ not in PLAIN:
                raise NotTogether(f"the method '{name}' of what is no number and no list")
            elif x.__class__ is str and holds_column([values, keywords]):
                raise NotTogether("the text of a number")
            found = invoke_method(x, name, values, keywords)
            return table.own(found) if found.__class__ in (list, dict) else found

        return run

    def watch(self, node: c.Watch) -> Run:
        tape, run = self.expression(node.tape), statements.watch(self, node)

        def checked(f: list[Any]) -> Any:
            if tape(f).__class__ is not ColumnTape:
                raise NotTogether("a tape inside the program")
            return run(f)

        return checked

    def attribute(self, node: c.Attribute) -> Run:
        value = self.expression(node.value)
        name, site = node.name, node.site

        def run(f: list[Any]) -> Any:
            x = value(f)
            STATE.site = site
            if x.__class__ is not Column:
                return get_attribute(x, name)
            if name in ("shape", "ndim"):
                return getattr(x, name)
            if name == "dtype":
                return x.dtype.strong
            if name == "T" and x.ndim < 2:
                return x
            raise NotTogether(f"the attribute '{name}' of a column")

        return run

    def item(self, node: c.Item) -> Run:
        value, index = self.expression(node.value), self.expression(node.index)
        site, table = node.site, self.table

        def run(f: list[Any]) -> Any:
            x = value(f)
            i = index(f)
            STATE.site = site
            if x.__class__ is Column or holds_column(i):
                return item_of(table, x, i)
            found = get_item(x, i)
            return table.own(found) if found.__class__ is list else found

        return run

    def format_text(self, node: c.FormatText) -> Run:
        words = self.words(node)

        def run(f: list[Any]) -> str:
            found = words(f)
            if found.__class__ is list:
                raise NotTogether("the text of a number")
            return found  # type: ignore[return-value]

        return run

    # --- statements -------------------------------------------------------------------------------------------------

    def block(self, nodes: list[c.Stmt]) -> Run:
        statements = [COLUMN_STATEMENTS[node.__class__](self, node) for node in nodes]

        def run(f: list[Any]) -> Any:
            for statement in statements:
                signal = statement(f)
                if signal is not None:
                    return signal
            return None

        return run

    def leave(self, signal: Any, f: list[Any], paths: list[Any]) -> None:
        """Put the active rows, after a block that ended with `signal`, where they go on."""
        table = self.table
        if signal is GONE:
            return
        if signal is None:
            paths.append((table.active, f[:]))
        elif signal is BREAK:
            table.broken.append((table.active, f[:]))
        elif signal is CONTINUE:
            table.waiting.append((table.active, f[:]))
        else:
            table.returned.append((table.active, signal[0]))

    def if_(self, node: c.If) -> Run:
        test, body = self.expression(node.test), self.block(node.body)
        orelse = self.block(node.orelse) if node.orelse else lambda f: None
        site, table = node.site, self.table

        def run(f: list[Any]) -> Any:
            x = test(f)
            STATE.site = site
            if x.__class__ is not Column:
                return body(f) if truth(x) else orelse(f)
            mask, whole = truths(x), table.active
            if mask.all():
                return body(f)
            if not mask.any():
                return orelse(f)
            before = f[:]
            paths: list[Any] = []
            for rows, side in zip(whole.divided(mask), (body, orelse)):
                f[:] = before
                self.leave(table.run(rows, lambda side=side: side(f)), f, paths)  # type: ignore[misc]
            return table.meet_frames(f, paths, whole)

        return run

    def loop(self, f: list[Any], turns: Callable[[list[Any]], Any], orelse: Run | None) -> Any:
        """A loop: `turns` runs it until no row is active, or all active ones have come to its end."""
        table = self.table
        outer = (table.broken, table.waiting)
        table.broken, table.waiting = [], []
        ended: list[Any] = []
        whole = table.active
        try:
            signal = table.run(whole, lambda: turns(ended))
            if signal is not None and signal is not GONE and not ended and not table.broken:
                return signal  # all rows return together
            self.leave(signal, f, ended)
            if orelse is not None and ended:
                table.meet_frames(f, ended, whole)
                ended = []
                broken, table.broken = table.broken, outer[0]
                table.waiting = outer[1]
                self.leave(table.run(table.active, lambda: orelse(f)), f, ended)
                table.broken = broken
            return table.meet_frames(f, ended + table.broken, whole)
        finally:
            table.broken, table.waiting = outer

    def turn(self, f: list[Any], body: Run) -> Any:
        """One iteration for the active rows: None if some go on, else a signal."""
        table = self.table
        whole = table.active
        table.waiting = []
        signal = table.run(whole, lambda: body(f))
        if not table.waiting:
            if signal is None or signal is CONTINUE:
                return None
            if signal is BREAK:
                table.broken.append((table.active, f[:]))
                return GONE
            return signal
        paths: list[Any] = []
        self.leave(None if signal is CONTINUE else signal, f, paths)
        return table.meet_frames(f, paths + table.waiting, whole)

    def for_(self, node: c.For) -> Run:
        iterable, body, put = self.expression(node.iterable), self.block(node.body), self.target(node.target)
        orelse = self.block(node.orelse) if node.orelse else None
        site, table = node.site, self.table

        def run(f: list[Any]) -> Any:
            items = iterable(f)
            STATE.site = site

            def turns(ended: list[Any]) -> Any:
                if items.__class__ is STEPS:
                    k = 0
                    while True:
                        more = items.continues(k)
                        if not more.all():
                            going, staying = table.active.divided(~more)
                            ended.append((going, f[:]))
                            table.active = staying
                            if not staying.size:
                                return GONE
                        self.count(site)
                        put(f, items.at(k))
                        signal = self.turn(f, body)
                        if signal is not None:
                            return signal
                        k += 1
                for item in iterate(items):
                    self.count(site)
                    put(f, item)
                    signal = self.turn(f, body)
                    if signal is not None:
                        return signal
                return None

            return self.loop(f, turns, orelse)

        return run

    def count(self, site: Any) -> None:
        if LIMITS.max_steps is not None:
            STATE.site = site
            limits.step()

    def while_(self, node: c.While) -> Run:
        test, body = self.expression(node.test), self.block(node.body)
        orelse = self.block(node.orelse) if node.orelse else None
        site, table = node.site, self.table

        def run(f: list[Any]) -> Any:
            def turns(ended: list[Any]) -> Any:
                while True:
                    x = table.run(table.active, lambda: test(f))
                    if x is GONE:
                        return GONE
                    STATE.site = site
                    if x.__class__ is Column:
                        more = truths(x)
                        if not more.any():
                            return None
                        if not more.all():
                            going, staying = table.active.divided(~more)
                            ended.append((going, f[:]))
                            table.active = staying
                    elif not truth(x):
                        return None
                    self.count(site)
                    signal = self.turn(f, body)
                    if signal is not None:
                        return signal

            return self.loop(f, turns, orelse)

        return run

    def with_(self, node: c.With) -> Run:
        # A variable that differs between the rows that meet is put together where it is read: the tapes must see that.
        return statements.with_(self, node, self.settle)

    def settle(self, f: list[Any]) -> None:
        """Put together what rows have met with, of numbers."""
        if not self.table.active.size:
            return
        for slot in range(1, len(f)):
            value = f[slot]
            if value.__class__ is Meeting and all(x.__class__ in (Column, float) for _, x in value.pieces):
                f[slot] = self.table.settled(value)

    def define(self, node: c.Define) -> Run:
        if node.decorators:

            def run(f: list[Any]) -> Any:
                raise NotTogether("a function with a decorator")

            return run
        return statements.define(self, node)

    def make_function(self, node: c.MakeFunction) -> Run:
        make, table = calls.make_function(self, node), self.table

        def run(f: list[Any]) -> Function:
            function: Function = make(f)
            block = function.body
            if block is not None:

                def body(frame: list[Any]) -> Any:
                    outer, table.returned = table.returned, []
                    whole = table.active
                    try:
                        signal = table.run(whole, lambda: block(frame))
                        if not table.returned:
                            if signal is GONE:
                                raise NobodyLeft
                            return signal
                        pieces = table.returned
                        if signal is not GONE:
                            pieces.append((table.active, None if signal is None else signal[0]))
                        return (table.meet(pieces, whole),)
                    finally:
                        table.returned = outer

                function.body = body
            return function

        return run


def single_numbers(x: Column) -> list[Any]:
    """The numbers of the active rows, each as the row alone has it."""
    if x.shape or x.mixed or not (x.dtype.weak or x.dtype is BOOL):
        raise NotTogether("the text of a number")
    tensor = x.here()
    numbers: list[Any] = tensor.value.tolist()
    if tensor.on is None and x.dtype is not WEAK_COUNT:
        return numbers
    return [Tensor(number, x.dtype) for number in numbers]


def truths(x: Column) -> Any:
    """The truth of the active rows."""
    values = x.numbers()
    if values.ndim != 1:
        raise NotTogether("the truth of a tensor")
    return values if values.dtype == bool else values != 0


COLUMN_EXPRESSIONS: dict[type, Any] = {
    **EXPRESSIONS,
    c.Load: ColumnCompiler.load,
    c.Comparison: ColumnCompiler.comparison,
    c.Logical: ColumnCompiler.logical,
    c.Not: ColumnCompiler.negation,
    c.Choose: ColumnCompiler.choose,
    c.Apply: ColumnCompiler.apply,
    c.Call: ColumnCompiler.call,
    c.Method: ColumnCompiler.method,
    c.Watch: ColumnCompiler.watch,
    c.Attribute: ColumnCompiler.attribute,
    c.Item: ColumnCompiler.item,
    c.MakeList: ColumnCompiler.make_list,
    c.MakeDict: ColumnCompiler.make_dict,
    c.Comprehension: ColumnCompiler.comprehension,
    c.FormatText: ColumnCompiler.format_text,
    c.MakeFunction: ColumnCompiler.make_function,
}
COLUMN_STATEMENTS: dict[type, Any] = {
    **STATEMENTS,
    c.Augment: ColumnCompiler.augment,
    c.Watch: ColumnCompiler.watch,
    c.If: ColumnCompiler.if_,
    c.For: ColumnCompiler.for_,
    c.While: ColumnCompiler.while_,
    c.With: ColumnCompiler.with_,
    c.Define: ColumnCompiler.define,
    c.Assert: ColumnCompiler.assertion,
    c.Delete: ColumnCompiler.delete,
}

__all__ = ["ColumnCompiler"]
