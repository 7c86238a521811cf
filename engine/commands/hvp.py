"""`hvp`: the Hessian times a vector, forward over reverse."""

from __future__ import annotations

from ..command import CHECKPOINT, DERIVATIVE, DIFFERENTIATE, EVALUATED, WRT, BySource, Command, Option

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..evaluation import Evaluation


def compute(evaluation: Evaluation) -> None:
    from ..autodiff import hessians

    outcome = evaluation.outcome
    vectors = evaluation.directions("vector")
    moved, given = evaluation.seeds(vectors)
    if not evaluation.kernel_result(COMMAND, directions=moved, given=given):
        y, gradients, products = evaluation.quietly(
            lambda: hessians.hvp(evaluation.function, evaluation.sources(), vectors)
        )
        outcome.gradients = evaluation.shaped(gradients, y)
        outcome.product = evaluation.shaped(products, y)
        evaluation.keep_value(y)
    evaluation.explain_missing(outcome.product)


def from_kernel(outcome: Any, found: Any, reached: list[bool]) -> None:
    outcome.gradients = found.by_source(reached)
    outcome.product = found.by_source(reached, len(reached))


COMMAND = Command(
    "hvp", DIFFERENTIATE, "Hessian times vector, without forming the Hessian.",
    ('adiff hvp "x**2*y" --at x=1,y=2 --vector x=1,y=0',),
    (
        *EVALUATED, WRT, CHECKPOINT,
        Option("--vector", "bindings", "NAME=VALUE", DERIVATIVE, "Vector the Hessian is applied to.", repeat=True),
    ),
    compute=compute, from_kernel=from_kernel, of_sum="the Hessian times the vector",
    gives=BySource("product", "Hv.", "Hessian times vector"),
)  # fmt: skip
