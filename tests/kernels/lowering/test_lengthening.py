"""`a = a + [..]` and `a = [*a, ..]`: lists that grow themselves where nobody can tell; the values against Python's."""

from __future__ import annotations

import math

import pytest
from adiff import program
from agreement import agree
from python_values import of_python

HEAD = "a = [x]\ny = x\n"
# Programs of Python's; the last line is the result. Loops of so many iterations are not written out.
LOOPS = {
    "an item": HEAD + "for k in range(70):\n    y = sin(y) * 1.1\n    a = a + [y]\nsum(a) * a[3] * len(a)",
    "a short loop": HEAD
    + "for k in range(60):\n    y = sin(y) * cos(y) + exp(-y) / (1 + y * y)\n    a = a + [y]\nsum(a)",
    "a display": HEAD + "for k in range(70):\n    y = sin(y)\n    a = [*a, y, y * k]\nsum(a) * a[-1]",
    "two lists": HEAD + "for k in range(70):\n    a = a + [y] + [a[-1] * 0.7]\nsum(a) * a[-1]",
    "another name": HEAD + "b = a\nfor k in range(70):\n    a = a + [a[-1] * 0.9]\nsum(a) * len(b)",
    "a parameter": "def f(l, y):\n    for k in range(70):\n        l = l + [y * k]\n    return l\nq = [x]\nr = f(q, x)\nsum(r) * len(q)",
    "by a function": "def f(y):\n    l = []\n    for k in range(70):\n        l = l + [y * k]\n    return l\nr = f(x)\nsum(r) * r[3]",
    "by data": "a = [x]\nfor k in range(70):\n    if sin(k * x) > 0:\n        a = a + [x * k]\nsum(a) / len(a)",
    "as often as data says": "a = [x]\nwhile a[-1] < 100:\n    a = a + [a[-1] * 1.1]\nsum(a) * len(a)",
    "pairs": "p = [(0.0, x)]\nfor k in range(70):\n    p = p + [(p[-1][0] + 0.1, sin(p[-1][1]))]\nsum([u * v for u, v in p])",
    "made anew": "s = 0.0\nfor i in range(70):\n    l = [x]\n    for j in range(i):\n        l = l + [l[-1] * 0.5 + j]\n    s = s + sum(l)\ns",
    "integers and floats": "a = [0]\nfor k in range(70):\n    a = a + [k]\n    a = a + [x * k]\nsum(a) * a[4]",
    "changed in place": HEAD + "for k in range(70):\n    a = a + [x * k]\n    a[k // 2] = a[k // 2] * 1.01\nsum(a) * a[3]",
    "seen by a function": "a = [x]\ndef g():\n    return len(a)\nfor k in range(70):\n    a = a + [x * g()]\nsum(a)",
    "a statement of its own": "a = [x]\nfor k in range(70):\n    a\n    a = a + [x * k]\nsum(a)",
}  # fmt: skip
# Where somebody can tell, who has the list as it was.
KEPT = {
    "gone through": "a = [x, 2 * x, x * x]\nfor v in a:\n    a = a + [v * 2]\nsum(a) * len(a)",
    "gone through with others": "a = [x, 2 * x]\nfor i, v in enumerate(a):\n    a = a + [v * 2 * i]\nsum(a) * len(a)",
    "an iterator": "a = [x, 2 * x]\nz = enumerate(a)\na = a + [x]\ns = 0.0\nfor i, v in z:\n    s = s + v * i\ns * len(a)",
    "an item of another list": "a = [x]\nb = [a, 1.0]\na = a + [x * x]\nsum(b[0]) * sum(a)",
    "an item that is taken out": "def f(l):\n    l = l + [1.0]\n    l = l + [2.0]\n    return sum(l)\nh = [[x], [x * 2]]\n"
    "r = [h[1], f(h.pop())]\nsum(r[0]) * r[1]",
    "another name in every iteration": HEAD + "n = 0\nfor k in range(20):\n    b = a\n    a = a + [y]\n    n = n + len(b)\nn * sum(a)",
    "returned before": "def f(y):\n    a = [y]\n    if y > 1:\n        return a\n    a = a + [y * y]\n    return a\nsum(f(x)) * len(f(x * 2))",
    "items that take one away": "a = [x, 2.0]\na = [*a, a.pop()]\nsum(a)",
    "items that take one away in every iteration": "r = 0.0\nfor j in range(6):\n    a = [x*j]\n    for k in range(9):\n"
    "        a = [*a, a.pop()*0.5 + k]\n    r = r + sum(a)\nr",
    "items of a call that adds one": "def f(l):\n    l.append(5.0)\n    return x\na = [x, 2.0]\na = a + [1.0] + [f(a)]\nsum(a)",
    "an item of a call that adds one": "def f(l):\n    l.append(5.0)\n    return x\na = [x, 2.0]\na = a + [f(a)]\nsum(a)",
    "by itself": "a = [x, x * 2]\nfor k in range(4):\n    a = a + a\nsum(a) * len(a)",
    "lists of lists": "a = []\nb = [x]\nfor k in range(6):\n    b = b + [x * k]\n    a = a + [b]\nsum([sum(q) for q in a]) * len(a[3])",
}  # fmt: skip


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize("text", (LOOPS | KEPT).values(), ids=list(LOOPS | KEPT))
def test_on_kernels(text: str) -> None:
    compiled = program(text)
    for command in ("grad", "hessian"):
        assert agree(compiled, {"x": 0.7}, None, command, 1e-12) == "", command
    assert math.isclose(compiled.value({"x": 0.7}, engine="kernel"), of_python(text, 0.7), rel_tol=1e-13)
    if text in LOOPS.values():
        source = compiled.evaluate("value", {"x": 0.7}, engine="kernel").emitted
        assert source is not None
        assert source.count("\n") < 150


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize("text", [
    "a = [x]\nfor k in range(70):\n    a = a + [a[k + 1]]\nsum(a)",
    "a = [x]\nfor k in range(70):\n    a = a + [x * k]\na[71]",
    "a = [x]\nfor k in range(70):\n    a = a + [x / (k - 69)]\nsum(a)",
    "a = [x]\nfor k in range(3):\n    a = a + array([x, 1.0])\nsum(a)",
])  # fmt: skip
def test_errors_and_others(text: str) -> None:
    agree(text, {"x": 0.7})


def test_the_result_is_the_longer_list() -> None:
    for text in ("a = [x]\na\na = a + [x * x]", "a = [x]\n(a, x)\nfor k in range(70):\n    a = a + [x * k]"):
        compiled = program(text)
        found = [compiled.value({"x": 0.7}, engine=engine) for engine in ("tape", "kernel")]
        assert found[0] == found[1]
        assert len(found[0]) == (2 if "for" not in text else 71)
