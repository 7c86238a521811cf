"""`derivative`: the first N derivatives of a function of one input, as a power series or by nested tangents."""

from __future__ import annotations

from ...parser.errors import AdiffError
from ..command import BY_ROW, DERIVATIVE, DIFFERENTIATE, EVALUATED, WRT, Command, Option

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..evaluation import Evaluation
    from ..program.core import CoreProgram

# The highest order that is tried by nested tangents, which take twice as long for each.
MOST_NESTED = 20
# Nodes of the core program whose meaning needs tensors, tapes or containers of them.
OUTSIDE = frozenset("Watch With Method Attribute Item StoreItem FormatText LibraryName".split())
INSIDE_INTRINSICS = frozenset("range abs min max pow float len sum zip enumerate list tuple reversed print".split())


def compute(evaluation: Evaluation) -> None:
    from ..autodiff import drivers
    from ..core.operands import as_operand
    from ..derivatives import shaped

    if len(evaluation.names) != 1:
        raise AdiffError(
            "E0805", f"derivative needs one input, and the program has {len(evaluation.names)}", None,
            "choose one: --wrt x" if evaluation.names else "the program reads no input",
        )  # fmt: skip
    order = evaluation.options.get("order")
    order = 1 if order is None else order
    evaluation.outcome.reason = "derivatives of one input are power series on the tape"
    found = evaluation.quietly(lambda: derivatives(evaluation, order))
    evaluation.keep_value(found[0])
    x = drivers.source(evaluation.sources()[0])
    evaluation.outcome.derivatives = [shaped(d, x, as_operand(found[0])) for d in found[1:]]


def derivatives(evaluation: Evaluation, order: int) -> list[Any]:
    """The value and the derivatives up to an order: by Taylor mode, or where that does not cover the program by tangents."""
    from ..autodiff import drivers
    from ..core.errors import failure

    found = by_series(evaluation, order)
    if found is None and order > MOST_NESTED:
        raise failure(
            "E0606",
            f"derivatives up to order {order} would take the program more than {2**MOST_NESTED} runs: "
            "it has no power series here",
            f"up to order {MOST_NESTED} they are tangents of tangents, of which each order has twice as many",
            site=evaluation.end_site(),
        )
    return found or drivers.derivatives(lambda inputs: scalar(evaluation, inputs), evaluation.sources()[0], order)


def by_series(evaluation: Evaluation, order: int) -> list[Any] | None:
    """The derivatives by Taylor mode, or None for a program that it does not cover."""
    from ..autodiff import drivers, taylor
    from ..core.tensor import Tensor

    x = evaluation.sources()[0]
    if order < 2 or not isinstance(x, float | int) or not covers(evaluation.core):
        return None
    value = scalar(evaluation, [drivers.source(x)])
    if value.__class__ is not float and not (value.__class__ is Tensor and value.value.__class__ is float):
        return None
    try:
        found: list[Any] = taylor.derivatives(lambda inputs: scalar(evaluation, inputs), float(x), order)
    except taylor.Unsupported:
        return None
    return found


def covers(core: CoreProgram) -> bool:
    """Whether every node of a core program is one that power series can flow through."""
    from ..program.core import Intrinsic
    from ..program.loops import nodes

    return not any(
        node.__class__.__name__ in OUTSIDE or (node.__class__ is Intrinsic and node.name not in INSIDE_INTRINSICS)
        for node in nodes(core.body)
    )


def scalar(evaluation: Evaluation, inputs: list[Any]) -> Any:
    """The program's value, which must be a scalar."""
    from ..autodiff import drivers

    y = evaluation.function(inputs)
    drivers.require_scalar(y, "derivative")
    return y


def fill(result: Any, outcome: Any) -> None:
    result.document = {"value": outcome.value, "derivatives": outcome.derivatives}
    result.header = ("order", "value")
    result.rows = [(0, outcome.value), *enumerate(outcome.derivatives, 1)]
    result.lines = [(str(order), value) for order, value in result.rows]
    result.columns = [("value", outcome.value), *((f"d{order}", x) for order, x in enumerate(outcome.derivatives, 1))]


def draw(drawing: Any, result: Any) -> None:
    """The value and each derivative by its order."""
    drawing.columns(("order", "derivative"), *zip(*result.rows))


def row_order(options: dict[str, Any]) -> int | None:
    order = options.get("order", 1)
    return order if order in (1, 2) else None


def from_rows(outcome: Any, options: dict[str, Any]) -> bool:
    if len(outcome.gradients) != 1 or outcome.value.ndim != 1:
        return False
    ((name, gradient),) = outcome.gradients.items()
    outcome.derivatives = [gradient] + ([outcome.hessian[name][name]] if outcome.hessian else [])
    return True


COMMAND = Command(
    "derivative", DIFFERENTIATE, "Value and the first N derivatives of a scalar function.",
    ('adiff derivative "sin(x)" --at x=0 --order 4',),
    (*EVALUATED, *BY_ROW, WRT, Option("--order", "order", "N", DERIVATIVE, "How many derivatives (default 1).")),
    compute=compute, row_order=row_order, from_rows=from_rows,
    of_sum="the derivatives", keys={"derivatives": "the first, second, ... derivative"},
    fill=fill, draw=draw,
)  # fmt: skip
