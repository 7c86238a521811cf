"""Where the first NaN or infinity came from: the evaluation is repeated with every result looked at."""

from __future__ import annotations

from ..parser.errors import AdiffError
from .autodiff import drivers
from .autodiff.tape import gradient, seed_for
from .core.limits import look_at_clock
from .core.operands import as_operand, plain
from .core.state import RECORDERS, STATE
from .plain import all_finite

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .ops.operation import Operation


class Found(Exception):
    """The origin was found; nothing more needs to run."""


def finite(x: Any) -> bool:
    return all_finite(plain(x))


def kind_of(x: Any) -> str:
    """'nan' or 'inf', whichever a value holds first."""
    return "nan" if has_nan(x) else "infinity"


class ValueTrace:
    """Called with every result of the repeated evaluation: it knows of those that are not finite where that began.

    A NaN on the side of `where` that is not taken is nobody's, so what began first need not be what the result holds. A
    NaN that so many operations have had as an input is there to stay.
    """

    MOST = 1_000

    def __init__(self) -> None:
        self.first: tuple[Any, str] | None = None
        self.origins: dict[int, tuple[Any, tuple[Any, str] | None]] = {}

    def __call__(self, op: Operation, inputs: Any, value: Any) -> None:
        parts = [plain(part) for part in (value if value.__class__ is tuple else (value,))]
        parts = [part for part in parts if not finite(part)]
        if not parts:
            return
        what = kind_of(parts[0])
        given = sorted((x for x in map(plain, inputs) if not finite(x)), key=lambda x: kind_of(x) != what)
        if given:
            origin = next((self.origins[id(x)][1] for x in given if id(x) in self.origins), None)
        else:
            origin = STATE.site, f"the first {what} arises here, in {op.name}{operands(inputs)}"
            self.first = self.first or origin
        for part in parts:
            # The part is held: nothing else has its id.
            self.origins[id(part)] = part, origin
        if len(self.origins) > self.MOST:
            self.tell(None)
            raise Found

    def tell(self, result: Any) -> None:
        """Leave a notice at the origin of what the result holds, or at the first there was."""
        results = [plain(x) for x in (result if result.__class__ in (list, tuple) else (result,))]
        known = (self.origins[id(x)][1] for x in results if id(x) in self.origins)
        origin = next((found for found in known if found is not None), self.first)
        if origin is not None:
            STATE.site, message = origin
            STATE.notify("N0601", message)


def operands(inputs: Any) -> str:
    values = [plain(x) for x in inputs]
    if len(values) <= 2 and all(v.__class__ in (int, float, complex) for v in values):
        return " of " + " and ".join(repr(v) for v in values)
    return ""


class AdjointTrace:
    """Called with every cotangent: it reports the first infinity, and the first NaN if there is one as well.

    Of a derivative inside the program, what its value held on the way there, as `values` knows it, comes first.
    """

    # Cotangents between two looks at the clock.
    LOOK = 256

    def __init__(self, values: ValueTrace | None) -> None:
        self.values = values
        self.infinite: Operation | None = None
        self.calls = 0

    def __call__(self, op: Operation, g: Any, c: Any, meets: str = "0") -> None:
        self.calls += 1
        if self.calls % self.LOOK == 0:
            look_at_clock()
        if finite(c):
            return
        if self.values is not None and self.values.first is not None:
            self.values.tell(None)
            raise Found
        # Of a row with several results there are as many cotangents, and none for those that nothing depends on.
        given = [part for part in (g if g.__class__ is tuple else (g,)) if part is not None]
        if kind_of(c) == "nan" and not any(map(has_nan, given)):
            advice = ""
            if not all(map(finite, given)):
                advice = f": an infinite cotangent meets {meets}"
                if meets == "0" and self.infinite is not None and self.infinite.name in ("sqrt", "power"):
                    advice += "; norm(x), or hypot(x, y), has the right derivative where this is sqrt(sum(x**2))"
            STATE.notify(
                "N0602", f"the first nan of the derivative arises here, in the derivative of {op.name}{advice}"
            )
            raise Found
        if self.infinite is None and all(map(finite, given)):
            self.infinite = op
            STATE.notify("N0602", f"the first infinity of the derivative arises here, in the derivative of {op.name}")


def has_nan(x: Any) -> bool:
    value = plain(x)
    if value.__class__ is float:
        return bool(value != value)
    import numpy as np

    return bool(np.isnan(value).any())


def find_origin(evaluation: Any, derivative: bool) -> bool:
    """Run the program again, looking at every result, and leave a notice at the origin, if one is found."""
    told = len(STATE.notices)
    wrong = not all_finite(evaluation.outcome.value)
    repeat(evaluation, derivative, ValueTrace() if wrong else None)
    if derivative and not wrong and len(STATE.notices) == told:
        # No cotangent tells: it began in what the program differentiates itself, or in a tangent.
        repeat(evaluation, derivative, ValueTrace())
    return True


def repeat(evaluation: Any, derivative: bool, trace: ValueTrace | None) -> None:
    RECORDERS.clear()
    STATE.trace = trace
    STATE.trace_adjoint = AdjointTrace(trace)
    STATE.depth = 0
    try:
        if not derivative:
            result = evaluation.result_of(evaluation.differentiated_point())
            if trace is not None:
                trace.tell(result)
            return
        tape, tensors, y = drivers.recorded(evaluation.function, evaluation.sources())
        if trace is not None:
            trace.tell(y)
            if trace.first is not None:
                return
        y = as_operand(y)
        gradient(tape, [y], [seed_for(y)], [[x] for x in tensors], consume=True)
    except (Found, AdiffError):
        pass  # the first run came through, so an error is a limit reached on the second; the result stands without the notice
    finally:
        STATE.trace = STATE.trace_adjoint = None
        RECORDERS.clear()
