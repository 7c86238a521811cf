"""The programs in samples/gradbench by way of the tool of GradBench's protocol, against derivatives from elsewhere.

The references are the definitions, over NumPy, differentiated by complex steps: f'(x) = imag(f(x + ih)) / h, exact to
rounding for analytic f.
"""

import importlib.util
import json
import math
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
SAMPLES = ROOT / "samples" / "gradbench"
TOOL = ROOT / "bench" / "gradbench_tool.py"
RUNS = {"min_runs": 1, "min_seconds": 0.0}


def load_tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location("gradbench_tool", TOOL)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


tool = load_tool()


def ask(module: str, function: str, given: Any, engine: str = "tape") -> Any:
    """The tool's output for one request."""
    answering = tool.Tool(engine)
    assert answering.answer({"id": 0, "kind": "define", "module": module})["success"]
    message = {"id": 1, "kind": "evaluate", "module": module, "function": function, "input": given}
    reply = answering.answer(message)
    assert reply["success"], reply["error"]
    assert any(t["name"] == "evaluate" and t["nanoseconds"] > 0 for t in reply["timings"])
    return reply["output"]


def complex_step(f: Callable[..., Any], *xs: Any) -> list[Any]:
    """d f / d x for each array x: the shape of f's value, then that of x."""
    found = []
    for k, x in enumerate(xs):
        x = np.asarray(x, dtype=float)
        parts = []
        for i in range(x.size):
            moved = x.astype(complex).reshape(-1)
            moved[i] += 1e-30j
            arguments = [moved.reshape(x.shape) if j == k else np.asarray(v, dtype=complex) for j, v in enumerate(xs)]
            parts.append(np.imag(f(*arguments)) / 1e-30)
        found.append(np.moveaxis(np.array(parts), 0, -1).reshape((*np.shape(parts[0]), *x.shape)))
    return found


def sample(name: str) -> dict[str, Any]:
    return json.loads((SAMPLES / f"{name}.json").read_text(encoding="utf-8"))  # type: ignore[no-any-return]


def close(found: Any, expected: Any, tolerance: float = 1e-12) -> None:
    np.testing.assert_allclose(np.asarray(found), np.asarray(expected), rtol=tolerance, atol=tolerance)


def test_hello() -> None:
    assert ask("hello", "square", 3.0) == 9.0
    assert ask("hello", "double", 3.0) == 6.0


@pytest.mark.parametrize("engine", ["tape", "kernel"])
def test_llsq(engine: str) -> None:
    x, n = np.array([0.3, 1.2, -0.4, 0.7]), 9
    t = np.linspace(-1, 1, n)
    residuals = np.vander(t, len(x), increasing=True) @ x - np.sign(t)
    given = {"x": x.tolist(), "n": n, **RUNS}
    close(ask("llsq", "primal", given, engine), residuals @ residuals / 2)
    close(ask("llsq", "gradient", given, engine), np.vander(t, len(x), increasing=True).T @ residuals)


def test_lse() -> None:
    x = np.array([0.5, 800.0, 799.0, 2.0])
    weights = np.exp(x - 800.0)
    given = {"x": x.tolist(), **RUNS}
    close(ask("lse", "primal", given), 800.0 + math.log(weights.sum()))
    close(ask("lse", "gradient", given), weights / weights.sum())


def test_ode() -> None:
    """y_i(2) is a monomial of degree i + 1 in time, which the method follows exactly up to the fourth."""
    x = np.array([1.5, 0.5, 2.0, 0.75])
    y = np.cumprod(x) * [2.0 ** (i + 1) / math.factorial(i + 1) for i in range(4)]
    given = {"x": x.tolist(), "s": 3, **RUNS}
    close(ask("ode", "primal", given), y)
    close(ask("ode", "gradient", given), y[-1] / x)


def test_ode_of_which_the_last_element_is_not_reached_yet() -> None:
    """A step of the method leads four elements on; the gradient of those behind them is zero, not missing."""
    given = {"x": [1.0] * 6, "s": 1, **RUNS}
    for engine in ("tape", "kernel"):
        assert ask("ode", "gradient", given, engine) == [0.0] * 6


def test_det() -> None:
    a = np.random.default_rng(1).normal(size=(5, 5))
    given = {"A": a.reshape(-1).tolist(), "ell": 5, **RUNS}
    close(ask("det", "primal", given), np.linalg.det(a))
    close(ask("det", "gradient", given), (np.linalg.det(a) * np.linalg.inv(a).T).reshape(-1))


