"""Long and deep texts: linear time, no recursion, a clear error where a tree would be too deep to walk."""

from __future__ import annotations

import sys
import time

import pytest
from adiff.parser import depth
from adiff.parser.errors import AdiffError
from adiff.parser.parse import parse
from adiff.parser.source import Source
from adiff.parser.syntax import Assign, Binary, Module, Name


def expression(text: str) -> object:
    module = parse(Source(text))
    return module.body[0].value  # type: ignore[attr-defined]


def test_brackets_leave_no_nodes_and_have_no_limit() -> None:
    node = expression("(" * 100_000 + "x" + ")" * 100_000)
    assert isinstance(node, Name)
    assert (node.start, node.end) == (100_000, 100_001)


@pytest.mark.parametrize("operator", ["+", "-", "*", "@", "|"])
def test_a_long_chain_nests_to_the_left(operator: str) -> None:
    count = 100_000 if operator == "+" else 20_000
    node = expression(operator.join(["x"] * count))
    length = 1
    while isinstance(node, Binary):
        assert isinstance(node.right, Name)
        node = node.left
        length += 1
    assert length == count


def test_long_lists_are_flat() -> None:
    for text in (
        ",".join(["x"] * 20_000),
        "[" + "1," * 20_000 + "]",
        " and ".join(["x"] * 20_000),
        "<".join(["x"] * 20_000),
        "'a' " * 20_000,
        "x=1\n" * 20_000,
        "a=" * 20_000 + "1",
        "f(" + "x," * 20_000 + ")",
    ):
        assert isinstance(parse(Source(text)), Module)


DEEP = {
    "calls": ("f(", "x", ")"),
    "lists": ("[", "", "]"),
    "signs": ("-", "x", ""),
    "not": ("not ", "x", ""),
    "powers": ("x**", "x", ""),
    "conditions": ("x if x else ", "x", ""),
    "lambdas": ("lambda: ", "x", ""),
    "attributes": ("", "x", ".y"),
    "indexes": ("", "x", "[0]"),
    "calls of calls": ("", "f", "()"),
    "right operands": ("x+(", "x", ")"),
    "targets": ("[", "x", "]"),
}


@pytest.mark.parametrize("name", DEEP)
def test_nesting_has_a_limit(name: str) -> None:
    before, middle, after = DEEP[name]
    ending = " = y" if name == "targets" else ""
    shallow = before * 9_000 + middle + after * 9_000 + ending
    assert parse(Source(shallow)).body
    with pytest.raises(AdiffError) as caught:
        parse(Source(before * 20_000 + middle + after * 20_000 + ending))
    assert caught.value.code == "E0139"


def test_long_elif_chain_counts_as_nesting() -> None:
    with pytest.raises(AdiffError) as caught:
        parse(Source("if a: b\n" + "elif a: b\n" * (depth.MAXIMUM_DEPTH + 1)))
    assert caught.value.code == "E0139"


def test_assignment_to_a_deep_target_is_checked_without_recursion() -> None:
    module = parse(Source("[" * 3000 + "x" + "]" * 3000 + " = y"))
    assert isinstance(module.body[0], Assign)
    assert sys.getrecursionlimit() < 3000


def seconds(text: str, rounds: int) -> float:
    best = float("inf")
    for _ in range(rounds):
        start = time.process_time()
        try:
            parse(Source(text))
        except AdiffError:
            pass
        best = min(best, time.process_time() - start)
    return best


HOSTILE = {
    "sum": "+x",
    "brackets": "(",
    "closing": ")",
    "calls": "f(",
    "lists": "[[",
    "braces": "{",
    "signs": "-",
    "quotes": "'\n",
    "triple quotes": "'''a",
    "double triple": '"""\\',
    "f-strings": "f'{x}' ",
    "f-string fields": "{x:",
    "backslashes": "\\",
    "continuations": "\\\n",
    "digits": "9",
    "points": "1.",
    "lines": "x\n",
    "indents": "\n x",
    "names": "x ",
    "comments": "#\n",
    "colons": "if x:",
    "lambda": "lambda ",
    "unclosed list over lines": "[x\n",
    "commas": ",",
    "words": "a",
    "signs of print": "²",
    "bars": "|x",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_time_grows_no_faster_than_the_text(name: str) -> None:
    """Eight times the text may take some ten times as long (thirty leave room for a busy machine), not sixty-four."""
    unit = HOSTILE[name]
    prefix = "f'" if name == "f-string fields" else ""
    short = seconds(prefix + unit * 2_000, 3)
    long = seconds(prefix + unit * 16_000, 3)  # the best of some: a machine may have other things to do
    assert long < 30 * max(short, 0.002)
