"""A branch that is not taken adds nothing to derivatives of any order: a zero cotangent stays zero, whatever is swept for."""

import adiff
import numpy as np
import pytest

V = np.array([0.0, 1.0, -1.0])
# A program, and the diagonal of its Hessian at V; off it there are zeros.
CASES = [
    ("sum(grad(lambda u: sum(where(u > 0, log(u), u)))(v))", [0.0, 2.0, 0.0]),
    ("sum(grad(lambda u: sum(where(u > 0, log(u), u)))(v) * v)", [0.0, 0.0, 0.0]),
    ("sum(grad(lambda u: sum(where(u > 0, log(u), u)**2))(v)**2)", [8.0, 8.0, 8.0]),
    ("u = v*1\nwith GradientTape() as t:\n    t.watch(u)\n    z = sum(where(u > 0, log(u), u))\n"
     "sum(t.gradient(z, u)**2)", [0.0, 6.0, 0.0]),
    ("sum(grad(lambda u: sum(where(u > 0, sqrt(u), u) * u))(v))", [0.0, -0.375, 0.0]),
]  # fmt: skip


@pytest.mark.parametrize("engine", ["tape", "kernel"])
@pytest.mark.parametrize(("text", "diagonal"), CASES)
def test_hessian_of_a_gradient_inside_the_program(text: str, diagonal: list[float], engine: str) -> None:
    found = adiff.program(text).evaluate("hessian", {"v": V}, engine=engine)
    np.testing.assert_allclose(found.hessian["v"]["v"], np.diag(diagonal), atol=1e-15)
    product = adiff.program(text).evaluate("hvp", {"v": V}, engine=engine, vector={"v": np.ones(3)})
    np.testing.assert_allclose(product.product["v"], diagonal, atol=1e-15)
    assert [n.code for n in found.notices] == ["N0503"] * ("watch" in text and "sum(where" not in text)


def test_hessian_by_the_program_itself() -> None:
    """The same one order higher up, where numbers are swept for without a tensor."""
    for engine in ("tape", "kernel"):
        found = adiff.program("hessian(lambda u: where(u > 0, log(u), u))(x)").evaluate(
            "hessian", {"x": 0.0}, engine=engine
        )
        assert found.hessian["x"]["x"] == 0.0
