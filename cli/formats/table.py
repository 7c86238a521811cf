"""Results as tables for a person: what each command draws."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .canvas import BAD, FAINT, GOOD, HEADING, Canvas
from .layout import TENSOR_DIGITS, Marks, aligned, cell_text, count_of, labels, shape_of
from .numbers import entries, scalar_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from ..result import Evaluated, Result
    from . import Style
    from .canvas import Rows

MOST_LABELS = 12  # entries along a side of a matrix whose rows and columns are labelled one by one
FEWER_DIGITS = (TENSOR_DIGITS, 6, 4)  # of the entries of a matrix that would not fit with all of them
TRACE_DIGITS = 6  # of the numbers in a tape or a check, which stand many to a line; --precision gives more
MOST_STEPS = 200  # of a tape; the other formats have them all
MOST_ENTRIES = 40  # of a sparse tensor; the other formats have them all
MOST_TITLE = 60  # characters of an expression that a table repeats


class Drawing:
    """A canvas, and how values are written on it."""

    __slots__ = ("canvas", "digits", "marks", "precision")

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

    def title(self, subject: Evaluated, value: Any) -> None:
        """`expression = value`, or the value alone under a long program."""
        text = subject.text.strip()
        name = text if "\n" not in text and len(text) <= MOST_TITLE else "value"
        written = self.cell(value)
        if "\n" in written:
            self.canvas.line((f"{name} =", HEADING))
            self.canvas.line((written, ""))
        else:
            self.canvas.line((f"{name} = ", HEADING), (written, ""))


def render(command: str, result: Result, style: Style) -> str:
    """The drawing of a command's result."""
    drawing = Drawing(style)
    DRAW.get(command, draw_rows)(drawing, result)
    if drawing.marks.rounded and drawing.precision is None and command not in ("tape", "check"):
        drawing.canvas.line(("some numbers are rounded; --precision 17 shows all digits", FAINT))
    return drawing.canvas.text()


def draw_value(drawing: Drawing, result: Result) -> None:
    """The value alone: there is nothing to set beside it."""
    for _, value in result.lines:
        if hasattr(value, "to_plain") and "indices" in (parts := value.to_plain()):
            drawing.canvas.line((f"{type(value).__name__} of shape {parts['shape']}", HEADING))
            first = (parts[part][:MOST_ENTRIES].tolist() for part in ("indices", "values"))
            draw_entries(
                drawing, ("index", "value"), [(str(i), v) for i, v in zip(*first, strict=True)], len(parts["indices"])
            )
        else:
            drawing.canvas.line((drawing.cell(value), ""))


def by_variable(heading: str, field: str) -> Callable[[Drawing, Result], None]:
    """What draws each variable beside what was found for it."""

    def draw(drawing: Drawing, result: Result) -> None:
        outcome = result.subject.outcome
        drawing.title(result.subject, outcome.value)
        beside(drawing, result.subject, heading, getattr(outcome, field))

    return draw


def draw_tangent(drawing: Drawing, result: Result) -> None:
    """The value and how it moves."""
    outcome = result.subject.outcome
    drawing.title(result.subject, outcome.value)
    drawing.canvas.line(("tangent = ", HEADING), (drawing.cell(outcome.tangent), ""))


def beside(drawing: Drawing, subject: Evaluated, heading: str, found: dict[str, Any]) -> None:
    """A row for each variable: its name, its value, and what was found for it."""
    names = [drawing.label(name, value) for name, value in found.items()]

    def written(width: int) -> Rows:
        values = drawing.column((subject.input(name) for name in found), width)
        return list(zip(names, values, drawing.column(found.values(), width), strict=True))

    drawing.canvas.table(("variable", "value", heading), written)


def draw_jacobian(drawing: Drawing, result: Result) -> None:
    """A labelled matrix: a row for each entry of the result, a column for each entry of a source."""
    subject, outcome = result.subject, result.subject.outcome
    drawing.title(subject, outcome.value)
    blocks = outcome.jacobian
    rows = labels("f", shape_of(outcome.value))
    shapes = {name: shape_of(subject.input(name)) for name in blocks}
    if any(block is None for block in blocks.values()) or not is_small(rows, shapes):
        beside(drawing, subject, "jacobian", blocks)
        return
    columns = {name: [scalar for _, scalar, _ in entries(block)] for name, block in blocks.items()}
    cells = [
        [scalar for name in blocks for scalar in chunk(columns[name], index, count_of(shapes[name]))]
        for index in range(len(rows))
    ]
    matrix(drawing, rows, [label for name in blocks for label in labels(name, shapes[name])], cells)


