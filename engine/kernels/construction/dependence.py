"""Kernels that tell which elements of a gradient depend on which inputs.

The transformation is that of tangents (tangent.py) with every partial taken as 1: beside each float stands a number
that is above zero if it may change with a seed's input, and 0 if it cannot. Sums of such numbers are above zero again,
so that what accumulators, heads and logs do with tangents is right for them as well. What the numbers of the program
are worked out for is the path that it takes; the rest is dead code.
"""

from __future__ import annotations

from ...autodiff.curvature import steps
from ...ops.registry import ROWS
from .. import ir
from ..differentiation.activity import dependencies, reach
from ..differentiation.adjoint import adjoint
from ..differentiation.products import chosen, fresh
from ..differentiation.tangent import Tangent
from ..ir import BOOL, FLOAT, Array, Unsupported, Var
from ..passes.statements import everything
from ..passes.widths import WIDTHS
from ..symbols.regions import dissolved
from ..symbols.symbol import Sym
from .derivatives import scalar_result

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ...core.operation import Operation
    from ..built import Built
    from .construct import Lowered


class Dependence(Tangent):
    """Tangents that are above zero where they may differ from it."""

    def __init__(self, kernel: ir.Kernel, seeds: dict[Any, Any], lanes: int, program: list[ir.Stmt]) -> None:
        super().__init__(kernel, seeds, lanes)
        # What the rules say about the path: factors that the program does not have of its own.
        self.choices = reach(dependencies(kernel, every=True), seeds) - self.varied
        self.choices -= {s.var for s in everything(program) if isinstance(s, ir.Set | ir.Load)}

    def tangents(self, s: ir.Set) -> list[Any]:
        if s.op in ("zero", "copy", "to_float", "where_select", "unsure", "inert") or s.op in WIDTHS:
            return super().tangents(s)
        if s.op in ("strong_multiply", "sloped"):
            moving = [(s.args[0], self.choice(s.args[1])), (s.args[1], None)]
        elif s.op == "multiply":
            moving = [(s.args[0], self.choice(s.args[1])), (s.args[1], self.choice(s.args[0]))]
        else:
            row = ROWS[s.op]
            if row.derivative != "partials":
                raise Unsupported(f"the derivative of {row.name}")
            symbols = tuple(Sym(self.builder, a) if a.__class__ is Var else a for a in s.args)
            pieces = steps(row) if any(map(self.has, s.args)) else ()
            moving = [
                (x, self.piece(row, k, s, symbols) if k in pieces else None)
                for k, (x, p) in enumerate(zip(s.args, row.partials))
                if p is not None and not (p.__class__ is int and p == 0)
            ]
        totals: list[Any] = [None] * self.lanes
        for x, piece in moving:
            if self.has(x):
                totals = [self.sum(total, self.unless_zero(piece, t)) for total, t in zip(totals, self.of(x))]
        return [0.0 if total is None else total for total in totals]

    def piece(self, row: Operation, k: int, s: ir.Set, symbols: tuple[Any, ...]) -> Any:
        """A partial that is constant piece by piece, with what is chosen where pieces meet."""
        p = row.partials[k](Sym(self.builder, s.var), *symbols, **(s.attributes or {}))
        for spot in row.singular:
            if spot.input == k:
                p = chosen(self.builder, spot, spot.where(*symbols), p, symbols, False)
        return p

    def choice(self, p: Any) -> Any:
        """A factor that depends on the seeds by what is chosen alone; else None."""
        return Sym(self.builder, p) if p in self.choices else None

    def unless_zero(self, piece: Any, t: Any) -> Any:
        if piece is None:
            return t
        if piece.__class__ is not Sym:
            return t if piece else 0.0
        taken = self.builder.emit("not_equal", (piece, 0.0), BOOL)
        return fresh(self.builder, "where_select", (taken, t, 0.0), FLOAT)


def dependence(lowered: Lowered, lanes: int) -> Built:
    """For each source, in an array of its size times `lanes`, what its gradient depends on; the seeds of the sources, of
    the same shape, are further parameters."""
    result = scalar_result(lowered)
    targets = list(lowered.targets.values())
    kernel, _ = adjoint(lowered.kernel, result, targets, True, lowered.builder.watch, precision=lowered.precision)
    # The statements of a row read all that its results depend on.
    kernel = ir.Kernel(kernel.parameters, dissolved(kernel.body), kernel.results)
    seeds = {x: Array(FLOAT, (x.size if x.__class__ is Array else 1, lanes), "da", "input") for x in targets}
    single = {x: [Var(FLOAT, "d") for _ in range(lanes)] for x in targets if x.__class__ is Var}
    follow = Dependence(kernel, {**seeds, **single}, lanes, lowered.kernel.body)
    body: list[ir.Stmt] = [
        ir.Load(var, seeds[x], lane) for x, variables in single.items() for lane, var in enumerate(variables)
    ]
    body += follow.run(kernel.body)
    results: list[Any] = []
    for bar in kernel.results[1 : 1 + len(targets)]:
        if bar.__class__ is Array and follow.has(bar):
            results.append(follow.dots[bar])
            continue
        found = Array(FLOAT, (bar.size if bar.__class__ is Array else 1, lanes), "da")
        body.append(ir.Alloc(found, True))
        if follow.has(bar):
            body += [ir.Store(found, lane, t) for lane, t in enumerate(follow.of(bar))]
        results.append(found)
    return lowered.built(ir.Kernel([*kernel.parameters, *seeds.values()], body, results), [], result)


__all__ = ["dependence"]
