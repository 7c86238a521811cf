"""`derive`: derivatives as formulas."""

from __future__ import annotations

from ...engine.command import DERIVATIVE, DIFFERENTIATE, EVALUATED, SHOWN, WRT, Command, Option
from ...parser.errors import AdiffError
from ..evaluate import inputs, options, program_of
from ..result import Result, attach

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..output import Output
    from ..request import Request

NOTATIONS = ("latex", "python", "c")


def answer(request: Request, output: Output) -> Result:
    """The formulas, and with --at their values."""
    style = output.style
    from ... import program
    from ...engine.formulas.derivation import as_program

    given = options(request)
    order = given.pop("order", 1)
    if (request.texts("at") or request.bound.get("at")) and style.format in NOTATIONS:
        raise AdiffError(
            "E0812", f"--format {style.format} writes formulas, and --at asks for values", None, "leave one of them out"
        )
    parsed = program_of(request, output.environment)
    at = inputs(request, parsed)
    found = parsed.derive(request.texts("wrt") or None, order, given.get("timeout"))
    outcome = parsed.evaluate("value", at=at, write=None, **given) if at else None
    values = []
    for d in found if at else ():
        own = {x: at[x] for x in d.inputs if x in at}
        values.append(as_float(program(d.text()).evaluate("value", at=own, **given).value))
    formulas: list[dict[str, Any]] = [
        {"wrt": list(d.wrt), "formula": d.text(), "latex": d.text("latex"), "length": d.length} for d in found
    ]
    result = Result({"formulas": formulas, "program_length": found[0].program_length})
    labels = [d.label for d in found]
    texts = [d.text("latex" if style.format == "latex" else "plain") for d in found]
    result.header, result.rows = ("derivative", "formula"), list(zip(labels, texts))
    if outcome is not None:
        for formula, own in zip(formulas, values):
            formula["value"] = own
        result.document = {"value": as_float(outcome.value), **result.document}
        result.header = (*result.header, "value")
        result.rows = [(*row, own) for row, own in zip(result.rows, values)]
        attach(result, outcome)
    elif style.format in ("python", "c") or (style.format == "latex" and output.path is not None):
        result.lines = [("", as_program(found, style.format).rstrip("\n"))]
    else:
        result.lines = list(zip(labels, texts))
    return result


def as_float(x: Any) -> Any:
    """A derivative is a float."""
    return float(x) if x.__class__ is int else x


def draw(drawing: Any, result: Result) -> None:
    """The formulas, with their values beside them where there are some."""
    if result.lines:
        drawing.canvas.listing(result.lines)
    else:
        drawing.columns(result.header, *zip(*result.rows))


FORMAT = SHOWN[0]
COMMAND = Command(
    "derive", DIFFERENTIATE, "Derivatives as formulas, simplified.",
    (
        'adiff derive "x**2*sin(y)"',
        'adiff derive "exp(-x**2)" --order 2 --format latex',
        'adiff derive "sqrt(x**2 + y**2)" --wrt x --format c',
        'adiff derive "x**2" --at x=3',
    ),
    (
        *EVALUATED, WRT,
        Option("--order", "order", "N", DERIVATIVE, "Derivatives of this order: 1 the gradient, 2 the Hessian (default 1)."),
        Option(
            FORMAT.long, FORMAT.kind, FORMAT.metavar, FORMAT.panel,
            "table, plain, json, ndjson, csv, tsv, or the formulas as latex, python (for NumPy) or c.",
            choices=(*FORMAT.choices, *NOTATIONS),
        ),
    ),
    answer=answer, draw=draw,
    keys={
        "formulas": "each with `wrt`, `formula`, `latex`, `length` and, with `--at`, `value`",
        "program_length": "the length of the program's own formula",
    },
)  # fmt: skip
