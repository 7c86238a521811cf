"""The samples as their comments run them: a kernel answers each, and prints what the tape prints."""

from __future__ import annotations

import math
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
from adiff.cli.environment import Environment
from adiff.cli.main import run

ROOT = Path(__file__).parents[2]
SAMPLES = sorted((ROOT / "samples").glob("*.adiff"))


def command(path: Path) -> list[str]:
    """The arguments of the command in a sample's comment."""
    (line,) = [line for line in path.read_text().splitlines() if line.startswith("# adiff ")]
    return shlex.split(line)[2:]


def answer(path: Path, engine: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Any:
    """What a sample prints, and the line that says which tier answered."""
    monkeypatch.chdir(ROOT)
    environment = Environment.system()
    code = run([*command(path), "--engine", engine, "-v"], environment)
    environment.flush()
    captured = capsys.readouterr()
    assert code == 0, captured.err
    return captured.out, next(line for line in captured.err.splitlines() if line.startswith("engine: "))


def numbers(text: str) -> list[float]:
    return [float(x) for x in re.findall(r"-?\d+\.?\d*(?:e-?\d+)?", text)]


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_tier(path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    printed, engine = answer(path, "kernel", monkeypatch, capsys)
    assert engine.startswith("engine: kernel"), engine
    expected, _ = answer(path, "tape", monkeypatch, capsys)
    assert re.sub(r"[-\d.e]+", "#", printed) == re.sub(r"[-\d.e]+", "#", expected)
    found = zip(numbers(printed), numbers(expected), strict=True)
    assert all(math.isclose(a, b, rel_tol=1e-12, abs_tol=1e-15) for a, b in found)
