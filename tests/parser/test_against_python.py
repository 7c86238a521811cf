"""adiff's tree against Python's own: the same structure, and the same place of every node."""

from __future__ import annotations

import ast
import os
import warnings
from typing import Any

import pytest
from adiff.parser import syntax
from adiff.parser.errors import AdiffError
from adiff.parser.parse import parse
from adiff.parser.source import Source
from hypothesis import given, settings
from hypothesis import strategies as st

pytestmark = pytest.mark.filterwarnings("ignore:Generating overly large repr")

OPERATORS = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.Pow: "**",
    ast.MatMult: "@",
    ast.BitAnd: "&",
    ast.BitOr: "|",
    ast.LShift: "<<",
    ast.RShift: ">>",
    ast.And: "and",
    ast.Or: "or",
    ast.UAdd: "+",
    ast.USub: "-",
    ast.Invert: "~",
    ast.Not: "not",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.In: "in",
    ast.NotIn: "not in",
    ast.Is: "is",
    ast.IsNot: "is not",
}


def ours(node: Any) -> Any:
    """A tree as nested tuples: (class, start, end, fields...)."""
    if isinstance(node, list):
        return [ours(item) for item in node]
    if not isinstance(node, syntax.Node):
        return (type(node).__name__, repr(node)) if isinstance(node, (int, float, complex)) else node
    fields = [ours(getattr(node, field)) for field in type(node).__slots__]
    # What Python gives no place, or in 3.11 a wrong one.
    placeless = (
        syntax.Module,
        syntax.Comprehension,
        syntax.Parameter,
        syntax.WithItem,
        syntax.FormattedValue,
        syntax.FormattedString,
        syntax.GeneratorExp,
        syntax.Keyword,
    )
    place = (0, 0) if isinstance(node, placeless) else (node.start, node.end)
    return (type(node).__name__, *place, *fields)


