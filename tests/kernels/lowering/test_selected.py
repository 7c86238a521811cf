"""Parts of tensors whose length data decides, in kernels: masks, slices and partitions, reduced over their rows."""

from __future__ import annotations

from typing import Any

import adiff
import numpy as np
import pytest
from agreement import agree, outcome

POINT: dict[str, Any] = {
    "x": np.array([1.0, -2.0, 3.0, 0.5]), "A": np.array([[1.0, -2.0], [-3.0, 1.0], [0.5, 4.0]]), "y": 1.5,
    "c": np.array([[1.0, 1.0], [0.0, 3.0]]),
}  # fmt: skip

PROGRAMS = {
    "mask": "sum(x[x > 0])",
    "function of a part": "sum(log(x[x > 0]) * y)",
    "mean": "mean(x[x > 0]**2)",
    "length": "p = x[x > 0]\nsum(p*p) + len(p)*y",
    "methods": "p = x[x > 0]\np.sum() + p.mean() + p.size",
    "largest": "max(x[x < 2]) + min(x[x > -1])*y",
    "product": "prod(x[x > 0])",
    "boolean_mask": "sum(boolean_mask(x, x > 0)**2)",
    "two parts by one mask": "m = x > 0\nsum(x[m] * exp(x[m]) / y)",
    "dot": "m = x > 0\ndot(x[m], x[m])",
    "mask of a matrix": "sum(A[A > 0]**2)",
    "rows of a matrix": "sum(A[A[:, 0] > 0], axis=0)[1]**2",
    "rows times a vector": "sum(A[A[:, 0] > 0] * x[:2])",
    "slice": "s = 0.0\nfor i in range(4):\n    s += sum(x[:i]) * x[i]\ns",
    "slice to the end": "s = 0.0\nfor i in range(70):\n    s += sum(x[i % 4:]) * 0.1\ns",
    "slice from the end": "s = 0.0\nfor i in range(70):\n    s += sum(x[-(i % 5):]) * 0.1\ns",
    "slices of one length": "s = 0.0\nfor i in range(70):\n    s += dot(x[:i % 6], x[:i % 6]) * 0.1\ns",
    "slices that are as long, elsewhere": "s = 0.0\nfor k in range(4):\n    s = s + sum(x[k:] * x[:4 - k]) * (k + 1)\ns*y",
    "a slice beside a place": (
        "L = zeros((3, 2))\nfor i in range(3):\n    for j in range(2):\n"
        "        L[i, j] = A[i, j] - y*dot(L[i, :j], L[max(i - 1, 0), :j])\nsum(L*L)"
    ),
    "a slice of rows": "s = 0.0\nfor k in range(3):\n    s = s + sum(A[k:] * x[0]) * sum(A[:k, 1]) + y\ns",
    "a window beside a place": "s = 0.0\nfor i in range(3):\n    for k in range(1):\n        s = s + max(A[i, k:k + 2])*y\ns",
    "writing slices": "z = x*y\nfor k in range(5):\n    z[k:] = z[k:]*y + x[0]\nsum(z*z)",
    "writing slices of numbers": "z = x*y\nfor k in range(70):\n    z[:k % 6] *= 1.01\n    z[k % 3:] = y*0.1\nsum(z*z)",
    "writing from a place further": "z = x*y\nfor k in range(1, 4):\n    z[k:] = z[:4 - k]*1.5\nsum(z*z*x)",
    "writing to a place before": "z = x*y\nfor k in range(1, 4):\n    z[:-k] = z[k:]*1.5\nsum(z*z*x)",
    "writing columns": "B = A*1.0\nfor k in range(2):\n    B[k:, k] = B[k:, k]*x[k] + y\nsum(B*B)",
    "writing rows": "B = A*1.0\nfor k in range(3):\n    B[k:] += x[:2]*y\nsum(B*B)",
    "writing tensors": "z = x*y\nfor k in range(70):\n    z[k % 2 + 1:k % 2 + 3] = A[k % 3]\n    z[-2 - k % 2:] = z[:2 + k % 2]\nsum(z*z)",
    "elimination": (
        "U = A[:2] + c\nfor k in range(1):\n    for i in range(k + 1, 2):\n"
        "        U[i, k:] -= U[i, k]/U[k, k]*U[k, k:]\nU[0, 0]*U[1, 1]*y*x[0]"
    ),
    "update": "z = x*y\nz[z > 1] = y\nsum(z*z)",
    "update of a part": "z = x*y\nz[z > 1] *= 2*y\nsum(z*z)",
    "update in a loop": "z = x*y\nfor i in range(70):\n    m = z > 0.1*i\n    z[m] = z[m] * 0.9\nsum(z*z)",
    "partition": (
        "near = argmin(sum((A[:, newaxis, :] - c)**2, axis=2), axis=1)\n"
        "n = stack([mean(p, axis=0) for p in dynamic_partition(A, near, 2)])\nsum(n*n)"
    ),
    "places": "sum(x[nonzero(x > 0)]**2) * y",
    "places in a matrix": "sum(A[nonzero(A > 0)]**2)",
    "rows by places": "sum(A[nonzero(A[:, 0])[0]] * y)",
    "places, one by one": "s = 0.0\nfor i in where(x > 0)[0]:\n    s = s + x[i]*y*i\ns",
    "elements, one by one": "s = 0.0\nfor v in x[x > 0]:\n    s = s + v**2 * y\ns",
    "gather": "sum(gather(x, flatnonzero(x > 0))**2 * y)",
    "gather_nd": "sum(gather_nd(A, tf.where(A > 0))**2 * y)",
    "gather_nd at computed places": "sum(gather_nd(A, argsort(x[:3])[:, newaxis])**2 * y) + sum(x)",
    "the greatest place": "max(nonzero(x > 0)[0]) * y * x[0]",
    "one of a part": "v = x[x > 0]\nv[1] * v[-1] * y",
    "some of a part": "v = x[x > 0]\nsum(v[argsort(x[:2])] * y)",
    "distinct elements": "sum(unique(round(x))**2 * x[0]) * y",
    "how often": "u, c = unique(concat([x, x[:2]], 0), return_counts=True)\nsum(u * c**2) * y",
    "in order of appearance": "u, i = tf.unique(concat([x[2:], x], 0))\nsum(u[i]**2 * arange(6.0)) * y",
    "with counts": "u, i, c = tf.unique_with_counts(concat([x[2:], x], 0))\nsum(u * c) * i[3] * y",
    "two masks that are alike": "sum(x[x > 0] * exp(x[x > 0])) * y",
    "variance": "var(x[x > 0]) * y",
    "deviation": "std(log(x[x > 0])) + x[x > -9].std() * y",
    "norm": "norm(x[x > 0]) * y + norm(x[x > 0] - y)",
    "logsumexp": "logsumexp(700 * x[x > 0]) * y",
    "softmax": "sum(softmax(x[x > 0]) * x[x > 0]**2) * y",
    "running sums": "sum(cumsum(x[x > 0])**2 * x[x > 0]) + sum(cumprod(x[x < 2]))*y",
    "rows by a vector": "sum((A[A[:, 0] > 0] @ x[:2])**2) + sum((A[A[:, 0] > 0] @ c)**2) * y",
    "slices by slices": (
        "s = 0.0\nfor k in range(1, 70):\n    s += x[:k % 5] @ x[:k % 5] * y + norm(x[:1 + k % 4]) * k + logsumexp(x[:1 + k % 4])\ns"
    ),
    "rows by columns": "B = outer(x, x) + 1\ns = 0.0\nfor k in range(1, 70):\n    s += B[k % 4, :k % 4] @ B[:k % 4, k % 4]\ns*y",
    "in a branch": "s = y\nif y > 1:\n    s = y*sum(x[x > 0])\ns*s",
}
LEFT = {
    "mean(x[x > 5])": "",
    "s = y\nfor k in range(70):\n    s += median(x[x > 0.01*k])\ns": "median of a part of a tensor",
    "s = y\nfor k in range(70):\n    s += sum(x[x > 0.01*k] + x[x < 0.01*k])\ns": "a step with values that only the tape takes",
}


