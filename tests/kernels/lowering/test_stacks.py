"""Lists of which loops take the last item; the values against Python, which runs the same text."""

from __future__ import annotations

import math
from typing import Any

import pytest
from adiff import program
from adiff.engine.kernels.machine import failures
from agreement import agree
from python_values import of_python

FILLED = "a = []\ny = x\nfor k in range(70):\n    y = sin(y) + 0.1\n    a.append(y * k)\ns = 0.0\n"
# Programs of Python's: their last line is the result.
CASES = {
    "more are appended": "a = [x]\ny = x\nfor k in range(70):\n    y = sin(y) + 0.1 * k\n    a.append(y)\n    a.append(y * k)\n"
    "    y = y * 0.5 + a.pop() * 0.01\nsum(a) * a[2]",
    "in a short loop of many statements": "a = [x]\ny = x\nfor k in range(60):\n    y = sin(y) - exp(-y * y) / (1 + y * y) + cos(y)\n"
    "    a.append(y)\n    a.append(y * k)\n    y = y * 0.1 + a.pop() * 0.01\nsum(a) * a[2]",
    "until there is none": FILLED + "while a:\n    s = sin(s + a.pop())\ns",
    "until there is one": FILLED + "while len(a) > 1:\n    s = sin(s + a.pop() * a[0])\ns * len(a)",
    "so many": FILLED + "for k in range(66):\n    s = sin(s + a.pop() * a[k // 20])\ns * len(a)",
    "or appended": "a = [x, x]\ny = x\nfor k in range(70):\n    y = sin(y + k)\n    if y > 0:\n        a.append(y)\n"
    "    elif len(a) > 1:\n        y = y + a.pop()\nsum(a) * len(a)",
    "and another in its place": "a = [x]\ny = x\nfor k in range(70):\n    y = sin(y * a[-1]) + 1.0\n    a.append(y)\n"
    "    y = y * a[-1] * a[-2]\n    a.pop()\n    a.append(y)\nsum(a) * len(a)",
    "a stack of pairs": "s = [(0.0, 1.0 + x)]\nt = 0.0\nwhile s:\n    a, b = s.pop()\n    if b - a < 0.1:\n        t = t + (b - a) * sin(a * b)\n"
    "    else:\n        m = (a + b) / 2\n        s.append((a, m))\n        s.append((m, b))\nt",
    "a stack of numbers": "s = [x]\nt = 0.0\nn = 0\nwhile s and n < 1000:\n    a = s.pop()\n    n += 1\n    if a > 0.01:\n"
    "        s.append(a * 0.4)\n        s.append(a * 0.5)\n    else:\n        t = t + a * a\nt * n",
    "a stack in every iteration": "t = 0.0\nfor i in range(70):\n    s = [x * i]\n    for j in range(i):\n        s.append(s[-1] * 0.9 + j)\n"
    "        if j % 3 == 2:\n            t = t + s.pop() * s[-1] * 1e-3\n    t = t + sum(s)\nt",
    "loops in a loop": "s = [x]\nfor i in range(70):\n    for j in range(5):\n        s.append(s[-1] * 0.9 + j * x)\n"
    "    for j in range(4):\n        s[-2] = s[-2] * 0.5 + s.pop() * 0.1\nsum(s) * len(s)",
    "a window": "a = [x, x * x, x * x * x]\ny = x\nfor k in range(70):\n    y = sin(y)\n    a.append(y)\n    a.pop(0)\n"
    "    y = y + sum(a) * 0.1\nsum(a) * a[2]",
    "complex numbers": "a = [1j]\nz = x + 0.1j\nfor k in range(70):\n    z = z * z * 0.5 + 0.1j\n    a.append(z)\n    a.append(z * z)\n"
    "    z = z + a.pop() * 0.1\nabs(sum(a))",
    "of another function's": "def f(a):\n    s = 0.0\n    while a:\n        s = s * 0.9 + a.pop()\n    return s\na = []\nfor k in range(70):\n"
    "    a.append(x * k)\nb = list(a)\nf(a) * len(b) + sum(b)",
    "before a loop, which appends": "a = []\nfor k in range(70):\n    a.append(x * k)\na.pop()\nfor k in range(70):\n"
    "    a.append(x * a[-1] * 0.01)\nsum(a)",
    "after a loop that does the same": "a = []\nfor k in range(70):\n    a.append(x * k)\nfor k in range(60):\n"
    "    a.append(a.pop() + a.pop() * x)\na.append(x * x)\na.append(a.pop() * a.pop())\nsum(a)",
    "in every iteration, of a list made there": "s = 0.0\nfor j in range(65):\n    b = []\n    for k in range(66):\n"
    "        b.append(x * k * j)\n    u = b.pop()\n    b.append(u * u * 0.001)\n    s = s + sum(b) * 0.01\ns",
    "of a list of unknown length": "a = []\ny = x\nwhile y < 100:\n    y = y * 1.1\n    a.append(y * x)\nu = a.pop()\nv = a.pop()\n"
    "a.append(v * x)\na.append(u * x * v)\na.pop()\na.append(7.0)\nsum(a) * len(a)",
}  # fmt: skip
# Other items in the place of those that are taken, outside loops: what they are, and the value and the first two
# derivatives in closed form. SUM is 0 + 1 + ... + 69.
LISTED = "a = []\nfor k in range(70):\n    a.append(x * k)\n"
SUM = 2415
REPLACED = {
    "one": (LISTED + "a.pop()\na.append(x * x)\nsum(a)", lambda x: (2346 * x + x * x, 2346 + 2 * x, 2.0)),
    "made of it": (LISTED + "u = a.pop()\na.append(u * u)\nsum(a)",
        lambda x: (2346 * x + 4761 * x * x, 2346 + 9522 * x, 9522.0)),
    "twice": (LISTED + "u = a.pop()\na.append(x * x)\na.pop()\na.append(3.0)\nsum(a) + u",
        lambda x: (SUM * x + 3, float(SUM), 0.0)),
    "two": (LISTED + "u = a.pop()\nv = a.pop()\na.append(u * v)\na.append(x)\na.append(x)\nsum(a)",
        lambda x: (2280 * x + 4692 * x * x, 2280 + 9384 * x, 9384.0)),
    "on one path": (LISTED + "if x > 0:\n    u = a.pop()\n    a.append(u * x)\nelse:\n    a.append(1.0)\nsum(a)",
        lambda x: (2346 * x + 69 * x * x, 2346 + 138 * x, 138.0)),
    "by a function": ("def f(l):\n    v = l.pop()\n    l.append(v * v)\n" + LISTED + "f(a)\nf(a)\nsum(a)",
        lambda x: (2346 * x + 69.0**4 * x**4, 2346 + 4 * 69.0**4 * x**3, 12 * 69.0**4 * x * x)),
    "in a copy": (LISTED + "b = a[:]\nu = b.pop()\nb.append(u * u)\nsum(a) + sum(b)",
        lambda x: (4761 * x + 4761 * x * x, 4761 + 9522 * x, 9522.0)),
    "a pair": (
        "a = []\nfor k in range(70):\n    a.append((x * k, x))\np, q = a.pop()\na.append((p * q, x))\n"
        "s = 0.0\nfor u, v in a:\n    s = s + u * v\ns",
        lambda x: (2346 * x * x + 69 * x**3, 4692 * x + 207 * x * x, 4692 + 414 * x)),
    "a complex number": (
        "a = []\nfor k in range(70):\n    a.append(x * k + 1j * x)\nu = a.pop()\na.append(u * u)\nsum(a).real",
        lambda x: (2346 * x + 4760 * x * x, 2346 + 9520 * x, 9520.0)),
}  # fmt: skip


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize("name", CASES)
def test_on_kernels(name: str) -> None:
    compiled = program(CASES[name])
    for command in ("grad", "hessian"):
        assert agree(compiled, {"x": 0.7}, None, command, 1e-11) == "", command
    found = compiled.evaluate("value", {"x": 0.7}, engine="kernel")
    assert math.isclose(found.value, of_python(CASES[name], 0.7), rel_tol=1e-13)
    assert found.emitted is not None
    assert found.emitted.count("\n") < 150


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize("name", REPLACED)
def test_another_item_in_the_place_of_one_that_is_taken(name: str) -> None:
    text, closed = REPLACED[name]
    value, first, second = closed(0.7)
    compiled = program(text)
    for engine in ("kernel", "tape"):
        found = compiled.evaluate("grad", {"x": 0.7}, engine=engine)
        assert found.engine == engine
        assert math.isclose(found.value, value, rel_tol=1e-13)
        assert math.isclose(found.gradients["x"], first, rel_tol=1e-13)
        curved = compiled.evaluate("hessian", {"x": 0.7}, engine=engine)
        assert curved.engine == engine
        assert math.isclose(curved.hessian["x"]["x"], second, rel_tol=1e-13)


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize(
    "end", ["for k in range(71):\n    s = s + a.pop()\ns", "while s < 1e9:\n    s = s + a.pop()\ns"]
)
def test_taken_from_an_empty_list(end: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernel itself tells, in the tape's words."""
    told: list[str] = []
    words = failures.index_before_front

    def noted(index: int, place: int) -> Any:
        found = words(index, place)
        told.append(found.message)
        return found

    monkeypatch.setitem(failures.FAILURES, "index_before_front", noted)
    assert agree(FILLED + end, {"x": 0.7}) == "an error"
    assert told == ["index -1 is out of range for a list of length 0"]


def test_in_machine_code() -> None:
    assert agree(CASES["and another in its place"], {"x": 0.7}, None, "hessian", 1e-11) == ""
