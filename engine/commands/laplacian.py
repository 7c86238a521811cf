"""`laplacian`: the trace of the Hessian, without forming it."""

from __future__ import annotations

from ..command import BY_ROW, CHECKPOINT, DIFFERENTIATE, EVALUATED, WRT, Command, Single
from .hessian import refuse_complex, rows_by_kernel

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..evaluation import Evaluation

# Inputs up to which a kernel goes through all unit vectors; of more the tape looks for the pattern first.
MOST_BY_KERNEL = 4_096


def compute(evaluation: Evaluation) -> None:
    """The sum over all elements of all sources of the second derivative by that element."""
    from ..autodiff import drivers
    from ..autodiff.sparse import laplacian
    from ..derivatives import shaped

    refuse_complex(evaluation, "a Laplacian takes")
    outcome = evaluation.outcome
    if evaluation.elements() > MOST_BY_KERNEL and evaluation.options.get("engine") != "kernel":
        outcome.reason = "the tape finds the pattern of a Hessian by so many numbers"
    elif by_kernel(evaluation):
        return
    sources = evaluation.sources()
    y, gradients, trace = laplacian(evaluation.function, sources, evaluation.by_pattern())
    evaluation.explain_missing(evaluation.shaped(gradients, y))
    narrowest = drivers.narrower(*map(drivers.source, sources or [0.0]))
    outcome.laplacian = shaped(trace, narrowest, y)
    evaluation.keep_value(y)


def by_kernel(evaluation: Evaluation) -> bool:
    """The trace by products with the unit vectors, of which one entry counts each; False where the tape is to answer."""
    products = rows_by_kernel(evaluation, COMMAND)
    if products is None:
        return False
    import numpy as np

    from ..autodiff import drivers

    trace = 0.0
    missing: dict[str, None] = {}
    for i, x in enumerate(evaluation.sources()):
        for k in range(drivers.count(drivers.shape_of(x))):
            found = next(products)
            if found is None:
                return False
            column = found.derived(len(evaluation.names) + i)
            if not found.reached[i]:
                missing[evaluation.names[i]] = None
            elif column is not None:
                trace += float(np.ravel(column)[k])
    evaluation.explain_missing(missing)
    evaluation.outcome.laplacian = trace
    return True


def from_rows(outcome: Any, options: dict[str, Any]) -> bool:
    import numpy as np

    count = len(outcome.value)
    outcome.laplacian = np.zeros(count)
    for name, row in outcome.hessian.items():
        if row[name] is not None and row[name].dtype != object:
            side = round((row[name].size / max(count, 1)) ** 0.5)
            outcome.laplacian = outcome.laplacian + np.einsum("nii->n", row[name].reshape(count, side, side))
    return True


COMMAND = Command(
    "laplacian", DIFFERENTIATE, "The trace of the Hessian: the sum of the second derivatives by every entry of every input.",
    ('adiff laplacian "x**2*y + sin(y)" --at x=1,y=2', 'adiff laplacian "1/norm(r)" --at r=[1,2,2]'),
    (*EVALUATED, *BY_ROW, WRT, CHECKPOINT), row_order=lambda options: 2, from_rows=from_rows, compute=compute, of_sum="the Laplacian",
    gives=Single("laplacian", "the trace of the Hessian", "Laplacian"),
)  # fmt: skip
