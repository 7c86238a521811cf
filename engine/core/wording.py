"""Errors and notices of more than one part of the engine, in the words that they all use."""

from __future__ import annotations

from . import limits
from .errors import failure

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from ...parser.errors import AdiffError
    from .state import Site


def index_in(what: str, length: int, index: object) -> AdiffError:
    """An index of a list, a tuple or a string that is out of range."""
    return failure("E0405", f"index {index} is out of range for {what} of length {length}")


def has_no_attribute(what: str, name: str, known: Iterable[str]) -> AdiffError:
    """An attribute or a method that a value has not; the hint has those of the `known` that are spelt alike."""
    from ...parser.suggest import suggest

    close = " or ".join(f"'{other}'" for other in suggest(name, known)[:3])
    return failure("E0414", f"{what} has no attribute '{name}'", f"did you mean {close}?" if close else None)


def singular(message: str, site: Site | None = None) -> AdiffError:
    """A singular point where these are errors."""
    return failure("E0501", message, "drop --kinks error to take the documented choice", site=site)


def assertion_failed(message: str | None, site: Site | None = None) -> AdiffError:
    return failure("E0406", "assertion failed" + ("" if message is None else f": {message}"), site=site)


def calls_itself(name: str) -> AdiffError:
    """A call that is one too many inside others."""
    return failure("E0605", f"{name} calls itself more than {limits.MAX_CALL_DEPTH} deep", "does the recursion end?")


def elements_summed(shape: tuple[int, ...], apart: str | None = None, found: str = "the gradient") -> str:
    """Of a result that is no scalar: a tensor of that shape, or a dict, list or tuple that is no tensor."""
    result = f"has shape [{','.join(map(str, shape))}]" if apart is None else f"is a {apart} and no tensor"
    return f"the result {result}: its elements are summed for {found}"
