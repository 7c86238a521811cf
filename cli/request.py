"""A command line understood: the command, its arguments and its options, as values."""

from __future__ import annotations

from ..engine.command import EXPRESSION, Command, Option
from . import errors
from .values import convert

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any


class Request:
    """What to do. `options` holds what was given and nothing else; `bound` holds values that came as JSON."""

    def __init__(self, command: str, arguments: dict[str, str], options: dict[str, Any]) -> None:
        self.command = command
        self.arguments = arguments
        self.options = options
        self.bound: dict[str, dict[str, object]] = {}

    def flag(self, key: str) -> bool:
        """Whether an option was given, a flag that was not taken back."""
        return self.options.get(key, False) is not False

    def text(self, key: str, default: str = "") -> str:
        """An option's value, of an option that takes one text."""
        value: str = self.options.get(key, default)
        return value

    def number(self, key: str) -> int | None:
        """An option's value, of an option that takes a whole number."""
        value: int | None = self.options.get(key)
        return value

    def texts(self, key: str) -> list[str]:
        """An option's values, of an option that may be repeated."""
        value: list[str] = self.options.get(key, [])
        return value


def build(command: Command, positionals: Sequence[str], given: Sequence[tuple[Option, str | None]]) -> Request:
    """The request for a command line that has been split; raises AdiffError for a value that means nothing."""
    options: dict[str, Any] = {}
    for option, text in given:
        if option.kind == "flag" or text is None:
            options[option.key] = text is None
            continue
        value = value_of(option, text)
        if not option.repeat:
            options[option.key] = value
        else:
            options.setdefault(option.key, []).extend(value if isinstance(value, list) else [value])
    resolve_format(options)
    arguments = {argument.key: text for argument, text in zip(command.arguments, positionals, strict=False)}
    if EXPRESSION in command.arguments:
        require_program(command, arguments, options)
    return Request(command.name, arguments, options)


def value_of(option: Option, text: str) -> object:
    """The option's value for `text`."""
    try:
        return convert(option, text)
    except ValueError as error:
        raise errors.bad_value(option.long, str(error), nearest(text, option.choices)) from None


def nearest(word: str, candidates: Sequence[str] | Mapping[str, object]) -> str | None:
    """The hint that names what the user may have meant."""
    from ..parser.suggest import suggest

    found = suggest(word, list(candidates))
    return f"did you mean {found[0]!r}?" if found else None


def resolve_format(options: dict[str, object]) -> None:
    """`--json` and `--csv` become the format they are short for."""
    chosen = [name for name in ("json", "csv") if options.pop(name, None)]
    if "format" in options:
        chosen.append(str(options["format"]))
    if len(set(chosen)) > 1:
        raise errors.usage(f"two formats at once: {chosen[0]} and {chosen[1]}")
    if chosen:
        options["format"] = chosen[0]


def resolve_engine(request: Request) -> None:
    """`--engine dask` becomes its `--scheduler`: what workers evaluate with is theirs to choose."""
    cluster = request.options.get("engine") == "dask"
    if cluster:
        del request.options["engine"]
        if "scheduler" not in request.options:
            raise errors.usage(
                "--engine dask needs a cluster", "--scheduler tcp://HOST:8786 is the address of its scheduler"
            )
    if "scheduler" in request.options and request.command != "batch" and not {"rows", "over"} & request.options.keys():
        raise errors.usage("a cluster is for --rows, --over and batch", "leave out --scheduler")


def require_program(command: Command, arguments: Mapping[str, str], options: Mapping[str, object]) -> None:
    """Exactly one of EXPR and -f FILE."""
    if "expression" in arguments and "file" in options:
        raise errors.usage("both an expression and -f FILE are given", "leave one of them out")
    if "expression" not in arguments and "file" not in options:
        example = f"for example: {command.examples[0]}"
        raise errors.usage(f"'adiff {command.name}' needs an expression or -f FILE", example)
