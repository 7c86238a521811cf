"""Generators as values: iterators that run a function with `yield`, a generator expression or a map for each item."""

from __future__ import annotations

from ...parser.errors import AdiffError
from ..core import limits
from ..core.errors import failure
from ..core.state import STATE
from ..core.wording import calls_itself
from .exceptions import raise_value
from .functions import in_library, point_outside

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


class Generator:
    """What a call of a function with `yield` gives: an iterator that runs the body up to the next `yield` for each item."""

    __slots__ = ("library", "name", "steps")
    description = "a generator"

    def __init__(self, name: str, steps: Any, library: bool = False) -> None:
        self.name = name
        self.steps = steps
        self.library = library

    def __iter__(self) -> Generator:
        return self

    def method_get_next(self) -> Any:
        """What TensorFlow's iterators of Datasets call `next`."""
        return next(self)

    def __next__(self) -> Any:
        return self.resume(next)

    def method_throw(self, exception: Any) -> Any:
        """Raise an exception at the `yield` where it stands; the next item."""
        try:
            return self.resume(lambda steps: steps.throw(raise_value(exception)))
        except StopIteration:
            raise failure("E0413", f"{self.name} has no more items") from None

    def resume(self, step: Callable[[Any], Any]) -> Any:
        if STATE.depth >= limits.MAX_CALL_DEPTH:
            raise calls_itself(self.name)
        site = STATE.site
        if self.library and not in_library(site):
            STATE.outside = site
        STATE.depth += 1
        try:
            return step(self.steps)
        except AdiffError as error:
            if self.library:
                point_outside(error, site)
            raise
        finally:
            STATE.depth -= 1
