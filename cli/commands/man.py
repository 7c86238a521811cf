"""`man`: the manual page, made from the commands' own objects."""

from __future__ import annotations

from ...engine.command import PANELS, UNDERSTAND, Command, Option
from ..environment import VARIABLES
from ..result import Result

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..output import Output
    from ..request import Request

STATUSES = (
    ("0", "Done."),
    ("1", "The program failed while it was evaluated, a check disagrees, or a row or line failed."),
    ("2", "Wrong use of a command or an option, or an input that is not bound."),
    ("3", "The expression cannot be parsed, or names an unknown function."),
    ("4", "A file cannot be read or written, or holds no usable data."),
    ("70", "A fault of adiff's own; --debug shows its trace."),
    ("130", "Interrupted."),
)


def answer(request: Request, output: Output) -> Result:
    """The page in roff, for `man -l -` or a folder of pages."""
    style = output.style
    if style.format == "table":
        style.format = "plain"
    text = "\n".join(page())
    result = Result({"page": text})
    result.lines = result.columns = [("page", text)]
    return result


def page() -> Iterator[str]:
    """The lines of the page."""
    from ... import __version__
    from . import COMMANDS

    commands = list(COMMANDS.values())
    yield f'.TH ADIFF 1 "" "adiff {__version__}" "User Commands"'
    yield from (".SH NAME", r"adiff \- exact derivatives from the command line")
    yield from (".SH SYNOPSIS", r".B adiff", r"\fICOMMAND\fR [\fIARGUMENT\fR ...] [\fIOPTION\fR ...]", ".SH COMMANDS")
    for command in commands:
        arguments = " ".join(a.metavar if a.required else f"[{a.metavar}]" for a in command.arguments)
        yield f'.SS "{escaped(f"adiff {command.name} {arguments}".strip())}"'
        yield escaped(command.help + (f" Also called {command.alias}." if command.alias else ""))
        yield from (".PP", ".EX", *map(escaped, command.examples), ".EE")
    yield ".SH OPTIONS"
    options: dict[Option, list[str]] = {}
    for command in commands:
        for option in command.options:
            options.setdefault(option, []).append(command.name)
    for panel in PANELS:
        yield f".SS {panel}"
        for option, names in options.items():
            if option.panel == panel:
                value = rf" \fI{escaped(option.metavar)}\fR" if option.kind != "flag" else ""
                yield from (".TP", ", ".join(rf"\fB{escaped(name)}\fR" for name in option.names) + value)
                yield escaped(option.help)
                if not all(choice in option.help for choice in option.choices):
                    yield escaped(f"One of {', '.join(option.choices)}.")
                if len(names) < len(commands):
                    yield escaped(f"Of {', '.join(names)}.")
    yield ".SH ENVIRONMENT"
    for name, meaning in VARIABLES:
        yield from (".TP", rf"\fB{escaped(name)}\fR", escaped(meaning[:1].upper() + meaning[1:] + "."))
    yield from (".SH FILES", ".TP", r"\fB$XDG_CONFIG_HOME/adiff/config.toml\fR")
    yield escaped("Defaults of options, as in engine = \"tape\"; 'adiff config' shows what holds.")
    yield ".SH EXIT STATUS"
    for status, meaning in STATUSES:
        yield from (".TP", status, escaped(meaning))


def escaped(text: str) -> str:
    """Text that roff prints as it stands."""
    text = text.replace("\\", r"\e").replace("-", r"\-").replace('"', r"\(dq").replace("'", r"\(aq")
    return r"\&" + text if text.startswith(".") else text


COMMAND = Command(
    "man", UNDERSTAND, "The manual page in roff: 'adiff man | man -l -' shows it.",
    ("adiff man",), (), (), answer=answer,
)  # fmt: skip
