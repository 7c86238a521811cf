"""Reading and replacing parts of values: `x[i]`, `x[i] = v`, iteration, unpacking."""

from __future__ import annotations

from ..core.dispatch import apply
from ..core.dtypes import WEAK_COUNT, numpys
from ..core.errors import failure, plural
from ..core.following import path_ends
from ..core.limits import listed, nest
from ..core.operands import as_operand, counted, describe, shown
from ..core.tensor import OPERATORS, Tensor
from ..core.wording import index_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any


def static_index(index: Any) -> Any:
    """An index as NumPy takes it: tensors of integers and masks become arrays."""
    cls = index.__class__
    if cls is int or cls is bool or index is None or index is Ellipsis:
        return index
    if cls is slice:
        return slice(*(bound(part) for part in (index.start, index.stop, index.step)))
    if cls is tuple:
        return tuple(static_index(part) for part in index)
    if cls is Tensor and index.dtype is WEAK_COUNT:
        index = counted(index)
        if index.__class__ is int:
            return index
    if cls is list:
        if any(item.__class__ in (slice, tuple) or item is None or item is Ellipsis for item in index):
            raise failure("E0405", "a list of indices cannot hold slices", "write them without the brackets: t[0, :]")
        index = as_operand(index)
        if index.__class__ is Tensor and index.value.size == 0:
            return index.value.astype("int64")
    if cls is range:
        index = as_operand(index)
    if hasattr(index, "nbytes"):  # an array: it has come this way before
        return index
    index = as_operand(index)
    if hasattr(index, "as_index"):  # a compiler's symbol
        return index.as_index()
    if index.__class__ is Tensor:
        if index.dtype.kind not in "ib":
            raise failure("E0405", f"an index must be an integer, not {index.dtype.name}", advice(index))
        value = index.value
        if value.__class__ is int or value.__class__ is bool:
            return value
        return int(value) if value.ndim == 0 and index.dtype.kind == "i" else value
    if index.__class__ is int:
        return index
    raise failure("E0405", f"an index must be an integer, not {describe(index)}", "write cast(i, int64) or int(i)")


def advice(index: Tensor) -> str:
    """What to do about an index that is no integer: it may be a float only because it is differentiated."""
    whole = (
        index.on is not None
        and index.ndim > 0
        and index.dtype.kind == "f"
        and bool((index.value.round() == index.value).all())
    )
    cast = "write cast(i, int64) or int(i)"
    return f"what is differentiated is a float: name the other inputs with --wrt, or {cast}" if whole else cast


def bound(part: Any) -> Any:
    if part is None or part.__class__ is int:
        return part
    part = static_index(part)
    if hasattr(part, "as_static"):
        part = part.as_static()
    if part.__class__ is not int:
        raise failure("E0405", "the bounds of a slice must be integers")
    return part


def get_item(value: Any, index: Any) -> Any:
    """`value[index]`."""
    cls = value.__class__
    if cls is Tensor:
        return apply(OPERATORS.index, (value,), {"index": static_index(index)})
    if cls is list or cls is tuple or cls is str or cls is range:
        key = static_index(index)
        if key.__class__ in (int, slice):
            try:
                return value[key]
            except IndexError:
                raise index_in(describe(value), len(value), key) from None
            except ValueError:
                raise failure("E0401", "a slice cannot have step 0") from None
        if cls is list or cls is tuple:
            return get_item(as_operand(list(value)), index)
        raise failure("E0405", f"{describe(value)} takes an integer or a slice as its index")
    if cls is dict:
        key = hashable(index)
        if key not in value:
            known = ", ".join(map(shown, list(value)[:8]))
            raise failure(
                "E0411", f"the dict has no key {shown(key)}", f"its keys are {known}" if known else "it is empty"
            )
        return value[key]
    getter = getattr(value, "get_item", None)
    if getter is not None:
        return getter(index)
    operand = as_operand(value)
    if operand.__class__ is Tensor:
        return get_item(operand, index)
    if operand.__class__ in (int, float, bool, complex):
        key = static_index(index)
        if key is Ellipsis or key is None or (key.__class__ is tuple and not key):
            return apply(OPERATORS.index, (operand,), {"index": key})
        raise failure("E0405", "a scalar cannot be indexed")
    raise failure("E0304", f"{describe(value)} cannot be indexed")


