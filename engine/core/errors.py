"""How the engine fails: an AdiffError whose span is the place that is being evaluated."""

from __future__ import annotations

from ...parser.errors import AdiffError
from .state import STATE, Site
from .state import span_of as span_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

# What a scalar formula raises where the general way has the answer, or the error in the user's words.
ARITHMETIC_FAULTS = (ArithmeticError, ValueError, TypeError)

# The exceptions of programs beside Exception: the name, the base, and the codes of the errors that it stands for. What an error
# is by itself is the first that has its code.
CATCHABLE: dict[str, list[str]] = {
    name: rest
    for name, *rest in map(
        str.split,
        """
        AssertionError Exception E0406
        ArithmeticError Exception
        ZeroDivisionError ArithmeticError E0402
        OverflowError ArithmeticError E0303 E0403
        LookupError Exception
        IndexError LookupError E0405
        KeyError LookupError E0411
        NameError Exception E0408
        UnboundLocalError NameError E0408
        TypeError Exception E0301 E0304 E0305 E0306
        AttributeError Exception E0414
        ValueError Exception E0302 E0401 E0301 E0303 E0304 E0404 E0407 E0503
        LinAlgError ValueError E0404
        ImportError Exception
        ModuleNotFoundError ImportError
        RuntimeError Exception E0504 E0505 E0501 E0502 E0506 E0507 E0508 E0509 E0510 E0511
        NotImplementedError RuntimeError E0502
        StopIteration Exception E0413
        OSError Exception
        OpError Exception
        InvalidArgumentError OpError E0301 E0302 E0401 E0402 E0404 E0405 E0406 E0407
        OutOfRangeError OpError E0410 E0405
        NotFoundError OpError
        FailedPreconditionError OpError
        UnimplementedError OpError E0502
        """.strip().split("\n"),
    )
}  # fmt: skip


def failure(
    code: str, message: str, hint: str | None = None, site: Site | None = None, exception: str | None = None
) -> AdiffError:
    """An error at `site`, by default at the operation being evaluated; `exception` is its class, if not the code's first."""
    error = AdiffError(code, message, span_of(STATE.site if site is None else site), hint)
    error.exception = exception
    return error


def plural(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def listing(names: Iterable[str]) -> str:
    """'a', 'a and b', 'a, b and c'."""
    items = list(names)
    return items[0] if len(items) == 1 else ", ".join(items[:-1]) + " and " + items[-1]
