"""Many points: Black-Scholes price and its five partials on 10^6 rows in memory: a kernel on all cores, and the tape on whole
columns, against what one would write by hand in Numba and against other tools.

Every side allocates its results. The sides run in turn; the shortest of several times counts.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import adiff
import numpy as np
from harness import Row, available, best_of

ROOT = Path(__file__).parents[1]
PROGRAM = (ROOT / "samples" / "black_scholes.adiff").read_text(encoding="utf-8")
NAMES = ("S", "K", "T", "r", "v")
ROWS = 1_000_000
REPEATS = 15
# What a loop of ours may cost beside the hand-written one.
TIMES_BY_HAND = 1.3
# How far `engine="auto"` may be from the better tier.
TIMES_BETTER = 1.3


def table(count: int) -> dict[str, Any]:
    draw = np.random.default_rng(1)
    bounds = {"S": (50, 150), "K": (50, 150), "T": (0.1, 2), "r": (0, 0.1), "v": (0.1, 0.5)}
    return {name: draw.uniform(*bounds[name], count) for name in NAMES}


def by_hand() -> Callable[..., Any]:
    """Price and greeks as one writes them for Numba, on all cores."""
    import math

    import numba

    @numba.njit(parallel=True, error_model="numpy")
    def black_scholes(S: Any, K: Any, T: Any, r: Any, v: Any) -> Any:
        n = S.size
        price, dS, dK = np.empty(n), np.empty(n), np.empty(n)
        dT, dr, dv = np.empty(n), np.empty(n), np.empty(n)
        for i in numba.prange(n):
            root = math.sqrt(T[i])
            spread = v[i] * root
            d1 = (math.log(S[i] / K[i]) + (r[i] + v[i] * v[i] / 2) * T[i]) / spread
            d2 = d1 - spread
            n1 = 0.5 * math.erfc(-d1 * 0.7071067811865476)
            n2 = 0.5 * math.erfc(-d2 * 0.7071067811865476)
            density = 0.3989422804014327 * math.exp(-0.5 * d1 * d1)
            discount = math.exp(-r[i] * T[i])
            price[i] = S[i] * n1 - K[i] * discount * n2
            dS[i] = n1
            dK[i] = -discount * n2
            dT[i] = S[i] * density * v[i] / (2 * root) + r[i] * K[i] * discount * n2
            dr[i] = K[i] * T[i] * discount * n2
            dv[i] = S[i] * density * root
        return price, dS, dK, dT, dr, dv

    return black_scholes  # type: ignore[no-any-return]


def by_jax(columns: dict[str, Any]) -> Callable[[], Any]:
    import jax
    import jax.numpy as jnp
    from jax.scipy.stats import norm

    jax.config.update("jax_enable_x64", True)

    def price(S: Any, K: Any, T: Any, r: Any, v: Any) -> Any:
        d1 = (jnp.log(S / K) + (r + v**2 / 2) * T) / (v * jnp.sqrt(T))
        d2 = d1 - v * jnp.sqrt(T)
        return S * norm.cdf(d1) - K * jnp.exp(-r * T) * norm.cdf(d2)

    function = jax.jit(jax.vmap(jax.value_and_grad(price, argnums=(0, 1, 2, 3, 4))))
    given = [jnp.asarray(columns[name]) for name in NAMES]
    return lambda: jax.block_until_ready(function(*given))


def by_torch(columns: dict[str, Any]) -> Callable[[], Any]:
    import torch

    def run() -> Any:
        S, K, T, r, v = (torch.from_numpy(columns[name]).requires_grad_() for name in NAMES)
        d1 = (torch.log(S / K) + (r + v**2 / 2) * T) / (v * torch.sqrt(T))
        d2 = d1 - v * torch.sqrt(T)
        cdf = torch.special.ndtr
        price = S * cdf(d1) - K * torch.exp(-r * T) * cdf(d2)
        price.sum().backward()
        return price, S.grad, K.grad, T.grad, r.grad, v.grad

    return run


def by_casadi(columns: dict[str, Any]) -> Callable[[], Any]:
    import casadi

    x = casadi.SX.sym("x", 5)
    S, K, T, r, v = casadi.vertsplit(x)
    d1 = (casadi.log(S / K) + (r + v**2 / 2) * T) / (v * casadi.sqrt(T))
    d2 = d1 - v * casadi.sqrt(T)

    def cdf(z: Any) -> Any:
        return 0.5 * (1 + casadi.erf(z * 0.7071067811865476))

    price = S * cdf(d1) - K * casadi.exp(-r * T) * cdf(d2)
    function = casadi.Function("f", [x], [price, casadi.gradient(price, x)]).map(len(columns["S"]))
    given = np.stack([columns[name] for name in NAMES])
    return lambda: function(given)


PEERS = {"jax": by_jax, "torch": by_torch, "casadi": by_casadi}


def in_turn(sides: dict[str, Callable[[], Any]], repeats: int = REPEATS) -> dict[str, float]:
    """The shortest time of each side in milliseconds, the sides one after the other."""
    times: dict[str, list[float]] = {name: [] for name in sides}
    for side in sides.values():
        side()
    for _ in range(repeats):
        for name, side in sides.items():
            times[name].append(best_of(side, 1) * 1e3)
    return {name: min(found) for name, found in times.items()}


def first_loop(columns: dict[str, Any]) -> float:
    """Seconds until a loop that was never compiled has answered, in a process in which nothing is compiled yet."""
    kept = os.environ.get("ADIFF_CACHE_DIR")
    with tempfile.TemporaryDirectory() as folder:
        os.environ["ADIFF_CACHE_DIR"] = folder
        start = time.perf_counter()
        adiff.program(PROGRAM).rows(columns, engine="kernel")
        taken = time.perf_counter() - start
    if kept is None:
        del os.environ["ADIFF_CACHE_DIR"]
    else:
        os.environ["ADIFF_CACHE_DIR"] = kept
    return taken


def rows() -> list[Row]:
    columns = table(ROWS)
    cold = first_loop(columns)
    program = adiff.program(PROGRAM)
    sides: dict[str, Callable[[], Any]] = {
        "kernel": lambda: program.rows(columns, engine="kernel"),
        "tape": lambda: program.rows(columns, engine="tape"),
    }
    hand = by_hand()
    start = time.perf_counter()
    hand(*(columns[name] for name in NAMES))
    hand_cold = time.perf_counter() - start
    sides["by hand, Numba"] = lambda: hand(*(columns[name] for name in NAMES))
    for name, make in PEERS.items():
        if available(name):
            sides[name] = make(columns)
    times = in_turn(sides)
    ours = program.rows(columns, engine="kernel")
    price, *partials = hand(*(columns[name] for name in NAMES))
    assert ours.engine == "kernel"
    assert np.allclose(ours.value, price, rtol=1e-9)
    assert all(np.allclose(ours.gradients[n], g, rtol=1e-9, atol=1e-9) for n, g in zip(NAMES, partials))
    found = [
        Row(
            "Black-Scholes, 10^6 rows, loop",
            peer,
            times["kernel"],
            taken,
            "ms",
            TIMES_BY_HAND if peer[:2] == "by" else None,
        )
        for peer, taken in times.items()
        if peer != "kernel"
    ]
    found += [
        Row("Black-Scholes, 10^6 rows, tape", peer, times["tape"], taken, "ms")
        for peer, taken in times.items()
        if peer not in ("kernel", "tape")
    ]
    found.append(Row("Black-Scholes, 10^6 rows, first loop", "by hand, first call", cold, hand_cold, "s"))
    # Choosing: with a loop at hand, and from few rows to many.
    for count in (100, 10_000, ROWS):
        part = {name: column[:count] for name, column in columns.items()}
        choices = in_turn(
            {engine: lambda engine=engine: program.rows(part, engine=engine) for engine in ("auto", "tape", "kernel")},  # type: ignore[misc]  # noqa: B023
        )
        better = min(choices["tape"], choices["kernel"])
        found.append(Row(f"choosing, {count:,} rows", "the better tier", choices["auto"], better, "ms", TIMES_BETTER))
    return found
