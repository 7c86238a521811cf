"""adiff: exact derivatives of expressions and programs.

`program(text)`, or `load(path)`, gives a Program with `.inputs`, `.value(x=2.0)`, `.gradient(x=2.0)`, `.jacobian`, `.hessian`,
`.jvp`, `.vjp` and `.hvp`. Nothing is imported before the first use.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .engine.api import Notice as Notice
    from .engine.api import Outcome as Outcome
    from .engine.api import Program as Program
    from .engine.api import constant as constant
    from .engine.api import load as load
    from .engine.api import program as program
    from .engine.table import operations as operations
    from .parser.errors import AdiffError as AdiffError

__all__ = ["AdiffError", "Notice", "Outcome", "Program", "constant", "load", "operations", "program"]

_PLACES = {
    "AdiffError": ".parser.errors",
    "Notice": ".engine.api",
    "Outcome": ".engine.api",
    "Program": ".engine.api",
    "constant": ".engine.api",
    "load": ".engine.api",
    "operations": ".engine.table",
    "program": ".engine.api",
}


def __getattr__(name: str) -> object:
    if name == "__version__":
        from .engine.version import VERSION

        return VERSION
    place = _PLACES.get(name)
    if place is None:
        raise AttributeError(f"module 'adiff' has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(place, __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
