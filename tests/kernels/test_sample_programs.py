"""The samples, at the points of the commands in their comments: the tiers agree, or a kernel is declined for a known reason."""

import argparse
import ast
import os
import re
import shlex
from pathlib import Path
from typing import Any

import adiff
import pytest
from adiff.cli.bindings import bind
from tiers import agree, outcome

ROOT = Path(__file__).parents[2]
SAMPLES = sorted((ROOT / "samples").glob("*.adiff")) + sorted((ROOT / "samples" / "gradbench").glob("*.adiff"))
LONG = bool(os.environ.get("ADIFF_LONG_TESTS"))

# What the tape takes, and a part of the reason.
DECLINED = {
    "cholesky_likelihood": "the operation cholesky",
    "complex_modulus": "complex",
    "custom_rule": "custom_gradient",
    "determinant": "the operation det",
    "function_factory": "classes",
    "hessian_by_tapes": "a tape of the program",
    "iris_by_fit": "classes",
    "iris_by_lbfgs": "float32",
    "iris_by_loop": "float32",
    "lbfgs_packing": "Variables",
    "newton_root": "a tape of the program",
    "small_network": "import",
    "taylor_of_tan": "power series",
}
# These take seconds, to compile or on the tape.
SLOW = {"ba", "gmm", "ht", "particle", "saddle", "small_network"}
# How far apart the tiers may be, where it is not the usual distance: iterations to a tolerance, long sums.
APART = {"damped_oscillator": 1e-10}


def command_of(path: Path) -> argparse.Namespace:
    """The command in a sample's comment."""
    text = re.sub(r"\\\n#\s*", " ", path.read_text(encoding="utf-8"))
    line = next(line for line in text.splitlines() if line.startswith("# adiff "))
    parser = argparse.ArgumentParser()
    parser.add_argument("command")
    for option in ("-f", "--at", "--wrt", "--tangent", "--vector", "--cotangent", "--order", "--start", "file"):
        parser.add_argument(option, nargs="?" if option == "file" else None)
    return parser.parse_args(shlex.split(line)[2:])


def arguments(path: Path) -> tuple[Any, str, dict[str, Any], list[str] | None, dict[str, Any]]:
    """The program, command, point, sources and options of a sample."""
    program = adiff.program(path.read_text(encoding="utf-8"))
    given = command_of(path)
    read = lambda option, text: bind(option, [text], {}, (*program.inputs, *program.optional)) if text else {}  # noqa: E731
    options: dict[str, Any] = {name: read(f"--{name}", getattr(given, name)) for name in ("tangent", "vector")}
    options["cotangent"] = ast.literal_eval(given.cotangent) if given.cotangent else None
    options["order"] = int(given.order) if given.order else None
    wrt = given.wrt.split(",") if given.wrt else list(program.inputs)
    command = "grad" if given.command == "minimize" else given.command
    at = read("--at", given.at) | read("--start", given.start)
    return program, command, at, wrt, {name: x for name, x in options.items() if x}


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_sample(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if path.stem in SLOW and not LONG:
        pytest.skip("seconds: ADIFF_LONG_TESTS")
    monkeypatch.chdir(ROOT)
    program, command, at, wrt, options = arguments(path)
    command = "value" if command == "run" else command
    if path.stem in DECLINED:
        found = outcome(program, command, at, wrt, "kernel", options)
        assert found.engine == "tape"
        assert DECLINED[path.stem] in found.reason
    else:
        assert agree(program, at, command, wrt, APART.get(path.stem, 1e-12), **options) == ""
