"""Programs that mix float32 and float64, against the rule for their derivatives, spelt out here.

A float32 is rounded after every operation, and so is its cotangent: the terms are added up in float64 and rounded once. A
cotangent of a bare number, as of a float64, is never rounded, but for that of an input whose function is a float32: that is
rounded where it is handed back. A program is Python too: it is run here on numbers that know the rule.
"""

from __future__ import annotations

import random
from typing import Any

import adiff
import numpy as np
import pytest

SINGLE, DOUBLE, BARE = "float32", "float64", "bare"
single = np.float32


class Number:
    """A number with its width, and what its cotangent goes on to: (number, partial) each."""

    def __init__(self, value: Any, width: str, given: list[tuple[Any, Any]]) -> None:
        self.value = single(value) if width == SINGLE else float(value)
        self.width = width
        self.given = [(x, p) for x, p in given if isinstance(x, Number)]

    def made(self, other: Any, value: Any, p: Any, q: Any) -> Number:
        """The result of an operation of two: its value and its partials are functions of both."""
        widths = {x.width for x in (self, other) if isinstance(x, Number)}
        width = SINGLE if SINGLE in widths else DOUBLE if DOUBLE in widths else BARE
        kind = single if width == SINGLE else float
        a, b = (kind(x.value if isinstance(x, Number) else x) for x in (self, other))
        return Number(value(a, b), width, [(self, kind(p(a, b))), (other, kind(q(a, b)))])

    def __add__(self, other: Any) -> Number:
        return self.made(other, lambda a, b: a + b, lambda a, b: 1, lambda a, b: 1)

    def __sub__(self, other: Any) -> Number:
        return self.made(other, lambda a, b: a - b, lambda a, b: 1, lambda a, b: -1)

    def __rsub__(self, other: Any) -> Number:
        return self.made(other, lambda a, b: b - a, lambda a, b: -1, lambda a, b: 1)

    def __mul__(self, other: Any) -> Number:
        return self.made(other, lambda a, b: a * b, lambda a, b: b, lambda a, b: a)

    def __truediv__(self, other: Any) -> Number:
        return self.made(other, lambda a, b: a / b, lambda a, b: type(b)(1) / b, lambda a, b: -a / b / b)

    def __gt__(self, other: float) -> bool:
        return bool(self.value > other)

    __radd__, __rmul__ = __add__, __mul__


def cast(x: Any, width: str) -> Number:
    return Number(x.value, width, [(x, None)]) if isinstance(x, Number) else Number(x, width, [])


def by_rule(text: str, at: float) -> tuple[Any, Any, bool]:
    """The value of a program of x, its derivative, and whether they are float32."""
    lines = text.split("\n")
    names: dict[str, Any] = {"x": Number(at, BARE, []), "cast": cast, SINGLE: SINGLE, DOUBLE: DOUBLE}
    exec("\n".join([*lines[:-1], f"result = {lines[-1]}"]), names)
    x, y = names["x"], names["result"]
    totals: dict[Number, float] = {y: 1.0}
    for node in in_order(y):
        kind = single if node.width == SINGLE else float
        g = kind(totals.get(node, 0.0))
        for source, p in node.given:
            c = g if p is None else g * p
            c = single(c) if source.width == SINGLE else c
            totals[source] = totals.get(source, 0.0) + float(c)
    g = totals.get(x, 0.0)
    return y.value, single(g) if y.width == SINGLE else g, y.width == SINGLE


def in_order(y: Number) -> list[Number]:
    """A result and what it is computed from, each after all that is computed from it."""
    found: list[Number] = []
    seen: set[Number] = set()

    def visit(node: Number) -> None:
        if node not in seen:
            seen.add(node)
            for source, _ in node.given:
                visit(source)
            found.append(node)

    visit(y)
    return found[::-1]


