"""Minimisers inside programs, and packing. Minima are found by hand; Rosenbrock's is 0 at ones."""

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
