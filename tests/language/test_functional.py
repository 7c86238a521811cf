"""Derivatives as functions of functions, and control flow: cond, while_loop, scan, map_fn."""

import math

import pytest

from .conftest import Runner

FUNCTIONAL = {
    "grad": ("grad(lambda x: x ** 3)(2.0)", 12.0),
    "grad of an integer": ("grad(lambda x: x ** 3)(2)", 12.0),
    "grad in two arguments": ("grad(lambda x, y: x * y ** 2, argnums=(0, 1))(2.0, 3.0)", (9.0, 12.0)),
    "grad in the second": ("grad(lambda x, y: x * y ** 2, argnums=1)(2.0, 3.0)", 12.0),
    "grad of a dict": ("grad(lambda p: p['w'] * p['b'] ** 2)({'w': 2.0, 'b': 3.0})", {"w": 9.0, "b": 12.0}),
    "grad of a list": ("grad(lambda p: p[0] * p[1])([2.0, 3.0])", [3.0, 2.0]),
    "has_aux": ("grad(lambda x: (x ** 2, 7.0), has_aux=True)(3.0)", (6.0, 7.0)),
    "value_and_grad": ("value_and_grad(lambda x: x ** 3)(2.0)", (8.0, 12.0)),
    "grad of grad": ("grad(grad(lambda x: x ** 4))(2.0)", 48.0),
    "grad five times": ("f = lambda x: x ** 6\nfor _ in range(5):\n    f = grad(f)\nf(2.0)", 1440.0),
    "jacobian": ("jacobian(lambda x: stack([x[0] * x[1], x[1] ** 2]))(constant([2.0, 3.0]))", [[3.0, 2.0], [0.0, 6.0]]),
    "jacfwd": ("jacfwd(lambda x: stack([x[0] * x[1], x[1] ** 2]))(constant([2.0, 3.0]))", [[3.0, 2.0], [0.0, 6.0]]),
    "jacrev": ("jacrev(lambda x: stack([x[0] * x[1], x[1] ** 2]))(constant([2.0, 3.0]))", [[3.0, 2.0], [0.0, 6.0]]),
    "hessian": ("hessian(lambda x: x[0] ** 2 * x[1])(constant([2.0, 3.0]))", [[6.0, 4.0], [4.0, 0.0]]),
    "jacfwd of jacrev": ("jacfwd(jacrev(lambda x: x[0] ** 2 * x[1]))(constant([2.0, 3.0]))", [[6.0, 4.0], [4.0, 0.0]]),
    "jacrev of jacfwd": ("jacrev(jacfwd(lambda x: x[0] ** 2 * x[1]))(constant([2.0, 3.0]))", [[6.0, 4.0], [4.0, 0.0]]),
    "jvp": ("jvp(lambda x, y: x * y, (2.0, 3.0), (1.0, 10.0))", (6.0, 23.0)),
    "vjp": ("y, pull = vjp(lambda x, y: x * y, 2.0, 3.0)\n[y, pull(10.0)]", [6.0, (30.0, 20.0)]),
    "hvp": ("hvp(lambda x: x[0] ** 2 * x[1], constant([2.0, 3.0]), constant([1.0, 1.0]))", [10.0, 4.0]),
    "hvp along a list": ("hvp(lambda x: x[0] ** 2 * x[1], constant([2.0, 3.0]), [1.0, 0.0])", [6.0, 4.0]),
    "jvp of grad": ("jvp(grad(lambda x: x ** 3), (2.0,), (1.0,))", (12.0, 12.0)),
    "grad of jvp": ("grad(lambda x: jvp(lambda v: v ** 3, (x,), (1.0,))[1])(2.0)", 12.0),
    "perturbation confusion": ("grad(lambda x: x * grad(lambda y: x + y)(1.0))(1.0)", 1.0),
    "a tape in a grad": ("def f(x):\n    with GradientTape() as t:\n        t.watch(x)\n        y = x ** 3\n    return t.gradient(y, x)\ngrad(f)(2.0)", 12.0),
    "a grad in a tape": ("x = constant(2.0)\nwith GradientTape() as t:\n    t.watch(x)\n    y = grad(lambda v: v ** 3)(x)\nt.gradient(y, x)", 12.0),
    "a tape in a jvp": (
        "def f(x):\n    with GradientTape() as t:\n        t.watch(x)\n        y = x ** 3\n    return t.gradient(y, x)\njvp(f, (2.0,), (1.0,))",
        (12.0, 12.0),
    ),
    "a hessian in a tape": (
        "x = constant([2.0, 3.0])\nwith GradientTape() as t:\n    t.watch(x)\n"
        "    y = reduce_sum(hessian(lambda v: v[0] ** 3 * v[1])(x))\nt.gradient(y, x)",
        [6 * 3.0 + 12 * 2.0, 6 * 2.0],
    ),
    "a closure over an outer variable": ("grad(lambda a: grad(lambda b: a ** 2 * b ** 2)(3.0))(2.0)", 24.0),
    "an unused argument": ("grad(lambda x, y: x * 1.0, argnums=1)(1.0, 2.0)", 0.0),
    "keyword argument": ("def f(x, scale=2.0): return x ** 2 * scale\ngrad(f)(3.0, scale=10.0)", 60.0),
    "of a function with control flow": ("def f(x):\n    y = x\n    while y < 100.0:\n        y = y * x\n    return y\ngrad(f)(3.0)", 5 * 3.0**4),
}  # fmt: skip


