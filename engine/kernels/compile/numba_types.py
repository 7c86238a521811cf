"""What emitted source finds around it, as Numba types and intrinsics: pointers, memory slots, and ways to leave a kernel.

`Memory` is the address of elements of one type; indexing it loads or stores an element. An intrinsic that leaves the kernel
returns a status from the function it is in, and every caller passes that status on, as Numba does with exceptions.
"""

from __future__ import annotations

import math
import operator
from types import ModuleType

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.datamodel import models
from numba.core.typing.templates import signature
from numba.extending import register_model

from ..emit.code import ROOM as SLOT_FUNCTIONS
from .load import CAPACITY, LEFT, NO_MEMORY, RESIZE, SLOT_WORDS, STOP, STOPPED
from .numba_target import Callee

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

WORD = ir.IntType(64)
FLOAT, INT = types.float64, types.int64
POINTER = ir.IntType(8).as_pointer()
# The function that each kernel's module defines for its slots (`add_room`), and a name of it for slots that are asked for once: LLVM
# may take their memory for apart from all other.
ROOM, ROOM_OF_ARRAY = "adiff_room", "adiff_room_of_array"


class Memory(types.Type):  # type: ignore[misc]
    """The address of elements of one type."""

    def __init__(self, dtype: Any) -> None:
        self.dtype = dtype
        super().__init__(f"Memory({dtype})")


@register_model(Memory)
class MemoryModel(models.PointerModel):  # type: ignore[misc]
    def __init__(self, manager: Any, kind: Any) -> None:
        self._pointee_model = manager.lookup(kind.dtype)
        models.PrimitiveModel.__init__(self, manager, kind, self._pointee_model.get_data_type().as_pointer())


NUMBERS = {"f": types.float64, "i": types.int64, "b": types.boolean}
MEMORIES = {kind: Memory(dtype) for kind, dtype in NUMBERS.items()}
RECORD = MEMORIES["i"]


# --- leaving the kernel -----------------------------------------------------------------------------------------------


def leave(builder: Any, status: int) -> None:
    builder.ret(ir.IntType(32)(status))


@Callee
def poll(run: Any) -> Any:
    """Leave if the host has set the stop word."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        # An atomic load is repeated in every iteration, and costs what any other load does.
        stop = builder.load_atomic(builder.gep(args[0], [WORD(STOP)], inbounds=True), "monotonic", 8)
        with builder.if_then(builder.icmp_signed("!=", stop, WORD(0)), likely=False):
            leave(builder, STOPPED)
        return context.get_dummy_value()

    return types.none(RECORD), generate


# --- memory -----------------------------------------------------------------------------------------------------------


def slot_function(kind: str, name: str) -> Any:
    """`floats`, `ints` or `bools`, or those for a stack: the address of a slot with room for a number of elements."""
    dtype = NUMBERS[kind]

    @Callee
    def room(run: Any, slot: Any, count: Any) -> Any:
        def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            element = context.get_value_type(dtype) if kind != "b" else ir.IntType(8)
            # A slot of no elements has an address as well.
            size = builder.add(builder.mul(args[2], WORD(1 if kind == "b" else 8)), WORD(8))
            function = builder.module.globals.get(name) or declare_room(builder.module, name)
            address = builder.call(function, [args[0], args[1], size])
            null = builder.icmp_unsigned("==", address, ir.Constant(POINTER, None))
            with builder.if_then(null, likely=False):
                leave(builder, NO_MEMORY)
            return builder.bitcast(address, element.as_pointer())

        return signature(MEMORIES[kind], RECORD, types.int64, types.int64), generate

    return room


@Callee
def clear(memory: Any, count: Any) -> Any:
    """Set elements to zero."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        size = WORD(context.get_abi_sizeof(args[0].type.pointee))
        cgutils.memset(builder, args[0], builder.mul(args[1], size), 0)
        return context.get_dummy_value()

    return signature(types.none, memory, types.int64), generate


def declare_room(module: Any, name: str) -> Any:
    kind = ir.FunctionType(POINTER, [WORD.as_pointer(), WORD, WORD])
    function = ir.Function(module, kind, name)
    if name == ROOM_OF_ARRAY:
        function.return_value.add_attribute("noalias")
    return function


def add_room(module: Any, first: int) -> None:
    """Define the function that gives a slot's address, or null where there is no memory for it."""
    function = declare_room(module, ROOM)
    run, slot, needed = function.args
    builder = ir.IRBuilder(function.append_basic_block())
    at = builder.add(builder.mul(slot, WORD(SLOT_WORDS)), WORD(first))
    address = builder.gep(run, [at], inbounds=True)
    capacity = builder.gep(run, [builder.add(at, WORD(CAPACITY))], inbounds=True)
    had = builder.load(capacity)
    with builder.if_then(builder.icmp_signed(">", needed, had), likely=False):
        left = builder.gep(run, [WORD(LEFT)], inbounds=True)
        rest = builder.sub(builder.load(left), builder.sub(needed, had))
        with builder.if_then(builder.icmp_signed("<", rest, WORD(0)), likely=False):
            builder.ret(ir.Constant(POINTER, None))
        resize = ir.Function(module, ir.FunctionType(POINTER, [POINTER, WORD]), RESIZE)
        new = builder.call(resize, [builder.inttoptr(builder.load(address), POINTER), needed])
        with builder.if_then(builder.icmp_unsigned("==", new, ir.Constant(POINTER, None)), likely=False):
            builder.ret(new)
        builder.store(rest, left)
        builder.store(builder.ptrtoint(new, WORD), address)
        builder.store(needed, capacity)
    builder.ret(builder.inttoptr(builder.load(address), POINTER))
    function.attributes.add("noinline")
    array = declare_room(module, ROOM_OF_ARRAY)
    builder = ir.IRBuilder(array.append_basic_block())
    builder.ret(builder.call(function, array.args))
    array.attributes.add("noinline")


