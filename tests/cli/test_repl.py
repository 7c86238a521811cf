"""`adiff repl`: what lines leave to one another, its commands, errors, and the prompt at a terminal."""

import os
import pty
import select
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from .conftest import COMMAND, environment

Run = Callable[..., subprocess.CompletedProcess[str]]
OPEN = ("'''abc",)  # which the next line would continue


@pytest.mark.parametrize(
    ("lines", "printed"),
    [
        (["2+2", "_*3", "_"], "4\n12\n12\n"),
        (["x = 2", "x = x + 1", "x"], "3\n"),
        (["t = 0", "for i in range(4):", "    t += i", "", "t"], "6\n"),
        (["t = 0", "for i in range(4):", "    t += i", "t"], "6\n"),  # without the empty line
        (["def f(x):", "    if x > 0:", "        return x", "    else:", "        return -x", "", "f(-2)"], "2\n"),
        (["a = [1,", "2]", "sum(a)", "if a[0] > 1: print('big')", "else: print('small')"], "3\nsmall\n"),
        (["a = 1", "f = lambda x: a*x", "a = 5", "f(3)"], "15\n"),
        (["import numpy.linalg as la", "A = np.array([[1., 2], [3, 4]])", "la.det(A)"], "-2.0\n"),
        (["class P:", "    def __init__(self, v):", "        self.v = v", "", "p = P(3)", "p.v"], "3\n"),
        (["v = tf.Variable(3.0)", "v.assign(4.0)", "v * 2"], "4.0\n8.0\n"),
        (["e", "e = 2", "e", "sum = 3", "sum + 1"], "2.718281828459045\n2\n4\n"),
        (["print('a')", "# nothing", "", "None", "x = 3; x"], "a\n3\n"),
        (["x = 3", ":grad x**2", "x**3", "x = 100", ":grad"], "6.0\n27\n27.0\n"),
        (["x = 3", "def f(t): return t**2*x", "", ":grad f(x)", ":hessian f(x)"], "27.0\n18.0\n"),
        (["s = 'a'; x = 2; i = True", ":grad x**2 if i and s == 'a' else x"], "4.0\n"),
        (["x = 2", "y = x**2", ":grad", ":derivative sin(x)*0 + x", ":laplacian x**4"], "4.0\n0\t2.0\n1\t1.0\n48.0\n"),
        (["f = lambda t: t**2", "x = 7", ":derive f(x)", ":derive exp(z)"], "2*x\nexp(z)\n"),
        (["x = 2.0", ":quit", "1"], ""),
        (["x = 2.0", "exit()", "1"], ""),
        (["quit = 2.0", "quit", "1"], "2.0\n1\n"),
    ],
)  # fmt: skip
def test_lines(adiff: Run, lines: list[str], printed: str) -> None:
    done = adiff("repl", stdin="\n".join(lines) + "\n")
    assert (done.returncode, done.stdout, done.stderr) == (0, printed, "")


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("sine(2)", "did you mean 'sin'?"),
        ("y + 1", "give it a value first, as in y = 2"),
        ("1 +", "error[E0111]"),
        ("x = [1, 2\n", "this '[' is never closed"),
        ("f = lambda: 1\nf", "error[E0304]"),
        ("[1, 2] @ [1, 2, 3]", "error[E0302]"),
        (":gard x", "did you mean 'grad'?"),
        (":grad", ":grad needs an expression"),
        (":derive", ":derive needs an expression"),
        (":derive sum([x**k for k in range(3)])", "error[E0513]"),
        (":help sine", "did you mean 'sin'?"),
        ("x = 1; x = 2; nosuch(x)", "unknown function"),
        ("'''abc", "this string is never closed"),
    ],
)  # fmt: skip
def test_errors_do_not_end_it(adiff: Run, line: str, told: str) -> None:
    done = adiff("repl", stdin=f"3\n{line}\n" if line in OPEN else f"{line}\n3\n")
    assert (done.returncode, done.stdout) == (1, "3\n")
    assert told in done.stderr


def test_what_a_failed_line_has_assigned_stays(adiff: Run) -> None:
    assert adiff("repl", stdin="x = 5; y = [1][3]\nx\n").stdout == "5\n"


def test_help_and_tape(adiff: Run) -> None:
    done = adiff("repl", stdin=":help\n:help sin\nx = 2\n:tape sin(x)\n")
    assert ":hessian" in done.stdout
    assert "derivative\tcos(x)" in done.stdout
    assert "1\tsin\tx\t%1\t0.9092974268256817" in done.stdout
    assert (done.returncode, done.stderr) == (0, "")


def test_a_batch_refuses_it(adiff: Run) -> None:
    done = adiff("batch", "-", stdin='repl\nplot "x" --over x=0:1\nman\nconfig\ndoctor\n')
    assert done.stdout.count("cannot be a line") == 5


class Typed:
    """A prompt on a pseudo-terminal, and the keys that are typed there."""

    def __init__(self, folder: Path, **variables: str) -> None:
        self.primary, secondary = pty.openpty()
        given = environment(XDG_STATE_HOME=str(folder), NO_COLOR="1", **variables)
        command = [
            sys.executable,
            "-c",
            "import os; os.setsid(); import fcntl, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0)\n" + COMMAND[2],
            "repl",
        ]
        self.process = subprocess.Popen(command, stdin=secondary, stdout=secondary, stderr=secondary, env=given)
        os.close(secondary)
        self.shown = ""

    def until(self, text: str) -> None:
        """Wait for a text; what comes after it is left for the next."""
        end = time.monotonic() + 60
        while text not in self.shown:
            assert time.monotonic() < end, self.shown
            if select.select([self.primary], [], [], 0.1)[0]:
                chunk = os.read(self.primary, 65536).decode(errors="replace")
                if "\x1b[6n" in chunk:  # prompt_toolkit asks where the cursor is
                    os.write(self.primary, b"\x1b[1;1R")
                self.shown += chunk
        self.shown = self.shown.partition(text)[2]

    def type(self, keys: str, until: str) -> None:
        os.write(self.primary, keys.encode())
        self.until(until)


@pytest.mark.parametrize("library", ["prompt_toolkit", "readline"])
def test_prompt(tmp_path: Path, library: str) -> None:
    variables = {}
    if library == "readline":
        (tmp_path / "prompt_toolkit.py").write_text("raise ImportError")
        variables = {"PYTHONPATH": str(tmp_path)}
    else:
        pytest.importorskip("prompt_toolkit")
    typed = Typed(tmp_path, **variables)
    typed.until(">>>")
    typed.type("value = 4\r", ">>>")
    typed.type("3 + val\t", "ue")
    typed.type("\r", "7")
    typed.until(">>>")
    typed.type("abc", "abc")
    time.sleep(0.5)  # readline hears Ctrl-C once it waits for a key
    typed.type("\x03", ">>>")
    typed.type("for i in range(10**12): print('o' 'n') if i == 0 else value\r", "...")
    typed.type("\r", "on")
    typed.type("\x03", "interrupted")
    typed.until(">>>")
    typed.type("nosuch(1)\r", "unknown function")
    typed.until(">>>")
    typed.type("value * 11\r", "44")
    typed.until(">>>")
    os.write(typed.primary, b"\x04")
    assert typed.process.wait(30) == 0
    kept = "".join(path.read_text() for path in (tmp_path / "adiff").iterdir())
    assert "value * 11\n" in kept
