"""The parse table: made by Lark from grammar.lark once, then read from the cache without importing Lark.

Importing Lark and computing the table takes a third of a second, reading it back a third of a millisecond.
"""

from __future__ import annotations

import marshal
import os
import sys

from . import builder, cache

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from lark.lexer import TerminalDef, Token

    Action = Callable[[list[Any], int, int], Any]

# The largest prime that is one digit to Python. A kept entry is a multiple of it, read as a number: with any one byte
# changed it is none. Of checksums this is the one that needs no import, and it takes a tenth of a millisecond.
SEAL, SEAL_BYTES = 2**30 - 35, 4

# Raise this when this file comes to make another entry of the same grammar; a test compares.
FORMAT = 4

# Terminals that carry more than their own text come first, then those the lexer must stop at; driver.py and lexer.py
# compare against these numbers.
NAME, NUMBER, STRING = 0, 1, 2
NEWLINE, INDENT, DEDENT, END = 3, 4, 5, 6
# Never in the grammar, so never acceptable: the parser stops at them, and diagnose.py says why.
UNKNOWN, BAD_DEDENT, BAD_TABS, BAD_DEPTH = 7, 8, 9, 10
FIRST_FIXED = 11
# Not handed to the parser at all.
SKIPPED, LINE_BREAK = -1, -2

NUMBERED = {"NAME": NAME, "NUMBER": NUMBER, "STRING": STRING, "_NEWLINE": NEWLINE, "_INDENT": INDENT, "_DEDENT": DEDENT}
STARTS = ("program", "replacement")

ACCEPT = 0


class Table:
    """The automaton of grammar.lark.

    ``rows[state]`` maps a symbol to what follows: a positive number is the state after it, ``ACCEPT`` the end, a
    negative number ``~rule`` a reduction. ``rules[rule]`` is (length, symbol, action), where the action is None for a
    rule of one symbol that hands on its value. ``names`` are the symbols' names; a fixed terminal's is its text.
    """

    __slots__ = ("closing", "fixed", "names", "opening", "pattern", "rows", "rules", "seen", "starts", "string")

    def __init__(self, entry: dict[str, Any]) -> None:
        from re import compile

        self.rows: list[dict[int, int]] = entry["rows"]
        self.names: list[str] = entry["names"]
        self.fixed: dict[str, int] = entry["fixed"]
        self.starts: dict[str, int] = entry["starts"]
        self.pattern = compile(entry["pattern"])
        self.string: str = entry["string"]  # the regular expression of a whole literal
        self.rules: list[tuple[int, int, Action | None]] = [
            (length, symbol, getattr(builder, action) if action else None) for length, symbol, action in entry["rules"]
        ]
        self.opening = frozenset(self.fixed[text] for text in "([{")
        self.closing = frozenset(self.fixed[text] for text in ")]}")
        self.seen: dict[str, int] = {}  # the kind of each piece of text that the lexer has met


_table: Table | None = None


def table() -> Table:
    """The table of this process."""
    global _table
    if _table is None:
        _table = _load()
    return _table


def _load() -> Table:
    with open(os.path.join(os.path.dirname(__file__), "grammar.lark"), "rb") as file:
        grammar = file.read()
    name = entry_name(grammar)
    content = cache.read(name)
    if content is not None and int.from_bytes(content, "big") % SEAL == 0:
        try:
            return Table(marshal.loads(content))
        except (EOFError, ValueError, TypeError, KeyError, IndexError, AttributeError, OverflowError):
            pass  # No entry at all: made anew below, and replaced, as one that is damaged.
    entry = make(grammar.decode())
    cache.write(name, sealed(marshal.dumps(entry)))
    return Table(entry)


def sealed(content: bytes) -> bytes:
    """Bytes with a few behind them, which `marshal` does not read, that make their number a multiple of SEAL."""
    rest = (int.from_bytes(content, "big") << 8 * SEAL_BYTES) % SEAL
    return content + (-rest % SEAL).to_bytes(SEAL_BYTES, "big")


def entry_name(grammar: bytes) -> str:
    """The file name of a grammar's table: whatever the entry depends on is part of it.

    The version of Lark is not: the table that any of them makes of a grammar stays right when Lark is replaced.
    """
    # A remainder modulo a Mersenne prime tells texts apart as well as a hash does, and needs no import.
    digest = int.from_bytes(grammar, "big") % (2**127 - 1)
    return f"grammar-{FORMAT}-{sys.implementation.cache_tag}-{sys.hexversion:x}-{digest:x}"


