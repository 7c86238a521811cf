"""Where a program's text comes from: the expression itself, a file, or standard input."""

from __future__ import annotations

from functools import lru_cache

from . import errors
from .files import STANDARD_INPUT, read_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..engine.api import Program
    from .environment import Environment
    from .request import Request


def program_text(request: Request, environment: Environment) -> tuple[str, str]:
    """The text of a request's program, and the label that diagnostics print for it."""
    expression = request.arguments.get("expression")
    if expression is None:
        path = request.arguments.get("file") or request.text("file")
    elif expression == "-":
        path = "-"
    else:
        return expression, "<expr>"
    if path == "-":
        return read_text(STANDARD_INPUT, environment.input()), STANDARD_INPUT
    text = read_text(path)
    if text.lstrip()[:1] == "{" and '"nbformat"' in text:
        hint = f"its cells as a program: jupyter nbconvert --to script {path}"
        raise errors.unusable(path, "is a Jupyter notebook, and no program", hint)
    return text, path


def program_of(request: Request, environment: Environment) -> Program:
    """A request's program."""
    return parsed(*program_text(request, environment))


@lru_cache(maxsize=1_000)
def parsed(text: str, name: str) -> Program:
    """The program of a text, with the kernels that it has by now where another line had the same."""
    from .. import program

    return program(text, name)
