"""Hessians: chained Rosenbrock in n variables, dense by both tiers and sparse by the tape; a small network by a kernel."""

from __future__ import annotations

import time

import adiff
from harness import Row, available, best_in_turn, best_of

PROGRAM = "sum(100*(x[1:] - x[:-1]**2)**2 + (1 - x[:-1])**2)"
NETWORK = """
W = reshape(w[:64], (8, 8))
h = tanh(X @ W + w[64:72])
sum((h @ w[72:80] - t)**2) / 32
"""
SIZE = 100
MANY = 100_000


def rows() -> list[Row]:
    import numpy as np

    program = adiff.program(PROGRAM)
    point = {"x": np.linspace(-1.2, 1.0, SIZE)}
    hessian = best_of(lambda: program.hessian(point, engine="tape"), 3)
    gradient = best_of(lambda: program.value_and_gradient(point, engine="tape"), 5)
    found = [Row(f"dense Hessian, n={SIZE}", f"{SIZE} gradients", hessian * 1e3, SIZE * gradient * 1e3, "ms")]
    if available("torch"):
        import torch

        def function(x: torch.Tensor) -> torch.Tensor:
            return (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()

        start = torch.linspace(-1.2, 1.0, SIZE, dtype=torch.float64)
        theirs = best_of(lambda: torch.autograd.functional.hessian(function, start), 3)
        found.append(Row(f"dense Hessian, n={SIZE}", "torch", hessian * 1e3, theirs * 1e3, "ms"))
    found.extend(sparse())
    found.extend(compiled())
    return found


def compiled() -> list[Row]:
    """Dense Hessians by compiled kernels against jax.hessian, jitted, its results waited for."""
    import numpy as np

    draw = np.random.default_rng(0)
    network = {"w": 0.3 * draw.normal(size=80), "X": draw.normal(size=(32, 8)), "t": draw.normal(size=32)}
    cases = [
        (f"dense Hessian by a kernel, n={SIZE}", PROGRAM, {"x": np.linspace(-1.2, 1.0, SIZE)}, "x"),
        ("dense Hessian by a kernel, network, n=80", NETWORK, network, "w"),
    ]
    found: list[Row] = []
    for number, (name, text, point, source) in enumerate(cases):
        program = adiff.program(text)
        outcome = program.evaluate("hessian", point, [source], engine="kernel")
        assert outcome.engine == "kernel", outcome.reason

        def ours(program: adiff.Program = program, point: dict[str, object] = point, source: str = source) -> object:
            return program.evaluate("hessian", point, [source], engine="kernel")

        def gradient(
            program: adiff.Program = program, point: dict[str, object] = point, source: str = source
        ) -> object:
            return program.evaluate("grad", point, [source], engine="kernel")

        seconds, size = best_of(ours, 30), len(point[source])
        found.append(Row(name, f"{size} gradients", seconds * 1e3, size * best_of(gradient, 30) * 1e3, "ms", 1.0))
        if available("jax"):
            theirs, matrix = by_jax(number, point)
            assert np.allclose(matrix, outcome.hessian[source][source], rtol=1e-10, atol=1e-9)
            found.append(Row(name, "jax", seconds * 1e3, theirs * 1e3, "ms"))
    return found


def by_jax(number: int, point: dict[str, object]) -> tuple[float, object]:
    """Seconds that jax.hessian takes for one of the cases, and the Hessian."""
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", True)

    def rosenbrock(x: jax.Array) -> jax.Array:
        return jnp.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)

    def network(w: jax.Array) -> jax.Array:
        h = jnp.tanh(data["X"] @ w[:64].reshape(8, 8) + w[64:72])
        return jnp.sum((h @ w[72:80] - data["t"]) ** 2) / 32

    data = {name: jnp.asarray(x) for name, x in point.items()}
    hessian = jax.jit(jax.hessian(network if number else rosenbrock))
    at = data["w" if number else "x"]
    matrix = hessian(at).block_until_ready()
    return best_of(lambda: hessian(at).block_until_ready(), 30), matrix


def patterns() -> dict[str, tuple[str, dict[str, object], float | None]]:
    """Programs by the pattern of their Hessian, of about MANY inputs, and how many gradients one may take."""
    import numpy as np

    draw = np.random.default_rng(0)
    side = int(MANY**0.5)
    x = np.linspace(-1.2, 1.0, MANY)
    first, second = draw.integers(0, MANY, (2, 3 * MANY // 2))
    grid = "X = reshape(x, (m, m))\nsum(exp(X)) + sum(sin(X[1:] - X[:-1])) + sum(sin(X[:, 1:] - X[:, :-1]))"
    return {
        "chain": (PROGRAM, {"x": x}, 15.0),
        "pairs": ("sum(100*(x[1::2] - x[::2]**2)**2 + (1 - x[::2])**2)", {"x": x}, None),
        "arrow": ("x[0]*sum(x[1:]**2) + sum(sin(x))", {"x": x}, None),
        "grid": (grid, {"x": x[: side * side], "m": side}, None),
        "blocks of 5": ("sum(exp(sum(reshape(x, (len(x)//5, 5)), axis=1)/5))", {"x": x}, None),
        "random": ("sum(sin(x[i]*x[j]))", {"x": x, "i": first, "j": second}, None),
    }


def sparse() -> list[Row]:
    """Everything that `--sparse` does, the pattern and its colours included, against one gradient, both on the tape.

    The limit is the chain's. Elsewhere each colour takes a product, which is worth a gradient or two, and of a function
    that is quickly differentiated the entries themselves are much.
    """
    found: list[Row] = []
    for name, (text, point, limit) in patterns().items():
        program = adiff.program(text)

        def ours(program: adiff.Program = program, point: dict[str, object] = point) -> object:
            return program.evaluate("hessian", point, ["x"], sparse=True, engine="tape")

        def gradient(program: adiff.Program = program, point: dict[str, object] = point) -> object:
            return program.evaluate("grad", point, ["x"], engine="tape")

        colours = (ours().mode or "").split()[1]
        seconds, theirs = best_in_turn((ours, gradient), 15, time.thread_time)
        workload = f"sparse Hessian, {name}, n={len(point['x'])}, {colours} colours"
        found.append(Row(workload, "a gradient", seconds * 1e3, theirs * 1e3, "ms", limit))
    return found
