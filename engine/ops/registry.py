"""The registry: all rows by name and alias."""

from __future__ import annotations

from importlib import import_module

from ..core.tensor import OPERATORS
from .operation import Operation

# In the order of the documentation. Each is a family, or a part of one.
MODULES = """
    arithmetic exponential trigonometric rounding special incomplete bessel activations complex structure gathering shapes joining
    diagonals sorting scans reductions creation products decompositions linalg matrix_functions norms sequences fourier random
    partition
""".split()
PART_OF = {
    "incomplete": "special", "bessel": "special", "joining": "shapes", "diagonals": "shapes", "matrix_functions": "linalg",
    "norms": "linalg", "fourier": "sequences",
}  # fmt: skip

ROWS: dict[str, Operation] = {}
# Those that programs call, by name and alias.
NAMES: dict[str, Operation] = {}
# The rows that are methods of tensors, by the name of the method.
METHODS: dict[str, Operation] = {}
# The rows that Python's operators apply, by the operator: between two operands, and before one.
OPERATOR_ROWS: dict[str, Operation] = {}
PREFIX_ROWS: dict[str, Operation] = {}
# The methods behind Python's operators: of the operand on the left, and of the one on the right.
OPERATOR_METHODS = {
    "+": ("__add__", "__radd__"), "-": ("__sub__", "__rsub__"), "*": ("__mul__", "__rmul__"),
    "/": ("__truediv__", "__rtruediv__"), "//": ("__floordiv__", "__rfloordiv__"), "%": ("__mod__", "__rmod__"),
    "**": ("__pow__", "__rpow__"), "@": ("__matmul__", "__rmatmul__"), "&": ("__and__", "__rand__"),
    "|": ("__or__", "__ror__"), "^": ("__xor__", "__rxor__"), "==": ("__eq__", "__eq__"), "<": ("__lt__", "__gt__"),
    "<=": ("__le__", "__ge__"), ">": ("__gt__", "__lt__"), ">=": ("__ge__", "__le__"),
}  # fmt: skip
PREFIX_METHODS = {"-": "__neg__", "~": "__invert__"}
# How many rows are adiff's own; others are added to it from outside.
OWN = 0


def add(row: Operation, family: str) -> None:
    """Make a row known: to programs by its names and as a method, to both executors as one of the table."""
    if OWN and row.kernel.__class__ is str:
        from .templates import check_template

        check_template(row)
    row.family = family
    assert row.name not in ROWS, f"two rows are called {row.name}"
    ROWS[row.name] = row
    for alias in () if row.internal else (row.name, *row.aliases):
        assert NAMES.get(alias, row) is row, f"'{alias}' names two rows"
        NAMES[alias] = row
    OPERATORS.setdefault(row.name, row)
    if row.symbol:
        (PREFIX_ROWS if row.most == 1 else OPERATOR_ROWS)[row.symbol] = row
    if row.method:
        METHODS[row.name if row.method is True else row.method] = row


for _module in MODULES:  # again after an import that Ctrl-C has ended, when rows have their families already
    for _row in list(vars(import_module("." + _module, __package__)).values()):
        if _row.__class__ is Operation and ROWS.get(_row.name) is not _row:
            add(_row, PART_OF.get(_module, _module))

OWN = len(ROWS)
