"""The command in processes of its own without their start: they are forked off one that has the modules already.

Starting Python and importing takes thirty times as long as what most of the tests' commands do. What a process sees is
what it would see otherwise: arguments, variables, folder, streams; and the status is the real one. What the interpreter
itself reads when it starts cannot be given so (`STARTING`).
"""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Sequence

MODULES = ("adiff.cli.app", "adiff.cli.formats.table", "adiff.engine.api", "lark", "numpy", "rich.console", "typer")
# Variables that count when Python starts.
STARTING = ("PYTHON", "LC_", "LANG")


class Server:
    """The process with the modules, and how it is asked."""

    def __init__(self, variables: dict[str, str]) -> None:
        ours, theirs = socket.socketpair()
        with theirs:
            self.process = subprocess.Popen(
                [sys.executable, __file__, str(theirs.fileno())], pass_fds=[theirs.fileno()], env=variables
            )
        self.connection = ours

    def start(self, arguments: Sequence[str], folder: str, variables: dict[str, str], streams: Sequence[int]) -> int:
        """Start a command with the streams of these numbers: its process."""
        text = json.dumps([list(arguments), folder, variables]).encode() + b"\n"
        sent = socket.send_fds(self.connection, [text], list(streams))
        self.connection.sendall(text[sent:])
        return int(self.line())

    def wait(self, process: int, timeout: float) -> int:
        """The exit status of the command that was started. Raises TimeoutExpired when it has ended the process."""
        self.connection.settimeout(timeout)
        try:
            return os.waitstatus_to_exitcode(int(self.line()))
        except TimeoutError:
            os.kill(process, signal.SIGKILL)
            self.connection.settimeout(None)
            self.line()
            raise subprocess.TimeoutExpired("adiff", timeout) from None
        finally:
            self.connection.settimeout(None)

    def line(self) -> bytes:
        found = b""
        while not found.endswith(b"\n"):
            more = self.connection.recv(1)
            assert more, "the process that forks has ended"
            found += more
        return found

    def run(
        self, arguments: Sequence[str], given: bytes, folder: str, variables: dict[str, str], timeout: float
    ) -> tuple[int, bytes, bytes]:
        """The exit status of a command, and what it wrote to its two streams."""
        pipes = [os.pipe() for _ in range(3)]
        ends = pipes[0][0], pipes[1][1], pipes[2][1]
        try:
            process = self.start(arguments, folder, variables, ends)
        finally:
            for end in ends:
                os.close(end)
        found = [b"", b""]

        def write() -> None:
            try:
                with open(pipes[0][1], "wb") as stream:
                    stream.write(given)
            except BrokenPipeError:
                pass  # it does not read all of it

        def read(number: int) -> None:
            with open(pipes[number + 1][0], "rb") as stream:
                found[number] = stream.read()

        threads = [threading.Thread(target=write), *(threading.Thread(target=read, args=[k]) for k in range(2))]
        for thread in threads:
            thread.start()
        try:
            code = self.wait(process, timeout)
        finally:
            for thread in threads:
                thread.join()
        return code, *found

    def close(self) -> None:
        self.connection.close()
        self.process.wait()


def serve(connection: socket.socket) -> None:
    """Fork a process for every command that is asked for, until nobody asks."""
    import importlib

    from adiff.cli.main import main

    for name in MODULES:
        importlib.import_module(name)
    while True:
        text, streams, *_ = socket.recv_fds(connection, 1 << 16, 3)
        while text and not text.endswith(b"\n"):
            text += connection.recv(1 << 16)
        if not text:
            return
        process = os.fork()
        if process == 0:
            connection.close()
            become(*json.loads(text), streams)
            main()
        for stream in streams:
            os.close(stream)
        connection.sendall(b"%d\n" % process)
        connection.sendall(b"%d\n" % os.waitpid(process, 0)[1])


def become(arguments: list[str], folder: str, variables: dict[str, str], streams: list[int]) -> None:
    """Give this process what Python gives one that it starts."""
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(variables)
    sys.argv[1:] = arguments
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    sys.stdin = open(0, encoding="utf-8", errors="surrogateescape", closefd=False)  # noqa: SIM115
    sys.stdout = open(1, "w", encoding="utf-8", errors="surrogateescape", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", 1, encoding="utf-8", errors="backslashreplace", closefd=False)  # noqa: SIM115


if __name__ == "__main__":
    serve(socket.socket(fileno=int(sys.argv[1])))
