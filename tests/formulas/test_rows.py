"""The rows as formulas: what `formula` says is the row's value, and derivatives are those of the tape."""

from typing import Any

import numpy as np
import pytest
from adiff import AdiffError, program
from adiff.engine.formulas.derivation import as_program
from adiff.engine.formulas.notations import NUMPY_TEXTS, numpy_function
from adiff.engine.ops.operation import REQUIRED, Operation
from adiff.engine.ops.registry import ROWS

WRITTEN = [row for row in ROWS.values() if row.formula]
DERIVED = [
    row for row in ROWS.values() if row.derivative == "partials" and not row.internal and isinstance(row.domain, list)
]
# Steps of these rows' rules are internal, and programs have no names for them; or the derivative by the order is not available.
NAMELESS = {
    "gammainc", "gammaincc", "betainc", "zeta", "polygamma", "jv", "yv", "iv", "kv",
}  # fmt: skip


def points(row: Operation) -> list[dict[str, float]]:
    """A few points of the row's domain, of whole orders where those are wanted."""
    names = [p.name for p in row.parameters if p.kind == "input"]
    shares = [[0.37, 0.61, 0.53], [0.83, 0.29, 0.71]]
    return [
        {name: low + share * (high - low) for name, share, (low, high) in zip(names, part, row.domain)}
        for part in shares
    ]


@pytest.mark.parametrize("row", WRITTEN, ids=[row.name for row in WRITTEN])
def test_a_formula_is_the_value_of_its_row(row: Operation) -> None:
    static = {p.name: p.default for p in row.parameters if p.kind == "static"}
    for at in points(row):
        expected: Any = row(*at.values(), **static)
        assert program(row.formula).value({**at, **static}) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("row", DERIVED, ids=[row.name for row in DERIVED])
def test_derivatives_are_those_of_the_tape(row: Operation) -> None:
    names = [p.name for p in row.parameters if p.kind == "input"]
    core = program(f"{row.name}({', '.join(names)})")
    try:
        found = [(d.wrt[0], d.text()) for d in core.derive()]
    except AdiffError:
        assert row.name in NAMELESS
        return
    assert row.name not in NAMELESS
    for at in points(row):
        _, gradient = core.value_and_gradient(at)
        for name, text in found:
            assert program(text).value(at) == pytest.approx(gradient[name] or 0.0, rel=1e-10, abs=1e-12), text


NUMPY = [
    row for row in ROWS.values()
    if not (row.internal or row.formula or row.symbol or row.name == "round")  # `round` is Python's
    and isinstance(row.domain, list) and row.derivative in ("partials", "zero", "none")
    and (row.name in NUMPY_TEXTS or any(map(numpy_function, (row.name, *row.aliases))))
]  # fmt: skip


@pytest.mark.parametrize("row", NUMPY, ids=[row.name for row in NUMPY])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_functions_of_numpy_give_what_the_row_gives(row: Operation) -> None:
    names = [p.name for p in row.parameters if p.kind == "input" and p.default is REQUIRED]
    core = program(f"{row.name}({', '.join(names)})")
    (found,) = core.derive(order=0)
    functions: dict[str, Any] = {}
    exec(as_program([found], "python"), functions)
    compared = 0
    for point in ((0.3, 0.7, 0.5), (-0.4, 0.7, 0.5), (2, 3, 0.5)):
        at = dict(zip(names, point))
        try:
            expected: Any = core.value(at)
        except AdiffError:  # bits of floats
            continue
        np.testing.assert_allclose(functions["value"](*at.values()), expected, rtol=1e-12, atol=1e-15)
        compared += 1
    assert compared


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("logical_xor(x, y)", "logical_xor(x, y)"),
        ("logical_and(x, y)", "logical_and(x, y)"),
        ("logical_or(x > 0, y)", "logical_or(x > 0, y)"),
        ("logical_and(x > 0, y < 2)", "x > 0 and y < 2"),
        ("x != y", "x != y"),
        ("isin(x, y)", "isin(x, y)"),
        ("allclose(x, y)", "allclose(x, y)"),
    ],
)
def test_conditions(text: str, plain: str) -> None:
    (found,) = program(text).derive(order=0)
    assert found.text() == plain
    for at in ({"x": 0.3, "y": 0.7}, {"x": 0.0, "y": 0.7}):
        assert program(plain).value(at) is program(text).value(at)
