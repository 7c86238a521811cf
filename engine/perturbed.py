"""The program with one of its inputs perturbed: its values beside a point that was evaluated, by the tier that answered there."""

from __future__ import annotations

from ..parser.errors import AdiffError
from .branches import Branches, branches_of
from .core.dtypes import COMPLEX128, FLOAT64, MEETING, WEAK_FLOAT
from .core.operands import plain
from .core.state import RECORDERS, STATE
from .core.tensor import Tensor, is_complex

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

FLOATS_AND_COMPLEX = {(FLOAT64, COMPLEX128): COMPLEX128, (COMPLEX128, FLOAT64): COMPLEX128}


class Perturbed:
    """The program as a function of one source, its result summed. Where a kernel has found the derivatives, a kernel
    gives the values too; `reason` says why one of them is the tape's all the same. `size` is the greatest value seen.

    Complex numbers may meet data of float64 here, which no program of itself may do: a complex step makes numbers
    complex that the program was written for as real ones.
    """

    def __init__(self, evaluation: Any) -> None:
        self.evaluation = evaluation
        self.kernels = evaluation.program.kernels if evaluation.outcome.engine == "kernel" else None
        self.reason = ""
        self.size = 0.0

    def __call__(self, name: str, value: Any) -> Any:
        """The sum of the result's elements with one source replaced."""
        RECORDERS.clear()
        point = {**self.evaluation.point, name: value}
        complex_step = is_complex(value) and not is_complex(self.evaluation.point[name])
        if complex_step and STATE.weak_float is WEAK_FLOAT:
            point = {source: weak(x) for source, x in point.items()}
        found, why = (None, "") if self.kernels is None else self.by_kernel(self.kernels, point)
        if found is None:
            if complex_step:
                MEETING.update(FLOATS_AND_COMPLEX)
            try:
                found = self.evaluation.result_of(point)
            finally:
                MEETING.clear()
            self.reason = why
        result = plain(self.evaluation.numeric(found)[0])
        total = complex(result.sum()) if hasattr(result, "sum") else result
        if abs(total) > self.size:
            self.size = abs(total)
        return total

    def branches(self, name: str, value: Any, measuring: bool = False) -> Branches | None:
        """What a run with one source replaced chooses; None where that cannot be told."""
        RECORDERS.clear()
        try:
            return branches_of(
                lambda source: self.evaluation.result_of({**self.evaluation.point, name: source}), value, measuring
            )
        except AdiffError as error:
            if error.code.startswith("E06"):
                raise
            return None

    def by_kernel(self, kernels: Any, point: Mapping[str, Any]) -> tuple[Any, str]:
        """The result by a kernel, or None where the tape is to give it, and why."""
        from .kernels.compile.run import Failed
        from .kernels.inputs import Request
        from .kernels.ir import Unsupported

        try:
            return kernels.find(point, Request("value"))(point).value, ""
        except Unsupported as why:
            return None, str(why)
        except Failed:
            return None, "the kernel stopped"


def weak(x: Any) -> Any:
    """An array of float64 as one of a list's numbers, which meets complex numbers; anything else as it is."""
    return Tensor(x.value, WEAK_FLOAT) if x.__class__ is Tensor and x.dtype is FLOAT64 and x.on is None else x


__all__ = ["Perturbed"]
