"""`Program.rows`: what is asked of a table, and what comes back."""

import math
from typing import Any

import adiff
import numpy as np
import pytest
from adiff import AdiffError
from adiff.engine.rows import kernel as kernel_rows
from adiff.engine.rows import run
from one_by_one import same_as_rows

X = [-1.5, 0.0, 0.5, 2.0, 0.0, 7.25]
Y = [0.25, 1.5, -2.0, 0.0, 3.0, -0.5]
N = [0, 3, 1, 5, 2, 4]
VECTOR = np.array([0.3, -1.1, 0.9, 2.0])
ENGINES = pytest.mark.parametrize("engine", ["tape", "kernel", "auto"])


# --- values, derivatives, errors ------------------------------------------------------------------------------------


def test_nothing_leaks_from_the_branch_not_taken() -> None:
    x = np.linspace(-3, 3, 13)
    for text in (
        "sqrt(x) if x > 0 else 0.0",
        "where(x > 0, sqrt(x), 0.0)",
        "if x > 0:\n    y = log(x)\nelse:\n    y = x\ny",
        "x > 0 and 1 / x or 0.0",
    ):
        found = adiff.program(text).rows({"x": x})
        assert np.isfinite(found.value).all()
        assert np.isfinite(found.gradients["x"]).all()
        assert not [n for n in found.notices if n.code != "N0502"], found.notices


@ENGINES
@pytest.mark.parametrize(
    ("text", "columns", "failing"),
    [
        ("assert x > 0, 'no'\nx**2", {"x": [1.0, -1.0, 2.0, 0.0]}, {1: "E0406", 3: "E0406"}),
        ("n // k * x", {"n": [4, 5, 6], "k": [2, 0, 3], "x": [1.0, 2.0, 3.0]}, {1: "E0402"}),
        ("[x, 2 * x][n]", {"n": [0, 5, -1, -3], "x": [1.0, 2.0, 3.0, 4.0]}, {1: "E0405", 3: "E0405"}),
        ("if x > 1:\n    z = x\nz * 2", {"x": [0.0, 2.0, 3.0]}, {0: "E0408"}),
    ],
)
def test_bad_rows(text: str, columns: dict[str, Any], failing: dict[int, str], engine: str) -> None:
    found = same_as_rows(text, columns, wrt=["x"], engine=engine)
    assert {row: error.code for row, error in found.errors.items()} == failing
    assert np.isnan(found.value[list(failing)]).all()
    assert np.isnan(found.gradients["x"][list(failing)]).all()


@ENGINES
def test_where_every_row_fails(engine: str) -> None:
    columns = {"x": np.ones((4, 3)), "k": np.full(4, 9)}
    found = adiff.program("ys=[1.0,2.0]\nx*ys[k]").rows(columns, ["x"], engine=engine)
    assert sorted(found.errors) == [0, 1, 2, 3]
    assert found.value.shape == (4,)
    assert np.isnan(found.value).all()
    assert found.gradients["x"].shape == (4, 3)
    assert np.isnan(found.gradients["x"]).all()


def test_constants_and_sources() -> None:
    program = adiff.program("a * x**2 + sum(w)")
    found = program.rows({"x": [1.0, 2.0], "other": ["p", "q"]}, at={"a": 3.0, "w": VECTOR, "spare": 1})
    assert [(n.code, n.rows) for n in found.notices] == [("N0801", 2)]
    assert list(found.gradients) == ["x"]
    assert found.gradients["x"].tolist() == [6.0, 12.0]
    found = program.rows({"x": [1.0, 2.0]}, ["a", "w"], at={"a": 3.0, "w": VECTOR})
    assert found.gradients["a"].tolist() == [1.0, 4.0]
    assert found.gradients["w"].tolist() == [[1.0] * 4] * 2


def test_dtypes() -> None:
    flags = same_as_rows("x * 2 if flag else x", {"x": X, "flag": [v > 0 for v in X]}, wrt=["x"])
    assert flags.value.dtype == np.float64
    assert adiff.program("n * 2").rows({"n": N}, order=0).value.dtype == np.int64
    single = adiff.program("x**2").rows({"x": np.array([1.5, 2.5], np.float32)}, order=2)
    assert single.value.dtype == single.gradients["x"].dtype == single.hessian["x"]["x"].dtype == np.float32
    mixed = adiff.program("x*y").rows({"x": np.float32([0.5, 2.0]), "y": np.array([0.3, 1e300])})
    assert mixed.value.tolist() == [0.15, 2e300]
    integers = adiff.program("n**2").rows({"n": [1, 2, 3]})
    assert integers.gradients["n"].tolist() == [2.0, 4.0, 6.0]


