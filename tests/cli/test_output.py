"""Where results go: files that appear whole or not at all, pipes that close, devices that are full."""

import json
import os
import signal
import stat
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import numpy
import pytest
from pyarrow import feather, parquet

from .conftest import COMMAND, Completed


def test_output_to_a_file(adiff: Callable[..., Completed], folder: Path) -> None:
    done = adiff("grad", "x**2", "--at", "x=2", "-o", "out.txt")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert (folder / "out.txt").read_text() == "4.0\n"
    adiff("grad", "x**2", "--at", "x=2", "--json", "--output=out.txt")
    assert json.loads((folder / "out.txt").read_text())["gradients"] == {"x": 4.0}
    assert [path.name for path in folder.iterdir() if "tmp" in path.name] == []


def test_the_name_says_the_form(adiff: Callable[..., Completed], folder: Path) -> None:
    def written(name: str, *line: str) -> bytes:
        done = adiff(*line, "-o", name)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
        return (folder / name).read_bytes()

    line = "grad", "sum(x**2)*y", "--at", "x=[1,2],y=3"
    assert json.loads(written("g.json", *line))["gradients"] == {"x": [6, 12], "y": 5}
    assert written("g.csv", *line) == b"value,d_x.0,d_x.1,d_y\n15.0,6.0,12.0,5.0\n"
    assert written("g.ndjson", "batch", "lines.txt", "-q").count(b"\n") == 4
    assert written("t.svg", "tape", "sin(x)", "--at", "x=1", "--graph", "svg").startswith(b"<svg")
    assert written("d.c", "derive", "x**2").startswith(b"#include <math.h>")
    assert written("d.tex", "derive", "x**2") == b"% d/dx\n\\[ 2 x \\]\n"
    assert written("d.py", "derive", "x**2", "--format", "plain") == b"2*x\n"
    assert written("g.txt", *line, "--wrt", "y") == b"5.0\n"
    for name in ("g.parquet", "g.feather"):
        written(name, *line)
        table = parquet.read_table(folder / name) if name == "g.parquet" else feather.read_table(folder / name)
        assert table.to_pylist() == [{"value": 15.0, "d_x.0": 6.0, "d_x.1": 12.0, "d_y": 5.0}]
    written("g.npz", *line)
    assert {name: x.tolist() for name, x in numpy.load(folder / "g.npz").items()} == {
        "value": 15,
        "d_x": [6, 12],
        "d_y": 5,
    }
    written("g.npy", *line, "--wrt", "x")
    assert numpy.load(folder / "g.npy").tolist() == [6, 12]
    written("v.npy", "value", "eye(2)")
    assert numpy.load(folder / "v.npy").tolist() == [[1, 0], [0, 1]]
    for name, *refused in (
        ("g.npy", *line), ("g.xlsx", *line), ("g.npz", "value", "'text'"), ("g.npy", "batch", "lines.txt"),
        ("g.npy", "grad", "y + stop_gradient(x)", "--at", "x=1,y=1", "--wrt", "x"),
    ):  # fmt: skip
        done = adiff(*refused, "-o", name)
        assert (done.returncode, done.stdout) == (4, "")
        assert f"error[E0713]: {name}: " in done.stderr


def test_a_failure_leaves_the_file_as_it_was(adiff: Callable[..., Completed], folder: Path) -> None:
    (folder / "out.txt").write_text("before")
    assert adiff("grad", "x**2", "-o", "out.txt").returncode == 2
    assert adiff("grad", "x +", "-o", "new.txt").returncode == 3
    assert (folder / "out.txt").read_text() == "before"
    assert not (folder / "new.txt").exists()
    assert [path.name for path in folder.iterdir() if "tmp" in path.name] == []


def test_modes(adiff: Callable[..., Completed], folder: Path) -> None:
    mask = os.umask(0)
    os.umask(mask)
    (folder / "old.txt").write_text("")
    (folder / "old.txt").chmod(0o640)
    for name, mode in (("old.txt", 0o640), ("new.txt", 0o666 & ~mask)):
        assert adiff("value", "1", "-o", name).returncode == 0
        assert stat.S_IMODE((folder / name).stat().st_mode) == mode


def test_a_link_stays_a_link(adiff: Callable[..., Completed], folder: Path) -> None:
    (folder / "real.txt").write_text("")
    (folder / "link.txt").symlink_to("real.txt")
    assert adiff("value", "1", "-o", "link.txt").returncode == 0
    assert (folder / "link.txt").is_symlink()
    assert (folder / "real.txt").read_text() == "1\n"


def test_a_device_is_written_to(adiff: Callable[..., Completed]) -> None:
    assert adiff("value", "1", "-o", "/dev/null").returncode == 0
    assert adiff("value", "1", "-o", "/dev/stdout").stdout == "1\n"


