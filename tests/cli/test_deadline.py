"""What ends a command before its work is done: a time limit that nobody hears, and Ctrl-C in an awkward place."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from .conftest import Completed

# One call of LAPACK, ten seconds and more, in which the interpreter hears no signal.
DEAF = "sum(abs(eigvals(reshape(sin(arange(2200.0**2)), (2200, 2200)))))"


@pytest.mark.parametrize("form", ["plain", "json"])
def test_one_long_operation_is_ended(adiff: Callable[..., Completed], folder: Path, form: str) -> None:
    done = adiff("value", DEAF, "--timeout", "0.2", "--format", form, "-o", str(folder / "out.txt"))
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
