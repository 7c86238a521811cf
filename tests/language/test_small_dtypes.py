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


NUMPY = [
    'np.array([1, 2, 255], dtype="uint8") / 255.0',
    'np.array([1, 2, 255], dtype="uint8").astype("float32") / 255',
    "np.array([200, 100], dtype=np.uint8).sum()",
    "np.cumsum(np.array([100, 100], dtype=np.int8))",
    "np.array([1, 2, 3]).astype(np.int32) * 0.5",
    "np.zeros(2, dtype=np.int32) + np.array([0.5, 1.5])",
    'np.ones(2, dtype="float32") * np.ones(2).astype("float64")',
    "np.arange(3, dtype=np.int16) + np.arange(3, dtype=np.float32)",
    "np.array([3, 1, 2], dtype=np.uint8) + np.array([1, 1, 1], dtype=np.int8)",
    "np.float32(2.5) * np.arange(3, dtype=np.int8)",
    "(np.array([1.5, 0.5]) > 1).astype(int) * 0.5",
    "np.argmax(np.array([1, 3, 2])) * 0.5",
    "np.concatenate([np.arange(2).astype(np.int32), np.array([0.5])])",
    "np.mean(np.array([1, 2], dtype=np.uint8))",
]


@pytest.mark.parametrize("formula", NUMPY)
def test_arrays_of_numpys_promote_as_there(run: Runner, formula: str) -> None:
    expected = eval(formula)
    assert np.asarray(run(formula) == expected).all()
    assert run.outcome.types["value"][0] == expected.dtype.name


@pytest.mark.parametrize(
    ("text", "dtype"),
    [
        ('tf.constant([1.0, 2.0]) * np.array([1, 2], dtype="int32")', "float32"),
        ("tf.constant([1, 2]) * np.array([1, 2])", "int32"),
        ("tf.constant([1, 2]).numpy() * 0.5", "float64"),
        ('tf.constant(np.array([1, 2]).astype("uint8"))', "uint8"),
        ("tf.Variable(np.ones(2).astype(np.float64))", "float64"),
    ],
)
def test_arrays_of_numpys_beside_tensors(run: Runner, text: str, dtype: str) -> None:
    run(text)
    assert run.outcome.types["value"][0] == dtype


def test_tensors_stay_strict_beside_arrays_of_numpys(run: Runner) -> None:
    assert "int32 with NumPy's float64" in run.refused("tf.constant([1, 2]) * np.array([0.5]).astype(float)").message
    assert "int32 with a bare float64" in run.refused("tf.cast(np.array([1, 2]), tf.int32) * 0.5").message
