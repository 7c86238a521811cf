"""`ops`: the operations that programs may use, all of them or one in detail."""

from __future__ import annotations

from ...engine.command import INPUTS, UNDERSTAND, Argument, Command, Option
from ...parser.errors import AdiffError
from ..errors import bad_value, usage
from ..formats.numbers import value_text
from ..request import nearest
from ..result import Result

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ...engine.table import Choice, OperationInfo
    from ..output import Output
    from ..request import Request

KEYS = ("name", "aliases", "family", "signature", "dtypes", "derivative", "reason")
POLICIES = ("adiff", "tensorflow", "jax", "torch")


def answer(request: Request, output: Output) -> Result:
    """The table of operations, or one row of it."""
    from ... import operations

    rows = operations()
    name = request.arguments.get("name")
    if name is not None and (request.flag("family") or request.flag("search")):
        raise usage("--family and --search are for all operations", f"leave them out, or {name!r}")
    if name is None:
        return listing(chosen(rows, request))
    bare = name.rpartition(".")[2]  # 'np.sin' and 'tf.math.sin' are asked for as 'sin' where they are not listed
    for wanted in (name, bare):
        for row in rows:
            if wanted == row.name or wanted in row.aliases:
                return detail(row)
    known = [known for row in rows for known in (row.name, *row.aliases)]
    raise AdiffError("E0203", f"unknown operation {name!r}", hint=nearest(bare, known) or "adiff ops lists them")


def chosen(rows: list[OperationInfo], request: Request) -> list[OperationInfo]:
    """The operations of `--family` that have all words of `--search` in their names, family or description."""
    family, words = request.text("family"), request.text("search").lower().split()
    families = dict.fromkeys(row.family for row in rows)
    if request.flag("search") and not words:
        raise bad_value("--search", "it has no words", "for example: --search 'log sum exp'")
    if family and family not in families:
        raise bad_value("--family", f"no family is named {family!r}", nearest(family, families) or ", ".join(families))
    found = []
    for row in rows:
        text = " ".join((row.name, *row.aliases, row.family, row.doc)).lower()
        if family in ("", row.family) and all(word in text for word in words):
            found.append(row)
    if not found:
        raise AdiffError(
            "E0203", f"no operation has {' and '.join(map(repr, words))}", hint="adiff ops lists all of them"
        )
    return found


def listing(rows: list[OperationInfo]) -> Result:
    """All operations by family."""
    result = Result({"operations": [details(row) for row in rows]})
    result.header = ("name", "family", "signature", "doc")
    result.rows = [(row.name, row.family, row.signature, row.doc) for row in rows]
    return result


def detail(row: OperationInfo) -> Result:
    """One operation: a line for each thing there is to say."""
    from ...engine.table import derivative_formula

    formula = derivative_formula(row.name)
    result = Result({"operation": {**details(row), "formula": formula}})
    derivative = formula or (f"{row.derivative}: {row.reason}" if row.reason else row.derivative)
    example = row.example if row.example_value is None else f"{row.example} = {value_text(row.example_value)}"
    result.columns = [
        ("name", row.name),
        ("aliases", ", ".join(row.aliases)),
        ("family", row.family),
        ("signature", row.signature),
        ("dtypes", ", ".join(row.dtypes)),
        ("derivative", derivative),
        *(("singular point", singular_text(choice)) for choice in row.singular),
        ("doc", row.doc),
        ("example", example),
    ]
    result.lines = [(name, text) for name, text in result.columns if text]
    return result


def singular_text(choice: Choice) -> str:
    """Where an operation has no derivative, and what each policy of --kinks takes there."""
    chosen_from = f" from {choice.subgradients}" if choice.subgradients else ""
    choices = ", ".join(f"{policy} {getattr(choice, policy)}" for policy in POLICIES)
    return f"{choice.message}: {choices}{chosen_from}"


def details(row: OperationInfo) -> dict[str, Any]:
    """An operation for JSON."""
    found = {key: getattr(row, key) for key in KEYS}
    found["singular_points"] = [
        {"message": x.message, "subgradients": x.subgradients, "choices": {p: getattr(x, p) for p in POLICIES}}
        for x in row.singular
    ]
    return {**found, "doc": row.doc, "example": row.example, "example_value": row.example_value}


def draw(drawing: Any, result: Result) -> None:
    """The operations by family, or one of them in detail."""
    if result.lines:
        drawing.canvas.listing(result.lines)
        return
    families: dict[str, list[tuple[str, str]]] = {}
    for name, family, _, doc in result.rows:
        families.setdefault(family, []).append((name, doc))
    for family, rows in families.items():
        drawing.heading(f"\n{family}")
        drawing.canvas.listing(rows, faint=True)


COMMAND = Command(
    "ops", UNDERSTAND, "The operations: signature, dtypes, derivative, singular points, example.",
    ("adiff ops", "adiff ops sin", 'adiff ops --search "log sum"', "adiff ops --family special"),
    (
        Option("--search", "text", "WORDS", INPUTS, "Those that have all these words in their names or descriptions."),
        Option("--family", "text", "NAME", INPUTS, "Those of one family."),
    ), (Argument("name", "NAME", "One operation in detail.", False),), answer=answer, draw=draw,
)  # fmt: skip
