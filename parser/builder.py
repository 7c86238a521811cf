"""What each rule of grammar.lark builds.

An alternative's alias in the grammar is the name of its function here. Each takes the values of the alternative's
symbols and the offsets that they span. A name or number is already a node, a string literal is a pair (text, offset),
any other token is its text.
"""

from __future__ import annotations

from . import syntax
from .checks import check_function, check_parameters, check_target, separated, whole
from .mistake import mistaken
from .syntax import Binary, Call, Keyword, Name, Starred, Unary

# `parse_inner` and `pieces` of parse.py, which the fields of f-strings need.
INNER: list[Any] = []

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .syntax import Comprehension, Expression, Node, Parameter

    # The values come from a table, so their types are known to the grammar only.
    Children = list[Any]
    Build = Callable[[Children, int, int], Any]

# ---------------------------------------------------------------------------------------------------- picking, listing


def node(kind: type[Node], *fields: Any) -> Build:
    """Builds nodes of a kind.

    A field is the place of a child, or None if there is none; in quotes that of a name, whose text it takes; in a list that
    of an only element; `list` for an empty list; or None.
    """

    def build(children: Children, start: int, end: int) -> Any:
        values: list[Any] = []
        for field in fields:
            if type(field) is int:
                values.append(whole(children[field]) if field < len(children) else None)
            elif type(field) is str:
                values.append(children[int(field)].id)
            elif type(field) is list:
                values.append([children[field[0]]])
            else:
                values.append(field and field())
        return kind(*values, start, end)

    return build


def targeting(place: int, build: Build, one_place: bool = False) -> Build:
    """Builds as `build` does where the child at a place may be assigned to."""

    def checked(children: Children, start: int, end: int) -> Any:
        check_target(whole(children[place]), one_place=one_place)
        return build(children, start, end)

    return checked


def take(place: int) -> Build:
    """Hands on one child."""
    return lambda children, start, end: children[place]


take_first, take_second, take_third = take(0), take(1), take(2)


def nothing(children: Children, start: int, end: int) -> None:
    return None


def empty(children: Children, start: int, end: int) -> list[Any]:
    return []


def two_tokens(children: Children, start: int, end: int) -> str:
    return f"{children[0]} {children[1]}"


def one(children: Children, start: int, end: int) -> list[Any]:
    return [children[0]]


def pair(children: Children, start: int, end: int) -> list[Any]:
    return [children[0], children[-1]]


def one_more(children: Children, start: int, end: int) -> list[Any]:
    items: list[Any] = children[0]
    items.append(children[-1])
    return items


def joined(children: Children, start: int, end: int) -> list[Any]:
    items: list[Any] = children[0]
    items.extend(children[1])
    return items


# ---------------------------------------------------------------------------------------------------- simple statements


module = node(syntax.Module, 0)


def replacement(children: Children, start: int, end: int) -> Expression:
    return whole(children[0])


expression_statement = node(syntax.ExprStmt, 0)


def assign(children: Children, start: int, end: int) -> syntax.Assign:
    *targets, value = children[0]
    for target in targets:
        check_target(whole(target))
    return syntax.Assign(targets, whole(value), start, end)


annotated = targeting(0, node(syntax.AnnAssign, 0, 2, 4), one_place=True)


def augmented_assign(children: Children, start: int, end: int) -> syntax.AugAssign:
    target, operator, value = children
    check_target(target, one_place=True)
    return syntax.AugAssign(target, operator[:-1], whole(value), start, end)


pass_ = node(syntax.Pass)
break_ = node(syntax.Break)
continue_ = node(syntax.Continue)
return_ = node(syntax.Return, 1)


def yield_(children: Children, start: int, end: int) -> syntax.Yield:
    return syntax.Yield(whole(children[-1]) if len(children) > 1 else None, len(children) > 2, start, end)


assert_ = node(syntax.Assert, 1, 3)
raise_ = node(syntax.Raise, 1)


