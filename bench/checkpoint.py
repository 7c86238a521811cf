"""Long loops in bounded memory: 10^8 iterations by the binomial schedule within 1 GiB, against the same without a bound."""

from __future__ import annotations

import json
import math
import subprocess

from harness import Row, python

ITERATIONS = 100_000_000
BUDGET = 1 << 30
# How much longer the bounded sweep may take.
TIMES = 3.0

CODE = """
import json, resource, time
import adiff
program = adiff.program('''
y = x
for i in range(n):
    if y > 1.0:
        y = y * 0.5 + a
    else:
        y = y + x * 0.1
y
''')
at = {{"x": 0.7, "a": 0.3}}
program.evaluate("grad", {{**at, "n": 10}}, ["x", "a"], engine="kernel", checkpoint={budget})
times = []
for _ in range(3):
    start = time.process_time()
    outcome = program.evaluate("grad", {{**at, "n": {n}}}, ["x", "a"], engine="kernel", checkpoint={budget})
    times.append(time.process_time() - start)
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(json.dumps([min(times), peak, outcome.gradients]))
"""


def measured(budget: int | None) -> tuple[float, float, dict[str, float]]:
    """Seconds, the process's peak memory in MiB, and the gradient."""
    code = CODE.format(budget=budget, n=ITERATIONS)
    seconds, peak, gradient = json.loads(
        subprocess.run(python(code), check=True, capture_output=True, text=True).stdout
    )
    return seconds, peak, gradient


def rows() -> list[Row]:
    found: list[Row] = []
    seconds, peak, gradient = measured(None)
    for budget in (BUDGET, 1 << 20, 20_000, 1_000):
        bounded, least, same = measured(budget)
        if not all(math.isclose(same[name], g, rel_tol=1e-12) for name, g in gradient.items()):
            raise SystemExit(f"the gradients differ: {gradient} and {same}")
        name = f"10^8 iterations, --checkpoint {budget}"
        found.append(Row(f"{name}: time", "unbounded", bounded, seconds, "s", TIMES))
        found.append(Row(f"{name}: peak memory", "unbounded", least, peak, "MiB", 1024 / peak))
    return found


if __name__ == "__main__":
    for row in rows():
        print(
            f"{row.workload:56} {row.ours:9.3f} {row.peer} {row.theirs:9.3f} {row.unit}: {row.ratio:.2f} {row.verdict}"
        )
