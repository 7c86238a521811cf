"""Guarded specialisation to sizes that data decides, where they must be known: `sort(x[x > 0])`, `ones(int(t))`, `arange(a, b,
0.1)`.

A kernel can be made for the sizes of one evaluation. It looks whether they are the same each time, and is left where they
are not; a kernel for others is made then. How long something is, is found by a kernel of its own, which computes that and
nothing more: it ends where the first size that is not known is asked for.
"""

from __future__ import annotations

from math import prod

from ...core.dtypes import INT64
from ...core.state import STATE
from ...core.tensor import Tensor
from ...ops.registry import NAMES, ROWS
from .. import ir
from ..ir import BOOL, INT, Unsupported, Var
from ..symbols.arrays import constant_array, get, known_integers, lazy, view
from ..symbols.build import Builder
from ..symbols.strength import bare, is_strong, own
from ..symbols.symbol import Lazy, Sym, raw
from ..symbols.values import List, Selected
from .sliced import bounded, extent

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ...core.operation import Operation

# So many integers may be known together.
MOST_INTEGERS = 4_096


class Unknown(Exception):
    """The next size is not known: that of `value`, a number or an array of integers."""

    def __init__(self, value: Any, why: str) -> None:
        self.value = value
        self.why = why
        self.site = STATE.site
        # What computes it, and the inputs by name.
        self.kernel: ir.Kernel | None = None
        self.inputs: dict[str, Any] = {}


