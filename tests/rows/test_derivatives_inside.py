"""Derivatives inside the program of a table: rows go together, and each has what it has alone."""

from __future__ import annotations

import adiff
import numpy as np
import pytest
from one_by_one import same_as_rows

COUNT = 40
RANDOM = np.random.default_rng(3)
COLUMNS = {
    "x": np.where(np.arange(COUNT) % 4 == 0, -1, 1) * RANDOM.uniform(0.5, 2, COUNT),
    "y": RANDOM.uniform(1, 2, COUNT),
    "k": np.arange(COUNT) % 3,
}
TAPE = "with GradientTape() as t:\n    t.watch(x)\n"
TOGETHER = {
    "a function": "def f(t):\n    return t**2*y\ngrad(f)(x)*x",
    "nan in some rows": "def f(t):\n    return sqrt(t)*y\ngrad(f)(x)*x",
    "a function that branches": "def f(t):\n    if t > 0:\n        return t**3\n    return t*y\ngrad(f)(x)*x",
    "a second derivative": "grad(grad(lambda t: sin(t*y)))(x)",
    "two arguments": "v, g = value_and_grad(lambda t, s: t*s**2, argnums=(0, 1))(x, y)\nv + g[0]*g[1]",
    "an operation": "grad(sin)(x)",
    "a kink": "grad(abs)(x - x)*y",
    "a loop": "s = x\nfor i in range(k):\n    s = s - 0.1*grad(lambda t: t**4 + y*t)(s)\ns",
    "a constant argument": "grad(lambda t: t*y if y > 1.5 else t*t)(2.0)*x",
    "a column of integers": "grad(lambda t: t*x)(k)",
    "an argument that plays no part": "grad(lambda t: y)(x) + x",
    "an assertion inside": "def f(t):\n    assert t > 0, f'{t}'\n    return t*y\ngrad(f)(x)",
    "no scalar": "grad(lambda t: [t, x])(x)",
    "a tape": f"{TAPE}    z = sqrt(x)*y\nt.gradient(z, x)*x",
    "a tape asked twice": (
        "with GradientTape(persistent=True) as t:\n    t.watch([x, y])\n    z = x*y + x**2\n"
        "a = t.gradient(z, x)\nb = t.gradient(z, [x, y])\na*b[1]"
    ),
    "a tape that may be asked once": f"{TAPE}    z = x*y\na = t.gradient(z, x)\na + t.gradient(z, x)",
    "a tape of branches": f"{TAPE}    if x > 0:\n        z = x*x\n    else:\n        z = x*y\nt.gradient(z, x)",
    "a tape on one side": f"if x > 0:\n    {TAPE[:-1].replace(chr(10), chr(10) + '    ')}\n        z = x**3\n"
    "    g = t.gradient(z, x)\nelse:\n    g = x\ng*y",
    "a tape around a tape": (
        "with GradientTape() as a:\n    a.watch(x)\n    with GradientTape() as b:\n        b.watch(x)\n        z = x**3*y\n"
        "    g = b.gradient(z, x)\na.gradient(g, x)"
    ),
}
TOGETHER |= {
    "a tape asked on one side": f"{TAPE}    z = x*y\ng = t.gradient(z, x) if x > 0 else y\ng*x",
    "a pullback asked on one side": "p, pull = vjp(lambda u: u**2*y, x)\nr = pull(1.0)[0] if x > 0 else p\nr*x",
    "a Jacobian of a tape": "with GradientTape() as t:\n    u = stack([x, y])\n    t.watch(u)\n    z = u**2*x\nJ = t.jacobian(z, u)\nJ[0,0]*y + J[1,1] + J[0,1]",
    "a Jacobian of a tape by a number": f"{TAPE}    z = stack([x*y, x**3])\nt.jacobian(z, x)[1]",
    "Jacobians of a tape": f"{TAPE}    z = x*y\n    w = stack([x**2, y])\na, b = t.jacobian([z, w], x)\na*b[0] + b[1]",
    "a Jacobian": "def f(u):\n    return stack([u[0]*u[1], sin(u[0]), y*u[1]])\nJ = jacobian(f)(stack([x, y]))\nJ[0,0]*J[1,0] + J[2,1]*J[0,1]",
    "a Jacobian by a number": "J = jacobian(lambda u: [u*y, u**3, 2.0])(x)\nJ[0]*J[1] + J[2]",
    "a Jacobian, column by column": "J = jacfwd(lambda u: stack([u**2*y, u*y]))(x)\nJ[0] + J[1]*x",
    "a Jacobian of a number": "jacrev(lambda u: u[0]*u[1]**2)(stack([x, y]))[1]",
    "a Jacobian by two arguments": "a, b = jacobian(lambda u, v: stack([u*v, v]), argnums=(0, 1))(x, y)\nsum(a)*sum(b)",
    "a Jacobian of branches": "def f(u):\n    if u > 0:\n        return stack([u**2, y])\n    return stack([y*u, u])\nJ = jacobian(f)(x)\nJ[0] + 2*J[1]",
    "a Jacobian of what is constant": "jacobian(lambda u: 3.0)(x) + x",
    "a list of arguments": "J = jacobian(lambda p: p[0]**2*p[1])([x, y])\nJ[0]*J[1]",
    "a Hessian": "H = hessian(lambda u: u[0]**2*u[1] + sin(u[1]))(stack([x, y]))\nH[0,0]*H[1,1] - H[0,1]**2",
    "a Hessian by a number": "hessian(lambda u: u**3*y + abs(u))(x) + x",
    "a Hessian by two arguments": "H = hessian(lambda u, v: u**2*v**3, argnums=(0, 1))(x, y)\nH[0][1]*x + H[1][1]",
    "a Newton step": "def f(u):\n    return exp(u[0]*0.5) + u[0]*u[1] + u[1]**2*y\nu = stack([x, y])\ng = grad(f)(u)\nH = hessian(f)(u)\n(g[0]*H[1,1] - g[1]*H[0,1])/(H[0,0]*H[1,1] - H[0,1]**2)",
    "a tangent": "p, t = jvp(lambda u: u**3*y, (x,), (1.0,))\np*t",
    "a tangent of two arguments": "p, t = jvp(lambda u, v: stack([u*v, u**2]), (x, y), (y, 2.0))\nsum(p*t)",
    "a tangent of vectors": "u = stack([x, y])\nt = jvp(lambda v: sum(v**3), (u,), (2*u,))[1]\nt*x",
    "a tangent that decides nothing": "p, t = jvp(lambda u: sqrt(u - u)*0.0 + u*y, (x,), (1.0,))\nt",
    "a tangent that meets nothing": "p, t = jvp(lambda u: y, (x,), (1.0,))\nt + p*x",
    "a linear function": "p, push = linearize(lambda u: u**2*y, x)\npush(y) + p",
    "a cotangent": "p, pull = vjp(lambda u, v: u**2*v, x, y)\na, b = pull(2.0)\np*a + b",
    "a cotangent of vectors": "p, pull = vjp(lambda u: u**2*y, stack([x, y]))\na = pull(stack([1.0, x]))\nsum(a[0]*p)",
    "a cotangent asked twice": "p, pull = vjp(lambda u: stack([u*y, u**2]), x)\npull(stack([1.0, 0.0]))[0]*pull(stack([0.0, y]))[0]",
    "a product with a Hessian": "u = stack([x, y])\np = hvp(lambda v: v[0]**2*v[1]**3, u, stack([y, 1.0]))\np[0]*p[1]",
    "a product with a Hessian by two arguments": "p = hvp(lambda a, b: a**2*b**3, (x, y), (1.0, x))\np[0] + p[1]*y",
    "a product with what roots leave in doubt": "hvp(lambda a: sqrt(a - a)*0.0 + a**2*y, x, y)",
    "a gradient of a Jacobian": "grad(lambda a: sum(jacobian(lambda u: stack([u**2*a, u**3]))(a)))(x)*y",
    "derivatives on one side": "hessian(lambda u: u**3*y)(x) if x > 0 else jvp(lambda u: u**2, (x,), (y,))[1]",
    "derivatives in a loop": "s = x\nfor i in range(k):\n    s = s - 0.1*jacobian(lambda u: stack([u**2, y*u]))(s)[0]\ns",
    "a Hessian of what is no scalar": "hessian(lambda u: [u, y])(x)",
}
ALONE = {
    "a path in some rows": f"{TAPE}    if x > 0:\n        z = x*x\n    else:\n        z = y*y\nt.gradient(z, x)",
    "no path": f"{TAPE}    z = y\nt.gradient(z, x)",
}


