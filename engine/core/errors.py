"""How the engine fails: an AdiffError whose span is the place that is being evaluated."""

from __future__ import annotations

from ...parser.errors import AdiffError
from ...parser.source import Span
from .state import STATE, Site

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

# What a scalar formula raises where the general way has the answer, or the error in the user's words.
ARITHMETIC_FAULTS = (ArithmeticError, ValueError, TypeError)


def span_of(site: Site) -> Span | None:
    """The source span of a site, if it has a place in a source."""
    return None if site.source is None else Span(site.source, site.start, site.end)


def failure(code: str, message: str, hint: str | None = None, site: Site | None = None) -> AdiffError:
    """An error at `site`, by default at the operation being evaluated."""
    return AdiffError(code, message, span_of(STATE.site if site is None else site), hint)


def plural(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def listing(names: Iterable[str]) -> str:
    """'a', 'a and b', 'a, b and c'."""
    items = list(names)
    return items[0] if len(items) == 1 else ", ".join(items[:-1]) + " and " + items[-1]
