"""The language against Python itself: the same text, run by both, prints the same.

`exec` runs only what this file writes or generates.
"""

import contextlib
import io
import math
import random
from pathlib import Path

import pytest
from adiff import AdiffError, program
from grammar import Forms, text_of

PROGRAMS = (Path(__file__).parent / "python_programs.txt").read_text(encoding="utf-8").split("\n===\n")
FAILING = (Path(__file__).parent / "python_failures.txt").read_text(encoding="utf-8").split("\n===\n")


def under_python(text: str) -> str:
    written = io.StringIO()
    with contextlib.redirect_stdout(written):
        exec(compile(text, "<program>", "exec"), {"math": math})
    return written.getvalue()


def under_adiff(text: str) -> str:
    written: list[str] = []
    program(text).evaluate("value", {}, last_statement=True, write=written.append, max_steps=100_000)
    return "".join(written)


@pytest.mark.parametrize("text", PROGRAMS, ids=range(len(PROGRAMS)))
@pytest.mark.filterwarnings("ignore::SyntaxWarning")
def test_prints_what_python_prints(text: str) -> None:
    expected = under_python(text)
    assert expected
    assert under_adiff(text) == expected


@pytest.mark.parametrize("text", FAILING, ids=range(len(FAILING)))
@pytest.mark.filterwarnings("ignore::SyntaxWarning")
def test_fails_where_python_fails(text: str) -> None:
    with pytest.raises(Exception):  # noqa: B017, PT011 - whichever exception Python has for it
        under_python(text)
    with pytest.raises(AdiffError) as caught:
        under_adiff(text)
    assert caught.value.span is not None
    assert caught.value.exit_code in (1, 2, 3)


