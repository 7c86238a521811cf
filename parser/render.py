"""An error as a person reads it: where, what, the line with the place marked, and what to write instead."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .errors import AdiffError
    from .source import Span

TAB = 4
# What a line may take up where nobody says how wide the terminal is, and the least that leaves room for a window.
DEFAULT_WIDTH = 120
LEAST_WIDTH = 20

BOLD, RED, CYAN, PLAIN = "\x1b[1m", "\x1b[1;31m", "\x1b[1;36m", "\x1b[0m"


def render(
    error: AdiffError, *, colour: bool = False, ascii: bool = False, width: int | None = None, label: str | None = None,
    accent: str = RED, hint: str | None = None,
) -> str:  # fmt: skip
    """The diagnostic, without a newline at its end.

    `hint` is shown in the place of the error's advice. `label` is what it is called, by default an error with its code, and
    `accent` the colour of that and of the marks. `ascii` is for terminals that can show nothing else; `width` is the
    terminal's, in columns. Whatever text the error quotes, the result is safe to print: control characters are escaped, half
    characters too.
    """

    def paint(code: str, text: str) -> str:
        return f"{code}{text}{PLAIN}" if colour and text else text

    span = error.span
    place = f"{span.source.name}:{span.line}:{span.column}: " if span is not None else ""
    lines = [
        paint(BOLD, _shown_text(place, ascii))
        + paint(accent, f"{f'error[{error.code}]' if label is None else label}: ")
        + paint(BOLD, _shown_text(error.message, ascii))
    ]
    if span is not None:
        excerpt = _excerpt(span, max(width or DEFAULT_WIDTH, LEAST_WIDTH), ascii)
        if excerpt is not None:
            text, indent, marks = excerpt
            lines += [text, " " * indent + paint(accent, "^" * marks)]
    if error.advice is not None:
        lines.append(paint(CYAN, "help: ") + _shown_text(hint or error.advice, ascii))
    return "\n".join(lines)


def _excerpt(span: Span, width: int, ascii: bool) -> tuple[str, int, int] | None:
    """The line where the span begins as it is shown, the columns before the marks, and how many marks.

    None where the line is blank, so that there is nothing to show.
    """
    source = span.source
    line = source.line(span.line)
    if not line.strip():
        return None
    begin = min(span.column - 1, len(line))
    end = max(begin, min(begin + span.end - span.start, len(line)))

    # What is further off than the width cannot be in the window; a line of a megabyte costs no more than a screen.
    first, last = max(0, begin - width), min(len(line), begin + width)
    cells = _cells(line[first:last], ascii)
    begin, end = begin - first, min(end, last) - first
    whole = first == 0 and last == len(line) and sum(columns for _, columns in cells) <= width
    before = after = ""
    if whole:
        left, right = 0, len(cells)
    else:
        ellipsis = "..." if ascii else "…"
        left, right = _window([columns for _, columns in cells], begin, width - 2 * len(ellipsis))
        before = ellipsis if left or first else ""
        after = ellipsis if right < len(cells) or last < len(line) else ""
    text = before + "".join(shown for shown, _ in cells[left:right]) + after
    indent = len(before) + sum(columns for _, columns in cells[left:begin])
    marks = sum(columns for _, columns in cells[begin : min(end, right)])
    return text.rstrip(), indent, max(marks, 1)


def _window(columns: list[int], begin: int, room: int) -> tuple[int, int]:
    """The part of a line to show in so many columns: as much before the beginning of the span as from there on."""
    left = right = begin
    while True:
        if behind := right < len(columns) and columns[right] <= room:
            room -= columns[right]
            right += 1
        if before := left > 0 and columns[left - 1] <= room:
            left -= 1
            room -= columns[left]
        if not (before or behind):
            return left, right


def _cells(line: str, ascii: bool) -> list[tuple[str, int]]:
    """Each character as it is shown, and how many columns that takes."""
    cells = []
    column = 0
    for character in line:
        if character == "\t":
            columns = TAB - column % TAB
            shown = " " * columns
        else:
            shown = _shown(character, ascii)
            columns = 1 if len(shown) == 1 and shown.isascii() else _columns(shown)
        column += columns
        cells.append((shown, columns))
    return cells


def _shown_text(text: str, ascii: bool) -> str:
    if text.isascii() and text.isprintable():
        return text
    return "".join(character if character == "\n" else _shown(character, ascii) for character in text)


def _shown(character: str, ascii: bool) -> str:
    """A character, or its escape where a terminal would obey it, hide it or fail to show it."""
    if character.isprintable() if not ascii else character.isascii() and character.isprintable():
        return character
    code = ord(character)
    if not ascii and character.isspace() and code > 127 and character not in "\x85\u2028\u2029":
        return " "
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _columns(text: str) -> int:
    """How many columns a text takes: East Asian wide characters two, marks that sit on another character none."""
    if text.isascii():
        return len(text)
    from unicodedata import category, east_asian_width

    return sum(
        0 if category(character) in ("Mn", "Me") else 2 if east_asian_width(character) in ("W", "F") else 1
        for character in text
    )
