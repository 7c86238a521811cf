"""What the grammar lets pass and the language does not: parameters, arguments and calls."""

from __future__ import annotations

from . import syntax
from .mistake import Mistake, mistaken
from .syntax import Binary, Call, Keyword, Name, Starred, Unary

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .syntax import Expression, Parameter


def whole(value: Expression) -> Expression:
    """A value that stands alone, where a starred one has nothing to be spread into."""
    if type(value) is Starred:
        message = "a starred expression has nothing to be spread into here"
        raise mistaken(value, "E0137", message, "write [*x] for a list of the elements")
    return value


def check_parameters(parameters: list[Parameter]) -> None:
    names = set()
    defaults = False
    starred = False
    for position, item in enumerate(parameters):
        name = item.name.lstrip("*")
        if name in names:
            raise mistaken(item, "E0134", f"parameter '{name}' appears twice", "rename one of them")
        names.add(name)
        if item.name[:2] == "**":
            if position + 1 < len(parameters):
                raise mistaken(item, "E0134", f"'{item.name}' is the last parameter", "move it to the end")
        elif item.name[:1] == "*":
            if starred:
                raise mistaken(item, "E0134", "a '*' stands once among parameters", "delete one of them")
            if item.name == "*" and (position + 1 == len(parameters) or parameters[position + 1].name[:1] == "*"):
                raise mistaken(item, "E0134", "no parameter follows this '*'", "delete it")
            starred = True
        elif item.default is not None:
            defaults = True
        elif defaults and not starred:
            message = f"parameter '{item.name}' has no default, but one before it has"
            hint = f"move '{item.name}' before the parameters with defaults, or give it a default"
            raise mistaken(item, "E0134", message, hint)


FUNCTIONS = (Name, Call, syntax.Attribute, syntax.Subscript, syntax.Lambda, syntax.IfExp)
FACTORS = (syntax.Number, Binary, Unary)


def check_function(function: Expression, start: int, end: int) -> None:
    """Refuse `2(x + 1)` and `(a + b)(c + d)`, which Python's grammar would take for calls."""
    if type(function) in FUNCTIONS:
        return
    if type(function) in FACTORS:
        message = "multiplication is not implied by writing factors together"
        raise Mistake("E0108", message, start, end, "write '*' between the two factors")
    raise Mistake("E0108", "this is not a function, so it cannot be called", start, end, "call a function by its name")


def separated(given: list[Any]) -> tuple[list[Expression], list[Keyword]]:
    arguments: list[Expression] = []
    keywords: list[Keyword] = []
    names = set()
    for item in given:
        if type(item) is Keyword:
            if item.name is not None and item.name in names:
                raise mistaken(item, "E0133", f"argument '{item.name}' is given twice", "leave one of them out")
            names.add(item.name)
            keywords.append(item)
        elif keywords and type(item) is not Starred:
            first = f"'{keywords[0].name}='" if keywords[0].name else "'**'"
            hint = f"move it before {first}, or give it its name"
            raise mistaken(item, "E0133", "an argument without a name follows one with a name", hint)
        else:
            arguments.append(item)
    return arguments, keywords
