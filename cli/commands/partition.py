"""`partition` and `stitch`: dynamic_partition and dynamic_stitch of values given on the command line."""

from __future__ import annotations

from ... import program
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
    outcome = evaluate(request, "value", "dynamic_partition(data, partitions, n)", at)
    parts = list(outcome.value)
    result = Result({"partitions": parts})
    result.lines = [(str(index), part) for index, part in enumerate(parts)]
    result.columns = [(f"partition.{index}", part) for index, part in enumerate(parts)]
    gradients = None
    if request.flag("grad"):
        text = "sum([sum(part ** 2) for part in dynamic_partition(data, partitions, n)])"
        gradients = evaluate(request, "grad", text, at, ["data"]).gradients
        add_gradients(result, gradients)
    attach(result, outcome)
    plain = {name: plain_value(value) for name, value in at.items()}
    result.subject = Parted(plain["data"], plain["partitions"], parts, gradients)
    return result


def stitch(request: Request) -> Result:
    """The whole, and with --grad the gradient of the sum of the squares of its entries."""
    indices, data = (listed(request, name) for name in ("indices", "data"))
    if len(indices) != len(data):
        raise errors.usage(f"INDICES has {len(indices)} parts and DATA has {len(data)}", "each part needs its rows")
    at = {f"indices_{k}": part for k, part in enumerate(indices)} | {f"data_{k}": part for k, part in enumerate(data)}
    stitched = "dynamic_stitch([{}], [{}])".format(
        ", ".join(f"indices_{k}" for k in range(len(indices))), ", ".join(f"data_{k}" for k in range(len(data)))
    )
    outcome = evaluate(request, "value", stitched, at)
    result = Result({"result": outcome.value})
    result.lines = result.columns = [("result", outcome.value)]
    gradients = None
    if request.flag("grad"):
        names = [f"data_{k}" for k in range(len(data))]
        by_part = evaluate(request, "grad", f"sum({stitched} ** 2)", at, names).gradients
        gradients = {"data": [by_part[name] for name in names]}
        add_gradients(result, gradients)
    attach(result, outcome)
    result.subject = Parted(data, indices, outcome.value, gradients)
    return result


def evaluate(request: Request, command: str, text: str, at: dict[str, Any], wrt: list[str] | None = None) -> Any:
    """Evaluate a program that this command writes itself."""
    given: dict[str, Any] = {key: request.options[key] for key in LIMITS if key in request.options}
    return program(text, f"<{request.command}>").evaluate(command, at=at, wrt=wrt, **given)


def listed(request: Request, name: str) -> list[Any]:
    """The parts of an argument that must be a list."""
    value = plain_value(value_of(name.upper(), request.arguments[name]))
    parts = list(value) if is_array(value) and value.ndim else value
    if not isinstance(parts, list | tuple):
        example = COMMANDS["stitch"].examples[0]
        raise errors.usage(f"{name.upper()} must be a list of parts", f"for example: {example}")
    return list(parts)


def add_gradients(result: Result, gradients: dict[str, Any]) -> None:
    """The gradients, after what the command gives without --grad."""
    result.document["gradients"] = gradients
    named = [(f"d_{name}", value) for name, value in gradients.items()]
    result.lines = [*result.lines, *named]
    result.columns = [*result.columns, *named]
