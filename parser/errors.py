"""The one exception that a mistake of the user's becomes."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .source import Span

# The two digits after "E" name the family: its word in machine-readable output, and its exit status.
FAMILIES = {
    "01": ("syntax", 3),
    "02": ("name", 3),
    "03": ("type", 1),
    "04": ("evaluation", 1),
    "05": ("derivative", 1),
    "06": ("limit", 1),
    "07": ("file", 4),
    "08": ("usage", 2),
    "09": ("internal", 70),
}


# A name of 100,000 letters must not make a message of that length.
LONGEST_MESSAGE = 600


def shortened(text: str) -> str:
    """A text with its middle left out where it is too long to read."""
    if len(text) <= LONGEST_MESSAGE:
        return text
    return f"{text[: LONGEST_MESSAGE // 2]}…{text[-LONGEST_MESSAGE // 4 :]}"


class AdiffError(Exception):
    """A mistake with its code (``E0203``), its message, where it is, and what to write instead."""

    def __init__(self, code: str, message: str, span: Span | None = None, hint: str | None = None) -> None:
        message = shortened(message)
        super().__init__(message)
        self.code = code
        self.message = message
        self.span = span
        self.advice = None if hint is None else shortened(hint)
        self.notices: list[Any] = []  # what there was to notice before it
        self.exception: str | None = None  # the class that `except` sees, where the code alone does not say it

    def __str__(self) -> str:
        from .render import render

        return render(self, hint=self.hint)

    @property
    def hint(self) -> str | None:
        """What to write instead, in Python's words: `advice` is in those of the command line."""
        if self.advice is None:
            return None
        import re

        text = re.sub(r"--at (?=\w)", "", self.advice)
        text = re.sub(r"--(tangent|vector) x=1,y=0", r'\1={"x": 1, "y": 0}', text)
        text = re.sub(r"--(kinks|engine|wrt|dtype|mode|format) ([\w,]+)", r'\1="\2"', text)
        text = re.sub(
            r"--([a-z-]+)(?: ([A-Z]+\b))?", lambda m: m[1].replace("-", "_") + (f"={m[2]}" if m[2] else ""), text
        )
        return re.sub(r"`?adiff (derive|hvp)`?", r"`Program.\1`", text)

    def __repr__(self) -> str:
        place = "" if self.span is None else f", at {self.span.source.name}:{self.span.line}:{self.span.column}"
        return f"AdiffError({self.code}: {self.message!r}{place})"

    @property
    def kind(self) -> str:
        """The family of the code in one word."""
        return FAMILIES[self.code[1:3]][0]

    @property
    def exit_code(self) -> int:
        return FAMILIES[self.code[1:3]][1]

    def __reduce__(self) -> tuple[type[AdiffError], tuple[object, ...]]:
        # An exception is otherwise rebuilt from its message alone, and a batch sends errors between processes.
        return type(self), (self.code, self.message, self.span, self.advice)


class AdiffValueError(AdiffError, ValueError):
    """What an AdiffError is for a caller in Python. Inside, a ValueError is NumPy's or Python's, and caught as such."""
