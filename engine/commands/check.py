"""`check`: the gradient against an independent computation."""

from __future__ import annotations

from ..command import BY_ROW, CHECKPOINT, EVALUATED, UNDERSTAND, WRT, Command
from . import grad

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..evaluation import Evaluation

VERDICTS = {
    True: "the gradient agrees",
    False: "the gradient DISAGREES",
    None: "NO VERDICT: nothing that is known well enough speaks for or against the gradient",
}


def compute(evaluation: Evaluation) -> None:
    from ..check import check

    grad.compute(evaluation)
    evaluation.outcome.check = check(evaluation)


def fill(result: Any, outcome: Any) -> None:
    check = outcome.check
    result.ok = bool(check.ok)
    facts = {"ok": check.ok, "max_error": check.max_error, "method": check.method}
    result.document = {"value": outcome.value, "check": {**facts, "sources": check.sources}}
    result.lines = [*facts.items(), *((f"error.{name}", source["error"]) for name, source in check.sources.items())]
    result.columns = result.lines


def draw(drawing: Any, result: Any) -> None:
    """The verdict, and each source's error."""
    check = result.subject.outcome.check
    header = list(dict.fromkeys(key for source in check.sources.values() for key in source))
    drawing.records(
        ("source", *header), [(name, *(row.get(key) for key in header)) for name, row in check.sources.items()]
    )
    drawing.verdict(check.ok, VERDICTS[check.ok], f": worst error {check.max_error:.3g} against {check.method}")


COMMAND = Command(
    "check", UNDERSTAND,
    "The gradient against an independent check (complex step or differences); exit 1 when they disagree.",
    ('adiff check "exp(-x**2)" --at x=0.5',),
    (*EVALUATED, *BY_ROW, WRT, CHECKPOINT), compute=compute, of_sum="the gradient", finds_origin=False, fill=fill, draw=draw,
    keys={"check": "`ok` (null: no verdict), `max_error`, `method`, and `sources` by input"},
)  # fmt: skip
