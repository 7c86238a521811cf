"""Hessians on the tape tier: chained Rosenbrock in n variables, dense and sparse."""

from __future__ import annotations

import adiff
from harness import Row, available, best_of

PROGRAM = "sum(100*(x[1:] - x[:-1]**2)**2 + (1 - x[:-1])**2)"
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
    found.append(sparse())
    return found


def sparse() -> Row:
    """Everything that `--sparse` does, the pattern and its colours included, against one gradient."""
    import numpy as np

    program = adiff.program(PROGRAM)
    point = {"x": np.linspace(-1.2, 1.0, MANY)}
    hessian = best_of(lambda: program.hessian(point, sparse=True), 7)
    gradient = best_of(lambda: program.value_and_gradient(point, engine="tape"), 15)
    return Row(f"sparse Hessian, n={MANY}", "a gradient", hessian * 1e3, gradient * 1e3, "ms", 10.0)
