"""Every row of the operation table that acts on whole columns by a rule of its own, because it says so: as on each row alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from adiff.engine.core.operation import Operation
from adiff.engine.eager.batching import BATCHING
from adiff.engine.ops.registry import ROWS
from one_by_one import same_as_rows
from row_programs import programs

# Rows that have none of the programs.
UNSPOKEN = {"index"}
BATCHED = [row for row in ROWS.values() if row.batch and not row.internal and row.name not in UNSPOKEN]


def columns_around(x: Any, seed: int, count: int) -> Any:
    """A column of values around one, which is the first of them; the second and third are alike."""
    x = np.asarray(x, dtype=float)
    column = x + np.random.default_rng(seed).uniform(-0.1, 0.1, (count, *x.shape))
    column[0], column[2] = x, column[1]
    return column


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("row", BATCHED, ids=lambda row: row.name)
def test_whole_columns(row: Operation, order: int) -> None:
    for program in programs(row):
        columns = {name: columns_around(x, seed, 5) for seed, (name, x) in enumerate(program.at.items())}
        found = same_as_rows(program.text, columns, order, tolerance=1e-10)
        assert set(found.one_by_one) <= {"svd_thin"}, (program.text, found.one_by_one)


@pytest.mark.parametrize("row", BATCHED, ids=lambda row: row.name)
def test_whole_columns_at_the_edges(row: Operation) -> None:
    """Zeros, equal elements, infinities and nan in some rows: they stay in those, with the errors and the notices of each."""
    for program in programs(row):
        columns = {name: columns_around(x, seed, 7) for seed, (name, x) in enumerate(program.at.items())}
        for name in program.wrt:
            column = columns[name].reshape(7, -1)
            column[3], column[4], column[5, 0], column[6, -1] = 0.0, 1.0, np.nan, np.inf
        same_as_rows(program.text, columns, 2, tolerance=1e-9)


def test_every_rule_is_somebodys() -> None:
    assert {row.batch for row in ROWS.values() if row.batch.__class__ is str} == set(BATCHING)