@pytest.mark.parametrize("path", ["", ".", "no/such/folder/out", "rosenbrock.adiff/out", "x" * 300, "/dev/full"])
def test_places_that_cannot_be_written(adiff: Callable[..., Completed], path: str) -> None:
    done = adiff("value", "1", "-o", path)
    assert (done.returncode, done.stdout) == (4, "")
    assert done.stderr.startswith("error[E07")


@pytest.mark.parametrize("tokens", [["value", "1"], ["grad", "--help"]])
def test_a_full_device(folder: Path, tokens: list[str]) -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run([*COMMAND, *tokens], stdout=full, stderr=subprocess.PIPE, text=True, cwd=folder)
    assert done.returncode == 4
    assert "standard output: no space left" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_closed_standard_streams(folder: Path) -> None:
    script = f"{' '.join(COMMAND[:1])} -c '{COMMAND[2]}' value 1"
    done = subprocess.run(["bash", "-c", f"{script} >&-"], capture_output=True, text=True, cwd=folder)
    assert done.returncode == 4
    assert "standard output: is closed" in done.stderr
    done = subprocess.run(["bash", "-c", f"{script} 2>&-"], capture_output=True, text=True, cwd=folder)
    assert (done.returncode, done.stdout) == (0, "1\n")
    done = subprocess.run(["bash", "-c", f"{script} <&-"], capture_output=True, text=True, cwd=folder)
    assert (done.returncode, done.stdout) == (0, "1\n")


def test_a_closed_pipe_ends_silently(folder: Path) -> None:
    (folder / "many.txt").write_text("value 1+1\n" * 20_000)
    process = subprocess.Popen(
        [*COMMAND, "batch", "many.txt"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=folder
    )
    assert process.stdout is not None
    assert process.stderr is not None
    assert json.loads(process.stdout.readline())["value"] == 2
    process.stdout.close()
    assert process.wait(60) == 0
    assert process.stderr.read() == b""
    process.stderr.close()


@pytest.mark.parametrize(
    ("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)], ids=str
)
def test_an_interrupt_ends_at_once_and_leaves_nothing(folder: Path, number: int, status: int) -> None:
    (folder / "loop.adiff").write_text("x = 0.0\nwhile True:\n    x = x + 1.0\n")
    process = subprocess.Popen(
        [*COMMAND, "run", "loop.adiff", "-o", "out.txt"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=folder,
        preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL),  # ignored under nohup
    )  # fmt: skip
    time.sleep(1.0)
    process.send_signal(number)
    stdout, stderr = process.communicate(timeout=30)
    assert (process.returncode, stdout) == (status, b"")
    assert b"Traceback" not in stderr
    assert sorted(path.name for path in folder.iterdir() if path.name.startswith((".adiff", "out"))) == []


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)], ids=str)
def test_an_interrupt_ends_one_long_operation_too(folder: Path, number: int, status: int) -> None:
    # Bessel functions of nine million numbers are one call, in which Python answers no signal.
    program = "sum(jv(0.5, 20.0 * ones((3000, 3000))))"
    process = subprocess.Popen(
        [*COMMAND, "value", program, "-o", "out.txt", "--engine", "tape"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        cwd=folder,
    )  # fmt: skip
    time.sleep(1.5)
    assert process.poll() is None
    process.send_signal(number)
    stdout, stderr = process.communicate(timeout=60)
    assert (process.returncode, stdout, stderr) == (status, b"", b"")
    assert sorted(path.name for path in folder.iterdir() if path.name.startswith((".adiff", "out"))) == []


def test_a_signal_that_is_ignored_is_not_heard(folder: Path) -> None:
    """As what `nohup` runs outlives its terminal."""
    line = ["nohup", *COMMAND, "batch", "-"]
    process = subprocess.Popen(
        line, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=folder
    )  # fmt: skip
    assert process.stdin is not None
    assert process.stdout is not None
    for text in (b"value 1+1\n", b"value 1+2\n"):
        process.stdin.write(text)
        process.stdin.flush()
        assert b'"value": ' in process.stdout.readline()
        process.send_signal(signal.SIGHUP)
    process.communicate(timeout=30)
    assert process.returncode == 0


def test_an_interrupt_while_waiting_for_input(folder: Path) -> None:
    process = subprocess.Popen(
        [*COMMAND, "batch", "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=folder
    )  # fmt: skip
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(b"value 1+1\n")
    process.stdin.flush()
    assert json.loads(process.stdout.readline())["value"] == 2
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=30)
    assert process.returncode == 130
    assert b"Traceback" not in stderr


def test_a_pipe_closed_before_the_answer(folder: Path) -> None:
    for arguments in (["value", "1"], ["value", "ones((300, 300))"], ["ops"], ["--help"], ["grad", "--help"]):
        process = subprocess.Popen([*COMMAND, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=folder)
        assert process.stdout is not None
        process.stdout.close()
        assert process.stderr is not None
        assert process.stderr.read() == b""
        process.stderr.close()
        assert process.wait(60) == 0