def make(grammar: str) -> dict[str, Any]:
    """The table of a grammar, in plain types that marshal can keep."""
    from keyword import kwlist

    import lark
    from lark.lexer import Lexer
    from lark.parsers.lalr_analysis import Shift

    class Unused(Lexer):
        """In the place of Lark's own lexer, which would be made, and checked, for nothing."""

        def __init__(self, configuration: object) -> None: ...

        def lex(self, lexer_state: object, parser_state: object) -> Iterator[Token]:
            raise NotImplementedError

    made = lark.Lark(grammar, parser="lalr", lexer=Unused, start=list(STARTS))
    states = made.parser.parser._parse_table
    terminals = {terminal.name: terminal for terminal in made.terminals}

    number = dict(NUMBERED)
    number["$END"] = END
    names = ["name", "number", "string", "newline", "indent", "dedent", "end"] + [""] * (FIRST_FIXED - END - 1)
    fixed = dict.fromkeys(kwlist, UNKNOWN)
    for terminal in made.terminals:
        if terminal.pattern.type == "str":
            text = terminal.pattern.value
            fixed[str(text)] = number[terminal.name] = len(names)
            names.append(str(text))
    for rule in made.rules:
        if rule.origin.name not in number:
            number[rule.origin.name] = len(names)
            names.append(str(rule.origin.name))

    rules: list[tuple[int, int, str | None]] = []
    rule_numbers = {}
    for rule in made.rules:
        rule_numbers[rule] = len(rules)
        handed_on = rule.alias is None and len(rule.expansion) == 1 and rule.options.expand1
        rules.append((len(rule.expansion), number[rule.origin.name], None if handed_on else str(rule.alias)))

    # States are numbered from 1, so that the sign of an action tells its kind, and in the order in which a walk through
    # the table meets them, so that a grammar has one table. (Lark's numbers differ from run to run.)
    order = {states.start_states[name]: position for position, name in enumerate(STARTS, start=1)}
    rows: list[dict[int, int]] = [{}]
    for state in (queue := list(order)):
        row = {}
        for symbol in sorted(states.states[state], key=number.__getitem__):
            action, argument = states.states[state][symbol]
            if action is not Shift:
                row[number[symbol]] = ~rule_numbers[argument]
                continue
            if argument not in order:
                order[argument] = len(order) + 1
                queue.append(argument)
            row[number[symbol]] = order[argument]
        rows.append(row)
    for state in states.end_states.values():
        rows[order[state]][END] = ACCEPT

    return {
        "rows": rows,
        "rules": rules,
        "names": names,
        "fixed": fixed,
        "starts": {str(name): order[state] for name, state in states.start_states.items()},
        "pattern": _pattern(terminals, fixed),
        "string": terminals["STRING"].pattern.to_regexp(),
    }


def _pattern(terminals: dict[str, TerminalDef], fixed: dict[str, int]) -> str:
    """One regular expression that cuts any text into pieces, of which each is at most one terminal.

    A word that is not the prefix of a string comes first because most pieces are one; it covers names and keywords
    alike, which the lexer tells apart by looking them up. The last alternatives take what is in no program; a string
    that is never closed is one piece, so that no part of it is searched for its end again.
    """
    from re import escape

    def regular(name: str) -> str:
        return terminals[name].pattern.to_regexp()

    symbols = sorted((text for text in fixed if not text.isidentifier()), key=lambda text: (-len(text), text))
    return "|".join(
        [
            r"[^\W\d]\w*+(?![\"'])",
            regular("BLANK"),
            regular("NUMBER"),
            *(escape(text) for text in symbols if len(text) > 1),
            "[" + "".join(escape(text) for text in symbols if len(text) == 1) + "]",
            regular("_NEWLINE"),
            regular("STRING"),
            regular("COMMENT"),
            regular("CONTINUATION"),
            r"\"\"\"[\s\S]*+",
            r"'''[\s\S]*+",
            r"\"[^\"\\\r\n]*+(?:\\(?:\r\n|[\s\S])[^\"\\\r\n]*+)*+\\?",
            r"'[^'\\\r\n]*+(?:\\(?:\r\n|[\s\S])[^'\\\r\n]*+)*+\\?",
            r"\w+",
            r"[\s\S]",
        ]
    )
