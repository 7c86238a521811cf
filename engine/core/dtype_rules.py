"""In which dtype a row computes and of which its result is, by the dtypes of its inputs."""

from __future__ import annotations

from .dtypes import (
    BOOL,
    COMPLEX_OF,
    INT64,
    NUMPY,
    REAL_PART,
    STRONG,
    UINT64,
    WEAK,
    WEAK_COMPLEX,
    WEAK_COUNT,
    WEAK_FLOAT,
    WEAK_INT,
    DType,
)
from .errors import failure
from .state import STATE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..ops.operation import Operation


# What two strong dtypes compute in that may meet all the same: none, but while `check` takes a complex step.
MEETING: dict[tuple[DType, DType], DType] = {}


def greatest(dtype: DType) -> int | float:
    if dtype.kind == "i":
        return int(2 ** (dtype.bits - (dtype.name[0] != "u")) - 1)
    if dtype.kind not in "fc":
        raise failure("E0305", f"{dtype.name} has no greatest value")
    import numpy as np

    return float(np.finfo(dtype.name).max)


# What a program can ask of a dtype.
DType.attributes = {  # type: ignore[attr-defined]
    "name": lambda dtype: dtype.name,
    "size": lambda dtype: (dtype.bits + 7) // 8,
    "max": greatest,
    "min": lambda dtype: 0 if dtype.name[0] == "u" else -greatest(dtype) - (dtype.kind == "i"),
    "as_numpy_dtype": lambda dtype: dtype,
    **{word: lambda dtype, kind=kind: dtype.kind == kind
       for word, kind in (("is_floating", "f"), ("is_integer", "i"), ("is_complex", "c"), ("is_bool", "b"))},
}  # fmt: skip


def rank(dtype: DType) -> tuple[int, int]:
    return "bifcs".index(dtype.kind), dtype.bits


def promote(first: DType, second: DType) -> DType | None:
    """The dtype in which two operands compute; None where both are strong and differ, or a weak one has no place in a strong one.

    A bool operand of arithmetic counts as a weak integer, as in Python and NumPy.
    """
    if WEAK_COUNT in (first, second):
        if WEAK_INT in (first, second):
            return WEAK_COUNT  # 2*n and n//2 count as n does
        first, second = [WEAK_FLOAT if x is WEAK_COUNT else x for x in (first, second)]
    if first is second:
        return first
    low, high = sorted((first, second), key=rank)
    if high.kind == "s":
        return None
    if low.weak and high.weak:
        if low.bare == high.bare:
            if low.bare:
                return low if low.kind == high.kind else high
            from numpy import promote_types

            return NUMPY[STRONG[promote_types(low.name, high.name).name]]
        return high if low.kind != high.kind or low.bare else low
    if low.kind == "b" or (low.weak and not high.weak):
        return high if high.kind != "b" else BOOL
    if high.weak:
        return low if low.kind == high.kind else COMPLEX_OF.get(low)  # a complex literal beside a strong float
    return MEETING.get((first, second))


def common_dtype(op: Operation, dtypes: list[DType]) -> DType:
    """The dtype in which the inputs of a row meet, if the row is defined for it."""
    computed = dtypes[op.skip]
    for other in dtypes[op.skip + 1 :]:
        if other is not computed:
            met = promote(computed, other)
            if met is None:
                raise mismatch_error(op, computed, other)
            computed = met
    if computed.kind not in op.accepts:
        raise failure("E0301", f"{op.name} is not defined for {computed.name}", accept_hint(op, computed))
    return computed


def result_dtypes(op: Operation, dtypes: list[DType], attributes: dict[str, Any] | None) -> tuple[DType | None, DType]:
    """The dtype in which the row computes (None: each input in its own) and the dtype of its result."""
    kind = op.dtype
    if kind.__class__ is not str:
        return kind(op, dtypes, attributes)  # type: ignore[no-any-return]
    computed = common_dtype(op, dtypes)
    if kind == "promote" or kind == "first":
        return computed, computed
    if kind == "total" and computed.kind == "i" and computed.weak and not computed.bare:
        computed = NUMPY[UINT64 if computed.name[0] == "u" else INT64]  # NumPy adds up in 64 bits
    if kind in ("arithmetic", "total"):
        if computed.kind == "b":
            return INT64, WEAK[INT64]
        return computed, computed
    if kind == "float":
        if computed is WEAK_COUNT:
            computed = WEAK_FLOAT
        if computed.kind in "bi":
            computed = STATE.weak_float if computed.weak or computed.kind == "b" else STATE.default_float
        return computed, computed
    if kind == "bool":
        return computed, BOOL
    if kind == "int":
        return computed, INT64
    if kind == "real":
        return computed, real_part(computed)
    if kind == "complex":
        if computed.kind in "bi" or computed is WEAK_COUNT:
            computed = STATE.weak_float
        return computed, COMPLEX_OF.get(computed, computed)
    raise AssertionError(f"{op.name}: unknown dtype rule {kind!r}")


def real_part(dtype: DType) -> DType:
    """The dtype of the parts of a number, and of its modulus; those of a bare complex number are bare."""
    return STATE.weak_float if dtype is WEAK_COMPLEX else REAL_PART.get(dtype, dtype)


def accept_hint(op: Operation, dtype: DType) -> str | None:
    if dtype.kind == "c":
        return "take real(z), imag(z) or abs(z) first"
    if dtype.kind == "s":
        return "strings carry no numbers; see `adiff ops` for the string operations"
    if op.symbol in ("&", "|") and dtype.kind == "f":
        return f"{op.symbol} binds tighter than comparisons: write (a > 0) {op.symbol} (b > 0); for bits write cast(x, int64)"
    if "i" in op.accepts:
        return "write cast(x, int64)"
    return "write cast(x, float64)"


def mismatch_error(op: Operation, first: DType, second: DType) -> Exception:
    low, high = sorted((first, second), key=rank)
    hint: str | None = f"write cast(x, {high.name}) for the {low.name} operand"
    joint, owner, exception = "and", "", None
    if high.kind == "s":
        return failure(
            "E0301", f"{op.name} cannot combine {first.name} and {second.name}", "strings and numbers do not mix"
        )
    if first.weak or second.weak:
        second, first = (first, second) if first.weak else (second, first)
        joint, owner, exception = "with", "a bare " if second.bare else "NumPy's ", "TypeError"
        hint = f"write cast(x, {second.name}) for the {first.name} operand"
    return failure(
        "E0301",
        f"{op.name} cannot combine {first.name} {joint} {owner}{second.name}: dtypes do not mix",
        hint,
        None,
        exception,
    )
