"""The source of a kernel is the same in every process, whatever order sets have there."""

from __future__ import annotations

import json
import os
import subprocess
import sys

# Programs whose kernels have several arrays of zeros that one loop fills, and windows of several.
PROGRAMS = [
    ("hvp", "sum(v[:, None] * v[None, :] * x) + sum(v[..., 1:]) * y"),
    ("hessian", "a = reshape(v, (2, 2))\nsum(a[0] * a[1]) * x + sum(reshape(a, (4,)) * v) + sum(stack([v, v * y]))"),
    ("hessian", "w = v * x\nfor i in range(1, 4):\n    w[i] = w[i - 1] * w[i] * y\nsum(w * w)"),
    ("hvp", "w = v * x\nfor i in range(3):\n    w[1:] = w[:-1] * y + w[1:]\n    w[::2] = w[1::2] * 0.5\nsum(w * w)"),
    (
        "grad",
        "w = v * x\nfor i in range(4):\n    w[i] = w[i] * w[0] + y\n    w[3 - i] = sin(w[i]) * w[3 - i]\nsum(w*w)",
    ),
    ("hessian", "sum(v[v > 0]**2) * x + sum(v[1:] * v[:-1])"),
]
# Variables and arrays are told apart by where they are in memory: here their order in sets differs from round to round.
ROUNDS = 3
SCRIPT = f"""
import json, random
import adiff
import numpy as np
from adiff.engine.kernels import collection, ir
from adiff.engine.kernels.source import emit

draw = random.Random()
sources = []

def emitted(built, keep=None):
    sources[-1].append(emit.emit(built.kernel, built.precision).text)
    raise ir.Unsupported("the source is what is looked at")

collection.compile_kernel = emitted
for _ in range({ROUNDS}):
    factor = draw.getrandbits(60) | 1
    for kind in (ir.Var, ir.Array, ir.Stack):
        kind.__hash__ = lambda self: (id(self) >> 4) * factor % (2**61 - 1) >> 7
    sources.append([])
    for command, text in {PROGRAMS!r}:
        point = {{"x": 0.7, "y": -1.3, "v": np.array([0.3, -1.1, 0.9, 2.0])}}
        program = adiff.program(text)
        options = {{"vector": {{"v": np.ones(4)}}}} if command == "hvp" else {{}}
        program.evaluate(command, {{name: point[name] for name in program.inputs}}, engine="kernel", **options)
print(json.dumps(sources))
"""


def sources(seed: int) -> list[list[str]]:
    environment = {**os.environ, "PYTHONHASHSEED": str(seed)}
    run = subprocess.run([sys.executable, "-c", SCRIPT], env=environment, capture_output=True, text=True, check=True)
    found: list[list[str]] = json.loads(run.stdout)
    return found


def test_emitted_source_is_the_same_in_every_process() -> None:
    first, *others = [*sources(0), *sources(1)]
    assert len(first) == len(PROGRAMS)
    assert len(others) == 2 * ROUNDS - 1
    for other in others:
        assert other == first