def evaluated(text: str, command: str = "grad") -> str:
    tolerance = 1e-11 if command == "hessian" else 1e-13
    at = {name: POINT[name] for name in adiff.program(text).inputs}
    return agree(text, at, [name for name in at if name != "c"], command, tolerance)


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize("command", ["grad", "hessian"])
@pytest.mark.parametrize("text", PROGRAMS.values(), ids=list(PROGRAMS))
def test_part(text: str, command: str) -> None:
    assert evaluated(text, command) == ""


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize("text", LEFT)
def test_left_to_the_tape(text: str) -> None:
    reason = evaluated(text)
    assert reason != ""
    assert LEFT[text] in reason


def test_compiled() -> None:
    text = "s = 0.0\nfor i in range(60):\n    s += sum(log(x[x > 0.1*i])) + sum(x[:i % 4])\ns"
    x = np.array([0.45, 3.0, 5.75, 0.5])
    found = adiff.program(text).evaluate("grad", {"x": x}, engine="kernel")
    assert found.engine == "kernel"
    thresholds = 0.1 * np.arange(60)
    passed = (x[None, :] > thresholds[:, None]).sum(axis=0)
    prefixes = (np.arange(4)[None, :] < np.arange(60)[:, None] % 4).sum(axis=0)
    assert np.allclose(found.gradients["x"], passed / x + prefixes, rtol=1e-13)
    assert np.isclose(found.value, (passed * np.log(x)).sum() + (prefixes * x).sum(), rtol=1e-13)


