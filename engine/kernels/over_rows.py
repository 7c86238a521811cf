"""A kernel in a loop over the rows of a table: columns are read and written where they are.

The emitted function is `kernel(run, first, last, at, columns and constants ..., results ..., doubt)`. It goes from row
`first` to before `last`, keeps in `at[0]` the row that it is at, and marks in `doubt` the rows at singular points. Nothing
else is shared between rows, so that any number of threads may run it, each on rows of its own.
"""

from __future__ import annotations

from .construct import Built
from .emit import MEMORY, Emitted, Printer, scalar_kind
from .ir import BOOL, INT, Array, Left

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

# Rows that a thread takes at a time: long enough to hide what a call costs, short enough to end together.
BLOCK = 16_384


def loop_over_rows(built: Built, varying: set[str]) -> tuple[Emitted, list[tuple[str, int]]]:
    """The source of the loop, and for each column of results its kind and the number of its elements in a row.

    `varying` names the inputs that are columns.
    """
    kernel = built.kernel
    flags = kernel.results[-1] if built.noted else None
    results = kernel.results[:-1] if built.noted else kernel.results
    printer = Printer(kernel)
    printer.results = set()  # a row's arrays are copied into their columns
    row, first, last, at, doubt = (fresh(printer, name) for name in ("row", "first", "last", "at", "doubt"))
    names = ["run", first, last, at]
    kinds = INT + INT + INT.upper()
    head: list[str] = []
    for p in kernel.parameters:
        own = printer.text(p)
        if p.name not in varying:
            names.append(own)
            kinds += p.kind.upper() if p.__class__ is Array else p.kind
            continue
        column = fresh(printer, f"{own}s")
        names.append(column)
        kinds += p.kind.upper()
        if p.__class__ is Array:
            small = f"few_{MEMORY[p.kind]}({p.size})" if p.size <= 32 else printer.room(p, p.kind, p.size)
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
    for text in head:
        printer.line(2, text)
    printer.block(kernel.body, 2, results)
    columns: list[tuple[str, int]] = []
    for number, result in enumerate(results):
        column = fresh(printer, "result" if number == 0 else "slope")
        names.append(column)
        if result.__class__ is Array:
            columns.append((result.kind, result.size))
            k = fresh(printer, "k")
            printer.line(2, f"for {k} in range({result.size}):")
            printer.line(3, f"{column}[{row} * {result.size} + {k}] = {printer.text(result)}[{k}]")
        else:
            columns.append((scalar_kind(result), 1))
            printer.line(2, f"{column}[{row}] = {printer.text(result)}")
        kinds += columns[-1][0].upper()
    names.append(doubt)
    kinds += BOOL.upper()
    if flags is not None:
        hit = " or ".join(f"{printer.text(flags)}[{k}] != 0" for k in range(flags.size))
        printer.line(2, f"{doubt}[{row}] = {hit}")
    body = "".join(line + "\n" for line in printer.lines)
    text = f"def kernel({', '.join(names)}):\n{body}    return (0,)\n"
    return Emitted(text, kinds, [INT], len(printer.slots)), columns


def fresh(printer: Printer, stem: str) -> str:
    """A name that nothing else in the source has."""
    name, count = stem, 1
    while name in printer.taken:
        count += 1
        name = f"{stem}{count}"
    printer.taken.add(name)
    return name


def compiled_loop(emitted: Emitted) -> Callable[..., Any]:
    """The machine code of a loop over rows."""
    from .compiler import compile_source
    from .machine import Entry

    return Entry(emitted, compile_source(emitted))


def run_over_rows(entry: Callable[..., Any], count: int, given: Sequence[Any], results: Sequence[Any]) -> Any:
    """Run a loop over `count` rows on every core; the rows to be evaluated by someone else, as a mask.

    `given` and `results` hold the loop's columns and constants, arrays flat.
    """
    import os

    import numpy as np

    doubt = np.zeros(count, bool)

    def part(first: int) -> None:
        last = min(first + BLOCK, count)
        at = np.zeros(1, np.int64)
        while first < last:
            try:
                entry(first, last, at, *given, *results, doubt)
                return
            except Left:
                # The row failed, or left what a kernel can answer for; the rows after it have not had their turn.
                doubt[at[0]] = True
                first = int(at[0]) + 1

    starts = range(0, count, BLOCK)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if cores == 1 or len(starts) < 2:
        for first in starts:
            part(first)
        return doubt
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(min(cores, len(starts))) as pool:
        try:
            for _ in pool.map(part, starts):
                pass
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
    return doubt


__all__ = ["compiled_loop", "loop_over_rows", "run_over_rows"]
