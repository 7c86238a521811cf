"""What each command asks of an evaluation: a function per command, which fills in the evaluation's outcome."""

from __future__ import annotations

from ..parser.errors import AdiffError
from . import compiled_commands
from .autodiff import drivers, taylor
from .core.errors import failure, plural
from .core.limits import allow_table
from .core.operands import as_operand, tensor
from .core.state import STATE
from .core.tensor import OPERATORS, Tensor
from .eager.values import UNSET
from .plain import bind, to_plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from .evaluation import Evaluation


# Rows of a Hessian from which on its pattern is looked for: that takes the time of a few sweeps.
SOME = 8
# The highest order that is tried by nested tangents, which take twice as long for each.
MOST_NESTED = 20


def value(evaluation: Evaluation) -> None:
    if not compiled_commands.value(evaluation):
        evaluation.keep_value(evaluation.result_of(evaluation.point))


def run(evaluation: Evaluation) -> None:
    evaluation.options["last_statement"] = True
    if evaluation.options.get("last_tape"):
        last_tape(evaluation)
        return
    if evaluation.core.ends_with_value and compiled_commands.value(evaluation):
        return
    result = evaluation.execute(evaluation.point)
    if result is not UNSET and result is not None:
        evaluation.keep_value(result)


def last_tape(evaluation: Evaluation) -> None:
    """Run the program, and list the tape that it last asked for a gradient."""
    from .tape_rows import tape_rows

    evaluation.outcome.reason = "the rows of a tape are what it shows"
    evaluation.execute(evaluation.point)
    if not STATE.last_tape:
        raise failure(
            "E0512", "the program asks no tape for a gradient, so there is none to show",
            "write tape.gradient(y, x) after the block of the tape", evaluation.end_site(),
        )  # fmt: skip
    log, token, seeds, leaves = STATE.last_tape
    names = {id(x): name for name, x in zip(evaluation.core.slot_names, evaluation.frame) if name}
    sources = {}
    for number, (leaf, tensors) in enumerate(leaves, 1):
        name = names.get(id(leaf)) or getattr(leaf, "label", "") or "source"
        if tensors:
            sources[name if name != "source" and name not in sources else f"{name} {number}"] = tensors[-1]
    evaluation.outcome.tape = tape_rows(log, token, sources, seeds)[0]


def grad(evaluation: Evaluation) -> None:
    from .autodiff.tape import gradient, seed_for, unused_in
    from .eager.tapes import unconnected_reason_of

    sources = evaluation.sources()
    found = compiled_commands.gradients(evaluation)
    if found is not None:
        tell_of_shape(evaluation, found.compiled.facts["shape"])
        return
    tape, tensors, y = drivers.recorded(evaluation.function, sources)
    y = as_operand(y)
    warn_sources(evaluation, tensors)
    tell_of_shape(evaluation, y.shape if y.__class__ is Tensor else ())
    log = tape.log.copy() if tape.breaks or len(tape.log) < 4000 else None
    unused = unused_in(tape, tensors) if log is None else set()
    gradients = gradient(tape, [y], [seed_for(y)], [[x] for x in tensors], consume=True)
    evaluation.outcome.gradients = {}
    for name, x, g in zip(evaluation.names, tensors, gradients):
        if g is None and x.dtype.differentiable:
            reason, site = unconnected_reason_of(tape, [] if x in unused else log, x, [x], [y])
            STATE.notify("N0502", f"{name}: the gradient is None: {reason}", site or evaluation.end_site())
        evaluation.outcome.gradients[name] = shaped(g, x, y, evaluation.point[name])
    structured = evaluation.structured
    whole = structured.__class__ in (list, tuple, dict) or hasattr(structured, "leaves")
    evaluation.keep_value(structured if whole else y)


def tell_of_shape(evaluation: Evaluation, shape: tuple[int, ...]) -> None:
    """Notice that a gradient is one of the sum of the result's elements, where the result is a tensor and no scalar."""
    if shape:
        from .core.wording import elements_summed

        STATE.notify("N0503", elements_summed(shape), evaluation.end_site())


def shaped(g: Any, x: Tensor, y: Any, given: Any = None) -> Any:
    """A derivative of `y` for the outside: in the dtype of its input `x`, or in that of `y` where `x` is a bare number.

    It is of the kind of the input as it was `given`, where that is no tensor.
    """
    if g is None:
        return None
    g = as_operand(g) + 0.0  # a derivative of -0.0 is 0.0 to everybody
    if g.__class__ is int:
        g = float(g)
    g = drivers.in_width(g, y, x)
    if x.dtype.name in ("float32", "complex64") and (g.__class__ is float or g.dtype.name == "float64"):
        g = OPERATORS.cast(tensor(g), dtype="float32")
    return to_plain(given.with_leaves([g]) if hasattr(given, "leaves") else g)


