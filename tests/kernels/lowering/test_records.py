"""Lists of lists and tuples that loops append to, on both tiers; the values against Python, which runs the same text."""

from __future__ import annotations

import math

import pytest
from adiff import program
from agreement import agree
from python_values import of_python

# Programs of Python's: their last line is the result.
CASES = {
    "pairs": "l = []\nfor i in range(100):\n    l.append([x * i, x])\ns = 0.0\nfor q in l:\n    s = s + q[0] * q[1]\ns",
    "tuples with integers": "l = []\nfor i in range(100):\n    l.append((i, x * i))\ns = 0.0\nfor k, v in l:\n    s = s + k * v\n"
    "s + l[-1][1] + l[3][0] + len(l)",
    "a trajectory": "t = 0.0\ny = [x, 0.0]\npath = [(t, y)]\nfor i in range(200):\n    y = [y[0] + 0.01 * y[1], y[1] - 0.01 * y[0]]\n"
    "    t = t + 0.01\n    path.append((t, y))\ns = 0.0\nfor t, q in path:\n    s = s + t * q[0] * q[1]\ns + path[-1][1][0] + path[100][0]",
    "the last one read": "l = [[0.0, x]]\nfor i in range(100):\n    l.append([l[-1][0] + 0.1 * l[-1][1], l[-1][1] * 0.99])\nl[-1][0]",
    "appended on a branch": "l = []\nfor i in range(100):\n    if x * i > 20:\n        l.append([x * i, i])\ns = 0.0\nfor q in l:\n"
    "    s = s + q[0] * q[1]\ns + len(l)",
    "in a short loop, on a branch": "l = []\nfor i in range(20):\n    if x * i > 20:\n        l.append([x * i, i])\nl[-1][0] + len(l)",
    "nested loops": "l = []\nfor i in range(100):\n    for j in range(3):\n        l.append((i, j, x * i + j))\nsum([a * c for a, b, c in l])",
    "short nested loops": "l = []\nfor i in range(10):\n    for j in range(20):\n        l.append((i, j, x * i + j))\n"
    "sum([a * c for a, b, c in l])",
    "copies of what changes": "s = [x, 1.0]\nl = []\nfor i in range(100):\n    s[0] = s[0] * 0.9 + 1\n    l.append(list(s))\n"
    "l[0][0] + l[50][0]",
    "a list with two names": "l = []\nm = l\nfor i in range(100):\n    l.append([x * i, x])\nm[3][0] * len(m)",
    "two loops": "l = []\nfor i in range(100):\n    l.append([x * i, x])\nfor i in range(100):\n    l.append([x, x * x])\nl[150][1] + l[3][0]",
    "that stops": "l = []\nfor i in range(100):\n    l.append([x * i, x])\n    if l[-1][0] > 30:\n        break\nl[-1][0] + len(l)",
    "made in a loop": "s = 0.0\nfor k in range(90):\n    l = []\n    for i in range(70):\n        l.append([x * i, x * k])\n"
    "    s = s + l[-1][0] * l[3][1]\ns",
    "made on a branch": "if x > 0:\n    l = []\n    for i in range(100):\n        l.append([x * i, x])\n    s = l[-1][0]\nelse:\n    s = x\ns",
    "in a comprehension": "l = []\nfor i in range(100):\n    l.append([x * i, x])\nmax([q[0] for q in l]) + l[-2][0]",
    "truth values": "l = []\nfor i in range(100):\n    l.append((x * i, x * i > 50))\ns = 0.0\nfor v, big in l:\n    if big:\n"
    "        s = s + v\ns",
    "an empty one is false": "l = []\nfor i in range(50):\n    if x * i > 1000:\n        l.append([x * i, x])\n"
    "x**2 if l else x**3 + 2.0 * (not l)",
    "one that is not empty is true": "l = []\nfor i in range(50):\n    l.append([x * i, x])\nx**2 if l else x**3",
}
# What changes an item that has two names, or asks whether two are one: as Python has it, on either tier.
SHARED = {
    "one list again and again": "s = [x, 1.0]\nl = []\nfor i in range(100):\n    s[0] = s[0] * 0.9 + 1\n    l.append(s)\nl[0][0] + l[50][0]",
    "an item changed": "l = []\nfor i in range(100):\n    l.append([x * i, x])\nl[5][0] = 7.0\nl[5][0] + l[6][0]",
    "an item changed by another name": "l = []\nfor i in range(100):\n    l.append([x * i, x])\nq = l[5]\nq[0] = 7.0\nl[5][0] + l[6][0]",
    "what was appended changed": "l = []\nfor i in range(100):\n    q = [x * i, x]\n    l.append(q)\n    q[0] = i * 1.0\nl[5][0] * l[6][1]",
    "identity": "l = []\nfor i in range(100):\n    l.append([x * i, x])\nx if l[3] is l[3] else 0.0",
    "items of two forms": "l = []\nfor i in range(100):\n    l.append([x * i, x])\nl.append([x, x, 3.0])\nl[100][2] * l[3][0]",
}

