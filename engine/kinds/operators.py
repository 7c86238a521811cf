"""Python's operators on the program's values: rows on numbers and tensors, Python's meaning on lists and strings."""

from __future__ import annotations

from ..core import limits
from ..core.dispatch import apply, apply_scalar
from ..core.dtypes import SPELLINGS, WEAK_COUNT, WEAK_FLOAT, DType
from ..core.errors import failure
from ..core.following import CONDITION, path_ends
from ..core.operands import as_operand, counted, describe, plain
from ..core.state import RECORDERS, STATE
from ..core.tensor import Tensor
from ..ops.registry import OPERATOR_ROWS
from .access import VIEWS, hashable
from .text import percent

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..ops.operation import Operation

SEQUENCES = (list, tuple)
CONTAINERS = (list, tuple, dict, range)
# The operators on integers whose results are integers, and integers that nobody minds.
OF_INTEGERS = frozenset(("+", "-", "*", "//", "%"))
SMALL = 1 << 62


def binary(op: Operation, x: Any, y: Any) -> Any:
    """What an operator makes of any two values."""
    symbol = op.symbol
    cx, cy = x.__class__, y.__class__
    if (cx in SEQUENCES or cy in SEQUENCES) and cx is not str:
        if symbol == "+" and cx is cy:
            return x + y
        if symbol == "+" and cx in SEQUENCES and cy in SEQUENCES:
            return (*x, *y)  # a shape and a list, as in TensorFlow
        if (
            symbol == "*"
            and Tensor in (cx, cy)
            and WEAK_COUNT in (getattr(x, "dtype", None), getattr(y, "dtype", None))
        ):
            return binary(op, counted(x), counted(y))
        if symbol == "*" and (cx is int or cy is int):
            return repeat(x, y)
        if symbol == "*":
            for count in (x, y):
                if hasattr(count, "no_count"):
                    count.no_count()
    elif cx is str or cy is str:
        if symbol == "+" and cx is cy:
            return x + y
        if symbol == "*" and (cx is int or cy is int):
            return repeat(x, y)
        if symbol == "%" and cx is str:
            return percent(x, y)
        if not (cx is Tensor or cy is Tensor):
            raise failure("E0301", f"'{symbol}' cannot combine {describe(x)} and {describe(y)}")
    elif cx is dict or cy is dict:
        if symbol == "|" and cx is cy:
            return {**x, **y}
        raise failure("E0304", f"'{symbol}' cannot combine {describe(x)} and {describe(y)}")
    elif cx is int and cy is int:
        if symbol == "*" and x.bit_length() + y.bit_length() > limits.MAX_INTEGER_BITS:
            raise failure("E0604", "this integer product has too many digits", "compute it as a float")
        if symbol == "/" and y != 0 and STATE.weak_float is WEAK_FLOAT:
            try:
                return x / y  # correctly rounded, where the quotient of the nearest floats is not
            except OverflowError:
                raise failure("E0303", "this quotient is too large for a float") from None
        if symbol in OF_INTEGERS and STATE.trace is None and (y or symbol in "+-*"):
            whole: int = op.scalar(x, y)  # type: ignore[misc]
            if -SMALL < whole < SMALL:
                return whole  # with none of the digits, and no dtype, that are to be looked at
    if STATE.dividing and symbol == "/" and cx in (int, float) and cy in (int, float) and not y:
        raise failure("E0402", "division by zero")
    if STATE.trace is not None:
        return apply(op, (as_operand(x, op), as_operand(y, op)), None)
    return apply_scalar(op, (x, y))


def repeat(x: Any, y: Any) -> Any:
    sequence, count = (y, x) if x.__class__ is int else (x, y)
    if count.__class__ is not int:
        raise failure("E0304", f"a list cannot be multiplied by {describe(count)}")
    limits.allocate(length := len(sequence) * max(count, 0))
    try:
        return sequence * (count if length else 0)
    except MemoryError as fault:
        fault._total_size = 8 * length  # type: ignore[attr-defined]  # which Python's own does not say
        raise


def prefix(op: Operation, x: Any) -> Any:
    if STATE.trace is not None:
        return apply(op, (as_operand(x, op),), None)
    if x.__class__ is int or x.__class__ is bool:
        return op.scalar(x)  # type: ignore[misc]
    return apply_scalar(op, (x,))


def truth(x: Any) -> bool:
    """The truth of a condition; a tensor must hold one element."""
    cls = x.__class__
    if cls is bool:
        return x  # type: ignore[no-any-return]
    if cls is Tensor or hasattr(x, "read_value"):
        x = as_operand(x)
        value = x.value if x.__class__ is Tensor else x
        if getattr(value, "size", 1) != 1:
            hint = "reduce it with all(...) or any(...), or choose element by element with where(condition, a, b)"
            if value.dtype.kind == "b":
                hint += "; `and`, `or` and `not` of whole tensors are written (a > 0) & (b > 0), (a > 0) | (b > 0), ~(a > 0)"
            words = f"the truth of a tensor of shape {list(value.shape)} is ambiguous"
            raise failure("E0304", words, hint, exception="ValueError")
        if RECORDERS and x.__class__ is Tensor and x.on is not None:
            path_ends((x,), CONDITION)
        return bool(value)
    return bool(x)


