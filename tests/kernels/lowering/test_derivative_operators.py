"""Derivative operators inside programs: kernels against the tape, and against closed forms."""

from __future__ import annotations

from math import exp
from typing import Any

import adiff
import numpy as np
import pytest
from agreement import agree

POINT: dict[str, Any] = {"x": 0.7, "y": -1.3, "v": np.array([0.3, -1.1, 0.9, 2.0])}
TOLERANCE = 1e-12

PROGRAMS = {
    "scalar": "grad(lambda u: u**3*x)(y)",
    "newton": ("f = lambda t: t**3 - x\nt = 1.5\nfor i in range(6):\n    t = t - f(t) / grad(f)(t)\nt"),
    "value_and_grad": (
        "def f(a, b):\n    return a*b**2\ny2, g = value_and_grad(f, argnums=(0,1))(x, y)\ny2 + g[0]*g[1]"
    ),
    "array": ("f = lambda u: sum(u**2*x) + u[0]*y\nsum(grad(f)(v)**2)"),
    "descent": (
        "f = lambda u: sum((u - x)**2) + u[0]*u[1]\nw = v*1.0\nfor i in range(4):\n    w = w - 0.1*grad(f)(w)\nsum(w*w)"
    ),
    "loop inside": (
        "def f(u):\n    s = u\n    for i in range(3):\n        s = s*s*0.5 + y\n    return s\ngrad(f)(x) * x"
    ),
    "branch": ("def f(u):\n    if u > 0.2:\n        return u**3\n    return sin(u)\ngrad(f)(x) + grad(f)(y)*x"),
    "jvp": ("y0, t = jvp(lambda u, w: u*u*w, (x, y), (1.0, x))\ny0 * t"),
    "jvp array": ("y0, t = jvp(lambda u: u*u*x, (v,), (v,))\nsum(y0 * t)"),
    "second": "grad(grad(lambda u: u**4*y))(x)",
    "third": "grad(grad(grad(lambda u: exp(u*y))))(x)",
    "hessian": ("H = hessian(lambda u: u[0]**2*u[1] + sin(u[2]*u[3])*x)(v)\nsum(H*H)"),
    "jacobian": ("J = jacobian(lambda u: stack([u[0]*u[1], u[2]**2*x]))(v)\nsum(J*J)"),
    "hvp": "sum(hvp(lambda u: sum(u**3)*y, v, v))*x",
    "vjp": ("y0, pull = vjp(lambda u, w: u*u*w, x, y)\na, b = pull(2.0)\na*b + y0"),
    "kink2": "grad(lambda u: abs(u)*y)(x)",
    "kwargs": ("def f(u, s=2.0):\n    return u**s\ngrad(f)(abs(x), s=3.0) * y"),
    "tuple arg": ("f = lambda p: p[0]*p[1]**2\na, b = grad(f)((x, y))\na + 2*b"),
    "nested loops with grads": (
        "def inner(u):\n"
        "    t = 0.5\n"
        "    for k in range(3):\n"
        "        t = t - 0.1*grad(lambda s: (s - u)**2*s)(t)\n"
        "    return t\n"
        "def outer(u):\n"
        "    return inner(u)**2 + u\n"
        "w = x\n"
        "for i in range(3):\n"
        "    w = w - 0.1*grad(outer)(w)\n"
        "w*y"
    ),
    "while": ("f = lambda t: t**2 - abs(x) - 1\nt = 3.0\nwhile abs(f(t)) > 1e-8:\n    t = t - f(t)/grad(f)(t)\nt"),
    "captured": ("def f(u):\n    return grad(lambda s: s*s*u)(u)\ngrad(f)(x)*y"),
    "aux": ("g, aux = grad(lambda u: (u*u, u*3), has_aux=True)(x)\ng*aux"),
    "const": "grad(lambda u: 3.0)(x) + x",
    "grad of row": "grad(sin)(x)*y",
    "jvp of a row with a rule": "y0, t = jvp(lambda u: norm(u*x)*u[1], (v,), (v*v,))\nt + y0*y",
    "jvp of rules in a branch": (
        "def f(u):\n    if x > 0:\n        return norm(u)*max(u)*x\n    return sum(u)\njvp(f, (v*y,), (v,))[1]"
    ),
    "jvp of rules in a loop": (
        "def f(u):\n    s = u\n    for i in range(3):\n        s = s / norm(s + y)\n    return s[0]*x\njvp(f, (v,), (v,))[1]"
    ),
    "jvp of linear algebra": (
        "A = stack([stack([v[3], v[0]]), stack([v[1], v[2]])])\n"
        "L = cholesky(A @ A.T)*x\n"
        "jvp(lambda b: sum(triangular_solve(L, b[:, None])**2) + sum(inv(A))*norm(b)*y, (v[:2],), (v[2:],))[1]"
    ),
    "descent through a descent": (
        "def descent(f, u):\n"
        "    for i in range(5):\n"
        "        slope = jvp(f, (u,), (constant([1.0, 0.5]),))[1]\n"
        "        if norm(slope*u) < 0.001:\n"
        "            return u\n"
        "        u = u - 0.1*slope/norm(u)\n"
        "    return u\n"
        "inner = lambda u: descent(lambda w: sum((w - u)**2*x), v[:2])\n"
        "sum(descent(lambda u: sum(u*inner(u)), v[2:]))"
    ),
}


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name: str) -> None:
    """Value, gradient and Hessian of a program with derivatives inside, by both tiers."""
    text = PROGRAMS[name]
    at = {x: POINT[x] for x in adiff.program(text).inputs}
    for command in ("value", "grad", "hessian"):
        assert agree(text, at, None, command, TOLERANCE) == "", command


