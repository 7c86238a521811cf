"""Timing for the benchmarks: ratios measured in one run, the sides in turn, medians quoted."""

from __future__ import annotations

import importlib.util
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence

# Rounds of functions before those that count.
WARMUP = 3


def available(module: str) -> bool:
    """Whether a peer is installed; peers are optional."""
    return importlib.util.find_spec(module) is not None


def best_of(run: Callable[[], object], repeats: int = 5, clock: Callable[[], float] = time.perf_counter) -> float:
    """The shortest of several timings in seconds: what the code costs when nothing disturbs it.

    With `time.thread_time` for a clock, that is of the processor, of what runs on one core: others' work, which a long
    run always meets and a short one may not, does not count.
    """
    times = []
    for _ in range(repeats):
        start = clock()
        run()
        times.append(clock() - start)
    return min(times)


def best_in_turn(
    runs: Sequence[Callable[[], object]], repeats: int, clock: Callable[[], float] = time.perf_counter
) -> list[float]:
    """`best_of` for each, run A B C A B C ... once they have been run a few times: what each costs where all are in use,
    each of them with the memory that the others have left."""
    times: list[list[float]] = [[] for _ in runs]
    for i in range(repeats + WARMUP):
        for run, found in zip(runs, times):
            start = clock()
            run()
            if i >= WARMUP:
                found.append(clock() - start)
    return [min(found) for found in times]


def in_turn(commands: Sequence[Sequence[str]], repeats: int = 11, warmup: int = 2) -> list[float]:
    """The median wall time in seconds of whole processes, run A B C A B C ... so that drift hits all alike."""
    samples: list[list[float]] = [[] for _ in commands]
    for i in range(repeats + warmup):
        for command, times in zip(commands, samples):
            start = time.perf_counter()
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            if i >= warmup:
                times.append(time.perf_counter() - start)
    return [statistics.median(times) for times in samples]


def python(code: str) -> list[str]:
    """The command that runs code in this interpreter."""
    return [sys.executable, "-c", code]


class Row:
    """One line of the report. `ratio` is ours over the peer's; `limit` is what `ratio` must not exceed, or None."""

    def __init__(
        self, workload: str, peer: str, ours: float, theirs: float, unit: str, limit: float | None = None
    ) -> None:
        self.workload = workload
        self.peer = peer
        self.ours = ours
        self.theirs = theirs
        self.unit = unit
        self.limit = limit

    @property
    def ratio(self) -> float:
        return self.ours / self.theirs

    @property
    def verdict(self) -> str:
        if self.limit is None:
            return ""
        return "met" if self.ratio <= self.limit else "MISSED"

    def record(self) -> dict[str, object]:
        return {
            "workload": self.workload, "peer": self.peer, "ours": self.ours, "theirs": self.theirs, "unit": self.unit,
            "ratio": self.ratio, "limit": self.limit, "verdict": self.verdict,
        }  # fmt: skip
