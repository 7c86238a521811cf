"""A line divided into words as a shell does it."""

from __future__ import annotations

import re

# A part of a word: quoted doubly or singly, one character behind a backslash, or bare.
PART = re.compile(
    r"""[ \t\r\n]*+(?:"([^"\\]*+(?:\\.[^"\\]*+)*+)"|'([^']*+)'|\\(.)|([^ \t\r\n"'\\]++))([ \t\r\n]|$)?""", re.DOTALL
)
ESCAPED = re.compile(r"""\\(["\\])""")


def divide(line: str) -> list[str]:
    """The words; raises ValueError for a quote that is not closed. A comment begins at a `#` that begins a word."""
    words = [""]
    position, end, begins = 0, len(line.rstrip(" \t\r\n")), True
    while position < end:
        found = PART.match(line, position)
        if found is None:
            raise ValueError("No closing quotation")
        double, single, escaped, bare, blank = found.groups()
        if begins and bare is not None and bare[0] == "#":
            break
        if double is not None:
            words[-1] += ESCAPED.sub(r"\1", double) if "\\" in double else double
        else:
            words[-1] += single or escaped or bare or ""
        begins = blank is not None
        if begins:
            words.append("")
        position = found.end()
    return words[:-1] if begins else words