# Rows that compute in place, as elimination with its exchanges of rows does: no sweep goes back through their statements.
IN_PLACE = {
    "A system": "jvp(lambda b: solve(A, b), v[:2], v[2:])[1]",
    "a system that moves": "jvp(lambda a: sum(solve(a*A, v[:2])), x, y)[1]",
    "an inverse": "jvp(lambda a: inv(A + a*B), x, y)[1]",
    "a determinant": "jvp(lambda a: det(A + a*B), x, y)[1]",
    "a Jacobian": "jacfwd(lambda b: solve(A, b))(v[:2])",
    "reflections": "jvp(lambda a: qr(A + a*B)[1], x, y)[1]",
    "segments": "jvp(lambda a: segment_max(v*a, [0, 0, 1, 1]), x, y)[1]",
}


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize("name", IN_PLACE)
def test_rows_that_compute_in_place(name: str) -> None:
    text = f"A, B = stack([v[:2], v[1:3]]), stack([v[1:3], v[2:]])\nsum({IN_PLACE[name]})"
    point = {"v": [0.5, 2.0, 3.0, 1.25], "x": 0.3, "y": 0.8}
    at = {x: point[x] for x in adiff.program(text).inputs}
    assert agree(text, at, None, "value", TOLERANCE) == ""
    assert agree(text, at, None, "grad", TOLERANCE) in (
        "",
        "no kernel for the gradient of tangents of a row that computes in place",
    )


