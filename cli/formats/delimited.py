"""Results as CSV or TSV: a header, then a record a line; a tensor is a column an entry (`d_x.0`, `d_x.0.1`)."""

from __future__ import annotations

from itertools import chain, islice, repeat
from math import prod

from .numbers import AT_ONCE, entries, is_array, is_float32, plain, scalar_text, value_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Any

    from ..result import Result

# Records that are made at a time.
ROWS = 1_024
# What arrays hold whose text needs no quotes: floats, integers and booleans.
KINDS = frozenset("fiub")


def pieces(result: Result, delimiter: str) -> Iterator[str]:
    """The header and the records, piece by piece."""
    if result.header:
        yield lines([result.header], delimiter)
        rows = iter(result.rows)
        while some := list(islice(rows, ROWS)):
            # By columns, whose values are mostly of one kind.
            columns = [texts(column, delimiter) for column in zip(*some, strict=True)]
            yield "\n".join(map(delimiter.join, zip(*columns))) + "\n"
        return

    heads = (some for name, value in result.columns for some in names(name, value, delimiter))
    first = next(heads, None)
    if first is None:
        return
    yield from line(chain([first], heads), delimiter)
    fields = (some for _, value in result.columns for some in scalars(value, delimiter))
    begun = list(islice(fields, 2))
    # A reader takes a line with nothing on it for no record at all.
    yield from ['""', "\n"] if begun == [[""]] else line(chain(begun, fields), delimiter)


def line(parts: Iterable[list[str]], delimiter: str) -> Iterator[str]:
    """A record piece by piece, of some of its fields after the other."""
    between = ""
    for some in parts:
        yield between + delimiter.join(some)
        between = delimiter
    yield "\n"


def names(name: str, value: Any, delimiter: str) -> Iterator[list[str]]:
    """The names of the columns that a value takes, some at a time and never none."""
    value = plain(value)
    if is_array(value) and value.shape and value.dtype.kind in KINDS:
        found = indexed(name, value.shape)
        return (list(map(quoted, some, repeat(delimiter))) for some in found) if divides(name, delimiter) else found
    return some_of(quoted(".".join([name, *map(str, path)]), delimiter) for path, _, _ in entries(value))


def scalars(value: Any, delimiter: str) -> Iterator[list[str]]:
    """The fields of a value's scalars, some at a time and never none."""
    value = plain(value)
    if is_array(value) and value.shape and value.dtype.kind in KINDS:
        return (numbers(value.flat[start : start + AT_ONCE]) for start in range(0, value.size, AT_ONCE))
    return some_of(quoted(scalar_field(scalar, single), delimiter) for _, scalar, single in entries(value))


def some_of(fields: Iterator[str]) -> Iterator[list[str]]:
    """Lists of so many fields."""
    while some := list(islice(fields, ROWS)):
        yield some


def indexed(name: str, shape: tuple[int, ...]) -> Iterator[list[str]]:
    """`x.0.0`, `x.0.1`, … for the entries of an array, some at a time."""
    length, *rest = shape
    each = prod(rest)
    if each > AT_ONCE:
        for index in range(length):
            yield from indexed(f"{name}.{index}", shape[1:])
    elif each:
        ends = [""]
        for size in rest:
            ends = [f"{end}.{index}" for end in ends for index in range(size)]
        at_once = AT_ONCE // each
        for start in range(0, length, at_once):
            yield [f"{name}.{index}{end}" for index in range(start, min(start + at_once, length)) for end in ends]


def numbers(array: Any) -> list[str]:
    """The entries of an array of real numbers or booleans as text."""
    if array.dtype.kind != "f":
        return list(map(str, array.tolist()))
    if is_float32(array):
        return [float.__repr__(float(text)) for text in map(str, array.astype("float32"))]
    return list(map(float.__repr__, array.tolist()))


def lines(records: Sequence[Sequence[str]], delimiter: str) -> str:
    """Records as lines (RFC 4180, with the line endings of Unix)."""
    return "".join(delimiter.join(quoted(text, delimiter) for text in record) + "\n" for record in records)


def texts(column: Sequence[Any], delimiter: str) -> Sequence[str]:
    """The fields of a column."""
    kinds = set(map(type, column))
    if kinds == {float}:
        return list(map(float.__repr__, column))
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
