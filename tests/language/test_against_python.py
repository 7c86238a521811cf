"""The language against Python itself: the same text, run by both, prints the same.

`exec` runs only what this file writes or generates.
"""

import contextlib
import io
import math
from pathlib import Path

import pytest
from adiff import AdiffError, program
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

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


class Writer:
    """Draws one program, line by line, keeping track of what each variable holds."""

    def __init__(self, draw: st.DrawFn) -> None:
        self.draw = draw
        self.lines: list[str] = []
        self.variables: dict[str, list[str]] = {
            "int": ["n0", "i0", "i1"],
            "float": ["x0"],
            "str": ["s0"],
            "list": ["l0"],
            "bool": [],
        }
        self.functions: list[tuple[str, int]] = []
        self.loops = 0

    def pick(self, options: list[str]) -> str:
        return self.draw(st.sampled_from(options))

    def number(self, low: int, high: int) -> int:
        return self.draw(st.integers(low, high))

    def variable(self, kind: str) -> str:
        return self.pick(self.variables[kind])

    # Every expression is total: divisors are kept from zero and indices inside their list.

    def int_(self, depth: int) -> str:
        if depth == 0:
            return self.variable("int") if self.draw(st.booleans()) else str(self.number(-20, 20))
        a = self.int_(depth - 1)
        form = self.number(0, 15)
        if form <= 4:
            return f"({a} {self.pick(['+', '-', '*', '&', '|'])} {self.int_(depth - 1)})"
        if form == 5:
            return f"({a} {self.pick(['//', '%'])} (abs({self.int_(0)}) + 1))"
        if form == 6:
            return f"({a} {self.pick(['//', '%'])} -(abs({self.int_(0)}) + 1))"
        if form == 7:
            return f"(({a} % 9 - 4) ** {self.number(0, 5)})"
        if form == 8:
            return f"({a} if {self.bool_(depth - 1)} else {self.int_(depth - 1)})"
        if form == 9:
            return f"{self.pick(['len', 'sum', 'max', 'min'])}({self.list_(depth - 1)} + [1])"
        if form == 10:
            return f"{self.pick(['max', 'min'])}({a}, {self.int_(depth - 1)})"
        if form == 11:
            return f"{self.pick(['abs', 'int', '-', '+', '~'])}({a})"
        if form == 12 and self.functions:
            name, arity = self.functions[self.number(0, len(self.functions) - 1)]
            given = self.number(1, arity)
            return f"{name}({', '.join(self.int_(0) for _ in range(given))})"
        if form == 13:
            return f"divmod({a}, abs({self.int_(0)}) + 1)[{self.number(0, 1)}]"
        if form == 14:
            return f"(lambda a, b=2: a * b - {self.variable('int')})({a})"
        return f"int({self.float_(depth - 1)} % 100)"

    def float_(self, depth: int) -> str:
        if depth == 0:
            return self.variable("float") if self.draw(st.booleans()) else repr(self.number(-80, 80) / 8)
        a = self.float_(depth - 1)
        form = self.number(0, 7)
        if form <= 2:
            return f"({a} {self.pick(['+', '-', '*'])} {self.float_(depth - 1)})"
        if form == 3:
            return f"({a} {self.pick(['/', '//', '%'])} (abs({self.float_(0)}) + 0.5))"
        if form == 4:
            return f"({a} {self.pick(['+', '*', '-'])} {self.number(-9, 9)})"
        if form == 5:
            return f"round({a} % 1000, {self.number(0, 3)})"
        if form == 6:
            return f"({self.number(-9, 9)} / (abs({self.int_(0)} % 50) + 1))"
        return f"({a} if {self.bool_(depth - 1)} else float({self.int_(0)} % 100))"

    def bool_(self, depth: int) -> str:
        form = self.number(0, 7)
        if form <= 2:
            return f"{self.int_(0)} {self.pick(['<', '<=', '==', '!=', '>', '>='])} {self.int_(0)}"
        if form == 3:
            return f"{self.int_(0)} < {self.int_(0)} <= {self.float_(0)}"
        if form == 4:
            return f"({self.int_(0)} {self.pick(['in', 'not in'])} {self.list_(0)})"
        if form == 5:
            return f"(not {self.list_(0)})"
        if form == 6 and depth:
            return f"({self.bool_(depth - 1)} {self.pick(['and', 'or'])} {self.bool_(depth - 1)})"
        return f"{self.pick(['any', 'all'])}([{self.int_(0)} > 0, {self.int_(0)} > 3])"

    def list_(self, depth: int) -> str:
        if depth == 0:
            return self.variable("list")
        form = self.number(0, 7)
        if form == 0:
            return f"[{self.int_(0)}, {self.int_(0)}]"
        if form == 1:
            return f"[v * {self.number(-3, 3)} for v in {self.list_(0)} if v % 2 == {self.number(0, 1)}]"
        if form == 2:
            return f"sorted({self.list_(0)}, key=lambda v: (v % 3, v))"
        if form == 3:
            return f"[a - b for a, b in zip({self.list_(0)}, range({self.number(0, 5)}))]"
        if form == 4:
            low, step = self.number(-4, 4), self.pick(["", ":-1", ":2"])
            return f"{self.list_(0)}[{low}:{self.pick(['', '3', '-1'])}{step}]"
        if form == 5:
            return f"list(map(lambda v: v + {self.variable('int')} % 7, {self.list_(0)}))"
        if form == 6:
            return f"[i * v for i, v in enumerate({self.list_(0)})]"
        return f"({self.list_(0)} + {self.list_(0)})[:6]"

    def str_(self) -> str:
        form = self.number(0, 6)
        if form == 0:
            return f"str({self.int_(0)})"
        if form == 1:
            return f"f'{{{self.float_(0)}:.{self.number(0, 4)}f}}|{{{self.int_(0)}:>{self.number(1, 6)}d}}'"
        if form == 2:
            return f"({self.variable('str')} + 'ab')[-6:]"
        if form == 3:
            return f"f'{{{self.list_(0)}}} {{{self.variable('str')}!r}}'[-20:]"
        if form == 4:
            return f"'%d,%s,%.2f' % ({self.int_(0)}, {self.variable('str')}[-3:], {self.float_(0)})"
        if form == 5:
            return f"','.join([str(v) for v in {self.list_(0)}])[:12]"
        return f"str({self.float_(1)})"

    def block(self, indent: str, depth: int) -> None:
        for _ in range(self.number(1, 3)):
            self.statement(indent, depth)

    def statement(self, indent: str, depth: int) -> None:
        def put(text: str) -> None:
            self.lines.append(indent + text)

        form = self.number(0, 15)
        if form <= 2:
            put(
                f"{self.variable('int')} = {self.int_(2)} % {self.pick(['99991', '-7919'])}"
            )  # loops must not square for ever
        elif form == 3:
            put(f"{self.variable('float')} = {self.float_(2)}")
        elif form == 4:
            put(f"{self.variable('int')} {self.pick(['+=', '-=', '//=', '%='])} abs({self.int_(1)}) + 1")
        elif form == 5:
            put(f"{self.variable('float')} {self.pick(['+=', '-=', '*='])} {self.float_(1)}")
        elif form == 6:
            put(f"{self.variable('list')} = [v % 9973 for v in {self.list_(2)}][:8]")
        elif form == 7:
            name = self.variable("list")
            put(f"{name}.append({self.int_(1)} % 997)" if self.draw(st.booleans()) else f"{name} += [{self.int_(0)}]")
            put(f"{name} = {name}[-8:]")
        elif form == 8:
            put(f"{self.variable('str')} = {self.str_()}")
        elif form == 9:
            a, b = self.variable("int"), self.variable("int")
            put(f"{a}, *rest, {b} = [{self.int_(1)}] + {self.list_(0)} + [{self.int_(0)}]")
            put("print(rest)")
        elif form == 10:
            name = self.variable("list")
            put(f"if {name}:")
            put(f"    {name}[{self.int_(0)} % len({name})] {self.pick(['=', '+=', '-='])} {self.int_(0)}")
        elif form in (11, 12) and depth:
            put(f"if {self.bool_(1)}:")
            self.block(indent + "    ", depth - 1)
            if self.draw(st.booleans()):
                put(f"elif {self.bool_(1)}:")
                self.block(indent + "    ", depth - 1)
            if self.draw(st.booleans()):
                put("else:")
                self.block(indent + "    ", depth - 1)
        elif form == 13 and depth:
            counter = self.pick(["i0", "i1"])
            put(f"for {counter} in {self.pick([f'range({self.number(0, 5)})', self.list_(0) + '[:]'])}:")
            self.block(indent + "    ", depth - 1)
            if self.draw(st.booleans()):
                put(f"    if {self.bool_(0)}: {self.pick(['break', 'continue'])}")
                put(f"    {self.variable('float')} += 0.25")
            if self.draw(st.booleans()):
                put("else:")
                put(f"    print('else', {counter})")
        elif form == 14 and depth:
            self.loops += 1
            counter = f"w{self.loops}"
            put(f"{counter} = {self.number(1, 4)}")
            put(f"while {counter} > 0:")
            put(f"    {counter} -= 1")
            self.block(indent + "    ", depth - 1)
            if self.draw(st.booleans()):
                put(f"    if {self.bool_(0)}: {self.pick(['break', 'continue'])}")
                put(f"    {self.variable('int')} -= 1")
        else:
            put(f"print({self.int_(1)}, {self.float_(1)}, {self.bool_(1)}, {self.str_()}, {self.list_(1)})")

    def function(self) -> None:
        name = f"f{len(self.functions)}"
        outer = {kind: list(names) for kind, names in self.variables.items()}
        self.variables = {"int": ["a", "b", "i0", "i1"], "float": ["c"], "str": ["d"], "list": ["e"], "bool": []}
        self.lines.append(f"def {name}(a, b={self.number(-5, 5)}):")
        self.lines.append("    i0 = i1 = 0")
        self.lines.append("    c, d, e = a * 0.5, str(b), [a, b]")
        if self.draw(st.booleans()):  # recursion, bounded by its argument before the block may assign that
            self.lines.append(f"    if 0 < a < 6: return {name}(a - 1, b) + {self.int_(0)}")
        self.block("    ", 1)
        self.lines.append(f"    return ({self.int_(1)}) % 1000")
        self.variables = outer
        self.functions.append((name, 2))

    def closure(self) -> None:
        name = f"f{len(self.functions)}"
        self.lines += [
            f"def make_{name}(k):",
            "    seen = [0]",
            "    total = k",
            "    def inner(v, w=k):",
            "        nonlocal total",
            f"        total += v % {self.number(2, 9)}",
            "        seen[0] += 1",
            f"        return total * {self.number(-3, 3)} + seen[0] + w",
            "    return inner",
            f"{name} = make_{name}({self.number(-5, 5)})",
        ]
        self.functions.append((name, 2))


