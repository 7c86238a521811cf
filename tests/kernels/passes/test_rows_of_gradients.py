"""Loops whose iterations differentiate something of their own: short lists in registers, notes behind the loop, indices
checked before it, so that it may run on vectors and on cores."""

from __future__ import annotations

import os
from typing import Any

import adiff
import numpy as np
import pytest
from adiff.engine.kernels import ir
from adiff.engine.kernels.construction import construct
from adiff.engine.kernels.passes import parallel_loops
from adiff.engine.kernels.passes.statements import everything
from agreement import KINKS, ORIGINS, agree, spans
from interpreted import meant

N = 40

# Distances of turned points to what was measured, by the angle and the place: rows of a Jacobian.
ROWS = """def distance(n, k):
    angle, a, b = n[0], n[1], n[2]
    return sqrt((a*cos(angle) - b*sin(angle) - seen[k])**2 + b**2)

rows = zeros((len(which), 3))
for i in range(len(which)):
    p = places[which[i]]
    g = grad(lambda n: distance(n, i))([turns[which[i]], p[0], p[1]])
    for k in range(3):
        rows[i, k] = g[k]
"""


def point(n: int = N) -> dict[str, Any]:
    draw = np.random.default_rng(5)
    return {
        "turns": draw.uniform(-3.0, 3.0, 7), "places": draw.normal(size=(7, 2)), "seen": draw.normal(size=n),
        "which": draw.integers(-7, 7, size=n),
    }  # fmt: skip


PROGRAMS = {
    "rows": ROWS + "sum(rows*rows)",
    "an element picked from behind": ROWS.replace("rows[i, k] = g[k]", "rows[i, k] = g[2 - k]*g[-1]") + "sum(rows**2)",
    "a list that changes before it is read": ROWS.replace(
        "    for k in range(3):\n", "    c = [g[0], g[1], g[2]]\n    c[1] = c[1]*2.0 + g[0]\n    for k in range(3):\n"
    ).replace("= g[k]", "= c[k]") + "sum(rows**2)",
    "a list that changes as it is read": ROWS.replace(
        "        rows[i, k] = g[k]\n", "        rows[i, k] = c[k]\n        c[2] = c[2] + c[k]\n"
    ).replace("    for k in", "    c = [g[0], g[1], g[2]]\n    for k in") + "sum(rows**2)",
    "a list read where data says": ROWS.replace("= g[k]", "= g[which[i] % 3]*g[k]") + "sum(rows**2)",
    "a list read after the loop too": ROWS.replace("= g[k]", "= g[k]") + "    s = g[0]\n".replace("    ", "") + "sum(rows) + s",
    "numbers": "w = zeros(3)\nc = [x, y, x*y]\nfor k in range(3):\n    w[k] = c[k]*w[k - 1] + c[2 - k]\nsum(w*w)",
}  # fmt: skip


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize("command", ["value", "grad"])
@pytest.mark.parametrize("text", PROGRAMS.values(), ids=list(PROGRAMS))
def test_passes_change_no_result(text: str, command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    everything_at = {**point(6), "x": 0.7, "y": -1.3}
    at = {name: everything_at[name] for name in adiff.program(text).inputs}
    flat = {name: np.ravel(value) if np.ndim(value) else value for name, value in at.items()}
    for name in ("unrolled", "flags_sunk", "checked_first", "computed_once"):
        monkeypatch.setattr(construct, name, meant(getattr(construct, name), flat))
    wrt = [name for name in at if name != "which"] if command == "grad" else None
    assert agree(text, at, wrt, command, 1e-13) == ""


def finished_kernel(text: str, at: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> ir.Kernel:
    kernels: list[ir.Kernel] = []
    made = construct.finished
    monkeypatch.setattr(construct, "finished", lambda kernel: kernels.append(made(kernel)) or kernels[-1])
    assert adiff.program(text).evaluate("value", at, engine="kernel").engine == "kernel"
    return kernels[-1]


def test_a_loop_without_lists_branches_and_checks(monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = finished_kernel(ROWS + "rows", point(), monkeypatch)
    loop = max((s for s in everything(kernel.body) if s.__class__ is ir.Loop), key=lambda s: len(s.body))
    assert {s.__class__ for s in everything(loop.body)} == {ir.Set, ir.Load, ir.Store, ir.Accumulate}
    assert len({s.array for s in everything(loop.body) if s.__class__ is ir.Store}) == 1


@pytest.mark.skipif(os.name != "posix", reason="threads of POSIX")
@pytest.mark.parametrize("shared", [False, True])
def test_machine_code(shared: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Far angles, singular points and points that are not finite among the others; on one core and on several."""
    if shared:
        monkeypatch.setattr(parallel_loops, "WORTHWHILE", 1e3)
    n = 2_000
    at = point(n)
    program = adiff.program(ROWS + f"{'0.0 + ' if shared else ''}rows")
    for changed in ({}, {"turns": 2.0**45}, {"places": 0.0}, {"seen": np.inf}, {"turns": np.nan}):
        there = {name: np.array(value) for name, value in at.items()}
        for name, value in changed.items():
            there[name].flat[3] = value
            if not value:
                there[name][3], there["seen"][:] = 0.0, 0.0
        tape = program.evaluate("value", there, engine="tape")
        kernel = program.evaluate("value", there, engine="kernel")
        assert kernel.engine == "kernel"
        assert ("in prange(" in (kernel.emitted or "")) == shared
        np.testing.assert_allclose(kernel.value, tape.value, rtol=1e-12, atol=1e-13)
        assert spans(kernel.notices, KINKS | ORIGINS) == spans(tape.notices, KINKS | ORIGINS)
        assert tape.notices or "places" not in changed


@pytest.mark.parametrize(
    ("name", "place", "value"), [("which", 5, 7), ("which", 0, -8), ("which", N - 1, 100)], ids=["7", "-8", "100"]
)
def test_an_index_that_there_is_not(name: str, place: int, value: int) -> None:
    at = point()
    at[name][place] = value
    assert agree(ROWS + "rows", at, None, "value") == "an error"
    assert agree(ROWS + "sum(rows)", at, ["places"], "grad") == "an error"


def test_what_is_printed_before_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    """Such a loop fails where it fails, after what it has printed."""
    kernel = finished_kernel(
        ROWS.replace("    p = places", "    print(i)\n    p = places") + "rows", point(), monkeypatch
    )
    loops = [s for s in everything(kernel.body) if s.__class__ is ir.Loop]
    (checking,) = [s for s in loops if any(x.__class__ is ir.Check for x in s.body)]
    assert any(x.__class__ is ir.Store for x in checking.body)
