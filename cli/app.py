"""The Typer application, built from the table: help, completion, and words for what is wrong with a command line."""

from __future__ import annotations

import inspect
from functools import cache
from typing import TYPE_CHECKING, Any

import typer
from typer.core import TyperCommand, TyperGroup

from .. import __version__
from ..engine.command import EXPRESSION, Argument, Command, Option
from . import errors
from .commands import COMMANDS
from .decode import arrange, spellings
from .environment import COMPLETION, VARIABLES
from .output import ClosedPipe
from .request import Request, build, nearest

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ..parser.errors import AdiffError
    from .environment import Environment

# The exceptions of Typer's parser, which it does not export: all of them derive from this one.
UsageError: type[Exception] = typer.BadParameter.__bases__[0]

WIDEST = 17  # the choices of an option that stand in the place of its value
TAGLINE = "Exact derivatives from the command line."
FIRST_STEPS = ('adiff grad "x**2" --at x=2', 'adiff hessian "x**2*y + sin(y)" --at x=1,y=2', "adiff COMMAND --help")


def interpret(tokens: Sequence[str], environment: Environment) -> Request | int:
    """The request, or the exit status once help, the version or completions are printed; raises AdiffError."""
    application = build_application()
    if not tokens and COMPLETION not in environment.variables:
        raise errors.usage("no command is given", "adiff --help lists the commands; for example: " + FIRST_STEPS[0])
    try:
        answer = application.main(list(tokens), prog_name="adiff", standalone_mode=False)
    except UsageError as error:
        raise explain(error, tokens) from None
    except typer.Abort:
        raise KeyboardInterrupt from None
    except SystemExit:  # how Typer ends when nobody reads the page it prints
        raise ClosedPipe from None
    except OSError as error:  # nothing but pages is written here
        raise errors.unwritable("standard output", errors.reason(error)) from None
    return answer if isinstance(answer, Request) else int(answer or 0)


def explain(error: Exception, tokens: Sequence[str]) -> AdiffError:
    """What Typer found wrong, as our own error with a hint."""
    command = COMMANDS.called(tokens[0])
    if command is None:
        return unknown_command(tokens[0])
    option = getattr(error, "option_name", None)
    see = f"'adiff {command.name} --help' shows what it takes"
    as_argument = file_is_argument(command)
    if option is not None and hasattr(error, "possibilities"):
        words = [name for name in [*spellings(command), "--help"] if name.startswith("--")]
        if option == "--file" and as_argument:
            return errors.usage(f"'adiff {command.name}' has no option --file", as_argument)
        elsewhere = [name for name, other in COMMANDS.items() if option in spellings(other)]
        hint = f"{option} belongs to {', '.join(elsewhere)}" if elsewhere else nearest(option, words)
        return errors.usage(f"'adiff {command.name}' has no option {option}", hint or see)
    message: str = error.format_message()  # type: ignore[attr-defined]
    if "extra argument" in message and "-f" in tokens:
        see = as_argument or see
    if "extra argument" in message and EXPRESSION in command.arguments:
        see = f"an expression with spaces needs quotes, as in {command.examples[0]}"
        words = message.rpartition("(")[2].rstrip(").").split()
        if words and len(words[0]) == 2 and words[0][0] == "-" and words[0][1].isalpha():
            return errors.usage(f"'adiff {command.name}' has no option {words[0]}", see)
        if words and command.option("at") is not None:
            bindings = [word for word in words if word.partition("=")[0].isidentifier() and "=" in word]
            if words[0][0] == "=":
                see = f"a binding has no spaces, or quotes: --at x{''.join(words)}"
            if bindings and words[0] in (*bindings, "-at"):
                see = f"inputs are bound by --at {','.join(bindings)}"
    return errors.usage(f"adiff {command.name}: {message[:1].lower()}{message[1:].rstrip('.')}", see)


def file_is_argument(command: Command) -> str:
    """What to write in place of `-f FILE` for a command whose argument the file is; nothing for others."""
    is_argument = any(argument.key == "file" for argument in command.arguments)
    return f"'{command.name}' takes the file as its argument: adiff {command.name} FILE" if is_argument else ""


def unknown_command(word: str) -> AdiffError:
    """The error for a first word that is no command."""
    if word.startswith("--") and len(word) > 2:
        hint = nearest(word, ["--help", "--version"]) or "a command comes first"
        return errors.usage(f"no such option: {word}", hint)
    if word in ("-v", "-V", "-q", "-f", "-o"):
        hint = "adiff --version tells the version" if word in ("-v", "-V") else "adiff --help lists the commands"
        return errors.usage(f"{word} comes after a command, as in adiff grad EXPR {word}", hint)
    otherwise = "adiff --help lists the commands; an expression comes after one: adiff value EXPR"
    return errors.usage(f"no such command: {word!r}", nearest(word, COMMANDS.words()) or otherwise)


