"""grammar.lark itself: no conflicts, and nothing in it that the builder does not know."""

import keyword
import re
from pathlib import Path

import lark
from adiff.parser import builder, table

GRAMMAR = (Path(table.__file__).parent / "grammar.lark").read_text(encoding="utf-8")


def test_grammar_has_no_conflicts() -> None:
    """Lark's strict mode refuses shift/reduce conflicts, and terminals that match the same text."""
    lark.Lark(GRAMMAR, parser="lalr", lexer="contextual", start=list(table.STARTS), strict=True)


def test_every_alternative_has_its_builder_and_every_builder_its_alternative() -> None:
    actions = {action for _, _, action in table.make(GRAMMAR)["rules"] if action}
    functions = {
        name
        for name, value in vars(builder).items()
        if callable(value) and getattr(value, "__module__", "") == builder.__name__
    }
    assert actions == functions - {"node", "targeting", "take", "chain", "declared"}


def test_names_are_python_s_names() -> None:
    reserved = re.search(r"NAME: /\(\?!\(\?:([\w|]+)\)", GRAMMAR)
    assert reserved is not None
    assert reserved[1].split("|") == keyword.kwlist


def test_pattern_cuts_any_text_into_pieces_without_gaps() -> None:
    text = "".join(map(chr, range(0x300))) + 'x²\'"""\\\r\n\ud800\U0001f600 1.5e 0x \'a\n'
    assert "".join(table.table().pattern.findall(text)) == text
