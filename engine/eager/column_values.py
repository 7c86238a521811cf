"""What is computed on whole columns: names, conditions, and what looks inside values.

Here are the expressions at which rows can part, and the guards before what would change a container for rows that are not
active; the statements are in columnwise.py, and everything straight is the ordinary compiler's.
"""

from __future__ import annotations

from sys import getrefcount

from ..core.dtypes import BOOL, WEAK_COUNT
from ..core.state import STATE
from ..core.tensor import Tensor
from ..kinds.access import get_item
from ..ops.registry import METHODS, ROWS
from ..program import core as c
from ..program.rewrite import rewrite
from . import expressions, statements
from .attributes import get_attribute, invoke_method, method_arguments
from .calls import arguments, call_function, invoke
from .column_derivatives import ColumnDerived, ColumnTape, derivatives_of
from .column_functions import COLUMN_FUNCTIONS, call_row, safe_to_call
from .column_items import item_of, replaced
from .column_jacobians import jacobians_of, tape_jacobian
from .column_transforms import transforms_of
from .columns import Column, holds_column, truths
from .compile import Compiler
from .element_writes import OWN
from .expressions import unassigned
from .operators import binary, compare, truth
from .row_sets import Meeting, NotTogether, Table
from .statements import update_list
from .targets import GONE, put_element, replaced_by
from .values import UNSET, Builtin, Function

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Run = Callable[[list[Any]], Any]

# Methods that change the list or dict they belong to.
CHANGING = frozenset("append extend pop insert remove clear sort reverse update".split())
# What gives a list or dict that was there before: it is not the active rows' own.
HANDING_OUT = frozenset("get pop setdefault min max".split())
# What a tape is asked for.
ASKING: dict[str, Callable[..., Any]] = {"gradient": ColumnTape.ask, "jacobian": tape_jacobian}
CONTAINERS = {list, tuple, dict, str}
PLAIN = (list, tuple, dict, str, Tensor, float, int, bool, complex, range)