@pytest.mark.parametrize("name", FUNCTIONAL)
def test_functional_forms(run: Runner, name: str) -> None:
    text, expected = FUNCTIONAL[name]
    assert run(text) == expected


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("grad(3.0)", "E0304"), ("grad(lambda x: x)(constant([1.0, 2.0]))", "E0507"), ("grad(lambda x: x, argnums=3)(1.0)", "E0508"),
        ("hvp(lambda x: x, (1.0, 2.0), (1.0,))", "E0508"), ("hvp(lambda x: x[0], [1.0, 2.0], [1.0])", "E0508"), ("hessian(lambda x: x)(constant([1.0, 2.0]))", "E0507"),
        ("jvp(lambda x: x, (1.0,), (constant([1.0, 2.0]),))", "E0302"), ("grad(lambda x: 'a')(1.0)", "E0304"),
        ("grad(lambda x: None)(1.0)", "E0304"), ("jacobian(5)", "E0304"), ("x = [1.0]\ndef f(v):\n    x.append(v)\n    return v[0]**2\ngrad(f)(x)", "E0508"), ("vjp(lambda x: x, 1.0)[1](constant([1.0, 2.0]))", "E0302"),
    ],
)  # fmt: skip
def test_functional_forms_refuse(run: Runner, text: str, code: str) -> None:
    error = run.refused(text)
    assert error.code == code
    assert error.span is not None


