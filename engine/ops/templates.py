"""What the `kernel` expression of an element-wise row may be: looked at when a row is added from outside."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    import ast

    from ..core.operation import Operation

MATH = frozenset(
    """exp exp2 log log2 log10 sin cos sqrt pow fabs copysign tan asin acos atan sinh cosh tanh asinh acosh atanh expm1 log1p erf
    erfc lgamma gamma cbrt atan2 hypot fmod floor ceil trunc pi e inf nan tau""".split()
)
NUMPY = frozenset("floor ceil trunc rint fmod cbrt".split())
BUILTINS = frozenset("abs min max int float bool".split())
ALLOWED = (
    "it may have numbers, {0}, {1}, ... for the inputs and {name} for a static parameter, Python's operators on numbers, "
    "`a if c else b`, functions of math (math.exp) and np.floor, ceil, trunc, rint, fmod and cbrt, abs, min, max, and the functions of "
    "engine/ops/special_*.py"
)


def check_template(row: Operation) -> None:
    """Raise ValueError for a `kernel` expression that kernels could not be compiled with."""
    import ast
    from string import Formatter

    template = row.kernel
    if template.__class__ is not str:
        return
    inputs = sum(p.kind == "input" for p in row.parameters)
    names = {str(i): f"input_{i}" for i in range(inputs)}
    names.update((p.name, f"static_{p.name}") for p in row.parameters if p.kind == "static")
    text = ""
    try:
        for literal, field, spec, conversion in Formatter().parse(template):
            text += literal
            if field is not None:
                if field not in names or spec or conversion:
                    raise refused(row, f"{{{field}}}, which is neither the number of an input nor a static parameter")
                text += names[field]
        tree = ast.parse(text.strip(), mode="eval")
    except (SyntaxError, ValueError) as fault:
        if getattr(fault, "row", None) is row:
            raise
        raise refused(row, f"a mistake: {fault}") from None
    known = frozenset(names.values())
    called = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    modules = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    for node in ast.walk(tree):
        wrong = of_node(node, known, id(node) in called, id(node) in modules)
        if wrong:
            raise refused(row, wrong)


def of_node(node: ast.AST, known: frozenset[str], called: bool, module: bool) -> str:
    """What is wrong with a part of an expression, or nothing."""
    import ast

    if isinstance(node, ast.Constant):
        return "" if node.value.__class__ in (int, float, bool) else f"{node.value!r}, which is no number"
    if isinstance(node, ast.Attribute):
        owner = node.value.id if isinstance(node.value, ast.Name) else ""
        allowed = {"math": MATH, "np": NUMPY}.get(owner, frozenset())
        return "" if node.attr in allowed else f"{ast.unparse(node)}, which kernels do not have"
    if isinstance(node, ast.Name):
        if node.id in known or module:
            return "" if not called else f"a call of {node.id}"
        return "" if called and is_helper(node.id) else f"the name {node.id}"
    if isinstance(node, ast.Call):
        return "a call with keywords" if node.keywords else ""
    if isinstance(node, (ast.Is, ast.IsNot, ast.In, ast.NotIn, ast.MatMult)):
        return "an operator that numbers do not have"
    ordinary = (
        ast.Expression, ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.IfExp, ast.operator, ast.unaryop, ast.boolop,
        ast.cmpop, ast.Load,
    )  # fmt: skip
    return "" if isinstance(node, ordinary) else f"{ast.unparse(node)}, which is no expression of numbers"


def is_helper(name: str) -> bool:
    if name in BUILTINS:
        return True
    from .kernel_functions import helper

    return callable(helper(name))


class Refused(ValueError):
    row: Operation


def refused(row: Operation, what: str) -> ValueError:
    fault = Refused(f"the kernel expression of {row.name} has {what}: {ALLOWED}")
    fault.row = row
    return fault


__all__ = ["check_template"]
