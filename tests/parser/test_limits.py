"""Long and deep texts: linear time, no recursion, a clear error where a tree would be too deep to walk."""

from __future__ import annotations

import sys
from pathlib import Path
from runpy import run_path
from types import FrameType
from typing import Any

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


HOSTILE: dict[str, tuple[str, str]] = run_path(str(Path(__file__).parents[2] / "bench" / "hostile_texts.py"))["HOSTILE"]


def steps(text: str) -> int:
    """How many lines of the parser are run for a text. How long those take is measured in bench/growth.py."""
    count = 0

    def step(frame: FrameType, event: str, argument: object) -> Any:
        nonlocal count
        count += 1
        return step

    before = sys.gettrace()
    sys.settrace(step)
    try:
        parse(Source(text))
    except AdiffError:
        pass
    finally:
        sys.settrace(before)
    return count


@pytest.mark.parametrize("name", HOSTILE)
def test_work_grows_no_faster_than_the_text(name: str) -> None:
    """Eight times the text takes some eight times as many steps, and not sixty-four."""
    begun, unit = HOSTILE[name]
    parse(Source("x"))  # what is found once is
    assert steps(begun + unit * 4_000) < 10 * steps(begun + unit * 500)
