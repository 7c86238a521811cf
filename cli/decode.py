"""argv → request."""

from __future__ import annotations

from ..engine.command import Command, Option
from .commands import COMMANDS
from .request import Request, build

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


def decode(tokens: Sequence[str]) -> Request | None:
    """The request, None where it is for help. Raises AdiffError for a line that means nothing."""
    if tokens and tokens[0] in ("-h", "--help", "--show-completion", "--install-completion"):
        return None
    command = COMMANDS.called(tokens[0]) if tokens else None
    if command is None:
        from .misuse import unknown_command

        raise unknown_command(tokens)
    options = spellings(command)
    positionals: list[str] = []
    given: list[tuple[Option, str | None]] = []
    wrong: tuple[str, str] | None = None  # the first option that is amiss, and in which way
    remaining = iter(tokens[1:])
    for token in remaining:
        if token == "--":
            positionals.extend(remaining)
        elif token in ("-h", "--help"):
            return None
        elif not is_option(token, options):
            positionals.append(token)
        else:
            name, equals, text = token.partition("=")
            option = options.get(name)
            flag = option is not None and option.kind == "flag"
            if option is not None and not flag and not equals:
                text = next(remaining, "--")
            if option is None:
                wrong = wrong or (name, "unknown")
            elif flag and equals:
                wrong = wrong or (name, "does not take a value")
            elif not flag and not equals and (text in options or text == "--"):
                wrong = wrong or (name, "requires an argument")
            else:
                given.append((option, None if flag and name != option.off else text))
    required = sum(argument.required for argument in command.arguments)
    if wrong is not None or not required <= len(positionals) <= len(command.arguments):
        from .misuse import explained

        raise explained(command, tokens, positionals, wrong)
    return build(command, positionals, given)


def is_option(token: str, options: dict[str, Option]) -> bool:
    """Whether a token is an option, known or misspelt: `-x**2`, `-1`, `--x` and `-` are expressions."""
    if token in options:
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