# What a derivative inside depends on: what stands on the paths that lead to what it is taken by, and nothing else.
LOOP = "def f(p):\n    s = 0.0\n    for i in range({}):\n        s = s * x + p\n    return s\ngrad(f)(y)"
PAIR = "(lambda p, q: stack([2*p*q, 2*p*q, p*q, p*q, p*q, p]), argnums=(0, 1))(x, y)[0]"
PATHS: dict[str, tuple[str, dict[str, Any]]] = {
    "one of two factors": ("grad(lambda p: 2*(p[0]*p[1]) + p[1])([x, y])[0]", {"x": None, "y": 2.0}),
    "the other": ("grad(lambda p: 2*(p[0]*p[1]) + p[1])([x, y])[1]", {"x": 2.0, "y": None}),
    "of a linear function of the program's": (
        "def f(z):\n    return 2*z\ngrad(lambda p: f(p[0]*p[1]) + p[1])([x, y])[0]", {"x": None, "y": 2.0},
    ),
    "of two arguments": ("grad(lambda p, q: p*q, argnums=(0, 1))(x, y)[0]", {"x": None, "y": 1.0}),
    "a square": ("grad(lambda p: p[0]*p[1])([x, x*y])[0]", {"x": -1.3, "y": 0.7}),
    "one iteration": (LOOP.format(1), {"x": None, "y": None}),
    "several iterations": (LOOP.format("n"), {"x": 1.0, "y": None}),
    "a column of a Jacobian": (f"jacobian{PAIR}[0]", {"x": None, "y": 2.0}),
    "one that is found forwards": (f"jacfwd{PAIR}[0]", {"x": None, "y": 2.0}),
    "one that is found in reverse": (f"jacrev{PAIR}[0]", {"x": None, "y": 2.0}),
    "a direction of zero": ("jvp(lambda p, q: 2*p*q, (x, y), (1.0, 0.0))[1]", {"x": 0.0, "y": 2.0}),
    "a direction that nothing follows": (
        "jvp(lambda p: p*y if y > 0 else 3.0*y, (x,), (x,))[1] + y", {"x": None, "y": 1.0},
    ),
    "a cotangent that nothing follows": (
        "vjp(lambda p: p*y if y > 0 else 3.0*y, x)[1](x)[0] + y", {"x": None, "y": 1.0},
    ),
    "an item that a list loses": (
        "def f(p):\n    q = [1.0, p[0]]\n    for i in range(1):\n        q[i] = q[1 - i]*p[1]\n    return q[0] + q[1]\n"
        "grad(f)([x, y])[1]", {"x": 1.0, "y": None},
    ),
    "an item that nothing leads to any more": (
        "def f(p):\n    q = [p[0], p[1], p[0] * p[0]]\n    for i in range(2):\n        q[i % 3] = 3.0\n    return q[1]\n"
        "grad(f)(array([x, y]))[0] + y", {"x": None, "y": 1.0},
    ),
    "an item beside others": (
        "def f(p):\n    q = [p[0], p[1], p[1] / p[1]]\n    for i in range(1):\n        q[i % 3] = p[0] * 2.0\n    return q[0]\n"
        "grad(f)(array([x, y]))[1] + y", {"x": None, "y": 1.0},
    ),
}  # fmt: skip


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize("name", PATHS)
def test_what_a_derivative_depends_on(name: str) -> None:
    text, expected = PATHS[name]
    at = {"x": 0.7, "y": -1.3} | ({"n": 2} if "(n)" in text else {})
    agree(text, at, ["x", "y"])
    for engine in ("tape", "kernel"):
        found = adiff.program(text).evaluate("grad", at, ["x", "y"], engine=engine).gradients
        assert {x: g if g is None else round(g, 12) for x, g in found.items()} == expected, engine


# Gradients by more inputs than are followed forward, and something around that is differentiated.
SWEPT = {
    "norm": "g = grad(lambda u: sum(u**3*cos(u)))(w)\nsum(g*g)",
    "joined": "g = grad(lambda u: sum(u**3)*sum(sin(u)))(concat([v, v*x, v*v], axis=0))\nsum(concat([g, v], axis=0)**2)",
    "captured": "a = sum(w)\ng = grad(lambda u: sum(a*u**3*w*x))(w*2)\nsum(g*sin(w))",
    "loop": (
        "def f(u):\n    s = x\n    for i in range(10):\n        s += (u[i+1] - u[i]**2)**2*s*0.1\n    return s\nsum(grad(f)(w)**2)"
    ),
    "descent": "f = lambda u: sum(u**4)*x + u[0]*u[1]\ny2 = w\nfor k in range(3):\n    y2 = y2 - 0.1*grad(f)(y2)\nsum(y2**2)",
    "value too": "y2, g = value_and_grad(lambda u: sum(exp(u)*u*x))(w)\ny2*sum(g**2)",
    "branch": "def f(u):\n    if u[0] > 0:\n        return sum(u**3)\n    return sum(u**2*x)\nsum(grad(f)(w)**3)",
    "in a branch": "g = w\nif x > 0:\n    g = grad(lambda u: sum(u**3)*x)(w)\nsum(g*w)",
    "matrix": "A = reshape(concat([w, w*2], axis=0), (2, 12))\nsum(grad(lambda u: sum(tanh(A @ u)**2))(w)**2)*x",
    "two arguments": "a, b = grad(lambda u, t: sum(u**2*t**3*x), argnums=(0, 1))(w, w*w)\nsum(a*b)",
    "number and array": "a, b = grad(lambda u, t: sum(u*t**3), argnums=(0, 1))(x, w)\na*sum(b)",
    "linear": "sum(grad(lambda u: sum(3*u)*x)(w)*w)",
    "vjp": "y2, pull = vjp(lambda u: sum(u**2)*x, w)\nsum(pull(3.0)[0]**2)",
    "while": "def f(u):\n    s = sum(u**2)\n    while s > 1:\n        s = s*0.5*cos(u[3]*x)\n    return s\nsum(grad(f)(w)**2)",
    "element writes": "def f(u):\n    t = u\n    for i in range(5):\n        t[i] = t[i+1]*2.0 + t[i]**2\n    return sum(t*t)*x\nsum(grad(f)(w)**2)",
}  # fmt: skip
WIDE: dict[str, Any] = {"x": 0.7, "v": POINT["v"], "w": np.linspace(-1.0, 1.2, 12)}


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize("name", SWEPT)
def test_gradients_of_many_inputs_have_derivatives(name: str) -> None:
    """What is swept for inside the program, with its own derivative: that of the derivative along the cotangents."""
    text = SWEPT[name]
    at = {x: WIDE[x] for x in adiff.program(text).inputs}
    for command in ("value", "grad", "hessian"):
        assert agree(text, at, None, command, TOLERANCE) == "", command


