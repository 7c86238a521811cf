"""`grad`: the gradient, by one reverse sweep."""

from __future__ import annotations

from ..command import BY_ROW, CHECKPOINT, DIFFERENTIATE, EVALUATED, WRT, BySource, Command

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..evaluation import Evaluation


def compute(evaluation: Evaluation) -> None:
    from ..autodiff import drivers
    from ..autodiff.tape import gradient, seed_for
    from ..core.operands import as_operand

    sources = evaluation.sources()
    found = evaluation.kernel_result(COMMAND)
    if found is not None:
        explain_unconnected(evaluation, found)
        tell_of_shape(evaluation, found.compiled.facts["shape"])
        return
    tape, tensors, y = drivers.recorded(evaluation.function, sources)
    y = as_operand(y)
    tell_of_shape(evaluation, drivers.shape_of(y))
    gradients = gradient(tape, [y], [seed_for(y)], [[x] for x in tensors], consume=True)
    missing = [i for i, (x, g) in enumerate(zip(tensors, gradients)) if g is None and x.dtype.differentiable]
    if missing:
        tell_of_unconnected(evaluation, evaluation.why_unconnected(missing))
    evaluation.outcome.gradients = evaluation.shaped(gradients, y)
    structured = evaluation.structured
    whole = structured.__class__ in (list, tuple, dict) or hasattr(structured, "leaves")
    evaluation.keep_value(structured if whole else y)


def tell_of_shape(evaluation: Evaluation, shape: tuple[int, ...]) -> None:
    """Notice that a gradient is one of the sum of the result's elements, where the result is a tensor and no scalar."""
    if shape:
        from ..core.state import STATE
        from ..core.wording import elements_summed

        STATE.notify("N0503", elements_summed(shape), evaluation.end_site())


def explain_unconnected(evaluation: Evaluation, found: Any) -> None:
    """Notice why the value that a kernel has found does not depend on a source."""
    compiled = found.compiled
    missing = [i for i, there in enumerate(found.reached) if not there]
    if not missing:
        return
    # Where data decide, the reasons may be others at another point.
    if not compiled.reasons or compiled.facts["decided"] is not None:
        compiled.reasons = evaluation.why_unconnected(missing)
    tell_of_unconnected(evaluation, compiled.reasons)


def tell_of_unconnected(evaluation: Evaluation, reasons: list[tuple[str, str, Any]]) -> None:
    from ..core.state import STATE

    for name, reason, site in reasons:
        STATE.notify("N0502", f"{name}: the gradient is None: {reason}", site or evaluation.end_site())


COMMAND = Command(
    "grad", DIFFERENTIATE, "Value and gradient. A result that is not a scalar is summed, and a notice says so.",
    (
        'adiff grad "x**2" --at x=2',
        'adiff grad "-x**2 * y" --at x=-1,y=3 --wrt x',
        'adiff grad "sum(A @ v)" --at A=@matrix.npy --at v=[1,2] --json',
    ),
    (*EVALUATED, *BY_ROW, WRT, CHECKPOINT), row_order=lambda options: 1, compute=compute, of_sum="the gradient", takes_kinds=True,
    gives=BySource("gradients", "d_", "gradient"),
)  # fmt: skip
