"""Lazy arrays: views, lists and constants as arrays, and indexing."""

from __future__ import annotations

from ...core.state import STATE
from ...core.tensor import OPERATORS
from .. import ir
from ..ir import BOOL, FLOAT, INT, Array, Unsupported, Var
from .build import Builder
from .symbol import NUMBERS, Lazy, Sym, broadcast, join, kind_of, pick, raw

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


def view(builder: Builder, kind: str, shape: tuple[int, ...], element: Callable[[tuple[Any, ...]], Any]) -> Lazy:
    """A lazy array that only rearranges stored elements: never worth storing itself."""
    element.view = True  # type: ignore[attr-defined]
    return Lazy(builder, kind, shape, element)


def remap(x: Lazy, shape: tuple[int, ...], source: Callable[[tuple[Any, ...]], tuple[Any, ...]]) -> Lazy:
    """The array whose element at an index is x's at `source(index)`."""
    make = view if x.stored is not None or getattr(x.element, "view", False) else Lazy
    found = make(x.builder, x.kind, shape, lambda index: x.element(source(index)))
    found.volatile = x.volatile
    found.strong = x.strong
    return found


class Window:
    """In an index: as many places in a row, from one that is computed. A slice, and no array of places, beside which
    other arrays would be taken together with it."""

    __slots__ = ("first", "length")

    def __init__(self, first: Sym, length: int) -> None:
        self.first = first
        self.length = length


def lazy(builder: Builder, x: Any) -> Lazy:
    x = x if x.__class__ in (Lazy, Sym) or x.__class__ in NUMBERS else builder.operand(x)
    if x.__class__ is not Lazy:
        kind = kind_of(x)
        return view(builder, kind, (), lambda index: x)
    return x


def result(x: Lazy) -> Any:
    """A rank-0 array as its element."""
    return x.element(()) if x.shape == () else x


def array_of_list(builder: Builder, items: list[Any], role: str = "local", promoted: bool = False) -> Lazy:
    """A list as an array. Its elements are computed once, here. The `role` "list" keeps them apart as its items; truth
    values beside numbers are numbers where all of them may be `promoted` to one type."""
    parts = [lazy(builder, item) for item in items]
    if not parts:
        raise Unsupported("an empty list as a tensor")
    shape = parts[0].shape
    if any(p.shape != shape for p in parts):
        raise Unsupported("a list of lists of several lengths")
    kinds = {p.kind for p in parts}
    if BOOL in kinds and len(kinds) > 1 and not promoted:
        raise Unsupported("a list of truth values and numbers as a tensor")
    kind = join(list(kinds))
    array = Array(kind, (len(parts), *shape), role=role)
    builder.listed(array)
    builder.append(ir.Alloc(array, False))
    size = 1
    for n in shape:
        size *= n
    for k, part in enumerate(parts):

        def store(index: tuple[Any, ...], part: Lazy = part, k: int = k) -> None:
            value = part.element(index)
            if kind == FLOAT:
                value = builder.to_float(value)
            elif kind == INT:
                value = builder.to_int(value)
            place = builder.integer("add", builder.flat(index, shape), k * size)
            builder.append(ir.Store(array, raw(place), raw(value)))

        builder.each(shape, store)
    return builder.stored(array)


def tensor_of_list(builder: Builder, items: list[Any]) -> Lazy:
    """A list as the tensor that a row takes. Where all its items turn out to be whole, and the program's may be integers,
    the tape makes it one of integers: that is left to it."""
    numbers = [x for x in items if x.__class__ is Sym or x.__class__ in NUMBERS]
    if all(builder.may_be_whole(x) or kind_of(x) == BOOL for x in numbers):
        broken: Any = None
        for x in numbers:
            if x.__class__ is Sym and x.kind == FLOAT:
                differs = builder.emit("not_equal", (x, builder.emit("floor", (x,), FLOAT)), BOOL)
                broken = differs if broken is None else builder.emit("logical_or", (broken, differs), BOOL)
        if broken is not None:
            builder.append(ir.Check(raw(broken), 1, 2, STATE.site))
    return array_of_list(builder, items, promoted=True)


def rows_of_list(builder: Builder, items: list[Any]) -> Lazy:
    """A list as an array whose rows stay its items, of which a tape may follow some and not others."""
    found = lazy(builder, array_of_list(builder, items))
    if found.stored is not None:
        found.stored.mixed = True
        note_integers(builder, found.stored, items)
    return found


def note_integers(builder: Builder, array: Array, items: list[Any]) -> None:
    """Note that some items of a list are integers where it has become an array of floats."""
    if array.kind == FLOAT and any(
        kind_of(x) == INT or builder.may_be_whole(x) for x in items if x.__class__ is not Lazy
    ):
        builder.some_whole.add(array)


