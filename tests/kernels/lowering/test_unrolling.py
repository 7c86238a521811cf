"""Short loops whose counter must be known in the body: sizes, shifts, keys, places in lists of lists; written out."""

from __future__ import annotations

import time
from typing import Any

import adiff
import numpy as np
import pytest
from adiff.engine.kernels import collection, runtime
from adiff.engine.kernels.ir import Spared
from agreement import agree
from interpreted import interpreted

V = np.array([0.7, -1.3, 2.1, 0.4])
M = np.array([[1.9, 0.4, -0.3], [0.2, 1.4, 0.6], [-0.5, 0.1, 2.2]])
ELIMINATION = """
A = [[2.0, x, 0.0], [1.0, 3.0, x], [0.0, 1.0, 4.0]]
b = [1.0, 2.0, 3.0]
for k in range(3):
    for i in range(k + 1, 3):
        f = A[i][k] / A[k][k]
        for j in range(k, 3):
            A[i][j] -= f * A[k][j]
        b[i] -= f * b[k]
y = [0.0] * 3
for i in range(2, -1, -1):
    s = b[i]
    for j in range(i + 1, 3):
        s -= A[i][j] * y[j]
    y[i] = s / A[i][i]
y[0] + 2 * y[1] * y[2]"""
TRIANGLE = """
rows = [[x]]
for i in range(1, 8):
    row = [x]
    for j in range(1, i + 1):
        row.append(row[j - 1] + 0.1 * rows[i - 1][j - 1])
    rows.append(row)
rows[7][7]"""
WRITTEN: list[tuple[str, dict[str, Any]]] = [
    (ELIMINATION, {"x": 0.5}),
    (TRIANGLE, {"x": 0.5}),
    ("T = [[x * i + j for j in range(i + 1)] for i in range(9)]\nsum([sum(r) for r in T]) * T[8][3]", {"x": 0.5}),
    (
        "T = [[0.0] * 3 for i in range(3)]\nfor i in range(9):\n    T[i % 3][i // 3] += x ** i\nT[2][2] * T[0][1]",
        {"x": 0.5},
    ),
    ("d = {}\nfor k in range(5):\n    d[k] = x ** k\nsum(d.values()) * d[3]", {"x": 0.5}),
    ("d = {}\nfor i in range(4):\n    for j in range(4):\n        d[i, j] = x * i + j\nd[3, 2] * d[1, 1]", {"x": 0.5}),
    ("d = {}\nk = 0\nwhile k < 6:\n    d[k] = x * k\n    k += 1\nlen(d) * d[5]", {"x": 0.5}),
    ("s = 0.0\nfor k in range(1, 4):\n    s += det(A[:k, :k])\ns", {"A": M}),
    ("s = 0.0\nfor k in range(1, 4):\n    s += sum(arange(k) * x) + sum(ones((k, 2)) * x ** k)\ns", {"x": 0.5}),
    ("s = 0.0\nfor k in range(4):\n    s += sum(roll(x, k) * x) * (k + 1)\ns", {"x": V}),
    (
        "for k in range(2):\n    A[k + 1:, k + 1:] -= outer(A[k + 1:, k], A[k, k + 1:]) / A[k, k]\nA[2, 2] * A[1, 1]",
        {"A": M},
    ),
    ("c = [[] for i in range(3)]\nfor k in range(9):\n    c[k % 3].append(x * k)\nsum(c[0]) * sum(c[1])", {"x": 0.5}),
    ("s = 0.0\nfor k in range(5):\n    if x * k > 1.2:\n        break\n    s += sum(ones(k + 1)) * x\ns", {"x": 0.5}),
    ("s = 0.0\nfor k in range(0):\n    s += sum(roll(x, k) * x)\ns + sum(x)", {"x": V}),
    ("s = 0.0\nfor k in range(n):\n    s += sum(ones(k + 1)) * x\ns", {"x": 0.5, "n": 4}),
]


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize("command", ["grad", "hessian", "jvp", "vjp"])
@pytest.mark.parametrize(("text", "at"), WRITTEN)
def test_written_out(text: str, at: dict[str, Any], command: str) -> None:
    wrt = [name for name, value in at.items() if name != "n"]
    given = {"tangent": {name: np.full(np.shape(at[name]), 0.3) for name in wrt}} if command == "jvp" else {}
    assert agree(text, at, wrt, command, 1e-11, **given) == ""


