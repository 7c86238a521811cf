"""Items of tensors, lists and dicts, read and replaced where the index or the rows that do so differ.

A list is one object for all the rows that it was made for. What only some of them put into it is put together with what
the others have there, item by item, so that whoever else holds the list sees the same.
"""

from __future__ import annotations

from ..core.dispatch import apply
from ..core.dtypes import WEAK_COUNT
from ..core.following import path_ends
from ..core.operands import as_operand
from ..core.tensor import OPERATORS, Tensor
from ..kinds.access import get_item, hashable, set_item
from .columns import Column, Unlike, aligned, holds_column, join, live_of, raised_by, take_item, whole_column
from .row_sets import NotTogether, Rows, Table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

CONTAINERS = (list, tuple, dict)


def item_of(table: Table, x: Any, index: Any) -> Any:
    """`x[index]` where the one or the other differs from row to row."""
    if not holds_column(index):
        parts = index if index.__class__ is tuple else (index,)
        if x.shape and all(p.__class__ in (int, slice) or p is None or p is Ellipsis for p in parts):
            return take_item(x, tuple(parts))
        raise NotTogether("an index that is a tensor")
    if x.__class__ is dict and index.__class__ is Column:
        return value_of(table, x, index)
    if x.__class__ in (str, dict, range):
        raise NotTogether("an item that differs from row to row")
    if x.__class__ in (list, tuple) and index.__class__ is Column and any(item.__class__ in CONTAINERS for item in x):
        return container_of(table, x, index)
    container, x = x, as_operand(list(x) if x.__class__ is tuple else x)
    if x.__class__ not in (Column, Tensor) or not x.shape:
        raise NotTogether("an item of a number")
    places = places_of(table, x.shape, index, lambda i: raised_by(get_item, of_shape(container), i))
    tensor: Any = x
    key = places
    if x.__class__ is Column:
        tensor, key = whole_column(table, x), (rows_of(table), *places)
    elif len(places) == 1:
        taken = apply(OPERATORS["take_rows"], (x,), {"indices": places[0], "axis": 0})
        return Column(table, taken, table.active)
    picked = apply(OPERATORS["index"], (tensor,), {"index": key})
    return Column(table, picked, table.active, getattr(x, "mixed", False), live_of((x,)))


def container_of(table: Table, items: Any, index: Any) -> Any:
    """`items[index]` where items are containers: what a row picks is the container itself, and no copy of it.

    Where rows pick several, what they have is put together, and neither that nor those can be changed any more.
    """
    (places,) = places_of(table, (len(items),), index, lambda i: raised_by(get_item, items, i))
    import numpy as np

    whole = table.active
    found = np.unique(places).tolist()
    if len(found) == 1:
        return items[found[0]]
    return table.meet([(whole.divided(places == place)[0], items[place]) for place in found], whole)


def places_of(table: Table, shape: tuple[int, ...], index: Any, error: Callable[[Any], Any]) -> tuple[Any, ...]:
    """The place along each axis for every active row; rows with one that is not there fail with `error(index)`."""
    parts = index if index.__class__ is tuple else (index,)
    if len(parts) > len(shape):
        raise NotTogether("an index of too many axes")
    for axis, part in enumerate(parts):
        numbers = integers_of(table, part)
        if numbers is None:
            raise NotTogether("an index that is no integer")
        if part.__class__ is Column and part.dtype is WEAK_COUNT:
            path_ends((part.here(),), "a place where it counts as an integer")
        outside = (numbers < -shape[axis]) | (numbers >= shape[axis])
        if outside.any():
            before = (0,) * axis

            def failing(place: Any, before: tuple[int, ...] = before) -> Any:
                return error((*before, place) if index.__class__ is tuple else place)

            table.fail(outside, failing, numbers)
    return tuple(integers_of(table, part) % size for part, size in zip(parts, shape))


def integers_of(table: Table, x: Any) -> Any:
    """An integer for each active row, also bare ones that are differentiated; None of what is none."""
    import numpy as np

    if x.__class__ is int:
        return np.full(table.active.size, x)
    if x.__class__ is not Column or x.shape or x.mixed or (x.dtype.kind != "i" and x.dtype is not WEAK_COUNT):
        return None
    numbers = x.numbers()
    if x.dtype is WEAK_COUNT:
        return None if (numbers % 1.0 != 0.0).any() else numbers.astype(np.int64)
    return numbers