# What is known where it is made, and cannot be changed: complex numbers and tuples of numbers; items put in their places.
IMMUTABLE = {
    "complex numbers": "a = [1j]\nz = x + 0.5j\nfor k in range(70):\n    z = z * z * 0.5 + 0.1j\n    a.append(z)\n"
    "abs(sum(a)) + abs(a[3]) * len(a)",
    "a short loop of many statements": "a = [1j]\nc = x - 0.9 + 0.1j\nfor k in range(60):\n    z = a[-1]\n    for j in range(3):\n"
    "        z = z * z * z * 0.3 + c * z + c\n    a = a + [z]\ns = 0.0\nfor q in a:\n    s = s + abs(q)\ns",
    "beside numbers": "a = [(0.0, 0j)]\nz = x + 0.5j\nfor k in range(70):\n    z = z * z * 0.5 + 0.1j\n    a.append((k * 1.0, z))\n"
    "sum([t * abs(q) for t, q in a])",
    "until data says": "a = [0j]\nc = x - 0.9 + 0.9j\nwhile abs(a[-1]) < 2:\n    a.append(a[-1] * a[-1] + c)\nabs(a[-1]) * len(a)",
    "on branches": "a = [0j]\nc = x - 1.2 + 0.1j\nfor k in range(70):\n    if abs(a[-1]) > 0.2:\n        a.append(a[-1] * a[-1] + c)\n"
    "    else:\n        a.append(a[-1] + c)\nabs(a[-1])",
    "in a comprehension": "a = [x * k * 1j + k for k in range(70)]\nsum([abs(q) for q in a]) + abs(a[-2])",
    "a slice": "a = []\nfor k in range(70):\n    a.append(x * k * 1j + k)\np = 1j\nfor q in a[3:7]:\n    p = p * q\nabs(p)",
    "put in the list": "a = [0j]\nz = x - 0.7 + 0.5j\nfor k in range(70):\n    z = z * z * 0.5 + 0.1j\n    a.append(z)\n"
    "    a[k // 2] = a[k // 2] * 1.01\nabs(a[-1]) + abs(a[3]) + abs(a[4] * a[1])",
    "put where data says": "a = [0j] * 5\na[int(10 * x) % 4] = x * 1j + 2\nabs(sum(a))",
    "exchanged": "a = [x * k + 0.5j for k in range(16)]\nfor k in range(16):\n    j = k * 7 % 16\n    t = a[k]\n    a[k] = a[j]\n"
    "    a[j] = t\ns = 0j\nfor k in range(16):\n    s = s + a[k] * (k + 1j)\nabs(s)",
    "tuples": "a = [(0.0, x)] * 5\nfor k in range(70):\n    a[k % 5] = (a[(k + 2) % 5][1] * 1.01, k * x)\nsum([u * v for u, v in a])",
    "tuples put into what grows": "l = []\nfor i in range(70):\n    l.append((x * i, x))\n    l[i // 2] = (l[i // 2][1] * 1.1, l[i][0])\n"
    "sum([u * v for u, v in l])",
    "a list put, and what was there": "l = []\nfor i in range(70):\n    l.append([x * i, x])\nl[5] = [x * x, 1.0]\nq = l[5]\n"
    "l[5] = [2.0, x]\nl[5][0] * q[0] + l[4][1] * l[5][1]",
    "sums of numbers": "a = [x * k + 1.0 for k in range(70)]\na[3] * a[-1]",
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_on_kernels(name: str) -> None:
    compiled = program(CASES[name])
    for command in ("grad", "hessian"):
        assert agree(compiled, {"x": 1.5}, None, command, 1e-12) == "", command
    assert math.isclose(compiled.value({"x": 1.5}, engine="kernel"), of_python(CASES[name], 1.5), rel_tol=1e-13)


@pytest.mark.parametrize("name", SHARED)
def test_items_are_shared_as_pythons_are(name: str) -> None:
    agree(SHARED[name], {"x": 1.5}, None, "grad", 1e-12)
    for engine in ("tape", "kernel"):
        found = program(SHARED[name]).value({"x": 1.5}, engine=engine)
        assert math.isclose(found, of_python(SHARED[name], 1.5), rel_tol=1e-13)


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize("name", IMMUTABLE)
def test_complex_numbers_and_tuples(name: str) -> None:
    compiled = program(IMMUTABLE[name])
    for command in ("grad", "hessian"):
        assert agree(compiled, {"x": 1.3}, None, command, 1e-11) == "", command
    found = compiled.evaluate("value", {"x": 1.3}, engine="kernel")
    assert math.isclose(found.value, of_python(IMMUTABLE[name], 1.3), rel_tol=1e-12)
    assert found.emitted is not None
    assert found.emitted.count("\n") < 200


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize("item", ["z", "(k, z)", "[x * k, x]", "(x, [k, x * k])"])
def test_as_the_result(item: str) -> None:
    text = f"a = []\nz = x + 0.5j\nfor k in range(70):\n    z = z * z * 0.5 + 0.1j\n    a.append({item})\n(a, x)"
    assert agree(text, {"x": 0.3}, None, "value", 1e-12) == ""


@pytest.mark.usefixtures("interpret")
def test_complex_numbers_as_an_array() -> None:
    text = (
        "a = [1j]\nz = x + 0.5j\nfor k in range(70):\n    z = z * z * 0.5 + 0.1j\n    a.append(z)\nsum(abs(array(a)))"
    )
    assert agree(text, {"x": 0.3}, None, "grad", 1e-12) == ""


def test_as_an_array() -> None:
    text = "l = []\nfor i in range(100):\n    l.append([x * i, x])\na = array(l)\nsum(a[:, 0] * a[:, 1]) + a[3, 1]"
    assert agree(text, {"x": 1.5}, None, "grad", 1e-12) == ""
    assert math.isclose(program(text).value({"x": 1.5}), 1.5**2 * 4950 + 1.5, rel_tol=1e-13)
