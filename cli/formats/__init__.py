"""How a result is written: one module a format. Values are plain Python or NumPy, and none is changed here."""

from __future__ import annotations

from os.path import splitext

from ...parser.fields import Record
from .. import errors
from ..commands import COMMANDS
from ..environment import is_ascii, is_terminal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..environment import Environment
    from ..request import Request
    from ..result import Result


# What the name of an output asks for.
FORMS = {
    ".csv": "csv", ".tsv": "tsv", ".ndjson": "ndjson", ".jsonl": "ndjson", ".json": "json", ".txt": "plain", ".npy": "npy",
    ".npz": "npz", ".parquet": "parquet", ".arrow": "arrow", ".feather": "arrow",
}  # fmt: skip
BINARY = ("npy", "npz", "parquet", "arrow")
PICTURES = (".png", ".svg", ".pdf")  # of `plot`
OF_COMMAND = {
    "derive": {".tex": "latex", ".py": "python", ".c": "c"}, "man": {".1": "plain"}, "plot": dict.fromkeys(PICTURES, ""),
}  # fmt: skip
OF_GRAPH = {"dot": (".dot", ".gv"), "mermaid": (".mmd", ".md"), "svg": (".svg",)}
TEXTS = (".txt", ".out", ".log", ".md")
LONGEST = 6  # of an ending that is meant to say something: those of mktemp are longer


class Style(Record):
    """The format, and what the output can show."""

    format: str
    precision: int | None
    width: int
    colour: bool
    ascii: bool


def style_of(request: Request, environment: Environment) -> Style:
    """The style a request asks for; if it does not say, a table on a terminal, and otherwise plain, or ndjson for a batch
    or a trace."""
    on_terminal = "output" not in request.options and is_terminal(environment.stdout)
    in_pipe = "ndjson" if request.command == "batch" or request.flag("trace") else "plain"
    format = request.text("format") or of_name(request) or ("table" if on_terminal else in_pipe)
    colour = environment.colour(environment.stdout, request.text("color", "auto" if on_terminal else "never"))
    ascii = "output" not in request.options and is_ascii(environment.stdout)
    width = environment.width() if format == "table" else 0
    return Style(format, request.number("precision"), width, colour, ascii)


def of_name(request: Request) -> str:
    """The format that the name of the output asks for, if it does; a table of rows sees to its own. Raises AdiffError E0713 for
    one that the command does not write."""
    command = COMMANDS[request.command]
    evaluates = command.compute is not None
    if "output" not in request.options or (evaluates and {"rows", "over"} & request.options.keys()):
        return ""
    path = request.text("output")
    ending = splitext(path)[1].lower()
    known = {end: form for end, form in FORMS.items() if evaluates or form not in BINARY}
    known |= OF_COMMAND.get(command.name, {})
    what, more = f"'adiff {command.name}'", "; --format says what else it is"
    if "graph" in request.options:
        what, more = f"--graph {request.text('graph')}", ""
        known = dict.fromkeys(OF_GRAPH[request.text("graph")], "")
    elif "emit" in request.options:
        known[".py"] = "plain"
    if ending not in (*known, *TEXTS) and 1 < len(ending) <= LONGEST:
        raise errors.unwritable(path, f"{what} writes no {ending} file, but {', '.join(known)}{more}")
    return known.get(ending, "")


def pieces(request: Request, result: Result, style: Style) -> Iterator[str]:
    """The result as text in the style's format, piece by piece."""
    if result.written:
        return
    if "graph" in request.options:
        from . import graph

        yield graph.render(result.subject.outcome.tape, request.text("graph"))
    elif "emit" in request.options and style.format in ("plain", "table"):
        yield str(result.document["kernel"])
    elif style.format in ("json", "ndjson"):
        from . import json

        yield json.dumps(json.document(request.command, result.document), style.ascii) + "\n"
    elif style.format in ("csv", "tsv"):
        from . import delimited

        yield from delimited.pieces(result, "," if style.format == "csv" else "\t")
    elif style.format == "table":
        from . import table

        yield table.render(result, style)
    else:
        from . import plain

        yield from plain.pieces(result, style.precision)
