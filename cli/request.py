"""A command line understood: the command, its arguments and its options, as values."""

from __future__ import annotations

from ..engine.command import EXPRESSION, Command, Option
from ..parser.errors import AdiffError
from . import errors
from .commands import COMMANDS
from .values import convert

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any


JSON_LINE = '{"command": "grad", "expr": "x**2", "at": {"x": 2}}'


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


def from_object(line: Mapping[str, object]) -> Request:
    """The request of a batch line that is a JSON object: {"command", "expr" or the arguments, any option, "id"}."""
    name = line.get("command")
    command = COMMANDS.called(name) if isinstance(name, str) else None
    if command is None:
        hint = nearest(name, COMMANDS.words()) if isinstance(name, str) else f"for example: {JSON_LINE}"
        if name is None:
            raise errors.usage('the object has no "command"', hint)
        raise errors.usage(f"no such command: {name!r}", hint)
    positionals: list[str] = []
    given: list[tuple[Option, str | None]] = []
    bound: dict[str, dict[str, object]] = {}
    keys = {argument.key: argument for argument in command.arguments}
    for key, value in line.items():
        key = "expression" if key == "expr" else key.replace("-", "_")
        if key in ("command", "id") or key in keys:
            continue
        option = command.option(key)
        if option is None:
            known = [known.replace("_", "-") for known in (*keys, *(option.key for option in command.options), "id")]
            if "expression" in keys:
                known.insert(0, "expr")
            key = key.replace("_", "-")
            raise errors.usage(f"'{name}' has no option {key!r}", nearest(key, known))
        if isinstance(value, dict) and option.kind == "bindings":
            bound[key] = value
        else:
            given.extend((option, text) for text in texts_of(option, value))
    for argument in command.arguments:
        value = line.get("expr", line.get("expression")) if argument is EXPRESSION else line.get(argument.key)
        if value is not None:
            positionals.append(text_of(argument.key, value))
        elif argument.required:
            raise errors.usage(f"'{name}' needs {argument.key!r}")
    if EXPRESSION in command.arguments and not {"expr", "expression", "file"} & line.keys():
        raise errors.usage(f"'{name}' needs the key 'expr', or 'file'", f"for example: {JSON_LINE}")
    request = build(command, positionals, given)
    request.bound = bound
    return request


def texts_of(option: Option, value: object) -> list[str | None]:
    """The texts that an option's JSON value stands for: one, several of a repeated option, or None for a flag."""
    if option.kind == "flag":
        if not isinstance(value, bool):
            raise errors.bad_value(option.long, f"{value!r} is not true or false")
        return [None] if value else []
    if value is None:
        return []
    if option.repeat and isinstance(value, list):
        return [text_of(option.key, item) for item in value]
    return [text_of(option.key, value)]


def text_of(key: str, value: object) -> str:
    """The text a user would have typed for a JSON value."""
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        raise AdiffError("E0812", f"{key!r}: an object means nothing here")
    return repr(value)
