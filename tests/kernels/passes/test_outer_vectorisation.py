"""Short sums over rows of an array, several rows at a time: what they give is the same, bit by bit."""

from __future__ import annotations

from typing import Any

import adiff
import numpy as np
import pytest
from adiff.engine.kernels import ir
from adiff.engine.kernels.construction import construct
from adiff.engine.kernels.passes import outer_vectorisation as passes
from adiff.engine.kernels.passes.statements import everything
from agreement import agree
from interpreted import checked, run_as_python

ROWS, POINTS = 9, 12

START = "n, d = p.shape\ncost = 0.0\n"
NEAREST = """for i in range(n):
    least = inf
    best = 0
    for j in range(9):
        s = 0.0
        for c in range(d):
            s += (p[i, c] - q[j, c])**2
        if s < least:
            least = s
            best = j
    for c in range(d):
        cost += (p[i, c] - q[best, c])**2
"""


def nest(term: str, before: str = "pass", start: str = "0.0", after: str = "cost += s*w[j]", last: str = "pass") -> str:
    return (
        f"for i in range(n):\n    for j in range(9):\n        {before}\n        s = {start}\n"
        f"        for c in range(d):\n            s += {term}\n        {after}\n    {last}\n"
    )


# A program, and how many arrays are turned in it.
PROGRAMS: dict[str, tuple[str, int]] = {
    "the nearest row": (NEAREST, 1),
    "products": (nest("p[i, c]*q[j, c]"), 1),
    "backwards": (nest("p[i, c]*q[j, d - 1 - c]"), 1),
    "two arrays": (nest("p[i, c]*q[j, c] - abs(r[j, c])"), 2),
    "one array, at two places": (nest("q[j, c]*q[j, d - 1 - c] + p[i, c]"), 2),
    "with a number of the row": (nest("p[i, c]*q[j, c]*g", before="g = w[j]*2.0", start="g"), 1),
    "from another array's row": (nest("q[j, c]*p[i, c]", start="w[j]"), 1),
    "stored": (nest("q[j, c]*p[i, c]", after="z[i, j] = s") + "cost = sum(z*z)\n", 1),
    "two sums": (
        nest("q[j, c]*p[i, c]", after="t = 0.0\n        for c in range(d):\n            t += abs(q[j, c])\n        cost += s*t"), 1,
    ),
    "rows left out": (nest("q[j, c]*p[i, c]", after="if s < 0.0:\n            continue\n        cost += s"), 1),
    # What is no such sum, or may not be found before the others.
    "neighbours already": (nest("p[i, c]*m[c, j]"), 0),
    "what a row has from the one before": (nest("q[j, c]*p[i, c]*cost"), 0),
    "a start from the row before": (nest("q[j, c]*p[i, c]", start="cost"), 0),
    "an array that changes with the rows": (
        "y = q*1.0\n" + nest("y[j, c]*p[i, c]", after="y[j, 0] = s*0.01\n        cost += s"), 0,
    ),
    "an array that changes around": ("y = q*1.0\n" + nest("y[j, c]*p[i, c]", last="y[1, 0] = cost*0.01"), 0),
    "two sums in one": (
        nest("q[j, c]*p[i, c]\n            t = t*0.5 + q[j, c]", start="w[j]\n        t = 1.0", after="cost += s*t"), 1,
    ),
    "what the last term leaves": (
        nest("q[j, c]*p[i, c]\n            t = cost", start="1.0\n        t = 1.0", after="cost = cost*0.5 + t*0.1 + s"), 0,
    ),
    "what a row makes, handed on": (
        nest("q[j, c]*p[i, c]\n            t = g", before="g = w[j]*2.0", start="1.0\n        t = 1.0", after="cost += s*t"), 1,
    ),
    "behind a condition": (
        "for i in range(n):\n    if cost > -1e9:\n"
        + "".join(f"    {line}\n" for line in nest("q[j, c]*p[i, c]").splitlines()[1:]) + "    cost += w[0]\n", 0,
    ),
    "a row that is checked": (
        nest("u[c]*q[j, c]", before="u = p[order[j]]"), 0,
    ),
    "places that there are not, which are not come to": (
        "for i in range(n):\n    if cost > 1e9:\n" + "".join(
            f"    {line}\n" for line in nest("u[c]*p[i, c]", before="u = q[j*1000]", after="cost += s").splitlines()[1:]
        ) + "    cost += w[0]\n", 0,
    ),
    "a start that is checked": (nest("q[j, c]*p[i, c]", before="g = w[order[j] + 1000*(cost > 1e9)]", start="g"), 0),
    "an end among the rows": (nest("q[j, c]*p[i, c]", after="cost += s\n        if s > 2.0:\n            break"), 0),
    "what vectors do not have": (nest("lgamma(2.0 + abs(q[j, c]))*p[i, c]"), 0),
    "once": ("for j in range(9):\n    s = 0.0\n    for c in range(d):\n        s += q[j, c]*p[0, c]\n    cost += s*w[j]\n", 0),
}  # fmt: skip


