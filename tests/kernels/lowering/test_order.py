"""What is evaluated when: operands from left to right, as they are then; conditions as often as Python asks them."""

from __future__ import annotations

from pathlib import Path

import adiff
import numpy as np
import pytest
from agreement import agree

X = 1.5
CASES = [case.strip().split("\n", 1) for case in (Path(__file__).parent / "order.txt").read_text().split("\n---\n")]


def by_python(text: str, x: float) -> float:
    """What Python makes of a program of numbers and lists."""
    *body, last = text.split("\n")
    names = {"x": x}
    exec("\n".join([*body, f"answer = {last}"]), names)
    return names["answer"]


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize(("title", "text"), CASES, ids=[title.lstrip("# ") for title, _ in CASES])
def test_order_is_pythons(title: str, text: str) -> None:
    """The word tape in a title means that no kernel takes the program, for that reason."""
    reason = agree(text, {"x": X})
    assert (title.split("tape:")[1].strip() in reason) if "tape:" in title else reason == ""
    found = adiff.program(text).evaluate("grad", {"x": X}, engine="tape")
    assert found.value == pytest.approx(by_python(text, X), rel=1e-14)
    step = 1e-6
    slope = (by_python(text, X + step) - by_python(text, X - step)) / (2 * step)
    assert found.gradients["x"] == pytest.approx(slope, rel=1e-7, abs=1e-7)


@pytest.mark.parametrize("number", [1, 13])
def test_compiled(number: int) -> None:
    title, text = CASES[number]
    assert agree(text, {"x": X}) == "", title


# An array, a function that doubles its first element in place, and the sum of three terms made with them.
DOUBLED = """a = array([x, 2.0])
def f(u, w):
    return u * w
def g():
    global a
    a[0] = a[0] * 2
    return 1.0
s = 0.0
for k in range(3):
    s = s + {}
s"""
BEFORE = sum(2**k * X + 2 for k in range(3))  # of a as it is before each call
AFTER = sum(2**k * X + 2 for k in range(1, 4))


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize(
    ("term", "value", "slope"),
    [
        ("sum(a + g())", BEFORE + 6, 7), ("sum(a * g())", BEFORE, 7), ("sum(a[0:2] * g())", BEFORE, 7),
        ("sum(a.T * g())", BEFORE, 7), ("sum(reshape(a, (2, 1)) * g())", BEFORE, 7), ("sum(2 * a * g())", 2 * BEFORE, 14),
        ("sum(g() * a)", AFTER, 14), ("sum(a * g() * a)", sum(2**k * X * 2**(k + 1) * X + 4 for k in range(3)), 126),
        ("sum(maximum(a, g()))", BEFORE, 7), ("sum(where(a > 0, a, g()))", BEFORE, 7),
        ("dot(a, [g(), 1.0])", BEFORE, 7), ("sum(stack([a, a * g()]))", 2 * BEFORE, 14),
        ("sum(f(a, g()))", BEFORE, 7), ("sum(f(w=g(), u=a))", AFTER, 14), ("sum(f(u=a, w=g()))", BEFORE, 7),
        ("a[int(g()) - 1]", BEFORE - 6, 7), ("a.dot(array([g(), 1.0]))", BEFORE, 7), ("sum((a, g())[0])", BEFORE, 7),
        ("sum(split(a, 2)[0] * g())", BEFORE - 6, 7), ("(a < g())[0] * x", 0, 0), ("(g() < a)[1] * x", 3 * X, 3),
        ("real(sum(complex(1.0, 2.0) * a * g()))", BEFORE, 7), ("sum([v * g() for v in a])", BEFORE, 7),
    ],
)  # fmt: skip
def test_an_operand_is_what_it_was(term: str, value: float, slope: float) -> None:
    if "sum([v" in term:  # which calls g twice
        value, slope = sum(4**k * X + 2 for k in range(3)), 21
    text = DOUBLED.format(term)
    assert agree(text, {"x": X}) == ""
    found = adiff.program(text).evaluate("grad", {"x": X}, engine="kernel")
    assert (found.value, found.gradients["x"]) == pytest.approx((value, slope))


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize(
    ("statements", "value", "slope"),
    [
        ("a = a + g()", X + 4, 1), ("a += g()", X + 4, 1), ("a[1] += g()", X + 3, 1), ("a[int(g())] = 3.0", X + 3, 1),
        ("a[int(g())] += a[0]", 3 * X + 2, 3), ("b = split(a, 2)\nq = g()\na = array([b[0][0], 2.0])", X + 2, 1),
        ("b = list(a)\nq = g()\na = array(b)", X + 2, 1),
    ],
)  # fmt: skip
def test_a_statement_takes_what_was_there(statements: str, value: float, slope: float) -> None:
    """Each of them undoes what g does, for it takes the array as it was."""
    head = DOUBLED.split("s = 0.0")[0]
    text = f"{head}for k in range(1, 2):\n    {statements.replace(chr(10), chr(10) + '    ')}\nsum(a)"
    found = adiff.program(text).evaluate("grad", {"x": X}, engine="kernel")
    assert (found.engine, found.value, found.gradients["x"]) == ("kernel", pytest.approx(value), pytest.approx(slope))
    for engine in ("tape", "kernel"):
        assert adiff.program(text).evaluate("value", {"x": X}, engine=engine).value == pytest.approx(value)
    for trips in (3, 40):
        agree(text.replace("range(1, 2)", f"range({trips})"), {"x": X})


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize("default", ["lambda u, w=a: u * sum(w)", "lambda u, w=a * 2: u * sum(w) / 2"])
def test_a_default_is_what_it_was(default: str) -> None:
    text = f"a = array([x, 2.0])\ns = 0.0\nfor k in range(3):\n    f = {default}\n    a[0] = a[0] * 2\n    s = s + f(1.0)\ns"
    assert agree(text, {"x": X}) == ""
    assert adiff.program(text).evaluate("grad", {"x": X}, engine="kernel").value == pytest.approx(BEFORE)


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize("made", ["array([1.0, 2.0])", "[1.0, 2.0]"])
def test_a_text_is_what_it_was(made: str) -> None:
    lines = "print(a, g(), a)\nprint(f'{a} {g()}')\nt = f'{a}'\ng()\nprint(t)\nt = str(a)\ng()\nprint(t)"
    head = f"a = {made}\ndef g():\n    global a\n    a[0] = a[0] * 2\n    return 1.0\n"
    for text in (f"{head}{lines}\n1", f"{head}for k in range(3):\n    " + lines.replace("\n", "\n    ") + "\n1"):
        printed: dict[str, list[str]] = {"tape": [], "kernel": []}
        for engine, found in printed.items():
            outcome = adiff.program(text).evaluate("run", {}, engine=engine, write=found.append)
            assert outcome.engine == engine
        assert "".join(printed["tape"]) == "".join(printed["kernel"])


