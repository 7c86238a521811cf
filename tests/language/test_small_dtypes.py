"""Integers of few bits, and float16: NumPy's arithmetic, TensorFlow's strictness."""

import numpy as np
import pytest

from .conftest import Runner

DTYPES = "int8 int16 uint8 uint16 uint32 uint64 float16".split()
FORMULAS = (
    "a + b; a - b; a * b; a // b; a % b; a / b; a > b; a == b; sum(a); max(a); a * 2; a[1]; cast(a, float32)".split(
        "; "
    )
)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("formula", FORMULAS)
def test_arithmetic_is_numpys(run: Runner, dtype: str, formula: str) -> None:
    a, b = np.array([7, 5, 3], dtype=dtype), np.array([2, 5, 4], dtype=dtype)
    found = run(f"a = tf.constant([7, 5, 3], dtype={dtype})\nb = tf.constant([2, 5, 4], dtype={dtype})\n{formula}")
    if formula == "a / b" and dtype != "float16":
        a, b = a.astype("float64"), b.astype("float64")  # as TensorFlow divides integers
    names = {
        "a": a,
        "b": b,
        "cast": lambda x, d: x.astype(d),
        "float32": "float32",
        "sum": lambda x: x.sum(dtype=dtype),
    }
    expected = eval(formula, names)
    assert found == expected.tolist()
    assert run.outcome.types["value"][0] == expected.dtype.name


def test_float16_is_differentiated(run: Runner) -> None:
    text = "x = tf.Variable([1.5, 2.0], dtype=tf.float16)\nwith tf.GradientTape() as t:\n    y = tf.reduce_sum(x**3)\nt.gradient(y, x)"
    assert run(text) == [6.75, 12.0]
    assert run.outcome.types["value"][0] == "float16"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("uint8([1]) + int8([1])", "add cannot combine uint8 and int8"),
        ("float16([1.0]) * float32([1.0])", "multiply cannot combine float16 and float32"),
        ("tf.constant(300, dtype=tf.uint8)", "the integer 300 does not fit uint8"),
        ("tf.constant(-1, dtype=tf.uint8)", "the integer -1 does not fit uint8"),
    ],
)
def test_dtypes_do_not_mix(run: Runner, text: str, message: str) -> None:
    assert message in run.refused(text).message
