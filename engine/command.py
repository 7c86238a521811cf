"""What a command is: one object in a file of its own, from which decoder, help, completion, batch lines, formats and pages
follow. Options that several commands have stand here."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping

from ..parser.fields import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

INPUTS, TABLES, DERIVATIVE, COMPUTING, LIMITS, METHOD, OUTPUT = PANELS = (
    "Inputs", "Tables", "Derivative", "Computing", "Limits", "Method", "Output",
)  # fmt: skip
EVALUATE, DIFFERENTIATE, UNDERSTAND, PARTITION = GROUPS = (
    "Evaluate", "Differentiate", "Understand", "Partition and stitch",
)  # fmt: skip


class Option:
    """One option: its names, the kind of its value, and the panel of the help that it stands in.

    Kinds: flag, text, choice, names (`x,y`), bindings (`x=1,y=2`), value (a constant), count, order,
    positive, size, seconds, digits, processes.
    The engine takes what stands in the panels Derivative, Computing and Limits, by the same name.
    """

    choices: tuple[str, ...] = ()
    repeat = False
    page = ""  # what docs/commands.md adds to the help
    off = ""  # of a flag that may have a default: the spelling that takes it back

    def __init__(
        self, long: str, kind: str, metavar: str, panel: str, help: str, short: str | None = None, **more: Any
    ) -> None:
        self.long = long
        self.short = short
        self.key = long[2:].replace("-", "_")
        self.kind = kind
        self.metavar = metavar
        self.panel = panel
        self.help = help
        vars(self).update(more)

    @property
    def names(self) -> tuple[str, ...]:
        """Its spellings, the short one first."""
        return (self.short, self.long) if self.short else (self.long,)


class Argument:
    """One positional argument."""

    __slots__ = ("help", "key", "metavar", "required")

    def __init__(self, key: str, metavar: str, help: str, required: bool = True) -> None:
        self.key = key
        self.metavar = metavar
        self.help = help
        self.required = required


class BySource(Record):
    """A derivative by each source: the outcome's attribute, which is its key in JSON; the prefix of its columns; the
    heading of its column in a table."""

    key: str
    prefix: str
    heading: str
    meaning = "by input; `null` where unconnected"


class Single(Record):
    """One thing beside the value: the outcome's attribute and key in JSON, what that holds, and its name in a table."""

    key: str
    meaning: str
    heading: str


EXPRESSION = Argument("expression", "EXPR", "An expression; '-' reads it from standard input; or give -f FILE.", False)

FILE = Option("--file", "text", "FILE", INPUTS, "Read the program from FILE ('-' is standard input).", "-f")
AT = Option(
    "--at", "bindings", "NAME=VALUE", INPUTS,
    "Bind inputs: x=2, x=pi/4,y=3, A=[[1,2],[3,4]], A=@matrix.npy, A=@data.npz:key, A=@table.csv, @point.json; x=@- and @- read "
    "standard input.",
    repeat=True, page="[expressions and inputs](#expressions-and-inputs)",
)  # fmt: skip
WRT = Option(
    "--wrt", "names", "NAMES", INPUTS,
    "Differentiate with respect to these inputs, as in x,y (default: every input).", repeat=True,
)  # fmt: skip
KINKS = Option(
    "--kinks", "choice", "POLICY", DERIVATIVE,
    "What a derivative is at a point where there is none ('adiff ops NAME' lists the choices).",
    choices=("adiff", "tensorflow", "jax", "torch", "error"), page="[semantics](semantics.md#singular-points)",
)  # fmt: skip
ENGINE = Option(
    "--engine", "choice", "ENGINE", COMPUTING, "Interpreted tape, compiled kernel, or the better of the two.",
    choices=("auto", "tape", "kernel"), page="[speed](speed.md#which-tier-runs)",
)  # fmt: skip
DTYPE = Option(
    "--dtype", "choice", "DTYPE", COMPUTING,
    "Type of bare numbers (default float64); float64 is that of `tf.constant(2.0)` and its like too.",
    choices=("float64", "float32"),
)  # fmt: skip
MAX_STEPS = Option(
    "--max-steps", "count", "N", LIMITS, "Stop with an error after N iterations and calls in one run, on the tape."
)
MAX_MEMORY = Option(
    "--max-memory", "size", "SIZE", LIMITS, "Most memory to use, as in 500M or 2GiB (default: most of what is free)."
)
TIMEOUT = Option("--timeout", "seconds", "SECONDS", LIMITS, "Stop with an error after SECONDS.")
CHECKPOINT = Option(
    "--checkpoint", "size", "SIZE", LIMITS,
    "Most memory for the states of a long loop, as in 500M: what does not fit is computed again.",
    page="[long loops](#long-loops)",
)  # fmt: skip
JOBS = Option("--jobs", "processes", "N", COMPUTING, "Answer lines in N processes, 1 to 256 (default 1).")
GRAPH = Option(
    "--graph", "choice", "LANGUAGE", OUTPUT, "Write the tape as a graph instead of rows.", choices=("dot", "mermaid", "svg")
)  # fmt: skip

