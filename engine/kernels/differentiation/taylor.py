"""Forward mode of one order after another: only what the order before has brought is differentiated again.

A tangent of a tangent of x is a tangent of what stands beside x already, so beside each number stand its derivatives of
order 0, 1, 2 ... once each, as in Taylor mode (Griewank and Walther, Evaluating Derivatives, 2008, chapter 13), and not the
2^k mixed ones of tangents that are nested. Equal products are found by value numbering, so that of the 2^k terms of Leibniz's
rule the k + 1 different ones are left.
"""

from __future__ import annotations

from .. import ir
from ..ir import FLOAT, Stmt, Var
from ..passes.dead_code import live
from ..passes.statements import everything
from ..symbols.symbol import Sym, raw
from .tangent import Tangent

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

ORDERLESS = frozenset(("add", "multiply"))


class Taylor(Tangent):
    """The statements of a kernel with the derivatives of one order more; `before` has brought those of the last one.

    `results` are the kernel's of every order so far: what leads to none of them has no tangents.
    """

    def __init__(
        self, parameters: list[Any], body: list[Stmt], source: Var, results: list[Any], before: Taylor | None = None
    ) -> None:
        kernel = ir.Kernel(parameters, body, results)
        super().__init__(kernel, {source: [1.0]}, 1, True)
        self.varied &= live(kernel, False, set())
        # Variables by age, which says how a sum or product of two is written.
        self.ages: dict[Var, int] = {}
        self.given = [s for s in everything(body) if not s.blocks]
        self.joined = [var for s in everything(body) for var in joined(s)]
        if before is not None:
            self.dots, self.marks = {**before.dots, source: [1.0]}, dict(before.marks)
            self.settled = {*before.settled, *before.given, *before.joined}

    def block(self, block: list[Stmt]) -> None:
        # Numbers' derivatives of an order need those of lower orders of one another, so they come after all these.
        waiting: list[ir.Set] = []
        for s in block:
            if s.__class__ is ir.Set and self.stays(s):
                self.computed(s)
                if s not in self.settled:
                    waiting.append(s)
            elif s in self.settled:
                self.builder.append(s)
            else:
                self.catch_up(waiting)
                super().block([s])
        self.catch_up(waiting)

    def catch_up(self, waiting: list[ir.Set]) -> None:
        for s in waiting:
            self.differentiated(s)
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


def joined(s: Any) -> list[Any]:
    """The variables of a loop or branch."""
    if s.__class__ is ir.Loop:
        return [phi for phi, _, _ in s.carried]
    if s.__class__ is ir.ReverseLoop:
        return [phi for phi, _ in s.restore]
    return [var for var, _, _ in s.merges] if s.__class__ is ir.If else []
