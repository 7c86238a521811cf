"""What each command does with a request: its program, from an expression, a file or standard input, and what it is evaluated
with; those that evaluate it at a point do it here."""

from __future__ import annotations

from functools import lru_cache
from os.path import isfile

from ..parser.errors import AdiffError
from . import errors
from .bindings import bind, value_of
from .commands import COMMANDS
from .files import STANDARD_INPUT, read_text
from .result import from_outcome

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ..engine.api import Program
    from .environment import Environment
    from .output import Output
    from .request import Request
    from .result import Result


def answer(request: Request, output: Output) -> Result:
    """The result of a command that gives one, with a notice where a kernel was asked for and the tape has answered; `run`
    writes what its program prints on the way."""
    command = COMMANDS[request.command]
    try:
        result = (command.answer or evaluated)(request, output)
    except AdiffError as error:
        raise meant_as_file(request, error) from None
    result.draw = result.draw or command.draw
    if result.engine == "tape" and request.text("engine", "auto") == "kernel":
        from ..engine.outcome import Notice

        because = f": {result.reason}" if result.reason else ""
        result.notices.append(Notice("N0804", f"--engine kernel: the tape answered{because}", result.reason_span))
    return result


def evaluated(request: Request, output: Output) -> Result:
    """Evaluate the request's program."""
    command = COMMANDS[request.command]
    if "emit" in request.options and "graph" in request.options:
        raise AdiffError("E0812", "--emit and --graph ask for two things at once", None, "give one of them")
    program = program_of(request, output.environment)
    if "rows" in request.options or "over" in request.options:
        from .tables import run

        return run.answer(request, program, output)
    at = inputs(request, program)
    printer = Printer(output, output.environment.write_error)
    write = None if request.flag("quiet") else printer.write
    wrt = request.texts("wrt") or None
    outcome = program.evaluate(request.command, at=at, wrt=wrt, write=write, **options(request))
    result = from_outcome(command, program.source.text, at, outcome)
    printer.finish(result)
    return result


class Printer:
    """What a program prints: passed on line by line, or kept for the answer where that is JSON."""

    def __init__(self, output: Output, target: Callable[[str], object]) -> None:
        self.kept = output.style.format in ("json", "ndjson")
        self.target = target
        self.texts: list[str] = []  # all of them, or those of a line without an end

    def write(self, text: str) -> None:
        """Take what one print() gave."""
        self.texts.append(text)
        if "\n" in text and not self.kept:
            whole, end, rest = "".join(self.texts).rpartition("\n")
            self.target(whole + end)
            self.texts = [rest]

    def finish(self, result: Result) -> None:
        """Give the answer what is kept, or write a last line that has no end."""
        text = "".join(self.texts)
        if self.kept and text:
            result.document = {"printed": text.removesuffix("\n").split("\n"), **result.document}
        elif text:
            self.target(text + "\n")


def meant_as_file(request: Request, error: AdiffError) -> AdiffError:
    """The error, with a better hint where the expression is the name of a file."""
    path = request.arguments.get("expression", "")
    if error.kind in ("syntax", "name", "usage") and "." in path and isfile(path):
        error.advice = f"an expression is never read as a file: write -f {path}"
    return error


def program_of(request: Request, environment: Environment) -> Program:
    """A request's program. Its name is the label that diagnostics print."""
    expression = request.arguments.get("expression")
    if expression is not None and expression != "-":
        return parsed(expression, "<expr>")
    path = expression or request.arguments.get("file") or request.text("file")
    if path == "-":
        return parsed(read_text(STANDARD_INPUT, environment.input()), STANDARD_INPUT)
    text = read_text(path)
    if text.lstrip()[:1] == "{" and '"nbformat"' in text:
        hint = f"its cells as a program: jupyter nbconvert --to script {path}"
        raise errors.unusable(path, "is a Jupyter notebook, and no program", hint)
    return parsed(text, path)


@lru_cache(maxsize=1_000)
def parsed(text: str, name: str) -> Program:
    """The program of a text, with the kernels that it has by now where another line had the same."""
    from .. import program

    return program(text, name)


def inputs(request: Request, parsed: Program) -> dict[str, Any]:
    """What the request binds. A name such as `e` or `pi` is an input only where it is bound."""
    read = {*parsed.inputs, *parsed.optional}
    return bind("--at", request.texts("at"), request.bound.get("at", {}), read, limits(request))


def limits(request: Request) -> dict[str, Any]:
    """The limits in force, which hold for the values of bindings as well."""
    return {key: request.options[key] for key in ("max_steps", "max_memory", "timeout") if key in request.options}


def options(request: Request) -> dict[str, Any]:
    """What the engine is told beside inputs and sources."""
    command = COMMANDS[request.command]
    found: dict[str, Any] = {}
    for key in (*request.options, *request.bound):
        option = command.given(key)
        if option is not None and option.kind == "bindings":
            found[key] = bind(option.long, request.texts(key), request.bound.get(key, {}), (), limits(request))
        elif option is not None and option.kind == "value":
            found[key] = value_of(option.long, request.text(key), limits(request))
        elif option is not None:
            found[key] = request.options[key]
    return found
