"""Every program in samples/, run by the command line in its own header, against numbers that do not come from adiff."""

import contextlib
import io
import json
import math
import os
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import mpmath as mp
import numpy as np
import pytest
from adiff.cli.environment import Environment
from adiff.cli.main import run

ROOT = Path(__file__).parents[2]
SAMPLES = ROOT / "samples"


def command_of(name: str) -> list[str]:
    lines = (SAMPLES / name).read_text(encoding="utf-8").splitlines()
    assert lines[0].startswith("# ")
    assert not lines[0].startswith("# adiff"), "a sample begins with what it does"
    line = next(line for line in lines if line.startswith("# adiff "))
    return shlex.split(line)[2:]


def answers(name: str) -> list[dict[str, Any]]:
    arguments = command_of(name)
    extra = [] if arguments[0] == "batch" else ["--json"]
    out, error = io.StringIO(), io.StringIO()
    with contextlib.chdir(ROOT):
        status = run([*arguments, *extra], Environment(None, out, error, dict(os.environ)))
    assert status == 0, error.getvalue()
    return [json.loads(line) for line in out.getvalue().splitlines()]


def gradient(f: Callable[..., Any], *at: float) -> list[float]:
    """The partial derivatives of a function of mpmath numbers, by mpmath's own differences at 40 digits."""
    with mp.workdps(40):
        point = [mp.mpf(repr(x)) for x in at]
        return [
            float(mp.diff(lambda v, i=i: f(*[v if k == i else x for k, x in enumerate(point)]), point[i]))  # type: ignore[misc]
            for i in range(len(at))
        ]


def black_scholes(S: Any, K: Any, T: Any, r: Any, v: Any) -> Any:
    d1 = (mp.log(S / K) + (r + v**2 / 2) * T) / (v * mp.sqrt(T))
    return S * mp.ncdf(d1) - K * mp.exp(-r * T) * mp.ncdf(d1 - v * mp.sqrt(T))


def oscillator(k: Any, c: Any) -> Any:
    """The closed form of x'' = -k x - c x' at time 2, from x = 1 at rest."""
    w = mp.sqrt(k - c**2 / 4)
    return mp.exp(-c) * (mp.cos(2 * w) + c / (2 * w) * mp.sin(2 * w))


def mixture(*p: Any) -> Any:
    x, logits, means, scales = p[:3], p[3:5], p[5:7], p[7:9]
    total = sum(mp.exp(v) for v in logits)
    return sum(
        mp.log(sum(mp.exp(g) / total * mp.npdf(v, m, mp.exp(s)) for g, m, s in zip(logits, means, scales))) for v in x
    )


def cell(w: Any, u: Any, *xs: Any) -> Any:
    h = mp.mpf(0)
    for x in xs:
        h = mp.tanh(w * h + u * x)
    return h**2


def kepler(M: Any, e: Any) -> Any:
    return mp.findroot(lambda E: E - e * mp.sin(E) - M, M)


def pendulum(theta: Any, omega: Any, g: Any) -> Any:
    for _ in range(1000):
        omega = omega - mp.mpf("0.001") * g * mp.sin(theta)
        theta = theta + mp.mpf("0.001") * omega
    return omega**2 / 2 - g * mp.cos(theta)


def near(found: Any, expected: Any, rel: float = 1e-11) -> None:
    assert np.asarray(found, dtype=float) == pytest.approx(np.asarray(expected, dtype=float), rel=rel, abs=1e-12)


def check_black_scholes(a: dict[str, Any]) -> None:
    near([a["gradients"][n] for n in ("S", "K", "T", "r", "v")], gradient(black_scholes, 100, 105, 0.5, 0.03, 0.2))
    near(a["value"], float(black_scholes(100, 105, 0.5, 0.03, 0.2)))


def check_mixture(a: dict[str, Any]) -> None:
    found = [leaf for name in ("x", "logits", "means", "scales") for leaf in a["gradients"][name]]
    near(found, gradient(mixture, -1.0, 0.5, 2.0, 0.0, 1.0, -1.0, 1.0, 0.0, -0.5))


def check_network(a: dict[str, Any]) -> None:
    assert a["value"] < 0.01  # cross entropy of four right answers, each surer than 98 %
    assert "rounded predictions: [0, 1, 1, 0]" in "".join(map(str, a["printed"]))


def check_root(a: dict[str, Any]) -> None:
    near(a["value"], float(mp.findroot(lambda x: mp.cos(x) - x, 0.7)), 1e-15)


def check_rnn(a: dict[str, Any]) -> None:
    g = a["gradients"]
    near([g["w"], g["u"], *g["xs"]], gradient(cell, 0.5, -0.3, 1.0, 0.5, -1.0))


def check_cholesky(a: dict[str, Any]) -> None:
    """d/dS log N(x; 0, S) = (S^-1 x x^T S^-1 - S^-1) / 2 and d/dx = -S^-1 x."""
    S, x = np.array([[2.0, 0.5], [0.5, 1.0]]), np.array([1.0, -1.0])
    inverse = np.linalg.inv(S)
    near(a["gradients"]["S"], (np.outer(inverse @ x, inverse @ x) - inverse) / 2)
    near(a["gradients"]["x"], -inverse @ x)
    near(a["value"], -0.5 * x @ inverse @ x - 0.5 * math.log(np.linalg.det(S)) - math.log(2 * math.pi))


def check_thomas(a: dict[str, Any]) -> None:
    A = np.array([[4.0, -1.0, 0.0], [-1.0, 4.0, -1.0], [0.0, -1.0, 4.0]])
    y = np.linalg.solve(A, [1.0, 2.0, 3.0])
    near(a["value"], y @ y)
    near(a["gradients"]["d"], 2 * np.linalg.solve(A.T, y))


