"""What ends a command before its work is done: a time limit that nobody hears, and Ctrl-C in an awkward place."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from .conftest import COMMAND, Completed

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
def test_an_answer_that_takes_long_to_write_is_ended(form: str) -> None:
    """The evaluation itself takes milliseconds, and nobody reads what is written."""
    asked = ["value", "ones((1000, 1000))", "--timeout", "0.2", "--format", form]
    with subprocess.Popen([*COMMAND, *asked], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.wait(timeout=100) == 1
        assert process.stderr is not None
        assert "the time limit of 0.2 s is over" in process.stderr.read()


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