def delete(children: Children, start: int, end: int) -> syntax.Delete:
    target = children[1]
    if type(target) is syntax.Tuple and target.elements and target.start == target.elements[0].start:
        targets = target.elements  # `del a, b` deletes two things, `del (a, b)` one.
    else:
        targets = [target]
    for target in targets:
        check_target(whole(target), verb="delete")
    return syntax.Delete(targets, start, end)


def declared(kind: type[Node]) -> Build:
    return lambda children, start, end: kind([name.id for name in children[1]], start, end)


global_, nonlocal_ = declared(syntax.Global), declared(syntax.Nonlocal)


def dotted(children: Children, start: int, end: int) -> Name:
    return Name(f"{children[0].id}.{children[2].id}", start, end)


alias = node(syntax.Alias, "0", None)
alias_as = node(syntax.Alias, "0", "2")
import_ = node(syntax.Import, 1)


def import_all(children: Children, start: int, end: int) -> syntax.ImportFrom:
    return syntax.ImportFrom(children[1].id, [syntax.Alias("*", None, end - 1, end)], start, end)


import_from = node(syntax.ImportFrom, "1", 3)
import_from_bracketed = node(syntax.ImportFrom, "1", 4)


# -------------------------------------------------------------------------------------------------- compound statements


if_ = node(syntax.If, 1, 3, 4)


def elif_(children: Children, start: int, end: int) -> list[syntax.If]:
    return [if_(children, start, end)]


while_ = node(syntax.While, 1, 3, 4)
for_ = targeting(1, node(syntax.For, 1, 3, 5, 6))
with_ = node(syntax.With, 1, -1)
with_bracketed = node(syntax.With, 2, -1)
with_item = node(syntax.WithItem, 0, None)
with_item_as = targeting(2, node(syntax.WithItem, 0, 2))


def try_(children: Children, start: int, end: int) -> syntax.Try:
    *_, body, handlers, orelse = children[:5]
    for item in handlers[:-1]:
        if item.kind is None:
            raise mistaken(item, "E0128", "an 'except' without a type is the last", "move it behind the others")
    return syntax.Try(body, handlers, orelse, children[5] if len(children) > 5 else [], start, end)


finally_only = node(syntax.Try, 2, list, list, 3)
handler_of_all = node(syntax.ExceptHandler, None, None, -1)
handler = node(syntax.ExceptHandler, 1, None, -1)


handler_as = node(syntax.ExceptHandler, 1, "3", -1)
class_ = node(syntax.ClassDef, "1", list, list, -1, list)


def class_based(children: Children, start: int, end: int) -> syntax.ClassDef:
    bases, keywords = separated(children[3])
    return syntax.ClassDef(children[1].id, bases, keywords, children[-1], [], start, end)


def decorated(children: Children, start: int, end: int) -> syntax.FunctionDef | syntax.ClassDef:
    definition: syntax.FunctionDef | syntax.ClassDef = children[1]
    definition.decorators = children[0]
    return definition


define = node(syntax.FunctionDef, "1", 3, -1, list)


def parameters(children: Children, start: int, end: int) -> list[Parameter]:
    check_parameters(children[0])
    return children[0]  # type: ignore[no-any-return]


parameter = node(syntax.Parameter, "0", None, None)
parameter_annotated = node(syntax.Parameter, "0", None, 2)
parameter_default = node(syntax.Parameter, "0", 2, None)
parameter_full = node(syntax.Parameter, "0", 4, 2)


def parameter_star(children: Children, start: int, end: int) -> Parameter:
    """`*rest`, `**named` and the bare `*`: the stars are the beginning of the name."""
    name = children[0] + (children[1].id if len(children) > 1 else "")
    return syntax.Parameter(name, None, children[3] if len(children) > 2 else None, start, end)


# ------------------------------------------------------------------------------------------------------------ operators


def binary(children: Children, start: int, end: int) -> Binary:
    left, operator, right = children
    return Binary(operator, left, right, start, end)


