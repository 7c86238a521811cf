"""`Program.rows` in a compiled loop: what it gives is what `evaluate` gives row by row on the tape.

Most loops run as the Python that they are, without Numba; a few are compiled.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any

import adiff
import numpy as np
import pytest
from adiff import AdiffError
from adiff.engine.rows import by_columns, run, workers
from one_by_one import same_as_rows
from test_columns import FAILING, GENERATED, TOGETHER, VECTOR, X, Y, columns_for, same_for_generated

BLACK_SCHOLES = """
d1 = (log(S / K) + (r + v**2 / 2) * T) / (v * sqrt(T))
d2 = d1 - v * sqrt(T)
S * ndtr(d1) - K * exp(-r * T) * ndtr(d2)
"""


def options(n: int, seed: int = 0) -> dict[str, Any]:
    draw = np.random.default_rng(seed)
    low, high = [50, 50, 0.1, 0.0, 0.1], [150, 150, 2.0, 0.1, 0.5]
    return {name: draw.uniform(a, b, n) for name, a, b in zip("SKTrv", low, high)}


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize("order", [0, 1, 2])
@pytest.mark.parametrize("name", TOGETHER)
def test_loop(name: str, order: int) -> None:
    text = TOGETHER[name]
    columns = columns_for(text)
    wrt = [c for c in columns if c != "n"] if "range" in text or "power" in text or "n %" in text else None
    if order == 2 and name in ("vector result", "list result", "no dependence"):
        return
    same_as_rows(text, columns, order, wrt=wrt, engine="kernel")


@pytest.mark.usefixtures("interpret")
def test_most_programs_have_a_loop() -> None:
    left = {}
    for name, text in TOGETHER.items():
        columns = columns_for(text)
        found = adiff.program(text).rows(columns, [c for c in columns if c != "n"], engine="kernel")
        if found.engine == "tape":
            left[name] = found.reason
    assert len(left) <= len(TOGETHER) // 4, left


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize("start", [200, 240])
def test_generated(start: int) -> None:
    loops = 0
    for seed in range(start, start + GENERATED):
        found = same_for_generated(seed, 6, 2 if seed % 8 == 0 else 1, "kernel")
        loops += found.engine == "kernel"
    assert loops >= 0.75 * GENERATED


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize(("text", "columns", "failing"), FAILING)
def test_bad_rows(text: str, columns: dict[str, Any], failing: dict[int, str]) -> None:
    found = same_as_rows(text, columns, wrt=["x"], engine="kernel")
    assert {row: error.code for row, error in found.errors.items()} == failing


@pytest.mark.usefixtures("interpret")
def test_flags_and_vectors() -> None:
    flags = same_as_rows("x * 2 if flag else x", {"x": [1.0, -2.0], "flag": [True, False]}, wrt=["x"], engine="kernel")
    assert flags.engine == "kernel"
    v = np.array([[0.5, -1.0, 2.0], [1.0, 0.0, 3.0]])
    vectors = same_as_rows("sum(v**2) * x + v[0]", {"v": v, "x": [2.0, -1.0]}, engine="kernel")
    assert vectors.engine == "kernel"
    assert vectors.gradients["v"].shape == (2, 3)
    result = same_as_rows("stack([x * y, x + y])", {"x": [1.0, 2.0], "y": [3.0, 4.0]}, engine="kernel")
    assert result.engine == "kernel"
    assert result.value.shape == (2, 2)


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize(
    ("text", "x", "y"),
    [
        ("x if y > 0 else y", [1.0, 2.0, 3.0], [-math.inf, 2.0, -1.0]),
        ("x if isnan(y) else y", [-1.0], [-math.inf]),  # the tape's row alone, on which x does not occur
    ],
)
def test_rows_that_the_tape_evaluates_anew_beside_others(text: str, x: list[float], y: list[float]) -> None:
    """Derivatives by an input that does not occur there are 0, in tables without a row where it does None; of second order too."""
    found = {}
    for engine in ("tape", "kernel"):
        outcome = adiff.program(text).rows({"x": x, "y": y}, order=2, engine=engine)
        blocks = [outcome.hessian[a][b] for a in "xy" for b in "xy"]
        parts = [outcome.value, *outcome.gradients.values(), *blocks]
        found[engine] = [None if part is None else np.asarray(part).tolist() for part in parts]
    assert repr(found["kernel"]) == repr(found["tape"])


def test_constants_that_are_sources() -> None:
    found = adiff.program("a * x**2 + b").rows({"x": [1.0, 2.0]}, ["a", "x"], at={"a": 3.0, "b": 1.0}, engine="kernel")
    assert found.engine == "kernel"
    assert found.gradients["a"].tolist() == [1.0, 4.0]


def test_compiled() -> None:
    """Machine code, on threads, with rows that it leaves to the tape."""
    n = 5_000
    columns = options(n)
    columns["T"][[7, 4_000]] = 0.0
    columns["K"][4_999] = -1.0
    program = adiff.program(BLACK_SCHOLES)
    loop = program.rows(columns, engine="kernel")
    tape = program.rows(columns, engine="tape")
    assert loop.engine == "kernel"
    assert "for row in range(first, last):" in loop.emitted
    assert np.allclose(loop.value, tape.value, rtol=1e-12, atol=1e-12, equal_nan=True)
    for name in columns:
        assert np.allclose(loop.gradients[name], tape.gradients[name], rtol=1e-11, atol=1e-11, equal_nan=True)
    assert sorted(map(repr, loop.notices)) == sorted(map(repr, tape.notices))
    assert not np.isfinite(loop.value[4_999])


def test_compiled_with_memory_and_errors() -> None:
    """Stored heads of loops in every thread's own memory; rows that fail in the middle of a block."""
    text = "s = x\nfor i in range(n):\n    s = sin(s) * y + xs[i]\ns"
    n = np.arange(3_000) % 7
    columns = {"x": np.linspace(-2, 2, 3_000), "y": np.linspace(1, 2, 3_000), "n": n}
    program = adiff.program(text)
    at = {"xs": VECTOR}
    loop = program.rows(columns, ["x", "y"], engine="kernel", at=at)
    tape = program.rows(columns, ["x", "y"], engine="tape", at=at)
    assert loop.engine == "kernel"
    assert set(loop.errors) == set(tape.errors) == set(np.flatnonzero(n > 4).tolist())
    assert np.allclose(loop.value, tape.value, rtol=1e-13, equal_nan=True)
    assert np.allclose(loop.gradients["y"], tape.gradients["y"], rtol=1e-11, atol=1e-13, equal_nan=True)


