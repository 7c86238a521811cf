"""Values and program texts from files. Nothing is ever unpickled, and every failure names the file."""

from __future__ import annotations

import math
import os
import stat
import sys

from ..parser.errors import AdiffError
from . import errors
from .values import from_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from io import BufferedReader
    from typing import IO, Any, BinaryIO

    import numpy

MOST_TEXT = 64 * 2**20  # bytes; a longer program text is surely a mistake, and /dev/zero never ends
STANDARD_INPUT = "<stdin>"
MOST_RATIO = 200  # of what is unpacked to what is packed, where that is much: numbers are not so alike
MOST_DATA = 2**31  # bytes of .json or .csv, whose values take many times that


def read_text(path: str, stream: BinaryIO | None = None) -> str:
    """The text of a program, from a file or an open stream: UTF-8, with or without a byte order mark."""
    return decode_text(path, read_bytes(path, MOST_TEXT, False, stream))


def decode_text(name: str, content: bytes) -> str:
    """Bytes as UTF-8; raises AdiffError naming the first byte that is not."""
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise errors.unusable(
            name, f"not UTF-8 text: byte 0x{content[error.start]:02x} in line {line}", "save the file as UTF-8"
        ) from None


def read_bytes(path: str, limit: int, regular: bool = True, stream: BinaryIO | None = None) -> bytes:
    """The content of a file, of STANDARD_INPUT or of an open stream, of at most `limit` bytes."""
    from contextlib import nullcontext
    from io import BytesIO

    if path == STANDARD_INPUT:
        stream = stream or (sys.stdin.buffer if sys.stdin else BytesIO())
    with open_file(path, regular) if stream is None else nullcontext(stream) as file:
        try:
            content = file.read(limit + 1)
        except OSError as error:
            raise errors.unreadable(path, errors.reason(error)) from None
    if len(content) > limit:
        raise errors.unusable(path, f"larger than {limit // 2**20} MiB")
    return content


def open_file(path: str, regular: bool = True) -> BufferedReader:
    """The file, opened. With `regular`, a pipe or device is refused before opening it could block."""
    try:
        mode = os.stat(path).st_mode
        if stat.S_ISDIR(mode):
            raise errors.unreadable(path, "is a directory")
        if regular and not stat.S_ISREG(mode):
            raise errors.unreadable(path, "is not a regular file")
        return open(path, "rb")
    except ValueError:
        raise errors.unreadable(repr(path), "is not a file name") from None
    except OSError as error:
        raise errors.unreadable(path, errors.reason(error)) from None


def read_point(path: str) -> dict[str, object]:
    """The names and values of `@point.json`."""
    path = STANDARD_INPUT if path == "-" else unquoted(path)
    if path != STANDARD_INPUT and not path.lower().endswith(".json"):
        hint = f"write name=@{path}; only @FILE.json binds every key"
        raise errors.bad_binding(f"--at: '@{path}' binds no name", hint)
    content = read_json(path)
    if not isinstance(content, dict):
        raise errors.unusable(path, "holds no object of names and values")
    for name in content:
        if not name.isidentifier():
            raise errors.unusable(path, f"{name!r} is not a name")
    return content


def read_value(reference: str, most: int | None = None) -> object:
    """The value of `@reference`: FILE.npy, FILE.npz, FILE.npz:key, FILE.csv, FILE.tsv or FILE.json, FILE.csv:column, `-`."""
    if reference == "-":
        return read_input()
    path = unquoted(reference)
    stem, colon, key = path.rpartition(":")
    if colon and stem.lower().endswith(".npz"):
        return read_npz(stem, key, most)
    lower = path.lower()
    if lower.endswith(".npy"):
        with open_file(path) as file:
            return read_npy(path, file, os.fstat(file.fileno()).st_size, most)
    if lower.endswith(".npz"):
        return read_npz(path, None, most)
    if lower.endswith((".csv", ".tsv")):
        return read_table(path, "\t" if lower.endswith(".tsv") else ",")
    if lower.endswith(".json"):
        return read_json(path)
    if colon:
        from .tables.read import form_of

        if form_of(stem)[0] not in ("", "npy"):
            from .tables.columns import read_column

            return read_column(stem, key)
    if colon and stem.lower().endswith((".npy", ".json")):
        hint = f"write @{stem}; the program picks a part of it, as in A[:, 0]"
        raise errors.unreadable(path, f"':{key}' is for an array of an .npz file", hint)
    raise errors.unreadable(path or "@", "its name does not end in .npy, .npz, .csv, .tsv or .json")


