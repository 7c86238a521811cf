"""Tables as input, chunk by chunk: CSV, TSV, NDJSON, NPY, NPZ, Parquet, Arrow and Feather files, and grids of points."""

from __future__ import annotations

import csv
import io
import json
import math
import os
from dataclasses import dataclass
from itertools import chain

from ...parser.errors import AdiffError
from .. import errors
from ..files import open_file, read_npy
from ..formats import BINARY, FORMS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from typing import Any

    from ..environment import Environment

READABLE = {ending: form for ending, form in FORMS.items() if form not in ("json", "plain")}
COMPRESSED = {".gz": "gzip", ".zst": "zstd"}
ROWS = 1 << 17  # of a chunk
MOST_LINE = 1 << 27  # bytes
NOT_TEXT = (b"PAR1", b"ARROW1", b"\x93NUMPY", b"PK\x03\x04", b"\x1f\x8b", b"\x28\xb5\x2f\xfd")


@dataclass
class Chunk:
    """Some rows. A column is a list of texts (`text` forms), a list of values, or a typed array of Arrow or NumPy. `place(row)`
    says where a row of the chunk stands; `done` is the part of the file that has been read."""

    names: list[str]
    columns: list[Any]
    place: Callable[[int], str]
    text: bool = False
    done: float | None = None

    @property
    def count(self) -> int:
        return len(self.columns[0]) if self.columns else 0


def arrow() -> Any:
    """PyArrow, or None."""
    try:
        import pyarrow  # type: ignore[import-not-found,unused-ignore]
    except ImportError:
        return None
    return pyarrow


def needed_arrow(what: str) -> Any:
    """PyArrow. Raises AdiffError where it is not installed."""
    found = arrow()
    if found is None:
        raise errors.usage(f"{what} needs PyArrow", 'pip install "adiff[tables]"')
    return found


def form_of(path: str, given: str = "", outputs: Mapping[str, str] = READABLE) -> tuple[str, str]:
    """The form of a table file and how it is compressed, by its name; ("", "") where the name tells nothing. Raises AdiffError
    where a form that is no text is compressed."""
    stem, extension = os.path.splitext(path.lower())
    compression = COMPRESSED.get(extension, "")
    if compression:
        extension = os.path.splitext(stem)[1]
    form = given or outputs.get(extension, "")
    if compression and form in BINARY:
        raise errors.usage(
            f"{path}: .csv, .tsv, .ndjson and .json may be compressed, not {form}", "leave out .gz or .zst"
        )
    return form, compression


def chunks(path: str, given: str, header: bool, environment: Environment | None) -> Iterator[Chunk]:
    """The rows of a table. Raises AdiffError E07xx, with file and line, once the rows before the mistake are given."""
    form, compression = form_of(path, given or ("csv" if path == "-" else ""))
    if not form:
        known = ", ".join(READABLE)
        raise errors.unreadable(path, f"its name does not end in {known}", "say what it is: --rows-format csv")
    label = "<stdin>" if path == "-" else path
    stream: Any
    if path == "-" and environment is not None:
        stream = environment.input()
    else:
        stream = open_file(path, regular=False)
    size = 0 if path == "-" else os.fstat(stream.fileno()).st_size
    raw = stream
    if not compression and form not in BINARY and hasattr(stream, "peek"):  # standard input has no name that says so
        head = stream.peek(4)[:4]
        compression = "gzip" if head[:2] == b"\x1f\x8b" else "zstd" if head == b"\x28\xb5\x2f\xfd" else ""
    if compression == "gzip":
        import gzip

        stream = gzip.GzipFile(fileobj=stream)
    elif compression:
        stream = io.BufferedReader(needed_arrow("zstd").CompressedInputStream(stream, "zstd"))

    def part() -> float | None:
        return raw.tell() / size if size else None

    try:
        if form in BINARY and not stream.seekable() and (form != "arrow" or stream.peek(6).startswith(b"ARROW1")):
            stream = io.BytesIO(stream.read())
        if form in ("csv", "tsv"):
            yield from delimited(stream, label, "\t" if form == "tsv" else ",", header, part)
        elif form == "ndjson":
            yield from objects(stream, label, part)
        else:
            yield from {"npy": of_npy, "npz": of_npz, "parquet": of_parquet, "arrow": of_arrow}[form](stream, label)
    except AdiffError:
        raise
    except (OSError, EOFError, ValueError) as error:  # Arrow's errors are some of these
        said = str(error).partition("\n")[0] or type(error).__name__
        raise errors.unusable(label, f"not a readable {form} table: {said}") from None
    except Exception as error:
        if type(error).__module__ in ("zlib", "zipfile"):
            raise errors.unusable(label, f"not a readable {form} table: {error}") from None
        raise
    finally:
        if path != "-":
            raw.close()


