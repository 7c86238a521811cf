"""Rows on arrays as loops and index maps over lazy arrays."""

from __future__ import annotations

from ...core.dtypes import INT64
from ...core.state import STATE
from ...core.tensor import OPERATORS
from ...ops.reductions import ROUNDED
from ...ops.registry import ROWS
from .. import ir
from ..built import ANY, Noted
from ..inputs import SOME
from ..ir import BOOL, FLOAT, INT, Array, Unsupported
from ..symbols.arrays import get, lazy, remap, result, tensor_of_list, view
from ..symbols.build import Builder
from ..symbols.pairs import marked
from ..symbols.strength import is_strong, own
from ..symbols.symbol import NUMBERS, Lazy, Sym, broadcast, join, kind_of, pick, raw
from .composites import of_data, places_of, whole

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


def axes_of(axis: Any, rank: int) -> tuple[int, ...]:
    if axis is None:
        return tuple(range(rank))
    axes = (axis,) if axis.__class__ is int else tuple(axis)
    if any(a.__class__ is not int or not -rank <= a < rank for a in axes) or len({a % rank for a in axes}) < len(axes):
        raise Unsupported("an axis that is out of range")
    return tuple(a % rank for a in axes)


def sum_row(builder: Builder, inputs: tuple[Any, ...], attributes: dict[str, Any]) -> Any:
    x = lazy(builder, inputs[0])
    if attributes.get("dtype") is not None:
        raise Unsupported("a sum with a dtype of its own")
    if x.kind != FLOAT:
        return builder.arrays.sum_of_integers(x, attributes.get("axis"), attributes.get("keepdims"))
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
        if attributes.get("keepdims"):
            return view(builder, FLOAT, (1,) * len(x.shape), lambda index: total)
        return total
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
        raise Unsupported("the mean of no elements")
    if x.kind != FLOAT:
        x = Lazy(builder, FLOAT, x.shape, lambda index, x=x: builder.to_float(x.element(index)))  # type: ignore[misc]
    return builder.apply(OPERATORS["divide"], (sum_row(builder, (x,), attributes), float(count)), None)


def reduce_mean_row(builder: Builder, inputs: tuple[Any, ...], attributes: dict[str, Any]) -> Any:
    x = lazy(builder, inputs[0])
    if x.kind != INT:
        return mean_row(builder, inputs, attributes)
    size = 1
    for a in axes_of(attributes.get("axis"), len(x.shape)):
        size *= x.shape[a]
    if size == 0:
        raise Unsupported("the mean of no elements")
    total = sum_row(builder, (x,), attributes)
    total = builder.settle(total) if total.__class__ is Lazy else total
    # Towards zero, as the row itself has it.
    whole = OPERATORS["sign"](total) * OPERATORS["floor_divide"](OPERATORS["abs"](total), size)
    whole = builder.settle(whole) if whole.__class__ is Lazy else whole
    noted = Noted(ROUNDED, STATE.site, True, "N0301")
    builder.arrays.note_where(OPERATORS["not_equal"](whole * size, total), noted)
    return own(builder, whole, builder.own_integers or INT64) if is_strong(builder, x) else whole


def index_row(builder: Builder, inputs: tuple[Any, ...], attributes: dict[str, Any]) -> Any:
    return get(builder, lazy(builder, inputs[0]), attributes["index"])


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
        raise Unsupported("reshape to another number of elements")
    array = x.stored if x.stored is not None else builder.materialised(x).stored
    assert array is not None
    return result(
        view(builder, x.kind, tuple(shape), lambda index: builder.load(array, builder.flat(index, tuple(shape))))
    )


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


def stack_row(builder: Builder, inputs: tuple[Any, ...], attributes: dict[str, Any]) -> Any:
    stacked = tensor_of_list(builder, list(inputs))
    axis = attributes.get("axis", 0) % len(stacked.shape)
    if axis == 0:
        return stacked
    order = list(range(1, len(stacked.shape)))
    order.insert(axis, 0)
    return transpose_row(builder, (stacked,), {"axes": tuple(order)})


