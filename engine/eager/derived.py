"""Functions made from functions, such as `grad(f)`, and calls of functions."""

from __future__ import annotations

from ..core.errors import failure
from ..core.operands import describe
from .values import Builtin, Function

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


class Derived:
    """A function made from a function: `grad(f)`."""

    __slots__ = ("name", "run")
    description = "a function"

    def __init__(self, name: str, run: Callable[[list[Any], dict[str, Any]], Any]) -> None:
        self.name = name
        self.run = run

    def call(self, args: list[Any], keywords: dict[str, Any]) -> Any:
        return self.run(list(args), keywords)


def callable_of(f: Any, what: str, hint: str | None = None) -> Any:
    if not (f.__class__ in (Function, Builtin, Derived) or hasattr(f, "call")):
        raise failure(
            "E0304",
            f"{what} needs a function, and got {describe(f)}",
            hint or f"write {what}(f)(x), or {what}(lambda x: ...)(x)",
        )
    return f


def invoke(f: Any, args: list[Any], keywords: dict[str, Any]) -> Any:
    from .calls import invoke as call

    return call(f, args, keywords)
