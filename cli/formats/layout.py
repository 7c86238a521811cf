"""Tensors in the cells of a table: small ones whole, large ones summarised between numbers and never inside one."""

from __future__ import annotations

from itertools import product

from .numbers import is_array, is_float32, plain, scalar_text, value_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

TENSOR_DIGITS = 8  # significant digits of a tensor's entries in a table, as NumPy prints them; a scalar has them all
LINES = 3  # that a vector may fill
ROWS = 8  # of a matrix
SLICES = 3  # of a tensor of rank 3 or more


class Marks:
    """The characters that a non-UTF-8 terminal gets in another form."""

    def __init__(self, ascii: bool) -> None:
        self.arrow = "->" if ascii else "→"
        self.ellipsis = "..." if ascii else "…"
        self.times = "x" if ascii else "×"
        self.missing = "-" if ascii else "–"
        self.rounded = False  # whether an entry was written with fewer digits than it has


def shape_of(value: Any) -> tuple[int, ...]:
    """The shape of a tensor; of nested lists too where they are regular."""
    value = plain(value)
    if is_array(value):
        return tuple(value.shape)
    if isinstance(value, list | tuple):
        inner = {shape_of(item) for item in value}
        if len(inner) <= 1:
            return (len(value), *(inner.pop() if inner else ()))
        return (len(value),)
    return ()


def cell_text(value: Any, precision: int | None, width: int, marks: Marks) -> str:
    """A value for a cell of at most `width` columns: a matrix in aligned rows, a long tensor cut between entries."""
    value = plain(value)
    if value is None:
        return marks.missing
    shape = shape_of(value)
    if not shape or 0 in shape or isinstance(value, str | dict):
        return value_text(value, precision)
    single = is_array(value) and is_float32(value)
    digits = precision or TENSOR_DIGITS
    # More entries than these do not fit, however short they are.
    most = LINES * max(width, 1)

    def texts(row: Any) -> list[str]:
        first = row[:most]
        return [entry_text(x, digits, single, marks) for x in (first.tolist() if is_array(first) else first)]

    if len(shape) == 1:
        return row_text(texts(value), shape[0], width, marks)
    if len(shape) == 2:
        return matrix_text([texts(row) for row in value[:ROWS]], shape, width, marks)
    slices = [cell_text(item, precision, width - 2, marks) for item in value[:SLICES]]
    if shape[0] > SLICES:
        slices.append(f"{marks.ellipsis} {shape[0] - SLICES} more of shape {marks.times.join(map(str, shape[1:]))}")
    return "\n\n".join(slices)


def entry_text(value: Any, digits: int, single: bool, marks: Marks) -> str:
    """One entry: its shortest text, or `digits` significant digits where that is shorter."""
    if isinstance(value, list | tuple | str | dict) or is_array(value):
        return value_text(value, digits, inside=True)
    exact = scalar_text(value, None, single)
    if len(exact) <= digits + 1:
        return exact
    rounded = scalar_text(value, digits, single)
    marks.rounded = marks.rounded or (value.__class__ is float and float(rounded) != value)
    return rounded


def row_text(entries: Sequence[str], count: int, width: int, marks: Marks) -> str:
    """`[1.0, 2.0, 3.0]` on a few lines of `width` columns, or as much as fits on one: `[1.0, 2.0, … 988 more]`.

    `entries` are the first of `count`, and as many as could fit.
    """
    lines = ["["]
    for index, entry in enumerate(entries):
        piece = entry + ("]" if index == count - 1 else ", ")
        if len(lines[-1]) + len(piece.rstrip()) > width and len(lines[-1]) > 1:
            lines.append(" ")
        lines[-1] += piece
    if len(lines) <= LINES and len(entries) == count:
        return "\n".join(line.rstrip() for line in lines)
    kept = lines[0].count(",")
    while kept > 1 and len(shortened(entries, kept, count, marks)) > width:
        kept -= 1
    return shortened(entries, kept, count, marks)


def shortened(entries: Sequence[str], kept: int, count: int, marks: Marks) -> str:
    """The first `kept` entries and the number of the others."""
    return "[" + ", ".join(entries[:kept]) + f", {marks.ellipsis} {count - kept} more]"


def matrix_text(rows: list[list[str]], shape: tuple[int, ...], width: int, marks: Marks) -> str:
    """Rows of a matrix under each other with aligned columns: the first of a matrix of a shape, as far as could fit."""
    count, columns = shape
    kept = len(rows[0])
    widths = [max(len(row[column]) for row in rows) for column in range(kept)]
    while kept > 1 and sum(widths[:kept]) + 2 * kept + (kept < columns) * (len(str(columns)) + 8) > width:
        kept -= 1
    tail = f"  {marks.ellipsis} {columns - kept} more" if kept < columns else ""
    lines = []
    for row in rows:
        shown = [text.rjust(wide) for text, wide in zip(row[:kept], widths[:kept], strict=True)]
        lines.append("[" + "  ".join(shown) + tail + "]")
    if count > len(rows):
        lines.append(f"{marks.ellipsis} {count - len(rows)} more rows")
    return "\n".join(lines)


def aligned(texts: Sequence[str]) -> list[str]:
    """Numbers with their decimal points under each other; other texts as they are."""
    before = [len(text.partition("e")[0].partition(".")[0]) if is_number(text) else 0 for text in texts]
    most = max(before, default=0)
    return [" " * (most - size) + text if is_number(text) else text for text, size in zip(texts, before, strict=True)]


def is_number(text: str) -> bool:
    """Whether a text is a real number."""
    return text[:1].isdigit() or (text[:1] in "+-" and text[1:2].isdigit())


def labels(name: str, shape: tuple[int, ...]) -> list[str]:
    """The names of a tensor's entries in order: `x`, or `x[0]`, `x[1]`, or `A[0,0]`, …"""
    return [name + (f"[{','.join(map(str, path))}]" if path else "") for path in product(*map(range, shape))]
