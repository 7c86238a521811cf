"""String literals: escapes, prefixes, adjacent literals, and the replacement fields of f-strings."""

from __future__ import annotations

from .mistake import Mistake
from .syntax import FormattedString, FormattedValue, String

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .syntax import Expression

SIMPLE_ESCAPES = {
    "\\": "\\",
    "'": "'",
    '"': '"',
    "a": "\a",
    "b": "\b",
    "f": "\f",
    "n": "\n",
    "r": "\r",
    "t": "\t",
    "v": "\v",
    "\n": "",
}
# The number of hexadecimal digits that each takes.
HEXADECIMAL_ESCAPES = {"x": 2, "u": 4, "U": 8}

# A replacement field may stand in another one's format specification, but no deeper, as in Python.
MAXIMUM_FIELD_DEPTH = 2


def string_literals(literals: list[tuple[str, int]], start: int, end: int) -> Expression:
    """The node of one or more adjacent literals, given as (text, offset)."""
    parts: list[str | FormattedValue] = []
    formatted = False
    binary = None
    for text, offset in literals:
        prefix, body, body_offset = _opened(text, offset)
        raw = "r" in prefix
        if binary is not None and binary != ("b" in prefix):
            raise Mistake(
                "E0141",
                "a literal with the prefix b cannot be joined to one without",
                offset,
                offset + len(text),
                "give all of them the prefix, or none",
            )
        binary = "b" in prefix
        if "f" in prefix:
            formatted = True
            parts.extend(_Fields(body, body_offset, raw).parts(0, len(body), 0))
        else:
            parts.append(_decoded(body, body_offset, raw, binary))
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
        position = next(position for position, character in enumerate(text) if not character.isascii())
        raise Mistake(
            "E0141",
            "a literal with the prefix b holds ASCII characters only",
            offset + position,
            offset + position + 1,
            "leave out the prefix",
        )
    if raw or "\\" not in text:
        return _line_feeds(text)
    decoded = []
    position = 0
    while (escape := text.find("\\", position)) >= 0:
        decoded.append(_line_feeds(text[position:escape]))
        character, position = _escape(text, escape, offset, binary)
        decoded.append(character)
    decoded.append(_line_feeds(text[position:]))
    return "".join(decoded)


def _line_feeds(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def _escape(text: str, position: int, offset: int, binary: bool) -> tuple[str, int]:
    """The character that the escape at a position stands for, and the position after it."""
    letter = text[position + 1 : position + 2]
    if letter == "\r":
        return "", position + (3 if text.startswith("\n", position + 2) else 2)
    if not letter:  # It ends the text before a field, where nothing is left for it to escape.
        return "\\", position + 1
    if letter in SIMPLE_ESCAPES:
        return SIMPLE_ESCAPES[letter], position + 2
    if letter in "01234567":
        stop = position + 2
        while stop < position + 4 and text[stop : stop + 1] in tuple("01234567"):
            stop += 1
        value = int(text[position + 1 : stop], 8)
        return chr(value & 0xFF if binary else value), stop
    if letter in HEXADECIMAL_ESCAPES and not (binary and letter != "x"):
        count = HEXADECIMAL_ESCAPES[letter]
        digits = text[position + 2 : position + 2 + count]
        if len(digits) == count and all(digit in "0123456789abcdefABCDEF" for digit in digits):
            value = int(digits, 16)
            if value <= 0x10FFFF:
                return chr(value), position + 2 + count
        raise Mistake(
            "E0141",
            f"'\\{letter}' takes {count} hexadecimal digits of a character's number",
            offset + position,
            offset + position + 2 + len(digits),
            "write '\\\\' for a backslash",
        )
    if letter == "N" and not binary:
        return _named(text, position, offset)
    # As in Python, a backslash before any other character is itself.
    return "\\" + letter, position + 2


def _named(text: str, position: int, offset: int) -> tuple[str, int]:
    r"""The character of ``\N{name}``."""
    from unicodedata import lookup

    close = text.find("}", position)
    try:
        if not text.startswith("{", position + 2) or close < 0:
            raise KeyError
        return lookup(text[position + 3 : close]), close + 1
    except (KeyError, ValueError):
        stop = close + 1 if close >= 0 else position + 2
        raise Mistake(
            "E0141",
            "this is not the name of a character",
            offset + position,
            offset + stop,
            r"write a name of the Unicode standard, as in '\N{DEGREE SIGN}'",
        ) from None


class _Fields:
    """The body of one f-string and where it lies in the source."""

    def __init__(self, body: str, offset: int, raw: bool) -> None:
        self.body = body
        self.offset = offset
        self.raw = raw

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
        body = self.body
        depth = 0
        position = start
        while position < end:
            character = body[position]
            if character in "\"'":
                width = 3 if body.startswith(character * 3, position) else 1
                close = body.find(character * width, position + width, end)
                if close < 0:
                    break
                position = close + width
                continue
            if character in "([{":
                depth += 1
            elif depth:
                if character in ")]}":
                    depth -= 1
            elif character in ":}":
                return position
            elif character in "!=<>" and body.startswith("=", position + 1):
                position += 1
            elif character in "!=":
                return position
            position += 1
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