def value_of(table: Table, items: dict[Any, Any], index: Column) -> Any:
    """`items[key]` of a dict, for keys that are integers."""
    import numpy as np

    keys = integers_of(table, index)
    if keys is None or index.dtype is WEAK_COUNT:
        raise NotTogether("a key that is no integer and differs from row to row")
    missing = ~np.isin(keys, [key for key in items if key.__class__ is int])
    if missing.any():
        if any(key.__class__ not in (int, str) for key in items):
            raise NotTogether("a dict with keys of several kinds")
        whole = table.active
        table.fail(missing, lambda key: raised_by(get_item, items, key), keys)
        keys = keys[table.active.places_in(whole)]
    whole = table.active
    found = np.unique(keys).tolist()
    if len(found) == 1:
        return items[found[0]]
    pieces = []
    for key in found:
        table.active = whole.divided(keys == key)[0]
        pieces.append((table.active, items[key]))
    table.active = whole
    return table.meet(pieces, whole)


def rows_of(table: Table) -> Any:
    import numpy as np

    return np.arange(table.active.size)


def of_shape(x: Any) -> Any:
    """What fails in the words of a row's own value where an index is out of range."""
    if x.__class__ is not Column:
        return x
    import numpy as np

    return Tensor(np.zeros(x.shape), x.dtype)


def replaced(table: Table, container: Any, index: Any, value: Any) -> Any:
    """The container after `container[index] = value` for the active rows, some of which may be its rows, or differ in index:
    a new tensor, or the list or dict itself. None where the ordinary way does it."""
    varying = holds_column(index)
    cls = container.__class__
    if cls is dict:
        if varying:
            raise NotTogether("a key that differs from row to row")
        if table.has_alone(container):
            return None
        key = hashable(index)
        if key not in container:
            raise NotTogether("a dict that only some of its rows make longer")
        return share_item(table, container, key, value)
    if cls is list:
        if varying:
            return replace_items(table, container, index, value)
        if table.has_alone(container):
            return None
        if index.__class__ is not int or not -len(container) <= index < len(container):
            raise NotTogether("a list that only some of its rows change")
        return share_item(table, container, index, value)
    if cls in (Column, Tensor) and varying:
        return replaced_element(table, container, index, value)
    if cls is Column:
        return container.set_item(index, value)
    return None


def share_item(table: Table, container: Any, key: Any, value: Any) -> Any:
    """Put `value` into a list or a dict for the active rows alone."""
    table.not_frozen(container)
    before = container[key]
    if before.__class__ in CONTAINERS or value.__class__ in CONTAINERS:
        raise NotTogether("a list that only some of its rows change")
    active = table.active
    others = table.others_of(container)
    if before.__class__ is Column and before.rows is not table.all:
        import numpy as np

        others = Rows(others.index[np.isin(others.index, before.rows.index, assume_unique=True)], others.known)
    if not others.size:
        container[key] = value
        return container
    table.active = table.united([active, others])
    try:
        container[key] = join(table, [(active, value), (others, before)])
    except Unlike:
        raise NotTogether("a list whose items are of different kinds in different rows") from None
    finally:
        table.active = active
    return container


def replace_items(table: Table, items: list[Any], index: Any, value: Any) -> Any:
    """`items[index] = value` of a list, where the index differs from row to row: each item for its own rows."""
    import numpy as np

    sample: list[Any] = list(items)
    (places,) = places_of(table, (len(items),), index, lambda i: raised_by(set_item, sample, i, 0.0))
    whole = table.active
    for place in np.unique(places).tolist():
        table.active = whole.divided(places == place)[0] if (places != place).any() else whole
        try:
            if table.has_alone(items):
                items[place] = value
            else:
                share_item(table, items, place, value)
        finally:
            table.active = whole
    return items


def replaced_element(table: Table, x: Any, index: Any, value: Any) -> Column:
    """`x[index] = value` of a tensor in every row, the index different from row to row."""
    if x.dtype.kind != "f":
        raise NotTogether("an update of integers at a place that differs from row to row")
    value = as_operand(value)
    places = places_of(table, x.shape, index, lambda i: raised_by(set_item, of_shape(x), i, 0.0))
    rank = len(x.shape) - len(places)
    if value.__class__ is Column:
        if value.ndim > rank:
            raise NotTogether("an update by a tensor of more axes")
        operand = aligned(value, rank)
    else:
        operand = value
    out = apply(
        OPERATORS["index_update"], (whole_column(table, x), operand), {"index": (rows_of(table), *places)}
    )  # fmt: skip
    return Column(table, out, table.active, live=live_of((x, value)))


__all__ = ["item_of", "replaced"]
