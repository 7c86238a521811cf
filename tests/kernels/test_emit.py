"""Emitted source: kernels built by hand give what the interpreter of the IR gives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import adiff  # noqa: F401
import interpreter
import machine
import numpy as np
import pytest
from adiff.engine.kernels import ir
from adiff.engine.kernels.emit import emit
from adiff.engine.kernels.printing import verify
from adiff.engine.ops.registry import NAMES

DRAW = np.random.default_rng(3)
CASES: list[tuple[str, Callable[[Any], Any]]] = []


class Maker:
    """Builds a kernel statement by statement."""

    def __init__(self) -> None:
        self.blocks: list[list[Any]] = [[]]
        self.parameters: list[ir.Var] = []
        self.arguments: list[Any] = []
        self.flags: list[Any] = []

    def input(self, value: Any) -> ir.Var:
        array = np.asarray(value)
        var = ir.Var(array.dtype.kind, array.shape, "p")
        self.parameters.append(var)
        self.arguments.append(value)
        return var

    def row(self, name: str, *inputs: Any, shape: Any = None, kind: str = "f", **attributes: Any) -> ir.Var:
        if shape is None:
            shape = np.broadcast_shapes(*[getattr(x, "shape", ()) for x in inputs])
        out = ir.Var(kind, shape)
        self.put(ir.Apply((out,), NAMES[name], inputs, attributes, None))
        return out

    def put(self, stmt: Any) -> None:
        self.blocks[-1].append(stmt)

    def loop(
        self, first: list[Any], body: Callable[..., list[Any]], start: Any = 0, stop: Any = 0, step: int = 1,
        test: Any = None, stop_when: Any = None, stacks: Any = (), site: Any = None,
    ) -> Any:  # fmt: skip
        """A loop; `body(index, position, *phis)` gives what is handed on, and last what stops it if `stop_when`."""
        kind = lambda x: x.kind if x.__class__ is ir.Var else np.asarray(x).dtype.kind  # noqa: E731
        phis = [ir.Var(kind(x), getattr(x, "shape", ()), "y") for x in first]
        index = ir.Var("i", (), "i") if test is None else None
        position, trips = ir.Var("i", (), "n"), ir.Var("i", (), "m")
        tested: list[Any] = []
        condition = None
        if test is not None:
            self.blocks.append(tested)
            condition = test(*phis)
            self.blocks.pop()
        inside: list[Any] = []
        self.blocks.append(inside)
        after = body(index, position, *phis)
        self.blocks.pop()
        stopping = after.pop() if stop_when else None
        carried = [(phi, x, y, ir.Var(phi.kind, phi.shape, "y")) for phi, x, y in zip(phis, first, after)]
        self.put(
            ir.Loop(
                index,
                start,
                stop,
                step,
                tested,
                condition,
                carried,
                inside,
                stopping,
                position,
                trips,
                list(stacks),
                site,
            )
        )
        return [out for _, _, _, out in carried], trips

    def branch(self, condition: Any, then: Callable[[], list[Any]], orelse: Callable[[], list[Any]]) -> list[ir.Var]:
        sides = []
        for side in (then, orelse):
            block: list[Any] = []
            self.blocks.append(block)
            sides.append((block, side()))
            self.blocks.pop()
        outs = [
            (ir.Var(next(x for x in (a, b) if x.__class__ is ir.Var).kind, getattr(a, "shape", ())), a, b)
            for a, b in zip(sides[0][1], sides[1][1])
        ]
        self.put(ir.If(condition, sides[0][0], sides[1][0], outs))
        return [out for out, _, _ in outs]


def case(function: Callable[[Maker], list[Any]]) -> Any:
    CASES.append((function.__name__, function))
    return function


@case
def value_and_slope(m: Maker) -> list[Any]:
    v = m.input(DRAW.normal(size=12))
    square = m.row("multiply", v, v)
    top = m.row("multiply", m.row("add", square, 1.0), v)
    bottom = m.row("add", square, 2.0)
    y = m.row("divide", top, bottom)
    total = m.row("sum", y, shape=(), axis=(0,))
    slope = m.row("divide", m.row("subtract", 1.0, m.row("multiply", y, v)), bottom)
    return [total, slope]


@case
def rosenbrock(m: Maker) -> list[Any]:
    x = m.input(DRAW.normal(size=9))
    high, low = (
        m.row("index", x, shape=(8,), index=(slice(1, 9, 1),)),
        m.row("index", x, shape=(8,), index=(slice(0, 8, 1),)),
    )
    a = m.row("subtract", high, m.row("square", low))
    total = m.row("sum", m.row("square", a), shape=(), axis=(0,))
    zeros = m.row("broadcast_to", 0.0, shape=(9,))
    m.blocks[-1][-1].attributes = {"shape": (9,)}
    one = m.row("index_add", zeros, m.row("multiply", a, 2.0), shape=(9,), index=(slice(1, 9, 1),))
    two = m.row("index_add", one, m.row("multiply", a, low), shape=(9,), index=(slice(0, 8, 1),))
    return [total, two]


@case
def rows_and_columns(m: Maker) -> list[Any]:
    x, b = m.input(DRAW.normal(size=(4, 3))), m.input(DRAW.normal(size=3))
    e = m.row("exp", m.row("add", x, m.row("exp", b)))
    s = m.row("sum", e, shape=(4,), axis=(1,))
    c = m.row("sum", e, shape=(3,), axis=(0,))
    column = m.row("reshape", s, shape=(4, 1))
    m.blocks[-1][-1].attributes = {"shape": (4, 1)}
    share = m.row("divide", e, column)
    top = m.row("max", share, shape=(3,), axis=(0,))
    least = m.row("min", x, shape=(), axis=(0, 1))
    turned = m.row("transpose", share, shape=(3, 4), axes=(1, 0))
    flipped = m.row("flip", turned, shape=(3, 4), axis=(0, 1))
    place = m.row("argmax", x, shape=(4,), kind="i", axis=1)
    other = m.row("argmin", x, shape=(3,), kind="i", axis=0)
    return [s, c, share, top, least, flipped, place, other]


@case
def joins(m: Maker) -> list[Any]:
    a, b = m.input(DRAW.normal(size=(2, 3))), m.input(DRAW.normal(size=(2, 2)))
    both = m.row("concat", a, m.row("exp", b), shape=(2, 5), axis=1)
    piled = m.row("stack", a, m.row("multiply", a, a), shape=(2, 2, 3), axis=1)
    padded = m.row("pad_zeros", b, shape=(5, 2), pad_width=((1, 2), (0, 0)))
    line = m.row("reshape", m.row("exp", a), shape=(6,))
    m.blocks[-1][-1].attributes = {"shape": (6,)}
    ramp = m.row("ramp", 0.5, 2.0, shape=(6,), num=6)
    return [both, piled, padded, m.row("add", line, ramp), m.row("sum", both, shape=(), axis=(0, 1))]


@case
def gathers(m: Maker) -> list[Any]:
    x, places = m.input(DRAW.normal(size=(4, 2))), m.input(np.array([3, -1, 0, 1, 1]))
    taken = m.row("take_rows", x, shape=(5, 2), indices=places, axis=0)
    known = m.row("take_rows", x, shape=(4, 3), indices=np.array([1, 0, 1]), axis=1)
    scattered = m.row("put_rows", taken, shape=(4, 2), indices=np.array([3, 3, 0, 1, 1]), axis=0, size=4)
    return [taken, known, scattered]


@case
def products(m: Maker) -> list[Any]:
    a, b = m.input(DRAW.normal(size=(5, 9))), m.input(DRAW.normal(size=(9, 7)))
    plain = m.row("contract", a, b, shape=(5, 7), first=(0, 1), second=(1, 2), output=(0, 2), strong="")
    strong = m.row("contract", a, b, shape=(5, 7), first=(0, 1), second=(1, 2), output=(0, 2), strong="ab")
    c = m.input(DRAW.normal(size=(6, 9)))
    by_columns = m.row("contract", a, c, shape=(5, 6), first=(0, 1), second=(2, 1), output=(0, 2), strong="a")
    v = m.input(DRAW.normal(size=9))
    vector = m.row("contract", a, v, shape=(5,), first=(0, 1), second=(1,), output=(0,), strong="")
    back = m.row("contract", vector, a, shape=(9,), first=(0,), second=(0, 1), output=(1,), strong="a")
    inner = m.row("contract", v, back, shape=(), first=(0,), second=(0,), output=(), strong="")
    outer = m.row("contract", v, back, shape=(9, 9), first=(0,), second=(1,), output=(0, 1), strong="b")
    return [plain, strong, by_columns, vector, back, inner, outer]


@case
def branching_loop(m: Maker) -> list[Any]:
    x, n = m.input(0.7), m.input(5)
    stack = ir.Stack("f")

    def body(i: Any, position: Any, y: Any) -> list[Any]:
        m.put(ir.Put(stack, position, y))
        big = m.row("greater", y, 1.0, kind="b")
        return m.branch(big, lambda: [m.row("multiply", y, 0.5)], lambda: [m.row("add", y, m.row("multiply", x, 0.7))])

    (y,), trips = m.loop([x], body, stop=n, stacks=[stack], site=object())
    last = m.row("subtract", trips, 1, kind="i")

    def back(i: Any, position: Any, g: Any, d: Any) -> list[Any]:
        head = ir.Var("f")
        m.put(ir.Get(head, stack, i))
        big = m.row("greater", head, 1.0, kind="b")
        return m.branch(
            big, lambda: [m.row("multiply", g, 0.5), d], lambda: [g, m.row("add", d, m.row("multiply", g, 0.7))]
        )

    (g, d), _ = m.loop([1.0, 0.0], back, start=last, stop=-1, step=-1)
    return [y, g, d, trips]


@case
def filled_in_place(m: Maker) -> list[Any]:
    x = m.input(DRAW.normal(size=6))
    w = m.row("broadcast_to", 0.0, shape=(6,))
    m.blocks[-1][-1].attributes = {"shape": (6,)}
    w = m.row("index_update", w, m.row("index", x, shape=(), index=(0,)), shape=(6,), index=(0,))

    def body(i: Any, position: Any, w: Any) -> list[Any]:
        before = m.row("subtract", i, 1, kind="i")
        last = m.row("index", w, shape=(), index=(before,))
        new = m.row("add", m.row("multiply", last, 0.9), m.row("index", x, shape=(), index=(i,)))
        return [m.row("index_update", w, new, shape=(6,), index=(i,))]

    (w,), _ = m.loop([w], body, start=1, stop=6)
    return [w, m.row("sum", m.row("multiply", w, w), shape=(), axis=(0,))]


@case
def carried_arrays(m: Maker) -> list[Any]:
    x, y, n = m.input(DRAW.normal(size=4)), m.input(DRAW.normal(size=4)), m.input(3)
    stack = ir.Stack("f", (4,))

    def body(i: Any, position: Any, a: Any, b: Any, c: Any) -> list[Any]:
        m.put(ir.Put(stack, position, a))
        turned = m.row("flip", a, shape=(4,), axis=(0,))
        return [m.row("add", m.row("multiply", b, 0.5), turned), m.row("add", a, b), b]

    (a, b, c), trips = m.loop([x, y, x], body, stop=n, stacks=[stack])

    def back(i: Any, position: Any, total: Any) -> list[Any]:
        head = ir.Var("f", (4,))
        m.put(ir.Get(head, stack, i))
        return [m.row("add", total, m.row("multiply", head, x))]

    zeros = m.row("broadcast_to", 0.0, shape=(4,))
    m.blocks[-1][-1].attributes = {"shape": (4,)}
    (total,), _ = m.loop([zeros], back, start=m.row("subtract", trips, 1, kind="i"), stop=-1, step=-1)
    return [a, b, c, total, trips]


@case
def updated_in_branches(m: Maker) -> list[Any]:
    x, k = m.input(DRAW.normal(size=4)), m.input(1)
    w = m.row("multiply", x, 2.0)

    def body(i: Any, position: Any, w: Any) -> list[Any]:
        odd = m.row("equal", m.row("mod", i, 2, kind="i"), k, kind="b")

        def inner(j: Any, position: Any, v: Any) -> list[Any]:
            old = m.row("index", v, shape=(), index=(i,))
            return [m.row("index_add", v, m.row("add", old, 1.0), shape=(4,), index=(j,))]

        def then() -> list[Any]:
            return m.loop([w], inner, stop=i)[0]

        return m.branch(odd, then, lambda: [w])

    (w,), _ = m.loop([w], body, stop=4)
    return [w, m.row("sum", x, shape=(), axis=(0,))]


@case
def conditional_loop(m: Maker) -> list[Any]:
    a = m.input(2.0)
    stack = ir.Stack("f")

    def body(i: Any, position: Any, z: Any, k: Any) -> list[Any]:
        m.put(ir.Put(stack, position, z))
        d = m.row("divide", m.row("subtract", m.row("multiply", z, z), a), m.row("multiply", 2.0, z))
        return [m.row("subtract", z, d), m.row("add", k, 1, kind="i"), m.row("less", m.row("abs", d), 1e-9, kind="b")]

    (z, k), trips = m.loop(
        [a, 0], body, test=lambda z, k: m.row("less", k, 50, kind="b"), stop_when=True, stacks=[stack], site=object()
    )
    head = ir.Var("f")
    m.put(ir.Get(head, stack, m.row("subtract", trips, 1, kind="i")))
    return [z, k, trips, head]


@case
def swapped(m: Maker) -> list[Any]:
    x, y = m.input(1.5), m.input(2.5)
    (a, b), _ = m.loop([x, y], lambda i, n, a, b: [b, m.row("add", a, b)], stop=5)
    return [a, b]


@case
def old_versions(m: Maker) -> list[Any]:
    """An update must not reach what was read from the array before."""
    x = m.input(DRAW.normal(size=5))
    w = m.row("multiply", x, 3.0)
    part = m.row("index", w, shape=(2,), index=(slice(0, 2, 1),))
    v = m.row(
        "index_update", w, m.row("index", w, shape=(2,), index=(slice(3, 5, 1),)), shape=(5,), index=(slice(0, 2, 1),)
    )
    u = m.row("index_update", v, part, shape=(5,), index=(slice(3, 5, 1),))
    t = m.row("index_update", u, 9.0, shape=(5,), index=(2,))
    return [u, t, m.row("exp", part), x]


@case
def integers(m: Maker) -> list[Any]:
    n, v = m.input(7), m.input(np.array([4, -3, 9]))
    p = m.row("power", n, 3, kind="i")
    q = m.row("floor_divide", m.row("multiply", v, n, kind="i"), 2, kind="i")
    total = m.row("sum", q, shape=(), kind="i", axis=(0,))
    truth = m.row("greater", v, 0, kind="b")
    count = m.row("sum", truth, shape=(), kind="i", axis=(0,))
    return [p, q, total, count, m.row("any", truth, shape=(), kind="b", axis=(0,)), m.row("multiply", v, 0.5),
            m.row("left_shift", n, 3, kind="i"), m.row("cast", 2.7, kind="i", shape=(), dtype="int64")]  # fmt: skip


@case
def flags_and_checks(m: Maker) -> list[Any]:
    x = m.input(DRAW.normal(size=6))
    m.flags += [None, None, None]
    m.put(ir.Flag(m.row("greater", x, 100.0, kind="b"), 0))
    m.put(ir.Flag(m.row("less", x, 100.0, kind="b"), 1))
    m.put(ir.Check(m.row("less", x, 1e3, kind="b")))
    m.put(ir.Flag(m.row("greater", m.row("sum", x, shape=(), axis=(0,)), -1e3, kind="b"), 2))
    return [m.row("sum", m.row("multiply", x, x), shape=(), axis=(0,))]


@case
def routines(m: Maker) -> list[Any]:
    x, v = m.input(DRAW.normal(size=(3, 4))), m.input(np.array([0.3, np.nan, -0.1, 0.3, 1.5]))
    found = [
        m.row("cumsum_along", x, axis=1, exclusive=True, reverse=False), m.row("cumsum_along", x, axis=0, exclusive=False, reverse=True),
        m.row("cumprod_along", x, axis=1), m.row("cummax_along", v, axis=0), m.row("cummin_along", x, axis=1),
        m.row("linear_recurrence", x, x, reverse=True, strong=True), m.row("sort_along", x, axis=0, descending=True),
        m.row("sort_along", v, axis=0, descending=False), m.row("argsort_along", v, kind="i", axis=0, descending=True),
    ]  # fmt: skip
    line = m.row("sort_along", v, axis=0, descending=False)
    found += [
        m.row("searchsorted", line, 0.3, shape=(), kind="i", side="left", right=True),
        m.row("searchsorted", line, x, shape=(3, 4), kind="i", side="left", right=False),
    ]
    a, b = m.input(DRAW.normal(size=(2, 4, 4))), m.input(DRAW.normal(size=(4, 3)))
    sign, log = ir.Var("f", (2,)), ir.Var("f", (2,))
    m.put(ir.Apply((sign, log), NAMES["slogdet"], (a,), {}, None))
    turned = m.row("transpose", a, shape=(2, 4, 4), axes=(0, 2, 1))
    definite = m.row(
        "contract", a, turned, shape=(2, 4, 4), first=(0, 1, 2), second=(0, 2, 3), output=(0, 1, 3), strong=""
    )
    found += [sign, log, m.row("inv", a), m.row("det", a, shape=(2,)), m.row("solve", a, b, shape=(2, 4, 3)), m.row("cholesky", definite),
              m.row("triangular_system", a, b, shape=(2, 4, 3), lower=True, adjoint=True)]  # fmt: skip
    one = m.row("index", a, shape=(4, 4), index=(1,))
    return [*found, m.row("det", one, shape=()), m.row("index", m.row("inv", one), shape=(), index=(2, 1))]


# Elimination and factors depend on how well their matrices are conditioned.
TOLERANCE = {"routines": 1e-10}


@pytest.mark.parametrize(("name", "build"), CASES, ids=[name for name, _ in CASES])
def test_as_the_interpreter(name: str, build: Callable[[Any], Any]) -> None:
    m = Maker()
    results = build(m)
    kernel = ir.Kernel(m.parameters, m.blocks[0], results, m.flags)
    verify(kernel)
    expected, flags = interpreter.run(kernel, m.arguments)
    emitted = emit(kernel)
    status, found, hit = machine.call(emitted, kernel, m.arguments)
    assert status == 0, emitted.text
    for a, b in zip(found, expected):
        np.testing.assert_allclose(a, b, rtol=TOLERANCE.get(name, 1e-12), atol=1e-300, err_msg=emitted.text)
    assert hit == flags


@pytest.mark.parametrize(("name", "build"), CASES, ids=[name for name, _ in CASES])
def test_compiled(name: str, build: Callable[[Any], Any]) -> None:
    pytest.importorskip("numba")
    from adiff.engine.kernels.compile.numba_backend import compiled
    from adiff.engine.kernels.compile.run import Entry, Interface

    m = Maker()
    results = build(m)
    kernel = ir.Kernel(m.parameters, m.blocks[0], results, m.flags)
    expected, flags = interpreter.run(kernel, m.arguments)
    emitted = emit(kernel)
    interface = Interface(emitted.parameters, emitted.results, emitted.slots, emitted.flags, emitted.constants)
    found, hit = Entry(interface, compiled(emitted))(*m.arguments)
    for a, b in zip(found, expected):
        np.testing.assert_allclose(a, b, rtol=TOLERANCE.get(name, 1e-12), atol=1e-300, err_msg=emitted.text)
    assert set(hit) == flags


REFUSED: dict[str, Callable[[Maker], list[Any]]] = {
    "a check": lambda m: m.put(ir.Check(m.row("less", m.input(np.arange(3.0)), 2.0, kind="b"))) or [1.0],  # type: ignore[func-returns-value]
    "an index": lambda m: [
        m.row("take_rows", m.input(np.arange(3.0)), shape=(2,), indices=m.input(np.array([0, 3])), axis=0)
    ],
    "a product": lambda m: [m.row("multiply", m.input(2**40), m.input(2**40), kind="i")],
    "a sum": lambda m: [m.row("sum", m.input(np.array([2**62, 2**61])), shape=(), kind="i", axis=(0,))],
    "a division": lambda m: [m.row("floor_divide", m.input(3), m.input(0), kind="i")],
    "a conversion": lambda m: [m.row("cast", m.input(1e30), kind="i", dtype="int64")],
}


@pytest.mark.parametrize("what", REFUSED)
def test_stops(what: str) -> None:
    m = Maker()
    results = REFUSED[what](m)
    kernel = ir.Kernel(m.parameters, m.blocks[0], results, [])
    assert machine.call(emit(kernel), kernel, m.arguments)[0] == 1


def test_updates_in_a_loop_copy_nothing() -> None:
    m = Maker()
    filled_in_place(m)
    text = emit(ir.Kernel(m.parameters, m.blocks[0], [m.blocks[0][-1].outs[0]], [])).text
    assert text.count("floats(") == 1, text


def test_value_and_slope_are_one_loop() -> None:
    for build in (value_and_slope, rosenbrock):
        m = Maker()
        results = build(m)
        text = emit(ir.Kernel(m.parameters, m.blocks[0], results, [])).text
        assert text.count("for ") == 1, text
        assert "floats(" not in text