# --- elements ---------------------------------------------------------------------------------------------------------


def get_item(x: Any, index: Any) -> tuple[Any, Any]:
    return signature(x.dtype, x, INT), item_of_tuple if isinstance(x, types.UniTuple) else load


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


def power(x: Any, y: Any) -> Any:
    """`x ** y` of floats. That of Numba with an integer on the right is a function that it compiles with all that it knows."""
    return MATH.pow._numba_type_.define(FLOAT, FLOAT)


# What takes the place of Numba's own operators.
ITEMS: dict[Any, Any] = {operator.getitem: get_item, operator.setitem: set_item, operator.pow: power}


# --- numbers ----------------------------------------------------------------------------------------------------------


def float_function(name: str, arguments: int, more: Sequence[Any] = (), result: Any = types.float64) -> Any:
    """A function of floats: an intrinsic of LLVM, or one that object code calls by its name."""

    def called(*operands: Any) -> Any:
        def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            double = ir.DoubleType()
            kind = ir.FunctionType(double, [double] * arguments + [x.type for x in more])
            known = name + ".f64" if name.startswith("llvm.") else name
            function = builder.module.globals.get(known)
            if function is None:
                function = ir.Function(builder.module, kind, known)
                if not more:
                    function.attributes.add("nounwind")
                    function.attributes.add("readnone")
            found = builder.call(function, [*args, *more])
            return found if result is types.float64 else builder.fptosi(found, WORD)

        return result(*[types.float64] * arguments), generate

    return Callee(called)


@Callee
def absolute(x: Any) -> Any:
    if isinstance(x, types.Float):
        found: tuple[Any, Any] = MATH.fabs._numba_type_.define(FLOAT)
        return found

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.select(builder.icmp_signed("<", args[0], WORD(0)), builder.neg(args[0]), args[0])

    return signature(INT, INT), generate


def converted(target: Any) -> Any:
    """`int` and `float`. Numba converts integers and truth values to the type of the parameter itself."""

    def define(x: Any) -> Any:
        whole = isinstance(x, types.Float) and target is INT
        return target(
            FLOAT if whole else target
        ), lambda context, builder, sig, args: builder.fptosi(args[0], WORD) if whole else args[0]

    return Callee(define)


def extremum(sign: str) -> Any:
    """`min` and `max`: as in Python the first operand, unless a later one is smaller, or greater."""

    def chosen(*operands: Any) -> Any:
        kind = FLOAT if any(isinstance(x, types.Float) for x in operands) else INT

        def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            compare = builder.fcmp_ordered if kind is FLOAT else builder.icmp_signed
            found = args[0]
            for x in args[1:]:
                found = builder.select(compare(sign, x, found), x, found)
            return found

        return kind(*[kind] * len(operands)), generate

    return Callee(chosen)


def modules() -> tuple[Any, Any]:
    """What stands for `math` and `np` in emitted source and helpers: Numba has the same functions for many more types, which it
    takes much longer to choose from."""
    as_math, as_np = ModuleType("math"), ModuleType("np")
    for name in "exp exp2 log log2 log10 sin cos sqrt pow fabs copysign".split():
        setattr(as_math, name, float_function(f"llvm.{name}", 1 + (name in ("pow", "copysign"))))
    for name in "tan asin acos atan sinh cosh tanh asinh acosh atanh expm1 log1p erf erfc lgamma cbrt".split():
        setattr(as_math, name, float_function(name, 1))
    for name in "atan2 hypot fmod".split():
        setattr(as_math, name, float_function(name, 2))
    as_math.gamma = float_function("tgamma", 1)  # type: ignore[attr-defined]
    for name in "floor ceil trunc".split():
        setattr(as_math, name, float_function(f"llvm.{name}", 1, result=types.int64))
        setattr(as_np, name, float_function(f"llvm.{name}", 1))
    for name in "fmod cbrt".split():
        setattr(as_np, name, getattr(as_math, name))
    as_np.rint = float_function("llvm.rint", 1)  # type: ignore[attr-defined]
    for name in "pi e inf nan tau".split():
        setattr(as_math, name, getattr(math, name))
    return as_math, as_np


MATH, NP = modules()

INTRINSICS: dict[str, Any] = {
    "clear": clear, "poll": poll, "abs": absolute, "min": extremum("<"), "max": extremum(">"),
    "int": converted(INT), "float": converted(FLOAT),
    **{name: slot_function(kind, ROOM_OF_ARRAY) for kind, name in SLOT_FUNCTIONS.items()},
    **{f"stack_of_{name}": slot_function(kind, ROOM) for kind, name in SLOT_FUNCTIONS.items()},
}  # fmt: skip
