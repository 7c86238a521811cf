"""`Program.rows` on whole columns: what it gives is what `evaluate` gives row by row."""

from __future__ import annotations

import json
import os
import random
from pathlib import Path
from typing import Any

import adiff
import numpy as np
import pytest
from adiff import AdiffError
from generated import program
from one_by_one import same_as_rows

ROOT = Path(__file__).parents[2]
FEYNMAN = json.loads((ROOT / "tests/data/feynman.json").read_text())["cases"]
VECTOR = np.array([0.3, -1.1, 0.9, 2.0])
GENERATED = 40 if os.environ.get("ADIFF_LONG_TESTS") else 16

# Programs of which no row may be evaluated alone, and the columns they are given.
X = [-1.5, 0.0, 0.5, 2.0, 0.0, 7.25]
Y = [0.25, 1.5, -2.0, 0.0, 3.0, -0.5]
N = [0, 3, 1, 5, 2, 4]
TOGETHER = {
    "branch": "if x > 0:\n    y = sqrt(x)\nelse:\n    y = x**2\ny",
    "branch of one side": "z = x\nif x > 1:\n    z = z * y\nz",
    "nested branches": "if x > 0:\n    if y > 0:\n        z = x * y\n    else:\n        z = sin(x)\nelif y > 1:\n    z = y\nelse:\n    z = 0\nz",
    "choice": "sqrt(x) if x > 0 else y * x",
    "and or": "1.0 if x > 0 and 1 / x > 1 or y > 2 else x * y",
    "value of or": "(x or y) * 2",
    "chain of comparisons": "x * y if -1 < x <= y else y",
    "membership": "x * y if n in (1, 3) or x in [0.5, 7.25] else y**2 if n not in range(2, 5) else y",
    "comparison with a string": "x * y if n == 'none' else y if 'none' != n else 0.0",
    "not": "y if not x else x",
    "while": "s = x\nk = 0\nwhile s < 5 and k < 20:\n    s = s * 1.5 + 1\n    k += 1\ns * y",
    "range of a column": "s = 0.0\nfor i in range(n):\n    s += x / (i + 1)\ns",
    "range from a column": "s = 0.0\nfor i in range(n, 6, 2):\n    s += x * i\ns",
    "break and continue": "s = x\nfor i in range(6):\n    if s > 3:\n        break\n    if i == n:\n        continue\n    s = s + y * i + 0.5\nelse:\n    s = -s\ns",
    "early return": "def f(a, b):\n    if a > 1:\n        return a * b\n    for i in range(3):\n        a = a + b\n        if a > 2:\n            return sin(a)\n    return b\nf(x, y) + f(y, x)",
    "recursion": "def power(a, k):\n    if k < 1:\n        return 1.0\n    return a * power(a, k - 1)\npower(x, n)",
    "closure": "def scale(a):\n    return a * x\nz = scale(y) if y > 0 else scale(2 * y)\nz",
    "mutual recursion": "def even(k):\n    return 1.0 if k == 0 else odd(k - 1)\ndef odd(k):\n    return x if k == 0 else even(k - 1)\neven(n)",
    "list": "xs = [x, y, x * y]\nsum([a**2 for a in xs])",
    "list by index of the row": "xs = [x, y, 2.0, x * y]\nxs[n % 4]",
    "constants by index of the row": "[1.0, 2.0, 4.0, 8.0][n % 4] * x",
    "tuple": "a, b = (x, y) if x > y else (y, x)\na - b**2",
    "integers": "k = n // 2 + 3 * n % 5\nx**k",
    "integer functions": "int(x) * y + round(y) + floor(x)",
    "extremes": "max(x, y, 0.5) - min(x, y)",
    "abs": "abs(x) + abs(n - 2)",
    "vector": "v = stack([x, y, 1.0])\nsum(v * v) + v[1]",
    "update of a vector": "v = stack([x, y, 1.0])\nv[0] = x * y\nv[1:] = 2 * v[1:]\nsum(v)",
    "vector result": "stack([x * y, x + y])",
    "list result": "[x * y, x]",
    "where": "where(x > 0, log(x), y)",
    "stable forms": "sqrt(x**2 + y**2) + log(1 + exp(x)) + sqrt(x + 9) - sqrt(x + 8)",
    "singular points": "abs(x) + relu(y) + maximum(x, y) + sqrt(abs(x))",
    "singular points in a loop": "s = 0.0\nfor i in range(n):\n    s += abs(x - i * 0.5) * sign(y)\ns",
    "no dependence": "3.0 if x > 0 else 2.0",
    "one side depends": "y * 2 if x > 0 else 1.0",
    "not a number": "log(x) + y",
    "division by zero": "1 / x + y",
    "assertion of all": "assert x < 100, 'large'\nx * y",
    "lambda": "f = lambda a: a**2 if a > 0 else -a\nf(x) + f(y)",
    "else of a loop": "s = 0.0\nfor i in range(3):\n    s += x\n    if s > 2:\n        break\nelse:\n    s = y\ns",
    "while with return": "def f(a):\n    while True:\n        a = a + 1.25\n        if a > 4:\n            return a * x\nf(y)",
    "nested loops": "s = 0.0\nfor i in range(n):\n    for j in range(i):\n        if x * j > 2:\n            break\n        s += x * y * j\ns",
    "top-level return": "if x > 0:\n    return x * y\ny",
    "a scan": "c, ys = scan(lambda c, a: (c + a * x, c * a), y, stack([x, y, 2.0]))\nsum(ys) * c",
    "a scan that branches": "def f(c, a):\n    if a > 0:\n        return c * a\n    return c - a\nsum(scan(f, stack([x, y, 1.0]), initializer=y))",
    "a map": "sum(map_fn(lambda t: t**3 * y, [x, y]))",
    "a vectorized map": "sum(vmap(lambda a, b: sin(a) * b * x)(stack([x, y]), stack([y, 1.0])))",
    "a map of an operation": "sum(vmap(sin)(stack([x, y])))",
    "folds": "foldl(lambda c, a: c * a + y, stack([x, y]), x) + foldr(lambda c, a: c - a * x, stack([x, y, 1.0]), 0.0)",
    "a loop that is a function": "s, k = while_loop(lambda s, k: s < 5 + x, lambda s, k: (s * 1.5 + 1, k + 1), (abs(x), 0))\ns * y + k",
    "a loop of a body that fails": "def f(s):\n    assert s != 2.5, 'no'\n    return s + 1.0\nwhile_loop(lambda s: s < 4, f, x) * y",
    "a bounded loop": "while_loop(lambda s: s < 5, lambda s: s + y, x, maximum_iterations=3)",
    "a branch that is a function": "cond(x > 0, lambda a: a * sqrt(x), lambda a: a * x, y) + cond(y > 1, 2.0, x)",
    "counted loops and cases": "fori_loop(0, 3, lambda i, s: s * y + i, x) + switch_case(1, [lambda a: a, lambda a: a * y], x)",
    "a partial function": "partial(lambda a, b: a * b**2, x)(y)",
    "a tree": "d = tree_map(lambda a, b: a * b, {'a': x, 'b': [y]}, {'a': y, 'b': [y]})\nd['a'] + d['b'][0]",
    "matrices": "A = [[x, y], [y, 2.0]]\ndet(A) + sum(A @ [x, y]) + trace(matmul(A, A))",
    "tensors of a dtype": "det(array([[2.0, x], [x, 3.0]])) * array(y) + sum(tf.constant([x, 2], dtype='float64'))",
    "an element by the place of the largest": "v = stack([x, y, 1.0])\nv[argmax(v)] * v[argmin(v)] + sum(sort(v) * [1.0, 2.0, 3.0])",
    "truths of elements": "v = stack([x, y])\nx * y if any(v > 1) else y if all(v < 0.3) else x",
    "integer or float": "s = 0\nif x > 0:\n    s = x * y\ns + 1",
}  # fmt: skip


