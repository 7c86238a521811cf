"""A program's text, and places in it."""

from __future__ import annotations

from .fields import Record


class Source:
    """A text with the label that diagnostics print for it."""

    __slots__ = ("_line_starts", "name", "passed", "text")
    library = False  # whether it is a part of adiff's own, in which no message points

    def __init__(self, text: str, name: str = "<expr>") -> None:
        self.name = name
        self.text = text
        # What the parser passed over: prompts, outputs, and commands to a notebook.
        self.passed: list[tuple[int, int]] = []
        # Only diagnostics ask for lines, so a program without mistakes never pays for them.
        self._line_starts: list[int] | None = None

    def line_starts(self) -> list[int]:
        r"""The offset at which each line begins; a line ends at ``\n``, ``\r\n`` or ``\r``, as in Python."""
        if self._line_starts is None:
            from re import finditer

            self._line_starts = [0, *(found.end() for found in finditer(r"\r\n?|\n", self.text))]
        return self._line_starts

    def position(self, offset: int) -> tuple[int, int]:
        """Line and column of an offset, both from 1; the column counts characters, a tab is one."""
        from bisect import bisect_right

        starts = self.line_starts()
        line = bisect_right(starts, offset)
        return line, offset - starts[line - 1] + 1

    def line(self, number: int) -> str:
        """The text of a line (from 1) without its line ending."""
        starts = self.line_starts()
        end = starts[number] if number < len(starts) else len(self.text)
        return self.text[starts[number - 1] : end].rstrip("\r\n")


class Span(Record):
    """The characters ``start <= offset < end`` of a source."""

    source: Source
    start: int
    end: int

    @property
    def line(self) -> int:
        return self.source.position(self.start)[0]

    @property
    def column(self) -> int:
        return self.source.position(self.start)[1]

    @property
    def end_line(self) -> int:
        return self.source.position(self.end)[0]

    @property
    def end_column(self) -> int:
        """The column just after the last character."""
        return self.source.position(self.end)[1]

    @property
    def text(self) -> str:
        return self.source.text[self.start : self.end]

    def to_plain(self) -> dict[str, object]:
        """The place for JSON."""
        return {
            "file": self.source.name,
            "line": self.line,
            "column": self.column,
            "end_line": self.end_line,
            "end_column": self.end_column,
        }
