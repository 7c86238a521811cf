"""Flattening: lists of lists of one length each that a comprehension makes, such as the tables of dynamic programming.

All numbers of such a grid are in one list, `cells`, which loops carry and branches merge like any other; a grid, and each
list in it, says where. So a list in a grid changes wherever it is reached from, as Python's do. That holds because what
the comprehension has put together has no other names: its element is a display, a comprehension or a product of these,
and each list in it is there once and can be reached from no variable (`own`).
"""

from __future__ import annotations

from math import prod

from ...core.state import STATE
from ...program import core as c
from ...program.loops import nodes
from .. import ir
from ..ir import BOOL, INT, Array, Unsupported
from ..symbols.arrays import get, rows_of_list, view, wrapped
from ..symbols.build import Builder
from ..symbols.symbol import NUMBERS, Lazy, Sym, kind_of
from ..symbols.values import MAX_UNROLL, Each, Grid, List, Mismatch, Range
from .heap import parts
from .steps import count_step

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    from ..symbols.values import Frame
    from .assigning import Assigning
    from .statements import Specialiser


class Plain(Unsupported):
    """What might have made lists makes something else."""


def anew(node: c.Expr) -> bool:
    """Whether an expression makes a list that nothing else refers to; the lists in it may have other names (`own`)."""
    if node.__class__ is c.Operator:
        return node.symbol == "+" or (node.symbol == "*" and (anew(node.left) or anew(node.right)))
    if node.__class__ is c.Call:
        return node.function.__class__ is c.Intrinsic and node.function.name in ("list", "sorted")
    return node.__class__ is c.MakeList or (node.__class__ is c.Comprehension and node.kind == "list")


def exchanges(node: c.Assign) -> bool:
    """Whether an assignment puts two items into one another's places: `a[i], a[j] = a[j], a[i]`.

    Among three, two places may be one, and then an item is in two of them. The second place is found when the first has its
    new item, so no index may read items.
    """
    target, value = node.targets[0], node.value
    if target.__class__ is not c.Unpack or value.__class__ is not c.MakeTuple or target.star is not None:
        return False
    stored = [(x.container, x.index) for x in target.targets if x.__class__ is c.StoreItem]
    read = [(x.value, x.index) for x in value.items if x.__class__ is c.Item]
    if not len(stored) == len(target.targets) == len(read) == len(value.items) == 2 or len(node.targets) > 1:
        return False
    if any(x.__class__ is c.Item for _, index in stored for x in nodes(index)):
        return False
    return [form(x) for x in stored] == [form(x) for x in reversed(read)]


def form(node: Any) -> Any:
    """What an expression is made of, wherever it stands; a call is like no other."""
    if node.__class__ in (c.Call, c.Method):
        return object()
    if isinstance(node, c.Node):
        slots = [slot for cls in type(node).__mro__ for slot in getattr(cls, "__slots__", ()) if slot != "site"]
        return (node.__class__, *[form(getattr(node, slot)) for slot in slots])
    return tuple(map(form, node)) if node.__class__ in (list, tuple) else node


def apart(machine: Specialiser, items: tuple[Any, ...]) -> tuple[List, ...]:
    """For lists of one grid that are put into one another's places: lists of their own, of their numbers. None for others."""
    rows = [x for x in items if x.__class__ is Grid and len(x.shape) == 1]
    if len(rows) != len(items) or any(x.cells is not rows[0].cells for x in rows):
        return ()
    return tuple([machine.collected(x, lambda item, add: add(item)) for x in rows])


def comprehended(machine: Specialiser, node: c.Comprehension, frame: Frame) -> Any:
    """The grid that a comprehension makes; None where it makes none."""
    if node.kind != "list" or len(node.clauses) != 1 or node.clauses[0].tests or not anew(node.element):
        return None
    each = machine.each_of(machine.expression(node.clauses[0].iterable, frame))
    each.length = machine.whole(each.length, "a list of as many lists as data says")
    if each.length <= MAX_UNROLL:
        made = machine.listed(node, frame, each)
        found = grid_of(machine.builder, made, 0 if machine.tables else MAX_UNROLL) if own(machine, made) else None
        return made if found is None else found
    shapes: set[tuple[int, ...]] = set()

    def add(cells: List, item: Any) -> None:
        shape = shape_of(item)
        if item.__class__ not in (List, Grid):
            raise Plain("a list of what is no list")
        if shape is None:
            raise Mismatch("a list of lists that grows in a loop", peel=False)
        if not own(machine, item):
            raise Unsupported("a list of lists that have other names")
        shapes.add(shape)
        for numbers in lists_of(item):
            machine.walk(machine.each_of(numbers), frame, lambda x: machine.grow(cells, x))

    cells = List([])

    def run(inner: Frame) -> None:
        def receive(item: Any) -> None:
            count_step(machine, node.clauses[0].site)
            machine.put(node.clauses[0].target, item, frame)
            add(inner["found"], machine.expression(node.element, frame))

        machine.walk(each, frame, receive)

    def go() -> None:
        machine.with_frame({"found": cells}, run)

    why = machine.tried(go)
    if why.__class__ is Plain:
        return machine.listed(node, frame, each)
    if why is not None:
        raise why
    if len(shapes) != 1:
        raise Mismatch("a list of lists that grows in a loop", peel=False)
    shape = (each.length, *shapes.pop())
    if cells.length.__class__ is not int or cells.length != prod(shape):
        raise Mismatch("a list of lists of several lengths", peel=False)
    return Grid(cells, shape, 0)