def warn_sources(evaluation: Evaluation, tensors: list[Tensor]) -> None:
    for name, x in zip(evaluation.names, tensors):
        if not x.dtype.differentiable:
            STATE.notify(
                "N0504", f"'{name}' has dtype {x.dtype.name} and cannot be differentiated: its gradient is None"
                + (": bind floats, or a plain list" if x.dtype.kind == "i" else ""),
            )  # fmt: skip


def quietly(evaluation: Evaluation, derive: Callable[[], Any]) -> Any:
    """What `derive` finds in forward mode, with the notices that the reverse sweep gives.

    A tangent passes through both sides of `where`, and only a sweep knows which singular points take part.
    """
    STATE.quiet = True
    try:
        found = derive()
    finally:
        STATE.quiet = False
    with drivers.several_directions():
        drivers.value_and_gradients(evaluation.function, evaluation.sources())
    return found


def jacobian(evaluation: Evaluation) -> None:
    wanted = evaluation.options.get("mode") or "auto"
    if compiled_commands.jacobian(evaluation, wanted):
        explain_missing(evaluation, evaluation.outcome.jacobian or {})
        return
    y, blocks, mode = quietly(evaluation, lambda: drivers.jacobian(evaluation.function, evaluation.sources(), wanted))
    evaluation.outcome.mode = mode
    tensors = [drivers.source(x) for x in evaluation.sources()]
    warn_sources(evaluation, tensors)
    evaluation.outcome.jacobian = {n: shaped(b, x, y) for n, b, x in zip(evaluation.names, blocks, tensors)}
    explain_missing(evaluation, evaluation.outcome.jacobian)
    evaluation.keep_value(y)


def explain_missing(evaluation: Evaluation, blocks: Mapping[str, Any]) -> None:
    for name, block in blocks.items():
        # An input that cannot be differentiated has its own notice.
        if block is None and drivers.tangentless(evaluation.point[name]) is None:
            STATE.notify("N0502", f"{name}: the result does not depend on it", evaluation.end_site())


def hessian(evaluation: Evaluation) -> None:
    if evaluation.options.get("sparse"):
        sparse_hessian(evaluation)
        return
    allow_table(compiled_commands.elements(evaluation))
    if compiled_commands.hessian(evaluation):
        explain_missing(evaluation, evaluation.outcome.gradients or {})
        return
    sources = evaluation.sources()
    by_pattern = any(map(drivers.shape_of, sources)) and compiled_commands.elements(evaluation) >= SOME
    if by_pattern:
        from .autodiff.compiled_loops import quickly
        from .autodiff.sparse import hessian_by_pattern

        y, gradients, blocks = hessian_by_pattern(evaluation.function, sources, quickly)
    else:
        y, gradients, blocks = drivers.hessian(evaluation.function, sources)
    tensors = [drivers.source(x) for x in sources]
    warn_sources(evaluation, tensors)
    outcome = evaluation.outcome
    outcome.gradients = {n: shaped(g, x, y) for n, g, x in zip(evaluation.names, gradients, tensors)}
    outcome.hessian = {}
    for i, row in enumerate(evaluation.names):
        outcome.hessian[row] = {}
        for j, column in enumerate(evaluation.names):
            block = blocks[i][j]
            if block is None and gradients[i] is not None and gradients[j] is not None:
                block = drivers.zeros(tensors[i].shape + tensors[j].shape)
            outcome.hessian[row][column] = shaped(block, drivers.narrower(tensors[i], tensors[j]), y)
    explain_missing(evaluation, outcome.gradients)
    evaluation.keep_value(y)


