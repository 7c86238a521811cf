"""Masked arrays: parts of tensors whose length data decides.

So are `x[x > 0]`, `x[:i]` (sliced.py) and the parts of a dynamic_partition. Such a part is the whole tensor with a question
for each of its rows. Element-wise operations keep to that, and reductions over all rows take the neutral element where a
row is not part of it. Where its rows are wanted one after the other, as a result or in a loop, they are copied together.
"""

from __future__ import annotations

from math import inf

from ...ops.registry import NAMES
from .. import ir
from ..ir import FLOAT, INT, Unsupported, Var
from ..operations.array_loops import Loops
from ..source.primitives import TEXT
from ..symbols.arrays import get, lazy
from ..symbols.build import Builder
from ..symbols.symbol import NUMBERS, Lazy, Sym, raw
from ..symbols.values import List, Selected, plain
from .sliced import aligned

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ...core.operation import Operation
    from .applying import Applying

# Reductions, with what they take for a row that is not there; those of nothing are errors, or nan with a warning.
NEUTRAL: dict[str, Any] = {
    "sum": 0, "reduce_sum": 0, "mean": 0, "prod": 1, "max": -inf, "min": inf, "any": False, "all": True,
}  # fmt: skip
PRODUCTS = ("dot", "matmul", "inner", "vdot")
NEED_A_ROW = ("mean", "max", "min")
OF_WHOLE = ("max", "min", "any", "all")
# Rows whose first axis is that of the places they take as their second operand.
BY_PLACES = {"gather": 1, "take": 1, "gather_nd": 2}


def by_mask(builder: Builder, x: Lazy, mask: Lazy) -> Selected:
    """`x[mask]`."""
    if mask.shape != x.shape[: len(mask.shape)] or not mask.shape:
        raise Unsupported("a mask of another shape than the tensor")
    x = builder.settle(x)
    keep = mask if mask.stored is not None and not mask.volatile else builder.materialised(mask)
    if mask.stored is None:
        builder.late.append((mask, mask.stored, mask.element))
        mask.stored, mask.element = keep.stored, keep.element
    key = keep.stored
    if len(mask.shape) > 1:
        reshape = NAMES["reshape"]
        size = 1
        for n in mask.shape:
            size *= n
        x = builder.apply(reshape, (x,), {"shape": (size, *x.shape[len(mask.shape) :])})
        keep = builder.apply(reshape, (keep,), {"shape": (size,)})
    return Selected(x, keep, key)


def partitioned(builder: Builder, x: Lazy, places: Lazy, count: int) -> List:
    """The parts of a dynamic_partition."""
    if places.shape != x.shape[: len(places.shape)] or len(places.shape) != 1:
        raise Unsupported("a dynamic_partition of these shapes")
    places = builder.settle(places)
    builder.each(places.shape, lambda at: builder.append(ir.Check(raw(places.element(at)), 0, count)))
    found: list[Any] = []
    for k in range(count):
        here = builder.materialised(builder.elementwise(NAMES["equal"], (places, k)))
        found.append(by_mask(builder, x, here))
    return List(found)


def guarded(builder: Builder, part: Selected, neutral: Any) -> Lazy:
    """All rows, with a number for the elements of those that are not part of it; these are not computed."""
    rows = part.rows
    fill = float(neutral) if rows.kind == FLOAT else neutral

    def element(index: tuple[Any, ...]) -> Any:
        here = part.keep.element(index[:1])
        if here.__class__ is bool:
            return rows.element(index) if here else fill
        block, value = builder.nested(lambda: rows.element(index))
        var = Var(rows.kind, "m")
        builder.append(ir.If(here.var, block, [], [(var, raw(builder_kind(builder, rows.kind, value)), fill)]))
        return Sym(builder, var)

    return followed(builder, rows, builder.materialised(Lazy(builder, rows.kind, rows.shape, element)))


def followed(builder: Builder, rows: Lazy, found: Lazy) -> Lazy:
    """What a part is copied into, which a tape follows as it does the tensor, also where no row is part of it."""
    if builder.follower is not None and rows.kind == FLOAT:
        builder.follower.link([found.stored], rows)
    return found


def builder_kind(builder: Builder, kind: str, value: Any) -> Any:
    if value.__class__ is Sym and value.kind != kind:
        raise Unsupported("a part of a tensor that is given values of another kind")
    return builder.of_kind(kind, value) if value.__class__ is not Sym else value


def compacted(builder: Builder, part: Selected) -> tuple[Lazy, Any]:
    """The rows of a part one after the other, in an array with room for all; and how many they are."""
    rows, n = part.rows, part.rows.shape[0]
    words = Loops(builder)
    found = words.changing(rows.shape, rows.kind, zero=True)

    def step(i: Any, count: Any) -> tuple[Any, ...]:
        here = part.keep.element((i,))
        place = words.bound(builder.apply(NAMES["minimum"], (count, n - 1), None), n - 1)

        def copy() -> None:
            words.each(rows.shape[1:], lambda rest: words.put(found, (place, *rest), rows.element((i, *rest))))

        words.when(here, copy)
        return (builder.integer("add", count, builder.to_int(here)),)

    (count,) = words.fold(n, (0,), step, within=(0, n))
    words.bound(count, n)
    found.interval = rows.interval
    return followed(builder, rows, found), count


