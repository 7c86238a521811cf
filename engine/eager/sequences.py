"""Python's functions of sequences: len, range, zip, sorted, sum and their like."""

from __future__ import annotations

from functools import cmp_to_key
from itertools import islice

from ..core import limits
from ..core.errors import failure
from ..core.operands import as_operand, counted, describe
from ..core.tensor import OPERATORS, Tensor
from ..kinds.access import VIEWS, hashable, iterate, unpack
from ..kinds.classes import Instance
from ..kinds.functions import invoke
from ..kinds.generators import Generator
from ..kinds.operators import binary, compare, truth
from ..ops.operation import static
from ..ops.registry import OPERATOR_ROWS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from ..ops.operation import Operation

# So many items are taken at once: a hundredth of a second.
PIECE = 1_000_000

NUMBERS = (int, float, bool)
SEQUENCES = (list, tuple)
ORDERED = (str, tuple, Instance)


def len_(x: Any) -> int:
    if x.__class__ in (list, tuple, dict, str, range, *VIEWS):
        return len(x)
    own = getattr(x, "length", None)
    if own is not None:
        return int(own())
    x = as_operand(x)
    if x.__class__ is Tensor and x.ndim:
        return x.shape[0]
    raise failure("E0304", f"{describe(x)} has no length")


def integer(x: Any, what: str) -> int:
    value = static(as_operand(counted(x)))
    if value.__class__ not in (int, bool):
        given = f"the float {value}" if value.__class__ is float and value.is_integer() else describe(x)
        raise failure("E0304", f"{what} needs integers, and got {given}", "write int(n)")
    return int(value)


def range_(start: Any, stop: Any = None, step: Any = 1) -> range:
    """Python's range. A bare integer that is differentiated still counts as the integer it is."""
    if stop is None:
        start, stop = 0, start
    values = [integer(v, "range") for v in (start, stop, step)]
    if values[2] == 0:
        raise failure("E0401", "range: the step must not be 0")
    return range(*values)


def collected(x: Any = ()) -> list[Any]:
    """The items of `x` as a list, made in pieces: what limits and interrupts must be heard between them."""
    if x.__class__ is range:
        limits.allocate(limits.count_of(x), 36)
    items = iter(iterate(x))
    found: list[Any] = []
    while piece := list(islice(items, PIECE)):
        found += piece
        limits.allocate(len(found), 36)
    return found


def tuple_(x: Any = ()) -> tuple[Any, ...]:
    return tuple(collected(x))


def dict_(pairs: Any = None, /, **named: Any) -> dict[Any, Any]:
    if pairs is None:
        return named
    if pairs.__class__ is dict:
        return {**pairs, **named}
    if pairs.__class__ is Instance and pairs.has("items"):
        pairs = invoke(pairs.get_attribute("items"), [], {})
    found = {}
    for pair in iterate(pairs):
        key, value = unpack(pair, 2, None)
        found[hashable(key)] = value
    return {**found, **named}


def zip_(*xs: Any) -> Any:
    return zip(*[unnested(x) for x in xs])


def unnested(x: Any) -> Any:
    """The items of `x`. What zip and enumerate give would nest without end, and is run through first."""
    return iter(collected(x)) if x.__class__ in (zip, enumerate) else iterate(x)


def enumerate_(x: Any, start: Any = 0) -> Any:
    return enumerate(unnested(x), integer(start, "enumerate"))


def next_(iterator: Any, *default: Any) -> Any:
    if iterator.__class__ is Instance and iterator.has("__next__"):
        iterator = iterator.iterate()
    if not hasattr(iterator, "__next__"):
        raise failure("E0304", f"next needs an iterator, and got {describe(iterator)}", "write next(iter(x))")
    for item in iterator:
        return item
    if default:
        return default[0]
    raise failure("E0413", "next: the iterator has no more items", "next(iterator, None) gives None there")


def map_(f: Any, *xs: Any) -> Generator:
    return Generator("map", (invoke(f, list(args), {}) for args in zip(*[unnested(x) for x in xs])))


def filter_(f: Any, x: Any) -> Generator:
    return Generator("filter", (item for item in unnested(x) if truth(item if f is None else invoke(f, [item], {}))))