def cast_row(builder: Builder, inputs: tuple[Any, ...], attributes: dict[str, Any]) -> Any:
    from ...ops.structure import as_dtype

    target = as_dtype(attributes["dtype"])
    x = lazy(builder, inputs[0]) if inputs[0].__class__ in (list, tuple) else inputs[0]
    if builder.mode == SOME and target.name == "float32":
        return to_single(builder, x)
    if builder.mode == SOME and target.name == "float64":
        if x.__class__ is Lazy or builder.singles:
            # Derivatives by float32 inputs are float32, also where nothing is left of them but a zero.
            raise Unsupported("a tensor, or an input of float32, that is made float64")
        builder.made_strong[0] = True
        return builder.emit("strong", (builder.cast_to_float(x),), FLOAT, by=object())
    if target.name == ("float32" if builder.mode else "float64"):
        if x.__class__ is Lazy:
            return marked(builder, Lazy(builder, FLOAT, x.shape, lambda index: builder.cast_to_float(x.element(index))))
        return marked(builder, builder.cast_to_float(x))
    if target.name in ("int64", "int32") and x.__class__ in (Sym, Lazy):
        if x.__class__ is Sym and x.kind == FLOAT:
            builder.note_end(x.var, f"the cast to {target.name}")
        return own(builder, whole_numbers(builder, x), target)
    if target.name == "bool" and x.__class__ is Lazy:
        return Lazy(builder, BOOL, x.shape, lambda index: builder.to_bool(x.element(index)))
    if target.name == "bool" and x.__class__ is Sym:
        return builder.to_bool(x)
    raise Unsupported(f"a cast to {target.name}")


def whole_numbers(builder: Builder, x: Any) -> Any:
    """A number or an array as integers, floats without what comes behind the point."""
    if x.__class__ is not Lazy:
        return builder.emit("to_int", (x,), INT) if x.kind == FLOAT else builder.to_int(x)
    if x.kind == INT:
        return x

    def element(index: tuple[Any, ...]) -> Any:
        item = x.element(index)
        return whole_numbers(builder, item) if item.__class__ is Sym else int(item)

    found = Lazy(builder, INT, x.shape, element)
    found.interval = (0, 1) if x.kind == BOOL else None
    return found


def tf_where_row(builder: Builder, inputs: tuple[Any, ...], attributes: dict[str, Any]) -> Any:
    if len(inputs) != 3 or inputs[1] is None or inputs[2] is None:
        from .data_shaped import argwhere

        return argwhere(builder, lazy(builder, inputs[0]))
    return where_row(builder, inputs, attributes)


def gather_nd_row(builder: Builder, inputs: tuple[Any, ...], attributes: dict[str, Any]) -> Any:
    x, vectors = inputs
    if not of_data(vectors):
        return ROWS["gather_nd"].function(x, vectors, **attributes)  # type: ignore[misc]
    if attributes.get("batch_dims"):
        raise Unsupported("gather_nd with these indices")
    x = lazy(builder, x)
    return get(builder, x, places_of(builder, vectors, x.shape))


def to_single(builder: Builder, x: Any) -> Any:
    """A number or an array as float32, where bare floats are not; no two casts are one, of which each rounds its cotangent."""
    cast = object()

    def element(x: Any) -> Any:
        return builder.emit("to_single", (builder.to_int(x) if kind_of(x) == BOOL else x,), FLOAT, by=cast)

    return Lazy(builder, FLOAT, x.shape, lambda index: element(x.element(index))) if x.__class__ is Lazy else element(x)


def where_row(builder: Builder, inputs: tuple[Any, ...], attributes: dict[str, Any]) -> Any:
    if len(inputs) != 3 or inputs[1] is None or inputs[2] is None:
        from .data_shaped import nonzero

        return nonzero(builder, lazy(builder, inputs[0]))
    parts = [lazy(builder, x) for x in inputs]
    shape = broadcast([x.shape for x in parts], "where")
    kind = join([parts[1].kind, parts[2].kind])

    def chosen(condition: Any, a: Any, b: Any) -> Any:
        if kind == BOOL:
            a, b = builder.to_int(a), builder.to_int(b)
        return builder.select(condition, a, b)

    strong = kind == INT and any(is_strong(builder, x) for x in inputs[1:])
    if not shape:
        found = chosen(*[result(x) for x in parts])
    else:
        kind = INT if kind == BOOL else kind
        found = Lazy(builder, kind, shape, lambda index: chosen(*[pick(p, index, shape) for p in parts]))
    return own(builder, found, builder.own_integers or INT64) if strong else found


def identity_row(builder: Builder, inputs: tuple[Any, ...], attributes: dict[str, Any]) -> Any:
    if attributes.get("dtype") is not None:
        raise Unsupported("a new tensor with a dtype of its own")
    x = inputs[0]
    return x if x.__class__ in (Sym, Lazy) or x.__class__ in NUMBERS else builder.operand(x)


def positive_row(builder: Builder, inputs: tuple[Any, ...], attributes: dict[str, Any]) -> Any:
    """+x, which of a truth value is an integer."""
    x = identity_row(builder, inputs, attributes)
    if x.__class__ is Lazy:
        return whole(builder, x)
    return builder.to_int(x) if x.__class__ is not Lazy and kind_of(x) == BOOL else x