class Sizes:
    """What is known of the sizes that a program asks for, in the order in which it does; None where none may be asked for.

    `asked` says whether something was met for which that would help.
    """

    def __init__(self, known: tuple[Any, ...] | None) -> None:
        self.known = known
        self.asked = False
        self.builder: Any = None
        self.count = 0
        # The sizes by the symbols, and the places by the selections, that were asked for before.
        self.found: dict[Any, Any] = {}

    def begin(self, builder: Builder) -> None:
        """Begin anew, with the builder of another attempt."""
        self.builder = builder
        self.count = 0
        self.found = {}

    def may_ask(self) -> bool:
        self.asked = True
        return self.known is not None

    def next(self, value: Any, why: str) -> tuple[int, Any]:
        """The number of the next size, and the size. Raises Unknown where it is not there."""
        assert self.known is not None
        number = self.count
        if number >= len(self.known):
            raise Unknown(value, why)
        self.count += 1
        return number, self.known[number]

    def number(self, x: Any, why: str) -> int | None:
        """An integer that data decides; None where it may not be asked for, as inside a loop."""
        if x.__class__ is not Sym or x.kind != INT or not self.may_ask():
            return None
        builder = self.builder
        if is_strong(builder, x):
            x = bare(builder, x)
        if x.var not in self.found:
            if not stands_at_root(builder, x.var):
                return None
            self.found[x.var] = self.next(x, why)
        number, size = self.found[x.var]
        if size.__class__ is not int:
            raise Unsupported(why)
        # What stands in a branch, or is undone, checks nothing elsewhere: it is remembered as far as values are shared.
        checked = ("size", x.var)
        if not any(checked in memo for memo in builder.memos):
            builder.append(ir.Check(x.var, size, size + 1, STATE.site, ("another_size", number)))
            builder.memos[-1][checked] = x
        return size

    def integers(self, x: Any, why: str) -> Lazy | None:
        """An array of integers that data decides, as one that is known; None where it may not be asked for."""
        if x.__class__ is not Lazy or x.kind != INT or prod(x.shape) > MOST_INTEGERS or not self.may_ask():
            return None
        builder = self.builder
        if builder.block is not builder.root or builder.mode or 0 in x.shape:
            return None
        x = builder.settle(x)
        x = x if x.stored is not None and x.stored.role == "local" else builder.materialised(x)
        number, values = self.next(x, why)
        if values.__class__ is not tuple or len(values) != prod(x.shape):
            raise Unsupported(why)
        import numpy as np

        strong = x.strong or x.stored in builder.strong
        known = constant_array(builder, np.array(values, dtype=np.int64).reshape(x.shape))
        site = STATE.site

        def check(at: tuple[Any, ...]) -> None:
            differ = builder.apply(NAMES["not_equal"], (read(at), known.element(at)), None)
            if differ.__class__ is Sym:
                builder.append(ir.Check(raw(differ), 0, 1, site, ("other_sizes", number)))

        def read(at: tuple[Any, ...]) -> Any:
            return builder.load(x.stored, builder.flat(at, x.shape))

        builder.aside(lambda: builder.each(x.shape, check))
        known.known = Tensor(np.array(values, dtype=np.int64).reshape(x.shape), INT64)
        return own(builder, known) if strong else known

    def places_known(self, xs: Any) -> Any:
        """Arrays of places as they are known, where that may be asked for."""
        if xs.__class__ is List and xs.items is not None:
            xs = xs.items
        if xs.__class__ not in (list, tuple):
            return xs
        found = []
        for x in xs:
            known = None if x.__class__ is not Lazy or x.known is not None else self.integers(x, "places of a stitch")
            found.append(x if known is None or known.known is None else known.known)
        return found

    def settled(self, x: Any) -> Any:
        """A value with the parts in it, whose lengths data decides, as tensors of the lengths that they have."""
        if x.__class__ is Selected:
            return self.whole(x)
        if x.__class__ is tuple:
            return tuple(self.settled(item) for item in x)
        if x.__class__ is List and x.items is not None and any(item.__class__ is Selected for item in x.items):
            return List([self.settled(item) for item in x.items])
        return x

    def whole(self, part: Selected) -> Any:
        """A part as a tensor; as it is, where how long it is may not be asked for."""
        if not self.may_ask():
            return part
        builder = self.builder
        places = self.found.get(part.key)
        if places is None:
            places = builder.aside(lambda: self.places(part))
            if places is None:
                return part
            self.found[part.key] = places
        found = builder.indexed(part.rows, lambda: get(builder, part.rows, places))
        if found.__class__ is Lazy:
            found.interval = part.rows.interval
        return found

    def places(self, part: Selected) -> Lazy | None:
        """At which rows a part is."""
        builder, why = self.builder, "a part of a tensor whose length depends on data"
        n = part.keep.shape[0]
        if part.bounds is not None:
            start, stop = part.bounds
            count = self.known_count(extent(builder, start, stop), why)
            return None if count is None else self.window(start, count, n)
        from .selected import length

        count = self.known_count(length(builder, part), why)
        if not count:
            return nowhere(builder) if count == 0 else None
        words = builder.arrays
        found = words.changing((count,), INT, zero=True)

        def step(i: Any, place: Any) -> tuple[Any, ...]:
            here = part.keep.element((i,))
            at = words.bound(builder.apply(NAMES["minimum"], (place, count - 1), None), count - 1)
            words.when(here, lambda: words.put(found, (at,), i))
            return (builder.integer("add", place, builder.to_int(here)),)

        words.fold(n, (0,), step, within=(0, n))
        found.interval = (0, n - 1)
        rows: Lazy = found
        return rows

    def known_count(self, x: Any, why: str) -> int | None:
        return x if x.__class__ is int else self.number(x, why)

    def window(self, start: Any, count: int, n: int) -> Lazy:
        """So many places from one on, along an axis of length `n`."""
        builder = self.builder
        if not count:
            return nowhere(builder)
        first = start
        if start.__class__ is Sym:
            # The bounds leave room for as many.
            first = Sym(builder, Var(INT))
            builder.ranges[first.var] = (0, n - count)
            builder.append(ir.Set(first.var, "copy", (start.var,), None, None))
        found = view(builder, INT, (count,), lambda at: builder.integer("add", first, at[0]))
        found.interval = (0, n - 1)
        return found

    def sliced(self, x: Lazy, axis: int, index: slice) -> Any:
        """`x[..., start:stop]` along an axis; None where how long that is may not be asked for."""
        if not self.may_ask() or any(b.__class__ is Sym and b.kind != INT for b in (index.start, index.stop)):
            return None
        builder, n = self.builder, x.shape[axis]
        index = slice(builder.counted_index(index.start), builder.counted_index(index.stop))
        if any(bound.__class__ is Sym and bound.kind != INT for bound in (index.start, index.stop)):
            return None
        why = "a slice whose bounds depend on data"

        def places() -> Lazy | None:
            start, stop = bounded(builder, index.start, 0, n), bounded(builder, index.stop, n, n)
            count = self.known_count(extent(builder, start, stop), why)
            return None if count is None else self.window(start, count, n)

        found = builder.aside(places)
        if found is None:
            return None
        at = (*(slice(None) for _ in range(axis)), found)
        return builder.indexed(x, lambda: get(builder, x, at))

    def masked(self, x: Any, mask: Any, axis: Any) -> Any:
        """`boolean_mask` with a mask of one axis that is not the first; None where how long that is may not be asked for."""
        one = x.__class__ is Lazy and mask.__class__ is Lazy and len(mask.shape) == 1 and mask.kind == BOOL
        if not one or axis.__class__ is not int or not self.may_ask() or x.shape[axis] != mask.shape[0]:
            return None
        places = self.settled(self.builder.apply(NAMES["flatnonzero"], (mask,), {}))
        at = (*(slice(None) for _ in range(axis % len(x.shape))), places)
        return None if places.__class__ is Selected else self.builder.indexed(x, lambda: get(self.builder, x, at))

    def finished(self, result: Any) -> Any:
        """A result with the lists in it, whose lengths data decides, as long as they are."""
        if result.__class__ is tuple:
            return tuple(map(self.finished, result))
        if result.__class__ is dict:
            return {key: self.finished(x) for key, x in result.items()}
        if result.__class__ is List and result.items is not None:
            for k, x in enumerate(result.items):
                result.items[k] = self.finished(x)
        elif result.__class__ is List and result.length.__class__ is Sym:
            why = "a list, tuple or dict as the result that holds what is no number and no tensor"
            count = self.number(result.length, why)
            if count is None:
                raise Unsupported(why)
            result.length = count
        return result

    def ramp(self, op: Operation, inputs: tuple[Any, ...], dtype: Any) -> Any:
        """`arange` between bounds that data decides; None where how many numbers that are may not be asked for."""
        if not self.may_ask() or any(x.__class__ is Lazy and x.shape for x in inputs):
            return None
        builder = self.builder
        start, stop, step = (x if x is None else lazy(builder, x).element(()) for x in inputs)
        if stop is None:
            start, stop = 0, start
        builder.take_for_float(stop)

        def points() -> Any:
            count = builder.apply(NAMES["divide"], (builder.apply(NAMES["subtract"], (stop, start), None), step), None)
            count = builder.apply(NAMES["ceil"], (count,), None)
            if count.__class__ is not Sym:
                return int(count)
            finite = builder.apply(NAMES["isfinite"], (count,), None)
            builder.append(ir.Check(raw(finite), 1, 2, STATE.site))
            return builder.emit("to_int", (count,), INT)

        count = self.known_count(builder.aside(points), f"{op.name} with bounds that depend on data")
        if count is None:
            return None
        still = builder.apply(NAMES["stop_gradient"], (stop,), {}) if stop.__class__ is Sym else stop
        zero = builder.apply(NAMES["multiply"], (still, 0), None) if still.__class__ is Sym else still * 0
        first, width = (builder.apply(NAMES["add"], (x, zero), None) for x in (start, step))
        if max(count, 0) == 0:
            return None
        found = builder.apply(ROWS["ramp"], (first, width), {"num": count})
        return found if dtype is None else builder.apply(NAMES["cast"], (found,), {"dtype": dtype})


def nowhere(builder: Builder) -> Lazy:
    """No places."""
    import numpy as np

    return known_integers(builder, np.zeros(0, dtype=np.int64))


def stands_at_root(builder: Builder, x: Var) -> bool:
    """Whether a variable is set outside all loops and branches: whatever else is done, it is known then."""
    if builder.block is builder.root or x in builder.inputs:
        return True
    for s in builder.root:
        if getattr(s, "var", None) is x:
            return True
        if s.__class__ is ir.If and any(x is var for var, _, _ in s.merges):
            return True
        if s.__class__ is ir.Loop and (s.trips is x or any(x is phi for phi, _, _ in s.carried)):
            return True
    return False


__all__ = ["Sizes", "Unknown"]