class Theirs:
    """Python's tree in the same form."""

    def __init__(self, text: str) -> None:
        self.starts = Source(text).line_starts()

    def __call__(self, node: Any) -> Any:
        if isinstance(node, list):
            return [self(item) for item in node]
        if not isinstance(node, ast.AST):
            return node
        return getattr(self, type(node).__name__)(node)

    def made(self, name: str, node: Any, *fields: Any) -> Any:
        start = self.starts[node.lineno - 1] + node.col_offset
        end = self.starts[node.end_lineno - 1] + node.end_col_offset
        return (name, start, end, *[self(field) for field in fields])

    def Module(self, node: ast.Module) -> Any:
        return ("Module", 0, 0, self(node.body))

    def Expr(self, node: ast.Expr) -> Any:
        return self.made("ExprStmt", node, node.value)

    def Constant(self, node: ast.Constant) -> Any:
        value: Any = node.value
        if isinstance(value, (str, bytes)):
            return self.made("String", node, value if isinstance(value, str) else value.decode("latin-1"))
        if isinstance(value, (int, float, complex)):
            shown = (type(value).__name__, repr(value))
            return (*self.made("Constant" if isinstance(value, bool) else "Number", node), shown)
        return self.made("Constant", node, value)

    def JoinedStr(self, node: ast.JoinedStr) -> Any:
        # Python 3.12.0 and 3.12.1 end a format after a nested field with a piece of no text.
        pieces = [part for part in node.values if not (isinstance(part, ast.Constant) and part.value == "")]
        parts = [part.value if isinstance(part, ast.Constant) else self(part) for part in pieces]
        return ("FormattedString", 0, 0, parts)

    def FormattedValue(self, node: ast.FormattedValue) -> Any:
        conversion = None if node.conversion < 0 else chr(node.conversion)
        # Python 3.11 does not know where in the literal the expression is.
        return ("FormattedValue", 0, 0, self(node.value), conversion, self(node.format_spec))

    def Name(self, node: ast.Name) -> Any:
        return self.made("Name", node, node.id)

    def UnaryOp(self, node: ast.UnaryOp) -> Any:
        return self.made("Unary", node, OPERATORS[type(node.op)], node.operand)

    def BinOp(self, node: ast.BinOp) -> Any:
        return self.made("Binary", node, OPERATORS[type(node.op)], node.left, node.right)

    def BoolOp(self, node: ast.BoolOp) -> Any:
        return self.made("BoolOp", node, OPERATORS[type(node.op)], node.values)

    def Compare(self, node: ast.Compare) -> Any:
        return self.made("Compare", node, node.left, [OPERATORS[type(op)] for op in node.ops], node.comparators)

    def IfExp(self, node: ast.IfExp) -> Any:
        return self.made("IfExp", node, node.test, node.body, node.orelse)

    def Call(self, node: ast.Call) -> Any:
        return self.made("Call", node, node.func, node.args, node.keywords)

    def keyword(self, node: ast.keyword) -> Any:
        return ("Keyword", 0, 0, node.arg, self(node.value))

    def Starred(self, node: ast.Starred) -> Any:
        return self.made("Starred", node, node.value)

    def Attribute(self, node: ast.Attribute) -> Any:
        return self.made("Attribute", node, node.value, node.attr)

    def Subscript(self, node: ast.Subscript) -> Any:
        return self.made("Subscript", node, node.value, node.slice)

    def Slice(self, node: ast.Slice) -> Any:
        return self.made("Slice", node, node.lower, node.upper, node.step)

    def List(self, node: ast.List) -> Any:
        return self.made("List", node, node.elts)

    def Tuple(self, node: ast.Tuple) -> Any:
        return self.made("Tuple", node, node.elts)

    def Set(self, node: ast.Set) -> Any:
        return self.made("Set", node, node.elts)

    def Dict(self, node: ast.Dict) -> Any:
        return self.made("Dict", node, node.keys, node.values)

    def ListComp(self, node: ast.ListComp) -> Any:
        return self.made("ListComp", node, node.elt, node.generators)

    def GeneratorExp(self, node: ast.GeneratorExp) -> Any:
        return ("GeneratorExp", 0, 0, self(node.elt), self(node.generators))

    def DictComp(self, node: ast.DictComp) -> Any:
        return self.made("DictComp", node, node.key, node.value, node.generators)

    def comprehension(self, node: ast.comprehension) -> Any:
        return ("Comprehension", 0, 0, self(node.target), self(node.iter), self(node.ifs))

    def parameters(self, node: ast.arguments) -> Any:
        defaults = [None] * (len(node.args) - len(node.defaults)) + [self(default) for default in node.defaults]
        return [
            ("Parameter", 0, 0, argument.arg, default, self(argument.annotation))
            for argument, default in zip(node.args, defaults, strict=True)
        ]

    def Lambda(self, node: ast.Lambda) -> Any:
        _, start, end = self.made("Lambda", node)
        return ("Lambda", start, end, self.parameters(node.args), self(node.body))

    def Assign(self, node: ast.Assign) -> Any:
        return self.made("Assign", node, node.targets, node.value)

    def AnnAssign(self, node: ast.AnnAssign) -> Any:
        return self.made("AnnAssign", node, node.target, node.annotation, node.value)

    def AugAssign(self, node: ast.AugAssign) -> Any:
        return self.made("AugAssign", node, node.target, OPERATORS[type(node.op)], node.value)

    def If(self, node: ast.If) -> Any:
        return self.made("If", node, node.test, node.body, node.orelse)

    def For(self, node: ast.For) -> Any:
        return self.made("For", node, node.target, node.iter, node.body, node.orelse)

    def While(self, node: ast.While) -> Any:
        return self.made("While", node, node.test, node.body, node.orelse)

    def Break(self, node: ast.Break) -> Any:
        return self.made("Break", node)

    def Continue(self, node: ast.Continue) -> Any:
        return self.made("Continue", node)

    def Pass(self, node: ast.Pass) -> Any:
        return self.made("Pass", node)

    def Return(self, node: ast.Return) -> Any:
        return self.made("Return", node, node.value)

    def FunctionDef(self, node: ast.FunctionDef) -> Any:
        _, start, end = self.made("FunctionDef", node)
        parameters = self.parameters(node.args)
        rest = [self(node.body), self(node.decorator_list), self(node.returns)]
        return ("FunctionDef", start, end, node.name, parameters, *rest)

    def With(self, node: ast.With) -> Any:
        return self.made("With", node, node.items, node.body)

    def withitem(self, node: ast.withitem) -> Any:
        return ("WithItem", 0, 0, self(node.context_expr), self(node.optional_vars))

    def Assert(self, node: ast.Assert) -> Any:
        return self.made("Assert", node, node.test, node.msg)

    def Delete(self, node: ast.Delete) -> Any:
        return self.made("Delete", node, node.targets)

    def Import(self, node: ast.Import) -> Any:
        return self.made("Import", node, node.names)

    def ImportFrom(self, node: ast.ImportFrom) -> Any:
        return self.made("ImportFrom", node, node.module, node.names)

    def alias(self, node: ast.alias) -> Any:
        return self.made("Alias", node, node.name, node.asname)

    def Global(self, node: ast.Global) -> Any:
        return self.made("Global", node, node.names)

    def Nonlocal(self, node: ast.Nonlocal) -> Any:
        return self.made("Nonlocal", node, node.names)


def theirs(text: str) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return Theirs(text)(ast.parse(text))


def test_accepted_programs_have_python_s_tree(accepted: str) -> None:
    if not accepted.isascii():
        pytest.skip("Python counts columns in bytes")
    # Python reads this as two items; to adiff's grammar it is a tuple, which no `with` takes either way.
    accepted = accepted.replace("with (a, b): pass\n", "")
    assert ours(parse(Source(accepted))) == theirs(accepted)


NAMES = st.sampled_from(["x", "y", "theta_1", "f", "lambda_", "iff"])
ATOMS = NAMES | st.sampled_from(
    ["1", "2.5", "1e-3", "0x1F", "3j", "True", "None", "...", "'a'", "'b' \"c\"", "()", "[]"]
)
INFIX = st.sampled_from([*OPERATORS.values()]).filter(lambda operator: operator not in ("~", "not"))