def test_kmeans() -> None:
    """Newton's direction leads from the mean of a centroid's points to it."""
    data = sample("kmeans")
    points, centroids = np.array(data["points"]), np.array(data["centroids"])
    distances = ((points[:, None] - centroids) ** 2).sum(axis=2)
    nearest = distances.argmin(axis=1)
    means = np.array([points[nearest == j].mean(axis=0) for j in range(len(centroids))])
    close(ask("kmeans", "cost", {**data, **RUNS}), distances.min(axis=1).sum())
    close(ask("kmeans", "dir", {**data, **RUNS}), centroids - means)


def log_posterior(x: Any, m: int, gamma: float, alpha: Any, mu: Any, q: Any, below: Any) -> Any:
    """From the densities of the mixture and of the Wishart prior, with determinants and all."""
    (n, d), k = x.shape, len(alpha)
    weights = np.exp(alpha) / np.exp(alpha).sum()
    freedom = d + m + 1
    log_gamma = d * (d - 1) / 4 * math.log(math.pi) + sum(math.lgamma((freedom - j) / 2) for j in range(d))
    densities = np.zeros(n, dtype=complex)
    prior: Any = 0.0
    for j in range(k):
        factor = np.zeros((d, d), dtype=complex)
        factor.T[np.triu_indices(d, 1)] = below[j]
        factor += np.diag(np.exp(q[j]))
        precision = factor.T @ factor
        away = x - mu[j]
        exponent = -0.5 * np.einsum("ni,ij,nj->n", away, precision, away)
        densities = densities + weights[j] * np.exp(exponent) * np.sqrt(np.linalg.det(precision) / (2 * np.pi) ** d)
        prior += (
            m / 2 * np.log(np.linalg.det(precision)) - gamma**2 / 2 * np.trace(precision) - log_gamma
            + freedom * d * math.log(gamma / math.sqrt(2))
        )  # fmt: skip
    return np.log(densities).sum() + prior


@pytest.mark.parametrize(("m", "gamma"), [(0, 1.0), (2, 0.7)])
def test_gmm(m: int, gamma: float) -> None:
    data = {**sample("gmm"), "m": m, "gamma": gamma}
    names = ("alpha", "mu", "q", "l")
    x, parts = np.array(data["x"]), [np.array(data[name]) for name in names]
    given = {**data, "d": 3, "k": 2, "n": len(x), **RUNS}
    close(ask("gmm", "objective", given), np.real(log_posterior(x, m, gamma, *parts)))
    found = ask("gmm", "jacobian", given)
    for name, expected in zip(names, complex_step(lambda *p: log_posterior(x, m, gamma, *p), *parts)):
        close(found[name], expected)


def lstm_loss(main: Any, extra: Any, state: Any, sequence: Any) -> Any:
    """Character by character, layer by layer."""
    hidden, cell = list(state[0::2]), list(state[1::2])
    bits = sequence.shape[1]
    total: Any = 0.0
    for t in range(len(sequence) - 1):
        z = sequence[t] * extra[0]
        for i in range(len(hidden)):
            weight, bias = main[2 * i].reshape(4, bits), main[2 * i + 1].reshape(4, bits)
            forget, enter, leave = (
                1 / (1 + np.exp(-(v * weight[g] + bias[g]))) for g, v in enumerate((z, hidden[i], z))
            )
            change = np.tanh(hidden[i] * weight[3] + bias[3])
            cell[i] = cell[i] * forget + enter * change
            hidden[i] = z = leave * np.tanh(cell[i])
        guess = z * extra[1] + extra[2]
        total += (sequence[t + 1] * (guess - np.log(2 + np.exp(guess).sum()))).sum()
    return -total / ((len(sequence) - 1) * bits)


def test_lstm() -> None:
    data = {name: np.array(value) for name, value in sample("lstm").items()}
    given = {
        "main_params": data["main"].tolist(), "extra_params": data["extra"].tolist(), "state": data["state"].tolist(),
        "sequence": data["sequence"].tolist(), **RUNS,
    }  # fmt: skip
    close(ask("lstm", "objective", given), lstm_loss(**data))
    loss = lambda main, extra: lstm_loss(main, extra, data["state"], data["sequence"])  # noqa: E731
    parts = complex_step(loss, data["main"], data["extra"])
    close(ask("lstm", "jacobian", given), np.concatenate([part.reshape(-1) for part in parts]))


