"""Programs of element-wise operations run once on whole columns, and give what each row gives alone."""

import json
import random
from pathlib import Path
from typing import Any

import adiff
import numpy as np
import pytest
from adiff.engine.ops.operation import Operation
from adiff.engine.rows import tape
from adiff.engine.rows.tape import FORM
from harness import ELEMENTWISE, scalar_points
from one_by_one import same_as_rows

FEYNMAN = json.loads((Path(__file__).parents[1] / "data/feynman.json").read_text())["cases"]
X = np.linspace(0.31, 2.02, 9)
Y = np.linspace(-1.53, 1.04, 9)
FLAG = np.arange(9) % 3 == 0
OTHER = "which is not element-wise or gives no floats"
TOGETHER = {
    "an expression": "x * y + sin(x)**2 / 3",
    "statements": "z = x * y\nw = z + 1\nz -= w * x\nz *= 2\nw - z",
    "a chain of names": "a = b = x**2\na * b + y",
    "a parameter": "leaky_relu(y, alpha=0.1) * x + leaky_relu(y, 0.3)",
    "constants": "(2**0.5 + pi) * x + e**2 * y",
    "stable forms": "sqrt(x**2 + y**2) + log(1 + exp(x)) + sqrt(x + 9) - sqrt(x + 8) + 1 - cos(x)",
    "quotients": "x // 0.4 + x % 0.3 + y / x",
    "a source that plays no part": "x**2 + 1",
    "a source that is linear": "x * 3 + y",
    "a path that ends": "x + floor(y) * x",
}
APART = {
    "sum(x) * y": FORM,
    "reduce_sum(x) * y": f"sum, {OTHER}",
    "x if y > 0 else y": FORM,
    "if y > 0:\n    x = y\nx": FORM,
    "s = x\nfor i in range(3):\n    s = s * y\ns": FORM,
    "assert x > 0\nx * y": FORM,
    "def f(t):\n    return t * y\nf(x)": FORM,
    "[x, y]": FORM,
    "x * size(x) + y": f"size, {OTHER}",
    "x * (y > 0)": FORM,
    "where(isnan(y), 1, 2) * x": f"where, {OTHER}",
    "isnan(y) * x": f"isnan, {OTHER}",
    "leaky_relu(x, y)": "a parameter of leaky_relu that may differ from row to row",
    "z = x.dtype\nx * y": FORM,
    "0.0 * 3": "a result that is the same in all rows, or no float",
}


def columns_of(text: str) -> dict[str, Any]:
    return {name: {"x": X, "y": Y}[name] for name in adiff.program(text).inputs}


@pytest.mark.parametrize("order", [0, 1])
@pytest.mark.parametrize("text", TOGETHER.values(), ids=TOGETHER.keys())
def test_whole_columns(text: str, order: int) -> None:
    columns = columns_of(text)
    found = same_as_rows(text, columns, order)
    assert found.one_by_one == {}


@pytest.mark.parametrize(("text", "reason"), APART.items())
def test_other_programs_run_row_by_row(text: str, reason: str) -> None:
    columns = columns_of(text) or {"x": X}
    found = adiff.program(text).rows(columns, engine="tape")
    assert found.one_by_one == {reason: 9}


@pytest.mark.parametrize(
    ("columns", "at", "wrt", "reason"),
    [
        ({"x": np.arange(9), "y": Y}, {}, ["y"], "a column of int64"),
        ({"x": X, "y": FLAG}, {}, ["x", "y"], "a column of bool"),
        ({"x": X, "y": np.ones((9, 2))}, {}, None, "a column of tensors"),
        ({"x": X * 1j, "y": Y}, {}, None, "a column of complex128"),
        ({"x": X.astype("float32"), "y": Y.astype("float32")}, {}, None, "a column of float32"),
        ({"x": X}, {"y": [1.0, 2.0]}, None, "a constant that is no number"),
    ],
)
def test_other_columns_run_row_by_row(columns: Any, at: Any, wrt: Any, reason: str) -> None:
    found = adiff.program("x * y + x").rows(columns, wrt, at=at, engine="tape")
    assert found.one_by_one == {reason: 9}


@pytest.mark.parametrize("row", [row for row in ELEMENTWISE if not row.internal], ids=lambda row: row.name)
def test_every_element_wise_row_of_the_operation_table(row: Operation) -> None:
    """Rows of which the samples come from intervals: those that run on whole columns do not mix the rows of a table."""
    points = np.array(scalar_points(row, 7))
    names = [f"x{i}" for i in range(points.shape[1])]
    wrt = [name for name, interval in zip(names, row.domain) if interval]
    name = {"round": "rint"}.get(row.name, row.name)
    columns = {x: column if x in wrt else column.astype(int) for x, column in zip(names, points.T)}
    text = f"{name}({', '.join(names)})"
    same_as_rows(text, columns, wrt=wrt, tolerance=1e-10)


def test_feynman() -> None:
    for case in FEYNMAN:
        draw = random.Random(case["name"])
        base = case["points"][0][0]
        columns = {name: [v * draw.uniform(0.9, 1.1) for _ in range(3)] for name, v in zip(case["inputs"], base)}
        found = same_as_rows(case["formula"], columns)
        assert not found.one_by_one, (case["formula"], found.one_by_one)


@pytest.mark.parametrize("kinks", ["adiff", "jax", "error"])
def test_rows_at_singular_points_run_alone(kinks: str) -> None:
    count = 400
    x = np.linspace(1.0, 2.0, count)
    x[[7, 300]] = 0.0
    found = same_as_rows("abs(x) * y + relu(x)", {"x": x, "y": x + 1.0}, kinks=kinks)
    assert sum(found.one_by_one.values()) <= 2 * tape.FEW
    assert set(found.errors) == ({7, 300} if kinks == "error" else set())


def test_rows_that_are_not_finite_run_alone() -> None:
    x = np.linspace(1.0, 2.0, 200)
    x[[3, 150]] = np.nan
    x[90] = 1000.0
    found = same_as_rows("exp(x) * y", {"x": x, "y": np.linspace(1.0, 2.0, 200)})
    assert found.one_by_one == {"nan or infinity": 3}
    assert sum(n.rows for n in found.notices) == 3


def test_sources_that_are_integers_or_the_same_in_all_rows() -> None:
    found = same_as_rows(
        "n**2 * a + x / n + b", {"n": [1, 2, 3], "x": [0.5, 1.0, 2.0]}, at={"a": 3, "b": 0.5}, wrt=["x", "n", "a"]
    )
    assert found.one_by_one == {}
    assert found.gradients["a"].tolist() == [1.0, 4.0, 9.0]


def test_why_nothing_depends_on_a_source() -> None:
    found = adiff.program("y * 2 + stop_gradient(1.0)").rows({"x": X, "y": Y}, ["y"])
    assert found.notices == []
    found = adiff.program("x * floor(1.5) + 0 * isnan(3.0)\ny * 2").rows({"x": X, "y": Y})
    assert found.gradients["x"] is None
    assert [(n.code, n.rows) for n in found.notices] == [("N0502", 9)]