def expressions() -> st.SearchStrategy[str]:
    """Texts of expressions, without the brackets that would make the grouping plain; not all of them are valid."""

    def extend(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
        several = st.lists(inner, max_size=3).map(", ".join)
        target = NAMES | st.sampled_from(["a, b", "(a, b)", "[a, *b]", "a[0]"])
        parameters = st.sampled_from(["", " a", " a, b=1", " a=x, b=y"])
        return st.one_of(
            st.builds("{} {} {}".format, inner, INFIX, inner),
            st.builds("{}{}{}".format, inner, st.sampled_from(["+", "-", "*", "/", "**", "<"]), inner),
            st.builds("{}{}".format, st.sampled_from(["-", "+", "~", "not ", "- "]), inner),
            st.builds("({})".format, inner),
            st.builds("({},)".format, inner),
            st.builds("[{}]".format, several),
            st.builds("{{{}: {}}}".format, inner, inner),
            st.builds("{} if {} else {}".format, inner, inner, inner),
            st.builds("lambda{}: {}".format, parameters, inner),
            st.builds("{}({})".format, NAMES, several),
            st.builds("{}({}, *{}, key={})".format, NAMES, inner, inner, inner),
            st.builds("{}.{}".format, NAMES, NAMES),
            st.builds("{}[{}]".format, NAMES, several.filter(bool)),
            st.builds("{}[{}:{}, ::{}, ...]".format, NAMES, inner, inner, inner),
            st.builds("[{} for {} in {} if {}]".format, inner, target, inner, inner),
            st.builds("{}({} for {} in {})".format, NAMES, inner, target, inner),
            st.builds("{{{}: {} for {} in {}}}".format, inner, inner, target, inner),
            st.builds("f'{{{}!r:>{{{}}}}}'".format, NAMES, NAMES),
        )

    return st.recursive(ATOMS, extend, max_leaves=12)


EXPRESSIONS = expressions()


def statements() -> st.SearchStrategy[list[str]]:
    """Statements as lists of lines."""
    target = NAMES | st.sampled_from(["a, b", "(a, b)", "[a, *b]", "a[0]", "a.b", "a = b"])
    simple = st.one_of(
        EXPRESSIONS,
        st.builds("{} = {}".format, target, EXPRESSIONS),
        st.builds("{}: {} = {}".format, NAMES, NAMES, EXPRESSIONS),
        st.builds("{} {}= {}".format, NAMES, st.sampled_from([*OPERATORS.values()][:12]), EXPRESSIONS),
        st.builds("return {}".format, EXPRESSIONS),
        st.builds("assert {}, {}".format, EXPRESSIONS, EXPRESSIONS),
        st.sampled_from(["pass", "break", "continue", "del a, b", "import a.b as c, d", "from a import b as c", "x,"]),
    )
    line = st.builds("; ".join, st.lists(simple, min_size=1, max_size=2)).map(lambda text: [text])
    header = st.one_of(
        st.builds("if {}:".format, EXPRESSIONS),
        st.builds("while {}:".format, EXPRESSIONS),
        st.builds("for {} in {}:".format, st.sampled_from(["i", "a, b", "(a, b)", "a[0]"]), EXPRESSIONS),
        st.builds("def {}(a, b: float32 = {}):".format, NAMES, EXPRESSIONS),
        st.builds("with {} as {}, {}:".format, EXPRESSIONS, NAMES, EXPRESSIONS),
    )

    def extend(inner: st.SearchStrategy[list[str]]) -> st.SearchStrategy[list[str]]:
        margin = st.sampled_from(["    ", "\t", " "])
        block = st.builds(
            lambda lines, margin: ["# comment", *[margin + line for part in lines for line in part], ""],
            st.lists(inner, min_size=1, max_size=3),
            margin,
        )
        otherwise = st.builds(
            lambda test, first, second: [*([f"elif {test}:", *first] if test else []), "else:", *second],
            st.none() | EXPRESSIONS,
            block,
            block,
        )
        return st.one_of(
            st.builds(lambda head, body: [head, *body], header, block),
            st.builds(lambda head, body: [f"{head} {body[0]}"], header, line),
            st.builds(lambda test, body, rest: [f"if {test}:", *body, *rest], EXPRESSIONS, block, otherwise),
        )

    return st.recursive(line, extend, max_leaves=5)


def agree(text: str) -> None:
    try:
        expected = theirs(text)
    except SyntaxError:
        with pytest.raises(AdiffError):
            parse(Source(text))
    else:
        assert ours(parse(Source(text))) == expected


@settings(max_examples=400, deadline=None)
@given(EXPRESSIONS)
def test_expressions_group_as_in_python(text: str) -> None:
    agree(text)


@settings(max_examples=300 if os.environ.get("ADIFF_LONG_TESTS") else 120, deadline=None)
@given(st.lists(statements(), min_size=1, max_size=4))
def test_programs_have_python_s_tree(parts: list[list[str]]) -> None:
    agree("\n".join(line for part in parts for line in part) + "\n")


@settings(max_examples=300, deadline=None)
@given(st.from_regex(r"\A[0-9xXoObBeEjJ_.+-]{1,12}\Z"))
def test_numbers_are_read_as_in_python(text: str) -> None:
    agree(text)
