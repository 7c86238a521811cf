"""Expressions of emitted source in LLVM's intermediate representation.

Their meaning is Numba's with error_model="numpy": division by zero gives what IEEE 754 says, integers are of 64 bits and
divide towards minus infinity, `max(a, b)` is b where b > a and else a, comparisons with nan are false but for `!=`.
`math` is the C library's, with nothing raised.
"""

from __future__ import annotations

import ast
import math

from ..ir import BOOL, FLOAT, INT, SINGLE, WIDTHS
from ..machine.externals import EXTERNALS
from ..source.primitives import IN_SINGLE, SINGLE_HELPERS
from .llvm_exp import exponential
from .llvm_host import HOST_VALUES
from .llvm_writer import FLOATS, NONE, RUN, STORED, TYPES, Untranslatable, Value, float_text, joined, type_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .llvm_writer import Writer

# Functions that LLVM knows; some are instructions, the others calls of the C library.
INTRINSICS = {
    "math.sqrt": "sqrt", "math.exp": "exp", "math.log": "log", "math.exp2": "exp2", "math.log10": "log10",
    "math.sin": "sin", "math.cos": "cos", "math.pow": "pow", "math.copysign": "copysign", "math.fabs": "fabs",
    "np.floor": "floor", "np.ceil": "ceil", "np.trunc": "trunc", "np.rint": "rint",
}  # fmt: skip
# Functions of the C library that depend on nothing but their arguments.
LIBRARY = {
    f"math.{name}": name
    for name in "log1p expm1 log2 tan asin acos atan sinh cosh tanh asinh acosh atanh erf erfc lgamma hypot atan2".split()
} | {"np.cbrt": "cbrt", "np.fmod": "fmod"}  # fmt: skip
CORRECTLY_ROUNDED = frozenset("sqrt copysign fabs floor ceil trunc rint".split())
TWO_OPERANDS = frozenset(("pow", "copysign", "hypot", "atan2", "fmod"))
CONSTANTS = {"math.inf": math.inf, "math.nan": math.nan, "math.pi": math.pi, "math.e": math.e}
ARITHMETIC: dict[type, str] = {ast.Add: "fadd", ast.Sub: "fsub", ast.Mult: "fmul", ast.Div: "fdiv"}
INTEGERS: dict[type, str] = {ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul"}
# Of integers as bits: shifts are by less than 64 places.
BITS: dict[type, str] = {
    ast.BitAnd: "and", ast.BitOr: "or", ast.BitXor: "xor", ast.LShift: "shl", ast.RShift: "ashr",
}  # fmt: skip
COMPARISONS: dict[type, tuple[str, str]] = {
    ast.Lt: ("olt", "slt"), ast.LtE: ("ole", "sle"), ast.Gt: ("ogt", "sgt"), ast.GtE: ("oge", "sge"),
    ast.Eq: ("oeq", "eq"), ast.NotEq: ("une", "ne"),
}  # fmt: skip
# What may be computed whether or not it is asked for: nothing that fails, reads memory or takes long.
CHEAP = (
    ast.Name, ast.Constant, ast.Compare, ast.BoolOp, ast.UnaryOp, ast.Attribute, ast.IfExp, ast.expr_context,
    ast.cmpop, ast.boolop, ast.unaryop, ast.operator,
)  # fmt: skip
CHEAP_OPERATORS = (ast.Add, ast.Sub, ast.Mult)


def expression(w: Writer, node: ast.expr) -> Value:
    """The value of an expression."""
    found = EXPRESSIONS.get(node.__class__)
    if found is None:
        raise Untranslatable(ast.dump(node))
    return found(w, node)


def constant(w: Writer, node: Any) -> Value:
    x = node.value
    if x.__class__ is bool:
        return BOOL, "true" if x else "false"
    if x.__class__ is int:
        return INT, str(x)
    if x.__class__ is float:
        return FLOAT, float_text(x)
    if x is None:
        return NONE, ""
    raise Untranslatable(f"the constant {x!r}")


def name(w: Writer, node: Any) -> Value:
    if node.id in w.kinds:
        return w.read(node.id)
    return w.module.constant(node.id)


def dotted(node: ast.expr) -> str:
    """The name of a function or a constant of a module."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        return f"{node.value.id}.{node.attr}"
    raise Untranslatable(ast.dump(node))


def attribute(w: Writer, node: Any) -> Value:
    called = dotted(node)
    if called not in CONSTANTS:
        raise Untranslatable(f"the constant {called}")
    return FLOAT, float_text(CONSTANTS[called])


# --- operators ------------------------------------------------------------------------------------------------------


def operation(w: Writer, operator: type, a: Value, b: Value, note: str = "") -> Value:
    """An operator of two numbers; `note` is what is known of the integers."""
    if operator is ast.Div:
        kind, x, y = w.alike(a, b, FLOAT)
        return w.value(kind, f"fdiv {TYPES[kind]} {x}, {y}")
    kind, x, y = w.alike(a, b, INT)
    if kind in FLOATS and operator in ARITHMETIC:
        return w.value(kind, f"{ARITHMETIC[operator]} {TYPES[kind]} {x}, {y}")
    if kind == INT and operator in INTEGERS:
        return w.value(INT, f"{INTEGERS[operator]}{note} i64 {x}, {y}")
    if kind == INT and operator in BITS:
        return w.value(INT, f"{BITS[operator]} i64 {x}, {y}")
    if kind == INT and operator in (ast.FloorDiv, ast.Mod):
        return divided(w, operator, x, y)
    raise Untranslatable(f"{operator.__name__} of numbers of the kind {kind}")


def divided(w: Writer, operator: type, x: str, y: str) -> Value:
    """x // y or x % y of integers: towards minus infinity, and 0 where y is 0.

    The processor's division fails for 0, and for -2**63 by -1: those are divided by 1. The latter wraps around.
    """
    if operator is ast.FloorDiv and y == "-1":
        return w.value(INT, f"sub i64 0, {x}")
    zero = w.value(BOOL, f"icmp eq i64 {y}, 0")[1]
    opposite = w.value(BOOL, f"icmp eq i64 {y}, -1")[1]
    failing = w.value(BOOL, f"or i1 {zero}, {opposite}")[1]
    by = w.value(INT, f"select i1 {failing}, i64 1, i64 {y}")[1]
    quotient = w.value(INT, f"sdiv i64 {x}, {by}")[1]
    rest = w.value(INT, f"srem i64 {x}, {by}")[1]
    uneven = w.value(BOOL, f"icmp ne i64 {rest}, 0")[1]
    signs = w.value(INT, f"xor i64 {rest}, {by}")[1]
    apart = w.value(BOOL, f"icmp slt i64 {signs}, 0")[1]
    lower = w.value(BOOL, f"and i1 {uneven}, {apart}")[1]
    if operator is ast.FloorDiv:
        less = w.value(INT, f"sub i64 {quotient}, 1")[1]
        found = w.value(INT, f"select i1 {lower}, i64 {less}, i64 {quotient}")[1]
        negative = w.value(INT, f"sub i64 0, {x}")[1]
        found = w.value(INT, f"select i1 {opposite}, i64 {negative}, i64 {found}")[1]
    else:
        more = w.value(INT, f"add i64 {rest}, {by}")[1]
        found = w.value(INT, f"select i1 {lower}, i64 {more}, i64 {rest}")[1]
    return w.value(INT, f"select i1 {zero}, i64 0, i64 {found}")


def binary(w: Writer, node: Any) -> Value:
    a = expression(w, node.left)
    return operation(w, node.op.__class__, a, expression(w, node.right))


def unary(w: Writer, node: Any) -> Value:
    if isinstance(node.op, ast.Not):
        text = w.truth(expression(w, node.operand))
        if text in ("true", "false"):
            return BOOL, "false" if text == "true" else "true"
        return w.value(BOOL, f"xor i1 {text}, true")
    if not isinstance(node.op, ast.USub):
        raise Untranslatable(ast.dump(node))
    kind, text = expression(w, node.operand)
    if kind in FLOATS:
        if text.startswith("0x"):
            sign = format(int(text, 16) ^ 1 << 63, "016X")
            return kind, "0x" + sign
        return w.value(kind, f"fneg {TYPES[kind]} {text}")
    if text.isdigit():
        return INT, "-" + text
    return w.value(INT, f"sub i64 0, {w.to(INT, (kind, text))[1]}")


def compared(w: Writer, operator: ast.cmpop, a: Value, b: Value) -> str:
    """A comparison, as an i1."""
    if isinstance(operator, ast.Is | ast.IsNot):
        if NONE not in (a[0], b[0]):
            raise Untranslatable("`is` of numbers")  # they would be constants of one kind: None is asked for
        return "true" if (a[0] == b[0]) == isinstance(operator, ast.Is) else "false"
    of_floats, of_integers = COMPARISONS[operator.__class__]
    kind, x, y = w.alike(a, b, INT)
    if kind in FLOATS:
        return w.value(BOOL, f"fcmp {of_floats} {TYPES[kind]} {x}, {y}")[1]
    return w.value(BOOL, f"icmp {of_integers} i64 {x}, {y}")[1]


def comparison(w: Writer, node: Any) -> Value:
    if len(node.ops) > 1:
        if all(map(cheap, node.comparators)):
            return BOOL, chained(w, node)
        return by_branches(w, node)
    left = expression(w, node.left)
    right = expression(w, node.comparators[0])
    return BOOL, compared(w, node.ops[0], left, right)


def chained(w: Writer, node: Any) -> str:
    """a < b < c with all of it computed."""
    left = expression(w, node.left)
    found = ""
    for operator, comparator in zip(node.ops, node.comparators):
        right = expression(w, comparator)
        holds = compared(w, operator, left, right)
        found = holds if not found else both(w, found, holds)
        left = right
    return found


def both(w: Writer, a: str, b: str) -> str:
    return w.value(BOOL, f"select i1 {a}, i1 {b}, i1 false")[1]


def either(w: Writer, a: str, b: str) -> str:
    return w.value(BOOL, f"select i1 {a}, i1 true, i1 {b}")[1]


def connective(w: Writer, node: Any) -> Value:
    """`and` and `or` of truth values."""
    if not all(map(cheap, node.values[1:])):
        return by_branches(w, node)
    join = both if isinstance(node.op, ast.And) else either
    found = truth_value(w, node.values[0])
    for part in node.values[1:]:
        found = join(w, found, truth_value(w, part))
    return BOOL, found


def truth_value(w: Writer, node: ast.expr) -> str:
    """A value that is asked whether it is true, and must be a truth value: `and` would give the number otherwise."""
    kind, text = expression(w, node)
    if kind != BOOL:
        raise Untranslatable("`and` or `or` of numbers")
    return text


def by_branches(w: Writer, node: ast.expr) -> Value:
    """A truth value whose parts are computed only when they are asked for."""
    place = w.place(BOOL)
    yes, no, end = w.fresh("yes"), w.fresh("no"), w.fresh("end")
    branch(w, node, yes, no)
    for label, text in ((yes, "true"), (no, "false")):
        w.start(label)
        w.line(f"store i1 {text}, ptr {place}")
        w.go(end)
    w.start(end)
    return w.value(BOOL, f"load i1, ptr {place}")


def branch(w: Writer, node: Any, yes: str, no: str, note: str = "") -> None:
    """Go to one label or another by a condition, computed as far as it takes."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        if not note:
            branch(w, node.operand, no, yes)
            return
    elif isinstance(node, ast.BoolOp) and not cheap(node):
        for part in node.values[:-1]:
            on = w.fresh("on")
            if isinstance(node.op, ast.And):
                branch(w, part, on, no)
            else:
                branch(w, part, yes, on)
            w.start(on)
        branch(w, node.values[-1], yes, no)
        return
    elif isinstance(node, ast.Compare) and len(node.ops) > 1 and not all(map(cheap, node.comparators)):
        left = expression(w, node.left)
        for operator, comparator in zip(node.ops[:-1], node.comparators[:-1]):
            right = expression(w, comparator)
            on = w.fresh("on")
            w.choose(compared(w, operator, left, right), on, no)
            w.start(on)
            left = right
        right = expression(w, node.comparators[-1])
        w.choose(compared(w, node.ops[-1], left, right), yes, no)
        return
    w.choose(w.truth(expression(w, node)), yes, no, note)


def cheap(node: ast.AST) -> bool:
    """Whether an expression may be computed where nobody asks for it."""
    if isinstance(node, ast.BinOp):
        return isinstance(node.op, CHEAP_OPERATORS) and cheap(node.left) and cheap(node.right)
    if isinstance(node, ast.Call):
        quick = isinstance(node.func, ast.Name) and node.func.id in ("abs", "float", "min", "max")
        return quick and all(map(cheap, node.args))
    return isinstance(node, CHEAP) and all(map(cheap, ast.iter_child_nodes(node)))


def choice(w: Writer, node: Any) -> Value:
    """One value or another; only that which is asked for is computed, where it matters."""
    settled = known_condition(w, node.test)
    if settled is not None:
        return expression(w, node.body if settled else node.orelse)
    if cheap(node.body) and cheap(node.orelse):
        condition = w.truth(expression(w, node.test))
        a = expression(w, node.body)
        kind, x, y = w.alike(a, expression(w, node.orelse))
        return w.value(kind, f"select i1 {condition}, {TYPES[kind]} {x}, {TYPES[kind]} {y}")
    yes, no, end = w.fresh("yes"), w.fresh("no"), w.fresh("end")
    branch(w, node.test, yes, no)
    w.start(yes)
    first = expression(w, node.body)
    first_from, mark = w.label, len(w.lines)
    w.go(end)
    w.start(no)
    second = expression(w, node.orelse)
    # The kind of both is known now: the first is converted where it was computed.
    kind = joined(first[0], second[0])
    later = w.lines[mark:]
    del w.lines[mark:]
    _, x = w.to(kind, first)
    w.lines += later
    _, y = w.to(kind, second)
    second_from = w.label
    w.start(end)
    return w.value(kind, f"phi {TYPES[kind]} [ {x}, %{first_from} ], [ {y}, %{second_from} ]")


def known_condition(w: Writer, node: ast.expr) -> bool | None:
    """What a condition is whatever the inputs are: whether a parameter is None."""
    if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.Is | ast.IsNot):
        return comparison(w, node)[1] == "true"
    if isinstance(node, ast.Constant):
        return bool(node.value)
    return None


