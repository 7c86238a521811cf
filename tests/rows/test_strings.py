"""Tables with columns of strings: rows with the same strings are evaluated together, and give what each alone gives."""

from __future__ import annotations

from typing import Any

import adiff
import numpy as np
import pytest
from adiff.engine.rows import run
from one_by_one import same_as_rows

X = [0.5, -1.5, 0.0, 2.0, 3.25, -0.5, 1.0, 0.25, -2.0]
Y = [0.25, 1.5, -2.0, 0.0, 3.0, -0.5, 1.25, 2.5, 0.75]
KIND = ["a", "b", "a", "c", "b", "c", "a", "b", "c"]
SIDE = ["long", "short", "long", "long", "short", "long", "long", "short", "long"]
PROGRAMS = {
    "a branch": 'if kind == "a":\n    r = abs(x)\nelif kind == "b":\n    r = sin(x) * y\nelse:\n    r = x * y**2\nr',
    "a key": 'rates = {"a": 0.1, "b": 0.2, "c": 0.3}\nrates[kind] * x * y',
    "membership": 'x * y if kind in ("a", "b") else y**2',
    "two columns": '(1.0 if side == "long" else -1.0) * (x if kind == "a" else y * x)',
    "beside branches on numbers": 'r = x\nif kind == "b" and x > 0:\n    r = log(x) * y\nr',
    "strings alone": '1.0 if kind == "a" else 2.0',
    "an input that some strings leave out": 'x if kind == "a" else 2 * y',
}


def columns_for(text: str) -> dict[str, Any]:
    given = {"x": X, "y": Y, "kind": KIND, "side": SIDE}
    return {name: given[name] for name in adiff.program(text).inputs}


@pytest.mark.parametrize("order", [0, 1, 2])
@pytest.mark.parametrize("name", PROGRAMS)
def test_rows_with_the_same_strings(name: str, order: int) -> None:
    columns = columns_for(PROGRAMS[name])
    found = same_as_rows(PROGRAMS[name], columns, order, wrt=[c for c in "xy" if c in columns])
    assert not found.one_by_one, found.one_by_one


def test_in_compiled_loops() -> None:
    columns = columns_for(PROGRAMS["a branch"])
    found = same_as_rows(PROGRAMS["a branch"], columns, wrt=["x", "y"], engine="kernel")
    assert (found.engine, found.one_by_one) == ("kernel", {})


def test_a_failing_row_names_its_string() -> None:
    text = 'assert kind != "c" or x > 0, f"{kind} is not for {x}"\nx**2'
    found = same_as_rows(text, {"x": X, "kind": KIND}, wrt=["x"])
    assert {row: error.message for row, error in found.errors.items()} == {
        5: "assertion failed: c is not for -0.5", 8: "assertion failed: c is not for -2.0",
    }  # fmt: skip


def test_strings_that_few_rows_share_are_evaluated_alone() -> None:
    kinds = [*KIND[:-1], "only here"]
    found = same_as_rows(PROGRAMS["a branch"], {"x": X, "y": Y, "kind": kinds}, wrt=["x", "y"])
    assert found.one_by_one == {"a column that is not of numbers": 3}  # two rows are left with "c"


def test_numbers_beside_strings() -> None:
    sizes = ["large", 2, 3.5, "large", 4, 1.5, "large", 7, 0.5, True]
    text = 'x * 10 if size == "large" else x * size'
    found = same_as_rows(text, {"x": [*X, 1.0], "size": np.array(sizes, object)}, wrt=["x"])
    assert found.one_by_one == {"a column that is not of numbers": 1}  # the truth value


def test_counts_and_limits_are_those_of_a_row() -> None:
    text = 's = x\nfor i in range(9 if kind == "b" else 3):\n    s = s * y\ns'
    found = same_as_rows(text, {"x": X, "y": Y, "kind": KIND}, wrt=["x", "y"], max_steps=5)
    assert {row: error.code for row, error in found.errors.items()} == dict.fromkeys((1, 4, 7), "E0601")


def test_many_different_strings_have_no_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "MOST_KERNELS", 2)
    found = adiff.program(PROGRAMS["a branch"]).rows(columns_for(PROGRAMS["a branch"]), ["x"], engine="kernel")
    assert (found.engine, found.reason) == ("tape", "no kernel for 3 sets of rows, each with strings of its own")


def test_inputs_that_only_rows_with_some_strings_use(interpret: None) -> None:
    numbers = np.arange(1.0, 7.0)
    columns = {"x": numbers, "y": numbers, "kind": np.array(list("aaabbb"))}
    for engine in ("tape", "kernel"):
        found = adiff.program("x**2 if kind == 'a' else y**2").rows(columns, ["x", "y"], order=2, engine=engine)
        assert found.engine == engine
        assert found.hessian["x"]["x"].tolist() == [2.0, 2.0, 2.0, 0.0, 0.0, 0.0]
        assert found.hessian["y"]["y"].tolist() == [0.0, 0.0, 0.0, 2.0, 2.0, 2.0]


@pytest.mark.parametrize("order", [0, 1, 2])
@pytest.mark.parametrize("engine", ["tape", "kernel"])
def test_none_beside_numbers_and_strings(interpret: None, engine: str, order: int) -> None:
    sizes = [None, 2.0, 3.5, None, 4.0, 1.5, None, "large", "large", "large"]
    text = "x**2 if size is None else x * 10 if size == 'large' else x * size"
    columns = {"x": [*X, 1.0], "size": np.array(sizes, object)}
    found = same_as_rows(text, columns, order, wrt=["x"] if order else None, engine=engine)
    assert (found.one_by_one, found.engine) == ({}, engine)


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("engine", ["tape", "kernel"])
def test_none_in_a_column_that_is_differentiated_by(interpret: None, engine: str, order: int) -> None:
    """The rows that hold it fail as each alone does, and the others go together."""
    sizes = [None, 2.0, 3.5, None, 4.0, 1.5, 0.5, None, 1.0, 2.5]
    columns = {"x": [*X, 1.0], "size": np.array(sizes, object)}
    found = same_as_rows("x**2 * size if size > 2 else x * size**3", columns, order, wrt=["size", "x"], engine=engine)
    assert (found.one_by_one, found.engine, list(found.errors)) == ({}, engine, [0, 3, 7])
