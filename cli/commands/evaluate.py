"""The commands that evaluate one program: value grad jacobian hessian jvp vjp hvp derivative tape check."""

from __future__ import annotations

from ... import program
from ...parser.errors import AdiffError
from ..bindings import bind, value_of
from ..files import is_file
from ..result import from_outcome
from ..text import program_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ...engine.api import Program
    from ..environment import Environment
    from ..request import Request
    from ..result import Result

# Options that the engine takes by the same name.
ENGINE_OPTIONS = (
    "dtype",
    "kinks",
    "mode",
    "order",
    "sparse",
    "max_steps",
    "max_memory",
    "timeout",
    "checkpoint",
    "engine",
    "emit",
)


def answer(request: Request, environment: Environment) -> Result:
    """Evaluate the request's program."""
    if "emit" in request.options and "graph" in request.options:
        raise AdiffError("E0812", "--emit and --graph ask for two things at once", None, "give one of them")
    text, name = program_text(request, environment)
    try:
        parsed = program(text, name)
        at = inputs(request, parsed)
        outcome = parsed.evaluate(request.command, at=at, wrt=request.texts("wrt") or None, **options(request))
    except AdiffError as error:
        raise meant_as_file(request, error) from None
    return from_outcome(request.command, text, at, outcome)


def meant_as_file(request: Request, error: AdiffError) -> AdiffError:
    """The error, with a better hint where the expression is the name of a file."""
    path = request.arguments.get("expression", "")
    if error.kind in ("syntax", "name", "usage") and "." in path and is_file(path):
        error.hint = f"an expression is never read as a file: write -f {path}"
    return error


def inputs(request: Request, parsed: Program) -> dict[str, Any]:
    """What the request binds. A name such as `e` or `pi` is an input only where it is bound."""
    read = {*parsed.inputs, *parsed.optional}
    return bind("--at", request.texts("at"), request.bound.get("at", {}), read, limits(request))


def limits(request: Request) -> dict[str, Any]:
    """The limits in force, which hold for the values of bindings as well."""
    return {key: request.options[key] for key in ("max_steps", "max_memory", "timeout") if key in request.options}


def options(request: Request) -> dict[str, Any]:
    """What the engine is told beside inputs and sources."""
    given: dict[str, Any] = {key: request.options[key] for key in ENGINE_OPTIONS if key in request.options}
    for key in ("tangent", "vector"):
        if key in request.options or key in request.bound:
            given[key] = bind(f"--{key}", request.texts(key), request.bound.get(key, {}), (), limits(request))
    if "cotangent" in request.options:
        given["cotangent"] = value_of("--cotangent", request.text("cotangent"), limits(request))
    return given