def test_rows_that_fail_cost_no_more() -> None:
    """Where a compiled loop says why it left a row, that is the row's error: no tape looks at it again."""
    text = 's = 0.0\nfor i in range(3):\n    s = s + xs[i + k] * y\nassert y > -0.5, "too low"\ns'
    columns = {"y": np.linspace(-1, 1, 400), "k": np.arange(400) % 4}
    program = adiff.program(text)
    loop = program.rows(columns, ["y"], engine="kernel", at={"xs": VECTOR})
    tape = program.rows(columns, ["y"], engine="tape", at={"xs": VECTOR})
    assert loop.one_by_one == {}
    assert {error.code for error in loop.errors.values()} == {"E0405", "E0406"}
    assert [(row, repr(error), repr(error.span)) for row, error in loop.errors.items()] == [
        (row, repr(error), repr(error.span)) for row, error in tape.errors.items()
    ]
    assert np.allclose(loop.value, tape.value, rtol=1e-13, equal_nan=True)
    assert np.allclose(loop.gradients["y"], tape.gradients["y"], rtol=1e-13, equal_nan=True)
    nobody = program.rows({"y": [-1.0, -2.0], "k": [0, 0]}, ["y"], engine="kernel", at={"xs": VECTOR})
    assert (nobody.engine, sorted(nobody.errors)) == ("kernel", [0, 1])
    assert np.isnan(nobody.value).all()
    assert np.isnan(nobody.gradients["y"]).all()


