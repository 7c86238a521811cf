"""String literals: escapes, prefixes, adjacent literals, and the replacement fields of f-strings."""

from __future__ import annotations

from .fields import Record
from .mistake import Mistake
from .syntax import FormattedString, FormattedValue, String

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .syntax import Expression

# A line ending, or an escape: of one that lacks something, what there is.
_ESCAPE = r"\r\n?|\\(?:\r\n|[0-7]{1,3}|x\w{0,2}|u\w{0,4}|U\w{0,8}|N(?:\{[^}]*\})?|[\s\S]?)"
# What follows the letter of an escape that does not stand alone.
TAKES = {
    "x": "2 hexadecimal digits of a character's number",
    "u": "4 hexadecimal digits of a character's number",
    "U": "8 hexadecimal digits of a character's number",
    "N": "the name of a character in the Unicode standard, as in '\\N{DEGREE SIGN}'",
}

# A replacement field may stand in another one's format specification, but no deeper, as in Python.
MAXIMUM_FIELD_DEPTH = 2


def string_literals(literals: list[tuple[str, int]], start: int, end: int) -> Expression:
    """The node of one or more adjacent literals, given as (text, offset)."""
    parts: list[str | FormattedValue] = []
    formatted = False
    for text, offset in literals:
        prefix, body, body_offset = _opened(text, offset)
        raw = "r" in prefix
        if "f" in prefix:
            formatted = True
            parts.extend(_Fields(body, body_offset, raw).parts(0, len(body), 0))
        else:
            parts.append(_decoded(body, body_offset, raw, "b" in prefix))
    if len({"b" in _opened(*literal)[0] for literal in literals}) > 1:
        message = "a literal with the prefix b cannot be joined to one without"
        raise Mistake("E0141", message, start, end, "give all of them the prefix, or none")
    if not formatted:
        return String("".join(part for part in parts if isinstance(part, str)), start, end)
    return FormattedString(_joined(parts), start, end)


def _opened(text: str, offset: int) -> tuple[str, str, int]:
    """A literal's prefix, what is between its quotes, and where that begins."""
    prefix = text[: min(position for quote in "\"'" if (position := text.find(quote)) >= 0)]
    quote = text[len(prefix)]
    width = 3 if text.startswith(quote * 3, len(prefix)) and len(text) >= len(prefix) + 6 else 1
    begin = len(prefix) + width
    return prefix.lower(), text[begin:-width], offset + begin


def _joined(parts: list[str | FormattedValue]) -> list[str | FormattedValue]:
    """The same parts with neighbouring text made one, and none of it empty."""
    joined: list[str | FormattedValue] = []
    for part in parts:
        last = joined[-1] if joined else None
        if isinstance(part, str) and isinstance(last, str):
            joined[-1] = last + part
        elif part != "":
            joined.append(part)
    return joined


def _decoded(text: str, offset: int, raw: bool, binary: bool = False) -> str:
    """The text that a literal's body stands for; a line ending is a line feed in whatever way the file writes it."""
    if binary and not text.isascii():
        message = "a literal with the prefix b holds ASCII characters only"
        raise Mistake("E0141", message, offset, offset + len(text), "leave out the prefix")
    if raw or "\\" not in text:
        return _line_feeds(text)
    from re import Match, sub

    def character(found: Match[str]) -> str:
        escape, letter = found[0], found[0][1:2]
        if escape[0] == "\r":
            return "\n"
        if letter.isdigit() and letter < "8":
            value = int(escape[1:], 8)
            return chr(value & 0xFF if binary else value)
        if letter in ("\r", "\n"):
            return ""
        if not letter or letter not in ("\\'\"abfnrtvx" if binary else "\\'\"abfnrtvxuUN"):
            return escape  # as in Python
        try:
            return escape.encode().decode("unicode_escape")
        except UnicodeError:
            start, message = offset + found.start(), f"'\\{letter}' takes {TAKES[letter]}"
            raise Mistake("E0141", message, start, start + len(escape), "write '\\\\' for a backslash") from None

    return sub(_ESCAPE, character, text)