# --- memory ---------------------------------------------------------------------------------------------------------


def element(w: Writer, node: Any) -> tuple[str, str, str]:
    """An element of memory: its kind, where it is, and what is said of it to LLVM."""
    kind, base = name(w, node.value)
    if not kind.isupper():
        raise Untranslatable("an element of a number")
    kind = kind.lower()
    index = w.to(INT, index_value(w, node.slice))[1]
    where = w.value(kind, f"getelementptr inbounds {STORED[kind]}, ptr {base}, i64 {index}")[1]
    return kind, where, w.module.tag(node.value.id)


def index_value(w: Writer, node: Any) -> Value:
    """An index: it is inside an array, and so was all that it was computed from."""
    if isinstance(node, ast.BinOp) and node.op.__class__ in INTEGERS:
        a = index_value(w, node.left)
        return operation(w, node.op.__class__, a, index_value(w, node.right), " nsw")
    return expression(w, node)


def load(w: Writer, kind: str, where: str, note: str) -> Value:
    if kind == BOOL:
        stored = w.value(BOOL, f"load i8, ptr {where}{note}")[1]
        return w.value(BOOL, f"icmp ne i8 {stored}, 0")
    return w.value(kind, f"load {STORED[kind]}, ptr {where}, align {WIDTHS[kind]}{note}")