class ExpressionCommand(TyperCommand):
    """A command whose arguments may begin with a minus sign."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if not ctx.resilient_parsing:
            args = arrange(COMMANDS[self.name or ""], args)
        return super().parse_args(ctx, args)


class Group(TyperGroup):
    """The commands in the order of the table."""

    def list_commands(self, ctx: Any) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        command = COMMANDS.called(cmd_name)
        return super().get_command(ctx, command.name if command else cmd_name)


@cache
def build_application() -> Any:
    """The application, built once: a batch may hold many wrong lines. Its commands give requests and do nothing."""
    application = typer.Typer(
        name="adiff",
        cls=Group,
        help=TAGLINE,
        epilog=examples(FIRST_STEPS)
        + "\n\nEnvironment:"
        + "".join(f"\n  {name:<23}{does}" for name, does in VARIABLES),
        rich_markup_mode="rich",
        context_settings={"help_option_names": ["-h", "--help"]},
        pretty_exceptions_enable=False,
    )

    @application.callback()
    def adiff(
        version: bool = typer.Option(
            False, "--version", help="Show the version.", callback=show_version, is_eager=True
        ),
    ) -> None:
        pass

    for command in COMMANDS.values():
        application.command(
            command.name,
            cls=ExpressionCommand,
            help=escaped(command.help + (f" Also called {command.alias!r}." if command.alias else "")),
            epilog=examples(command.examples),
            rich_help_panel=command.group,
        )(callback(command))
    return typer.main.get_command(application)


def show_version(wanted: bool) -> None:
    """Print the version and stop."""
    if wanted:
        typer.echo(f"adiff {__version__}")
        raise typer.Exit


def callback(command: Command) -> Callable[..., Request]:
    """The function Typer calls for a command, with the signature it reads the parameters from."""

    def respond(**values: Any) -> Request:
        positionals = [values[argument.key] for argument in command.arguments if values[argument.key] is not None]
        given: list[tuple[Option, str | None]] = []
        for option in command.options:
            value = values[parameter_name(option)]
            if option.kind == "flag":
                given += [] if value is None else [(option, None if value else "")]
            elif option.repeat:
                given += [(option, text) for text in value or ()]
            elif value is not None:
                given.append((option, value))
        return build(command, positionals, given)

    parameters = [argument_parameter(argument) for argument in command.arguments]
    parameters += [option_parameter(option) for option in command.options]
    respond.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    respond.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return respond


def parameter_name(option: Option) -> str:
    """The option's parameter, apart from an argument of the same name (`run FILE`, `-f FILE`)."""
    return f"option_{option.key}"


def argument_parameter(argument: Argument) -> inspect.Parameter:
    default = typer.Argument(
        ... if argument.required else None,
        metavar=argument.metavar,
        help=escaped(argument.help),
        show_default=False,
        autocompletion=complete_operations if argument.key == "name" else None,
    )
    annotation = str if argument.required else (str | None)
    return parameter(argument.key, default, annotation)


def parameter(name: str, default: Any, annotation: Any) -> inspect.Parameter:
    """A keyword parameter of a function that Typer reads."""
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def option_parameter(option: Option) -> inspect.Parameter:
    def complete(incomplete: str) -> list[str]:
        return [choice for choice in option.choices if choice.startswith(incomplete)]

    flag = option.kind == "flag"
    metavar, says = option.metavar, option.help
    if option.choices and len("|".join(option.choices)) <= WIDEST:
        metavar = "|".join(option.choices)
    elif not all(choice in says for choice in option.choices):  # a choice that is cut across lines is none
        says += f" One of {', '.join(option.choices)}."
    default = typer.Option(
        None,
        *option.names[:-1],
        f"{option.long}/{option.off}" if option.off else option.long,
        metavar=None if flag else metavar,
        help=escaped(says),
        show_default=False,
        rich_help_panel=option.panel,
        autocompletion=complete if option.choices else None,
    )
    annotation: Any = (bool | None) if flag else (list[str] | None) if option.repeat else (str | None)
    return parameter(parameter_name(option), default, annotation)


def complete_operations(incomplete: str) -> list[str]:
    """Names of operations."""
    from .. import operations

    return [row.name for row in operations() if row.name.startswith(incomplete)]


def examples(lines: Sequence[str]) -> str:
    """The end of a help text: one example a line."""
    return "\n".join(["Examples:", *(f"  {escaped(line)}" for line in lines)])


def escaped(text: str) -> str:
    """Text that Rich prints as it stands."""
    from rich.markup import escape

    return escape(text)
