"""Element writes change a tensor in place only where nobody could see it."""

import os
import random
from typing import Any

import adiff
import numpy as np
import pytest
from adiff.engine.core.tensor import Tensor
from adiff.engine.eager import targets

CASES = {
    "one variable": ("y = zeros(3)\ny[0] = 5.0\ny[1] = 1.0\nsum(y)", 6.0),
    "an alias keeps the old value": ("y = zeros(3)\nz = y\ny[0] = 5.0\ny[1] = 1.0\n[sum(y), sum(z)]", [6.0, 0.0]),
    "a list keeps the old value": ("y = zeros(3)\nl = [y]\ny[0] = 5.0\ny[1] = 1.0\nl.append(y)\ny[2] = 7.0\n[sum(y), sum(l[0]), sum(l[1])]", [13.0, 0.0, 6.0]),
    "a caller keeps its own": ("def f(v):\n    v[0] = 9.0\n    v[1] = 2.0\n    return sum(v)\ny = zeros(3)\ny[1] = 1.0\na = f(y)\n[a, sum(y)]", [11.0, 1.0]),
    "a closure sees the update": ("y = zeros(2)\ng = lambda: sum(y)\ny[0] = 3.0\ny[1] = 4.0\ng()", 7.0),
}  # fmt: skip


@pytest.mark.parametrize(("text", "wanted"), CASES.values(), ids=CASES)
def test_values(text: str, wanted: object) -> None:
    assert np.array_equal(adiff.program(text).value(engine="tape"), wanted)


def test_an_array_of_the_caller_is_never_written() -> None:
    mine = np.arange(3.0)
    assert adiff.program("y[0] = 5.0\ny[1] = 7.0\nsum(y)").value({"y": mine}, engine="tape") == 14.0
    assert mine.tolist() == [0.0, 1.0, 2.0]


