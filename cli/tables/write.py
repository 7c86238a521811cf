"""Tables as output: text of each format as it comes, and NPY, NPZ, Parquet, Arrow and Feather files."""

from __future__ import annotations

import io
import re
from math import isfinite

from .. import errors
from ..formats import FORMS
from ..formats.delimited import field, joined, lines, names, texts
from ..formats.json import SCHEMA, dumps
from ..formats.numbers import entries, plain
from .columns import listed
from .read import form_of, needed_arrow

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from ..output import Output
    from ..request import Request
    from ..result import Result

AT_ONCE = 1 << 14  # rows whose texts are in memory
MOST_DRAWN = 1_000  # rows of a table for a person


class Writer:
    """What rows are written by. A column is what the input has or an array, with `valid` saying where a result is."""

    typed = False  # whether numbers of a text are written as numbers

    def __init__(self, output: Output, command: str, compression: str = "") -> None:
        self.output = output
        self.style = output.style
        self.command = command
        self.sink: Any = Sink(output)
        if compression == "gzip":
            import gzip

            self.sink = gzip.GzipFile(fileobj=self.sink, mode="wb", compresslevel=6, filename="")
        elif compression:
            self.sink = needed_arrow("zstd").CompressedOutputStream(self.sink, "zstd")
        self.begun = False

    def write(self, names: list[str], columns: list[Any], valid: list[Any]) -> None:
        raise NotImplementedError

    def text(self, text: str) -> None:
        self.sink.write(text.encode("utf-8", "backslashreplace"))

    def finish(self, notices: Sequence[Any] = ()) -> None:
        """Write what comes at the end: notices too where the format has a place for them."""
        if not isinstance(self.sink, Sink):
            self.sink.close()


class Sink(io.RawIOBase):
    """Where bytes of a table go."""

    def __init__(self, output: Output) -> None:
        self.output = output

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self.output.write_bytes(bytes(data))
        return len(data)


class Delimited(Writer):
    """CSV, TSV, and plain, which is TSV."""

    def write(self, names: list[str], columns: list[Any], valid: list[Any]) -> None:
        delimiter = "," if self.style.format == "csv" else "\t"
        if not self.begun:
            self.text(lines([names], delimiter))
            self.begun = True
        for start in range(0, len(columns[0]), AT_ONCE):
            part = slice(start, start + AT_ONCE)
            found = [texts(listed(x[part], y if y is None else y[part]), delimiter) for x, y in zip(columns, valid)]
            self.text(joined(zip(*found), delimiter))


class Objects(Writer):
    """NDJSON: an object a row; and JSON, one object with all the rows."""

    def write(self, names: list[str], columns: list[Any], valid: list[Any]) -> None:
        cells = [
            [json_text(value, self.style.ascii) for value in listed(column, there)]
            for column, there in zip(columns, valid)
        ]
        keys = [dumps(name, self.style.ascii) + ": " for name in names]
        rows = []
        for row in zip(*cells):
            # A row that has not failed has no error.
            pairs = [key + cell for key, cell, name in zip(keys, row, names) if name != "error" or cell != "null"]
            rows.append("{" + ", ".join(pairs) + "}")
        if self.style.format == "ndjson":
            self.text("".join(row + "\n" for row in rows))
            return
        head = dumps({"schema": SCHEMA, "command": self.command, "rows": []}).removesuffix("]}")
        self.text((", " if self.begun else head) + ", ".join(rows) if rows or not self.begun else "")
        self.begun = self.begun or bool(rows)

    def finish(self, notices: Sequence[Any] = ()) -> None:
        if self.style.format == "json":
            self.text(f'], "notices": {dumps(notices, self.style.ascii)}}}\n')
        super().finish()


NUMBER = re.compile(r"-?(0|[1-9]\d*)(\.\d+)?([eE][-+]?\d+)?")


