"""The recorded tape as a table that can be followed by hand."""

from __future__ import annotations

from ..parser.fields import Record
from ..parser.source import Span
from .autodiff.pullback import partial
from .autodiff.tape import Tape, gradient
from .core.errors import failure, span_of
from .core.following import follows
from .core.operands import plain
from .core.state import NOWHERE, STATE
from .core.tensor import Tensor, shape_of
from .plain import to_plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .evaluation import Evaluation

# A longer tape is listed where it begins and where it ends, so many steps each: nobody reads it, and its text would take
# longer than the steps themselves.
MOST_STEPS, AT_ENDS = 100_000, 1_000


class TapeRow(Record):
    """One recorded step. `partials` holds the local derivative by each followed input where the row has one."""

    step: int
    operation: str
    inputs: list[str]
    name: str
    value: Any
    partials: list[Any]
    adjoint: Any
    span: Span | None


def tape_rows(
    log: list[Any], token: Any, sources: dict[str, Tensor], seeds: list[tuple[Any, Any]]
) -> tuple[list[TapeRow], list[Any]]:
    """The rows of a tape's log, inputs first, with every adjoint filled in; and the gradients of the sources. `seeds` are the
    targets with their cotangents.

    Of a tape of more than MOST_STEPS these are the first and the last ones, and a notice says so.
    """
    labels: dict[Any, str] = {x: name for name, x in sources.items()}
    steps = []
    for i in range(0, len(log), 4):
        site, a, b, out = log[i : i + 4]
        if a.__class__ is tuple:
            inputs, attributes = a, b
        else:
            inputs, attributes = ((a,) if b is None else (a, b)), None
        outputs = out if out.__class__ is tuple else (out,)
        steps.append((site, inputs, attributes, out, outputs))
        for k, part in enumerate(outputs):
            labels[part] = f"%{len(steps)}" if len(outputs) == 1 else f"%{len(steps)}.{k}"
    listed = range(len(steps))
    if len(steps) > MOST_STEPS:
        listed = (*listed[:AT_ENDS], *listed[-AT_ENDS:])  # type: ignore[assignment]
        STATE.notify(
            "N0803", f"the tape has {len(steps)} steps: the first {AT_ENDS} and the last {AT_ENDS} are listed", NOWHERE
        )
    tape = Tape()
    tape.log, tape.token = log, token
    every = [*sources.values(), *(part for *_, outputs in steps for part in outputs)]
    found = gradient(tape, [y for y, _ in seeds], [g for _, g in seeds], [[x] for x in every], consume=False)
    adjoints = {x: g for x, g in zip(every, found) if g is not None}
    partials: dict[int, list[Any]] = {}
    for number in listed:
        site, inputs, attributes, out, outputs = steps[number]
        if site.op.derivative == "partials" and any(part in adjoints for part in outputs):
            STATE.site = site
            known = [follows(x, token) and p is not None for x, p in zip(inputs, site.op.partials)]
            partials[number] = [
                to_plain(partial(site.op, i, out, inputs, attributes, adjoints[out]) * 1.0) if is_known else None
                for i, is_known in enumerate(known)
            ]
    rows = [
        TapeRow(0, "input", [], name, to_plain(x), [], to_plain(adjoints.get(x)), None) for name, x in sources.items()
    ]
    for number in listed:
        site, inputs, attributes, out, outputs = steps[number]
        described = [labels.get(x) or literal(x) for x in inputs] + [
            f"{k}={show(v)}" for k, v in (attributes or {}).items() if v is not None
        ]
        values = [to_plain(part) for part in outputs]
        cotangents = [to_plain(adjoints.get(part)) for part in outputs]
        if out.__class__ is not tuple:
            (values,), (cotangents,) = values, cotangents
        name, known = f"%{number + 1}", partials.get(number, [])
        rows.append(TapeRow(number + 1, site.op.name, described, name, values, known, cotangents, span_of(site)))
    return rows, [adjoints.get(x) for x in sources.values()]


def last_tape(evaluation: Evaluation) -> None:
    """Run the program, and list the tape that it last asked for a gradient."""
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


def literal(x: Any) -> str:
    value = plain(x)
    return repr(value) if shape_of(x) == () else f"constant{list(shape_of(x))}"


def show(v: Any) -> str:
    if v.__class__ is slice:
        parts = ["" if p is None else str(p) for p in (v.start, v.stop)]
        return ":".join(parts) + (f":{v.step}" if v.step is not None else "")
    if v.__class__ is tuple:
        return "(" + ", ".join(show(p) for p in v) + ("," if len(v) == 1 else "") + ")"
    if v is Ellipsis:
        return "..."
    name = getattr(v, "name", None)
    if name is not None and not hasattr(v, "shape"):
        return str(name)
    if hasattr(v, "tolist"):
        return str(v.tolist())
    return repr(v)
