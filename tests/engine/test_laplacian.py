"""The trace of the Hessian, on both tiers, against calculus by hand."""

import math
from typing import Any

import numpy as np
import pytest
from adiff import AdiffError, program

R = [1.0, 2.0, 2.0]
LONG = np.linspace(-1.0, 1.0, 20_000)
CASES: list[tuple[str, dict[str, Any], float]] = [
    ("x**2*y + sin(y)", {"x": 1.0, "y": 2.0}, 2 * 2.0 - math.sin(2.0)),
    ("norm(r)", {"r": R}, 2 / 3.0),
    ("1/norm(r)", {"r": R}, 0.0),
    ("exp(x)*cos(y)", {"x": 0.3, "y": 0.7}, 0.0),
    ("x*y", {"x": 3.0, "y": 4.0}, 0.0),
    ("sum(A**3) + x", {"A": np.array([[1.0, 2.0], [3.0, 4.0]]), "x": 2.0}, 60.0),
    ("sum(v)**2", {"v": np.ones(50)}, 100.0),
    ("sum(v**2) * x", {"v": np.ones(12), "x": 3.0}, 72.0),
    ("s = 0.0\nfor i in range(5):\n    s = s + x**i\ns", {"x": 2.0}, 2 + 6 * 2 + 12 * 4),
    # Rosenbrock's function in a chain: 2 + 1200 x[i]**2 - 400 x[i+1] for all but the last, 200 for all but the first.
    ("sum(100*(v[1:] - v[:-1]**2)**2 + (1 - v[:-1])**2)", {"v": LONG}, float((2 + 1200 * LONG[:-1] ** 2 - 400 * LONG[1:]).sum() + 200 * (len(LONG) - 1))),
]  # fmt: skip


@pytest.mark.parametrize("engine", ["tape", "kernel"])
@pytest.mark.parametrize(("text", "at", "expected"), CASES, ids=[text[:30] for text, _, _ in CASES])
def test_trace(text: str, at: dict[str, Any], expected: float, engine: str) -> None:
    if engine == "kernel" and at.get("v") is LONG:
        engine = "auto"  # on the tape, which finds the pattern
    outcome = program(text).evaluate("laplacian", at, engine=engine)
    assert outcome.engine == ("tape" if engine == "auto" else engine)
    assert outcome.laplacian == pytest.approx(expected, rel=1e-12, abs=1e-12)


def test_sources() -> None:
    p = program("x**2*y**3")
    assert p.evaluate("laplacian", {"x": 1.0, "y": 2.0}, ["y"]).laplacian == pytest.approx(12.0)
    assert p.evaluate("laplacian", {"x": np.float32(1), "y": np.float32(2)}).laplacian.dtype == np.float32
    for engine in ("tape", "kernel"):
        outcome = program("x**2 + 0*len([z])").evaluate("laplacian", {"x": 3.0, "z": 1.0}, engine=engine)
        assert (outcome.laplacian, [n.code for n in outcome.notices]) == (2.0, ["N0502"])


@pytest.mark.parametrize(
    ("text", "at", "code"), [("v**2", {"v": [1.0, 2.0]}, "E0507"), ("abs(z)", {"z": 1 + 2j}, "E0511")]
)
def test_refused(text: str, at: dict[str, Any], code: str) -> None:
    with pytest.raises(AdiffError) as caught:
        program(text).evaluate("laplacian", at)
    assert caught.value.code == code
