"""Calls in emitted source, on values of LLVM's intermediate representation: functions of libraries, and our own.

`math` is the C library's, with nothing raised.
"""

from __future__ import annotations

from ..ir import BOOL, FLOAT, INT, SINGLE, WIDTHS
from ..machine.externals import EXTERNALS
from ..source.helpers import IN_SINGLE, SINGLE_HELPERS
from .llvm_host import HOST_VALUES
from .llvm_many import MANY, of_many
from .llvm_operators import constant, exact, extreme
from .llvm_writer import FLOATS, NONE, TYPES, Untranslatable, Value, joined, type_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

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


def called_with(w: Writer, called: str, args: list[Value]) -> Value:
    """A call of a function by the name that it has in source."""
    if called in HOST_VALUES:
        return HOST_VALUES[called](w, args)
    if w.on_vectors and called in MANY:
        found = small_power(w, called, args) or of_many(w, called, [w.to(FLOAT, x)[1] for x in args])
        return w.to(width_of(args), found)
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


def small_power(w: Writer, called: str, args: list[Value]) -> Value | None:
    """A square, cube or fourth power as products; None of another call."""
    if called != "math.pow" or args[1] not in ((INT, "2"), (INT, "3"), (INT, "4")):
        return None
    x = w.to(FLOAT, args[0])[1]
    square = w.value(FLOAT, f"fmul double {x}, {x}")[1]
    if args[1][1] == "2":
        return FLOAT, square
    return w.value(FLOAT, f"fmul double {square}, {x if args[1][1] == '3' else square}")


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
    function = w.module.function(called, [kind for kind, _ in args], w.on_vectors)
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
