"""The registry: all rows by name and alias."""

from __future__ import annotations

from ..core.operation import Operation
from ..core.tensor import OPERATORS
from . import (
    activations,
    arithmetic,
    creation,
    decompositions,
    diagonals,
    exponential,
    gathering,
    joining,
    linalg,
    losses,
    partition,
    products,
    random,
    reductions,
    rounding,
    row_sets,
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
    ("linalg", linalg),
    ("sequences", sequences),
    ("samples", samples),
    ("losses", losses),
    ("random", random),
    ("partition", partition),
    ("row sets", row_sets),
)

ROWS: dict[str, Operation] = {}
NAMES: dict[str, Operation] = {}

for _family, _module in FAMILIES:
    for _row in list(vars(_module).values()):
        if _row.__class__ is Operation and not _row.family:
            _row.family = _family
            assert _row.name not in ROWS, f"two rows are called {_row.name}"
            ROWS[_row.name] = _row
for _row in ROWS.values():
    for _alias in (_row.name, *_row.aliases):
        assert NAMES.get(_alias, _row) is _row, f"'{_alias}' names two rows"
        NAMES[_alias] = _row
    OPERATORS.setdefault(_row.name, _row)

# The rows that are methods of tensors, by the name of the method.
METHODS: dict[str, Operation] = {}
for _row in ROWS.values():
    if _row.method:
        METHODS[_row.name if _row.method is True else _row.method] = _row
