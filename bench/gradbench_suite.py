"""GradBench's own evals against adiff and the suite's tools `manual` (C++, by hand), `jax` and `pytorch`.

    GRADBENCH=<a copy of github.com/gradbench/gradbench> python bench/gradbench_suite.py [EVAL ...] [--full] [--json FILE]

This is the intermediary of the suite's protocol: it starts an eval and a tool and hands each one's lines to the other.
Whether an answer is right is for the eval to say. Before a first run: `make -C tools/manual` in the copy.

GRADBENCH_PYTHON is the Python of the evals (numpy, scipy, pydantic, dataclasses-json), PEER_PYTHON that of jax and torch;
without them this one is used. `--full` takes the suite's sizes in place of a few. Times are the least of several, of one
thread; adiff and the C++ are asked in turn, `--rounds` times. A tool that has not answered all that an eval asks by
its limit is stopped, and what it has answered counts: evals go from small sizes to large ones.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from harness import Row

HERE = Path(__file__).parent

# The functions that take derivatives, and a few of the suite's sizes for each eval.
DERIVATIVES = frozenset(("double", "gradient", "jacobian", "dir", "rr", "rf", "fr", "ff"))
SIZES: dict[str, list[str]] = {
    "hello": [],
    "ba": ["--max", "3"],
    "det": ["-l", "5", "7", "9"],
    "gmm": ["-d", "2", "10", "32", "-k", "5", "25"],
    "ht": ["--max", "3", "--model", "small"],
    "kmeans": ["-k", "10", "100", "-n", "1000", "10000", "-d", "8"],
    "llsq": ["-n", "16", "256", "4096"],
    "lse": ["-n", "2500", "40000", "640000"],
    "lstm": ["-l", "2", "4", "-c", "1024"],
    "ode": ["-n", "1000", "10000", "-s", "1", "10", "100"],
    "particle": [],
    "saddle": [],
}
MANUAL_LIMIT, PEER_LIMIT = 1.5, 1.0
# Seconds for an eval and a tool at the suite's own sizes: adiff compiles for each, and is to answer all.
FULL_LIMITS = {"adiff": 420.0, "manual": 50.0, "jax": 25.0, "pytorch": 25.0}
# The C++ tool has a closed form in the place of the derivative: there is nothing to compare with.
CLOSED_FORM = frozenset(("ode",))
ONE_THREAD = {
    "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1", "ADIFF_THREADS": "1",
    "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1",
}  # fmt: skip


# JAX computes in single precision unless it is told otherwise: the suite's tool tells it so for four of its evals, and
# not for `ode`. All tools compute in double precision here.
DOUBLE = {"JAX_ENABLE_X64": "1"}


class Answer:
    """One evaluation of a session. `nanoseconds` is the least of its runs; `valid` is what the eval said, or None."""

    def __init__(self, function: str, description: str, answer: dict[str, Any]) -> None:
        self.function = function
        self.description = description
        self.valid: bool | None = None
        self.error: str = answer.get("error") or ""
        times = [t["nanoseconds"] for t in answer.get("timings") or [] if t["name"] == "evaluate"]
        self.nanoseconds: int | None = min(times) if times else None
        self.engine: dict[str, str] = answer.get("engine") or {}

    @property
    def key(self) -> tuple[str, str]:
        return self.function, self.description


def copy_of_suite() -> Path:
    return Path(os.environ["GRADBENCH"]).resolve()


def eval_command(name: str, sizes: Sequence[str], seconds: float) -> list[str]:
    suite = copy_of_suite()
    runs = [] if name == "hello" else ["--min-runs", "1", "--min-seconds", str(seconds)]
    program = suite / "python" / "gradbench" / "gradbench" / "evals" / name / "run.py"
    return [os.environ.get("GRADBENCH_PYTHON", sys.executable), str(program), *sizes, *runs]


def tool_command(tool: str, engine: str) -> list[str]:
    suite = copy_of_suite()
    if tool == "adiff":
        return [sys.executable, str(HERE / "gradbench_tool.py"), "--engine", engine]
    peer = os.environ.get("PEER_PYTHON", sys.executable)
    tools = suite / "python" / "gradbench" / "gradbench"
    if tool == "manual":
        return [os.environ.get("GRADBENCH_PYTHON", sys.executable), str(tools / "cpp.py"), "manual"]
    return [peer, str(HERE / "gradbench_peer.py"), str(tools / "tools" / tool / "run.py")]


def session(
    name: str, tool: str, sizes: Sequence[str], seconds: float, engine: str = "kernel", limit: float = math.inf
) -> list[Answer]:
    """Let an eval question a tool for at most `limit` seconds; its answers, none if the tool does not know the module."""
    suite = copy_of_suite()
    environment = {**os.environ, **ONE_THREAD, **DOUBLE, "PYTHONPATH": str(suite / "python" / "gradbench")}

    def start(command: list[str]) -> subprocess.Popen[str]:
        pipe = subprocess.PIPE
        return subprocess.Popen(
            command, stdin=pipe, stdout=pipe, text=True, cwd=suite, env=environment, start_new_session=True
        )

    asking, answering = start(eval_command(name, sizes, seconds)), start(tool_command(tool, engine))
    found: dict[int, Answer] = {}
    watch = threading.Timer(min(limit, threading.TIMEOUT_MAX), lambda: (end(asking), end(answering)))
    watch.start()
    try:
        converse(asking, answering, found)
    except BrokenPipeError:
        pass  # one of them has ended
    finally:
        watch.cancel()
        for process in (asking, answering):
            assert process.stdin
            try:
                process.stdin.close()
            except BrokenPipeError:
                pass
            if process is asking and answering.poll() is not None:
                end(process)
            process.wait(60)
    return list(found.values())


def end(process: subprocess.Popen[str]) -> None:
    """End a process with those that it has started: the suite runs its C++ in processes of their own."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)


