"""The drivers against each other and against mpmath: every derivative of a function, found in every way."""

import math
from typing import Any

import mpmath as mp
import numpy as np
import pytest
from adiff import program

# Programs of one vector x of three numbers, with the same function in mpmath.
VECTOR_FUNCTIONS: dict[str, tuple[str, Any]] = {
    "mixed": ("stack([x[0]*sin(x[1]), exp(x[2]) / x[0], x[0]*x[1]*x[2]])", lambda a, b, c: [a * mp.sin(b), mp.exp(c) / a, a * b * c]),
    "tall": ("stack([x[0]**k for k in range(1, 6)])", lambda a, b, c: [a**k for k in range(1, 6)]),
    "wide": ("stack([sum(x**3)])", lambda a, b, c: [a**3 + b**3 + c**3]),
    "matrix": ("[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]] @ tanh(x)", lambda a, b, c: [mp.tanh(a) + 2 * mp.tanh(b) + 3 * mp.tanh(c), 4 * mp.tanh(a) + 5 * mp.tanh(b) + 6 * mp.tanh(c)]),
    "loop": ("y = x\nfor k in range(3):\n    y = y * 0.5 + sin(y)\ny", lambda *v: [loop(u) for u in v]),
    "branches": ("stack([v**2 if v > 1 else exp(v) for v in x])", lambda *v: [u**2 if u > 1 else mp.exp(u) for u in v]),
    "cumulative": ("cumprod(x)", lambda a, b, c: [a, a * b, a * b * c]),
}  # fmt: skip
POINT = [0.7, 1.3, -0.4]


def loop(u: Any) -> Any:
    for _ in range(3):
        u = u * mp.mpf("0.5") + mp.sin(u)
    return u


def exact_jacobian(f: Any, at: list[float]) -> np.ndarray[Any, Any]:
    with mp.workdps(40):
        point = [mp.mpf(repr(v)) for v in at]
        columns = []
        for k in range(len(at)):
            count = len(f(*point))
            columns.append(
                [
                    float(
                        mp.diff(lambda v, i=i, k=k: f(*[v if j == k else p for j, p in enumerate(point)])[i], point[k])
                    )
                    for i in range(count)
                ]  # type: ignore[misc]
            )
        return np.array(columns).T


@pytest.mark.parametrize("name", VECTOR_FUNCTIONS)
def test_jacobians_of_both_modes(name: str) -> None:
    text, f = VECTOR_FUNCTIONS[name]
    expected = exact_jacobian(f, POINT)
    compiled = program(text)
    for mode in ("forward", "reverse", "auto"):
        found = compiled.jacobian({"x": POINT}, mode=mode)["x"]
        assert found == pytest.approx(expected, rel=1e-12, abs=1e-13), mode


@pytest.mark.parametrize("name", VECTOR_FUNCTIONS)
def test_products_are_rows_and_columns_of_the_jacobian(name: str) -> None:
    text, f = VECTOR_FUNCTIONS[name]
    compiled = program(text)
    expected = exact_jacobian(f, POINT)
    tangent = [0.3, -1.0, 2.0]
    cotangent = [float(i + 1) * (-1) ** i for i in range(len(expected))]
    _, pushed = compiled.jvp({"x": POINT}, {"x": tangent})
    _, pulled = compiled.vjp({"x": POINT}, cotangent)
    assert pushed == pytest.approx(expected @ tangent, rel=1e-12, abs=1e-13)
    assert pulled["x"] == pytest.approx(cotangent @ expected, rel=1e-12, abs=1e-13)
    assert np.dot(pushed, cotangent) == pytest.approx(np.dot(pulled["x"], tangent), rel=1e-13)


