"""adiff's tree against Python's own: the same structure, and the same place of every node."""

import ast
import os
import re
import warnings
from typing import Any

import pytest
from adiff.parser import syntax
from adiff.parser.errors import AdiffError
from adiff.parser.parse import parse
from adiff.parser.source import Source
from hypothesis import assume, given, settings
from hypothesis import strategies as st

pytestmark = pytest.mark.filterwarnings("ignore:Generating overly large repr")

OPERATORS = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%", ast.Pow: "**", ast.MatMult: "@",
    ast.BitAnd: "&", ast.BitOr: "|", ast.LShift: "<<", ast.RShift: ">>", ast.And: "and", ast.Or: "or", ast.UAdd: "+", ast.USub: "-",
    ast.Invert: "~", ast.Not: "not", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=",
    ast.In: "in", ast.NotIn: "not in", ast.Is: "is", ast.IsNot: "is not",
}  # fmt: skip
# Python's nodes: our name for each, and Python's names of our fields.
NODES = {
    "Module": "Module body", "Expr": "ExprStmt value", "Name": "Name id", "UnaryOp": "Unary op operand", "BinOp": "Binary op left right",
    "BoolOp": "BoolOp op values", "Compare": "Compare left ops comparators", "IfExp": "IfExp test body orelse",
    "Call": "Call func args keywords", "keyword": "Keyword arg value", "Starred": "Starred value", "Attribute": "Attribute value attr",
    "Subscript": "Subscript value slice", "Slice": "Slice lower upper step", "List": "List elts", "Tuple": "Tuple elts", "Set": "Set elts",
    "Dict": "Dict keys values", "ListComp": "ListComp elt generators", "GeneratorExp": "GeneratorExp elt generators",
    "DictComp": "DictComp key value generators", "comprehension": "Comprehension target iter ifs", "Lambda": "Lambda args body",
    "Assign": "Assign targets value", "AnnAssign": "AnnAssign target annotation value", "AugAssign": "AugAssign target op value",
    "If": "If test body orelse", "For": "For target iter body orelse", "While": "While test body orelse", "Break": "Break",
    "Continue": "Continue", "Pass": "Pass", "Return": "Return value", "With": "With items body",
    "FunctionDef": "FunctionDef name args body decorator_list", "withitem": "WithItem context_expr optional_vars",
    "Assert": "Assert test msg", "Delete": "Delete targets", "Import": "Import names", "ImportFrom": "ImportFrom module names",
    "alias": "Alias name asname", "Global": "Global names", "Nonlocal": "Nonlocal names",
}  # fmt: skip
# What Python gives no place, or in 3.11 a wrong one.
PLACELESS = set("Module Comprehension Parameter WithItem FormattedValue FormattedString GeneratorExp Keyword".split())


def ours(node: Any, placed: bool = True) -> Any:
    """A tree as nested tuples: (class, start, end, fields...). Of what is inside f-strings Python 3.11 knows no place."""
    if isinstance(node, list):
        return [ours(item, placed) for item in node]
    if not isinstance(node, syntax.Node):
        return (type(node).__name__, repr(node)) if isinstance(node, (int, float, complex)) else node
    name = type(node).__name__
    placed = placed and name != "FormattedString"
    place = (node.start, node.end) if placed and name not in PLACELESS else (0, 0)
    return (name, *place, *[ours(getattr(node, field), placed) for field in type(node).__slots__])


class Theirs:
    """Python's tree in the same form."""

    def __init__(self, text: str) -> None:
        self.starts = Source(text).line_starts()
        self.inside = 0  # f-strings

    def __call__(self, node: Any) -> Any:
        if isinstance(node, list):
            return [self(item) for item in node]
        if not isinstance(node, ast.AST):
            return node
        if type(node) in OPERATORS:
            return OPERATORS[type(node)]
        kind = type(node).__name__
        if kind not in NODES:
            return getattr(self, kind)(node)
        name, *fields = NODES[kind].split()
        return self.made(name, node, *[getattr(node, field) for field in fields])

    def made(self, name: str, node: Any, *fields: Any) -> Any:
        place = (0, 0)
        if name not in PLACELESS and not self.inside:
            start = self.starts[node.lineno - 1] + node.col_offset
            place = (start, self.starts[node.end_lineno - 1] + node.end_col_offset)
        return (name, *place, *[self(field) for field in fields])

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
        self.inside += 1
        parts = [part.value if isinstance(part, ast.Constant) else self(part) for part in pieces]
        self.inside -= 1
        return ("FormattedString", 0, 0, parts)

    def FormattedValue(self, node: ast.FormattedValue) -> Any:
        conversion = None if node.conversion < 0 else chr(node.conversion)
        return ("FormattedValue", 0, 0, self(node.value), conversion, self(node.format_spec))

    def arguments(self, node: ast.arguments) -> Any:
        defaults = [None] * (len(node.args) - len(node.defaults)) + [self(default) for default in node.defaults]
        return [
            ("Parameter", 0, 0, argument.arg, default, self(argument.annotation))
            for argument, default in zip(node.args, defaults, strict=True)
        ]


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
    assume(not re.search(r"[eE]\+?[\d_]{3}", text))  # what is too large for a double is an error
    agree(text)
