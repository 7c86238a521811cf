"""Gamma's relatives at negative numbers between the poles: kernels reflect them as the tape does."""

from __future__ import annotations

import pytest
from agreement import agree

FUNCTIONS = ["polygamma(1, x) + polygamma(2, x)", "polygamma(0, x)", "digamma(x)", "lgamma(x)", "gamma(x)"]


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize("text", FUNCTIONS)
def test_below_zero(text: str) -> None:
    for x in (-0.3, -1.5, -7.77):
        for command in ("value", "grad", "hessian"):
            assert agree(text, {"x": x}, None if command == "value" else ["x"], command) == ""


def test_compiled() -> None:
    assert agree("polygamma(2, x) * polygamma(3, x)", {"x": -1.5}, ["x"], "grad") == ""
