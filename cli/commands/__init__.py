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
    """The result of a command that gives one; `run` writes what its program prints on the way."""
    if request.command == "run":
        from . import run

        return run.answer(request, environment, output, style)
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
