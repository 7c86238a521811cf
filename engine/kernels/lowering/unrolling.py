"""Full unrolling: loops over items of several kinds, and short ones whose counter must be known in the body.

Such a counter is a size, a shift, a key of a dict, a place in a list of lists: in a loop that stays one it is a symbol,
and what needs its value is Unsupported. What was tried is undone, and the iterations are written one after the other.
"""

from __future__ import annotations

from ..ir import Needed, Signed, Tabled, TooLarge, Unsupported
from ..symbols.values import CONTINUE, MAX_UNROLL, Each, Frame, Mismatch
from .carried import Carrying, Roomless
from .heap import Heap
from .records import Alike

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

# So many statements at most are written for a loop that no kernel could keep as one.
MOST_WRITTEN = 4_000
# And so many where the loop can stay one: if a small list of lists is an array, and if what a list's items are is not known.
# It is compiled in a tenth of the time.
FEW_WRITTEN = 400
# So many for the items of a list of numbers, or of tuples of numbers, which may be a loop too.
MANY_WRITTEN = 1_000


class Lengthy(Unsupported):
    """An iteration that is one of too many of its length."""


class WrittenOut(Carrying):
    """The part of the specialiser that writes iterations one after the other."""

    # Whether short loops are written out in any case, and whether they may be where lists of lists could be arrays.
    written: bool
    at_length: bool
    # Why loops were not written out in which lists grow, since that would be too many statements; None if they are to be.
    spared: list[Unsupported] | None

    def one_by_one(
        self, each: Each, k: int, frame: Frame, receive: Callable[[Any], None], run: Callable[[], None],
        loop: Callable[[int], bool] | None = None,
    ) -> None:  # fmt: skip
        """A loop item by item from position `k` on, while there are any; `loop` may go through all of them, or all but the
        first, or do the first."""
        while k < each.present():
            frame[CONTINUE] = False
            if loop is not None and k < 2 and loop(k):
                return
            if loop is None or k > 0:
                receive(each.item(k))
                run()
            frame[CONTINUE] = False
            stopped = self.stopped(frame)
            k += 1
            if stopped is not False:
                if stopped is not True and k < each.present():
                    self.guarded(stopped, frame, lambda k=k: self.one_by_one(each, k, frame, receive, run, loop))  # type: ignore[misc]
                return

    def unrolled(
        self, items: list[Any], frame: Frame, receive: Callable[[Any], None], run: Callable[[], None],
        rest: Callable[[], None] | None = None,
    ) -> None:  # fmt: skip
        """A loop iteration by iteration, and then the rest of it."""
        for k, item in enumerate(items):
            frame[CONTINUE] = False
            receive(item)
            run()
            frame[CONTINUE] = False
            stopped = self.stopped(frame)
            if stopped is True:
                return
            if stopped is not False:
                others = items[k + 1 :]
                if others or rest is not None:
                    self.guarded(stopped, frame, lambda others=others: self.unrolled(others, frame, receive, run, rest))  # type: ignore[misc]
                return
        if rest is not None:
            rest()

    def known_ones(
        self, test: Callable[[], Any], frame: Frame, run: Callable[[], None], why: Unsupported, most: int
    ) -> None:
        """Run a body, whose condition holds now, iteration by iteration while it is known to hold (`while stack:`).

        Raises `why`.
        """

        def rest() -> None:
            condition = test()
            if condition is False:
                return
            if condition is not True or not most:
                raise why
            self.known_ones(test, frame, run, why, most - 1)

        self.unrolled([None], frame, lambda item: None, run, rest)

    def short(
        self, positions: range, why: Unsupported, frame: Frame, receive: Callable[[Any], None], run: Callable[[], None]
    ) -> None:
        """A loop over a range of which `why` says that it cannot stay one. Raises `why`."""
        if len(positions) > MAX_UNROLL:
            raise why
        self.limited(why, lambda: self.unrolled(list(positions), frame, receive, run))

    def short_while(self, test: Callable[[], Any], frame: Frame, run: Callable[[], None], why: Unsupported) -> None:
        """The same for a loop whose condition holds now, and is known for every iteration. Raises `why`."""
        self.limited(why, lambda: self.known_ones(test, frame, run, why, MAX_UNROLL))

    def limited(self, why: Unsupported, run: Callable[[], None]) -> None:
        """Write iterations, as long as they are not too many statements. Raises `why` where they cannot be written.

        Iterations that change what they carry have always been written out: what is wrong in those is said as it is. But
        where lists grow that could do so in a loop, too many statements are a reason to have that.
        """
        builder = self.builder
        growing = isinstance(why, Roomless | Alike) and self.spared is not None
        if isinstance(why, Mismatch) and not growing:
            run()
            return
        few = growing or (why.__class__ is Tabled and not self.at_length)
        most, builder.most = builder.most, min(builder.most, builder.size + (FEW_WRITTEN if few else MOST_WRITTEN))
        try:
            run()
        except (Needed, Signed):
            raise
        except Unsupported as found:
            if growing and found.__class__ is not TooLarge:
                raise
            if growing:
                self.spared.append(why)  # type: ignore[union-attr]
            raise why from None
        finally:
            builder.most = most

    def tried(self, run: Callable[[], None]) -> Unsupported | None:
        """Run something, or leave everything as it was and say what was not possible.

        Raises what is to be mended elsewhere: Needed, Signed and TooLarge.
        """
        builder = self.builder
        heap = Heap(self.frames)
        mark, dynamic = builder.mark(), self.dynamic
        try:
            run()
        except (Needed, Signed, TooLarge):
            raise
        except Unsupported as why:
            heap.restore()
            builder.undo(mark)
            self.dynamic = dynamic
            return why
        return None
