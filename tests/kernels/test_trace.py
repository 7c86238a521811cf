"""Programs traced to the IR and evaluated there: the values are the tape's, and what is declined is so for a reason."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import adiff
import interpreter
import numpy as np
import pytest
from adiff.engine.core.dtypes import WEAK_COUNT, WEAK_FLOAT, WEAK_INT
from adiff.engine.core.state import STATE
from adiff.engine.core.tensor import Tensor
from adiff.engine.eager.structure import flatten, rebuild
from adiff.engine.kernels.builder import Builder
from adiff.engine.kernels.ir import Kernel, Loop, Unsupported, Var, walk
from adiff.engine.kernels.symbols import Sym
from adiff.engine.kernels.trace import NeedsValue, Tracer
from adiff.engine.plain import bind
from legal import verify
from test_sample_programs import DECLINED as DECLINED_SAMPLES
from test_sample_programs import ROOT, SAMPLES, arguments


class Traced:
    """The kernel of a program's value at a point, and the structure of that."""

    def __init__(self, text: str, at: dict[str, Any], counts: bool = False) -> None:
        core = adiff.program(text).core
        self.needed: set[str] = set()
        while True:
            STATE.reset()
            self.builder = Builder()
            self.parameters: list[Var] = []
            self.arguments: list[Any] = []
            point = {name: bind(value, name) for name, value in at.items()}
            values = {name: self.value(name, x, counts) for name, x in point.items()}
            try:
                result = Tracer(core, self.builder).run(values)
                break
            except NeedsValue as needs:
                if needs.name in self.needed:
                    raise
                self.needed.add(needs.name)
        self.result = result
        results = [x.var for x in flatten(result) if x.__class__ is Sym]
        self.kernel = Kernel(self.parameters, self.builder.preamble + self.builder.block, results, self.builder.flags)
        verify(self.kernel)

    def value(self, name: str, x: Any, counts: bool) -> Any:
        if name in self.needed or x.__class__ not in (float, int, Tensor):
            return x
        weak = WEAK_FLOAT if x.__class__ is float else WEAK_COUNT if counts else WEAK_INT
        dtype = getattr(x, "dtype", weak)
        var = Var(dtype.kind, getattr(x, "shape", ()), name)
        self.parameters.append(var)
        self.arguments.append(x.value if x.__class__ is Tensor else x)
        return Sym(self.builder, var, dtype)

    def run(self) -> Any:
        found = iter(interpreter.run(self.kernel, self.arguments)[0])
        leaves = [next(found) if x.__class__ is Sym else getattr(x, "value", x) for x in flatten(self.result)]
        return rebuild(self.result, leaves)

    @property
    def loops(self) -> int:
        return sum(stmt.__class__ is Loop for stmt in walk(self.kernel.body))


def agree(found: Any, expected: Any) -> None:
    leaves, others = flatten(found), flatten(expected)
    assert rebuild(found, [0] * len(leaves)) == rebuild(expected, [0] * len(others))
    for a, b in zip(map(np.asarray, leaves), map(np.asarray, others)):
        # A variable of a kernel has one kind: the join of what is assigned to it.
        assert a.shape == b.shape
        assert a.dtype.kind in (b.dtype.kind, "f")
        if b.dtype.kind in "fib":
            np.testing.assert_allclose(a.astype(float), b.astype(float), rtol=1e-11, atol=1e-13)
        else:
            assert (a == b).all()


def check(text: str, at: dict[str, Any], counts: bool = False) -> Traced:
    traced = Traced(text, at, counts)
    agree(traced.run(), adiff.program(text).evaluate("value", at, engine="tape").value)
    return traced


V = [0.3, -1.1, 0.9, 2.0, 1.4, -0.2]

# A program and its inputs; every value is the tape's. More of them are in programs.txt.
PROGRAMS: list[tuple[str, dict[str, Any]]] = [
    ("v[k], w[1:3], u.at[1].set(x)", {"v": V, "w": V, "u": V, "x": 1.5, "k": [0, -1, 2]}),
    ("A.T @ u, A.shape, A.ndim, A.sum(), A[0], A[1:, 0], A[-1, -1]", {"A": [[1.0, 2.0, 3.0]] * 3, "u": [1.0, 0.0, 2.0]}),
    ("g = [i * x for i in range(3)]\nmax(g), min(g[1], x), abs(-x), int(x), float(n), n // 2, n % 3", {"x": 2.3, "n": 7}),
    ("m = [[x, 1.0], [2.0, y]]\ns = 0.0\nfor i in range(8):\n    s += m[i % 2][1]\ns", {"x": 1.0, "y": 0.5}),
    ("isinstance(x, float), isinstance(n, int), isinstance(v, list), all([x > 1, n > 1])", {"x": 1.5, "n": 2, "v": V}),
    (
        "f = lambda t: t**3 * y\ngrad(grad(f))(x), hvp(f, x, 2.0), hessian(f)(x)",
        {"x": 2.0, "y": 3.0},
    ),
]  # fmt: skip

