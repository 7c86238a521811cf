"""Sizes that data decides, known to a kernel that is made for them: those of parts of tensors, and any other."""

from __future__ import annotations

import gc
import weakref
from pathlib import Path
from typing import Any

import adiff
import numpy as np
import pytest
from adiff.engine.kernels import collection, learning
from agreement import agree, outcome

POINT: dict[str, Any] = {
    "v": np.array([0.3, -1.2, 2.2, 0.7, -0.4]),
    "w": np.array([1.3, 0.2, -0.5, 0.9, 1.1]),
    "A": np.array([[0.1, 0.9, -0.7, 0.8], [-0.4, -0.2, 0.6, -0.1], [0.2, -0.9, 0.5, 0.3]]),
    "s": 0.7,
    "t": 1.9,
    "k": 2,
    "i": np.array([0, 2, 1, 2, 0]),
    "z": np.array([0.3 + 1j, -0.5 + 0.2j, 1.1 - 0.7j]),
}

PROGRAMS = {
    "in order": "sum(sort(v[v > 0])[:2]**2 * s)",
    "median": "median(v[v > 0])*s + percentile(w[v > 0], 30)",
    "moments": "var(v[v > 0], ddof=1) + norm(v[v < 1], ord=1)*s + mean(A[A > 0], keepdims=True)[0]",
    "joined": "sum(concat([v[v > 0], w], 0)**3) * s",
    "stacked": "sum(stack([v[v > 0], w[v > 0]])**2 * s)",
    "between themselves": "p = v[v > 0]\nsum(outer(p, p)) + sum(p[1:] - p[:-1]*s) + sum(p[::-1] * arange(len(p)))",
    "in another shape": "sum(reshape(v[v > 0], (-1, 1)) @ ones((1, 2))) * s + sum(tile(flip(v[:k]), 2)**2)",
    "rows in order": "sum(sort(A[A[:, 0] > 0], axis=0)[0]) * s + sum(max(A[A[:, 0] > 0], axis=1))",
    "columns": "sum(boolean_mask(A, A[0] > 0, axis=1)**2) * s",
    "two slices": "sum(A[:k, k:]**2) * s + sum(A[k - 1:, :k + 1])",
    "as long as data says": "sum(ones(int(t) + 1)*s) * t + sum(linspace(0.0, s, len(v[v > 0])))",
    "numbers between bounds": "sum(arange(s, t, 0.3)**2)",
    "up to a place": "sum(cast(arange(argmax(v) + 1), float64) * s) + sum(v)",
    "segments": "sum(segment_sum(v*s, cumsum(cast(v > 0, int64)))**2) + sum(segment_mean(v, sort(i))**2)",
    "segments of a matrix": "sum(segment_max(A, sort(i[:3])//2)**2) * s + sum(unsorted_segment_max(A, i[:3] % 2, 2))",
    "counts": "sum(cast(bincount(cast(v > 0, int64)), float64)*s)",
    "places that are written twice": "sum(dynamic_stitch([i], [v])**2 * s)",
    "repeated": "sum(repeat(v, i*2 - i)**2) * s",
    "of complex numbers": "sum(abs(z[abs(z) > 0.6])**2 * s)",
    "distinct": "sum(sort(unique(round(v)))[1:] * s)",
    "lengths in a function": "def f(x):\n    p = x[x > 0]\n    return median(p)*len(p)\nf(v) + f(w)*s",
    "in a short loop": "r = 0.0\nfor j in range(3):\n    r += median(v[v < j])*s\nr",
    "where a run decides": "std(0.0*v[v > 0])*s + sum(v[v > 0] * w[v <= 0][:2][0])",
}


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize("command", ["grad", "hessian", "jvp"])
@pytest.mark.parametrize("text", PROGRAMS.values(), ids=list(PROGRAMS))
def test_agreement(text: str, command: str) -> None:
    at = {name: POINT[name] for name in adiff.program(text).inputs}
    wrt = [name for name, x in at.items() if np.asarray(x).dtype.kind in "fc"]
    given = {"tangent": {name: 0.3 * np.ones_like(at[name]) for name in wrt}} if command == "jvp" else {}
    assert agree(text, at, wrt, command, 1e-11 if command == "hessian" else 1e-13, **given) == ""


WHOLE = {
    "a part in order": "sort(v[v > 0])",
    "a list": "[x**2 for x in v[v > 0]]",
    "a list among others": "(s, [[x*s for x in v[v > 0]]])",
    "places": "argsort(v[v > 0])",
    "integers": "arange(argmax(v))",
}


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize("text", WHOLE.values(), ids=list(WHOLE))
def test_whole_results(text: str) -> None:
    assert agree(text, {name: POINT[name] for name in adiff.program(text).inputs}, command="value") == ""


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize("command", ["jvp", "vjp", "jacobian"])
@pytest.mark.parametrize("text", ["sort(v[v > 0])", "v[v > 0] * s", "unique(v)", "argwhere(v > 0)"])
def test_derivatives_of_whole_results(text: str, command: str) -> None:
    at = {name: POINT[name] for name in adiff.program(text).inputs}
    given = {"tangent": {name: 0.3 * np.ones_like(at[name]) for name in at}} if command == "jvp" else {}
    assert agree(text, at, list(at), command, **given) == ""


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize(
    "text",
    ["s = v[0]\nfor j in range(70):\n    s += median(v[v < j])\ns", "sum(v[v > 0] * w)", "sum(v[v > 0]*w[v < 1])"],
)
def test_what_is_left_to_the_tape(text: str) -> None:
    """Inside long loops sizes change; and the tape words errors."""
    at = {name: POINT[name] for name in adiff.program(text).inputs}
    assert agree(text, at, list(at)) != ""


