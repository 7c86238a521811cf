"""What assignments put where: names, items of lists, dicts and grids, elements of tensors; lists that grow."""

from __future__ import annotations

from ...core.state import STATE
from ...program import core as c
from .. import ir
from ..ir import BOOL, FLOAT, INT, Array, Unsupported
from ..symbols.arrays import get, lazy, rows_of_list, view, wrapped
from ..symbols.build import Builder
from ..symbols.following import Linked
from ..symbols.operands import Moment
from ..symbols.pairs import Pair, has_complex, meeting, pair_of
from ..symbols.strength import is_strong
from ..symbols.symbol import Lazy, Sym, kind_of, pick, raw
from ..symbols.values import PARENT, Frame, Grid, Letter, List, Records, plain, read, static_index
from . import grids, records, sliced
from .printing import Text
from .sequences import Sequences
from .sliced import opened

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Assigning(Sequences):
    """The part of the specialiser that changes what names and items are."""

    new: tuple[List, ...]  # the lists that are being assigned, if nothing else refers to them

    def put(self, target: c.Target, value: Any, frame: Frame) -> None:
        if target.__class__ is c.Store:
            for _ in range(target.depth):
                frame = frame[PARENT]
            old = frame.get(target.slot)
            if old.__class__ is Lazy and old.volatile:
                self.replace(old, value)
                return
            # An array that a loop changes in place is what it is now, under its new name.
            frame[target.slot] = self.builder.settle(value)
        elif target.__class__ is c.Unpack:
            items = self.items(value)
            count, star = len(target.targets), target.star
            if len(items) < count - 1 if star is not None else len(items) != count:
                raise Unsupported("an unpacking of another number of values")
            if star is not None:
                end = len(items) - (count - star - 1)
                items = [*items[:star], List(items[star:end]), *items[end:]]
            for each, item in zip(target.targets, items):
                self.put(each, item, frame)
        else:
            assert target.__class__ is c.StoreItem
            container = self.expression(target.container, frame)
            moment = Moment(self.builder)
            index = self.expression(target.index, frame)
            STATE.site = target.site
            index = self.known_slices(index, container)
            self.put_item(moment.as_then(container), index, value, target.back, frame)

    def put_item(self, container: Any, index: Any, value: Any, back: c.Target | None, frame: Frame) -> Any:
        """`container[index] = value`; what the container is then."""
        if container.__class__ is List:
            self.put_in_list(container, index, value)
        elif container.__class__ is Records:
            records.put(self, container, index, value)  # type: ignore[arg-type]
        elif container.__class__ is Grid:
            grids.put(self, container, index, value, any(value is x for x in self.new))
        elif container.__class__ is dict and self.is_frozen(container):
            raise Unsupported("a change of a dict that is one or another, depending on data")
        elif container.__class__ is dict and index.__class__ in (Sym, Letter, Text):
            from .choosing import put_at

            put_at(self, container, index, value)
        elif container.__class__ is dict:
            old = container.get(key := static_index(index))
            if old.__class__ is Lazy and old.volatile:
                self.replace(old, value)
            else:
                container[key] = self.builder.settle(value)
        elif container.__class__ in (Lazy, Pair) and back is not None:
            parts = container.__class__ is Pair or has_complex(plain(value))
            change: Any = self.updated_parts if parts else self.updated
            updated = change(container, index, value)
            if updated is not container:
                self.put(back, updated, frame)
            return updated
        else:
            raise Unsupported("an item assignment to this value")
        return container

    def put_in_list(self, container: List, index: Any, value: Any) -> None:
        if container.frozen:
            raise Unsupported("a change of a list that is one or another, depending on data")
        if container.items is not None and index.__class__ is Sym:
            form = records.form_of_all(tuple(container.items))
            if form is not None and records.fixed(form):
                alike = records.Alike(container, form, by_data=True)
                if not records.kept(self, alike):  # type: ignore[arg-type]
                    raise alike
                records.put(self, container, index, value)  # type: ignore[arg-type]
                return
            rows = rows_of_list(self.builder, plain(container))
            container.items, container.array, container.length = None, rows, rows.shape[0]
        if container.items is None:
            place = self.place_in(container, index)
            self.with_floats(container, value)
            container.array = self.updated(container.array, place, value, True)
            return
        key = static_index(index)
        if key.__class__ is slice:
            items = [self.builder.settle(item) for item in self.items(value)]
            try:
                container.items[key] = items
            except ValueError:
                raise Unsupported("a slice of a list that does not take these items") from None
            container.length = len(container.items)
            return
        if key.__class__ is not int or not -len(container.items) <= key < len(container.items):
            raise Unsupported("an index that is out of range, or no key")
        old = container.items[key]
        if old.__class__ is Lazy and old.volatile:
            self.replace(old, value)
        else:
            container.items[key] = self.builder.settle(value)

    def with_floats(self, container: List, value: Any) -> None:
        """Make a list that is an array of integers one of floats, where it is given a float; note integers among floats."""
        builder, array, item = self.builder, container.array, read(value)
        if item.__class__ not in (Sym, float, int) or is_strong(builder, item):
            return
        if array.kind == INT and kind_of(item) == FLOAT and array.stored not in builder.strong:
            made = Array(FLOAT, array.shape, role="list")
            builder.listed(made)
            builder.append(ir.Alloc(made, False))
            builder.fill(made, array)
            container.array = builder.stored(made)
        if container.array.kind == FLOAT and builder.may_be_whole(item):
            builder.some_whole.add(container.array.stored)

    def known_count(self, index: Any) -> Any:
        """An index; of an input that is differentiated, and counts all the same, the integer that it is."""
        if index.__class__ is Sym and index.kind == FLOAT:
            return self.whole(index, "this value as an index")
        return index

    def place_in(self, container: List, index: Any) -> Any:
        """Where an index into a list that is an array points."""
        length = container.length
        index = self.known_count(index)
        if index.__class__ not in (int, Sym) or (index.__class__ is Sym and index.kind != INT):
            raise Unsupported("this value as an index")
        if length.__class__ is int:
            if index.__class__ is int:
                if not -length <= index < length:
                    raise Unsupported("an index that is out of range, or no key")
                return index % length
            return wrapped(self.builder, index, length, ("index_in", "a list", length))  # type: ignore[arg-type]
        room = container.array.shape[0]
        builder, site = self.builder, STATE.site
        if index.__class__ is int and index < 0:
            failure: tuple[Any, ...] = ("index_before_front", index)
            index = self.longer(length, index)
            builder.append(ir.Check(raw(index), 0, room, site, failure))
        else:
            if index.__class__ is Sym and builder.interval(index)[0] < 0:
                negative = builder.emit("less", (index, 0), BOOL)
                index = builder.emit("where_select", (negative, builder.integer("add", index, length), index), INT)
                builder.append(ir.Check(raw(index), 0, room, site, ("index_from_front",), raw(length)))
            rest = builder.integer("subtract", self.longer(length, -1), index)
            builder.append(ir.Check(raw(rest), 0, room, site, ("index_from_end",), raw(length)))
        return wrapped(builder, index, room) if index.__class__ is Sym else index

    def grow(self, container: List, value: Any) -> None:
        """`container.append(value)`."""
        if container.__class__ is Records:
            records.append(self, container, value)
            return
        builder = self.builder
        value = builder.settle(value)
        if container.frozen:
            raise Unsupported("a change of a list that is one or another, depending on data")
        if container.items is not None:
            container.items.append(value)
            container.length = len(container.items)
            return
        item = lazy(builder, value)
        array = container.array
        if item.shape != array.shape[1:] or (BOOL in (item.kind, array.kind) and item.kind != array.kind):
            raise Unsupported("a list whose items are of several kinds or shapes")
        if not array.volatile:
            # Room for one more: how much a loop needs is found from this. Where the array may be longer than the list, the
            # new item may come in the place of one that was taken, whose cotangent is not that of the new one.
            full = container.length.__class__ is int and container.length == array.shape[0]
            wider = Array(
                ir.FLOAT if FLOAT in (item.kind, array.kind) else array.kind,
                (array.shape[0] + 1, *array.shape[1:]),
                role="list" if full else "updated",
            )
            wider.mixed = True
            builder.listed(wider)
            builder.append(ir.Alloc(wider, True))
            builder.fill(wider, array)
            array = builder.stored(wider)
        whole = value.__class__ is not Lazy and builder.may_be_whole(value)
        if array.kind == FLOAT and (whole or container.array.kind == INT):
            builder.some_whole.add(array.stored)
        length = container.length
        if array.volatile or length.__class__ is Sym:
            builder.append(ir.Check(raw(length), 0, array.shape[0], *self.crowding.get(array.stored, ())))
        size = 1
        for n in item.shape:
            size *= n
        start = builder.integer("multiply", length, size)

        def write(at: tuple[Any, ...]) -> None:
            place = builder.integer("add", start, builder.flat(at, item.shape))
            if array.stored in self.shrinking:
                builder.overwrite(array, place, item.element(at))
            else:
                builder.append(ir.Store(array.stored, raw(place), raw(builder.of_kind(array.kind, item.element(at)))))

        builder.each(item.shape, write)
        container.array, container.length = array, self.longer(length, 1)

    def updated(self, x: Lazy, index: Any, value: Any, listed: bool = False) -> Lazy:
        """A copy of `x` with the elements at `index` replaced; `listed` says that it stands for a list."""
        builder = self.builder
        if index.__class__ is Lazy and index.kind == BOOL and index.known is None and index.shape:
            from .selected import updated_where

            found = updated_where(builder, x, index, value)
            if not x.volatile:
                return found
            self.replace(x, found)
            return x
        parts = opened(builder, x, index)
        if parts is not None:
            return self.updated(x, parts[0], sliced.updated(builder, x, *parts, plain(value)))
        source = lazy(builder, plain(value))
        given = [] if builder.follower is None or listed else list(builder.follower.operands((x, source)))
        if source.kind != x.kind and (source.kind != INT or x.kind != FLOAT):
            raise Unsupported("an update of a tensor by elements of another dtype")
        places = lazy(builder, get(builder, coordinates(builder, x.shape), plain(index)))
        # The places are checked before anything is written, as the tape checks them.
        if len(source.shape) > len(places.shape) or any(
            n not in (1, m) for n, m in zip(source.shape[::-1], places.shape[::-1])
        ):
            raise Unsupported("a value that does not fit into what it replaces")
        if x.volatile:
            source = lazy(builder, builder.settle(source) if source.shape else source.element(()))
            builder.each(
                places.shape,
                lambda at: builder.overwrite(x, places.element(at), pick(source, at, places.shape), not listed),
            )
            self.made_of(x.stored, given)
            return x
        array = Array(x.kind, x.shape, role="updated")
        if x.stored in builder.some_whole:
            builder.some_whole.add(array)
        if listed:
            array.mixed = True
            builder.listed(array)
        builder.append(ir.Alloc(array, False))
        # Copy, then overwrite: the cotangent of what is overwritten is taken by the later store.
        builder.fill(array, x)

        def write(at: tuple[Any, ...]) -> None:
            item = pick(source, at, places.shape)
            store = ir.Store(array, raw(places.element(at)), raw(builder.of_kind(x.kind, item)))
            builder.append(store)
            if not listed:
                builder.converting.add(store)

        builder.each(places.shape, write)
        self.made_of(array, given)
        return builder.stored(array)

    def updated_parts(self, x: Lazy | Pair, index: Any, value: Any) -> Pair:
        """A copy of a tensor of complex numbers, or of one that becomes such, with the elements at `index` replaced."""
        if not x.shape:
            raise Unsupported("an item assignment to this value")
        builder = self.builder
        noted, source = meeting(builder, (x, plain(value)), 0)
        # What a loop carries changes in place: both parts of what is written are found before either is.
        into, source = x if x.__class__ is Pair else pair_of(builder, noted), pair_of(builder, source).settled()
        re, im = (self.updated(a, index, b) for a, b in ((into.re, source.re), (into.im, source.im)))
        return x if x.__class__ is Pair and re is x.re and im is x.im else Pair(builder, re, im)

    def made_of(self, updated: Array | None, given: list[Any]) -> None:
        """Note that a tensor with new elements depends on what it is made of, though no element may be of that."""
        follower = self.builder.follower
        if given and follower is not None and not follower.inside and updated is not None:
            whole = updated.kind == FLOAT and updated not in follower.listed and updated.role != "list"
            self.builder.append(Linked([updated] if whole else [], given, True))


def coordinates(builder: Builder, shape: tuple[int, ...]) -> Lazy:
    """The array of flat places: indexing it tells where an index points."""
    return view(builder, INT, shape, lambda index: builder.flat(index, shape))
