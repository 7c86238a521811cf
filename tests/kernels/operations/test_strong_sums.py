"""Sums of products beside nan and infinities: a zero cotangent is strong term by term, on both tiers and at both orders."""

from __future__ import annotations

import adiff
import numpy as np
import pytest
from agreement import agree, close

INF, NAN = float("inf"), float("nan")
# A sum of products, the same out of products of elements, and the shapes of the factors and of the result.
FORMS: dict[str, tuple[str, str, tuple[int, ...], tuple[int, ...], tuple[int, ...]]] = {
    "matrices": ("a @ b", "sum(a[:, :, None] * b[None], axis=1)", (3, 2), (2, 3), (3, 3)),
    "matrix and vector": ("a @ b", "sum(a * b, axis=1)", (3, 2), (2,), (3,)),
    "vector and matrix": ("a @ b", "sum(a[:, None] * b, axis=0)", (2,), (2, 3), (3,)),
    "vectors": ("(a @ b) * ones_like(a[:1])", "sum(a * b) * ones_like(a[:1])", (3,), (3,), (1,)),
    "batches": ("a @ b", "sum(a[:, :, :, None] * b[:, None], axis=2)", (2, 2, 2), (2, 2, 2), (2, 2, 2)),
    "batch and matrix": ("a @ b", "sum(a[:, :, :, None] * b, axis=2)", (2, 2, 2), (2, 2), (2, 2, 2)),
    "batch and vector": ("a @ b", "sum(a * b, axis=2)", (2, 2, 2), (2,), (2, 2)),
    "einsum": ("einsum('ij,kj->ki', a, b)", "sum(a * b[:, None], axis=2)", (3, 2), (2, 2), (2, 3)),
    "outer": ("einsum('i,j->ij', a, b)", "a[:, None] * b", (3,), (2,), (3, 2)),
    "einsum of batches": ("einsum('bi,bi->b', a, b)", "sum(a * b, axis=1)", (3, 2), (3, 2), (3,)),
    "convolve": (
        "convolve(a, b)",
        "(concat([a * b[0], zeros_like(a[:1])]) + concat([zeros_like(a[:1]), a * b[1]]))",
        (3,),
        (2,),
        (4,),
    ),
    "complete overlaps": ("convolve(a, b, 'valid')", "(a[1:] * b[0] + a[:-1] * b[1])", (4,), (2,), (3,)),
    "cumprod": ("cumprod(a) * b", "stack([a[0], a[0] * a[1], a[0] * a[1] * a[2]]) * b", (3,), (3,), (3,)),
}
ENDS = (
    "sum({0} * w)",
    "sin(sum(where(w != 0, {0}, zeros_like(w))))",
    "sum(where(isfinite({0}), {0}, zeros_like(w)) * w)",
)


def some(shape: tuple[int, ...], seed: int, odd: float) -> np.ndarray:
    draw = np.random.default_rng(seed)
    x = np.round(draw.uniform(-2, 2, shape), 2)
    return np.where(draw.random(shape) < odd, draw.choice([0.0, INF, -INF, NAN], shape), x)


