"""Rich tables on a canvas of a given width. No text is read as markup, and nothing is cut to fit."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from rich import box
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from .layout import is_number

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from . import Style

    Rows = Sequence[Sequence[str]]

HEADING, NAME, FAINT, GOOD, BAD = "bold", "cyan", "dim", "bold green", "bold red"
GAP = 3  # columns between two cells


class Canvas:
    """Lines and tables, drawn under each other."""

    def __init__(self, style: Style) -> None:
        self.width = max(style.width, 20)
        self.ascii = style.ascii
        self.buffer = io.StringIO()
        self.console = Console(
            file=self.buffer,
            width=self.width,
            force_terminal=style.colour,
            color_system="standard" if style.colour else None,
            no_color=not style.colour,
            legacy_windows=False,
            markup=False,
            emoji=False,
            highlight=False,
        )

    def text(self) -> str:
        """All that was drawn, with no spaces at the ends of lines."""
        return "\n".join(line.rstrip() for line in self.buffer.getvalue().split("\n")).strip("\n") + "\n"

    def line(self, *parts: tuple[str, str]) -> None:
        """One line of (text, style) parts; it wraps between words where it must."""
        self.console.print(Text.assemble(*parts), overflow="fold")

    def fits(self, header: Sequence[str], rows: Rows) -> bool:
        """Whether a table is narrow enough to be drawn as it is."""
        return natural_width(header, rows) <= self.width

    def table(self, header: Sequence[str], written: Callable[[int], Rows]) -> None:
        """A table whose first column holds labels, or one block a row where the table is too wide; `written` gives the rows
        with no cell wider than so many columns, if that can be."""
        turned_rows = written(self.width - max(map(len, header)) - 6)
        widths = range(self.width, 2 * self.width // 5 - 1, -2)
        rows = next((rows for rows in map(written, widths) if self.fits(header, rows)), None)
        # What is cut to fit here and whole when turned is turned.
        if rows is not None and cut(rows, self.ascii) <= cut(turned_rows, self.ascii):
            self.grid(header, rows)
        else:
            self.blocks(header, turned_rows)

    def grid(self, header: Sequence[str], rows: Rows) -> None:
        """The table as it is."""
        table = Table(
            box=box.ASCII2 if self.ascii else box.SIMPLE_HEAD,
            header_style=HEADING,
            show_edge=not self.ascii,
        )
        for index, title in enumerate(header):
            table.add_column(Text(title), style="" if index else NAME, no_wrap=True, overflow="ignore")
        for row in rows:
            table.add_row(*(Text(cell) for cell in row))
        self.console.print(table)

    def listing(self, rows: Rows, faint: bool = False) -> None:
        """Names and what is said of them, which wraps beside the names."""
        table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 2))
        table.add_column(style=NAME, no_wrap=True)
        table.add_column(style=FAINT if faint else "", overflow="fold")
        for name, text in rows:
            table.add_row(Text(name), Text(text))
        self.console.print(table)

    def blocks(self, header: Sequence[str], rows: Rows) -> None:
        """The table turned: the first cell of a row over a list of its others."""
        for row in rows:
            self.console.print()
            self.console.print(Text(row[0], style=HEADING), overflow="fold")
            cells = zip(header[1:], row[1:], strict=True)
            listed = [(title, cell if "\n" in cell else cell.strip()) for title, cell in cells if cell]
            numbers = (len(word) for _, cell in listed for word in cell.split() if is_number(word))
            # No number is broken, however narrow the terminal is.
            self.console.width = max(self.width, max(map(len, header)) + 6 + max(numbers, default=0))
            self.listing(listed)
            self.console.width = self.width
        self.console.print()


def cut(rows: Rows, ascii: bool) -> bool:
    """Whether a tensor among the cells is shown in part."""
    mark = ("..." if ascii else "…") + " "
    return any(mark in cell and " more" in cell for row in rows for cell in row)


def natural_width(header: Sequence[str], rows: Rows) -> int:
    """The columns that the table takes when nothing wraps."""
    widths = [cell_len(title) for title in header]
    for row in rows:
        for index, cell in enumerate(row):
            widths[index] = max(widths[index], *(cell_len(line) for line in cell.split("\n")))
    return sum(widths) + GAP * len(widths) + 1
