"""Forms of rows that need no statement, what is removed from kernels, and `kernel` expressions of rows from outside."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from adiff.engine.core.dtypes import FLOAT64, WEAK_FLOAT, WEAK_INT
from adiff.engine.core.tensor import OPERATORS
from adiff.engine.kernels.ir import Apply, Var
from adiff.engine.ops.operation import elementwise
from adiff.engine.ops.templates import check_template
from symbolic import Program, getitem, setitem

V = np.array([3.0, 1.0, 2.0, 1.0])


def rows_of(build: Callable[..., Any]) -> list[str]:
    """The rows of a small program of a matrix x, a vector v, a number s and an integer i that is 0 to 2."""
    program = Program()
    b = program.builder
    i = b.sym(Var("i", ()), WEAK_INT)
    b.bounds[i.var] = (0, 2)
    build(b, b.sym(Var("f", (3, 3)), FLOAT64), b.sym(Var("f", (3,)), FLOAT64), b.sym(Var("f", ()), WEAK_FLOAT), i)
    return [stmt.row.name if stmt.__class__ is Apply else stmt.__class__.__name__ for stmt in b.block]  # type: ignore[attr-defined]


row = OPERATORS


@pytest.mark.parametrize(
    ("build", "expected"),
    [
        (lambda b, x, v, s, i: [s * 1, 1.0 * v, v / 1, v - 0, i + 0, s**1, row["strong_multiply"](s, 1.0)], []),
        (lambda b, x, v, s, i: [s + 0.0, s * 0.0], ["add", "multiply"]),  # -0.0 and nan
        (lambda b, x, v, s, i: [row["strong_multiply"](s, 2.0), row["strong_multiply"](0.0, s)], ["multiply"]),
        (lambda b, x, v, s, i: [s * 2.0, s * 2.0], ["multiply"]),
        (lambda b, x, v, s, i: [s * 2, s * i], ["multiply", "cast", "multiply"]),
        (lambda b, x, v, s, i: row["reshape"](row["reshape"](x, shape=9), shape=(3, 3)), ["reshape"]),
        (lambda b, x, v, s, i: row["transpose"](row["transpose"](x)), ["transpose"]),
        (lambda b, x, v, s, i: row["sum"](x, axis=-1, keepdims=True), ["sum", "reshape"]),
        (lambda b, x, v, s, i: getitem(b, v, i), ["index"]),  # in bounds
        (lambda b, x, v, s, i: getitem(b, v, i - 2), "subtract less add where_select index".split()),
        (lambda b, x, v, s, i: getitem(b, v, i + 1), ["add", "less", "Check", "index"]),
        (lambda b, x, v, s, i: getitem(b, getitem(b, x, i), 1), ["index", "index"]),
        (lambda b, x, v, s, i: getitem(b, setitem(b, v, i, s), i), ["index_update", "index"]),
    ],
)  # fmt: skip
def test_forms(build: Callable[..., Any], expected: list[str]) -> None:
    assert rows_of(build) == expected


EXPRESSIONS = ["math.hypot({0}, {1})", "{0} if {0} > 0 else {alpha} * {1}", "polygamma(1.0, {0}) ** 2", "np.rint({1})"]
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
