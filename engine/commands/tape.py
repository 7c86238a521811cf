"""`tape`: the recorded tape step by step, or the source of the kernel."""

from __future__ import annotations

from ..command import COMPUTING, EVALUATED, GRAPH, UNDERSTAND, WRT, Command, Option

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..evaluation import Evaluation

COLUMNS = ("step", "operation", "inputs", "name", "value", "partials", "adjoint")


def compute(evaluation: Evaluation) -> None:
    from ..autodiff import drivers
    from ..autodiff.tape import seed_for
    from ..core.operands import as_operand
    from ..tape_rows import tape_rows

    outcome = evaluation.outcome
    if evaluation.options.get("emit"):
        outcome.emitted = emitted_kernel(evaluation)
        outcome.engine, outcome.reason = "kernel", "its source"
        return
    outcome.reason = "the rows of a tape are what it shows; --emit shows the kernel's source"
    tape, tensors, y = drivers.recorded(evaluation.function, evaluation.sources(), shown=True)
    y = as_operand(y)
    rows, gradients = tape_rows(tape.log, tape.token, dict(zip(evaluation.names, tensors)), [(y, seed_for(y))])
    outcome.tape = rows
    outcome.gradients = evaluation.shaped(gradients, y)
    evaluation.keep_value(y)


def emitted_kernel(evaluation: Evaluation) -> str:
    """The source of the kernel of value and gradient. Raises AdiffError E0409 where there is none."""
    from ..autodiff import drivers
    from ..core.errors import failure
    from ..kernels.inputs import Request
    from ..kernels.ir import Unsupported
    from ..tier import kernels_of

    sources = [name for name in evaluation.names if drivers.source(evaluation.point[name]).dtype.differentiable]
    try:
        return (
            kernels_of(evaluation.program).find(evaluation.point, Request("grad" if sources else "value", sources)).text
        )
    except Unsupported as why:
        raise failure(
            "E0409", f"this program is not compiled: {why}", "the tape runs it: adiff grad",
            site=why.site or evaluation.end_site(),
        ) from None  # fmt: skip


def fill(result: Any, outcome: Any) -> None:
    if outcome.tape is None:
        result.document = {"kernel": outcome.emitted}
        result.columns = [("kernel", outcome.emitted)]
        return
    rows = []
    result.header = (*COLUMNS, "line", "column", "source")
    for row in outcome.tape:
        cells = {name: getattr(row, name) for name in COLUMNS}
        span = row.span
        rows.append({**cells, "source": span.text if span else None, "span": span})
        place = (span.line, span.column, span.text) if span else (None, None, None)
        result.rows.append((*{**cells, "inputs": " ".join(map(str, row.inputs))}.values(), *place))
    result.document = {"value": outcome.value, "tape": rows}


def draw(drawing: Any, result: Any) -> None:
    """The steps in order: values are read downwards; upwards, each adjoint times partial adds to an input's adjoint."""
    drawing.steps(result.subject.outcome.tape)


COMMAND = Command(
    "tape", UNDERSTAND, "The recorded tape: operation, inputs, value, local partials and adjoint of every step.",
    (
        'adiff tape "sin(x) * y" --at x=1,y=2',
        'adiff tape "sin(x) * y" --at x=1,y=2 --graph mermaid',
        'adiff tape "sin(x) * y" --at x=1,y=2 --emit',
    ),
    (
        *EVALUATED, WRT, GRAPH,
        Option(
            "--emit", "flag", "", COMPUTING, "Write the source of the compiled kernel for value and gradient instead."
        ),
    ),
    compute=compute, finds_origin=False, as_written=True, fill=fill, draw=draw,
    keys={
        "tape": "the steps, with `step`, `operation`, `inputs`, `name`, `value`, `partials`, `adjoint`, `source`, `span`",
        "kernel": "the source of the kernel, with `--emit`",
    },
)  # fmt: skip
