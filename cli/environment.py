"""Everything outside the program that a command may touch: streams, terminals, variables. Tests inject their own."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, MutableMapping
    from typing import BinaryIO, TextIO

VARIABLES = (
    ("ADIFF_CACHE_DIR", "the folder of what is kept between runs"),
    ("ADIFF_THREADS", "threads of one command (default: the cores)"),
    ("ADIFF_FORMAT, ...", "defaults of options; 'adiff config' lists them"),
    ("COLUMNS", "the width of tables"),
    ("NO_COLOR, FORCE_COLOR", "no colour, and colour without a terminal"),
)
COMPLETION = "_ADIFF_COMPLETE"  # the variable by which a shell's completion script calls


class Environment:
    """The streams (None where the parent closed one), what is known of them, and the environment variables."""

    def __init__(
        self, stdin: TextIO | None, stdout: TextIO | None, stderr: TextIO | None, variables: Mapping[str, str]
    ) -> None:
        self.stdin = stdin
        self.stdout = stdout
        self.stderr = stderr
        self.variables = variables

    @classmethod
    def system(cls) -> Environment:
        """The environment of this process. A character that a stream cannot show is written as an escape."""
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:
                try:
                    "x\n".encode(stream.encoding, "backslashreplace")
                    stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
                except UnicodeError:  # idna and its like are no encodings of text
                    stream.reconfigure(encoding="utf-8", errors="backslashreplace")  # type: ignore[union-attr]
        drop_what_means_nothing(os.environ)
        return cls(sys.stdin, sys.stdout, sys.stderr, os.environ)

    def width(self) -> int:
        """Columns to draw a table in."""
        columns = self.variables.get("COLUMNS", "")
        if columns.isdecimal() and len(columns) < 5 and int(columns):
            return int(columns)
        for stream in (self.stdout, self.stderr, self.stdin):
            try:
                if stream is not None and (found := os.get_terminal_size(stream.fileno()).columns):
                    return found
            except (OSError, ValueError):
                continue
        return 80

    def colour(self, stream: TextIO | None, when: str = "auto") -> bool:
        """Whether to colour what goes to a stream; https://no-color.org and https://force-color.org."""
        if when != "auto":
            return when == "always"
        if self.variables.get("NO_COLOR"):
            return False
        if self.variables.get("FORCE_COLOR"):
            return True
        return is_terminal(stream) and self.variables.get("TERM") != "dumb"

    def write_error(self, text: str) -> None:
        """Write to standard error, if anyone still reads it."""
        if self.stderr is not None:
            try:
                self.stderr.write(text)
                self.stderr.flush()
            except (OSError, ValueError):
                self.stderr = None

    def flush(self) -> None:
        """Send on what is still in the streams, if anyone still reads them."""
        for stream in (self.stdout, self.stderr):
            try:
                if stream is not None:
                    stream.flush()
            except (OSError, ValueError):
                continue

    def input(self) -> BinaryIO:
        """Standard input as bytes, which is empty where the parent closed it."""
        from io import BytesIO

        binary: BinaryIO | None = getattr(self.stdin, "buffer", None)
        return binary or BytesIO(self.stdin.read().encode() if self.stdin is not None else b"")


def drop_what_means_nothing(variables: MutableMapping[str, str]) -> None:
    """Take out variables whose values libraries would fail on."""
    for name in ("COLUMNS", "LINES", "TERMINAL_WIDTH"):
        text = variables.get(name, "80")
        if not (text.isascii() and text.isdigit() and len(text) < 5):
            del variables[name]
    position = variables.get("COMP_CWORD", "")
    if variables.get(COMPLETION) == "complete_bash" and not ("COMP_WORDS" in variables and position.isdecimal()):
        del variables[COMPLETION]


def is_terminal(stream: TextIO | None) -> bool:
    """Whether a person is at the other end."""
    try:
        return stream is not None and stream.isatty()
    except ValueError:
        return False


def is_ascii(stream: TextIO | None) -> bool:
    """Whether a stream shows nothing beyond ASCII reliably."""
    encoding = getattr(stream, "encoding", None) or "utf-8"
    return not encoding.lower().startswith("utf")