def converse(asking: subprocess.Popen[str], answering: subprocess.Popen[str], found: dict[int, Answer]) -> None:
    """Hand the lines of an eval to a tool, and back; note the answers."""
    assert asking.stdin
    assert asking.stdout
    assert answering.stdin
    assert answering.stdout
    for line in asking.stdout:
        if not line.endswith("\n"):
            break  # stopped
        message = json.loads(line)
        answering.stdin.write(line)
        answering.stdin.flush()
        reply = answering.stdout.readline()
        if not reply.endswith("\n"):
            break
        if message["kind"] == "evaluate":
            description = message.get("description") or str(message["id"])
            found[message["id"]] = Answer(message["function"], description, json.loads(reply))
        elif message["kind"] == "analysis":
            found[message["of"]].valid = message["valid"]
            found[message["of"]].error = message.get("error") or ""
        asking.stdin.write(reply)
        asking.stdin.flush()


def least(answers: list[Answer], again: list[Answer]) -> None:
    """Let answers have the least times of theirs and those of another session."""
    others = {answer.key: answer.nanoseconds for answer in again}
    for answer in answers:
        times = [n for n in (answer.nanoseconds, others.get(answer.key)) if n is not None]
        answer.nanoseconds = min(times, default=None)


def tools_for(name: str) -> list[str]:
    """The peers that list the eval among theirs and answer it."""
    found = []
    for tool in ("manual", "jax", "pytorch"):
        evals = (copy_of_suite() / "tools" / tool / "evals.txt").read_text(encoding="utf-8").splitlines()
        if any(line.split() == [name] for line in evals):
            found.append(tool)
    return found


