"""`adiff cache` shows, sizes and clears what is kept, and `adiff tape --emit` shows what is compiled."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from .conftest import Completed

Answer = Callable[..., str]


# Of others, one of which is called after a kernel.
OTHERS = ["grammar-school.txt", "kernel-5.15.tar", f"kernel-{'0a' * 16}.txt", "kernel-panic", "letters.txt"]


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    """A folder with files of ours, one of which somebody left half written, and of others."""
    folder = tmp_path / "kept"
    folder.mkdir()
    kernel, grammar = f"kernel-{'0a' * 16}", "grammar-1-cpython-312-30c07f0-6abf753234bde147bae1064e250d806"
    for name, size in ((kernel, 100), (f"{kernel}.17.0123cdef", 50), (grammar, 3000), *((name, 7) for name in OTHERS)):
        (folder / name).write_bytes(bytes(size))
    return folder


def test_shows_and_sizes(answer: Answer, kept: Path) -> None:
    shown = answer("cache", ADIFF_CACHE_DIR=str(kept))
    assert shown.splitlines() == [f"folder\t{kept}", "kernels\t2 files, 150 B", "grammar\t1 file, 2.93 KiB"]
    found = json.loads(answer("cache", "--json", ADIFF_CACHE_DIR=str(kept)))
    assert found["folder"] == str(kept)
    assert found["kept"] == {"kernels": {"files": 2, "bytes": 150}, "grammar": {"files": 1, "bytes": 3000}}
    assert len(list(kept.iterdir())) == 3 + len(OTHERS)


def test_clears_what_is_ours_and_nothing_else(answer: Answer, kept: Path) -> None:
    shown = answer("cache", "--clear", ADIFF_CACHE_DIR=str(kept))
    assert shown.splitlines()[1:] == ["kernels\t2 files, 150 B, removed", "grammar\t1 file, 2.93 KiB, removed"]
    assert sorted(path.name for path in kept.iterdir()) == sorted(OTHERS)
    assert "kernels\t0 files, 0 B" in answer("cache", ADIFF_CACHE_DIR=str(kept))


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
def test_a_folder_that_anybody_may_write_to_is_not_used(answer: Answer, tmp_path: Path) -> None:
    folder = tmp_path / "shared"
    folder.mkdir()
    program = "y = x\nfor i in range(n):\n    y = y * 0.5 + a\ny"
    run = ("grad", program, "--at", "x=1,a=2,n=10", "--wrt", "x,a", "--engine", "kernel")
    folder.chmod(0o777)
    shown = answer(*run, ADIFF_CACHE_DIR=str(folder))
    assert list(folder.iterdir()) == []
    told = json.loads(answer("cache", "--json", ADIFF_CACHE_DIR=str(folder)))
    assert told["problem"] == "everybody may write to it, so that nothing in it is used: chmod 700 makes it yours"
    assert f"problem\t{told['problem']}" in answer("cache", ADIFF_CACHE_DIR=str(folder))
    folder.chmod(0o700)
    assert answer(*run, ADIFF_CACHE_DIR=str(folder)) == shown
    names = {path.name.split("-")[0] for path in folder.iterdir()}
    assert names == {"kernel", "grammar"}
    assert json.loads(answer("cache", "--json", ADIFF_CACHE_DIR=str(folder)))["problem"] is None


def test_a_folder_that_cannot_be_used_is_reported(answer: Answer, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    for place, problem in (
        ("file", "it is no folder"),
        ("file/below", "it cannot be made"),
        (os.devnull, "it is no folder"),
        ("new", None),
        ("new/er", None),
    ):
        found = json.loads(answer("cache", "--json", ADIFF_CACHE_DIR=str(tmp_path / place)))
        assert found["problem"] == problem, place
    assert "problem\tit is no folder" in answer("cache", ADIFF_CACHE_DIR=str(tmp_path / "file"))


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
