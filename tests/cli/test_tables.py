"""Tables on a pseudo-terminal, at several widths. The numbers in them come from calculus by hand."""

import re
from collections.abc import Callable

import pytest
from adiff.cli.formats.layout import Marks, cell_text

from .conftest import Completed

Terminal = Callable[..., str]
COLOUR = re.compile(r"\x1b\[[0-9;]*m")
MARKS = Marks(ascii=False)


def bare(text: str) -> str:
    """The text without colours, and without the blanks before them at the ends of lines."""
    return re.sub(r" +$", "", COLOUR.sub("", text), flags=re.MULTILINE)


GRADIENT = """\
x**2*y = 20.25

  variable   value   gradient
 ─────────────────────────────
  x          1.5     27.0
  y          9        2.25
"""


@pytest.mark.parametrize("columns", [60, 80, 160])
def test_grad(terminal: Terminal, columns: int) -> None:
    shown = bare(terminal("grad", "x**2*y", "--at", "x=1.5,y=9", columns=columns))
    assert shown == GRADIENT


HESSIAN = """\
x**2*y = 12.0

  variable   value   gradient
 ─────────────────────────────
  x          2       12.0
  y          3        4.0

Hessian

      x     y
 ───────────────
  x   6.0   4.0
  y   4.0   0.0
"""


@pytest.mark.parametrize("columns", [60, 80, 160])
def test_hessian(terminal: Terminal, columns: int) -> None:
    assert bare(terminal("hessian", "x**2*y", "--at", "x=2,y=3", columns=columns)) == HESSIAN


JACOBIAN = """\
x*v = [3.0, 6.0]

         x     v[0]   v[1]
 ──────────────────────────
  f[0]   1.0   3.0    0.0
  f[1]   2.0   0.0    3.0
"""


def test_jacobian(terminal: Terminal) -> None:
    assert bare(terminal("jacobian", "x*v", "--at", "x=3,v=[1,2]")) == JACOBIAN


TAPE = """\
  step   operation   inputs   value   partials   adjoint   source
 ─────────────────────────────────────────────────────────────────
  x      input                2.0                4.0
  y      input                3.0                2.0
  %1     multiply    x, y     6.0     3.0, 2.0   1.0       x*y
  %2     add         %1, x    8.0     1.0, 1.0   1.0       x*y+x
"""

NARROW = """\
%1
operation    multiply
inputs       x, y
value        6.0
partials     3.0, 2.0
adjoint      1.0
source       x*y
"""


def test_tape(terminal: Terminal) -> None:
    for columns in (80, 160):
        assert bare(terminal("tape", "x*y+x", "--at", "x=2,y=3", columns=columns)) == TAPE
    assert NARROW in bare(terminal("tape", "x*y+x", "--at", "x=2,y=3", columns=60))


PARTITION = """\
  part     elements   values
 ──────────────────────────────
  part 0   [0] [2]    [10, 30]
  part 1   [1]        [20]
"""

STITCH = """\
  row   value   from         overwrites
 ───────────────────────────────────────
  [0]   1       data[0][0]
  [1]   3       data[1][0]   data[0][1]
"""


def test_partition_and_stitch_show_what_went_where(terminal: Terminal) -> None:
    assert bare(terminal("partition", "[10,20,30]", "[0,1,0]", "2")) == PARTITION
    assert bare(terminal("stitch", "[[0,1],[1]]", "[[1,2],[3]]")) == STITCH


@pytest.mark.parametrize("columns", [40, 60, 80, 160])
@pytest.mark.parametrize(
    "arguments",
    [
        ["grad", "sum(v**2)", "--at", "v=linspace(0.0, 1.0, 1000)"],
        ["grad", "sum(A**2)*exp(y)", "--at", "A=ones((50,60))/3,y=1.23456789"],
        ["hessian", "sum(v**3)", "--at", "v=linspace(0.0, 1.0, 9)"],
        ["hessian", "sum(v**3)", "--at", "v=linspace(0.0, 1.0, 40)"],
        ["jacobian", "v**2", "--at", "v=linspace(0.0, 1.0, 11)"],
        ["value", "ones((4,5,6))/7"],
        ["tape", "exp(sin(x)*cos(y))/3", "--at", "x=0.1,y=0.7"],
        ["check", "exp(sin(x)*cos(y))/3", "--at", "x=0.1,y=0.7"],
        ["ops"],
        ["ops", "max"],
    ],
    ids=lambda arguments: " ".join(arguments)[:30],
)
def test_no_line_is_wider_than_the_terminal_and_no_number_is_cut(
    terminal: Terminal, arguments: list[str], columns: int
) -> None:
    shown = bare(terminal(*arguments, columns=columns))
    assert shown
    for line in shown.splitlines():
        assert len(line) <= columns, line
    # A cut number would leave a mark right at its digits, or its exponent at the beginning of a line.
    assert not re.search(r"\d…|\d\.\.\.|^\s*e[-+]\d", shown, re.MULTILINE)


