"""What users do wrong: the exit status, one diagnostic that helps, and nothing on standard output."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from adiff.cli.decode import text_given

from .conftest import Completed

MISUSES = [
    # The command line itself.
    ([], 2, "adiff --help lists the commands"),
    (["gard", "x"], 2, "did you mean 'grad'?"),
    (["x**2"], 2, "adiff value EXPR"),
    (["--versoin"], 2, "did you mean '--version'?"),
    (["--json", "grad", "x"], 2, "a command comes first"),
    (["-v"], 2, "adiff --version"),
    (["-q", "grad", "x"], 2, "-q comes after a command"),
    (["grad"], 2, "needs an expression or -f FILE"),
    (["grad", "x", "y"], 2, "needs quotes"),
    (["grad", "x**2", "x=2"], 2, "inputs are bound by --at x=2"),
    (["grad", "x**2", "--at", "x", "=", "2"], 2, "a binding has no spaces, or quotes: --at x=2"),
    (["grad", "x**2", "--at", "x:=2"], 2, "write x=2"),
    (["value", "x(x+1)"], 3, "to multiply, write x*(...)"),
    (["value", "sin^2(x)"], 3, "write sin(...)**2"),
    (["grad", "x**2", "-at", "x=2"], 2, "inputs are bound by --at x=2"),
    (["grad", "x", "--att", "x=2"], 2, "did you mean '--at'?"),
    (["grad", "x", "--pretty"], 2, "no option --pretty"),
    (["grad", "x", "--order", "2"], 2, "--order belongs to derivative"),
    (["grad", "x", "--at"], 2, "requires an argument"),
    (["grad", "x", "--at", "--json"], 2, "requires an argument"),
    (["grad", "x", "-f", "rosenbrock.adiff"], 2, "leave one of them out"),
    (["grad", "x", "--json=yes"], 2, "does not take a value"),
    (["grad", "x", "--json", "--csv"], 2, "two formats at once"),
    (["grad", "x", "--format", "jsn"], 2, "did you mean 'json'?"),
    (["grad", "x", "--dtype", "float16"], 2, "is not one of float64, float32"),
    (["grad", "x", "--precision", "18"], 2, "from 1 to 17"),
    (["grad", "x", "--max-steps", "-1"], 2, "is not a whole number"),
    (["grad", "x", "--max-steps", "0"], 2, "no program takes 0 steps"),
    (["grad", "x", "--max-memory", "lots"], 2, "is not a size"),
    (["grad", "x", "--max-memory", "1K"], 2, "write at least 1M"),
    (["grad", "x", "--timeout", "0"], 2, "is not a number of seconds, more than 0"),
    (["grad", "x", "--timeout", "1e12"], 2, "at most 1e9"),
    (["grad", "x", "--max-steps", "9" * 30], 2, "from 0 to 10**18"),
    (["jacobian", "x", "--mode", "backward"], 2, "is not one of"),
    (["derivative", "x", "--order", "many"], 2, "is not a whole number"),
    (["derivative", "x", "--order", "-1"], 2, "--order: '-1' is not a whole number from 0 to 170"),
    (["derivative", "x", "--order", "171"], 2, "--order: '171' is not a whole number from 0 to 170"),
    (["partition", "[1, 2]", "[0, 5]", "2"], 1, "PARTITIONS:1:1"),
    (["grad", "sum(x)", "--at", "x=[[1, 2], [3]]"], 1, "'x' is bound to a list whose rows differ in length"),
    (["partition", "[1]", "[0]"], 2, "missing argument 'N'"),
    (["run"], 2, "missing argument 'FILE'"),
    (["batch", "a", "b"], 2, "extra argument"),
    (["run", "-f", "rosenbrock.adiff"], 2, "takes the file as its argument: adiff run FILE"),
    (["batch", "--file", "lines.txt"], 2, "takes the file as its argument: adiff batch FILE"),
    (["tape", "x", "--at", "x=1", "--graph", "gif"], 2, "is not one of dot, mermaid, svg"),
    (["jvp", "x", "--at", "x=1"], 2, "--tangent"),
    (["hvp", "x", "--at", "x=1"], 2, "--vector"),
    # A value is one expression.
    (["value", "x", "--at", "x=2;y=3"], 2, "separate bindings with a comma"),
    (["value", "x", "--at", "x=y=3"], 2, "E0806"),
    (["value", "x", "--at", "x=2\n3"], 2, "E0806"),
    (["value", "x", "--at", "x=for i in range(3): i"], 2, "E0806"),
    (["value", "x", "--at", "x=return 3"], 2, "E0806"),
    (["jvp", "x", "--at", "x=2", "--tangent", "x=1;2"], 2, "--tangent x:1:3"),
    (["vjp", "x", "--at", "x=2", "--cotangent", "1;2"], 2, "--cotangent:1:3"),
    (["hvp", "x", "--at", "x=2", "--vector", "x=y=2"], 2, "--vector x:1:1"),
    (["partition", "[1,2];[3,4]", "[0,1]", "2"], 2, "DATA:1:7"),
    (["stitch", "a=[[0]]", "[[1]]"], 2, "INDICES:1:1"),
    (["minimize", "x**2", "--start", "x=1;2"], 2, "--start x:1:3"),
    (["run", "rosenbrock.adiff", "--at", "x=1;y=2"], 2, "--at x:1:3"),
    (["grad", "x**2", "--at", "x=0:10:1"], 3, "arange(0, 10, 1)"),
    (["grad", "x**2", "--at", "x=0:1"], 3, "linspace(0, 1, 11)"),
    (["value", "2πr"], 3, "write 2*pi*r"),
    (["value", "f = lambda a, b: a*b\nga, gb = grad(f)(1., 2.)\nga"], 1, "argnums=(0, 1)"),
    # Inputs.
    (["grad", "x**2"], 2, "x"),
    (["grad", "x", "--at", "x=1", "-z"], 2, "'adiff grad' has no option -z"),
    (["value", "x", "--over", "x=0:inf/3"], 2, "--over: '0:inf/3' is not finite"),
    (["value", "x", "--over", "x=nan:1:0.1"], 2, "is not finite"),
    (["value", "x", "--over", "x=0:1/3", "--at", "x=2"], 2, "'x' is given by --over, and bound by --at"),
    (["minimize", "x*x", "--start", "x=1", "--subject-to", "z<=1"], 2, "give it a start: --start z=..."),
    (["grad", "!x"], 3, "the negation is written 'not x'"),
    (["grad", "x = 1 y = 2"], 3, "write ';' or a new line"),
    (["grad", "x**2", "--at", "y=2"], 2, "'y' is bound and not used"),
    (["grad", "x**2", "--at", "x=2", "--wrt", "z"], 2, "'z' is not an input of the program"),
    # The program.
    (["grad", "x +"], 3, "^"),
    (["grad", ""], 3, "error["),
    (["run", "import.adiff"], 3, "import"),
    # Evaluation.
    (["value", "0**-2"], 1, "0 cannot be raised to a negative power"),
    (["run", "assert.adiff"], 1, "^"),
    (["partition", "[10,20]", "[0,2]", "2"], 1, "partitions[1] = 2"),
    (["stitch", "[[0,-1]]", "[[1,2]]"], 1, "-1"),
    (["stitch", "[[0],[1]]", "[[1]]"], 2, "INDICES has 2 parts and DATA has 1"),
    (["stitch", "3", "[[1]]"], 2, "must be a list of parts"),
    # Limits.
    (["run", "loop.adiff", "--max-steps", "1000"], 1, "--max-steps"),
    (["run", "loop.adiff", "--timeout", "0.3"], 1, "--timeout"),
    # Files.
    (["grad", "-f", "nope.adiff"], 4, "nope.adiff: no such file"),
    (["run", "."], 4, "is a directory"),
    (["run", "latin.adiff"], 4, "not UTF-8"),
    (["batch", "nope.txt"], 4, "nope.txt: no such file"),
    (["grad", "x", "--at", "x=@nope.npy"], 4, "nope.npy: no such file"),
    (["grad", "x", "--at", "x=@rosenbrock.adiff"], 4, "does not end in"),
    (["grad", "sum(x)", "--at", "x=@table.csv:q"], 4, "no column 'q'"),
    (["grad", "sum(x)", "--at", "x=@matrix.npy:b"], 4, "':b' is for an array of an .npz file"),
    (["grad", "x", "--at", "x=@data.npz"], 4, "several arrays"),
    (["grad", "x", "--at", "x=@data.npz:third"], 4, "no array 'third'"),
    (["partition", "@nope.csv", "[0]", "1"], 4, "nope.csv"),
    # Names.
    (["ops", "sine"], 3, "did you mean"),
]


@pytest.fixture
def wrong(folder: Path) -> None:
    """Programs that are no good."""
    (folder / "import.adiff").write_text("import os\n")
    (folder / "assert.adiff").write_text("x = 1\nassert x == 2, 'not two'\n")
    (folder / "loop.adiff").write_text("while True:\n    pass\n")
    (folder / "latin.adiff").write_bytes(b"# caf\xe9\nx\n")


@pytest.mark.usefixtures("wrong")
@pytest.mark.parametrize(("arguments", "code", "help"), MISUSES, ids=lambda value: str(value)[:60])
def test_misuse(adiff: Callable[..., Completed], arguments: list[str], code: int, help: str) -> None:
    done = adiff(*arguments)
    assert (done.returncode, done.stdout) == (code, "")
    assert help in done.stderr
    assert (
        done.stderr.count("error[" if text_given(arguments, "--format") not in ("json", "ndjson") else '"error":') == 1
    )


@pytest.mark.usefixtures("wrong")
@pytest.mark.parametrize(("arguments", "code", "help"), MISUSES[1:], ids=lambda value: str(value)[:60])
def test_misuse_as_json(adiff: Callable[..., Completed], arguments: list[str], code: int, help: str) -> None:
    if arguments[0].startswith("--") or "--format" in arguments or "--json=yes" in arguments or "--csv" in arguments:
        pytest.skip("says something of formats itself")
    position = 1 if arguments[-1] in ("--at",) else len(arguments)
    done = adiff(*arguments[:position], "--json", *arguments[position:])
    assert (done.returncode, done.stdout) == (code, "")
    error = json.loads(done.stderr)["error"]
    assert set(error) == {"code", "kind", "message", "span", "hint"}
    assert error["span"] is None or set(error["span"]) == {"file", "line", "column", "end_line", "end_column"}
    assert isinstance(error["message"], str)


HOSTILE = [
    "\0", "x\0y", "\x1b[31mred", "é" * 1000, "(" * 100_000, "(" * 100_000 + "x" + ")" * 100_000,
    "+".join(["x"] * 30_000), "x" * 100_000, "1" * 10_000, "1e999999999", "'" * 9, "f'{x'", "\\", "\ud800", "x ^ 2",
    "2x", "sin x", "x = = 2", "λ**2", "lambda: " * 300 + "1", "[" * 5000 + "]" * 5000, "-" * 20_000 + "1",
    "not " * 20_000 + "True", "x" + ".T" * 10_000, "x" + "[0]" * 10_000, "sin(" * 3000 + "1" + ")" * 3000,
    "if True:\n" + "".join(" " * depth + "if True:\n" for depth in range(1, 200)) + " " * 200 + "1",
]  # fmt: skip


@pytest.mark.parametrize("text", HOSTILE, ids=lambda text: repr(text[:20]))
def test_hostile_programs_never_show_a_trace(adiff: Callable[..., Completed], text: str) -> None:
    done = adiff("grad", "-", "--at", "x=1", "--timeout", "20", stdin=text.encode("utf-8", "surrogatepass"))
    assert done.returncode in (0, 1, 2, 3, 4)
    assert done.stdout == "" or done.returncode == 0
    assert len(done.stderr) < 10_000 + 3 * len(text)


def test_a_fault_of_our_own(folder: Path) -> None:
    code = (
        "import adiff.cli.main as main\ndef fail(*_): raise ZeroDivisionError('boom')\nmain.answer = fail\nmain.main()"
    )
    for extra, traced in (([], False), (["--debug"], True)):
        done = subprocess.run([sys.executable, "-c", code, "value", "1", *extra], capture_output=True, text=True)
        assert (done.returncode, done.stdout) == (70, "")
        assert "error[E0911]: a fault of adiff's own: ZeroDivisionError: boom" in done.stderr
        assert ("Traceback" in done.stderr) == traced


@pytest.mark.parametrize(
    ("raised", "code", "words"),
    [
        ("MemoryError", 1, "out of memory"),
        ("RecursionError", 1, "deep"),
        ("ImportError('Read this!\\nOriginal error was: no room', name='numpy')", 1, "cannot be loaded: no room"),
        ("RuntimeError('can\\'t start new thread')", 1, "can't start new thread"),
        ("OSError(24, 'Too many open files')", 1, "too many open files"),
    ],
)
def test_python_running_out(raised: str, code: int, words: str) -> None:
    program = f"import adiff.cli.main as main\ndef fail(*_): raise {raised}\nmain.answer = fail\nmain.main()"
    done = subprocess.run([sys.executable, "-c", program, "value", "1"], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (code, "")
    assert words in done.stderr
    assert "error[E06" in done.stderr
