"""argv → request, for command lines with nothing wrong in them. Any doubt is left to the Typer application."""

from __future__ import annotations

from ..engine.command import Command, Option
from .commands import COMMANDS
from .request import Request, build

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


def decode(tokens: Sequence[str]) -> Request | None:
    """The request, or None where help, a mistake or completion needs the application.

    Raises AdiffError where the line is well formed and a value means nothing.
    """
    command = COMMANDS.called(tokens[0]) if tokens else None
    if command is None:
        return None
    positionals, _, given = split(command, tokens[1:])
    required = sum(argument.required for argument in command.arguments)
    if given is None or not required <= len(positionals) <= len(command.arguments):
        return None
    return build(command, positionals, given)


def split(
    command: Command, tokens: Sequence[str]
) -> tuple[list[str], list[str], list[tuple[Option, str | None]] | None]:
    """Positional arguments, options as they are written, and options with the texts of their values, None where something is
    amiss. Where a value is missing, that is the end."""
    options = spellings(command)
    positionals: list[str] = []
    written: list[str] = []
    given: list[tuple[Option, str | None]] = []
    amiss = False
    remaining = iter(tokens)
    for token in remaining:
        if token == "--":
            positionals.extend(remaining)
        elif not is_option(token, options):
            positionals.append(token)
        else:
            written.append(token)
            name, equals, text = token.partition("=")
            option = options.get(name)
            if option is None or (option.kind == "flag" and equals):
                amiss = True
                continue
            if option.kind != "flag" and not equals:
                text = next(remaining, "--")
                if text in options or text == "--":
                    return [], written, None
                written.append(text)
            given.append((option, None if option.kind == "flag" and name != option.off else text))
    return positionals, written, None if amiss else given


def arrange(command: Command, tokens: Sequence[str]) -> list[str]:
    """The same line with every positional argument after `--`, so that Typer takes `-x**2` for an expression."""
    positionals, written, _ = split(command, tokens)
    return [*written, "--", *positionals] if positionals else written


def is_option(token: str, options: dict[str, Option]) -> bool:
    """Whether a token is an option, known or misspelt: `-x**2`, `-1`, `--x` and `-` are expressions."""
    if token in options or token in ("-h", "--help"):
        return True
    if not token.startswith("--"):
        return False
    name = token[2:].partition("=")[0].replace("-", "").replace("_", "")
    return len(name) > 1 and name.isalnum() and token[2].isalpha()


def spellings(command: Command) -> dict[str, Option]:
    """The command's options by every name they have."""
    return {name: option for option in command.options for name in (*option.names, option.off) if name}


def text_given(tokens: Sequence[str], name: str) -> str | None:
    """The value a line gives to `--format` or `--color`, whatever else is wrong with the line."""
    found = None
    for token, following in zip(tokens, [*tokens[1:], ""], strict=False):
        if token == "--":
            break
        if token in ("--json", "--csv") and name == "--format":
            found = token[2:]
        elif token == name:
            found = following
        elif token.startswith(name + "="):
            found = token[len(name) + 1 :]
    return found
