"""What is known of a kernel's results beside its code, in plain types as the store keeps it, and the results of a call."""

from __future__ import annotations

from ..core.dtypes import STRONG, WEAK, DType
from ..core.state import Site
from ..core.tensor import Tensor
from ..plain import all_finite
from .ir import Loop, walk

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from ...parser.source import Source
    from .construct import Constructed
    from .kernels import Compiled


def facts_of(made: Constructed, emitted: Any) -> dict[str, Any]:
    """What is known of a kernel's results, in plain types."""
    return {
        "value": made.value, "derived": made.derived, "mask": made.mask, "mode": made.mode,
        "undecided": made.undecided,
        "conditional": any(stmt.__class__ is Loop and stmt.index is None for stmt in walk(made.kernel.body)),
        "shape": made.shape, "apart": made.apart, "text": emitted.text,
        "flags": [(flag.text, *place(flag.site)) for flag in made.kernel.flags],
    }  # fmt: skip


def place(site: Any) -> tuple[int, int]:
    return (0, 0) if site is None else (site.start, site.end)


class Found:
    """The results of a call."""

    __slots__ = ("compiled", "flags", "results")

    def __init__(self, compiled: Compiled, results: Sequence[Any], flags: Sequence[int]) -> None:
        self.compiled = compiled
        self.results = results
        self.flags = flags

    @property
    def value(self) -> Any:
        """The program's value: numbers, tensors, and structures of them."""
        return self.read(self.compiled.facts["value"])

    def read(self, layout: Any) -> Any:
        kind, *rest = layout
        if kind == "leaf":
            number, name, weak = rest
            found = self.results[number]
            if weak and not hasattr(found, "shape"):
                return found
            return Tensor(found, dtype_of(name, weak))
        if kind == "known":
            return rest[0]
        if kind == "dict":
            return {key: self.read(x) for key, x in rest}
        items = [self.read(x) for x in rest]
        return items if kind == "list" else tuple(items)

    def derived(self, number: int) -> Any:
        """A derivative: a number, an array, or None for zeros that no result holds. A derivative is never -0.0."""
        place = self.compiled.facts["derived"][number]
        if place is None:
            return None
        found = self.results[place]
        found += 0.0
        return found

    @property
    def is_finite(self) -> bool:
        """Whether no result is nan or infinite."""
        return all_finite(self.results)

    @property
    def is_decided(self) -> bool:
        """Whether it is known which sources reach the value: those that may do have a derivative that is not zero."""
        found = map(self.derived, self.compiled.facts["undecided"])
        return all(x.any() if hasattr(x, "any") else x for x in found)

    @property
    def mask(self) -> int:
        """Which sources reach the value: bit i is set for source i."""
        kind, x = self.compiled.facts["mask"]
        return int(self.results[x]) if kind == "result" else x

    @property
    def reached(self) -> list[bool]:
        """For each source whether the value depends on it."""
        mask = self.mask
        return [bool(mask >> i & 1) for i in range(len(self.compiled.request.names))]

    def by_source(self, reached: Sequence[bool], start: int = 0) -> dict[str, Any]:
        """Derivatives by source, from result `start` on; None for a source that the value does not depend on."""
        names = self.compiled.request.names
        return {name: self.derived(start + i) if reached[i] else None for i, name in enumerate(names)}

    def singular_points(self, source: Source) -> list[tuple[str, Site]]:
        """The text and place of each singular point at which a derivative was taken."""
        points = [self.compiled.facts["flags"][number] for number in self.flags]
        return [(text, Site(None, source, start, end)) for text, start, end in points]


def dtype_of(name: str, weak: bool) -> DType:
    return WEAK.get(STRONG[name], STRONG[name]) if weak else STRONG[name]
