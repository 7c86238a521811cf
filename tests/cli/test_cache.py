"""Where kernels and the table of the grammar are kept, and `adiff tape --emit`, which shows what is compiled."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from .conftest import Completed

Answer = Callable[..., str]


def problem(adiff: Callable[..., Completed], folder: Path) -> str:
    """What `-v` says of a folder in which nothing is kept."""
    said = adiff("value", "1", "-v", ADIFF_CACHE_DIR=str(folder)).stderr
    return said.partition(f"cache: nothing is kept in {folder}: ")[2].strip()


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
def test_a_folder_that_anybody_may_write_to_is_not_used(
    answer: Answer, adiff: Callable[..., Completed], tmp_path: Path
) -> None:
    folder = tmp_path / "shared"
    folder.mkdir()
    program = "y = x\nfor i in range(n):\n    y = y * 0.5 + a\ny"
    run = ("grad", program, "--at", "x=1,a=2,n=10", "--wrt", "x,a", "--engine", "kernel")
    folder.chmod(0o777)
    shown = answer(*run, ADIFF_CACHE_DIR=str(folder))
    assert list(folder.iterdir()) == []
    told = "everybody may write to it, so that nothing in it is used: chmod 700 makes it yours"
    assert problem(adiff, folder) == told
    folder.chmod(0o700)
    assert answer(*run, ADIFF_CACHE_DIR=str(folder)) == shown
    names = {path.name.split("-")[0] for path in folder.iterdir()}
    assert names == {"kernel", "grammar"}
    assert problem(adiff, folder) == ""


def test_a_folder_that_cannot_be_used_is_reported(adiff: Callable[..., Completed], tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    for place, said in (
        ("file", "it is no folder"),
        ("file/below", "not a directory"),
        ("new", ""),
        ("new/er", ""),
    ):
        assert problem(adiff, tmp_path / place) == said, place


def test_a_kernel_that_is_asked_for_and_cannot_be_is_said(adiff: Callable[..., Completed]) -> None:
    text = "len(str(x))"
    command = ("value", text, "--at", "x=2.5", "--engine", "kernel")
    told = adiff(*command).stderr
    assert told.startswith("<expr>:1:5: notice[N0804]: --engine kernel: the tape answered: no kernel for ")
    assert told.endswith(f"\n{text}\n    ^^^^^^\n")
    assert adiff(*command, "-q").stderr == ""
    done = adiff(*command, "--json")
    assert done.stderr == ""
    assert [(n["code"], n["span"]["column"]) for n in json.loads(done.stdout)["notices"]] == [("N0804", 5)]
    for other in (("value", text, "--at", "x=2.5", "--engine", "tape"), ("value", "x**2", *command[2:])):
        assert adiff(*other).stderr == ""


def test_emit_shows_the_kernel_and_runs_nothing(answer: Answer) -> None:
    program = "y = x\nfor i in range(n):\n    y = y * 0.5 + a\ny"
    shown = answer("tape", program, "--at", "x=1,a=2,n=10", "--wrt", "x,a", "--emit")
    assert shown.startswith("def kernel(run, ")
    assert "for " in shown
    compile(shown, "<kernel>", "exec")
    found = json.loads(answer("tape", program, "--at", "x=1,a=2,n=10", "--wrt", "x,a", "--emit", "--json"))
    assert found["kernel"] == shown


def test_a_kernel_that_was_kept_is_loaded(adiff: Callable[..., Completed], tmp_path: Path) -> None:
    command = ("grad", "y = x\nfor i in range(9):\n    y = sin(y)\ny", "--at", "x=1", "--engine", "kernel", "-v")
    first, second = (adiff(*command, ADIFF_CACHE_DIR=str(tmp_path / "kept")).stderr for _ in range(2))
    assert [("compile " in told, "load " in told) for told in (first, second)] == [(True, False), (False, True)]


def test_a_batch_says_which_engine_ran(adiff: Callable[..., Completed], folder: Path) -> None:
    (folder / "some.txt").write_text("value 1+1\ngrad x**2 --at x=2 --engine kernel\nvalue 1 +\n")
    told = adiff("batch", "some.txt", "-v").stderr
    assert "line 1: engine: tape (" in told
    assert "line 2: engine: kernel (asked for)\n" in told
    assert told.count("timings: ") == 2
    assert "engine" not in adiff("batch", "some.txt").stderr
    (folder / "one.txt").write_text("value 1+1\ngrad x**2 --at x=2 --engine tape -v\n")
    told = adiff("batch", "one.txt").stderr
    assert "line 2: engine: tape (asked for)\n" in told
    assert "line 1" not in told