@pytest.mark.parametrize("order", [0, 1, 2])
@pytest.mark.parametrize("text", [*TOGETHER.values(), *ALONE.values()], ids=[*TOGETHER, *ALONE])
def test_rows_have_what_each_has_alone(text, order):
    known = adiff.program(text).inputs
    columns = {name: column for name, column in COLUMNS.items() if name in known}
    found = same_as_rows(text, columns, order, wrt=[name for name in columns if name in "xy"], tolerance=1e-11)
    assert bool(found.one_by_one) is (text in ALONE.values())


def test_rows_that_a_loop_leaves_go_together():
    """The loop is left by rows with nan, of which the tape tells where they begin."""
    found = same_as_rows("grad(lambda t: sqrt(t)*y)(x)*x", {name: COLUMNS[name] for name in "xy"}, engine="kernel")
    assert (found.engine, found.one_by_one) == ("kernel", {})
    assert "N0601" in {notice.code for notice in found.notices}


FAILING = "def f(u):\n    assert x != 0\n    return u**3\n"
AFTER_FAILURES = {
    "a Hessian": FAILING + "hessian(f)(x)",
    "a Jacobian of a gradient": FAILING + "jacobian(grad(f))(x)",
    "a Jacobian by columns of a gradient": FAILING + "jacfwd(grad(f))(x)",
    "a Jacobian of a Jacobian": FAILING + "jacobian(jacobian(f))(x)",
    "a gradient of a Jacobian": FAILING + "grad(lambda w: jacobian(f)(w))(x)",
    "a gradient of a gradient": FAILING + "grad(grad(f))(x)",
    "a gradient of a product with a Hessian": FAILING + "grad(lambda w: hvp(f, w, w))(x)",
    "a gradient of a pullback": FAILING + "grad(lambda w: vjp(f, w)[1](1.0)[0])(x)",
    "a pullback asked later": "a, p = vjp(lambda u: u**3, x)\nassert x != 0\np(x)[0]",
    "a tape asked later": f"{TAPE}    z = x**3\nassert x != 0\nw = z*2\nt.gradient(z, x) + w*0",
}


@pytest.mark.parametrize("text", AFTER_FAILURES.values(), ids=AFTER_FAILURES.keys())
@pytest.mark.parametrize("order", [0, 1])
def test_derivatives_of_the_rows_that_stay(text: str, order: int) -> None:
    outcome = same_as_rows(text, {"x": np.array([0.0, 0.5, 2.0, -1.5])}, order)
    assert not outcome.one_by_one
    assert list(outcome.errors) == [0]
    assert (outcome.value[1:] != 0).all()


def test_second_derivatives_of_the_rows_that_are_at_no_kink() -> None:
    outcome = same_as_rows("hessian(lambda u: 1/u)(x)", {"x": np.array([0.0, 0.5, 2.0])}, 0, kinks="error")
    assert outcome.value[1:].tolist() == [16.0, 0.25]
