"""Values and program texts from files. Nothing is ever unpickled, and every failure names the file."""

from __future__ import annotations

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
        text = decode_text(path, read_bytes(path, MOST_DATA))
        return parse_table(path, text, "\t" if lower.endswith(".tsv") else ",")
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
    if "," not in text:
        text = "\n".join(" ".join(line.split()) for line in text.splitlines())
    table = parse_table(STANDARD_INPUT, text, "," if "," in text else " ")
    return table[0] if len(table) == 1 else table


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
    """The array of a file, or part of an archive, of so many bytes."""
    import numpy

    if most is not None and size > most:
        raise errors.unusable(name, f"holds {size} bytes, and the limit is {most}", "raise it: --max-memory SIZE")
    try:
        array = numpy.lib.format.read_array(file, allow_pickle=False)
    except MemoryError:
        raise
    except Exception as error:  # whatever NumPy's reader, `ast` and `tokenize` have for what is no array
        if "allow_pickle" in str(error):
            hint = "save it with a numeric dtype"
            raise errors.unusable(name, "holds pickled Python objects, which are never read", hint) from None
        said = str(error).partition("\n")[0] if size else "it is empty"
        raise errors.unusable(name, f"not a readable .npy file: {said}") from None
    if array.dtype.kind not in "biufcU":
        raise errors.unusable(name, f"its dtype {array.dtype} is not numeric")
    if array.dtype.kind == "u" and array.size and array.max() > numpy.iinfo(numpy.int64).max:
        raise errors.unusable(name, "holds whole numbers beyond int64")
    return array


def parse_table(path: str, text: str, delimiter: str) -> numpy.ndarray[Any, Any]:
    """A table of numbers, shape (rows, columns) or, of one column, (rows,); a first line of words is a header."""
    import io

    import numpy

    from .tables.read import records

    rows = list(records(io.StringIO(text, newline=""), path, delimiter))
    numbers = [[number_of(cell.strip()) for cell in cells] for _, cells in rows]
    first = bool(rows) and all(number is None for number in numbers[0])  # words alone: one bad number must not vanish
    for (line, cells), found in zip(rows[first:], numbers[first:]):
        if None in found:
            column = found.index(None)
            raise errors.unusable(f"{path}:{line}:{column + 1}", f"{cells[column].strip()!r} is not a number")
    if not numbers[first:]:
        raise errors.unusable(path, "holds no numbers")
    whole = all(number.__class__ is int for found in numbers[first:] for number in found)
    try:
        table = numpy.array(numbers[first:], numpy.int64 if whole else numpy.float64)
    except OverflowError:
        raise errors.unusable(path, "holds whole numbers beyond int64") from None
    return table[:, 0] if table.shape[1] == 1 else table


def number_of(cell: str) -> float | int | None:
    """The number in a cell, None where there is none."""
    if "_" in cell:
        return None
    try:
        return int(cell) if cell.isascii() and cell.lstrip("+-").isdigit() else float(cell)
    except ValueError:
        return None