def draw_hessian(drawing: Drawing, result: Result) -> None:
    """The gradient beside the variables, then the Hessian as a labelled matrix."""
    subject, outcome = result.subject, result.subject.outcome
    draw_gradients(drawing, result)
    if result.header:
        draw_sparse(drawing, result)
        return
    names = list(outcome.hessian)
    shapes = {name: shape_of(subject.input(name)) for name in names}
    titles = [label for name in names for label in labels(name, shapes[name])] if is_small([], shapes) else []
    drawing.canvas.line(("Hessian", HEADING))
    if not titles or any(block is None for line in outcome.hessian.values() for block in line.values()):
        draw_blocks(drawing, outcome.hessian)
        return
    cells: list[list[Any]] = []
    for row in names:
        flat = {column: [scalar for _, scalar, _ in entries(outcome.hessian[row][column])] for column in names}
        for index in range(count_of(shapes[row])):
            cells.append([scalar for name in names for scalar in chunk(flat[name], index, count_of(shapes[name]))])
    matrix(drawing, titles, titles, cells)


def draw_sparse(drawing: Drawing, result: Result) -> None:
    """The entries of a sparse Hessian, one a line."""
    drawing.canvas.line(("Hessian", HEADING), (f", {len(result.rows)} entries that may differ from zero", ""))
    draw_entries(drawing, result.header, result.rows[:MOST_ENTRIES], len(result.rows))


def draw_entries(drawing: Drawing, header: Sequence[str], shown: Sequence[Sequence[Any]], count: int) -> None:
    """Places and values, an entry a line, of which there are `count`."""

    def written(width: int) -> Rows:
        values = drawing.column((entry[-1] for entry in shown), width)
        return [(*entry[:-1], value) for entry, value in zip(shown, values, strict=True)]

    drawing.canvas.table(header, written)
    if count > len(shown):
        drawing.canvas.line((f"{drawing.marks.ellipsis} {count - len(shown)} more entries", ""))


def draw_blocks(drawing: Drawing, hessian: dict[str, dict[str, Any]]) -> None:
    """A row for each block of a Hessian too large to be labelled entry by entry."""
    blocks = [(f"H.{row}.{column}", block) for row, line in hessian.items() for column, block in line.items()]

    def written(width: int) -> Rows:
        return [(drawing.label(name, block), drawing.cell(block, width)) for name, block in blocks]

    drawing.canvas.table(("block", "values"), written)


def is_small(rows: Sequence[str], shapes: dict[str, tuple[int, ...]]) -> bool:
    """Whether a matrix with these sides can have a label at every row and column."""
    return len(rows) <= MOST_LABELS and 0 < sum(count_of(shape) for shape in shapes.values()) <= MOST_LABELS


def chunk(flat: Sequence[Any], index: int, size: int) -> Sequence[Any]:
    """The entries of one row of a block."""
    return flat[index * size : (index + 1) * size]


def matrix(drawing: Drawing, rows: Sequence[str], columns: Sequence[str], cells: Sequence[Sequence[Any]]) -> None:
    """A matrix under its labels, columns aligned at the decimal points."""

    def written(width: int) -> Rows:
        texts = [drawing.column((row[column] for row in cells), width) for column in range(len(columns))]
        return [(label, *(column[index] for column in texts)) for index, label in enumerate(rows)]

    header = ("", *columns)
    whole = drawing.digits
    for digits in (whole, *FEWER_DIGITS):
        drawing.digits = digits
        if drawing.canvas.fits(header, written(0)):
            break
    else:
        drawing.digits = whole
    drawing.canvas.table(header, written)
    drawing.digits = whole


def draw_derivatives(drawing: Drawing, result: Result) -> None:
    """The value and each derivative by its order."""
    orders = [str(order) for order, _ in result.rows]

    def written(width: int) -> Rows:
        return list(zip(orders, drawing.column((value for _, value in result.rows), width), strict=True))

    drawing.canvas.table(("order", "derivative"), written)


