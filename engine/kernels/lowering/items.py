"""Values of several parts on symbols: items and slices of them, and lists, tuples and dicts made of others."""

from __future__ import annotations

from ...core.state import STATE
from ...program import core as c
from .. import ir
from ..ir import BOOL, INT, Needed, Tabled, Unsupported, Var
from ..symbols.arrays import Window, array_of_list, get, note_integers
from ..symbols.build import Builder
from ..symbols.operands import Moment
from ..symbols.pairs import Pair, by_parts
from ..symbols.symbol import NUMBERS, Lazy, Sym
from ..symbols.values import (
    Each,
    Frame,
    Grid,
    Letter,
    List,
    Range,
    Records,
    Selected,
    plain,
    read,
    static_index,
)
from .printing import Text
from .sizes import Sizes
from .sliced import is_open, opened, part

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


# Lists are written out up to this length.
MAX_ITEMS = 256
# A slice whose length is not known looks at each place of its axis: along a longer one the tape is the sooner way.
MOST_LOOKED_THROUGH = 20_000


class Items:
    """The part of the specialiser that puts values together and takes them apart."""

    builder: Builder
    sizes: Sizes
    # Whether small lists of lists are arrays too.
    tables: bool

    def expression(self, node: c.Expr, frame: Frame) -> Any:
        raise NotImplementedError

    def folded(self, run: Callable[..., Any], operands: list[Any]) -> Any:
        raise NotImplementedError

    def whole(self, x: Any, why: str) -> Any:
        raise NotImplementedError

    def place_in(self, container: List, index: Any) -> Any:
        raise NotImplementedError

    def needed(self, x: Any, why: str) -> Unsupported:
        raise NotImplementedError

    def each_of(self, value: Any) -> Each:
        raise NotImplementedError

    def item(self, node: c.Item, frame: Frame) -> Any:
        value = self.expression(node.value, frame)
        moment = Moment(self.builder)
        index = self.expression(node.index, frame)
        STATE.site = node.site
        return self.item_of(moment.as_then(value), index)

    def item_of(self, value: Any, index: Any) -> Any:
        value = read(value)
        if value.__class__ is Lazy and self.sizes.known is not None:
            value, index = self.sliced(value, index)
        index = self.builder.counted_index(index) if value.__class__ is Grid else self.known_slices(index, value)
        found = self.part_of(value, index)
        if found is not None:
            return self.sizes.settled(found)
        if value.__class__ is Records:
            from . import records

            return records.item(self, value, index)  # type: ignore[arg-type]
        if value.__class__ is Grid:
            from . import grids

            return grids.item(self, value, index)  # type: ignore[arg-type]
        if value.__class__ is Pair and index.__class__ is Lazy and index.kind == BOOL and self.sizes.may_ask():
            from .selected import by_mask

            return by_parts(value.settled(), lambda part: self.sizes.whole(by_mask(self.builder, part, index)))
        if value.__class__ is Pair and value.shape:
            both = value.settled()
            return self.builder.indexed(
                both, lambda: by_parts(both, lambda part: get(self.builder, part, plain(index)))
            )
        if value.__class__ is Lazy:
            from ...kinds.access import get_item

            known = self.folded(get_item, [value, plain(index)])
            if known is not None:
                return known
            return self.builder.indexed(value, lambda: get(self.builder, value, plain(index)))
        if index.__class__ is slice and index.step.__class__ is int and not index.step:
            raise Unsupported("a slice with a step of 0")
        if value.__class__ is List and value.items is None:
            if index.__class__ is slice and value.length.__class__ is int:
                return List([self.builder.settle(item) for item in self.items(value)[index]])
            return self.builder.settle(get(self.builder, value.array, self.place_in(value, index)))
        if value.__class__ is List and index.__class__ is slice:
            return List(self.items(value)[index])
        if value.__class__ in (List, tuple) and index.__class__ is Sym:
            items = self.items(value)
            what = "a list" if value.__class__ is List else "a tuple"
            if index.kind != INT or any(item.__class__ not in (*NUMBERS, Sym, Lazy) for item in items):
                from .choosing import one_of

                chosen = one_of(self, items, index, what)
                if chosen is None:
                    raise self.indexed_by_data(value, index)
                return chosen
            array = array_of_list(self.builder, list(items), "list")
            if array.stored is not None:
                note_integers(self.builder, array.stored, list(items))
            return get(self.builder, array, index, ("index_in", what, len(items)))
        if value.__class__ is List:
            value = value.items
        if value.__class__ is str and index.__class__ is Sym:
            from .choosing import letter_of

            return letter_of(self, value, index)
        if value.__class__ is dict and index.__class__ in (Sym, Letter, Text):
            from .choosing import value_at

            return value_at(self, value, index)
        if value.__class__ in (list, tuple, dict, Range, str):
            key = static_index(index)
            if value.__class__ in (list, tuple) and key.__class__ not in (int, slice):
                raise Unsupported("an index that is out of range, or no key")
            try:
                return value[key]
            except (IndexError, KeyError, TypeError, ValueError):
                raise Unsupported("an index that is out of range, or no key") from None
        raise Unsupported("this value as an index")

    def indexed_by_data(self, value: Any, index: Sym) -> Unsupported:
        """What is raised for a list of values that are no numbers, at a place that is not known."""
        from .grids import shape_of

        why = self.needed([index], "a list of values of several kinds or shapes, indexed by data")
        table = value.__class__ is List and not self.tables and index.kind == INT and shape_of(value) is not None
        return Tabled(str(why)) if table and why.__class__ is not Needed else why

    def part_of(self, value: Any, index: Any) -> Any:
        """The part of a tensor that a mask selects, or a slice whose length is not known; None for any other index."""
        if value.__class__ is Selected and (
            index.__class__ is int or (index.__class__ in (Sym, Lazy) and index.kind == INT)
        ):
            from .selected import item

            return item(self.builder, value, index)
        if value.__class__ is not Lazy or not value.shape:
            return None
        if index.__class__ is Lazy and index.kind == BOOL and index.known is None and index.shape:
            from .selected import by_mask

            return by_mask(self.builder, value, index)
        places = index if index.__class__ is tuple else (index,)
        if places and all(place.__class__ is Selected for place in places):
            from .selected import taken

            return taken(self.builder, value, places)
        found = opened(self.builder, value, index)
        return None if found is None else part(self.builder, value, *found)

    def sliced(self, value: Lazy, index: Any) -> tuple[Lazy, Any]:
        """A tensor and an index into it, less the slices that data bounds, as far as these can be taken first."""
        items = list(index) if index.__class__ is tuple else [index]
        if any(item is None or item is Ellipsis or item.__class__ in (Lazy, Selected, List, tuple) for item in items):
            return value, index
        for axis, item in enumerate(items):
            if is_open(item) and item.step is None and axis < len(value.shape):
                found = self.sizes.sliced(value, axis, item)
                if found is None:
                    break
                value, items[axis] = found, slice(None)
        return value, tuple(items) if index.__class__ is tuple else items[0]

    def known_slices(self, index: Any, value: Any) -> Any:
        """An index into `value` whose slices have bounds that are known, or at least a length that is; or are bounded by
        data, if `value` is a tensor. What else stands in it are integers."""
        if index.__class__ is not tuple:
            return self.known_slice(index, value, 0)
        plainly = all(item is not None and item is not Ellipsis and item.__class__ is not Lazy for item in index)
        return tuple([self.known_slice(item, value, axis if plainly else None) for axis, item in enumerate(index)])

    def known_slice(self, index: Any, value: Any, axis: int | None) -> Any:
        """The same for what stands in an index; `axis` is its axis, if that is known."""
        if index.__class__ is not slice:
            return index if value.__class__ is dict else self.builder.counted_index(index)
        of_tensor = value.__class__ is Lazy
        if of_tensor and index.step is None and is_open(index) and axis is not None and axis < len(value.shape):
            found = self.window(index.start, index.stop, value.shape[axis])
            if found is not None:
                return found
        try:
            return self.whole(index, "a slice whose bounds depend on data")
        except Needed:
            raise
        except Unsupported:
            if not of_tensor:
                raise
            return index

    def window(self, start: Any, stop: Any, n: int) -> Window | None:
        """What `start:stop` is along an axis of length `n`, where the length is known; None where it is not.

        Bounds outside the axis mean something else (a slice is cut, a negative bound counts from the end): a part of it
        whose length data decides, which the next kernel takes, or the tape.
        """
        builder = self.builder
        if self.sizes.known is not None and n <= MOST_LOOKED_THROUGH:
            return None
        (base, low), (other, high) = self.shifted(start), self.shifted(stop)
        if base is None or base is not other or not 0 <= high - low <= n:
            return None
        length = high - low
        builder.append(ir.Check(start.var, 0, n - length + 1, STATE.site, ("beyond_the_axis",)))
        first = Sym(builder, Var(INT))
        builder.ranges[first.var] = (0, n - length)
        builder.append(ir.Set(first.var, "copy", (start.var,), None, None))
        return Window(first, length)

    def shifted(self, x: Any) -> tuple[Var | None, int]:
        """An integer as a variable and what is added to it."""
        if x.__class__ is not Sym or x.kind != INT:
            return None, 0
        base, more = x.var, 0
        while base in self.builder.made:
            op, args = self.builder.made[base]
            if len(args) != 2:
                break
            a, b = args
            if op in ("add", "int_add") and a.__class__ is int and b.__class__ is Sym:
                a, b = b, a
            if (
                op not in ("add", "int_add", "subtract", "int_subtract")
                or a.__class__ is not Sym
                or b.__class__ is not int
            ):
                break
            base, more = a.var, more + (b if op.endswith("add") else -b)
        return base, more

    def slice_of(self, node: c.SliceOf, frame: Frame) -> slice:
        parts = [None if p is None else self.expression(p, frame) for p in (node.lower, node.upper, node.step)]
        if any(p is not None and p.__class__ not in (int, Sym) for p in parts):
            raise Unsupported("a slice with bounds that are no integers")
        return slice(*parts)

    def make_list(self, node: c.MakeList, frame: Frame) -> Any:
        made = List(self.spread(node.items, frame))
        if self.tables and node.items:
            from . import grids

            return grids.displayed(self, node, made)  # type: ignore[arg-type]
        return made

    def make_tuple(self, node: c.MakeTuple, frame: Frame) -> tuple[Any, ...]:
        return tuple(self.spread(node.items, frame))

    def spread(self, nodes: list[c.Expr], frame: Frame) -> list[Any]:
        found: list[Any] = []
        for n in nodes:
            if n.__class__ is c.Spread:
                found.extend(self.items(self.expression(n.value, frame)))
            else:
                found.append(self.builder.settle(self.expression(n, frame)))
        return found

    def make_dict(self, node: c.MakeDict, frame: Frame) -> dict[Any, Any]:
        return {
            static_index(self.expression(k, frame)): self.builder.settle(self.expression(v, frame))
            for k, v in zip(node.keys, node.values)
        }

    def items(self, value: Any) -> list[Any]:
        """The items of something whose length is known."""
        each = self.each_of(value)
        length = (
            each.length if each.length.__class__ is int else self.sizes.number(each.length, "a list of unknown length")
        )
        if length is not None and length <= MAX_ITEMS:
            return [each.item(i) for i in range(length)]
        if each.length.__class__ is not int:
            raise self.needed([each.length], "a list of as many items as data says")
        raise Unsupported("a list of this many items")
