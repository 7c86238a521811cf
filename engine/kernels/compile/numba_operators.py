"""Python's operators and built-in functions on floats, integers, truth values, pointers and tuples, as LLVM's instructions.

Numba has the same operators for some hundred pairs of types, and finds the one it needs by trying them in turn.
"""

from __future__ import annotations

import operator
from functools import partial

from llvmlite import ir
from numba.core import cgutils
from numba.core.typing.templates import signature

from .numba_target import Function, types

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Generate = Callable[[Any, list[Any]], Any]

WORD = ir.IntType(64)
FLOAT, INT, BOOL = types.float64, types.int64, types.boolean
# Integers of the source stay inside 64 bits: emitted code checks what could leave them.
EXACT = ("nsw",)


def kind(x: Any) -> Any:
    """The type in which a scalar is computed. Raises TypeError for what is no scalar."""
    for of, found in ((types.Float, FLOAT), (types.Boolean, BOOL), (types.Integer, INT)):
        if isinstance(x, of):
            return found
    raise TypeError(f"no number: {x}")


def joined(args: tuple[Any, ...]) -> Any:
    kinds = [kind(x) for x in args]
    return FLOAT if FLOAT in kinds else INT if INT in kinds else BOOL


def generated(generate: Generate) -> Any:
    return lambda context, builder, sig, args: generate(builder, args)


def arithmetic(of_floats: Generate | None, of_ints: Generate | None, result: Any = None) -> Any:
    """An operator whose operands are converted to their common type, which is that of the result unless it is given."""

    def define(*args: Any) -> tuple[Any, Any]:
        common = INT if of_floats is None or (joined(args) is not FLOAT and of_ints is not None) else FLOAT
        generate: Any = of_floats if common is FLOAT else of_ints
        return signature(result or common, *[common] * len(args)), generated(generate)

    return define


def bitwise(name: str) -> Any:
    def define(a: Any, b: Any) -> tuple[Any, Any]:
        common = joined((a, b))
        return signature(common, common, common), generated(lambda builder, args: getattr(builder, name)(*args))

    return define


def binary(of_floats: str, of_ints: str) -> Any:
    return arithmetic(
        lambda builder, args: getattr(builder, of_floats)(*args),
        lambda builder, args: getattr(builder, of_ints)(*args, flags=EXACT),
    )


def compared(sign: str) -> Any:
    ordered = "fcmp_unordered" if sign == "!=" else "fcmp_ordered"
    return arithmetic(
        lambda builder, args: getattr(builder, ordered)(sign, *args),
        lambda builder, args: builder.icmp_signed(sign, *args),
        BOOL,
    )


def floor_divide(builder: Any, args: list[Any]) -> Any:
    quotient, rest = builder.sdiv(*args), builder.srem(*args)
    return builder.select(crosses(builder, rest, args[1]), builder.sub(quotient, WORD(1)), quotient)


def modulo(builder: Any, args: list[Any]) -> Any:
    rest = builder.srem(*args)
    return builder.select(crosses(builder, rest, args[1]), builder.add(rest, args[1]), rest)


def crosses(builder: Any, rest: Any, divisor: Any) -> Any:
    """Whether the floor of a quotient is not what its truncation is."""
    opposite = builder.icmp_signed("<", builder.xor(rest, divisor), WORD(0))
    return builder.and_(builder.icmp_signed("!=", rest, WORD(0)), opposite)


def call_of(name: str, count: int) -> Generate:
    def generate(builder: Any, args: list[Any]) -> Any:
        double = ir.DoubleType()
        function = builder.module.declare_intrinsic(name, (double,), ir.FunctionType(double, [double] * count))
        return builder.call(function, args)

    return generate


def extremum(sign: str) -> Any:
    """`min` and `max`: as in Python the first operand, unless a later one is smaller, or greater."""

    def chosen(compare: str, builder: Any, args: list[Any]) -> Any:
        found = args[0]
        for x in args[1:]:
            found = builder.select(getattr(builder, compare)(sign, x, found), x, found)
        return found

    return arithmetic(partial(chosen, "fcmp_ordered"), partial(chosen, "icmp_signed"))


def absolute(builder: Any, args: list[Any]) -> Any:
    return builder.select(builder.icmp_signed("<", args[0], WORD(0)), builder.neg(args[0]), args[0])


