"""Minimisers inside programs, and packing. Minima are found by hand; Rosenbrock's is 0 at ones."""

from typing import Any

import numpy as np
import pytest

from .conftest import Runner

ROSENBROCK = """
import numpy as np
from scipy.optimize import minimize

def rosen(x):
    return sum(100.0*(x[1:] - x[:-1]**2.0)**2.0 + (1 - x[:-1])**2.0)

def rosen_der(x):
    return grad(rosen)(x)

def rosen_hess_p(x, p):
    return hvp(rosen, x, p)

x0 = np.array([1.3, 0.7, 0.8])
"""


@pytest.mark.parametrize(
    "arguments",
    [
        "",
        "method='BFGS', jac=rosen_der",
        "method='L-BFGS-B', jac=True",
        "method='Newton-CG', jac=rosen_der, hessp=rosen_hess_p",
        "method='trust-ncg'",
        "method='trust-exact', hess=lambda x: hessian(rosen)(x)",
        "method='nelder-mead', options={'xatol': 1e-9, 'fatol': 1e-9}",
        "method='SLSQP', bounds=[(0, None), (None, 2), (-5, 5)]",
        "method='trust-constr'",
    ],
)
def test_scipy(run: Runner, arguments: str) -> None:
    fun = "value_and_grad(rosen)" if "jac=True" in arguments else "rosen"
    text = ROSENBROCK + f"result = minimize({fun}, x0, tol=1e-10{', ' * bool(arguments)}{arguments})\n"
    if "trust-constr" in arguments:
        assert "minimize has no method 'trust-constr'" in run.refused(text).message
        return
    x, f, success = run(text + "(result.x, result.fun, result.success)")
    np.testing.assert_allclose(x, 1, rtol=1e-4)
    assert f < 1e-9
    assert success


TFP = """
import tensorflow as tf
import tensorflow_probability as tfp
target = tf.constant([1.0, 2.0])
loss = lambda x: tf.reduce_sum((x - target)**2)
r = tfp.optimizer.lbfgs_minimize(
    lambda x: tfp.math.value_and_gradient(loss, x), initial_position=tf.zeros(2), tolerance=1e-6, max_iterations=50)
"""
PROGRAMS: dict[str, tuple[str, Any]] = {
    "extra arguments": ("minimize(lambda x, a, b: (x[0] - a)**2 + b, [1.0], args=(3.0, 2.0)).fun", 2.0),
    "constraints": (
        "scipy.optimize.minimize(lambda x: x[0] + x[1], [1.0, 1.0], "
        "constraints={'type': 'ineq', 'fun': lambda x: 2.0 - x[0]**2 - x[1]**2}).x",
        [-1.0, -1.0],
    ),
    "a callback": ("xs = []\nminimize(lambda x: sum(x**2), [1.0], callback=lambda x: xs.append(x))\nlen(xs) > 0", True),
    "tfp": (TFP + "(r.converged, r.failed, r.position, r.objective_value, r.objective_gradient)", (True, False, [1, 2], 0, [0, 0])),
    "value_and_gradient": ("tfp.math.value_and_gradient(lambda x, y: x**2*y, 2.0, 3.0)", (12.0, (12.0, 4.0))),
    "pack": ("pack([Variable([[1.0, 2.0], [3.0, 4.0]]), Variable(5.0)])", [1.0, 2.0, 3.0, 4.0, 5.0]),
    "unpack": ("v = Variable([[0.0, 0.0]])\nu = unpack([1.0, 2.0, 3.0], {'v': v, 'b': 0.0})\n(u, v)", ({"v": [[1, 2]], "b": 3.0}, [[1, 2]])),
    "the gradient of pack": (
        "w, b = Variable([1.0, 2.0]), Variable(3.0)\nwith GradientTape() as t:\n    y = reduce_sum(pack([w, b])**3)\nt.gradient(y, [w, b])",
        [[3.0, 12.0], 27.0],
    ),
    "the gradient of unpack": ("grad(lambda v: unpack(v, [0.0, [0.0, 0.0]])[1][1]**2)([1.0, 2.0, 3.0])", [0.0, 0.0, 6.0]),
    "attributes of functions": (
        "def f(x):\n    f.calls += 1\n    f.seen.append(x)\n    return f.inner(x) + f.shift\n"
        "f.calls, f.seen, f.shift = 0, [], 1.0\nf.inner = lambda x: x**2\n[f(2.0), f(3.0), f.calls, f.seen, f.inner(4.0)]",
        [5.0, 10.0, 2, [2.0, 3.0], 16.0],
    ),
    "the gradient by an attribute": ("def f(x): return f.w*x**2\nf.w = w\nf(3.0)", 18.0),
    "py_function": ("xs = []\ntf.py_function(xs.append, inp=[3.0], Tout=[])\nxs", [3.0]),
    "shape_n": ("[list(s) for s in tf.shape_n([[1.0, 2.0], [[3.0]]])]", [[2], [1, 1]]),
}  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(run: Runner, name: str) -> None:
    text, expected = PROGRAMS[name]
    close(run(text, {"w": 2.0} if "= w" in text else None), expected)


