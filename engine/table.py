"""The operation table as documentation: what `adiff ops` shows."""

from __future__ import annotations

from ..parser.errors import AdiffError
from ..parser.fields import Record
from .core.state import LOCK, STATE
from .ops.operation import Operation
from .ops.registry import ROWS
from .program import library

DERIVATIVES = {
    "partials": "element-wise: one partial per input",
    "linear": "linear: the derivative is the operation itself",
    "multilinear": "linear in each input",
    "rule": "a rule of its own",
    "composite": "follows from its parts",
    "zero": "zero wherever it exists",
    "none": "carries no derivative",
    "missing": "not available",
}
DTYPES = {"b": "bool", "i": "int", "f": "float", "c": "complex", "s": "string"}


class Choice(Record):
    """A singular point of a row: where it is, the set of subgradients, and what each policy chooses.

    The message says by which input the derivative is meant where there are several.
    """

    message: str
    subgradients: str
    adiff: str
    tensorflow: str
    jax: str
    torch: str


class OperationInfo:
    """One row for a reader."""

    __slots__ = (
        "aliases", "derivative", "doc", "dtypes", "example", "example_value", "family", "name", "reason", "signature", "singular",
    )  # fmt: skip

    def __init__(self, row: Operation) -> None:
        self.name = row.name
        self.aliases = list(row.aliases)
        self.family = row.family
        self.signature = row.usage()
        self.doc = row.doc
        self.dtypes = [DTYPES[kind] for kind in row.accepts]
        self.derivative = DERIVATIVES[row.derivative]
        self.reason = row.reason
        self.example = "" if row.example is None else row.example[0]
        self.example_value = None if row.example is None else row.example[1]
        self.singular = [
            Choice(
                s.message if row.nin == 1 else f"{s.message} (by {input_name(row, s.input)})",
                s.subgradients,
                *(choice_text(s.choice(p)) for p in ("adiff", "tensorflow", "jax", "torch")),
            )
            for s in row.singular
        ]

    def __repr__(self) -> str:
        return f"OperationInfo({self.signature}: {self.doc})"


def derivative_formula(name: str) -> str | None:
    """The derivative of an element-wise row as a formula: "cos(x)" of sin; None where it has none."""
    from .formulas.derivation import derivative_of_row

    row = ROWS.get(name)
    if row is None or row.derivative not in ("partials", "composite"):
        return None
    with LOCK:
        try:
            return derivative_of_row(row)
        except AdiffError:
            return None
        finally:
            STATE.reset()


def input_name(row: Operation, number: int) -> str:
    """The name of an input in the row's signature."""
    return row.parameters[number].name if number < len(row.parameters) else f"input {number}"


def choice_text(choice: object) -> str:
    if choice is None:
        return "the formula's value"
    if callable(choice):
        return "by formula"
    return f"{choice:g}" if isinstance(choice, int | float) else str(choice)


def operations() -> list[OperationInfo]:
    """Every row of the table that programs are meant to call, by family, in the table's order."""
    rows = [row for row in ROWS.values() if not row.internal]
    for file in dict.fromkeys(file for file, _ in library.OPERATIONS.values()):
        rows += library.operations(file).values()
    families = list(dict.fromkeys(row.family for row in rows))
    return [OperationInfo(row) for row in sorted(rows, key=lambda row: families.index(row.family))]
