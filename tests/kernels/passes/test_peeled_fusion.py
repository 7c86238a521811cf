"""Loops over all elements that become part of loops which leave the first few out: every result is the same, bit by bit."""

from __future__ import annotations

import os
import random
import re
from typing import Any

import adiff
import numpy as np
import pytest
from adiff.engine.kernels import ir
from adiff.engine.kernels.built import Built
from adiff.engine.kernels.passes import parallel_loops, peeled_fusion
from adiff.engine.kernels.passes.peeled_fusion import fuse_peeled
from agreement import agree
from generated_loops import WIDTH, N, loops, random_kernel
from interpreted import checked, interpreted


def run(kernel: ir.Kernel) -> tuple[Any, ...]:
    at = np.random.default_rng(7)
    found = interpreted(Built(kernel, ())).entry(at.normal(size=WIDTH), at.normal(size=WIDTH))
    return tuple(np.array(x) for x in found)


def recurrent(choose: random.Random, s: Any, start: int) -> ir.Loop:
    """A loop from a later element on, in which one depends on the one before it, or on what the loop hands on."""
    *body, last = s.body
    index, before, total, phi = ir.Var(ir.INT), ir.Var(ir.FLOAT), ir.Var(ir.FLOAT), ir.Var(ir.FLOAT)
    body.append(ir.Set(index, "subtract", (last.index, 1), None, None))
    body.append(ir.Load(before, last.array, index))
    body.append(ir.Set(total, "add", (before if choose.random() < 0.7 else phi, last.value), None, None))
    carried = [(phi, 0.5, total)] if choose.random() < 0.5 else []
    if not carried:
        body[-1] = ir.Set(total, "add", (before, last.value), None, None)
    return s.replace(start=start, carried=carried, body=[*body, ir.Store(last.array, last.index, total)])


def summing(s: Any, start: Any) -> tuple[ir.Loop, ir.Var]:
    """A loop that hands on a sum besides."""
    phi, total = ir.Var(ir.FLOAT), ir.Var(ir.FLOAT)
    value = next(x.var for x in s.body if x.__class__ is ir.Load)
    added = ir.Set(total, "add", (phi, value), None, None)
    return s.replace(carried=[(phi, start, total)], body=[*s.body, added]), phi


def test_random_loops(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(peeled_fusion, "MOST_TOGETHER", 100)
    fewer = 0
    for seed in range(400):
        choose = random.Random(seed)
        kernel = random_kernel(seed)
        body: list[ir.Stmt] = []
        results = list(kernel.results)
        handed: list[Any] = [0.25]
        for s in kernel.body:
            if s.__class__ is ir.Loop and choose.random() < 0.5:
                s = recurrent(choose, s, choose.choice([1, 1, 2, 3, 4]))
                handed += [phi for phi, _, _ in s.carried]
            elif s.__class__ is ir.Loop and choose.random() < 0.5:
                s, total = summing(s, choose.choice(handed))
                results.append(total)
            body.append(s)
        kernel = ir.Kernel(kernel.parameters, body, results)
        together = checked(fuse_peeled)(kernel)
        fewer += loops(together.body) < loops(kernel.body)
        for one, other in zip(run(kernel), run(together), strict=True):
            np.testing.assert_array_equal(one, other, err_msg=str(seed))
    assert fewer > 30


def test_what_a_recurrence_takes_is_bounded_in_all() -> None:
    """Each of many short loops is little; together they are more than a processor does while an element is waited for."""
    x, y = (ir.Array(ir.FLOAT, (WIDTH,), name, "input") for name in "xy")
    w, *products = (ir.Array(ir.FLOAT, (N,)) for _ in range(9))
    body: list[ir.Stmt] = [ir.Alloc(array, True) for array in (w, *products)]
    body.append(ir.Store(w, 0, 0.5))
    body.append(recurrent(random.Random(1), loop_of_product(x, w, 0.25), 1))
    body += [loop_of_product(w, array, 0.5 + k) for k, array in enumerate(products)]
    kernel = ir.Kernel([x, y], body, products)
    together = checked(fuse_peeled)(kernel)
    longest = max(len(s.body) for s in together.body if s.__class__ is ir.Loop)
    assert peeled_fusion.MOST_TOGETHER - 3 < longest <= peeled_fusion.MOST_TOGETHER
    assert 1 < loops(kernel.body) - loops(together.body) < len(products)
    for one, other in zip(run(kernel), run(together), strict=True):
        np.testing.assert_array_equal(one, other)


def loop_of_product(source: ir.Array, target: ir.Array, factor: float) -> ir.Loop:
    index, value, product = ir.Var(ir.INT, "i"), ir.Var(ir.FLOAT), ir.Var(ir.FLOAT)
    body = [
        ir.Load(value, source, index),
        ir.Set(product, "multiply", (value, factor), None, None),
        ir.Store(target, index, product),
    ]
    return ir.Loop(index, 0, N, 1, None, None, [], body, None, {}, ir.Var(ir.INT, "t"), None)


FILLED = (
    "w = zeros({n})\nw[0] = x[0]\nfor i in range(1, {n}):\n    w[i] = 0.9 * w[i - 1] + x[i] * x[i]\nsum(w * {factor})"
)


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize(("factor", "joined"), [("w", True), ("x[::-1]", True), ("w[::-1]", False), ("exp(w)", False)])
def test_an_array_is_read_where_it_is_filled(factor: str, joined: bool) -> None:
    text, at = FILLED.format(n=N, factor=factor), {"x": np.linspace(0.2, 1.3, N)}
    assert agree(text, at, ["x"], "grad", tolerance=1e-14) == ""
    found = str(adiff.program(text).evaluate("grad", at, ["x"], engine="kernel").emitted)
    forward = found[: found.index("-1, -1")]
    assert len(re.findall(r"\n    for \w+ in range\((?:1, )?48\)", forward)) == (1 if joined else 2)


def loops_of_value(factor: str) -> list[str]:
    """The first line of each loop over many elements that the value of such a program takes."""
    text, at = FILLED.format(n=N, factor=factor), {"x": np.linspace(0.2, 1.3, N)}
    found = str(adiff.program(text).evaluate("value", at, engine="kernel").emitted)
    return re.findall(r"\n    for \w+ in (p?range\((?:1, )?48\))", found)


def horner(steps: int) -> str:
    return "(" * steps + "0.25" + "".join(f" * w + {0.5 + k / 64})" for k in range(steps))


@pytest.mark.usefixtures("interpret")
def test_a_long_loop_stays_one_of_vectors() -> None:
    assert loops_of_value(horner(1)) == ["range(1, 48)"]
    for steps in (6, 10, 40):
        assert loops_of_value(horner(steps)) == ["range(1, 48)", "range(48)"]


@pytest.mark.usefixtures("interpret")
@pytest.mark.skipif(os.name != "posix", reason="threads of POSIX")
def test_a_loop_for_several_cores_stays_one(monkeypatch: pytest.MonkeyPatch) -> None:
    assert loops_of_value("w") == ["range(1, 48)"]
    monkeypatch.setattr(parallel_loops, "WORTHWHILE", 3.0 * N)
    assert loops_of_value("w") == ["range(1, 48)", "prange(48)"]
