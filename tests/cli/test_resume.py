"""`batch -o` and `batch --resume`: what an interrupted run has left, and how the next one goes on."""

import json
import resource
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from .conftest import COMMAND, Completed

QUICK = ["# first", *(f"grad x**2 --at x={number}" for number in range(8)), "", "value (", "check x**2 --at x=3"]
LINES = "\n".join([*QUICK, "value -f slow.adiff", "value 1/3", '{"command": "value", "expr": "2", "id": null}\n'])
COUNTS = "13 lines: 12 answered, 1 failed\n"


@pytest.fixture
def whole(folder: Path, adiff: Callable[..., Completed]) -> bytes:
    """What the batch comes to that nothing interrupts."""
    (folder / "b.txt").write_text(LINES)
    (folder / "slow.adiff").write_text("7")
    done = adiff("batch", "b.txt", "-o", "whole.ndjson")
    assert (done.returncode, done.stderr) == (1, COUNTS)
    return (folder / "whole.ndjson").read_bytes()


def check_resumed(folder: Path, adiff: Callable[..., Completed], whole: bytes, *options: str) -> None:
    done = adiff("batch", "b.txt", "--resume", "out.ndjson", *options)
    assert (done.returncode, done.stdout, done.stderr) == (1, "", COUNTS)
    assert (folder / "out.ndjson").read_bytes() == whole


@pytest.mark.parametrize("jobs", ["1", "2"])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL], ids=str)
def test_a_run_that_a_signal_ends(
    folder: Path, adiff: Callable[..., Completed], whole: bytes, number: int, jobs: str
) -> None:
    (folder / "slow.adiff").write_text("while True:\n    pass\n")
    command = [*COMMAND, "batch", "b.txt", "-o", "out.ndjson", "--jobs", jobs]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, cwd=folder)
    out = folder / "out.ndjson"
    while not out.exists() or len(out.read_bytes().splitlines()) < 10:
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(number)
    _, said = process.communicate(timeout=60)
    assert whole.startswith(out.read_bytes())
    if number != signal.SIGKILL:
        assert process.returncode == 128 + number
        assert said == f"{out} holds the whole records; to go on: adiff batch b.txt --resume {out}\n"
    (folder / "slow.adiff").write_text("7")
    check_resumed(folder, adiff, whole, "--jobs", jobs)


def test_a_disk_that_is_full(folder: Path, adiff: Callable[..., Completed], whole: bytes) -> None:
    room = whole.index(b'"line": 5') + 30
    done = subprocess.run(
        [*COMMAND, "batch", "b.txt", "-o", "out.ndjson"], capture_output=True, text=True, cwd=folder,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (room, room)),
    )  # fmt: skip
    assert done.returncode == 4
    assert "out.ndjson: file too large" in done.stderr
    assert [json.loads(line)["line"] for line in (folder / "out.ndjson").read_text().splitlines()] == [2, 3, 4]
    check_resumed(folder, adiff, whole)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("my notes", "is no record of a batch"),
        ("my notes\n", "is no record of a batch"),
        ('{"schema": 1, "line": 2, "comm\n{"schema": 1, "line": 3}\n', "is no record of a batch"),
        ('{"schema": 1, "line": 3, "command": "grad"}\n', "line 3 of b.txt is not the one of this record"),
        ('{"schema": 1, "line": 2, "command": "value"}\n', "line 2 of b.txt is not the one of this record"),
        (
            '{"schema": 1, "line": 2, "crc32": "0", "command": "grad"}\n',
            "line 2 of b.txt is not the one of this record",
        ),
    ],
)
def test_another_file_stays_as_it_is(
    folder: Path, adiff: Callable[..., Completed], whole: bytes, content: str, message: str
) -> None:
    (folder / "out.ndjson").write_text(content)
    done = adiff("batch", "b.txt", "--resume", "out.ndjson")
    assert (done.returncode, done.stdout) == (4, "")
    assert f"out.ndjson:1: {message}" in done.stderr
    assert (folder / "out.ndjson").read_text() == content


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("-", "--resume", "out"), "--resume needs a file of lines"),
        (("b.txt", "--resume", "out", "--csv"), "--resume goes on with ndjson"),
        (("b.txt", "--resume", "out", "-o", "other"), "two files to write to"),
    ],
)
def test_misuse(folder: Path, adiff: Callable[..., Completed], arguments: tuple[str, ...], message: str) -> None:
    done = adiff("batch", *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr
    assert not (folder / "out").exists()


def test_a_cut_at_any_byte(folder: Path, adiff: Callable[..., Completed], whole: bytes) -> None:
    second = whole.index(b"\n") + 1
    for cut in (0, 1, 20, 30, second - 1, second, second + 1, len(whole) // 2, len(whole) - 1, len(whole)):
        (folder / "out.ndjson").write_bytes(whole[:cut])
        check_resumed(folder, adiff, whole, "--jobs", "12"[cut % 2])
    (folder / "out.ndjson").unlink()
    check_resumed(folder, adiff, whole)