def point(d: int) -> dict[str, Any]:
    at = np.random.default_rng(d)
    shapes = {"p": (POINTS, d), "q": (ROWS, d), "r": (ROWS, d), "m": (d, ROWS), "w": (ROWS,)}
    floats = {name: at.normal(size=shape) for name, shape in shapes.items()}
    return {**floats, "z": np.zeros((POINTS, ROWS)), "order": np.arange(ROWS)[::-1].copy()}


def turned(kernel: ir.Kernel) -> int:
    """The pass gives how many arrays more than those that hold sums, and nobody can tell from the results."""
    after = checked(passes.outer_vectorised)(kernel)
    made = [
        {s.array for s in everything(x.body) if s.__class__ is ir.Alloc and len(s.array.shape) == 2}
        for x in (kernel, after)
    ]
    return len(made[1] - made[0])


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("d", [5, 37])
def test_sums_of_rows(name: str, d: int, monkeypatch: pytest.MonkeyPatch) -> None:
    text, count = PROGRAMS[name]
    text = START + text + "cost"
    inputs = adiff.program(text).inputs
    at = {key: value for key, value in point(d).items() if key in inputs}
    flat = {key: value.ravel() for key, value in at.items()}
    found: list[int] = []

    def same_bits(kernel: ir.Kernel) -> ir.Kernel:
        found.append(turned(kernel))
        result = passes.outer_vectorised(kernel)
        if found[-1]:
            for one, other in zip(run_as_python(kernel, flat), run_as_python(result, flat), strict=True):
                np.testing.assert_array_equal(one, other)
        return result

    monkeypatch.setattr(construct, "outer_vectorised", same_bits)
    assert agree(text, at, [key for key in at if key not in ("z", "order")], "grad", 1e-12) == ""
    monkeypatch.setattr(
        construct, "outer_vectorised", lambda kernel: found.append(turned(kernel)) or passes.outer_vectorised(kernel)
    )
    found.clear()
    adiff.program(text).evaluate("value", at, engine="kernel")
    assert found == [count]


def test_compiled() -> None:
    at = point(37)
    text = START + NEAREST + "cost"
    outcome = adiff.program(text).evaluate("hvp", at, ["q"], vector={"q": np.ones((ROWS, 37))}, engine="kernel")
    distances = ((at["p"][:, None] - at["q"]) ** 2).sum(axis=-1)
    nearest = distances.argmin(axis=1)
    assert outcome.value == pytest.approx(distances.min(axis=1).sum(), rel=1e-14)
    assert outcome.gradients is not None
    assert outcome.product is not None
    for k in range(ROWS):
        of_row = at["p"][nearest == k]
        np.testing.assert_allclose(
            outcome.gradients["q"][k], 2 * (at["q"][k] - of_row).sum(axis=0), rtol=1e-12, atol=1e-13
        )
        np.testing.assert_allclose(outcome.product["q"][k], np.full(37, 2.0 * len(of_row)), rtol=1e-15)
