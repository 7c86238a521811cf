"""Dtypes do not mix on either tier: integers with a dtype of their own beside bare ones, floats, bools and complex numbers."""

from __future__ import annotations

import os
import random
from typing import Any

import adiff
import numpy as np
import pytest
from adiff import AdiffError

MIXED = 1_500 if os.environ.get("ADIFF_LONG_TESTS") else 120
AT = {"x": 1.5, "n": np.array([2, 3]), "a": np.array([0.5, 1.5]), "b": np.array([True, False]), "k": 2}

REFUSED = [
    "m = constant([1, 2])\nsum(m*x)",
    "m = constant([1, 2])\nsum(where(m > 1, m, x))",
    "m = zeros(2, dtype='int64')\nsum(where(m > 1, m, x))",
    "m = constant([1, 2])\nm[0]*x",
    "m = constant(3)\nm*x",
    "m = constant([1, 2])\nsum(m[:0]*x)",
    "m = constant([[1, 2], [3, 4]])\nsum(m.T[0])*x",
    "m = constant([1, 2])\ny = m*x\nx",
    "m = constant([1, 2])\ns = 0\nfor i in range(2):\n    s = s + m[i]\ns*x",
    "m = constant([1, 2])\nl = []\nfor i in range(2):\n    l.append(m[i])\nl[0]*x",
    "m = constant([1, 2])\nk = 0\nif x > 1:\n    k = m[1]\nk*x",
    "m = constant([1, 5])\nc = zeros(2)\nc[0] = m[1]\nsum(c)*x",
    "cast(x, 'int64')*x",
    "sum(cast(a, int64)*a)",
    "sum(tf.cast(a, tf.int32)*a)",
    "sum(tf.cast(a, tf.int32)*n)",
    "complex(x, 1)*constant(3)",
    "argmax(a) < x",
    "where(x > 1, argmax(a), x)",
    "argmax(a)*x",
    "searchsorted(a, x)*x",
    "broadcast_to(argmax(a), [2])*x",
    "n < x",
    "n == a",
    "n != 1.5",
    "sum(n != 1.5)*x",
    "stack([n, a])",
    "concat([n, a], 0)",
    "select([n > 1], [a], n)",
    "allclose(n, a)",
    "isclose(n, a)",
    "c = zeros(2)\nc[0] = n[0]\nc",
    "prod(n)*x",
    "cumsum(n)*x",
    "max(n)*x",
    "sum(abs(1j*n))",
    "n*(x + 0j)",
    "zeros_like(n) + x",
    "x**n",
    "sum([n[0], x])",
    "s = 0\nfor i in n:\n    s += i\ns*x",
]  # fmt: skip
ANSWERED = [
    "m = constant([1, 2])\n(m[0] if x > 1 else x)*2",
    "m = constant([1, 2])\nk = 0.5\nif x > 1:\n    k = m[1]\nk*2",
    "m = constant([1, 2])\ns = 0\nfor i in range(2):\n    s = s + m[i]\ns*2",
    "m = constant([1, 2])\nm[0]*2",
    "cast(x, 'int64')*2",
    "float(cast(x, 'int64'))*x",
    "cast(4 * a - 5.5, int64) * 2",
    "cast(b, int64) + n",
    "sum(cast(tf.cast(4 * a - 5.5, tf.int32) * tf.cast(b, tf.int32), float64))",
    "a[tf.cast(a > 1, tf.int32)]*x",
    "tf.cast(a, tf.int32)",
    "float(sum(tf.cast(x * 2e4, tf.int32) ** 2))",
    "float(sum(tf.cast(x * 8e4, tf.int32) ** 2))",
    "float(sum(cumsum(tf.cast(a * 1e9, tf.int32))))",
    "float(max(tf.cast(a * 1e5, tf.int32) * tf.cast(a * 1e5, tf.int32)))",
    "float(argmax(tf.cast(a, tf.int32)))",
    "dynamic_partition(a, tf.cast(a > 1, tf.int32), 2)[1]*x",
    "dynamic_partition(a, cast(a > 1, int64), 2)[0]*x",
    "int(cast(x, 'int64'))*x",
    "int(n[0])*x",
    "cast(n, 'float64')*x",
    "ones_like(n)*2",
    "n/2",
    "n*2",
    "n**2",
    "maximum(n, 2)",
    "cumsum(n)",
    "argmax(a)*2",
    "argmax(a) + True",
    "a[argmax(a)]*x",
    "a[n - 2]*x",
    "n.size*x",
    "sum(n > 2)*x",
    "where(x > 1, b, b)",
    "where(x > 1, x > 2, x < 1)",
    "k*x",
    "k//2*a",
    "f = lambda i: i*2\nf(n[0])",
]  # fmt: skip


