"""What each rule of grammar.lark builds.

An alternative's alias in the grammar is the name of its function here. Each takes the values of the alternative's
symbols and the offsets that they span. A name or number is already a node, a string literal is a pair (text, offset),
any other token is its text.
"""

from __future__ import annotations

from . import syntax
from .mistake import Mistake
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

# ---------------------------------------------------------------------------------------------------- picking, listing


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


def module(children: Children, start: int, end: int) -> syntax.Module:
    return syntax.Module(children[0], start, end)


def whole(value: Expression) -> Expression:
    """A value that stands alone, where a starred one has nothing to be spread into."""
    if type(value) is Starred:
        raise Mistake(
            "E0137",
            "a starred expression has nothing to be spread into here",
            value.start,
            value.end,
            "write [*x] for a list of the elements",
        )
    return value


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


def pass_(children: Children, start: int, end: int) -> syntax.Pass:
    return syntax.Pass(start, end)


def break_(children: Children, start: int, end: int) -> syntax.Break:
    return syntax.Break(start, end)


def continue_(children: Children, start: int, end: int) -> syntax.Continue:
    return syntax.Continue(start, end)


def return_nothing(children: Children, start: int, end: int) -> syntax.Return:
    return syntax.Return(None, start, end)


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


def import_(children: Children, start: int, end: int) -> syntax.Import:
    return syntax.Import(children[1], start, end)


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


def with_(children: Children, start: int, end: int) -> syntax.With:
    return syntax.With(children[1], children[-1], start, end)


def with_bracketed(children: Children, start: int, end: int) -> syntax.With:
    return syntax.With(children[2], children[-1], start, end)


def with_item(children: Children, start: int, end: int) -> WithItem:
    return syntax.WithItem(children[0], None, start, end)


def with_item_as(children: Children, start: int, end: int) -> WithItem:
    check_target(children[2])
    return syntax.WithItem(children[0], children[2], start, end)


def try_(children: Children, start: int, end: int) -> syntax.Try:
    return _attempt(children[2], children[3], [], [], start, end)


def try_else(children: Children, start: int, end: int) -> syntax.Try:
    return _attempt(children[2], children[3], children[4], [], start, end)


def try_finally(children: Children, start: int, end: int) -> syntax.Try:
    return _attempt(children[2], children[3], [], children[4], start, end)


def try_else_finally(children: Children, start: int, end: int) -> syntax.Try:
    return _attempt(children[2], children[3], children[4], children[5], start, end)


def finally_only(children: Children, start: int, end: int) -> syntax.Try:
    return _attempt(children[2], [], [], children[3], start, end)


def _attempt(
    body: list[Statement],
    handlers: list[Handler],
    orelse: list[Statement],
    final: list[Statement],
    start: int,
    end: int,
) -> syntax.Try:
    for item in handlers[:-1]:
        if item.kind is None:
            raise Mistake(
                "E0128", "an 'except' without a type is the last", item.start, item.end, "move it behind the others"
            )
    return syntax.Try(body, handlers, orelse, final, start, end)


def handler_of_all(children: Children, start: int, end: int) -> Handler:
    return syntax.ExceptHandler(None, None, children[-1], start, end)


def handler(children: Children, start: int, end: int) -> Handler:
    return syntax.ExceptHandler(children[1], None, children[-1], start, end)


def handler_as(children: Children, start: int, end: int) -> Handler:
    return syntax.ExceptHandler(children[1], children[3].id, children[-1], start, end)


def class_(children: Children, start: int, end: int) -> syntax.ClassDef:
    return syntax.ClassDef(children[1].id, [], [], children[-1], [], start, end)


def class_based(children: Children, start: int, end: int) -> syntax.ClassDef:
    bases, keywords = _separated(children[3])
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
    _check_parameters(parameters)
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


def _check_parameters(parameters: list[Parameter]) -> None:
    names = set()
    defaults = False
    starred = False
    for position, item in enumerate(parameters):
        name = item.name.lstrip("*")
        if name in names:
            raise Mistake("E0134", f"parameter '{name}' appears twice", item.start, item.end, "rename one of them")
        names.add(name)
        if item.name[:2] == "**":
            if position + 1 < len(parameters):
                raise Mistake(
                    "E0134", f"'{item.name}' is the last parameter", item.start, item.end, "move it to the end"
                )
        elif item.name[:1] == "*":
            if starred:
                raise Mistake("E0134", "a '*' stands once among parameters", item.start, item.end, "delete one of them")
            if item.name == "*" and (position + 1 == len(parameters) or parameters[position + 1].name[:1] == "*"):
                raise Mistake("E0134", "no parameter follows this '*'", item.start, item.end, "delete it")
            starred = True
        elif item.default is not None:
            defaults = True
        elif defaults and not starred:
            raise Mistake(
                "E0134",
                f"parameter '{item.name}' has no default, but one before it has",
                item.start,
                item.end,
                f"move '{item.name}' before the parameters with defaults, or give it a default",
            )


# ------------------------------------------------------------------------------------------------------------ operators


def binary(children: Children, start: int, end: int) -> Binary:
    left, operator, right = children
    return Binary(operator, left, right, start, end)


def unary(children: Children, start: int, end: int) -> Unary:
    return Unary(children[0], children[1], start, end)


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


def conditional(children: Children, start: int, end: int) -> syntax.IfExp:
    return syntax.IfExp(children[2], children[0], children[4], start, end)


def lambda_nothing(children: Children, start: int, end: int) -> syntax.Lambda:
    return syntax.Lambda([], children[-1], start, end)