def constant_row(builder: Builder, inputs: tuple[Any, ...], attributes: dict[str, Any]) -> Any:
    x = inputs[0]
    if attributes.get("dtype") is not None:
        return builder.apply(ROWS["cast"], inputs, attributes)
    known = x.var if x.__class__ is Sym else getattr(x, "stored", None)
    if builder.mode == SOME and known not in builder.singles:
        raise Unsupported("a float64 tensor beside float32")  # of bare floats it is float64
    found = identity_row(builder, inputs, attributes)
    kind = found.kind if found.__class__ is Lazy else kind_of(found)
    if kind == FLOAT:
        return marked(builder, found)
    return own(builder, found) if kind == INT and not is_strong(builder, found) else found


def filled(builder: Builder, name: str, x: Any) -> Any:
    """What `zeros_like` or `ones_like` gives of a real operand, or of a part of a complex one."""
    value = 1.0 if name == "ones_like" else 0.0
    source = x.var if x.__class__ is Sym else getattr(x, "stored", None)
    builder.note_end(source, f"{name} (a constant)")
    if x.__class__ is not Lazy:
        return value
    number: Any = value if x.kind == FLOAT else int(value) if x.kind == INT else bool(value)
    if x.stored in builder.singles:
        number = to_single(builder, value)
    return view(builder, x.kind, x.shape, lambda index: number)


def filled_like(name: str) -> Any:
    def row(builder: Builder, inputs: tuple[Any, ...], attributes: dict[str, Any]) -> Any:
        x = inputs[0]
        found = filled(builder, name, x)
        if attributes.get("dtype") is not None:
            return builder.apply(ROWS["cast"], (found,), attributes)
        if x.__class__ is Lazy:
            # For all that is known of x.
            builder.made_strong[0] = True
            builder.origins.add(ANY)
        elif kind_of(x) != FLOAT:
            raise Unsupported("a new number like an integer")
        elif builder.mode == SOME and builder.made_strong[0]:
            raise Unsupported("a new number like a float64 beside float32")
        return found

    return row


def concat_row(builder: Builder, inputs: tuple[Any, ...], attributes: dict[str, Any]) -> Any:
    parts = [lazy(builder, x) for x in inputs]
    if attributes.get("axis", 0) is None:
        parts = [lazy(builder, reshape_row(builder, (x,), {"shape": -1})) for x in parts]
        attributes = {"axis": 0}
    rank = len(parts[0].shape)
    axis = axes_of(attributes.get("axis", 0), rank)[0] if rank else 0
    kind = join([p.kind for p in parts])
    rest = [(*p.shape[:axis], *p.shape[axis + 1 :]) for p in parts]
    if not rank or any(len(p.shape) != rank for p in parts) or len(set(rest)) != 1:
        raise Unsupported("joining tensors of several ranks or sizes")
    shape = (*parts[0].shape[:axis], sum(p.shape[axis] for p in parts), *parts[0].shape[axis + 1 :])
    array = Array(kind, shape)
    builder.append(ir.Alloc(array, False))
    start = 0
    for part in parts:

        def store(index: tuple[Any, ...], part: Lazy = part, start: int = start) -> None:
            place = (*index[:axis], builder.integer("add", index[axis], start), *index[axis + 1 :])
            value = part.element(index)
            value = builder.to_float(value) if kind == FLOAT else builder.to_int(value) if kind == INT else value
            builder.append(ir.Store(array, raw(builder.flat(place, shape)), raw(value)))

        builder.each(part.shape, store)
        start += part.shape[axis]
    return builder.stored(array)


def stop_row(builder: Builder, inputs: tuple[Any, ...], attributes: dict[str, Any]) -> Any:
    """A statement of its own, which no derivative of any order passes."""
    x = (
        inputs[0]
        if inputs[0].__class__ in (Sym, Lazy) or inputs[0].__class__ in NUMBERS
        else builder.operand(inputs[0])
    )
    if x.__class__ is Lazy and x.kind == FLOAT:
        return builder.elementwise(ROWS["stop_gradient"], (x,))
    if x.__class__ is Sym and x.kind == FLOAT:
        return builder.emit("stop_gradient", (x,), FLOAT)
    return x


ARRAY_ROWS: dict[str, Callable[[Builder, tuple[Any, ...], dict[str, Any]], Any]] = {
    "sum": sum_row,
    "mean": mean_row,
    "reduce_mean": reduce_mean_row,
    "index": index_row,
    "reshape": reshape_row,
    "transpose": transpose_row,
    "stack": stack_row,
    "concat": concat_row,
    "cast": cast_row,
    "where": where_row,
    "tf.where": tf_where_row,
    "gather_nd": gather_nd_row,
    "where_select": where_row,
    "ones_like": filled_like("ones_like"),
    "zeros_like": filled_like("zeros_like"),
    "identity": identity_row,
    "constant": constant_row,
    "positive": positive_row,
    "stop_gradient": stop_row,
}
