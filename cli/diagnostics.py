"""Errors and notices as text for a person, or as the JSON object for a script."""

from __future__ import annotations

from ..parser import cache
from .environment import is_ascii, is_terminal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..parser.errors import AdiffError
    from ..parser.source import Span
    from .environment import Environment
    from .request import Request
    from .result import Result


MAGENTA = "\x1b[1;35m"


def error_document(error: AdiffError) -> dict[str, Any]:
    """An error for JSON."""
    content = {
        "code": error.code,
        "kind": error.kind,
        "message": error.message,
        "span": error.span,
        "hint": error.advice,
    }
    return {**content, "notices": error.notices} if error.notices else content


def error_text(error: AdiffError, environment: Environment, as_json: bool, colour: str, command: str | None) -> str:
    """An error of a command, if it is one, as standard error shows it."""
    if as_json:
        from .formats.json import SCHEMA, dumps

        content = {"schema": SCHEMA, "command": command, "error": error_document(error)}
        return dumps(content, ascii=True) + "\n"
    from ..parser.render import render

    return render(error, **appearance(environment, colour)) + "\n"


def report_notices(result: Result | AdiffError, request: Request, environment: Environment, line: str = "") -> None:
    """Say on standard error what a user should know about a result, or came before an error; before it the `line` of a batch."""
    if not request.flag("quiet"):
        for notice in result.notices:
            tell(f"notice[{notice.code}]", notice.message, notice.span, request, environment, line)


def tell(
    label: str, message: str, span: Span | None, request: Request, environment: Environment, line: str = ""
) -> None:
    """Say on standard error what is beside an answer, drawn as an error is: its place, the line with the place marked."""
    from ..parser.errors import AdiffError
    from ..parser.render import render

    shown = appearance(environment, request.text("color", "auto"))
    environment.write_error(line + render(AdiffError("", message, span), label=label, accent=MAGENTA, **shown) + "\n")


def report_engine(result: Result, request: Request, environment: Environment, line: str = "") -> None:
    """Say on standard error which tier of the engine ran, why, in which mode, and how long each stage took; before it the
    `line` of a batch."""
    if result.engine is not None:
        because = f" ({result.reason})" if result.reason and result.reason_span is None else ""
        environment.write_error(f"{line}engine: {result.engine}{because}\n")
    if result.reason_span is not None:
        tell("reason", result.reason or "", result.reason_span, request, environment)
    if result.engine == "kernel" and not line:
        environment.write_error("kernel: 'adiff tape --emit' shows its source\n")
    if result.mode is not None:
        environment.write_error(f"{line}mode: {result.mode}\n")
    if result.timings:
        names = {"compile": "load"} if result.loaded else {}
        stages = ", ".join(
            f"{names.get(name, name)} {1e3 * seconds:.2f} ms" for name, seconds in result.timings.items()
        )
        environment.write_error(f"{line}timings: {stages}\n")
    if not line:
        report_cache(environment)


def report_cache(environment: Environment) -> None:
    """Say on standard error why nothing is kept, where that is so."""
    problem = cache.problem()
    if problem is not None:
        environment.write_error(f"cache: nothing is kept in {cache.folder()}: {problem}\n")


def appearance(environment: Environment, colour: str) -> dict[str, Any]:
    """How diagnostics are drawn: no limit of width where no person reads them."""
    stderr = environment.stderr
    return {
        "colour": environment.colour(stderr, colour),
        "ascii": is_ascii(stderr),
        "width": environment.width() if is_terminal(stderr) else None,
    }
