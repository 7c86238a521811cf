"""The first answer: whole processes from the shell, `adiff grad "x**2" --at x=2` beside its peers."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from harness import Row, available, in_turn, python

PEERS = {
    "jax": "import jax; jax.config.update('jax_enable_x64', True); print(jax.grad(lambda x: x**2)(2.0))",
    "torch": "import torch; x = torch.tensor(2.0, requires_grad=True); (x**2).backward(); print(x.grad)",
    "autograd": "import autograd; print(autograd.grad(lambda x: x**2)(2.0))",
    "sympy": "import sympy; x = sympy.Symbol('x'); print(sympy.diff(x**2).subs(x, 2.0))",
    "casadi": "import casadi; x = casadi.SX.sym('x'); print(casadi.Function('g', [x], [casadi.gradient(x**2, x)])(2.0))",
}


def rows() -> list[Row]:
    adiff = str(Path(sys.executable).parent / "adiff")
    commands = [[adiff, "grad", "x**2", "--at", "x=2"], python("import numpy")]
    names = ["python -c 'import numpy'"]
    limits: list[float | None] = [1.0]
    for module, code in PEERS.items():
        if available(module):
            commands.append(python(code))
            names.append(module)
            limits.append(0.3 if module == "jax" else None)
    if shutil.which("qalc"):
        commands.append(["qalc", "-t", "diff(x^2, x, 2)"])
        names.append("qalc")
        limits.append(2.0)
    times = in_turn(commands)
    return [
        Row("first answer, whole process", name, times[0] * 1e3, t * 1e3, "ms", limit)
        for name, t, limit in zip(names, times[1:], limits)
    ]
