"""The scalar loop with a data-dependent branch on the tape tier: time and memory per recorded operation."""

from __future__ import annotations

import gc
import sys
from pathlib import Path

import adiff
from harness import Row, available, best_of

PROGRAM = """
y = x
for i in range(n):
    if y > 1.0:
        y = y * 0.5 + a
    else:
        y = y + x * 0.1
y
"""
POINT = {"x": 0.7, "a": 0.3}
# The aim for the tape's memory, and how many times faster than PyTorch's tape ours must be.
BYTES_PER_RECORD = 150.0
TIMES_TORCH = 5.0


def torch_gradient(n: int) -> object:
    import torch

    x = torch.tensor(POINT["x"], dtype=torch.float64, requires_grad=True)
    a = torch.tensor(POINT["a"], dtype=torch.float64, requires_grad=True)
    y = x
    for _ in range(n):
        y = y * 0.5 + a if y > 1.0 else y + x * 0.1
    y.backward()
    return x.grad, a.grad


def autograd_gradient(n: int) -> object:
    import autograd

    def loop(x: float, a: float) -> float:
        y = x
        for _ in range(n):
            y = y * 0.5 + a if y > 1.0 else y + x * 0.1
        return y

    return autograd.grad(loop, (0, 1))(POINT["x"], POINT["a"])


def resident() -> int:
    """This process's memory in bytes, from the kernel's own account."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


def bytes_per_record(n: int) -> float:
    """The growth of the process while `n` iterations (two operations each) are recorded, per record."""
    from adiff.engine.autodiff import drivers, tape

    sizes: list[float] = []
    sweep = tape.sweep

    def measured(recorded: tape.Tape, *args: object, **named: object) -> object:
        sizes.append((resident() - before) / (len(recorded.log) // 4))
        return sweep(recorded, *args, **named)  # type: ignore[arg-type]

    program = adiff.program(PROGRAM)
    gc.collect()
    before = resident()
    tape.sweep = measured  # type: ignore[assignment]
    try:
        program.value_and_gradient({**POINT, "n": n}, wrt=["x", "a"], engine="tape")
    finally:
        tape.sweep = sweep
    assert drivers is not None
    return sizes[0]


def rows() -> list[Row]:
    found: list[Row] = []
    program = adiff.program(PROGRAM)

    def ours(n: int) -> float:
        return best_of(lambda: program.value_and_gradient({**POINT, "n": n}, wrt=["x", "a"], engine="tape"))

    n = 20_000
    mine = ours(n)
    for name, gradient in (("torch", torch_gradient), ("autograd", autograd_gradient)):
        if available(name):
            theirs = best_of(lambda: gradient(n), 3)  # noqa: B023
            limit = 1 / TIMES_TORCH if name == "torch" else None
            found.append(
                Row("scalar loop, tape tier, per iteration", name, mine / n * 1e6, theirs / n * 1e6, "µs", limit)
            )
    twice = ours(2 * n)
    found.append(Row("scalar loop, twice the iterations", "linear growth", twice / mine, 2.0, "x", 1.25))
    if sys.platform == "linux":
        size = bytes_per_record(100_000)
        found.append(Row("tape memory per recorded operation", "aim", size, BYTES_PER_RECORD, "bytes", 1.0))
    return found
