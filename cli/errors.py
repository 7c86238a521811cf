"""The command line's own mistakes. Each function gives the error of one family code, for the caller to raise."""

from __future__ import annotations

from errno import EAGAIN, EMFILE, ENFILE, ENOMEM, ENOSPC

from ..parser.errors import AdiffError


def usage(message: str, hint: str | None = None) -> AdiffError:
    """A command line that asks for nothing: unknown command or option, missing or surplus argument."""
    return AdiffError("E0811", message, hint=hint)


def bad_value(option: str, message: str, hint: str | None = None) -> AdiffError:
    """An option whose value means nothing."""
    return AdiffError("E0812", f"{option}: {message}", hint=hint)


def bad_binding(message: str, hint: str | None = None) -> AdiffError:
    """A binding that is malformed, given twice, or for a name that is no input."""
    return AdiffError("E0813", message, hint=hint)


def unreadable(path: str, message: str, hint: str | None = None) -> AdiffError:
    """A file that cannot be read."""
    return AdiffError("E0711", f"{path}: {message}", hint=hint)


def unusable(path: str, message: str, hint: str | None = None) -> AdiffError:
    """A file that was read and holds no usable data."""
    return AdiffError("E0712", f"{path}: {message}", hint=hint)


def unwritable(path: str, message: str) -> AdiffError:
    """A place the result cannot be written to."""
    return AdiffError("E0713", f"{path}: {message}")


def reason(error: OSError) -> str:
    """What the operating system says, in lower case as in the rest of a message."""
    text = error.strerror or str(error)
    return text[:1].lower() + text[1:]


def why_not_loaded(error: ImportError) -> str:
    """What the system said of a library; NumPy hides it among advice."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    said = next((line.partition(":")[2].strip() for line in lines if line.startswith("Original error was:")), "")
    return (said or (lines or ["it is not there"])[0])[:200]


FAULT = 70  # the exit status of a fault of adiff's own


# What the system says of a process that has no more memory, threads, files or room on a disk.
SPENT = (ENOMEM, EAGAIN, EMFILE, ENFILE, ENOSPC)
LIMITED = "is there enough memory? `ulimit -a` shows what this process may have"


def from_exception(error: Exception) -> AdiffError:
    """The error to show for whatever was raised."""
    if isinstance(error, AdiffError):
        return error
    from ..engine.core.limits import is_not_loaded

    if isinstance(error, MemoryError):
        return AdiffError("E0611", "out of memory", hint="--max-memory sets a limit; smaller tensors need less")
    if isinstance(error, RecursionError):
        return AdiffError("E0612", "nested too deeply")
    if isinstance(error, ImportError) and is_not_loaded(error):
        return AdiffError("E0611", f"a library cannot be loaded: {why_not_loaded(error)}", hint=LIMITED)
    if isinstance(error, OSError) and error.errno in SPENT:
        return AdiffError("E0611", reason(error), hint=LIMITED)
    if isinstance(error, RuntimeError) and "thread" in str(error):  # Python's words for one that the system refuses
        return AdiffError("E0611", str(error), hint=LIMITED)
    message = f"a fault of adiff's own: {type(error).__name__}: {str(error)[:200]}"
    return AdiffError("E0911", message, hint="--debug shows the trace; please report it")
