"""What the command-line tests share: a folder of files a user might have, and the command itself in a process."""

import json
import os
import pty
import select
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterator, Sequence
from fcntl import ioctl
from pathlib import Path

import numpy
import pytest
from forked import STARTING, Server

COMMAND = [sys.executable, "-c", "from adiff.cli.main import main; main()"]
ROSENBROCK = "a = 1\nb = 100\n(a - x)**2 + b*(y - x**2)**2\n"
LINES = """\
# a comment, then a blank line

grad "x**2" --at x=2
hessian "x**2*y" --at x=1,y=2
value -f rosenbrock.adiff --at @start.json
{"command": "grad", "expr": "x**3", "at": {"x": 2}, "id": 7}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the files that the examples of the help mention."""
    (tmp_path / "rosenbrock.adiff").write_text(ROSENBROCK)
    (tmp_path / "start.json").write_text('{"x": 3, "y": 4}')
    (tmp_path / "lines.txt").write_text(LINES)
    (tmp_path / "table.csv").write_text("a,b\n1,2\n3,4.5\n")
    numpy.save(tmp_path / "matrix.npy", numpy.array([[1.0, 2.0], [3.0, 4.0]]))
    numpy.savez(tmp_path / "data.npz", first=numpy.arange(3.0), second=numpy.ones((2, 2)))
    return tmp_path


def environment(**variables: str) -> dict[str, str]:
    """The variables of a process that knows nothing of the terminal the tests run in."""
    dropped = ("COLUMNS", "NO_COLOR", "FORCE_COLOR", "TERM", "LC_ALL", "LANG", "PYTHONIOENCODING")
    kept = {name: value for name, value in os.environ.items() if name not in dropped}
    return {**kept, "LC_ALL": "C.UTF-8", "TERM": "xterm", **variables}


Completed = subprocess.CompletedProcess[str]


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    """The process that the others are forked off."""
    found = Server(environment())
    yield found
    found.close()


def completed(arguments: Sequence[str], code: int, out: bytes, error: bytes) -> Completed:
    assert b"Traceback" not in error, error.decode()
    return Completed(arguments, code, out.decode(), error.decode())


@pytest.fixture
def started(folder: Path) -> Callable[..., Completed]:
    """Run the command in the folder, its output in pipes, as a shell starts it."""

    def run(*arguments: str, stdin: str | bytes = "", timeout: float = 60, **variables: str) -> Completed:
        given = stdin.encode() if isinstance(stdin, str) else stdin
        done = subprocess.run(
            [*COMMAND, *arguments],
            input=given,
            capture_output=True,
            cwd=folder,
            env=environment(**variables),
            timeout=timeout,
        )
        return completed(arguments, done.returncode, done.stdout, done.stderr)

    return run


@pytest.fixture
def adiff(folder: Path, server: Server, started: Callable[..., Completed]) -> Callable[..., Completed]:
    """The same in a process that is forked, unless there are variables for Python's start."""

    def run(*arguments: str, stdin: str | bytes = "", timeout: float = 60, **variables: str) -> Completed:
        if any(name.startswith(STARTING) for name in variables):
            return started(*arguments, stdin=stdin, timeout=timeout, **variables)
        given = stdin.encode() if isinstance(stdin, str) else stdin
        return completed(arguments, *server.run(arguments, given, str(folder), environment(**variables), timeout))

    return run


@pytest.fixture
def answer(adiff: Callable[..., Completed]) -> Callable[..., str]:
    """What a command that succeeds without a word on standard error prints."""

    def run(*arguments: str, **options: str) -> str:
        done = adiff(*arguments, **options)
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout

    return run


@pytest.fixture
def document(answer: Callable[..., str]) -> Callable[..., dict[str, object]]:
    """The JSON object a command answers with, read by a strict reader."""

    def refuse(constant: str) -> None:
        raise AssertionError(f"{constant} is not JSON")

    def run(*arguments: str, **options: str) -> dict[str, object]:
        found: dict[str, object] = json.loads(answer(*arguments, "--json", **options), parse_constant=refuse)
        return found

    return run


@pytest.fixture
def terminal(folder: Path, server: Server) -> Callable[..., str]:
    """Run the command on a pseudo-terminal of a given width and return all that it shows."""

    def run(*arguments: str, columns: int = 80, timeout: float = 60, **variables: str) -> str:
        primary, secondary = pty.openpty()
        ioctl(secondary, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
        process = None
        if any(name.startswith(STARTING) for name in variables):
            process = subprocess.Popen(
                [*COMMAND, *arguments], stdin=secondary, stdout=secondary, stderr=secondary, cwd=folder,
                env=environment(**variables), close_fds=True,
            )  # fmt: skip
        else:
            forked = server.start(arguments, str(folder), environment(**variables), [secondary] * 3)
        os.close(secondary)
        shown = b""
        deadline = time.monotonic() + timeout
        while time.monotonic() < deadline:
            if select.select([primary], [], [], 0.05)[0]:
                try:
                    chunk = os.read(primary, 65536)
                except OSError:  # the other end is closed
                    break
                if not chunk:
                    break
                shown += chunk
        process.wait(timeout) if process else server.wait(forked, timeout)
        os.close(primary)
        return shown.decode().replace("\r\n", "\n")

    return run
