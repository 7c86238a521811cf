"""Lists of lists that a comprehension makes, and lists that hold integers and floats, on both tiers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from adiff import Program
from agreement import agree

MADE = "D = [[0.0 for j in range(m)] for i in range(n)]\n"
FILLED = "for i in range(1, n):\n    for j in range(1, m):\n        D[i][j] = D[i-1][j-1] * a + D[i-1][j] * 0.1 + 1\n"
# What is made, on kernels; the sizes are such that outer loops are written out, and such that they are not.
CASES = {
    "dynamic programming": MADE + FILLED + "D[n-1][m-1] + D[-1][-2]",
    "rows as products": "D = [[0.0] * m for i in range(n)]\n" + FILLED + "D[n-1][m-1]",
    "computed elements": "D = [[a * i + j for j in range(m)] for i in range(n)]\n" + FILLED + "D[n-1][2] + sum(D[3])",
    "integers": "D = [[0] * m for i in range(n)]\nfor i in range(1, n):\n    for j in range(1, m):\n"
    "        D[i][j] = D[i-1][j-1] + i * j\nD[n-1][m-1] * a",
    "integers that become floats": "D = [[0] * m for i in range(n)]\n" + FILLED + "D[n-1][m-1] * 1.0",
    "gone through": MADE + FILLED + "t = 0.0\nfor row in D:\n    for v in row:\n        t += v * a\nt",
    "lists with names": MADE + FILLED + "row = D[2]\nD[2][3] = 5.0 * a\nrow[4] = 7.0 * a\nrow[3] + D[2][4] + len(row)",
    "names in a loop": MADE + "for i in range(1, n):\n    row = D[i]\n    prev = D[i-1]\n    for j in range(1, m):\n"
    "        row[j] = prev[j-1] * a + 1\nD[n-1][m-1]",
    "augmented": MADE + "for i in range(1, n):\n    for j in range(1, m):\n        D[i][j] += a * i\nD[n-1][m-1]",
    "as a tensor": MADE + FILLED + "sum(array(D) @ ones(m))",
    "branches": MADE + "for i in range(1, n):\n    for j in range(1, m):\n        if a * i > j:\n"
    "            D[i][j] = D[i-1][j-1] + a\n        else:\n            D[i][j] = D[i][j-1] * a + 0.25\nD[n-1][m-1]",
    "in a function": "def f(T, i):\n    T[i][1] = a * i\n    return T[i][1]\n" + MADE + "t = 0.0\nfor i in range(n):\n"
    "    t += f(D, i)\nt + D[3][1]",
    "three deep": "D = [[[0.0 for k in range(3)] for j in range(m)] for i in range(n)]\nfor i in range(1, n):\n"
    "    for j in range(1, m):\n        D[i][j][2] = D[i-1][j-1][2] * a + 1\nD[n-1][m-1][2]",
    "pairs": "D = [[i, a * i] for i in range(n)]\nt = 0.0\nfor p, q in D:\n    t += p * q\nt",
    "a list replaced": MADE + "for i in range(1, n):\n    D[i] = [a * j for j in range(m)]\nD[n-1][m-1]",
    "truth values": "V = [[False for j in range(m)] for i in range(n)]\nV[3][4] = True\nt = 0.0\nfor i in range(n):\n"
    "    for j in range(m):\n        if V[i][j]:\n            t += a\nt",
    "two that are swapped": "A = [[0.0] * m for i in range(n)]\nB = [[a] * m for i in range(n)]\nfor i in range(3):\n"
    "    A, B = B, A\n    A[2][2] += a\nA[2][2] + B[2][2]",
    "a result": "D = [[a * i + j for j in range(m)] for i in range(n)]\nD",
    "a list of it as a result": MADE + FILLED + "D[n-1]",
    "a long list": "xs = [0.0] * 5000\nfor i in range(n):\n    xs[i] = a * i\nsum(xs)",
}
# Small ones that data indexes, in loops too long to be written out.
SMALL = {
    "a display": "T = [[1.0, 2.0], [3.0, a]]\nt = 0.0\nfor k in range(n):\n    t += T[k % 2][(k // 2) % 2] * a**k\nt",
    "changed": "T = [[0.0] * 4 for i in range(4)]\nfor k in range(n):\n    T[k % 4][(k + 1) % 4] += a * k\nT[3][0] * T[1][2] + sum(T[2])",
    "of integers": "T = [[0, 1], [2, 3]]\nfor k in range(n):\n    T[k % 2][1] += k\nT[1][1] * a + T[0][0]",
    "a list with a name": "T = [[1.0, 2.0], [3.0, a]]\nr = T[1]\nfor k in range(n):\n    T[k % 2][0] *= a\nr[0] + r[1]",
    "three deep": "T = [[[1.0, a], [2.0, 3.0]], [[a, a], [0.0, 1.0]]]\nfor k in range(n):\n    T[k % 2][0][1] += T[1][k % 2][0] * a\nT[0][0][1]",
    "beside a list": "T = [[0.9, 0.1], [0.2, a]]\nv = [1, 0]\nfor k in range(n):\n    w = [0.0, 0.0]\n    for i in range(2):\n"
    "        for j in range(2):\n            w[j] += v[i] * T[i][j]\n    v = w\nv[0] * v[1]",
    "lists that are swapped": "v = [a, 1.0, 0.5]\nu = v\nfor k in range(n):\n    w = [0.0] * 3\n    for j in range(3):\n"
    "        w[j] = 0.5 * v[j] + 0.1 * v[(j + k) % 3]\n    u = v\n    v = w\nv[0] * u[1]",
    "a list that is replaced and changed": "v = [1.0, 0.5]\nfor k in range(n):\n    w = [v[0] * 0.9, v[1 - k % 2] + 0.01 * a]\n"
    "    if w[0] > 0.4:\n        w[k % 2] += 0.1 * a\n    v = w\nv[0] * v[1]",
}
# The same, where lists have other names, or change where they are known as something else: as Python's on either tier.
SMALL_ALIASED = {
    "a list of another": "R = [1.0, 2.0]\nT = [R, [3.0, a]]\nfor k in range(n):\n    T[k % 2][0] *= a\nR[0] + T[1][0]",
    "one list twice": "T = [[a] * 2] * 2\nfor k in range(n):\n    T[k % 2][0] *= a\nT[0][0] + T[1][0]",
    "a list appended": "T = [[1.0, 2.0], [3.0, a]]\nfor k in range(n):\n    T[k % 2][0] *= a\nT.append([a, a])\nlen(T) * T[2][1] + T[0][0]",
    "changed by either name": "v = [a, 1.0]\nu = v\nfor k in range(n):\n    v[k % 2] += a\n    w = [0.0] * 2\n    for j in range(2):\n"
    "        w[j] = v[j] * 0.5\n    u[0] += 1\n    u = v\n    v = w\nv[0] + u[0] * u[1]",
    "another length": "v = [a, 1.0]\nfor k in range(n):\n    w = [0.0] * (2 + k % 2)\n    for j in range(2):\n        w[j] = v[j]\n    v = w\nv[0]",
    "numbers that become a list of lists": "v = [a, 1.0]\nfor k in range(n):\n    w = [[a], [a]]\n    v = w\nv[0][0]",
}
# Lists that have other names, or are there more than once, in what a comprehension makes.
ROWS = "E = [[a * i, 1.0] for i in range(n)]\n"
ALIASED = {
    "a list of another": "E = [[a, 1.0] for i in range(n)]\nD = [[E[1]] for i in range(n)]\nD[1][0][0]",
    "two lists of another": ROWS + "D = [[E[i], E[i + 1]] for i in range(n - 1)]\nD[1][1][0] + D[3][0][1]",
    "all lists of another": ROWS + "D = [[r for r in E] for i in range(3)]\nD[1][1][0] + D[2][0][1]",
    "a list of another, changed": ROWS + "D = [[E[0], E[1]] for i in range(n)]\nD[3][1][0] = 9.0 * a\nE[1][0]",
    "another itself": ROWS + "D = [[E] for i in range(3)]\nD[1][0][2][1] = 9.0 * a\nD[2][0][2][1] + E[2][1]",
    "another twice": "D = [[E, E] for E in [[[a * i for i in range(n)] for j in range(3)]]]\nD[0][0][1][2] = 5.0 * a\n"
    "D[0][1][1][2]",
    "part of a deeper one": "E = [[[a * i, 1.0] for j in range(5)] for i in range(n)]\nD = [[E[i]] for i in range(n)]\n"
    "D[3][0][4][1] = 9.0 * a\nE[3][4][1] + D[2][0][1][0]",
    "a product of a list": "D = [[[0.0] * 3] * 2 for i in range(n)]\nD[1][0][1] = a\nD[1][1][1] * 5 + D[1][0][1]",
    "a product of a comprehension": "D = [[[0.0 for k in range(3)]] * 2 for i in range(n)]\nD[1][0][1] = a\n"
    "D[1][1][1] * 5 + D[2][0][1]",
    "a product of a product": "D = [[[[0.0] * 3] * 2] * 4 for i in range(n)]\nD[1][0][1][2] = a\nD[1][3][0][2] * 5",
    "a product, filled": "D = [[[0.0] * 9] * 9 for i in range(n)]\nfor i in range(n):\n    for j in range(9):\n"
    "        for k in range(9):\n            D[i][j][k] = D[i][j][k] + a * i\nD[3][4][1]",
    "a variable": "r = [a * k for k in range(4)]\nD = [[r for j in range(3)] for i in range(n)]\nD[1][0][1] = 5.0\n"
    "D[2][1][1] * a + r[1]",
    "a variable beside new ones": "r = [a, 1.0]\nD = [[[0.0, a * i], r] for i in range(n)]\nD[1][1][0] = 5.0 * a\n"
    "D[2][1][0] + r[0] + D[2][0][1]",
    "a variable, three deep": "r = [a, 1.0]\nD = [[[r, [0.0, a]] for j in range(2)] for i in range(n)]\n"
    "D[1][1][0][0] = 5.0\nD[2][0][0][0] * a + r[0]",
    "a variable in a variable": "r = [a, 1.0]\nq = [r]\nD = [[x for x in q] for i in range(n)]\nD[1][0][0] = 5.0 * a\n"
    "D[2][0][0] + r[0]",
    "what a function keeps": "kept = []\ndef f(i):\n    r = [a * i, 1.0]\n    kept.append(r)\n    return r\n"
    "D = [[f(i)] for i in range(n)]\nD[1][0][0] = 5.0 * a\nkept[1][0]",
    "what goes through it": "D = [[r, [0.0, a]] for r in [[a * i, 1.0] for i in range(n)]]\nD[1][0][0] = 5.0 * a\n"
    "D[1][0][0] + D[2][0][0]",
    "new ones, three deep": "D = [[[a * i, 1.0], [0.0, a]] for i in range(n)]\nD[1][0][0] = 5.0 * a\n"
    "D[1][0][0] + D[2][0][0] + D[0][0][0]",
}
OTHER_NAMES = ("lists that have other names", "lists that grows in a loop", "kinds or shapes, indexed by data")
# What Python does to lists, said of lists of lists.
PYTHONS = {
    "appended": "D += [[a]]\nlen(D) * a",
    "a list appended to": "r = D[1]\nr += [a]\nlen(D[1]) * a",
    "put together": "len(D + D) * a + sum(D[1] + D[2])",
    "repeated": "len(D * 2) * a + len(2 * D[1])",
    "the largest": "max(D) * a",
    "summed from a list": "sum(D, [])[3] * a",
    "the same": "a if D[1] is D[1] and D[1] is not D[2] else 2 * a",
    "backwards": "r = list(reversed(D))\nr[0][1] = a\nD[-1][1] * a",
}
FAILING = {
    "outside, inner": MADE + "t = 0.0\nfor i in range(n):\n    t += D[i][i + m] * a\nt",
    "outside, outer": MADE + "t = 0.0\nfor i in range(n):\n    t += D[i + 1][0] * a\nt",
    "outside, changed": MADE + "for i in range(n):\n    D[i][-m - i] = a\nD[0][0]",
}


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize("text", CASES.values(), ids=CASES)
@pytest.mark.parametrize(("n", "m"), [(9, 11), (66, 8)])
def test_agreement(text: str, n: int, m: int) -> None:
    assert agree(text, {"a": 0.7, "n": n, "m": m}, ["a"]) == ""


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize("text", ALIASED.values(), ids=ALIASED)
@pytest.mark.parametrize("n", [9, 40, 70])
def test_lists_with_other_names(text: str, n: int) -> None:
    # A kernel that stores outside its arrays fails when it is interpreted, and the tape answers for another reason.
    found = agree(text, {"a": 0.7, "n": n}, ["a"])
    assert found == "" or found.endswith(OTHER_NAMES)


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize("text", PYTHONS.values(), ids=PYTHONS)
@pytest.mark.parametrize(("n", "m"), [(9, 3), (9, 40), (70, 3)])
def test_lists_as_pythons(text: str, n: int, m: int) -> None:
    assert agree(f"D = [[0.5 * j for j in range({m})] for i in range({n})]\n{text}", {"a": 0.7}, ["a"]) != "an error"


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize("text", SMALL.values(), ids=SMALL)
@pytest.mark.parametrize("command", ["grad", "hessian"])
def test_small_ones(text: str, command: str) -> None:
    assert agree(text, {"a": 0.7, "n": 100}, ["a"], command, 1e-11) == ""


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize("text", SMALL_ALIASED.values(), ids=SMALL_ALIASED)
@pytest.mark.parametrize("n", [0, 1, 5, 100])
def test_small_ones_with_other_names(text: str, n: int) -> None:
    if agree(text, {"a": 0.7, "n": n}, ["a"]) == "an error":
        assert "T[2]" not in text


def test_small_ones_in_machine_code() -> None:
    """Against the power of a matrix."""
    found = Program(SMALL["beside a list"]).evaluate("grad", {"a": 0.7, "n": 100}, ["a"], engine="kernel")
    v = np.array([1.0, 0.0]) @ np.linalg.matrix_power(np.array([[0.9, 0.1], [0.2, 0.7]]), 100)
    assert found.engine == "kernel"
    assert found.value == pytest.approx(v[0] * v[1], rel=1e-13)


def test_operations_are_named() -> None:
    reason = (
        Program(MADE + "sum(D[1] + D[2]) * a")
        .evaluate("grad", {"a": 0.7, "n": 9, "m": 40}, ["a"], engine="kernel")
        .reason
    )
    assert "'+' on lists of lists" in str(reason)


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize("text", FAILING.values(), ids=FAILING)
def test_indices_outside(text: str) -> None:
    assert agree(text, {"a": 0.7, "n": 9, "m": 11}, ["a"]) == "an error"


@pytest.mark.usefixtures("interpret")
def test_sizes_that_are_differentiated() -> None:
    assert agree(MADE + FILLED + "D[n-1][m-1]", {"a": 0.7, "n": 70, "m": 9}) == ""
    assert agree("xs = [0.0 for j in range(80)]\nxs[n] = a\nxs[n] * 2", {"a": 0.7, "n": 70}) == ""
    assert agree("xs = [0.0 for j in range(80)]\nxs[n] = a\nxs[n] * 2", {"a": 0.7, "n": 70.5}) == "an error"


def test_machine_code() -> None:
    program = Program(CASES["integers that become floats"])
    tape, kernel = (program.evaluate("grad", {"a": 0.7, "n": 30, "m": 40}, ["a"], engine=e) for e in ("tape", "kernel"))
    assert kernel.engine == "kernel"
    assert kernel.value == pytest.approx(tape.value, rel=1e-14)
    assert kernel.gradients["a"] == pytest.approx(tape.gradients["a"], rel=1e-13)


# What a list holds, beside floats, as integers: their kind shows in results, in division and at zero.
LOOP = "xs = [0] * 100\nfor i in range(n):\n    xs[i] = x * i\n"
MIXED: list[tuple[str, dict[str, Any]]] = [
    *((f"xs = [1, x, 0]\n{end}", {"i": i, "j": 2, "x": 1.5}) for i in (0, 1) for end in (
        "xs[i]", "[xs[i], x]", "xs[i] / xs[j]", "xs[i] // xs[j]", "xs[i] % xs[j]", "xs[j] ** (xs[j] - 1)", "x / -xs[j]",
    )),
    *((f"h = 0\nfor i in range(n):\n    h += x\n1 {op} h", {"n": n, "x": 1.5}) for n in (0, 2) for op in ("/", "//", "%")),
    *((LOOP + end, {"n": 9, "x": x}) for x in (1.5, 1.0) for end in (
        "xs[5]", "xs[50]", "xs[50] / xs[60]", "sum(xs)", "[xs[5], xs[50]]", "print(xs[50])\nx", "sum(array(xs) * 2.0)",
        "1 / xs[60]", "max(xs)", "xs[5] > 3 and xs[50] == 0", "int(xs[5])", "xs[50]**2 + x", "x * -xs[50]", "xs",
    )),
    ("xs = [0.5] * 100\nt = 0.0\nfor i in range(n):\n    t += xs[i - 1] // 1\n    xs[i] = i\n[t, xs[3], x]", {"n": 9, "x": 1.5}),
    ("xs = []\nfor i in range(n):\n    xs.append(x if i > 70 else i)\nxs[5] // 1", {"n": 90, "x": 1.5}),
]  # fmt: skip


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize(("text", "at"), MIXED, ids=[f"{text} {at}" for text, at in MIXED])
def test_integers_beside_floats(text: str, at: dict[str, Any]) -> None:
    if agree(text, at, ["x"], "value") != "an error":
        found = [Program(text).evaluate("value", at, engine=engine).value for engine in ("tape", "kernel")]
        assert repr(found[0]) == repr(found[1])
