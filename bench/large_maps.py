"""Gradients of maps over 10^6 elements and their sums, every side on all cores: against what one would write by hand in
Numba with `prange`, and against other tools.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import adiff
import numpy as np
from harness import Row, available, best_of

COUNT = 1_000_000
REPEATS = 31
BY_HAND = 1.3


class Map:
    """A program of x and y, and the same for jax and torch as a function of x, y and the module's names."""

    def __init__(self, name: str, program: str, function: Callable[..., Any], by_hand: Any) -> None:
        self.name = name
        self.program = program
        self.function = function
        self.by_hand = by_hand


def maps() -> list[Map]:
    import math

    from numba import njit, prange

    compiled = njit(parallel=True, error_model="numpy")

    @compiled
    def waves(x: Any, y: Any) -> Any:
        total = 0.0
        gx, gy = np.empty(x.size), np.empty(x.size)
        for i in prange(x.size):
            decay = math.exp(-x[i] * x[i] / 2)
            turn = math.sin(x[i] * y[i])
            root = math.sqrt(abs(y[i]))
            total += decay * turn + root
            slope = decay * math.cos(x[i] * y[i])
            gx[i] = slope * y[i] - x[i] * decay * turn
            gy[i] = slope * x[i] + math.copysign(0.5 / root, y[i])
        return total, gx, gy

    @compiled
    def squares(x: Any, y: Any) -> Any:
        total = 0.0
        gx, gy = np.empty(x.size), np.empty(x.size)
        for i in prange(x.size):
            d = x[i] * x[i] - y[i]
            total += d * d
            gx[i] = 4 * d * x[i]
            gy[i] = -2 * d
        return total, gx, gy

    return [
        Map(
            "sum(exp(-x**2/2)*sin(x*y) + sqrt(abs(y)))",
            "sum(exp(-x**2/2)*sin(x*y) + sqrt(abs(y)))",
            lambda m, x, y: (m.exp(-(x**2) / 2) * m.sin(x * y) + m.sqrt(m.abs(y))).sum(),
            waves,
        ),
        Map("sum((x**2 - y)**2)", "sum((x**2 - y)**2)", lambda m, x, y: ((x**2 - y) ** 2).sum(), squares),
    ]


def by_jax(function: Callable[..., Any], x: Any, y: Any) -> Callable[[], Any]:
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", True)
    compiled = jax.jit(jax.value_and_grad(lambda x, y: function(jnp, x, y), argnums=(0, 1)))
    given = jnp.asarray(x), jnp.asarray(y)
    return lambda: jax.block_until_ready(compiled(*given))


def by_torch(function: Callable[..., Any], x: Any, y: Any) -> Callable[[], Any]:
    import torch

    given = [torch.from_numpy(each).requires_grad_() for each in (x, y)]

    def run() -> Any:
        value = function(torch, *given)
        return value, torch.autograd.grad(value, given)

    return run


def in_turn(sides: dict[str, Callable[[], Any]]) -> dict[str, float]:
    """The shortest time of each side in milliseconds. Threads of others look for work for a moment after they had some,
    and are left to find none before the next side has its turn."""
    times = dict.fromkeys(sides, float("inf"))
    for side in sides.values():
        side()
    for _ in range(REPEATS):
        for name, side in sides.items():
            time.sleep(0.02)
            times[name] = min(times[name], best_of(side, 1) * 1e3)
    return times


PEERS = {"jax": by_jax, "torch": by_torch}


def rows() -> Iterator[Row]:
    if not available("numba"):
        return
    draw = np.random.default_rng(3)
    point = {name: draw.normal(size=COUNT) for name in "xy"}
    x, y = point.values()
    for each in maps():
        program = adiff.program(each.program)
        run = program.repeated("grad", point, ["x", "y"], engine="kernel")
        outcome = run(point)
        assert outcome.engine == "kernel", outcome.reason
        value, gx, gy = each.by_hand(x, y)
        for found, wanted in ((outcome.value, value), (outcome.gradients["x"], gx), (outcome.gradients["y"], gy)):
            assert np.allclose(np.asarray(found), wanted, rtol=1e-9, atol=1e-12)
        sides: dict[str, Callable[[], Any]] = {
            "adiff": lambda run=run: run(point),  # type: ignore[misc]
            "by hand": lambda each=each: each.by_hand(x, y),  # type: ignore[misc]
        }
        sides.update({name: make(each.function, x, y) for name, make in PEERS.items() if available(name)})
        times = in_turn(sides)
        for peer in [name for name in sides if name != "adiff"]:
            limit = BY_HAND if peer == "by hand" else 1.0
            yield Row(f"gradient of {each.name}, n = 10^6", peer, times["adiff"], times[peer], "ms", limit)


if __name__ == "__main__":
    for row in rows():
        print(
            f"{row.workload:70} {row.peer:8} {row.ours:9.3f} {row.theirs:9.3f} {row.unit}: {row.ratio:.2f} {row.verdict}"
        )