@st.composite
def programs(draw: st.DrawFn) -> str:
    writer = Writer(draw)
    writer.lines += ["i0 = i1 = 0", "n0 = 3", "x0 = 1.5", "s0 = 'q'", "l0 = [2, -1, 5]"]
    for _ in range(draw(st.integers(0, 2))):
        writer.function() if draw(st.booleans()) else writer.closure()
    for name, kind, value in (
        ("n1", "int", "-7"),
        ("x1", "float", "-0.125"),
        ("l1", "list", "[4]"),
        ("s1", "str", "''"),
    ):
        writer.lines.append(f"{name} = {value}")
        writer.variables[kind].append(name)
    for _ in range(draw(st.integers(2, 7))):
        writer.statement("", 2)
    everything = [name for names in writer.variables.values() for name in names]
    writer.lines.append(f"print({', '.join(everything)})")
    writer.lines.append(f"print({{name: v for name, v in zip('abc', ({', '.join(everything[:3])}))}})")
    return "\n".join(writer.lines) + "\n"


@settings(
    max_examples=150,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    phases=(Phase.explicit, Phase.reuse, Phase.generate, Phase.shrink),
)
@given(programs())
def test_generated_programs(text: str) -> None:
    try:
        expected = under_python(text)
    except (OverflowError, ValueError):  # an integer too large for a float or for printing
        with pytest.raises(AdiffError):
            under_adiff(text)
        return
    assert under_adiff(text) == expected, text
