"""Results as plain text: a bare value, `name<TAB>value` lines, or rows of cells separated by tabs."""

from __future__ import annotations

from .numbers import value_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..result import Result


def render(result: Result, precision: int | None = None) -> str:
    """The text, ending in a line feed unless there is nothing to say."""
    if result.header and not result.lines:
        rows = [result.header, *result.rows]
        return "".join("\t".join(cell(value, precision) for value in row) + "\n" for row in rows)
    if len(result.lines) == 1:
        return value_text(result.lines[0][1], precision) + "\n"
    return "".join(f"{name}\t{cell(value, precision)}\n" for name, value in result.lines)


def cell(value: Any, precision: int | None) -> str:
    """A value that shares its line with others: no line feed and no tab of its own."""
    if value is None:
        return "None"
    text = value_text(value, precision)
    return repr(text)[1:-1] if "\n" in text or "\t" in text or "\r" in text else text
