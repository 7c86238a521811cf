"""Kernels called directly: evaluations at points alike answer as evaluations as a whole do, and do less."""

from __future__ import annotations

import time
from typing import Any

import adiff
import numpy as np
import pytest
from adiff.engine import direct
from adiff.engine.kernels.compilation import compiler

X = np.array([0.5, -1.5, 2.0])
SCALAR = "y = 0.0\nfor v in x:\n    y += v**3 * b + sin(v * c)\ny"
TENSOR = "sin(x * b) + c * x[::-1]"
POINT = {"x": X, "b": 0.5, "c": 2}
OTHER = {"x": 2.0 - X, "b": -1.25, "c": 3}
ATTRIBUTES = (
    "value", "gradients", "jacobian", "hessian", "tangent", "cotangents", "product", "types", "engine", "reason", "mode",
    "emitted",
)  # fmt: skip

# Command, program, sources, options.
CASES: dict[str, tuple[str, str, list[str] | None, dict[str, Any]]] = {
    "value": ("value", SCALAR, None, {}),
    "value of a tensor": ("value", TENSOR, None, {}),
    "grad": ("grad", SCALAR, ["x", "b"], {}),
    "grad of a tensor": ("grad", TENSOR, ["x", "b"], {}),
    "hessian by one": ("hessian", SCALAR, ["x"], {}),
    "hessian by three": ("hessian", SCALAR, None, {}),
    "jvp": ("jvp", SCALAR, None, {"tangent": {"x": np.array([1.0, 0.0, -1.0]), "b": 2.0}}),
    "jvp of a tensor": ("jvp", TENSOR, None, {"tangent": {"c": 1}}),
    "vjp": ("vjp", SCALAR, ["b", "x"], {}),
    "vjp of a tensor": ("vjp", TENSOR, ["x"], {"cotangent": np.array([1.0, 0.0, 3.0])}),
    "vjp of a tensor, by ones": ("vjp", TENSOR, ["x", "b"], {}),
    "hvp": ("hvp", SCALAR, ["x", "b"], {"vector": {"x": np.array([1.0, 2.0, 3.0]), "b": -1.0}}),
    "jacobian forward": ("jacobian", TENSOR, ["x", "b"], {"mode": "forward"}),
    "jacobian reverse": ("jacobian", TENSOR, ["x", "b"], {"mode": "reverse"}),
}


def same(a: Any, b: Any) -> bool:
    if a.__class__ is dict:
        return list(a) == list(b) and all(same(a[name], b[name]) for name in a)
    if a.__class__ is not np.ndarray:
        return a.__class__ is b.__class__ and bool(a == b)
    return a.shape == b.shape and bool(np.array_equal(a, b))


def evaluate_in_full(program: Any, command: str, at: Any, wrt: Any, options: Any) -> Any:
    """As the first evaluation of a program that nobody has asked before."""
    return adiff.program(program.source.text).evaluate(command, at, wrt, **options)


