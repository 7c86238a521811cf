"""Integers with a dtype of their own, which do not mix with floats: where they come from, and what a row gives of them.

The rule is the tape's (core.dtype_rules). Where it refuses the operands of a row, the tape is to word the error.
"""

from __future__ import annotations

from ...core.dtype_rules import result_dtypes
from ...core.dtypes import BOOL as BOOL_DTYPE
from ...core.dtypes import (
    COMPLEX128,
    FLOAT64,
    INT32,
    INT64,
    WEAK_COMPLEX,
    WEAK_FLOAT,
    WEAK_INT,
    DType,
    DTypeMismatch,
    promote,
    raw_dtype,
)
from ...core.state import STATE
from ...core.tensor import Tensor
from ..inputs import SOME
from ..ir import BOOL, FLOAT, INT, Check, Set, Unsupported, Var
from .pairs import Pair, marked
from .symbol import Lazy, Sym, raw

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ...core.operation import Operation
    from .build import Builder

WEAK = {FLOAT: WEAK_FLOAT, INT: WEAK_INT, BOOL: BOOL_DTYPE}
# The rules whose results have a dtype of their own whatever the operands have.
OWN = ("int",)
# The least integer of int32.
LEAST_NARROW = -(2**31)


def is_strong(builder: Builder, x: Any) -> bool:
    """Whether an operand may be an integer, or an array of integers, with a dtype of its own."""
    if x.__class__ is Sym:
        return x.var in builder.strong
    if x.__class__ is Lazy and x.kind == INT:
        return x.strong or (x.stored is not None and x.stored in builder.strong)
    return False


def dtype_of(builder: Builder, x: Any) -> DType | None:
    """The dtype of an operand; None of what is no number and no tensor.

    Floats and complex numbers are taken for bare ones: whether they have a dtype of their own, integers do not ask.
    """
    if x.__class__ in (Sym, Lazy):
        return builder.own_integers if is_strong(builder, x) else WEAK[x.kind]
    if x.__class__ is Pair:
        return WEAK_COMPLEX
    if x.__class__ is Tensor:
        return x.dtype
    if x.__class__ in (list, tuple):
        found: DType | None = None
        for item in x:
            each = dtype_of(builder, item)
            if each is None:
                return None
            found = each if found is None else promote(found, each)
        return found
    return raw_dtype(x)


def met(
    builder: Builder, op: Operation, inputs: tuple[Any, ...], attributes: dict[str, Any] | None
) -> tuple[tuple[Any, ...], Any]:
    """A row's operands as it computes with them, integers as floats where it takes no others; and the dtype of its result,
    or of its results, where that may be an integer's own, else None.

    Raises Unsupported where the operands do not meet, which is an error.
    """
    if op.function is not None:
        return inputs, None  # its parts are asked
    if "bif" not in op.accepts:
        refuse_kinds(builder, op, inputs)
    named = op.dtype.__class__ is str
    strong = any_strong(builder, inputs)
    if (not named or op.dtype not in OWN) and not strong:
        return inputs, None
    try:
        dtypes = [dtype_of(builder, x) for x in inputs]
        if any(dtype is None for dtype in dtypes):
            return inputs, None
        computed, result = result_dtypes(op, dtypes, attributes)  # type: ignore[arg-type]
        if strong and computed is not None and computed.kind in "fc":
            if builder.mode == SOME and builder.named and computed in (FLOAT64, COMPLEX128):
                raise Unsupported(f"{op.name} of integers, which is float64, beside float32")
            inputs = tuple(floats_of(builder, x) for x in inputs)
        return inputs, result
    except DTypeMismatch:
        pass
    except Exception as error:
        if not hasattr(error, "code"):
            raise
    raise Unsupported(f"{op.name} of integers with a dtype of their own and floats")


def refuse_kinds(builder: Builder, op: Operation, inputs: tuple[Any, ...]) -> None:
    """Raise Unsupported where a row is not defined for numbers of the kind in which its operands meet."""
    kinds = {dtype.kind for dtype in (dtype_of(builder, x) for x in inputs[op.skip :]) if dtype is not None}
    for kind in "cfib":
        if kind in kinds:
            if kind not in op.accepts:
                raise Unsupported(f"{op.name} of numbers that it is not defined for")
            return