CLUSTER = (
    Option(
        "--engine", "choice", "ENGINE", COMPUTING, "Interpreted tape, compiled kernel, the better of the two, or a cluster's workers.",
        choices=(*ENGINE.choices, "dask"), page="[speed](speed.md#which-tier-runs); `dask` needs `--scheduler`",
    ),
    Option(
        "--scheduler", "text", "ADDRESS", TABLES,
        "With --engine dask: rows and lines go to the workers of a Dask cluster, as at tcp://host:8786.",
        page="[clusters](tables.md#clusters)",
    ),
)  # fmt: skip
BY_ROW = (
    *CLUSTER,
    Option(
        "--rows", "text", "FILE", TABLES,
        "Evaluate once a row of a table: .csv, .tsv, .ndjson, .npy, .npz, .parquet, .arrow, .feather, also .gz and .zst; '-' is "
        "CSV on standard input. Inputs are columns by name.", page="[tables](tables.md)",
    ),
    Option(
        "--over", "text", "NAME=RANGE", TABLES,
        "Evaluate once a point: x=0:2:0.1 (start:stop:step), x=0:2/21 (points), x=[0,1,5]; several are a grid.", repeat=True,
    ),
    Option(
        "--rows-format", "choice", "FORM", TABLES, "What the table is, where its name does not say.",
        choices=("csv", "tsv", "ndjson", "npy", "npz", "parquet", "arrow"),
    ),
    Option("--rename", "text", "OLD=NEW", TABLES, "Give a column of the table another name.", repeat=True),
    Option("--no-header", "flag", "", TABLES, "The table begins with data: its columns are c1, c2, ..."),
    Option("--na", "text", "VALUE", TABLES, "What an empty cell means (default: no result for its row)."),
    Option("--strict", "flag", "", TABLES, "Stop at the first row that fails, and write no column of errors."),
)  # fmt: skip
COMPUTED = (DTYPE, MAX_STEPS, MAX_MEMORY, TIMEOUT)
EVALUATED = (FILE, AT, KINKS, ENGINE, *COMPUTED)
SHOWN = (
    Option(
        "--format", "choice", "FORMAT", OUTPUT,
        "table, plain, json, ndjson, csv or tsv (default: table on a terminal, otherwise plain, of a batch ndjson).",
        choices=("table", "plain", "json", "ndjson", "csv", "tsv"), page="[formats](#formats); of `derive` also latex, python, c",
    ),
    Option("--json", "flag", "", OUTPUT, "Short for --format json."),
    Option("--csv", "flag", "", OUTPUT, "Short for --format csv."),
    Option("--output", "text", "FILE", OUTPUT, "Write the result to FILE, whole or not at all.", "-o"),
    Option("--precision", "digits", "N", OUTPUT, "Significant digits in table and plain (1 to 17)."),
    Option(
        "--color", "choice", "WHEN", OUTPUT, "Colour: auto, always or never.", choices=("auto", "always", "never"),
        page="`NO_COLOR`, `FORCE_COLOR` and `TERM=dumb` are honoured",
    ),
    Option("--quiet", "flag", "", OUTPUT, "No notices.", "-q", off="--no-quiet"),
    Option("--verbose", "flag", "", OUTPUT, "Say which engine ran, why, and how long it took.", "-v", off="--no-verbose"),
    Option("--debug", "flag", "", OUTPUT, "Show the trace of a fault of adiff's own."),
)  # fmt: skip