def _line_feeds(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


class _Fields(Record):
    """The body of one f-string and where it lies in the source."""

    body: str
    offset: int
    raw: bool

    def mistake(self, message: str, start: int, end: int, hint: str | None = None) -> Mistake:
        return Mistake("E0140", message, self.offset + start, self.offset + end, hint)

    def parts(self, start: int, end: int, depth: int) -> list[str | FormattedValue]:
        """The text and fields between two positions. ``depth`` counts the fields around, whose text is all theirs."""
        body = self.body
        parts: list[str | FormattedValue] = []
        position = text_start = start

        def close_text(stop: int) -> None:
            parts.append(_decoded(body[text_start:stop], self.offset + text_start, self.raw))

        while position < end:
            character = body[position]
            if character == "\\" and not self.raw:
                if body.startswith("\\N{", position):
                    position = max(body.find("}", position, end), position) + 1
                else:
                    position += 2
            elif character in "{}" and not depth and body.startswith(character * 2, position):
                close_text(position + 1)
                position = text_start = position + 2
            elif character == "{":
                close_text(position)
                field, position = self.field(position, end, depth)
                parts.extend(field)
                text_start = position
            elif character == "}":
                raise self.mistake("a single '}' in an f-string", position, position + 1, "write '}}' for a brace")
            else:
                position += 1
        close_text(end)
        return _joined(parts)

    def field(self, start: int, end: int, depth: int) -> tuple[list[str | FormattedValue], int]:
        """What the field that opens at ``start`` stands for, and the position after it."""
        from .builder import INNER

        body = self.body
        if depth >= MAXIMUM_FIELD_DEPTH:
            raise self.mistake("fields of an f-string are nested too deeply", start, start + 1)
        stop = self.expression_end(start + 1, end)
        expression_end = stop
        shown = body[stop] == "="
        if shown:
            stop += 1
            while stop < end and body[stop] in " \t\r\n\f":
                stop += 1
        described = body[start + 1 : stop]
        if not body[start + 1 : expression_end].strip():
            raise self.mistake(
                "there is no expression in this field of an f-string",
                start,
                min(stop + 1, end),
                "write '{{' and '}}' for braces",
            )
        conversion = None
        if body.startswith("!", stop):
            conversion = body[stop + 1 : stop + 2]
            if conversion not in tuple("rsa") or body[stop + 2 : stop + 3] not in tuple(":}"):
                raise self.mistake("after '!' in an f-string stands r, s or a", stop, min(stop + 2, end), "write '!r'")
            stop += 2
        spec = None
        if body.startswith(":", stop):
            close = self.spec_end(start, stop + 1, end)
            spec = FormattedString(self.parts(stop + 1, close, depth + 1), self.offset + stop + 1, self.offset + close)
            stop = close
        if not body.startswith("}", stop) or stop >= end:
            raise self.unclosed(start)
        if shown and conversion is None and spec is None:
            conversion = "r"
        value = INNER[0](body, start + 1, expression_end, self.offset)
        field = FormattedValue(value, conversion, spec, self.offset + start, self.offset + stop + 1)
        return ([_line_feeds(described), field] if shown else [field]), stop + 1

    def unclosed(self, start: int) -> Mistake:
        return self.mistake(
            "this '{' of an f-string is never closed", start, start + 1, "close it with '}', or write '{{' for a brace"
        )

    def expression_end(self, start: int, end: int) -> int:
        """The position of what ends an expression: its `=`, `!`, `:` or `}`."""
        from .builder import INNER

        depth = 0
        for found in INNER[1](self.body, start, end):
            piece = found[0]
            if piece in ("(", "[", "{"):
                depth += 1
            elif depth and piece in (")", "]", "}"):
                depth -= 1
            elif not depth and piece in ("=", "!", ":", "}"):
                return int(found.start())
        raise self.unclosed(start - 1)

    def spec_end(self, field: int, start: int, end: int) -> int:
        """The position of the brace that closes a field whose format specification begins at ``start``."""
        depth = 0
        for position in range(start, end):
            if self.body[position] == "{":
                depth += 1
            elif self.body[position] == "}":
                if not depth:
                    return position
                depth -= 1
        raise self.unclosed(field)