def floats_of(builder: Builder, x: Any) -> Any:
    """Integers with a dtype of their own as floats."""
    if x.__class__ in (list, tuple):
        return x.__class__([floats_of(builder, item) for item in x])
    if not is_strong(builder, x):
        return x
    if x.__class__ is Sym:
        return marked(builder, builder.as_float(x))
    return marked(builder, Lazy(builder, FLOAT, x.shape, lambda index: builder.as_float(x.element(index))))


def any_strong(builder: Builder, inputs: Any) -> bool:
    return any(
        any_strong(builder, x) if x.__class__ in (list, tuple) else is_strong(builder, x) or x.__class__ is Tensor
        for x in inputs
    )


def strengthened(builder: Builder, found: Any, dtype: Any) -> Any:
    """What a row gave, as integers with a dtype of their own where `dtype` says so."""
    if dtype.__class__ is tuple and found.__class__ in (tuple, list) and len(dtype) == len(found):
        return found.__class__([strengthened(builder, x, each) for x, each in zip(found, dtype)])
    return own(builder, found, dtype) if dtype in (INT32, INT64) else found


def own(builder: Builder, x: Any, dtype: DType = INT64) -> Any:
    """An integer, or an array of integers, with a dtype of its own."""
    claim(builder, dtype)
    if x.__class__ in (tuple, list):
        return x.__class__([own(builder, item, dtype) for item in x])
    if x.__class__ is Lazy:
        return own_array(builder, x, dtype) if x.kind == INT and not (is_strong(builder, x) and fits(x, dtype)) else x
    if x.__class__ not in (Sym, int) or (x.__class__ is Sym and x.kind != INT):
        return x
    if dtype is INT32:
        # What int32 does not hold wraps around, which is the tape's to do.
        low, high = builder.interval(x)
        if low < LEAST_NARROW or high > -LEAST_NARROW - 1:
            builder.append(Check(raw(x), LEAST_NARROW, -LEAST_NARROW, STATE.site))
    if x.__class__ is Sym and x.var in builder.strong:
        return x
    found = in_its_own_variable(builder, x)
    builder.strong.add(found.var)
    return found


def fits(x: Lazy, dtype: DType) -> bool:
    """Whether all integers of an array are known to be of a dtype."""
    return dtype is INT64 or (x.interval is not None and max(map(abs, x.interval)) < -LEAST_NARROW)


def claim(builder: Builder, dtype: DType) -> None:
    """Note of which dtype the integers with one of their own are. Raises Unsupported where others are of another one."""
    if builder.own_integers is not None and builder.own_integers is not dtype:
        raise Unsupported(f"integers of {builder.own_integers.name} beside others of {dtype.name}")
    builder.own_integers = dtype


def is_narrow(builder: Builder, x: Any) -> bool:
    """Whether a value is an integer, or an array of integers, of fewer bits than a kernel computes with."""
    return builder.own_integers is INT32 and is_strong(builder, x)


def own_array(builder: Builder, x: Lazy, dtype: DType) -> Lazy:
    def element(index: tuple[Any, ...]) -> Any:
        return own(builder, x.element(index), dtype)

    element.view = x.stored is not None or getattr(x.element, "view", False)  # type: ignore[attr-defined]
    found = Lazy(builder, INT, x.shape, element)
    found.interval, found.known, found.volatile, found.strong = x.interval, x.known, x.volatile, True
    return found


def bare(builder: Builder, x: Any) -> Any:
    """An integer without a dtype of its own: what Python's `int` gives."""
    return in_its_own_variable(builder, x) if x.__class__ is Sym and x.var in builder.strong else x


def in_its_own_variable(builder: Builder, x: Any) -> Sym:
    """An integer in a variable of its own."""
    var = Var(INT)
    builder.ranges[var] = builder.interval(x)
    builder.append(Set(var, "copy", (raw(x),), None, None))
    return Sym(builder, var)
