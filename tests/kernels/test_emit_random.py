"""Emitted source of random programs that shift, copy and change a few arrays: it gives what the IR gives."""

from __future__ import annotations

import random
from typing import Any

import adiff
import interpreter
import machine
import numpy as np
import pytest
from adiff.engine.core.dtypes import FLOAT64
from adiff.engine.core.tensor import Tensor
from adiff.engine.kernels.construct import Construction
from adiff.engine.kernels.emit import emit
from adiff.engine.kernels.inputs import described
from adiff.engine.kernels.printing import verify
from adiff.engine.kernels.request import Request


def random_program(seed: int) -> str:
    """Shifts, copies, changes of single elements and element-wise steps of a few arrays, in a loop or not."""
    choose = random.Random(seed)
    names = ["a", "b", "c"]
    inside = choose.random() < 0.6

    def operand() -> str:
        x = choose.choice([*names, "v", "w"])
        kind = choose.randrange(6)
        if kind == 0:
            return f"concat([[{choose.choice(['1.0', 'v[3]', f'{x}[2]'])}], {x}[:-1]], axis=0)"
        if kind == 1:
            return f"concat([{x}[1:], [{choose.choice(['0.5', f'{x}[0]'])}]], axis=0)"
        if kind == 2:
            return f"concat([{x}[:2], {choose.choice(names)}[2:]], axis=0)"
        return x

    lines = []
    for _ in range(choose.randint(4, 9)):
        target = choose.choice(names)
        kind = choose.randrange(7)
        if kind == 0:
            lines.append(f"{target}[{choose.choice([0, 1, -1])}] = {choose.choice(names)}[{choose.randrange(4)}] * 0.7")
        elif kind == 1:
            lines.append(f"{target} = {operand()}")
        elif kind == 2:
            lines.append(f"{target} = 0.5 * sin({operand()}) + {operand()} / {choose.choice(['k', '3.0'])}")
        else:
            lines.append(f"{target} = 0.4 * {operand()} * {operand()} + 0.3 * {operand()}")
    head = ["a = v * 1.0", "b = w * v", "c = w + 0.5", "k = 2.0"]
    body = ["for i in range(3):", *(f"    {line}" for line in [*lines, "k = k + a[0] * a[0]"])] if inside else lines
    return "\n".join([*head, *body, "sum(a * b) + sum(c * c) * k + sum(v * w)"])


@pytest.mark.parametrize("command", ["value", "grad"])
@pytest.mark.parametrize("seed", range(40))
def test_random_program(seed: int, command: str) -> None:
    draw = np.random.default_rng(seed)
    arguments: list[Any] = [draw.normal(size=5), draw.normal(size=5)]
    point = {name: Tensor(x, FLOAT64) for name, x in zip("vw", arguments)}
    core = adiff.program(random_program(seed)).core
    names = ["v", "w"] if command == "grad" else []
    inputs = {name: described(name, point[name], name in names, False) for name in core.inputs}
    kernel = Construction(core, point, inputs, Request(command, names), True).build().kernel
    verify(kernel)
    given = [point[name].value for name in inputs]
    expected, flags = interpreter.run(kernel, given)
    emitted = emit(kernel)
    status, found, hit = machine.call(emitted, kernel, given)
    assert status == 0
    assert hit == flags
    for a, b in zip(found, expected):
        np.testing.assert_allclose(a, b, rtol=1e-11, err_msg=emitted.text)
