"""Defaults of options: `ADIFF_*` variables, and the user's file config.toml. A command line goes before the variables, and
these before the file."""

from __future__ import annotations

import os
import sys

from ..engine import command
from . import errors
from .commands import COMMANDS
from .request import nearest
from .values import convert

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from .request import Request

# The options that may have a default.
OPTIONS = {
    option.key: option
    for option in (
        *(option for option in command.SHOWN if option.key in ("format", "precision", "color", "quiet", "verbose")),
        command.ENGINE, command.KINKS, command.DTYPE, command.MAX_STEPS, command.MAX_MEMORY, command.TIMEOUT,
        command.CHECKPOINT, command.JOBS,
    )
}  # fmt: skip
TRUTHS = {"1": True, "true": True, "yes": True, "on": True, "0": False, "false": False, "no": False, "off": False}


def location(variables: Mapping[str, str]) -> str:
    """Where the file is, if there is one."""
    if sys.platform == "win32":
        return os.path.join(variables.get("APPDATA", ""), "adiff", "config.toml")
    parent = variables.get("XDG_CONFIG_HOME", "")
    if not os.path.isabs(parent):  # which XDG asks to ignore
        parent = os.path.join(variables.get("HOME") or os.path.expanduser("~"), ".config")
    return os.path.join(parent, "adiff", "config.toml")


def settings(variables: Mapping[str, str]) -> dict[str, tuple[object, str]]:
    """The value of each setting that is set, and where. Raises AdiffError E0712 with the line of the file, or E0812."""
    found = from_file(location(variables))
    names = ["ADIFF_" + key.upper() for key in OPTIONS]
    for name in variables:
        if name.startswith("ADIFF_") and name not in names and (hint := nearest(name, names)):
            raise errors.bad_value(name, "no setting has this name", hint)
    for key, name in zip(OPTIONS, names):
        if text := variables.get(name):
            try:
                found[key] = value_of(key, text), name
            except ValueError as error:
                raise errors.bad_value(name, str(error), nearest(text, OPTIONS[key].choices)) from None
    return found


def from_file(path: str) -> dict[str, tuple[object, str]]:
    """The settings of the file, none where there is no file."""
    try:
        with open(path, "rb") as file:
            content = file.read()
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except OSError as error:
        raise errors.unreadable(path, errors.reason(error)) from None
    import re
    import tomllib

    from .files import decode_text

    text = decode_text(path, content)
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        hint = 'a line is KEY = VALUE, with text in quotes: engine = "tape"'
        raise errors.unusable(path, f"not TOML: {error}", hint) from None
    found: dict[str, tuple[object, str]] = {}
    for name, value in table.items():
        key = name.replace("-", "_")
        at = re.search(rf"^[ \t]*\[?[ \t]*[\"']?{re.escape(name)}\b", text, re.M)
        place = f"{path}:{text.count(chr(10), 0, at.end() if at else 0) + 1}"
        if key not in OPTIONS:
            hint = nearest(key, OPTIONS) or "'adiff config' lists the settings"
            raise errors.unusable(place, f"no setting is named {name!r}", hint.replace("_", "-"))
        try:
            found[key] = value_of(key, value), place
        except ValueError as error:
            raise errors.unusable(place, f"{name}: {error}", nearest(str(value), OPTIONS[key].choices)) from None
    return found


def value_of(key: str, given: object) -> object:
    """The value of a setting, from a text or what TOML has. Raises ValueError with the words for the user."""
    option = OPTIONS[key]
    if not isinstance(given, str | int | float):
        raise ValueError("the value is no text, number, true or false")
    if option.kind == "flag":
        truth = TRUTHS.get(str(given).lower())
        if truth is None:
            raise ValueError(f"{given!r} is not true or false")
        return truth
    if isinstance(given, bool):
        raise ValueError(f"{str(given).lower()} is no value of it")
    return convert(option, str(given))


def apply(request: Request, variables: Mapping[str, str]) -> None:
    """Give a request the options that it does not have and its command takes. A name after -o goes before a format,
    and so does the form that readers of batch, man and repl rely on."""
    if request.command in ("config", "doctor"):  # which tell of them, and of what is wrong there
        return
    for key, (value, _) in settings(variables).items():
        option = COMMANDS[request.command].option(key)
        fits = option is not None and (not option.choices or value in option.choices)
        named = key == "format" and (request.flag("output") or request.command in ("batch", "man", "repl"))
        if fits and value is not False and not named:
            request.options.setdefault(key, value)