# --- text -------------------------------------------------------------------------------------------------------------


def lines(stream: Any, label: str) -> Iterator[str]:
    """The lines of a text."""
    number = 0
    for raw in iter(lambda: stream.readline(MOST_LINE + 1), b""):
        if not number and (raw.startswith(NOT_TEXT) or b"\0" in raw[:4096]):
            raise errors.unusable(
                label, "not text but a binary file", "say what it is: --rows-format parquet, arrow, npy or npz"
            )
        if len(raw) > MOST_LINE:
            raise errors.unusable(f"{label}:{number + 1}", "a line that does not end")
        for line in raw.splitlines(keepends=True):  # some end with a carriage return alone
            number += 1
            try:
                yield line.decode("utf-8-sig" if number == 1 else "utf-8")
            except UnicodeDecodeError as error:
                raise errors.unusable(f"{label}:{number}", f"not UTF-8 text: byte 0x{line[error.start]:02x}") from None


def gathered(found: Iterator[tuple[int, Any]], most: int) -> Iterator[list[tuple[int, Any]]]:
    """Records and their lines in lists of so many; a mistake is raised once the records before it are given."""
    some: list[tuple[int, Any]] = []
    try:
        for record in found:
            some.append(record)
            if len(some) == most:
                yield some
                some = []
    except AdiffError:
        if some:
            yield some
        raise
    if some:
        yield some


