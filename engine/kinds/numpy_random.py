"""`np.random`: its functions, and the generator of `default_rng`. They draw the numbers of NumPy's default generator."""

from __future__ import annotations

from ..core.dtypes import INT64, WEAK_FLOAT
from ..core.errors import failure
from ..core.operation import static
from ..core.tensor import OPERATORS, Tensor
from ..ops.creation import checked_shape
from ..ops.random import generator, seed_draws, unseeded

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
        found = self.source.integers(low, high, None if size is None else checked_shape(static(size)))
        return int(found) if size is None else Tensor(found, INT64)

    def method_rand(self, *shape: Any) -> Any:
        return self.method_random(shape or None)

    def method_randn(self, *shape: Any) -> Any:
        return self.method_standard_normal(shape or None)

    method_randint = method_integers


def common() -> Generator:
    return Generator(unseeded("np.random"))


FUNCTIONS: dict[str, Any] = {
    "numpy_random.seed": lambda seed: seed_draws(static(seed)),
    "numpy_random.default_rng": lambda seed=None: Generator(generator("np.random.default_rng", static(seed))),
    "numpy_random.RandomState": lambda seed=None: Generator(generator("np.random.RandomState", static(seed))),
    "numpy_random.rand": lambda *shape: common().method_rand(*shape),
    "numpy_random.randn": lambda *shape: common().method_randn(*shape),
    "numpy_random.random": lambda size=None: common().method_random(size),
    "numpy_random.random_sample": lambda size=None: common().method_random(size),
    "numpy_random.randint": lambda low, high=None, size=None, dtype=None: common().method_integers(low, high, size),
    "numpy_random.standard_normal": lambda size=None: common().method_standard_normal(size),
    "numpy_random.normal": lambda loc=0.0, scale=1.0, size=None: common().method_normal(loc, scale, size),
    "numpy_random.uniform": lambda low=0.0, high=1.0, size=None: common().method_uniform(low, high, size),
}
