"""`hessian`: every block of the Hessian; `--sparse`: the entries that may differ from zero."""

from __future__ import annotations

from ...parser.errors import AdiffError
from ..command import BY_ROW, CHECKPOINT, DERIVATIVE, DIFFERENTIATE, EVALUATED, WRT, Command, Option
from . import grad

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..evaluation import Evaluation


def compute(evaluation: Evaluation) -> None:
    from ..autodiff import drivers, hessians
    from ..core.limits import allow_table
    from ..derivatives import shaped

    if evaluation.options.get("sparse"):
        sparse(evaluation)
        return
    outcome = evaluation.outcome
    allow_table(evaluation.elements())
    if evaluation.kernel_result(COMMAND):
        evaluation.explain_missing(outcome.gradients)
        return
    sources = evaluation.sources()
    y, gradients, blocks = hessians.hessian(evaluation.function, sources, evaluation.by_pattern())
    tensors = [drivers.source(x) for x in sources]
    outcome.gradients = evaluation.shaped(gradients, y)
    outcome.hessian = {}
    for i, row in enumerate(evaluation.names):
        outcome.hessian[row] = {}
        for j, column in enumerate(evaluation.names):
            block = blocks[i][j]
            if block is None and gradients[i] is not None and gradients[j] is not None:
                block = drivers.zeros(tensors[i].shape + tensors[j].shape)
            outcome.hessian[row][column] = shaped(block, drivers.narrower(tensors[i], tensors[j]), y)
    evaluation.explain_missing(outcome.gradients)
    evaluation.keep_value(y)


def from_kernel(outcome: Any, found: Any, reached: list[bool]) -> None:
    outcome.gradients, outcome.hessian = found.by_source(reached), blocks(found, reached)


def blocks(found: Any, reached: list[bool]) -> dict[str, dict[str, Any]]:
    """The blocks of the Hessian that a kernel has found; None for a source that the value does not depend on."""
    from ..autodiff.drivers import count
    from ..derivatives import block

    shapes = {name: found.compiled.inputs[name].shape for name in found.compiled.request.names}
    hessian: dict[str, dict[str, Any]] = {}
    for i, (row, shape) in enumerate(shapes.items()):
        table = found.derived(len(reached) + i)
        hessian[row] = {}
        start = 0
        for j, (column, own) in enumerate(shapes.items()):
            there = reached[i] and reached[j]
            hessian[row][column] = block(table, start, count(own), shape, own) if there else None
            start += count(own)
    return hessian


def sparse(evaluation: Evaluation) -> None:
    """The Hessian as sparse blocks."""
    from ..autodiff import drivers
    from ..autodiff.hessians import gradient_on_tape
    from ..autodiff.sparse import by_pattern
    from ..core.errors import plural
    from ..kinds.sparse import SparseTensor

    refuse_complex(evaluation, "a sparse Hessian takes", "drop --sparse")
    outcome = evaluation.outcome
    outcome.reason = "the tape finds the pattern of a sparse Hessian"
    outer, y, tensors, gradients, _ = gradient_on_tape(evaluation.function, evaluation.sources())
    found = by_pattern(outer, tensors, gradients, always=True)
    assert found is not None
    outcome.gradients = evaluation.shaped(gradients, y)
    evaluation.keep_value(y)
    above = int((found.pattern.rows <= found.pattern.columns).sum())
    outcome.mode = f"sparse, {plural(found.colours, 'product')} for {above} entries on and above the diagonal"
    outcome.hessian = {row: {} for row in evaluation.names}
    for i, (row, x) in enumerate(zip(evaluation.names, tensors)):
        for j, (column, z) in enumerate(zip(evaluation.names, tensors)):
            if outcome.gradients[row] is None or outcome.gradients[column] is None:
                outcome.hessian[row][column] = None
                continue
            indices, values = found.block(i, j)
            values = values.astype("float32") if drivers.narrower(x, z).dtype.name == "float32" else values
            outcome.hessian[row][column] = SparseTensor(indices, values, x.shape + z.shape)
    evaluation.explain_missing(outcome.gradients)


def refuse_complex(evaluation: Evaluation, what: str, hint: str | None = None) -> None:
    """Refuse inputs that are complex."""
    from ..autodiff import drivers
    from ..core.operands import as_operand

    for name, x in zip(evaluation.names, evaluation.sources()):
        if drivers.is_complex(as_operand(x)):
            raise AdiffError("E0511", f"{what} real inputs, and '{name}' is complex", None, hint)


def sparse_entries(hessian: dict[str, dict[str, Any]]) -> list[tuple[str, str, float]]:
    """Row, column and value of every entry of a sparse Hessian, by the inputs' names: `x[0]`, `x[1]`, 2.0."""
    found: list[tuple[str, str, float]] = []
    for row, line in hessian.items():
        for column, block in line.items():
            if block is not None:
                own = len(line[row].shape) // 2
                names = entry_names(row, block.indices[:, :own]), entry_names(column, block.indices[:, own:])
                found += zip(*names, block.values.tolist(), strict=True)
    return found


def entry_names(name: str, places: Any) -> list[str]:
    """`x`, `x[3]` or `A[0,1]` for each row of indices of an array."""
    return [f"{name}[{','.join(map(str, place))}]" if place else name for place in places.tolist()]


def fill(result: Any, outcome: Any) -> None:
    result.document = {"value": outcome.value, "gradients": outcome.gradients, "hessian": outcome.hessian}
    if any(hasattr(block, "indices") for line in outcome.hessian.values() for block in line.values()):
        result.header = ("row", "column", "value")
        result.rows = sparse_entries(outcome.hessian)
        return
    result.lines = [(f"H.{row}.{column}", x) for row, line in outcome.hessian.items() for column, x in line.items()]
    gradients = [(f"d_{name}", g) for name, g in outcome.gradients.items()]
    result.columns = [("value", outcome.value), *gradients, *result.lines]


def draw(drawing: Any, result: Any) -> None:
    """The gradient beside the variables, then the Hessian as a labelled matrix, or a row for each block of a large one."""
    subject = result.subject
    grad.COMMAND.draw(drawing, result)
    if result.header:
        drawing.named("Hessian", f"{len(result.rows)} entries that may differ from zero", ", ")
        drawing.entries(result.header, result.rows, len(result.rows))
        return
    drawing.named("Hessian")
    hessian = subject.outcome.hessian
    shapes = {name: drawing.shape(subject.input(name)) for name in hessian}
    if not drawing.matrix(shapes, shapes, hessian):
        drawing.columns(
            ("block", "values"), [drawing.label(name, x) for name, x in result.lines], [x for _, x in result.lines]
        )


COMMAND = Command(
    "hessian", DIFFERENTIATE, "Value, gradients and every block of the Hessian.",
    (
        'adiff hessian "x**2*y + sin(y)" --at x=1,y=2',
        'adiff hessian "sum(x**3)" --at x=[1,2] --csv',
        'adiff hessian "sum((x[1:] - x[:-1]**2)**2)" --at "x=linspace(0,1,6)" --sparse',
    ),
    (
        *EVALUATED, *BY_ROW, WRT, CHECKPOINT,
        Option(
            "--sparse", "flag", "", DERIVATIVE,
            "Only the entries that may differ from zero: found by themselves, with one product for each colour.",
        ),
    ),
    compute=compute, row_order=lambda options: None if options.get("sparse") else 2, from_kernel=from_kernel,
    of_sum="the Hessian", fill=fill, draw=draw,
    keys={"gradients": "by input; `null` where unconnected", "hessian": "by input, and then by input"},
)  # fmt: skip