def lambda_(children: Children, start: int, end: int) -> syntax.Lambda:
    _check_parameters(children[1])
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
    _check_function(children[0], start, end)
    return Call(children[0], [], [], start, end)


def call(children: Children, start: int, end: int) -> Call:
    _check_function(children[0], start, end)
    arguments = children[2]
    keywords: list[Keyword] = []
    if any(type(argument) is Keyword for argument in arguments):
        arguments, keywords = _separated(arguments)
    return Call(children[0], arguments, keywords, start, end)


FUNCTIONS = (Name, Call, syntax.Attribute, syntax.Subscript, syntax.Lambda, syntax.IfExp)
FACTORS = (syntax.Number, Binary, Unary)


def _check_function(function: Expression, start: int, end: int) -> None:
    """Refuse `2(x + 1)` and `(a + b)(c + d)`, which Python's grammar would take for calls."""
    if type(function) in FUNCTIONS:
        return
    if type(function) in FACTORS:
        raise Mistake(
            "E0108",
            "multiplication is not implied by writing factors together",
            start,
            end,
            "write '*' between the two factors",
        )
    raise Mistake("E0108", "this is not a function, so it cannot be called", start, end, "call a function by its name")


def _separated(given: list[Any]) -> tuple[list[Expression], list[Keyword]]:
    arguments: list[Expression] = []
    keywords: list[Keyword] = []
    names = set()
    for item in given:
        if type(item) is Keyword:
            if item.name is not None and item.name in names:
                raise Mistake(
                    "E0133", f"argument '{item.name}' is given twice", item.start, item.end, "leave one of them out"
                )
            names.add(item.name)
            keywords.append(item)
        elif keywords and type(item) is not Starred:
            raise Mistake(
                "E0133",
                "an argument without a name follows one with a name",
                item.start,
                item.end,
                "move it before "
                + (f"'{keywords[0].name}='" if keywords[0].name else "'**'")
                + ", or give it its name",
            )
        else:
            arguments.append(item)
    return arguments, keywords


def call_generator(children: Children, start: int, end: int) -> Call:
    _check_function(children[0], start, end)
    argument = syntax.GeneratorExp(children[2], children[3], children[2].start, end - 1)
    return Call(children[0], [argument], [], start, end)


def keyword(children: Children, start: int, end: int) -> Keyword:
    name = children[0]
    if type(name) is not Name or name.start != start:
        raise Mistake(
            "E0116",
            "left of '=' in a call stands the name of an argument",
            name.start,
            name.end,
            "write '==' to compare",
        )
    return Keyword(name.id, children[2], start, end)


def mapping(children: Children, start: int, end: int) -> Keyword:
    return Keyword(None, children[1], start, end)


def entries_of(children: Children, start: int, end: int) -> list[Expression | None]:
    return [None, children[1]]


def starred(children: Children, start: int, end: int) -> Starred:
    return Starred(children[1], start, end)


# --------------------------------------------------------------------------------------------------- literals, displays


def string(children: Children, start: int, end: int) -> Expression:
    from .strings import string_literals

    return string_literals(children[0], start, end)


def constant(children: Children, start: int, end: int) -> syntax.Constant:
    return syntax.Constant(CONSTANTS[children[0]], start, end)


CONSTANTS = {"True": True, "False": False, "None": None, "...": ...}


def tuple_nothing(children: Children, start: int, end: int) -> syntax.Tuple:
    return syntax.Tuple([], start, end)


def tuple_one(children: Children, start: int, end: int) -> syntax.Tuple:
    return syntax.Tuple([children[0]], start, end)


def tuple_several(children: Children, start: int, end: int) -> syntax.Tuple:
    return syntax.Tuple(children[0], start, end)


def tuple_bracketed_one(children: Children, start: int, end: int) -> syntax.Tuple:
    return syntax.Tuple([children[1]], start, end)


def tuple_bracketed(children: Children, start: int, end: int) -> syntax.Tuple:
    return syntax.Tuple(children[1], start, end)


def generator(children: Children, start: int, end: int) -> syntax.GeneratorExp:
    return syntax.GeneratorExp(children[1], children[2], start, end)


def list_nothing(children: Children, start: int, end: int) -> syntax.List:
    return syntax.List([], start, end)


def list_(children: Children, start: int, end: int) -> syntax.List:
    return syntax.List(children[1], start, end)


def list_comprehension(children: Children, start: int, end: int) -> syntax.ListComp:
    return syntax.ListComp(children[1], children[2], start, end)


def dict_nothing(children: Children, start: int, end: int) -> syntax.Dict:
    return syntax.Dict([], [], start, end)


def dict_(children: Children, start: int, end: int) -> syntax.Dict:
    entries = children[1]
    return syntax.Dict([entry[0] for entry in entries], [entry[1] for entry in entries], start, end)


def dict_comprehension(children: Children, start: int, end: int) -> syntax.DictComp:
    return syntax.DictComp(children[1], children[3], children[4], start, end)


def set_(children: Children, start: int, end: int) -> syntax.Set:
    return syntax.Set(children[1], start, end)


def refused_set_comprehension(children: Children, start: int, end: int) -> Node:
    raise Mistake(
        "E0138",
        "a set comprehension is not part of the language",
        start,
        end,
        "write a list comprehension: [... for ...]",
    )


def clause(children: Children, start: int, end: int) -> Comprehension:
    check_target(whole(children[1]))
    return syntax.Comprehension(children[1], children[3], [], start, end)


def clause_if(children: Children, start: int, end: int) -> Comprehension:
    node: Comprehension = children[0]
    node.ifs.append(children[2])
    node.end = end
    return node
