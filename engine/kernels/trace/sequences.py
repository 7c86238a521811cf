"""What loops run over: a range of indices, and the item at an index, which may be a symbol."""

from __future__ import annotations

from ....parser.fields import Record
from ...core.operands import as_operand, operand_dtype
from ...core.state import STATE
from ...core.tensor import OPERATORS, Tensor, shape_of
from ...eager import sequences as eager
from ...kinds.access import get_item, iterate
from ..ir import INT, Unsupported
from ..symbols import Sym
from .values import is_numeric

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from ..ir import Var

# The bound of an integer of which nothing is known.
FAR = 2**62


class Sequence(Record):
    """The items `at(index)` for the indices from `start` to `stop` by the known `step`."""

    start: Any
    stop: Any
    step: int
    at: Callable[[Any], Any]
    description = "a sequence"

    @property
    def count(self) -> Any:
        """How many items there are: a number or, where data decide, a symbol."""
        if self.start.__class__ is int and self.stop.__class__ is int:
            return len(range(self.start, self.stop, self.step))
        gap = OPERATORS.subtract(self.stop, self.start)
        if self.step != 1:
            gap = OPERATORS.floor_divide(OPERATORS.add(gap, self.step - (1 if self.step > 0 else -1)), self.step)
        return OPERATORS.maximum(gap, 0)

    def item(self, i: Any) -> Any:
        """Item number i, which is in range."""
        i = i if self.step == 1 else OPERATORS.multiply(i, self.step)
        return self.at(i if self.start.__class__ is int and self.start == 0 else OPERATORS.add(i, self.start))

    def iterate(self) -> Iterator[Any]:
        """The items one by one. Raises Unsupported, or NeedsValue, where data decide how many there are."""
        count = self.count
        count = count.builder.known(count) if count.__class__ is Sym else count
        return (self.item(i) for i in range(count))

    def without_first(self) -> Sequence:
        return Sequence(OPERATORS.add(self.start, self.step), self.stop, self.step, self.at)

    def bounds(self, known: dict[Var, tuple[int, int]]) -> tuple[int, int]:
        """The least and largest index, as far as they are known."""
        low, high = [(x, x) if x.__class__ is int else known.get(x.var, (-FAR, FAR)) for x in (self.start, self.stop)]
        return (low[0], max(high[1] - 1, low[0])) if self.step > 0 else (min(high[0] + 1, low[1]), low[1])


def sequence(x: Any) -> Sequence:
    """What a loop over a value runs over."""
    if isinstance(x, Sequence):
        return x
    if x.__class__ is range:
        return Sequence(x.start, x.stop, x.step, lambda i: i)
    if x.__class__ in (Sym, Tensor) and x.shape:
        return Sequence(0, x.shape[0], 1, lambda i: get_item(x, i))
    items = x if x.__class__ in (list, tuple) else list(iterate(x))
    choose = chooser(items)
    return Sequence(0, len(items), 1, lambda i: items[i] if i.__class__ is int else choose(i))


def chooser(items: Any) -> Callable[[Any], Any]:
    """What gives the item at a symbol: of one array that is made of the items here, or of one for each of their parts."""
    if fits_together(items):
        array = as_operand(list(items))
        return lambda i: get_item(array, i)
    cls = items[0].__class__ if items else None
    if cls in (tuple, list) and all(x.__class__ is cls and len(x) == len(items[0]) for x in items):
        columns = [chooser(column) for column in zip(*items)]
        return lambda i: cls([column(i) for column in columns])

    def refuse(i: Any) -> Any:
        raise Unsupported("a loop over items of several forms", STATE.site)

    return refuse


def fits_together(items: Any) -> bool:
    """Whether the items of a list are numbers or arrays of one shape and kind."""
    return all(map(is_numeric, items)) and len({(shape_of(x), operand_dtype(x).kind) for x in items}) == 1


# --- functions of the language --------------------------------------------------------------------------------------


def range_(start: Any, stop: Any = None, step: Any = 1) -> Any:
    if stop is None:
        start, stop = 0, start
    bounds = [x.as_index() if x.__class__ is Sym else eager.integer(x, "range") for x in (start, stop, step)]
    if any(x.__class__ is Sym and (x.kind != INT or x.shape) for x in bounds):
        raise Unsupported("a range that is not bounded by integers", STATE.site)
    start, stop, step = bounds
    step = step.builder.known(step) if step.__class__ is Sym else step
    if step == 0 or Sym not in (start.__class__, stop.__class__):
        return eager.range_(start, stop, step)
    return Sequence(start, stop, step, lambda i: i)


def zip_(*xs: Any) -> Any:
    parts = [sequence(x) for x in xs]
    counts = [part.count for part in parts]
    least = counts[0] if counts else 0
    for other in counts[1:]:
        least = OPERATORS.minimum(least, other)
    return Sequence(0, least, 1, lambda i: tuple([part.item(i) for part in parts]))


def enumerate_(x: Any, start: Any = 0) -> Any:
    items, first = sequence(x), eager.integer(start, "enumerate")
    return Sequence(0, items.count, 1, lambda i: (OPERATORS.add(i, first) if first else i, items.item(i)))


def reversed_(x: Any) -> Any:
    if x.__class__ in (list, tuple, range):
        return eager.reversed_(x)
    items = sequence(x)
    count = items.count
    return Sequence(0, count, 1, lambda i: items.item(OPERATORS.subtract(OPERATORS.subtract(count, 1), i)))


SEQUENCES: dict[str, Any] = {"range": range_, "zip": zip_, "enumerate": enumerate_, "reversed": reversed_}
