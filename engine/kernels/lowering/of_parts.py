"""Operations on masked arrays, made of what is known of these: sums, maxima, single elements.

Where a row has a formula of its own at a singular point (the deviation of equal numbers, the norm of none), or one that
keeps within the floats, the tape takes the step.
"""

from __future__ import annotations

from ...ops.registry import NAMES
from .. import ir
from ..ir import FLOAT
from ..symbols.arrays import lazy
from ..symbols.symbol import Sym
from ..symbols.values import Selected
from .selected import elementwise, guarded, length, row

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .applying import Applying

# Squares between these are far from leaving the floats.
LEAST_SQUARE, MOST_SQUARE = 1e-200, 1e200


def of_part(machine: Applying, name: str, part: Selected, options: dict[str, Any]) -> Any:
    """What a row gives of all elements of a vector; None where it is not known, or its options are others."""
    run = OF_PARTS.get(name)
    if run is None or part.rows.kind != FLOAT or len(part.rows.shape) != 1 or machine.builder.mode:
        return None
    stated = {key: value for key, value in options.items() if not is_default(key, value)}
    return None if stated else run(machine, part)


def is_default(key: str, value: Any) -> bool:
    """Whether an option asks for nothing but all elements as they are."""
    return (
        value is None
        or value is False
        or (key == "axis" and value in (0, -1, (0,), (-1,)))
        or (key, value) == ("ddof", 0)
    )


def apply(machine: Applying, name: str, *operands: Any) -> Any:
    """A row on parts and numbers."""
    if any(x.__class__ is Selected for x in operands):
        return elementwise(machine, NAMES[name], list(operands))
    return machine.builder.apply(NAMES[name], operands, None)


def reduced(machine: Applying, name: str, part: Selected) -> Any:
    return row(machine, NAMES[name], [part], {})


def variance(machine: Applying, part: Selected) -> Any:
    """The mean square of the distances from the mean."""
    away = apply(machine, "subtract", part, reduced(machine, "mean", part))
    count = machine.builder.to_float(length(machine.builder, part))
    return apply(machine, "divide", reduced(machine, "sum", apply(machine, "multiply", away, away)), count)


def deviation(machine: Applying, part: Selected) -> Any:
    return apply(machine, "sqrt", plain_square(machine, variance(machine, part)))


def norm(machine: Applying, part: Selected) -> Any:
    return apply(
        machine, "sqrt", plain_square(machine, reduced(machine, "sum", apply(machine, "multiply", part, part)))
    )


def plain_square(machine: Applying, x: Any) -> Any:
    """A square of which the root needs no care; the tape takes the step for any other."""
    builder = machine.builder

    def dubious() -> tuple[Any, ...]:
        small, large = apply(machine, "less", x, LEAST_SQUARE), apply(machine, "greater", x, MOST_SQUARE)
        return small, large, apply(machine, "isnan", x)

    for condition in builder.aside(dubious):
        builder.arrays.leave_if(condition)
    return x


def shifted(machine: Applying, part: Selected) -> tuple[Any, Selected]:
    """The largest element as a constant, and the exponentials of the distances from it."""
    largest = reduced(machine, "max", part)
    builder = machine.builder
    if largest.__class__ is Sym:
        finite = builder.aside(lambda: apply(machine, "isfinite", largest))
        builder.append(ir.Check(finite.var, 1, 2))
    still = builder.apply(NAMES["stop_gradient"], (largest,), {})
    return still, apply(machine, "exp", apply(machine, "subtract", part, still))


def logsumexp(machine: Applying, part: Selected) -> Any:
    largest, parts = shifted(machine, part)
    return apply(machine, "add", apply(machine, "log", reduced(machine, "sum", parts)), largest)


def softmax(machine: Applying, part: Selected) -> Selected:
    _, parts = shifted(machine, part)
    found: Selected = apply(machine, "divide", parts, reduced(machine, "sum", parts))
    return found


def running(name: str, neutral: float) -> Callable[[Applying, Selected], Selected]:
    """Running sums and products, to which what is not part of it adds nothing."""

    def run(machine: Applying, part: Selected) -> Selected:
        whole = guarded(machine.builder, part, neutral)
        return part.of(lazy(machine.builder, machine.builder.apply(NAMES[name], (whole,), {})))

    return run


OF_PARTS: dict[str, Callable[[Applying, Selected], Any]] = {
    "var": variance, "std": deviation, "norm": norm, "logsumexp": logsumexp, "softmax": softmax,
    "cumsum": running("cumsum", 0.0), "cumprod": running("cumprod", 1.0),
}  # fmt: skip

__all__ = ["of_part"]
