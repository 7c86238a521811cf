"""The exception, its rendering, and the names it suggests."""

import pickle

import pytest
from adiff.parser.errors import AdiffError
from adiff.parser.parse import parse
from adiff.parser.render import render
from adiff.parser.source import Source, Span
from adiff.parser.suggest import suggest


def error(text: str, piece: str, name: str = "point.adiff", message: str = "unknown function 'sine'") -> AdiffError:
    start = text.index(piece)
    return AdiffError("E0203", message, Span(Source(text, name), start, start + len(piece)), "did you mean 'sin'?")


FORMS = [
    (
        error("# a\n\n    y = sine(x) * 2\n", "sine"),
        "point.adiff:3:9: error[E0203]: unknown function 'sine'\n    y = sine(x) * 2\n        ^^^^\nhelp: did you mean 'sin'?",
    ),
    (AdiffError("E0801", "input 'x' is not bound"), "error[E0801]: input 'x' is not bound"),
    (
        AdiffError("E0301", "shapes differ", None, "reshape one"),
        "error[E0301]: shapes differ\nhelp: reshape one",
    ),
    (AdiffError("E0111", "m", Span(Source("x +"), 3, 3)), "<expr>:1:4: error[E0111]: m\nx +\n   ^"),
]


@pytest.mark.parametrize(("shown", "text"), FORMS)
def test_form_of_a_diagnostic(shown: AdiffError, text: str) -> None:
    assert render(shown) == text


@pytest.mark.parametrize(
    ("text", "piece", "line", "marks"),
    [
        ("\ty =\tsine(x)\r\n", "sine", "    y = sine(x)", "        ^^^^"),
        ("a\tsine", "sine", "a   sine", "    ^^^^"),
        ("漢字 = sine(x)", "sine", "漢字 = sine(x)", "       ^^^^"),
        ("'漢字' + 1", "'漢字'", "'漢字' + 1", "^^^^^^"),
        ("e\u0301 = sine", "sine", "e\u0301 = sine", "    ^^^^"),
        ("x = (sine\n + 2)", "sine\n + 2", "x = (sine", "     ^^^^"),
        ("x\x1b[31m + sine", "sine", "x\\x1b[31m + sine", "            ^^^^"),
        ("'\ud800\u202e' + sine", "sine", "'\\ud800\\u202e' + sine", "                 ^^^^"),
    ],
)
def test_marks_lie_under_the_place(text: str, piece: str, line: str, marks: str) -> None:
    assert render(error(text, piece)).splitlines()[1:3] == [line, marks]


def test_ascii_only() -> None:
    shown = render(error("漢 + é + sine", "sine", "é.adiff", "“sine”"), ascii=True)
    assert shown.isascii()
    assert shown.splitlines()[1:3] == ["\\u6f22 + \\xe9 + sine", "                ^^^^"]


@pytest.mark.parametrize("width", [1, 20, 40, 80])
@pytest.mark.parametrize("before", [0, 3, 1000])
@pytest.mark.parametrize("after", [0, 3, 1000])
@pytest.mark.parametrize("long", [1, 10, 500])
@pytest.mark.parametrize("ascii", [False, True])
def test_long_lines_are_windowed(width: int, before: int, after: int, long: int, ascii: bool) -> None:
    text = "a" * before + "S" * long + "b" * after
    shown = render(error(text, "S" * long), width=width, ascii=ascii)
    line, marks = shown.splitlines()[1:3]
    assert len(line) <= max(width, 20)
    assert len(marks) <= max(width, 20)
    under = line[marks.index("^") : marks.rindex("^") + 1]
    assert set(under) == {"S"}
    if long == 1:
        assert len(under) == 1
    ellipsis = "..." if ascii else "…"
    shortened = len(text) > max(width, 20)
    assert (ellipsis in line) == shortened


def test_colour_changes_nothing_but_colour() -> None:
    import re

    mistake = error("y = sine(x)", "sine")
    shown = render(mistake, colour=True)
    assert "\x1b[" in shown
    assert re.sub(r"\x1b\[[0-9;]*m", "", shown) == render(mistake)


def test_hostile_label_and_message_cannot_steer_the_terminal() -> None:
    shown = render(error("sine", "sine", "a\x1b[2J\rb", "bell \x07 \u202e"))
    assert "\x1b" not in shown
    assert "\r" not in shown
    assert "\x07" not in shown
    assert "\u202e" not in shown


@pytest.mark.parametrize(
    ("code", "kind", "exit_code"),
    [
        ("E0101", "syntax", 3),
        ("E0203", "name", 3),
        ("E0301", "type", 1),
        ("E0401", "evaluation", 1),
        ("E0501", "derivative", 1),
        ("E0601", "limit", 1),
        ("E0701", "file", 4),
        ("E0801", "usage", 2),
        ("E0911", "internal", 70),
    ],
)
def test_family_of_a_code(code: str, kind: str, exit_code: int) -> None:
    mistake = AdiffError(code, "message")
    assert (mistake.kind, mistake.exit_code) == (kind, exit_code)


def test_error_travels_between_processes() -> None:
    copy = pickle.loads(pickle.dumps(error("y = sine(x)", "sine")))
    assert render(copy) == render(error("y = sine(x)", "sine"))


FUNCTIONS = "sin sinh asin cos cosh log log10 sqrt reduce_sum reduce_mean matmul Variable".split()


@pytest.mark.parametrize(
    ("word", "first"),
    [
        ("sine", "sin"),
        ("sni", "sin"),
        ("cosine", None),
        ("lgo", "log"),
        ("sqr", "sqrt"),
        ("sqaure_root", None),
        ("reduce_sun", "reduce_sum"),
        ("redcue_mean", "reduce_mean"),
        ("variable", "Variable"),
        ("SIN", "sin"),
        ("zzz", None),
        ("q", None),
        ("x" * 10_000, None),
    ],
)
def test_suggestion(word: str, first: str | None) -> None:
    assert next(iter(suggest(word, FUNCTIONS)), None) == first


def test_at_most_three_suggestions_and_never_the_word_itself() -> None:
    assert len(suggest("aaaaa", [f"aaaa{letter}" for letter in "bcdefgh"])) == 3
    assert suggest("sin", ["sin"]) == []


@pytest.mark.parametrize(
    ("text", "message"),
    [("with y as\nz", "the end of the line was not expected here"), ("y = 2 + lambda", "'lambda' is a keyword and cannot be a name")],
)  # fmt: skip
def test_what_was_not_expected(text: str, message: str) -> None:
    with pytest.raises(AdiffError) as caught:
        parse(Source(text))
    assert caught.value.message == message