def test_a_direction_in_an_array_is_as_bare_as_its_input() -> None:
    text = "p = x[0]\nfor a in x[1:]:\n    p = p * (0.4 + 0.9j) + a\nabs(p)"
    tangent = np.array([0.3, -1.0, 2.0])
    value, change = (np.polyval(v, 0.4 + 0.9j) for v in (POINT, tangent))
    expected = (value.conjugate() * change).real / abs(value)
    for engine in ("tape", "kernel"):
        _, pushed = program(text).jvp({"x": POINT}, {"x": tangent}, engine=engine)
        assert pushed == pytest.approx(expected, rel=1e-13)
        product = program(text).hvp({"x": POINT}, {"x": tangent}, engine=engine)["x"]
        along = (abs(change) ** 2 - expected**2) / abs(value)
        assert tangent @ product == pytest.approx(along, rel=1e-12)


def test_the_mode_is_chosen_by_shape() -> None:
    assert program("x * ones(10)").evaluate("jacobian", {"x": 2.0}).mode == "forward"
    assert program("sum(x)").evaluate("jacobian", {"x": [1.0] * 10}).mode == "reverse"


SCALAR_FUNCTIONS: dict[str, tuple[str, Any]] = {
    "polynomial": ("x**3*y - 2*x*y**2 + z**2*x", lambda x, y, z: x**3 * y - 2 * x * y**2 + z**2 * x),
    "transcendental": ("exp(x*y) + sin(z*y) * log(x)", lambda x, y, z: mp.exp(x * y) + mp.sin(z * y) * mp.log(x)),
    "quotient": ("(x + y) / (1 + z**2 + x**2)", lambda x, y, z: (x + y) / (1 + z**2 + x**2)),
    "loop": ("s = 0.0\nfor k in range(1, 5):\n    s += (x*z)**k / k + y\ns * y", lambda x, y, z: y * sum((x * z) ** k / k + y for k in range(1, 5))),
    "powers": ("x**y + y**x", lambda x, y, z: x**y + y**x),
}  # fmt: skip


@pytest.mark.parametrize("name", SCALAR_FUNCTIONS)
def test_hessian(name: str) -> None:
    text, f = SCALAR_FUNCTIONS[name]
    compiled = program(text)
    names = [n for n in ("x", "y", "z") if n in compiled.inputs]
    at = {"x": 0.8, "y": 1.7, "z": -0.6}
    hessian = compiled.hessian({n: at[n] for n in names})
    with mp.workdps(40):
        point = [mp.mpf(repr(v)) for v in at.values()]
        for i, row in enumerate(names):
            for j, column in enumerate(names):
                orders = [0, 0, 0]
                orders[i] += 1
                orders[j] += 1
                assert hessian[row][column] == pytest.approx(
                    float(mp.diff(f, point, tuple(orders))), rel=1e-12, abs=1e-13
                )
                assert hessian[row][column] == hessian[column][row]
    vector = {n: (-1.5) ** i for i, n in enumerate(names)}
    product = compiled.hvp({n: at[n] for n in names}, vector)
    for row in names:
        assert product[row] == pytest.approx(sum(hessian[row][c] * vector[c] for c in names), rel=1e-12, abs=1e-13)


def test_hessian_of_blocks() -> None:
    """f = a^T X a: d2f/da2 = X + X^T, d2f/dadX, and 0 for X twice."""
    X, a = np.array([[1.0, 2.0], [3.0, 5.0]]), np.array([0.5, -1.5])
    compiled = program("sum(a * (X @ a))")
    blocks = compiled.hessian({"a": a, "X": X})
    assert blocks["a"]["a"] == pytest.approx(X + X.T)
    assert blocks["X"]["X"] == pytest.approx(np.zeros((2, 2, 2, 2)))
    mixed = np.einsum("ik,j->ijk", np.eye(2), a) + np.einsum("jk,i->ijk", np.eye(2), a)
    assert blocks["X"]["a"] == pytest.approx(mixed)
    assert blocks["a"]["X"] == pytest.approx(np.moveaxis(mixed, -1, 0))
    vector = {"a": [1.0, 2.0], "X": [[0.0, 1.0], [1.0, 0.0]]}
    product = compiled.hvp({"a": a, "X": X}, vector)
    assert product["a"] == pytest.approx(
        (X + X.T) @ vector["a"] + np.einsum("kij,ij->k", np.moveaxis(mixed, -1, 0), np.array(vector["X"]))
    )


