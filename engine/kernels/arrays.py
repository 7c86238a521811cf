"""Array rows as loops and index maps over lazy arrays."""

from __future__ import annotations

from ..core.tensor import OPERATORS
from . import ir
from .build import NUMBERS, Builder, Lazy, Sym, broadcast, join, kind_of, pick, raw
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
    return make(x.builder, x.kind, shape, lambda index: x.element(source(index)))


def lazy(builder: Builder, x: Any) -> Lazy:
    x = x if x.__class__ in (Lazy, Sym) or x.__class__ in NUMBERS else builder.operand(x)
    if x.__class__ is not Lazy:
        kind = kind_of(x)
        return view(builder, kind, (), lambda index: x)
    return x


def result(x: Lazy) -> Any:
    """A rank-0 array as its element."""
    return x.element(()) if x.shape == () else x


def array_of_list(builder: Builder, items: list[Any]) -> Lazy:
    """A list as an array. Its elements are computed once, here."""
    parts = [lazy(builder, item) for item in items]
    if not parts:
        raise Unsupported("an empty list as an array")
    shape = parts[0].shape
    if any(p.shape != shape for p in parts):
        raise Unsupported("a ragged list")
    kind = join([p.kind for p in parts])
    array = Array(kind, (len(parts), *shape))
    builder.block.append(ir.Alloc(array, False))
    size = 1
    for n in shape:
        size *= n
    for k, part in enumerate(parts):

        def store(index: tuple[Any, ...], part: Lazy = part, k: int = k) -> None:
            value = part.element(index)
            if kind == FLOAT:
                value = builder.to_float(value)
            place = builder.integer("add", builder.flat(index, shape), k * size)
            builder.block.append(ir.Store(array, raw(place), raw(value)))

        builder.each(shape, store)
    return builder.stored(array)


def constant_array(builder: Builder, value: Any) -> Lazy:
    """A NumPy array that the program holds as a constant."""
    if value.dtype.kind not in "fib":
        raise Unsupported(f"an array of dtype {value.dtype}")
    if value.size > 4096:
        raise Unsupported("a large constant array")
    return array_of_list(builder, value.tolist()) if value.ndim else lazy(builder, value.item())


def axes_of(axis: Any, rank: int) -> tuple[int, ...]:
    if axis is None:
        return tuple(range(rank))
    axes = (axis,) if axis.__class__ is int else tuple(axis)
    return tuple(a % rank for a in axes)


def sum_row(builder: Builder, inputs: tuple[Any, ...], attributes: dict[str, Any]) -> Any:
    x = lazy(builder, inputs[0])
    if x.kind != FLOAT or attributes.get("dtype") is not None:
        raise Unsupported("a sum of integers")
    axes = axes_of(attributes.get("axis"), len(x.shape))
    kept = [a for a in range(len(x.shape)) if a not in axes]
    reduced = tuple(x.shape[a] for a in axes)

    def element(index: tuple[Any, ...]) -> Any:
        def term(inner: tuple[Any, ...]) -> Any:
            full: list[Any] = [0] * len(x.shape)
            for a, i in zip(kept, index):
                full[a] = i
            for a, i in zip(axes, inner):
                full[a] = i
            return x.element(tuple(full))

        return builder.total(reduced, term)

    if not kept:
        total = element(())
        return (
            total
            if not attributes.get("keepdims")
            else builder.settle(Lazy(builder, FLOAT, (1,) * len(x.shape), lambda i: total))
        )
    summed = builder.settle(Lazy(builder, FLOAT, tuple(x.shape[a] for a in kept), element))
    if attributes.get("keepdims"):
        shape = tuple(1 if a in axes else n for a, n in enumerate(x.shape))
        return remap(summed, shape, lambda index: tuple(index[a] for a in kept))
    return summed


def mean_row(builder: Builder, inputs: tuple[Any, ...], attributes: dict[str, Any]) -> Any:
    x = lazy(builder, inputs[0])
    count = 1
    for a in axes_of(attributes.get("axis"), len(x.shape)):
        count *= x.shape[a]
    if count == 0:
        raise Unsupported("the mean of nothing")
    return builder.apply(OPERATORS["divide"], (sum_row(builder, inputs, attributes), float(count)), None)


