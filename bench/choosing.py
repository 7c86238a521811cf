"""Choosing a tier: whole processes with `--engine auto` beside the better of tape and kernel, from 10 to 10^9 operations.

Cold is the first time that a program is seen: nothing of it is kept. Warm is every later time.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from harness import Row

# How much longer than the better tier the choice may take.
LIMIT = 1.3
# Tape runs that would take longer than this are not waited for: the kernel is the better tier there.
LONGEST_TAPE = 8.0
TAPE_SECONDS = 4e-6
# Every side runs so often at least and at most, until the workload has taken so many seconds.
LEAST_TURNS, MOST_TURNS, WORKLOAD_SECONDS = 2, 5, 8.0

LOOP = "y = x\nfor i in range(n):\n    y = y * 0.5 + a if y > 1.0 else y + x * 0.1\ny"
PAIRS = (
    "v = linspace(0, x, n)\ne = 0.0\nfor i in range(n):\n    for j in range(i):\n        d = v[i] - v[j]\n"
    "        e += exp(-d * d) / (1 + d * d)\ne"
)
STEPS = "v = linspace(0, x, 10)\nfor i in range(n):\n    v = v + 0.01 * sin(v)\nsum(v)"
PRODUCT = "a = linspace(0, x, n * n).reshape(n, n)\nsum(a @ a)"
VECTOR = "v = linspace(0, x, n)\nsum(exp(-v**2) * sin(v) / (1 + v**2))"
CHAIN = "sum(100*(x[1:] - x[:-1]**2)**2 + (1 - x[:-1])**2)"

# Command, program, inputs, and about how many scalar operations the tape interprets one by one.
WORKLOADS: list[tuple[str, str, str, dict[str, str], float]] = [
    ("a formula", "grad", "exp(-x**2) * sin(x) / (1 + x**2)", {"x": "0.7"}, 8),
    *((f"a loop of {n:,}", "grad", LOOP, {"x": "0.7", "a": "0.3", "n": str(n)}, 3.0 * n)
      for n in (10, 1_000, 30_000, 100_000, 300_000, 1_000_000, 10_000_000)),
    *((f"pairs of {n:,}", "grad", PAIRS, {"x": "1.5", "n": str(n)}, 4.0 * n * n) for n in (10, 30, 60, 100, 300, 1_000, 3_000)),
    *((f"a vector of {n:,}", "grad", VECTOR, {"x": "1.5", "n": str(n)}, 20.0) for n in (1_000, 100_000, 3_000_000)),
    *((f"{n:,} steps on 10 elements", "grad", STEPS, {"x": "1.5", "n": str(n)}, 20.0 * n) for n in (10, 300, 3_000)),
    *((f"a product of {n:,} by {n:,}", "grad", PRODUCT, {"x": "1.5", "n": str(n)}, 20.0) for n in (30, 300, 1_000)),
    *((f"{verb} of a loop of {n:,}", verb, LOOP, {"x": "0.7", "a": "0.3", "n": str(n)}, work * n)
      for verb, work in (("jvp", 20.0), ("hvp", 40.0), ("hessian", 30.0)) for n in (100, 1_000, 30_000, 300_000)),
    *((f"the Hessian of a chain of {n:,}", "hessian", CHAIN, {"x": f"linspace(-1.2, 1, {n})"}, 3e3 + n) for n in (10, 100, 300)),
    ("the value of a loop of 300,000,000", "value", LOOP, {"x": "0.7", "a": "0.3", "n": "300000000"}, 9e8),
]  # fmt: skip


def command(verb: str, program: str, at: dict[str, str], engine: str) -> list[str]:
    adiff = str(Path(sys.executable).parent / "adiff")
    bound = [part for name, value in at.items() for part in ("--at", f"{name}={value}")]
    more = {"jvp": ["--tangent", "x=1"], "hvp": ["--vector", "x=1"]}.get(verb, [])
    sources = ["--wrt", "x"] if verb in ("grad", "hvp") else []
    return [adiff, verb, program, *bound, *more, *sources, "--engine", engine]


def seconds(line: list[str], folder: str) -> float:
    """The time of a whole process: by the clock, or where ADIFF_BENCH_CPU is set what processors spent on it, which other
    work on the machine disturbs less."""
    start = time.perf_counter()
    nowhere = subprocess.DEVNULL
    # Without the modules' compiled code every process would compile adiff's sources, beside either engine.
    environment = {name: x for name, x in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    child = subprocess.Popen(line, stdout=nowhere, stderr=nowhere, env={**environment, "ADIFF_CACHE_DIR": folder})
    _, status, used = os.wait4(child.pid, 0)
    taken = time.perf_counter() - start
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise subprocess.CalledProcessError(child.returncode, line)
    return used.ru_utime + used.ru_stime if os.environ.get("ADIFF_BENCH_CPU") else taken


class Folders:
    """Cache folders that hold the grammar's table and nothing else."""

    def __init__(self, folder: str) -> None:
        self.folder = Path(folder)
        self.pattern = self.folder / "pattern"
        self.count = 0
        seconds(command("value", "1", {}, "tape"), str(self.pattern))

    def fresh(self) -> str:
        self.count += 1
        place = self.folder / str(self.count)
        shutil.copytree(self.pattern, place)
        return str(place)


def measured(runs: dict[str, Callable[[], float]]) -> dict[str, float]:
    """The least of several times of each run, taken in turn: what it takes where nothing disturbs it."""
    best = dict.fromkeys(runs, float("inf"))
    started = time.perf_counter()
    for turn in range(MOST_TURNS):
        for name, run in runs.items():
            best[name] = min(best[name], run())
        if turn + 1 >= LEAST_TURNS and time.perf_counter() - started > WORKLOAD_SECONDS:
            break
    return best


def rows() -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as folder:
        folders = Folders(folder)
        for name, verb, program, at, operations in WORKLOADS:
            lines = {engine: command(verb, program, at, engine) for engine in ("tape", "kernel", "auto")}
            kept, kept_by_auto = folders.fresh(), folders.fresh()
            seconds(lines["kernel"], kept)
            seconds(lines["kernel"], kept_by_auto)
            runs: dict[str, Callable[[], float]] = {
                "kernel, cold": lambda lines=lines: seconds(lines["kernel"], folders.fresh()),
                "auto, cold": lambda lines=lines: seconds(lines["auto"], folders.fresh()),
                "kernel, warm": lambda lines=lines, kept=kept: seconds(lines["kernel"], kept),
                "auto, warm": lambda lines=lines, kept=kept_by_auto: seconds(lines["auto"], kept),
            }
            if operations * TAPE_SECONDS < LONGEST_TAPE:
                runs["tape"] = lambda lines=lines, kept=kept: seconds(lines["tape"], kept)
            best = measured(runs)
            by_tape = best.get("tape", float("inf"))
            for when in ("cold", "warm"):
                kernel = best[f"kernel, {when}"]
                better = "tape" if by_tape <= kernel else "kernel"
                yield Row(
                    f"{name}, {when}",
                    f"the {better}",
                    best[f"auto, {when}"] * 1e3,
                    min(by_tape, kernel) * 1e3,
                    "ms",
                    LIMIT,
                )