def store(w: Writer, kind: str, where: str, note: str, value: Value) -> None:
    text = w.to(kind, value)[1]
    if kind == BOOL:
        text = w.value(BOOL, f"zext i1 {text} to i8")[1]
        w.line(f"store i8 {text}, ptr {where}{note}")
    else:
        w.line(f"store {STORED[kind]} {text}, ptr {where}, align {WIDTHS[kind]}{note}")


def subscript(w: Writer, node: Any) -> Value:
    return load(w, *element(w, node))


# --- calls ----------------------------------------------------------------------------------------------------------


def call(w: Writer, node: Any) -> Value:
    called = dotted(node.func)
    if called in HOST_VALUES:
        return HOST_VALUES[called](w, [expression(w, arg) for arg in node.args])
    if called == "len":
        return range_length(w, [expression(w, arg) for arg in node.args[0].args])
    args = [expression(w, arg) for arg in node.args]
    if called in BUILT_IN:
        return BUILT_IN[called](w, args)
    if called in INTRINSICS or called in LIBRARY:
        return function_of_floats(w, called, args)
    if called == "math.floor":
        # An integer, as a float: it has no sign where it is 0.
        kind, text = function_of_floats(w, "np.floor", args)
        return w.value(kind, f"fadd {TYPES[kind]} {text}, 0.0")
    if called == "_square_rest":
        return square_rest(w, args)
    if called in EXTERNALS:
        w.module.external(called)
        texts = [f"double {w.to(FLOAT, arg)[1]}" for arg in args]
        return w.to(width_of(args), w.value(FLOAT, f"call double @{called}({', '.join(texts)}, i32 0)"))
    return helper(w, "_gamma" if called == "math.gamma" else called, args)


