"""`batch --jobs`: what one process answers, answered by several, and what becomes of these."""

import json
import os
import select
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from .conftest import COMMAND, Completed

ENDLESS = '{"command": "value", "expr": "while True: pass", "id": "endless"}\n'
pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are forked")


MIXED = (
    """\
# the first is the slowest
value "sum(matmul(ones((400, 400)), ones((400, 400))))"

grad "abs(x)" --at x=0
{"command": "grad", "expr": "x**3", "at": {"x": 2}, "id": "a"}
{"command": "grad", "expr": "2x", "at": {"x": 2}, "id": [1]}
value "'caf\\u00e9 \\ud800'"
gard x
value "ones((10**5, 10**5))" --max-memory 10M
"""
    + "".join(f"hessian x**2*y --at x={number},y=1.5\n" for number in range(150))
    + "value 3"
)


@contextmanager
def batch(folder: Path, *options: str, jobs: int = 2) -> Iterator[subprocess.Popen[bytes]]:
    """A batch of standard input in so many processes."""
    process = subprocess.Popen(
        [*COMMAND, "batch", "-", "--jobs", str(jobs), *options],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=folder,
    )  # fmt: skip
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def ask(process: subprocess.Popen[bytes], text: str) -> None:
    assert process.stdin is not None
    process.stdin.write(text.encode())
    process.stdin.flush()


def answer(process: subprocess.Popen[bytes]) -> dict[str, Any]:
    assert process.stdout is not None
    found: dict[str, Any] = json.loads(process.stdout.readline())
    return found


def workers(process: subprocess.Popen[bytes], at_least: int = 1) -> list[int]:
    """The processes that answer lines, as soon as there are so many."""
    path = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    while len(found := path.read_text().split()) < at_least:
        time.sleep(0.01)
    return [int(number) for number in found]


def strike(process: subprocess.Popen[bytes], number: int) -> dict[str, Any]:
    """What is answered once the process at a line has got a signal; before that it may be idle, and another takes its place."""
    while not select.select([process.stdout], [], [], 0.05)[0]:
        for worker in workers(process, 0):
            with suppress(ProcessLookupError):
                os.kill(worker, number)
    return answer(process)


def are_gone(numbers: list[int]) -> bool:
    """Whether these processes end, soon: all their threads, of which the last closes what the process had open."""
    until = time.monotonic() + 10
    while any(state(number) != "Z" or threads(number) > 1 for number in numbers):
        if time.monotonic() > until:
            return False
        time.sleep(0.01)
    return True


def threads(number: int) -> int:
    try:
        return len(os.listdir(f"/proc/{number}/task"))
    except OSError:
        return 0


def state(number: int) -> str:
    try:
        return Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return "Z"


CHILDREN = Path(f"/proc/self/task/{os.getpid()}/children")
ON_LINUX = pytest.mark.skipif(not CHILDREN.exists(), reason="processes are found in /proc")


@pytest.mark.parametrize("form", ["ndjson", "json", "plain", "table", "csv"])
def test_answers_are_those_of_one_process_in_order(adiff: Callable[..., Completed], folder: Path, form: str) -> None:
    (folder / "mixed.txt").write_text(MIXED)
    one, several = (adiff("batch", "mixed.txt", "--format", form, "--jobs", jobs) for jobs in ("1", "3"))
    assert several.stdout == one.stdout
    assert several.stderr == one.stderr
    assert several.returncode == one.returncode == 1
    assert ("line 4: <expr>:1:1: notice[N0501]" in several.stderr) == (form not in ("ndjson", "json"))
    assert several.stderr.endswith("158 lines: 155 answered, 3 failed\n")
    if form == "ndjson":
        found = [json.loads(line) for line in several.stdout.splitlines()]
        assert [record["line"] for record in found] == [2, *range(4, 161)]
        assert [record.get("id") for record in found[:4]] == [None, None, "a", [1]]


def test_a_file_and_what_is_said_beside_it(adiff: Callable[..., Completed], folder: Path) -> None:
    (folder / "quick.txt").write_text("value 1+1\n" * 20)
    done = adiff("batch", "quick.txt", "--jobs", "2", "-v", "-o", "out.txt", PYTHONWARNINGS="error")
    assert (done.returncode, done.stdout) == (0, "")
    assert "Warning" not in done.stderr
    told = [line.partition(":")[0] for line in done.stderr.splitlines() if "engine: " in line]
    assert told == [f"line {number}" for number in range(1, 21)]
    assert len((folder / "out.txt").read_text().splitlines()) == 20


