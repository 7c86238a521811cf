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
    return lines([names, fields], delimiter) if names else ""


def lines(records: Sequence[Sequence[str]], delimiter: str) -> str:
    """Records as lines, quoted where they must be."""
    import csv
    import io

    buffer = io.StringIO()
    csv.writer(buffer, delimiter=delimiter, lineterminator="\n").writerows(records)
    return buffer.getvalue()


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
