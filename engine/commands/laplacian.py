"""`laplacian`: the trace of the Hessian, without forming it."""

from __future__ import annotations

from ..command import BY_ROW, CHECKPOINT, DIFFERENTIATE, EVALUATED, WRT, Command, Single
from . import hessian

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..evaluation import Evaluation

# Inputs up to which a kernel finds the whole Hessian; of more the tape looks for the pattern first.
MOST_BY_KERNEL = 1_024


def compute(evaluation: Evaluation) -> None:
    """The sum over all elements of all sources of the second derivative by that element."""
    from ..autodiff import drivers
    from ..autodiff.hessians import laplacian
    from ..derivatives import shaped

    hessian.refuse_complex(evaluation, "a Laplacian takes")
    outcome = evaluation.outcome
    if evaluation.elements() > MOST_BY_KERNEL and evaluation.options.get("engine") != "kernel":
        outcome.reason = "the tape finds the pattern of a Hessian by so many numbers"
    elif (by_kernel := evaluation.kernel_result(COMMAND, "hessian")) is not None:
        evaluation.explain_missing(by_kernel.by_source(by_kernel.reached))
        return
    sources = evaluation.sources()
    y, gradients, found = laplacian(evaluation.function, sources, evaluation.by_pattern())
    evaluation.explain_missing(evaluation.shaped(gradients, y))
    narrowest = drivers.narrower(*map(drivers.source, sources or [0.0]))
    outcome.laplacian = shaped(found, narrowest, y)
    evaluation.keep_value(y)


def from_kernel(outcome: Any, found: Any, reached: list[bool]) -> None:
    blocks = hessian.blocks(found, reached)
    outcome.laplacian = float(sum(trace(row[name], 1)[0] for name, row in blocks.items()))


def trace(block: Any, count: int) -> Any:
    """The traces of `count` blocks of Hessians on the diagonal, whatever the shape of their source."""
    import numpy as np

    if np.asarray(block).dtype.kind == "O":  # None, or blocks that differ in shape
        return np.zeros(count)
    side = round((np.size(block) / max(count, 1)) ** 0.5)
    return np.einsum("nii->n", np.reshape(block, (count, side, side)))


def from_rows(outcome: Any, options: dict[str, Any]) -> bool:
    count = len(outcome.value)
    outcome.laplacian = sum((trace(row[name], count) for name, row in outcome.hessian.items()), trace(None, count))
    return True


COMMAND = Command(
    "laplacian", DIFFERENTIATE, "The trace of the Hessian: the sum of the second derivatives by every entry of every input.",
    ('adiff laplacian "x**2*y + sin(y)" --at x=1,y=2', 'adiff laplacian "1/norm(r)" --at r=[1,2,2]'),
    (*EVALUATED, *BY_ROW, WRT, CHECKPOINT), row_order=lambda options: 2, from_rows=from_rows, compute=compute,
    from_kernel=from_kernel, of_sum="the Laplacian",
    gives=Single("laplacian", "the trace of the Hessian", "Laplacian"),
)  # fmt: skip
