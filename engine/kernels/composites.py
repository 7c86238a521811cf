"""Composite rows that look at their operands' values, written for symbols."""

from __future__ import annotations

from ..ops.registry import ROWS
from .build import NUMBERS, Builder, Sym
from .ir import Unsupported

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


def root_difference(builder: Builder, inputs: tuple[Any, ...], attributes: dict[str, Any]) -> Any:
    """sqrt(a) - sqrt(b), as (a - b) / (sqrt(a) + sqrt(b)) where both are positive and finite."""
    a, b = inputs
    if any(x.__class__ is not Sym and x.__class__ not in NUMBERS for x in inputs):
        raise Unsupported("a difference of square roots of tensors")
    sqrt, positive = ROWS["sqrt"], True
    for x in inputs:
        positive = (x > 0.0) & (x < float("inf")) & positive
    plain = sqrt(a) - sqrt(b)
    if positive is True:
        return ROWS["divide"](a - b, sqrt(a) + sqrt(b))
    if positive is False:
        return plain
    return builder.select(positive, ROWS["divide"](a - b, sqrt(a) + sqrt(b)), plain)


COMPOSITES: dict[str, Callable[[Builder, tuple[Any, ...], dict[str, Any]], Any]] = {
    "root_difference": root_difference,
}
