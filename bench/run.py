"""Run every benchmark and print the ratios: `python bench/run.py [NAME ...] [--json FILE]`.

`python bench/run.py gradbench_suite --full [--json FILE]` takes GradBench at the suite's own sizes, in about 15 minutes.

Peers (jax, torch, autograd, sympy, casadi) are measured where they are installed. Exit status 1 if a limit is missed.
"""

from __future__ import annotations

import importlib
import json
import platform
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

MODULES = (
    "first_answer",
    "scalar_loop",
    "batch",
    "hessians",
    "calls",
    "adjoints",
    "large_maps",
    "checkpoint",
    "rows",
    "choosing",
    "cold_warm",
    "growth",
    "gradbench_suite",
)


def main(arguments: list[str]) -> int:
    if arguments[:1] == ["gradbench_suite"] and "--full" in arguments:
        import gradbench_suite

        return gradbench_suite.main(arguments[1:])
    target = None
    if "--json" in arguments:
        place = arguments.index("--json")
        target = arguments[place + 1]
        arguments = arguments[:place] + arguments[place + 2 :]
    rows = []
    for name in arguments or MODULES:
        for row in importlib.import_module(name).rows():
            rows.append(row)
            limit = "" if row.limit is None else f"limit {row.limit:g}"
            print(
                f"{row.workload:<46} {row.ours:>10.4g} {row.unit:<6} {row.peer:<26} {row.theirs:>10.4g} {row.unit:<6} "
                f"ratio {row.ratio:>8.4g}  {limit:<12} {row.verdict}",
                flush=True,
            )
    if target is not None:
        report = {
            "python": platform.python_version(),
            "machine": platform.machine(),
            "rows": [r.record() for r in rows],
        }
        Path(target).write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    return 1 if any(row.verdict == "MISSED" for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