# What long loops are not written out for, and what a loop cannot do in any form; and errors in an iteration.
LEFT: list[tuple[str, dict[str, Any], str]] = [
    (
        "s = 0.0\nfor k in range(65):\n    s += sum(ones(k)) * x\ns",
        {"x": 0.5},
        "a size, axis or option that depends on data",
    ),
    ("s = 0.0\nfor k in range(4):\n    s += len(str(x)) * x\ns", {"x": 0.5}, "len of a text"),
    ("s = 0.0\nfor k in range(5):\n    s += sum(roll(x, k) * ones(k))\ns", {"x": V}, "an error"),
    ("d = {}\nfor k in range(5):\n    d[k] = x\nd[5] * x", {"x": 0.5}, "an error"),
]


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize(("text", "at", "reason"), LEFT)
def test_left_to_the_tape(text: str, at: dict[str, Any], reason: str) -> None:
    assert agree(text, at).removeprefix("no kernel for ") == reason


def test_in_machine_code() -> None:
    assert agree(ELIMINATION, {"x": 0.5}) == ""


@pytest.mark.usefixtures("interpret")
def test_statements_are_limited() -> None:
    """What would be more text than a kernel is worth stays with the reason why the loop is no loop."""
    text = "s = 0.0\nfor i in range(40):\n    for j in range(40):\n        s += sum(cos(x * ones(i + j)))\ns"
    assert agree(text, {"x": 0.5}, None, "value") == "no kernel for a size, axis or option that depends on data"


UNDONE = {
    "iterations that there are not": (
        "a = sum(v)\ns = 0.0\nfor j in range(2, n):\n    for i in range(2, n):\n"
        "        z = unsorted_segment_sum(v, [0, 1, 0, 3], 4)[-1]\n    s = cast(k, float64) * v[0]\na + sum(s)"
    ),
    "iterations that there are": (
        "a = sum(v)\ns = 0.0\nfor j in range(n):\n    z = v @ [0.3, 1.2, -0.5, 0.9]\n"
        "    s = cast(k, float64) * v[0] * z\na + sum(s)"
    ),
    "a function that calls itself": (
        "def f(y, m):\n    return 1 if m == 0 else y * f(sin(y) * (v @ [0.3, 1.2, -0.5, 0.9]), m - 1)\n"
        "a = sum(v * v)\na * f(x, n) + a"
    ),
    "a tape's weights": (
        "with GradientTape() as t:\n    t.watch(v)\n    y = v ** 3\n"
        "g = t.gradient(y, v, output_gradients=[0.3, 1.2, -0.5, 0.9])\nsum(g * v) * x"
    ),
}


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize("text", UNDONE.values(), ids=list(UNDONE))
@pytest.mark.parametrize("n", [1, 3])
def test_what_was_tried_takes_nothing_else_with_it(text: str, n: int) -> None:
    """Constants of what is undone stand before all else, and what stood there before stays."""
    at: dict[str, Any] = {"v": np.array([0.3, -1.1, 0.9, 2.0]), "k": np.array([1, 4, 1, 2]), "x": 0.7, "n": n}
    at = {name: value for name, value in at.items() if name in adiff.program(text).inputs}
    for command in ("value", "grad", "hessian"):
        assert (
            agree(text, at, [name for name in at if name in "vx"] if command != "value" else None, command, 1e-11) == ""
        )


GROWING = [
    "memo = {0: 1.0, 1: x}\nfor i in range(2, 30):\n    memo[i] = memo[i-1] * x - memo[i-2]\nmemo[29]",
    "memo = {0: x}\nfor i in range(3):\n    memo[i] = x * i\nmemo[2]",
    "p = {'w0': x}\nfor i in range(1, 4):\n    p[f'w{i}'] = p[f'w{i-1}'] * x\np['w3']",
    "c = {0: 0.0, 1: x, 2: 0.5}\nfor i in range(100):\n    c[i % 3] = c[i % 3] * 0.5 + x\nc[0] + c[2]",
]


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize("text", GROWING)
def test_dicts_that_a_counter_fills(text: str) -> None:
    assert agree(text, {"x": 0.7}) == ""
    assert agree(text, {"x": 0.7}, None, "hessian", 1e-12) == ""


