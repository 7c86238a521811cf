"""Lists that grow in loops of unknown length; the values against Python, which runs the same text."""

from __future__ import annotations

import math

import adiff
import pytest
from adiff import program
from adiff.engine.kernels import collection
from agreement import agree
from python_values import of_python

# Programs of Python's: their last line is the result.
CASES = {
    "an adaptive step": "t = 0.0\ny = x\nh = 0.1\nts = [t]\nys = [y]\nwhile t < 1.0:\n    a = -y * y\n    b = -(y + h * a)**2\n"
    "    if abs(h * (b - a)) > 0.002:\n        h = h / 2\n    else:\n        y = y + h * (a + b) / 2\n        t = t + h\n"
    "        ts.append(t)\n        ys.append(y)\n        h = h * 1.5\ns = 0.0\nfor u, v in zip(ts, ys):\n    s = s + u * v\n"
    "s + sum(ys) + ys[-1] * ys[1] + len(ts)",
    "pairs": "t = 0.0\ny = x\npath = [(t, y)]\nwhile y > 0.1:\n    y = y - 0.05 * path[-1][1]**2\n    t = t + 0.05\n    path.append((t, y))\n"
    "s = 0.0\nfor u, v in path:\n    s = s + u * v\ns + path[-1][0] * path[2][1]",
    "iterates": "xs = [x]\nwhile abs(xs[-1]**2 - 2) > 1e-3:\n    xs.append(xs[-1] - 0.2 * (xs[-1]**2 - 2) / xs[-1])\nsum(xs) * xs[-1] * len(xs)",
    "until it stops": "xs = []\nv = x\nwhile True:\n    xs.append(v)\n    v = v * 0.9\n    if v < 0.01:\n        break\nxs[3] * sum([q * q for q in xs])",
    "two by two": "xs = []\nv = x\nwhile v > 0.1:\n    xs.append(v)\n    xs.append(v * v)\n    v = v * 0.8\nxs[-1] + xs[2] + len(xs)",
    "a loop in a loop": "xs = []\nv = x\nwhile v > 0.1:\n    w = v\n    while w > 0.05:\n        xs.append(w * v)\n        w = w / 2\n"
    "    v = v * 0.8\nsum(xs) + xs[4]",
    "loops that are counted around it": "xs = [x]\nfor i in range(70):\n    w = x + i\n    while w > 0.5:\n        xs.append(w)\n        w = w / 2\n"
    "s = 0.0\nfor q in xs:\n    s = s + q * q\ns * len(xs)",
    "a loop that is counted in it": "xs = [x]\nv = x\nwhile v > 0.1:\n    for i in range(80):\n        xs.append(v * i)\n    v = v / 2\n"
    "max(xs) + xs[-3]",
    "made anew": "s = 0.0\nfor i in range(70):\n    l = []\n    w = x + i\n    while w > 0.5:\n        l.append(w)\n        w = w / 2\n"
    "    s = s + l[-1] * l[0]\ns",
    "never run": "xs = [x]\nv = x\nwhile v > 1e3:\n    xs.append(v)\n    v = v / 2\nxs[-1]**2 + len(xs)",
    "by a function": "def steps(v):\n    l = [v]\n    while l[-1] > 0.1:\n        l.append(l[-1] * 0.7)\n    return l\nsum(steps(x)) + steps(x * x)[-1]",
    "written in place": "xs = [x, x]\nv = x\nwhile v > 0.1:\n    xs.append(v)\n    xs[1] = xs[1] + v\n    v = v * 0.8\nxs[1] * xs[-1]",
    "integers": "n = [27]\nv = x\nwhile n[-1] > 1:\n    n.append(n[-1] // 2 if n[-1] % 2 == 0 else 3 * n[-1] + 1)\n    v = v + 1.0 / n[-1]\n"
    "v * max(n) + len(n)",
    "as often as data says": "xs = []\nfor i in range(int(10000 * x)):\n    xs.append(x * i)\nsum(xs) + xs[-1]",
    "known after all": "xs = []\ni = 0\nwhile i < 5:\n    xs.append(x**i)\n    i = i + 1\nsum(xs) * xs[2]",
}  # fmt: skip


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize("name", CASES)
def test_on_kernels(name: str) -> None:
    compiled = program(CASES[name])
    for command in ("grad", "hessian"):
        assert agree(compiled, {"x": 1.5}, None, command, 1e-12) == "", command
    assert math.isclose(compiled.value({"x": 1.5}, engine="kernel"), of_python(CASES[name], 1.5), rel_tol=1e-13)


def test_more_room_where_it_has_not_been_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    """One kernel serves all lengths that it has room for; a larger one is kept instead, also for other processes."""
    made: list[str] = []
    original = collection.compile_kernel
    monkeypatch.setattr(collection, "compile_kernel", lambda *given: made.append("kernel") or original(*given))
    text = "xs = [x]\nwhile xs[-1] < 100.0:\n    xs.append(xs[-1] + x)\nsum(xs) + xs[len(xs) // 2]"
    compiled = program(text)
    steps = (1.0, 0.5, 1.0 / 16, 1.0 / 128, 0.5)
    for h in steps:
        found = compiled.evaluate("grad", {"x": h}, engine="kernel")
        n = math.ceil(100 / h)
        assert (found.engine, found.value) == ("kernel", h * n * (n + 1) / 2 + h * (n // 2 + 1)), h
        assert found.gradients["x"] == n * (n + 1) / 2 + n // 2 + 1
    assert len(made) == 3
    again = program(text).evaluate("grad", {"x": 1.0 / 128}, engine="kernel")
    assert again.engine == "kernel"
    assert len(made) == 3


def test_what_has_no_end_is_ended_by_a_limit() -> None:
    text = "xs = [x]\nwhile xs[-1] > 0:\n    xs.append(xs[-1] + x)\nsum(xs)"
    for engine in ("tape", "kernel"):
        with pytest.raises(adiff.AdiffError) as error:
            program(text).value({"x": 1.0}, engine=engine, max_steps=3000)
        assert error.value.code == "E0601"


def test_more_room_for_rows() -> None:
    """The loop over rows is made anew, and no row is left to the tape."""
    compiled = program("xs = [x]\nwhile xs[-1] < 100.0:\n    xs.append(xs[-1] + x)\nsum(xs)")
    steps = [1.0, 1.0 / 16, 1.0 / 128, 0.5]
    compiled.rows({"x": steps[:1]}, engine="kernel")
    for _ in range(2):
        found = compiled.rows({"x": steps}, engine="kernel")
        counts = [math.ceil(100 / h) for h in steps]
        assert (found.engine, found.one_by_one) == ("kernel", {})
        assert found.gradients["x"].tolist() == [n * (n + 1) / 2 for n in counts]


def test_notices_keep_their_place_when_there_is_more_room() -> None:
    text = "a = []\nk = 0\nwhile k < n:\n    a.append(x * k)\n    k = k + 1\nb = a\nb[0] = y\na.append(y)\na[0] + b[-1] + len(b)"
    found = program(text)
    for n in (10, 1030):
        assert agree(found, {"x": 1.3, "y": 0.7, "n": n}, ["x", "y"]) == ""
