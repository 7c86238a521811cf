"""Every numeric row of the table, because it is a row: value, gradient and Hessian by a kernel, as the tape gives them.

The kernels run as Python (`interpret`); what machine code makes of the texts is tested in test_rows.py, and of array rows
here for a few programs that hold many of them.
"""

from __future__ import annotations

import os
from itertools import islice
from typing import Any

import numpy as np
import pytest
from adiff.engine.core.operation import Operation
from adiff.engine.ops.registry import ROWS
from agreement import agree
from row_programs import programs

# Rows whose inputs no program can write.
NOT_IN_PROGRAMS = {"index", "index_update", "index_add"}
NUMERIC = [row for row in ROWS.values() if not row.internal and set(row.accepts) != {"s"}]
NUMERIC = [row for row in NUMERIC if row.name not in NOT_IN_PROGRAMS]
LONG = bool(os.environ.get("ADIFF_LONG_TESTS"))
# Rows that are alike: each element depends on one of the input, or on all. Where it is enough, every fourth of them is asked.
ALIKE = [row for row in NUMERIC if row.derivative == "partials" or row.family in ("linalg", "decompositions")]
LATER = set() if LONG else {row.name for number, row in enumerate(ALIKE) if number % 4}
EVERY_ROW = pytest.mark.parametrize("row", NUMERIC, ids=lambda row: row.name)


def reasons(row: Operation, command: str, tolerance: float, count: int | None = None) -> list[str]:
    """Why no kernel answered, for each program of a row, or for the first `count`: the two tiers agree on all of them."""
    return [agree(p.text, p.at, p.wrt, command, tolerance) for p in islice(programs(row), count)]


@pytest.mark.usefixtures("interpret")
@EVERY_ROW
def test_gradient(row: Operation) -> None:
    found = reasons(row, "grad", 1e-13)
    assert found == [""] * len(found)


@pytest.mark.usefixtures("interpret")
@EVERY_ROW
def test_hessian(row: Operation) -> None:
    found = reasons(row, "hessian", 1e-11, None if LONG else 1 if row in ALIKE else 2)
    assert found == [""] * len(found)


SQUARE = np.array([[1.9, 0.4, -0.3], [0.2, 1.4, 0.6], [-0.5, 0.1, 2.2]])
VECTOR = np.array([0.7, -1.3, 2.1, 0.4])
TIES = np.array([1.0, -2.0, 1.0, 0.5, -2.0])
COMPILED: list[tuple[str, dict[str, Any]]] = [
    ("sum(sort(x) * w) + median(x) + x[argmax(x)] + norm(x) + logsumexp(x)", {"x": VECTOR, "w": np.arange(4.0)}),
    ("log(det(x)) + sum(inv(x)) + sum(solve(x, y) ** 2) + sum(svdvals(x))", {"x": SQUARE, "y": VECTOR[:3]}),
    ("sum(einsum('ij,kj->ik', x, x) * x) + sum(softmax(x @ x) * x) + max(x)", {"x": SQUARE}),
]


@pytest.mark.parametrize(("text", "at"), COMPILED)
def test_machine_code(text: str, at: dict[str, Any]) -> None:
    assert agree(text, at) == ""


AT_TIES = [
    "max(x)", "min(x)", "sum(sort(x) * arange(5) * 1.0)", "sum(cummax(x) * x)", "sum(cummin(x) * x)", "median(x)",
    "sum(unsorted_segment_max(x, [0, 0, 0, 1, 1], 2) ** 2)", "norm(x - x)", "std(x * 0.0)", "logsumexp(x)",
    "logsumexp([-inf * x[0] ** 2, -inf * x[2] ** 2])", "prod(x - 1.0)", "prod(x * 0.0 + x)", "max(x, 0)", "sum(maximum(x, x[0]))",
]  # fmt: skip


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize("text", AT_TIES)
def test_ties_and_zeros(text: str) -> None:
    """The choices of the policy, and their notices, are those of the tape."""
    assert agree(text, {"x": TIES}) == ""


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize(
    "text", ["sum(sort(x) * x)", "sum(sort(x) * arange(5) * 1.0)", "sum(sort(x)[1:] ** 2 * x[1:])"]
)
@pytest.mark.parametrize("x", [TIES, np.ones(5), np.arange(5.0)])
def test_second_derivatives_at_ties(text: str, x: Any) -> None:
    """What shares equal cotangents among equal elements shares their derivatives too: the tape's to decide."""
    reason = agree(text, {"x": x}, None, "hessian")
    assert reason == "" or (len(set(x)) < len(x) and "a singular point" in reason)


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize("text", ["cumsum(x)", "cumsum(x, exclusive=True)", "cumsum(x, reverse=True, exclusive=True)"])
def test_signs_of_running_sums(text: str) -> None:
    for x in (np.array([-0.0, -0.0, -0.0]), np.array([-0.0, 0.0, -0.0])):
        assert agree("1.0 / (" + text + ")", {"x": x}, None, "value") == ""


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize("scale", [1e-200, 1e200])
@pytest.mark.parametrize("text", ["norm(x)", "std(x)", "norm(x, 3)", "max(abs(x))", "prod(x)", "logsumexp(x)"])
def test_extreme_elements(text: str, scale: float) -> None:
    """Squares and products that leave the floats."""
    agree(text, {"x": VECTOR * scale})


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize("scale", [1e-310, 1e-200, 1e-160, 1.0, 1e160, 1e200])
@pytest.mark.parametrize(
    "text",
    ["q = qr(x)\n(q[0], q[1])", "svdvals(x)", "norm(x, ord='nuc')", "norm(x, ord=2)", "pinv(x)", "qr(x * 1e-5)[0]"],
)
def test_extreme_matrices(text: str, scale: float) -> None:
    """Squares of elements leave the floats: LAPACK scales what kernels leave to it."""
    assert agree(text, {"x": SQUARE * scale}, None, "value", 1e-11) == "" or scale != 1.0
    column = SQUARE * np.array([1.0, scale, 1.0])
    agree(text, {"x": column}, None, "value", 1e-11)
