"""`adiff minimize`. Minima are those of Moré, Garbow and Hillstrom (ACM TOMS 7, 1981), or found by hand."""

import json
from collections.abc import Callable
from math import pi, sqrt
from pathlib import Path
from typing import Any

import adiff as python_face
import numpy as np
import pytest
from adiff.engine.minimize import METHODS, minimize

ROSENBROCK = "(1 - x)**2 + 100*(y - x**2)**2"
WATSON = """
t = arange(1, 30) / 29
powers = t[:, newaxis] ** arange(12)
r = powers[:, :11] @ (arange(1, 12) * x[1:]) - (powers @ x)**2 - 1
sum(r**2) + x[0]**2 + (x[1] - x[0]**2 - 1)**2
"""
MEYER = """
y = [34780, 28610, 23650, 19630, 16370, 13720, 11540, 9744, 8261, 7030, 6005, 5147, 4427, 3820, 3307, 2872]
t = 45 + 5*arange(1, 17)
sum((x[0]*exp(x[1]/(t + x[2])) - y)**2)
"""
BIGGS = """
t = arange(1, 14) / 10
y = exp(-t) - 5*exp(-10*t) + 3*exp(-4*t)
sum((x[2]*exp(-t*x[0]) - x[3]*exp(-t*x[1]) + x[5]*exp(-t*x[4]) - y)**2)
"""
PROBLEMS: dict[str, tuple[str, dict[str, Any], float]] = {
    "Rosenbrock": (ROSENBROCK, {"x": -1.2, "y": 1.0}, 0.0),
    "Powell badly scaled": ("(1e4*x*y - 1)**2 + (exp(-x) + exp(-y) - 1.0001)**2", {"x": 0.0, "y": 1.0}, 0.0),
    "Brown badly scaled": ("(x - 1e6)**2 + (y - 2e-6)**2 + (x*y - 2)**2", {"x": 1.0, "y": 1.0}, 0.0),
    "Jennrich and Sampson": (
        "sum([(2 + 2*i - exp(i*x) - exp(i*y))**2 for i in range(1, 11)])", {"x": 0.3, "y": 0.4}, 124.36218235561,
    ),
    "Meyer": (MEYER, {"x": np.array([0.02, 4000.0, 250.0])}, 87.945855170662),
    "Biggs EXP6, by a saddle": (BIGGS, {"x": np.array([1.0, 2, 1, 1, 1, 1])}, 0.0),
    "Watson 12": (WATSON, {"x": np.zeros(12)}, 4.72238110186e-10),
    "a matrix and a number": ("sum((A - s)**2) + (s - 3)**2", {"A": np.zeros((2, 2)), "s": 0.0}, 0.0),
}  # fmt: skip


@pytest.mark.parametrize("name", PROBLEMS)
def test_known_minima(name: str) -> None:
    text, start, least = PROBLEMS[name]
    found = minimize(python_face.program(text), start, {})
    assert found.converged, found.verdict
    assert abs(found.value - least) <= max(1e-6 * least, 1e-18)
    assert {key: np.shape(value) for key, value in found.optimum.items()} == {k: np.shape(v) for k, v in start.items()}


@pytest.mark.parametrize("method", METHODS)
def test_methods(method: str) -> None:
    text = ROSENBROCK.replace("100", "5")
    found = minimize(python_face.program(text), {"x": 0.5, "y": 0.5}, {}, method, learning_rate=0.02)
    assert found.verdict == "converged: the gradient is zero to 1e-08", found.verdict
    np.testing.assert_allclose([found.optimum["x"], found.optimum["y"]], 1, rtol=1e-6)


