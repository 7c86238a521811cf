"""Words for what is wrong with a command line."""

from __future__ import annotations

from ..engine.command import EXPRESSION
from . import errors
from .commands import COMMANDS
from .decode import spellings
from .request import nearest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..engine.command import Command
    from ..parser.errors import AdiffError


def unknown_command(tokens: Sequence[str]) -> AdiffError:
    """The error for a line whose first word is no command."""
    word = tokens[0] if tokens else ""
    if not tokens:
        hint = 'adiff --help lists the commands; for example: adiff grad "x**2" --at x=2'
        return errors.usage("no command is given", hint)
    if word.startswith("--") and len(word) > 2:
        return errors.usage(
            f"no such option: {word}", nearest(word, ["--help", "--version"]) or "a command comes first"
        )
    if word in ("-v", "-V", "-q", "-f", "-o"):
        hint = "adiff --version tells the version" if word in ("-v", "-V") else "adiff --help lists the commands"
        return errors.usage(f"{word} comes after a command, as in adiff grad EXPR {word}", hint)
    otherwise = "adiff --help lists the commands; an expression comes after one: adiff value EXPR"
    return errors.usage(f"no such command: {word!r}", nearest(word, COMMANDS.words()) or otherwise)


def explained(
    command: Command, tokens: Sequence[str], positionals: Sequence[str], wrong: tuple[str, str] | None
) -> AdiffError:
    """The error for a line with an option that is `wrong`, or with too few or too many arguments."""
    see = f"'adiff {command.name} --help' shows what it takes"
    file_first = any(argument.key == "file" for argument in command.arguments)
    as_argument = f"'{command.name}' takes the file as its argument: adiff {command.name} FILE" if file_first else ""
    if wrong is not None:
        name, how = wrong
        if how != "unknown":
            return errors.usage(f"adiff {command.name}: option '{name}' {how}", see)
        elsewhere = [other.name for other in COMMANDS.values() if name in spellings(other)]
        hint = f"{name} belongs to {', '.join(elsewhere)}" if elsewhere else None
        words = [word for word in [*spellings(command), "--help"] if word.startswith("--")]
        hint = as_argument if name == "--file" and as_argument else hint or nearest(name, words)
        return errors.usage(f"'adiff {command.name}' has no option {name}", hint or see)
    extra = positionals[len(command.arguments) :]
    if "-f" in tokens:
        see = as_argument or see
    if not extra:
        missing = command.arguments[len(positionals)].metavar
        return errors.usage(f"adiff {command.name}: missing argument '{missing}'", see)
    if EXPRESSION in command.arguments:
        see = f"an expression with spaces needs quotes, as in {command.examples[0]}"
        first = extra[0]
        if len(first) == 2 and first[0] == "-" and first[1].isalpha():
            return errors.usage(f"'adiff {command.name}' has no option {first}", see)
        if command.option("at") is not None:
            bindings = [word for word in extra if word.partition("=")[0].isidentifier() and "=" in word]
            if first[:1] == "=":
                see = f"a binding has no spaces, or quotes: --at x{''.join(extra)}"
            elif bindings and first in (*bindings, "-at"):
                see = f"inputs are bound by --at {','.join(bindings)}"
    return errors.usage(f"adiff {command.name}: got unexpected extra arguments ({' '.join(extra)})", see)
