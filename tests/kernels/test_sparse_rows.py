"""The pattern of a sparse Hessian is the same on both tiers, for every row: the entries, and their order."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import Any

import adiff
import numpy as np
import pytest
from adiff.engine.core.operation import Operation
from row_programs import RowProgram, programs
from test_every_row import LATER, LONG, NUMERIC

# Rows that have no Hessian to speak of, and those whose product is an iteration over rows that the tape follows as a whole.
CURVED = [row for row in NUMERIC if row.derivative not in ("none", "missing", "zero")]
COARSE = {"segment_prod", "unsorted_segment_prod"}
X, Y = np.array([0.5, -1.2, 2.0, 0.3]), np.array([0.1, 0.7, -0.4, 1.1])
# Programs and the entries that they have, by hand.
CHOICES = {
    "sum(exp(where(x > 0, x, y)))": 4,
    "sum(exp(where(x > 0, x, y) * y))": 13,
    "sum(exp(maximum(x, y)))": 4,
    "sum(exp(relu(x) * y))": 13,
    "exp(max(x) * y[0])": 4,
    "exp(max(x))": 1,
    "median(x)**2": 4,
    "sort(x)[3]**2 + sort(x)[0]*y[0]": 3,
    "sum(exp(cummax(x)))": 2,
    "sum(top_k(x, 2)[0]**3)": 2,
    "norm(x, 1)**2": 16,
    "s = 0.0\nfor i in range(4):\n    s += max(x[i], y[i])**2\ns": 4,
    "sum(elu(x) + selu(y))": 2,
    "sum(sum(reshape(x, (2, 2)), axis=1)**2)": 8,
    "sum(cumsum(x)[:2]**2)": 4,
    "det(reshape(x, (2, 2)))": 4,
    "logsumexp(max(reshape(x, (2, 2)), axis=1))": 4,
    "sum(einsum('ij,jk->ik', reshape(x, (2, 2)), reshape(y, (2, 2))))": 16,
    "solve(reshape(x, (2, 2)), y[:2])[0]": 32,
    "sum(exp(x))**2 + sum(y)": 16,
}


def curved(program: RowProgram) -> str:
    """A row's program with its inputs bent before it, and its results after it."""
    body, total = program.text.rsplit("\n", 1)
    body = re.sub(r"\b(x\d+)\b", r"q\1", body)
    total = re.sub(r"(r(\[\d+\])*(\[[^\]]*\])*) \*", r"exp(0.1*\1) *", total).replace("x0", "qx0")
    before = [f"q{name} = {name} + 0.001*{name}**2" for name in program.wrt]
    return "\n".join([*before, body, total])


def places(hessian: dict[str, dict[str, Any]]) -> dict[tuple[str, str], Any]:
    return {
        (row, column): block.indices.tolist() if hasattr(block, "indices") else block
        for row, line in hessian.items()
        for column, block in line.items()
    }


def dense(block: Any, shape: tuple[int, ...]) -> Any:
    block = block.to_dense() if hasattr(block, "to_dense") else block
    return np.zeros(shape) if block is None else np.asarray(block, dtype=float)


def same_pattern(text: str, at: dict[str, Any], wrt: list[str], equal: bool = True) -> int | None:
    """Assert that both tiers name the same entries, and that the others are zeros; how many they are, if a kernel did."""
    made = adiff.program(text)
    at = {name: at[name] for name in made.inputs}
    wrt = [name for name in wrt if name in at]
    tape, kernel = (made.evaluate("hessian", at, wrt, sparse=True, engine=engine) for engine in ("tape", "kernel"))
    full = made.evaluate("hessian", at, wrt, engine="tape").hessian
    for row in wrt:
        for column in wrt:
            shape = np.shape(at[row]) + np.shape(at[column])
            expected = dense(full[row][column], shape)
            for found in (tape, kernel):
                block = dense(found.hessian[row][column], shape)
                np.testing.assert_allclose(block, expected, rtol=1e-7, atol=1e-9, err_msg=text)
    if kernel.engine == "tape":
        return None
    if equal:
        assert places(tape.hessian) == places(kernel.hessian), text
        assert tape.mode == kernel.mode
    return sum(len(x) for x in places(tape.hessian).values() if x.__class__ is list)


def some(row: Operation) -> Iterator[RowProgram]:
    return islice(programs(row), None if LONG else 1)


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize("row", [row for row in CURVED if row.name not in LATER], ids=lambda row: row.name)
def test_rows(row: Operation) -> None:
    for program in some(row):
        if program.wrt:
            same_pattern(curved(program), program.at, program.wrt, row.name not in COARSE)
            if LONG:
                same_pattern(program.text, program.at, program.wrt, row.name not in COARSE)


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize("text", CHOICES)
def test_what_is_chosen_at_this_point(text: str) -> None:
    assert same_pattern(text, {"x": X, "y": Y}, ["x", "y"]) == CHOICES[text]


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize(
    "text",
    [
        "sum(exp(sort(x) * y))",
        "exp(max(x) * y[0])",
        "sum(exp(maximum(x, 0.5) * y))",
        "sum(exp(relu(x - 0.5) * y))",
        "sum(clip(x, 0.5, 2.0)**2)",
    ],
)
def test_ties(text: str) -> None:
    """What is tied is chosen together."""
    same_pattern(text, {"x": np.array([0.5, 2.0, 2.0, 0.5]), "y": Y}, ["x", "y"])


def test_lines_of_any_length() -> None:
    at = {"x": np.linspace(-1.0, 1.0, 600).reshape(3, 200)}
    found = adiff.program("sum(sum(x, axis=1)**2) + sum(logsumexp(x, axis=1))").evaluate(
        "hessian", at, sparse=True, engine="tape"
    )
    assert found.hessian["x"]["x"].values.size == 3 * 200**2
