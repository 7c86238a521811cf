"""The tape tier on whole columns: control flow that depends on a row's data divides the rows, and unites them after.

Everything straight is the ordinary compiler's. Here are the statements at which rows can part: conditions, loops and what
leaves them, functions that return in several places. The expressions are in column_values.py.
"""

from __future__ import annotations

from ..core import limits
from ..core.limits import LIMITS
from ..core.state import STATE
from ..core.wording import assertion_failed
from ..kinds.access import iterate
from ..program import core as c
from . import calls, statements
from .column_functions import STEPS
from .column_values import ColumnValues
from .columns import Column, truths
from .compile import EXPRESSIONS, STATEMENTS, one_by_one
from .operators import truth
from .row_sets import GONE, Meeting, NobodyLeft, NotTogether
from .statements import BREAK, CONTINUE
from .values import Function

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Run = Callable[[list[Any]], Any]


class ColumnCompiler(ColumnValues):
    """Compiles one program for the columns of `table`."""

    def expression(self, node: c.Expr) -> Run:
        return COLUMN_EXPRESSIONS[node.__class__](self, node)  # type: ignore[no-any-return]

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

    def block(self, nodes: list[c.Stmt]) -> Run:
        return one_by_one([COLUMN_STATEMENTS[node.__class__](self, node) for node in nodes])

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