def as_long(builder: Builder, part: Selected, n: int) -> Lazy:
    """A part that is as long as something else, or the tape takes the step."""
    if not 1 < n <= part.rows.shape[0]:
        raise Unsupported("a part of a tensor whose length depends on data, together with what need not be as long")
    rows, count = compacted(builder, part)
    builder.append(ir.Check(raw(count), n, n + 1))
    found: Lazy = get(builder, rows, slice(0, n))
    found.interval = rows.interval
    return found


def taken(builder: Builder, x: Lazy, index: tuple[Any, ...]) -> Selected:
    """`x[i, j]` at places that data selects, each of them one of the tensor's."""
    first = index[0]
    within = all(i.key == first.key and inside(i.rows, n) for i, n in zip(index, x.shape))
    if not within or len(index) > len(x.shape) or any(len(i.rows.shape) != 1 for i in index):
        raise Unsupported("an index whose length depends on data")
    return Selected(get(builder, x, tuple([builder.settle(i.rows) for i in index])), first.keep, first.key)


def fits(part: Selected, shape: tuple[int, ...]) -> bool:
    """Whether indices are known to be those of a tensor of a shape."""
    if part.places is not None:
        return len(part.places) <= len(shape) and all(n <= m for n, m in zip(part.places, shape))
    return inside(part.rows, shape[0])


def inside(places: Lazy, n: int) -> bool:
    """Whether indices are known to be those of an axis."""
    return places.interval is not None and 0 <= places.interval[0] <= places.interval[1] < n


def length(builder: Builder, part: Selected) -> Any:
    """How many rows there are."""
    n = part.keep.shape[0]
    ones = Lazy(builder, FLOAT, (n,), lambda index: builder.to_float(part.keep.element(index)))
    total = builder.apply(NAMES["sum"], (ones,), {})
    if total.__class__ is not Sym:
        return int(total)
    found = builder.emit("to_int", (total,), INT)
    builder.ranges[found.var] = (0, n)
    return found


def elementwise(machine: Applying, op: Operation, inputs: list[Any], attributes: Any = None) -> Any:
    """An element-wise operation on parts by one selection, numbers, and tensors that broadcast over the rows."""
    if op.name not in TEXT:
        raise Unsupported(f"{op.name} of a part of a tensor whose length depends on data")
    parts = [x for x in inputs if x.__class__ is Selected]
    lengths = {x.shape[0] for x in inputs if x.__class__ is Lazy and len(x.shape) == len(parts[0].rows.shape)}
    if len(lengths) == 1 and all(x.__class__ is not Lazy or len(x.shape) <= len(parts[0].rows.shape) for x in inputs):
        (n,) = lengths
        whole = [as_long(machine.builder, x, n) if x.__class__ is Selected else x for x in inputs]
        return machine.builder.apply(op, tuple(whole), attributes)
    rank = max(len(part.rows.shape) for part in parts)
    if any(part.key != parts[0].key for part in parts):
        inputs = [x if x.__class__ is not Selected else aligned(machine.builder, x, parts[0]) for x in inputs]
    others = [x for x in inputs if x.__class__ is not Selected]
    if any(x.__class__ not in (*NUMBERS, Sym, Lazy) or (x.__class__ is Lazy and len(x.shape) >= rank) for x in others):
        raise Unsupported("a part of a tensor whose length depends on data, together with what need not be as long")
    found = machine.builder.apply(op, tuple(x.rows if x.__class__ is Selected else x for x in inputs), attributes)
    if found.__class__ is not Lazy:
        raise Unsupported(f"{op.name} of a part of a tensor whose length depends on data")
    return parts[0].of(found)