@pytest.mark.parametrize("order", [1, 2])
def test_vectors_in_rows(order: int) -> None:
    v = np.array([[0.5, -1.0, 2.0], [1.0, 0.0, 3.0]])
    found = same_as_rows("sum(v**2) * x + v[0] + dot(v, v) + norm(v)", {"v": v, "x": [2.0, -1.0]}, order)
    assert found.gradients["v"].shape == (2, 3)
    same_as_rows("max(v)*x", {"v": np.array([[3.0, 3.0], [np.nan, 1.0]]), "x": [0.5, 1.5]}, order)


# Results with parts: one array where all rows' results have one shape, else each row's as the program has it.
PARTS = {
    "{'a': x, 'b': n > 2}": [{"a": -1.5, "b": False}, {"a": 0.0, "b": True}],
    "(x, [n, n])": [(-1.5, [0, 0]), (0.0, [3, 3])],
    "[[x, y], [y, x]]": [[[-1.5, 0.25], [0.25, -1.5]], [[0.0, 1.5], [1.5, 0.0]]],
    "[x] * (n // 3 + 1)": [[-1.5], [0.0, 0.0]],
}


@ENGINES
@pytest.mark.parametrize("text", PARTS)
def test_results_with_parts(text: str, engine: str) -> None:
    columns = {name: column[:2] for name, column in {"x": X, "y": Y, "n": N}.items() if name in text}
    found = adiff.program(text).rows(columns, ["x"], engine=engine)
    assert found.value.tolist() == PARTS[text]
    assert found.gradients["x"].tolist() == ([1.0, 2.0] if "*" in text else [2.0, 2.0] if "[[" in text else [1.0, 1.0])
    assert {n.code for n in found.notices} == {"N0503"}


@ENGINES
def test_empty_table(engine: str) -> None:
    """The derivatives of no rows have the shapes that those of rows have, but for their number."""
    program = adiff.program("sum(v)*y + x*c")
    some, none = (
        program.rows({"v": np.ones((n, 3)), "y": np.ones(n), "x": np.arange(n)}, at={"c": 2.0}, order=2, engine=engine)
        for n in (2, 0)
    )
    assert none.value.shape == (0,)
    assert none.errors == {}
    for a in "vyx":
        assert none.gradients[a].shape == (0, *some.gradients[a].shape[1:])
        for b in "vyx":
            assert none.hessian[a][b].shape == (0, *some.gradients[a].shape[1:], *some.gradients[b].shape[1:])
    assert program.rows({"v": np.ones((0, 3)), "y": [], "x": []}, at={"c": 2.0}, order=0).gradients is None


# --- sources that the result does not depend on ---------------------------------------------------------------------


@ENGINES
@pytest.mark.parametrize("order", [1, 2])
def test_truth_values_are_no_sources(engine: str, order: int) -> None:
    x, flag = np.linspace(1, 2, 8), np.arange(8) % 3 == 0
    found = adiff.program("x**2 if flag else x").rows({"x": x, "flag": flag}, ["x", "flag"], order, engine=engine)
    assert found.gradients["flag"] is None
    assert found.gradients["x"].tolist() == np.where(flag, 2 * x, 1.0).tolist()
    assert [(n.code, n.rows) for n in found.notices] == [("N0504", 8)]
    if order == 2:
        assert found.hessian["x"]["x"].tolist() == np.where(flag, 2.0, 0.0).tolist()
        assert found.hessian["x"]["flag"] is found.hessian["flag"]["x"] is None


