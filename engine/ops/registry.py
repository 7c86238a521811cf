"""The registry: all rows by name and alias."""

from __future__ import annotations

from ..core.operation import Operation
from ..core.tensor import OPERATORS
from . import (
    activations,
    arithmetic,
    convolution,
    creation,
    decompositions,
    diagonals,
    exponential,
    fourier,
    gathering,
    joining,
    linalg,
    losses,
    partition,
    products,
    random,
    reductions,
    rounding,
    samples,
    scans,
    sequences,
    shapes,
    sorting,
    special,
    stable,
    structure,
    trigonometric,
)
from . import complex as complex_numbers

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType

FAMILIES: tuple[tuple[str, ModuleType], ...] = (
    ("arithmetic", arithmetic),
    ("exponential", exponential),
    ("trigonometric", trigonometric),
    ("rounding", rounding),
    ("special", special),
    ("activations", activations),
    ("complex", complex_numbers),
    ("stable", stable),
    ("structure", structure),
    ("gathering", gathering),
    ("shapes", shapes),
    ("shapes", joining),
    ("shapes", diagonals),
    ("sorting", sorting),
    ("scans", scans),
    ("reductions", reductions),
    ("creation", creation),
    ("products", products),
    ("decompositions", decompositions),
    ("convolution", convolution),
    ("linalg", linalg),
    ("sequences", sequences),
    ("sequences", fourier),
    ("samples", samples),
    ("losses", losses),
    ("random", random),
    ("partition", partition),
)

ROWS: dict[str, Operation] = {}
NAMES: dict[str, Operation] = {}
# The rows that are methods of tensors, by the name of the method.
METHODS: dict[str, Operation] = {}
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
    for alias in (row.name, *row.aliases):
        assert NAMES.get(alias, row) is row, f"'{alias}' names two rows"
        NAMES[alias] = row
    OPERATORS.setdefault(row.name, row)
    if row.method:
        METHODS[row.name if row.method is True else row.method] = row


for _family, _module in FAMILIES:
    for _row in list(vars(_module).values()):
        if _row.__class__ is Operation and not _row.family:
            add(_row, _family)

OWN = len(ROWS)