def test_other_sizes_in_other_evaluations(monkeypatch: pytest.MonkeyPatch) -> None:
    """A kernel for each size, and one that finds the size: in machine code, and against NumPy."""
    made: list[str] = []
    original = collection.compile_kernel
    monkeypatch.setattr(collection, "compile_kernel", lambda *given: made.append("kernel") or original(*given))
    program = adiff.program("p = sort(v[v > 0])\nsum(p * arange(len(p)))")
    for _ in range(2):
        for v in ([0.3, -1.2, 2.2, 0.7], [0.3, 1.2, 2.2, 0.7], [0.1, 0.2, -0.5, 3.0]):
            found = program.evaluate("grad", {"v": np.array(v)}, engine="kernel")
            assert found.engine == "kernel"
            ranks = np.where(np.array(v) > 0, np.argsort(np.argsort(np.where(np.array(v) > 0, v, np.inf))), 0)
            assert found.gradients["v"].tolist() == ranks.tolist()
            assert np.isclose(found.value, (ranks * v).sum(), rtol=1e-15)
    assert len(made) == 3


@pytest.mark.usefixtures("interpret")
def test_sizes_without_a_kernel_are_those_of_one_evaluation() -> None:
    program = adiff.program("median(v[v > 0]) * v[0]")
    for _ in range(2):
        assert outcome(program, {"v": -(POINT["v"] ** 2)}, "kernel", "grad", ["v"]).code == "E0302"  # of nothing
        found = outcome(program, {"v": POINT["v"]}, "kernel", "grad", ["v"])
        assert (found.engine, found.value) == ("kernel", 0.7 * 0.3)


def test_sizes_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another process has the kernel for the sizes of the last evaluation at once."""
    text, at = "median(v[v > 0])*s", {"v": POINT["v"], "s": 0.7}
    first = adiff.program(text).evaluate("grad", at, engine="kernel")
    monkeypatch.setattr(collection, "compile_kernel", lambda *given: pytest.fail("compiled again"))
    again = adiff.program(text).evaluate("grad", at, engine="kernel")
    assert again.engine == "kernel"
    assert (again.value, again.gradients["s"]) == (first.value, first.gradients["s"]) == (0.7 * 0.7, 0.7)


@pytest.mark.usefixtures("interpret")
def test_sizes_that_are_others_each_time() -> None:
    program = adiff.program("median(v[v > 0])")
    v = np.linspace(-1.0, 1.0, 41) + 0.001
    engines = [outcome(program, {"v": v + 0.05 * k}, "kernel", "grad", ["v"]).engine for k in range(19)]
    assert engines == ["kernel"] * learning.MOST_PARTS + ["tape"] * (19 - learning.MOST_PARTS)


# A size is asked for first where a run need not come by, or in what is tried and undone; then it is another.
CHECKED = {
    "in a branch": "n = int(t)\ns = 0.0\nif c > 0:\n    s = sum(ones(n))*t\ns + sum(ones(n)*t)",
    "on one side": "n = int(t)\nif c > 0:\n    s = sum(v[:n]*ones(n))\nelse:\n    s = sum(ones(n)*t)*2\ns",
    "in a loop that does not run": "n = int(t)\ns = 0.0\nfor j in range(m):\n    s += sum(ones(n))*t\ns + sum(ones(n)*t)",
    "of a part in a loop": "s = 0.0\nq = v[v > t - 3]\nfor j in range(m):\n    s += sum(sort(q)*t)\ns + median(q)*t",
    "in a function": "n = int(t)\ndef f(k):\n    return sum(ones(k)*t)\ns = f(n) if c > 0 else t\ns + f(n)",
    "in a loop written out": "n = int(t)\nd = {}\nfor j in range(2):\n    d[j] = sum(ones(n)*t)\nd[0] + d[1]",
    "in a list that grows": "n = int(t)\ns = t\nL = []\nfor j in range(3):\n    if s > c:\n        L.append(s)\n    s += sum(ones(n)*t)\ns + len(L)",
    "in recursion": "n = int(t)\ndef f(k):\n    if k <= 0:\n        return sum(ones(n)*t)\n    return f(k - 1) + sum(ones(n))*t\nf(m)",
}  # fmt: skip


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize("name", CHECKED)
def test_a_size_is_checked_wherever_it_is_used(name: str) -> None:
    program = adiff.program(CHECKED[name])
    for t, c, m in ((2.5, 1.0, 1), (3.5, -1.0, 0), (3.5, 1.0, 2), (4.5, -1.0, 0), (2.5, -1.0, 1)):
        at = {"v": POINT["v"], "t": t, "c": c, "m": m}
        at = {key: at[key] for key in program.inputs}
        tape, kernel = (outcome(program, at, engine, "grad", ["t"]) for engine in ("tape", "kernel"))
        assert kernel.value == pytest.approx(tape.value, rel=1e-14), at
        slope = tape.gradients["t"]
        assert kernel.gradients["t"] == (slope if slope is None else pytest.approx(slope, rel=1e-14)), at


def test_nothing_of_a_point_is_held() -> None:
    for text in ("sum(v**2)", "sum(sort(v[v > 0])**2)", "eig(v*ones((30, 30)))[0][0]"):
        v = np.linspace(-1, 1, 30)
        program = adiff.program(text)
        outcome(program, {"v": v}, "kernel", "grad", ["v"])
        held = weakref.ref(v)
        del v
        gc.collect()
        assert held() is None, text