def test_fail_fast_shows_nothing_behind_the_failure(adiff: Callable[..., Completed]) -> None:
    lines = 'value "while True: pass" --timeout 0.3\nvalue 2\nvalue (\n'
    done = adiff("batch", "-", "--jobs", "2", "--fail-fast", stdin=lines)
    assert [json.loads(line)["line"] for line in done.stdout.splitlines()] == [1]
    assert (done.returncode, done.stderr) == (1, "1 line: 0 answered, 1 failed\n")


@pytest.mark.parametrize("number", ["0", "-1", "1.5", "1000", "two"])
def test_numbers_of_processes_that_mean_nothing(adiff: Callable[..., Completed], number: str) -> None:
    done = adiff("batch", "lines.txt", "--jobs", number)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"error[E0812]: --jobs: {number!r} is not a number of processes from 1 to 256\n"


def test_a_coprocess_is_answered_line_by_line(folder: Path) -> None:
    with batch(folder) as process:
        for number in range(1, 4):
            ask(process, f"grad x**2 --at x={number}\n")
            assert answer(process)["gradients"] == {"x": 2.0 * number}
        ask(process, "value 1\nvalue 2")
        out, error = process.communicate(timeout=30)
    assert [json.loads(line)["value"] for line in out.splitlines()] == [1, 2]
    assert (process.returncode, error) == (0, b"5 lines: 5 answered, 0 failed\n")


@ON_LINUX
def test_a_line_whose_process_is_killed_has_an_error_and_the_others_an_answer(folder: Path) -> None:
    with batch(folder) as process:
        ask(process, ENDLESS + "value 1+1\nvalue ones(2) --max-steps\n")
        first, _ = workers(process, 2)
        os.kill(first, signal.SIGTERM)  # which is not theirs to answer
        os.kill(first, signal.SIGKILL)
        record = answer(process)
        assert (record["line"], record["id"], record["command"]) == (1, "endless", "value")
        assert record["error"]["code"] == "E0611"
        assert record["error"]["message"] == "the process that answered this line was ended by SIGKILL"
        assert answer(process)["value"] == 2
        assert answer(process)["error"]["code"] == "E0811"
        idle = workers(process)
        for number in idle:
            os.kill(number, signal.SIGKILL)
        assert are_gone(idle)
        ask(process, "value 1+2\n")
        assert answer(process)["value"] == 3
        ask(process, ENDLESS)
        message = strike(process, signal.SIGSEGV)["error"]["message"]
        assert message.endswith("the process that answered this line was ended by SIGSEGV")
        process.communicate(timeout=30)
        assert process.returncode == 1


@ON_LINUX
def test_where_time_is_limited_a_process_answers_that_can_be_ended(folder: Path) -> None:
    with batch(folder, "--timeout", "60", jobs=1) as process:
        ask(process, "value 1+1\n")
        assert answer(process)["value"] == 2
        ask(process, ENDLESS)
        assert strike(process, signal.SIGKILL)["error"]["code"] == "E0611"
        ask(process, "value 3\n")
        assert answer(process)["value"] == 3


@ON_LINUX
@pytest.mark.parametrize(
    ("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGKILL, -9)], ids=str
)
def test_a_signal_ends_all_processes(folder: Path, number: int, status: int) -> None:
    with batch(folder, "-o", "out.txt") as process:
        ask(process, "value 1+1\n" + ENDLESS * 3)
        numbers = workers(process, 2)
        process.send_signal(number)
        assert process.wait(30) == status
        assert are_gone(numbers)
        assert process.stderr is not None
        assert process.stderr.read() == b""
    assert number == signal.SIGKILL or not [
        path for path in folder.iterdir() if path.name.startswith((".adiff", "out"))
    ]


@ON_LINUX
def test_a_closed_pipe_ends_silently(folder: Path) -> None:
    with batch(folder) as process:
        ask(process, "value 1+1\nvalue 2\n")
        assert answer(process)["value"] == 2
        numbers = workers(process)
        assert process.stdout is not None
        process.stdout.close()
        ask(process, "value 1+1\n" * 50)
        assert process.wait(30) == 0
        assert are_gone(numbers)
        assert process.stderr is not None
        assert process.stderr.read() == b""
        process.stdout = None


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_line_that_hears_no_alarm_ends_with_its_process(
    adiff: Callable[..., Completed], folder: Path, jobs: str
) -> None:
    deaf = 'value "sum(abs(eigvals(reshape(sin(arange(2200.0**2)), (2200, 2200)))))"\n'
    (folder / "deaf.txt").write_text("value ones(2)\n" + deaf + "value 1\nvalue 2\n")
    done = adiff("batch", "deaf.txt", "--jobs", jobs, "--timeout", "0.3")
    first, second, *rest = (json.loads(line) for line in done.stdout.splitlines())
    assert first["value"] == [1, 1]
    assert (second["command"], second["error"]["code"]) == ("value", "E0603")
    assert [record["value"] for record in rest] == [1, 2]
