"""The values of a program at points near one that was evaluated, by the tier that answered there."""

from __future__ import annotations

from .core.dispatch import plain
from .core.state import RECORDERS
from .plain import bind

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any


class Nearby:
    """The program as a function of one source, its result summed. Where a kernel has found the derivatives, a kernel
    gives the values too; `reason` says why one of them is the tape's all the same."""

    def __init__(self, evaluation: Any) -> None:
        self.evaluation = evaluation
        self.kernels = evaluation.program.kernels if evaluation.outcome.engine == "kernel" else None
        self.reason = ""

    def __call__(self, name: str, value: Any) -> Any:
        """The sum of the result's elements with one source replaced."""
        RECORDERS.clear()
        point = {**self.evaluation.point, name: value}
        found, why = (None, "") if self.kernels is None else self.by_kernel(self.kernels, point)
        if found is None:
            found = self.evaluation.result_of(point)
            self.reason = why
        result = plain(self.evaluation.numeric(found))
        return complex(result.sum()) if hasattr(result, "sum") else result

    def by_kernel(self, kernels: Any, point: Mapping[str, Any]) -> tuple[Any, str]:
        """The result by a kernel, or None where the tape is to give it, and why."""
        from .kernels.ir import Needed, Unsupported

        while True:
            try:
                found = kernels.evaluate(dict(point), None, True)
            except Unsupported as why:
                if why.__class__ is Needed and kernels.learn(why.names):
                    continue
                return None, str(why)
            value = None if found is None else found[0]
            return (bind(value, "value") if hasattr(value, "shape") else value), ""


__all__ = ["Nearby"]
