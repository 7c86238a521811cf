"""The driver against Lark's own LALR parser: the same table must accept the same texts by the same derivations."""

from __future__ import annotations

import random
from collections.abc import Iterator
from copy import copy
from functools import cache
from pathlib import Path
from typing import Any

import lark
import pytest
from adiff.parser import table
from adiff.parser.driver import Refused, drive
from adiff.parser.errors import AdiffError
from adiff.parser.lexer import tokenise
from adiff.parser.mistake import Mistake
from adiff.parser.numbers import number
from adiff.parser.syntax import Name, Number
from lark.indenter import Indenter

GRAMMAR = (Path(table.__file__).parent / "grammar.lark").read_text(encoding="utf-8")
FAILING = sorted((Path(__file__).parents[1] / "samples_failing" / "parse_error").glob("*.adiff"))


class Layout(Indenter):
    """Lark's way of doing what lexer.py does."""

    NL_type = "_NEWLINE"
    OPEN_PAREN_types = ["LPAR", "LSQB", "LBRACE"]  # noqa: RUF012
    CLOSE_PAREN_types = ["RPAR", "RSQB", "RBRACE"]  # noqa: RUF012
    INDENT_type = "_INDENT"
    DEDENT_type = "_DEDENT"
    tab_len = 8

    def process(self, stream: Iterator[lark.Token]) -> Iterator[lark.Token]:
        for position, token in enumerate(super().process(stream)):
            if position or token.type != self.NL_type:
                yield token


def is_handed_on(rule: Any) -> bool:
    return bool(rule.alias is None and len(rule.expansion) == 1 and rule.options.expand1)


@cache
def reference() -> lark.Lark:
    """Lark's parser, giving derivations (rule, children) without the levels that only hand a value on."""
    # Its contextual lexer would cut `elsed` into `else d` where no name may stand; the basic one keeps words whole.
    made = lark.Lark(GRAMMAR, parser="lalr", lexer="basic", start=list(table.STARTS), postlex=Layout())

    def recorder(position: int, rule: Any) -> Any:
        if is_handed_on(rule):
            return lambda children: children[0]
        return lambda children: [position, *children]

    made.parser.parser.parser.callbacks = {rule: recorder(position, rule) for position, rule in enumerate(made.rules)}
    return made


@cache
def recording() -> table.Table:
    """Our table, with actions that record the same."""
    ours = copy(table.table())

    def recorder(position: int) -> Any:
        return lambda children, start, end: [position, *children]

    ours.rules = [
        (length, symbol, recorder(position) if action else None)
        for position, (length, symbol, action) in enumerate(ours.rules)
    ]
    ours.climbs = {}
    return ours


def leaf(value: Any) -> Any:
    if isinstance(value, list):
        return [value[0], *map(leaf, value[1:])]
    if isinstance(value, lark.Token):
        if value.type == "NUMBER":
            return number(value, 0, 0).value
        return "" if value.type in ("_NEWLINE", "_INDENT", "_DEDENT") else str(value)
    if isinstance(value, Name):
        return value.id
    if isinstance(value, Number):
        return value.value
    return value[0] if isinstance(value, tuple) else value


def by_lark(text: str) -> Any:
    try:
        return leaf(reference().parse(text if text.endswith("\n") else text + "\n", start="program"))
    except (lark.exceptions.LarkError, Mistake):
        return None


def by_driver(text: str) -> Any:
    try:
        return leaf(drive(recording(), tokenise(recording(), text), "program"))
    except (Refused, Mistake):
        return None


def test_accepted_programs_have_lark_s_derivation(accepted: str) -> None:
    if not accepted.isascii():
        pytest.skip("Lark does not normalise names")
    derivation = by_driver(accepted)
    assert derivation is not None
    assert derivation == by_lark(accepted)


@pytest.mark.parametrize("path", FAILING, ids=lambda path: path.stem)
def test_refused_programs_are_refused_by_lark_unless_the_builder_refuses(path: Path) -> None:
    if path.stem in ("nested_too_deep", "blocks_too_deep"):
        pytest.skip("limits are the driver's own")
    text = path.read_text(encoding="utf-8")
    # A margin that mixes tabs and spaces, and a word like `x₁`, are beyond what the grammar can say.
    if path.stem not in ("indentation_tabs", "sign_subscript", "sign_squared"):
        assert by_driver(text) == by_lark(text)


def test_mangled_programs_are_judged_alike(accepted: str) -> None:
    """Tokens lost, doubled and swapped: most results are no program, many still are one."""
    if not accepted.isascii():
        pytest.skip("Lark does not normalise names")
    chance = random.Random(accepted)
    # The lexers differ by design in what a tab is worth.
    pieces = table.table().pattern.findall(accepted.replace("\t", " " * 8))
    judged = 0
    for _ in range(60):
        mangled = list(pieces)
        for _ in range(chance.randint(1, 2)):
            position = chance.randrange(len(mangled))
            other = chance.randrange(len(mangled))
            match chance.randrange(4):
                case 0 if len(mangled) > 1:
                    del mangled[position]
                case 1:
                    mangled.insert(position, mangled[other])
                case 2:
                    mangled[position], mangled[other] = mangled[other], mangled[position]
                case _:
                    mangled[position] = chance.choice(pieces)
        text = "".join(mangled)
        if not text.strip() or text[0] in " #\n\\":
            continue  # They differ in what begins a text, too: ours takes one that is indented as a whole.
        judged += 1
        assert by_driver(text) == by_lark(text), text
    assert judged


def test_refusal_carries_the_token_and_the_stack() -> None:
    with pytest.raises(Refused) as caught:
        drive(table.table(), tokenise(table.table(), "f(x y)"), "program")
    assert caught.value.index == 3
    assert caught.value.states[0] == table.table().starts["program"]


def test_parse_reports_only_adiff_errors() -> None:
    from adiff.parser.parse import parse
    from adiff.parser.source import Source

    with pytest.raises(AdiffError) as caught:
        parse(Source("f(x y)"))
    assert caught.value.__cause__ is None