def measure(
    name: str, full: bool, seconds: float, engine: str, limit: float = 1.0, rounds: int = 1
) -> tuple[list[Row], list[Answer]]:
    """Ratios of adiff's times of derivatives to every peer's, by size; and adiff's answers."""
    sizes = [] if full else SIZES[name]
    tools = tools_for(name)
    ours: list[Answer] = []
    peers: dict[str, list[Answer]] = {}
    for turn in range(rounds):
        for tool in ("adiff", *tools):
            known = ours if tool == "adiff" else peers.setdefault(tool, [])
            most = FULL_LIMITS[tool] * limit if full else math.inf
            if turn == 0:
                known += session(name, tool, sizes, seconds, engine, most)
            elif tool in ("adiff", "manual"):
                least(known, session(name, tool, sizes, seconds, engine, most))
    rows: list[Row] = []
    for tool in tools:
        bound = MANUAL_LIMIT if tool == "manual" else PEER_LIMIT
        if name == "hello" or (tool == "manual" and name in CLOSED_FORM):
            bound = None
        theirs = {answer.key: answer for answer in peers[tool]}
        for answer in ours:
            peer = theirs.get(answer.key)
            if answer.function not in DERIVATIVES or peer is None or not answer.nanoseconds or not peer.nanoseconds:
                continue
            label = f"gradbench {name} {answer.function} {answer.description}"
            rows.append(Row(label, tool, answer.nanoseconds / 1e3, peer.nanoseconds / 1e3, "us", bound))
    return rows, ours


def summary(rows: Sequence[Row]) -> list[str]:
    """A line for each peer of an eval: how many sizes, the ratios' geometric mean, the greatest, and the limits missed."""
    found = []
    for peer in dict.fromkeys(row.peer for row in rows):
        ratios = [row.ratio for row in rows if row.peer == peer]
        missed = sum(row.verdict == "MISSED" for row in rows if row.peer == peer)
        mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
        found.append(
            f"  {peer:<8} {len(ratios):>3} sizes  mean {mean:>7.3g}  greatest {max(ratios):>7.3g}  missed {missed}"
        )
    return found


def rows() -> list[Row]:
    """For `bench/run.py`: nothing without a copy of the suite."""
    if "GRADBENCH" not in os.environ:
        return []
    return [row for name in SIZES for row in measure(name, False, 0.2, "kernel")[0]]


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("evals", nargs="*", metavar="EVAL", help=", ".join(SIZES))
    parser.add_argument("--full", action="store_true", help="the suite's own sizes")
    parser.add_argument("--seconds", type=float, default=0.1, help="the least time of a measurement")
    parser.add_argument("--limit", type=float, default=1.0, help="the factor of all limits of time")
    parser.add_argument("--rounds", type=int, default=1, help="how often adiff and the C++ are asked")
    parser.add_argument("--engine", choices=("auto", "tape", "kernel"), default="kernel")
    parser.add_argument("--valid-only", action="store_true", help="no peers: only whether adiff's answers are valid")
    parser.add_argument("--json", type=Path, metavar="FILE")
    given = parser.parse_args(arguments)
    invalid = 0
    report: dict[str, Any] = {}
    lines: list[str] = []
    for name in given.evals or SIZES:
        start = time.perf_counter()
        if given.valid_only:
            sizes = [] if given.full else SIZES[name]
            ratios, ours = [], session(name, "adiff", sizes, given.seconds, given.engine)
        else:
            ratios, ours = measure(name, given.full, given.seconds, given.engine, given.limit, given.rounds)
        valid = sum(answer.valid is True for answer in ours)
        invalid += len(ours) - valid + (not ours)
        engines = sorted({engine for answer in ours for engine in answer.engine.values()})
        lines.append(
            f"{name}: {valid} of {len(ours)} answers valid ({', '.join(engines)}), {time.perf_counter() - start:.0f} s"
        )
        print(lines[-1], flush=True)
        lines += summary(ratios)
        for answer in ours:
            if answer.valid is not True:
                print(f"  {answer.function} {answer.description}: {answer.error.strip()[-300:]}", flush=True)
        for row in ratios:
            print(
                f"  {row.workload:<48} {row.ours:>12.1f} us  {row.peer:<8} {row.theirs:>12.1f} us  {row.ratio:>7.2f} {row.verdict}",
                flush=True,
            )
        report[name] = {
            "valid": valid,
            "answers": [
                {"function": a.function, "description": a.description, "valid": a.valid, "engine": a.engine,
                 "nanoseconds": a.nanoseconds} for a in ours
            ],
            "ratios": [row.record() for row in ratios],
        }  # fmt: skip
    print("\nRatios of our times to theirs:", *lines, sep="\n")
    if given.json is not None:
        given.json.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    return 1 if invalid else 0


if __name__ == "__main__":
    sys.exit(main())
