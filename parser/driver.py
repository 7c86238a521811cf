"""The automaton that walks the parse table: linear in the text, and never deeper than one Python frame."""

from __future__ import annotations

from .lexer import normalised
from .numbers import number
from .syntax import Name
from .table import NAME, NUMBER, STRING, Table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .lexer import Tokens


class Refused(Exception):
    """The token at ``index`` fits nothing that may stand there; ``states`` is the parser's stack."""

    def __init__(self, index: int, states: list[int]) -> None:
        super().__init__(index)
        self.index = index
        self.states = states


def drive(table: Table, tokens: Tokens, start: str) -> Any:
    """What the tokens are, as a syntax tree; raises Refused."""
    rows, rules = table.rows, table.rules
    state = table.starts[start]
    # One entry for each symbol recognised so far: the state after it, its value, and the offset of its first character.
    states, values, begins = [state], [None], [0]
    value: Any
    end = 0
    index = 0
    for kind, piece, begin in zip(tokens.kinds, tokens.pieces, tokens.starts):
        while True:
            action = rows[state].get(kind)
            if action is None:
                raise Refused(index, states)
            if action > 0:
                break
            if action == 0:
                return values[-1]
            length, symbol, build = rules[~action]
            if build is None:
                states[-1] = state = rows[states[-2]][symbol]
                continue
            if length:
                children = values[-length:]
                del values[-length:], states[-length:]
                if length > 1:
                    del begins[1 - length :]
                values.append(build(children, begins[-1], end))
            else:
                values.append(build([], begin, begin))
                begins.append(begin)
            state = rows[states[-1]][symbol]
            states.append(state)
        stop = begin + len(piece)
        if kind > STRING:
            value = piece
        elif kind == NAME:
            value = Name(piece if piece.isascii() else normalised(piece), begin, stop)
        elif kind == NUMBER:
            value = number(piece, begin, stop)
        else:
            value = (piece, begin)
        # Layout tokens are empty and lie at the end of the text before them, so they widen nothing.
        if piece:
            end = stop
        state = action
        states.append(state)
        values.append(value)
        begins.append(begin)
        index += 1
    raise AssertionError("the last token is always END, which is accepted or refused")