def reprojection(camera: Any, point: Any, weight: Any, feature: Any) -> Any:
    """The error of one observation, with the rotation as a matrix exponential."""
    from scipy.linalg import expm

    r, x = camera[:3], point - camera[3:6]
    turn = expm(np.array([[0, -r[2], r[1]], [r[2], 0, -r[0]], [-r[1], r[0], 0]]))
    y = turn @ x
    image = y[:2] / y[2]
    square = (image**2).sum()
    image = image * (1 + camera[9] * square + camera[10] * square**2)
    return weight * (image * camera[6] + camera[7:9] - feature)


@pytest.mark.parametrize("turned", [True, False])
def test_ba(turned: bool) -> None:
    cam = [0.1, -0.2, 0.3, 0.5, 0.1, -0.3, 400.0, 3.0, -2.0, 0.05, -0.02]
    if not turned:
        cam[:3] = [0.0, 0.0, 0.0]
    n, m, p = 2, 3, 5
    given = {"n": n, "m": m, "p": p, "cam": cam, "x": [0.4, -0.3, 4.0], "w": 0.8, "feat": [10.0, -20.0], **RUNS}
    feature = np.array(given["feat"])
    error = reprojection(np.array(cam), np.array(given["x"]), 0.8, feature)
    found = ask("ba", "objective", given)
    close(found["reproj_error"]["elements"], error)
    assert found["reproj_error"]["repeated"] == found["w_err"]["repeated"] == p
    close(found["w_err"]["element"], 1 - 0.8**2)
    found = ask("ba", "jacobian", given)
    parts = complex_step(lambda c, x, w: reprojection(c, x, w, feature), cam, given["x"], 0.8)
    block = np.concatenate([parts[0], parts[1], parts[2].reshape(2, 1)], axis=1)
    close(found["vals"], [*block.reshape(-1), -1.6], 1e-10)
    first = [*range(11), *range(11 * n, 11 * n + 3), 11 * n + 3 * m]
    assert found["cols"] == [*first, *first, 11 * n + 3 * m + p - 1]
    rows = [*range(0, 30 * p, 15), *range(30 * p, 31 * p + 1)]
    assert found["rows"] == [*rows[:30], rows[-1]]


def hand_errors(data: dict[str, Any], theta: Any, us: Any) -> Any:
    """Vertex by vertex and bone by bone."""
    bones = len(data["parents"])
    absolutes: list[Any] = []
    for i in range(bones):
        finger, k = divmod(i - 2, 4)
        x = z = y = 0.0
        if 0 <= finger < 5 and k < 3:
            first = 6 + 4 * finger
            x = theta[first + (0, 2, 3)[k]]
            z = theta[first + 1] if k == 0 else 0.0
        about_x = np.array([[1, 0, 0], [0, np.cos(x), -np.sin(x)], [0, np.sin(x), np.cos(x)]])
        about_y = np.array([[np.cos(y), 0, np.sin(y)], [0, 1, 0], [-np.sin(y), 0, np.cos(y)]])
        about_z = np.array([[np.cos(z), -np.sin(z), 0], [np.sin(z), np.cos(z), 0], [0, 0, 1]])
        local = np.eye(4, dtype=complex)
        local[:3, :3] = about_z @ about_y @ about_x
        relative = np.array(data["base_relatives"][i]) @ local
        parent = data["parents"][i]
        absolutes.append(relative if parent < 0 else absolutes[parent] @ relative)
    angle = np.sqrt((theta[:3] ** 2).sum())
    a, b, c = theta[:3] / angle
    cross = np.array([[0, -c, b], [c, 0, -a], [-b, a, 0]])
    turn = np.eye(3) + np.sin(angle) * cross + (1 - np.cos(angle)) * cross @ cross
    vertices = []
    for position, weights in zip(data["base_positions"], data["weights"]):
        moved = sum(
            w * (absolutes[i] @ np.array(data["inverse_base_absolutes"][i]) @ position)[:3]
            for i, w in enumerate(weights)
        )
        vertices.append(turn @ moved + theta[3:6])
    errors = []
    for i, point in enumerate(data["points"]):
        if len(us):
            one, two, three = data["triangles"][data["correspondences"][i]]
            u, v = us[i]
            place = u * vertices[one] + v * vertices[two] + (1 - u - v) * vertices[three]
        else:
            place = vertices[data["correspondences"][i]]
        errors.append(np.array(point) - place)
    return np.concatenate(errors)


