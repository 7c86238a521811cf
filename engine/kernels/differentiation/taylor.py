"""Forward mode of one order after another: only what the order before has brought is differentiated again.

A tangent of a tangent of x is a tangent of what stands beside x already, so beside each number stand its derivatives of
order 0, 1, 2 ... once each, as in Taylor mode (Griewank and Walther, Evaluating Derivatives, 2008, chapter 13), and not the
2^k mixed ones of tangents that are nested. Equal products are found by value numbering, so that of the 2^k terms of Leibniz's
rule the k + 1 different ones are left.

What has its tangents from a rule that reads it in loops, branches or arrays is the exception: its tangents are made anew for
each order, ahead of those loops, whose tangents want them (`Taylor.anew`).
"""

from __future__ import annotations

from .. import ir
from ..ir import FLOAT, Stmt, Var
from ..passes.statements import everything, mentions
from ..symbols.regions import by_partials, dissolved, moved_by_rule
from ..symbols.symbol import Sym, raw
from .activity import dependencies, reach, reversed_edges
from .tangent import Tangent

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

ORDERLESS = frozenset(("add", "multiply"))


class Taylor(Tangent):
    """The statements of a kernel with the derivatives of one order more; `before` has brought those of the last one.

    `results` are the kernel's of every order so far: what leads to none of them has no tangents.
    """

    def __init__(
        self, parameters: list[Any], body: list[Stmt], source: Var, results: list[Any], before: Taylor | None = None
    ) -> None:
        # What no result needed so far has no tangents of the last order, and may need them for this one.
        self.known = {} if before is None else {x: d for x, d in before.dots.items() if x not in before.anew}
        # What has its derivatives in loops, branches or arrays that read it too: the next order cannot come where these
        # are, before they are done, so it makes them anew, ahead of them.
        self.anew: set[Any] = set()
        super().__init__(ir.Kernel(parameters, body, results), {source: [1.0]}, 1, True)
        # Variables by age, which says how a sum or product of two is written.
        self.ages: dict[Var, int] = {}
        if before is not None:
            self.dots, self.marks = {**self.known, source: [1.0]}, dict(before.marks)
            self.settled = {*self.dots, *self.marks}

    def varying(self, kernel: ir.Kernel, seeds: Iterable[Any]) -> set[Any]:
        """What results lack: what leads to them, back to what has its tangents."""
        edges = dependencies(kernel, steps=False)
        backwards = reversed_edges(edges)
        for s in everything(kernel.body):
            if s.__class__ is ir.Region:
                # A rule gives the tangents of all of its results.
                for x in s.results:
                    backwards.setdefault(x, set()).update(s.results)
        for x in self.known:
            backwards.pop(x, None)
        return reach(edges, {*seeds, *self.known}) & reach(backwards, kernel.results)

    def block(self, block: list[Stmt]) -> None:
        # Numbers' derivatives of an order need those of lower orders of one another, so they come after all these.
        waiting: list[ir.Set] = []
        for s in block:
            if s.__class__ is ir.Set and self.stays(s):
                self.computed(s)
                if s.var not in self.settled:
                    waiting.append(s)
            elif changed(s) in self.settled:
                self.builder.append(s)
            else:
                self.catch_up(waiting)
                begun = len(self.builder.block)
                super().block([s])
                if s.__class__ is ir.Routine:
                    self.anew.add(s.array)
                elif s.__class__ is ir.Region and (moved_by_rule(s) or (s.pairs is not None and by_partials(s))):
                    self.hold(s, begun)
        self.catch_up(waiting)

    def hold(self, s: ir.Region, begun: int) -> None:
        """Keep a row whose rule is asked for the next order too: all but those whose tangents are plain numbers here."""
        block, width = self.builder.block, len(dissolved(s.body))
        if s.results[0] not in self.dots or any(x.__class__ is not ir.Set for x in dissolved(block[begun + width :])):
            block[begun : begun + width] = [s]
            self.untouched.add(s)
            self.anew.update(s.results)

    def catch_up(self, waiting: list[ir.Set]) -> None:
        for s in waiting:
            begun = len(self.builder.block)
            self.differentiated(s)
            made = [x for x in self.builder.block[begun:] if x.blocks]
            if any(x.blocks and mentions(x, s.var) for x in dissolved(made)):
                self.anew.add(s.var)
        waiting.clear()

    def give(self, x: Var, shared: bool, tangents: Callable[[], list[Any]]) -> None:
        if not shared or x in self.dots:
            super().give(x, shared, tangents)
        else:
            self.dots[x] = [raw(t) for t in tangents()]  # by the names that they have: equal ones are found to be

    def made(self, op: str, args: tuple[Any, ...]) -> Any:
        if op in ORDERLESS:
            args = tuple(sorted(args, key=self.age))
        return self.builder.emit(op, tuple(Sym(self.builder, a) if a.__class__ is Var else a for a in args), FLOAT)

    def age(self, x: Any) -> int:
        x = raw(x)
        return self.ages.setdefault(x, len(self.ages)) if x.__class__ is Var else -1


def changed(s: Any) -> Any:
    """The variable or array that a statement sets or changes, if it is one."""
    return getattr(s, "array", None) if hasattr(s, "array") and s.__class__ is not ir.Load else getattr(s, "var", None)
