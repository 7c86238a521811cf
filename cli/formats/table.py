"""Results as tables for a person: what each command draws."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

from .canvas import BAD, FAINT, GOOD, HEADING, Canvas
from .layout import TENSOR_DIGITS, Marks, aligned, cell_text, labels, shape_of
from .numbers import entries

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ..result import Evaluated, Result
    from . import Style
    from .canvas import Rows

MOST_LABELS = 12  # entries along a side of a matrix whose rows and columns are labelled one by one
FEWER_DIGITS = (TENSOR_DIGITS, 6, 4)  # of the entries of a matrix that would not fit with all of them
TRACE_DIGITS = 6  # of the numbers in a tape or a check, which stand many to a line; --precision gives more
MOST_STEPS = 200  # of a tape; the other formats have them all
MOST_ENTRIES = 40  # of a sparse tensor; the other formats have them all
MOST_SNIPPET = 32  # characters of the source of a step
MOST_TITLE = 60  # characters of an expression that a table repeats


class Drawing:
    """A canvas, and how values are written on it."""

    def __init__(self, style: Style) -> None:
        self.canvas = Canvas(style)
        self.marks = Marks(style.ascii)
        self.precision = style.precision
        self.digits: int | None = None  # of a number that would be longer, where numbers stand many to a line

    def cell(self, value: Any, width: int = 0) -> str:
        """A value for a cell of so many columns, by default the whole width."""
        precision = self.precision
        if (
            precision is None
            and self.digits is not None
            and value.__class__ is float
            and len(repr(value)) > self.digits + 3
        ):
            precision = self.digits
            self.marks.rounded = True
        return cell_text(value, precision, width or self.canvas.width, self.marks)

    def column(self, values: Iterable[Any], width: int) -> list[str]:
        """Values under each other, decimal points aligned."""
        return aligned([self.cell(value, width) for value in values])

    def label(self, name: str, value: Any) -> str:
        """A name with the shape of what it stands for."""
        shape = shape_of(value)
        return f"{name} [{self.marks.times.join(map(str, shape))}]" if shape else name

    def shape(self, value: Any) -> tuple[int, ...]:
        """The shape of a tensor; of nested lists too."""
        return shape_of(value)

    # --- parts of answers -------------------------------------------------------------------------------------------

    def title(self, subject: Evaluated, value: Any) -> None:
        """`expression = value`, or the value alone under a long program."""
        text = subject.text.strip()
        self.named(text if "\n" not in text and len(text) <= MOST_TITLE else "value", value)

    def named(self, name: str, value: Any = "", between: str = " = ") -> None:
        """`name = value`, the value under the name where it takes several lines; or a heading alone."""
        written = self.cell(value)
        if "\n" in written:
            self.canvas.line((f"{name} =", HEADING))
            self.canvas.line((written, ""))
        else:
            self.canvas.line((name + (between if written else ""), HEADING), (written, ""))

    def value(self, value: Any) -> None:
        """A value alone."""
        if hasattr(value, "to_plain") and "indices" in (parts := value.to_plain()):
            self.canvas.line((f"{type(value).__name__} of shape {parts['shape']}", HEADING))
            first = (parts[part][:MOST_ENTRIES].tolist() for part in ("indices", "values"))
            rows = [(str(i), v) for i, v in zip(*first, strict=True)]
            self.entries(("index", "value"), rows, len(parts["indices"]))
        else:
            self.canvas.line((self.cell(value), ""))

    def columns(self, header: Sequence[str], names: Sequence[Any], *columns: Sequence[Any]) -> None:
        """A table of names, and of values beside them."""

        def written(width: int) -> Rows:
            return list(zip(map(str, names), *(self.column(values, width) for values in columns), strict=True))

        self.canvas.table(header, written)

    def beside(self, subject: Evaluated, heading: str, found: dict[str, Any]) -> None:
        """A row for each variable: its name, its value, and what was found for it."""
        names = [self.label(name, value) for name, value in found.items()]
        values = [subject.input(name) for name in found]
        self.columns(("variable", "value", heading), names, values, list(found.values()))

    def records(self, header: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
        """A table of values of few digits, names first."""
        self.digits = TRACE_DIGITS
        self.canvas.table(header, lambda width: [(name, *(self.cell(x, width) for x in row)) for name, *row in rows])

    def entries(self, header: Sequence[str], rows: Any, count: int) -> None:
        """Places and values, an entry a line: the first of `count`."""
        shown = rows[:MOST_ENTRIES]
        self.columns(header, *(zip(*shown) if shown else [[]] * len(header)))
        if count > len(shown):
            self.canvas.line((f"{self.marks.ellipsis} {count - len(shown)} more entries", ""))

    def matrix(
        self, rows: dict[str, tuple[int, ...]], columns: dict[str, tuple[int, ...]], blocks: dict[str, dict[str, Any]]
    ) -> bool:
        """Blocks as one matrix under labels of its rows and columns, aligned at the decimal points; False where it would be
        too large, or a block is missing."""
        sides = [sum(map(prod, side.values())) for side in (rows, columns)]
        if not 0 < sides[1] <= MOST_LABELS or sides[0] > MOST_LABELS:
            return False
        if any(block is None for line in blocks.values() for block in line.values()):
            return False
        titles, header = ([label for name in side for label in labels(name, side[name])] for side in (rows, columns))
        cells: list[list[Any]] = []
        for row, shape in rows.items():
            flat = {column: [scalar for _, scalar, _ in entries(blocks[row][column])] for column in columns}
            for index in range(prod(shape)):
                sizes = {name: prod(other) for name, other in columns.items()}
                cells.append([x for name, size in sizes.items() for x in flat[name][index * size : (index + 1) * size]])

        def written(width: int) -> Rows:
            texts = [self.column((row[column] for row in cells), width) for column in range(len(header))]
            return [(label, *(column[index] for column in texts)) for index, label in enumerate(titles)]

        whole = self.digits
        for digits in (whole, *FEWER_DIGITS):
            self.digits = digits
            if self.canvas.fits(("", *header), written(0)):
                break
        else:
            self.digits = whole
        self.canvas.table(("", *header), written)
        self.digits = whole
        return True

    def steps(self, tape: Sequence[Any]) -> None:
        """The steps of a tape in order."""
        self.digits = TRACE_DIGITS
        first = tape[:MOST_STEPS]
        left = tape[-1].step - first[-1].step if first else 0

        def steps(width: int) -> Rows:
            rows = []
            for row in first:
                partials = ", ".join(self.cell(partial, width) for partial in row.partials or ())
                source = " ".join(row.span.text.split()) if row.span else ""
                inputs = ", ".join(str(label) for label in row.inputs)
                cells = (self.cell(row.value, width), partials, self.cell(row.adjoint, width))
                rows.append((str(row.name), row.operation, inputs, *cells, short(source, self.marks)))
            return rows if left == 0 else [*rows, (self.marks.ellipsis, f"{left} more steps", "", "", "", "", "")]

        header = ("step", "operation", "inputs", "value", "partials", "adjoint", "source")
        self.canvas.table(header, steps)

    def verdict(self, good: bool | None, words: str, rest: str) -> None:
        """A verdict, and what it stands on."""
        self.canvas.line((words, GOOD if good else BAD), (rest, ""))

    def heading(self, text: str) -> None:
        self.canvas.line((text, HEADING))

    def remark(self, text: str) -> None:
        self.canvas.line((text, FAINT))


def render(result: Result, style: Style) -> str:
    """The drawing of a command's result."""
    drawing = Drawing(style)
    assert result.draw is not None
    result.draw(drawing, result)
    if drawing.marks.rounded and drawing.precision is None and drawing.digits is None:
        drawing.remark("some numbers are rounded; --precision 17 shows all digits")
    return drawing.canvas.text()


def short(text: str, marks: Marks) -> str:
    """The beginning of a long snippet."""
    return text if len(text) <= MOST_SNIPPET else text[: MOST_SNIPPET - len(marks.ellipsis)] + marks.ellipsis
