"""Gamma's relatives at negative numbers between the poles: kernels reflect them as the tape does."""

from __future__ import annotations

import pytest
from adiff import program
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


@pytest.mark.parametrize("name", ["beta", "betaln"])
def test_beta_below_zero(name: str) -> None:
    compiled = program(f"{name}(x, q)")
    for x, q in ((2.5, -1.5), (-2.3, -1.5), (-0.7, 0.2), (-30.5, -25.3)):
        for command in ("value", "grad", "hessian"):
            assert agree(compiled, {"x": x, "q": q}, None, command, 1e-11) == ""


def test_zeta_below_zero() -> None:
    compiled = program("zeta(3, q)")
    for q in (-0.3, -1.25, -20.25):
        for command in ("value", "grad", "hessian"):
            assert agree(compiled, {"q": q}, None, command, 1e-11) == ""
