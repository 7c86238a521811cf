"""Loops: they stay loops of the IR (carried.py), or are written out where the program needs to know the number of an iteration."""

from __future__ import annotations

from ....parser.errors import AdiffError
from ...core.state import STATE
from ...core.tensor import OPERATORS
from ...kinds.operators import binary
from ...program import core as c
from ...program.core import UNSET
from ...program.loops import contains_loop, nodes
from ..ir import Unsupported
from .carried import LEFT, Carrying
from .containers import Heap, own_variables
from .merge import branch
from .sequences import Sequence, sequence
from .values import BREAK, CONTINUE, MOST_UNROLLED, RETURN, Conflict, Frame, NeedsValue

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .tracer import Tracer

    Run = Callable[[Any], Any]

# Loops with so few iterations, and bodies of so few nodes, are written out.
FEW, SHORT = 4, 40


def for_(t: Tracer, node: c.For) -> Run:
    iterable, put = t.expression(node.iterable), t.target(node.target)
    body, orelse = t.block(node.body), t.block(node.orelse)

    def run(f: Any) -> None:
        items = sequence(iterable(f))
        STATE.site = node.site

        def iteration(item: Any) -> None:
            put(f, item)
            body(f)

        Looping(t, f, node, [node.target, node.body], iteration).over(items)
        end(t, node, f, orelse)

    return run


def while_(t: Tracer, node: c.While) -> Run:
    condition, body, orelse = t.expression(node.test), t.block(node.body), t.block(node.orelse)
    held = node.test.__class__ is c.Literal and node.test.value
    endless = held and not any(x.__class__ in (c.Break, c.Return) for x in nodes(node.body))

    def run(f: Any) -> None:
        if endless:  # a compiler may take it for nothing
            raise Unsupported("a loop without an end", node.site)

        def test() -> Any:
            x = condition(f)
            STATE.site = node.site
            return t.truth(x)

        STATE.site = node.site
        Looping(t, f, node, [node.test, node.body], lambda item: body(f), test).attempt(None)
        end(t, node, f, orelse)

    return run


def end(t: Tracer, node: Any, f: Any, orelse: Run) -> None:
    """What follows a loop that no `break` has left."""
    left = t.left(f, (BREAK, RETURN)) if node.orelse else True
    f[BREAK] = f[CONTINUE] = False
    if left is not True:
        t.unless_left(left, f, lambda: orelse(f))


class Looping(Carrying):
    """A loop that stays one if it can."""

    def over(self, items: Sequence) -> None:
        """A loop over the items of a sequence."""
        count = items.count
        short = not contains_loop(self.code) and len(list(nodes(self.code))) <= SHORT
        if id(self.node) in self.t.unrolled or (count.__class__ is int and count <= (FEW if short else 1)):
            self.write_out(items)
        else:
            self.attempt(items)

    def attempt(self, items: Sequence | None, peeled: bool = False) -> None:
        """The loop; where it cannot stay one, its iterations one by one."""
        t = self.t
        depth, heap = len(t.roots), Heap(t.roots)
        try:
            self.loop(items, peeled, heap)
        except NeedsValue:
            raise
        except (AdiffError, Unsupported) as error:
            refusal = error if isinstance(error, Unsupported) else t.fault(error)
            del t.roots[depth:]
            heap.restore()
            STATE.site = self.site
            if LEFT in str(refusal) and not peeled:
                self.peel(items)
                return
            if items is None:
                raise refusal from None
            t.unrolled.add(id(self.node))
            try:
                self.write_out(items)
            except NeedsValue:
                raise
            except (AdiffError, Unsupported):
                raise refusal from None

    def peel(self, items: Sequence | None) -> None:
        """Write out the first iteration, without which the kernel stops, and loop over the others."""
        t = self.t
        if items is None:
            assert self.test is not None
            runs, rest = self.test(), None
        else:
            runs, rest = OPERATORS.greater(items.count, 0), items.without_first()
        t.builder.check(runs)
        self.iteration(None if items is None else items.item(0))
        t.unless_left(self.left(), self.f, lambda: self.attempt(rest, peeled=True))

    def write_out(self, items: Sequence) -> None:
        """The iterations one by one, until the loop is left."""
        count = items.count
        if count.__class__ is int and count > MOST_UNROLLED:
            raise Unsupported(f"a loop of more than {MOST_UNROLLED} iterations that must be written out", self.site)
        self.write_out_from(list(items.iterate()))

    def write_out_from(self, items: list[Any]) -> None:
        for i, item in enumerate(items):
            self.iteration(item)
            left = self.left()
            if left is not False:
                if i + 1 < len(items):
                    self.t.unless_left(left, self.f, lambda: self.write_out_from(items[i + 1 :]))  # noqa: B023
                return


def sum_of(t: Tracer, node: c.Comprehension, site: Any) -> Run:
    """The sum of the values of a comprehension, as a loop."""
    clause = node.clauses[0]
    iterable, put, element = t.expression(clause.iterable), t.target(clause.target), t.expression(node.element)
    tests, own = t.expressions(clause.tests), own_variables(node)

    def run(f: Any) -> Any:
        total = Frame([0])

        def add(i: int = 0) -> None:
            """Add the element if the tests from number i on hold."""
            if i < len(tests):
                branch(t, t.truth(tests[i](f)), lambda: add(i + 1), lambda: None)
                return
            if total[0].__class__ is Conflict:
                raise Unsupported(total[0].reason, site)
            value = element(f)
            STATE.site = site
            total[0] = binary(OPERATORS.add, total[0], value)

        def iteration(item: Any) -> None:
            put(f, item)
            add()

        items = sequence(iterable(f))
        STATE.site = site
        depth = len(t.roots)
        t.roots.append(total)
        code = [clause.target, clause.tests, node.element]
        Looping(t, f, node, code, iteration, places=((total, 0),)).over(items)
        del t.roots[depth:]
        for slot in own:
            f[slot] = UNSET
        return total[0]

    return run
