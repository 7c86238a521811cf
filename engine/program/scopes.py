"""Scopes: which variables a function has, and what statements assign."""

from __future__ import annotations

from ...parser import syntax as s

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


DEFINITIONS = (s.FunctionDef, s.ClassDef)
# The fields of statements that hold statements, in their order.
BLOCKS = ("body", "handlers", "orelse", "final")


def target_names(node: s.Expression) -> list[str]:
    """The variables that an assignment to `node` sets."""
    if node.__class__ is s.Name:
        return [node.id]
    if node.__class__ in (s.Tuple, s.List):
        return [name for item in node.elements for name in target_names(item)]
    if node.__class__ is s.Starred:
        return target_names(node.value)
    return []


def inside(statements: list[s.Statement]) -> Iterator[s.Node]:
    """Statements and those in their blocks, in order, not looking into functions."""
    pending: list[s.Node] = list(reversed(statements))
    while pending:
        node = pending.pop()
        yield node
        if node.__class__ not in DEFINITIONS:
            for block in reversed(BLOCKS):
                pending.extend(reversed(getattr(node, block, ())))


def assigned_names(statements: list[s.Statement]) -> list[str]:
    """The variables that statements assign, not looking into functions, in order of appearance."""
    names: dict[str, None] = {}
    for node in inside(statements):
        found: list[str] = []
        if isinstance(node, s.Assign):
            found = [name for target in node.targets for name in target_names(target)]
        elif isinstance(node, s.AnnAssign | s.AugAssign | s.For):
            found = target_names(node.target)
        elif isinstance(node, s.FunctionDef | s.ClassDef | s.ExceptHandler) and node.name is not None:
            found = [node.name]
        elif isinstance(node, s.With):
            found = [n for item in node.items if item.target is not None for n in target_names(item.target)]
        names.update(dict.fromkeys(found))
    return list(names)


def surely_assigned(statements: list[s.Statement]) -> dict[str, None]:
    """The variables that statements assign whenever they come to their end, in order."""
    names: dict[str, None] = {}
    for node in statements:
        if node.__class__ is s.If:
            orelse = surely_assigned(node.orelse)
            names.update({name: None for name in surely_assigned(node.body) if name in orelse})
        elif node.__class__ is s.With:
            targets = [name for item in node.items if item.target is not None for name in target_names(item.target)]
            names.update({**dict.fromkeys(targets), **surely_assigned(node.body)})
        elif node.__class__ not in (s.For, s.While, s.Try):
            names.update(dict.fromkeys(assigned_names([node])))
    return names


class Scope:
    """The variables of one function (or of the module), each with its slot in the frame.

    Those of a class's body are seen in it, and not by the functions in it.
    """

    __slots__ = (
        "caught", "globals", "loops", "nonlocals", "of_class", "parent", "shadows", "slot_names", "slots", "yields",
    )  # fmt: skip

    def __init__(self, parent: Scope | None, names: Iterable[str], of_class: bool = False) -> None:
        self.parent = parent
        self.of_class = of_class
        self.slots: dict[str, int] = {}
        self.slot_names: list[str] = ["", ""]
        self.globals: set[str] = set()
        self.nonlocals: set[str] = set()
        # Variables of the comprehensions that are being lowered; they shadow the others.
        self.shadows: list[dict[str, int]] = []
        # How many loops are around the statement that is being lowered, and the slots of the exceptions of handlers around it.
        self.loops = 0
        self.caught: list[int] = []
        # Whether a `yield` was seen.
        self.yields = False
        for name in names:
            self.declare(name)

    def declare(self, name: str) -> int:
        """The slot of a variable, new if need be."""
        if name not in self.slots:
            self.slots[name] = self.fresh(name)
        return self.slots[name]

    def fresh(self, name: str) -> int:
        """A slot of its own for a comprehension's variable."""
        self.slot_names.append(name)
        return len(self.slot_names) - 1
