"""Text to tokens: names, literals and symbols, and the line structure that Python gives to indentation."""

from __future__ import annotations

from .table import (
    BAD_DEDENT,
    BAD_DEPTH,
    BAD_TABS,
    DEDENT,
    END,
    INDENT,
    LINE_BREAK,
    NAME,
    NEWLINE,
    NUMBER,
    SKIPPED,
    STRING,
    UNKNOWN,
    Table,
)

# As deep as Python goes, and compiled programs are Python functions.
MAXIMUM_INDENTATION = 100

# How many pieces a table remembers. Texts of one run repeat the same few; the bound is for the run that does not.
SEEN_BOUND = 10_000


class Tokens:
    """Three lists side by side: what a token is, its text, and its offset in the source.

    ``text[start - base : end - base]`` is the part of the source that they were cut from.
    """

    __slots__ = ("base", "kinds", "pieces", "starts", "text")

    def __init__(self, text: str, base: int) -> None:
        self.text = text
        self.base = base
        self.kinds: list[int] = []
        self.pieces: list[str] = []
        self.starts: list[int] = []


def tokenise(table: Table, text: str) -> Tokens:
    """The tokens of a program.

    It never refuses: what no program holds becomes a token that the parser will not accept, so that the mistake
    reported is the first one in the text, whatever its sort.
    """
    tokens = Tokens(text, 0)
    kinds, pieces, starts = tokens.kinds, tokens.pieces, tokens.starts
    opening, closing = table.opening, table.closing
    depth = 0
    indentation: list[tuple[int, int]] = []
    # Editors on Windows begin a file with a mark of its encoding, which may come through.
    position = 1 if text.startswith("\ufeff") else 0
    previous_end = position
    kind_of = table.seen.get
    for piece in table.pattern.findall(text, position):
        kind = kind_of(piece)
        if kind is None:
            kind = _classify(piece, table)
        if kind >= 0:
            if not indentation:
                # A text that is indented as a whole is taken as it is: its first line sets the margin.
                indentation.append(_columns(_margin(text, position)))
            kinds.append(kind)
            pieces.append(piece)
            starts.append(position)
            position += len(piece)
            previous_end = position
            if kind in opening:
                depth += 1
            elif kind in closing and depth:
                depth -= 1
            continue
        position += len(piece)
        if kind == LINE_BREAK and not depth and kinds and kinds[-1] != NEWLINE:
            # A comment that ends the text is not part of the blank lines before it.
            last = position == len(text) or text[position] == "#"
            kinds.append(NEWLINE)
            pieces.append("")
            starts.append(previous_end)
            if not last:
                before = len(kinds)
                _indent(piece, indentation, kinds)
                added = len(kinds) - before
                pieces.extend([""] * added)
                starts.extend([position] * added)
    if kinds and kinds[-1] != NEWLINE:
        kinds.append(NEWLINE)
    kinds.extend([DEDENT] * (len(indentation) - 1))
    kinds.append(END)
    added = len(kinds) - len(pieces)
    pieces.extend([""] * added)
    starts.extend([previous_end] * added)
    return tokens


def tokenise_inner(table: Table, text: str, start: int, end: int, base: int) -> Tokens:
    """The tokens of an expression inside a literal: ``text[start:end]``, where lines have no meaning."""
    tokens = Tokens(text, base)
    position = start
    for piece in [*table.pattern.findall(text, start, end), ""]:
        kind = table.seen.get(piece) if piece else END
        if kind is None:
            kind = _classify(piece, table)
        if kind >= 0:
            tokens.kinds.append(kind)
            tokens.pieces.append(piece)
            tokens.starts.append(base + position)
        position += len(piece)
    return tokens


def normalised(name: str) -> str:
    """The name that Python takes a spelling for: compatibility variants of a letter are one letter."""
    from unicodedata import normalize

    return normalize("NFKC", name)


def _classify(piece: str, table: Table) -> int:
    """What a piece is; the answer is kept for the next time."""
    kind = table.fixed.get(piece)
    if kind is None:
        first = piece[0]
        if first in " \t\f":
            kind = SKIPPED
        elif first in "\r\n":
            kind = LINE_BREAK
        elif first in "0123456789." and piece != ".":
            kind = NUMBER
        elif first == "#" or (first == "\\" and len(piece) > 1):
            kind = SKIPPED
        elif first in "\"'" or piece[-1] in "\"'":
            from re import fullmatch

            kind = STRING if fullmatch(table.string, piece) else UNKNOWN
        elif piece.isascii():
            kind = NAME if piece.isidentifier() else UNKNOWN
        else:
            # `x²` is all letters and digits to a regular expression, but no name.
            kind = NAME if piece.isidentifier() and normalised(piece).isidentifier() else UNKNOWN
    if len(table.seen) >= SEEN_BOUND:
        table.seen.clear()
    if len(piece) < 100:
        table.seen[piece] = kind
    return kind


def _margin(text: str, position: int) -> str:
    """The white space between the start of a line and a position in it."""
    start = max(text.rfind("\n", 0, position), text.rfind("\r", 0, position)) + 1
    margin = text[start:position]
    return margin if not margin.strip(" \t\f") else ""


def _columns(margin: str) -> tuple[int, int]:
    """The width of a margin with tabs to every eighth column, and with tabs of one column.

    Two lines are indented alike only if both widths agree: then it matters to nobody how wide a tab is.
    """
    if "\t" not in margin:
        width = len(margin) - margin.rfind("\f") - 1
        return width, width
    wide = narrow = 0
    for character in margin:
        if character == "\f":
            wide = narrow = 0
        else:
            wide = (wide // 8 + 1) * 8 if character == "\t" else wide + 1
            narrow += 1
    return wide, narrow


def _indent(line_break: str, indentation: list[tuple[int, int]], kinds: list[int]) -> None:
    """Add the tokens that a line's indentation stands for."""
    margin = line_break[max(line_break.rfind("\n"), line_break.rfind("\r")) + 1 :]
    width, narrow = columns = _columns(margin)
    if columns == indentation[-1]:
        return
    if width > indentation[-1][0]:
        if narrow <= indentation[-1][1]:
            kinds.append(BAD_TABS)
        elif len(indentation) > MAXIMUM_INDENTATION:
            kinds.append(BAD_DEPTH)
        else:
            indentation.append(columns)
            kinds.append(INDENT)
        return
    while width < indentation[-1][0] and len(indentation) > 1:
        indentation.pop()
        kinds.append(DEDENT)
    if width != indentation[-1][0]:
        kinds.append(BAD_DEDENT)
    elif narrow != indentation[-1][1]:
        kinds.append(BAD_TABS)
