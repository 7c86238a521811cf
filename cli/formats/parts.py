"""Tables of a partition and a stitch: which element went where."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .canvas import HEADING
from .layout import shape_of
from .numbers import entries, is_array

if TYPE_CHECKING:
    from ..commands.partition import Parted
    from .canvas import Rows
    from .table import Drawing

MOST_ELEMENTS = 24  # that are listed one by one


def draw_partition(drawing: Drawing, parted: Parted) -> None:
    """The elements with the part each goes to, then the parts."""
    to = [(path, part) for path, part, _ in entries(parted.indices)]
    if len(to) <= MOST_ELEMENTS:
        arrow = drawing.marks.arrow

        def elements(width: int) -> Rows:
            values = drawing.column((element(parted.data, path) for path, _ in to), width)
            return [
                ("data" + bracketed(path), value, f"{arrow} part {part}")
                for (path, part), value in zip(to, values, strict=True)
            ]

        drawing.canvas.table(("element", "value", "goes to"), elements)
    sources: list[list[str]] = [[] for _ in parted.result]
    for path, part in to:
        sources[part].append(bracketed(path) or "data")

    def parts(width: int) -> Rows:
        return [
            (f"part {index}", shorten(drawing, origin), drawing.cell(part, width))
            for index, (part, origin) in enumerate(zip(parted.result, sources, strict=True))
        ]

    drawing.canvas.table(("part", "elements", "values"), parts)
    if parted.gradients is not None:
        gradient = parted.gradients["data"]
        drawing.canvas.line(("gradient of the sum of squares, by data", HEADING))
        drawing.canvas.line((drawing.cell(gradient), ""))


def draw_stitch(drawing: Drawing, parted: Parted) -> None:
    """The rows of the result with the one who wrote each, and those it overwrote."""
    writers: dict[int, list[tuple[int, tuple[int | str, ...]]]] = {}
    for part, indices in enumerate(parted.indices):
        for path, row, _ in entries(indices):
            writers.setdefault(int(row), []).append((part, path))
    length = shape_of(parted.result)[0] if shape_of(parted.result) else 0
    header = ["row", "value", "from", "overwrites"]
    shown = range(min(length, MOST_ELEMENTS))
    names = {row: [f"data[{part}]{bracketed(path)}" for part, path in writers.get(row, [])] for row in shown}
    columns = 4 if any(len(found) > 1 for found in names.values()) else 3

    def rows(width: int) -> Rows:
        values = drawing.column((parted.result[row] for row in shown), width)
        origins = [(names[row][-1], ", ".join(names[row][:-1])) if names[row] else ("nobody", "") for row in shown]
        return [(f"[{row}]", values[row], *origins[row])[:columns] for row in shown]

    drawing.canvas.table(header[:columns], rows)
    if length > MOST_ELEMENTS:
        drawing.canvas.line((f"{drawing.marks.ellipsis} {length - MOST_ELEMENTS} more rows", ""))
    if parted.gradients is not None:
        drawing.canvas.line(("gradient of the sum of squares", HEADING))

        def gradients(width: int) -> Rows:
            return [(f"data[{k}]", drawing.cell(part, width)) for k, part in enumerate(parted.gradients["data"])]

        drawing.canvas.table(("part", "gradient"), gradients)


def element(data: Any, path: tuple[int | str, ...]) -> Any:
    """The element of nested lists or an array at a path."""
    if is_array(data):
        return data[path]
    for index in path:
        data = data[index]
    return data


def bracketed(path: tuple[int | str, ...]) -> str:
    """`[0,1]`, or nothing for a scalar."""
    return f"[{','.join(map(str, path))}]" if path else ""


def shorten(drawing: Drawing, names: list[str]) -> str:
    """The first few of many names."""
    shown = " ".join(names[:8])
    return f"{shown} {drawing.marks.ellipsis} {len(names) - 8} more" if len(names) > 8 else shown