# Programs whose loops stay loops, however often they run.
LOOPS: list[tuple[str, dict[str, Any]]] = [
    ("y = x\nfor i in range(n):\n    if y > 1:\n        y = y * 0.5 + x\n    else:\n        y += 0.3\ny", {"x": 0.7, "n": 20}),
    (
        "def f(x):\n    for i in range(10):\n        if x > 20:\n            return x * i\n        x = x * 2\n    return -x\nf(x)",
        {"x": 1.5},
    ),
    (
        "h = 0.0\nfor a, b in zip(v, v[::-1]):\n    h = tanh(x * h + a - b)\nfor i, a in enumerate(v):\n    h += i * a\nh",
        {"x": 0.5, "v": V},
    ),
    ("a = x\nfor i in range(8):\n    a = a * ones(2) + i\na", {"x": 2.0}),
    ("c = 0.0\nfor i in range(3, 40):\n    c = c * 0.5 + sum(v[i % 4 : i % 4 + 2])\nc", {"v": V}),
    ("sum([x**i for i in range(n)])", {"x": 0.9, "n": 70}),
    ("fori_loop(0, 10, lambda i, a: a * x + i, 1.0)", {"x": 0.5}),
    ("def f(x):\n    while x < 50:\n        x = x * x\n    return x\ngrad(f)(x)", {"x": 1.5}),
    (
        "s = 0.0\nfor i in range(9):\n    s += grad(lambda t: t**3 * s)(x)\n    s *= jvp(lambda t: t * s, (x,), (1.0,))[1] / 9\ns",
        {"x": 1.1},
    ),
]  # fmt: skip

# What is declined, or needs the value of an input, and the reason.
DECLINED: list[tuple[str, dict[str, Any], str]] = [
    ("xs = [x]\nwhile xs[-1] < 9:\n    xs.append(xs[-1] * 2)\nsum(xs)", {"x": 1.0}, "length that depends on data"),
    ("f = sin if x > 0 else cos\nf(x)", {"x": 1.0}, "form depends on data"),
    ("def f(t):\n    return t if t > 9 else f(t * 2)\nf(x)", {"x": 1.0}, "a recursion that data end"),
    ("[t for t in v if t > 0]", {"v": V}, "decides by a number which depends on data"),
    ("min([x, y], key=lambda t: t * t)", {"x": 1.0, "y": 2.0}, "decides by a number which depends on data"),
    ("f'{x}'\nx * 2", {"x": 2.0}, "a text of numbers that depend on data"),
    ("with GradientTape() as t:\n    t.watch(x)\n    y = x * x\nt.gradient(y, x)", {"x": 3.0}, "a tape of the program"),
    ("x[9]", {"x": V}, "out of range"),
    ("a = [x, 1.0]\nb = [1.0, x]\nc = a if x > 0 else b\nc[0] = 5.0\na[0]", {"x": 1.0}, "has other names"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "at"), PROGRAMS)
def test_program(text: str, at: dict[str, Any]) -> None:
    check(text, at)


@pytest.mark.parametrize(("text", "at"), LOOPS)
def test_loops_stay_loops(text: str, at: dict[str, Any]) -> None:
    assert check(text, at).loops


@pytest.mark.parametrize(("text", "at", "reason"), DECLINED)
def test_declined(text: str, at: dict[str, Any], reason: str) -> None:
    with pytest.raises(Unsupported, match=reason):
        Traced(text, at)


@pytest.mark.parametrize("text", ["sum(v[:n])", "x * ones(n)", "c = []\nfor i in range(n):\n    c.append(x * i)\nc", "[x] * n"])  # fmt: skip
def test_an_input_that_decides_a_size_is_asked_for(text: str) -> None:
    assert check(text, {name: {"v": V, "x": 1.5, "n": 4}[name] for name in adiff.program(text).inputs}).needed == {"n"}


def test_integers_that_are_differentiated_count() -> None:
    check("s = 0.0\nfor i in range(n):\n    s += x * n\ns * v[n] + n * x", {"x": 1.5, "n": 4, "v": V}, counts=True)
    check("m = n * 2 // 3\ny = x\nfor i in range(m):\n    y = y * m\ny", {"x": 1.5, "n": 4}, counts=True)


@pytest.mark.parametrize(("text", "at"), [
    ("assert x > 0\nx", {"x": -1.0}),
    ("for i in range(n):\n    t = x * i\nt", {"x": 1.0, "n": 0}),
])  # fmt: skip
def test_what_the_tape_must_tell_stops_the_kernel(text: str, at: dict[str, Any]) -> None:
    with pytest.raises(interpreter.Stopped):
        Traced(text, at).run()


def test_tracing_takes_no_longer_for_longer_loops() -> None:
    text = "s = 0.0\nfor i in range(n):\n    for j in range(n):\n        s = s * 0.5 + x * j\ns"
    short, long = [Traced(text.replace("n)", f"{n})"), {"x": 1.0}).kernel.body for n in (10, 10**6)]
    assert len(list(walk(short))) == len(list(walk(long)))


# --- the samples, what is measured, and programs for each thing that can go wrong ------------------------------------


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_sample(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    text, at = path.read_text(), arguments(path)[2]
    try:
        traced = Traced(text, at)
    except Unsupported:
        pytest.xfail(DECLINED_SAMPLES[path.stem])
    if path.stem not in ("particle", "saddle"):  # which take the interpreters a minute
        agree(traced.run(), adiff.program(text).evaluate("value", at, engine="tape").value)


CASES = (Path(__file__).parent / "programs.txt").read_text().split("\n---\n")
POINTS: list[dict[str, Any]] = [
    {"x": 0.7, "y": -1.3, "n": 5, "v": np.array([0.3, -1.1, 0.9, 2.0])},
    {"x": -1.6, "y": 0.4, "n": 0, "v": np.array([1.5, 0.2, -0.4, 0.0])},
]


def test_programs_agree_or_are_declined() -> None:
    declined = 0
    for title, text in [case.strip().split("\n", 1) for case in CASES]:
        # The interpreter's integers wrap around; those of emitted code stop the kernel.
        for point in POINTS if "integers that overflow" not in title else ():
            at = {name: point[name] for name in adiff.program(text).inputs}
            try:
                check(text, at)
            except Unsupported:
                declined += 1
            except interpreter.Stopped:
                with pytest.raises(adiff.AdiffError):
                    adiff.program(text).evaluate("value", at, engine="tape")
    assert declined < len(CASES) * len(POINTS) / 5
