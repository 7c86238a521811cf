"""In which dtype a row computes and of which its result is, by the dtypes of its inputs."""

from __future__ import annotations

from .dtypes import (
    BOOL,
    COMPLEX_OF,
    INT64,
    NUMPY,
    REAL_PART,
    UINT64,
    WEAK,
    WEAK_COMPLEX,
    WEAK_COUNT,
    WEAK_FLOAT,
    DType,
    DTypeMismatch,
    promote,
)
from .errors import failure
from .state import STATE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .operation import Operation


def common_dtype(op: Operation, dtypes: list[DType]) -> DType:
    """The dtype in which the inputs of a row meet, if the row is defined for it."""
    computed = dtypes[op.skip]
    for other in dtypes[op.skip + 1 :]:
        if other is not computed:
            try:
                computed = promote(computed, other)
            except DTypeMismatch as mismatch:
                raise mismatch_error(op, mismatch) from None
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


def mismatch_error(op: Operation, mismatch: DTypeMismatch) -> Exception:
    first, second = mismatch.first, mismatch.second
    if "s" in (first.kind, second.kind):
        return failure(
            "E0301", f"{op.name} cannot combine {first.name} and {second.name}", "strings and numbers do not mix"
        )
    rank = {"b": 0, "i": 1, "f": 2, "c": 3}
    low, high = (
        (first, second) if (rank[first.kind], first.bits) <= (rank[second.kind], second.bits) else (second, first)
    )
    if first.weak or second.weak:
        weak, strong = (first, second) if first.weak else (second, first)
        owner = "a bare" if weak.bare else "NumPy's"
        return failure(
            "E0301",
            f"{op.name} cannot combine {strong.name} with {owner} {weak.name}: dtypes do not mix",
            f"write cast(x, {weak.name}) for the {strong.name} operand",
            exception="TypeError",
        )
    return failure(
        "E0301",
        f"{op.name} cannot combine {first.name} and {second.name}: dtypes do not mix",
        f"write cast(x, {high.name}) for the {low.name} operand",
    )
