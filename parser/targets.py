"""What may stand left of `=`, after `for`, `as` and `del`."""

from __future__ import annotations

from . import syntax
from .mistake import Mistake, mistaken
from .syntax import Attribute, Call, Constant, Lambda, List, Name, Number, Starred, String, Subscript, Tuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .syntax import Expression

PLACES = (Name, Attribute, Subscript)
OPERATIONS = (syntax.Binary, syntax.Unary, syntax.Compare, syntax.BoolOp, syntax.IfExp)


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
    if isinstance(item, Call):
        what = "a call"
        if assigning and isinstance(item.function, Name) and all(isinstance(part, Name) for part in item.arguments):
            names = ", ".join(part.id for part in item.arguments if isinstance(part, Name))
            hint = f"to define a function write: def {item.function.id}({names}): return ..."
        elif assigning:
            hint = "to index write square brackets: x[i] = ..."
    elif isinstance(item, Constant):
        what = "..." if item.value is ... else str(item.value)
    elif isinstance(item, (Number, String)):
        what = "a number" if isinstance(item, Number) else "a string"
    elif isinstance(item, OPERATIONS):
        what = "an operation"
    elif isinstance(item, Lambda):
        what = "a lambda"
    else:
        what = "this expression"
    if hint is None:
        hint = (
            "write the name on the left of '='; to compare write '=='" if assigning else "delete names and items only"
        )
    return mistaken(item, "E0132", f"cannot {verb} {what}", hint)