@pytest.mark.parametrize(
    ("arguments", "optimum"),
    [
        (["(x - 3)**2", "--start", "x=1", "--bounds", "x=:2"], {"x": 2}),
        (["sum((v - a)**2)", "--start", "v=[9,9]", "--at", "a=[1,5]", "--bounds", "v=[2,0]:[9,4]"], {"v": [2, 4]}),
        (["(x - 3)**2", "--start", "x=1", "--bounds", "x=0:2", "--method", "tnc"], {"x": 2}),
        (["x + y", "--start", "x=1,y=1", "--subject-to", "x**2 + y**2 <= r", "--at", "r=2"], {"x": -1, "y": -1}),
        (
            ["t", "--start", "x=5,t=9", "--subject-to", "t>=(x-1)**2", "--subject-to", "t >= (x+3)**2"],
            {"x": -1, "t": 4},
        ),
        (["x**2 + y**2", "--start", "x=2,y=0", "--subject-to", "x + 2*y == 5"], {"x": 1, "y": 2}),
        (["-sum(v)", "--start", "v=[0.5,0.5]", "--subject-to", "0 <= v <= [1,2]"], {"v": [1, 2]}),
        (["sqrt(x - 1) + (x - 3)**2", "--start", "x=9"], {"x": 2.814402021}),  # not a number below 1
        (["x*log(x)", "--start", "x=9"], {"x": 0.36787944117}),
        (["-sin(x)", "--start", "x=1", "--method", "trust-ncg"], {"x": pi / 2}),
        (["sum((v - tf.constant([1, 2], dtype=tf.float32))**2)", "--start", "v=[0,0]"], {"v": [1, 2]}),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else None,
)
def test_optima(document: Callable[..., dict[str, Any]], arguments: list[str], optimum: dict[str, Any]) -> None:
    found = document("minimize", *arguments)
    assert found["converged"] is True
    assert set(found["optimum"]) == set(optimum)
    for name, value in optimum.items():
        np.testing.assert_allclose(found["optimum"][name], value, rtol=1e-6)


@pytest.mark.parametrize(
    ("arguments", "verdict"),
    [
        (
            ["x", "--max-iterations", "5"],
            "not converged: the gradient's largest entry is 1; 5 iterations were not enough",
        ),
        (["log(x - 5)"], "not converged: the value is nan; it is not finite at the start"),
        (["x**4", "--method", "gradient-descent", "--learning-rate", "99"], "a smaller --learning-rate may help"),
        (["x", "--subject-to", "1 <= x <= 0"], "not converged: a constraint does not hold"),
        (["log(x)"], "no smaller value was found"),
        (["x"], "the value falls without end"),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else None,
)
def test_what_does_not_converge(adiff: Callable[..., Any], arguments: list[str], verdict: str) -> None:
    done = adiff("minimize", *arguments, "--start", "x=2", "-q")
    assert (done.returncode, done.stderr) == (1, "")
    assert verdict in done.stdout.splitlines()[-1]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["x+y"], "minimize needs a start\nhelp: write --start x=1,y=1"),
        (["x", "--start", "x=1,y=2"], "'y' is not an input of the program"),
        (["x+y", "--start", "x=1"], "<expr>:1:3: error[E0801]: 'y' is not bound"),
        (["x+y", "--start", "x=1", "--at", "x=1,y=2"], "'x' has a start and is fixed by --at too"),
        (["x", "--start", "x=1j"], "--start: 'x' is no float and no array of floats"),
        (["[x,x]", "--start", "x=1"], "<expr>:1:1: error[E0507]: minimize needs a number as the value"),
        (["x", "--start", "x=1", "--bounds", "x=1"], "'1' is no range"),
        (["x", "--start", "x=1", "--bounds", "x=2:1"], "a lower bound is above the upper one"),
        (["x", "--start", "x=1", "--bounds", "x=[1,2]:"], "does not fit its shape"),
        (["x", "--start", "x=1", "--bounds", "y=1:"], "--bounds: 'y' has no start"),
        (
            ["x", "--start", "x=1", "--subject-to", "x < 1"],
            "--subject-to:1:1: error[E0812]: a constraint is a comparison",
        ),
        (
            ["x", "--start", "x=1", "--subject-to", "0 <= x <= sine(1)"],
            "--subject-to:1:11: error[E0203]: unknown function 'sine'\n0 <= x <= sine(1)\n",
        ),
        (["x", "--start", "x=1", "--method", "bfgs", "--bounds", "x=0:"], "bfgs takes no bounds"),
        (["x", "--start", "x=1", "--method", "bfgs", "--subject-to", "x>=0"], "bfgs takes no constraints"),
        (["x", "--start", "x=1", "--learning-rate", "1"], "l-bfgs-b has no learning rate"),
        (["x", "--start", "x=1", "--max-iterations", "0"], "error[E0812]: --max-iterations: minimize takes at"),
        (["x", "--start", "x=1", "--tolerance", "0"], "'0' is not a number above 0"),
        (["[x][int(abs(x)) - 1]", "--start", "x=1.5"], "<expr>:1:1: error[E0405]"),
        (
            ["sum([sin(x*i) for i in range(9999)])**2 + x", "--start", "x=1", "--timeout", "0.5"],
            "the time limit of 0.5 s",
        ),
    ],
    ids=lambda value: " ".join(value)[:50] if isinstance(value, list) else None,
)
def test_mistakes(adiff: Callable[..., Any], arguments: list[str], said: str) -> None:
    done = adiff("minimize", *arguments)
    assert done.returncode in (1, 2, 3)
    assert done.stdout == ""
    assert said in done.stderr


def test_trace(adiff: Callable[..., Any], folder: Path) -> None:
    trace = ["minimize", "sum((v - 1)**2)", "--start", "v=[3,4]", "--trace"]
    first, *_, last = map(json.loads, adiff(*trace).stdout.splitlines())
    assert (first["iteration"], first["value"], first["point"]) == (0, 13, {"v": [3, 4]})
    assert last["optimum"]["v"] == pytest.approx([1, 1])
    assert "--format ndjson" in adiff(*trace, "--csv").stderr
    done = adiff("batch", "-", stdin='minimize "x**2" --start x=1\nminimize "x" --start x=1 --trace\n')
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert found[0]["optimum"] == {"x": pytest.approx(0, abs=sqrt(1e-16))}
    assert "one record" in found[1]["error"]["message"]
