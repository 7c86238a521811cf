"""`--at x=2,A=@matrix.npy --at @point.json` → names and values."""

from __future__ import annotations

from ..parser.errors import AdiffError
from . import errors
from .values import from_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Mapping
    from typing import Any

OPENING, CLOSING = "([{", ")]}"


def bind(
    option: str,
    texts: Iterable[str],
    objects: Mapping[str, object],
    read: Container[str],
    limits: Mapping[str, Any] | None = None,
) -> dict[str, object]:
    """The values that the texts of one option (and `objects`, values that came as JSON) give to names.

    A name given twice is a mistake. A name given directly overrides the same key of a `@file.json`, which may hold more
    names than the program reads: of its keys, only those in `read` are bound. `limits` hold while values are computed.
    """
    direct: dict[str, object] = {}
    from_files: dict[str, object] = {}
    for text in texts:
        for part in split_at_commas(text):
            if part.startswith("@"):
                from .files import read_point

                from_files.update(read_point(part[1:]))
            else:
                name, value = divide(option, part)
                if name in direct:
                    raise errors.bad_binding(f"{option}: {name!r} is bound twice")
                direct[name] = value_of(f"{option} {name}", value, limits)
    for name, given in objects.items():
        if given is None:
            raise errors.bad_binding(f"{option}: {name!r} is null", "give it a value, or leave it out")
        direct[name] = value_of(f"{option} {name}", given, limits) if isinstance(given, str) else from_json(given)
        if isinstance(direct[name], dict):
            raise errors.bad_binding(f"{option}: {name!r} is an object", "give it a number, or lists of numbers")
    if from_files and read and not direct and not any(name in read for name in from_files):
        said = f"{option}: the file has none of the inputs: its names are {', '.join(from_files)}"
        raise errors.bad_binding(said, "its keys are the names that the program reads")
    return {**{name: value for name, value in from_files.items() if name in read}, **direct}


def divide(option: str, part: str) -> tuple[str, str]:
    """The two sides of `name=value`."""
    name, equals, value = part.partition("=")
    name, value = name.strip(), value.strip()
    if not equals or value.startswith("="):
        hint = "write name=value, as in x=2 or x=[1,2,3]"
        raise errors.bad_binding(f"{option}: {part.strip()!r} is not a binding", hint)
    if not name.isidentifier():
        said = f"{option}: {name!r} in {part.strip()!r} is not a name"
        raise errors.bad_binding(said, f"write {name[:-1]}={value}" if name[:-1].isidentifier() else None)
    if not value:
        raise errors.bad_binding(f"{option}: {name!r} is given no value", f"write {name}=2, or {name}=@file.npy")
    return name, value


def value_of(label: str, text: str, limits: Mapping[str, Any] | None = None) -> object:
    """The value of the right side of a binding; diagnostics show `label` as the name of its source."""
    if text.strip() == "None":
        option, _, name = label.partition(" ")
        raise errors.bad_binding(f"{option}: {name!r} is None", "give it a value, or leave it out")
    if text.startswith("@"):
        from .files import read_value

        return read_value(text[1:], (limits or {}).get("max_memory"))
    from .. import constant

    try:
        return constant(text, name=label, **(limits or {}))
    except AdiffError as error:
        parts = text.split(":")
        if error.exit_code != 1 and len(parts) in (2, 3) and all(parts) and not any(c in text for c in "[{('\"="):
            low, high, *step = parts
            whole = ", ".join([low, high, *step])
            error.advice = (
                f"a range is written arange({whole}), without its end, or linspace({low}, {high}, 11), with it"
            )
        raise


def constant_of(label: str, text: str) -> Any:
    """The plain value of a constant expression, or of a `@file`."""
    return plain_value(value_of(label, text.strip()))


def plain_value(bound: object) -> Any:
    """What is bound, as Python or NumPy has it."""
    from .. import program

    return program("bound", "<binding>").evaluate("value", {"bound": bound}).value


def split_at_commas(text: str) -> list[str]:
    """The parts between commas that stand outside brackets and strings."""
    if "," not in text:
        return [text.strip()]
    parts: list[str] = []
    start = depth = position = 0
    quote = ""
    while position < len(text):
        character = text[position]
        if quote:
            if character == "\\":
                position += 1
            elif character == quote:
                quote = ""
        elif character in "'\"":
            quote = character
        elif character in OPENING:
            depth += 1
        elif character in CLOSING:
            depth -= 1
        elif character == "," and depth <= 0:
            parts.append(text[start:position].strip())
            start = position + 1
        position += 1
    parts.append(text[start:].strip())
    return parts if parts[-1] else parts[:-1]
