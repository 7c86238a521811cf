"""Results as plain text: a bare value, `name<TAB>value` lines, or rows of cells separated by tabs."""

from __future__ import annotations

from .numbers import value_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from ..result import Result


def pieces(result: Result, precision: int | None = None) -> Iterator[str]:
    """The text, piece by piece."""
    if result.header and not result.lines:
        for row in (result.header, *result.rows):
            yield "\t".join(["" if value is None else cell(value, precision) for value in row]) + "\n"
    elif len(result.lines) == 1:
        yield value_text(result.lines[0][1], precision) + "\n"
    else:
        for name, value in result.lines:
            yield f"{name}\t{cell(value, precision)}\n"


def cell(value: Any, precision: int | None) -> str:
    """A value that shares its line with others: no line feed and no tab of its own."""
    if value is None:
        return "None"
    text = value_text(value, precision)
    return repr(text)[1:-1] if "\n" in text or "\t" in text or "\r" in text else text
