"""Integers of the program in kernels: exact up to 64 bits, and the tape's beyond."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from adiff import AdiffError, Program
from agreement import agree

POWERS = "s = 1\nfor i in range(n):\n    s = s * "
BEYOND = "an operation that fails, or an integer beyond int64"
ROUNDS = "a step with values that only the tape takes"
# Program, inputs, and why the tape answers, if it does.
CASES: list[tuple[str, dict[str, Any], str]] = [
    ("s = 1\nfor i in range(n):\n    s = (s * 1103515245 + 12345) % 2147483648\ns", {"n": 50}, ""),
    (POWERS + "3\ns", {"n": 39}, ""),
    (POWERS + "3\ns", {"n": 40}, BEYOND),
    (POWERS + "3\ns + s", {"n": 39}, ""),
    (POWERS + "3\ns + s + s", {"n": 39}, BEYOND),
    (POWERS + "3\ns * x", {"n": 39, "x": 0.1}, ""),
    (POWERS + "3\ns / 7", {"n": 39}, ROUNDS),
    (POWERS + "3\ns // 7 + s % 11 - abs(-s)", {"n": 39}, ""),
    (POWERS + "-2\n[s, s - 1]", {"n": 63}, BEYOND),
    (POWERS + "-2\nabs(s)", {"n": 63}, BEYOND),
    ("h = 0\nfor i in range(n):\n    h += x\n{'h': h, 'n': n}", {"n": 0, "x": 1.5}, ""),
    # A float does not hold 2**53 + 1.
    (POWERS + "2\ns + 1 == float(s)", {"n": 53}, ROUNDS),
    (POWERS + "2\nfloat(s + 1 if x > 0 else s)", {"n": 53, "x": 1.0}, ROUNDS),
    (POWERS + "2\ny = s + 1\nif x > 2:\n    y = 1.5\ny", {"n": 53, "x": 1.0}, ROUNDS),
    (POWERS + "2\nmax(s + 1, x)", {"n": 53, "x": 1.0}, ROUNDS),
    (POWERS + "2\n[s + 1, x]", {"n": 53, "x": 1.0}, ROUNDS),
    (POWERS + "2\n[s, x, s > x, (s, n)]", {"n": 53, "x": 1.0}, ""),
    (POWERS + "2\nv = [1, 2, 3]\nv[s % 3] * x", {"n": 61, "x": 1.5}, ""),
    (POWERS + "2\nt = 0.0\nfor j in range(s - 1, s + 1):\n    t += x\nt", {"n": 52, "x": 1.5}, ""),
    (POWERS + "2\nt = 0.0\nfor j in range(s - 1, s + 1):\n    t += x\nt", {"n": 54, "x": 1.5}, ROUNDS),
    ("int(x) * 3", {"x": 2.9e18}, ""),
    ("int(x) * 4", {"x": 2.9e18}, BEYOND),
    ("int(x)", {"x": 1e19}, BEYOND),
    ("k = array([1, 2, 3])\nfor i in range(n):\n    k = k * 3\n[k, 2.5]", {"n": 5}, ""),
]
# Results that hold integers, counters and truth values beside floats.
RESULTS: list[tuple[str, dict[str, Any]]] = [
    ("c = 0\nh = 0.0\nfor i in range(n):\n    if i % 3 == 0:\n        c += 1\n    h += x\n[c, h]", {"n": 20, "x": 1.5}),
    ("c = 0\nfor i in range(n):\n    c += 1\n(c, c > 2, x, True)", {"n": 20, "x": 1.5}),
    ("h = 0\nfor i in range(n):\n    h += x\n{'h': h, 'n': n}", {"n": 2, "x": 1.5}),
    ("h = 0\nfor i in range(n):\n    h += x\n[h, x]", {"n": 0, "x": 1.0}),
    ("q = []\nfor i in range(n):\n    q.append(i * i)\n[q, x]", {"n": 80, "x": 1.5}),
]


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize(
    ("text", "at", "why"), CASES, ids=[f"{text} {at['n' if 'n' in at else 'x']}" for text, at, _ in CASES]
)
def test_agreement(text: str, at: dict[str, Any], why: str) -> None:
    reason = agree(text, at, command="value")
    assert reason == (f"no kernel for {why}" if why else "")
    if not why:
        found = [Program(text).evaluate("value", at, engine=engine).value for engine in ("tape", "kernel")]
        assert repr(found[0]) == repr(found[1])


@pytest.mark.parametrize(("text", "at"), RESULTS)
def test_results_that_hold_integers(text: str, at: dict[str, Any]) -> None:
    outcomes = [Program(text).evaluate("grad", at, ["x"], engine=engine) for engine in ("tape", "kernel")]
    assert outcomes[1].engine == "kernel", outcomes[1].reason
    assert repr(outcomes[0].value) == repr(outcomes[1].value)
    assert outcomes[0].gradients == outcomes[1].gradients


def test_machine_code_leaves_where_64_bits_end() -> None:
    text = "s = k\nfor i in range(n):\n    s = s * 3 + 1 - (k - 1)\ns"
    program = Program(text)
    for n in range(36, 43):
        kernel = program.evaluate("value", {"k": 1, "n": n}, engine="kernel")
        assert (kernel.engine == "kernel") == (n < 40)
        assert kernel.value == (3**n * 3 - 1) // 2
    program = Program("s = -k\nfor i in range(n):\n    s = s * 2\ns // -k")
    for n in (62, 63):
        kernel = program.evaluate("value", {"k": 1, "n": n}, engine="kernel")
        assert (kernel.engine, kernel.value) == ("kernel" if n < 63 else "tape", 2**n)


V = {"x": 1.5, "n": 6, "v": np.array([1.0, -1.0, 2.0]), "k": np.array([1, 6, -7])}
# What is a truth value, an integer, or a sum of such: values and dtypes are the tape's.
OF_TRUTHS = [
    "abs(True)", "round(True)", "[abs(True), x]", "abs(x > 0)", "round(x > 0)", "+(x > 0)", "-(x > 0)", "(x > 0) + (x < 2)",
    "(x > 0) & (x < 1)", "(x > 0) | (x < 1)", "bitwise_xor(x > 0, x < 2)", "~(x > 0)", "(x > 0) & 1", "max(x > 0, x > 9)",
    "min(x > 0, x > 9)", "(v > 0) & (v < 2)", "~(v > 0)", "abs(v > 0)", "maximum(v > 0, v < 0)", "sum(v > 0)", "sum(v > 0) * x",
    "mean(v > 0) * x", "sum(stack([v > 0, v < 1]), axis=1)", "sum(k)", "sum(k, axis=0, keepdims=True)",
]  # fmt: skip
OF_BITS = [
    "n & 3", "n | 9", "bitwise_xor(n, 5)", "~n", "-n | 5", "~n & 255", "n << 2", "n >> 1", "(-n - 1) >> 1", "k & 3", "k | 8",
    "k << 3", "k >> 1", "~k", "x * ((n & 1) + (n >> 2))",
    "s = 0.0\nfor i in range(n):\n    s += x * ((i & 3) == 1) * (i | 1)\ns",
    "s = 0\nm = n\nwhile m > 0:\n    s += m & 1\n    m >>= 1\ns * x",
    "n << n", "n >> n", "(-n - 9) >> n", "k << (k & 3)", "k >> (k & 7)", "1 << 5 >> 2 | 8 & 12",
    "s = 0\nfor i in range(62):\n    s = bitwise_xor(s, 1 << i)\ns", "s = 0\nfor i in range(n):\n    s += (n >> i) & 1\ns * x",
]  # fmt: skip


def value_and_type(text: str, engine: str) -> Any:
    program = Program(text)
    found = program.evaluate("value", {name: V[name] for name in program.inputs}, engine=engine)
    return repr(found.value), found.types.get("value"), found.engine


def outcome(text: str, engine: str) -> Any:
    try:
        return value_and_type(text, engine)
    except AdiffError as error:
        return error.code, error.message, error.span and (error.span.start, error.span.end)


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize("text", OF_TRUTHS + OF_BITS)
def test_truth_values_and_bits(text: str) -> None:
    expected, found = value_and_type(text, "tape"), value_and_type(text, "kernel")
    assert found == (*expected[:2], "kernel")


def test_bits_in_machine_code() -> None:
    text = (
        "s = 0\nfor i in range(n):\n    s += (i & 6) - bitwise_xor(i, 3) + (i | 4) * (i << 2) - (~i >> 1)\n(s, s > 0)"
    )
    expected, found = value_and_type(text, "tape"), value_and_type(text, "kernel")
    assert found == (*expected[:2], "kernel")


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize("text", ["n << 61", "n << 11 * n", "n >> 20 * n", "n << -n", "n >> -n", "k << k"])
def test_bits_that_the_tape_takes(text: str) -> None:
    expected, found = outcome(text, "tape"), outcome(text, "kernel")
    assert found == expected


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize("text", [
    "abs(v > 0)", "abs(x > 0)", "np.abs(x > 0)", "max(v > 0)", "min(v > 0)", "amax(x > 0)", "cummax(v > 0)", "cummin(v > 0)",
    "amax(reshape(v > 0, [2, 1]), 0)", "abs(v > 0) + 1", "max(v > 0) * 2.5",
])  # fmt: skip
def test_rows_that_give_truth_values_of_truth_values(text: str) -> None:
    """As NumPy's do; the abs of a bare truth value is Python's, an integer."""
    at = {"v": np.array([1.0, -1.0]), "x": 1.0}
    assert agree(text, {name: at[name] for name in Program(text).inputs}, command="value") == ""


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize("text", ["unsorted_segment_max(v > 0, [0, 0], 1)", "tril(v)", "sum(tril(v))", "add_n(x)"])
def test_what_a_row_refuses_is_no_fault_of_the_compiler(text: str) -> None:
    at = {"v": np.array([1.0, -1.0]), "x": 1.0}
    assert agree(text, {name: at[name] for name in Program(text).inputs}, command="value") == "an error"


MEANS = [
    ("reduce_mean(k)", [1, 2]), ("reduce_mean(k)", [-1, -2]), ("reduce_mean(k, axis=1)", [[-1, -2], [3, 5]]),
    ("reduce_mean(k)", [1, 3]), ("s = 0\nfor i in range(3):\n    s = s + reduce_mean(k + i)\ns", [1, 4]),
    ("x**2 + cast(reduce_mean(k), float64) * x", [-1, -2]), ("reduce_mean(k) if x > 2 else k[0]", [1, 2]),
]  # fmt: skip


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize(("text", "k"), MEANS)
def test_means_that_are_rounded_are_told_of(text: str, k: Any) -> None:
    at: dict[str, Any] = {"k": np.array(k), "x": 1.5}
    at = {name: at[name] for name in Program(text).inputs}
    said: list[Any] = []
    assert agree(text, at, None, "value", also=lambda tape, kernel: said.extend(tape.notices)) == ""
    assert [n.code for n in said] == (["N0301"] if np.mean(k) % 1 and "if" not in text else [])
    if "x**2" in text:
        assert agree(text, at, ["x"], "hessian") == ""


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize(("n", "m"), [(12, 18), (0, 5), (0, 0), (-4, 6), (2**40, 3**20)])
def test_common_divisors(n: int, m: int) -> None:
    assert agree("gcd(n, m)", {"n": n, "m": m}, None, "value") == ""


@pytest.mark.parametrize(("n", "m", "x"), [(0, 0, 1.0), (3, 0, 1.0), (3, 1, 2.0), (0, 1, 1.0)])
def test_products_without_nan_of_integers_are_integers(n: int, m: int, x: float) -> None:
    for text, expected in (("multiply_no_nan(n, m)", n * m), ("[1.0, 2.0][multiply_no_nan(n, m) % 2]", x)):
        assert agree(text, {"n": n, "m": m}, None, "value") == ""
        found = Program(text).evaluate("value", {"n": n, "m": m}, engine="tape").value
        assert found == expected
        assert type(found) is type(expected)
    left = agree("lcm(n, m)", {"n": n, "m": m}, None, "value")
    assert left == "" if n < 2**40 else "beyond int64" in left
    assert agree("gcd(k, n)", {"k": np.array([12, 0, -9]), "n": n}, None, "value") == ""


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize("n", [123, 125, 135, -125, -135, 15, 5, 25, -5, 0, 10**12 + 5])
@pytest.mark.parametrize("digits", [-2, -1, 0, 3])
def test_integers_rounded_to_tens(n: int, digits: int) -> None:
    assert agree(f"round(n, {digits})", {"n": n}, None, "value") == ""
