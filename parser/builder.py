"""What each rule of grammar.lark builds.

An alternative's alias in the grammar is the name of its function here. Each takes the values of the alternative's
symbols and the offsets that they span. A name or number is already a node, a string literal is a pair (text, offset),
any other token is its text.
"""

from __future__ import annotations

from . import syntax
from .checks import check_function, check_parameters, separated, whole
from .mistake import Mistake, mistaken
from .syntax import Binary, Call, Keyword, Name, Starred, Unary
from .targets import check_target

# `parse_inner` of parse.py, which the fields of f-strings need.
INNER: list[Callable[[str, int, int, int], Expression]] = []

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .syntax import Comprehension, Expression, Node, Parameter, Statement, WithItem
    from .syntax import ExceptHandler as Handler

    # The values come from a table, so their types are known to the grammar only.
    Children = list[Any]
    Build = Callable[[Children, int, int], Any]

# ---------------------------------------------------------------------------------------------------- picking, listing


def node(kind: type[Node], *fields: Any) -> Build:
    """Builds nodes of a kind. A field is the place of a child, `list` for an empty list, or None."""

    def build(children: Children, start: int, end: int) -> Any:
        values = [children[x] if type(x) is int else x and x() for x in fields]
        return kind(*values, start, end)

    return build


def take_first(children: Children, start: int, end: int) -> Any:
    return children[0]


def take_second(children: Children, start: int, end: int) -> Any:
    return children[1]


def take_third(children: Children, start: int, end: int) -> Any:
    return children[2]


def nothing(children: Children, start: int, end: int) -> None:
    return None


def token(children: Children, start: int, end: int) -> str:
    text: str = children[0]
    return text


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


def expression_statement(children: Children, start: int, end: int) -> syntax.ExprStmt:
    return syntax.ExprStmt(whole(children[0]), start, end)


def assign(children: Children, start: int, end: int) -> syntax.Assign:
    *targets, value = children[0]
    for target in targets:
        check_target(whole(target))
    return syntax.Assign(targets, whole(value), start, end)


def annotated(children: Children, start: int, end: int) -> syntax.AnnAssign:
    check_target(children[0], one_place=True)
    return syntax.AnnAssign(children[0], children[2], None, start, end)


def annotated_value(children: Children, start: int, end: int) -> syntax.AnnAssign:
    check_target(children[0], one_place=True)
    return syntax.AnnAssign(children[0], children[2], whole(children[4]), start, end)


def augmented_assign(children: Children, start: int, end: int) -> syntax.AugAssign:
    target, operator, value = children
    check_target(target, one_place=True)
    return syntax.AugAssign(target, operator[:-1], whole(value), start, end)


pass_ = node(syntax.Pass)
break_ = node(syntax.Break)
continue_ = node(syntax.Continue)
return_nothing = node(syntax.Return, None)


def return_value(children: Children, start: int, end: int) -> syntax.Return:
    return syntax.Return(whole(children[1]), start, end)


def yield_(children: Children, start: int, end: int) -> syntax.Yield:
    return syntax.Yield(whole(children[-1]) if len(children) > 1 else None, len(children) > 2, start, end)


def assert_(children: Children, start: int, end: int) -> syntax.Assert:
    return syntax.Assert(children[1], children[3] if len(children) > 2 else None, start, end)


def raise_(children: Children, start: int, end: int) -> syntax.Raise:
    return syntax.Raise(
        children[1] if len(children) > 1 else None, children[3] if len(children) > 2 else None, start, end
    )


def delete(children: Children, start: int, end: int) -> syntax.Delete:
    target = children[1]
    if type(target) is syntax.Tuple and target.elements and target.start == target.elements[0].start:
        targets = target.elements  # `del a, b` deletes two things, `del (a, b)` one.
    else:
        targets = [target]
    for target in targets:
        check_target(whole(target), verb="delete")
    return syntax.Delete(targets, start, end)


def global_(children: Children, start: int, end: int) -> syntax.Global:
    return syntax.Global([name.id for name in children[1]], start, end)


def nonlocal_(children: Children, start: int, end: int) -> syntax.Nonlocal:
    return syntax.Nonlocal([name.id for name in children[1]], start, end)