CONTROL = {
    "cond": ("x = constant(3.0)\nwith GradientTape() as t:\n    t.watch(x)\n    y = cond(x < x, lambda: x, lambda: x * x)\nt.gradient(y, x)", 6.0),
    "cond with operands": ("grad(lambda x: cond(x > 1, lambda v: v ** 2, lambda v: v, x))(3.0)", 6.0),
    "while_loop": ("grad(lambda x: while_loop(lambda i, y: i < 4, lambda i, y: (i + 1, y * x), (0, 1.0))[1])(2.0)", 32.0),
    "while_loop with one value": ("grad(lambda x: while_loop(lambda y: y < 50, lambda y: y * x, x))(3.0)", 4 * 27.0),
    "fori_loop": ("grad(lambda x: fori_loop(0, 4, lambda i, y: y * x + i, 1.0))(2.0)", 4 * 8.0 + 2.0 * 2.0 + 2.0),
    "scan of JAX": ("def step(carry, x): return carry * x, carry\ngrad(lambda v: scan(step, 1.0, v)[0])(constant([2.0, 3.0, 4.0]))", [12.0, 8.0, 6.0]),
    "scan of TensorFlow": ("scan(lambda a, x: a + x, constant([1.0, 2.0, 3.0]))", [1.0, 3.0, 6.0]),
    "map_fn": ("grad(lambda v: reduce_sum(map_fn(lambda x: x ** 2, v)))(constant([1.0, 2.0]))", [2.0, 4.0]),
    "vectorized_map": ("vectorized_map(lambda x: reduce_sum(x) ** 2, constant([[1.0, 2.0], [3.0, 4.0]]))", [9.0, 49.0]),
    "vmap": ("vmap(lambda x, y: x * y)(constant([1.0, 2.0]), constant([3.0, 4.0]))", [3.0, 8.0]),
    "vmap of grad": ("vmap(grad(lambda x: x ** 3))(constant([1.0, 2.0]))", [3.0, 12.0]),
    "vmap with in_axes": ("vmap(lambda x, y: x * y, in_axes=(0, None))(constant([1.0, 2.0]), 10.0)", [10.0, 20.0]),
    "vmap over numbers": ("vmap(lambda x, y: x * sum(y))([1.0, 2.0], [[1, 2], [3, 4]])", [3.0, 14.0]),
    "foldl": ("grad(lambda v: foldl(lambda a, x: a * x, v))(constant([2.0, 3.0, 4.0]))", [12.0, 8.0, 6.0]),
    "foldr": ("foldr(lambda a, x: a - x, constant([1.0, 2.0, 10.0]))", 7.0),
    "switch_case": ("switch_case(1, [lambda: 1.0, lambda: 2.0, lambda: 3.0])", 2.0),
    "checkpoint": ("grad(lambda x: checkpoint(lambda v: sin(v) * v)(x))(2.0)", math.cos(2.0) * 2.0 + math.sin(2.0)),
    "checkpoint as a decorator": ("@checkpoint\ndef f(x):\n    y = x * x\n    return y * x\n[f(2.0), grad(f)(2.0), grad(grad(f))(2.0)]", [8.0, 12.0, 12.0]),
    "recompute_grad": ("f = tf.recompute_grad(lambda x: x ** 3)\ngrad(f)(2.0)", 12.0),
    "stop_gradient": ("grad(lambda x: x * stop_gradient(x))(3.0)", 3.0),
    "tf.function": ("@tf.function\ndef f(x):\n    return x * x\ngrad(f)(3.0)", 6.0),
    "jit": ("jit(lambda x: x * x)(3.0)", 9.0),
    "recursion": ("def power(x, n):\n    return 1.0 if n == 0 else x * power(x, n - 1)\ngrad(lambda x: power(x, 5))(2.0)", 80.0),
    "a comprehension": ("grad(lambda x: sum([x ** k for k in range(4)]))(2.0)", 1.0 + 4.0 + 12.0),
    "break and continue": (
        "def f(x):\n    total = 0.0\n    for k in range(100):\n        if k == 2: continue\n        if k > 4: break\n"
        "        total += k * x ** k\n    return total\ngrad(f)(1.0)",
        1.0 + 9.0 + 16.0,
    ),
    "item assignment": ("def f(x):\n    v = zeros(3)\n    v[1] = x ** 2\n    v[2] += x\n    return reduce_sum(v * v)\ngrad(f)(2.0)", 4 * 8.0 + 4.0),
    "item assignment replaces": ("def f(x):\n    v = stack([x, x])\n    v[0] = 5.0\n    return reduce_sum(v)\ngrad(f)(2.0)", 1.0),
}  # fmt: skip


@pytest.mark.parametrize("name", CONTROL)
def test_control_flow(run: Runner, name: str) -> None:
    text, expected = CONTROL[name]
    assert run(text) == pytest.approx(expected, rel=1e-14)