def columns_for(text: str) -> dict[str, Any]:
    given = {"x": X, "y": Y, "n": N}
    return {name: given[name] for name in adiff.program(text).inputs}


@pytest.mark.parametrize("order", [0, 1, 2])
@pytest.mark.parametrize("name", TOGETHER)
def test_whole_columns(name: str, order: int) -> None:
    text = TOGETHER[name]
    columns = columns_for(text)
    wrt = (
        [c for c in columns if c != "n"]
        if "range" in text or "none" in text or "power" in text or "n %" in text
        else None
    )
    if order == 2 and name in ("vector result", "list result", "no dependence"):
        return
    found = same_as_rows(text, columns, order, wrt=wrt)
    assert not found.one_by_one, found.one_by_one


def same_for_generated(seed: int, rows: int, order: int, engine: str) -> Any:
    """The rows of a generated program, compared; one of them is 0."""
    text = program(seed)
    draw = np.random.default_rng(seed)
    columns: dict[str, Any] = {
        "x": np.round(draw.uniform(-2, 2, rows), 2),
        "y": np.round(draw.uniform(-2, 2, rows), 2),
        "n": draw.integers(0, 6, rows),
    }
    columns["x"][seed % rows] = 0.0
    inputs = adiff.program(text).inputs
    columns = {name: c for name, c in columns.items() if name in inputs}
    wrt = [name for name in columns if name != "n"]
    return same_as_rows(text, columns, order, wrt=wrt, at={"v": VECTOR} if "v" in inputs else {}, engine=engine)


