"""`jvp`: the Jacobian times a tangent, by one forward pass."""

from __future__ import annotations

from ..command import BY_ROW, DERIVATIVE, DIFFERENTIATE, EVALUATED, Command, Option, Single

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..evaluation import Evaluation


def compute(evaluation: Evaluation) -> None:
    from ..autodiff import drivers
    from ..core.operands import as_operand
    from ..core.state import STATE
    from ..plain import to_plain

    tangents = evaluation.directions("tangent")
    moved, given = evaluation.seeds(tangents)
    found = evaluation.kernel_result(COMMAND, directions=moved, given=given)
    if found is not None:
        reached = any(there for name, there in zip(evaluation.names, found.reached) if name in moved)
    else:
        y, tangent = evaluation.quietly(lambda: drivers.jvp(evaluation.function, evaluation.sources(), tangents))
        reached = tangent is not None
        tangent = as_operand(tangent) + 0.0 if reached else drivers.zeros(drivers.shape_of(y))  # as of every derivative
        evaluation.outcome.tangent = to_plain(drivers.in_width(tangent, y, 0.0))
        evaluation.keep_value(y)
    if not reached:
        STATE.notify("N0502", "the result does not depend on the inputs with a tangent", evaluation.end_site())


def from_kernel(outcome: Any, found: Any, reached: list[bool]) -> None:
    outcome.tangent = found.derived(0)


def from_rows(outcome: Any, options: dict[str, Any]) -> bool:
    """The tangents of scalars, by the gradient; tangents are the same in all rows."""
    import numpy as np

    from ..plain import bind, to_plain

    outcome.tangent = np.zeros(len(outcome.value))
    for name, given in options["tangent"].items():
        g = outcome.gradients.get(name)
        direction = np.asarray(to_plain(bind(given, name)))
        moved = np.broadcast_to(direction != 0, g.shape[1:]) if g is not None and g.dtype != object else None
        if moved is not None and moved.any():
            terms = g[:, moved] * np.broadcast_to(direction, g.shape[1:])[moved]
            outcome.tangent = outcome.tangent + terms.sum(axis=1)
    named = set(options["tangent"]) <= set(outcome.gradients)
    return bool(named and outcome.value.ndim == 1 and outcome.value.dtype != object)


COMMAND = Command(
    "jvp", DIFFERENTIATE, "The derivative along a direction: Jacobian times tangent.",
    ('adiff jvp "x*y" --at x=2,y=3 --tangent x=1,y=0',),
    (
        *EVALUATED, *BY_ROW,
        Option("--tangent", "bindings", "NAME=VALUE", DERIVATIVE, "Direction the inputs move in.", repeat=True),
    ),
    compute=compute, row_order=lambda options: 1, from_rows=from_rows, from_kernel=from_kernel, of_sum="the Jacobian times the tangent",
    gives=Single("tangent", "the derivative along the direction", "tangent"),
)  # fmt: skip
