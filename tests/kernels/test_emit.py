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
from adiff.engine.ops.registry import NAMES
from legal import verify

DRAW = np.random.default_rng(3)
CASES: list[tuple[str, Callable[[Any], Any]]] = []


class Maker:
    """Builds a kernel statement by statement."""

    def __init__(self) -> None:
        self.block: list[Any] = []
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
        self.block.append(stmt)


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
def rows_and_columns(m: Maker) -> list[Any]:
    x, b = m.input(DRAW.normal(size=(4, 3))), m.input(DRAW.normal(size=3))
    e = m.row("exp", m.row("add", x, m.row("exp", b)))
    s = m.row("sum", e, shape=(4,), axis=(1,))
    c = m.row("sum", e, shape=(3,), axis=(0,))
    column = m.row("reshape", s, shape=(4, 1))
    m.block[-1].attributes = {"shape": (4, 1)}
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
    m.block[-1].attributes = {"shape": (6,)}
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
    x = m.input(DRAW.normal(size=(3, 4)))
    found = [
        m.row("cumsum_along", x, axis=1, exclusive=True, reverse=False), m.row("cumsum_along", x, axis=0, exclusive=False, reverse=True),
        m.row("cumprod_along", x, axis=1), m.row("linear_recurrence", x, x, reverse=True, strong=True),
    ]  # fmt: skip
    a, b = m.input(DRAW.normal(size=(2, 4, 4))), m.input(DRAW.normal(size=(4, 3)))
    found += [m.row("solve", a, b, shape=(2, 4, 3))]
    return found


# Elimination and factors depend on how well their matrices are conditioned.
TOLERANCE = {"routines": 1e-10}


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize(("name", "build"), CASES, ids=[name for name, _ in CASES])
def test_as_the_interpreter(name: str, build: Callable[[Any], Any], compiled: bool) -> None:
    m = Maker()
    results = build(m)
    kernel = ir.Kernel(m.parameters, m.block, results, m.flags)
    verify(kernel)
    expected, flags = interpreter.run(kernel, m.arguments)
    emitted = emit(kernel)
    if compiled:
        pytest.importorskip("numba")
        from adiff.engine.kernels.compile.numba_backend import compiled as code_of
        from adiff.engine.kernels.compile.run import Entry, Interface

        interface = Interface(emitted.parameters, emitted.results, emitted.slots, emitted.flags, emitted.constants)
        found, hit = Entry(interface, code_of(emitted))(*m.arguments)
    else:
        status, found, hit = machine.call(emitted, m.arguments)
        assert status == 0, emitted.text
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
    kernel = ir.Kernel(m.parameters, m.block, results, [])
    assert machine.call(emit(kernel), m.arguments)[0] == 1