def compare(op: Operation | None, symbol: str, x: Any, y: Any) -> Any:
    """One comparison of a chain."""
    if op is None:
        if symbol == "is":
            return x is y or (x.__class__ in (int, float, bool, str) and x.__class__ is y.__class__ and x == y)
        if symbol == "is not":
            return not compare(None, "is", x, y)
        found = contains(y, x)
        return found if symbol == "in" else not found
    cx, cy = x.__class__, y.__class__
    if cx in (float, int, bool) and cy in (float, int, bool):
        return op.scalar(x, y)  # type: ignore[misc]
    if RECORDERS and (cx is Tensor or cy is Tensor):
        path_ends((x, y), op.name)
    if cx is Tensor and x.value.__class__ is float:
        if cy is float or cy is int:
            return op.scalar(x.value, y)  # type: ignore[misc]
        if cy is Tensor and y.value.__class__ is float:
            return op.scalar(x.value, y.value)  # type: ignore[misc]
    if symbol in ("==", "!=") and {cx, cy} == {DType, str}:
        same = (SPELLINGS.get(x) is y) if cx is str else (SPELLINGS.get(y) is x)
        return same if symbol == "==" else not same
    if symbol in ("==", "!=") and (x is None or y is None or cx in CONTAINERS or cy in CONTAINERS):
        if (cx is Tensor or cy is Tensor) and x is not None and y is not None and dict not in (cx, cy):
            return apply(op, (x, y), None)
        same = equal(x, y)
        return same if symbol == "==" else not same
    if cx is str and cy is str:
        return op.scalar(x, y)  # type: ignore[misc]
    if (cx is str) != (cy is str) and Tensor not in (cx, cy):
        if symbol in ("==", "!="):
            return symbol == "!="
        raise failure("E0301", f"'{symbol}' cannot compare {describe(x)} and {describe(y)}")
    if symbol in ("==", "!=") and not (is_numeric(x) and is_numeric(y)):
        return (x is y) == (symbol == "==")
    if cx in SEQUENCES and cx is cy:
        return compare_sequences(symbol, x, y)
    return apply(op, (x, y), None)


def is_numeric(x: Any) -> bool:
    return (
        x.__class__ in (Tensor, float, int, bool, complex, list, tuple, str)
        or hasattr(x, "read_value")
        or hasattr(x, "as_symbol")
        or hasattr(x, "operate")
    )


def equal(x: Any, y: Any, depth: int = 0) -> bool:
    """Python's == on containers; tensors inside compare element by element."""
    if x is y and x.__class__ in (list, tuple, dict):
        return True
    if x.__class__ in SEQUENCES and x.__class__ is y.__class__:
        depth = limits.nest(depth)
        return len(x) == len(y) and all(equal(a, b, depth) for a, b in zip(x, y))
    if x.__class__ is dict and y.__class__ is dict:
        depth = limits.nest(depth)
        return x.keys() == y.keys() and all(equal(x[k], y[k], depth) for k in x)
    if Tensor in (x.__class__, y.__class__):
        import numpy as np

        return bool(np.array_equal(*(z.value if z.__class__ is Tensor else z for z in (x, y))))
    return bool(x == y)


def compare_sequences(symbol: str, x: Any, y: Any) -> bool:
    """Python's order of sequences: the first items that differ decide, then the length."""
    for a, b in zip(x, y):
        if not equal(a, b):
            return truth(compare(OPERATOR_ROWS[symbol], symbol, a, b))
    lengths = (len(x) > len(y)) - (len(x) < len(y))
    return {"<": lengths < 0, "<=": lengths <= 0, ">": lengths > 0, ">=": lengths >= 0}[symbol]


def contains(container: Any, x: Any) -> bool:
    cls = container.__class__
    if cls is str:
        if x.__class__ is not str:
            raise failure("E0304", f"'in' a string needs a string, not {describe(x)}")
        return x in container
    if cls is dict:
        return hashable(x) in container
    if cls is range:
        return (x.value if x.__class__ is Tensor and x.shape == () else x) in container
    if cls is Tensor:
        found = plain(compare(OPERATOR_ROWS["=="], "==", container, x))
        return bool(found.any()) if hasattr(found, "any") else bool(found)
    if cls in SEQUENCES or cls in VIEWS or hasattr(container, "__next__"):
        return any(equal(item, x) for item in container)
    if hasattr(container, "contains"):
        return bool(container.contains(x))
    raise failure("E0304", f"'in' needs a list, a dict, a string or a tensor, not {describe(container)}")
