"""Results as CSV or TSV: a header, then a record a line; a tensor is a column an entry (`d_x.0`, `d_x.0.1`)."""

from __future__ import annotations

from .numbers import entries, is_array, plain, scalar_text, value_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from ..result import Result


def render(result: Result, delimiter: str) -> str:
    """The header and the records."""
    if result.header:
        return lines([result.header, *([field(value) for value in row] for row in result.rows)], delimiter)
    names: list[str] = []
    fields: list[str] = []
    for name, value in result.columns:
        for path, scalar, single in entries(value):
            names.append(".".join([name, *map(str, path)]))
            fields.append(scalar_field(scalar, single))
    if not names:
        return ""
    # A reader takes a line with nothing on it for no record at all.
    return lines([names, fields], delimiter) if fields != [""] else lines([names], delimiter) + '""\n'


def lines(records: Sequence[Sequence[str]], delimiter: str) -> str:
    """Records as lines (RFC 4180, with the line endings of Unix)."""
    return "".join(delimiter.join(quoted(text, delimiter) for text in record) + "\n" for record in records)


def quoted(text: str, delimiter: str) -> str:
    """A field, in quotes where a reader would take it apart otherwise."""
    if any(mark in text for mark in (delimiter, '"', "\n", "\r")):
        return '"' + text.replace('"', '""') + '"'
    return text


def field(value: Any) -> str:
    """A whole value in one field; an absent one is empty."""
    value = plain(value)
    if isinstance(value, list | tuple | dict) or is_array(value):
        return value_text(value)
    return scalar_field(value, False)


def scalar_field(value: Any, single: bool) -> str:
    """A scalar's field; an absent value is empty."""
    if value is None:
        return ""
    return value if isinstance(value, str) else scalar_text(value, single=single)