def sparse_hessian(evaluation: Evaluation) -> None:
    """The Hessian as sparse blocks."""
    from .autodiff.compiled_loops import quickly
    from .autodiff.sparse import sparse_hessian as derive
    from .kinds.sparse import SparseTensor

    for name, x in zip(evaluation.names, evaluation.sources()):
        if drivers.is_complex(as_operand(x)):
            raise AdiffError(
                "E0511", f"a sparse Hessian takes real inputs, and '{name}' is complex", None, "drop --sparse"
            )
    outcome = evaluation.outcome
    outcome.reason = "the tape finds the pattern of a sparse Hessian"
    tensors = [drivers.source(x) for x in evaluation.sources()]
    y, gradients, found = derive(evaluation.function, evaluation.sources(), quickly)
    warn_sources(evaluation, tensors)
    outcome.gradients = {n: shaped(g, x, y) for n, g, x in zip(evaluation.names, gradients, tensors)}
    evaluation.keep_value(y)
    outcome.mode = f"sparse, {plural(found.colours, 'product')} for {found.above} entries on and above the diagonal"
    parts: dict[str, slice] = {}
    start = 0
    for name, x in zip(evaluation.names, tensors):
        if x.dtype.differentiable:
            parts[name] = slice(start, start + drivers.count(x.shape))
            start = parts[name].stop
    outcome.hessian = {}
    for row, x in zip(evaluation.names, tensors):
        outcome.hessian[row] = {}
        for column, z in zip(evaluation.names, tensors):
            if outcome.gradients[row] is None or outcome.gradients[column] is None:
                outcome.hessian[row][column] = None
                continue
            indices, values = found.block(parts[row], parts[column])
            if x.ndim != 1 or z.ndim != 1:
                indices = unravelled(indices, x.shape, z.shape)
            values = values.astype("float32") if drivers.narrower(x, z).dtype.name == "float32" else values
            outcome.hessian[row][column] = SparseTensor(indices, values, x.shape + z.shape)
    explain_missing(evaluation, outcome.gradients)


def unravelled(indices: Any, rows: tuple[int, ...], columns: tuple[int, ...]) -> Any:
    """Places in a table of elements of two tensors as places in both, one beside the other."""
    import numpy as np

    places: list[Any] = []
    for flat, shape in zip(indices.T, (rows, columns)):
        places += np.unravel_index(flat, shape) if shape else ()
    return np.stack(places, axis=1) if places else np.empty((len(indices), 0), dtype=np.int64)


def directions(evaluation: Evaluation, given: Mapping[str, Any] | None, option: str) -> list[Any]:
    given = given or {}
    if not given:
        raise AdiffError(
            "E0804", f"a direction is needed: --{option} x=1", None, f"give one per input: --{option} x=1,y=0"
        )
    for name in given:
        if name not in evaluation.point:
            raise AdiffError(
                "E0803",
                f"--{option}: '{name}' is not an input of the program",
                None,
                f"its inputs are {', '.join(evaluation.point)}",
            )
    return [bind(given[name], name) if name in given else None for name in evaluation.names]


def jvp(evaluation: Evaluation) -> None:
    tangents = directions(evaluation, evaluation.options.get("tangent"), "tangent")
    if compiled_commands.jvp(evaluation, tangents):
        return
    y, tangent = quietly(evaluation, lambda: drivers.jvp(evaluation.function, evaluation.sources(), tangents))
    evaluation.keep_value(y)
    shape = y.shape if y.__class__ is Tensor else ()
    found = drivers.zeros(shape) if tangent is None else as_float(tangent) + 0.0  # as of every derivative
    evaluation.outcome.tangent = to_plain(drivers.in_width(found, y, 0.0))
    if tangent is None:
        STATE.notify("N0502", "the result does not depend on the inputs with a tangent", evaluation.end_site())


def vjp(evaluation: Evaluation) -> None:
    cotangent = evaluation.options.get("cotangent")
    cotangent = None if cotangent is None else bind(cotangent, "cotangent")
    if compiled_commands.vjp(evaluation, cotangent):
        explain_missing(evaluation, evaluation.outcome.cotangents or {})
        return
    y, gradients = drivers.vjp(evaluation.function, evaluation.sources(), cotangent)
    tensors = [drivers.source(x) for x in evaluation.sources()]
    warn_sources(evaluation, tensors)
    evaluation.outcome.cotangents = {n: shaped(g, x, y) for n, g, x in zip(evaluation.names, gradients, tensors)}
    explain_missing(evaluation, evaluation.outcome.cotangents)
    evaluation.keep_value(y)


def hvp(evaluation: Evaluation) -> None:
    vectors = directions(evaluation, evaluation.options.get("vector"), "vector")
    if compiled_commands.hvp(evaluation, vectors):
        explain_missing(evaluation, evaluation.outcome.product or {})
        return
    y, gradients, products = quietly(
        evaluation, lambda: drivers.hvp(evaluation.function, evaluation.sources(), vectors)
    )
    tensors = [drivers.source(x) for x in evaluation.sources()]
    warn_sources(evaluation, tensors)
    evaluation.outcome.gradients = {n: shaped(strip(g), x, y) for n, g, x in zip(evaluation.names, gradients, tensors)}
    evaluation.outcome.product = {n: shaped(p, x, y) for n, p, x in zip(evaluation.names, products, tensors)}
    explain_missing(evaluation, evaluation.outcome.product)
    evaluation.keep_value(strip(y))


