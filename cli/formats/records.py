"""The records of a batch in each format, written as they come."""

from __future__ import annotations

from .delimited import lines, names, scalars
from .json import SCHEMA, dumps
from .numbers import value_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ...parser.errors import AdiffError
    from ..output import Output
    from ..result import Result


# What a line has for an `id` that names none: null is one like others.
NO_ID: object = object()


class Record:
    """The answer to one line: a result or an error."""

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

    def message(self) -> str:
        """The error on one line."""
        assert self.error is not None
        return f"error[{self.error.code}]: {' '.join(self.error.message.split())}"


class Writer:
    """Records as NDJSON: one object a line."""

    def __init__(self, output: Output) -> None:
        self.output = output
        self.style = output.style

    def text(self, record: Record) -> str:
        """One record, whatever was written before."""
        return dumps(record.document(), self.style.ascii) + "\n"

    def write(self, text: str) -> None:
        """Write the text of a record and send it on its way."""
        self.output.write(text)
        self.output.keep()

    def finish(self) -> None:
        """Write what is held back, and what comes after the last record."""


class DocumentWriter(Writer):
    """One JSON object with all the records."""

    def __init__(self, output: Output) -> None:
        super().__init__(output)
        self.texts: list[str] = []

    def write(self, text: str) -> None:
        self.texts.append(text.rstrip("\n"))

    def finish(self) -> None:
        head = dumps({"schema": SCHEMA, "command": "batch", "records": []}).removesuffix("]}")
        self.output.write(head + ", ".join(self.texts) + "]}\n")


class PlainWriter(Writer):
    """`line<TAB>value`, or `line<TAB>name=value<TAB>…`; of an answer of rows, `name=value name=value …` for each."""

    def text(self, record: Record) -> str:
        return "\t".join([str(record.line), *self.cells(record)]) + "\n"

    def cells(self, record: Record) -> list[str]:
        """The texts of a record."""
        result = record.result
        if result is None:
            return [record.message()]
        pairs = result.lines
        if result.header and not pairs:
            rows = (zip(result.header, row, strict=True) for row in result.rows)
            return [" ".join(f"{name}={self.word(value)}" for name, value in row) for row in rows]
        if "kernel" in result.document and not pairs:
            pairs = [("kernel", dumps(result.document["kernel"]))]  # a source of many lines, on one
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

    begun = False

    def text(self, record: Record) -> str:
        import textwrap

        head = f"{record.line:>6}  {record.command or '':<10}  "
        body = "  ".join(self.cells(record))
        room = max(self.style.width - len(head), 24)
        wrapped = textwrap.wrap(body, room, break_long_words=False, break_on_hyphens=False)
        colour = "31" if record.error is not None else ""
        return head + self.styled(("\n" + " " * len(head)).join(wrapped), colour) + "\n"

    def write(self, text: str) -> None:
        super().write(text if self.begun else self.styled("  line  command     result", "1") + "\n" + text)
        self.begun = True

    def styled(self, text: str, code: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self.style.colour and code else text


class DelimitedWriter(DocumentWriter):
    """A line a record, where all answers are of one command and shape. Elsewhere they have no columns in common: a line an
    entry."""

    def text(self, record: Record) -> str:
        """The parts of a record as JSON, for their form is known when all have come."""
        id_text = "" if record.id is NO_ID else record.id if isinstance(record.id, str) else dumps(record.id)
        heads: list[str] = []
        fields: list[str] = []
        if (result := record.result) is not None:
            for name, value in result.columns or result.lines or [("", dumps(result.document))]:
                heads += names(name, value)
                fields += scalars(value)
        head, error = [str(record.line), id_text, record.command or ""], record.message() if result is None else ""
        return dumps([head, heads, fields, error], ascii=True) + "\n"

    def finish(self) -> None:
        import json

        delimiter = "," if self.style.format == "csv" else "\t"
        found = list(map(json.loads, self.texts))
        shapes = {(head[-1], *heads) for head, heads, _, error in found if not error}
        wide = len(shapes) == 1
        columns = next(iter(shapes))[1:] if wide else ("name", "value")
        Writer.write(self, lines([["line", "id", "command", *columns, "error"]], delimiter))
        for head, heads, fields, error in found:
            if wide:
                rows = [[*(fields or [""] * len(columns)), error]]
            else:
                rows = [["", "", error]] if error else [[*pair, ""] for pair in zip(heads, fields, strict=True)]
            Writer.write(self, lines([[*head, *row] for row in rows], delimiter))


def writer(output: Output) -> Writer:
    """The writer of the output's format."""
    kinds = {
        "ndjson": Writer, "json": DocumentWriter, "plain": PlainWriter, "table": TableWriter, "csv": DelimitedWriter,
        "tsv": DelimitedWriter,
    }  # fmt: skip
    return kinds[output.style.format](output)
