"""Passes change what a kernel does, and none of its results: kernels are run before and after each of them.

What a side of a branch makes is read again by later branches on the same condition: the reverse sweep takes the sides that
were taken. The programs here overwrite arrays in such sides, in loops and out of them.
"""

from __future__ import annotations

from typing import Any

import adiff
import numpy as np
import pytest
from adiff.engine.kernels import ir
from adiff.engine.kernels.construction import construct
from adiff.engine.kernels.passes import shifted_fusion
from agreement import agree
from generated_loops import WIDTH, loops, random_kernel
from interpreted import checked, meant

PASSES = (
    "aligned", "fuse", "without_dead_code", "tidy", "snapshots", "loops_forwards", "sums_promoted", "stored_first", "settled",
    "scalar_replaced", "sums_apart", "fuse_shifted",
)  # fmt: skip

POINT = {"x": 0.37, "y": -0.81, "v": np.array([0.3, -0.6, 1.1, 0.2]), "u": np.cos(np.arange(24.0))}

PROGRAMS = {
    "an element, then a slice of it": "w = v\nif x > 0:\n    w[1] = x\n    w[1:3] = w[1:3]*x\nsum(w)",
    "a slice beside it": "w = v\nif x > 0:\n    w[1] += x\n    w[1:3] = w[:2]*x\nsum(w)",
    "a copy": "w = v*1.0\nif x > 0:\n    w[1] += x\n    w[1:3] *= w[:2]\nsum(w)",
    "the other side": "w = v\nif x < 0:\n    w[1] += x\nelse:\n    w[1] += x\n    w[1:3] = w[:2]*x\nsum(w)",
    "backwards, by twos": "w = v\nif x > 0:\n    w[-1] = x\n    w[::-2] = w[::2]*w[1::2]\nsum(w**2)",
    "rows": "w = ones((3, 4))\nif x > 0:\n    w[1] = v*x\n    w[1:3] = w[:2]*x\n    w[:, 1] *= w[:, 2]\nsum(w*w)",
    "sides in sides": (
        "w = v\nif x > 0:\n    w[1] = x\n    if y < 0:\n        w[2] = w[1]*y\n        w[1:3] = w[1:3]*x\n"
        "    w[:3] = w[1:]*w[0]\nsum(w*w)"
    ),
    "sides that something stands between, in a loop": (
        "s = 0.0\nfor k in range(3):\n    w = v*1.0\n    if x > 0.1*k:\n        w[1] = x*k\n        w[1:3] = w[1:3]*x\n"
        "    t = sum(w)\n    if t > -9:\n        s = s*x + t\ns"
    ),
    "a loop before, in a side": (
        "w = v\nif x > 0.5:\n    w = v*2\nelif x > 0:\n    for i in range(2):\n        w = v\n    w[1:3] = w[:2]*x\n"
        "    w[0] = x\n    w[1:] *= w[:-1]\nsum(w)"
    ),
    "neighbours, in a side": (
        "r = u\nif x > 0:\n    a = u*x\n    b = concat([a[1:], a[:1]])*a\n    c = concat([b[1:], b[:1]])*b + a\n"
        "    r = concat([c[1:], c[:1]])*c*b\nsum(r*r)"
    ),
    "neighbours written in place, in a side": (
        "r = u\nif x > 0:\n    r = u*x\n    r[1:] = r[:-1]*r[1:]\n    r[:-1] = r[1:]*r[:-1]\n    r[2:] *= r[:-2]\nsum(r*r)"
    ),
}  # fmt: skip


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize("command", ["grad", "hessian"])
@pytest.mark.parametrize("text", PROGRAMS.values(), ids=list(PROGRAMS))
def test_a_kernel_of_a_program(text: str, command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    at = {name: POINT[name] for name in adiff.program(text).inputs}
    for name in PASSES:
        monkeypatch.setattr(construct, name, meant(getattr(construct, name), at))
    assert agree(text, at, list(at), command, 1e-13) == ""


def in_two_branches(kernel: ir.Kernel) -> ir.Kernel:
    """The kernel in a side of a branch; its results are read in a later branch on the same condition, and copied."""
    kept = [x for x in kernel.results if x.__class__ is ir.Array]
    switch, condition, index = ir.Var(ir.FLOAT, "x"), ir.Var(ir.BOOL), ir.Var(ir.INT, "i")
    outer = [ir.Array(ir.FLOAT, x.shape) for x in kept]
    read: list[ir.Stmt] = []
    for x, out in zip(kept, outer):
        var = ir.Var(ir.FLOAT)
        read += [ir.Load(var, x, index), ir.Store(out, index, var)]
    again = ir.Loop(index, 0, WIDTH, 1, None, None, [], read, None, {}, ir.Var(ir.INT, "t"), None)
    total = ir.Var(ir.FLOAT)
    body: list[ir.Stmt] = [
        *(ir.Alloc(x, True) for x in outer),
        ir.Set(condition, "greater", (switch, 0.0), None, None),
        ir.If(condition, kernel.body, [], []),
        ir.Set(total, "add", (switch, 1.0), None, None),
        ir.If(condition, [again], [], []),
    ]
    return ir.Kernel([switch, *kernel.parameters], body, [total, *outer])


def test_random_loops_in_a_side() -> None:
    fewer = 0
    for seed in range(100):
        kernel = in_two_branches(random_kernel(seed))
        at: dict[str, Any] = {p.name: np.random.default_rng(7).normal(size=WIDTH) for p in kernel.parameters}
        at[kernel.parameters[0].name] = 0.5
        made = meant(checked(shifted_fusion.fuse_shifted), at)(kernel)
        before, after = (next(s.then for s in x.body if s.__class__ is ir.If) for x in (kernel, made))
        fewer += loops(after) < loops(before)
    assert fewer > 20