def records(text: Iterable[str], label: str, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """The records of a CSV or TSV table, each with the line on which it begins; all have as many fields as the first one."""
    csv.field_size_limit(MOST_LINE)
    reader = csv.reader(text, delimiter=delimiter, strict=True)
    line, width = 1, 0
    try:
        for cells in reader:
            width = width or len(cells)
            if cells and len(cells) != width:
                noun = "field" if len(cells) == 1 else "fields"
                place = f"{label}:{reader.line_num}:{min(len(cells), width) + 1}"
                raise errors.unusable(place, f"{len(cells)} {noun}, and the table has {width} columns")
            if cells:
                yield line, cells
            line = reader.line_num + 1
    except csv.Error as error:
        raise errors.unusable(f"{label}:{max(reader.line_num, 1)}", f"not a readable table: {error}") from None


def delimited(
    stream: Any, label: str, delimiter: str, header: bool, part: Callable[[], float | None]
) -> Iterator[Chunk]:
    """The chunks of a CSV or TSV table, all cells as the texts that they are."""
    found = records(lines(stream, label), label, delimiter)
    first = next(found, None)
    if first is None:
        raise errors.unusable(label, "is empty")
    names = [cell.strip() for cell in first[1]] if header else [f"c{i + 1}" for i in range(len(first[1]))]
    empty = True
    for some in gathered(found if header else chain([first], found), ROWS // 4):
        columns = list(map(list, zip(*(cells for _, cells in some))))
        yield Chunk(names, columns, on_line(label, some), True, part())
        empty = False
    if empty:
        yield Chunk(names, [[] for _ in names], lambda row: label, True)


def on_line(label: str, some: list[tuple[int, Any]]) -> Callable[[int], str]:
    lines = [line for line, _ in some]  # the cells are not kept
    return lambda row: f"{label}:{lines[row]}"


def objects(stream: Any, label: str, part: Callable[[], float | None]) -> Iterator[Chunk]:
    """The chunks of NDJSON; the keys of all objects of the first chunk are the columns."""
    names: list[str] = []

    def parsed() -> Iterator[tuple[int, dict[str, Any]]]:
        for number, line in enumerate(lines(stream, label), 1):
            if line.strip():
                try:
                    row = json.loads(line)
                    if not isinstance(row, dict):
                        raise ValueError("no object")
                    unknown = [key for key in row if names and key not in names]
                    if unknown:
                        raise ValueError(f"the rows before have no {unknown[0]!r}")
                except (ValueError, RecursionError) as error:
                    raise errors.unusable(f"{label}:{number}", f"not a row of the table: {error}") from None
                yield number, row

    for some in gathered(parsed(), ROWS // 4):
        names = names or list(dict.fromkeys(key for _, row in some for key in row))
        columns = [[row.get(name) for _, row in some] for name in names]
        yield Chunk(names, columns, on_line(label, some), False, part())
    if not names:
        raise errors.unusable(label, "is empty")


# --- arrays -----------------------------------------------------------------------------------------------------------


def sliced(names: list[str], columns: Sequence[Any], label: str) -> Iterator[Chunk]:
    """Whole columns in chunks."""
    count = len(columns[0])
    if any(len(column) != count for column in columns):
        sizes = ", ".join(f"{name} has {len(column)}" for name, column in zip(names, columns))
        raise errors.unusable(label, f"its columns differ in length: {sizes}")
    for start in range(0, max(count, 1), ROWS):
        parts = [column[start : start + ROWS] for column in columns]
        yield Chunk(names, parts, placed(label, start), done=min(start + ROWS, count) / max(count, 1))


def placed(label: str, start: int) -> Callable[[int], str]:
    return lambda row: f"{label}: row {start + row + 1}"


def of_npy(stream: Any, label: str) -> Iterator[Chunk]:
    """The fields of a structured array, or the columns c1, c2… of another."""
    import numpy as np

    begin = stream.tell()
    array: Any
    try:
        in_file = os.path.isfile(label)
        array = np.load(label, mmap_mode="r", allow_pickle=False) if in_file else np.load(stream)
    except ValueError:
        stream.seek(begin)
        array = read_npy(label, stream, stream.seek(0, 2) - stream.seek(begin))  # says what is wrong
    if array.dtype.names:
        yield from sliced(list(array.dtype.names), [array[name] for name in array.dtype.names], label)
    elif array.ndim in (1, 2):
        table = array.reshape(len(array), -1)
        yield from sliced([f"c{i + 1}" for i in range(table.shape[1])], list(table.T), label)
    else:
        raise errors.unusable(label, f"an array of shape {list(array.shape)} is no table")


def of_npz(stream: Any, label: str) -> Iterator[Chunk]:
    """The arrays of an archive, a column each."""
    import zipfile

    with zipfile.ZipFile(stream) as archive:
        members = {info.filename.removesuffix(".npy"): info for info in archive.infolist()}
        columns = {n: read_npy(f"{label}:{n}", archive.open(info), info.file_size) for n, info in members.items()}
    if not columns or any(column.ndim == 0 for column in columns.values()):
        raise errors.unusable(label, "its arrays are no columns")
    yield from sliced(list(columns), list(columns.values()), label)


def of_parquet(stream: Any, label: str) -> Iterator[Chunk]:
    needed_arrow("Parquet")
    from pyarrow import parquet

    file = parquet.ParquetFile(stream, pre_buffer=False)
    yield from batches(file.iter_batches(ROWS), file.schema_arrow, label, file.metadata.num_rows)


def of_arrow(stream: Any, label: str) -> Iterator[Chunk]:
    """An IPC file (Feather is one), or a stream."""
    pa = needed_arrow("Arrow")
    file = None
    if stream.seekable():
        try:
            file = pa.ipc.open_file(stream)
        except pa.ArrowInvalid:
            stream.seek(0)
    if file is None:
        source = pa.ipc.open_stream(stream)
        yield from batches(source, source.schema, label, 0)
    else:
        some = (file.get_batch(i) for i in range(file.num_record_batches))
        parts = (batch.slice(i, ROWS) for batch in some for i in range(0, batch.num_rows, ROWS))
        yield from batches(parts, file.schema, label, 0)


def batches(found: Any, schema: Any, label: str, count: int) -> Iterator[Chunk]:
    """Record batches as chunks; one without rows where there are none."""
    done = 0
    for batch in found:
        if batch.num_rows:
            yield Chunk(
                schema.names,
                batch.columns,
                placed(label, done),
                done=(done + batch.num_rows) / count if count else None,
            )
        done += batch.num_rows
    if not done:
        yield Chunk(schema.names, [arrow().array([], kind) for kind in schema.types], placed(label, 0))


# --- grids ------------------------------------------------------------------------------------------------------------


def grid(axes: dict[str, Any]) -> Iterator[Chunk]:
    """Every point of a grid, the last axis fastest."""
    import numpy as np

    sizes = [len(values) for values in axes.values()]
    count = math.prod(sizes)
    for start in range(0, count, ROWS):
        index = np.unravel_index(np.arange(start, min(start + ROWS, count)), sizes)
        columns = [values[i] for values, i in zip(axes.values(), index)]
        yield Chunk(list(axes), columns, placed("--over", start), done=min(start + ROWS, count) / count)
