"""`stitch`: dynamic_stitch of values given on the command line."""

from __future__ import annotations

from types import SimpleNamespace

from ...engine.command import COMPUTED, PARTITION, Argument, Command
from .. import errors
from ..bindings import plain_value, value_of
from ..formats.numbers import entries, is_array
from ..result import Result
from .partition import GRAD, add_gradient, bracketed, evaluate

MOST_ROWS = 24  # that are listed one by one

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..output import Output
    from ..request import Request


def answer(request: Request, output: Output) -> Result:
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
    gradient = add_gradient(request, result, whole, f"sum({text} ** 2)", at, [f"data_{k}" for k in numbers])
    result.subject = SimpleNamespace(indices=indices, result=whole.value, gradient=gradient)
    return result


def listed(request: Request, name: str) -> list[Any]:
    """The parts of an argument that must be a list."""
    text = request.arguments[name]
    value = plain_value(value_of(name.upper(), text))
    parts = list(value) if is_array(value) and value.ndim else value
    if not isinstance(parts, list | tuple):
        raise errors.usage(f"{name.upper()} must be a list of parts", f"for example: {COMMAND.examples[0]}")
    # Whole numbers as typed may become floats; an array has a dtype, and keeps it.
    bare = not text.startswith("@")
    return [part.tolist() if bare and is_array(part) and part.dtype.kind == "i" else part for part in parts]


def draw(drawing: Any, result: Result) -> None:
    """The rows of the result with the one who wrote each, and those it overwrote."""
    parted = result.subject
    writers: dict[int, list[tuple[int, tuple[int | str, ...]]]] = {}
    for part, indices in enumerate(parted.indices):
        for path, row, _ in entries(indices):
            writers.setdefault(int(row), []).append((part, path))
    length = drawing.shape(parted.result)[0] if drawing.shape(parted.result) else 0
    header = ["row", "value", "from", "overwrites"]
    shown = range(min(length, MOST_ROWS))
    names = {row: [f"data[{part}]{bracketed(path)}" for part, path in writers.get(row, [])] for row in shown}
    count = 4 if any(len(found) > 1 for found in names.values()) else 3
    columns = [
        [f"[{row}]" for row in shown],
        [parted.result[row] for row in shown],
        [names[row][-1] if names[row] else "nobody" for row in shown],
        [", ".join(names[row][:-1]) for row in shown],
    ]
    drawing.columns(header[:count], *columns[:count])
    if length > MOST_ROWS:
        drawing.value(f"{drawing.marks.ellipsis} {length - MOST_ROWS} more rows")
    if parted.gradient is not None:
        drawing.heading("gradient of the sum of squares")
        parts = [f"data[{k}]" for k in range(len(parted.gradient))]
        drawing.columns(("part", "gradient"), parts, parted.gradient)


COMMAND = Command(
    "stitch", PARTITION, "Put parts together again (dynamic_stitch): the last one to write a row wins.",
    ('adiff stitch "[[0,2],[1]]" "[[10,30],[20]]"', 'adiff stitch "[[0,1],[1]]" "[[1,2],[3]]" --grad'),
    (*COMPUTED, GRAD),
    (
        Argument("indices", "INDICES", "A list: the rows each part of the data goes to."),
        Argument("data", "DATA", "A list of parts: a constant expression or @file."),
    ),
    answer=answer, draw=draw, keys={"result": "the whole"},
)  # fmt: skip
