"""What kernels give to the commands. Each function fills in the outcome; False where the tape is to answer."""

from __future__ import annotations

from .autodiff import drivers
from .core.state import STATE
from .core.tensor import Tensor
from .plain import to_plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from .evaluation import Evaluation
    from .kernels.results import Found
    from .outcome import Outcome


def asked(
    evaluation: Evaluation, command: str, directions: Sequence[str] = (), given: Callable[[], Sequence[Any]] | None = None,
    **request: Any,
) -> Found | None:  # fmt: skip
    """What a kernel finds for a command, its value kept; None where the tape is to answer."""
    names = evaluation.names
    if command != "value":
        without = [name for name, x in zip(names, evaluation.sources()) if not drivers.source(x).dtype.differentiable]
        if without or not names:
            reason = f"'{without[0]}' has no derivative" if without else "there is no input to differentiate by"
            evaluation.outcome.reason = reason
            return None
    if (evaluation.options.get("engine") or "auto") == "tape":
        evaluation.outcome.reason = "asked for"
        return None
    from .kernels.inputs import Request

    found = evaluation.by_kernel(Request(command, () if command == "value" else names, directions, **request), given)
    if found is not None:
        evaluation.apart = found.compiled.facts["apart"]
        evaluation.keep_value(found.value)
    return found


def value(evaluation: Evaluation) -> bool:
    return asked(evaluation, "value") is not None


def connected(evaluation: Evaluation, found: Found, explain: bool) -> list[bool]:
    """For each source whether the value depends on it; with `explain` a notice says why not."""
    mask = found.mask
    reached = [bool(mask >> i & 1) for i in range(len(evaluation.names))]
    if explain and not all(reached):
        reasons = found.compiled.reasons
        if mask not in reasons:
            reasons[mask] = evaluation.why_unconnected([i for i, there in enumerate(reached) if not there])
        for name, reason, site in reasons[mask]:
            STATE.notify("N0502", f"{name}: the gradient is None: {reason}", site or evaluation.end_site())
    return reached


def by_source(evaluation: Evaluation, found: Found, start: int, reached: list[bool]) -> dict[str, Any]:
    """Derivatives by source, from result `start` on; None for a source that the value does not depend on."""
    return {name: found.derived(start + i) if reached[i] else None for i, name in enumerate(evaluation.names)}


def gradients(evaluation: Evaluation) -> Found | None:
    found = asked(evaluation, "grad")
    if found is not None:
        evaluation.outcome.gradients = by_source(evaluation, found, 0, connected(evaluation, found, explain=True))
    return found


def vjp(evaluation: Evaluation, cotangent: Any) -> bool:
    from .kernels.inputs import seed

    shape = None if cotangent is None else getattr(cotangent, "shape", ())
    given = None if cotangent is None else lambda: [seed(cotangent, shape)]  # type: ignore[arg-type]
    found = asked(evaluation, "vjp", given=given, cotangent=shape)
    if found is not None:
        evaluation.outcome.cotangents = by_source(evaluation, found, 0, connected(evaluation, found, explain=False))
    return found is not None


def seeds(evaluation: Evaluation, directions: list[Any]) -> tuple[list[str], Callable[[], list[Any]]]:
    """The sources that have a direction, and what makes the directions as a kernel takes them."""
    from .kernels.inputs import seed

    moved = {name: x for name, x in zip(evaluation.names, directions) if x is not None}

    def given() -> list[Any]:
        return [seed(x, drivers.shape_of(drivers.source(evaluation.point[name]))) for name, x in moved.items()]

    return list(moved), given


def jvp(evaluation: Evaluation, tangents: list[Any]) -> bool:
    moved, given = seeds(evaluation, tangents)
    found = asked(evaluation, "jvp", moved, given)
    if found is None:
        return False
    mask = found.mask
    evaluation.outcome.tangent = found.derived(0)
    if not any(mask >> i & 1 for i, name in enumerate(evaluation.names) if name in moved):
        STATE.notify("N0502", "the result does not depend on the inputs with a tangent", evaluation.end_site())
    return True


def hvp(evaluation: Evaluation, vectors: list[Any]) -> bool:
    moved, given = seeds(evaluation, vectors)
    found = asked(evaluation, "hvp", moved, given)
    if found is None:
        return False
    reached = connected(evaluation, found, explain=False)
    evaluation.outcome.gradients = by_source(evaluation, found, 0, reached)
    evaluation.outcome.product = by_source(evaluation, found, len(reached), reached)
    return True


def elements(evaluation: Evaluation) -> int:
    """How many numbers the sources hold."""
    return sum(drivers.count(drivers.shape_of(x)) for x in evaluation.sources())


