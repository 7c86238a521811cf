"""By which pairs of its inputs an element-wise row is curved, and by which inputs it is linear piece by piece: read off the
formulas of its partials, which are asked what they depend on."""

from __future__ import annotations

from ...parser.errors import AdiffError
from ..core.dtypes import COMPLEX128

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from ..core.dtypes import DType
    from ..core.operation import Operation


# What a formula raises that looks at its values, that has parameters or that there is none for an input.
UNREADABLE = (TypeError, AttributeError, AdiffError)


class Mark:
    """Stands for inputs of a row while its partials are asked what they depend on.

    Its dtype is told where it is a complex one: the slope of a modulus turns where that of a real number's is constant.
    """

    __slots__ = ("dtype", "inputs")
    description = "an input of a partial"

    def __init__(self, inputs: frozenset[int], dtype: DType | None = None) -> None:
        self.inputs = inputs
        self.dtype = dtype

    def __bool__(self) -> bool:
        raise TypeError("nobody knows the truth of what depends on inputs")

    def as_symbol(self, op: Operation, inputs: tuple[Any, ...], attributes: dict[str, Any] | None) -> Any:
        if op.derivative in ("none", "zero"):
            return Mark(frozenset())
        return joined(inputs)


def joined(values: Iterable[Any]) -> Mark:
    marks = [v for v in values if v.__class__ is Mark]
    dtype = next((m.dtype for m in marks if m.dtype is not None), None)
    return Mark(frozenset(k for m in marks for k in m.inputs), dtype)


def _give_operators() -> None:
    def either(self: Mark, *others: Any) -> Mark:
        return joined((self, *others))

    def steers(self: Mark, other: Any) -> Mark:
        return Mark(frozenset())

    for name in "add sub mul truediv pow floordiv mod".split():
        setattr(Mark, f"__{name}__", either)
        setattr(Mark, f"__r{name}__", either)
    for name in ("neg", "abs", "pos"):
        setattr(Mark, f"__{name}__", either)
    for name in "lt le gt ge and or rand ror".split():
        setattr(Mark, f"__{name}__", steers)


_give_operators()

CURVATURES: dict[tuple[str, bool], frozenset[tuple[int, int]]] = {}


def curvature(
    op: Operation, attributes: dict[str, Any] | None, count: int, of_complex: bool = False
) -> frozenset[tuple[int, int]]:
    """The pairs of inputs of an element-wise row by which its second derivative is not zero everywhere; with `of_complex`,
    where one of the inputs is complex."""
    known = CURVATURES.get((op.name, of_complex))
    if known is not None:
        return known
    dtype = COMPLEX128 if of_complex else None
    marks = [Mark(frozenset((k,)), dtype) for k in range(count)]
    y = Mark(frozenset(range(count)), dtype)
    pairs: set[tuple[int, int]] = set()
    for k, formula in enumerate(op.partials):
        if not callable(formula):
            continue
        try:
            found = formula(y, *marks, **(attributes or {}))
        except UNREADABLE:
            found = y  # a formula that looks at its values: it may depend on all of them
        if found.__class__ is Mark:
            pairs.update((min(k, j), max(k, j)) for j in found.inputs)
    result = frozenset(pairs)
    if attributes is None:
        CURVATURES[op.name, of_complex] = result
    return result


STEPS: dict[str, tuple[int, ...]] = {}


def steps(op: Operation) -> tuple[int, ...]:
    """The inputs of an element-wise row by which its partial is one of some numbers, of which 0 may be one: it says which
    piece is taken."""
    found = STEPS.get(op.name)
    if found is None:
        found = ()
        if op.derivative == "partials":
            marks = [Mark(frozenset((k,))) for k in range(len(op.partials))]
            y = Mark(frozenset(range(len(marks))))
            for k, formula in enumerate(op.partials):
                try:
                    mark = formula(y, *marks) if callable(formula) else None
                except UNREADABLE:
                    continue  # one that looks at its values, or has parameters
                if mark.__class__ is Mark and not mark.inputs:
                    found = (*found, k)
        STEPS[op.name] = found
    return found


__all__ = ["curvature", "steps"]