def constant_array(builder: Builder, value: Any) -> Lazy:
    """A NumPy array that the program holds as a constant."""
    import numpy as np

    if value.__class__ is complex:
        raise Unsupported("a complex number in a tensor of real ones")
    if value.dtype.kind not in "fib":
        raise Unsupported(f"an array of dtype {value.dtype}")
    if not value.ndim:
        return lazy(builder, value.item())
    if not value.size:
        nothing = {"f": 0.0, "i": 0, "b": False}[value.dtype.kind]
        return view(builder, value.dtype.kind, value.shape, lambda index: nothing)
    if value.dtype.kind == "i":
        return known_integers(builder, value)
    first = value.flat[0].item()
    if (value == first).all() and (first != 0.0 or not np.signbit(value).any()):
        return view(builder, value.dtype.kind, value.shape, lambda index: first)
    return builder.constant(value.dtype.kind, value.shape, value.reshape(-1).tolist())


def get(builder: Builder, x: Lazy, index: Any, failure: tuple[Any, ...] | None = None) -> Any:
    """x[index] by NumPy's rules, for integers, symbols, slices, windows, newaxis, the ellipsis and arrays of integers.

    `failure` says what an index out of bounds is, where x is no tensor.
    """
    listed = x.stored is not None and x.stored.role == "list"
    shape, source = selection(builder, x.shape, index, listed or failure is not None, failure)
    if x.stored is None and not getattr(x.element, "view", False) and not fixed(index):
        x = builder.settle(x)  # an element may be asked for again and again
    return result(remap(x, shape, source))


def fixed(index: Any) -> bool:
    """Whether an index selects each element at most once."""
    items = index if index.__class__ is tuple else (index,)
    return all(item is None or item is Ellipsis or item.__class__ in (int, slice) for item in items)


def selection(
    builder: Builder, shape: tuple[int, ...], index: Any, listed: bool = False, failure: tuple[Any, ...] | None = None
) -> tuple[tuple[int, ...], Callable[[tuple[Any, ...]], tuple[Any, ...]]]:
    """The shape of what an index selects, and for an index into that the place in the indexed array.

    `listed` says that the array stands for a list, whose errors are others.
    """
    items = expanded(builder, shape, list(index) if index.__class__ is tuple else [index])
    arrays = [item for item in items if item.__class__ is Lazy]
    together = broadcast([a.shape for a in arrays], "an index") if arrays else ()
    chosen = [k for k, item in enumerate(items) if item.__class__ in (Lazy, Sym, int)]
    # Where arrays stand side by side their axes come in their place, else in front.
    side_by_side = bool(arrays) and chosen == list(range(chosen[0], chosen[-1] + 1))
    sizes: list[int] = [] if side_by_side or not arrays else list(together)
    first = 0
    maps: list[Any] = []  # per source axis: a place, an array of places, or (axis of the result, start, step)
    axis = 0
    for k, item in enumerate(items):
        if side_by_side and k == chosen[0]:
            first = len(sizes)
            sizes.extend(together)
        if item is None:
            sizes.append(1)
            continue
        n = shape[axis]
        axis += 1
        if item.__class__ is slice:
            start, stop, step = item.indices(n)
            maps.append((len(sizes), start, step))
            sizes.append(len(range(start, stop, step)))
        elif item.__class__ is Window:
            maps.append((len(sizes), item.first, 1))
            sizes.append(item.length)
        elif item.__class__ is int:
            if not -n <= item < n:
                raise Unsupported("an index that is out of range")
            maps.append(item % n)
        elif item.__class__ is Lazy:
            maps.append(checked_places(builder, item, n, ("index_on_axis", axis - 1, n)))
        elif item.__class__ is Sym and item.kind == INT:
            maps.append(wrapped(builder, item, n, failure if listed else ("index_on_axis", axis - 1, n)))
        else:
            raise Unsupported("this value as an index")

    def position(m: Any, index: tuple[Any, ...]) -> Any:
        if m.__class__ is Lazy:
            return pick(m, index[first : first + len(together)], together)
        if m.__class__ is tuple:
            return builder.integer("add", builder.integer("multiply", index[m[0]], m[2]), m[1])
        return m

    return tuple(sizes), lambda index: tuple(position(m, index) for m in maps)


def expanded(builder: Builder, shape: tuple[int, ...], items: list[Any]) -> list[Any]:
    """The items of an index, one for each axis or new axis: the ellipsis written out, arrays as lazy ones."""
    found: list[Any] = []
    for item in items:
        if item.__class__ in (list, tuple) or (hasattr(item, "dtype") and item.__class__ not in (Sym, Lazy)):
            found.extend(known_places(builder, getattr(item, "value", item)))
        elif item.__class__ is Lazy and item.shape == ():
            found.append(item.element(()))
        elif item.__class__ is Lazy and item.kind != INT:
            raise Unsupported("an index by a mask, or by floats, together with other indices")
        else:
            found.append(item)
    rest = len(shape) - sum(item is not None and item is not Ellipsis for item in found)
    if rest < 0:
        raise Unsupported("more indices than axes")
    if not any(item is Ellipsis for item in found):
        return found + [slice(None)] * rest
    place = next(k for k, item in enumerate(found) if item is Ellipsis)
    return found[:place] + [slice(None)] * rest + found[place + 1 :]


