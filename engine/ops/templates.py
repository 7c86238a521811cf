"""What the `kernel` expression of an element-wise row may be: looked at when a row is added from outside."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..core.operation import Operation

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
    try:
        tree = ast.parse(str(row.kernel).format(*inputs, **statics).strip(), mode="eval")
    except (SyntaxError, ValueError, LookupError, AttributeError) as fault:
        raise ValueError(f"the kernel expression of {row.name} has a mistake, {fault}: {ALLOWED}") from None
    known = {*inputs, *statics.values()}
    called = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    modules = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    operators = (
        ast.Expression, ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.IfExp, ast.operator, ast.unaryop, ast.boolop,
        ast.cmpop, ast.Load,
    )  # fmt: skip
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant):
            fits = node.value.__class__ in (int, float, bool)
        elif isinstance(node, ast.Attribute):
            fits = ast.unparse(node) in MEMBERS
        elif isinstance(node, ast.Name) and id(node) in called:
            fits = node.id in BUILTINS or callable(helper(node.id))
        elif isinstance(node, ast.Name):
            fits = node.id in known or id(node) in modules
        elif isinstance(node, ast.Call):
            fits = not node.keywords
        else:
            fits = isinstance(node, operators) and not isinstance(
                node, ast.Is | ast.IsNot | ast.In | ast.NotIn | ast.MatMult
            )
        if not fits:
            wrong = ast.unparse(node) or type(node).__name__
            raise ValueError(f"the kernel expression of {row.name} has {wrong}: {ALLOWED}")