class Command:
    """One command: what it takes, how it is computed, and what it gives.

    `compute(evaluation)` fills in the outcome of a command that evaluates a program at a point, and `from_kernel(outcome, found,
    reached)` does so from what a kernel finds, where `reached` says by which sources. `of_sum` names what is found of the sum
    of the elements of a result that is no scalar. It `differentiates` where it has sources, and `finds_origin` where the origin
    of a nan is looked for; `takes_kinds`: its sources may be of other value kinds; `as_written`: without the rewrites that keep
    digits.

    Over the rows of a table: `row_order(options)`, the order of derivatives that `Program.rows` is to find, None where rows
    are evaluated one by one, and `from_rows(outcome, options)`, which fills in what is given from these; False where it cannot.

    What it gives: `gives`, a Single or BySource; or `fill(result, outcome)`, with `keys`, the keys of its JSON and what they
    hold, and `draw(drawing, result)` for a table of its own. `answer(request, output)` gives the result of a
    command that is no evaluation.
    """

    alias = ""
    compute: Any = None
    of_sum = ""
    differentiates = finds_origin = True
    takes_kinds = as_written = False
    gives: Any = None
    keys: Mapping[str, str] = {}
    answer: Callable[..., Any] | None = None
    row_order: Callable[[dict[str, Any]], int | None] | None = None
    from_rows: Callable[[Any, dict[str, Any]], bool] | None = None

    def __init__(
        self, name: str, group: str, help: str, examples: tuple[str, ...], options: tuple[Option, ...] = (),
        arguments: tuple[Argument, ...] = (EXPRESSION,), **more: Any,
    ) -> None:  # fmt: skip
        self.name = name
        self.group = group
        self.help = help
        self.examples = examples
        self.arguments = arguments
        own = {option.long: option for option in options}  # the last one where several have a name
        shown = (option for option in SHOWN if option.long not in own)
        self.options = tuple(sorted((*own.values(), *shown), key=lambda option: PANELS.index(option.panel)))
        vars(self).update(more)
        if self.gives and not self.keys:
            self.keys = {self.gives.key: self.gives.meaning}

    def option(self, key: str) -> Option | None:
        """The option of this command with that key, if it has one."""
        return next((option for option in self.options if option.key == key), None)

    def given(self, key: str) -> Option | None:
        """The option with that key that the engine takes, if it has one."""
        option = self.option(key)
        return option if option is not None and option.panel in (DERIVATIVE, COMPUTING, LIMITS) else None

    def from_kernel(self, outcome: Any, found: Any, reached: list[bool]) -> None:
        """Derivatives by source from the first result of a kernel on."""
        if self.gives.__class__ is BySource:
            setattr(outcome, self.gives.key, found.by_source(reached))

    def fill(self, result: Any, outcome: Any) -> None:
        """The answer of a command that gives one thing, or one for each source."""
        found = getattr(outcome, self.gives.key)
        result.document = {"value": outcome.value, self.gives.key: found}
        single = self.gives.__class__ is Single
        result.lines = [(self.gives.key, found)] if single else list(found.items())
        named = result.lines if single else [(self.gives.prefix + name, x) for name, x in result.lines]
        result.columns = [("value", outcome.value), *named]

    def draw(self, drawing: Any, result: Any) -> None:
        """The value, and what is given under it or in a row for each source."""
        found = getattr(result.subject.outcome, self.gives.key)
        drawing.title(result.subject, result.subject.outcome.value)
        if self.gives.__class__ is Single:
            drawing.named(self.gives.heading, found)
        else:
            drawing.beside(result.subject, self.gives.heading, found)


class Commands(Mapping[str, Command]):
    """The commands of the packages, one in each file: its COMMAND, loaded when it is asked for. They stand in the order of
    their groups and names."""

    def __init__(self, *packages: str) -> None:
        self.places = {
            file[:-3]: f"{package}.{file[:-3]}"
            for package in packages
            for folder in sys.modules[package].__path__
            for file in os.listdir(folder)
            if file.endswith(".py") and file[0] != "_"
        }

    def __getitem__(self, name: str) -> Command:
        place = self.places[name]
        __import__(place)
        found: Command = sys.modules[place].COMMAND
        return found

    def __contains__(self, name: object) -> bool:
        return name in self.places

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self.places, key=lambda name: (GROUPS.index(self[name].group), name)))

    def __len__(self) -> int:
        return len(self.places)

    def words(self) -> list[str]:
        """Every name and alias."""
        return [*self, *(command.alias for command in self.values() if command.alias)]

    def called(self, word: str) -> Command | None:
        """The command of that name, or with that alias."""
        if word in self.places:
            return self[word]
        return next((command for command in self.values() if command.alias == word), None)
