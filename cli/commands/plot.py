"""`plot`: a function and its derivatives as a picture."""

from __future__ import annotations

import os
from math import isfinite, nan

from ...engine.command import DERIVATIVE, EVALUATED, TABLES, UNDERSTAND, Command, Option
from ...parser.errors import AdiffError
from .. import errors
from ..evaluate import inputs, options, program_of
from ..result import Result

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ...engine.api import Program
    from ..output import Output
    from ..request import Request

POINTS, SIDE = 241, 60  # of a range that does not say: of one input, and in a file along each side of two
COLUMNS, LINES = 60, 21  # in a terminal
LONGEST = 60  # characters of a title
NOWHERE = "'adiff value' at a point of it says where the first nan or infinity arises"


def answer(request: Request, output: Output) -> Result:
    """The picture, in a terminal or a file; or the numbers that it is drawn from, in the other formats."""
    style = output.style
    from ..formats import PICTURES
    from ..tables.run import axes

    extension = os.path.splitext((output.path or "").lower())[1]
    as_file, as_text = extension in PICTURES, style.format in ("table", "plain")
    texts = request.texts("over")
    if not 1 <= len(texts) <= 2:
        raise errors.usage("plot needs one or two ranges", "for example: --over x=-3:3, or also --over y=-2:2")
    sizes = (POINTS,) if len(texts) == 1 else (SIDE, SIDE) if as_file or not as_text else (COLUMNS, LINES)
    request.options["over"] = [spread(text, size) for text, size in zip(texts, sizes)]
    parsed = program_of(request, output.environment)
    ranges = {name: points[:] for name, points in axes(request, parsed).items()}
    if (as_file or as_text) and any(points.min() == points.max() for points in ranges.values()):
        raise errors.usage("a range of one point is no picture", "for example: --over x=-3:3")
    at = inputs(request, parsed)
    order = request.number("order")
    given = {key: value for key, value in options(request).items() if key != "order"}
    title = parsed.source.text.strip()
    title = title if len(title) <= LONGEST and "\n" not in title else parsed.source.name
    if len(ranges) == 1:
        result, drawn = curves(parsed, ranges, at, 1 if order is None else order, given, title)
    else:
        result, drawn = field(parsed, ranges, at, given, title)
    if (as_file or as_text) and not drawn.is_anywhere():
        raise AdiffError("E0507", "nothing to draw: the value is no finite number anywhere in the range", None, NOWHERE)
    if as_file:
        output.write_bytes(drawn.file(extension))
        return Result({})
    if as_text:
        result.lines = [("", drawn.text(style))]
    return result


def spread(text: str, points: int) -> str:
    """A range `x=-3:3` with a number of points."""
    return f"{text}/{points}" if text.count(":") == 1 and "/" not in text.partition(":")[2] else text


def curves(
    parsed: Program, ranges: dict[str, Any], at: dict[str, Any], order: int, given: dict[str, Any], title: str
) -> tuple[Result, Any]:
    """Value and derivatives along one input. Raises the error of the first point where there is a value at none."""
    from ...engine.singular import marks
    from ..formats.pictures import Curves

    ((name, values),) = ranges.items()
    told: list[float] = []
    failed: list[AdiffError] = []

    def along(x: float) -> list[float]:
        try:
            outcome = parsed.evaluate("derivative", {**at, name: x}, [name], order=max(order, 1), write=None, **given)
        except AdiffError as error:
            if error.code == "E0507":
                error.message = error.message.replace("derivative needs", "plot needs")
            if error.kind in ("usage", "syntax", "name") or error.code == "E0507":
                raise
            failed.append(error)
            return [nan] * (max(order, 1) + 1)
        if any(notice.code == "N0501" for notice in outcome.notices):
            told.append(x)
        return [float(y) for y in (outcome.value, *(outcome.derivatives or ()))]

    xs = sorted(map(float, values))
    found = [along(x) for x in xs]
    if not any(isfinite(row[0]) for row in found) and failed:
        raise failed[0]

    def point(x: float) -> tuple[float, float]:
        row = along(x)
        return row[0], row[1]

    places = marks(point, xs, [(row[0], row[1]) for row in found], list(told))
    marked = [(kind, x, along(x)[0]) for kind, x in places]
    rows = [[row[k] for row in found] for k in range(order + 1)]
    drawn = Curves(name, title, xs, rows, marked)
    result = Result({"points": [[x, *row[: order + 1]] for x, row in zip(xs, found)]})
    result.document["marks"] = [{"kind": kind, name: x} for kind, x, _ in marked]
    result.header = (name, "value", *(f"d{k}" for k in range(1, order + 1)))
    result.rows = [(x, *row[: order + 1]) for x, row in zip(xs, found)]
    return result, drawn


