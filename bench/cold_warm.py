"""Cold and warm, end to end: a program's first run and its later ones, beside a JAX script that does the same."""

from __future__ import annotations

import tempfile
from statistics import median

from choosing import LOOP, PAIRS, Folders, command, seconds
from harness import Row, available, python

JAX_LOOP = """
import sys, jax, jax.numpy as jnp
jax.config.update("jax_enable_x64", True)
def f(x, a):
    def body(y, _):
        return jax.lax.cond(y > 1.0, lambda y: y * 0.5 + a, lambda y: y + x * 0.1, y), None
    return jax.lax.scan(body, x, None, length={n})[0]
print(jax.jit(jax.value_and_grad(f))(0.7, 0.3))
"""
JAX_PAIRS = """
import jax, jax.numpy as jnp
jax.config.update("jax_enable_x64", True)
def f(x):
    v = jnp.linspace(0.0, x, {n})
    d = v[:, None] - v[None, :]
    return jnp.sum(jnp.where(jnp.tril(jnp.ones(({n}, {n}), bool), -1), jnp.exp(-d * d) / (1 + d * d), 0.0))
print(jax.jit(jax.value_and_grad(f))(1.5))
"""
# The aims: JAX's time on first sight, 0.3 of it for what is kept, and 0.15 s beyond a start of Python with NumPy.
COLD, WARM = 1.0, 0.3

PROGRAMS: list[tuple[str, str, dict[str, str], str]] = [
    ("a loop of 1,000", LOOP, {"x": "0.7", "a": "0.3", "n": "1000"}, JAX_LOOP.format(n=1_000)),
    ("a loop of 1,000,000", LOOP, {"x": "0.7", "a": "0.3", "n": "1000000"}, JAX_LOOP.format(n=1_000_000)),
    ("pairs of 2,000", PAIRS, {"x": "1.5", "n": "2000"}, JAX_PAIRS.format(n=2_000)),
]


def rows() -> list[Row]:
    found: list[Row] = []
    with tempfile.TemporaryDirectory() as folder:
        folders = Folders(folder)
        for name, program, at, script in PROGRAMS:
            line = command("grad", program, at, "auto")
            kept = folders.fresh()
            seconds(command("grad", program, at, "kernel"), kept)
            seconds(line, kept)
            cold, warm, jax, numpy = [], [], [], []
            for _ in range(5):
                cold.append(seconds(line, folders.fresh()))
                warm.append(seconds(line, kept))
                numpy.append(seconds(python("import numpy"), kept))
                if available("jax"):
                    jax.append(seconds(python(script), kept))
            if jax:
                found.append(Row(f"{name}, first seen", "jax", median(cold) * 1e3, median(jax) * 1e3, "ms", COLD))
                found.append(Row(f"{name}, seen before", "jax", median(warm) * 1e3, median(jax) * 1e3, "ms", WARM))
            more = median(warm) - median(numpy)
            found.append(Row(f"{name}, seen before, beyond numpy", "aim", more * 1e3, 150.0, "ms", 1.0))
    return found
