"""What a console or a notebook puts around a program: prompts, outputs and commands, which are passed over.

Each becomes as much white space, so that every place in the program stays where it is in the text.
"""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .place import Place

    Spans = list[tuple[int, int]]

PROMPT = re.compile(r"[ \t]*(?:>>>|\.\.\.|(?P<cell>In \[[^\]\r\n]*\]:)|\.\.\.:)(?: |(?=[\r\n]|$))")
OUTPUT = re.compile(r"[ \t]*Out ?\[[^\]\r\n]*\]:")
COMMAND = re.compile(r"%{1,2}[^\W\d]|![^\s=]")
# What may stand before the first prompt.
BEFORE = re.compile(r"\s*(?:[#%!][^\r\n]*\s*)*")


def without_prompts(text: str) -> tuple[str, Spans]:
    """A text that begins with a prompt as the program in it, and the lines of prompts and outputs.

    Lines without a prompt are outputs, unless a cell's own prompt stands on a line alone: then they are the cell.
    """
    beginning = BEFORE.match(text)
    if beginning is None or PROMPT.match(text, text.rfind("\n", 0, beginning.end()) + 1) is None:
        return text, []
    pieces: list[str] = []
    passed: Spans = []
    is_code = True
    start = 0
    for line in text.splitlines(keepends=True):
        end = start + len(line.rstrip("\r\n"))
        prompt = PROMPT.match(line)
        if prompt is not None:
            passed.append((start, start + prompt.end()))
            is_code = prompt["cell"] is not None and not line[prompt.end() :].strip()
            # A form feed begins the margin anew, so that prompts of several widths indent nothing.
            line = " " * (prompt.end() - 1) + "\f" + line[prompt.end() :]
        elif line.strip() and (OUTPUT.match(line) or not is_code):
            is_code = False
            passed.append((start, end))
            line = " " * (end - start) + text[end : start + len(line)]
        pieces.append(line)
        start += len(line)
    return "".join(pieces), passed


def command(place: Place) -> tuple[int, int] | None:
    """The notebook's command (`%matplotlib inline`, `!pip install x`) that a place begins, beside other lines; or None."""
    if "\n" in place.tokens.text.strip() and place.begins_statement() and COMMAND.match(place.tokens.text, place.start):
        return place.start, place.line_end()
    return None


def blanked(text: str, start: int, end: int) -> str:
    return text[:start] + " " * (end - start) + text[end:]