@pytest.mark.usefixtures("interpret")
def test_what_a_test_prints_the_last_time_is_printed() -> None:
    text = (
        "def f(v):\n    print('f', v)\n    return v\nn = 0\nwhile f(n) < 2:\n    n = n + 1\nz = f(1) < f(0) < f(5)\nn"
    )
    found: list[str] = []
    assert adiff.program(text).evaluate("run", {}, engine="kernel", write=found.append).engine == "kernel"
    assert "".join(found) == "f 0\nf 1\nf 2\nf 1\nf 0\n"


@pytest.mark.usefixtures("interpret")
def test_the_result_of_a_loop_is_what_it_was() -> None:
    text = "a = array([x, 2.0])\ndef g():\n    global a\n    a[0] = a[0] * 2\nfor k in range(3):\n    a\n    g()"
    for engine in ("tape", "kernel"):
        found = adiff.program(text).evaluate("value", {"x": X}, engine=engine)
        assert (found.engine, list(found.value)) == (engine, [4 * X, 2.0])


def test_arrays_that_nothing_changes_are_not_copied() -> None:
    """A call that changes nothing leaves its neighbours where they are."""
    pure = "def f(u):\n    return sum(u * u)\nfor i in range(3):\n    v[i] = v[i] * x\n    v = v * f(v)\nsum(v)"
    changing = "def f(u):\n    global v\n    v[0] = 1.0\n    return sum(u * u)\n" + pure.split("\n", 2)[2]
    arrays = []
    for text in (pure, changing):
        found = adiff.program("v = w * 1.0\n" + text).evaluate("value", {"x": X, "w": np.ones(5)}, engine="kernel")
        assert found.engine == "kernel", found.reason
        arrays.append(found.emitted.count("floats("))
    assert arrays[0] < arrays[1]
