"""Where results go: standard output, or a file that appears whole or not at all."""

from __future__ import annotations

import os
import stat

from . import errors

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TextIO

    from .environment import Environment
    from .formats import Style


class ClosedPipe(Exception):
    """Nobody reads standard output any more."""


class Output:
    """Text on its way to its place. `commit` makes a file appear; `discard` leaves no trace of it, or, once it is kept, what
    was written whole."""

    def __init__(
        self, environment: Environment, path: str | None, resumed: bool = False, style: Style | None = None
    ) -> None:
        self.environment = environment
        self.style: Any = style  # None where there is nothing but plain text
        self.path = path
        self.temporary: str | None = None
        self.file: TextIO | None = None
        self.kept: int | None = None  # bytes of a file with its name that were written whole
        self.advice = ""  # what to say where no more than these are written
        if path is not None:
            self.open(path, resumed)

    def open(self, path: str, resumed: bool) -> None:
        """Open the file beside its final place, or the place itself where that is a device or pipe, or to be `resumed`."""
        try:
            if not path:
                raise ValueError
            mode = os.stat(path).st_mode if os.path.exists(path) else None
            if mode is not None and not stat.S_ISREG(mode):
                self.file = open(path, "w", encoding="utf-8", newline="")  # noqa: SIM115
                return
            # A link stays one: the file it leads to is replaced.
            self.path = target = os.path.realpath(path)
            if resumed and mode is not None:
                self.file = open(target, "r+", encoding="utf-8", errors="backslashreplace", newline="")  # noqa: SIM115
                self.kept = os.stat(target).st_size
                return
            temporary = os.path.join(os.path.dirname(target), f".adiff-{os.urandom(6).hex()}.tmp")
            # As a plain `open` would: the umask rules a new file, and an old one keeps its mode.
            descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
            self.temporary = temporary
            if mode is not None:
                os.fchmod(descriptor, stat.S_IMODE(mode))
            self.file = open(descriptor, "w", encoding="utf-8", errors="backslashreplace", newline="")  # noqa: SIM115
        except ValueError:
            raise errors.unwritable(repr(path), "is not a file name") from None
        except OSError as error:
            self.discard()
            raise errors.unwritable(path, errors.reason(error)) from None

    def write(self, text: str) -> None:
        """Write, and flush so that a whole record is with its reader."""
        stream = self.stream()
        self.attempt(lambda: (stream.write(text), stream.flush()))

    def write_bytes(self, data: bytes) -> None:
        """Write what is no text, or is encoded already."""
        stream = self.stream()
        binary = getattr(stream, "buffer", None)
        if binary is None:
            self.write(data.decode())
            return
        self.attempt(lambda: (binary.write(data), binary.flush()))

    def stream(self) -> TextIO:
        stream = self.file if self.path is not None else self.environment.stdout
        if stream is None:
            raise errors.unwritable("standard output", "is closed")
        return stream

    def attempt(self, write: Callable[[], object]) -> None:
        """Write; raises AdiffError E0713 where that cannot be done, and ClosedPipe where nobody reads."""
        try:
            write()
            if self.kept is not None:
                self.kept = os.fstat(self.stream().fileno()).st_size
        except BrokenPipeError:
            silence(self.stream())
            raise ClosedPipe from None
        except OSError as error:
            silence(self.stream())
            raise errors.unwritable(self.path or "standard output", errors.reason(error)) from None

    def keep(self) -> None:
        """Give the file its name before all is written. Whatever happens then, what is written whole stays."""
        if self.temporary is not None and self.path is not None:
            try:
                os.replace(self.temporary, self.path)
            except OSError:
                return  # Windows renames no file that is open: it appears at its end
            self.temporary = None
            self.kept = os.stat(self.path).st_size

    def resume(self, size: int) -> None:
        """Go on after so many bytes of a file that was there."""
        if self.file is not None:
            self.file.truncate(size)
            self.file.seek(0, os.SEEK_END)
            self.kept = size

    def commit(self) -> None:
        """All is written: give the file its name."""
        if self.file is None or self.path is None:
            return
        try:
            self.file.close()
            self.file = None
            if self.temporary is not None:
                os.replace(self.temporary, self.path)
                self.temporary = None
        except BrokenPipeError:
            raise ClosedPipe from None
        except OSError as error:
            self.discard()
            raise errors.unwritable(self.path, errors.reason(error)) from None

    def discard(self) -> None:
        """Remove what was written so far, or of a file that is kept what is not whole."""
        if self.kept is not None and self.path is not None and self.file is not None:
            file, self.file = self.file, None
            silence(file)
            try:
                os.truncate(self.path, self.kept)
            except OSError:
                return  # it was removed
            self.environment.write_error(self.advice)
        if self.temporary is not None:
            temporary, self.temporary = self.temporary, None
            try:
                os.unlink(temporary)
            except OSError:
                pass


def silence(stream: TextIO) -> None:
    """Send what is left in the stream's buffer nowhere, so that the flush at exit cannot fail."""
    try:
        descriptor = os.open(os.devnull, os.O_WRONLY)
        os.dup2(descriptor, stream.fileno())
        os.close(descriptor)
    except (OSError, ValueError):
        pass
