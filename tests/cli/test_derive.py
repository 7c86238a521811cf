"""`adiff derive` in every format, with values, and what it refuses."""

import json
import subprocess
from collections.abc import Callable

import pytest

Answer = Callable[..., str]
Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.mark.parametrize(
    ("arguments", "printed"),
    [
        (["x**2"], "2*x\n"),
        (["-x**2*y", "--wrt", "y,x"], "d/dy\t-x**2\nd/dx\t-2*x*y\n"),
        (["x**2*y", "--order", "2"], "d2/dx2\t2*y\nd2/dx dy\t2*x\nd2/dy2\t0\n"),
        (["x + x", "--order", "0"], "2*x\n"),
        (["-f", "rosenbrock.adiff", "--wrt", "y"], "200*(y - x**2)\n"),
        (["x**2*y", "--csv"], "derivative,formula\nd/dx,2*x*y\nd/dy,x**2\n"),
        (["x**2*y", "--at", "x=3,y=2"], "derivative\tformula\tvalue\nd/dx\t2*x*y\t12.0\nd/dy\tx**2\t9.0\n"),
        (["x**3", "--at", "x=0.5", "--csv"], "derivative,formula,value\nd/dx,3*x**2,0.75\n"),
        (["exp(x)/x", "--format", "latex"], "\\frac{\\left(x - 1\\right) e^{x}}{x^{2}}\n"),
        (["M_PI*NAN", "--wrt", "NAN", "--format", "c"], "#include <math.h>\n\ndouble d_NAN(double M_PI_, double NAN_) {\n    return M_PI_;\n}\n"),
        (["x**2", "--format", "c"], "#include <math.h>\n\ndouble d_x(double x) {\n    return 2.0*x;\n}\n"),
        (["sin(x)", "--format", "python"], "import numpy as np\n\n\ndef d_x(x):\n    return np.cos(x)\n"),
    ],
)  # fmt: skip
def test_formulas(answer: Answer, arguments: list[str], printed: str) -> None:
    assert answer("derive", *arguments) == printed


def test_json(answer: Answer) -> None:
    assert json.loads(answer("derive", "x**2", "--json", "--at", "x=3")) == {
        "schema": 1,
        "command": "derive",
        "value": 9.0,
        "formulas": [{"wrt": ["x"], "formula": "2*x", "latex": "2 x", "length": 2, "value": 6.0}],
        "program_length": 2,
        "notices": [],
    }


@pytest.mark.parametrize(
    ("arguments", "status", "told"),
    [
        (["derive", "while x > 1: x = x/2"], 1, "error[E0513]: derive writes no formula for a loop"),
        (["derive", "x**2", "--format", "c", "--at", "x=1"], 2, "--at asks for values"),
        (["derive", "gamma(x)", "--format", "c"], 1, "C has no function 'digamma'"),
        (["derive", "x**2", "--wrt", "y"], 2, "'y' is not an input"),
        (["derive", "2"], 2, "nothing to differentiate by"),
        (["derive", "x*y", "--at", "x=1"], 2, "'y' is not bound"),
        (["derive", "x +"], 3, "error[E01"),
        (
            ["derive", "erfinv(x)", "--format", "c"],
            1,
            "<expr>:1:1: error[E0513]: C has no function 'erfinv'\nerfinv(x)",
        ),
        (["derive", "x", "-o", "d.java"], 4, "but .csv, .tsv, .ndjson, .jsonl, .json, .txt, .tex, .py, .c;"),
        (["tape", "x", "--at", "x=1", "--graph", "svg", "-o", "t.png"], 4, "--graph svg writes no .png file, but .svg"),
        (["derive", "x", "--format", "latx"], 2, "did you mean 'latex'?"),
        (["grad", "x", "--format", "latex"], 2, "'latex' is not one of"),
        (["grad", "x**2"], 2, "bind the input: --at x=...; `adiff derive` gives derivatives as formulas"),
    ],
)
def test_refused(adiff: Run, arguments: list[str], status: int, told: str) -> None:
    done = adiff(*arguments)
    assert (done.returncode, done.stdout) == (status, "")
    assert told in done.stderr


def test_batch_and_operations(adiff: Run, answer: Answer) -> None:
    lines = adiff("batch", "-", stdin='derive "x**2"\nderive "sin(x)" --at x=0\n').stdout.splitlines()
    first, second = map(json.loads, lines)
    assert first["formulas"][0]["formula"] == "2*x"
    assert second["formulas"][0]["value"] == 1.0
    assert "derivative\tcos(x)\n" in answer("ops", "sin")
    assert "by a: b; by b: a" in answer("ops", "multiply")
    assert json.loads(answer("ops", "sqrt", "--json"))["operation"]["formula"] == "1/(2*sqrt(x))"
    assert json.loads(answer("ops", "sum", "--json"))["operation"]["formula"] is None
