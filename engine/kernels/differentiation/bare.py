"""Cotangents of bare floats, which are bare whatever these meet: float64, though a term comes from a float32.

A bare number has no dtype, so neither has its cotangent. What reaches it is added up in float64, and rounded once, if at all,
where the derivative is handed back (docs/semantics.md).
"""

from __future__ import annotations

from .. import ir
from ..inputs import SOME
from ..ir import FLOAT, Array, Stmt
from ..passes.widths import SINGLE, Levels, Precision
from ..symbols.symbol import NUMBERS, Sym
from .products import fresh

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from ..symbols.build import Builder

    Origin = dict[Any, Any]


class AsTheyCome:
    """Cotangents of a kernel whose floats are all alike."""

    def given(self, builder: Builder, origin: Origin, c: Any, x: Any, index: Any = None) -> Any:
        """What reaches `x`, or an element of it, as wide as that; `origin` says where renamed variables come from."""
        return c

    def inside(self, block: list[Stmt], known: Iterable[tuple[Any, Any]], origin: Origin) -> AsTheyCome:
        """The same for statements that come to be on the way, in which some variables are what others are here."""
        return self


class Asked(AsTheyCome):
    """Those of a derivative inside a program, of which is told in the end what is a float32 (`Levels.named`)."""

    def given(self, builder: Builder, origin: Origin, c: Any, x: Any, index: Any = None) -> Any:
        if c.__class__ in NUMBERS:
            return c
        like = builder.load(x, index) if x.__class__ is Array else Sym(builder, x)
        return fresh(builder, "as_wide", (c, like), FLOAT)


class Known(AsTheyCome):
    """Those of statements of which is known what in them is a float32."""

    def __init__(self, singles: set[Any]) -> None:
        self.singles = singles
        self.changed: list[ir.Set] = []

    def given(self, builder: Builder, origin: Origin, c: Any, x: Any, index: Any = None) -> Any:
        if c.__class__ in NUMBERS:
            return c
        found = fresh(builder, "rounded" if origin.get(x, x) in self.singles else "to_double", (c,), FLOAT)
        self.changed.append(builder.block[-1])  # type: ignore[arg-type]
        return found

    def inside(self, block: list[Stmt], known: Iterable[tuple[Any, Any]], origin: Origin) -> AsTheyCome:
        precision = Precision(SOME, set(), [], [])
        precision.known = {x for x, like in known if origin.get(like, like) in self.singles}
        found = Known(Levels(ir.Kernel([], block, []), precision).singles())
        found.changed = self.changed
        return found

    def settle(self, kernel: ir.Kernel, precision: Precision) -> None:
        """Leave alone, in the kernel that came of it, what is as wide already."""
        levels = Levels(kernel, precision)
        for s in self.changed:
            if (levels.of(s.args[0]) == SINGLE) == (s.op == "rounded"):
                s.op = "copy"
