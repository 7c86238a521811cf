"""Run every benchmark and print the ratios: `python bench/run.py [NAME ...] [--json FILE]`.

`python bench/run.py gradbench_suite --full [--json FILE]` takes GradBench at the suite's own sizes, in about 15 minutes.

Peers (jax, torch, autograd, sympy, casadi) are measured where they are installed. Exit status 1 if a limit is missed.
"""

from __future__ import annotations

import argparse
import importlib
import json
import platform
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

TYPE_CHECKING = False
if TYPE_CHECKING:
    from harness import Row

MODULES = (
    "first_answer",
    "scalar_loop",
    "batch",
    "hessians",
    "calls",
    "adjoints",
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
    parser = argparse.ArgumentParser(prog="bench/run.py", description=__doc__.splitlines()[0].partition(":")[0] + ".")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"one of {', '.join(MODULES)} (default: all)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the rows to FILE too, after each benchmark")
    parser.add_argument("--full", action="store_true", help="gradbench_suite alone: the suite's own sizes")
    asked = parser.parse_args(arguments)
    unknown = [name for name in asked.names if name not in MODULES]
    if unknown:
        parser.error(f"no benchmark is called {unknown[0]!r}; there are {', '.join(MODULES)}")
    if asked.full:
        parser.error("--full is for gradbench_suite by itself: bench/run.py gradbench_suite --full")
    rows: list[Row] = []
    for name in asked.names or MODULES:
        for row in importlib.import_module(name).rows():
            rows.append(row)
            limit = "" if row.limit is None else f"limit {row.limit:g}"
            print(
                f"{row.workload:<46} {row.ours:>10.4g} {row.unit:<6} {row.peer:<26} {row.theirs:>10.4g} {row.unit:<6} "
                f"ratio {row.ratio:>8.4g}  {limit:<12} {row.verdict}",
                flush=True,
            )
        if asked.json is not None:
            write(asked.json, rows)
    return 1 if any(row.verdict == "MISSED" for row in rows) else 0


def write(target: Path, rows: list[Row]) -> None:
    report = {
        "python": platform.python_version(),
        "machine": platform.machine(),
        "rows": [r.record() for r in rows],
    }
    beside = target.with_name(target.name + ".part")
    beside.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    beside.replace(target)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