def truth(negated: bool) -> Any:
    def define(x: Any) -> tuple[Any, Any]:
        def generate(builder: Any, args: list[Any]) -> Any:
            if kind(x) is BOOL:
                return builder.not_(args[0]) if negated else args[0]
            if kind(x) is INT:
                return builder.icmp_signed("==" if negated else "!=", args[0], WORD(0))
            compare = builder.fcmp_ordered if negated else builder.fcmp_unordered
            return compare("==" if negated else "!=", args[0], ir.DoubleType()(0.0))

        return signature(BOOL, kind(x)), generated(generate)

    return define


def converted(target: Any) -> Any:
    def define(x: Any) -> tuple[Any, Any]:
        # Numba converts integers and truth values to the type of the parameter itself.
        of = FLOAT if kind(x) is FLOAT else target

        def generate(builder: Any, args: list[Any]) -> Any:
            return builder.fptosi(args[0], WORD) if of is not target else args[0]

        return signature(target, of), generated(generate)

    return define


def make_range(*args: Any) -> tuple[Any, Any]:
    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        state = cgutils.create_struct_proxy(types.range_state64_type)(context, builder)
        state.start, state.stop, state.step = (
            (WORD(0), args[0], WORD(1)) if len(args) == 1 else (*args, WORD(1))[:3]
        )  # fmt: skip
        return state._getvalue()

    return signature(types.range_state64_type, *[INT] * len(args)), generate


def get_item(x: Any, index: Any) -> tuple[Any, Any]:
    if isinstance(x, types.UniTuple):
        return signature(x.dtype, x, INT), item_of_tuple
    return signature(x.dtype, x, INT), load


def item_of_tuple(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    """An element of a tuple of numbers; the index is inside."""
    if isinstance(args[0], ir.Constant):
        place = cgutils.global_constant(builder.module, "numbers", args[0])
    else:
        place = cgutils.alloca_once_value(builder, args[0])
    return builder.load(builder.gep(place, [WORD(0), args[1]], inbounds=True))


def load(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    model = context.data_model_manager[sig.args[0].dtype]
    return model.from_data(builder, builder.load(builder.gep(args[0], [args[1]], inbounds=True)))


def set_item(memory: Any, index: Any, value: Any) -> tuple[Any, Any]:
    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        model = context.data_model_manager[memory.dtype]
        builder.store(model.as_data(builder, args[2]), builder.gep(args[0], [args[1]], inbounds=True))
        return context.get_dummy_value()

    return signature(types.none, memory, INT, memory.dtype), generate


def length(x: Any) -> tuple[Any, Any]:
    return signature(INT, x), generated(lambda builder, args: WORD(len(x)))


# Operators that have a form with `=`, by their names in `operator`.
BINARY: dict[str, Any] = {
    "add": binary("fadd", "add"), "sub": binary("fsub", "sub"), "mul": binary("fmul", "mul"),
    "truediv": arithmetic(lambda builder, args: builder.fdiv(*args), None), "floordiv": arithmetic(None, floor_divide),
    "mod": arithmetic(None, modulo), "pow": arithmetic(call_of("llvm.pow", 2), None),
    "and_": bitwise("and_"), "or_": bitwise("or_"), "xor": bitwise("xor"), "lshift": bitwise("shl"), "rshift": bitwise("ashr"),
}  # fmt: skip
DEFINITIONS: dict[Any, Any] = {
    **{getattr(operator, name): define for name, define in BINARY.items()},
    **{getattr(operator, "i" + name.strip("_")): define for name, define in BINARY.items()},
    operator.lt: compared("<"), operator.le: compared("<="), operator.gt: compared(">"), operator.ge: compared(">="),
    operator.eq: compared("=="), operator.ne: compared("!="),
    operator.neg: arithmetic(lambda builder, args: builder.fneg(*args), lambda builder, args: builder.neg(*args)),
    operator.not_: truth(True), bool: truth(False), int: converted(INT), float: converted(FLOAT),
    abs: arithmetic(call_of("llvm.fabs", 1), absolute), min: extremum("<"), max: extremum(">"),
    range: make_range, operator.getitem: get_item, operator.setitem: set_item, len: length,
}  # fmt: skip


def install(typing: Any) -> None:
    """Make the operators known to a context of types."""
    for function, define in DEFINITIONS.items():
        typing.insert_global(function, Function(define))
