"""Calls whose arguments do not fit: the tape's errors where they are reached, and no fault where they are not."""

from __future__ import annotations

import adiff
import numpy as np
import pytest
from agreement import agree

AT = {"m": np.ones((2, 3)), "x": 0.5}
TAPE = "with GradientTape() as t:\n    v = Variable(x)\n    y = v * v\n"
MISFITS = [
    "abs(m, axis=0)", "abs()", "len(m, 3)", "len()", "int(x, 3, 4)", "float(x, y=2)", "range(1, 2, 3, 4)", "round(x, digits=3)",
    "all(m, bar=3)", "map_fn(lambda q: q, m, foo=2)", "cond(x > 0, lambda: x)", "foldl(lambda a, b: a + b)",
    "hessian(lambda q: q * x, foo=2)(x)", "jvp(lambda q: q * x, 1.0)", "Variable()", "GradientTape(foo=3)", "[1, 2].append()",
    "[1, 2].pop(1, 2)", "{'a': 1}.get()", "print(x, foo=3)",
]  # fmt: skip
IN_BLOCKS = ["t.gradient(y)", "t.gradient(y, v, foo=2)", "t.jacobian(y, v, foo=2)", "t.jacobian(y, v, 'foo')",
             "t.gradient(y, v, None, 'foo')", "v.assign()", "v.assign(1.0, foo=2)", "v.assign_add(1.0, foo=2)"]  # fmt: skip


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize("text", [*MISFITS, *(TAPE + call for call in IN_BLOCKS)])
def test_what_does_not_fit_is_the_tape_s_error(text: str) -> None:
    at = {name: AT[name] for name in adiff.program(text).inputs}
    assert agree(text, at, None, "value") == "an error"


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize("call", MISFITS)
def test_a_call_that_is_not_reached_is_no_fault(call: str) -> None:
    text = f"s = x\nfor i in range(3):\n    if x > 99:\n        {call}\n    s = s * s\ns"
    at = {name: AT[name] for name in adiff.program(text).inputs}
    found = adiff.program(text).evaluate("grad", at, ["x"], engine="kernel")
    assert np.isclose(found.gradients["x"], 8 * 0.5**7, rtol=1e-14)
    assert not [n for n in found.notices if n.code == "N0911"]