# n0, n1, i0 and i1 are integers, x0 and x1 floats, s0 and s1 strings, l0 and l1 lists of integers, f and g functions of those.
# Every expression is total: divisors are kept from zero and indices inside their list; no loop squares for ever.
FORMS: Forms = {
    "<program>": ["i0 = i1 = 0\nfuel = 40\nn0 = 3\nn1 = -7\nx0 = 1.5\nx1 = -0.125\ns0 = 'q'\ns1 = ''\nl0 = [2, -1, 5]\nl1 = [4]\n<f>\n<g>\n<s>\n<s>\n<s>\n<s>\n<s>\n"
                  "print(i0, i1, n0, n1, x0, x1, s0, s1, l0, l1)\nprint({name: v for name, v in zip('abc', (n0, x0, s0))})\n"],
    "<f>": ["def f(a, b=<num>):\n    return a * 2 - b", "def f(a, b=<num>):\n    if 0 < a < 6: return f(a - 1, b) + <leaf>\n    for v in [a, b]:\n        a += v % 5 * <leaf>\n    return a % 1000",
            "def f(a, b=<num>):\n    c = [a, b]\n    while c and a > 0:\n        a -= abs(c.pop()) + 1\n    else:\n        b += len(c)\n    return (a * 3 + b - <leaf>) % 1000"],
    "<g>": ["def make(k):\n    seen = [0]\n    total = k\n    def inner(v, w=k):\n        nonlocal total\n        total += v % 7\n        seen[0] += 1\n"
            "        return total * <num> + seen[0] + w\n    return inner\ng = make(<num>)"],
    "<leaf>": ["<iv>", "<num>"],
    "<int>": [*["<iv>", "<num>"] * 3, *["(<int> <iop> <int>)"] * 4, "(<int> <idiv> (abs(<iv>) + 1))", "(<int> <idiv> -(abs(<iv>) + 1))", "((<int> % 9 - 4) ** <small>)",
              "(<int> if <bool> else <int>)", "<red>(<list> + [1])", "<mm>(<int>, <int>)", "<un>(<int>)", "f(<leaf>)", "f(<leaf>, <leaf>)", "g(<leaf>)",
              "divmod(<int>, abs(<iv>) + 1)[<bit>]", "(lambda a, b=2: a * b - <iv>)(<int>)", "int(<float> % 100)"],
    "<float>": ["<fv>", "<fv>", "<fnum>", *["(<float> <fop> <float>)"] * 3, "(<float> <fdiv> (abs(<fv>) + 0.5))", "(<float> <fop> <num>)", "round(<float> % 1000, <bit>)",
                "(<num> / (abs(<int> % 50) + 1))", "(<float> if <bool> else float(<int> % 100))"],
    "<bool>": ["<leaf> <cmp> <leaf>", "<leaf> < <int> <= <float>", "(<int> <in> <list>)", "(not <list>)", "(<bool> <ao> <bool>)", "<aa>([<int> > 0, <int> > 3])"],
    "<list>": ["<lv>", "<lv>", "[<int>, <int>]", "[v * <num> for v in <lv> if v % 2 == <bit>]", "sorted(<lv>, key=lambda v: (v % 3, v))",
               "[a - b for a, b in zip(<lv>, range(<small>))]", "<lv>[<num>:<end>]", "list(map(lambda v: v + <iv> % 7, <lv>))", "[i * v for i, v in enumerate(<lv>)]", "(<lv> + <lv>)[:6]"],
    "<str>": ["str(<int>)", "(<sv> + 'ab')[-6:]", "f'{<float>:.<small>f}|{<int>:>5d}'", "f'{<list>} {<sv>!r}'[-20:]", "'%d,%s,%.2f' % (<int>, <sv>[-3:], <float>)",
              "','.join([str(v) for v in <lv>])[:12]", "str(<float>)"],
    "<s>": ["<nv> = <int> % <prime>", "<fv> = <float>", "<nv> <iassign> abs(<int>) + 1", "<fv> <fassign> <float>", "<lv> = [v % 9973 for v in <list>][:8]",
            "l0.append(<int> % 997)\nl0 = l0[-8:]", "l1 += [<int>]\nl1 = l1[-8:]", "<sv> = <str>", "n0, *rest, n1 = [<int>] + <lv> + [<int>]\nprint(rest)",
            "if l0:\n    l0[<int> % len(l0)] <lassign> <int>", "print(<int>, <float>, <bool>, <str>, <list>)", "print(<int>, <float>, <bool>, <str>, <list>)",
            *["if <bool>:<block>", "if <bool>:<block>\nelif <bool>:<block>\nelse:<block>", "if <bool>:<block>\nelse:<block>"] * 2,
            *["for <lc> in <over>:<block><leave>\nelse:\n    print('else', <lc>)", "for <lc> in <over>:<block><leave>", "w0 = <small>\nwhile w0 > 0 and fuel > 0:\n    w0 -= 1\n    fuel -= 1<block><leave>"] * 2],
    "<block>": ["\n<s>", "\n<s>", "\n<s>\n<s>", "\n<s>\n<s>\n<s>"],
    "<leave>": ["", "", "\n    if <bool>: break\n    x0 += 0.25", "\n    if <bool>: continue\n    n1 -= 1"], "<over>": ["range(<small>)", "<lv>[:]"],
    "<iv>": ["n0", "n1", "i0", "i1"], "<nv>": ["n0", "n1"], "<fv>": ["x0", "x1"], "<sv>": ["s0", "s1"], "<lv>": ["l0", "l1"], "<lc>": ["i0", "i1"],
    "<num>": ["-20", "-3", "-1", "0", "1", "2", "7", "19"], "<fnum>": ["-9.875", "-0.5", "0.0", "0.125", "3.25", "10.0"], "<small>": ["0", "1", "2", "3", "4"],
    "<bit>": ["0", "1"], "<end>": ["", "3", "-1", ":-1", ":2"], "<iop>": ["+", "-", "*", "&", "|"], "<idiv>": ["//", "%"], "<fop>": ["+", "-", "*"], "<fdiv>": ["/", "//", "%"],
    "<cmp>": ["<", "<=", "==", "!=", ">", ">="], "<in>": ["in", "not in"], "<ao>": ["and", "or"], "<aa>": ["any", "all"], "<red>": ["len", "sum", "max", "min"], "<mm>": ["max", "min"],
    "<un>": ["abs", "int", "-", "+", "~"], "<prime>": ["99991", "-7919"], "<iassign>": ["+=", "-=", "//=", "%="], "<fassign>": ["+=", "-=", "*="], "<lassign>": ["=", "+=", "-="],
}  # fmt: skip


@pytest.mark.parametrize("part", range(4))
def test_generated_programs(part: int) -> None:
    for seed in range(part * 100, part * 100 + 100):
        text = text_of(FORMS, random.Random(seed).choice, "<program>", 5)
        try:
            expected = under_python(text)
        except (OverflowError, ValueError):  # an integer too large for a float or for printing
            with pytest.raises(AdiffError):
                under_adiff(text)
        else:
            assert under_adiff(text) == expected, text
