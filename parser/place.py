"""Where the parser stopped, and what lies around: the view that the rules of diagnose.py look through."""

from __future__ import annotations

from .mistake import Mistake, shortened
from .table import DEDENT, END, INDENT, NAME, NEWLINE, NUMBER, STRING, Table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .lexer import Tokens

LAYOUT = frozenset((NEWLINE, INDENT, DEDENT, END))
CLOSED_BY = {"(": ")", "[": "]", "{": "}"}
WORDS = {
    NEWLINE: "the end of the line", INDENT: "an indentation", DEDENT: "the end of the block", NUMBER: "the number {}",
    STRING: "a string", NAME: "the name '{}'",
}  # fmt: skip
COMPOUND = frozenset(("if", "elif", "else", "for", "while", "with", "def", "class", "try", "except", "finally"))


class Place:
    """The token that fits nothing, and its neighbours; a piece that is not there is the empty text."""

    def __init__(self, table: Table, tokens: Tokens, index: int, states: list[int]) -> None:
        self.table = table
        self.tokens = tokens
        self.index = index
        self.states = states
        self.kind = tokens.kinds[index]
        self.piece = tokens.pieces[index]
        self.start = tokens.starts[index]
        self.end = self.start + len(self.piece)

    # ------------------------------------------------------------------------------------------------------ neighbours

    def at(self, offset: int) -> int:
        """The kind of the token so many places on (or back), END beyond either end."""
        index = self.index + offset
        return self.tokens.kinds[index] if 0 <= index < len(self.tokens.kinds) else END

    def text_at(self, offset: int) -> str:
        """The text of the token so many places on (or back)."""
        index = self.index + offset
        return self.tokens.pieces[index] if 0 <= index < len(self.tokens.pieces) else ""

    def start_at(self, offset: int) -> int:
        return self.tokens.starts[self.index + offset]

    def end_at(self, offset: int) -> int:
        return self.start_at(offset) + len(self.text_at(offset))

    @property
    def previous(self) -> str:
        return self.text_at(-1)

    @property
    def following(self) -> str:
        return self.text_at(1)

    def touches(self) -> bool:
        """Whether nothing lies between this token and the one before it."""
        return self.index > 0 and self.end_at(-1) == self.start

    def source(self, start: int, end: int) -> str:
        """The text between two offsets of the source."""
        base = self.tokens.base
        return self.tokens.text[max(start - base, 0) : max(end - base, 0)]

    # ----------------------------------------------------------------------------------------------------------- lines

    def statement_index(self) -> int:
        """The index of the token that begins the statement this one stands in."""
        kinds, pieces = self.tokens.kinds, self.tokens.pieces
        index = self.index
        while index and kinds[index - 1] not in LAYOUT and pieces[index - 1] != ";":
            index -= 1
        return index

    def statement(self) -> list[str]:
        """The texts of the statement's tokens up to, and without, this one."""
        return self.tokens.pieces[self.statement_index() : self.index]

    def statement_before(self) -> list[str]:
        """The texts of the statement on the line before this token's."""
        kinds, pieces = self.tokens.kinds, self.tokens.pieces
        stop = self.index
        while stop and kinds[stop - 1] in LAYOUT:
            stop -= 1
        start = stop
        while start and kinds[start - 1] not in LAYOUT:
            start -= 1
        return pieces[start:stop]

    def first_character(self) -> tuple[int, int]:
        """This token, or what begins where it stands if it is no text."""
        return self.start, max(self.end, self.start + 1) if self.kind != END else self.start

    def begins_statement(self) -> bool:
        return self.statement_index() == self.index

    def rest_of_line(self) -> list[str]:
        """The texts of the tokens after this one in its logical line."""
        kinds, pieces = self.tokens.kinds, self.tokens.pieces
        stop = self.index + 1
        while stop < len(kinds) and kinds[stop] not in LAYOUT:
            stop += 1
        return pieces[self.index + 1 : stop]

    def line_end(self) -> int:
        """The offset at which the physical line of this token ends."""
        text, base = self.tokens.text, self.tokens.base
        ends = [position for ending in "\n\r" if (position := text.find(ending, self.start - base)) >= 0]
        return base + min(ends, default=len(text))

    # -------------------------------------------------------------------------------------------------------- brackets

    def open_brackets(self) -> list[int]:
        """The indexes of the brackets that are open before this token, outermost first."""
        opened: list[int] = []
        for index in range(self.index):
            kind = self.tokens.kinds[index]
            if kind in self.table.opening:
                opened.append(index)
            elif kind in self.table.closing and opened:
                opened.pop()
        return opened

    def is_closed(self) -> bool:
        """Whether the innermost open bracket is closed by any bracket from this token on."""
        depth = 1
        for index in range(self.index, len(self.tokens.kinds)):
            kind = self.tokens.kinds[index]
            if kind in self.table.opening:
                depth += 1
            elif kind in self.table.closing:
                depth -= 1
                if not depth:
                    return True
        return False

    # --------------------------------------------------------------------------------------------------------- grammar

    def accepts(self, kind: int | str) -> bool:
        """Whether a token of this kind (or with this text) could stand here instead."""
        rows, rules = self.table.rows, self.table.rules
        if isinstance(kind, str):
            kind = self.table.fixed[kind]
        states = list(self.states)
        while True:  # the reductions that the token would cause
            action = rows[states[-1]].get(kind)
            if action is None:
                return False
            if action >= 0:
                return True
            length, symbol, _ = rules[~action]
            del states[len(states) - length :]
            states.append(rows[states[-1]][symbol])

    def operand_expected(self) -> bool:
        return self.accepts(NAME)

    def ends_value(self, offset: int = -1) -> bool:
        """Whether the token there, by default the one before this, ends a value."""
        kind = self.at(offset)
        return (
            kind in (NAME, NUMBER, STRING)
            or kind in self.table.closing
            or self.text_at(offset) in ("True", "False", "None", "...")
        )

    def begins_value(self) -> bool:
        return (
            self.kind in (NAME, NUMBER, STRING)
            or self.kind in self.table.opening
            or self.piece in ("True", "False", "None", "...", "lambda")
        )

    # ------------------------------------------------------------------------------------------------------- reporting

    def mistake(
        self, code: str, message: str, hint: str | None = None, start: int | None = None, end: int | None = None
    ) -> Mistake:
        """A mistake at this token, or at the place given."""
        return Mistake(code, message, self.start if start is None else start, self.end if end is None else end, hint)

    def described(self) -> str:
        """This token in words."""
        if self.kind == END or (self.kind in (NEWLINE, DEDENT) and self.at(1) in (DEDENT, END)):
            return "the end of the text"
        if self.kind in WORDS:
            return WORDS[self.kind].format(shortened(self.piece))
        return f"'{shortened(self.piece)}'"
