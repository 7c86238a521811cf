"""A batch of small expressions, value and gradient: the Feynman formulas, parsed, evaluated and written as ndjson."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from harness import Row

FORMULAS = Path(__file__).parent.parent / "tests" / "data" / "feynman.json"
COUNT = 10_000
# Expressions a second and core, from the command's start to its end.
WANTED = 3_000.0


def lines() -> list[str]:
    """COUNT command lines, made from the formulas at points that differ a little each time."""
    cases = json.loads(FORMULAS.read_text(encoding="utf-8"))["cases"]
    found = []
    for i in range(COUNT):
        case = cases[i % len(cases)]
        # A little apart each time, so that no answer could be remembered.
        nudge = 1 + 1e-6 * (i // len(cases))
        values = zip(case["inputs"], case["points"][0][0], strict=True)
        point = ",".join(f"{name}={float(value) * nudge!r}" for name, value in values)
        found.append(f'grad "{case["formula"]}" --at "{point}"')
    return found


def rows() -> list[Row]:
    if not FORMULAS.exists():
        return []
    adiff = str(Path(sys.executable).parent / "adiff")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "lines.txt"
        path.write_text("\n".join(lines()) + "\n", encoding="utf-8")
        best = float("inf")
        for _ in range(3):
            start = time.perf_counter()
            subprocess.run(
                [adiff, "batch", str(path)], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
            )
            best = min(best, time.perf_counter() - start)
    # Seconds per expression, so that smaller is better as in every other row.
    return [Row("batch of 10,000 expressions, per expression", "aim", best / COUNT * 1e6, 1e6 / WANTED, "µs", 1.0)]