# Hessians and Jacobians by more numbers than FEW: the tangents of every direction are written out.
ROSENBROCK = "def f(z):\n    return sum(100.0*(z[1:] - z[:-1]**2)**2 + (1.0 - z[:-1])**2)\n"
BROAD = {
    "newton": f"{ROSENBROCK}z = u\nfor i in range(2):\n    z = z - solve(hessian(f)(z), grad(f)(z))\nf(z)",
    "loop": (
        "def f(z):\n    s = 0.0\n    for i in range(29):\n        s += (z[i+1] - z[i]**2)**2*x\n    return s\n"
        "H = hessian(f)(u)\nsum(H*H)"
    ),
    "jacobian": "J = jacobian(lambda z: tanh(z)*x + z[0])(u)\nsum(J*J)",
    "jacobian by two": "J = jacobian(lambda z, t: z*t, argnums=(0, 1))(u, x)\nsum(J[0]**2) + sum(J[1]*u)",
    "jacobian of a tape": (
        "z = u*1\nwith GradientTape() as t:\n    t.watch(z)\n    y = z**3*z[0]*x\nJ = t.jacobian(y, z)\nsum(J*J)"
    ),
}  # fmt: skip


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize("name", BROAD)
def test_jacobians_by_many_numbers(name: str) -> None:
    text = BROAD[name]
    at = {x: {"x": 0.7, "u": np.linspace(0.5, 1.2, 30)}[x] for x in adiff.program(text).inputs}
    assert agree(text, at, None, "value", TOLERANCE) == ""
    if "jacobian" in text:
        assert agree(text, at, None, "grad", TOLERANCE) == ""


def test_a_hessian_of_a_closed_form_by_many_numbers() -> None:
    """The Hessian of sum(z**3 z[0]) at z, from machine code."""
    z = np.linspace(-1.0, 1.0, 30)
    found = adiff.program("hessian(lambda z: sum(z**3)*z[0])(u)").evaluate("value", {"u": z}, engine="kernel")
    expected = np.diag(6 * z * z[0])
    expected[0] += 3 * z**2
    expected[:, 0] += 3 * z**2
    assert found.engine == "kernel"
    np.testing.assert_allclose(found.value, expected, rtol=1e-13, atol=1e-15)


@pytest.mark.usefixtures("interpret")
def test_a_jacobian_of_too_much_code_is_the_tapes() -> None:
    """The tangents of every direction would be more than MOST_WRITTEN statements."""
    text = f"{ROSENBROCK}H = hessian(f)(u)\nsum(H*H)"
    found = agree(text, {"u": np.linspace(0.5, 1.2, 400)}, None, "value", TOLERANCE)
    assert "a Jacobian by this many numbers" in found


@pytest.mark.usefixtures("interpret")
def test_the_sweep_back_through_the_gradient_of_a_gradient_is_the_tapes() -> None:
    text = "f = lambda u: sum(u**4)\nsum(grad(lambda u: sum(grad(f)(u)**2))(w)**2)"
    assert agree(text, {"w": WIDE["w"]}, None, "value") == ""
    assert "taken in reverse" in agree(text, {"w": WIDE["w"]}, None, "grad")


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize("text", ["grad(lambda u: abs(u))(x - x)", "grad(lambda u: floor(u) * u)(x - x)"])
def test_kinks_are_the_tape_s(text: str) -> None:
    """What a sweep inside the program meets at a singular point, only the tape tells."""
    for command in ("value", "grad"):
        assert "singular point" in agree(text, {"x": 0.7}, None, command)


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize(
    ("text", "code"),
    [("grad(lambda u: u * v)(x)", "E0507"), ("grad(3.0)(x)", "E0304"), ("grad(lambda: 1.0)()", "E0508")],
)
def test_mistakes(text: str, code: str) -> None:
    at = {x: POINT[x] for x in adiff.program(text).inputs}
    with pytest.raises(adiff.AdiffError) as error:
        adiff.program(text).evaluate("value", at, engine="kernel")
    assert error.value.code == code


