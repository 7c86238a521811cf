"""`adiff plot`: what is marked, in the terminal, in files, as numbers, and what it refuses."""

import math
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.mark.parametrize(
    ("expression", "marks"),
    [
        ("abs(x - 0.1)", [("kink", 0.1)]),
        ("relu(x)", [("kink", 0)]),
        ("abs(sin(x))", [("kink", 0)]),
        ("sqrt(abs(x))", [("kink", 0)]),
        ("maximum(x, x**2)", [("kink", 0), ("kink", 1)]),
        ("where(x > 0.3, x, -x)", [("jump", 0.3)]),
        ("floor(x/2)", [("jump", -2), ("jump", 0), ("jump", 2)]),
        ("1/x", [("pole", 0)]),
        ("1/(x - 0.1)**2", [("pole", 0.1)]),
        ("tan(x)", [("pole", -math.pi / 2), ("pole", math.pi / 2)]),
        ("1/x + floor(x/2)", [("jump", -2), ("pole", 0), ("jump", 2)]),
        *((smooth, []) for smooth in ("exp(x)", "sin(20*x)", "log(x)", "tanh(50*x)", "exp(-1000*x**2)", "x**3", "2", "0*x")),
    ],
)  # fmt: skip
def test_marks(document: Callable[..., dict[str, object]], expression: str, marks: list[tuple[str, float]]) -> None:
    found = document("plot", f"x*0 + ({expression})", "--over", "x=-3:3", "-q")["marks"]
    assert isinstance(found, list)
    assert [mark["kind"] for mark in found] == [kind for kind, _ in marks]
    assert [mark["x"] for mark in found] == pytest.approx([x for _, x in marks], abs=1e-9)


@pytest.mark.parametrize(
    ("expression", "kind", "distance"),
    [
        ("abs(x - y) + sin(x)", "kink", lambda x, y: x - y),
        ("where(x*y > 0.3, x, -y)", "jump", lambda x, y: x * y - 0.3),
        ("1/(x**2 + y**2 - 1)", "pole", lambda x, y: math.hypot(x, y) - 1),
        ("exp(x)*sin(3*y)", "", None),
    ],
)  # fmt: skip
def test_marks_of_two_inputs(document: Callable[..., Any], expression: str, kind: str, distance: Any) -> None:
    found = document("plot", expression, "--over", "x=-2:2/20", "--over", "y=-2:2/20", "-q")["marks"]
    assert {mark["kind"] for mark in found} == ({kind} if kind else set())
    assert all(abs(distance(mark["x"], mark["y"])) < 1e-9 for mark in found)
    assert not kind or len(found) >= 20


def test_numbers(answer: Callable[..., str]) -> None:
    assert (
        answer("plot", "x**3", "--over", "x=1:2/2", "--order", "2", "--csv")
        == "x,value,d1,d2\n1.0,1.0,3.0,6.0\n2.0,8.0,12.0,12.0\n"
    )
    assert (
        answer("plot", "x*y", "--over", "x=1:2/2", "--over", "y=3:3/1", "--csv")
        == "x,y,value,d_x,d_y\n1.0,3.0,3.0,3.0,1.0\n2.0,3.0,6.0,3.0,2.0\n"
    )


def test_terminal(adiff: Run, terminal: Callable[..., str]) -> None:
    shown = terminal("plot", "abs(a*x)", "--over", "x=-3:3", "--at", "a=2", columns=70)
    assert "value (blue)" in shown.replace("\x1b[0m", "")
    assert "kink at x = 0\n" in shown
    plain = adiff("plot", "x", "--over", "x=0:1", "--order", "0", LC_ALL="C", PYTHONIOENCODING="ascii")
    rows = [line.partition("| ")[2] for line in plain.stdout.splitlines() if "| " in line and "-|" not in line]
    assert plain.stdout.isascii()
    columns = [max(i for i, c in enumerate(row) if c == "*") for row in rows if row.count("*") in (1, 2, 3, 4, 5)]
    assert columns == sorted(columns, reverse=True)  # a straight line that rises
    shades = adiff("plot", "x + 0*y", "--over", "x=0:1/10", "--over", "y=0:1/2").stdout.splitlines()
    assert shades[2].endswith("| .:-=+*#%@")


@pytest.mark.parametrize("extension", [".png", ".svg", ".pdf"])
def test_files(adiff: Run, folder: Path, extension: str) -> None:
    pytest.importorskip("matplotlib")
    starts = {".png": b"\x89PNG", ".svg": b"<?xml", ".pdf": b"%PDF"}[extension]
    for name, over in (("one", ["--over", "x=-3:3"]), ("two", ["--over", "x=-2:2", "--over", "y=-1:1"])):
        done = adiff("plot", "1/x + abs(x)" if name == "one" else "1/x + abs(y)", *over, "-o", name + extension)
        assert (done.returncode, done.stdout) == (0, ""), done.stderr
        content = (folder / (name + extension)).read_bytes()
        assert content.startswith(starts)
        assert len(content) > 5_000


@pytest.mark.parametrize(
    ("arguments", "status", "told"),
    [
        (["x"], 2, "plot needs one or two ranges"),
        (["x", "--over", "x=1"], 2, "is no range"),
        (["x", "--over", "x=1:1"], 2, "a range of one point is no picture"),
        (["x", "--over", "y=0:1"], 2, "'y' is not an input"),
        (["x*a", "--over", "x=0:1"], 2, "'a' is not bound"),
        (["x +", "--over", "x=0:1"], 3, "error[E01"),
        (["ones(3)*x", "--over", "x=0:1"], 1, "plot needs a scalar result"),
        (["[x,y]", "--over", "x=0:1", "--over", "y=0:1"], 1, "plot needs a scalar result"),
        (["5", "--over", "x=0:1"], 2, "it has no inputs"),
        (["log(-1-x**2)", "--over", "x=0:1"], 1, "nothing to draw"),
        (["log(-1-x**2) + y", "--over", "x=0:1", "--over", "y=0:1", "-o", "p.jpg", "--format", "plain"], 1, "nothing to draw"),
        (["x", "--over", "x=0:1", "-o", "p.jpg"], 4, "writes no .jpg file, but .csv, .tsv, .ndjson, .jsonl, .json, .txt, .png, .svg, .pdf"),
    ],
)  # fmt: skip
def test_refused(adiff: Run, folder: Path, arguments: list[str], status: int, told: str) -> None:
    done = adiff("plot", *arguments)
    assert (done.returncode, done.stdout) == (status, "")
    assert told in done.stderr
    assert not (folder / "p.jpg").exists()


@pytest.mark.parametrize(("library", "output"), [("plotille", []), ("matplotlib", ["-o", "p.png"])])
def test_a_missing_library_is_named(adiff: Run, folder: Path, library: str, output: list[str]) -> None:
    (folder / f"{library}.py").write_text("raise ImportError")
    done = adiff("plot", "x", "--over", "x=0:1", *output, PYTHONPATH=str(folder))
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f'error[E0811]: this picture needs {library}: pip install "adiff[plot]"\n'
    assert not (folder / "p.png").exists()
