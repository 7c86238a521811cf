"""Loop-carried values (phi functions), and how they are carried: numbers in variables, arrays that change in place, structures
by their parts, lists that grow in an array with room for all they will hold."""

from __future__ import annotations

from math import prod

from .. import ir
from ..ir import BOOL, FLOAT, INT, Array, Unsupported, Var
from ..symbols.arrays import rows_of_list
from ..symbols.pairs import Pair, pair_of
from ..symbols.strength import is_strong
from ..symbols.symbol import NUMBERS, Lazy, Sym, join, kind_of, raw
from ..symbols.values import (
    UNSET,
    List,
    Mismatch,
    Unset,
    equal,
    first_rows,
)
from ..symbols.whole import note_loop
from .control import ZEROS, Control
from .heap import Rows, same

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ...core.state import Site
    from ..symbols.build import Builder

    Carried = list[tuple[Var, Any, Any]]

# Lists that grow in loops of unknown length have room for so many items at first, or for fewer large ones.
ROOM, LEAST_ROOM, ROOM_ELEMENTS = 1024, 16, 1 << 20

SCALARS = (*NUMBERS, Sym)
COMPLEX = (Pair, complex)


def parts_of(builder: Builder, x: Any) -> Any:
    """The items of a tuple or a list, the values of a dict, the parts of a complex number."""
    if x.__class__ in COMPLEX:
        pair = pair_of(builder, x)
        return pair.re, pair.im
    if x.__class__ is dict:
        return tuple(x.values())
    return x if x.__class__ is tuple else x.items


def fresh_variables(spec: Any) -> None:
    """Variables of its own for another attempt."""
    if spec.__class__ is Number:
        spec.phi = Var(spec.kind, "l")
    elif spec.__class__ is Grown:
        spec.length.phi = Var(INT, "l")
    elif spec.__class__ is Parts:
        for part in spec.parts:
            fresh_variables(part)


def numbers(items: tuple[Any, ...]) -> list[Any]:
    return [x for x in items if x.__class__ is not Lazy]


def joined_kind(kinds: list[str]) -> str:
    kind = join(kinds)
    if BOOL in kinds and kind != BOOL:
        raise Mismatch("a variable that is a bool in one iteration and a number in the next")
    return kind


def kinds_of(x: List) -> list[Any]:
    """The kinds of the numbers in a list; None among them where it holds anything else."""
    if x.items is None:
        return [None if x.array.shape[1:] else x.array.kind]
    return [kind_of(item) if item.__class__ in SCALARS else None for item in x.items]


def number_rows(builder: Builder, x: List) -> Lazy | None:
    """The numbers of a list as an array; None where it holds anything else."""
    if x.items is None:
        if x.array.shape[1:]:
            return None
        array: Lazy = x.array if x.length == x.array.shape[0] else first_rows(x.array, x.length)
        return array
    if any(item.__class__ not in SCALARS for item in x.items):
        return None
    return rows_of_list(builder, list(x.items))


def rows_as_list(array: Lazy) -> List:
    """The list that an array stands for, which another one may stand for too."""
    made = List([])
    made.items, made.array, made.length, made.frozen = None, array, array.shape[0], True
    return made


class Number:
    """A number that a loop carries in a variable; a `strong` one is an integer with a dtype of its own."""

    __slots__ = ("doubtful", "kind", "phi", "strong")

    def __init__(self, kind: str, strong: bool = False, doubtful: bool = False) -> None:
        self.kind = kind
        # Whether it may be an integer at the head of an iteration, though it is carried as a float.
        self.doubtful = doubtful and kind == FLOAT
        self.strong = strong
        self.phi = Var(kind, "l")


class Tensor:
    """An array that a loop changes in place."""

    __slots__ = ("carried",)

    def __init__(self, carried: Lazy) -> None:
        self.carried = carried


class Parts:
    """A tuple, a list or a dict that a loop replaces by another of the same length, or with the same keys."""

    __slots__ = ("cls", "keys", "own", "parts")

    def __init__(self, cls: type, parts: list[Any], keys: list[Any] | None = None) -> None:
        self.cls = cls
        self.parts = parts
        self.keys = keys
        # Whether it is a list or a dict that has no other name, in any iteration; None before that has been looked at.
        self.own: bool | None = None