def known_places(builder: Builder, item: Any) -> list[Any]:
    """Arrays of integers for a list or an array in an index; of a mask, the places at which it holds."""
    import numpy as np

    if item.__class__ in (list, tuple) and any(part.__class__ in (Sym, Lazy) for part in item):
        return [array_of_list(builder, list(item))]
    values = np.asarray(item)
    if values.dtype.kind == "b":
        return [known_integers(builder, found) for found in values.nonzero()]
    if values.dtype.kind not in "iu" and values.size:
        raise Unsupported("an index that is no integer")
    return [known_integers(builder, values)] if values.ndim else [int(values)]


def known_integers(builder: Builder, values: Any) -> Lazy:
    """A NumPy array of integers; evenly spaced ones are computed, so that they need no memory."""
    import numpy as np

    values = np.asarray(values, dtype=np.int64)
    if values.size:
        start = int(values.flat[0])
        steps = [int(values.take(1, axis).flat[0]) - start if n > 1 else 0 for axis, n in enumerate(values.shape)]
        even = start + sum(
            (step * np.arange(n).reshape([-1 if k == axis else 1 for k in range(values.ndim)])
             for axis, (n, step) in enumerate(zip(values.shape, steps))),
            np.zeros([1] * values.ndim, dtype=np.int64),
        )  # fmt: skip
        if np.array_equal(np.broadcast_to(even, values.shape), values):

            def element(index: tuple[Any, ...]) -> Any:
                place: Any = start
                for i, step in zip(index, steps):
                    place = builder.integer("add", builder.integer("multiply", i, step), place)
                return place

            found = view(builder, INT, values.shape, element)
            found.interval = (int(values.min()), int(values.max()))
            return found
    return builder.constant(INT, values.shape, values.reshape(-1).tolist())


def checked_places(builder: Builder, places: Lazy, n: int, failure: tuple[Any, ...] | None = None) -> Lazy:
    """An array of indices, each within bounds and counted from the front. `failure` is as for `wrapped`."""
    if 0 in places.shape:
        return places  # of no indices none is out of bounds
    if places.interval is not None:
        low, high = places.interval
        if low >= 0 and high < n:
            return places
        if low < -n or high >= n:
            raise Unsupported("an index that is out of range")
    if failure is not None and places.shape:
        places = builder.settle(places)
        passed = check_extremes(builder, places, n, failure)
    else:
        passed = None

    def element(index: tuple[Any, ...]) -> Any:
        i = places.element(index)
        if i.__class__ is Sym:
            return wrapped(builder, i, n) if passed is None else from_front(builder, i, n, passed)
        if not -n <= i < n:
            raise Unsupported("an index that is out of range")
        return i % n

    checked: Lazy = builder.settle(Lazy(builder, INT, places.shape, element))
    checked.interval = (0, max(n - 1, 0))
    return checked


def wrapped(builder: Builder, i: Sym, n: int, failure: tuple[Any, ...] | None = None) -> Sym:
    """An index within bounds, counted from the front; what is not known now is checked when the kernel runs.

    `failure` says what an index out of bounds is (ir.Check).
    """
    low, high = builder.interval(i)
    if low >= 0 and high < n:
        return i
    start = 0 if low >= 0 else -n
    if low < start or high >= n:
        builder.append(ir.Check(i.var, start, n, STATE.site, failure))
    return from_front(builder, i, n)


def check_extremes(builder: Builder, places: Lazy, n: int, failure: tuple[Any, ...]) -> Var:
    """Check an array of indices by its least and its largest one: the tape names the one of these that is wrong.

    The result is a zero that is known where the check has been passed. What must not be read before adds it.
    """
    least, largest = OPERATORS["minimum"], OPERATORS["maximum"]

    def step(index: tuple[Any, ...], low: Any, high: Any) -> tuple[Any, ...]:
        i = places.element(index)
        return least(low, i), largest(high, i)

    low, high = builder.arrays.fold_over(places.shape, (n - 1, -n), step)
    builder.append(ir.Check(raw(low), -n, n, STATE.site, failure))
    builder.append(ir.Check(raw(high), -n, n, STATE.site, failure))
    passed = Var(INT)
    builder.append(ir.Set(passed, "copy", (0,), None, None))
    return passed


def from_front(builder: Builder, i: Sym, n: int, passed: Var | None = None) -> Sym:
    """An index that is known to be within bounds, counted from the front. `passed` is what `check_extremes` gives."""
    start = 0 if builder.interval(i)[0] >= 0 else -n
    within = Var(INT)
    builder.ranges[within] = (start, max(n - 1, 0))
    op, args = ("copy", (i.var,)) if passed is None else ("add", (i.var, passed))
    builder.append(ir.Set(within, op, args, None, None))
    if start == 0:
        return Sym(builder, within)
    i = Sym(builder, within)
    negative = builder.emit("less", (i, 0), BOOL)
    chosen = builder.emit("where_select", (negative, builder.integer("add", i, n), i), INT)
    builder.ranges[chosen.var] = (0, max(n - 1, 0))
    return chosen