def dotted_first(children: Children, start: int, end: int) -> Name:
    return Name(children[0].id, start, end)


def dotted_following(children: Children, start: int, end: int) -> Name:
    return Name(f"{children[0].id}.{children[2].id}", start, end)


def alias(children: Children, start: int, end: int) -> syntax.Alias:
    return syntax.Alias(children[0].id, None, start, end)


def alias_as(children: Children, start: int, end: int) -> syntax.Alias:
    return syntax.Alias(children[0].id, children[2].id, start, end)


import_ = node(syntax.Import, 1)


def import_all(children: Children, start: int, end: int) -> syntax.ImportFrom:
    return syntax.ImportFrom(children[1].id, [syntax.Alias("*", None, end - 1, end)], start, end)


def import_from(children: Children, start: int, end: int) -> syntax.ImportFrom:
    return syntax.ImportFrom(children[1].id, children[3], start, end)


def import_from_bracketed(children: Children, start: int, end: int) -> syntax.ImportFrom:
    return syntax.ImportFrom(children[1].id, children[4], start, end)


# -------------------------------------------------------------------------------------------------- compound statements


def if_(children: Children, start: int, end: int) -> syntax.If:
    return syntax.If(children[1], children[3], _optional(children, 4), start, end)


def elif_(children: Children, start: int, end: int) -> list[syntax.If]:
    return [if_(children, start, end)]


def while_(children: Children, start: int, end: int) -> syntax.While:
    return syntax.While(children[1], children[3], _optional(children, 4), start, end)


def for_(children: Children, start: int, end: int) -> syntax.For:
    check_target(whole(children[1]))
    return syntax.For(children[1], whole(children[3]), children[5], _optional(children, 6), start, end)


def _optional(children: Children, position: int) -> list[Statement]:
    return children[position] if len(children) > position else []


with_ = node(syntax.With, 1, -1)
with_bracketed = node(syntax.With, 2, -1)
with_item = node(syntax.WithItem, 0, None)


def with_item_as(children: Children, start: int, end: int) -> WithItem:
    check_target(children[2])
    return syntax.WithItem(children[0], children[2], start, end)


def attempt(*fields: Any) -> Build:
    """Builds `try` statements, whose last handler alone may be without a type."""
    build = node(syntax.Try, *fields)

    def checked(children: Children, start: int, end: int) -> syntax.Try:
        found: syntax.Try = build(children, start, end)
        for item in found.handlers[:-1]:
            if item.kind is None:
                raise mistaken(item, "E0128", "an 'except' without a type is the last", "move it behind the others")
        return found

    return checked


try_ = attempt(2, 3, list, list)
try_else = attempt(2, 3, 4, list)
try_finally = attempt(2, 3, list, 4)
try_else_finally = attempt(2, 3, 4, 5)
finally_only = attempt(2, list, list, 3)


handler_of_all = node(syntax.ExceptHandler, None, None, -1)
handler = node(syntax.ExceptHandler, 1, None, -1)


def handler_as(children: Children, start: int, end: int) -> Handler:
    return syntax.ExceptHandler(children[1], children[3].id, children[-1], start, end)


def class_(children: Children, start: int, end: int) -> syntax.ClassDef:
    return syntax.ClassDef(children[1].id, [], [], children[-1], [], start, end)


def class_based(children: Children, start: int, end: int) -> syntax.ClassDef:
    bases, keywords = separated(children[3])
    return syntax.ClassDef(children[1].id, bases, keywords, children[-1], [], start, end)


def decorated(children: Children, start: int, end: int) -> syntax.FunctionDef | syntax.ClassDef:
    definition: syntax.FunctionDef | syntax.ClassDef = children[1]
    definition.decorators = children[0]
    return definition


def define(children: Children, start: int, end: int) -> syntax.FunctionDef:
    return _definition(children, [], None, start, end)


def define_returns(children: Children, start: int, end: int) -> syntax.FunctionDef:
    return _definition(children, [], children[5], start, end)


def define_parameters(children: Children, start: int, end: int) -> syntax.FunctionDef:
    return _definition(children, children[3], None, start, end)


def define_parameters_returns(children: Children, start: int, end: int) -> syntax.FunctionDef:
    return _definition(children, children[3], children[6], start, end)


