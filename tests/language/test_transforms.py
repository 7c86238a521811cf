"""Functions that derive functions, where their arguments or results are not plain floats."""

import numpy as np
import pytest

from .conftest import Runner

# --- what carries no tangent ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["grad(f)(n)", "value_and_grad(f)(n)", "jacobian(f)(n)", "jacrev(f)(n)", "jacfwd(f)(n)",
                                  "hessian(f)(n)", "vjp(f, n)", "hvp(f, n, ones(2))", "jvp(f, (n,), (ones(2),))"])  # fmt: skip
def test_integer_tensors_are_refused(run: Runner, form: str) -> None:
    """Never a silent zero: JAX refuses them too."""
    error = run.refused(f"f = lambda x: sum(x**2)\nn = array([3, 4])\n{form}")
    assert error.code == "E0301"
    assert "int64" in error.message
    assert "cast(x, float64)" in (error.hint or "")


def test_an_integer_among_floats_has_no_derivative(run: Runner) -> None:
    assert run("grad(lambda x, n: x**2, argnums=(0, 1))(3.0, int64(2))") == (6.0, None)
    assert [message for message, _ in run.notices("N0504")] == [
        "an argument of dtype int64 cannot be differentiated: its derivative is None; "
        "pass a float, or write cast(x, float64)"
    ]
    assert run("hessian(lambda x, n: x**2, argnums=(0, 1))(3.0, True)") == ((2.0, None), (None, None))


def test_the_tangent_of_an_integer_is_zero_or_refused(run: Runner) -> None:
    assert run("jvp(lambda x, n: x**2 * cast(n, float64), (3.0, int64(2)), (1.0, 0.0))") == (18.0, 12.0)
    error = run.refused("x**2", {"x": np.bool_(True)}, "derivative", order=1)
    assert (error.code, "bool" in error.message) == ("E0301", True)
    assert run.refused("x**2", {"x": np.bool_(True)}, "jvp", tangent={"x": 1.0}).code == "E0301"


@pytest.mark.parametrize("command", ["jacobian", "hessian", "vjp"])
def test_one_notice_for_an_input_without_tangent(run: Runner, command: str) -> None:
    run("sum(cast(n, float64)) * x", {"x": 2.0, "n": np.array([True, False])}, command)
    assert len(run.notices("N0504")) == 1
    assert run.notices("N0502") == []


# --- structures of results ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["jacobian", "jacrev", "jacfwd"])
def test_jacobian_mirrors_its_result(run: Runner, name: str) -> None:
    assert run(f"{name}(lambda x: {{'a': x**2, 'b': sum(x)}})(array([1.0, 2.0]))") == {
        "a": [[2.0, 0.0], [0.0, 4.0]],
        "b": [1.0, 1.0],
    }
    assert run(f"{name}(lambda x, y: (x*y, [y, x]), argnums=(0, 1))(2.0, 3.0)") == (
        (3.0, 2.0),
        [(0.0, 1.0), (1.0, 0.0)],
    )
    assert run(f"{name}(lambda x: [x[0]*x[1], x[1]])(array([2.0, 3.0]))") == [[3.0, 2.0], [0.0, 1.0]]


# --- custom_gradient ------------------------------------------------------------------------------------------------


def test_custom_gradient_says_what_it_leaves_out(run: Runner) -> None:
    text = "k = 3*w\n@custom_gradient\ndef f(x):\n    return x*k, lambda g: g*2.0\nf(x)"
    run(text, {"x": 2.0, "w": 5.0}, "grad")
    assert run.outcome.gradients == {"x": 2.0, "w": None}
    assert [place for _, place in run.notices("N0506")] == ["f(x)"]
    assert "a custom_gradient function that takes it from outside" in run.notices("N0502")[0][0]


def test_custom_gradient_of_its_arguments_is_no_news(run: Runner) -> None:
    text = "@custom_gradient\ndef f(x):\n    e = exp(x)\n    return log(1 + e)*c, lambda g: g*(1 - 1/(1 + e))\nc = 2.0\nf(x)"
    run(text, {"x": 1.0}, "hessian")
    assert run.outcome.notices == []


# --- cmath ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", "acos acosh asin asinh atan atanh cos cosh exp log log10 sin sinh sqrt tan tanh".split()
)
@pytest.mark.parametrize("z", [-1.5, 0.25, 2.0, "0.5 - 1j"])
def test_cmath_is_complex(run: Runner, name: str, z: float | str) -> None:
    import cmath

    number = complex(str(z).replace(" ", ""))
    expected = getattr(cmath, name)(number)
    for text in (f"cmath.{name}({z})", f"from cmath import {name}\n{name}({z})"):
        found = run(text)
        assert isinstance(found, complex)
        assert found == pytest.approx(expected, rel=1e-14)


def test_a_custom_rule_that_gives_none(run: Runner) -> None:
    assert run("f = custom_gradient(lambda x: (x*2, lambda g: None))\ngrad(f)(2.0)") == 0.0
    assert "returns None" in run.notices("N0502")[0][0]


# --- vmap and scan --------------------------------------------------------------------------------------------------


def test_maps_that_do_not_fit(run: Runner) -> None:
    assert run.refused("vmap(lambda x, y: x*y)(ones(2), ones(3))").code == "E0412"
    assert run.refused("vmap(lambda x, y: x*y, (0, 0, 0))(ones(2), ones(2))").code == "E0412"


# --- tapes ----------------------------------------------------------------------------------------------------------


def test_a_tape_that_never_recorded(run: Runner) -> None:
    run("t = GradientTape()\nx = Variable(2.0)\ny = x**2\nt.gradient(y, x)")
    assert "the tape never recorded; compute the target inside 'with tape:'" in run.notices("N0502")[0][0]


def test_zeros_are_called_zeros(run: Runner) -> None:
    text = "x = Variable(2.0)\nz = Variable(1.0)\nwith GradientTape() as t:\n    y = x**2\n"
    assert run(text + "t.gradient(y, z, unconnected_gradients='zero')") == 0.0
    assert run.notices("N0502")[0][0].startswith("the gradient is zero, as unconnected_gradients asks: ")


def test_who_is_named_where_a_matrix_is_singular(run: Runner) -> None:
    error = run.refused("slogdet(x)[1]", {"x": [[1.0, 1.0], [1.0, 1.0]]}, "grad")
    assert error.message == "slogdet (by inv): the matrix is singular"
    assert run.refused("inv([[1.0, 1.0], [1.0, 1.0]])").message == "inv: the matrix is singular"


def test_the_kink_of_a_complex_abs(run: Runner) -> None:
    run("abs(x)", {"x": 0j}, "grad")
    assert run.notices("N0501")[0][0].endswith("0 chosen from the unit disc")


# --- what scripts of JAX bring along --------------------------------------------------------------------------------


def test_trees_that_differ(run: Runner) -> None:
    assert run.refused("tree_map(lambda a, b: a, [1.0, 2.0], [1.0])").code == "E0508"
    assert run.refused("finfo(int64)").code == "E0306"