@pytest.mark.parametrize("start", range(0, 120, 40))
def test_generated(start: int) -> None:
    alone = 0
    for seed in range(start, start + GENERATED):
        found = same_for_generated(seed, 8, 2 if seed % 5 == 0 else 1, "tape")
        alone += sum(found.one_by_one.values()) - len(found.errors)
    # What fails fails alone; a few more are not worth their columns.
    assert alone <= 0.6 * GENERATED


def test_feynman() -> None:
    for case in FEYNMAN:
        draw = random.Random(case["name"])
        base = case["points"][0][0]
        columns = {name: [v * draw.uniform(0.9, 1.1) for _ in range(3)] for name, v in zip(case["inputs"], base)}
        found = same_as_rows(case["formula"], columns)
        assert not found.one_by_one, (case["formula"], found.one_by_one)


def test_nothing_leaks_from_the_branch_not_taken() -> None:
    x = np.linspace(-3, 3, 13)
    for text in (
        "sqrt(x) if x > 0 else 0.0",
        "if x > 0:\n    y = log(x)\nelse:\n    y = x\ny",
        "x > 0 and 1 / x or 0.0",
    ):
        found = adiff.program(text).rows({"x": x}, engine="tape")
        assert np.isfinite(found.value).all()
        assert np.isfinite(found.gradients["x"]).all()
        assert not [n for n in found.notices if n.code != "N0502"], found.notices


# (program, columns, the rows that fail with the code of their error)
FAILING = [
    ("assert x > 0, 'no'\nx**2", {"x": [1.0, -1.0, 2.0, 0.0]}, {1: "E0406", 3: "E0406"}),
    ("n // k * x", {"n": [4, 5, 6], "k": [2, 0, 3], "x": [1.0, 2.0, 3.0]}, {1: "E0402"}),
    ("[x, 2 * x][n]", {"n": [0, 5, -1, -3], "x": [1.0, 2.0, 3.0, 4.0]}, {1: "E0405", 3: "E0405"}),
    ("if x > 1:\n    z = x\nz * 2", {"x": [0.0, 2.0, 3.0]}, {0: "E0408"}),
    ("s = 0.0\nfor i in range(n):\n    assert s < 5\n    s += x\ns", {"n": [1, 9, 4], "x": [2.0, 2.0, 3.0]}, {1: "E0406", 2: "E0406"}),
]  # fmt: skip