def field(
    parsed: Program, ranges: dict[str, Any], at: dict[str, Any], given: dict[str, Any], title: str
) -> tuple[Result, Any]:
    """Value and gradient over two inputs, with the marks along each line of the grid."""
    import numpy as np

    from ...engine.singular import marks
    from ..formats.pictures import Field

    names = list(ranges)
    xs, ys = (np.asarray(x, "float64") for x in ranges.values())
    grid = dict(zip(names, (x.ravel() for x in np.meshgrid(xs, ys))))
    given = {key: value for key, value in given.items() if key != "dtype"}
    outcome = parsed.rows(grid, names, 1, at=at, **given)
    if len(outcome.errors) == len(grid[names[0]]):
        raise outcome.errors[0]
    if outcome.value.ndim > 1:
        raise AdiffError("E0507", "plot needs a scalar result, and this one is a tensor", None, "sum(...) makes it one")
    shape = len(ys), len(xs)
    slopes = [np.zeros(shape) if g is None else g.reshape(shape) for g in ((outcome.gradients or {})[n] for n in names)]
    values = outcome.value.reshape(shape).astype("float64")

    def places(which: int, line: int) -> list[tuple[str, float]]:
        """The marks along a line of the grid, on which the other input stays as it is."""
        name, other, fixed = names[which], names[1 - which], float((ys, xs)[which][line])

        def point(x: float) -> tuple[float, float]:
            try:
                found = parsed.evaluate("grad", {**at, name: x, other: fixed}, [name], write=None, **given)
            except AdiffError:
                return nan, nan
            return float(found.value), float((found.gradients or {})[name] or 0.0)

        along = (line, slice(None)) if which == 0 else (slice(None), line)
        points = list(zip(values[along].tolist(), slopes[which][along].tolist()))
        return marks(point, (xs, ys)[which].tolist(), points, ())

    marked = [(kind, x, float(y)) for line, y in enumerate(ys) for kind, x in places(0, line)]
    marked += [(kind, float(x), y) for line, x in enumerate(xs) for kind, y in places(1, line)]
    drawn = Field(names, title, xs, ys, values, slopes[0], slopes[1], marked)
    columns = [*grid.values(), outcome.value, *(g.ravel() for g in slopes)]
    result = Result({"points": [list(row) for row in zip(*(x.tolist() for x in columns))]})
    result.document["marks"] = [{"kind": kind, names[0]: x, names[1]: y} for kind, x, y in marked]
    result.header = (*names, "value", *(f"d_{n}" for n in names))
    result.rows = [tuple(row) for row in result.document["points"]]
    return result, drawn


def draw(drawing: Any, result: Result) -> None:
    """The picture, as it is."""
    for _, text in result.lines:
        drawing.canvas.buffer.write(text + "\n")


COMMAND = Command(
    "plot", UNDERSTAND, "A picture of a function and its derivatives, with kinks, jumps and poles.",
    ('adiff plot "abs(sin(x))" --over x=-3:3', 'adiff plot "x**2 - y**2" --over x=-2:2 --over y=-2:2'),
    (
        *EVALUATED,
        Option(
            "--over", "text", "NAME=RANGE", TABLES,
            "Along one input, or over two: x=-3:3, x=-3:3/500 (points), x=-3:3:0.1 (start:stop:step).", repeat=True,
        ),
        Option("--order", "order", "N", DERIVATIVE, "How many derivatives to draw (default 1)."),
    ),
    answer=answer, draw=draw,
    keys={"points": "of each point the input, the value and the derivatives", "marks": "each with `kind` and its place"},
)  # fmt: skip