def derivative(evaluation: Evaluation) -> None:
    if len(evaluation.names) != 1:
        raise AdiffError(
            "E0805", f"derivative needs one input, and the program has {len(evaluation.names)}", None,
            "choose one: --wrt x" if evaluation.names else "the program reads no input",
        )  # fmt: skip
    order = evaluation.options.get("order")
    order = 1 if order is None else order
    evaluation.outcome.reason = "derivatives of one input are power series on the tape"
    told = len(STATE.notices)
    found = taylor_derivatives(evaluation, order)
    if found is None:
        if order > MOST_NESTED:
            raise failure(
                "E0606",
                f"derivatives up to order {order} would take the program more than {2**MOST_NESTED} runs: "
                "it has no power series here",
                f"up to order {MOST_NESTED} they are tangents of tangents, of which each order has twice as many",
                site=evaluation.end_site(),
            )
        found = drivers.derivatives(lambda inputs: scalar_function(evaluation, inputs), evaluation.sources()[0], order)
    if any(notice.code == "N0501" for notice in STATE.notices[told:]):
        from .autodiff.idle import idle_places

        idle = idle_places(lambda inputs: scalar_function(evaluation, inputs), evaluation.sources())
        STATE.notices[told:] = [
            n for n in STATE.notices[told:] if n.code != "N0501" or (n.site.start, n.site.end) not in idle
        ]
    evaluation.keep_value(found[0])
    x = drivers.source(evaluation.sources()[0])
    evaluation.outcome.derivatives = [shaped(as_float(d), x, as_operand(found[0])) for d in found[1:]]


def taylor_derivatives(evaluation: Evaluation, order: int) -> list[Any] | None:
    """The derivatives by Taylor mode, or None for a program that it does not cover."""
    x = evaluation.sources()[0]
    if order < 2 or not isinstance(x, float | int) or not taylor.covers(evaluation.core):
        return None
    value = scalar_function(evaluation, [drivers.source(x)])
    if value.__class__ is not float and not (value.__class__ is Tensor and value.value.__class__ is float):
        return None
    try:
        found: list[Any] = taylor.derivatives(lambda inputs: scalar_function(evaluation, inputs), float(x), order)
    except taylor.Unsupported:
        return None
    return found


def scalar_function(evaluation: Evaluation, inputs: list[Any]) -> Any:
    y = evaluation.function(inputs)
    drivers.scalar_seed(y, "derivative")
    return y


def emitted_kernel(evaluation: Evaluation) -> str:
    """The source of the kernel of value and gradient. Raises AdiffError E0409 where there is none."""
    from .kernels.inputs import Request
    from .kernels.ir import Unsupported

    sources = [name for name in evaluation.names if drivers.source(evaluation.point[name]).dtype.differentiable]
    try:
        return evaluation.kernels().find(evaluation.point, Request("grad" if sources else "value", sources)).text
    except Unsupported as why:
        raise failure(
            "E0409",
            f"this program is not compiled: {why}",
            "the tape runs it: adiff grad",
            site=why.site or evaluation.end_site(),
        ) from None


def tape(evaluation: Evaluation) -> None:
    outcome = evaluation.outcome
    if evaluation.options.get("emit"):
        outcome.emitted = emitted_kernel(evaluation)
        outcome.engine, outcome.reason = "kernel", "its source"
        return
    outcome.reason = "the rows of a tape are what it shows; --emit shows the kernel's source"
    from .autodiff.tape import seed_for
    from .tape_rows import tape_rows

    tape, tensors, y = drivers.recorded(evaluation.function, evaluation.sources(), shown=True)
    y = as_operand(y)
    rows, gradients = tape_rows(tape.log, tape.token, dict(zip(evaluation.names, tensors)), [(y, seed_for(y))])
    outcome.tape = rows
    outcome.gradients = {n: shaped(g, x, y) for n, g, x in zip(evaluation.names, gradients, tensors)}
    evaluation.keep_value(y)


def check(evaluation: Evaluation) -> None:
    from .check import check as compare

    grad(evaluation)
    evaluation.outcome.check = compare(evaluation)


def strip(x: Any) -> Any:
    return Tensor(x.value, x.dtype) if x.__class__ is Tensor and x.on is not None else x


def as_float(x: Any) -> Any:
    x = as_operand(x)
    return float(x) if x.__class__ is int else x


COMMANDS: dict[str, Callable[[Evaluation], None]] = {
    "value": value,
    "grad": grad,
    "jacobian": jacobian,
    "hessian": hessian,
    "jvp": jvp,
    "vjp": vjp,
    "hvp": hvp,
    "derivative": derivative,
    "tape": tape,
    "check": check,
    "run": run,
}
