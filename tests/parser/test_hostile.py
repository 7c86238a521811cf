"""Any text at all: a tree or an AdiffError, whose rendering is printable."""

import os
from pathlib import Path

from adiff.parser.errors import AdiffError
from adiff.parser.parse import parse
from adiff.parser.render import render
from adiff.parser.source import Source
from adiff.parser.syntax import Module
from adiff.parser.table import table
from hypothesis import example, given, settings
from hypothesis import strategies as st

LONG = bool(os.environ.get("ADIFF_LONG_TESTS"))
# Everything but the line feed may follow anything; characters that editors hide are written as escapes.
OTHERS = """x y1 sin d dx 2 1.5 0 e 'a' " ' f'{x}' f'{ }' \\ ^ ! ? # ² ≤ π 漢"""
SPACES = ["\n", "\n  ", "\n    ", "\n\t", "\r\n", " ", "\0", "\ud800", "\u202e", "\xa0"]
PIECES = st.sampled_from([*sorted(table().fixed), *OTHERS.split(), *SPACES]) | st.just(" ")
SAMPLES = sorted((Path(__file__).parents[1] / "samples_failing" / "parse_error").glob("*.adiff"))


def refusal(source: Source) -> AdiffError | None:
    try:
        assert isinstance(parse(source), Module)
    except AdiffError as error:
        return error
    return None


def check(text: str) -> None:
    source = Source(text, "hostile\x1b\n")
    error = refusal(source)
    if error is not None:
        assert error.code.startswith("E01")
        span = error.span
        assert span is not None
        assert 0 <= span.start <= span.end <= len(text)
        assert 1 <= span.line <= span.end_line
        for ascii in (False, True):
            for width in (None, 1, 30):
                rendered = render(error, ascii=ascii, width=width)
                assert rendered.replace("\n", "").isprintable()
                rendered.encode("ascii" if ascii else "utf-8")


@settings(max_examples=1500 if LONG else 500, deadline=None)
@given(st.lists(PIECES, max_size=25).map("".join))
def test_random_tokens(text: str) -> None:
    check(text)


@settings(max_examples=800 if LONG else 300, deadline=None)
@given(st.text(st.characters(codec=None), max_size=40))
@example("\ud800")
@example("x\0")
@example("\ufeff")
@example("'\\N{")
@example("'\\N{\ud800}'")
@example("f'{\\")
@example("f'\\")
@example("''''")
def test_random_characters(text: str) -> None:
    check(text)


@settings(max_examples=800 if LONG else 300, deadline=None)
@given(st.text("f'\"{}!:=\\rx \n()[]>.3", max_size=30).map(lambda text: f"f'{text}'"))
def test_random_f_strings(text: str) -> None:
    check(text)


@settings(max_examples=600 if LONG else 300, deadline=None)
@given(st.data())
def test_damaged_samples(data: st.DataObject) -> None:
    text = data.draw(st.sampled_from(SAMPLES)).read_text(encoding="utf-8")[:300]
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, min(len(text), start + 5)))
    check(text[:start] + data.draw(PIECES) + text[end:])