@pytest.mark.parametrize(("text", "columns", "failing"), FAILING)
def test_bad_rows(text: str, columns: dict[str, Any], failing: dict[int, str]) -> None:
    found = same_as_rows(text, columns, wrt=["x"])
    assert {row: error.code for row, error in found.errors.items()} == failing
    assert np.isnan(found.value[list(failing)]).all()
    assert np.isnan(found.gradients["x"][list(failing)]).all()


# What columns cannot do, and why; the rows are evaluated one by one all the same.
ALONE = {
    "len([x] * n) * y": "a list repeated a number of times",
    "sum(scan(lambda c, a: c + a, [stack([x, y]), stack([y, x])]))": "scan over a list of vectors",
    "sum(ones(n)) * x": "a parameter",
    "xs = [x]\nif x > 0:\n    xs.append(y)\nsum(xs)": "a list that only some of its rows change",
    "{'a': x, 'b': y}": "no list of values",
}


@pytest.mark.parametrize("text", ALONE)
def test_rows_alone(text: str) -> None:
    columns = columns_for(text)
    wrt = [c for c in columns if c != "n"]
    if "{" in text:
        found = adiff.program(text).rows(columns, wrt)
        assert found.value[0] == {"a": X[0], "b": Y[0]}
    else:
        found = same_as_rows(text, columns, wrt=wrt)
    assert any(ALONE[text] in reason for reason in found.one_by_one), found.one_by_one
    assert sum(found.one_by_one.values()) <= len(X)


PARTING = {
    "a list that some rows make longer": "xs = [1.0]\nfor i in range(4):\n    if x > i - 2:\n        xs.append(x * i)\nsum([a * a for a in xs]) * y",
    "a list that some rows make shorter": "xs = [x, y, 2.0]\nif x > y:\n    xs.pop()\nsum(xs) * xs[-1]",
    "vectors of different lengths": "v = stack([x, y]) if x > 0 else stack([x, y, 1.0])\nsum(v * v) + len(v)",
    "a dict that some rows make longer": "d = {'a': x}\nif y > 0:\n    d['b'] = x * y\nsum(list(d.values()))",
    "a number or a vector": "z = x\nif y > 0:\n    z = stack([x, y])\nsum(z * z)",
    "a variable of another function": "s = 0.0\ndef add(a):\n    xs.append(a)\n    return a\nxs = []\nif x > 0:\n    s = add(x)\ns * y + len(xs)",
}


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("text", PARTING.values(), ids=PARTING.keys())
def test_rows_that_hold_what_is_of_other_kinds_go_together_apart(text: str, order: int) -> None:
    draw = np.random.default_rng(4)
    columns = {"x": draw.uniform(-2.5, 2.5, 90), "y": draw.uniform(-1.0, 1.0, 90)}
    assert not same_as_rows(text, columns, order).one_by_one


def test_shared_lists_of_rows() -> None:
    same_as_rows(
        "xs = []\nfor i in range(n):\n    xs.append(x * i)\nsum(xs) + y", {"x": X, "y": Y, "n": N}, wrt=["x", "y"]
    )
    same_as_rows(
        "def f(a):\n    xs = [a]\n    xs.append(y)\n    return sum(xs)\nf(x) if x > 0 else f(2 * x)", {"x": X, "y": Y}
    )
    same_as_rows("xs = [x] if x > 0 else [y]\nys = xs\nxs.append(x)\nsum(ys)", {"x": X, "y": Y})


def test_integers_beyond_int64() -> None:
    found = same_as_rows("n**40 % 1000 + x", {"n": [2, 7, 10], "x": [0.5, 1.5, 2.5]}, wrt=["x"])
    assert found.value[1] == 7**40 % 1000 + 1.5


def test_many_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    from adiff.engine.rows import by_columns

    monkeypatch.setattr(by_columns, "CHUNK", 7)
    x = np.linspace(-2, 2, 50)
    n = np.arange(50) % 4
    same_as_rows(
        "s = x\nfor i in range(n):\n    assert s < 1.9\n    s = s * y if s > 0 else s - y\ns",
        {"x": x, "y": x[::-1], "n": n},
        wrt=["x", "y"],
    )


