"""Lazy arrays: views, lists and constants as arrays, and indexing."""

from __future__ import annotations

from . import ir
from .build import NUMBERS, Builder, Lazy, Sym, join, kind_of, raw
from .ir import BOOL, FLOAT, INT, Array, Unsupported

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
    return found


def lazy(builder: Builder, x: Any) -> Lazy:
    x = x if x.__class__ in (Lazy, Sym) or x.__class__ in NUMBERS else builder.operand(x)
    if x.__class__ is not Lazy:
        kind = kind_of(x)
        return view(builder, kind, (), lambda index: x)
    return x


def result(x: Lazy) -> Any:
    """A rank-0 array as its element."""
    return x.element(()) if x.shape == () else x


def array_of_list(builder: Builder, items: list[Any], role: str = "local") -> Lazy:
    """A list as an array. Its elements are computed once, here."""
    parts = [lazy(builder, item) for item in items]
    if not parts:
        raise Unsupported("an empty list as an array")
    shape = parts[0].shape
    if any(p.shape != shape for p in parts):
        raise Unsupported("a ragged list")
    kinds = {p.kind for p in parts}
    if BOOL in kinds and len(kinds) > 1:
        raise Unsupported("a list of booleans and numbers")
    kind = join(list(kinds))
    array = Array(kind, (len(parts), *shape), role=role)
    builder.append(ir.Alloc(array, False))
    size = 1
    for n in shape:
        size *= n
    for k, part in enumerate(parts):

        def store(index: tuple[Any, ...], part: Lazy = part, k: int = k) -> None:
            value = part.element(index)
            if kind == FLOAT:
                value = builder.to_float(value)
            place = builder.integer("add", builder.flat(index, shape), k * size)
            builder.append(ir.Store(array, raw(place), raw(value)))

        builder.each(shape, store)
    return builder.stored(array)


def constant_array(builder: Builder, value: Any) -> Lazy:
    """A NumPy array that the program holds as a constant."""
    if value.dtype.kind not in "fib":
        raise Unsupported(f"an array of dtype {value.dtype}")
    if value.size > 4096:
        raise Unsupported("a large constant array")
    return array_of_list(builder, value.tolist()) if value.ndim else lazy(builder, value.item())


def get(builder: Builder, x: Lazy, index: Any) -> Any:
    """x[index] for integers, symbols, slices, newaxis and the ellipsis."""
    items = list(index) if index.__class__ is tuple else [index]
    used = sum(1 for i in items if i is not None and i is not Ellipsis)
    if used > len(x.shape):
        raise Unsupported("too many indices")
    if Ellipsis in [i for i in items if i.__class__ is type(Ellipsis)]:
        place = next(k for k, i in enumerate(items) if i is Ellipsis)
        items[place : place + 1] = [slice(None)] * (len(x.shape) - used)
    else:
        items += [slice(None)] * (len(x.shape) - used)
    shape: list[int] = []
    maps: list[Any] = []  # per source axis: a fixed index, or (position in the result, start, step)
    axis = 0
    for item in items:
        if item is None:
            shape.append(1)
            continue
        n = x.shape[axis]
        if item.__class__ is slice:
            start, stop, step = item.indices(n)
            maps.append((len(shape), start, step))
            shape.append(len(range(start, stop, step)))
        elif item.__class__ is int:
            if not -n <= item < n:
                raise Unsupported("an index out of range")
            maps.append(item % n)
        elif item.__class__ is list or (item.__class__ is Lazy and item.kind == INT):
            chosen = lazy(builder, item)
            if chosen.kind != INT or any(i.__class__ is not slice for i in items if i is not item and i is not None):
                raise Unsupported("an index of this kind")
            chosen = checked_places(builder, chosen, n)
            maps.append((len(shape), chosen))
            shape.extend(chosen.shape)
        elif item.__class__ is Sym and item.kind == INT:
            maps.append(wrapped(builder, item, n))
        else:
            raise Unsupported("an index of this kind")
        axis += 1

    def position(m: Any, index: tuple[Any, ...]) -> Any:
        if m.__class__ is not tuple:
            return m
        if len(m) == 2:
            first, places = m
            return places.element(index[first : first + len(places.shape)])
        return builder.integer("add", builder.integer("multiply", index[m[0]], m[2]), m[1])

    def source(index: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(position(m, index) for m in maps)

    return result(remap(x, tuple(shape), source))


def checked_places(builder: Builder, places: Lazy, n: int) -> Lazy:
    """An array of indices, each within bounds and counted from the front."""

    def element(index: tuple[Any, ...]) -> Any:
        i = places.element(index)
        if i.__class__ is Sym:
            return wrapped(builder, i, n)
        if not -n <= i < n:
            raise Unsupported("an index out of range")
        return i % n

    return builder.settle(Lazy(builder, INT, places.shape, element))  # type: ignore[no-any-return]


def wrapped(builder: Builder, i: Sym, n: int) -> Sym:
    """An index within bounds, counted from the front; what is not known now is checked when the kernel runs."""
    low, high = builder.interval(i)
    if low >= 0 and high < n:
        return i
    start = 0 if low >= 0 else -n
    if low < start or high >= n:
        builder.append(ir.Check(i.var, start, n))
    within = ir.Var(INT)
    builder.ranges[within] = (start, max(n - 1, 0))
    builder.append(ir.Set(within, "copy", (i.var,), None, None))
    if start == 0:
        return Sym(builder, within)
    i = Sym(builder, within)
    negative = builder.emit("less", (i, 0), BOOL)
    chosen = builder.emit("where_select", (negative, builder.integer("add", i, n), i), INT)
    builder.ranges[chosen.var] = (0, max(n - 1, 0))
    return chosen
