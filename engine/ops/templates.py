"""What the `kernel` expression of an element-wise row may be: looked at when a row is added from outside."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .operation import Operation

MATH = """exp exp2 log log2 log10 sin cos sqrt pow fabs copysign tan asin acos atan sinh cosh tanh asinh acosh atanh expm1 log1p erf
    erfc lgamma gamma cbrt atan2 hypot fmod floor ceil trunc pi e inf nan tau"""
NUMPY = "floor ceil trunc rint fmod cbrt"
MEMBERS = {f"math.{name}" for name in MATH.split()} | {f"np.{name}" for name in NUMPY.split()}
BUILTINS = frozenset("abs min max int float bool".split())
ALLOWED = (
    "it may have numbers, {0}, {1}, ... for the inputs and {name} for a static parameter, Python's operators on numbers, "
    "`a if c else b`, functions of math (math.exp) and np.floor, ceil, trunc, rint, fmod and cbrt, abs, min, max, and the functions of "
    "engine/ops/special_*.py"
)


def check_template(row: Operation) -> None:
    """Raise ValueError for a `kernel` expression that kernels could not be compiled with."""
    import ast

    from .kernel_functions import helper

    inputs = [f"input_{p.name}" for p in row.parameters if p.kind == "input"]
    statics = {p.name: f"static_{p.name}" for p in row.parameters if p.kind == "static"}
    known = {*inputs, *statics.values()}
    operators = (
        ast.Expression, ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.IfExp, ast.operator, ast.unaryop, ast.boolop,
        ast.cmpop, ast.Load,
    )  # fmt: skip

    def fits(node: ast.AST) -> bool:
        if isinstance(node, ast.Call) and not node.keywords:
            function = ast.unparse(node.func)
            callee = function in BUILTINS | MEMBERS or (function.isidentifier() and callable(helper(function)))
            return callee and all(map(fits, node.args))
        if isinstance(node, ast.Constant):
            return node.value.__class__ in (int, float, bool)
        if isinstance(node, ast.Name | ast.Attribute):
            return ast.unparse(node) in known | MEMBERS
        refused = isinstance(node, ast.Is | ast.IsNot | ast.In | ast.NotIn | ast.MatMult)
        return isinstance(node, operators) and not refused and all(map(fits, ast.iter_child_nodes(node)))

    try:
        tree = ast.parse(str(row.kernel).format(*inputs, **statics).strip(), mode="eval")
    except (SyntaxError, ValueError, LookupError, AttributeError) as fault:
        raise ValueError(f"the kernel expression of {row.name} has a mistake, {fault}: {ALLOWED}") from None
    if not fits(tree):
        raise ValueError(f"the kernel expression of {row.name} has what it may not have: {ALLOWED}")
