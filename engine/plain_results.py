"""Results as an evaluation hands them over: notices in order, and arrays of their own."""

from __future__ import annotations

from .outcome import Notice

# What is noticed while derivatives are found, in an order that depends on how they are.
BY_PLACE = "N05"

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any


def in_order(notices: list[Notice]) -> list[Notice]:
    """Notices by their place in the program, whichever came first; those without a place, and where a nan began, come
    after them."""

    def place(notice: Notice) -> tuple[int, int, str]:
        if notice.code[:3] != BY_PLACE or notice.span is None:
            return 1, 0, ""
        return 0, notice.span.start, notice.code

    return sorted(notices, key=place)


def handed(options: Mapping[str, Any]) -> Iterator[Any]:
    """What an evaluation is given beside its inputs: tangents, cotangents, vectors."""
    for name in ("tangent", "vector"):
        if hasattr(options.get(name), "values"):
            yield from options[name].values()
    yield options.get("cotangent")


def apart(found: Any, arrays: list[Any]) -> Any:
    """A result whose arrays share no memory with others."""
    cls = found.__class__
    if cls is dict:
        return {name: apart(x, arrays) for name, x in found.items()}
    if cls in (list, tuple):
        return cls([apart(x, arrays) for x in found])
    if getattr(found, "ndim", 0) and hasattr(found, "dtype"):
        import numpy as np

        if found.__class__ is np.ndarray and any(np.may_share_memory(found, x) for x in arrays):
            return found.copy()
    return found