@pytest.mark.usefixtures("interpret")
def test_constants_that_decide_shapes() -> None:
    found = adiff.program("sum(ones(k)) * x").rows({"x": [1.0, 2.0]}, at={"k": 3}, engine="kernel")
    assert found.engine == "kernel"
    assert found.value.tolist() == [3.0, 6.0]


def test_time_limit() -> None:
    """A row whose loop does not end is stopped where it is, on every thread."""
    program = adiff.program("s = x\nwhile s > 0:\n    s = s + 1.0\n    if s > 1e6:\n        s = 1.0\ns")
    x = np.full(9_000, -1.0)
    assert program.rows({"x": x}, engine="kernel").engine == "kernel"
    x[[10, 8_000]] = 1.0
    with pytest.raises(AdiffError) as caught:
        program.rows({"x": x}, engine="kernel", timeout=0.5)
    assert caught.value.code == "E0603"


LONG_ROWS = "s = x\nfor i in range(1000000):\n    s = sin(s) * x\ns"


def test_long_rows_are_stopped(strikes: Callable[[Callable[[], Any]], None]) -> None:
    """Rows of a million iterations each, whose number is known: a time limit and Ctrl-C end them in the middle."""
    program = adiff.program(LONG_ROWS)
    x = np.linspace(0.5, 2.0, 20_000)  # minutes
    assert program.rows({"x": x[:1]}, engine="kernel").engine == "kernel"
    start = time.perf_counter()
    with pytest.raises(AdiffError) as caught:
        program.rows({"x": x}, engine="kernel", timeout=0.3, max_memory=100 << 20)
    assert caught.value.code == "E0603"
    strikes(lambda: program.rows({"x": x}, engine="kernel"))
    assert time.perf_counter() - start < 20


@pytest.mark.parametrize(("statements", "rows"), [(5.0, 4_096), (1e4, 2_000), (1e9, 1), (math.inf, 1)])
def test_first_blocks_are_as_large_as_their_rows_are_short(statements: float, rows: int) -> None:
    assert workers.first_block(statements) == rows


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize(("iterations", "asked"), [(3, 0), (100, 0), (1_000, 1)])
def test_rows_that_ask_whether_to_go_on(iterations: int, asked: int) -> None:
    """Between two rows, where that costs nothing beside the row."""
    text = LONG_ROWS.replace("1000000", str(iterations))
    found = adiff.program(text).rows({"x": [0.5]}, order=0, engine="kernel")
    assert found.emitted.count("poll(run") == asked


