"""Choosing a tier: whole processes with `--engine auto` beside the better of tape and kernel, from 10 to 10^9 operations.

Cold is the first time that a program is seen: nothing of it is kept, and the tape goes on for as long as a kernel takes to be
compiled before it gives way, so that a run may take twice as long. Warm is every later time, with its kernel kept.
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

# How much longer than the better tier the choice may take: the first time, and once the kernel is kept.
LIMITS = {"cold": 2.2, "warm": 1.3}
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
# Loops and recursion that data end.
UNEVEN = "s = 0.0\nt = x\nwhile s < n:\n    s += 1.0 + t*t*0.001\n    t = t*0.999 + 0.1*cos(s)\ns + t"
COLLATZ = (
    "k = n\ns = x\nwhile k != 1:\n    if k % 2 == 0:\n        k = k // 2\n    else:\n        k = 3*k + 1\n"
    "    s = s*0.99 + 0.01*sin(s)\ns"
)
HALVES = (
    "def a(l, r, d):\n    m = (l+r)/2\n    if d > n:\n        return (r-l)*sin(m*x)\n"
    "    return a(l, m, d+1) + a(m, r, d+1)\na(0.0, 2.0, 0)"
)
FIBONACCI = "def f(k):\n    if k < 2:\n        return x\n    return f(k-1)*0.5 + f(k-2)*x\nf(n)"
COMPREHENSION = "sum([sin(x*i)/(1+i) for i in range(n)])"
INNER = "def f(u):\n    s = u\n    for i in range(n):\n        s = s*0.9 + sin(u)*0.1\n    return s\ngrad(f)(x)"
NEWTON = (
    "def f(u):\n    return u[0]**4 + u[0]*u[1] + (1+u[1])**2 + exp(u[0])\nu = stack([x, 0.5])\nfor k in range(n):\n"
    "    u = u - 0.1*solve(hessian(f)(u), grad(f)(u))\nsum(u)"
)
PARTICLES = (
    "p = linspace(-1, 1, 6)\nv = zeros(6)\nfor t in range(n):\n    f = zeros(6)\n    for i in range(6):\n"
    "        for j in range(6):\n            if i != j:\n                d = p[i] - p[j]\n"
    "                f[i] += x*d/(d*d + 0.1)**1.5\n    v = v + 0.01*f\n    p = p + 0.01*v\nsum(p*p)"
)
# A list that grows in a loop that data end, which kernels do not take.
GROWS = "a = []\nk = 0\nwhile k < n:\n    a.append(sin(x*k))\n    k = k + 1\ns = 0.0\nfor v in a:\n    s = s + v*v\ns"

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
    *((f"an uneven while of {n:,}", "grad", UNEVEN, {"x": "0.7", "n": str(n)}, 8.0 * n) for n in (100, 10_000, 100_000)),
    ("a chain of Collatz", "grad", COLLATZ, {"x": "0.7", "n": "837799"}, 3e3),
    *((f"halves, {n} deep", "grad", HALVES, {"x": "0.7", "n": str(n)}, 10 * 2.0**n) for n in (5, 9, 14)),
    *((f"fib {n}", "grad", FIBONACCI, {"x": "0.7", "n": str(n)}, 6 * 1.62**n) for n in (8, 22)),
    *((f"a comprehension of {n:,}", "grad", COMPREHENSION, {"x": "0.7", "n": str(n)}, 8.0 * n) for n in (100, 20_000)),
    *((f"an inner gradient of {n:,}", "grad", INNER, {"x": "0.7", "n": str(n)}, 20.0 * n) for n in (300, 100_000)),
    *((f"{n} steps with inner Hessians", "grad", NEWTON, {"x": "0.7", "n": str(n)}, 2e3 * n) for n in (2, 60)),
    *((f"{n} steps of particles", "grad", PARTICLES, {"x": "0.7", "n": str(n)}, 300.0 * n) for n in (3, 200)),
    *((f"a list that grows to {n:,}", "grad", GROWS, {"x": "0.3", "n": str(n)}, 10.0 * n) for n in (1_000, 200_000)),
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
            kept = folders.fresh()
            seconds(lines["kernel"], kept)
            runs: dict[str, Callable[[], float]] = {
                "kernel, cold": lambda lines=lines: seconds(lines["kernel"], folders.fresh()),
                "auto, cold": lambda lines=lines: seconds(lines["auto"], folders.fresh()),
                "kernel, warm": lambda lines=lines, kept=kept: seconds(lines["kernel"], kept),
                "auto, warm": lambda lines=lines, kept=kept: seconds(lines["auto"], kept),
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
                    LIMITS[when],
                )
