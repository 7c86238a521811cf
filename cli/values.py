"""Kinds of option values: text as typed → value. A wrong text raises ValueError with the words for the user."""

from __future__ import annotations

from math import nan

from ..engine.command import Option

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

UNITS = {"": 1, "k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40, "kb": 10**3, "mb": 10**6, "gb": 10**9, "tb": 10**12,
         "kib": 2**10, "mib": 2**20, "gib": 2**30, "tib": 2**40, "b": 1}  # fmt: skip

LEAST, MOST = 5e-324, 1.7976931348623157e308  # of the finite floats above zero
LEAST_MEMORY = 2**20
MOST_COUNT = 10**18
MOST_PROCESSES = 256


def convert(option: Option, text: str) -> object:
    """The value that `text` means for `option`."""
    if option.kind == "choice" and text not in option.choices:
        raise ValueError(f"{text!r} is not one of {', '.join(option.choices)}")
    if option.key == "max_steps" and count(text) == 0:
        raise ValueError("no program takes 0 steps")
    found = KINDS[option.kind](text) if option.kind in KINDS else text
    if option.key == "max_memory" and size(text) < LEAST_MEMORY:
        raise ValueError(f"{text!r} is less than any program needs; write at least 1M")
    return found


def names(text: str) -> list[str]:
    """Names separated by commas."""
    parts = [part.strip() for part in text.split(",")]
    for part in parts:
        if not part.isidentifier():
            raise ValueError(f"{part!r} is not a name; write names with commas between, as in x,y")
    return parts


def within(text: str, read: Callable[[str], float], least: float, most: float, words: str) -> Any:
    """What a text reads as, if it does and lies between these two; `words` say what it is to be."""
    try:
        number = read(text)
    except (KeyError, ValueError):
        number = nan
    if not least <= number <= most:
        raise ValueError(f"{text!r} is not {words}")
    return number


def whole(text: str) -> float:
    """A whole number; `10_000` and `1e6` are read too, as in a program."""
    plain = text.strip().replace("_", "")
    number = int(plain) if plain.isascii() and plain.isdigit() and len(plain) <= 18 else float(plain)
    return int(number) if number % 1 == 0 else nan


def count(text: str, most: int = MOST_COUNT) -> int:
    """A whole number, zero or more."""
    last = "10**18" if most == MOST_COUNT else most
    return int(within(text, whole, 0, most, f"a whole number from 0 to {last}"))


def order(text: str) -> int:
    """A whole number of derivatives."""
    from ..engine.core.limits import MOST_ORDER

    return count(text, MOST_ORDER)


def size(text: str) -> int:
    """Bytes: `500M` and `500MiB` count in 1024s, `500MB` in 1000s."""

    def read(text: str) -> float:
        plain = text.strip().lower()
        digits = plain.rstrip("abcdefghijklmnopqrstuvwxyz ")
        return float(digits.replace("_", "")) * UNITS[plain[len(digits) :].strip()]

    return int(within(text, read, 1, 2**62, "a size; write it as 500M, 2GiB or 1000000"))


def seconds(text: str) -> float:
    """Seconds, more than zero."""
    words = "a number of seconds, more than 0 and at most 1e9; write it as 2.5"
    return float(within(text, float, LEAST, 1e9, words))


KINDS: dict[str, Callable[[str], object]] = {
    "names": names, "count": count, "order": order, "size": size, "seconds": seconds,
    "digits": lambda text: within(text, whole, 1, 17, "a number of digits from 1 to 17"),
    "processes": lambda text: within(text, whole, 1, MOST_PROCESSES, f"a number of processes from 1 to {MOST_PROCESSES}"),
    "positive": lambda text: within(text, float, LEAST, MOST, "a number above 0; write it as 0.01 or 1e-6"),
}  # fmt: skip


def from_json(value: object) -> object:
    """A value that came as JSON, in which "nan", "inf" and "-inf" stand for numbers as in adiff's own output."""
    if isinstance(value, list):
        return [from_json(item) for item in value]
    if value in ("nan", "inf", "-inf"):
        return float(str(value))
    return value
