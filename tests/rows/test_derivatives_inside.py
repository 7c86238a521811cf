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
ALONE = {
    "a path in some rows": f"{TAPE}    if x > 0:\n        z = x*x\n    else:\n        z = y*y\nt.gradient(z, x)",
    "no path": f"{TAPE}    z = y\nt.gradient(z, x)",
    "a tape asked on one side": f"{TAPE}    z = x*y\ng = t.gradient(z, x) if x > 0 else y\ng*x",
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