def shape_of(item: Any) -> tuple[int, ...] | None:
    """The shape of a list of numbers, or of a grid; None for anything else."""
    if item.__class__ is Grid:
        return item.shape
    if item.__class__ is not List or item.length.__class__ is not int or item.frozen:
        return None
    if item.items is None:
        return (item.length,) if not item.array.shape[1:] else None
    if all(x.__class__ in (*NUMBERS, Sym) for x in item.items):
        return (item.length,)
    shapes = {shape_of(x) for x in item.items}
    inner = shapes.pop() if len(shapes) == 1 else None
    return None if inner is None else (item.length, *inner)


def whole(grid: Grid) -> bool:
    """Whether a grid is all of its cells, and no list or part of another one."""
    return grid.start.__class__ is int and grid.start == 0 and grid.cells.length == prod(grid.shape)


def own(machine: Specialiser, item: Any) -> bool:
    """Whether each list in a list of lists, and that list itself, is there once and is reached from no variable."""
    others = {id(x) for x in reached(machine.frames)}
    pending = [item]
    while pending:
        x = pending.pop()
        if x.__class__ is Grid:
            if not whole(x):
                return False
            x = x.cells
        if x.__class__ is List:
            if id(x) in others:
                return False
            others.add(id(x))
            pending.extend(x.items or ())
    return True


def lists_of(item: Any) -> list[List]:
    """The lists whose numbers, one after the other, are those of a list of lists. Raises Unsupported for a part of one."""
    if item.__class__ is Grid:
        if not whole(item):
            raise Unsupported("a list of lists that have other names")
        return [item.cells]
    if item.items is not None and item.items and item.items[0].__class__ in (List, Grid):
        return [each for x in item.items for each in lists_of(x)]
    return [item]


def displayed(machine: Specialiser, node: c.MakeList, made: List) -> Any:
    """A list of lists that a display makes as a grid, if it is one."""
    nested = made.items and all(x.__class__ in (List, Grid) for x in made.items)
    if not nested or not all(map(anew, node.items)) or not own(machine, made):
        return made
    found = grid_of(machine.builder, made, 0)
    return made if found is None else found


def grid_of(builder: Builder, made: List, small: int = MAX_UNROLL) -> Grid | None:
    """A list of lists as a grid, if it is rectangular and has more than a `small` number of numbers."""
    if made.items is None:
        return None
    shapes = {shape_of(item) for item in made.items}
    inner = shapes.pop() if len(shapes) == 1 else None
    if inner is None or len(made.items) * prod(inner) <= small:
        return None
    lists = lists_of(made)
    known = [x for cells in lists for x in cells.items or (None,)]
    kinds = {cells.array.kind for cells in lists if cells.items is None}
    kinds |= {kind_of(x) for x in known if x is not None}
    if BOOL in kinds and len(kinds) > 1:
        return None
    shape = (len(made.items), *inner)
    if known[0] is not None and all(x.__class__ is known[0].__class__ and str(x) == str(known[0]) for x in known):
        if known[0].__class__ in NUMBERS:
            return Grid(filled(builder, known[0], prod(shape)), shape, 0)
    rows = [rows_of_list(builder, list(cells.items)) if cells.items is not None else cells.array for cells in lists]
    sizes = [cells.length for cells in lists]
    # Nothing checks the stores when they run: that they fill the array and end with it is looked at here.
    if any(size.__class__ is not int for size in sizes) or sum(sizes) != prod(shape):
        raise Unsupported("a list of lists of several lengths")
    array = Array(ir.FLOAT if ir.FLOAT in kinds else kinds.pop(), (prod(shape),), role="list")
    builder.listed(array)
    builder.append(ir.Alloc(array, False))
    begin = 0
    for row, size in zip(rows, sizes):

        def store(index: tuple[Any, ...], row: Lazy = row, begin: int = begin) -> None:
            from ..symbols.symbol import raw

            value = builder.of_kind(array.kind, row.element(index))
            builder.append(ir.Store(array, raw(builder.integer("add", index[0], begin)), raw(value)))

        builder.each((size,), store)
        begin += size
    return Grid(of_array(builder.stored(array), prod(shape)), shape, 0)


