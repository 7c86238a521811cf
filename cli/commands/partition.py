"""`partition`: dynamic_partition of values given on the command line."""

from __future__ import annotations

from types import SimpleNamespace

from ...engine.command import COMPUTED, DERIVATIVE, PARTITION, Argument, Command, Option
from ...parser.errors import AdiffError
from ...parser.source import Source, Span
from ..bindings import plain_value, value_of
from ..formats.numbers import entries
from ..result import Result, attach

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..output import Output
    from ..request import Request


def answer(request: Request, output: Output) -> Result:
    """The parts, and with --grad the gradient of the sum of the squares of their entries."""
    at = {name: value_of(name.upper(), request.arguments[name]) for name in ("data", "partitions", "n")}
    parted = evaluate(request, "value", "dynamic_partition(data, partitions, n)", at)
    parts = list(parted.value)
    result = Result({"partitions": parts})
    result.lines = [(str(index), part) for index, part in enumerate(parts)]
    result.columns = [(f"partition.{index}", part) for index, part in enumerate(parts)]
    text = "sum([sum(part ** 2) for part in dynamic_partition(data, partitions, n)])"
    gradient = add_gradient(request, result, parted, text, at, ["data"])
    result.subject = SimpleNamespace(indices=plain_value(at["partitions"]), result=parts, gradient=gradient)
    return result


def evaluate(request: Request, command: str, text: str, at: dict[str, Any], wrt: list[str] | None = None) -> Any:
    """Evaluate a program that this command writes itself."""
    given: dict[str, Any] = {o.key: request.options[o.key] for o in COMPUTED if o.key in request.options}
    from ... import program

    try:
        return program(text, f"<{request.command}>").evaluate(command, at=at, wrt=wrt, **given)
    except AdiffError as error:
        raise placed(request, error) from None


def placed(request: Request, error: AdiffError) -> AdiffError:
    """The error with its place in the argument at fault: the program is none that the user wrote."""
    said = error.message.rpartition(": ")[2]  # behind the operation's name
    about = next((name for name in request.arguments if said.startswith(name)), None)
    if error.span is not None and error.span.source.name == f"<{request.command}>":
        text = request.arguments.get(about or "", "")
        error.span = Span(Source(text, (about or "").upper()), 0, len(text)) if about else None
    return error


def add_gradient(request: Request, result: Result, outcome: Any, text: str, at: dict[str, Any], wrt: list[str]) -> Any:
    """Add, with --grad, the gradient of a sum by the data or by each of their parts, and what the evaluations have to say
    beside their values, once."""
    gradient = None
    if request.flag("grad"):
        found = evaluate(request, "grad", text, at, wrt)
        gradient = found.gradients["data"] if wrt == ["data"] else list(found.gradients.values())
        result.document["gradients"] = {"data": gradient}
        result.lines = [*result.lines, ("d_data", gradient)]
        result.columns = [*result.columns, ("d_data", gradient)]
        said = {notice.message for notice in outcome.notices}
        outcome.notices.extend(notice for notice in found.notices if notice.message not in said)
    attach(result, outcome)
    return gradient


def draw(drawing: Any, result: Result) -> None:
    """The parts, with the elements that went there."""
    parted = result.subject
    to = [(path, part) for path, part, _ in entries(parted.indices)]
    sources: list[list[str]] = [[] for _ in parted.result]
    for path, part in to:
        sources[part].append(bracketed(path) or "data")

    names = [f"part {index}" for index in range(len(sources))]
    elements = [shorten(drawing, origin) for origin in sources]
    drawing.columns(("part", "elements", "values"), names, elements, parted.result)
    if parted.gradient is not None:
        drawing.heading("gradient of the sum of squares, by data")
        drawing.value(parted.gradient)


def bracketed(path: tuple[int | str, ...]) -> str:
    """`[0,1]`, or nothing for a scalar."""
    return f"[{','.join(map(str, path))}]" if path else ""


def shorten(drawing: Any, names: list[str]) -> str:
    """The first few of many names."""
    shown = " ".join(names[:8])
    return f"{shown} {drawing.marks.ellipsis} {len(names) - 8} more" if len(names) > 8 else shown


GRAD = Option("--grad", "flag", "", DERIVATIVE, "Add the gradient of the sum of squares.")

COMMAND = Command(
    "partition", PARTITION, "Divide data into N parts (dynamic_partition).",
    ('adiff partition "[10,20,30]" "[0,1,0]" 2', 'adiff partition @table.csv "[1,0]" 2 --grad --json'),
    (*COMPUTED, GRAD),
    (
        Argument("data", "DATA", "What to divide: a constant expression or @file."),
        Argument("partitions", "PARTITIONS", "The part each element goes to: integers from 0 to N-1."),
        Argument("n", "N", "How many parts."),
    ),
    answer=answer, draw=draw, keys={"partitions": "the parts"},
)  # fmt: skip