def _definition(
    children: Children, parameters: list[Parameter], returns: Expression | None, start: int, end: int
) -> syntax.FunctionDef:
    check_parameters(parameters)
    return syntax.FunctionDef(children[1].id, parameters, children[-1], [], returns, start, end)


def parameter(children: Children, start: int, end: int) -> Parameter:
    return syntax.Parameter(children[0].id, None, None, start, end)


def parameter_annotated(children: Children, start: int, end: int) -> Parameter:
    return syntax.Parameter(children[0].id, None, children[2], start, end)


def parameter_default(children: Children, start: int, end: int) -> Parameter:
    return syntax.Parameter(children[0].id, children[2], None, start, end)


def parameter_full(children: Children, start: int, end: int) -> Parameter:
    return syntax.Parameter(children[0].id, children[4], children[2], start, end)


def parameter_star(children: Children, start: int, end: int) -> Parameter:
    """`*rest`, `**named` and the bare `*`: the stars are the beginning of the name."""
    name = children[0] + (children[1].id if len(children) > 1 else "")
    return syntax.Parameter(name, None, children[3] if len(children) > 2 else None, start, end)


def refused_parameter(children: Children, start: int, end: int) -> Parameter:
    raise Mistake(
        "E0135",
        "a bare '/' among parameters is not part of the language",
        start,
        end,
        "leave out the '/'; any parameter may be given by position or by name",
    )


# ------------------------------------------------------------------------------------------------------------ operators


def binary(children: Children, start: int, end: int) -> Binary:
    left, operator, right = children
    return Binary(operator, left, right, start, end)


unary = node(Unary, 0, 1)


def any_of(children: Children, start: int, end: int) -> syntax.BoolOp:
    return syntax.BoolOp("or", children[0], start, end)


def all_of(children: Children, start: int, end: int) -> syntax.BoolOp:
    return syntax.BoolOp("and", children[0], start, end)


def compared_first(children: Children, start: int, end: int) -> syntax.Compare:
    return syntax.Compare(children[0], [children[1]], [children[2]], start, end)


def compared_following(children: Children, start: int, end: int) -> syntax.Compare:
    node: syntax.Compare = children[0]
    node.operators.append(children[1])
    node.comparators.append(children[2])
    node.end = end
    return node


conditional = node(syntax.IfExp, 2, 0, 4)
lambda_nothing = node(syntax.Lambda, list, -1)


def lambda_(children: Children, start: int, end: int) -> syntax.Lambda:
    check_parameters(children[1])
    return syntax.Lambda(children[1], children[-1], start, end)


# ------------------------------------------------------------------------------------------- calls, indexes, attributes


def attribute(children: Children, start: int, end: int) -> syntax.Attribute:
    return syntax.Attribute(children[0], children[2].id, start, end)


def subscript(children: Children, start: int, end: int) -> syntax.Subscript:
    index: Expression = children[2]
    if type(index) is Starred:
        index = syntax.Tuple([index], index.start, index.end)
    return syntax.Subscript(children[0], index, start, end)


def slice_(children: Children, start: int, end: int) -> syntax.Slice:
    return syntax.Slice(children[0], children[2], children[4] if len(children) > 3 else None, start, end)


def call_nothing(children: Children, start: int, end: int) -> Call:
    check_function(children[0], start, end)
    return Call(children[0], [], [], start, end)


def call(children: Children, start: int, end: int) -> Call:
    check_function(children[0], start, end)
    arguments = children[2]
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


def tuple_one(children: Children, start: int, end: int) -> syntax.Tuple:
    return syntax.Tuple([children[0]], start, end)


tuple_several = node(syntax.Tuple, 0)


def tuple_bracketed_one(children: Children, start: int, end: int) -> syntax.Tuple:
    return syntax.Tuple([children[1]], start, end)


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


def clause(children: Children, start: int, end: int) -> Comprehension:
    check_target(whole(children[1]))
    return syntax.Comprehension(children[1], children[3], [], start, end)


def clause_if(children: Children, start: int, end: int) -> Comprehension:
    node: Comprehension = children[0]
    node.ifs.append(children[2])
    node.end = end
    return node