@pytest.mark.parametrize(
    ("command", "options"),
    [("value", {}), ("grad", {}), ("hessian", {})],
)
def test_a_loop_of_writes_is_linear(command: str, options: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """However many elements are written, so many tensors of all of them are made: no copy for each write or cotangent."""
    program = adiff.program(
        "y = zeros(n)\ny[0] = x\nfor i in range(1, n):\n    y[i] = y[i - 1]*0.9 + x*z\n    y[i] += y[i - 1]*0.1\nsum(y*y)"
    )
    made = 0

    def whole(n: int) -> int:
        nonlocal made
        made = 0

        def counting(self: Tensor, value: Any, *others: Any) -> None:
            nonlocal made
            made += np.size(value) == n
            original(self, value, *others)

        with monkeypatch.context() as patch:
            patch.setattr(Tensor, "__init__", counting)
            at = {"x": 2.0, "z": 0.5, "n": n}
            program.evaluate(command, at, None if command == "value" else ["x", "z"], engine="tape", **options)
        return made

    original = Tensor.__init__
    assert 0 < whole(20) == whole(40)


STATEMENTS = (
    "y[{i}] = sin(x*{k}) * y[{j}]", "y[{i}] += z*x + y[{j}]", "y[{i}] = {k}", "y[{i}] = y[{j}]", "u = y",
    "u[{i}] = z*y[{j}]", "y = u", "kept.append(y)", "y = kept[-1]", "s = s + sum(y*y)*0.01", "s = s + y[{i}]*u[{j}]",
    "s = s + sum(y[1:3])*x", "g(y, {i})", "y = h(y, {i})", "s = s + f()",
    "for a in y:\n    y[{i}] = a*z\n    s = s + a", "for k in range(3):\n    y[k] = y[k - 1]*x + u[k]", "y = y*x",
    "s = s + y[{i}] + f()",
)  # fmt: skip
BEFORE = """y = x*ones(4)
u = y
kept = [y]
s = 0.0
def g(v, i):
    v[i] = z*9.0
    v[0] = v[i]*x
def h(v, i):
    v[i] = z*x
    v[0] += v[i]
    return v
def f():
    y[1] = x*y[0]
    y[2] = y[1]*z
    return y[1]
"""
AFTER = "s + sum(y*y) + sum(u**3)*0.1 + sum([sum(v*v) for v in kept])"


def program_of(seed: int) -> str:
    chosen = random.Random(seed)
    lines = [
        chosen.choice(STATEMENTS).format(i=chosen.randrange(4), j=chosen.randrange(-4, 4), k=chosen.uniform(-1, 1))
        for _ in range(12)
    ]
    return BEFORE.replace("    y[1]", "    global y\n    y[1]") + "\n".join(lines) + "\n" + AFTER


COMMANDS: tuple[tuple[str, dict[str, object]], ...] = (
    ("value", {}), ("grad", {}), ("hessian", {}), ("hvp", {"vector": {"x": 1.0}}), ("jvp", {"tangent": {"x": 1.0, "z": 2.0}}),
    ("jacobian", {"mode": "forward"}),
)  # fmt: skip


def numbers(x: object) -> list[float]:
    """The numbers in nested dicts and tuples, in order."""
    if isinstance(x, dict | tuple):
        return [n for part in (x.values() if isinstance(x, dict) else x) for n in numbers(part)]
    return [] if x is None else [float(x)]  # type: ignore[arg-type]


@pytest.mark.parametrize("first", range(0, 40 if os.environ.get("ADIFF_LONG_TESTS") else 20, 10))
def test_nobody_sees_that_writes_are_in_place(first: int, monkeypatch: pytest.MonkeyPatch) -> None:
    for seed in range(first, first + 10):
        text = program_of(seed)
        found = []
        for in_place in (True, False):
            with monkeypatch.context() as patch:
                if not in_place:
                    patch.setattr(targets, "written", lambda x, index, value, others: False)
                program = adiff.program(text)
                outcomes = [
                    program.evaluate(command, {"x": 0.6, "z": 1.1}, engine="tape", **options)
                    for command, options in COMMANDS
                ]
                found.append(
                    [
                        x
                        for o in outcomes
                        for x in numbers((o.value, o.gradients, o.hessian, o.product, o.tangent, o.jacobian))
                    ]
                )
        # Cotangents of one element are added up in another order.
        assert found[0] == pytest.approx(found[1], rel=1e-13), text


# A function that puts another tensor into the variable while a write into the old one is under way.
REPLACED = """t = zeros(2)
t[0] = x
def g():
    global t
    t[0] = 7.0
    return 1.0
def h():
    global t
    t = t * 2
    return 1.0
{}
sum(t) * t[0]"""


@pytest.mark.parametrize("engine", ["tape", "kernel"])
@pytest.mark.parametrize(
    ("statement", "value", "slope"),
    [
        # x = 1.5: the write is into [x, 0], whatever g and h have put there meanwhile.
        ("t[1] += g()", 1.5 * 2.5, 4.0), ("t[1] += h()", 1.5 * 2.5, 4.0), ("t[int(g())] += 1.0", 1.5 * 2.5, 4.0),
        ("t[int(h())] = 1.0", 1.5 * 2.5, 4.0), ("t[0] *= g()", 1.5 * 1.5, 3.0), ("t[0] += h()", 2.5 * 2.5, 5.0),
        ("t[int(g())] = t[0]", 3.0 * 1.5, 6.0), ("for k in range(3):\n    t[1] += g()", 1.5 * 4.5, 6.0),
        # What is assigned comes first.
        ("t[1] = g()", 8.0 * 7.0, 0.0), ("t[1] = h()", 4.0 * 3.0, 14.0),
    ],
)  # fmt: skip
def test_a_tensor_that_was_replaced_does_not_change_in_place(
    engine: str, statement: str, value: float, slope: float
) -> None:
    program = adiff.program(REPLACED.format(statement))
    for command in ("value", "grad", "hessian"):
        found = program.evaluate(command, {"x": 1.5}, engine=engine)
        assert (found.engine, found.value) == (engine, pytest.approx(value)), command
    assert program.evaluate("grad", {"x": 1.5}, engine=engine).gradients["x"] == pytest.approx(slope)
    moved = program.evaluate("jvp", {"x": 1.5}, engine=engine, tangent={"x": 1.0})
    assert (moved.value, moved.tangent) == (pytest.approx(value), pytest.approx(slope))


@pytest.mark.filterwarnings("error")
def test_infinities_of_both_signs_meet_in_silence() -> None:
    at = {"v": [1.0, 2.0], "a": np.inf, "b": np.inf}
    found = adiff.program("v[0] * a - v[0] * b").evaluate("grad", at, engine="tape").gradients
    np.testing.assert_array_equal(found["v"], [np.nan, 0.0])