unary = node(Unary, 0, 1)


def chain(word: str) -> Build:
    return lambda children, start, end: syntax.BoolOp(word, children[0], start, end)


any_of, all_of = chain("or"), chain("and")
compared_first = node(syntax.Compare, 0, [1], [2])


def compared_following(children: Children, start: int, end: int) -> syntax.Compare:
    node: syntax.Compare = children[0]
    node.operators.append(children[1])
    node.comparators.append(children[2])
    node.end = end
    return node


conditional = node(syntax.IfExp, 2, 0, 4)
lambda_ = node(syntax.Lambda, 1, -1)


# ------------------------------------------------------------------------------------------- calls, indexes, attributes


attribute = node(syntax.Attribute, 0, "2")


def subscript(children: Children, start: int, end: int) -> syntax.Subscript:
    index: Expression = children[2]
    if type(index) is Starred:
        index = syntax.Tuple([index], index.start, index.end)
    return syntax.Subscript(children[0], index, start, end)


slice_ = node(syntax.Slice, 0, 2, 4)


def call(children: Children, start: int, end: int) -> Call:
    check_function(children[0], start, end)
    arguments = children[2] if len(children) > 3 else []
    keywords: list[Keyword] = []
    if any(type(argument) is Keyword for argument in arguments):
        arguments, keywords = separated(arguments)
    return Call(children[0], arguments, keywords, start, end)


def call_generator(children: Children, start: int, end: int) -> Call:
    check_function(children[0], start, end)
    argument = syntax.GeneratorExp(children[2], children[3], children[2].start, end - 1)
    return Call(children[0], [argument], [], start, end)


def keyword(children: Children, start: int, end: int) -> Keyword:
    name = children[0]
    if type(name) is not Name or name.start != start:
        raise mistaken(name, "E0116", "left of '=' in a call stands the name of an argument", "write '==' to compare")
    return Keyword(name.id, children[2], start, end)


mapping = node(Keyword, None, 1)


def entries_of(children: Children, start: int, end: int) -> list[Expression | None]:
    return [None, children[1]]


starred = node(Starred, 1)


# --------------------------------------------------------------------------------------------------- literals, displays


def string(children: Children, start: int, end: int) -> Expression:
    from .strings import string_literals

    return string_literals(children[0], start, end)


def constant(children: Children, start: int, end: int) -> syntax.Constant:
    return syntax.Constant(CONSTANTS[children[0]], start, end)


CONSTANTS = {"True": True, "False": False, "None": None, "...": ...}


tuple_nothing = node(syntax.Tuple, list)
tuple_one = node(syntax.Tuple, [0])
tuple_several = node(syntax.Tuple, 0)
tuple_bracketed_one = node(syntax.Tuple, [1])
tuple_bracketed = node(syntax.Tuple, 1)
generator = node(syntax.GeneratorExp, 1, 2)
list_nothing = node(syntax.List, list)
list_ = node(syntax.List, 1)
list_comprehension = node(syntax.ListComp, 1, 2)
dict_nothing = node(syntax.Dict, list, list)


def dict_(children: Children, start: int, end: int) -> syntax.Dict:
    entries = children[1]
    return syntax.Dict([entry[0] for entry in entries], [entry[1] for entry in entries], start, end)


dict_comprehension = node(syntax.DictComp, 1, 3, 4)
set_ = node(syntax.Set, 1)


def set_comprehension(children: Children, start: int, end: int) -> syntax.Set:
    """`{x for x in xs}` is `{*[x for x in xs]}`."""
    items = syntax.ListComp(children[1], children[2], start, end)
    return syntax.Set([syntax.Starred(items, start, end)], start, end)


clause = targeting(1, node(syntax.Comprehension, 1, 3, list))


def clause_if(children: Children, start: int, end: int) -> Comprehension:
    node: Comprehension = children[0]
    node.ifs.append(children[2])
    node.end = end
    return node
