"""What ends a command before its work is done: a time limit that nobody hears, and Ctrl-C in an awkward place."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from adiff.cli import main
from adiff.cli.environment import Environment

Completed = subprocess.CompletedProcess[str]
# One call of LAPACK, ten seconds and more, in which the interpreter hears no signal.
DEAF = "sum(abs(eigvals(reshape(sin(arange(2200.0**2)), (2200, 2200)))))"


@pytest.mark.parametrize("form", ["plain", "json"])
def test_one_long_operation_is_ended(adiff: Callable[..., Completed], folder: Path, form: str) -> None:
    start = time.monotonic()
    done = adiff("value", DEAF, "--timeout", "0.2", "--format", form, "-o", str(folder / "out.txt"))
    assert time.monotonic() - start < 8
    assert (done.returncode, done.stdout) == (1, "")
    assert "E0603" in done.stderr
    assert "the time limit of 0.2 s is over" in done.stderr
    if form == "json":
        assert json.loads(done.stderr)["error"]["kind"] == "limit"
    assert not [path for path in folder.iterdir() if path.name.startswith((".adiff", "out"))]


@pytest.mark.parametrize("form", ["csv", "plain", "json"])
def test_an_answer_that_takes_long_to_write_is_ended(adiff: Callable[..., Completed], folder: Path, form: str) -> None:
    """The evaluation itself takes milliseconds."""
    done = adiff("value", "ones((4000, 4000))", "--timeout", "1", "--format", form, "-o", str(folder / "out.txt"))
    assert (done.returncode, done.stdout) == (1, "")
    assert "the time limit of 1 s is over" in done.stderr
    assert not [path for path in folder.iterdir() if path.name.startswith((".adiff", "out"))]


def test_a_line_of_a_batch_that_takes_long_to_write_is_ended_alone(
    adiff: Callable[..., Completed], folder: Path
) -> None:
    (folder / "long.txt").write_text('value "ones((4000, 4000))" --timeout 1\nvalue 1+1 --timeout 100\n')
    for form in ("ndjson", "csv"):
        done = adiff("batch", "long.txt", "--format", form)
        assert done.returncode == 1
        first, *_, last = done.stdout.splitlines()[form == "csv" :]
        assert "the time limit of 1 s is over" in first
        assert last.startswith(
            '{"schema": 1, "line": 2, "command": "value", "value": 2' if form == "ndjson" else "2,,value,2,"
        )


def test_the_alarm_that_is_heard_has_a_place(adiff: Callable[..., Completed]) -> None:
    done = adiff("value", "while True: pass", "--timeout", "0.2")
    assert done.returncode == 1
    assert "<expr>:1:" in done.stderr


def test_an_interrupt_that_another_error_hides(monkeypatch: pytest.MonkeyPatch) -> None:
    """NumPy, interrupted while it is imported, raises an ImportError of its own."""

    def fail(*given: object) -> int:
        try:
            raise KeyboardInterrupt
        except KeyboardInterrupt as cause:
            raise ImportError("Error importing numpy") from cause

    monkeypatch.setattr(main, "execute", fail)
    assert main.run(["value", "1"], Environment(None, None, None, {})) == 130


IMPORTING = """
import adiff.cli.interrupts, os, signal, sys
{before}
class Struck:
    def find_spec(name, path=None, target=None):
        if name == {name!r}:
            try:
                os.kill(os.getpid(), signal.SIGINT)
            except {caught}:
                raise ImportError("once more than once") from None
sys.meta_path.insert(0, Struck)
adiff.cli.interrupts.main()
"""


@pytest.mark.parametrize(
    ("before", "name", "caught"),
    [
        ("", "adiff.cli.decode", "ImportError"),
        ("import adiff.cli.main", "numpy", "ImportError"),
        ("import adiff.cli.main", "numpy", "KeyboardInterrupt"),
    ],
)
@pytest.mark.parametrize("tokens", [["value", "ones(3)"], ["batch", "-"]])
@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_an_interrupt_while_something_is_imported(before: str, name: str, caught: str, tokens: list[str]) -> None:
    """A module that is imported again says something else of it, and hides it."""
    code = IMPORTING.format(before=before, name=name, caught=caught)
    done = subprocess.run([sys.executable, "-c", code, *tokens], input=b"value ones(3)\n", capture_output=True)
    assert (done.returncode, done.stdout, done.stderr) == (130, b"", b"")
