"""What each command does with a request. A module is loaded when its command is asked for."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..environment import Environment
    from ..formats import Style
    from ..output import Output
    from ..request import Request
    from ..result import Result


def answer(request: Request, environment: Environment, output: Output, style: Style) -> Result:
    """The result of a command that gives one, with a notice where a kernel was asked for and the tape has answered; `run`
    writes what its program prints on the way."""
    result = result_of(request, environment, output, style)
    if result.engine == "tape" and request.text("engine", "auto") == "kernel":
        from ...engine.outcome import Notice

        because = f": {result.reason}" if result.reason else ""
        result.note(Notice("N0804", f"--engine kernel: the tape answered{because}", result.reason_span))
    return result


def result_of(request: Request, environment: Environment, output: Output, style: Style) -> Result:
    if request.command == "run":
        from . import run

        return run.answer(request, environment, output, style)
    if request.command == "minimize":
        from . import minimize

        return minimize.answer(request, environment, output, style)
    if request.command in ("partition", "stitch"):
        from . import partition

        return partition.answer(request)
    if request.command == "ops":
        from . import ops

        return ops.answer(request)
    if request.command == "cache":
        from . import cache

        return cache.answer(request)
    from . import evaluate

    return evaluate.answer(request, environment)
