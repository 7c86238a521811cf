"""Emitted source of random programs that shift, join, multiply and change a few arrays: it gives what the IR gives."""

from __future__ import annotations

import random
from typing import Any

import adiff
import interpreter
import machine
import numpy as np
import pytest
from adiff.engine.kernels.construct import Construction
from adiff.engine.kernels.emit import emit
from adiff.engine.kernels.inputs import Request, described
from adiff.engine.plain import bind
from legal import verify

NAMES = ["a", "b", "c"]
HEAD = ["a = v * 1.0", "b = w * v", "c = zeros(5)", "k = 2.0", "j = n - 1"]


def operand(draw: random.Random) -> str:
    x = draw.choice([*NAMES, "v", "w"])
    first = draw.choice(["1.0", "v[3]", f"{x}[2]"])
    forms = [
        f"concat([[{first}], {x}[:-1]], axis=0)",
        f"{x}[::-1]",
        f"sin({x})",
        f"(m @ {x})",
        f"({x} @ m)",
        f"{x} * k",
    ]
    return draw.choice([*forms, x, x, x])


def lines(draw: random.Random, depth: int = 0) -> list[str]:
    """A statement, or a branch or a loop of some."""
    target, other = draw.choice(NAMES), draw.choice(NAMES)
    kind = draw.randrange(11)
    if kind in (0, 1, 10) and depth < 2:
        body = [f"    {line}" for _ in range(draw.randint(1, 3)) for line in lines(draw, depth + 1)]
        if kind == 0:
            return [f"for i{depth} in range({draw.choice(['2', 'n'])}):", *body]
        if kind == 10:
            body += [f"    if {other}[1] > 1.5:", "        break", f"    t{depth} += 1"]
            return [f"t{depth} = 0", f"while t{depth} < 4 and {target}[0] < 1.0:", *body]
        orelse = ["else:", *[f"    {line}" for line in lines(draw, depth + 1)]]
        return [f"if {other}[0] > {draw.choice(['0.1', 'k - 2'])}:", *body, *(orelse if draw.random() < 0.6 else [])]
    if kind == 2:
        return [f"{target}[{draw.choice(['0', '1', '-1', 'j'])}] = {other}[{draw.randrange(4)}] * 0.7"]
    if kind == 3:
        return [f"{target}[{draw.choice([':2', '1:3', '::2', '::-1'])}] {draw.choice(['=', '+=', '*='])} 0.5"]
    if kind == 4:
        return [f"{target}[1:3] = {other}[{draw.choice(['0:2', '2:4'])}] * 0.5"]
    if kind == 5:
        return [f"k = k * 0.5 + {target}[{draw.randrange(4)}]"]
    if kind == 6:
        return [f"{target} = softmax({operand(draw)})"]
    if kind == 7:
        return [f"{target} = 0.4 * {operand(draw)} * {operand(draw)} + sum({operand(draw)}) * 0.1"]
    return [f"{target} = {operand(draw)}"]


def kernel_of(text: str, values: dict[str, Any], names: list[str]) -> tuple[Any, list[Any]]:
    """The IR of a program's value, or of its gradient by some names, and its arguments."""
    core = adiff.program(text).core
    point: dict[str, Any] = {name: bind(x, name) for name, x in values.items()}
    inputs = {name: described(name, point[name], name in names, False) for name in core.inputs}
    kernel = Construction(core, point, inputs, Request("grad" if names else "value", names), True).build().kernel
    verify(kernel)
    return kernel, [values[name] for name in inputs]


@pytest.mark.parametrize("seed", range(100))
def test_random_program(seed: int) -> None:
    draw, numbers = random.Random(seed), np.random.default_rng(seed)
    body = [line for _ in range(draw.randint(3, 8)) for line in lines(draw)]
    text = "\n".join([*HEAD, *body, "sum(a * b) + sum(c * c) * k + sum(v * w)"])
    values = {"v": numbers.normal(size=5), "w": numbers.normal(size=5), "m": 0.4 * numbers.normal(size=(5, 5)), "n": 3}
    kernel, given = kernel_of(text, values, draw.choice([[], ["v", "w"], ["v", "w"]]))
    expected, flags = interpreter.run(kernel, given)
    emitted = emit(kernel)
    status, found, hit = machine.call(emitted, given)
    assert (status, hit) == (0, flags)
    for a, b in zip(found, expected):
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12, err_msg=emitted.text)


def test_updates_in_a_loop_copy_nothing() -> None:
    text = "w = zeros(6)\nw[0] = x[0]\nfor i in range(1, 6):\n    w[i] = 0.9 * w[i - 1] + x[i]\nsum(w * w)"
    kernel, _ = kernel_of(text, {"x": np.ones(6)}, [])
    assert emit(kernel).text.count("floats(") == 1


@pytest.mark.parametrize("text", ["sum((x * x + 1) * x / (2 + x * x))", "sum(100 * (x[1:] - x[:-1] ** 2) ** 2)"])
def test_value_and_gradient_are_one_loop(text: str) -> None:
    kernel, _ = kernel_of(text, {"x": np.ones(9)}, ["x"])
    assert emit(kernel).text.count("for ") == 1