class Writer:
    """A random program, whose names are of a width each."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.names = {"x": BARE}
        self.lines: list[str] = []

    def leaf(self, width: str) -> str:
        known = [name for name, own in self.names.items() if own == width]
        if width == BARE:
            return self.random.choice([*known, "0.3", "1.7", "(1/3)"])
        made = f"cast({self.random.choice(['x', 'x', '0.7'] if width == SINGLE else ['x'])}, {width})"
        return self.random.choice([*known, made])

    def number(self, width: str, depth: int) -> str:
        pick = self.random.random()
        if depth == 0:
            return self.leaf(width)
        if pick < 0.65:
            sides = self.random.choice([(width, width), (width, BARE), (BARE, width)])
            a, b = (self.number(side, depth - 1) for side in sides)
            return f"({a} {self.random.choice('+-*')} {b})"
        if pick < 0.75:
            return f"({self.number(width, depth - 1)} / {self.random.choice(['3', '1.3'])})"
        if width == BARE:
            return f"({self.number(BARE, depth - 1)} * x)"
        return f"cast({self.number(self.random.choice((SINGLE, DOUBLE, BARE)), depth - 1)}, {width})"

    def statement(self) -> None:
        name, width = f"a{len(self.lines)}", self.random.choice((SINGLE, DOUBLE, BARE))
        pick = self.random.random()
        if pick < 0.4:
            self.lines.append(f"{name} = {self.number(width, 2)}")
        elif pick < 0.6:
            sides = [f"    {name} = {self.number(width, 2)}" for _ in range(2)]
            self.lines += ["if x > 0.5:", sides[0], "else:", sides[1]]
        elif pick < 0.8:
            self.lines += [f"{name} = {self.number(width, 1)}", f"for i in range({self.random.randint(1, 4)}):"]
            known, self.names = self.names, {**self.names, name: width}
            self.lines.append(f"    {name} = {name} * 0.5 + {self.number(width, 2)}")
            self.names = known
        else:
            known, self.names = self.names, {"t": BARE}
            self.lines.append(f"f{name} = lambda t: {self.number(width, 2)}")
            self.names = known
            self.lines.append(f"{name} = f{name}({self.number(BARE, 1)})")
        self.names[name] = width

    def program(self) -> str:
        for _ in range(self.random.randint(1, 3)):
            self.statement()
        last = self.random.choice((SINGLE, DOUBLE, DOUBLE))
        return "\n".join([*self.lines, f"{self.number(last, 2)} * x"])


@pytest.mark.parametrize("seed", range(40))
def test_random_programs(seed: int) -> None:
    text = Writer(seed).program()
    made = adiff.program(text)
    for at in (0.3, 0.7):
        value, slope, is_single = by_rule(text, at)
        found = made.evaluate("grad", {"x": at})
        got = found.gradients["x"]
        assert (type(got) is single) is is_single, text
        assert found.value == value, text
        np.testing.assert_allclose(got, slope, rtol=1e-14, atol=1e-14, err_msg=text)


H = "h = cast(0.7, float32)\n"
# The derivative by x, which is 0.3: in float64, though a part of it comes from float32.
H_, X_ = float(single(0.7)), float(single(0.3))
EXACT: list[tuple[str, float]] = [
    ("c = cast(0.5, float32)\ncast(x * c, float64) + x / 3", 5 / 6),
    ("cast(cast(x, float32) * x, float64) + x / 3", 2 * X_ + 1 / 3),
    (H + "y = x / 3\ncast(y * h, float64)", H_ / 3),
    (H + "y = x / 3\ncast(y * h + y * h, float64)", 2 * H_ / 3),
    (H + "s = x * 0\nfor i in range(3):\n    s = s + cast(x * h, float64) + x / 3\ns", 3 * H_ + 1),
    (H + "u = [x, x / 3]\nu[0] = u[1] * 0.1\ncast(u[0] * h, float64) + u[1]", H_ * 0.1 / 3 + 1 / 3),
    (H + "f = lambda t: cast(t * h, float64) + t / 3\nf(x * 0.1)", (H_ + 1 / 3) * 0.1),
    (H + "def f(t, n):\n    return cast(t * h, float64) if n == 0 else f(t / 3, n - 1)\nf(x, 2)", H_ / 9),
    (H + "g = lambda k: lambda t: cast(t * k, float64) * 0.1\ng(h)(x / 3)", float(single(0.1) * single(0.7)) / 3),
    (H + "y = x * 0.1\nif x > 0.2:\n    y = y / 3\ncast(y * h, float64)", H_ / 3 * 0.1),
    ("a = cast(x, float32)\nb = cast(x, float32)\ncast(a * 0.1, float64) + cast(b * 0.7, float64)", float(single(0.1)) + H_),
]  # fmt: skip


@pytest.mark.parametrize(("text", "slope"), EXACT)
def test_bare_numbers_keep_the_digits_of_both(text: str, slope: float) -> None:
    made = adiff.program(text)
    for command in ("grad", "jacobian", "vjp", "hvp", "hessian"):
        options: dict[str, Any] = {"hvp": {"vector": {"x": 1.0}}, "vjp": {"cotangent": 1.0}}.get(command, {})
        found = made.evaluate(command, {"x": 0.3}, **options)
        got = (found.gradients or found.jacobian or found.cotangents)["x"]
        np.testing.assert_allclose(got, slope, rtol=4e-16, err_msg=command)


BARE_VALUES = ["vjp(lambda t: t * t * t, x)[1](v)[0]", "jvp(lambda t: t * t * t, x, v)[1]"]


@pytest.mark.parametrize("text", BARE_VALUES)
def test_blocks_of_a_hessian_have_the_dtypes_of_their_sources(text: str) -> None:
    """3 v x^2: by x twice it is bare, and by the float32 v, once or twice, a float32."""
    found = adiff.program(text).evaluate("hessian", {"x": 0.3, "v": single(0.7)})
    blocks = found.hessian
    assert {(a, b): type(blocks[a][b]) for a in "xv" for b in "xv"} == {
        ("x", "x"): float,
        ("x", "v"): single,
        ("v", "x"): single,
        ("v", "v"): single,
    }
    np.testing.assert_allclose(blocks["x"]["x"], 6 * H_, rtol=1e-15)
    np.testing.assert_allclose([blocks["x"]["v"], blocks["v"]["x"], blocks["v"]["v"]], [1.8, 1.8, 0.0], rtol=1e-7)