@ENGINES
@pytest.mark.parametrize("order", [1, 2])
def test_strings_and_truth_values_are_no_sources_by_themselves(engine: str, order: int) -> None:
    """By default nothing is differentiated by them; where they are named there is a notice, as of a single evaluation."""
    for text, k in (("x if k == 'a' else x**2", ["a", "b", "c"]), ("x if k else x**2", [True, False, False])):
        program = adiff.program(text)
        found = program.rows({"x": [1.0, 2.0, 3.0], "k": k}, order=order, engine=engine)
        assert found.value.tolist() == [1.0, 4.0, 9.0]
        assert list(found.gradients) == ["x"]
        assert found.gradients["x"].tolist() == [1.0, 4.0, 6.0]
        assert (found.errors, found.notices) == ({}, [])
        named = program.rows({"x": [1.0, 2.0, 3.0], "k": k}, ["x", "k"], order, engine=engine)
        assert named.gradients["k"] is None
        assert named.gradients["x"].tolist() == [1.0, 4.0, 6.0]
        assert [(n.code, n.rows) for n in named.notices] == [("N0504", 3)]


@ENGINES
def test_no_row_depends_on_a_source(engine: str) -> None:
    found = adiff.program("x + 0 * y if x > 0 else 2.0").rows({"x": [-1.0, -2.0], "y": [0.0, 0.0]}, engine=engine)
    assert found.gradients == {"x": None, "y": None}
    assert {(n.code, n.rows) for n in found.notices} == {("N0502", 2)}


@ENGINES
def test_some_rows_depend_on_a_source(engine: str) -> None:
    columns = {"x": [1.0, 2.0, 3.0], "y": [-math.inf, 2.0, -1.0]}
    found = adiff.program("x if y > 0 else y").rows(columns, order=2, engine=engine)
    assert found.gradients["x"].tolist() == [0.0, 1.0, 0.0]
    assert found.hessian["x"]["x"].tolist() == [0.0, 0.0, 0.0]
    assert found.hessian["x"]["y"] is None


# --- columns --------------------------------------------------------------------------------------------------------


def test_columns_that_the_program_assigns_have_a_notice() -> None:
    program = adiff.program(
        "def f(t):\n    inner = t\n    return inner\ny = x**2\nfor i in range(2):\n    y += f(i)\ny"
    )
    columns = {name: [1.0, 2.0] for name in ("x", "y", "i", "f", "inner", "other")}
    found = program.rows(columns, engine="tape")
    assert [(n.code, n.rows) for n in found.notices] == [("N0801", 2)] * 3
    assert [n.message.split("'")[1] for n in found.notices] == ["y", "i", "f"]


@ENGINES
@pytest.mark.parametrize("order", [0, 1, 2])
def test_columns_of_mixed_items(engine: str, order: int) -> None:
    sizes = np.array([None, 2.0, 3, "large", True, 1.5], object)
    text = "x**2 if size is None else x * 10 if size == 'large' else x * size"
    same_as_rows(text, {"x": X, "size": sizes}, order, wrt=["x"] if order else None, engine=engine)


@ENGINES
def test_none_in_a_column_that_is_differentiated_by(engine: str) -> None:
    sizes = np.array([None, 2.0, 3.5, None, 4.0, 1.5], object)
    text = "x**2 * size if size > 2 else x * size**3"
    found = same_as_rows(text, {"x": X, "size": sizes}, 2, wrt=["size", "x"], engine=engine)
    assert list(found.errors) == [0, 3]


def test_one_item_spoils_no_other() -> None:
    found = adiff.program("x**2").rows({"x": [1.0, "a", 3]})
    assert {row: error.code for row, error in found.errors.items()} == {1: "E0301"}
    assert found.value[[0, 2]].tolist() == [1.0, 9.0]
    assert found.gradients["x"][[0, 2]].tolist() == [2.0, 6.0]


def test_whatever_has_items_in_order_is_a_column() -> None:
    program = adiff.program("x**2")
    for x in ((float(i) for i in range(3)), range(3), {"a": 0.0, "b": 1.0, "c": 2.0}.values(), (0.0, 1.0, 2.0)):
        assert program.rows({"x": x}).gradients["x"].tolist() == [0.0, 2.0, 4.0]
    for x in ({1.0, 2.0}, frozenset([1.0]), {1: 2.0}, "abc", b"abc", 1.0, None):
        with pytest.raises(AdiffError) as caught:
            program.rows({"x": x})
        assert caught.value.code == "E0802"


