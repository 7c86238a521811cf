"""What the kernel tier gives to the commands beside value and gradient; False where the tape is to answer."""

from __future__ import annotations

from .autodiff import drivers
from .plain import bind

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .evaluation import Evaluation
    from .kernels.answers import Derivatives, Found


def by_kernel(
    evaluation: Evaluation, derive: Callable[[Derivatives], Found | None], command: str, directions: int = 0,
    more: float = 0.0,
) -> Any:  # fmt: skip
    """What `derive` finds, less the kernel, or None, for a command and so many directions of it, and `more` work."""
    if not evaluation.names or not all(drivers.source(x).dtype.differentiable for x in evaluation.sources()):
        return None

    def run(kernels: Any, always: bool) -> Found | None:
        from .kernels.answers import Derivatives

        return derive(Derivatives(kernels, evaluation.point, evaluation.names, always))

    from .kernels.work import COMMAND_WORK

    work = COMMAND_WORK.get(command, 0.0) + directions * COMMAND_WORK["direction"] + more
    return evaluation.by_kernel(run, work)


def elements(evaluation: Evaluation) -> int:
    """How many numbers the sources hold."""
    return sum(drivers.count(drivers.shape_of(x)) for x in evaluation.sources())


def keep_value(evaluation: Evaluation, value: Any) -> None:
    evaluation.keep_value(bind(value, "value") if hasattr(value, "shape") else value)


def by_name(evaluation: Evaluation, found: Any) -> dict[str, Any]:
    # A derivative of -0.0 is 0.0 to everybody.
    return {name: None if x is None else x + 0.0 for name, x in zip(evaluation.names, found)}


def given(evaluation: Evaluation, directions: list[Any]) -> dict[str, Any]:
    return {name: x for name, x in zip(evaluation.names, directions) if x is not None}


def jacobian(evaluation: Evaluation, mode: str) -> bool:
    found = by_kernel(evaluation, lambda derivatives: derivatives.jacobian(mode), "jacobian", elements(evaluation))
    if found is None:
        return False
    value, (blocks, evaluation.outcome.mode) = found
    evaluation.outcome.jacobian = by_name(evaluation, blocks)
    keep_value(evaluation, value)
    return True


def hessian(evaluation: Evaluation) -> bool:
    found = by_kernel(evaluation, lambda derivatives: derivatives.hessian(), "hessian", elements(evaluation))
    if found is None:
        return False
    value, (gradients, blocks) = found
    evaluation.outcome.gradients = by_name(evaluation, gradients)
    evaluation.outcome.hessian = {name: by_name(evaluation, blocks[name].values()) for name in evaluation.names}
    keep_value(evaluation, value)
    return True


def derivative(evaluation: Evaluation, order: int) -> bool:
    if order < 1:
        return False
    from .kernels.work import derivative_work

    found = by_kernel(evaluation, lambda derivatives: derivatives.derivative(order), "", 0, derivative_work(order))
    if found is None:
        return False
    value, derivatives = found
    keep_value(evaluation, value)
    evaluation.outcome.derivatives = [x + 0.0 for x in derivatives]
    return True


def jvp(evaluation: Evaluation, tangents: list[Any]) -> bool:
    directions = given(evaluation, tangents)
    found = by_kernel(evaluation, lambda derivatives: derivatives.jvp(directions), "jvp")
    if found is None:
        return False
    value, tangent = found
    keep_value(evaluation, value)
    evaluation.outcome.tangent = tangent + 0.0
    return True


def vjp(evaluation: Evaluation, cotangent: Any) -> bool:
    found = by_kernel(evaluation, lambda derivatives: derivatives.vjp(cotangent), "vjp")
    if found is None:
        return False
    value, cotangents = found
    evaluation.outcome.cotangents = by_name(evaluation, cotangents)
    keep_value(evaluation, value)
    return True


def hvp(evaluation: Evaluation, vectors: list[Any]) -> bool:
    directions = given(evaluation, vectors)
    found = by_kernel(evaluation, lambda derivatives: derivatives.hvp(directions), "hvp")
    if found is None:
        return False
    value, (gradients, products) = found
    evaluation.outcome.gradients = by_name(evaluation, gradients)
    evaluation.outcome.product = by_name(evaluation, products)
    keep_value(evaluation, value)
    return True