def read_input() -> object:
    """The value on standard input: JSON, or numbers between blanks or commas, of one column, of several, or a single one."""
    text = decode_text(STANDARD_INPUT, read_bytes(STANDARD_INPUT, MOST_DATA))
    number = number_of(text)
    if number is not None:
        return number
    if text.lstrip()[:1] in ("[", "{", ""):
        return parse_json(STANDARD_INPUT, text)
    if "," in text:
        return parse_table(STANDARD_INPUT, text, ",")
    return parse_table(STANDARD_INPUT, "\n".join(" ".join(line.split()) for line in text.splitlines()), " ")


def unquoted(path: str) -> str:
    """The path, whose quotes a user needs when it holds a comma."""
    if len(path) >= 2 and path[0] == path[-1] and path[0] in "'\"":
        return path[1:-1]
    return path


def read_json(path: str) -> Any:
    """A JSON document."""
    return parse_json(path, decode_text(path, read_bytes(path, MOST_DATA)))


def parse_json(path: str, text: str) -> Any:
    """What the text of a JSON document says."""
    import json

    if not text.strip():
        raise errors.unusable(path, "is empty", "standard input is read once" if path == STANDARD_INPUT else None)
    try:
        content = json.loads(text)
    except json.JSONDecodeError as error:
        raise errors.unusable(f"{path}:{error.lineno}:{error.colno}", f"not JSON: {error.msg}") from None
    except RecursionError:
        raise errors.unusable(path, "nested too deeply") from None
    except ValueError as error:  # a whole number of more digits than Python reads
        raise errors.unusable(path, f"not JSON: {error}") from None
    if isinstance(content, dict):
        return {name: from_json(value) for name, value in content.items()}
    return from_json(content)


def read_npz(path: str, key: str | None, most: int | None = None) -> numpy.ndarray[Any, Any]:
    """One array of an archive."""
    import zipfile

    with open_file(path) as file:
        if not os.fstat(file.fileno()).st_size:
            raise errors.unusable(path, "is empty")
        try:
            archive = zipfile.ZipFile(file)
            members = {info.filename.removesuffix(".npy"): info for info in archive.infolist()}
            if key is None and len(members) == 1:
                key = next(iter(members))
            if key is None or key not in members:
                which = "holds several arrays" if key is None else f"holds no array {key!r}"
                names = ", ".join(sorted(members)) or "none"
                raise errors.unusable(path, which, f"write @{path}:NAME; the names are {names}")
            size, packed = members[key].file_size, members[key].compress_size
            if size > MOST_DATA and size > MOST_RATIO * packed:
                raise errors.unusable(path, f"its {packed} bytes unpack to {size}")
            with archive.open(members[key]) as member:
                return read_npy(f"{path}:{key}", member, size, most)
        except (AdiffError, MemoryError):
            raise
        except Exception as error:  # whatever zipfile and the libraries of its methods have for an archive that is none
            raise errors.unusable(path, f"not a readable .npz archive: {error}") from None


