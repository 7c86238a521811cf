"""Kinds of option values: text as typed → value. A wrong text raises ValueError with the words for the user."""

from __future__ import annotations

from ..engine.command import Option

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

UNITS = {"": 1, "k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40, "kb": 10**3, "mb": 10**6, "gb": 10**9, "tb": 10**12,
         "kib": 2**10, "mib": 2**20, "gib": 2**30, "tib": 2**40, "b": 1}  # fmt: skip


LEAST_MEMORY = 2**20
MOST_COUNT = 10**18
MOST_PROCESSES = 256


def convert(option: Option, text: str) -> object:
    """The value that `text` means for `option`."""
    if option.kind == "choice":
        return choice(option, text)
    if option.key == "max_steps" and count(text) == 0:
        raise ValueError("no program takes 0 steps")
    found = KINDS[option.kind](text) if option.kind in KINDS else text
    if option.key == "max_memory" and size(text) < LEAST_MEMORY:
        raise ValueError(f"{text!r} is less than any program needs; write at least 1M")
    return found


def choice(option: Option, text: str) -> str:
    """One of the option's choices, exactly as listed."""
    if text not in option.choices:
        raise ValueError(f"{text!r} is not one of {', '.join(option.choices)}")
    return text


def names(text: str) -> list[str]:
    """Names separated by commas."""
    parts = [part.strip() for part in text.split(",")]
    for part in parts:
        if not part.isidentifier():
            raise ValueError(f"{part!r} is not a name; write names with commas between, as in x,y")
    return parts


def count(text: str, most: int = MOST_COUNT) -> int:
    """A whole number, zero or more; `10_000` and `1e6` are read too, as in a program."""
    plain = text.strip().replace("_", "")
    try:
        number: float = int(plain) if plain.isascii() and plain.isdigit() and len(plain) <= 18 else float(plain)
    except ValueError:
        number = -1
    if not 0 <= number <= most or number != int(number):
        raise ValueError(f"{text!r} is not a whole number from 0 to {'10**18' if most == MOST_COUNT else most}")
    return int(number)


def order(text: str) -> int:
    """A whole number of derivatives."""
    from ..engine.core.limits import MOST_ORDER

    return count(text, MOST_ORDER)


def digits(text: str) -> int:
    """Significant digits of a float."""
    found = count(text)
    if not 1 <= found <= 17:
        raise ValueError(f"{text!r} is not a number of digits from 1 to 17")
    return found


def positive(text: str) -> float:
    """A number above zero."""
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0 < number < float("inf"):
        raise ValueError(f"{text!r} is not a number above 0; write it as 0.01 or 1e-6")
    return number


def processes(text: str) -> int:
    """How many processes, one or more."""
    try:
        number = count(text, MOST_PROCESSES)
    except ValueError:
        number = 0
    if not number:
        raise ValueError(f"{text!r} is not a number of processes from 1 to {MOST_PROCESSES}")
    return number


def size(text: str) -> int:
    """Bytes: `500M` and `500MiB` count in 1024s, `500MB` in 1000s."""
    plain = text.strip().lower()
    digits = plain.rstrip("abcdefghijklmnopqrstuvwxyz ")
    try:
        number = float(digits.replace("_", "")) * UNITS[plain[len(digits) :].strip()]
    except (KeyError, ValueError):
        number = -1.0
    if not 1 <= number <= 2**62:
        raise ValueError(f"{text!r} is not a size; write it as 500M, 2GiB or 1000000")
    return int(number)


def seconds(text: str) -> float:
    """Seconds, more than zero."""
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0 < number <= 1e9:
        raise ValueError(f"{text!r} is not a number of seconds, more than 0 and at most 1e9; write it as 2.5")
    return number


KINDS: dict[str, Callable[[str], object]] = {
    "names": names, "count": count, "order": order, "positive": positive, "processes": processes, "digits": digits,
    "size": size, "seconds": seconds,
}  # fmt: skip


def from_json(value: object) -> object:
    """A value that came as JSON, in which "nan", "inf" and "-inf" stand for numbers as in adiff's own output."""
    if isinstance(value, list):
        return [from_json(item) for item in value]
    if value in ("nan", "inf", "-inf"):
        return float(str(value))
    return value
