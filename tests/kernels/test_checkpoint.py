"""`--checkpoint` in kernels: the gradients of the whole loop, in memory that is bounded."""

from typing import Any

import adiff
import numpy as np
import pytest

from .tiers import close

V = np.linspace(0.1, 1.0, 5)
# Loops that carry a number, an array, integers and truth values; that are conditional, or end early; that add up; in a branch.
LOOPS = {
    "a number": "y = x\nfor i in range(n, 2, -2):\n    y = sin(y) * 1.01 + 0.001*i\ny",
    "an array": "v = w * 1.0\nfor i in range(n):\n    v = v + 0.01*sin(v)*x\nsum(v)",
    "elements": "v = w * 1.0\nfor i in range(n):\n    v[i % 5] = sin(v[(i + 1) % 5])*0.99 + 0.01*x\nsum(v*v)",
    "while": "y = x\nk = 0\nwhile k < n and y < 1e9:\n    y = y + 0.001*sin(y)*w[k % 5]\n    k = k + 1\ny + k",
    "break": "y = x\nfor i in range(n):\n    y = y + 0.001*sin(y)\n    if y > 1.5:\n        break\ny",
    "a truth value": "y = x\nb = False\nfor i in range(n):\n    y = y*y*0.3 + 0.3 if b else y*1.1\n    b = y > 1.0\ny",
    "sums": "s = 0.0\ny = x\nfor i in range(n):\n    y = sin(y) + 0.1*i/n\n    s += y*w[i % 5]\ns",
    "a loop inside": "y = x\nfor i in range(n):\n    for j in range(i % 7):\n        y = y*0.99 + 0.001*sin(y)\ny",
    "in a branch": "y = x\nif x > 0.2:\n    for i in range(n):\n        y = sin(y) + 0.1\ny",
}


def point(text: str, n: int) -> dict[str, Any]:
    return {name: value for name, value in {"x": 0.7, "w": V, "n": n}.items() if name in text}


def held(program: Any) -> int:
    """The bytes of the kernel that was made last."""
    compiled = list(program.kernels.made.values())[-1]
    return int(compiled.entry.frames[-1].held)


@pytest.mark.parametrize("command", ["grad", "hessian"])
@pytest.mark.parametrize("text", LOOPS.values(), ids=LOOPS)
def test_derivatives_within_a_limit(text: str, command: str) -> None:
    program = adiff.program(text)
    for limit in (1, 500):
        for n in (0, 1, 2, 37, 1001):
            at = point(text, n)
            wrt = [name for name in at if name != "n"]
            whole = program.evaluate(command, at, wrt, engine="kernel")
            found = program.evaluate(command, at, wrt, engine="kernel", checkpoint=limit)
            assert found.engine == "kernel", found.reason
            assert close(whole.gradients, found.gradients, 1e-11, 1.0), (limit, n)
            assert close(whole.hessian, found.hessian, 1e-10, 1.0), (limit, n)


# Loops that carry a number, two, and 100. No limit is less than 8 states, and beside them are the arrays at hand.
@pytest.mark.parametrize(
    ("text", "width"),
    [
        ("y = x\nfor i in range(n):\n    y = sin(y) + 0.1\ny", 1),
        ("y = x\nk = 0\nwhile k < n:\n    y = sin(y) + 0.1\n    k = k + 1\ny", 2),
        ("v = linspace(0.0, x, 100)\nfor i in range(n):\n    v = sin(v) + 0.1\nsum(v)", 100),
    ],
)
def test_memory_is_bounded(text: str, width: int) -> None:
    program = adiff.program(text)
    for limit in (1, 2_000, 40_000, 1_000_000):
        for n in (40, 20_000):
            found = program.evaluate("grad", {"x": 0.7, "n": n}, ["x"], engine="kernel", checkpoint=limit)
            assert found.engine == "kernel", found.reason
            assert held(program) <= max(limit, 10 * 8 * (width + 1)) + 80 * width, (limit, n)