def set_item(container: Any, index: Any, value: Any) -> Any:
    """`container[index] = value`: the updated tensor, or the container itself where it changes in place."""
    cls = container.__class__
    if cls is Tensor:
        key = static_index(index)
        value = as_operand(value)
        return OPERATORS.index_update.call((container, value, key), None)
    if cls is list:
        key = list_key(index)
        try:
            container[key] = list(iterate(value)) if key.__class__ is slice else value
        except IndexError:
            raise index_in("a list", len(container), key) from None
        except ValueError as fault:
            raise failure("E0302", f"a slice of a list: {fault}") from None
        return container
    if cls is dict:
        container[hashable(index)] = value
        return container
    setter = getattr(container, "set_item", None)
    if setter is not None:
        return setter(index, value)
    hint = "a list's can: [1, 2]" if cls is tuple or cls is str else None
    raise failure("E0304", f"the items of {describe(container)} cannot be replaced", hint)


def list_key(index: Any) -> Any:
    """An index at which items of a list are replaced or deleted."""
    key = static_index(index)
    if key.__class__ not in (int, slice):
        raise failure("E0405", "a list takes an integer or a slice as its index", "array(xs) makes a tensor of a list")
    return key


def delete_item(container: Any, index: Any) -> None:
    if container.__class__ is dict:
        get_item(container, index)
        del container[hashable(index)]
    elif container.__class__ is list:
        key = list_key(index)
        get_item(container, key)  # says what is wrong with the index
        del container[key]
    else:
        raise failure("E0304", f"items of {describe(container)} cannot be deleted")


# What a dict's keys(), values() and items() give.
VIEWS: Any = (type({}.keys()), type({}.values()), type({}.items()))


def iterate(value: Any) -> Iterator[Any]:
    """The items of a value: of a list, the rows of a tensor, the keys of a dict."""
    cls = value.__class__
    if cls in (list, tuple, range, str, zip, enumerate, dict, *VIEWS) or hasattr(value, "__next__"):
        return iter(value)
    iterator = getattr(value, "iterate", None)
    if iterator is not None:
        return iterator()  # type: ignore[no-any-return]
    operand = as_operand(value) if cls is not Tensor else value
    if operand.__class__ is Tensor and operand.ndim > 0:
        return rows(operand)
    raise failure(
        "E0304", f"{describe(value)} cannot be iterated over", "range(n) counts; a list or a tensor has items"
    )


def all_of(value: Any) -> Iterable[Any]:
    """The items of a value that are all wanted at once."""
    return listed(value) if value.__class__ is range else iterate(value)


def rows(x: Tensor) -> Iterator[Any]:
    index = OPERATORS.index
    for i in range(x.shape[0]):
        yield apply(index, (x,), {"index": i})


def unpack(value: Any, count: int, star: int | None) -> list[Any]:
    """The items of `value` for `count` targets, the starred one taking what is left."""
    items = list(all_of(value))
    if star is None:
        if len(items) != count:
            raise failure("E0304", f"{plural(len(items), 'value')} cannot be unpacked into {plural(count, 'name')}")
        return items
    if len(items) < count - 1:
        raise failure(
            "E0304", f"{plural(len(items), 'value')} are too few to unpack into {plural(count - 1, 'name')} and more"
        )
    tail = count - star - 1
    middle = items[star : len(items) - tail]
    return [*items[:star], middle, *items[len(items) - tail :]]


def hashable(x: Any, depth: int = 0) -> Any:
    """A dict key: numbers, strings, booleans, None and tuples of them; a scalar tensor counts as its number."""
    cls = x.__class__
    if cls is Tensor and x.shape == ():
        return x.value if not hasattr(x.value, "item") else x.value.item()
    if cls is tuple:
        depth = nest(depth)
        return tuple([hashable(item, depth) for item in x])
    if cls in (int, float, str, bool, complex) or x is None or getattr(x, "identity", False):
        return x
    raise failure(
        "E0304",
        f"{describe(x)} cannot be a key of a dict or an item of a set",
        "write a tuple" if cls is list else None,
    )


def constant_of(x: Any) -> Any:
    """`.numpy()`: the value as a constant, a float64, int64 or complex128 scalar as a bare number."""
    path_ends((x,), "numpy()")
    if x.__class__ is not Tensor:
        return x
    if x.shape == () and x.dtype.name in ("float64", "int64", "complex128"):
        return x.value
    return Tensor(x.value, numpys(x.dtype))
