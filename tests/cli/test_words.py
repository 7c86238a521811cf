"""A line divides into words exactly as shlex divides it."""

import shlex

from adiff.cli.words import divide
from hypothesis import given
from hypothesis import strategies as st


def outcome(function: object, line: str) -> object:
    try:
        return function(line)  # type: ignore[operator]
    except ValueError:
        return ValueError


@given(st.text(st.sampled_from(["a", "b", " ", "\t", '"', "'", "\\", "=", "-", "é", ",", "(", "*"]), max_size=20))
def test_words_are_those_of_a_shell(line: str) -> None:
    assert outcome(divide, line) == outcome(shlex.split, line)


def test_comments() -> None:
    assert divide('grad "x#1" --at x=2  # the rest') == ["grad", "x#1", "--at", "x=2"]
    assert divide("value a#b") == ["value", "a#b"]
    assert divide("value '#'") == ["value", "#"]