def json_text(value: Any, ascii: bool) -> str:
    """A cell as JSON. A text that is a number of JSON's is one; an empty one is null."""
    if value is None or value == "":
        return "null"
    if isinstance(value, str) and NUMBER.fullmatch(value):
        return value if isfinite(float(value)) else dumps(float(value))
    return dumps(value, ascii)


class Drawn(Writer):
    """A table for a person: the first rows, drawn at the end."""

    def __init__(self, output: Output, command: str, compression: str = "") -> None:
        super().__init__(output, command)
        self.names: list[str] = []
        self.rows: list[list[Any]] = []
        self.count = 0

    def write(self, names: list[str], columns: list[Any], valid: list[Any]) -> None:
        self.names = names
        room = MOST_DRAWN - len(self.rows)
        self.count += len(columns[0])
        shown = [listed(x[:room], y if y is None else y[:room]) for x, y in zip(columns, valid)]
        self.rows += map(list, zip(*shown))

    def finish(self, notices: Sequence[Any] = ()) -> None:
        from ..formats.table import Drawing

        drawing = Drawing(self.style)
        columns = list(map(list, zip(*self.rows))) or [[] for _ in self.names]
        if self.names[-1:] == ["error"] and not any(columns[-1]):
            self.names, columns = self.names[:-1], columns[:-1]
        first = [drawing.cell(value) for value in columns[0]]
        drawing.columns(self.names, first, *columns[1:])
        if self.count > len(self.rows):
            drawing.value(f"{drawing.marks.ellipsis} {self.count - len(self.rows)} more rows")
        self.output.write(drawing.canvas.text())


class Arrow(Writer):
    """Parquet, and Arrow or Feather (an IPC file)."""

    typed = True

    def __init__(self, output: Output, command: str, form: str) -> None:
        super().__init__(output, command)
        self.pa = needed_arrow("Parquet" if form == "parquet" else "Arrow")
        self.form = form
        self.file: Any = None
        self.schema: Any = None
        self.count = 0

    def array(self, name: str, column: Any, there: Any, kind: Any) -> Any:
        """A column as an Arrow array, of the `kind` that the rows before have."""
        pa = self.pa
        try:
            if not hasattr(column, "type"):
                if hasattr(column, "ndim") and column.ndim > 1:
                    column = column.tolist()
                column = pa.array(column, mask=None if there is None or there.all() else ~there)
            return column if kind is None or column.type == kind else column.cast(kind)
        except (pa.ArrowException, OverflowError) as error:
            said = f"after row {self.count}: column '{name}' has values of two kinds ({error}): write .ndjson"
            raise errors.unwritable(self.output.path or "-", said) from None

    def write(self, names: list[str], columns: list[Any], valid: list[Any]) -> None:
        pa = self.pa
        arrays = []
        for i, (column, there) in enumerate(zip(columns, valid)):
            if hasattr(column, "dtype") and column.dtype.kind == "c":
                raise errors.unwritable(
                    self.output.path or "-", f"column '{names[i]}' is complex: write .csv or .ndjson"
                )
            kind = None if self.schema is None else self.schema.types[i]
            arrays.append(self.array(names[i], column, there, kind))
        if self.file is None:
            empty = [pa.string() if name == "error" else pa.float64() for name in names]
            kinds = [other if x.type == pa.null() else x.type for x, other in zip(arrays, empty)]
            self.schema = pa.schema(list(zip(names, kinds)))
            sink = pa.PythonFile(self.sink, "w")
            if self.form == "parquet":
                from pyarrow import parquet

                self.file = parquet.ParquetWriter(sink, self.schema, use_dictionary=False, compression="snappy")
            else:
                self.file = pa.ipc.new_file(sink, self.schema)
            arrays = [x.cast(kind) for x, kind in zip(arrays, kinds)]
        self.file.write_batch(pa.record_batch(arrays, schema=self.schema))
        self.count += len(arrays[0])

    def finish(self, notices: Sequence[Any] = ()) -> None:
        if self.file is not None:
            self.file.close()


