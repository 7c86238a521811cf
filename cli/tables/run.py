"""A command over the rows of a table: `--rows` and `--over`."""

from __future__ import annotations

import math
from functools import partial
from time import perf_counter

from ...engine.outcome import Notice
from ...parser.errors import AdiffError
from .. import errors
from ..bindings import constant_of, divide
from ..commands import COMMANDS
from ..environment import is_terminal
from ..evaluate import inputs, options
from ..files import number_of
from ..formats.delimited import names as names_of
from ..formats.numbers import entries
from ..progress import Progress
from ..result import Result
from .columns import Inputs
from .read import Chunk, chunks, grid
from .write import writer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ...engine.api import Program
    from ..output import Output
    from ..request import Request
    from .write import Writer

OF_TABLE = ("engine", "kinks", "max_steps", "max_memory")  # the options that the rows of a chunk are evaluated with
MOST_POINTS, MOST_ALONG = 10**9, 10**7  # of a grid, and along one axis
USAGE = frozenset(("usage", "syntax", "name"))


def answer(request: Request, program: Program, output: Output) -> Result:
    """Evaluate the rows, and write them as they come."""
    style = output.style
    if "rows" in request.options and "over" in request.options:
        raise errors.usage("--rows and --over are two tables at once", "leave one of them out")
    table = Table(request, program, write=output.environment.write_error)
    over = "over" in request.options
    if over:
        found = grid(axes(request, program))
    else:
        header = not request.flag("no_header")
        found = chunks(request.text("rows"), request.text("rows_format"), header, output.environment)
    given = request.text("format")
    if not given:
        style.format = "table" if over and style.format == "table" else "csv"
    out = writer(output, request.command, given)
    # Rows and a bar on one terminal would write over one another.
    progress = Progress(output.environment, output.path is not None or not is_terminal(output.environment.stdout), "")
    start = perf_counter()
    if "scheduler" in request.options:
        from ..cluster import Cluster

        table.cluster = Cluster(request.text("scheduler"))
    try:
        for chunk in found:
            table.take(chunk, out)
            progress.show(words(table.count, perf_counter() - start, chunk.done))
    except AdiffError:
        if table.count:
            out.finish()
        raise
    finally:
        progress.clear()
    result = table.result(perf_counter() - start)
    out.finish(result.notices)
    if table.failed and not request.flag("quiet"):
        noun = "row" if table.count == 1 else "rows"
        output.environment.write_error(f"{table.failed} of {table.count} {noun} failed; the first: {table.first}\n")
    return result


def words(count: int, seconds: float, done: float | None) -> str:
    """How far a table is."""
    text = f"{count:,} rows, {count / max(seconds, 1e-9):,.0f} a second"
    if done:
        filled = round(20 * min(done, 1.0))
        text = f"[{'#' * filled}{'.' * (20 - filled)}] {text}, {seconds * (1 - done) / done:,.0f} s left"
    return text


def axes(request: Request, program: Program) -> dict[str, Any]:
    """The values of each `--over NAME=START:STOP:STEP`, `START:STOP/POINTS` or list."""
    import numpy as np

    found: dict[str, Any] = {}
    for text in request.texts("over"):
        name, given = divide("--over", text)
        if name in found:
            raise errors.bad_binding(f"--over: {name!r} is given twice")
        if name not in (*program.inputs, *program.optional):
            known = f"its inputs are {', '.join(program.inputs)}" if program.inputs else "it has no inputs"
            raise errors.bad_binding(f"--over: '{name}' is not an input", known)
        parts = given.split(":")
        hint = f"write {name}=0:2:0.1 (start:stop:step), {name}=0:2/21 (points) or {name}=[0,1,5]"
        last, slash, points = parts[-1].rpartition("/")
        if len(parts) == 1:
            values: Any = np.asarray(constant_of(f"--over {name}", given))
            if values.ndim != 1 or not len(values):
                raise errors.bad_binding(f"--over: {given!r} is no range", hint)
        elif len(parts) == 2 and slash and (points := points.strip()[:20]).isdecimal() and int(points):
            start, stop = ends(name, given, [parts[0], last])
            values = np.linspace(start, stop, bounded(int(points), found))
            values = spaced((start, stop, (stop - start) / max(len(values) - 1, 1)), values)
        elif len(parts) == 3:
            start, stop, step = ends(name, given, parts)
            count = (stop - start) / step if step else -1.0
            if not 0 <= count < float("inf"):
                raise errors.bad_binding(f"--over: {given!r} has no points", hint)
            size = bounded(int(count * (1 + 1e-9)) + 1, found)  # a last step of rounding is one
            values = spaced((start, step), start + step * np.arange(size))
        else:
            raise errors.bad_binding(f"--over: {given!r} is no range", hint)
        bounded(len(values), found)
        found[name] = values
    return found


