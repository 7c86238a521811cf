"""Random numbers that are the same whenever a program runs: a draw has a seed, or follows from the one that is set."""

from __future__ import annotations

from ..core.dtypes import FLOAT64
from ..core.errors import failure
from ..core.following import path_ends
from ..core.operands import as_operand, plain
from ..core.state import STATE
from ..core.tensor import Tensor
from .creation import _made_dtype, checked_shape
from .operation import no_tangent, static
from .structure import as_dtype
from .support import FOR_LIBRARY, shape_of, whole_tensor

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


def _integers(shape: Any, low: int, high: int, seed: Any, dtype: Any) -> Any:
    return generator("random.uniform", seed).integers(low, high, checked_shape(shape), dtype=as_dtype(dtype).name)


standard_integers = _standard(
    "standard_integers", _integers, "Draws of integers from low, and below high.", "standard_integers((0,), 0, 5, 1, int64)",
    "| shape, low, high, seed, dtype",
)  # fmt: skip


FOR_LIBRARY["internal.permutation"] = lambda size, seed: whole_tensor(
    generator("random.shuffle", static(seed)).permutation(size)
)