def draw_tape(drawing: Drawing, result: Result) -> None:
    """The steps in order: values are read downwards; upwards, each adjoint times partial adds to an input's adjoint."""

    drawing.digits = TRACE_DIGITS
    tape = result.subject.outcome.tape
    first = tape[:MOST_STEPS]
    left = tape[-1].step - first[-1].step if first else 0

    def written(width: int) -> Rows:
        return steps(width, max(12, min(32, drawing.canvas.width - 68)))

    def steps(width: int, snippet: int) -> Rows:
        rows = []
        for row in first:
            partials = ", ".join(drawing.cell(partial, width) for partial in row.partials or ())
            source = " ".join(row.span.text.split()) if row.span else ""
            inputs = ", ".join(str(label) for label in row.inputs)
            cells = (drawing.cell(row.value, width), partials, drawing.cell(row.adjoint, width))
            rows.append((str(row.name), row.operation, inputs, *cells, short(source, drawing.marks, snippet)))
        return rows if left == 0 else [*rows, (drawing.marks.ellipsis, f"{left} more steps", "", "", "", "", "")]

    header = ("step", "operation", "inputs", "value", "partials", "adjoint", "source")
    drawing.canvas.table(header, written, lambda width: steps(width, width))


def short(text: str, marks: Marks, most: int = 32) -> str:
    """The beginning of a long snippet."""
    return text if len(text) <= most else text[: most - len(marks.ellipsis)] + marks.ellipsis


VERDICTS = {
    True: ("the gradient agrees", GOOD),
    False: ("the gradient DISAGREES", BAD),
    None: ("NO VERDICT: nothing that is known well enough speaks for or against the gradient", BAD),
}


def draw_check(drawing: Drawing, result: Result) -> None:
    """The verdict, and each source's error."""
    drawing.digits = TRACE_DIGITS
    check = result.subject.outcome.check
    header = ["source"]
    for source in check.sources.values():
        header += [key for key in source if key not in header]

    def written(width: int) -> Rows:
        columns = header[1:]
        return [(name, *(drawing.cell(row.get(key), width) for key in columns)) for name, row in check.sources.items()]

    drawing.canvas.table(header, written)
    drawing.canvas.line(
        VERDICTS[check.ok], (f": worst error {scalar_text(check.max_error, 3)} against {check.method}", "")
    )


def draw_minimum(drawing: Drawing, result: Result) -> None:
    """Each variable's start and optimum, and the verdict."""
    from ...engine.core.errors import plural

    found = result.subject.minimum
    drawing.title(result.subject, found.value)
    names = [drawing.label(name, value) for name, value in found.optimum.items()]

    def written(width: int) -> Rows:
        columns = (drawing.column(values.values(), width) for values in (found.start, found.optimum))
        return list(zip(names, *columns, strict=True))

    drawing.canvas.table(("variable", "start", "optimum"), written)
    verdict, _, why = found.verdict.partition(":")
    drawing.canvas.line((verdict, GOOD if found.converged else BAD), (f":{why}", ""))
    norm = scalar_text(found.gradient_norm, 3)
    counts = f"{plural(found.iterations, 'iteration')}, {plural(found.evaluations, 'evaluation')}"
    drawing.canvas.line((f"{found.method}: {counts}, gradient norm {norm}", FAINT))


def draw_rows(drawing: Drawing, result: Result) -> None:
    """Any other list of records."""

    def written(width: int) -> Rows:
        return [[drawing.cell(value, width) if value is not None else "" for value in row] for row in result.rows]

    drawing.canvas.table(result.header, written)


def draw_partition(drawing: Drawing, result: Result) -> None:
    from .parts import draw_partition

    draw_partition(drawing, result.subject)


def draw_stitch(drawing: Drawing, result: Result) -> None:
    from .parts import draw_stitch

    draw_stitch(drawing, result.subject)


def draw_listing(drawing: Drawing, result: Result) -> None:
    """Names and what is said of them."""
    drawing.canvas.listing(result.lines)


def draw_operations(drawing: Drawing, result: Result) -> None:
    """The operations by family, or one of them in detail."""
    if result.lines:
        drawing.canvas.listing(result.lines)
        return
    families: dict[str, list[tuple[str, str]]] = {}
    for name, family, _, doc in result.rows:
        families.setdefault(family, []).append((name, doc))
    for family, rows in families.items():
        drawing.canvas.line((f"\n{family}", HEADING))
        drawing.canvas.listing(rows, faint=True)


draw_gradients = by_variable("gradient", "gradients")

DRAW = {
    "value": draw_value,
    "run": draw_value,
    "grad": draw_gradients,
    "jacobian": draw_jacobian,
    "hessian": draw_hessian,
    "jvp": draw_tangent,
    "vjp": by_variable("cotangent", "cotangents"),
    "hvp": by_variable("Hessian times vector", "product"),
    "derivative": draw_derivatives,
    "tape": draw_tape,
    "check": draw_check,
    "minimize": draw_minimum,
    "partition": draw_partition,
    "stitch": draw_stitch,
    "ops": draw_operations,
    "cache": draw_listing,
}