def test_compiled_newton_of_a_closed_form() -> None:
    """Newton's iteration for the cube root by gradients inside a loop: d cbrt(x)/dx = 1 / (3 cbrt(x)**2)."""
    text = PROGRAMS["newton"].replace("range(6)", "range(9)")
    outcome = adiff.program(text).evaluate("grad", {"x": 5.0}, engine="kernel")
    assert outcome.engine == "kernel", outcome.reason
    assert abs(outcome.value - 5 ** (1 / 3)) < 1e-15
    assert abs(outcome.gradients["x"] - 1 / (3 * 5 ** (2 / 3))) < 1e-15


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize(
    "text",
    [
        "jvp(lambda u: norm(u - v)*x, (v,), (v*v,))[1]",
        "f = lambda u: norm(u - v)*x\ns = 0.0\nfor i in range(3):\n    s = s + jvp(f, (v*i,), (v,))[1]\ns",
        "jvp(lambda u: max(u*0)*x, (v,), (v,))[1]",
        "jvp(lambda u: x // u, x, 1.0)[1] + v[0]",
    ],
)
def test_tangents_at_singular_points_of_rules(text: str) -> None:
    """Where a rule chooses a derivative, the statements of its row know of no choice: the tape says what holds."""
    why = agree(text, {"x": POINT["x"], "v": POINT["v"]}, None, "value", TOLERANCE)
    assert "singular point" in why or "nan or infinite" in why


@pytest.mark.parametrize(
    "text",
    [
        "sum(grad(lambda u: sum(u*w))(v)*w)",
        "sum(grad(lambda u: sum(u*u*w))(v)*w)",
        "sum(grad(lambda u: sum(u)**2)(v) + w)",
    ],
)
def test_what_a_gradient_depends_on(text: str) -> None:
    """The gradient of what is linear in many numbers does not depend on them, and that is told."""
    at = {"v": np.linspace(0.5, 2.0, 20), "w": np.cos(np.arange(20.0))}
    tape, kernel = (
        adiff.program(text).evaluate("grad", at, ["v", "w"], engine=engine) for engine in ("tape", "kernel")
    )
    assert tape.gradients is not None
    assert kernel.gradients is not None
    assert [str(n) for n in kernel.notices] == [str(n) for n in tape.notices]
    for name, gradient in tape.gradients.items():
        if gradient is None:
            assert kernel.gradients[name] is None
        else:
            np.testing.assert_allclose(kernel.gradients[name], gradient, rtol=1e-13)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("grad(lambda u: exp(-(u*r)))(x)", 0.0),
        ("grad(lambda u: exp(-(u[0] + u[1]*r)))(v[2:])", [0.0, 0.0]),
        ("jacfwd(lambda u: exp(-(u*r)))(x)", 0.0),
        (
            "g = 0.0\nfor k in range(len(w)):\n    g = g + grad(lambda u: exp(-u*w[k]))(x)\ng",
            -exp(-0.7) - 3 * exp(-2.1),
        ),
    ],
)
def test_zero_beside_infinity(text: str, expected: Any) -> None:
    """A slope that is zero stays zero beside an infinity, by tangents as by a sweep; in long loops too."""
    at = {**POINT, "r": np.inf, "w": np.array([1.0, np.inf, 3.0])}
    program = adiff.program(text)
    assert agree(program, at, None, "value") == ""
    np.testing.assert_allclose(program.value(at, engine="kernel"), expected, rtol=1e-14, atol=0)
    finite = {**at, "r": 2.0, "w": np.array([1.0, 2.0, 3.0])}
    assert agree(program, finite, None, "value") == ""


