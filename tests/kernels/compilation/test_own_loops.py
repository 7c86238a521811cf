"""Loops over patterns: machine code does what their text does in Python, and both find what is so by definition."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from adiff.engine.autodiff.colouring import greedy, recovered, star_colouring
from adiff.engine.autodiff.pattern_loops import as_it_stands
from adiff.engine.autodiff.symmetric import SymmetricPattern, entries_of_pairs
from adiff.engine.kernels.compilation import own_loops

DRAW = np.random.default_rng(7)
N = 90


def hub() -> np.ndarray[Any, Any]:
    full = np.eye(N, dtype=bool)
    full[60] = True
    return full


def grid() -> np.ndarray[Any, Any]:
    """The five-point star on 9 by 10 points."""
    i, j = np.divmod(np.arange(N), 10)
    return np.abs(i[:, None] - i) + np.abs(j[:, None] - j) <= 1


# Pattern, and the colours that theory says it takes in the end (None: nobody knows).
PATTERNS: dict[str, tuple[np.ndarray[Any, Any], int | None]] = {
    "random": (DRAW.random((N, N)) < 0.03, None),
    "dense": (np.ones((N, N), dtype=bool), N),  # more colours than a word has bits
    "hub": (hub(), 2),
    "grid": (grid(), 6),  # five follow each other in a cycle only where the width allows it
    "tridiagonal": (np.abs(np.subtract.outer(np.arange(N), np.arange(N))) <= 1, 3),
    "blocks": (np.arange(N)[:, None] // 5 == np.arange(N) // 5, 5),
    "no diagonal": (np.eye(N, k=3, dtype=bool), 3),
    "empty": (np.zeros((N, N), dtype=bool), 1),
}


@pytest.fixture(params=["Python", "machine code"])
def run(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Any:
    if request.param == "Python":
        return as_it_stands
    monkeypatch.setattr(own_loops, "MANY", 0)
    monkeypatch.setattr(own_loops, "FEW", 0)
    return own_loops.quickly


@pytest.mark.parametrize("name", PATTERNS)
def test_patterns_are_put_in_order_coloured_and_read_off(name: str, run: Any) -> None:
    full, wanted = PATTERNS[name]
    full = full | full.T
    rows, columns = np.nonzero(np.triu(full))
    # Pairs in any order, twice, some the other way round, some that are none.
    pairs = np.repeat(np.stack((rows, columns), axis=1) + 1, 2, axis=0)
    pairs = np.concatenate((pairs, np.array([[0, 5], [7, 0]])))
    DRAW.shuffle(pairs)
    p, q = (np.ascontiguousarray(part) for part in np.where(DRAW.random(len(pairs)) < 0.5, pairs.T, pairs.T[::-1]))
    found = entries_of_pairs([(p[:11], q[:11]), (p[11:], q[11:])], N, run)
    assert [part.tolist() for part in found] == [rows.tolist(), columns.tolist()]
    pattern = SymmetricPattern(N, *found, run)
    degrees = (full & ~np.eye(N, dtype=bool)).sum(axis=0)
    assert pattern.most == degrees.max()
    assert pattern.diagonal.tolist() == full.diagonal().tolist()
    assert pattern.entries == full.sum()
    assert np.diff(pattern.starts).tolist() == degrees.tolist()
    matrix = np.where(full, DRAW.normal(size=(N, N)), 0.0)
    matrix = np.triu(matrix) + np.triu(matrix, 1).T
    counts = []
    for colours in (star_colouring(pattern), greedy(pattern)):
        seeds = (colours == np.arange(colours.max() + 1)[:, None]).astype(float)
        indices, values = recovered(pattern, colours, seeds @ matrix)
        assert indices.tolist() == np.argwhere(full).tolist()
        assert np.array_equal(values, matrix[tuple(indices.T)])
        counts.append(len(seeds))
    if wanted is not None:
        assert counts[0] == wanted


def test_the_source_is_that_of_a_kernel() -> None:
    from adiff.engine.autodiff.pattern_loops import distances

    emitted = own_loops.emitted_source(distances, "iIIiII")
    assert emitted.text.startswith("def kernel(run, entries, rows, columns, most, met, found):")
    assert emitted.results == ["i"]