@pytest.mark.parametrize(
    ("columns", "options", "code"),
    [
        ({"x": [1.0]}, {}, "E0801"),
        ({"x": [1.0], "y": [1.0, 2.0]}, {}, "E0302"),
        ({"x": [1.0], "y": 2.0}, {}, "E0802"),
        ({"x": [[1.0, 2.0], [3.0]], "y": [1.0, 2.0]}, {}, "E0302"),
        ({"x": [[1.0, 2.0], 3.0], "y": [1.0, 2.0]}, {}, "E0302"),
        ({"x": [1.0], "y": [1.0]}, {"at": {"y": 1.0}}, "E0812"),
        ({"x": [1.0], "y": [1.0]}, {"wrt": ["z"]}, "E0803"),
        ({"x": [1.0], "y": [1.0]}, {"order": 3}, "E0812"),
        ({"x": [1.0], "y": [1.0]}, {"engine": "gpu"}, "E0812"),
        ({"x": [1.0], "y": [1.0]}, {"tangent": {}}, "E0811"),
    ],
)
def test_misuse(columns: dict[str, Any], options: dict[str, Any], code: str) -> None:
    with pytest.raises(AdiffError) as caught:
        adiff.program("x * y").rows(columns, **options)
    assert caught.value.code == code


# --- limits and singular points -------------------------------------------------------------------------------------


def test_steps_and_time() -> None:
    slow = "s = x\nwhile True:\n    s = s * 1.0\n    if s > 5:\n        break\ns"
    found = adiff.program(slow).rows({"x": [1.0, 6.0]}, max_steps=100)
    assert {row: error.code for row, error in found.errors.items()} == {0: "E0601"}
    with pytest.raises(AdiffError) as caught:
        adiff.program(slow).rows({"x": [1.0, 6.0]}, timeout=0.3)
    assert caught.value.code == "E0603"


@pytest.mark.parametrize("engine", ["tape", "kernel"])
@pytest.mark.parametrize(("options", "code"), [({"timeout": 0.3}, "E0603"), ({"max_memory": 30 << 20}, "E0602")])
def test_a_limit_ends_the_whole_table(engine: str, options: dict[str, Any], code: str) -> None:
    """Rows that take a state of 80 MB each, or for ever."""
    text = "s = x\nfor i in range(n):\n    s = sin(s)\ns"
    columns = {"x": np.ones(20_000), "n": np.full(20_000, 10**7 if "max_memory" in options else 10**9)}
    program = adiff.program(text)
    program.rows({"x": [1.0], "n": [1]}, ["x"], engine=engine)  # the time is that of the rows, and not of the compiler
    with pytest.raises(AdiffError) as caught:
        program.rows(columns, ["x"], engine=engine, **options)
    assert caught.value.code == code
    assert caught.value.span is not None or engine == "kernel"


def test_memory_for_whole_columns_is_asked_for_in_smaller_parts() -> None:
    x = np.linspace(0.5, 1.5, 30_000)
    found = adiff.program("y = x\n" + "y = sin(y) + x\n" * 100 + "y").rows({"x": x}, max_memory=20 << 20)
    assert not found.errors
    assert found.one_by_one == {}


def test_kinks() -> None:
    found = adiff.program("abs(x)").rows({"x": [1.0, 0.0]}, kinks="error")
    assert {row: error.code for row, error in found.errors.items()} == {1: "E0501"}
    assert adiff.program("abs(x)").rows({"x": [1.0, 0.0]}, kinks="jax").gradients["x"].tolist() == [1.0, 1.0]


def test_the_choice_of_the_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    """A kernel takes over once the tape has taken as long as it takes to be ready, and leaves bad rows to the tape."""
    program = adiff.program("assert x != 50, 'no'\nx**2 if x > 0 else x")
    x = np.arange(1.0, 201.0)
    monkeypatch.setattr(kernel_rows.KernelRows, "ready_seconds", lambda self: math.inf)
    found = program.rows({"x": x})
    assert (found.engine, found.reason) == ("tape", "the tape is done before a kernel would be compiled")
    monkeypatch.setattr(run, "LOADED", 0.0)
    monkeypatch.setattr(kernel_rows.KernelRows, "ready_seconds", lambda self: 0.0)
    found = adiff.program(program.source.text).rows({"x": x})
    assert (found.engine, found.reason) == ("kernel", "enough work to repay the compiler")
    np.testing.assert_array_equal(found.gradients["x"], np.where(x == 50, np.nan, 2 * x))
    assert list(found.errors) == [49]
