"""Forms of rows that need no statement, what is removed from kernels, and `kernel` expressions of rows from outside."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import interpreter
import numpy as np
import pytest
from adiff.engine.core.dtypes import FLOAT64, WEAK_FLOAT, WEAK_INT
from adiff.engine.core.operation import elementwise
from adiff.engine.core.tensor import OPERATORS, Tensor
from adiff.engine.kernels import ir
from adiff.engine.kernels.builder import Builder
from adiff.engine.kernels.ir import Apply, Kernel, Loop, Var, walk
from adiff.engine.kernels.operations import dead_code, expand
from adiff.engine.ops.templates import check_template
from legal import verify
from symbolic import Program, getitem, setitem

V = np.array([3.0, 1.0, 2.0, 1.0])


def rows_of(build: Callable[..., Any], keeps_paths: bool = True) -> list[str]:
    """The rows of a small program of a matrix x, a vector v, a number s and an integer i that is 0 to 2."""
    program = Program()
    b = program.builder
    b.keeps_paths = keeps_paths
    i = b.sym(Var("i", ()), WEAK_INT)
    b.bounds[i.var] = (0, 2)
    build(b, b.sym(Var("f", (3, 3)), FLOAT64), b.sym(Var("f", (3,)), FLOAT64), b.sym(Var("f", ()), WEAK_FLOAT), i)
    return [stmt.row.name if stmt.__class__ is Apply else stmt.__class__.__name__ for stmt in b.block]  # type: ignore[attr-defined]


row = OPERATORS


@pytest.mark.parametrize(
    ("build", "paths", "expected"),
    [
        (lambda b, x, v, s, i: [s * 1, 1.0 * v, v / 1, v - 0, i + 0, s**1, row["strong_multiply"](s, 1.0)], True, []),
        (lambda b, x, v, s, i: [s + 0.0, s * 0.0], True, ["add", "multiply"]),  # -0.0 and nan
        (lambda b, x, v, s, i: [row["strong_multiply"](s, 2.0), row["strong_multiply"](0.0, s)], True, ["multiply"]),
        (lambda b, x, v, s, i: [s * 2.0, s * 2.0], True, ["multiply"]),
        (lambda b, x, v, s, i: [s * 2, s * i], True, ["multiply", "cast", "multiply"]),
        (lambda b, x, v, s, i: row["reshape"](row["reshape"](x, shape=9), shape=(3, 3)), True, ["reshape"]),
        (lambda b, x, v, s, i: row["transpose"](row["transpose"](x)), True, ["transpose"]),
        (lambda b, x, v, s, i: row["sum"](x, axis=-1, keepdims=True), True, ["sum", "reshape"]),
        (lambda b, x, v, s, i: getitem(b, v, i), True, ["index"]),  # in bounds
        (lambda b, x, v, s, i: getitem(b, v, i - 2), True, "subtract less add where_select index".split()),
        (lambda b, x, v, s, i: getitem(b, v, i + 1), True, ["add", "less", "Check", "index"]),
        (lambda b, x, v, s, i: getitem(b, getitem(b, x, i), 1), True, ["index", "index"]),
        (lambda b, x, v, s, i: getitem(b, setitem(b, v, i, s), i), True, ["index_update", "index"]),
    ],
)  # fmt: skip
def test_forms(build: Callable[..., Any], paths: bool, expected: list[str]) -> None:
    assert rows_of(build, paths) == expected


def test_constants_and_what_is_added_to_zeros() -> None:
    program = Program()
    b = program.builder
    x, g = program.put(V), program.put(2.0)
    zeros, ones = Tensor(np.zeros(4), FLOAT64), Tensor(np.array([1.0, 2, 3, 4]), FLOAT64)
    found = [x * ones + zeros, row["add"](x * 2.0, row["index_scatter"](g, shape=(4,), index=1))]
    assert [stmt.row.name for stmt in b.preamble if stmt.__class__ is Apply] == ["broadcast_to"]  # type: ignore[attr-defined]
    kernel = Kernel(program.parameters, b.preamble + b.block, [b.operand(x) for x in found], [])
    expand(kernel)
    dead_code(kernel)
    rows = [stmt.row.name for stmt in walk(kernel.body) if stmt.__class__ is Apply]  # type: ignore[attr-defined]
    assert rows[-1] == "index_add" and "index_update" not in rows  # noqa: PT018


def loop_kernel(checked: bool = False) -> tuple[Kernel, Loop]:
    """A loop that carries a sum, a product that nothing needs, a phi that stays as it is, and puts on two stacks."""
    b = Builder()
    x = Var("f", ())
    s, p, z, k = (Var(kind, (), hint) for kind, hint in (("f", "s"), ("f", "p"), ("f", "z"), ("i", "k")))
    outs = [Var("f", (), "out") for _ in range(3)]
    kept, idle = ir.Stack("f"), ir.Stack("f")
    with b.inside([]) as body:
        following = (b.sym(s) + b.sym(x)).var
        product = (b.sym(p) * b.sym(x)).var
        position = Var("i", ())
        body += [
            ir.Put(kept, position, s),
            ir.Put(idle, position, p),
            *([ir.Check((b.sym(p) < 1.0).var)] if checked else []),
        ]
    carried = [(s, 0.0, following, outs[0]), (p, 1.0, product, outs[1]), (z, 0.0, z, outs[2])]
    loop = Loop(k, 0, 5, 1, [], True, carried, body, None, position, Var("i", ()), [kept, idle], None)
    got = Var("f", ())
    b.block.extend([loop, ir.Get(got, kept, 2)])
    total = b.sym(outs[0]) + b.sym(got) + b.sym(outs[2])
    return Kernel([x], b.block, [total.var], []), loop


@pytest.mark.parametrize("checked", [False, True])
def test_dead_code(checked: bool) -> None:
    kernel, loop = loop_kernel(checked)
    dead_code(kernel)
    verify(kernel)
    assert len(loop.carried) == 3 if checked else [entry[0].name[0] for entry in loop.carried] == ["s", "z"]
    assert len(loop.stacks) == 1
    arguments = [0.5] if checked else [2.0]
    if not checked:
        assert interpreter.run(kernel, arguments)[0] == [10.0 + 4.0]
        expand(kernel)
        loop = next(stmt for stmt in kernel.body if stmt.__class__ is Loop)  # type: ignore[assignment]
        assert len(loop.carried) == 1  # what stays as it is is not carried
        assert interpreter.run(kernel, arguments)[0] == [10.0 + 4.0]


EXPRESSIONS = ["math.hypot({0}, {1})", "{0} if {0} > 0 else {alpha} * {1}", "gaussian({0}, 1.0) ** 2", "np.rint({1})"]
REFUSED = [
    "{2}", "{beta}", "{0:.2f}", "foo({0})", "{0}.real", "np.sin({0})", "math.comb({0}, 2)", "math.sin({0}", "[{0}]", "'a'",
    "{0} in {1}", "abs", "(lambda: 1)()", "__import__('os')", "abs(x={0})",
]  # fmt: skip


@pytest.mark.parametrize("kernel", EXPRESSIONS + REFUSED)
def test_kernel_expressions(kernel: str) -> None:
    row = elementwise("expression", "a, b | alpha=1.0", [1, 1], kernel=kernel)
    if kernel in EXPRESSIONS:
        check_template(row)
        return
    with pytest.raises(ValueError, match="the kernel expression of expression has"):
        check_template(row)