def read_npy(name: str, file: IO[bytes], size: int, most: int | None = None) -> numpy.ndarray[Any, Any]:
    """An array whose header promises no more than the file's `size` bytes hold."""
    import numpy
    from numpy.lib import format as npy

    if not size:
        raise errors.unusable(name, "is empty")
    try:
        version = npy.read_magic(file)
        header = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
        shape, fortran, dtype = header(file)
    except AdiffError:  # the end of a time limit
        raise
    except Exception:  # whatever NumPy's reader, `ast` and `tokenize` have for a text that is no header
        raise errors.unusable(name, "not a .npy file") from None
    if dtype.hasobject:
        message = "holds pickled Python objects, which are never read"
        raise errors.unusable(name, message, "save it with a numeric dtype")
    if any(length.__class__ is not int or length < 0 for length in shape):
        raise errors.unusable(name, f"its shape {shape} is none")
    promised = math.prod(shape) * dtype.itemsize
    if promised > size:
        raise errors.unusable(name, f"truncated: {promised} bytes of data promised in a file of {size}")
    if most is not None and promised > most:
        raise errors.unusable(name, f"holds {promised} bytes, and the limit is {most}", "raise it: --max-memory SIZE")
    content = file.read(promised)
    if len(content) < promised:
        raise errors.unusable(name, f"truncated: {promised} bytes of data promised, {len(content)} found")
    try:
        array = numpy.frombuffer(content, dtype) if content else numpy.empty(0, dtype)
        return usable(name, array.reshape(shape, order="F" if fortran else "C"))
    except ValueError as error:  # entries of no bytes, or a size that no array may have
        raise errors.unusable(name, f"its shape is none: {error}") from None


def usable(name: str, array: numpy.ndarray[Any, Any]) -> numpy.ndarray[Any, Any]:
    """The array in the dtype of the language that holds its values."""
    import numpy

    kind, size = array.dtype.kind, array.dtype.itemsize
    if kind == "u" and size == 8 and array.size and array.max() > numpy.iinfo(numpy.int64).max:
        raise errors.unusable(name, "holds whole numbers beyond int64")
    forms = {
        "b": "bool", "i": "int32" if size == 4 else "int64", "u": "int64", "f": "float32" if size <= 4 else "float64",
        "c": "complex64" if size == 8 else "complex128",
    }  # fmt: skip
    if kind not in forms and kind != "U":
        raise errors.unusable(name, f"its dtype {array.dtype} is not numeric")
    return array.astype(forms[kind]) if kind in forms else array


def read_table(path: str, delimiter: str) -> numpy.ndarray[Any, Any]:
    """A numeric table, shape (rows, columns) or, of one column, (rows,); a first line of words is a header."""
    return parse_table(path, decode_text(path, read_bytes(path, MOST_DATA)), delimiter)


def parse_table(path: str, text: str, delimiter: str) -> numpy.ndarray[Any, Any]:
    """The numbers in the text of a table."""
    import csv
    import io

    import numpy

    from ..engine.core.errors import plural

    rows: list[list[Any]] = []
    width = 0
    whole = True
    try:
        for number, cells in enumerate(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True), 1):
            if not any(cell.strip() for cell in cells):
                continue
            if width and len(cells) != width:
                raise errors.unusable(f"{path}:{number}", f"{plural(len(cells), 'column')} after rows of {width}")
            numbers = [number_of(cell) for cell in cells]
            is_header = not width and not any(number is not None for number in numbers)
            width = len(cells)
            if is_header:  # of words alone: a first row with one bad number must not vanish
                continue
            if None in numbers:
                column = numbers.index(None)
                raise errors.unusable(f"{path}:{number}:{column + 1}", f"{cells[column].strip()!r} is not a number")
            whole = whole and all(number.__class__ is int for number in numbers)
            rows.append(numbers)
    except csv.Error as error:
        raise errors.unusable(path, f"not a readable table: {error}") from None
    if not rows:
        raise errors.unusable(path, "holds no numbers")
    try:
        table = numpy.array(rows, numpy.int64 if whole else numpy.float64)
    except OverflowError:
        raise errors.unusable(path, "holds whole numbers beyond int64") from None
    return table[:, 0] if width == 1 else table


def number_of(cell: str) -> float | None:
    """The number a cell holds: whole ones exactly."""
    text = cell.strip()
    try:
        return int(text) if text.lstrip("+-").isdigit() else float(text)
    except ValueError:
        return None