# Lists that grow in short loops, where written out these would be thousands of statements.
MUCH: dict[str, tuple[str, dict[str, Any]]] = {
    "tensors": (
        "M = [A]\nfor k in range(50):\n    B = M[-1] @ A\n    M.append(B / norm(B) + 0.1 * eye(3))\nsum(M[-1] * M[20])",
        {"A": M},
    ),
    "numbers, in two loops": (
        "a = []\nfor k in range(50):\n    for j in range(50):\n        a.append(sin(x * k) * cos(x + j))\nsum(a) * a[70]",
        {"x": 0.5},
    ),
    "numbers, in two loops of unknown length": (
        "a = []\nk = 0\nwhile k < 50:\n    j = 0\n    while j < n:\n        a.append(sin(x * k) + j)\n        j = j + 7\n"
        "    k = k + 1\nsum(a) * a[70]",
        {"x": 0.5, "n": 100},
    ),
    "items of one form": (
        "p = []\nu, v = x, 1.0\nfor k in range(60):\n    u, v = sin(u) - exp(-u * u) / (1 + v * v), 0.1 * u * cos(v) + tanh(u * v)\n"
        "    p.append([u, v])\nsum([a * b for a, b in p]) + p[7][0]",
        {"x": 0.5},
    ),
}  # fmt: skip
# In the form of loops there is no kernel.
ITEMS_KNOWN = (
    "a = []\ny = x\nfor k in range(50):\n    y = sin(y) - exp(-y * y) / (1 + y * y) + tanh(y) * cos(y) - sqrt(1 + y * y)\n"
    "    a.append(k)\nsum(ones(a[3]) * y)"
)


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize(("text", "at"), MUCH.values(), ids=list(MUCH))
def test_too_much_stays_a_loop(text: str, at: dict[str, Any]) -> None:
    wrt = [name for name in at if name != "n"]
    assert agree(text, at, wrt, "grad", 1e-11) == ""
    source = adiff.program(text).evaluate("tape", at, wrt, emit=True).emitted
    assert source.count("\n") < 400


@pytest.mark.usefixtures("interpret")
def test_much_is_written_where_it_must_be() -> None:
    assert agree(ITEMS_KNOWN, {"x": 0.5}) == ""


# As a loop it has integers that int64 does not hold.
LARGE = (
    "a = []\ny = x\nfor k in range(50):\n    y = sin(y) - exp(-y * y) / (1 + y * y) + tanh(y) * cos(y) - sqrt(1 + y * y)\n"
    "    a.append({})\nsum(a) * y"
)


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize(("item", "reason"), [
    ("3**k * y", ""),
    ("3**k", "integers beyond int64 that are known before the program runs"),
])  # fmt: skip
def test_what_leaves_as_a_loop_is_written_out(item: str, reason: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where that is better all begin with it, and nobody tries it again where it is not."""
    made: list[Any] = []
    text = LARGE.format(item)
    assert agree(text, {"x": 0.5}).removeprefix("no kernel for ") == reason
    monkeypatch.setattr(collection, "compile_kernel", lambda *given: made.append(given) or interpreted(*given))
    again = adiff.program(text)
    for _ in range(2):
        assert again.evaluate("grad", {"x": 0.5}, engine="kernel").engine == ("tape" if reason else "kernel")
    assert len(made) == 1
    assert bool(agree(again, {"x": 0.7}, None, "value")) == bool(reason)


def test_what_was_tried_in_vain_is_paid_for() -> None:
    """The time that is left for a kernel is that for all its forms together."""
    compiled = adiff.program("x")
    kernels = runtime.Kernels(compiled.core, compiled.source)
    kernels.budget, start, tried = 1.0, time.thread_time(), []

    def run() -> str:
        while time.thread_time() < start + 0.02:
            pass
        tried.append(kernels.written)
        if len(tried) == 1:
            raise Spared("a loop")
        return "found"

    assert kernels.answered(run) == "found"
    assert tried == [None, True]
    assert kernels.budget < 0.99
