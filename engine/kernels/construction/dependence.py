"""Kernels that tell which elements of a gradient depend on which inputs.

The transformation is that of tangents (tangent.py) with every partial taken as 1: beside each float stands a number
that is above zero if it may change with a seed's input, and 0 if it cannot. Sums of such numbers are above zero again,
so that what accumulators, heads and logs do with tangents is right for them as well. What the numbers of the program
are worked out for is the path that it takes; the rest is dead code.
"""

from __future__ import annotations

from ...ops.registry import ROWS
from .. import ir
from ..differentiation.adjoint import adjoint
from ..differentiation.tangent import Tangent
from ..ir import FLOAT, Array, Unsupported, Var
from ..symbols.regions import dissolved
from .derivatives import scalar_result

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..built import Built
    from .construct import Lowered


class Dependence(Tangent):
    """Tangents that are above zero where they may differ from it."""

    def tangents(self, s: ir.Set) -> list[Any]:
        if s.op in ("zero", "copy", "to_float", "to_single", "where_select"):
            return super().tangents(s)
        if s.op in ("strong_multiply", "sloped"):
            moving = s.args[:2]
        else:
            row = ROWS[s.op]
            if row.derivative != "partials":
                raise Unsupported(f"the derivative of {row.name}")
            moving = tuple(
                [x for x, p in zip(s.args, row.partials) if p is not None and not (p.__class__ is int and p == 0)]
            )
        totals: list[Any] = [None] * self.lanes
        for x in moving:
            if self.has(x):
                totals = [self.sum(total, t) for total, t in zip(totals, self.of(x))]
        return [0.0 if total is None else total for total in totals]


def dependence(lowered: Lowered, lanes: int) -> Built:
    """For each source, in an array of its size times `lanes`, what its gradient depends on; the seeds of the sources, of
    the same shape, are further parameters."""
    result = scalar_result(lowered)
    targets = list(lowered.targets.values())
    kernel, _ = adjoint(lowered.kernel, result, targets, True, lowered.builder.watch)
    # The statements of a row read all that its results depend on.
    kernel = ir.Kernel(kernel.parameters, dissolved(kernel.body), kernel.results)
    seeds = {x: Array(FLOAT, (x.size if x.__class__ is Array else 1, lanes), "da", "input") for x in targets}
    single = {x: [Var(FLOAT, "d") for _ in range(lanes)] for x in targets if x.__class__ is Var}
    follow = Dependence(kernel, {**seeds, **single}, lanes)
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
