"""A kernel in a loop over the rows of a table: columns are read and written where they are.

The emitted function is `kernel(run, first, last, at, columns and constants ..., results ..., doubt)`. It goes from row
`first` to before `last`, keeps in `at[0]` the row that it is at, and marks in `doubt` the rows at singular points, and
those with results that are not finite. A row that fails outside the loops of the program is in doubt too, and the next one
has its turn: two more arrays, `failed` and `about`, hold the place, counted from 1, and the number that it is about.
Nothing else is shared between rows, so that any number of threads may run it, each on rows of its own.
"""

from __future__ import annotations

from .. import ir
from ..built import Built
from ..emitted import Emitted
from ..ir import BOOL, FLOAT, INT, SINGLE, Array
from ..passes.plain_products import plain_products
from .emit import Printer
from .stores import FEW, first_site

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..passes.widths import Precision

# Statements of one row, like an addition, beside which a question whether to go on costs nothing.
MANY = 1e4


def loop_over_rows(built: Built, varying: set[str]) -> Built:
    """The same kernel as a loop over rows; `varying` names the inputs that are columns.

    The first result is the value, the others are derivatives.
    """
    assert built.kernel is not None
    kernel = plain_products(built.kernel)
    results = kernel.results[:-1] if built.closed else kernel.results
    flags = results[-1] if built.noted else None
    results = results[:-1] if built.noted else results
    if built.printed is not None:
        results = results[:-2]  # its rows, and how many: what a table prints is not shown
    printer = RowPrinter(kernel, built.precision)
    printer.results = set()  # a row's arrays are copied into their columns
    printer.shared = set()  # every core has rows of its own
    row, first, last, at, doubt, failed, about = (
        fresh(printer, name) for name in ("row", "first", "last", "at", "doubt", "failed", "about")
    )
    printer.row, printer.doubt, printer.failed, printer.about = row, doubt, failed, about
    names = ["run", first, last, at]
    kinds = INT + INT + INT.upper()
    head: list[str] = []
    for p in kernel.parameters:
        own = printer.text(p)
        if p.name not in varying:
            names.append(own)
            kinds += printer.letter(p)
            continue
        column = fresh(printer, f"{own}s")
        names.append(column)
        kinds += printer.stored(p).upper()
        if p.__class__ is Array:
            memory = printer.memory(p)
            small = f"few_{memory}({p.size})" if p.size <= FEW else printer.room(p, memory, p.size)
            k = fresh(printer, "k")
            head += [
                f"{own} = {small}",
                f"for {k} in range({p.size}):",
                f"    {own}[{k}] = {column}[{row} * {p.size} + {k}]",
            ]
        else:
            head.append(f"{own} = {column}[{row}]")
    printer.line(1, f"for {row} in range({first}, {last}):")
    printer.line(2, f"{at}[0] = {row}")
    if printer.whole > MANY:
        printer.line(2, f"poll(run, {printer.place(first_site(kernel.body), None)})")
    for text in head:
        printer.line(2, text)
    printer.block(kernel.body, 2, results)
    columns: list[tuple[str, int]] = []
    checked: list[str] = []
    for number, result in enumerate(results):
        column = fresh(printer, "result" if number == 0 else "slope")
        names.append(column)
        positive = " + 0.0" if number else ""  # a derivative of -0.0 is 0.0 to everybody
        if result.__class__ is Array:
            columns.append((printer.given(result), result.size))
            k = fresh(printer, "k")
            printer.line(2, f"for {k} in range({result.size}):")
            name = fresh(printer, "out")
            total = fresh(printer, "total")
            printer.wide += [name, total] if printer.given(result) == FLOAT else []
            printer.line(3, f"{name} = {printer.text(result)}[{k}]{positive}")
            printer.line(3, f"{column}[{row} * {result.size} + {k}] = {name}")
            if result.kind == FLOAT:
                printer.lines.insert(-3, f"        {total} = 0.0")
                printer.line(3, f"{total} += {name}")
                checked.append(total)
        else:
            columns.append((printer.stored(result), 1))
            name = fresh(printer, "out")
            printer.wide += [name] if printer.stored(result) == FLOAT else []
            printer.line(2, f"{name} = {printer.text(result)}{positive}")
            printer.line(2, f"{column}[{row}] = {name}")
            if columns[-1][0] in (FLOAT, SINGLE):
                checked.append(name)
        kinds += columns[-1][0].upper()
    names.append(doubt)
    kinds += BOOL.upper()
    if printer.fails:
        names += [failed, about]
        kinds += INT.upper() * 2
    built.fails = printer.fails
    # Infinity and nan are not finite in a sum either.
    doubts = [f"abs({' + '.join(checked)}) < math.inf"] if checked else []
    if flags is not None:
        doubts += [f"{printer.text(flags)}[{k}] == 0" for k in range(flags.size)]
    printer.line(2, f"{doubt}[{row}] = not ({' and '.join(doubts) or 'True'})")
    body = "".join(line + "\n" for line in printer.lines)
    text = f"def kernel({', '.join(names)}):\n{body}    return (0,)\n"
    text = "".join(line + "\n" for line in printer.known) + text
    built.emitted = Emitted(
        text, kinds, [INT], len(printer.slots), printer.whole, printer.slot_sites, printer.sites,
        *printer.precision(), printer.held,
    )  # fmt: skip
    built.columns = columns
    return built


class RowPrinter(Printer):
    """Prints a row's statements. A check outside the loops of the program ends its row, and not the loop over rows."""

    def __init__(self, kernel: ir.Kernel, precision: Precision | None = None) -> None:
        super().__init__(kernel, precision)
        self.row = self.doubt = self.failed = self.about = ""
        self.fails = False
        self.depth = 0  # of the loops of the program

    def loop(self, s: ir.Loop, level: int) -> None:
        self.depth += 1
        super().loop(s, level)
        self.depth -= 1

    def reverse_loop(self, s: ir.ReverseLoop, level: int) -> None:
        self.depth += 1
        super().reverse_loop(s, level)
        self.depth -= 1

    def failing(self, place: int, number: str, level: int) -> None:
        if self.depth:
            super().failing(place, number, level)
            return
        self.fails = True
        self.line(level, f"{self.failed}[{self.row}] = {place + 1}")
        self.line(level, f"{self.about}[{self.row}] = {number}")
        self.line(level, f"{self.doubt}[{self.row}] = True")
        self.line(level, "continue")


RowPrinter.printers = {**Printer.printers, ir.Loop: RowPrinter.loop, ir.ReverseLoop: RowPrinter.reverse_loop}


def fresh(printer: Printer, stem: str) -> str:
    """A name that nothing else in the source has."""
    name, count = stem, 1
    while name in printer.taken:
        count += 1
        name = f"{stem}{count}"
    printer.taken.add(name)
    return name


__all__ = ["loop_over_rows"]