def filled(builder: Builder, number: Any, count: int) -> List:
    """A list of one number so many times."""
    array = Array(kind_of(number), (count,), role="list")
    builder.listed(array)
    builder.append(ir.Alloc(array, False))
    builder.fill(array, view(builder, array.kind, array.shape, lambda index: number))
    return of_array(builder.stored(array), count)


def of_array(array: Lazy, length: int) -> List:
    made = List([])
    made.items, made.array, made.length = None, array, length
    return made


def item(machine: Specialiser, grid: Grid, index: Any) -> Any:
    """A list of a grid, or a number of the last one."""
    if index.__class__ is slice:
        raise Unsupported("a slice of a list of lists")
    place = place_of(machine, grid, index)
    return Grid(grid.cells, grid.shape[1:], place) if len(grid.shape) > 1 else machine.item_of(grid.cells, place)


def put(machine: Assigning, grid: Grid, index: Any, value: Any, new: bool) -> None:
    """`grid[index] = value`; `new` says that nothing else refers to the value, which may be a list then."""
    place = place_of(machine, grid, index)
    if len(grid.shape) == 1:
        machine.put_in_list(grid.cells, place, value)
        return
    if not new or value.__class__ is not List or shape_of(value) != grid.shape[1:] or len(grid.shape) > 2:
        raise Unsupported("the assignment of a list that has other names, or another shape, in a list of lists")
    if any(x.__class__ is Grid and x.cells is grid.cells and len(x.shape) == 1 for x in reached(machine.frames)):
        raise Unsupported("the assignment of a list in a list of lists of which a list has a name")
    builder = machine.builder
    row = rows_of_list(builder, list(value.items)) if value.items is not None else value.array

    def store(i: Any) -> None:
        machine.put_in_list(grid.cells, builder.integer("add", place, i), get(builder, row, i))

    if value.items is not None:
        for k in range(value.length):
            store(k)
    else:
        machine.go_through(Range(0, value.length, 1), machine.frames[-1], store, lambda: None, set())


def reached(frames: Iterable[Any]) -> Iterator[Any]:
    """What variables refer to, and what that refers to in its turn."""
    seen: set[int] = set()
    pending = list(frames)
    while pending:
        x = pending.pop()
        if id(x) not in seen:
            seen.add(id(x))
            yield x
            pending.extend(parts(x))


def place_of(machine: Assigning, grid: Grid, index: Any) -> Any:
    """Where in the cells an item of a grid begins."""
    builder, n = machine.builder, grid.shape[0]
    index = machine.known_count(index)
    if index.__class__ is Sym and index.kind == INT:
        index = wrapped(builder, index, n, ("index_in", "a list", n))
    elif index.__class__ is not int or not -n <= index < n:
        raise Unsupported("an index that is out of range, or no key")
    else:
        index %= n
    return builder.integer("add", grid.start, builder.integer("multiply", index, prod(grid.shape[1:])))


def each_of(machine: Specialiser, grid: Grid) -> Each:
    """The lists of a grid, or the numbers of the last one, as they are when they are asked for."""
    site = STATE.site

    def at(i: Any) -> Any:
        STATE.site = site
        return machine.builder.settle(item(machine, grid, i))

    return Each(grid.shape[0], at, True)


def tensor_of(grid: Grid) -> Any:
    """The numbers of a grid as an array."""
    cells = grid.cells
    if cells.items is not None:
        raise Unsupported("a list of lists as a tensor, beside others of its lists")
    builder = cells.array.builder
    flat, start = cells.array, grid.start

    def element(index: tuple[Any, ...]) -> Any:
        place = builder.integer("add", start, builder.flat(index, grid.shape))
        return get(builder, flat, place)

    found = view(builder, flat.kind, grid.shape, element)
    return builder.settle(found) if flat.volatile else found


__all__ = ["anew", "apart", "comprehended", "each_of", "exchanges", "filled", "item", "put", "tensor_of"]
