"""The program as a function of one of its inputs, beside a point that was evaluated."""

from __future__ import annotations

import math

from ..parser.errors import AdiffError
from .branches import branches_of, same_branches
from .core.dtypes import COMPLEX128, FLOAT64, MEETING, WEAK_COMPLEX, WEAK_FLOAT
from .core.operands import as_operand, plain
from .core.state import RECORDERS, STATE
from .core.tensor import OPERATORS, Tensor, is_complex
from .differences import EPSILON, STARTS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .branches import Branches

# Steps below this one are lost in rounding, or are no numbers.
NARROWEST = 1e-250
# Complex numbers may meet data of float64 in a complex step, which no program of itself may do.
FLOATS_AND_COMPLEX = {(FLOAT64, COMPLEX128): COMPLEX128, (COMPLEX128, FLOAT64): COMPLEX128}


class Source:
    """The program as a function of one source, its result summed, by a kernel where one has found the derivatives."""

    def __init__(self, evaluation: Any, name: str) -> None:
        self.evaluation = evaluation
        self.name = name
        self.x = as_operand(evaluation.point[name])
        self.complex = is_complex(self.x)
        self.size = int(getattr(plain(self.x), "size", 1))
        self.here = None if self.x.__class__ is str else self.branches(self.x)

    def value(self, i: int, step: Any) -> Any:
        """The program's value with `step` added to flat element `i`; nan where it has none, as where a matrix is singular."""
        try:
            return self.of(self.shifted(i, step))
        except AdiffError as error:
            if error.code.startswith("E06"):
                raise
            return math.nan

    def of(self, x: Any) -> Any:
        """The sum of the result's elements with the source replaced."""
        RECORDERS.clear()
        evaluation = self.evaluation
        point = {**evaluation.point, self.name: x}
        complex_step = is_complex(x) and not self.complex
        if complex_step and STATE.weak_float is WEAK_FLOAT:
            point = {source: weak(value) for source, value in point.items()}
        found = by_kernel(evaluation.program.kernels, point) if evaluation.outcome.engine == "kernel" else None
        if found is None:
            if complex_step:
                MEETING.update(FLOATS_AND_COMPLEX)
            try:
                found = evaluation.result_of(point)
            finally:
                MEETING.clear()
        result = plain(evaluation.numeric(found)[0])
        return complex(result.sum()) if hasattr(result, "sum") else result

    def shifted(self, i: int, step: Any) -> Any:
        """The source with `step` added to flat element `i`, complex where `step` is."""
        value = plain(self.x)
        if not hasattr(value, "reshape"):
            return value + step
        import numpy as np

        array = np.array(value, dtype="complex128" if step.__class__ is complex else "float64").reshape(-1)
        array[i] += step
        array = array.reshape(value.shape)
        if step.__class__ is complex:
            return Tensor(array, WEAK_COMPLEX)
        return Tensor(array, self.x.dtype if self.x.dtype.kind == "f" else OPERATORS.add(self.x, 0.0).dtype)

    def widths(self, i: int) -> tuple[float, ...]:
        """Over which the program may vary in an element: a small one may be that far from a kink or a pole at 0."""
        value = plain(self.x)
        near = float(abs(value.reshape(-1)[i] if hasattr(value, "reshape") else value))
        usual = max(near, 0.1)
        return (near, usual) if NARROWEST < near < usual else (usual,)

    def branches(self, x: Any) -> Branches | None:
        """What a run with the source replaced chooses; None where that cannot be told."""
        RECORDERS.clear()
        try:
            return branches_of(
                lambda source: self.evaluation.result_of({**self.evaluation.point, self.name: source}), x
            )
        except AdiffError as error:
            if error.code.startswith("E06"):
                raise
            return None

    def reach(self, i: int, unit: Any) -> float:
        """A step in an element, near the largest, that stays on the piece of the point; 0 where none does."""
        here = self.here
        if here is None or not (here.choices or here.distances):
            return math.inf

        def stays(h: float) -> bool:
            found = (self.branches(self.shifted(i, part * h * unit)) for part in (1.0, -1.0, 0.7, -0.7))
            return all(there is not None and same_branches(here, there) for there in found)

        widths = self.widths(i)
        h = first = STARTS[0] * max(widths)
        while not stays(h):
            h /= 2
            if h < max(EPSILON * min(widths), NARROWEST):
                return 0.0
        return math.inf if h == first else next((k * h for k in (1.8, 1.5, 1.2) if stays(k * h)), h)

    def side(self, i: int, unit: Any, sign: float) -> float:
        """A step to one side of a kink such that it and smaller ones are on one piece; 0 where none is found."""
        for part in STARTS[1:]:
            h = sign * part * min(self.widths(i))
            first, *others = (self.branches(self.shifted(i, k * h * unit)) for k in (1.0, 0.7, 0.02))
            if first is not None and all(there is not None and same_branches(first, there) for there in others):
                return h
        return 0.0


def by_kernel(kernels: Any, point: dict[str, Any]) -> Any:
    """The result by a kernel, or None where the tape is to give it."""
    from .kernels.compile.run import Failed
    from .kernels.inputs import Request
    from .kernels.ir import Unsupported

    try:
        return kernels.find(point, Request("value"))(point).value
    except (Unsupported, Failed):
        return None


def weak(x: Any) -> Any:
    """An array of float64 as one of a list's numbers, which meets complex numbers; anything else as it is."""
    return Tensor(x.value, WEAK_FLOAT) if x.__class__ is Tensor and x.dtype is FLOAT64 and x.on is None else x


__all__ = ["Source"]
