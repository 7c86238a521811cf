"""Sparse Hessians by kernels: one tells the pattern, another gives a product for each of its colours."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..autodiff.colouring import recovered, star_colouring
from ..autodiff.pairs import MOST_PAIRS
from ..autodiff.refining import refined
from ..autodiff.sparse import SparseHessian
from .compilation.own_loops import quickly
from .inputs import MODE
from .ir import Unsupported
from .readings import leave_infinite
from .running import called

if TYPE_CHECKING:
    from typing import Any

    from ..autodiff.symmetric import SymmetricPattern
    from .answers import Derivatives, Found
    from .built import Built
    from .construction.construct import Lowered
    from .running import Compiled

    Floats = np.ndarray[Any, np.dtype[np.float64]]

# Sets of inputs that a kernel follows together: two vectors of most machines.
LANES = 8


def sparse_hessian(derivatives: Derivatives) -> Found | None:
    """The value, and gradients and the Hessian; None where the tape is the sooner way."""
    if derivatives.spec.get(MODE):
        raise Unsupported("sparse Hessians in float32")
    sizes = [int(np.prod(derivatives.shape(name), dtype=np.int64)) for name in derivatives.sources]
    n = sum(sizes)
    if not n:
        raise Unsupported("a Hessian by no numbers")
    pattern = pattern_of(derivatives, sizes)
    if pattern is None:
        return None
    # What has been found out is not thrown away.
    derivatives.always = True
    colours = star_colouring(pattern)
    used = int(colours.max()) + 1 if pattern.rows.size else 0
    vector = (colours == 0).astype(np.float64)
    by_name = {
        name: part.reshape(derivatives.shape(name))
        for name, part in zip(derivatives.sources, np.split(vector, np.cumsum(sizes)[:-1]))
    }
    found = derivatives.hvp(by_name)
    assert found is not None
    value, (gradients, first), compiled = found
    products = np.empty((max(used, 1), n))
    products[0] = joined(first, sizes)
    for c in range(1, used):
        products[c] = product(derivatives, compiled, (colours == c).astype(np.float64), sizes)
    if not used:
        products = products[:0]
    hessian = SparseHessian(n, *recovered(pattern, colours, products), pattern.rows.size, used)
    return value, (gradients, hessian), compiled


def pattern_of(derivatives: Derivatives, sizes: list[int]) -> SymmetricPattern | None:
    """The entries that may differ from zero; None where the tape is the sooner way."""

    def make(lowered: Lowered) -> Built:
        from .construction.dependence import dependence

        return dependence(lowered, LANES)

    n, ends = sum(sizes), np.cumsum(sizes)[:-1]
    nobody = [np.zeros(size * LANES) for size in sizes]
    compiled = derivatives.prepared("sparse hessian", make, [*derivatives.given, *nobody])
    if compiled is None:
        return None

    def follow(seeds: Floats) -> Floats:
        given = [part.reshape(-1) for part in np.split(seeds, ends)]
        results = called(compiled, [*derivatives.given, *given])
        parts = [np.asarray(x).reshape(-1, LANES) for x in results]
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    pattern = refined(n, LANES, follow, MOST_PAIRS, quickly)
    if pattern is None:
        raise Unsupported("a Hessian that is not sparse")
    return pattern


def product(derivatives: Derivatives, compiled: Compiled, vector: Floats, sizes: list[int]) -> Floats:
    """The Hessian times a vector, where what there is to notice has been noticed."""
    parts = np.split(vector, np.cumsum(sizes)[:-1])
    given = [part if derivatives.shape(name) else float(part[0]) for name, part in zip(derivatives.sources, parts)]
    results = called(compiled, [*derivatives.given, *given])
    count = len(sizes)
    found = results[1 + count : 1 + 2 * count]
    for x in found:
        leave_infinite(x)
    return joined(found, sizes)


def joined(parts: Any, sizes: list[int]) -> Floats:
    """The parts of a product as one vector; zeros for a source that the value does not depend on."""
    return np.concatenate([np.zeros(size) if x is None else np.reshape(x, -1) for x, size in zip(parts, sizes)])


__all__ = ["sparse_hessian"]
