"""Values of the running program that are neither numbers nor tensors nor Python's containers."""

from __future__ import annotations

from ..core.errors import failure, plural
from ..core.operation import UNFIT, unfit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from ...parser.errors import AdiffError
    from ..program.core import FunctionCode

UNSET: Any = type("Unset", (), {"__repr__": lambda self: "UNSET"})()


NO_ATTRIBUTES: dict[str, Callable[[Any], Any]] = {}


class Function:
    """A function of the program: its compiled body with the frame it was defined in."""

    __slots__ = ("attributes", "body", "code", "defaults", "expression", "frame", "library")
    description = "a function"

    def __init__(self, code: FunctionCode, body: Any, expression: Any, defaults: list[Any], frame: list[Any]) -> None:
        self.code = code
        self.body = body
        self.expression = expression  # the returned expression, where that is the whole body
        self.defaults = defaults
        self.frame = frame
        self.attributes: dict[str, Callable[[Any], Any]] = NO_ATTRIBUTES  # those that the program has set
        source = code.site.source
        self.library = source is not None and source.library

    @property
    def name(self) -> str:
        return self.code.name

    def set_attribute(self, name: str, value: Any) -> None:
        self.attributes = {**self.attributes, name: lambda f: value}


class Builtin:
    """A function of the language that is no row. `run` takes the program's values."""

    __slots__ = ("least", "most", "name", "run")
    description = "a function"

    def __init__(self, name: str, run: Callable[..., Any]) -> None:
        self.name = name
        self.run = run
        code = run.__code__
        # How many positional arguments it takes; None when it takes any number.
        self.most = None if code.co_flags & 0x04 else code.co_argcount
        self.least = code.co_argcount - len(run.__defaults__ or ())

    def call(self, args: Sequence[Any], keywords: dict[str, Any], bound: int = 0) -> Any:
        """Call it; of a method, the `bound` first argument is its value and does not count in messages."""
        if not keywords and self.least <= len(args) and (self.most is None or len(args) <= self.most):
            try:
                return self.run(*args)
            except UNFIT as fault:
                raise unfit(self.name, args[bound:]) from fault
        code = self.run.__code__
        if self.most is not None and len(args) > self.most:
            most, given = self.most - bound, len(args) - bound
            raise failure("E0305", f"{self.name} takes at most {plural(most, 'argument')}, and {given} were given")
        names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        positional = code.co_varnames[: code.co_argcount]
        if not code.co_flags & 0x08:
            for key in list(keywords):
                if key not in names:
                    if key == "name":
                        del keywords[key]
                        continue
                    raise failure("E0305", f"{self.name} has no parameter '{key}'")
        for key in names[: len(args)]:
            if key in keywords and key in positional:
                raise failure("E0305", f"{self.name} got '{key}' twice")
        for key in names[len(args) : self.least]:
            if key not in keywords:
                raise failure("E0305", f"{self.name} needs '{key}'")
        try:
            return self.run(*args, **keywords)
        except UNFIT as fault:
            raise unfit(self.name, [*args[bound:], *keywords.values()]) from fault


class Bound:
    """A method taken off its value without being called: `f = t.gradient`."""

    __slots__ = ("name", "value")
    description = "a method"

    def __init__(self, value: Any, name: str) -> None:
        self.value = value
        self.name = name


class Context:
    """What `with` can enter. The default does nothing (`tf.device`, `tf.name_scope`)."""

    __slots__ = ()
    description = "a context"

    def enter(self) -> Any:
        return None

    def leave(self) -> None:
        return None

    def ends(self, error: AdiffError) -> bool:
        """Leave because of an error of the block; whether it ends here."""
        self.leave()
        return False