def numbers(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    z = np.empty(x.shape, complex)
    z.real, z.imag = x, y
    return z


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kind", ["real", "complex"])
def test_as_products_of_elements(form: str, kind: str) -> None:
    whole, parts, *shapes = FORMS[form]
    for seed, end in enumerate(ENDS):
        a, b, w = (some(shape, 10 * seed + k, 0.2) for k, shape in enumerate(shapes))
        w[np.random.default_rng(seed).random(w.shape) < 0.4] = 0.0
        command = "hessian" if "sin" in end and kind == "real" else "grad"
        if kind == "complex":
            a, b, w = (numbers(x, some(x.shape, 10 * seed + 5 + k, 0.2)) for k, x in enumerate((a, b, w)))
            end = f"real({end})"
        at = {"a": a, "b": b, "w": w}
        found = agree(end.format(whole), at, ["a", "b"], command)
        assert "what is not finite" not in found
        if form == "cumprod" and kind == "complex":
            continue  # the products are formed in another order, which parts that are not finite show
        tape, of_elements = (
            adiff.program(end.format(text)).evaluate(command, at, ["a", "b"], engine="tape") for text in (whole, parts)
        )
        assert close(of_elements.gradients, tape.gradients, 1e-12), end
        if command == "hessian":
            assert close(of_elements.hessian, tape.hessian, 1e-12), end


def test_a_side_that_is_not_taken() -> None:
    """By hand: what is finite of a product has the derivatives of what it was made of."""
    at = {"a": np.array([[1.0, 2.0], [3.0, 4.0]]), "b": np.array([[1.0, INF], [2.0, 3.0]])}
    for engine in ("tape", "kernel"):
        found = adiff.program("y = a @ b\nsum(where(isfinite(y), y, 0))").evaluate("grad", at, engine=engine)
        assert found.engine == engine
        np.testing.assert_array_equal(found.gradients["a"], [[1.0, 2.0], [1.0, 2.0]])
        np.testing.assert_array_equal(found.gradients["b"], [[4.0, 0.0], [6.0, 0.0]])
        assert not found.notices
        tangent = adiff.program("(a @ b)[:, 0]").evaluate(
            "jvp", at, ["a"], tangent={"a": np.zeros((2, 2))}, engine=engine
        )
        np.testing.assert_array_equal(tangent.tangent, [0.0, 0.0])


@pytest.mark.usefixtures("interpret")
def test_what_a_loop_overwrites() -> None:
    """A loop that may not run keeps a path to what it overwrites: with the cotangent 0."""
    for made in ("a @ b", "einsum('ij,jk->ki', a, b)", "cumprod(a, axis=0)"):
        text = f"y = {made}\nfor i in range(n):\n    y = a * 2.0\nsum(y * b)"
        at = {"a": np.array([[INF, 2.0], [3.0, 1e308]]), "b": np.array([[1.0, 5.0], [-INF, 3e200]]), "n": 2}
        assert agree(text, at, ["a", "b"]) == ""


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize(
    "text", ["a @ b", "a @ b.T[0]", "a[0] @ b", "einsum('ij,jk->ki', a, b)", "convolve(a[0], b[:, 0])"]
)
def test_an_infinity_beside_a_product_that_overflows(text: str) -> None:
    """inf - 1e400 is nan where every product is rounded."""
    at = {"a": np.array([[1.0, -1e200], [1e200, 1.0]]), "b": np.array([[INF], [1e200]])}
    expected = {"einsum('ij,jk->ki', a, b)": [[NAN, INF]], "a @ b": [[NAN], [INF]], "a @ b.T[0]": [NAN, INF]}
    expected |= {"a[0] @ b": [NAN], "convolve(a[0], b[:, 0])": [INF, -INF, -INF]}
    for engine in ("tape", "kernel"):
        found = adiff.program(text).evaluate("value", at, engine=engine)
        assert found.engine == engine
        np.testing.assert_array_equal(found.value, expected[text])


@pytest.mark.usefixtures("interpret")
def test_a_product_of_complex_numbers_with_infinite_parts() -> None:
    """From the first factor on: 1 + 0j times a part that is infinite is nan in the other."""
    z = numbers(np.array([-INF, -1.5, -1.7]), np.array([-1.7, INF, -0.9]))
    for engine in ("tape", "kernel"):
        found = adiff.program("prod(z)").evaluate("value", {"z": z}, engine=engine)
        assert found.engine == engine
        assert found.value.real == -INF
        assert np.isnan(found.value.imag)


RULED = (
    "det(m)",
    "inv(m)",
    "solve(m, m + 1)",
    "expm(m)",
    "qr(m)[1]",
    "softmax(m)",
    "log_softmax(m)",
    "cumlogsumexp(m)",
)


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize("made", RULED)
def test_a_rule_makes_nothing_of_a_zero_cotangent(made: str) -> None:
    for text in (
        f"y = {made}\nsum(where(m[0, 0] > 100, y, zeros_like(y) + m[0, 1]))",
        f"y = {made}\nfor i in range(n):\n    y = zeros_like(y) + m[0, 1]\nsum(y)",
    ):
        m = np.array([[0.5, 1.5, 2.0], [0.7, 1.1, INF], [1.9, 0.4, 0.8]])
        at = {"m": m} if "n)" not in text else {"m": m, "n": 2}
        agree(text, at, ["m"])
        try:
            found = adiff.program(text).evaluate("grad", at, ["m"], engine="tape")
        except adiff.AdiffError:
            continue  # of a matrix that is not finite
        expected = np.zeros((3, 3))
        expected[0, 1] = np.size(adiff.program(f"{made} * 1.0").evaluate("value", {"m": m}).value)
        np.testing.assert_array_equal(found.gradients["m"], expected)
