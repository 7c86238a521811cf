"""Lists that are multiplied in place, and slices of them: the tape's values and errors, without a fault of either tier."""

from __future__ import annotations

import adiff
import numpy as np
import pytest
from agreement import agree

VALUES = {
    "multiplied by a float": ("w = [x, 2.0]\nw *= x\nsum(w)", 0.25 + 1.0),
    "under this name alone": ("w = [x, 2.0]\nu = w\nw *= 2.0\nsum(w) + 10 * sum(u)", 5.0 + 25.0),
    "multiplied by a list": ("w = [x, 2.0]\nw *= [1.0, 3.0]\nsum(w)", 6.5),
    "a list in a list": ("w = [[x, 2.0], 1.0]\nw[0] *= 2.0\nsum(w[0])", 5.0),
    "a slice": ("w = [x, 1.0, 2.0]\nw[0:2] *= x\nsum(w)", 0.25 + 0.5 + 2.0),
    "repeated under every name": ("w = [x]\nu = w\nw *= 3\nsum(u)", 1.5),
    "a slice with a step": ("w = [x, 1.0, 2.0]\nw[::-2] = [x, x * x]\nw[0] + 10 * w[2]", 0.25 + 5.0),
}
ERRORS = {
    "w = [x, 1.0, 2.0]\nw[::2] = [x]\nsum(w)": "E0302",
    "w = [x, 1.0, 2.0]\nw[::0] = [x]\nsum(w)": "E0405",
    "w = [x, 1.0, 2.0]\nsum(w[::0])": "E0405",
}


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize("case", VALUES)
def test_values(case: str) -> None:
    text, wanted = VALUES[case]
    agree(text, {"x": 0.5}, None, "grad")
    assert np.isclose(adiff.program(text).evaluate("value", {"x": 0.5}, engine="tape").value, wanted, rtol=1e-15)


# One item so many times, at places that counters say: lists too long to be written out.
LONG = {
    "filled in turn": ("t = [0.0]*700\nfor j in range(1, 700):\n    t[j] = t[j - 1] + x\nt[699]", 699.0, 0.0),
    "a knapsack": (
        "t = [0.0]*301\nfor i in range(3):\n    w = 40 + 20*i\n    for j in range(300, w - 1, -1):\n"
        "        t[j] = max(t[j], t[j - w] + x*x*(i + 1))\nt[300]",
        6.0,  # each of the three once
        12.0,
    ),
    "of an input": ("t = [x]*400\nfor j in range(1, 400):\n    t[j] = t[j - 1]*t[j]\nt[2]", 0.75, 3.0),
    "of integers that become floats": (
        "t = [0]*300\nfor j in range(1, 300):\n    t[j] = t[j - 1]/2 + x\nt[2]",
        1.5,
        0.0,
    ),
}


@pytest.mark.parametrize("case", LONG)
def test_long_lists(case: str) -> None:
    text, slope, curvature = LONG[case]
    found = adiff.program(text).evaluate("hessian", {"x": 0.5}, ["x"], engine="kernel")
    assert (found.engine, found.gradients) == ("kernel", {"x": pytest.approx(slope, rel=1e-15)})
    assert found.hessian == {"x": {"x": pytest.approx(curvature, rel=1e-15)}}


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize("text", ERRORS)
def test_errors(text: str) -> None:
    assert agree(text, {"x": 0.5}, None, "value") == "an error"
    with pytest.raises(adiff.AdiffError) as error:
        adiff.program(text).evaluate("value", {"x": 0.5}, engine="tape")
    assert error.value.code == ERRORS[text]
