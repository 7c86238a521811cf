"""Fills before all of an array is written anyway are left out, in a time that is linear in the kernel's length."""

from __future__ import annotations

from typing import Any

import pytest
from adiff.engine.kernels import ir
from adiff.engine.kernels.ir import FLOAT, INT, Array, Kernel, Loop, Var
from adiff.engine.kernels.passes import dead_fills
from adiff.engine.kernels.passes.statements import everything


def elements(array: Array, value: Any) -> Loop:
    """A loop that stores a value in each element of an array."""
    index = Var(INT, "i")
    return Loop(index, 0, 3, 1, None, None, [], [ir.Store(array, index, value)], None, {}, Var(INT, "t"), None)


@pytest.mark.parametrize("count", [1, 40])
def test_each_statement_is_looked_at_once(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    arrays = [Array(FLOAT, (3,)) for _ in range(count)]
    body: list[Any] = [ir.Alloc(array, True) for array in arrays]
    body += [elements(array, 0.0) for array in arrays] + [elements(array, 2.0) for array in arrays]
    looked_at: list[Any] = []
    touched = dead_fills.touched
    monkeypatch.setattr(dead_fills, "touched", lambda s: looked_at.append(s) or touched(s))
    found = dead_fills.without_fills(Kernel([], body, []))
    assert not any(s.zero for s in everything(found.body) if s.__class__ is ir.Alloc)
    assert [s.value for s in everything(found.body) if s.__class__ is ir.Store] == [2.0] * count
    assert len(looked_at) == len(body)
