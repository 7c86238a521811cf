"""What the grammar lets pass and the language does not: parameters, arguments, calls, and what may stand left of `=`, after
`for`, `as` and `del`."""

from __future__ import annotations

from . import syntax
from .mistake import Mistake, mistaken
from .syntax import Binary, Call, Keyword, List, Name, Starred, Tuple, Unary

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


PLACES = (Name, syntax.Attribute, syntax.Subscript)
IN_WORDS = (
    (Call, "a call"), (syntax.Number, "a number"), (syntax.String, "a string"), (syntax.Lambda, "a lambda"),
    ((Binary, Unary, syntax.Compare, syntax.BoolOp, syntax.IfExp), "an operation"),
)  # fmt: skip


def check_target(target: Expression, *, one_place: bool = False, verb: str = "assign to") -> None:
    """Raise Mistake unless the expression is a name, an item, an attribute, or a tuple or list of these."""
    if isinstance(target, PLACES):
        return
    if one_place and isinstance(target, (Tuple, List)):
        raise mistaken(target, "E0132", "this assignment takes a single name on its left", "write one for each name")
    pending = [target]
    while pending:
        item = pending.pop()
        if isinstance(item, (Tuple, List)):
            stars = [element for element in item.elements if isinstance(element, Starred)]
            if len(stars) > 1:
                raise mistaken(stars[1], "E0132", "two starred names in one assignment", "star one of them")
            pending.extend(reversed(item.elements))
        elif isinstance(item, Starred) and verb != "delete":
            pending.append(item.value)
        elif not isinstance(item, PLACES):
            raise _refusal(item, verb)


def _refusal(item: Expression, verb: str) -> Mistake:
    hint = None
    assigning = verb == "assign to"
    what = next((words for kind, words in IN_WORDS if isinstance(item, kind)), "this expression")
    if isinstance(item, syntax.Constant):
        what = "..." if item.value is ... else str(item.value)
    elif isinstance(item, Call) and assigning:
        hint = "to index write square brackets: x[i] = ..."
        if isinstance(item.function, Name) and all(isinstance(part, Name) for part in item.arguments):
            names = ", ".join(part.id for part in item.arguments if isinstance(part, Name))
            hint = f"to define a function write: def {item.function.id}({names}): return ..."
    if hint is None:
        hint = (
            "write the name on the left of '='; to compare write '=='" if assigning else "delete names and items only"
        )
    return mistaken(item, "E0132", f"cannot {verb} {what}", hint)