def test_columns_that_the_program_assigns_are_told() -> None:
    program = adiff.program(
        "def f(t):\n    inner = t\n    return inner\ny = x**2\nfor i in range(2):\n    y += f(i)\ny"
    )
    columns = {name: [1.0, 2.0] for name in ("x", "y", "i", "f", "inner", "other")}
    found = program.rows(columns, engine="tape")
    assert [(n.code, n.rows) for n in found.notices] == [("N0801", 2)] * 3
    assert [n.message.split("'")[1] for n in found.notices] == ["y", "i", "f"]


@pytest.mark.parametrize("engine", ["tape", "kernel"])
@pytest.mark.parametrize("order", [1, 2])
def test_truth_values_are_no_sources(engine: str, order: int) -> None:
    x, flag = np.linspace(1, 2, 8), np.arange(8) % 3 == 0
    found = adiff.program("x**2 if flag else x").rows({"x": x, "flag": flag}, ["x", "flag"], order, engine=engine)
    assert (found.engine, found.one_by_one) == (engine, {})
    assert found.gradients["flag"] is None
    assert found.gradients["x"].tolist() == np.where(flag, 2 * x, 1.0).tolist()
    assert [(n.code, n.rows) for n in found.notices] == [("N0504", 8)]
    if order == 2:
        assert found.hessian["x"]["x"].tolist() == np.where(flag, 2.0, 0.0).tolist()
        assert found.hessian["x"]["flag"] is found.hessian["flag"]["x"] is None


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
    single = adiff.program("x**2").rows({"x": np.array([1.5, 2.5], np.float32)})
    assert single.value.dtype == single.gradients["x"].dtype == np.float32
    mixed = adiff.program("x*y").rows({"x": np.float32([0.5, 2.0]), "y": np.array([0.3, 1e300])})
    assert mixed.value.tolist() == [0.15, 2e300]
    integers = adiff.program("n**2").rows({"n": [1, 2, 3]})
    assert integers.gradients["n"].tolist() == [2.0, 4.0, 6.0]


def test_vectors_in_rows() -> None:
    v = np.array([[0.5, -1.0, 2.0], [1.0, 0.0, 3.0]])
    found = same_as_rows("sum(v**2) * x + v[0] + dot(v, v) + norm(v)", {"v": v, "x": [2.0, -1.0]})
    assert found.gradients["v"].shape == (2, 3)
    assert not found.one_by_one


@pytest.mark.parametrize("engine", ["tape", "kernel", "auto"])
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
            wanted = some.gradients[a].shape[1:] + some.gradients[b].shape[1:]
            assert none.hessian[a][b].shape == (0, *wanted)
    assert program.rows({"v": np.ones((0, 3)), "y": [], "x": []}, at={"c": 2.0}, order=0).gradients is None


def test_why_the_tape_answers_is_said_as_of_a_single_evaluation() -> None:
    program = adiff.program("float(str(x)) * y")
    rows = program.rows({"x": [1.0], "y": [2.0]}, engine="kernel")
    alone = program.evaluate("grad", {"x": 1.0, "y": 2.0}, engine="kernel")
    assert rows.engine == alone.engine == "tape"
    assert rows.reason == alone.reason


def test_unconnected() -> None:
    found = adiff.program("x + 0 * y if x > 0 else 2.0").rows({"x": [-1.0, -2.0], "y": [0.0, 0.0]})
    assert found.gradients == {"x": None, "y": None}
    assert {(n.code, n.rows) for n in found.notices} == {("N0502", 2)}