DERIVATIVES: dict[str, tuple[str, float, Any]] = {
    "exp": ("exp(2*x)", 0.3, lambda n: 2**n * math.exp(0.6)),
    "sin": ("sin(x)", 0.9, lambda n: math.sin(0.9 + n * math.pi / 2)),
    "log": ("log(x)", 1.7, lambda n: (-1) ** (n - 1) * math.factorial(n - 1) / 1.7**n),
    "power": ("x**7", 1.1, lambda n: math.perm(7, n) * 1.1 ** (7 - n)),
    "reciprocal": ("1/x", 0.8, lambda n: (-1) ** n * math.factorial(n) / 0.8 ** (n + 1)),
    "root": ("x**0.5", 2.0, lambda n: math.prod(0.5 - k for k in range(n)) * 2.0 ** (0.5 - n)),
    "loop": ("y = 1.0\nfor _ in range(8):\n    y *= x\ny", 0.9, lambda n: math.perm(8, n) * 0.9 ** (8 - n)),
    "tan": ("tan(x)", 0.0, lambda n: [0, 1, 0, 2, 0, 16, 0][n]),
}


@pytest.mark.parametrize("name", DERIVATIVES)
def test_derivatives_to_order_six(name: str) -> None:
    text, x, exact = DERIVATIVES[name]
    outcome = program(text).evaluate("derivative", {"x": x}, order=6)
    assert outcome.derivatives == pytest.approx([exact(n) for n in range(1, 7)], rel=1e-11, abs=1e-11)


def test_the_last_value_of_the_module_is_differentiated() -> None:
    """A print after it, or a loop around it, changes nothing: the last expression or assignment executed counts."""
    outcome = program("y = x**2\nprint(y)").evaluate("grad", {"x": 3.0})
    assert (outcome.value, outcome.gradients) == (9.0, {"x": 6.0})
    assert program("for k in range(3):\n    y = x**k\n").value_and_gradient({"x": 3.0}) == (9.0, {"x": 6.0})
    assert program("if x > 1:\n    x**2\nelse:\n    x").value_and_gradient({"x": 3.0}) == (9.0, {"x": 6.0})
    assert program("return x**2\n").value_and_gradient({"x": 3.0}) == (9.0, {"x": 6.0})


@pytest.mark.parametrize("command", ["grad", "hessian", "jacobian", "vjp", "tape"])
def test_a_string_carries_no_derivative(command: str) -> None:
    """It is an input like any other: a notice names its dtype, and its gradient is None."""
    found = program("x if k == 'a' else x**2").evaluate(command, {"x": 3.0, "k": "b"})
    assert found.value == 9.0
    assert [(n.code, "string" in n.message) for n in found.notices] == [("N0504", True)]
    if command == "grad":
        assert found.gradients == {"k": None, "x": 6.0}


@pytest.mark.parametrize(
    ("result", "is_what", "gradient"),
    [
        ("{'a': x, 'b': [x**2, x]}", "is a dict and no tensor", 6.0),
        ("[x, (x**2, 1)]", "is a list and no tensor", 5.0),
        ("(x * ones(2), x)", "is a tuple and no tensor", 3.0),
        ("[x, x**2]", "has shape [2]", 5.0),
        ("y = x * ones(3); y[y > 1]", "has shape [3]", 3.0),
        ("x**2", None, 4.0),
    ],
)
def test_a_gradient_of_several_values_says_that_they_are_summed(
    result: str, is_what: str | None, gradient: float
) -> None:
    for engine in ("tape", "kernel"):
        found = program(result).evaluate("grad", {"x": 2.0}, engine=engine)
        assert found.engine == (engine if "y > 1" not in result else "tape")
        assert found.gradients == {"x": gradient}
        told = [notice.message for notice in found.notices if notice.code == "N0503"]
        assert told == ([] if is_what is None else [f"the result {is_what}: its elements are summed for the gradient"])
