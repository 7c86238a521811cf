"""Functions as values: those of the program, those of the language that are no rows, and methods taken off their values."""

from __future__ import annotations

from ...parser.errors import AdiffError
from ...parser.fields import Record
from ..core.errors import failure, plural, span_of
from ..core.operands import describe
from ..ops.operation import UNFIT, unfit
from .kind import INVOKE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any

    from ..core.state import Site
    from ..program.core import FunctionCode

# Families of errors that a program may handle: what goes wrong in its own computations, and no limit or fault of adiff's.
HANDLED = ("type", "evaluation", "derivative")
ATTRIBUTES: dict[str, Callable[[Any], Any]] = {"python_function": lambda f: f}


class Function:
    """A function of the program: what gives its compiled body (calls.py), and the frame it was defined in."""

    __slots__ = ("attributes", "body", "code", "defaults", "frame", "library")
    methods = "kinds/Function"

    def __init__(self, code: FunctionCode, body: Any, defaults: list[Any], frame: list[Any]) -> None:
        self.code = code
        self.body = body
        self.defaults = defaults
        self.frame = frame
        self.attributes: dict[str, Callable[[Any], Any]] = ATTRIBUTES  # and those that the program has set
        source = code.site.source
        self.library = source is not None and source.library

    @property
    def name(self) -> str:
        return self.code.name

    @property
    def description(self) -> str:
        return f"the function '{self.name}'"

    def set_attribute(self, name: str, value: Any) -> None:
        self.attributes = {**self.attributes, name: lambda f: value}


def without_name(keywords: dict[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """Keywords without TensorFlow's `name=...`, where no parameter has it."""
    return {key: x for key, x in keywords.items() if key != "name" or key in names}


def check_arguments(
    called: str, names: Sequence[str], most: int, more: bool, needed: Sequence[str], count: int, keywords: Iterable[str],
    own: int,
) -> None:  # fmt: skip
    """Refuse `count` arguments and keywords that do not fit parameters, of which `most` are taken by position, or `more`.

    The `own` first parameter, of a method, does not count in messages.
    """
    if count > most and not more:
        taken = "at most " if len(needed) < len(names) else ""
        by_position = " by position" if most < len(names) else ""
        given = f"{count - own} {'was' if count - own == 1 else 'were'} given"
        raise failure("E0305", f"{called} takes {taken}{plural(most - own, 'argument')}{by_position}, and {given}")
    placed = names[: min(count, most)]
    for key in keywords:
        if key not in names:
            hint = f"its parameters are {', '.join(names[own:])}" if names[own:] else "it has none"
            raise failure("E0305", f"{called} has no parameter '{key}'", hint)
        if key in placed:
            raise failure("E0305", f"{called} got '{key}' twice")
    for key in needed:
        if key not in placed and key not in keywords:
            raise failure("E0305", f"{called} needs an argument for '{key}'")


class Builtin:
    """A function of the language that is no row. `run` takes the program's values.

    Of a method, the `bound` first argument is its value and does not count in messages.
    """

    __slots__ = ("bound", "name", "run")
    description = "a function"

    def __init__(self, name: str, run: Callable[..., Any], bound: int = 0) -> None:
        self.name = name
        self.run = run
        self.bound = bound

    def call(self, args: Sequence[Any], keywords: dict[str, Any]) -> Any:
        code = self.run.__code__
        names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        if keywords and not code.co_flags & 0x08:
            keywords = without_name(keywords, names)
        try:
            return self.run(*args, **keywords)
        except UNFIT as fault:
            named = [key for key in keywords if key in names] if code.co_flags & 0x08 else keywords
            needed = names[: code.co_argcount - len(self.run.__defaults__ or ())]
            more = bool(code.co_flags & 0x04)
            check_arguments(self.name, names, code.co_argcount, more, needed, len(args), named, self.bound)
            raise unfit(self.name, [*args[self.bound :], *keywords.values()]) from fault


class Derived(Record):
    """A function made from a function: `grad(f)`. `run` takes the arguments as a list, and the keywords."""

    name: str
    run: Callable[[list[Any], dict[str, Any]], Any]
    description = "a function"

    def call(self, args: list[Any], keywords: dict[str, Any]) -> Any:
        return self.run(list(args), keywords)


def callable_of(f: Any, what: str) -> Any:
    if f.__class__ is not Function and not hasattr(f, "call"):
        hint = f"write {what}(f)(x), or {what}(lambda x: ...)(x)"
        raise failure("E0304", f"{what} needs a function, and got {describe(f)}", hint)
    return f


def invoke(f: Any, args: list[Any], keywords: dict[str, Any] | None) -> Any:
    """What a call of any value that can be called returns."""
    return INVOKE[0](f, args, keywords)


def in_library(site: Site) -> bool:
    return site.source is not None and site.source.library


def point_outside(error: AdiffError, site: Site) -> None:
    """Let an error inside the library point at the program's call of it, which is at `site`."""
    if error.span is not None and error.span.source.library and not (site.source is None or site.source.library):
        error.span = span_of(site)


class Method(Record):
    """A method taken off its value, with the value as its first argument: `f = t.gradient`."""

    function: Any
    first: Any
    description = "a method"
    methods = "kinds/Function"

    @property
    def name(self) -> str:
        return str(self.function.name)

    def call(self, args: list[Any], keywords: dict[str, Any]) -> Any:
        return invoke(self.function, [self.first, *args], keywords)

    def text(self, show: Callable[[Any], str]) -> str:
        return f"<method {self.name}>"
