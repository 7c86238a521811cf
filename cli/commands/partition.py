"""`partition` and `stitch`: dynamic_partition and dynamic_stitch of values given on the command line."""

from __future__ import annotations

from ... import program
from ...parser.errors import AdiffError
from ...parser.source import Source, Span
from .. import errors
from ..bindings import plain_value, value_of
from ..formats.numbers import is_array
from ..options import COMMANDS
from ..result import Result, attach

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..request import Request

LIMITS = ("dtype", "max_steps", "max_memory", "timeout")


class Parted:
    """What the table of a partition or stitch is drawn from."""

    __slots__ = ("data", "gradients", "indices", "result")

    def __init__(self, data: Any, indices: Any, result: Any, gradients: Any) -> None:
        self.data = data
        self.indices = indices
        self.result = result
        self.gradients = gradients


def answer(request: Request) -> Result:
    """Divide or put together."""
    return partition(request) if request.command == "partition" else stitch(request)


def partition(request: Request) -> Result:
    """The parts, and with --grad the gradient of the sum of the squares of their entries."""
    at = {name: value_of(name.upper(), request.arguments[name]) for name in ("data", "partitions", "n")}
    parted = evaluate(request, "value", "dynamic_partition(data, partitions, n)", at)
    parts = list(parted.value)
    result = Result({"partitions": parts})
    result.lines = [(str(index), part) for index, part in enumerate(parts)]
    result.columns = [(f"partition.{index}", part) for index, part in enumerate(parts)]
    gradients = None
    outcomes = [parted]
    if request.flag("grad"):
        text = "sum([sum(part ** 2) for part in dynamic_partition(data, partitions, n)])"
        outcomes.append(evaluate(request, "grad", text, at, ["data"]))
        gradients = outcomes[-1].gradients
    finish(result, outcomes, gradients)
    result.subject = Parted(plain_value(at["data"]), plain_value(at["partitions"]), parts, gradients)
    return result


def stitch(request: Request) -> Result:
    """The whole, and with --grad the gradient of the sum of the squares of its entries."""
    indices, data = listed(request, "indices"), listed(request, "data")
    if len(indices) != len(data):
        raise errors.usage(f"INDICES has {len(indices)} parts and DATA has {len(data)}", "each part needs its rows")
    numbers = range(len(data))
    at = {f"indices_{k}": indices[k] for k in numbers} | {f"data_{k}": data[k] for k in numbers}
    rows, parts = (", ".join(f"{name}_{k}" for k in numbers) for name in ("indices", "data"))
    text = f"dynamic_stitch([{rows}], [{parts}])"
    whole = evaluate(request, "value", text, at)
    result = Result({"result": whole.value})
    result.lines = result.columns = [("result", whole.value)]
    gradients = None
    outcomes = [whole]
    if request.flag("grad"):
        names = [f"data_{k}" for k in numbers]
        outcomes.append(evaluate(request, "grad", f"sum({text} ** 2)", at, names))
        gradients = {"data": [outcomes[-1].gradients[name] for name in names]}
    finish(result, outcomes, gradients)
    result.subject = Parted(data, indices, whole.value, gradients)
    return result


def evaluate(request: Request, command: str, text: str, at: dict[str, Any], wrt: list[str] | None = None) -> Any:
    """Evaluate a program that this command writes itself."""
    given: dict[str, Any] = {key: request.options[key] for key in LIMITS if key in request.options}
    try:
        return program(text, f"<{request.command}>").evaluate(command, at=at, wrt=wrt, **given)
    except AdiffError as error:
        raise placed(request, error) from None


def placed(request: Request, error: AdiffError) -> AdiffError:
    """The error with its place in the argument at fault: the program is none that the user wrote."""
    about = next((name for name in request.arguments if error.message.startswith(name)), None)
    if error.span is not None and error.span.source.name == f"<{request.command}>":
        text = request.arguments.get(about or "", "")
        error.span = Span(Source(text, (about or "").upper()), 0, len(text)) if about else None
    return error


def listed(request: Request, name: str) -> list[Any]:
    """The parts of an argument that must be a list."""
    text = request.arguments[name]
    value = plain_value(value_of(name.upper(), text))
    parts = list(value) if is_array(value) and value.ndim else value
    if not isinstance(parts, list | tuple):
        example = COMMANDS["stitch"].examples[0]
        raise errors.usage(f"{name.upper()} must be a list of parts", f"for example: {example}")
    # Whole numbers as typed may become floats; an array has a dtype, and keeps it.
    bare = not text.startswith("@")
    return [part.tolist() if bare and is_array(part) and part.dtype.kind == "i" else part for part in parts]


def finish(result: Result, outcomes: list[Any], gradients: dict[str, Any] | None) -> None:
    """Add the gradients, and what the evaluations have to say beside their values, once."""
    if gradients is not None:
        result.document["gradients"] = gradients
        named = [(f"d_{name}", value) for name, value in gradients.items()]
        result.lines = [*result.lines, *named]
        result.columns = [*result.columns, *named]
    first, *others = outcomes
    said = {notice.message for notice in first.notices}
    for other in others:
        first.notices.extend(notice for notice in other.notices if notice.message not in said)
    attach(result, first)
