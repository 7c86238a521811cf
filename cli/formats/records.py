"""The records of a batch in each format, written as they come."""

from __future__ import annotations

from .delimited import lines, names, scalars
from .json import SCHEMA, dumps
from .numbers import value_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from ...parser.errors import AdiffError
    from ..output import Output
    from ..result import Result


# What a line has for an `id` that names none: null is one like others.
NO_ID: object = object()


class Record:
    """The answer to one line: a result or an error."""

    __slots__ = ("command", "crc32", "error", "id", "line", "result")

    def __init__(self, line: int, crc32: str = "") -> None:
        self.line = line
        self.crc32 = crc32  # of the line's text, by which `--resume` knows it again
        self.id: Any = NO_ID
        self.command: str | None = None
        self.result: Result | None = None
        self.error: AdiffError | None = None

    @property
    def ok(self) -> bool:
        """Whether the line did what it asked for."""
        return self.result is not None and self.result.ok

    def document(self) -> dict[str, Any]:
        """The record for JSON."""
        content: dict[str, Any] = {"schema": SCHEMA, "line": self.line}
        if self.crc32:
            content["crc32"] = self.crc32
        if self.id is not NO_ID:
            content["id"] = self.id
        if self.command is not None:
            content["command"] = self.command
        if self.result is not None:
            content.update(self.result.document)
        if self.error is not None:
            from ..diagnostics import error_document

            content["error"] = error_document(self.error)
        return content

    @property
    def rows(self) -> bool:
        """Whether the answer is rows of cells."""
        return self.result is not None and bool(self.result.header) and not self.result.lines

    def pairs(self) -> list[tuple[str, Any]]:
        """Names and values, for a person."""
        assert self.result is not None
        if self.rows:
            return [(self.command or "", f"{len(self.result.rows)} rows")]
        if "kernel" in self.result.document and not self.result.lines:
            return [("kernel", dumps(self.result.document["kernel"]))]  # a source of many lines, on one
        return self.result.lines

    def message(self) -> str:
        """The error on one line."""
        assert self.error is not None
        return f"error[{self.error.code}]: {' '.join(self.error.message.split())}"


class Writer:
    """Records as NDJSON: one object a line."""

    __slots__ = ("begun", "output", "style")

    def __init__(self, output: Output) -> None:
        self.output = output
        self.style = output.style
        self.begun = False

    def head(self) -> str:
        """What comes before the first record."""
        return ""

    def text(self, record: Record) -> str:
        """One record, whatever was written before."""
        return dumps(record.document(), self.style.ascii) + "\n"

    def write(self, text: str) -> None:
        """Write the text of a record and send it on its way."""
        self.output.write(text if self.begun else self.head() + text)
        self.output.keep()
        self.begun = True

    def finish(self) -> None:
        """Write what is held back, and what comes after the last record."""


class DocumentWriter(Writer):
    """One JSON object with all the records."""

    __slots__ = ("texts",)

    def __init__(self, output: Output) -> None:
        super().__init__(output)
        self.texts: list[str] = []

    def head(self) -> str:
        return dumps({"schema": SCHEMA, "command": "batch", "records": []}).removesuffix("]}")

    def text(self, record: Record) -> str:
        return dumps(record.document(), self.style.ascii)

    def write(self, text: str) -> None:
        self.texts.append(text)

    def finish(self) -> None:
        self.output.write(self.head() + ", ".join(self.texts) + "]}\n")


class PlainWriter(Writer):
    """`line<TAB>value`, or `line<TAB>name=value<TAB>…`; of an answer of rows, `name=value name=value …` for each."""

    __slots__ = ()
    whole = True  # rows are not counted in the place of being shown

    def text(self, record: Record) -> str:
        return "\t".join([str(record.line), *self.cells(record)]) + "\n"

    def cells(self, record: Record) -> list[str]:
        """The texts of a record."""
        if record.error is not None:
            return [record.message()]
        if record.rows and self.whole:
            assert record.result is not None
            header = record.result.header
            return [
                " ".join(f"{name}={self.word(value)}" for name, value in zip(header, row, strict=True))
                for row in record.result.rows
            ]
        pairs = record.pairs()
        return [f"{name}={self.line(value)}" if len(pairs) > 1 else self.line(value) for name, value in pairs]

    def word(self, value: Any) -> str:
        """A value in a row: what is text with spaces, or empty, is quoted."""
        text = self.line(value)
        return repr(text) if isinstance(value, str) and (not text or " " in text) else text

    def line(self, value: Any) -> str:
        """A value on a line."""
        return " ".join(value_text(value, self.style.precision).split("\n"))


