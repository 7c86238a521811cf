"""Adjoints of the kernel tier against adjoints written by hand for Numba: one program per kind of code, in one run, on one
core each."""

from __future__ import annotations

import inspect
import os
import time
from collections.abc import Callable, Iterator

import adiff
from adjoint_workloads import Workload, workloads
from harness import Row, available

# How much slower than the hand-written adjoint a kernel may be.
BY_HAND = 1.5


def interleaved(sides: list[Callable[[], object]], repeats: int) -> list[float]:
    """The best time of each side, run in turn."""
    best = [float("inf")] * len(sides)
    for _ in range(repeats):
        for k, run in enumerate(sides):
            start = time.perf_counter()
            run()
            best[k] = min(best[k], time.perf_counter() - start)
    return best


def rows(only: str = "") -> Iterator[Row]:
    if not available("numba"):
        return
    os.environ["ADIFF_THREADS"] = "1"
    try:
        yield from measured_all(only)
    finally:
        del os.environ["ADIFF_THREADS"]


def measured_all(only: str) -> Iterator[Row]:
    for w in workloads():
        if only in w.name:
            yield measured(w)


def measured(w: Workload) -> Row:
    """One program measured, after its gradient has been compared."""
    import numpy as np

    program = adiff.program(w.program)
    outcome = program.evaluate("grad", w.point, w.wrt, engine="kernel")
    if outcome.engine != "kernel":
        raise SystemExit(f"{w.name}: {outcome.reason}")
    given = [w.point[name] for name in inspect.signature(w.by_hand.py_func).parameters]
    for name, expected in zip(["value", *w.wrt], w.by_hand(*given)):
        found = outcome.value if name == "value" else outcome.gradients[name]
        if not np.allclose(np.ravel(found), np.ravel(expected), rtol=1e-6, atol=1e-9 * np.max(np.abs(expected))):
            raise SystemExit(f"{w.name}: {name} is {found}, by hand {expected}")
    ours, theirs = interleaved(
        [lambda: program.evaluate("grad", w.point, w.wrt, engine="kernel"), lambda: w.by_hand(*given)], 7
    )
    return Row(w.name, "by hand", ours * 1e3, theirs * 1e3, "ms", BY_HAND)


if __name__ == "__main__":
    import sys

    for row in rows(sys.argv[1] if len(sys.argv) > 1 else ""):
        print(
            f"{row.workload:48} {row.ours:9.3f} by hand {row.theirs:9.3f} {row.unit}: {row.ratio:.2f} {row.verdict}",
            flush=True,
        )
