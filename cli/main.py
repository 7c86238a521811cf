"""The console script: argv → exit status, behind the one error boundary."""

from __future__ import annotations

import os
import sys
import time

from .. import __version__
from ..parser.errors import AdiffError
from . import config
from .commands import COMMANDS
from .decode import decode, text_given
from .diagnostics import error_text, report_engine, report_notices
from .environment import COMPLETION, Environment
from .errors import FAULT, from_exception, usage
from .evaluate import answer
from .formats import BINARY, pieces, style_of
from .interrupts import ABANDON, HEARD, deadline, status, watch
from .memory import guard
from .output import ClosedPipe, Output
from .request import resolve_engine

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from .request import Request
    from .result import Result

DONE, FAILED = 0, 1


def main() -> None:
    """What the `adiff` command does."""
    try:
        import gc

        gc.disable()  # One command allocates little garbage in cycles, and looking for it takes milliseconds.
        guard()
        watch()
        environment = Environment.system()
        code = run(sys.argv[1:], environment)
        environment.flush()
    except KeyboardInterrupt:  # before, or once more after, the one that `run` answers
        code = status()
    except Exception as error:  # while another was being told: no more memory, say, or files
        os.write(2, f"error: {error!r}\n".encode(errors="replace"))
        code = FAULT
    # Nothing is left to do, and an interpreter that takes itself apart needs a third of a small command's time.
    os._exit(code)


def run(tokens: Sequence[str], environment: Environment) -> int:
    """Do what a command line says and give its exit status. No exception leaves this function."""
    try:
        try:
            return execute(tokens, environment)
        except ClosedPipe:
            return DONE
        except Exception as error:
            if HEARD:
                return status()
            if "--debug" in tokens and not isinstance(error, AdiffError):
                import traceback

                environment.write_error(traceback.format_exc())
            return refuse(from_exception(error), tokens, environment)
    except KeyboardInterrupt:
        return status()


def execute(tokens: Sequence[str], environment: Environment) -> int:
    """Understand a command line and do it."""
    if tokens[:1] == ["--version"]:  # asked often, by scripts, and Typer takes longer than the rest together
        Output(environment, None).write(f"adiff {__version__}\n")
        return DONE
    if tokens[:1] == ["help"] and len(tokens) <= 2:
        tokens = [*tokens[1:], "--help"]
    request = None if COMPLETION in environment.variables else decode(tokens)
    if request is None:
        from .app import show

        return show(tokens)
    config.apply(request, environment.variables)
    resolve_engine(request)
    resumed = request.options.get("resume")
    if resumed is not None and request.options.setdefault("output", resumed) != resumed:
        raise usage("two files to write to: those of --resume and of -o", "--resume FILE writes to FILE")
    path = request.text("output") if "output" in request.options else "-"
    read = [request.options.get("rows"), request.options.get("file"), request.arguments.get("file")]
    if path != "-" and any(isinstance(x, str) and os.path.realpath(x) == os.path.realpath(path) for x in read):
        raise usage(f"{path} is read, and -o would write over it", "give the output a name of its own")
    output = Output(environment, None if path == "-" else path, resumed is not None, style_of(request, environment))
    ABANDON[:] = [output.discard]
    try:
        code = respond(request, output)
        output.commit()
    except AdiffError as error:
        if output.style.format not in ("json", "ndjson"):
            report_notices(error, request, environment)
        raise
    finally:
        output.discard()
    return code


def respond(request: Request, output: Output) -> int:
    """Answer a request on `output`."""
    if request.command == "batch":
        from .commands import batch

        return DONE if batch.run(request, output) else FAILED
    timer = None
    if "timeout" in request.options:
        from ..engine.core.watchdog import out_of_time

        seconds = float(request.options["timeout"])
        as_json, colour = output.style.format in ("json", "ndjson"), request.text("color", "auto")
        message = error_text(out_of_time(seconds), output.environment, as_json, colour, request.command)
        timer = deadline(seconds, message)
    try:
        result = answer(request, output)
        tell(result, request, output)
    finally:
        if timer is not None:
            timer.cancel()
    return DONE if result.ok else FAILED


def tell(result: Result, request: Request, output: Output) -> None:
    """Write an answer on `output`, and what is to be said beside it on standard error."""
    environment, style = output.environment, output.style
    # An object holds its notices; rows of their own have no place for them.
    if style.format != "json" and (style.format != "ndjson" or result.written):
        report_notices(result, request, environment)
    start = time.perf_counter()
    if style.format in BINARY and not result.written:
        from .tables.write import write_result

        write_result(request, result, output)
        result.written = True
    text = "".join(pieces(request, result, style))
    if result.timings:
        result.timings["output"] = time.perf_counter() - start
    if request.flag("verbose"):
        report_engine(result, request, environment)
    output.write(text)


def refuse(error: AdiffError, tokens: Sequence[str], environment: Environment) -> int:
    """Report an error; its code decides the exit status."""
    as_json = text_given(tokens, "--format") in ("json", "ndjson")
    command = COMMANDS.called(tokens[0]) if tokens else None
    colour = text_given(tokens, "--color") or "auto"
    environment.write_error(error_text(error, environment, as_json, colour, command.name if command else None))
    return error.exit_code