def block(rows: Any, start: int, size: int, columns: tuple[int, ...], shape: tuple[int, ...]) -> Any:
    """Rows by the elements of a source, as a derivative of shape `columns + shape`."""
    found = rows[start : start + size].T.reshape(columns + shape)
    return found if found.ndim else float(found)


def jacobian(evaluation: Evaluation, mode: str) -> bool:
    found = asked(evaluation, "jacobian", mode=mode)
    if found is None:
        return False
    evaluation.outcome.mode = found.compiled.facts["mode"]
    evaluation.outcome.jacobian = jacobian_blocks(found, connected(evaluation, found, explain=False))
    return True


def jacobian_blocks(found: Found, reached: list[bool]) -> dict[str, Any]:
    """The blocks of a Jacobian by source; None for a source that the value does not depend on."""
    facts, shape = found.compiled.facts, found.compiled.facts["shape"]
    blocks: dict[str, Any] = {}
    start = 0
    for i, (name, own) in enumerate(shapes(found)):
        size = drivers.count(own)
        rows = found.derived(0 if facts["mode"] == "forward" else i) if any(reached) else None
        if not reached[i]:
            blocks[name] = None
        elif rows is None:
            blocks[name] = to_plain(drivers.zeros(shape + own))
        elif facts["mode"] == "forward":
            blocks[name] = block(rows, start, size, shape, own)
        else:
            full = rows.reshape(shape + own)
            blocks[name] = full if full.ndim else float(full)
        start += size
    return blocks


def shapes(found: Found) -> list[tuple[str, tuple[int, ...]]]:
    """Each source with its shape."""
    return [(name, found.compiled.inputs[name].shape) for name in found.compiled.request.names]


def hessian(evaluation: Evaluation) -> bool:
    """The Hessian by its products with the unit vectors, a call of one kernel for each."""
    own = [drivers.shape_of(drivers.source(x)) for x in evaluation.sources()]
    sources = [(name, drivers.count(shape), shape) for name, shape in zip(evaluation.names, own)]
    count = sum(size for _, size, _ in sources)

    def unit(i: int) -> list[Any]:
        import numpy as np

        flat = np.zeros(count)
        flat[i] = 1.0
        ends = np.cumsum([size for _, size, _ in sources])
        parts = np.split(flat, ends[:-1])
        return [part.reshape(shape) if shape else float(part[0]) for part, (_, _, shape) in zip(parts, sources)]

    found = asked(evaluation, "hvp", evaluation.names, lambda: unit(0))
    if found is None:
        return False
    import numpy as np

    from .kernels.compile.run import Failed

    outcome, n = evaluation.outcome, len(sources)
    rows = [found]
    try:
        rows += [found.compiled(evaluation.point, unit(i)) for i in range(1, count)]
    except Failed:
        outcome.engine, outcome.reason, outcome.kernel = "tape", "the kernel stopped at a singular point", None
        return False
    reached = connected(evaluation, found, explain=False)
    outcome.gradients = by_source(evaluation, found, 0, reached)
    outcome.hessian = {}
    for i, (row, _, shape) in enumerate(sources):
        table = np.array([np.ravel(one.derived(n + i)) for one in rows])
        outcome.hessian[row] = {}
        start = 0
        for j, (column, size, other) in enumerate(sources):
            there = reached[i] and reached[j]
            outcome.hessian[row][column] = block(table, start, size, shape, other) if there else None
            start += size
    return True


# --- where an outcome has what a repeated call found ------------------------------------------------------------------


def give(outcome: Outcome, command: str, names: Sequence[str], found: Found) -> bool:
    """Fill in an outcome from a call of the kernel of an earlier evaluation; False for a command that needs more."""

    def by_name(start: int = 0) -> dict[str, Any]:
        return {name: found.derived(start + i) for i, name in enumerate(names)}

    reached = [True] * len(names)
    if command in ("grad", "hvp"):
        outcome.gradients = by_name()
    if command == "vjp":
        outcome.cotangents = by_name()
    elif command == "jvp":
        outcome.tangent = found.derived(0)
    elif command == "hvp":
        outcome.product = by_name(len(names))
    elif command == "jacobian":
        outcome.mode = found.compiled.facts["mode"]
        outcome.jacobian = jacobian_blocks(found, reached)
    elif command not in ("value", "grad"):
        return False
    value = found.value
    outcome.value = value.value if value.__class__ is Tensor else to_plain(value)
    return True


__all__ = ["asked", "elements", "give", "gradients", "hessian", "hvp", "jacobian", "jvp", "value", "vjp"]
