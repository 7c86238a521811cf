"""`jacobian`: every derivative of a tensor, by forward or reverse passes."""

from __future__ import annotations

from ..command import BY_ROW, CHECKPOINT, DERIVATIVE, DIFFERENTIATE, EVALUATED, WRT, BySource, Command, Option

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..evaluation import Evaluation


def compute(evaluation: Evaluation) -> None:
    from ..autodiff import drivers

    outcome = evaluation.outcome
    wanted = evaluation.options.get("mode") or "auto"
    if not evaluation.kernel_result(COMMAND, mode=wanted):
        (y,), (blocks,), outcome.mode = evaluation.quietly(
            lambda: drivers.jacobians(lambda inputs: [evaluation.function(inputs)], evaluation.sources(), wanted)
        )
        outcome.jacobian = evaluation.shaped(blocks, y)
        evaluation.keep_value(y)
    evaluation.explain_missing(outcome.jacobian)


def from_kernel(outcome: Any, found: Any, reached: list[bool]) -> None:
    """The blocks by source; None for a source that the value does not depend on."""
    from ..autodiff.drivers import count
    from ..derivatives import block

    facts, compiled = found.compiled.facts, found.compiled
    shape, outcome.mode = facts["shape"], facts["mode"]
    blocks: dict[str, Any] = {}
    start = 0
    for i, name in enumerate(compiled.request.names):
        own = compiled.inputs[name].shape
        if not reached[i]:
            blocks[name] = None
        elif facts["mode"] == "forward":
            blocks[name] = block(found.derived(0), start, count(own), shape, own)
        else:
            full = found.derived(i).reshape(shape + own)
            blocks[name] = full if full.ndim else float(full)
        start += count(own)
    outcome.jacobian = blocks


def from_rows(outcome: Any, options: dict[str, Any]) -> bool:
    """The Jacobian of a scalar is its gradient."""
    outcome.jacobian = outcome.gradients
    return bool(outcome.value.ndim == 1 and outcome.value.dtype != object)


def draw(drawing: Any, result: Any) -> None:
    """A labelled matrix: a row for each entry of the result, a column for each entry of a source."""
    subject = result.subject
    drawing.title(subject, subject.outcome.value)
    blocks = subject.outcome.jacobian
    shapes = {name: drawing.shape(subject.input(name)) for name in blocks}
    if not drawing.matrix({"f": drawing.shape(subject.outcome.value)}, shapes, {"f": blocks}):
        drawing.beside(subject, "jacobian", blocks)


COMMAND = Command(
    "jacobian", DIFFERENTIATE, "Every derivative of a result that is a tensor: shape result.shape + source.shape.",
    (
        'adiff jacobian "x**2" --at x=[1,2,3]',
        'adiff jacobian "A @ v" --at A=@matrix.npy --at v=[1,2] --mode forward',
    ),
    (
        *EVALUATED, *BY_ROW, WRT, CHECKPOINT,
        Option(
            "--mode", "choice", "MODE", DERIVATIVE,
            "Forward (a pass per input entry), reverse (a pass per result entry), or the cheaper of the two.",
            choices=("auto", "forward", "reverse"),
        ),
    ),
    compute=compute, row_order=lambda options: 1, from_rows=from_rows, from_kernel=from_kernel,
    of_sum="the Jacobian", gives=BySource("jacobian", "d_", "jacobian"),
    draw=draw,
)  # fmt: skip
