"""float32 scalars: rows applied to single numbers, each result rounded once to float32.

They are NumPy's scalars. Sums, differences, products and quotients are NumPy's own; another row is computed in float64 and
rounded, as kernels do. Rounding twice changes nothing for a root, since float64 has more than twice the digits, and two
more (Figueroa, SIGNUM Newsletter 30, 1995).
"""

from __future__ import annotations

from .dtypes import FLOAT32, WEAK_FLOAT, WEAK_FLOAT32
from .errors import ARITHMETIC_FAULTS
from .following import follows, site_for
from .state import RECORDERS, STATE
from .tensor import Tensor

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .operation import Operation

# Dtype rules by which a row of floats gives floats of the same dtype.
KEEPING = frozenset(("arithmetic", "total", "promote", "float", "first", "real"))
# The largest integer up to which a float64 holds all.
LARGEST = 1 << 53
# NumPy's float32, once an evaluation has met one; numbers of the program in it, by their float64.
KIND: list[Any] = []
KNOWN: dict[float, Any] = {}
MOST_KNOWN = 10_000
WAYS: dict[Any, Any] = {}


def meet() -> Any:
    """NumPy's float32, whose overflows and undefined results are no news from here to the end of the evaluation."""
    import numpy as np

    if not KIND:
        KIND.append(np.float32)
    STATE.be_lenient()
    return KIND[0]


def number(x: Any, float32: Any) -> Any:
    """An operand as a float32; None for one that is no single number, or of another dtype."""
    cls = x.__class__
    if cls is float32:
        return x
    if cls is Tensor:
        value = x.value
        if value.__class__ is float32:
            return value
        if value.__class__ is not float or x.dtype is not WEAK_FLOAT:
            return None
        x = value
    elif cls is int:
        if not -LARGEST <= x <= LARGEST:
            return None
        x = float(x)
    elif cls is not float:
        return None
    if not x or x != x:
        return float32(x)  # of either sign
    found = KNOWN.get(x)
    if found is None:
        if len(KNOWN) > MOST_KNOWN:
            KNOWN.clear()
        found = KNOWN[x] = float32(x)
    return found


def way_of(op: Operation) -> tuple[Any, bool, bool] | None:
    """The row's formula of numbers, whether NumPy computes it in float32, and whether it tells a truth; None for a row of
    other results, or without such a formula."""
    truth = op.dtype == "bool"
    if op.scalar is None or op.skip or op.by_format or not (truth or op.dtype in KEEPING):
        return None
    return op.scalar, op.exact, truth


def applied(op: Operation, inputs: tuple[Any, ...]) -> Any:
    """The result of a row of numbers of which one is a float32; None where the general way has it."""
    way = WAYS.get(op, WAYS)
    if way is WAYS:
        way = WAYS[op] = way_of(op)
    if way is None or STATE.trace is not None:
        return None
    scalar, exact, truth = way
    float32 = KIND[0] if KIND and STATE.lenient is not None else meet()
    strong = single = False
    values = []
    for x in inputs:
        if x.__class__ is Tensor and x.value.__class__ is float32:
            single = True
            strong = strong or x.dtype is FLOAT32
            value = x.value
        else:
            value = number(x, float32)
            if value is None:
                return None
        values.append(value)
    if not single:
        return None
    try:
        if exact:
            value = scalar(*values)
        else:
            found = scalar(*[float(v) for v in values])
            if found.__class__ is not (bool if truth else float):
                return None
            value = found if truth else float32(found)
    except ARITHMETIC_FAULTS:
        return None
    out = value if truth else Tensor(value, FLOAT32 if strong else WEAK_FLOAT32)
    if RECORDERS:
        recorder = RECORDERS[0]
        token = recorder.token
        if not truth and len(RECORDERS) == 1 and recorder.log is not None and op.direct and len(inputs) <= 2:
            a = inputs[0]
            b = inputs[1] if len(inputs) == 2 else None
            if (a.__class__ is Tensor and a.on is token) or (b.__class__ is Tensor and b.on is token):
                out.on = token
                site = STATE.site
                recorder.log += (site if site.op is op else site_for(op), a, b, out)
                return out
        for recorder in tuple(RECORDERS):
            if any(follows(x, recorder.token) for x in inputs):
                out = recorder.record(op, inputs, None, out)
    return out
