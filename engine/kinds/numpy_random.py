"""`np.random`: its functions, and the generators of `default_rng` and `RandomState`. They draw the numbers of NumPy's."""

from __future__ import annotations

from ..core.dtypes import INT64, NUMPY, WEAK_FLOAT
from ..core.errors import failure
from ..core.operands import plain, tensor
from ..core.operation import static
from ..core.state import STATE
from ..core.tensor import OPERATORS, Tensor
from ..ops.creation import checked_shape
from ..ops.random import generator, seed_draws, unseeded
from .access import get_item

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Generator:
    """What `np.random.default_rng(seed)` gives: it draws on from where it stands."""

    __slots__ = ("source",)
    description = "a random generator"

    def __init__(self, source: Any) -> None:
        self.source = source

    def drawn(self, kind: str, size: Any) -> Any:
        found = getattr(self.source, kind)(None if size is None else checked_shape(static(size)))
        return found if found.__class__ is float else Tensor(found, WEAK_FLOAT)

    def method_standard_normal(self, size: Any = None) -> Any:
        return self.drawn("standard_normal", size)

    def method_random(self, size: Any = None) -> Any:
        return self.drawn("random", size)

    def method_normal(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        return OPERATORS.add(OPERATORS.multiply(self.drawn("standard_normal", size), scale), loc)

    def method_uniform(self, low: Any = 0.0, high: Any = 1.0, size: Any = None) -> Any:
        width = OPERATORS.subtract(high, low)
        return OPERATORS.add(OPERATORS.multiply(self.drawn("random", size), width), low)

    def method_integers(self, low: Any, high: Any = None, size: Any = None) -> Any:
        low, high = (0, low) if high is None else (low, high)
        low, high = static(low), static(high)
        if low >= high:
            raise failure("E0305", f"the integers from {low} up to {high}, without it, are none", "low < high draws")
        draw = getattr(self.source, "integers", None) or self.source.randint
        found = draw(low, high, None if size is None else checked_shape(static(size)))
        return int(found) if size is None else Tensor(found, NUMPY[INT64])

    def method_choice(self, a: Any, size: Any = None, replace: Any = True, p: Any = None) -> Any:
        a = static(a) if a.__class__ is int else tensor(a)
        n = a if a.__class__ is int else a.shape[0]
        if n < 1:
            raise failure("E0305", "choice from nothing")
        try:
            shares = None if p is None else plain(tensor(p)).astype("float64")
            found = self.source.choice(
                n, None if size is None else checked_shape(static(size)), bool(static(replace)), shares
            )
        except ValueError as fault:
            raise failure("E0401", f"choice: {fault}") from None
        places = int(found) if size is None else Tensor(found, NUMPY[INT64])
        return places if a.__class__ is int else get_item(a, places)

    def method_permutation(self, x: Any) -> Any:
        if x.__class__ is int:
            return Tensor(self.source.permutation(x), NUMPY[INT64])
        x = tensor(x)
        return get_item(x, Tensor(self.source.permutation(x.shape[0]), INT64))

    def method_shuffle(self, x: Any) -> None:
        if x.__class__ is not list:
            raise failure(
                "E0304", "shuffle changes a list in its place", "write x = np.random.permutation(x) of a tensor"
            )
        x[:] = [x[i] for i in self.source.permutation(len(x))]

    def method_rand(self, *shape: Any) -> Any:
        return self.method_random(shape or None)

    def method_randn(self, *shape: Any) -> Any:
        return self.method_standard_normal(shape or None)

    method_randint = method_integers


def common() -> Generator:
    unseeded("np.random")
    return Generator(STATE.draws[1])  # type: ignore[index]


def legacy(seed: Any) -> Any:
    """NumPy's generator of `np.random.seed`."""
    import numpy as np

    try:
        return np.random.RandomState(static(seed))
    except (ValueError, TypeError):
        raise failure("E0401", "np.random: a seed is a whole number from 0 to 2**32 - 1, or a list of such") from None


FUNCTIONS: dict[str, Any] = {
    "numpy_random.seed": lambda seed: seed_draws(static(seed)),
    "numpy_random.default_rng": lambda seed=None: Generator(generator("np.random.default_rng", static(seed))),
    "numpy_random.RandomState": lambda seed=None: Generator(legacy(0 if seed is None else seed)),
    "numpy_random.rand": lambda *shape: common().method_rand(*shape),
    "numpy_random.randn": lambda *shape: common().method_randn(*shape),
    "numpy_random.random": lambda size=None: common().method_random(size),
    "numpy_random.random_sample": lambda size=None: common().method_random(size),
    "numpy_random.randint": lambda low, high=None, size=None, dtype=None: common().method_integers(low, high, size),
    "numpy_random.choice": lambda *args, **named: common().method_choice(*args, **named),
    "numpy_random.permutation": lambda x: common().method_permutation(x),
    "numpy_random.shuffle": lambda x: common().method_shuffle(x),
    "numpy_random.standard_normal": lambda size=None: common().method_standard_normal(size),
    "numpy_random.normal": lambda loc=0.0, scale=1.0, size=None: common().method_normal(loc, scale, size),
    "numpy_random.uniform": lambda low=0.0, high=1.0, size=None: common().method_uniform(low, high, size),
}