def reversed_(x: Any) -> list[Any]:
    return collected(x)[::-1]


def sorted_(x: Any, *, key: Any = None, reverse: Any = False) -> list[Any]:
    items = collected(x)
    keys = items if key is None else [invoke(key, [item], {}) for item in items]
    less = OPERATORS.less

    def order(i: int, j: int) -> int:
        return -truth(compare(less, "<", keys[i], keys[j]))  # sorting asks only for what is less

    places = sorted(range(len(items)), key=cmp_to_key(order), reverse=truth(reverse))
    return [items[i] for i in places]


def sum_(x: Any, start: Any = None, axis: Any = None, keepdims: Any = False) -> Any:
    """Python's sum of a list (in order, exact on integers), its second argument the start; NumPy's of a tensor."""
    if x.__class__ is range and start is None:
        return limits.count_of(x) * (x[0] + x[-1]) // 2 if x else 0
    if axis is None and is_items(x):
        items = collected(x)
        nested = items and items[0].__class__ in SEQUENCES and start.__class__ not in SEQUENCES
        if not nested:
            total = 0 if start is None else start
            if total.__class__ is str:
                raise failure("E0304", "sum adds numbers and lists, no strings", "''.join(xs) joins strings")
            add = OPERATORS.add
            for item in items:
                total = binary(add, total, item)
            return total
        x = items
    return OPERATORS.sum.call((x,), {"axis": start if axis is None else axis, "keepdims": keepdims})


def is_items(x: Any) -> bool:
    """Whether Python's meaning of a reduction applies: a container of Python's and no tensor."""
    return x.__class__ in (list, tuple, range, str, dict, Instance, *VIEWS) or hasattr(x, "__next__")


def extreme(
    of_numbers: Callable[[list[Any]], Any], row: Operation, reduction: Operation, sign: str
) -> Callable[..., Any]:
    def pick(*xs: Any, axis: Any = None, keepdims: Any = False, key: Any = None, default: Any = None) -> Any:
        """Python's max or min of several values or of a list; NumPy's of a tensor."""
        alone = len(xs) == 1
        if alone and (axis is not None or not (is_items(xs[0]) or key is not None)):
            return reduction.call(xs, {"axis": axis, "keepdims": keepdims})
        items = collected(xs[0] if alone else xs)
        if not items:
            if alone and default is not None:
                return default
            raise failure("E0401", f"{of_numbers.__name__} of nothing", "give default=...")
        if alone and items[0].__class__ is list and key is None:
            return reduction.call((items,), None)
        if key is not None:
            return sorted_(items, key=key, reverse=sign == ">")[0]
        best = items[0]
        if all(item.__class__ in NUMBERS for item in items):
            return next((float("nan") for item in items if item != item), of_numbers(items))
        for item in items[1:]:
            if best.__class__ in ORDERED and item.__class__ in ORDERED:
                if truth(compare(OPERATOR_ROWS[sign], sign, item, best)):
                    best = item
            else:
                best = row(best, item)  # element by element: max(x, 0) of a tensor
        return best

    return pick


def quantifier(of_items: Callable[[Iterable[bool]], bool], reduction: Operation) -> Callable[..., Any]:
    def hold(x: Any, axis: Any = None, keepdims: Any = False) -> Any:
        """Python's any or all of a list; NumPy's of a tensor."""
        if axis is None and is_items(x):
            return of_items(truth(item) for item in iterate(x))
        return reduction.call((x,), {"axis": axis, "keepdims": keepdims})

    return hold


any_of = quantifier(any, OPERATORS.any)
all_of = quantifier(all, OPERATORS.all)
FUNCTIONS: dict[str, Any] = {
    "len": len_, "range": range_, "zip": zip_, "enumerate": enumerate_, "list": collected, "tuple": tuple_, "dict": dict_,
    "min": extreme(min, OPERATORS.minimum, OPERATORS.min, "<"), "max": extreme(max, OPERATORS.maximum, OPERATORS.max, ">"),
    "sum": sum_, "sorted": sorted_, "reversed": reversed_, "map": map_, "filter": filter_,
    "any": any_of, "all": all_of, "iter": iterate, "next": next_,
}  # fmt: skip