def answer(text: str, engine: str) -> tuple[Any, ...]:
    """Code, words and place of an error, or value and type."""
    program = adiff.program(text)
    try:
        outcome = program.evaluate("value", {name: AT[name] for name in program.inputs}, engine=engine)
    except AdiffError as error:
        return error.code, error.message, error.hint, error.span and (error.span.start, error.span.end)
    return repr(outcome.value), outcome.types


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize("text", REFUSED)
def test_dtypes_that_do_not_mix_are_the_same_error(text: str) -> None:
    expected = answer(text, "tape")
    assert expected[0] == "E0301"
    assert answer(text, "kernel") == expected


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize("text", ANSWERED)
def test_dtypes_that_meet_give_the_same_value_and_type(text: str) -> None:
    expected = answer(text, "tape")
    assert not expected[0].startswith("E0")
    assert answer(text, "kernel") == expected


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize("text", ["n*2", "m = constant([1, 2])\nm[0]*2", "argmax(a)*2", "a[argmax(a)]*x", "cumsum(n)"])
def test_integers_of_their_own_run_on_kernels(text: str) -> None:
    program = adiff.program(text)
    assert program.evaluate("value", {name: AT[name] for name in program.inputs}, engine="kernel").engine == "kernel"


def mixed(seed: int) -> str:
    """A small program over scalars and arrays of every dtype, in which most operations meet."""
    draw = random.Random(seed)
    scalars = ["x", "k", "n[0]", "n[1]", "a[1]", "b[0]", "2", "1.5", "True", "argmax(a)", "max(n)", "constant(3)"]
    arrays = ["n", "a", "b", "[1, 2]", "[0.5, 2]", "constant([1, 2])", "argsort(a)", "arange(2)", "cumsum(n)"]
    lines: list[str] = []
    for step in range(draw.randint(1, 4)):
        whole = draw.random() < 0.6
        p, q = (draw.choice(arrays if whole and draw.random() < 0.8 else scalars) for _ in range(2))
        condition = f"{draw.choice(scalars)} < {draw.choice(scalars)}"
        value = draw.choice([
            f"{p} {draw.choice('+-*')} {q}", f"{p} {draw.choice('+-*/')} {q}", f"where({p} > 1, {q}, {p})",
            f"maximum({p}, {q})", f"{p} if {condition} else {q}", f"stack([{p}, {q}])[0]", f"-{p}", f"{p} == {q}",
            f"cast({p}, 'int64')", f"cast({p}, 'float64')", f"{p} // 2", f"ones_like({p})",
        ])  # fmt: skip
        name = f"v{step}"
        lines.append(f"{name} = {value}")
        if draw.random() < 0.3:
            lines.append(
                f"for i in range({draw.choice(['k', '2', '0'])}):\n    {name} = {name} + {draw.choice(scalars)}"
            )
        (arrays if whole else scalars).append(name)
    return "\n".join([*lines, name])


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize("start", range(0, MIXED, 40))
def test_programs_of_mixed_dtypes(start: int) -> None:
    errors = 0
    for seed in range(start, start + 40):
        text = mixed(seed)
        expected = answer(text, "tape")
        assert answer(text, "kernel") == expected, f"seed {seed}\n{text}"
        errors += expected[0].startswith("E0301")
    assert 4 <= errors <= 36  # neither all of them meet, nor none


@pytest.mark.parametrize("text", ["sum(v * x)", "sum(v) * x", "sum((v + 1) * x)", "v[:0] * x"])
@pytest.mark.parametrize("size", [0, 2])
def test_complex_numbers_of_a_dtype_meet_no_floats_of_one_even_where_there_are_none(text: str, size: int) -> None:
    for engine in ("tape", "kernel"):
        with pytest.raises(AdiffError, match="dtypes do not mix"):
            adiff.program(text).value({"v": np.zeros(size, "complex128"), "x": np.float64(2.0)}, engine=engine)