def width_of(args: list[Value]) -> str:
    """The kind of a function of floats: float32 where one of its arguments is."""
    return SINGLE if any(kind == SINGLE for kind, _ in args) else FLOAT


def function_of_floats(w: Writer, called: str, args: list[Value]) -> Value:
    """A function of floats that LLVM or the C library has.

    Of float32 it is computed in float64 and rounded, which gives the nearest float32 but for one case in many millions;
    what is exact, or rounded to the nearest by the processor, is so in float32 too.
    """
    own = INTRINSICS.get(called)
    wanted = width_of(args)
    if own == "exp" and w.on_vectors:
        return w.to(wanted, exponential(w, w.to(FLOAT, args[0])[1]))
    kind = wanted if own in CORRECTLY_ROUNDED else FLOAT
    symbol = f"llvm.{own}.f{8 * WIDTHS[kind]}" if own else LIBRARY[called]
    count = 2 if (own or symbol) in TWO_OPERANDS else 1
    if len(args) != count:
        raise Untranslatable(f"{called} of {len(args)} arguments")
    name = TYPES[kind]
    w.module.declare(f"{name} @{symbol}({', '.join([name] * count)})")
    texts = [f"{name} {w.to(kind, arg)[1]}" for arg in args]
    return w.to(wanted, w.value(kind, f"call {name} @{symbol}({', '.join(texts)})"))


