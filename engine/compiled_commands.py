"""What the kernel tier gives to the commands beside value and gradient; False where the tape is to answer."""

from __future__ import annotations

from .autodiff import drivers
from .core.state import STATE
from .plain import bind, to_plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from .evaluation import Evaluation
    from .kernels.answers import Derivatives, Found
    from .outcome import Outcome


# The commands of second derivatives.
SECOND = ("hessian", "hvp", "sparse hessian")


def by_kernel(
    evaluation: Evaluation, derive: Callable[[Derivatives], Found | None], command: str, directions: int = 0,
    order: int | None = None,
) -> Any:  # fmt: skip
    """What `derive` finds, less the kernel, or None, for a command and so many directions of it, or for the derivatives up
    to an `order`."""
    without = [
        name for name, x in zip(evaluation.names, evaluation.sources()) if not drivers.source(x).dtype.differentiable
    ]
    if without or not evaluation.names:
        evaluation.outcome.reason = no_derivative_by(without)
        return None

    def run(kernels: Any, always: bool) -> Found | None:
        from .kernels.answers import Derivatives

        return derive(Derivatives(kernels, evaluation.point, evaluation.names, always))

    from .kernels.work import COMMAND_WORK, derivative_work, hessian_work

    if order is not None:
        work = derivative_work(order)
    elif command == "hessian":
        work = hessian_work(directions)
    else:
        work = COMMAND_WORK.get(command, 0.0) + directions * COMMAND_WORK["direction"]
    return evaluation.by_kernel(run, work, command in SECOND, order)


def no_derivative_by(names: Sequence[str]) -> str:
    """Why there is no kernel of derivatives by no input, or by these that have none."""
    return f"'{names[0]}' has no derivative" if names else "there is no input to differentiate by"


def elements(evaluation: Evaluation) -> int:
    """How many numbers the sources hold."""
    return sum(drivers.count(drivers.shape_of(x)) for x in evaluation.sources())


def keep_value(evaluation: Evaluation, value: Any) -> None:
    evaluation.keep_value(bind(value, "value") if hasattr(value, "shape") else value)


def given(evaluation: Evaluation, directions: list[Any]) -> dict[str, Any]:
    return {name: x for name, x in zip(evaluation.names, directions) if x is not None}


def jacobian(evaluation: Evaluation, mode: str) -> bool:
    found = by_kernel(evaluation, lambda derivatives: derivatives.jacobian(mode), "jacobian", elements(evaluation))
    if found is None:
        return False
    value, (blocks, evaluation.outcome.mode) = found
    give_jacobian(evaluation.outcome, evaluation.names, blocks)
    keep_value(evaluation, value)
    return True


def hessian(evaluation: Evaluation) -> bool:
    found = by_kernel(evaluation, lambda derivatives: derivatives.hessian(), "hessian", elements(evaluation))
    if found is None:
        return False
    value, derivatives = found
    give_hessian(evaluation.outcome, evaluation.names, derivatives)
    keep_value(evaluation, value)
    return True


def sparse_hessian(evaluation: Evaluation) -> tuple[list[Any], Any] | None:
    """The gradients by source, and the entries of the Hessian."""
    if evaluation.options.get("engine") in (None, "auto") and not evaluation.program.has_loops:
        evaluation.outcome.reason = "the tape finds the pattern of operations on tensors at once"
        return None

    def derive(derivatives: Derivatives) -> Found | None:
        from .kernels.sparse import sparse_hessian

        return sparse_hessian(derivatives)

    found = by_kernel(evaluation, derive, "sparse hessian")
    if found is None:
        return None
    value, derivatives = found
    # What was called is not one kernel: no other evaluation is to call it alone.
    evaluation.outcome.kernel = None
    keep_value(evaluation, value)
    gradients, hessian = derivatives
    return [None if g is None else g + 0.0 for g in gradients], hessian


def derivative(evaluation: Evaluation, order: int) -> bool:
    if order < 1:
        evaluation.outcome.reason = "order 0 asks for no derivative"
        return False
    found = by_kernel(evaluation, lambda derivatives: derivatives.derivative(order), "derivative", order=order)
    if found is None:
        return False
    value, derivatives = found
    keep_value(evaluation, value)
    evaluation.outcome.derivatives = derivatives
    return True


def jvp(evaluation: Evaluation, tangents: list[Any]) -> bool:
    directions = given(evaluation, tangents)
    found = by_kernel(evaluation, lambda derivatives: derivatives.jvp(directions), "jvp")
    if found is None:
        return False
    value, tangent = found
    keep_value(evaluation, value)
    if tangent is not None:
        give_jvp(evaluation.outcome, evaluation.names, tangent)
    else:
        from .kernels.answers import of_dtype

        evaluation.outcome.tangent = of_dtype(to_plain(drivers.zeros(getattr(value, "shape", ()))), value)
        STATE.notify("N0502", "the result does not depend on the inputs with a tangent", evaluation.end_site())
    return True


def vjp(evaluation: Evaluation, cotangent: Any) -> bool:
    found = by_kernel(evaluation, lambda derivatives: derivatives.vjp(cotangent), "vjp")
    if found is None:
        return False
    value, cotangents = found
    give_vjp(evaluation.outcome, evaluation.names, cotangents)
    keep_value(evaluation, value)
    return True


def hvp(evaluation: Evaluation, vectors: list[Any]) -> bool:
    directions = given(evaluation, vectors)
    found = by_kernel(evaluation, lambda derivatives: derivatives.hvp(directions), "hvp")
    if found is None:
        return False
    value, derivatives = found
    give_hvp(evaluation.outcome, evaluation.names, derivatives)
    keep_value(evaluation, value)
    return True


# --- where an outcome has what was found ------------------------------------------------------------------------------


def by_name(names: Sequence[str], found: Sequence[Any]) -> dict[str, Any]:
    return {names[0]: found[0]} if len(names) == 1 else dict(zip(names, found))


def give_value(outcome: Outcome, names: Sequence[str], found: None) -> None:
    """Nothing beside the value."""


def give_gradients(outcome: Outcome, names: Sequence[str], gradients: list[Any]) -> None:
    outcome.gradients = by_name(names, gradients)


def give_jacobian(outcome: Outcome, names: Sequence[str], blocks: list[Any]) -> None:
    outcome.jacobian = by_name(names, blocks)


def give_hessian(outcome: Outcome, names: Sequence[str], found: tuple[list[Any], dict[str, Any]]) -> None:
    gradients, blocks = found
    outcome.gradients = by_name(names, gradients)
    outcome.hessian = blocks  # whose elements are never -0.0


def give_jvp(outcome: Outcome, names: Sequence[str], tangent: Any) -> None:
    outcome.tangent = tangent


def give_vjp(outcome: Outcome, names: Sequence[str], cotangents: list[Any]) -> None:
    outcome.cotangents = by_name(names, cotangents)


def give_hvp(outcome: Outcome, names: Sequence[str], found: tuple[list[Any], list[Any]]) -> None:
    gradients, products = found
    outcome.gradients = by_name(names, gradients)
    outcome.product = by_name(names, products)


# Puts what a kernel found for a command in an outcome.
GIVEN: dict[str, Callable[[Outcome, Sequence[str], Any], None]] = {
    "value": give_value,
    "grad": give_gradients,
    "jacobian": give_jacobian,
    "hessian": give_hessian,
    "jvp": give_jvp,
    "vjp": give_vjp,
    "hvp": give_hvp,
}
