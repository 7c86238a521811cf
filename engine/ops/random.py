"""Random numbers that are the same whenever a program runs: a draw has a seed, or follows from the one that is set."""

from __future__ import annotations

from ..core.dtypes import FLOAT64
from ..core.errors import failure
from ..core.following import path_ends
from ..core.operands import as_operand, plain
from ..core.operation import composite, no_tangent, static
from ..core.state import STATE
from ..core.tensor import Tensor
from .creation import _made_dtype, checked_shape
from .structure import as_dtype, index
from .support import floating, shape_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def generator(name: str, seed: Any) -> Any:
    """What draws from a seed."""
    if seed is None:
        return unseeded(name)
    import numpy as np

    parts = list(seed) if seed.__class__ in (list, tuple) else [seed]
    if not all(part.__class__ is int and part >= 0 for part in parts):
        raise failure("E0401", f"{name}: a seed is a whole number, 0 or more, or a list of such")
    return np.random.Generator(np.random.PCG64(parts))


def seed_draws(seed: Any) -> None:
    """From here on what is drawn without a seed of its own follows from this one."""
    if STATE.draws is None:
        raise not_repeatable("set_seed")
    import numpy as np

    # What tf. draws from, and NumPy's functions.
    parts = np.asarray(seed).reshape(-1)
    STATE.draws[:] = [
        generator("set_seed", seed),
        np.random.RandomState(parts % 2**32 if len(parts) > 1 else seed % 2**32),
    ]


def unseeded(name: str) -> Any:
    """The generator of what is drawn without a seed of its own."""
    if STATE.draws is None:
        raise not_repeatable(f"{name} without a seed")
    if not STATE.draws:
        seed_draws(0)
        STATE.notify("N0303", "no seed is set: random numbers are drawn from the seed 0, and are the same in every run")
    return STATE.draws[0]


def not_repeatable(what: str) -> Exception:
    return failure("E0305", f"{what} has no place where a part of the program is run twice", "write seed=1")


def drawn(kind: str, shape: Any, parameter: Any, seed: Any) -> Tensor:
    """Draws of a kind that depend on a parameter, of shape `shape` + that of the parameter; no derivative passes to it."""
    import numpy as np

    given = as_operand(parameter)
    path_ends((given,), f"random.{kind}")
    if (np.asarray(plain(given)) < 0).any():
        raise failure("E0401", f"random.{kind}: its parameter must not be negative")
    size = checked_shape(static(shape)) + shape_of(given)
    draw = getattr(generator(f"random.{kind}", static(seed)), {"gamma": "standard_gamma"}.get(kind, kind))
    return Tensor(np.asarray(draw(plain(given), size), dtype="float64"), FLOAT64)


def _draws(name: str, kind: str, shape: Any, seed: Any, dtype: Any) -> Any:
    return getattr(generator(name, seed), kind)(checked_shape(shape)).astype(as_dtype(dtype or "float64").name)


def _standard(
    name: str, draw: Any, doc: str, example: str, signature: str = "| shape, seed, dtype=None", library: str = ""
) -> Any:
    return no_tangent(
        name, signature, array=lambda np, **how: draw(**how), dtype=_made_dtype, internal=True, reason="a constant",
        library=library, doc=doc, example=(example, []),
    )  # fmt: skip


standard_normal = _standard(
    "standard_normal", lambda **how: _draws("random.normal", "standard_normal", **how), "Draws from the normal distribution.",
    "standard_normal((0,), 1)",
)  # fmt: skip
standard_uniform = _standard(
    "standard_uniform", lambda **how: _draws("random.uniform", "random", **how), "Draws from 0 to 1.",
    "standard_uniform((0,), 1)",
)  # fmt: skip


def _truncated(shape: Any, seed: Any, dtype: Any) -> Any:
    from scipy.special import ndtr, ndtri

    low = ndtr(-2.0)
    draws = generator("random.truncated_normal", seed).random(checked_shape(shape))
    return ndtri(low + (1 - 2 * low) * draws).astype(as_dtype(dtype or "float64").name)


standard_truncated_normal = _standard(
    "standard_truncated_normal", _truncated, "Draws from the normal distribution between -2 and 2.",
    "standard_truncated_normal((0,), 1)", library="scipy",
)  # fmt: skip


def _scaled(standard: Any) -> Any:
    """Draws of a mean and a standard deviation from those of a standard distribution."""

    def run(shape: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = None, seed: Any = None) -> Any:
        draws = standard(shape=static(shape), seed=static(seed), dtype=dtype)
        return floating(mean) + floating(stddev) * draws

    return run


random_truncated_normal = composite(
    "random.truncated_normal", "shape, mean=0.0, stddev=1.0 | dtype=None, seed=None", _scaled(standard_truncated_normal),
    doc="Draws from the normal distribution, those beyond two standard deviations drawn again.",
    example=("random.truncated_normal((0,), seed=1)", []),
)  # fmt: skip


random_normal = composite(
    "random.normal", "shape, mean=0.0, stddev=1.0 | dtype=None, seed=None", _scaled(standard_normal),
    doc="Draws from the normal distribution, the same for the same seed; mean and stddev carry their derivatives.",
    example=("random.normal((0,), seed=1)", []),
)  # fmt: skip


def _integers(shape: Any, low: int, high: int, seed: Any, dtype: Any) -> Any:
    return generator("random.uniform", seed).integers(low, high, checked_shape(shape), dtype=as_dtype(dtype).name)


standard_integers = _standard(
    "standard_integers", _integers, "Draws of integers from low, and below high.", "standard_integers((0,), 0, 5, 1, int64)",
    "| shape, low, high, seed, dtype",
)  # fmt: skip


def _uniform(shape: Any, minval: Any = 0.0, maxval: Any = None, dtype: Any = None, seed: Any = None) -> Any:
    if dtype is not None and as_dtype(dtype).kind == "i":
        if maxval is None:
            raise failure("E0305", "random.uniform of integers needs maxval", "uniform([3], 0, 10, dtype=int32)")
        low, high = int(static(minval)), int(static(maxval))
        return standard_integers(shape=static(shape), low=low, high=high, seed=static(seed), dtype=dtype)
    draws = standard_uniform(shape=static(shape), seed=static(seed), dtype=dtype)
    low = floating(minval)
    return low + (floating(1.0 if maxval is None else maxval) - low) * draws


random_uniform = composite(
    "random.uniform", "shape, minval=0.0, maxval=None | dtype=None, seed=None", _uniform,
    doc="Draws from minval to maxval, by default 1, the same for the same seed; both carry their derivatives.",
    example=("random.uniform((0,), seed=1)", []),
)  # fmt: skip


def _shuffle(value: Any, seed: Any = None) -> Any:
    shape = shape_of(value) if hasattr(value, "shape") else (len(value),)
    order = generator("random.shuffle", static(seed)).permutation(shape[0] if shape else 0)
    return index(value, index=order)


random_shuffle = composite(
    "random.shuffle", "value | seed=None", _shuffle, doc="The rows of a tensor in an order that the seed decides.",
    example=("random.shuffle([7], seed=1)", [7]),
)  # fmt: skip
