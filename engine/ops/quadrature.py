"""Integrals of many integrands at once, by Gauss-Legendre panels, and functions applied to flat arrays in chunks.

Panels of 64 nodes reach the last digits because the integrands are analytic in a wide neighbourhood of each panel.
"""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np

Array = Any

NODES = 64
# Integrands are followed until they have fallen by exp(-DECAY).
DECAY = 50.0
CHUNK = 4096


@cache
def _legendre() -> tuple[Array, Array]:
    return np.polynomial.legendre.leggauss(NODES)


def by_panels(integrand: Any, end: Array, breaks: list[Array]) -> Array:
    """The integral of `integrand(u)` over [0, end] by panels that meet at the breaks; all are flat arrays."""
    nodes, weights = _legendre()
    points = [np.zeros_like(end), *(np.clip(b, 0.0, end) for b in breaks), end]
    total = np.zeros_like(end)
    for low, high in pairwise(points):
        half = 0.5 * (high - low)
        if not half.any():
            continue
        u = low[:, None] + half[:, None] * (1.0 + nodes)
        total += half * (integrand(u) @ weights)
    return total


def elementwise(function: Any, *inputs: Any) -> Array:
    """`function` on flat float64 arrays of equal size, in chunks that bound the memory for nodes."""
    arrays = np.broadcast_arrays(*[np.asarray(x, dtype=np.float64) for x in inputs])
    shape = arrays[0].shape
    flat = [a.ravel() for a in arrays]
    parts = [function(*(f[i : i + CHUNK] for f in flat)) for i in range(0, flat[0].size, CHUNK)]
    return (np.concatenate(parts) if parts else np.zeros(0)).reshape(shape)


def masked(function: Any, valid: Array, fill: Array, *inputs: Array) -> Array:
    """`function` where `valid`, `fill` elsewhere."""
    out = np.array(np.broadcast_to(fill, valid.shape), dtype=np.float64)
    if valid.any():
        out[valid] = function(*(x[valid] for x in inputs))
    return out


def decay_end(height: Any, slope: Any, start: Array) -> Array:
    """Where a convex `height` reaches DECAY, by Newton's method from a point beyond it."""
    u = start
    for _ in range(60):
        step = (height(u) - DECAY) / slope(u)
        step = np.where(np.isfinite(step), step, 0.0)
        u = u - step
        if (np.abs(step) <= 1e-3 * u).all():
            break
    return u