@pytest.mark.parametrize("name", CASES)
def test_answers_are_those_of_an_evaluation_as_a_whole(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    command, text, wrt, options = CASES[name]
    program = adiff.program(text)
    options = {**options, "engine": "kernel"}
    for _ in range(2):
        assert program.evaluate(command, POINT, wrt, **options).engine == "kernel"
    expected = [evaluate_in_full(program, command, at, wrt, options) for at in (POINT, OTHER)]

    def refuse(*arguments: Any) -> Any:
        raise AssertionError("an evaluation as a whole")

    monkeypatch.setattr(program, "_evaluate", refuse)
    for at, wanted in zip((POINT, OTHER), expected):
        found = program.evaluate(command, at, wrt, **options)
        for attribute in ATTRIBUTES:
            assert same(getattr(found, attribute), getattr(wanted, attribute)), attribute
        assert [(n.code, n.message) for n in found.notices] == [(n.code, n.message) for n in wanted.notices]
        assert set(found.timings) == set(wanted.timings)


def test_directions_are_those_of_each_call() -> None:
    program = adiff.program("sum(x**3)")
    for direction in (1.0, 2.0, 3.0, 4.0):
        _, tangent = program.jvp({"x": X}, {"x": np.array([direction, 0.0, 1.0])}, engine="kernel")
        assert tangent == pytest.approx(direction * 3 * 0.25 + 12.0, rel=1e-15)
    # One that is a bare number, and one for an input that is none.
    _, tangent = program.jvp({"x": X}, {"x": 1.0}, engine="kernel")
    assert tangent == pytest.approx(float(np.sum(3 * X**2)), rel=1e-15)
    with pytest.raises(adiff.AdiffError, match="'z' is not an input"):
        program.jvp({"x": X}, {"z": 1.0}, engine="kernel")


DIFFERENT: dict[str, dict[str, Any]] = {
    "other sources": {"wrt": ["b"]},
    "the sources as a text": {"wrt": "x"},
    "another engine": {"engine": "tape"},
    "another option": {"kinks": "jax"},
    "a limit": {"max_memory": 10**9},
    "no such option": {"speed": 3},
    "a list for a point": {"at": [1, 2, 3]},
    "a name less": {"at": {"x": X, "b": 0.5}},
}


@pytest.mark.parametrize("name", DIFFERENT)
def test_what_is_asked_otherwise_is_looked_at(name: str) -> None:
    """Whatever was asked before, the answer, or the error, is that of a program that nobody has asked."""

    def ask(program: adiff.Program) -> Any:
        arguments = {"at": POINT, "wrt": ["x"], "engine": "kernel", **DIFFERENT[name]}
        try:
            outcome = program.evaluate("grad", **arguments)
        except adiff.AdiffError as error:
            return error.code, error.message
        return outcome.engine, outcome.gradients

    program = adiff.program(SCALAR)
    for _ in range(3):
        program.evaluate("grad", POINT, ["x"], engine="kernel")
    assert "grad" in program.direct
    found, expected = ask(program), ask(adiff.program(SCALAR))
    assert found[0] == expected[0]
    assert same(found[1], expected[1]) if expected[1].__class__ is dict else found[1] == expected[1]


@pytest.mark.parametrize("name", CASES)
def test_answers_through_a_door_are_those_of_an_evaluation_as_a_whole(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Machine code takes over when a kernel has been called often; what it gives is the same, and nobody shares it."""
    monkeypatch.setattr(direct, "DOOR_CALLS", 1)
    command, text, wrt, options = CASES[name]
    program = adiff.program(text)
    options = {**options, "engine": "kernel"}
    repeated = program.repeated(command, POINT, wrt, **options)
    for _ in range(2):
        repeated(POINT)
    way = repeated.direct
    assert way is not None
    assert way.door is not None
    monkeypatch.setattr(way, "through_python", None)  # what the door does not take would be an error
    points = [{**OTHER, "c": POINT["c"], "b": b} for b in (0.25, -0.75)] + [POINT]
    if "c" in (wrt or ["c"]) and command != "value":
        points.append(OTHER)  # an integer that bounds no loop, and is differentiated, may be any
    held = [(repeated(point), evaluate_in_full(program, command, point, wrt, options)) for point in points]
    for found, expected in held:
        for attribute in ATTRIBUTES:
            assert same(getattr(found, attribute), getattr(expected, attribute)), attribute
        assert found.timings.keys() == expected.timings.keys()


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("[2 * x, sum(y)]", {"x": 2.0, "y": X}),  # a list, and not an array
        ("print(x)\nx**2", {"x": 2.0}),
    ],
)
def test_results_that_are_put_together_are_so_each_time(text: str, at: dict[str, Any]) -> None:
    program = adiff.program(text)
    for _ in range(4):
        outcome = program.evaluate("value", at, engine="kernel")
        assert outcome.engine == "kernel"
        assert outcome.value == ([4.0, 1.0] if text[0] == "[" else 4.0)
    assert not program.direct
    assert program.repeated("value", at, engine="kernel").direct is None


def test_what_a_program_prints_is_printed_each_time() -> None:
    program = adiff.program("print(x)\nx**2")
    lines: list[str] = []
    for _ in range(4):
        program.evaluate("grad", {"x": 2.0}, engine="kernel", write=lines.append)
    assert lines == ["2.0\n"] * 4


def test_an_evaluation_inside_another_is_refused_as_ever() -> None:
    inner, outer = adiff.program("x**2"), adiff.program("print(x)\nx")
    for _ in range(3):
        inner.evaluate("grad", {"x": 2.0}, engine="kernel")
    assert "grad" in inner.direct
    codes: list[str] = []

    def write(text: str) -> None:
        try:
            inner.evaluate("grad", {"x": 2.0}, engine="kernel")
        except adiff.AdiffError as error:
            codes.append(error.code)

    outer.evaluate("value", {"x": 1.0}, engine="tape", write=write)
    assert codes == ["E0811"]


def test_a_singular_point_and_an_overflow_have_their_notices() -> None:
    program = adiff.program("y = 0.0\nfor v in x:\n    y += abs(v) * exp(v)\ny")
    for _ in range(3):
        assert not program.evaluate("hessian", {"x": X}, engine="kernel").notices
    for point in ([0.0, 1.0, 2.0], [1.0, 800.0, 2.0]):
        at = {"x": np.array(point)}
        found, expected = (
            p.evaluate("hessian", at, engine="kernel") for p in (program, adiff.program(program.source.text))
        )
        assert [n.code for n in found.notices] == [n.code for n in expected.notices] != []
        np.testing.assert_array_equal(found.hessian["x"]["x"], expected.hessian["x"]["x"])


def test_what_waits_for_the_next_call_is_no_result_of_the_last_one() -> None:
    """Large results are written again only where nobody holds them."""
    program = adiff.program("sum(x**4)")
    held = [program.hessian({"x": np.full(100, float(k))}, engine="kernel")["x"]["x"] for k in range(5)]
    for k, found in enumerate(held):
        np.testing.assert_array_equal(found, np.diag(np.full(100, 12.0 * k * k)))


def test_points_of_two_kinds_in_turn() -> None:
    """The way that is known gives way to one for the points that are asked for."""
    program = adiff.program("sum(x**3)")
    for k in range(9):
        x = np.arange(1.0, 4.0 + k % 2)
        np.testing.assert_array_equal(program.hessian({"x": x}, engine="kernel")["x"]["x"], np.diag(6 * x))


OF_INTEGERS = ["x*x % 10", "x // 2", "x*2", "x**2", "2**x", "-x", "x % 3", "abs(x)", "(x*x*x) // 7", "x*x % 10 > 8.5"]


@pytest.mark.parametrize("text", OF_INTEGERS)
@pytest.mark.parametrize("last", [5, 0, 94906267])
def test_an_integer_after_floats_is_an_integer(text: str, last: int) -> None:
    if text == "2**x" and last > 1000:
        return  # an error of its own
    fresh = adiff.program(text).evaluate("value", {"x": last}, engine="tape")
    program = adiff.program(text)
    for x in (3.0, 5.0, 6.5, last):
        found = program.evaluate("value", {"x": x}, engine="kernel")
    assert (repr(found.value), found.types) == (repr(fresh.value), fresh.types)


def test_an_integer_after_floats_beside_what_is_differentiated() -> None:
    text = "y*(x*x % 10)"
    program = adiff.program(text)
    repeated = program.repeated("grad", {"x": 3.0, "y": 1.5}, ["y"], engine="kernel")
    for x in (3.0, 5.0, 94906267):
        found = [program.evaluate("grad", {"x": x, "y": 1.5}, ["y"], engine="kernel"), repeated({"x": x, "y": 1.5})]
    for outcome in found:
        assert (outcome.value, outcome.gradients) == (13.5, {"y": 9.0})


@pytest.mark.parametrize(
    ("command", "stage"), [("value", "forward"), ("grad", "derivative"), ("hessian", "derivative")]
)
def test_what_compiles_a_kernel_is_no_part_of_its_run(
    command: str, stage: str, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ADIFF_CACHE_DIR", str(tmp_path))
    compile_source, now = compiler.compile_source, 0.0

    def slowly(emitted: Any) -> Any:
        nonlocal now
        now += 10.0
        return compile_source(emitted)

    monkeypatch.setattr(compiler, "compile_source", slowly)
    monkeypatch.setattr(time, "perf_counter", lambda: now)  # by this clock nothing else takes time
    outcome = adiff.program("y = x\nfor i in range(9):\n    y = sin(y) * x\ny").evaluate(
        command, {"x": 0.7}, engine="kernel"
    )
    timings = outcome.timings
    assert outcome.engine == "kernel"
    assert sum(timings.values()) == timings["compile"] >= 10.0
    assert timings[stage] == 0.0