class Arrays(Writer):
    """NPZ: an array a column; and NPY: the columns of numbers as a table of floats. They are kept in memory until the end."""

    typed = True

    def __init__(self, output: Output, command: str, form: str) -> None:
        super().__init__(output, command)
        self.form = form
        self.parts: dict[str, list[Any]] = {}

    def write(self, names: list[str], columns: list[Any], valid: list[Any]) -> None:
        import numpy as np

        for name, column, there in zip(names, columns, valid):
            x = np.asarray(column if not hasattr(column, "type") else column.to_numpy(zero_copy_only=False))
            if there is not None and not there.all() and x.dtype.kind in "fiub":
                x = np.where(there.reshape(-1, *[1] * (x.ndim - 1)), x, np.nan)
            if x.dtype.kind in "fiubc":
                self.parts.setdefault(name, []).append(x)
            elif self.form == "npz" and name != "error":
                self.parts.setdefault(name, []).append(x.astype(str))

    def finish(self, notices: Sequence[Any] = ()) -> None:
        import numpy as np

        columns = {name: np.concatenate(parts) for name, parts in self.parts.items()}
        if self.form == "npy":
            matrix = np.column_stack([x.reshape(len(x), -1) for x in columns.values()])
            columns = {"": matrix.astype("float64")}
        self.sink.write(saved(columns, self.form))


def writer(output: Output, command: str, format: str) -> Writer:
    """The writer of the `format` that was asked for, or else of the output's name or style."""
    path = output.path or ""
    form, compression = form_of(path, format, FORMS) if path else ("", "")
    if format or not path:
        form = ""
    elif not form:
        raise errors.unwritable(path, f"its name does not end in {', '.join(FORMS)}: --format says what it is")
    if form in ("parquet", "arrow"):
        return Arrow(output, command, form)
    if form in ("npy", "npz"):
        return Arrays(output, command, form)
    if form:
        output.style.format = form
    kinds: dict[str, type[Writer]] = {"json": Objects, "ndjson": Objects, "table": Drawn}
    return kinds.get(output.style.format, Delimited)(output, command, compression)


def saved(arrays: dict[str, Any], form: str) -> bytes:
    """The bytes of a file of NumPy: of all arrays, or of the only one."""
    import numpy as np

    content = io.BytesIO()
    if form == "npz":
        np.savez(content, **arrays)
    else:
        np.save(content, *arrays.values())
    return content.getvalue()


def write_result(request: Request, result: Result, output: Output) -> None:
    """Write the result of one evaluation: `.npy` of one array, which of a value and one derivative is the derivative; `.npz` of
    all of them by the names that they have as columns; or as a table of Parquet or Arrow, of the columns that CSV has. Raises
    AdiffError E0713 where the file cannot hold the result."""
    form, path = output.style.format, request.text("output")
    if form in ("npy", "npz"):
        arrays = dict(result.columns)
        if form == "npy" and len(arrays) > 1:
            arrays.pop("value", None)
        if not arrays or (form == "npy" and len(arrays) > 1):
            said = f"holds one array, and the result has {', '.join(arrays) or 'none'}: .npz and .json hold more"
            raise errors.unwritable(path, said)
        output.write_bytes(saved({name: array(path, name, x) for name, x in arrays.items()}, form))
        return
    if result.header:
        found = list(zip(result.header, zip(*result.rows)))
    else:
        pairs = ((head, x) for name, value in result.columns for head, x in zip(names(name, value), entries(value)))
        found = [(head, (scalar,)) for head, (_, scalar, _) in pairs]
    kept = [[x if x is None or isinstance(x, str | int | float) else field(x) for x in column] for _, column in found]
    table = Arrow(output, request.command, form)
    table.write([name for name, _ in found], kept, [None] * len(found))
    table.finish()


def array(path: str, name: str, value: Any) -> Any:
    """A value as an array."""
    import numpy

    try:
        found = numpy.asarray(plain(value))
    except ValueError:
        found = numpy.asarray(None)
    if found.dtype.kind not in "fiubc":
        raise errors.unwritable(path, f"{name} is no array of numbers: .json holds it")
    return found
