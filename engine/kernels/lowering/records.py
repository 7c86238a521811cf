"""Structures of arrays: lists of lists, tuples or complex numbers, all alike, that a loop appends to, as simulations do.

Each number of an item has a list of its own, which loops carry and branches merge like any other; an item is put together
where it is read. So items do not change: a list that is appended here, and one that is read here, is `frozen`, since a
change of it would have to reach the other.
"""

from __future__ import annotations

from ..ir import Unsupported
from ..symbols.arrays import array_of_list
from ..symbols.pairs import Pair
from ..symbols.symbol import NUMBERS, Lazy, Sym
from ..symbols.values import Each, List, Mismatch, Records, flatten
from .heap import Heap

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from .sequences import Sequences
    from .statements import Specialiser

# What stands for a number in the form of an item; a list or a tuple is its class and the forms of its items, a complex
# number as if it were a list of its parts.
NUMBER = "number"
COMPLEX_NUMBER = (Pair, (NUMBER, NUMBER))


def fixed(form: Any) -> bool:
    """Whether nothing can change an item of a form."""
    return form == NUMBER or (form is not None and form[0] is not List and all(map(fixed, form[1])))


class Alike(Mismatch):
    """A list of the program to which a loop appends items of one form: a `short` loop, or in iterations that data decide."""

    def __init__(self, container: List, form: Any, by_data: bool = False, short: bool = False) -> None:
        super().__init__(f"a list of lists that grows {'by data' if by_data else 'in a loop'}", peel=False)
        self.container = container
        self.form = form
        self.short = short


def form_of(x: Any) -> Any:
    """The form of a number, or of a list or a tuple of what has one; None for anything else."""
    if x.__class__ is Sym or x.__class__ in NUMBERS:
        return NUMBER
    if x.__class__ is complex or (x.__class__ is Pair and not x.shape):
        return COMPLEX_NUMBER
    items = items_of(x)
    if not items:
        return None
    forms = tuple(map(form_of, items))
    return None if None in forms else (x.__class__, forms)


def form_of_all(items: Any) -> Any:
    """The one form that the items of a list have, if these are lists, tuples or complex numbers; else None."""
    if items.__class__ is not tuple or not items:
        return None
    form = form_of(items[0])
    alike = form is not None and form != NUMBER and all(form_of(x) == form for x in items[1:])
    return form if alike else None


def numbers_of(x: Any) -> Iterator[Any]:
    """The numbers of what has a form."""
    items: Any = items_of(x)
    if x.__class__ is Pair:
        items = (x.re, x.im)
    elif x.__class__ is complex:
        items = (x.real, x.imag)
    if items is None:
        yield x
    for part in items or ():
        yield from numbers_of(part)


def freeze(x: Any) -> None:
    """Let nothing change a list, or the lists in it, any more."""
    for part in items_of(x) or ():
        freeze(part)
    if x.__class__ is List:
        x.frozen = True


def items_of(x: Any) -> Any:
    """The items of a tuple or of a list whose items are known; else None."""
    if x.__class__ is tuple:
        return x
    return x.items if x.__class__ is List else None


def kept(machine: Specialiser, why: Alike) -> bool:
    """Keep the list by the numbers of its items from now on, if that can be: where it is there, and no loop or branch
    around knows it as it was."""
    container = why.container
    known = any(id(container) in heap.objects for heap in machine.around)
    if known or machine.recursion is not None or id(container) not in Heap(machine.frames).objects:
        return False
    items = container.items
    if items is None or container.frozen or any(form_of(x) != why.form for x in items):
        return False
    rows = [list(numbers_of(x)) for x in items]
    for x in items:
        freeze(x)
    width = len(rows[0]) if rows else count(why.form)
    container.__class__ = Records
    container.items = [List([row[k] for row in rows]) for k in range(width)]
    container.array = why.form
    return True


def count(form: Any) -> int:
    """How many numbers an item of a form has."""
    return 1 if form == NUMBER else sum(map(count, form[1]))


def append(machine: Sequences, records: Records, value: Any) -> None:
    if form_of(value) != records.form:
        raise Unsupported("a list whose items are of several kinds or shapes")
    for column, number in zip(records.columns, list(numbers_of(value))):
        machine.grow(column, number)
    freeze(value)


