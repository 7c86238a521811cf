"""`vjp`: a cotangent times the Jacobian, by one reverse sweep."""

from __future__ import annotations

from ..command import CHECKPOINT, DERIVATIVE, DIFFERENTIATE, EVALUATED, WRT, BySource, Command, Option

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..evaluation import Evaluation


def compute(evaluation: Evaluation) -> None:
    from ..autodiff import drivers
    from ..plain import bind

    cotangent = evaluation.options.get("cotangent")
    cotangent = None if cotangent is None else bind(cotangent, "cotangent")
    shape = None if cotangent is None else getattr(cotangent, "shape", ())

    def given() -> list[Any]:
        from ..kernels.inputs import seed

        return [] if shape is None else [seed(cotangent, shape)]

    if not evaluation.kernel_result(COMMAND, given=given, cotangent=shape):
        y, gradients = drivers.vjp(evaluation.function, evaluation.sources(), cotangent)
        evaluation.outcome.cotangents = evaluation.shaped(gradients, y)
        evaluation.keep_value(y)
    evaluation.explain_missing(evaluation.outcome.cotangents)


COMMAND = Command(
    "vjp", DIFFERENTIATE, "Cotangent times Jacobian: one reverse pass.",
    ('adiff vjp "x**2" --at x=[1,2,3] --cotangent [1,0,1]',),
    (
        *EVALUATED, WRT, CHECKPOINT,
        Option("--cotangent", "value", "VALUE", DERIVATIVE, "Weights of the result's entries (default: ones)."),
    ),
    compute=compute, of_sum="the cotangent times the Jacobian",
    gives=BySource("cotangents", "d_", "cotangent"),
)  # fmt: skip