def test_limits() -> None:
    slow = "s = x\nwhile True:\n    s = s * 1.0\n    if s > 5:\n        break\ns"
    found = adiff.program(slow).rows({"x": [1.0, 6.0]}, max_steps=100)
    assert {row: error.code for row, error in found.errors.items()} == {0: "E0601"}
    with pytest.raises(AdiffError) as caught:
        adiff.program(slow).rows({"x": [1.0, 6.0]}, timeout=0.3)
    assert caught.value.code == "E0603"


def test_kinks() -> None:
    found = adiff.program("abs(x)").rows({"x": [1.0, 0.0]}, kinks="error")
    assert {row: error.code for row, error in found.errors.items()} == {1: "E0501"}
    assert adiff.program("abs(x)").rows({"x": [1.0, 0.0]}, kinks="jax").gradients["x"].tolist() == [1.0, 1.0]


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


def test_an_outcome_shows_its_values() -> None:
    found = adiff.program("x + 1.0").rows({"x": [1.0, 2.0]}, engine="tape")
    assert repr(found) == "RowsOutcome(value=array([2., 3.]), engine='tape')"
    failed = adiff.program("[x, 1.0][1 // int(x)]").rows({"x": [1.0, 0.0]}, engine="tape")
    assert repr(failed).endswith("errors in 1 rows)")


@pytest.mark.parametrize("engine", ["tape", "kernel", "auto"])
@pytest.mark.parametrize("order", [1, 2])
def test_strings_and_truth_values_are_no_sources(engine: str, order: int) -> None:
    """Nobody differentiates by them unless they are named, and then there is a notice, as of a single evaluation."""
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


@pytest.mark.parametrize("engine", ["tape", "kernel"])
def test_why_nothing_depends_on_a_source_is_found_in_any_row(engine: str) -> None:
    """In one row of many a path ends; in the others there is none."""
    count = 50_000
    columns = {"x": np.full(count, 3.0), "y": np.where(np.arange(count) == 41_234, 6.0, 1.0)}
    found = adiff.program("z = y\nif y > 5:\n    z = y*int(x)\nz").rows(columns, ["x", "y"], engine=engine)
    assert (found.engine, found.gradients["x"]) == (engine, None)
    assert [(n.code, "path from the source ends at" in n.message, n.rows) for n in found.notices] == [
        ("N0502", True, count)
    ]


@pytest.mark.parametrize("order", [0, 1, 2])
@pytest.mark.parametrize(
    "text",
    ["max(v)*x", "min(v)**2*x", "reduce_max(v*x)", "amin(v) + x", "max(x)*x", "v.max()*x", "max(v, axis=0)*x", "sum(min(v, keepdims=True))*x",
     "z = x\nif x > 0.7:\n    z = max(v)*x\nz*x", "grad(lambda u: max(u)*x)(v)[0]*x"],
)  # fmt: skip
def test_largest_and_smallest_elements_of_vectors(text: str, order: int) -> None:
    """Ties share the derivative, and are told; nan is the largest and the smallest."""
    v = np.array([[1.0, 2.0, 3.0], [3.0, 3.0, 1.0], [0.0, 0.0, 0.0], [-1.0, 5.0, -1.0], [np.nan, 1.0, 2.0]])
    columns = {"v": v, "x": np.array([0.5, 1.5, -2.0, 1.0, 2.0])}
    columns = {name: columns[name] for name in adiff.program(text).inputs}
    found = same_as_rows(text, columns, order)
    assert not found.one_by_one


def test_lists_as_directions() -> None:
    text = "sum(hvp(lambda t: sum(t**3), array([x, 2.0 * x]), %s))"
    found = adiff.program(text % "[2.0]").rows({"x": [0.3, 0.4]})
    assert {row: error.code for row, error in found.errors.items()} == {0: "E0302", 1: "E0302"}
    found = adiff.program(text % "[2.0, x]").rows({"x": [0.3, 0.4]}, engine="tape")
    np.testing.assert_allclose(found.value, [6 * 0.3 * 2 + 12 * 0.3 * 0.3, 6 * 0.4 * 2 + 12 * 0.4 * 0.4], rtol=1e-14)
    assert not found.one_by_one
