"""Lists of lists that a comprehension makes, and lists that hold integers and floats, on both tiers."""

from __future__ import annotations

from typing import Any

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