class ColumnValues(Compiler):
    """The part of the compiler for expressions, and for what is changed in place."""

    def __init__(self, intrinsics: dict[str, Any], table: Table, scalars: bool = True) -> None:
        call = self.call_value
        own = {**derivatives_of(table, call), **jacobians_of(table, call), **transforms_of(table, call)}
        super().__init__({**intrinsics, **COLUMN_FUNCTIONS, **own}, scalars)
        self.table = table

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
            write = self.item_writer(node, [node.index])
            container, index, site = self.expression(node.container), self.expression(node.index), node.site

            def put_item(f: list[Any], value: Any) -> None:
                x = container(f)
                i = index(f)
                STATE.site = site
                write(f, x, i, value, getrefcount(x) - OWN)

            return put_item
        return put

    def item_writer(self, node: c.StoreItem, values: list[c.Expr]) -> Callable[[list[Any], Any, Any, Any, int], Any]:
        """`x[i] = value` for the active rows, of a container x to which there are so many other references (put_element).

        `values` are what is evaluated after x.
        """
        table, container = self.table, self.expression(node.container)
        back = None if node.back is None else self.target(node.back)
        where = replaced_by(node, values, container)

        def write(f: list[Any], x: Any, i: Any, value: Any, others: int) -> Any:
            updated = replaced(table, x, i, value)
            if updated is None:
                if x.__class__ not in PLAIN and table.divided:
                    raise NotTogether("a change of a value that other rows share")
                if where is not None and where(f) is not x:
                    others = GONE
                return put_element(f, x, i, value, others, back)
            if updated is not x:
                if back is None:
                    raise NotTogether("an item of what has no name")
                back(f, updated)
            return updated

        return write

    def augment(self, node: c.Augment) -> Run:
        target, table = node.target, self.table
        if target.__class__ is c.StoreItem:
            return self.augment_item(node, target)
        run = statements.augment(self, node)
        if target.__class__ is not c.Store or node.symbol not in ("+", "*"):
            return run
        load = self.load(c.Load(target.depth, target.slot, target.name, target.site))

        def checked(f: list[Any]) -> Any:
            value = load(f)
            if value.__class__ is list:
                table.may_change(value)
            return run(f)

        return checked

    def augment_item(self, node: c.Augment, target: c.StoreItem) -> Run:
        op, symbol, site, result, table = node.op, node.symbol, node.site, node.result, self.table
        container, index, value = map(self.expression, (target.container, target.index, node.value))
        write = self.item_writer(target, [target.index, node.value])

        def run(f: list[Any]) -> None:
            x = container(f)
            i = index(f)
            STATE.site = site
            old = item_of(table, x, i) if x.__class__ is Column or holds_column(i) else get_item(x, i)
            new = value(f)
            STATE.site = site
            if old.__class__ is list and symbol in ("+", "*"):
                table.may_change(old)
                changed: Any = update_list(old, symbol, new)
            else:
                changed = binary(op, symbol, old, new)
            if result:
                f[0] = f[1] = None  # as in the ordinary statement
            updated = write(f, x, i, changed, getrefcount(x) - OWN)
            if result:
                f[0] = f[1] = updated

        return run

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
                if symbol in ("in", "not in"):
                    result: Any = contained(table, x, y, symbol == "in")
                elif (
                    symbol in ("==", "!=")
                    and str in (x.__class__, y.__class__)
                    and (x if y.__class__ is str else y).raw
                ):
                    result = symbol == "!="  # a number is no string
                elif x is None or y is None or {x.__class__, y.__class__} & CONTAINERS:
                    if symbol not in ("is", "is not"):
                        raise NotTogether("a comparison of a column with no number")
                    result = symbol == "is not"
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
        return (
            self.table.own(found)
            if found.__class__ is list and getattr(callee, "name", "") not in HANDING_OUT
            else found
        )

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
            elif x.__class__ is ColumnTape and name in ASKING:
                return Builtin(name, ASKING[name]).call([x, *values], keywords, bound=1)
            elif x.__class__ not in PLAIN:
                raise NotTogether(f"the method '{name}' of what is no number and no list")
            elif x.__class__ is str and holds_column([values, keywords]):
                raise NotTogether("the text of a number")
            found = invoke_method(x, name, values, keywords)
            return table.own(found) if found.__class__ in (list, dict) and name not in HANDING_OUT else found

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
        name, site, table = node.name, node.site, self.table

        def run(f: list[Any]) -> Any:
            x = value(f)
            STATE.site = site
            if x.__class__ is not Column:
                return get_attribute(x, name)
            if name in ("shape", "ndim"):
                return getattr(x, name)
            if name == "dtype":
                return x.dtype.strong
            if name == "T":
                return x if x.ndim < 2 else call_row(table, ROWS["transpose"], [x], {})
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
            return table.own(found) if found.__class__ is list and i.__class__ is slice else found

        return run

    def format_text(self, node: c.FormatText) -> Run:
        words = self.words(node)

        def run(f: list[Any]) -> str:
            found = words(f)
            if found.__class__ is list:
                raise NotTogether("the text of a number")
            return found  # type: ignore[return-value]

        return run


def contained(table: Table, x: Any, items: Any, wanted: bool) -> Column:
    """`x in items` of every row, for a container of numbers that is the same in all."""
    import numpy as np

    values = list(items) if items.__class__ in (list, tuple, range) else None
    if x.__class__ is not Column or x.shape or values is None or any(v.__class__ not in (int, float) for v in values):
        raise NotTogether(f"'{'in' if wanted else 'not in'}' of a column")
    found = np.zeros(table.active.size, bool)
    for value in values:
        found |= x.numbers() == value
    return Column(table, Tensor(found == wanted, BOOL), table.active)


def single_numbers(x: Column) -> list[Any]:
    """The numbers of the active rows, each as the row alone has it."""
    if x.shape or x.mixed or not (x.dtype.weak or x.dtype is BOOL):
        raise NotTogether("the text of a number")
    tensor = x.here()
    numbers: list[Any] = tensor.value.tolist()
    if tensor.on is None and x.dtype is not WEAK_COUNT:
        return numbers
    return [Tensor(number, x.dtype) for number in numbers]


__all__ = ["ColumnValues"]