def close(found: Any, expected: Any) -> None:
    if isinstance(expected, dict):
        found, expected = list(found.values()), list(expected.values())
    if isinstance(expected, list | tuple):
        for one, other in zip(found, expected, strict=True):
            close(one, other)
    else:
        assert found == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("change", ["f.n = f.n + a", "f.n += a", "setattr(f, 'n', f.n + a)"])
@pytest.mark.parametrize("engine", ["tape", "kernel"])
def test_attributes_in_loops(run: Runner, change: str, engine: str) -> None:
    text = f"f = lambda x: x\nf.n = 0.0\nfor i in range(1000):\n    {change}\nf.n"
    assert run(text, {"a": 3.0}, engine=engine) == 3000.0


def test_a_result_is_shown(run: Runner) -> None:
    run("print(minimize(lambda x: sum(x**2), [1.0, 2.0], method='bfgs'))")
    assert "success: True" in run.printed
    assert "x: " in run.printed


def test_the_path_ends_at_a_minimizer(run: Runner) -> None:
    assert run("minimize(lambda x: sum((x - a)**2), [1.0]).x[0]", {"a": 3.0}, "grad") == pytest.approx(3.0)
    [(message, _)] = run.notices("N0502")
    assert "ends at minimize" in message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("minimize(lambda x: float(2.0), 1.0)", "no operation that has a derivative leads from x to the value"),
        ("minimize(lambda x: x, [1.0, 2.0])", "minimize needs a number as the value"),
        ("minimize(3, [1.0])", "an integer cannot be called"),
        ("minimize(lambda x: sum(x), [[1.0]])", "minimize starts from a vector of floats"),
        ("minimize(lambda x: sum(x), [1.0], jac=True)", "a function that returns (value, gradient)"),
        ("minimize(lambda x: sum(x), [1.0], bounds=[(1, 2, 3)])", "a bound is a pair"),
        ("minimize(lambda x: sum(x), [1.0], constraints=[lambda x: x])", "a constraint is {'type': 'eq'"),
        ("minimize(lambda x: x[3], [1.0])", "index 3 is out of range"),
        ("tfp.optimizer.lbfgs_minimize(lambda x: (sum(x), x[0]), [1.0, 2.0])", "the gradient has shape []"),
        ("tfp.optimizer.lbfgs_minimise(1)", "'tfp.optimizer.lbfgs_minimise' is not part of the language"),
        ("scipy.optimize.root(1)", "'scipy.optimize.root' is not part of the language"),
        ("unpack([1.0, 2.0], [0.0])", "unpack needs a vector of 1 elements"),
        ("f = lambda x: x\nf.a = 1\nf.b", "the function '<lambda>' has no attribute 'b'"),
        ("pack([])", "pack needs at least one variable"),
    ],
)
def test_mistakes(run: Runner, text: str, message: str) -> None:
    assert message in run.refused(text).message
