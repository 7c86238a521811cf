"""Exceptions of the program: Python's and TensorFlow's names for adiff's errors, `raise`, and what `except` takes."""

from __future__ import annotations

from ...parser.errors import AdiffError
from ..core.errors import CATCHABLE, failure
from ..core.operands import describe
from .classes import Class, Instance, Property
from .functions import HANDLED, Derived
from .text import representation, text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def initialise(args: list[Any], keywords: dict[str, Any]) -> None:
    args[0].fields["args"] = tuple(args[1:])


def given_to(exception: Instance) -> tuple[Any, ...]:
    """What an exception was made with; a program may have assigned something else to `args`."""
    found = exception.fields.get("args", ())
    return found if found.__class__ is tuple else (found,)


def message_of(args: list[Any], keywords: dict[str, Any]) -> str:
    given = given_to(args[0])
    return text(given[0]) if len(given) == 1 else representation(given) if given else ""


def representation_of(args: list[Any], keywords: dict[str, Any]) -> str:
    return f"{args[0].cls.name}({', '.join(map(representation, given_to(args[0])))})"


EXCEPTION = Class(
    "Exception",
    (),
    {
        "__init__": Derived("Exception.__init__", initialise),
        "__str__": Derived("Exception.__str__", message_of),
        "__repr__": Derived("Exception.__repr__", representation_of),
        "message": Property(Derived("message", message_of), None),
    },
    frozenset(),
)


def exceptions() -> dict[str, Class]:
    found = {"Exception": EXCEPTION}
    for name, (base, *codes) in CATCHABLE.items():
        found[name] = Class(name, (found[base],), {}, frozenset(codes))
    return found


EXCEPTIONS = exceptions()


class Raised(AdiffError):
    """The error that a `raise` of the program makes."""

    def __init__(self, instance: Instance) -> None:
        words = message_of([instance], {}) if not instance.has("__str__") else instance.shown()
        name = instance.cls.name
        place = failure("E0412", f"{name}: {words}" if words else name)
        super().__init__("E0412", place.message, place.span)
        self.instance = instance

    def __reduce__(self) -> tuple[type[AdiffError], tuple[object, ...]]:
        return AdiffError, (self.code, self.message, self.span, self.advice)


def raise_value(value: Any) -> AdiffError:
    """The error that `raise value` raises."""
    if value.__class__ is Class and value.codes is not None:
        value = value.call([], {})
    if value.__class__ is not Instance or value.cls.codes is None:
        raise failure(
            "E0304", f"'raise' needs an exception, and got {describe(value)}",
            'write raise ValueError("..."); classes of your own derive from Exception',
        )  # fmt: skip
    if value.error is None:
        value.error = Raised(value)
    error: AdiffError = value.error
    return error


def handled(error: AdiffError) -> bool:
    return error.kind in HANDLED


def caught(error: AdiffError, kinds: Any) -> Instance | None:
    """The exception that an `except` for `kinds` takes; None where it is not for this error. No kinds are all."""
    own = error.instance.cls if error.__class__ is Raised else EXCEPTIONS.get(error.exception or "")
    for kind in kinds if kinds.__class__ is tuple else (EXCEPTION if kinds is None else kinds,):
        if kind.__class__ is not Class or kind.codes is None:
            raise failure("E0304", f"'except' needs the class of an exception, and got {describe(kind)}")
        if own is not None:
            found = own if own.derives_from(kind) else None
        else:
            # The classes of more errors stand before those that derive from them.
            fitting = (cls for cls in EXCEPTIONS.values() if error.code in (cls.codes or ()) and cls.derives_from(kind))
            found = next(fitting, EXCEPTION if kind is EXCEPTION else None)
            tensors = error.code in ("E0301", "E0302") or (error.code == "E0405" and " of length " not in error.message)
            span = error.span
            place = span.source.text[0 if tensors else span.start : None if tensors else span.end] if span else ""
            known = error.code in CATCHABLE["InvalidArgumentError"]
            if kind is EXCEPTION and known and "tf." in place:
                found = EXCEPTIONS["InvalidArgumentError"]  # NumPy says TypeError, ValueError and IndexError
        if found is not None:
            # What is kept of it must not hold the frames that it came through.
            error.__traceback__ = error.__context__ = None
            if error.__class__ is Raised:
                return error.instance
            made = Instance(found)
            made.fields["args"] = (error.message.removeprefix("assertion failed: "),)
            made.error = error
            return made
    return None