def row(machine: Applying, op: Operation, args: list[Any], keywords: dict[str, Any]) -> Any:
    """What a row of the table gives for parts of tensors."""
    builder = machine.builder
    inputs, attributes = op.bind(args, keywords)
    if op.name in TEXT:
        return elementwise(machine, op, list(inputs), attributes)
    if op.name in PRODUCTS and all(x.__class__ is Selected and len(x.rows.shape) == 1 for x in inputs):
        return row(machine, NAMES["sum"], [elementwise(machine, NAMES["multiply"], list(inputs))], {})
    part = inputs[0]
    given = attributes or {}
    if op.name == "matmul" and part.__class__ is Selected and len(part.rows.shape) == 2 and inputs[1].__class__ is Lazy:
        return part.of(lazy(builder, builder.apply(op, (part.rows, inputs[1]), given)))
    if op.name == "cast" and part.__class__ is Selected:
        return part.of(builder.apply(op, (part.rows,), given))
    if op.name in BY_PLACES and part.__class__ is Lazy and inputs[1].__class__ is Selected:
        return by_places(builder, op, part, inputs[1], given)
    if part.__class__ is Selected and len(inputs) == 1:
        from .of_parts import of_part

        found = of_part(machine, op.name, part, given)
        if found is not None:
            return found
    plainly = part.__class__ is Selected and len(inputs) == 1 and not given.get("keepdims")
    if op.name not in NEUTRAL or not plainly or given.get("axis") not in (None, 0, (0,)) or not reducible(op, part):
        raise Unsupported(f"{op.name} of a part of a tensor whose length depends on data")
    rows = length(builder, part) if op.name in NEED_A_ROW else None
    if rows is not None:
        builder.append(ir.Check(raw(rows), 1, part.keep.shape[0] + 1))
    whole = guarded(builder, part, neutral(op, part))
    if op.name != "mean":
        return builder.apply(op, (whole,), given)
    size: Any = rows
    if given.get("axis") is None:
        for n in part.rows.shape[1:]:
            size = builder.integer("multiply", size, n)
    total = builder.apply(NAMES["sum"], (whole,), given)
    return builder.apply(NAMES["divide"], (total, builder.to_float(size)), None)


def reducible(op: Operation, part: Selected) -> bool:
    """Whether a neutral element is known: integers have no infinities."""
    return part.rows.kind != INT or (op.name in OF_WHOLE and part.rows.interval is not None)


def neutral(op: Operation, part: Selected) -> Any:
    """What a reduction takes for a row that is not there."""
    if part.rows.kind == INT and op.name in NEED_A_ROW:
        assert part.rows.interval is not None
        return part.rows.interval[op.name == "min"]
    return NEUTRAL[op.name]


def by_places(builder: Builder, op: Operation, x: Lazy, part: Selected, given: dict[str, Any]) -> Selected:
    """`gather` and its kin, of what data selects."""
    places = part.rows
    plainly = given.get("axis") in (None, 0) and not given.get("batch_dims") and given.get("mode", "raise") == "raise"
    flat = op.name == "take" and given.get("axis") is None and len(x.shape) > 1
    if not plainly or flat or len(places.shape) != BY_PLACES[op.name] or not fits(part, x.shape):
        raise Unsupported(f"{op.name} of a part of a tensor whose length depends on data")
    return Selected(builder.apply(op, (x, places), given), part.keep, part.key)


def item(builder: Builder, part: Selected, index: Any) -> Any:
    """`part[i]`, for one place or an array of them."""
    rows, count = compacted(builder, part)
    n = rows.shape[0]

    def place(i: Any) -> Any:
        if i.__class__ is int:
            found = builder.integer("add", count, i) if i < 0 else i
        else:
            behind = builder.integer("add", count, i)
            found = builder.select(builder.apply(NAMES["less"], (i, 0), None), behind, i)
        # The tape says what is wrong with one that is out of range.
        rest = builder.integer("subtract", builder.integer("subtract", count, 1), found)
        for x in (found, rest):
            if x.__class__ is Sym:
                builder.append(ir.Check(x.var, 0, n))
        if found.__class__ is Sym:
            builder.ranges[found.var] = (0, n - 1)
        return found

    if index.__class__ is Lazy:
        builder_index = builder.settle(index)
        places = Lazy(builder, INT, index.shape, lambda at: place(builder_index.element(at)))
        places = builder.materialised(places)
        places.interval = (0, n - 1)
        return get(builder, rows, places)
    return get(builder, rows, place(index))


def updated_where(builder: Builder, x: Lazy, mask: Lazy, value: Any) -> Lazy:
    """`x` with another value where a mask of its shape holds."""
    if value.__class__ is Selected:
        if value.key is not mask.stored or len(mask.shape) != 1:
            raise Unsupported("parts of tensors whose lengths depend on data in several ways")
        value = value.rows
    source = lazy(builder, plain(value))
    fits = source.shape == () or (value.__class__ is Lazy and source.shape == x.shape)
    if mask.shape != x.shape or not fits or (source.kind != x.kind and not (source.kind == INT and x.kind == FLOAT)):
        raise Unsupported("an update by a mask with this value")

    def element(index: tuple[Any, ...]) -> Any:
        here = mask.element(index)
        place = () if source.shape == () else index
        old = x.element(index)
        if here.__class__ is bool:
            return source.element(place) if here else old
        block, new = builder.nested(lambda: builder.of_kind(x.kind, source.element(place)))
        var = Var(x.kind, "m")
        builder.append(ir.If(here.var, block, [], [(var, raw(new), raw(old))]))
        return Sym(builder, var)

    changed = Lazy(builder, x.kind, x.shape, element)
    if builder.follower is None:
        return builder.materialised(changed)
    found: Lazy = builder.follower.row(list(builder.follower.operands((x, source))), True, lambda: changed)
    return found if found.stored is not None else builder.materialised(found)