def square_rest(w: Writer, args: list[Value]) -> Value:
    """x*x - square in one instruction: special_scalar's `_square_rest`, which has the same value."""
    x, square = (w.to(FLOAT, arg)[1] for arg in args)
    w.module.declare("double @llvm.fma.f64(double, double, double)")
    less = w.value(FLOAT, f"fneg double {square}")[1]
    return w.value(FLOAT, f"call double @llvm.fma.f64(double {x}, double {x}, double {less})")


def helper(w: Writer, called: str, args: list[Value]) -> Value:
    """A call of a function that is translated too.

    Of float32 it is computed in float64, and rounded: its constants and its thresholds are float64's. Those that choose
    among their arguments, or are to round as the tape's do, are translated for float32 as they stand.
    """
    if width_of(args) == SINGLE and called not in IN_SINGLE:
        wide = [w.to(FLOAT, arg) if arg[0] == SINGLE else arg for arg in args]
        found = helper(w, SINGLE_HELPERS.get(called, called), wide)
        return w.to(SINGLE, found) if found[0] == FLOAT else found
    function = w.module.function(called, [kind for kind, _ in args])
    args += [constant(w, default) for default in function.defaults[len(args) - len(function.kinds) :]]
    texts = [f"{type_of(kind)} {text}" for kind, text in args if kind != NONE]
    if not function.raises:
        return w.value(function.result, f"call {type_of(function.result)} @{function.symbol}({', '.join(texts)})")
    both_types = f"{{ {type_of(function.result)}, i1 }}"
    answer = w.value(function.result, f"call {both_types} @{function.symbol}({', '.join(texts)})")[1]
    w.leave_if(w.value(BOOL, f"extractvalue {both_types} {answer}, 1")[1])
    return w.value(function.result, f"extractvalue {both_types} {answer}, 0")


def absolute(w: Writer, args: list[Value]) -> Value:
    kind, text = w.to(joined(args[0][0], INT), args[0])
    if kind in FLOATS:
        return function_of_floats(w, "math.fabs", [(kind, text)])
    w.module.declare("i64 @llvm.abs.i64(i64, i1)")
    return w.value(INT, f"call i64 @llvm.abs.i64(i64 {text}, i1 false)")


def extreme(w: Writer, args: list[Value], largest: bool) -> Value:
    """The first of the largest, or of the smallest, of numbers."""
    found = args[0]
    for arg in args[1:]:
        kind, x, y = w.alike(found, arg, INT)
        order = COMPARISONS[ast.Gt if largest else ast.Lt]
        how = f"fcmp {order[0]} {TYPES[kind]}" if kind in FLOATS else f"icmp {order[1]} i64"
        condition = w.value(BOOL, f"{how} {y}, {x}")[1]
        found = w.value(kind, f"select i1 {condition}, {TYPES[kind]} {y}, {TYPES[kind]} {x}")
    return found


