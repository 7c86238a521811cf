"""JAX's `x.at[i]`: copies of a tensor that are changed in places."""

from __future__ import annotations

from ..core.operands import as_operand
from ..core.tensor import OPERATORS, shape_of
from .access import get_item, set_item, static_index

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ..core.operation import Operation


class At:
    """JAX's `x.at`: `x.at[i].set(v)` is a copy of x that is changed there."""

    __slots__ = ("value",)
    description = "the .at of a tensor"

    def __init__(self, value: Any) -> None:
        self.value = value

    def get_item(self, index: Any) -> Places:
        return Places(self.value, index)


def changed(row: Operation) -> Callable[[Places, Any], Any]:
    """The method that sets what a row makes of the elements and of other values."""

    def method(self: Places, values: Any) -> Any:
        return set_item(self.value, self.index, row(self.method_get(), as_operand(values)))

    return method


class Places:
    """`x.at[i]`."""

    __slots__ = ("index", "value")
    description = "places of a tensor"

    def __init__(self, value: Any, index: Any) -> None:
        self.value = value
        self.index = index

    def method_get(self) -> Any:
        return get_item(self.value, self.index)

    def method_set(self, values: Any) -> Any:
        return set_item(self.value, self.index, values)

    def method_add(self, values: Any) -> Any:
        """Places that are named twice receive both, as in JAX."""
        x = as_operand(self.value)
        there = get_item(x, self.index)
        spread = OPERATORS.broadcast_to(as_operand(values), shape=shape_of(there))
        scattered = OPERATORS.index_scatter(spread, shape=shape_of(x), index=static_index(self.index))
        return OPERATORS.add(x, scattered)

    def method_subtract(self, values: Any) -> Any:
        return self.method_add(OPERATORS.negative(as_operand(values)))

    method_multiply = method_mul = changed(OPERATORS.multiply)
    method_divide = changed(OPERATORS.divide)
    method_power = changed(OPERATORS.power)
    method_min = changed(OPERATORS.minimum)
    method_max = changed(OPERATORS.maximum)
