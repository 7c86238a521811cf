"""Operands as they were when they were evaluated, though what is evaluated after them changes arrays in place.

Tensors are values: `a + g()` adds to what `a` was before g ran. An array that a loop changes in place is read where an
operation takes it, and most often nothing comes in between. Where something does, a copy is made before it.
"""

from __future__ import annotations

from .. import ir
from .pairs import Pair
from .symbol import Lazy
from .values import Selected

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .build import Builder


class Moment:
    """A moment of the evaluation: operands evaluated until then can be had `as_then`."""

    __slots__ = ("block", "builder", "last", "overwritten")

    def __init__(self, builder: Builder) -> None:
        self.builder = builder
        self.block = builder.block
        self.last = builder.block[-1] if builder.block else None
        self.overwritten = builder.overwritten

    def as_then(self, x: Any) -> Any:
        """An operand as it was then."""
        if self.builder.overwritten == self.overwritten:
            return x
        cls = x.__class__
        if cls is Selected:
            return Selected(self.as_then(x.rows), self.as_then(x.keep), x.key, x.places, x.bounds)
        if cls is Pair:
            return Pair(self.builder, self.as_then(x.re), self.as_then(x.im))
        if cls is not Lazy or x.known is not None or (x.stored is not None and not x.volatile):
            return x
        return self.copied(x)

    def copied(self, x: Lazy) -> Lazy:
        """An array in memory of its own, written before what came after this moment."""
        builder, block = self.builder, self.block
        # What has been computed since then is not known there.
        since, builder.memos[-1] = builder.memos[-1], {}
        made: list[Lazy] = []
        try:
            statements, _ = builder.nested(lambda: made.append(builder.materialised(x)))
        finally:
            builder.memos[-1] = since
        found = made[0]
        found.interval, found.strong = x.interval, x.strong
        place = self.position()
        block[place:place] = statements
        return found

    def position(self) -> int:
        """How many statements of the block stood there then."""
        if self.last is None:
            # Constants of the kernel have come before the first one.
            return next((k for k, s in enumerate(self.block) if s.__class__ is not ir.Constant), len(self.block))
        for k in range(len(self.block), 0, -1):
            if self.block[k - 1] is self.last:
                return k
        raise ir.Unsupported("an operand that is changed in place before it is used")