def index_row(builder: Builder, inputs: tuple[Any, ...], attributes: dict[str, Any]) -> Any:
    return get(builder, lazy(builder, inputs[0]), attributes["index"])


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
        elif item.__class__ is Sym and item.kind == INT:
            maps.append(wrapped(builder, item, n, axis))
        else:
            raise Unsupported("an index of this kind")
        axis += 1

    def source(index: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(
            builder.integer("add", builder.integer("multiply", index[m[0]], m[2]), m[1]) if m.__class__ is tuple else m
            for m in maps
        )

    return result(remap(x, tuple(shape), source)) if shape or x.shape else result(x)


def wrapped(builder: Builder, i: Sym, n: int, axis: int) -> Sym:
    """A checked index, counted from the front."""
    from ..core.state import STATE

    builder.block.append(ir.Check(i.var, n, axis, STATE.site))
    negative = builder.emit("less", (i, 0), BOOL)
    return builder.emit("where_select", (negative, builder.integer("add", i, n), i), INT)


def reshape_row(builder: Builder, inputs: tuple[Any, ...], attributes: dict[str, Any]) -> Any:
    x = builder.settle(lazy(builder, inputs[0]))
    wanted = attributes["shape"]
    shape = [wanted] if wanted.__class__ is int else list(wanted)
    size = 1
    for n in x.shape:
        size *= n
    if -1 in shape:
        known = 1
        for n in shape:
            known *= n if n != -1 else 1
        shape[shape.index(-1)] = size // known if known else 0
    check = 1
    for n in shape:
        check *= n
    if check != size:
        raise Unsupported("reshape to another size")
    if x.stored is None:
        copied = Lazy(builder, x.kind, x.shape, lambda index: x.element(index))
        x = builder.settle(copied)
    array = x.stored
    assert array is not None
    flat = view(builder, x.kind, (size,), builder.stored(Array(array.kind, (size,), role=array.role)).element)
    source = array

    def element(index: tuple[Any, ...]) -> Any:
        place = builder.flat(index, tuple(shape))
        key = ("load", source, place.var if place.__class__ is Sym else place)
        for memo in reversed(builder.memos):
            if key in memo:
                return memo[key]
        var = ir.Var(source.kind, "x")
        builder.block.append(ir.Load(var, source, raw(place)))
        sym = Sym(builder, var)
        builder.memos[-1][key] = sym
        return sym

    assert flat is not None
    return result(view(builder, x.kind, tuple(shape), element))


def transpose_row(builder: Builder, inputs: tuple[Any, ...], attributes: dict[str, Any]) -> Any:
    x = lazy(builder, inputs[0])
    axes = attributes.get("axes")
    order = tuple(reversed(range(len(x.shape)))) if axes is None else axes_of(axes, len(x.shape))

    def source(index: tuple[Any, ...]) -> tuple[Any, ...]:
        places: list[Any] = [0] * len(order)
        for k, a in enumerate(order):
            places[a] = index[k]
        return tuple(places)

    return remap(x, tuple(x.shape[a] for a in order), source)


def matmul_row(builder: Builder, inputs: tuple[Any, ...], attributes: dict[str, Any]) -> Any:
    a, b = (builder.settle(lazy(builder, x)) for x in inputs)
    if not 1 <= len(a.shape) <= 2 or not 1 <= len(b.shape) <= 2 or a.shape[-1] != b.shape[0]:
        raise Unsupported("a matrix product of these shapes")
    rows, columns = a.shape[:-1], b.shape[1:]

    def element(index: tuple[Any, ...]) -> Any:
        left, right = index[: len(rows)], index[len(rows) :]
        return builder.total(
            (b.shape[0],),
            lambda k: builder.scalar_or_static("multiply", a.element((*left, *k)), b.element((*k, *right))),
        )

    product = Lazy(builder, FLOAT, (*rows, *columns), element)
    return builder.settle(product) if product.shape else element(())


def dot_row(builder: Builder, inputs: tuple[Any, ...], attributes: dict[str, Any]) -> Any:
    a, b = (lazy(builder, x) for x in inputs)
    if () in (a.shape, b.shape):
        return builder.apply(OPERATORS["multiply"], (result(a), result(b)), None)
    return matmul_row(builder, inputs, attributes)


def stack_row(builder: Builder, inputs: tuple[Any, ...], attributes: dict[str, Any]) -> Any:
    stacked = array_of_list(builder, list(inputs))
    axis = attributes.get("axis", 0) % len(stacked.shape)
    if axis == 0:
        return stacked
    order = list(range(1, len(stacked.shape)))
    order.insert(axis, 0)
    return transpose_row(builder, (stacked,), {"axes": tuple(order)})


def cast_row(builder: Builder, inputs: tuple[Any, ...], attributes: dict[str, Any]) -> Any:
    from ..ops.structure import as_dtype

    target = as_dtype(attributes["dtype"])
    x = inputs[0]
    if target.name == "float64":
        if x.__class__ is Lazy:
            return Lazy(builder, FLOAT, x.shape, lambda index: builder.to_float(x.element(index)))
        return builder.to_float(x)
    if target.name == "int64" and x.__class__ is Sym:
        return x if x.kind == INT else builder.emit("to_int", (x,), INT)
    raise Unsupported(f"a cast to {target.name}")


def where_row(builder: Builder, inputs: tuple[Any, ...], attributes: dict[str, Any]) -> Any:
    shapes = [x.shape if x.__class__ is Lazy else () for x in inputs]
    if not any(shapes):
        return builder.scalar(OPERATORS["where"], inputs)
    shape = broadcast(shapes, "where")
    parts = [lazy(builder, x) for x in inputs]

    def element(index: tuple[Any, ...]) -> Any:
        condition, a, b = (pick(p, index, shape) for p in parts)
        if condition.__class__ is not Sym:
            return a if condition else b
        return builder.scalar(OPERATORS["where"], (condition, a, b))

    return Lazy(builder, join([parts[1].kind, parts[2].kind]), shape, element)


def identity_row(builder: Builder, inputs: tuple[Any, ...], attributes: dict[str, Any]) -> Any:
    if attributes.get("dtype") is not None:
        return cast_row(builder, inputs, attributes)
    x = inputs[0]
    return x if x.__class__ in (Sym, Lazy) or x.__class__ in NUMBERS else builder.operand(x)


ARRAY_ROWS: dict[str, Callable[[Builder, tuple[Any, ...], dict[str, Any]], Any]] = {
    "sum": sum_row,
    "mean": mean_row,
    "index": index_row,
    "reshape": reshape_row,
    "transpose": transpose_row,
    "matmul": matmul_row,
    "dot": dot_row,
    "stack": stack_row,
    "cast": cast_row,
    "where_select": where_row,
    "identity": identity_row,
    "constant": identity_row,
    "positive": identity_row,
}
