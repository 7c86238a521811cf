"""Results as CSV or TSV: a header, then a record a line; a tensor is a column an entry (`d_x.0`, `d_x.0.1`)."""

from __future__ import annotations

from .numbers import entries, is_array, plain, scalar_text, value_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Any

    from ..result import Result


def pieces(result: Result, delimiter: str) -> Iterator[str]:
    """The header and the records."""
    if result.header:
        yield lines([result.header], delimiter)
        # By columns, whose values are mostly of one kind.
        columns = [texts(column, delimiter) for column in zip(*result.rows, strict=True)]
        yield joined(zip(*columns), delimiter)
    elif heads := [head for name, value in result.columns for head in names(name, value)]:
        yield lines([heads], delimiter)
        yield lines([[text for _, value in result.columns for text in scalars(value)]], delimiter)


def names(name: str, value: Any) -> Iterator[str]:
    """The names of the columns that a value takes."""
    return (".".join([name, *map(str, path)]) for path, _, _ in entries(value))


def scalars(value: Any) -> Iterator[str]:
    """The fields of a value's scalars."""
    return (scalar_field(scalar, single) for _, scalar, single in entries(value))


def lines(records: Sequence[Sequence[str]], delimiter: str) -> str:
    """Records as lines (RFC 4180, with the line endings of Unix)."""
    return joined(([quoted(text, delimiter) for text in record] for record in records), delimiter)


def joined(records: Iterable[Sequence[str]], delimiter: str) -> str:
    """Records of fields that need no quotes. A reader takes an empty line for no record at all."""
    return "".join([(delimiter.join(record) or '""') + "\n" for record in records])


def texts(column: Sequence[Any], delimiter: str) -> Sequence[str]:
    """The fields of a column."""
    kinds = set(map(type, column))
    if kinds == {float}:
        return list(map(float.__repr__, column))
    if kinds <= {int, bool}:
        return list(map(str, column))
    if kinds == {str} and not divides("".join(column), delimiter):
        return column
    return [quoted(field(value), delimiter) for value in column]


def divides(text: str, delimiter: str) -> bool:
    """Whether a reader would take a text apart that is not in quotes."""
    return delimiter in text or '"' in text or "\n" in text or "\r" in text


def quoted(text: str, delimiter: str) -> str:
    """A field, in quotes where it needs them."""
    if divides(text, delimiter):
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