def test_choosing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few rows stay on the tape; a loop that is there takes over after what the tape is measured by."""
    program = adiff.program("x**2 * exp(y)")
    few = program.rows({"x": [1.0, 2.0], "y": [0.5, 1.0]})
    assert few.engine == "tape"
    n = 5_000
    columns = {"x": np.linspace(0, 1, n), "y": np.linspace(1, 2, n)}
    assert program.rows(columns).engine == "tape"
    monkeypatch.setattr(run.Run, "repaid", lambda self, left: True)
    many = program.rows(columns)
    assert many.engine == "kernel"
    assert np.allclose(many.gradients["x"], 2 * columns["x"] * np.exp(columns["y"]), rtol=1e-14)
    assert np.allclose(many.value, columns["x"] ** 2 * np.exp(columns["y"]), rtol=1e-14)


def test_worthwhile() -> None:
    from adiff.engine.kernels.work import loop_worthwhile

    assert loop_worthwhile(left=10.0, spent=0.0, ready=2.0)
    assert not loop_worthwhile(left=1.0, spent=0.0, ready=2.0)
    assert loop_worthwhile(left=1.0, spent=4.0, ready=2.0)
    assert not loop_worthwhile(left=0.001, spent=4.0, ready=2.0)
    assert loop_worthwhile(left=0.1, spent=0.0, ready=0.04)


PARTLY = "xs=[1.0,2.0,3.0,4.0]\nt=0.0\nfor i in range(k):\n    t+=xs[i]\n    if k>100:\n        t+=x\nt"


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize("left_over", [0.0, 1.0, math.nan])
def test_no_gradient_whatever_the_memory_of_failed_rows_held(left_over: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(np, "empty", lambda *given, **named: np.full(given[0], left_over, *given[1:], **named))
    k = np.full(300, 3)
    k[5] = 9
    found = adiff.program(PARTLY).rows({"x": np.linspace(0, 1, 300), "k": k}, ["x"], engine="kernel")
    assert list(found.errors) == [5]
    assert found.gradients == {"x": None}


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize("engine", ["tape", "kernel"])
def test_gradients_where_every_row_fails(engine: str) -> None:
    columns = {"x": np.ones((4, 3)), "k": np.full(4, 9)}
    found = adiff.program("ys=[1.0,2.0]\nsum(x)*ys[k]").rows(columns, ["x"], engine=engine)
    assert sorted(found.errors) == [0, 1, 2, 3]
    assert found.gradients is not None
    assert found.gradients["x"].shape == (4, 3)
    assert np.isnan(found.gradients["x"]).all()


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize(
    "text", ["s = sin(x)\ns if x > y else s * 2", "s = sin(x)\nq = y\ns", "x**2 * stop_gradient(y)", "x**2 * int(y)"]
)
def test_inputs_that_the_result_does_not_depend_on(text: str, order: int) -> None:
    """They need no tape: the loop answers for the others, and a row alone says why they have no gradient."""
    columns = {"x": np.array(X) + 2.25, "y": np.array(Y) + 0.25}
    loop = same_as_rows(text, columns, order, engine="kernel")
    tape = adiff.program(text).rows(columns, order=order, engine="tape")
    assert loop.engine == "kernel"
    assert loop.gradients["y"] is None
    places = [[(n.code, n.rows, n.span and n.span.start) for n in found.notices] for found in (loop, tape)]
    assert places[0] == places[1]
    assert [n.code for n in loop.notices] == ["N0502"]


HESSIANS = {
    "vector": "s = v[0]\nfor i in range(3):\n    s = sin(s) * v[1]\ns",
    "vectors and a number": "s = y\nfor i in range(2):\n    s = sin(s) * v[1] * v[0] + w[2] * s\ns * w[0]",
    "vector that is not reached": "sin(y) * v[1] * v[0] if w[0] > 0 else y * v[1]**3",
    "matrix": "sum((m @ m)**2) * y",
    "linear": "3 * y + sum(v)",
}


CHOSEN = "k = 1.0 if (x if y > 0 else 0.5) > 0.2 else 2.0\nk"


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("count", [4, 250])
@pytest.mark.parametrize("engine", ["tape", "kernel"])
def test_why_no_row_depends_on_an_input_is_said_of_all_rows(
    order: int, count: int, engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first row does not use x, nor do those of the last chunk."""
    monkeypatch.setattr(by_columns, "CHUNK", 50)
    y = np.ones(count)
    y[0] = y[-count // 5 :] = -1.0
    found = adiff.program(CHOSEN).rows({"x": np.linspace(0.0, 1.0, count), "y": y}, order=order, engine=engine)
    assert found.engine == engine
    assert [(n.code, n.message.split(",")[0], n.rows) for n in found.notices] == [
        ("N0502", f"{name}: the gradient is None: the path from the source ends at greater", count) for name in "xy"
    ]


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("(x, n)", "has shape [2]"), ("((x,), (n,))", "is a tuple and no tensor"), ("[[x], [n]]", "is a list and no tensor"),
        ("(((x,),),)", "is a tuple and no tensor"), ("[x]", "has shape [1]"),
    ],
)  # fmt: skip
def test_results_with_parts_are_noted_as_those_of_single_rows(text: str, what: str) -> None:
    columns = {"x": [1.0, 2.0], "n": [1, 2]}
    said = [f"the result {what}: its elements are summed for the gradient"]
    program = adiff.program(text)
    for engine in ("tape", "kernel"):
        rows = program.rows({name: columns[name] for name in program.inputs}, engine=engine)
        alone = program.evaluate("grad", {name: columns[name][0] for name in program.inputs}, engine="tape")
        assert [n.message for n in rows.notices] == [n.message for n in alone.notices] == said


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize("name", HESSIANS)
def test_hessians_by_vectors(name: str) -> None:
    draw = np.random.default_rng(7)
    shapes = {"v": (4, 2), "w": (4, 3), "y": (4,), "m": (4, 2, 2)}
    program = adiff.program(HESSIANS[name])
    columns = {key: draw.uniform(0.2, 1.5, shapes[key]) for key in program.inputs}
    loop, tape = (program.rows(columns, order=2, engine=engine) for engine in ("kernel", "tape"))
    assert (loop.engine, loop.one_by_one) == ("kernel", {})
    for a in columns:
        for b in columns:
            mine, other = loop.hessian[a][b], tape.hessian[a][b]
            assert (mine is None) == (other is None)
            assert mine is None or mine.shape == other.shape == (4, *shapes[a][1:], *shapes[b][1:])
            assert mine is None or np.allclose(mine, other, rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize("order", [1, 2])
def test_derivatives_by_float32_are_of_float32(order: int) -> None:
    columns = {"v": np.array([[0.5, 1.5], [2.0, 0.25]], np.float32), "y": np.array([1.0, 3.0], np.float32)}
    program = adiff.program("v[0] * v[1]**2 * y")
    loop, tape = (program.rows(columns, order=order, engine=engine) for engine in ("kernel", "tape"))
    assert loop.engine == "kernel"
    for name in columns:
        assert loop.gradients[name].dtype == tape.gradients[name].dtype == np.float32
        for block, other in zip(
            (loop.hessian or {}).get(name, {}).values(), (tape.hessian or {}).get(name, {}).values()
        ):
            assert block.dtype == other.dtype == np.float32


def test_rows_one_by_one_say_at_once_what_the_others_take(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where columns are no help, the first rows alone decide: the next thousand would take as long as a compiler."""
    monkeypatch.setattr(run, "WARMING", 4)
    asked = []
    monkeypatch.setattr(run.Run, "repaid", lambda self, left: asked.append(left) or None)
    adiff.program("vander(v)").rows({"v": np.ones((8, 2))})
    adiff.program("x * x").rows({"x": np.ones(8)}, order=2)
    assert len(asked) == 1


@pytest.mark.usefixtures("interpret")
def test_where_every_row_fails_nobody_knows_the_shape_of_a_value() -> None:
    text = "w = v*2\nassert x > 10\nw*x"
    columns = {"x": np.array([1.0, 2.0, 3.0]), "v": np.ones((3, 2))}
    for engine in ("tape", "kernel"):
        found = adiff.program(text).rows(columns, engine=engine)
        assert (found.engine, sorted(found.errors)) == (engine, [0, 1, 2])
        assert found.value.shape == (3,)
        assert np.isnan(found.value).all()
        assert found.gradients["v"].shape == (3, 2)


LOOP = "s = x\nfor i in range(n):\n    s = s*0.5 + x\n"
LEFT = LOOP + "    if s > 9:\n        break\n"


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize(("text", "n"), [(LOOP, 3_000), (LEFT, 30_000)])
def test_a_text_that_promises_much_is_compiled_before_the_tape_begins(
    text: str, n: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    columns = {"x": [0.5, 0.25]}
    assert adiff.program(text + "s").rows(columns, at={"n": 2}).engine == "tape"
    monkeypatch.setattr(by_columns.ByColumns, "run", None)  # the tape would fail
    found = adiff.program(text + "s").rows(columns, at={"n": n})
    assert (found.engine, found.reason) == ("kernel", "enough work to repay the compiler")
