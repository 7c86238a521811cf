"""The rows as formulas: what `formula` says is the row's value, and derivatives are those of the tape."""

from __future__ import annotations

from typing import Any

import pytest
from adiff import AdiffError, program
from adiff.engine.core.operation import Operation
from adiff.engine.ops.registry import ROWS

WRITTEN = [row for row in ROWS.values() if row.formula]
DERIVED = [
    row for row in ROWS.values() if row.derivative == "partials" and not row.internal and isinstance(row.domain, list)
]
# Steps of these rows' rules are internal, and programs have no names for them; or the derivative by the order is not available.
NAMELESS = {
    "sinc", "erfcx", "dawsn", "gammainc", "gammaincc", "betainc", "zeta", "i0e", "i1e", "polygamma", "jv", "yv", "iv", "kv",
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