def ends(name: str, given: str, parts: list[str]) -> list[float]:
    """The ends of a range, and its step. Raises AdiffError where the range is not finite."""
    found = [float(constant_of(f"--over {name}", part)) for part in parts]
    if not all(map(math.isfinite, (*found, found[1] - found[0]))):
        raise errors.bad_binding(f"--over: {given!r} is not finite", f"write two numbers as its ends: {name}=0:2/21")
    return found


def bounded(points: int, others: dict[str, Any]) -> int:
    """The points of an axis. Raises AdiffError where they and those of the `others` are too many for a grid."""
    total = math.prod(map(len, others.values()), start=points)
    if total > MOST_POINTS or points > MOST_ALONG:
        said = f"--over: {points:.3g} points along an axis, {total:.3g} in all; at most 1e7 are possible, and 1e9"
        raise errors.bad_binding(said, "take wider steps")
    return points


def spaced(given: tuple[float, ...], values: Any) -> Any:
    """Points of a range: of decimal ends and steps decimal numbers, 0.3 and not 0.30000000000000004."""
    return values.round(9) if all(abs(round(x, 9) - x) <= 1e-15 * abs(x) for x in given) else values


class Table:
    """What is done with each chunk, and what is known in the end."""

    def __init__(
        self, request: Request, program: Program, constants: dict[str, Any] | None = None, write: Any = None
    ) -> None:
        self.request = request
        self.command = COMMANDS[request.command]
        self.program = program
        self.constants = inputs(request, program) if constants is None else constants
        self.cluster: Any = None
        self.wrt = request.texts("wrt") or None
        self.options = options(request)
        na = request.text("na")
        self.inputs = Inputs(constant_of("--na", na) if na else None)
        self.label = "<stdin>" if request.text("rows") == "-" else request.text("rows")
        self.renamed = dict(map(renamed, request.texts("rename")))
        self.strict = request.flag("strict")
        self.header: list[str] = []  # of the results
        # A program that prints runs row by row, unless that is to be quiet.
        self.write = None if request.flag("quiet") or "print" not in program.source.text else write
        self.known: list[str] | None = None  # the columns of the table
        self.used: list[str] = []
        whole = self.write is None and not {"dtype", "checkpoint"} & self.options.keys()
        self.order = self.command.row_order(self.options) if whole and self.command.row_order else None
        self.count = self.failed = 0
        self.first = ""
        self.notices: dict[tuple[Any, ...], list[Any]] = {}
        self.by: tuple[Any, ...] = ()  # engine, reason, and its place

    def columns_of(self, chunk: Chunk) -> list[str]:
        """The names of the columns, each of which is one."""
        names = list(chunk.names)
        for old, new in self.renamed.items():
            if old not in chunk.names:
                hint = f"it has {', '.join(chunk.names[:20])}"
                raise errors.unusable("--rename", f"the table has no column {old!r}", hint)
            names[chunk.names.index(old)] = new
        twice = next((name for name in names if name and names.count(name) > 1), None)
        if twice is not None and twice in self.renamed.values():
            raise errors.bad_value("--rename", f"two columns are then named {twice!r}", "choose another name")
        if twice is not None:
            hint = f"--rename {twice}={twice}_1 gives the first of them another name"
            raise errors.unusable(self.label, f"two columns are named {twice!r}", hint)
        both = next((name for name in self.constants if name in names), None)
        if both is not None:
            hint = f"--rename {both}={both}_1 keeps the column apart" if self.label else "leave one of them out"
            raise errors.usage(
                f"'{both}' is {'a column' if self.label else 'given by --over'}, and bound by --at", hint
            )
        self.used = [name for name in (*self.program.inputs, *self.program.optional) if name in names]
        missing = [name for name in self.program.inputs if name not in names and name not in self.constants]
        if missing:
            if not self.label:
                raise errors.usage(
                    f"'{missing[0]}' is not bound", f"--at {missing[0]}=..., or --over {missing[0]}=0:1/5"
                )
            hint = f"its columns are {', '.join(names[:20])}; --rename OLD={missing[0]}, or --at {missing[0]}=..."
            if all(number_of(name) is not None for name in names):
                hint = "its first line looks like data: --no-header names the columns c1, c2, ..."
            if len(names) == 1 and ";" in names[0]:
                hint = f"its fields stand between semicolons: tr ';' , < {self.label} | adiff {self.command.name} ... --rows -"
            elif len(names) == 1 and "\t" in names[0]:
                hint = "its fields stand between tabs: --rows-format tsv"
            raise errors.unusable(self.label, f"no column '{missing[0]}'", hint)
        return names

    def take(self, chunk: Chunk, out: Writer) -> None:
        """Evaluate the rows of a chunk and write them."""
        import numpy as np

        if self.known is None:
            self.known = self.columns_of(chunk)
        names, columns = list(self.known), list(chunk.columns)
        values: dict[str, Any] = {}
        wrong: dict[int, AdiffError] = {}
        absent = np.zeros(chunk.count, bool)
        valid: list[Any] = [None] * len(names)
        for name in self.used:
            i = names.index(name)
            values[name], missing, bad = self.inputs.read(name, columns[i], chunk.text)
            absent |= missing
            wrong.update(bad)
            if out.typed and (chunk.text or isinstance(columns[i], list)) and values[name].dtype.kind in "if":
                columns[i], valid[i] = values[name].astype("float64"), ~missing
                valid[i][list(bad)] = False
        alive = ~absent
        alive[list(wrong)] = False
        rows = np.flatnonzero(alive)
        given = values if alive.all() else {name: x[rows] for name, x in values.items()}
        evaluate = self.evaluated if self.cluster is None else partial(self.cluster.evaluated, self)
        results, failed, disagree = evaluate(given, rows)
        if disagree:
            self.failed += len(disagree)
            self.first = self.first or f"{chunk.place(int(rows[disagree[0]]))}: the check disagrees"
        wrong.update({int(rows[row]): error for row, error in failed.items()})
        there = alive.copy()
        there[list(wrong)] = False
        stop = min(wrong) if self.strict and wrong else chunk.count
        for name, result in results:
            if name in self.known:
                hint = f"give that of the table another name: --rename {name}={name}_1"
                raise errors.usage(f"the table has a column '{name}', which the results have too", hint)
            names.append(name)
            whole = out.typed and result.dtype.kind in "iu"  # a later chunk may have numbers that are not
            columns.append(spread(result.astype("float64") if whole else result, rows, chunk.count))
            valid.append(there)
        if not self.strict:
            if "error" in self.known:
                raise errors.usage(
                    "the table has a column 'error', which the results have too", "--rename error=error_1"
                )
            names.append("error")
            columns.append([message(wrong[row]) if row in wrong else None for row in range(chunk.count)])
            valid.append(None)
        if stop < chunk.count:
            columns = [column[:stop] for column in columns]
            valid = [x if x is None else x[:stop] for x in valid]
        out.write(names, columns, valid)
        if wrong and not self.first:
            self.first = f"{chunk.place(min(wrong))}: {message(wrong[min(wrong)])}"
        self.count += chunk.count
        self.failed += len(wrong)
        if self.strict and wrong:
            error = wrong[stop]
            error.message = f"{chunk.place(stop)}: {error.message}"
            raise error

    # --- evaluation -------------------------------------------------------------------------------------------------

    def evaluated(self, columns: dict[str, Any], rows: Any) -> tuple[Any, dict[int, AdiffError], list[int]]:
        """The columns of results, the errors of rows, and the rows of a check that disagrees."""
        import numpy as np

        count = len(rows)
        if not count and self.header:
            return [(name, np.zeros(0)) for name in self.header], {}, []
        if self.order is not None and self.used:
            given = {key: x for key, x in self.options.items() if key in OF_TABLE}
            outcome: Any = self.program.rows(columns, self.wrt, self.order, at=self.constants, **given)
            self.by = outcome.engine, outcome.reason, outcome.reason_span
            usage = next((e for e in outcome.errors.values() if e.kind in USAGE), None)
            if usage is not None:
                raise usage
            if self.command.from_rows is None or self.command.from_rows(outcome, self.options):
                self.keep(outcome.notices)
                if outcome.errors and outcome.value.dtype.kind == "f":
                    self.as_whole(outcome, columns, count)
                result = Result({})
                self.command.fill(result, outcome)
                return self.flat(result.columns, count), outcome.errors, []
            self.order = None
        return self.one_by_one(columns, count)

    def as_whole(self, outcome: Any, columns: dict[str, Any], count: int) -> None:
        """Give values back the dtype of whole numbers that they have where no row fails."""
        good = next((row for row in range(count) if row not in outcome.errors), None)
        if good is not None:
            point = {name: x[good : good + 1] for name, x in columns.items()}
            kind = self.program.rows(point, order=0, at=self.constants, engine="tape").value.dtype
            if kind.kind in "bi":
                outcome.value[list(outcome.errors)] = 0
                outcome.value = outcome.value.astype(kind)

    def flat(self, columns: list[tuple[str, Any]], count: int) -> list[tuple[str, Any]]:
        """A column for each element of a result: those that the first chunk has."""
        import numpy as np

        found: list[tuple[str, Any]] = []
        for name, x in columns:
            x = np.full(count, np.nan) if x is None else np.asarray(x)
            if x.ndim == 1:
                found.append((name, x))
            else:
                found += zip(names_of(name, np.empty(x.shape[1:])), x.reshape(len(x), -1).T)
        heads = [name for name, _ in found]
        if not self.header:
            self.header = heads
        elif heads != self.header:
            raise AdiffError(
                "E0302", f"after {self.count} rows the results have another shape: {', '.join(heads[:5])}, before "
                + ", ".join(self.header[:5]), None, "a table has results of one shape: sum(...), or reshape(...)",
            )  # fmt: skip
        return found

    def one_by_one(self, columns: dict[str, Any], count: int) -> tuple[Any, dict[int, AdiffError], list[int]]:
        """Rows evaluated one after the other, as the command does it at a point."""
        import numpy as np

        wrong: dict[int, AdiffError] = {}
        disagree: list[int] = []
        records: list[dict[str, Any] | None] = [None] * count
        wrt = self.wrt or self.used or None
        for row in range(count):
            point = {name: x[row].tolist() if x.dtype.name != "float32" else x[row] for name, x in columns.items()}
            try:
                outcome = self.program.evaluate(
                    self.command.name, {**self.constants, **point}, wrt, write=self.write, **self.options
                )
            except AdiffError as error:
                if error.kind in USAGE:
                    raise
                wrong[row] = error
                continue
            unclear = next((n for n in outcome.notices if n.code == "N0605"), None)
            if unclear is not None:
                wrong[row] = AdiffError(unclear.code, unclear.message)
                continue
            self.by = outcome.engine, outcome.reason, outcome.reason_span
            self.keep(outcome.notices)
            result = Result({})
            self.command.fill(result, outcome)
            pairs = [(".".join([n, *map(str, path)]), x) for n, v in result.columns for path, x, _ in entries(v)]
            if not result.ok:
                disagree.append(row)
            heads = [name for name, _ in pairs]
            if not self.header:
                self.header = heads
            if heads == self.header:
                records[row] = dict(pairs)
            else:
                wrong[row] = AdiffError("E0302", "the results of this row have another shape than those before it")
        by_name = [(name, [None if r is None else r[name] for r in records]) for name in self.header]
        blank = {bool: False, str: ""}
        typed: list[tuple[str, Any]] = []
        for name, cells in by_name:
            kind = next((x.__class__ for x in cells if x is not None), float)
            typed.append((name, np.array([blank.get(kind, kind(0)) if x is None else x for x in cells])))
        return typed, wrong, disagree

    # --- the end ----------------------------------------------------------------------------------------------------

    def keep(self, notices: list[Any]) -> None:
        """Take the notices of some rows."""
        for notice in notices:
            key = notice.code, notice.message, None if notice.span is None else notice.span.start
            kept = self.notices.setdefault(key, [notice, 0])
            kept[1] += getattr(notice, "rows", 1)

    def result(self, seconds: float) -> Result:
        """What is said beside the rows."""
        result = Result({})
        result.written = True
        result.ok = not self.failed
        for notice, rows in self.notices.values():
            more = f" (in {rows:,} rows)" if rows > 1 else ""
            result.notices.append(Notice(notice.code, notice.message + more, notice.span))
        result.timings = {"rows": seconds}
        if self.by:
            result.engine, result.reason, result.reason_span = self.by
        return result


def renamed(text: str) -> tuple[str, str]:
    """The two names of `--rename OLD=NEW`; the old one may be any text."""
    old, _, new = text.rpartition("=")
    if not old or not new.strip().isidentifier():
        raise errors.bad_value(
            "--rename", f"{text!r} is not OLD=NEW", 'a name that programs can have comes last: "my col=c"'
        )
    return old.strip(), new.strip()


def spread(values: Any, rows: Any, count: int) -> Any:
    """The results of some rows in a column of all."""
    import numpy as np

    if len(rows) == count:
        return values
    found = np.zeros(count, values.dtype) if values.dtype != object else np.full(count, None, object)
    found[rows] = values
    return found


def message(error: AdiffError) -> str:
    """An error in a cell."""
    return f"{error.code}: {' '.join(error.message.split())}"