class TableWriter(PlainWriter):
    """Aligned lines under a heading, wrapped between values."""

    __slots__ = ()
    whole = False

    def head(self) -> str:
        return self.styled("  line  command     result", "1") + "\n"

    def text(self, record: Record) -> str:
        import textwrap

        head = f"{record.line:>6}  {record.command or '':<10}  "
        body = "  ".join(self.cells(record))
        room = max(self.style.width - len(head), 24)
        wrapped = textwrap.wrap(body, room, break_long_words=False, break_on_hyphens=False)
        colour = "31" if record.error is not None else ""
        return head + self.styled(("\n" + " " * len(head)).join(wrapped), colour) + "\n"

    def styled(self, text: str, code: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self.style.colour and code else text


class DelimitedWriter(Writer):
    """A line a record, where all answers are of one command and shape. Elsewhere they have no columns in common: a line an
    entry, and so it is of standard input (not `whole`), whose end nobody knows."""

    def __init__(self, output: Output, whole: bool) -> None:
        super().__init__(output)
        self.delimiter = "," if self.style.format == "csv" else "\t"
        self.whole = whole
        self.shapes: set[tuple[str, ...]] = set()  # those of the answers, up to two
        self.spool: Any = None  # the records, in a file where they are many

    def head(self) -> str:
        return lines([["line", "id", "command", "name", "value", "error"]], self.delimiter)

    def text(self, record: Record) -> str:
        """The parts of a record as JSON, for their form is known when all have come."""
        id_text = "" if record.id is NO_ID else record.id if isinstance(record.id, str) else dumps(record.id)
        head, error = [str(record.line), id_text, record.command or ""], ""
        heads: list[str] = []
        fields: list[str] = []
        if record.error is not None:
            error = record.message()
        else:
            assert record.result is not None
            for name, value in record.result.columns or record.result.lines or [("", dumps(record.result.document))]:
                heads += names(name, value)
                fields += scalars(value)
        return dumps([head, heads, fields, error], ascii=True) + "\n"

    def write(self, text: str) -> None:
        import json
        import tempfile

        head, heads, fields, error = json.loads(text)
        if not self.whole:
            super().write(self.long(head, heads, fields, error))
            return
        if not error and len(self.shapes) < 2:
            self.shapes.add((head[-1], *heads))
        if self.spool is None:
            self.spool = tempfile.SpooledTemporaryFile(2**20, "w+", encoding="ascii")  # noqa: SIM115 - read by finish
        self.spool.write(text)

    def records(self) -> Iterator[list[Any]]:
        """The records that were held back."""
        import json

        if self.spool is not None:
            self.spool.seek(0)
            yield from map(json.loads, self.spool)

    def long(self, head: list[str], heads: list[str], fields: list[str], error: str) -> str:
        """A record as a line an entry."""
        rows = [[*head, name, field, ""] for name, field in zip(heads, fields, strict=True)]
        return lines([[*head, "", "", error]] if error else rows, self.delimiter)

    def finish(self) -> None:
        if len(self.shapes) != 1:
            for record in self.records():
                super().write(self.long(*record))
        else:
            [(_, *columns)] = self.shapes
            self.begun = True
            super().write(lines([["line", "id", "command", *columns, "error"]], self.delimiter))
            for head, _, fields, error in self.records():
                super().write(lines([[*head, *(fields or [""] * len(columns)), error]], self.delimiter))


def writer(output: Output, whole: bool) -> Writer:
    """The writer of the output's format; `whole`: of records that nobody waits for one by one."""
    if output.style.format in ("csv", "tsv"):
        return DelimitedWriter(output, whole)
    kinds = {"ndjson": Writer, "json": DocumentWriter, "plain": PlainWriter, "table": TableWriter}
    return kinds[output.style.format](output)
