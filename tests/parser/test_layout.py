"""Line structure: endings, blank lines, comments, tabs, continuation, brackets, one-line forms."""

import pytest
from adiff.parser.errors import AdiffError
from adiff.parser.parse import parse
from adiff.parser.source import Source

PROGRAM = "if a:\n    b = [1,\n  2]\n\n    if c:\n        d\n    e\nelse:\n    '''f\n g'''\nh\n"


def tree(text: str) -> str:
    return repr(parse(Source(text)))


def code(text: str) -> str:
    with pytest.raises(AdiffError) as caught:
        parse(Source(text))
    return caught.value.code


@pytest.mark.parametrize("ending", ["\r\n", "\r"])
def test_line_endings_make_no_difference(ending: str) -> None:
    assert tree(PROGRAM.replace("\n", ending)) == tree(PROGRAM)


@pytest.mark.parametrize(
    "text",
    [
        PROGRAM.rstrip("\n"),
        "\n\n" + PROGRAM + "\n\n   \n",
        "# first\n  # second\n" + PROGRAM + "# last",
        PROGRAM + "    # last, indented",
        PROGRAM + "    ",
        "\ufeff" + PROGRAM.replace("\n", "  # comment\n", 1),
        PROGRAM.replace("\n", "  # a 'comment'\n", 1),
        PROGRAM.replace("\n", '  # it is "\n', 1),
        PROGRAM.replace("    d\n", "    d\n\n# left\n            # right\n"),
        PROGRAM.replace("    d\n", "    d\n\t\n \n"),
        PROGRAM.replace("[1,\n", "[  # why\n\n1,  # one\n# two\n"),
        PROGRAM.replace("b = [1", "b \\\n= \\\r\n [1"),
        PROGRAM.replace("    ", "\t"),
        "".join(f"  {line}\n" for line in PROGRAM.replace("'''f\n g'''", "'''f\\n g'''").splitlines()),
    ],
)
def test_layout_that_makes_no_difference(text: str) -> None:
    assert tree(text) == tree(PROGRAM)


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("if x > 0: y = 1", "if x > 0:\n  y = 1"),
        ("while a: b; c", "while a:\n  b\n  c"),
        ("while a: b; c;", "while a:\n  b\n  c"),
        ("for i in r: a\nelse: b", "for i in r:\n a\nelse:\n b"),
        ("def f(x): return x", "def f(x):\n\treturn x"),
        ("a; b;\nc", "a\nb\nc"),
        ("if a:\n  b\n\n\n  c", "if a:\n  b\n  c"),
        ("  x**2", "x**2"),
        ("\t x\n\t y", "x\ny"),
        ("x \f+ 1", "x + 1"),
        ("if a:\n\f  b", "if a:\n  b"),
    ],
)
def test_two_ways_to_write_a_program(text: str, same: str) -> None:
    assert tree(text) == tree(same)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("if a:\n\tb\n        c", "E0119"),
        ("if a:\n        b\n\tc", "E0119"),
        ("if a:\n  if b:\n\tc\n", "E0119"),
        ("if a:\n    b\n  c", "E0118"),
        ("  a\nb", "E0118"),
        ("a\n  b", "E0118"),
        ("if a:\nb", "E0117"),
        ("if a:", "E0117"),
        ("if a:\n  # only a comment\n", "E0117"),
        ("a;;b", "E0101"),
    ],
)
def test_indentation_mistakes(text: str, expected: str) -> None:
    assert code(text) == expected
