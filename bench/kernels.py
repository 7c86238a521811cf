"""The kernel tier against adjoints written by hand for Numba, in one run; and what a first answer costs end to end."""

from __future__ import annotations

from typing import Any

import adiff
from harness import Row, available, best_of, in_turn, python

BRANCHING = """
y = x
for i in range(n):
    if y > 1.0:
        y = y * 0.5 + a
    else:
        y = y + x * 0.1
y
"""
POINT = {"x": 0.7, "a": 0.3, "n": 1_000_000}
# How much slower than the hand-written adjoint a kernel may be.
BY_HAND = 1.3


def branching_by_hand() -> Any:
    """Value and gradient of the branching loop: heads stored, the body run again in reverse."""
    import numpy as np
    from numba import njit

    @njit(error_model="numpy")  # type: ignore[misc]
    def gradient(x: float, a: float, n: int) -> tuple[float, float, float]:
        heads = np.empty(n)
        y = x
        for i in range(n):
            heads[i] = y
            y = y * 0.5 + a if y > 1.0 else y + x * 0.1
        dy, dx, da = 1.0, 0.0, 0.0
        for i in range(n - 1, -1, -1):
            if heads[i] > 1.0:
                da += dy
                dy *= 0.5
            else:
                dx += dy * 0.1
        return y, dx + dy, da

    return gradient


PAIRS = """
e = 0.0
for i in range(len(v)):
    for j in range(i):
        d = v[i] - v[j]
        e += exp(-d * d) / (1 + d * d)
e
"""


def pairs_by_hand() -> Any:
    """Value and gradient of a sum over pairs: the outer loop carries one number, and the inner one nothing needed."""
    import numpy as np
    from numba import njit

    @njit(error_model="numpy")  # type: ignore[misc]
    def gradient(v: Any) -> tuple[float, Any]:
        total = 0.0
        slopes = np.zeros(v.size)
        for i in range(v.size):
            for j in range(i):
                d = v[i] - v[j]
                term = np.exp(-d * d) / (1 + d * d)
                total += term
                slope = -2 * d * term * (1 + 1 / (1 + d * d))
                slopes[i] += slope
                slopes[j] -= slope
        return total, slopes

    return gradient


def answer(engine: str, n: int) -> list[str]:
    """A process that prints the gradient of the branching loop."""
    point = {**POINT, "n": n}
    code = f"import adiff; print(adiff.program({BRANCHING!r}).value_and_gradient({point!r}, ['x', 'a'], engine={engine!r}))"
    return python(code)


def rows() -> list[Row]:
    found: list[Row] = []
    if not available("numba"):
        return found
    import numpy as np

    program = adiff.program(BRANCHING)
    by_hand = branching_by_hand()
    ours = best_of(lambda: program.evaluate("grad", POINT, ["x", "a"], engine="kernel"), 9)
    theirs = best_of(lambda: by_hand(0.7, 0.3, 1_000_000), 9)
    found.append(Row("branching loop, 10^6 iterations, gradient", "by hand", ours * 1e3, theirs * 1e3, "ms", BY_HAND))

    pairs, pairs_hand = adiff.program(PAIRS), pairs_by_hand()
    v = np.linspace(-3, 3, 1500)
    ours = best_of(lambda: pairs.evaluate("grad", {"v": v}, engine="kernel"), 5)
    theirs = best_of(lambda: pairs_hand(v), 5)
    found.append(Row("sum over pairs of 1500 points, gradient", "by hand", ours * 1e3, theirs * 1e3, "ms", BY_HAND))

    for n in (10_000, 1_000_000):
        kernel, tape, chosen = in_turn([answer("kernel", n), answer("tape", n), answer("auto", n)], 3, 1)
        better = "kernel" if kernel < tape else "tape"
        found.append(Row(f"a process, {n} iterations: auto", better, chosen, min(kernel, tape), "s", 1.3))
    return found


if __name__ == "__main__":
    for row in rows():
        print(
            f"{row.workload:48} {row.ours:9.3f} against {row.peer} {row.theirs:9.3f} {row.unit}: {row.ratio:.2f} {row.verdict}"
        )
