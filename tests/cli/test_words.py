"""A line divides into words as shlex divides it; comments begin where a shell's do."""

import shlex

import pytest
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


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ('grad "x#1" --at x=2  # the rest', ["grad", "x#1", "--at", "x=2"]),
        ("value 'x #1' a#b", ["value", "x #1", "a#b"]),
        ("value '#'", ["value", "#"]),
        ("1\t# note", ["1"]),
        ("# note", []),
    ],
)
def test_comments(line: str, words: list[str]) -> None:
    assert divide(line) == words
