"""Where the first NaN or infinity came from: the evaluation is repeated with every result looked at."""

from __future__ import annotations

from ..parser.errors import AdiffError
from .autodiff import drivers
from .autodiff.tape import gradient, seed_for
from .core.dispatch import as_operand, plain
from .core.state import RECORDERS, STATE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .core.operation import Operation


class Found(Exception):
    """The origin was found; nothing more needs to run."""


def finite(x: Any) -> bool:
    value = plain(x)
    if value.__class__ is float:
        return value - value == 0.0
    if value.__class__ in (int, bool, str) or value is None:
        return True
    if value.__class__ is complex:
        return value - value == 0
    if value.dtype.kind not in "fc":
        return True
    import numpy as np

    return bool(np.isfinite(value).all())


def kind_of(x: Any) -> str:
    """'nan' or 'inf', whichever a value holds first."""
    value = plain(x)
    import numpy as np

    return "nan" if np.isnan(value).any() else "infinity"


def trace(op: Operation, inputs: Any, value: Any, adjoint: bool = False) -> None:
    """Called with every result (forward) and every cotangent (reverse) of the repeated evaluation."""
    parts = value if value.__class__ is tuple else (value,)
    if all(finite(part) for part in parts):
        return
    if adjoint:
        if finite(inputs):
            what = kind_of(value)
            message = f"the first {what} of the derivative arises here, in the derivative of {op.name}" + advice(op)
            STATE.notify("N0602", message)
            raise Found
        return
    if all(finite(x) for x in inputs):
        what = next(kind_of(part) for part in parts if not finite(part))
        if STATE.kinks == "quiet":
            return
        around = STATE.site.op
        within = "" if around is None or around is op else f", a part of {around.name}"
        STATE.notify("N0601", f"the first {what} arises here, in {op.name}{operands(inputs)}{within}")
        raise Found


def trace_adjoint(op: Operation, inputs: Any, value: Any, adjoint: bool = False) -> None:
    """`trace` for the reverse sweep, where the operations that rules are made of are nobody's business."""
    if adjoint:
        trace(op, inputs, value, adjoint)


def operands(inputs: Any) -> str:
    values = [plain(x) for x in inputs]
    if len(values) <= 2 and all(v.__class__ in (int, float, complex) for v in values):
        return " of " + " and ".join(repr(v) for v in values)
    return ""


def advice(op: Operation) -> str:
    if op.name == "sqrt":
        return ": its derivative is infinite at 0; norm(x) has a derivative there where this is sqrt(sum(x**2))"
    if op.name in ("power", "square", "multiply"):
        return ": an infinite cotangent meets 0; norm(x) has the right derivative where this is sqrt(sum(x**2))"
    return ""


def find_origin(evaluation: Any, derivative: bool) -> None:
    """Run the program again under `trace` and leave a notice at the origin, if one is found."""
    RECORDERS.clear()
    STATE.trace = trace
    STATE.depth = 0
    try:
        if not derivative:
            evaluation.result_of(evaluation.point)
            return
        tape, tensors, y = drivers.recorded(evaluation.function, evaluation.sources())
        y = as_operand(y)
        STATE.trace = trace_adjoint
        gradient(tape, [y], [seed_for(y)], [[x] for x in tensors], consume=True)
    except Found:
        pass
    except AdiffError:
        # The first run came through, so this is a limit reached on the second; the result stands without the notice.
        pass
    finally:
        STATE.trace = None
        RECORDERS.clear()