UNSIGNED = [
    # Each derivative is -0.0 as it is found, by tangents or by a sweep.
    "f = lambda t: -(t * t * y)\n"
    "[grad(f)(x), jacobian(f)(x), hessian(f)(x), grad(grad(f))(x), hvp(f, x, 1.0), jvp(f, x, 1.0)[1], vjp(f, x)[1](-1.0)[0]]",
    "f = lambda t: sum((t * y) ** 3)\nconcat([grad(f)(v), jvp(lambda t: -t * y, v, v)[1], hvp(f, v, v), vjp(f, v)[1](-1.0)[0]], axis=0)",
    "[jacobian(lambda t: -t * y)(v), hessian(lambda t: sum((t * y) ** 3))(v)]",
    "with GradientTape() as t:\n    t.watch(x)\n    z = -(x * y)\nt.gradient(z, x)",
    "with GradientTape() as t:\n    t.watch(v)\n    z = -v * y\nt.jacobian(z, v)",
]


@pytest.mark.parametrize("text", UNSIGNED)
def test_zeros_have_no_sign(text: str) -> None:
    *before, last = text.split("\n")
    made = "\n".join([*before, f"g = array({last})", "sum(where(g == 0, atan2(g, -1.0), 9.0) - pi)"])
    for engine in ("tape", "kernel"):
        found = adiff.program(made).evaluate("value", {"x": 0.5, "y": -0.0, "v": [0.5, 0.25]}, engine=engine)
        assert (found.engine, found.value) == (engine, 0.0)


def test_a_tangent_of_zero_beside_an_infinite_cotangent() -> None:
    """A sweep decides, as on the tape: the slope of the inner gradient by x is zero whatever it meets."""
    assert agree("1 / grad(lambda t: -((t - 1) ** 2) * y)(x)", {"x": 2.0, "y": -0.0}, None, "grad") != ""


@pytest.mark.parametrize(("c", "y", "expected"), [(0.0, np.inf, 0.0), (np.inf, 0.5, np.inf), (2.0, 0.5, np.exp(0.35))])
def test_a_cotangent_beside_what_is_not_finite(c: float, y: float, expected: float) -> None:
    """The sweep begins with the cotangent, and a zero stays zero whatever it meets."""
    text = "vjp(lambda t: exp(t * y), x)[1](c)[0]"
    assert (agree(text, {"x": 0.7, "y": y, "c": c}, None, "value") == "") is (c == 2.0)
    assert adiff.program(text).value({"x": 0.7, "y": y, "c": c}, engine="kernel") == pytest.approx(expected)


LISTS: list[tuple[str, Any]] = [
    ("jvp(f, v, [1.0, x])[1]", [3 * 0.3**2, 3 * 0.8**2 * 0.5]),
    ("jvp(f, v, [[1, 0]])[1]", [3 * 0.3**2, 0]),
    ("jvp(f, (v,), ([1.0, 0.0],))[1]", [3 * 0.3**2, 0]),
    ("jvp(f, v, (2.0,))[1]", [6 * 0.3**2, 6 * 0.8**2]),
    ("hvp(lambda t: sum(f(t)), v, [1.0, x])", [6 * 0.3, 6 * 0.8 * 0.5]),
    ("jvp(lambda p: p['v'] * p['x'], ({'v': v, 'x': x},), ({'v': [1.0, 0.0], 'x': 1.0},))[1]", [0.5 + 0.3, 0.8]),
    *(
        (text, None)
        for text in (
            "jvp(f, v, [2.0])",
            "jvp(f, (v,), ([2.0],))",
            "jvp(f, [v], [[2.0]])",
            "jvp(f, (x,), ([2.0],))",
            "hvp(lambda t: sum(f(t)), v, [2.0])",
            "hvp(lambda t: sum(f(t)), (v,), ([2.0],))",
        )
    ),
]


@pytest.mark.parametrize("engine", ["tape", "kernel"])
@pytest.mark.parametrize(("text", "expected"), LISTS)
def test_a_list_as_a_direction(text: str, expected: Any, engine: Any) -> None:
    """It is as a tensor of that shape, and no other shape's fits."""
    program, at = adiff.program(f"f = lambda t: t**3\n{text}"), {"v": [0.3, 0.8], "x": 0.5}
    at = {name: at[name] for name in program.inputs}
    if expected is None:
        with pytest.raises(adiff.AdiffError) as told:
            program.evaluate("value", at, engine=engine)
        assert told.value.code == "E0302"
    else:
        found = program.evaluate("value", at, engine=engine)
        assert found.engine == engine
        np.testing.assert_allclose(found.value, expected, rtol=1e-14)