class Listed:
    """A list that a loop replaces by another of the same length, as an array: who changes the one must not reach the other."""

    __slots__ = ("carried",)

    def __init__(self, carried: Lazy) -> None:
        self.carried = carried


class Grown:
    """The contents of a list that grows: an array with room for all it may hold, and its length."""

    __slots__ = ("fixed", "length", "rows")

    def __init__(self, rows: Tensor, fixed: int | None = None) -> None:
        self.rows = rows
        # Where it only changes and does not grow, its length is known.
        self.fixed = fixed
        self.length = Number(INT)


class Same:
    """What is the same in every iteration."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value


class Roomless(Mismatch):
    """A list grows in a loop of which nobody knows how often it runs."""

    def __init__(self) -> None:
        super().__init__("a list that grows in a loop of unknown length", peel=False)


class Carrying(Control):
    """The part of the specialiser that says how what a loop changes is handed on."""

    # The room that lists need in loops of unknown length, by where these begin, where it has not been enough; and by the
    # arrays that have such room what is said where one has too little.
    rooms: dict[int, int]
    crowding: dict[Any, tuple[Site, tuple[Any, ...]]]
    # How often an iteration takes the last item of a list, by its id; and the arrays that hold such lists in a loop, where
    # another item may come in its place.
    pops: dict[int, int]
    shrinking: set[Any]

    def specified(self, old: Any, new: Any, dummy: bool = False) -> Any:
        """How a loop carries what is `old` before it and `new` after an iteration."""
        if same(old, new):
            return Same(new)
        if new.__class__ in COMPLEX and (old.__class__ in COMPLEX or (old is UNSET and dummy)):
            before = (UNSET, UNSET) if old is UNSET else parts_of(self.builder, old)
            pairs = zip(before, parts_of(self.builder, new))
            return Parts(Pair, [self.specified(a, b, dummy) for a, b in pairs])
        if old is UNSET and dummy:
            if new.__class__ is tuple:
                return Parts(tuple, [self.specified(UNSET, part, True) for part in new])
            if new.__class__ is Lazy:
                return Tensor(self.builder.blank(new.kind, new.shape))
            if new.__class__ in SCALARS:
                return Number(kind_of(new), is_strong(self.builder, new))
            if new.__class__ is List and new.items is not None:
                return Parts(List, [self.specified(UNSET, part, True) for part in new.items])
            raise Unsupported("'return' from inside a loop with values of several kinds or shapes")
        if old.__class__ in SCALARS and new.__class__ in SCALARS:
            strong = is_strong(self.builder, old) or is_strong(self.builder, new)
            doubtful = self.builder.may_be_whole(old)
            return Number(joined_kind([kind_of(old), kind_of(new)]), strong, doubtful)
        if old.__class__ is Lazy and new.__class__ is Lazy and old.shape == new.shape:
            kind = joined_kind([old.kind, new.kind])
            return Tensor(self.builder.carried(old, kind))
        if old.__class__ is tuple and new.__class__ is tuple and len(old) == len(new):
            return Parts(tuple, [self.specified(a, b) for a, b in zip(old, new)])
        if old.__class__ is List and new.__class__ is List and old.items is not None and new.items is not None:
            if len(old.items) != len(new.items):
                # After one iteration it may be a list that grows itself (lengthening.py).
                own = new.home is not None and new.home is not old.home
                raise Mismatch("a list whose length changes from iteration to iteration", peel=own)
            return Parts(List, [self.specified(a, b) for a, b in zip(old.items, new.items)])
        if old.__class__ is dict and new.__class__ is dict:
            if list(old) != list(new):
                raise Mismatch("a dict whose keys change from iteration to iteration")
            return Parts(dict, [self.specified(a, b) for a, b in zip(old.values(), new.values())], list(new))
        if old.__class__ is List and new.__class__ is List:
            listed = self.listed_rows(old, new)
            if listed is not None:
                return listed
        if equal(old, new):
            return Same(new)
        raise Mismatch("a list or tensor that changes from iteration to iteration")

    def listed_rows(self, old: List, new: List) -> Listed | None:
        """How a list of numbers is carried that another one replaces, where either is an array; None for other lists."""
        if old.length.__class__ is not int or new.length.__class__ is not int or not old.length == new.length > 0:
            return None
        builder = self.builder
        kinds = [*kinds_of(old), *kinds_of(new)]
        before = number_rows(builder, old) if None not in kinds else None
        if before is None:
            return None
        array = builder.carried(before, joined_kind(kinds))
        assert array.stored is not None
        array.stored.mixed = True
        builder.listed(array.stored)
        sources = [x.array.stored for x in (old, new) if x.items is None]
        doubts = INT in kinds or any(map(builder.may_be_whole, numbers((*(old.items or ()), *(new.items or ())))))
        doubts = doubts or any(source in builder.some_whole for source in sources)
        if array.kind == FLOAT and doubts:
            builder.some_whole.add(array.stored)
        return Listed(array)

    def growing(
        self, old: Any, new: Any, length: int | None, short: bool = True, place: Site | None = None, roomy: bool = False,
        pops: int = 0,
    ) -> Any:  # fmt: skip
        """The contents of a list that is longer or shorter after an iteration of the loop at a place of the program, which
        runs so many times at most; where that is not known, there is room for some items, and for more when it has not been
        enough, if the loop is `roomy`. A `short` one is written out while the list's items are known. Within an iteration it
        may be longer by as many items as that `pops`."""
        room = [len(x) if x.__class__ is tuple else x.array.shape[0] for x in (old, new)]
        growth = max(room[1] - room[0], 0)
        lengths = [len(x) if x.__class__ is tuple else x.length for x in (old, new)]
        fixed = lengths[0] if growth == 0 and lengths[0].__class__ is int and lengths[0] is lengths[1] else None
        if fixed is not None:
            length = 0
        builder = self.builder
        inner = any(x.__class__ is Rows and x.array.stored in self.crowding for x in (old, new))
        if length is None and not roomy:
            raise Roomless()
        if old.__class__ is Rows and new.__class__ is Rows and old.array is new.array and old.array.volatile:
            return Grown(Tensor(old.array))
        if new.__class__ is tuple and short and length is not None:
            raise Mismatch("a list that grows in a short loop", peel=False)
        sample = (*(old if old.__class__ is tuple else ()), *(new if new.__class__ is tuple else ()))
        if any(x.__class__ not in (*SCALARS, Lazy) for x in sample):
            raise Mismatch("a list of lists that grows in a loop", peel=False)
        shapes = {x.shape if x.__class__ is Lazy else () for x in sample}
        kinds = [x.kind if x.__class__ is Lazy else kind_of(x) for x in sample]
        for x in (old, new):
            if x.__class__ is Rows:
                shapes.add(x.array.shape[1:])
                kinds.append(x.array.kind)
        if len(shapes) > 1:
            raise Mismatch("a list whose items are of several kinds or shapes", peel=False)
        shape = shapes.pop()
        if length is None or inner:
            # A loop inside it that has found its own room says nothing of what there is to come.
            assert place is not None
            more = self.room_at(place, shape) * (1 if inner else -(-growth // ROOM))
            array = builder.blank(joined_kind(kinds), (room[0] + more + pops, *shape))
            assert array.stored is not None
            self.crowding[array.stored] = place, ("no_more_room", place.start, self.room_at(place, shape))
        else:
            array = builder.blank(joined_kind(kinds), (room[0] + length * growth + pops, *shape), place)
        whole = [x.array.stored in builder.some_whole for x in (old, new) if x.__class__ is Rows]
        if array.kind == FLOAT and (INT in kinds or any(whole) or any(map(builder.may_be_whole, numbers(sample)))):
            assert array.stored is not None
            builder.some_whole.add(array.stored)
        if room[0]:
            assert array.stored is not None
            first = old.array if old.__class__ is Rows else rows_of_list(builder, list(old))
            builder.fill(array.stored, first)
        return Grown(Tensor(array), fixed)

    def room_at(self, place: Site, shape: tuple[int, ...]) -> int:
        """For how many items of a shape there is room in lists that grow in a loop of unknown length."""
        found = self.rooms.get(place.start)
        return max(min(ROOM, ROOM_ELEMENTS // max(prod(shape), 1)), LEAST_ROOM) if found is None else found

    def at_head(self, spec: Any) -> Any:
        """What is carried, at the head of an iteration."""
        if spec.__class__ is Number:
            if spec.strong:
                self.builder.strong.add(spec.phi)
            if spec.doubtful:
                self.builder.doubtful.add(spec.phi)
            return Sym(self.builder, spec.phi)
        if spec.__class__ is Tensor:
            return spec.carried
        if spec.__class__ is Same:
            return spec.value
        if spec.__class__ is Listed:
            return rows_as_list(spec.carried)
        if spec.__class__ is Grown:
            length = Sym(self.builder, spec.length.phi) if spec.fixed is None else spec.fixed
            return Rows(spec.rows.carried, length)
        parts = [self.at_head(part) for part in spec.parts]
        return self.put_together(spec, parts)

    def put_together(self, spec: Parts, parts: list[Any]) -> Any:
        """A tuple, a list, a dict or a complex number from its parts."""
        if spec.cls is tuple:
            return tuple(parts)
        if spec.cls is Pair:
            return Pair(self.builder, *parts)
        made: Any = List(parts) if spec.keys is None else dict(zip(spec.keys, parts))
        if not spec.own:
            self.freeze(made)
        return made

    def fitted(self, spec: Any, old: Any, new: Any) -> Any:
        """`spec` if `new` is carried so, or how it is carried."""
        if spec.__class__ is Number:
            if new.__class__ not in SCALARS:
                raise Mismatch("a variable that is a number in one iteration and something else in the next")
            kind = joined_kind([spec.kind, kind_of(new)])
            strong = spec.strong or is_strong(self.builder, new)
            integer = INT in (kind_of(old) if old is not UNSET else FLOAT, spec.kind)
            doubtful = kind == FLOAT and (spec.doubtful or integer or self.builder.may_be_whole(new))
            alike = (kind, strong, doubtful) == (spec.kind, spec.strong, spec.doubtful)
            return spec if alike else Number(kind, strong, doubtful)
        if spec.__class__ is Tensor:
            if new.__class__ is not Lazy or new.shape != spec.carried.shape:
                raise Mismatch("a tensor that becomes something else in a loop")
            kind = joined_kind([spec.carried.kind, new.kind])
            return spec if kind == spec.carried.kind else Tensor(self.builder.carried(old, kind))
        if spec.__class__ is Same:
            return spec if equal(spec.value, new) else self.specified(old, new)
        if spec.__class__ is Listed:
            listed = self.listed_rows(old, new) if old.__class__ is List and new.__class__ is List else None
            if listed is None:
                raise Mismatch("a list or tensor that changes from iteration to iteration")
            some = self.builder.some_whole
            worse = listed.carried.stored in some and spec.carried.stored not in some
            return spec if listed.carried.kind == spec.carried.kind and not worse else listed
        if spec.__class__ is Grown:
            if new.__class__ is not Rows or new.array is not spec.rows.carried:
                raise Mismatch("a list that grows and is replaced in a loop", peel=False)
            if spec.fixed is not None and new.length is not spec.fixed:
                return self.growing(old, new, None)
            return spec
        if spec.cls is Pair and new.__class__ is complex:
            new = pair_of(self.builder, new)
        if new.__class__ is not spec.cls or (spec.cls is List and new.items is None):
            raise Mismatch("a variable that is a list in one iteration and something else in the next")
        if spec.keys is not None and list(new) != spec.keys:
            raise Mismatch("a dict whose keys change from iteration to iteration")
        items = parts_of(self.builder, new)
        if len(items) != len(spec.parts):
            raise Mismatch("a list whose length changes from iteration to iteration", peel=False)
        before = (UNSET,) * len(items) if old is UNSET else parts_of(self.builder, old)
        parts = [self.fitted(part, a, b) for part, a, b in zip(spec.parts, before, items)]
        if all(map(same, parts, spec.parts)):
            return spec
        made = Parts(spec.cls, parts, spec.keys)
        made.own = spec.own
        return made

    def handed_on(
        self, spec: Any, old: Any, new: Any, block: list[ir.Stmt], carried: Carried, arrays: list[tuple[Lazy, Lazy]],
        length: int | None,
    ) -> Any:  # fmt: skip
        """Note how `new` is handed to the next iteration; what is there after the loop."""
        builder = self.builder
        if spec.__class__ is Number:
            initial: Any = ZEROS[spec.kind] if old is UNSET else old
            if spec.kind == FLOAT:
                note_loop(builder, spec.phi, initial, new, bool(length))
                initial, new = builder.to_float(initial), self.within(block, new)
            carried.append((spec.phi, raw(initial), raw(new)))
            return Sym(builder, spec.phi)
        if spec.__class__ is Tensor:
            if new is not spec.carried:
                arrays.append((spec.carried, new))
            assert spec.carried.stored is not None
            return builder.stored(spec.carried.stored)
        if spec.__class__ is Same:
            return spec.value
        if spec.__class__ is Listed:
            made, rows = builder.nested(lambda: number_rows(builder, new))
            block.extend(made)
            if rows is not spec.carried:
                arrays.append((spec.carried, rows))
            assert spec.carried.stored is not None
            return rows_as_list(builder.stored(spec.carried.stored))
        if spec.__class__ is Grown:
            first = len(old) if old.__class__ is tuple else old.length
            if spec.fixed is not None:
                assert spec.rows.carried.stored is not None
                return Rows(builder.stored(spec.rows.carried.stored), spec.fixed)
            carried.append((spec.length.phi, raw(first), raw(new.length)))
            last: Any = Sym(builder, spec.length.phi)
            steady = self.offsets.get(new.length.var) if new.length.__class__ is Sym else None
            if length is not None and steady is not None and steady[0] is spec.length.phi:
                last = self.longer(first, length * steady[1])
            array = spec.rows.carried
            assert array.stored is not None
            volatile = old.__class__ is Rows and old.array is array
            return Rows(array if volatile else builder.stored(array.stored), last)
        items = parts_of(self.builder, new)
        before = (UNSET,) * len(items) if old is UNSET else parts_of(self.builder, old)
        parts = [
            self.handed_on(part, a, b, block, carried, arrays, length) for part, a, b in zip(spec.parts, before, items)
        ]
        return self.put_together(spec, parts)

    def moved(self, arrays: list[tuple[Lazy, Lazy]]) -> None:
        """Put new values into arrays that a loop carries: all are known before the first one changes."""
        ready = [(carried, self.builder.settle(new)) for carried, new in arrays]
        for carried, new in ready:
            self.replace(carried, new)

    def replace(self, old: Lazy, value: Any) -> None:
        """Assign an array that a loop carries: its elements change, and it stays where it is."""
        if value is old:
            return
        if value.__class__ is not Lazy or value.shape != old.shape or joined_kind([value.kind, old.kind]) != old.kind:
            raise Mismatch("a tensor that becomes something else in a loop")
        builder = self.builder
        value = builder.settle(value)
        assert old.stored is not None
        old.stored.mixed = True
        builder.renewed(old.stored, value)
        builder.each(
            old.shape, lambda index: builder.overwrite(old, builder.flat(index, old.shape), value.element(index))
        )

    def outliving(self, new: Any, block: list[ir.Stmt], carried: Carried) -> Any:
        """What the last iteration of a loop that runs assigns first, after the loop."""
        builder = self.builder
        if new.__class__ in COMPLEX:
            return Pair(builder, *(self.outliving(part, block, carried) for part in parts_of(builder, new)))
        if new.__class__ in SCALARS:
            phi = Var(kind_of(new), "l")
            carried.append((phi, ZEROS[phi.kind], raw(new)))
            if is_strong(builder, new):
                builder.strong.add(phi)
            if phi.kind == FLOAT and builder.may_be_whole(new):
                builder.doubtful.add(phi)
            return Sym(builder, phi)
        if new.__class__ is Lazy:
            array = Array(new.kind, new.shape, role="updated")
            builder.append(ir.Alloc(array, False))
            block.extend(builder.nested(lambda: builder.fill(array, new))[0])
            return builder.stored(array)
        if new.__class__ is tuple:
            parts = tuple(self.outliving(part, block, carried) for part in new)
            return UNSET if any(part.__class__ is Unset for part in parts) else parts
        if new.__class__ is List and new.items is not None:
            parts = tuple(self.outliving(part, block, carried) for part in new.items)
            if any(part.__class__ is Unset for part in parts):
                return UNSET
            made = List(list(parts))
            made.frozen = True
            return made
        if new.__class__ is dict:
            parts = tuple(self.outliving(part, block, carried) for part in new.values())
            if any(part.__class__ is Unset for part in parts):
                return UNSET
            values = dict(zip(new, parts))
            self.freeze(values)
            return values
        return new if new.__class__ is str or new is None else UNSET
