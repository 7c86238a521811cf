"""The Typer application, built from the commands: help and completion."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

import typer
from rich.markup import escape

from ..engine.command import Argument, Command, Option
from . import errors
from .commands import COMMANDS
from .environment import VARIABLES
from .output import ClosedPipe

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

# The exceptions of Typer's parser, which it does not export: all of them derive from this one.
UsageError: type[Exception] = typer.BadParameter.__bases__[0]

WIDEST = 17  # the choices of an option that stand in the place of its value
TAGLINE = "Exact derivatives from the command line."
FIRST_STEPS = ('adiff grad "x**2" --at x=2', 'adiff hessian "x**2*y + sin(y)" --at x=1,y=2', "adiff COMMAND --help")


def show(tokens: Sequence[str]) -> int:
    """Print help or completions; returns the exit status."""
    command = COMMANDS.called(tokens[0]) if tokens else None
    line = list(tokens) if command is None else [command.name, "--help"]
    try:
        return int(typer.main.get_command(application()).main(line, prog_name="adiff", standalone_mode=False) or 0)
    except UsageError as error:
        raise errors.usage(str(error)) from None
    except typer.Abort:
        raise KeyboardInterrupt from None
    except SystemExit:  # how Typer ends when nobody reads the page it prints
        raise ClosedPipe from None
    except OSError as error:  # nothing but pages is written here
        raise errors.unwritable("standard output", errors.reason(error)) from None


def application() -> typer.Typer:
    """The application, whose commands are never run."""
    found = typer.Typer(
        name="adiff",
        help=TAGLINE,
        epilog=examples(FIRST_STEPS)
        + "\n\nEnvironment:"
        + "".join(f"\n  {name:<23}{does}" for name, does in VARIABLES),
        rich_markup_mode="rich",
        context_settings={"help_option_names": ["-h", "--help"]},
        pretty_exceptions_enable=False,
    )

    @found.callback()
    def adiff(version: bool = typer.Option(False, "--version", help="Show the version.")) -> None: ...

    for command in COMMANDS.values():
        found.command(
            command.name,
            help=escape(command.help + (f" Also called {command.alias!r}." if command.alias else "")),
            epilog=examples(command.examples),
            rich_help_panel=command.group,
        )(callback(command))
    return found


def callback(command: Command) -> Callable[..., None]:
    """The function from which Typer reads the parameters of a command; it is never called."""

    def respond(**values: Any) -> None: ...

    parameters = [argument_parameter(argument) for argument in command.arguments]
    parameters += [option_parameter(option) for option in command.options]
    respond.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    respond.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return respond


def argument_parameter(argument: Argument) -> inspect.Parameter:
    default = typer.Argument(
        ... if argument.required else None,
        metavar=argument.metavar,
        help=escape(argument.help),
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
        help=escape(says),
        show_default=False,
        rich_help_panel=option.panel,
        autocompletion=complete if option.choices else None,
    )
    annotation: Any = (bool | None) if flag else (list[str] | None) if option.repeat else (str | None)
    return parameter(f"option_{option.key}", default, annotation)


def complete_operations(incomplete: str) -> list[str]:
    """Names of operations."""
    from .. import operations

    return [row.name for row in operations() if row.name.startswith(incomplete)]


def examples(lines: Sequence[str]) -> str:
    """The end of a help text: one example a line."""
    return "\n".join(["Examples:", *(f"  {escape(line)}" for line in lines)])