WHOLE = {
    "a part": "x[x > 0]",
    "rows": "A[A[:, 0] > 0] * y",
    "nothing": "(x[x > 100.0], x * y)",
    "several": "(x[x > 0] * y, [A[A > 0], y])",
    "distinct": "unique(x)",
    "of nan": "unique(x * nan)",
}


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize("text", WHOLE.values(), ids=list(WHOLE))
@pytest.mark.parametrize("command", ["value", "grad"])
def test_a_part_as_the_result(text: str, command: str) -> None:
    assert evaluated(text, command) == ""


PLACES = {
    "nonzero": "nonzero(A > 0)",
    "flatnonzero": "flatnonzero(A > 0)",
    "argwhere": "argwhere(A > 0)",
    "where": "where(x > 0)",
    "tf.where": "tf.where(x > 0)",
    "nowhere": "argwhere(x > 100.0)",
    "unique": "unique(concat([x, x[:2]], 0), return_index=True, return_inverse=True, return_counts=True)",
    "tf.unique": "tf.unique(concat([x[2:], x], 0))",
    "tf.unique_with_counts": "tf.unique_with_counts(concat([x[2:], x], 0))",
}


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize("text", PLACES.values(), ids=list(PLACES))
def test_places_as_the_result(text: str) -> None:
    assert evaluated(text, "value") == ""
    at = {name: POINT[name] for name in adiff.program(text).inputs}
    tape, kernel = (adiff.program(text).evaluate("value", at, engine=engine) for engine in ("tape", "kernel"))
    assert kernel.engine == "kernel"
    assert repr(kernel.value) == repr(tape.value)
    assert kernel.types == tape.types


@pytest.mark.parametrize(
    "text", ["x[x > 0][3]", "x[x > 0][-4]", "x[x > 100.0][0]", "gather_nd(A, argsort(x)[:, newaxis])"]
)
def test_a_place_that_is_not_there(text: str) -> None:
    at = {name: POINT[name] for name in adiff.program(text).inputs}
    tape, kernel = (outcome(adiff.program(text), at, engine, "value", None) for engine in ("tape", "kernel"))
    assert isinstance(tape, adiff.AdiffError)
    assert isinstance(kernel, adiff.AdiffError)
    assert (kernel.code, kernel.message) == (tape.code, tape.message)
