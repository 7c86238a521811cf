"""Square factors of matrices that are not square, and factors as whole results: with LAPACK's signs."""

from __future__ import annotations

import numpy as np
import pytest
from agreement import agree

GENERATOR = np.random.default_rng(4)
A = GENERATOR.uniform(-1.0, 1.0, (3, 4))
S = A @ A.T + np.eye(3)
C = A[:2, :3] + 1j * A[1:, 1:]
VALUES = {
    "svd(A)": {"A": A}, "svd(A)[0]": {"A": A}, "tf.linalg.svd(A, full_matrices=True)": {"A": A.T},
    "qr(A, mode='complete')": {"A": A.T}, "svd(C)[2]": {"C": C}, "qr(C, mode='complete')[0]": {"C": C.T},
    "eigh(S)": {"S": S}, "eigh(S)[1]": {"S": S}, "eigh(S)[1].T": {"S": S}, "svd(A, full_matrices=False)[0]": {"A": A},
    "tf.linalg.svd(A)[2]": {"A": A}, "[eigh(S)[1], S]": {"S": S},
}  # fmt: skip


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize("text", VALUES)
def test_values(text: str) -> None:
    assert agree(text, VALUES[text], command="value") == ""


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize("text", ["sum(svd(A)[1] ** 2)", "svd(A)[1][0]"])
def test_singular_values_beside_square_factors(text: str) -> None:
    assert agree(text, {"A": A}) == ""


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize(
    ("text", "at"), [("sum(svd(A)[0])", {"A": A}), ("sum(abs(svd(C)[2]))", {"C": C}), ("sum(qr(A, mode='complete')[0])", {"A": A.T})]
)  # fmt: skip
def test_derivatives_that_there_are_not(text: str, at: dict[str, object]) -> None:
    assert agree(text, at) == "an error"


def test_in_machine_code() -> None:
    assert agree("svd(A)", {"A": A}, command="value") == ""
