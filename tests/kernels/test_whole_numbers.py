"""Integers and floats of a program are told apart alike on both tiers, by every command and in float32."""

from __future__ import annotations

from typing import Any

import adiff
import numpy as np
import pytest
from adiff import AdiffError
from agreement import agree

X = np.array([1.0, 2.0, 3.0])
FLOAT_INDICES = ["x[m*1.0]*m", "x[m/1]", "x[sqrt(m)]", "x[m + 0.0]", "sum(x[:m*1.0])", "x[1.0*m]", "x[m*m/2]"]
INTEGER_INDICES = ["x[m]*m", "x[m - 0]*m", "x[m*2]", "x[m//1]", "x[-m]", "x[m % 2]*m", "x[abs(m)]"]


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize("text", FLOAT_INDICES)
@pytest.mark.parametrize("command", ["value", "grad", "hessian"])
def test_a_float_is_no_index(text: str, command: str) -> None:
    """Of a bare integer that is differentiated as of one that is not."""
    for engine in ("tape", "kernel"):
        with pytest.raises(AdiffError, match=r"must be (an integer|integers)") as caught:
            adiff.program(text).evaluate(command, {"x": X, "m": 1}, engine=engine)
        assert caught.value.code == "E0405"


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize("text", INTEGER_INDICES)
def test_integers_count(text: str) -> None:
    at = {"x": X, "m": 1}
    for command in ("value", "grad"):
        agree(text, at, None, command)
        for engine in ("tape", "kernel"):
            found = adiff.program(text).evaluate(command, at, engine=engine).value
            assert found == eval(text, {"x": X, "m": 1, "abs": abs})


OF_INTEGERS = ["array([n, 2])", "array(n)", "asarray((n, 2))", "constant([[n, 1], [2, n]])", "array([n*1, n])"]


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize("made", OF_INTEGERS)
@pytest.mark.parametrize("text", ["sum(x*{})", "y = {}\nsum(y)*x", "sum({} + 0.5)*x"])
def test_tensors_of_integers_do_not_mix(made: str, text: str) -> None:
    """What `array` makes of integers has a dtype of its own, whatever they come from."""
    at = {"x": 1.5, "n": 3}
    assert agree(text.format(made), at, None, "value") == "an error"
    assert agree(text.format(made), at, ["x"], "grad") == "an error"
    agree(f"z = {made}\n(x, z, sum(z)//2, max(z)*2)", at, None, "value")


SINGLE = [
    "n*0.1", "n + 0.1", "n**0.5", "exp(n*0.1)", "float(n)*0.1", "exp(float(n))", "pi*n", "sin(pi)*n", "n*tau/3", "0.1*n", "1/3*n",
    "n/7", "inf - n", "sum([pi, n*0.1])", "x*n*pi",
]  # fmt: skip


@pytest.mark.parametrize("text", SINGLE)
def test_integers_in_float32(text: str) -> None:
    """A float of a program that asks for float32 is one, whatever it comes from."""
    at = {name: {"n": 3, "x": 0.7}[name] for name in adiff.program(text).inputs}
    for command in ("value", "grad"):
        found = adiff.program(text).evaluate(command, at, engine="tape", dtype="float32").value
        assert isinstance(found, np.float32), (text, command, found)


def test_integers_in_float32_by_kernels() -> None:
    assert agree(f"[{', '.join(SINGLE)}]", {"n": 3, "x": 0.7}, None, "value", 3e-7, dtype="float32") == ""


MATRIX = np.array([[1.9, 0.4], [-0.5, 1.1]])
STRUCTURES: list[tuple[str, dict[str, Any], str]] = [
    ("lstsq(A, b)", {"A": MATRIX, "b": np.array([1.0, 2.0])}, "r = lstsq(A, b)\nsum(r[0]) + sum(r[3])"),
    ("(x**2, argmax([x, 1.0]))", {"x": 1.5}, "x**2"),
    ("{'a': x**2, 'i': argmax([x, 1.0])}", {"x": 1.5}, "x**2"),
    ("[argmax(x), sum(x**2)]", {"x": X}, "sum(x**2)"),
    ("(x, array([n, 2]), x**2)", {"x": 1.5, "n": 3}, "x + x**2"),
]


@pytest.mark.parametrize(("text", "at", "floats"), STRUCTURES)
def test_integers_beside_floats_in_a_result(text: str, at: dict[str, Any], floats: str) -> None:
    """They are constants of its sum: the gradient is that of the floats."""
    wrt = [name for name in at if name != "n"]
    for engine in ("tape", "kernel"):
        found = adiff.program(text).evaluate("grad", at, wrt, engine=engine)
        expected = adiff.program(floats).evaluate("grad", {k: v for k, v in at.items() if k in wrt}, wrt, engine="tape")
        for name in wrt:
            np.testing.assert_allclose(found.gradients[name], expected.gradients[name], rtol=1e-13)


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize("sign", ["-max(x[i], 0)", "max(x[i], 0)*-2", "-min(x[i], 0)"])
def test_kernels_take_what_is_chosen_of_elements(sign: str) -> None:
    at = {"x": np.array([1.0, -2.0, 3.0, -0.0])}
    for command in ("value", "grad", "hessian"):
        assert agree(f"s = 0.0\nfor i in range(4):\n    s += {sign}\ns", at, None, command) == ""


FILLED = "a = []\nfor k in range(70):\n    a.append(x * k)\n"
LISTS = [
    FILLED + "a.pop()\na.append(0)\nb = max(a[-1], 0) * -3\natan2(b, -x)",
    FILLED + "a[3] = 0\nb = max(a[3], 0) * -3\natan2(b, -x)",
    FILLED + "b = 1.0\nfor k in range(70):\n    a[k] = 0\n    b = max(a[k], 0) * -3\natan2(b, -x)",
]


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize("text", LISTS)
def test_an_item_of_a_list_may_be_an_integer(text: str) -> None:
    """Integers have no zero with a sign, whatever the list has been through: what is above the negative axis stays there."""
    agree(text, {"x": 0.7}, None, "value")
    assert adiff.program(text).evaluate("value", {"x": 0.7}, engine="kernel").value == np.pi


HANDED_ON = [
    "t = (x, y)\nfor i in range(n):\n    a, b = t\n    t = (b, i)\nt[0] * t[1]",
    "t = x\nw = x\nfor i in range(n):\n    w = t * 2\n    t = i\nw",
    "t = x\nw = x\nfor i in range(n):\n    w = t * -1\n    t = i * 0\natan2(w, -1.0)",
    "t = (x, [y, x])\nfor i in range(n):\n    a, (b, c) = t\n    t = (b, [c, i])\nt[0] + t[1][0]",
]


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize("text", HANDED_ON)
def test_integers_that_a_loop_hands_on_in_the_place_of_floats(text: str) -> None:
    """From one variable to the next, and to what is computed of them in the next iteration."""
    for n in (0, 1, 2, 4):
        at = {"x": 1.49, "y": -0.74, "n": n}
        agree(text, {name: at[name] for name in adiff.program(text).inputs}, [name for name in "xy" if name in text])
    x, y, n = 1.49, -0.74, 4
    names: dict[str, Any] = {"x": x, "y": y, "n": n, "atan2": np.arctan2}
    head, _, result = text.rpartition("\n")
    exec(head, names)
    wanted = eval(result, names)
    wrt = [name for name in "xy" if name in text]
    point = {name: {"x": x, "y": y, "n": n}[name] for name in adiff.program(text).inputs}
    found = adiff.program(text).evaluate("grad", point, wrt, engine="kernel").value
    assert (found, type(found) is int) == (wanted, type(wanted) is int)