def check_least_squares(a: dict[str, Any]) -> None:
    t, y = np.array([0.0, 1, 2, 3]), np.array([1.0, 3, 4.5, 7.5])
    near(a["gradients"]["a"], 2 * (t - y) @ t)
    near(a["gradients"]["b"], 2 * (t - y).sum())
    assert set(a["gradients"]) == {"a", "b"}


def check_packing(a: dict[str, Any]) -> None:
    """loss = |W b|^2 with W = [[1,2],[3,4]], b = (1,-1); after one step of 0.01 along the gradient."""
    W, b = np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([1.0, -1.0])
    v = W @ b
    stepped = (W - 0.02 * np.outer(v, b)) @ (b - 0.02 * W.T @ v)
    near(a["value"], stepped @ stepped, rel=1e-6)  # float32, as tf.Variable makes them


def check_irises(a: dict[str, Any]) -> None:
    said = a["printed"][-1]
    assert "flowers are named right" in said
    assert "most" in said if "%" not in said else int(said.split()[0]) > 95


CHECKS: dict[str, Callable[[dict[str, Any]], None]] = {
    "parabola.adiff": lambda a: near([a["value"], a["gradients"]["x"]], [4, 4]),
    "taylor_of_tan.adiff": lambda a: near(a["derivatives"], [1, 0, 2, 0, 16, 0]),
    "newton_sqrt.adiff": lambda a: near([a["value"], a["gradients"]["a"]], [math.sqrt(2), 1 / (2 * math.sqrt(2))]),
    "newton_root.adiff": check_root,
    "damped_oscillator.adiff": lambda a: near(
        [a["value"], a["gradients"]["k"], a["gradients"]["c"]],
        [float(oscillator(4, 0.5)), *gradient(oscillator, 4.0, 0.5)],
        1e-9,
    ),
    "gaussian_mixture.adiff": check_mixture,
    "small_network.adiff": check_network,
    "black_scholes.adiff": check_black_scholes,
    # f = 100 (y - x^2)^2 + (1 - x)^2 at (-1.2, 1): H = [[1200 x^2 - 400 y + 2, -400 x], [-400 x, 200]]
    "rosenbrock.adiff": lambda a: near(
        [a["hessian"]["x"]["x"], [a["gradients"]["x"]] * 2], [[[1330, 480], [480, 200]], [[-215.6, -88]] * 2]
    ),
    "logistic_map.adiff": lambda a: near([a["value"], a["gradients"]["r"]], [1 - 1 / 2.5, 1 / 2.5**2]),
    "determinant.adiff": lambda a: near(
        [a["gradients"]["A"], [[a["value"]] * 2] * 2], [[[4, -2], [-2, 1]], [[0, 0]] * 2]
    ),
    "rnn_cell.adiff": check_rnn,
    # nearest centres: 0 0 1 1 1
    "kmeans_step.adiff": lambda a: near(a["value"], [[0, 0.5], [13 / 3, 4.5]]),
    "lbfgs_packing.adiff": check_packing,
    # y = 2 x0 + x1 + 1 on all four points
    # The third species and the second overlap by a few flowers.
    "iris_by_loop.adiff": check_irises,
    "iris_by_fit.adiff": check_irises,
    "iris_by_lbfgs.adiff": check_irises,
    "function_factory.adiff": lambda a: near(a["value"], [2, 1, 1], 1e-6),
    "least_squares.adiff": check_least_squares,
    "kepler.adiff": lambda a: near(
        [a["value"], a["gradients"]["M"], a["gradients"]["e"]], [float(kepler(1, 0.3)), *gradient(kepler, 1.0, 0.3)]
    ),
    "pendulum_energy.adiff": lambda a: near(
        [a["cotangents"][n] for n in ("theta", "omega", "g")], gradient(pendulum, 0.5, 0.0, 9.81), 1e-9
    ),
    "cholesky_likelihood.adiff": check_cholesky,
    # the logits are 1000 apart: log_softmax is (0, -1000, -2000), and its gradient softmax minus the unit vector
    "stable_softmax.adiff": lambda a: near([a["value"], *a["gradients"]["logits"]], [1000, 1, -1, 0]),
    # y = x0^2 x1^3 at (1, 2)
    "hessian_by_tapes.adiff": lambda a: near(a["value"], [[16, 24], [24, 12]]),
    "custom_rule.adiff": lambda a: near([a["value"], a["tangent"]], [100, 1]),
    "item_assignment.adiff": check_thomas,
    # NIST's certified values
    "nonlinear_fit.adiff": lambda a: near(
        [a["optimum"]["b1"], a["optimum"]["b2"], a["value"]], [238.94212918, 5.5015643181e-4, 0.12455138894], 1e-9
    ),
    # |w|^2 with w = z^2 + 1: the gradient is 2 w conj(2 z) at z = 1 + 2i
    "complex_modulus.adiff": lambda a: near(a["gradients"]["z"], [24, 32]),
}


@pytest.mark.parametrize("name", CHECKS)
def test_sample(name: str) -> None:
    [answer] = answers(name)
    CHECKS[name](answer)


def test_the_batch_file() -> None:
    first, second, third, last = answers("batch.txt")
    near(first["gradients"]["x"], 4)
    near(second["hessian"]["y"]["y"], -math.sin(2))
    near(third["value"], 24.2)
    assert last["id"] == "last"
    near([last["gradients"]["x"], last["gradients"]["y"]], [3, 0])


def test_every_sample_is_tested() -> None:
    programs = {path.name for path in SAMPLES.glob("*.adiff")}
    assert programs == set(CHECKS)
    assert len(programs) >= 20