def whole(w: Writer, args: list[Value]) -> Value:
    kind, text = args[0]
    return w.value(INT, f"fptosi {TYPES[kind]} {text} to i64") if kind in FLOATS else w.to(INT, args[0])


def range_length(w: Writer, args: list[Value]) -> Value:
    """How many numbers a range has. A step of 0 leaves the kernel."""
    start, stop, step = range_parts(w, args)
    if step.lstrip("-").isdigit() and step != "0":
        if step[0] == "-":
            start, stop, step = stop, start, step[1:]
        return count_up(w, start, stop, step)
    w.leave_if(w.value(BOOL, f"icmp eq i64 {step}, 0")[1])
    down = w.value(BOOL, f"icmp slt i64 {step}, 0")[1]
    low = w.value(INT, f"select i1 {down}, i64 {stop}, i64 {start}")[1]
    high = w.value(INT, f"select i1 {down}, i64 {start}, i64 {stop}")[1]
    return count_up(w, low, high, absolute(w, [(INT, step)])[1])


def count_up(w: Writer, low: str, high: str, step: str) -> Value:
    """How many numbers there are from `low` to before `high`, a positive step apart.

    The bounds are at most 2**53 in size, so that no difference of them overflows.
    """
    span = w.value(INT, f"sub nsw i64 {high}, {low}")[1]
    if step != "1":
        more = w.value(INT, f"add i64 {span}, {step}")[1]
        more = w.value(INT, f"sub i64 {more}, 1")[1]
        span = w.value(INT, f"sdiv i64 {more}, {step}")[1]
    some = w.value(BOOL, f"icmp sgt i64 {span}, 0")[1]
    return w.value(INT, f"select i1 {some}, i64 {span}, i64 0")


def range_parts(w: Writer, args: list[Value]) -> tuple[str, str, str]:
    """The start, stop and step of a range."""
    texts = [w.to(INT, arg)[1] for arg in args]
    if len(texts) == 1:
        return "0", texts[0], "1"
    return texts[0], texts[1], texts[2] if len(texts) == 3 else "1"


def exact(name: str) -> Callable[[Writer, list[Value]], Value]:
    """Arithmetic of integers that leaves the kernel where the result does not fit into 64 bits."""

    def arithmetic(w: Writer, args: list[Value]) -> Value:
        a, b = (w.to(INT, arg)[1] for arg in args)
        w.module.declare(f"{{ i64, i1 }} @llvm.{name}.with.overflow.i64(i64, i64)")
        both = w.value(INT, f"call {{ i64, i1 }} @llvm.{name}.with.overflow.i64(i64 {a}, i64 {b})")[1]
        w.leave_if(w.value(BOOL, f"extractvalue {{ i64, i1 }} {both}, 1")[1])
        return w.value(INT, f"extractvalue {{ i64, i1 }} {both}, 0")

    return arithmetic


BUILT_IN: dict[str, Callable[[Writer, list[Value]], Value]] = {
    "abs": absolute,
    "max": lambda w, args: extreme(w, args, True),
    "min": lambda w, args: extreme(w, args, False),
    "float": lambda w, args: args[0] if args[0][0] in FLOATS else w.to(w.conversion, args[0]),
    "_single": lambda w, args: w.to(SINGLE, args[0]),
    "_double": lambda w, args: w.to(FLOAT, args[0]),
    "int": whole,
    "_int_add": exact("sadd"),
    "_int_subtract": exact("ssub"),
    "_int_multiply": exact("smul"),
    "bool": lambda w, args: (BOOL, w.truth(args[0])),
}
EXPRESSIONS: dict[type, Callable[[Writer, Any], Value]] = {
    ast.Constant: constant,
    ast.Name: name,
    ast.Attribute: attribute,
    ast.BinOp: binary,
    ast.UnaryOp: unary,
    ast.Compare: comparison,
    ast.BoolOp: connective,
    ast.IfExp: choice,
    ast.Subscript: subscript,
    ast.Call: call,
}
__all__ = ["RUN", "branch", "element", "expression", "load", "operation", "range_length", "range_parts", "store"]