def put_together(machine: Sequences, form: Any, numbers: Iterator[Any]) -> Any:
    """An item of a form of its numbers."""
    if form == NUMBER:
        return next(numbers)
    cls, forms = form
    parts = [put_together(machine, part, numbers) for part in forms]
    if cls is Pair:
        return Pair(machine.builder, *parts)
    if cls is tuple:
        return tuple(parts)
    made = List(parts)
    made.frozen = True
    return made


def item(machine: Specialiser, records: Records, index: Any) -> Any:
    if index.__class__ is slice:
        columns = [machine.items(machine.item_of(column, index)) for column in records.columns]
        return List([put_together(machine, records.form, iter(row)) for row in zip(*columns)])
    return put_together(machine, records.form, iter([machine.item_of(column, index) for column in records.columns]))


def pop(machine: Sequences, records: Records, index: int) -> Any:
    from .sequences import pop

    return put_together(machine, records.form, iter([pop(machine, column, index) for column in records.columns]))


def put(machine: Specialiser, records: Records, index: Any, value: Any) -> None:
    """`records[index] = value`: another item, which is as frozen as one that is appended."""
    if index.__class__ is slice or form_of(value) != records.form:
        raise Unsupported("a list whose items are of several kinds or shapes")
    for column, number in zip(records.columns, list(numbers_of(value))):
        machine.put_in_list(column, index, number)
    freeze(value)


def each_of(machine: Sequences, records: Records) -> Each:
    eaches = [machine.items_of(column) for column in records.columns]
    first = eaches[0]

    def at(i: Any) -> Any:
        return put_together(machine, records.form, iter([each.item(i) for each in eaches]))

    return Each(first.length, at, first.loopable, first.sources, along=first.along)


def alike(value: Any) -> bool:
    """Whether something is a list or a tuple of numbers that are known, or of tuples of as many of these each."""
    items = value.items if value.__class__ is List else value
    if items.__class__ not in (list, tuple) or not items:
        return False
    if items[0].__class__ is tuple and all(x.__class__ is tuple and len(x) == len(items[0]) for x in items):
        items = [number for x in items for number in x]
    return all(x.__class__ in (int, float) for x in items)


def each_of_many(machine: Sequences, x: List) -> Each | None:
    """The items of a long list that are known, as loops go through them; None where they have several forms."""
    assert x.items is not None
    form = form_of_all(tuple(x.items))
    if form is None:
        return None
    rows = [list(numbers_of(item)) for item in x.items]
    for item in x.items:
        freeze(item)
    eaches = [machine.items_of(List(list(column))) for column in zip(*rows)]

    def at(i: Any) -> Any:
        return put_together(machine, form, iter([each.item(i) for each in eaches]))

    return Each(len(rows), at, all(each.loopable for each in eaches), (x,), along=x)


def tensor_of(records: Records, plain: Callable[[Any], Any]) -> Any:
    """The numbers of items that hold nothing but numbers as an array."""
    from ...ops.registry import NAMES

    if any(part != NUMBER for part in records.form[1]):
        raise Unsupported("a list of lists of lists as a tensor")
    columns = [plain(column) for column in records.columns]
    builder = next((x.builder for x in flatten(columns) if hasattr(x, "builder")), None)
    if builder is None:
        rows = [list(row) for row in zip(*columns)]
        return [complex(*row) for row in rows] if records.form == COMPLEX_NUMBER else rows
    if records.form == COMPLEX_NUMBER:
        return Pair(
            builder, *(column if column.__class__ is Lazy else array_of_list(builder, column) for column in columns)
        )
    return builder.settle(builder.apply(NAMES["stack"], tuple(columns), {"axis": 1}))


def dissolved(machine: Specialiser, value: Any) -> Any:
    """A value with the lists in it that are kept by the numbers of their items as plain ones."""
    if value.__class__ is Records:
        return List([dissolved(machine, item) for item in machine.items(value)])
    if value.__class__ is tuple:
        return tuple(dissolved(machine, item) for item in value)
    if value.__class__ is dict:
        return {key: dissolved(machine, item) for key, item in value.items()}
    if value.__class__ is List and any(item.__class__ in (Records, List, tuple, dict) for item in value.items or ()):
        return List([dissolved(machine, item) for item in value.items or ()])
    return value


__all__ = [
    "Alike", "append", "dissolved", "each_of", "fixed", "form_of_all", "item", "kept", "pop", "put", "tensor_of",
]  # fmt: skip
