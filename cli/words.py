"""A line divided into words as a shell does it."""

from __future__ import annotations

import re

# A word that is wholly quoted or wholly bare, as nearly every word of a batch is; anything else is shlex's.
WORD = re.compile(r"""\s*(?:"([^"\\]*)"|'([^']*)'|([^\s"'\\#]+))(?=\s|$)""")


def divide(line: str) -> list[str]:
    """The words; raises ValueError for a quote that is not closed. A comment begins at a `#` after a blank."""
    words = []
    position, end = 0, len(line.rstrip())
    while position < end:
        found = WORD.match(line, position)
        if found is None:
            import shlex

            return shlex.split(line, comments=" #" in line)
        words.append(found[found.lastindex or 0])
        position = found.end()
    return words