@pytest.mark.parametrize("complicated", [True, False])
def test_ht(complicated: bool) -> None:
    data = sample("ht")
    us = data["us"] if complicated else []
    fields = ("parents", "base_relatives", "inverse_base_absolutes", "base_positions", "weights", "triangles")
    model = {**{name: data[name] for name in fields}, "is_mirrored": False}
    inner = {"model": model, "correspondences": data["correspondences"], "points": data["points"]}
    given = {"theta": data["theta"], "data": inner, "us": us, **RUNS}
    theta = np.array(data["theta"])
    close(ask("ht", "objective", given), np.real(hand_errors(data, theta, np.array(us))))
    by_us, by_theta = None, None
    if complicated:
        by_theta, by_us = complex_step(lambda t, u: hand_errors(data, t, u), theta, us)
        own = np.array([by_us[row, row // 3] for row in range(len(by_us))])
        expected = np.concatenate([own, by_theta], axis=1)
    else:
        expected = complex_step(lambda t: hand_errors(data, t, ()), theta)[0]
    close(ask("ht", "jacobian", given), expected)


def particle_miss(w: Any) -> Any:
    """The simulation with the force written out."""
    place, speed = np.array([0.0, 8.0], dtype=complex), np.array([0.75, 0.0], dtype=complex)
    while True:
        push = 0.0
        for charge in (np.array([10.0, 10.0 - w]), np.array([10.0, 0.0])):
            push = push + (place - charge) / ((place - charge) ** 2).sum() ** 1.5
        place = place + 0.1 * speed
        if place[1].real <= 0:
            return (place[0] - place[1] / speed[1] * speed[0]) ** 2
        speed = speed + 0.1 * push


@pytest.mark.parametrize("outer", [True, False])
@pytest.mark.parametrize("inner", [True, False])
def test_a_simulation_with_a_derivative_inside_is_differentiated(outer: bool, inner: bool) -> None:
    import adiff

    text = (SAMPLES / "particle.adiff").read_text(encoding="utf-8")
    assert text.endswith("argmin(miss, start)\n")
    slope = adiff.program(text.replace("argmin(miss, start)", "derivative(miss, start, outer_reverse)"))
    found = slope.value({"start": 0.3, "outer_reverse": outer, "inner_reverse": inner})
    close(found, complex_step(lambda w: particle_miss(w), 0.3)[0], 1e-10)


def test_a_session() -> None:
    """The protocol as the suite speaks it; what is unknown, or fails, is an answer too."""
    messages = [
        {"id": 0, "kind": "start", "eval": "hello"},
        {"id": 1, "kind": "define", "module": "hello"},
        {"id": 2, "kind": "evaluate", "module": "hello", "function": "square", "input": 2.0},
        {"id": 3, "kind": "analysis", "of": 2, "valid": True},
        {"id": 4, "kind": "define", "module": "nothing_known"},
        {"id": 5, "kind": "define", "module": "det"},
        {"id": 6, "kind": "evaluate", "module": "det", "function": "primal", "input": {"A": [1.0], "ell": 2, **RUNS}},
    ]
    lines = "".join(json.dumps(m) + "\n" for m in messages)
    done = subprocess.run([sys.executable, str(TOOL)], input=lines, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    replies = [json.loads(line) for line in done.stdout.splitlines()]
    assert [reply["id"] for reply in replies] == list(range(7))
    assert replies[0]["tool"] == "adiff"
    assert [replies[k]["success"] for k in (1, 2, 4, 5, 6)] == [True, True, False, True, False]
    assert replies[2]["output"] == 4.0
    assert "reshape" in replies[6]["error"]


def test_runs_are_as_many_as_asked_for() -> None:
    answering = tool.Tool("tape")
    answering.answer({"id": 0, "kind": "define", "module": "lse"})
    given = {"x": [1.0, 2.0], "min_runs": 4, "min_seconds": 0.0}
    message = {"id": 1, "kind": "evaluate", "module": "lse", "function": "primal", "input": given}
    assert [t["name"] for t in answering.answer(message)["timings"]] == ["evaluate"] * 4