def test_the_rest_of_a_long_tensor_is_counted(terminal: Terminal) -> None:
    shown = bare(terminal("grad", "sum(v)", "--at", "v=ones(1000)"))
    assert "x [1000]" not in shown
    assert "v [1000]" in shown
    for kept, rest in re.findall(r"\[((?:1\.0, )+)… (\d+) more\]", shown):
        assert kept.count("1.0") + int(rest) == 1000
    assert "… " in shown


def test_user_text_is_never_markup(terminal: Terminal) -> None:
    assert "[bold red]x" in bare(terminal("value", "'[bold red]x'"))
    assert "[red]" in bare(terminal("tape", "x * len('[red]')", "--at", "x=2.0", columns=160))
    assert ":smile:" in bare(terminal("value", "':smile:'"))


def test_colour(terminal: Terminal, adiff: Callable[..., Completed]) -> None:
    arguments = ("grad", "x**2", "--at", "x=2")
    assert COLOUR.search(terminal(*arguments))
    assert not COLOUR.search(terminal(*arguments, NO_COLOR="1"))
    assert not COLOUR.search(terminal(*arguments, TERM="dumb"))
    assert not COLOUR.search(terminal(*arguments, "--color", "never"))
    assert COLOUR.search(terminal(*arguments, "--color", "always", NO_COLOR="1"))
    table = (*arguments, "--format", "table")
    assert not COLOUR.search(adiff(*table).stdout)
    assert COLOUR.search(adiff(*table, "--color", "always").stdout)
    wrong = ("grad", "x +")
    assert COLOUR.search(terminal(*wrong))
    assert not COLOUR.search(adiff(*wrong).stderr)
    assert COLOUR.search(adiff(*wrong, FORCE_COLOR="1").stderr)
    assert not COLOUR.search(adiff(*wrong, FORCE_COLOR="1", NO_COLOR="1").stderr)
    assert not COLOUR.search(adiff(*arguments, FORCE_COLOR="1").stdout), "plain has no colour"


def test_a_terminal_without_unicode(terminal: Terminal) -> None:
    for arguments in (
        ("grad", "sum(v)", "--at", "v=ones(1000)"),
        ("hessian", "x*y", "--at", "x=1,y=2"),
        ("partition", "[1,2]", "[0,1]", "2"),
        ("grad", "x +"),
    ):
        assert terminal(*arguments, PYTHONIOENCODING="ascii").isascii()


def test_a_table_is_the_default_on_a_terminal_only(terminal: Terminal, adiff: Callable[..., Completed]) -> None:
    assert "variable" in terminal("grad", "x**2", "--at", "x=2")
    assert adiff("grad", "x**2", "--at", "x=2").stdout == "4.0\n"
    assert terminal("grad", "x**2", "--at", "x=2", "--format", "plain") == "4.0\n"
    assert terminal("value", "2+2") == "4\n"


@pytest.mark.parametrize(
    ("value", "width", "text"),
    [
        ([1.0, 2.0, 3.0], 30, "[1.0, 2.0, 3.0]"),
        ([1.0, 2.0, 3.0], 10, "[1.0, 2.0,\n 3.0]"),
        (list(range(100)), 20, "[0, 1, 2, … 97 more]"),
        ([[1.0, 20.5], [300.0, 4.0]], 30, "[  1.0  20.5]\n[300.0   4.0]"),
        ([[1] * 20] * 3, 20, "\n".join(["[1  1  1  … 17 more]"] * 3)),
        ([[1, 2]] * 20, 20, "\n".join(["[1  2]"] * 8) + "\n… 12 more rows"),
        (None, 10, "–"),
        (0.1, 3, "0.1"),
        ([], 10, "[]"),
        ([[1], [2, 3]], 20, "[[1], [2, 3]]"),
    ],
)
def test_cells(value: object, width: int, text: str) -> None:
    assert cell_text(value, None, width, MARKS) == text


FIVE = ("hessian", "sum(x)**3 * x[0] + exp(sum(x**2)/10)", "--at", "x=[0.1,0.2,0.3,0.4,0.5]")


def test_a_matrix_too_wide_has_fewer_digits(terminal: Terminal) -> None:
    shown = bare(terminal(*FIVE, columns=80))
    assert re.search(r"x\[4\] +7\.6521131 +0\.90422616 +0\.90633924 +0\.90845232 +1\.1218735$", shown, re.MULTILINE)
    assert "some numbers are rounded; --precision 17 shows all digits" in shown
    assert "7.652113081229351" in bare(terminal(*FIVE, columns=160))


def test_a_matrix_that_would_be_cut_is_turned(terminal: Terminal) -> None:
    shown = bare(
        terminal("grad", "sum(sin(x)*exp(x))", "--at", "x=[[0.1,0.2],[1.3,-1.42345678912],[2.5,-13.1]]", columns=60)
    )
    assert "more" not in shown
    assert "7.2054529e-07]" in shown
