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
    parts = split(command, tokens[1:])
    if parts is None:
        return None
    positionals, given = parts
    required = sum(argument.required for argument in command.arguments)
    if not required <= len(positionals) <= len(command.arguments):
        return None
    return build(command, positionals, given)


def split(command: Command, tokens: Sequence[str]) -> tuple[list[str], list[tuple[Option, str | None]]] | None:
    """Positional arguments and options with the texts of their values, or None where something is amiss."""
    options = spellings(command)
    positionals: list[str] = []
    given: list[tuple[Option, str | None]] = []
    remaining = iter(tokens)
    for token in remaining:
        if token == "--":
            positionals.extend(remaining)
        elif not is_option(token, options):
            positionals.append(token)
        else:
            name, equals, text = token.partition("=")
            option = options.get(name)
            if option is None or (option.kind == "flag" and equals):
                return None
            if option.kind == "flag":
                given.append((option, None))
                continue
            if not equals:
                following = next(remaining, None)
                if following is None or following in options or following == "--":
                    return None
                text = following
            given.append((option, text))
    return positionals, given


def arrange(command: Command, tokens: Sequence[str]) -> list[str]:
    """The same line with every positional argument after `--`, so that Typer takes `-x**2` for an expression."""
    options = spellings(command)
    positionals: list[str] = []
    arranged: list[str] = []
    remaining = iter(tokens)
    for token in remaining:
        if token == "--":
            positionals.extend(remaining)
        elif not is_option(token, options):
            positionals.append(token)
        else:
            arranged.append(token)
            option = options.get(token)
            if option is not None and option.kind != "flag":
                following = next(remaining, None)
                if following is None or following in options or following == "--":
                    return arranged  # Typer says that a value is missing.
                arranged.append(following)
    return [*arranged, "--", *positionals]


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
    return {name: option for option in command.options for name in option.names}


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
