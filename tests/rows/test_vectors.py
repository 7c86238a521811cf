"""Rows in loops on vectors: they agree with the tape, whichever rows stand beside them."""

from __future__ import annotations

import math
import re
from typing import Any

import adiff
import numpy as np
import pytest
from adiff.engine.kernels.compilation import llvm_module, native
from adiff.engine.kernels.emitted import Emitted
from adiff.engine.kernels.machine import spare
from llvmlite import binding
from one_by_one import same_as_rows


def optimised(text: str, parameters: str) -> str:
    found, _ = llvm_module.module_text(Emitted(text, parameters, ["i"], 0))
    module = binding.parse_assembly(found)
    native.optimise(module, native.target_machine(), True)
    return str(module)


FORMULAS = {
    "black scholes": (
        "d1 = (log(S / K) + (r + v**2 / 2) * T) / (v * sqrt(T))\nd2 = d1 - v * sqrt(T)\n"
        "S * ndtr(d1) - K * exp(-r * T) * ndtr(d2)"
    ),
    "angles": "sqrt(a**2 + b**2 - 2*a*b*cos(t)) + asin(0.3*sin(t)) * atan(a/b)",
    "branches": "y = log(a) if a > 0.5 else expm1(-a)\ny * tanh(b) + (b**1.7 if t > 2.0 else t**3)",
}


@pytest.mark.parametrize("name", FORMULAS)
def test_rows_are_on_vectors_and_agree_with_the_tape(name: str) -> None:
    """Whole vectors and what is left over, with rows at singular points, with nan, and with angles too far among them."""
    program = adiff.program(FORMULAS[name])
    draw = np.random.default_rng(2)
    columns = {x: draw.uniform(0.2, 3.0, 203) for x in "SKTrvabt" if re.search(rf"\b{x}\b", FORMULAS[name])}
    found = program.rows(columns, engine="kernel")
    assert found.engine == "kernel", found.reason
    assert found.emitted is not None
    kinds = "iiI" + "F" * (2 * len(columns) + 1) + "B"
    assert re.search(r"<\d+ x double> @llvm\.fma", optimised(found.emitted, kinds))
    # A row's results do not depend on where it stands.
    turned = program.rows({x: np.roll(column, 3) for x, column in columns.items()}, engine="kernel")
    np.testing.assert_array_equal(np.roll(found.value, 3), turned.value)
    for x, slope in found.gradients.items():
        np.testing.assert_array_equal(np.roll(slope, 3), turned.gradients[x])
    first = next(iter(columns))
    columns[first][[3, 70]] = 0.0
    columns[first][[5, 202]] = math.nan
    columns[first][9] = -1.0
    if "t" in columns:
        columns["t"][[1, 150]] = 1e25
    same_as_rows(FORMULAS[name], columns, engine="kernel")


def test_results_that_nobody_holds_are_the_next_tables_memory() -> None:
    program = adiff.program("exp(x) * y")
    columns = {"x": np.linspace(0.0, 1.0, 20_000), "y": np.full(20_000, 2.0)}

    def places(found: Any) -> list[int]:
        return [each.__array_interface__["data"][0] for each in (found.value, *found.gradients.values())]

    for owner in list(spare.SPARE):
        spare.forget(owner)
    first = places(program.rows(columns, engine="kernel"))
    held = program.rows(columns, engine="kernel")
    assert places(held) == first
    kept = held.value[100:]
    del held
    columns["y"] = np.full(20_000, 3.0)
    other = program.rows(columns, engine="kernel")
    assert places(other)[0] != first[0]
    assert places(other)[1:] == first[1:]
    np.testing.assert_allclose(kept, 2.0 * np.exp(columns["x"][100:]), rtol=1e-15)
    np.testing.assert_allclose(other.value, 3.0 * np.exp(columns["x"]), rtol=1e-15)


def test_what_a_table_left_says_nothing_of_the_next_ones_rows() -> None:
    """Rows at singular points are looked for anew in memory that is used again."""
    program = adiff.program("log(x)")
    columns = {"x": np.ones(70_000)}
    columns["x"][5] = 0.0
    assert [n.rows for n in program.rows(columns, engine="kernel").notices if n.code == "N0501"] == [1]
    columns["x"][5] = 1.0
    again = program.rows(columns, engine="kernel")
    assert not again.notices
    assert np.isfinite(again.gradients["x"]).all()
