"""Emitted source to object code by way of Numba: the second compiler, which the tests hold the first one to.

Numba is imported here and nowhere else, and only where ADIFF_COMPILER=numba asks for it. A kernel uses none of Numba's
runtime (nothing is counted, boxed or unwound), so its object code can be loaded where Numba is not (machine/code.py).
"""

from __future__ import annotations

from _thread import allocate_lock

from ..ir import BOOL, FLOAT, INT, Unsupported
from ..machine.code import RESIZE, Code, resize_address
from ..machine.externals import EXTERNALS, ROUTINES, address
from ..machine.record import (
    CAPACITY,
    FAILED,
    FIRST_SLOT,
    LEFT,
    NEEDED,
    NO_MEMORY,
    SLOT_WORDS,
    STOP,
    STOPPED,
    WHERE,
    WHY,
)
from ..source.helpers import helpers
from .native import settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from ..emitted import Emitted

NAMESPACE: dict[str, Any] = {}
FUNCTIONS = (*EXTERNALS, *ROUTINES)
LOCK = allocate_lock()


def namespace() -> dict[str, Any]:
    """What emitted source finds around it."""
    from llvmlite import binding
    from numba import njit, prange

    with LOCK:
        if not NAMESPACE:
            binding.add_symbol(RESIZE, resize_address())
            found = helpers(njit)
            found["_square_rest"] = square_rest()  # the helpers call it by this name
            NAMESPACE.update(
                {**found, **host_calls(), "prange": prange, **{name: external(name) for name in FUNCTIONS}}
            )
    return dict(NAMESPACE)


def compiled(emitted: Emitted) -> Code:
    """The machine code of emitted source, for this machine. Raises Unsupported for a kernel that computes in float32."""
    if emitted.single:
        raise Unsupported("float32 where Numba is the compiler")
    from numba.core.compiler import Flags, compile_extra
    from numba.core.registry import cpu_target

    names = namespace()
    # The source is ours throughout: names are generated, and nothing of the program's text is in it.
    names["held"] = held_arrays(emitted.held)
    exec(compile(emitted.text, "<kernel>", "exec"), names)
    flags = Flags()
    flags.error_model = "numpy"
    flags.nrt = False
    flags.no_cpython_wrapper = flags.no_cfunc_wrapper = True
    kinds = names["_KINDS"]
    types = (kinds["run"], *(kinds[letter] for letter in emitted.parameters))
    context = cpu_target.target_context
    with settings():
        made = compile_extra(cpu_target.typing_context, context, names["kernel"], types, None, flags, {})
        declared = [f.name for f in made.library._final_module.functions if f.is_declaration and f.name in FUNCTIONS]
        return Code(made.library._get_compiled_object(), made.fndesc.llvm_func_name, declared)


def held_arrays(held: Sequence[bytes]) -> Callable[..., Any]:
    """What gives emitted source its long constants, which are in a module of Numba's like any other."""
    from numpy import frombuffer

    return lambda number, count, dtype: frombuffer(held[number], dtype, count)


def external(name: str) -> Any:
    """A function of the table of externals, for emitted source."""
    from llvmlite import binding
    from numba import types
    from numba.extending import intrinsic

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        binding.add_symbol(name, address(name))  # Numba loads what it compiles
        return call(builder, name, args)

    def generate_routine(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        generate(context, builder, sig, args)
        return context.get_dummy_value()

    def called(typing_context: Any, *operands: Any) -> Any:
        if name in ROUTINES:
            return types.none(*operands[:2], types.int64, types.int64), generate_routine
        return types.float64(*[types.float64] * len(operands)), generate

    parameters = ", ".join("xyzn"[: 4 if name in ROUTINES else EXTERNALS[name].arguments])
    own: dict[str, Any] = {"called": called}
    exec(f"def {name}(context, {parameters}): return called(context, {parameters})", own)
    return intrinsic(own[name])


def call(builder: Any, name: str, operands: list[Any]) -> Any:
    """The call of a function of the table, in LLVM's terms, for doubles, or the two arrays and sizes of a routine."""
    from llvmlite import ir

    if name in ROUTINES:
        routine = builder.module.globals.get(name)
        if routine is None:
            kind = ir.FunctionType(ir.VoidType(), [x.type for x in operands])
            routine = ir.Function(builder.module, kind, name)
        return builder.call(routine, operands)
    double, flag = ir.DoubleType(), ir.IntType(32)
    function = builder.module.globals.get(name)
    if function is None:
        function = ir.Function(builder.module, ir.FunctionType(double, [double] * len(operands) + [flag]), name)
    return builder.call(function, [*operands, flag(0)])


def square_rest() -> Any:
    """x*x - square in one instruction, for special_scalar's `_square_rest`, which has the same value."""
    from numba import types
    from numba.extending import intrinsic

    @intrinsic  # type: ignore[untyped-decorator]
    def fused(typing_context: Any, x: Any, square: Any) -> Any:
        def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            return builder.fma(args[0], args[0], builder.fneg(args[1]))

        return types.float64(types.float64, types.float64), generate

    return fused


def host_calls() -> dict[str, Any]:
    """The functions of the table in compiler.py, and the types that a kernel's parameters have."""
    import operator

    from llvmlite import ir
    from numba import types
    from numba.core import cgutils
    from numba.core.datamodel import models
    from numba.core.typing.templates import AbstractTemplate, infer_global, signature
    from numba.extending import intrinsic, lower_builtin, register_model

    word = ir.IntType(64)
    byte = ir.IntType(8)
    pointer = byte.as_pointer()

    class Memory(types.Type):  # type: ignore[misc]
        """The address of elements of one type; indices are never negative."""

        def __init__(self, dtype: Any) -> None:
            self.dtype = dtype
            super().__init__(f"Memory({dtype})")

    @register_model(Memory)
    class MemoryModel(models.PointerModel):  # type: ignore[misc]
        def __init__(self, manager: Any, kind: Any) -> None:
            self._pointee_model = manager.lookup(kind.dtype)
            models.PrimitiveModel.__init__(self, manager, kind, self._pointee_model.get_data_type().as_pointer())

    def is_place(memory: Any, index: Any) -> bool:
        return isinstance(memory, Memory) and isinstance(index, types.Integer)

    @infer_global(operator.getitem)
    class Load(AbstractTemplate):  # type: ignore[misc]
        def generic(self, args: Any, kws: Any) -> Any:
            return signature(args[0].dtype, args[0], types.intp) if is_place(*args) else None

    @infer_global(operator.setitem)
    class Store(AbstractTemplate):  # type: ignore[misc]
        def generic(self, args: Any, kws: Any) -> Any:
            return signature(types.none, args[0], types.intp, args[0].dtype) if is_place(*args[:2]) else None

    @lower_builtin(operator.getitem, Memory, types.Integer)  # type: ignore[untyped-decorator]
    def load(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        model = context.data_model_manager[sig.args[0].dtype]
        return model.from_data(builder, builder.load(builder.gep(args[0], [args[1]], inbounds=True)))

    @lower_builtin(operator.setitem, Memory, types.Integer, types.Any)  # type: ignore[untyped-decorator]
    def store(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        model = context.data_model_manager[sig.args[0].dtype]
        builder.store(model.as_data(builder, args[2]), builder.gep(args[0], [args[1]], inbounds=True))

    record = Memory(types.int64)

    def field(builder: Any, run: Any, place: Any) -> Any:
        return builder.gep(run, [place if hasattr(place, "type") else word(place)], inbounds=True)

    def leave(context: Any, builder: Any, run: Any, why: int, where: Any, number: Any) -> None:
        """Say why, and return; the exception is one of Numba's making, and nobody looks at it."""
        for place, value in ((WHY, word(why)), (WHERE, where), (NEEDED, number)):
            builder.store(value, field(builder, run, place))
        context.call_conv.return_user_exc(builder, ArithmeticError)

    def with_room(context: Any, builder: Any, run: Any, slot: Any, needed: Any) -> Any:
        """The address of a slot of at least `needed` bytes; out of memory leaves the kernel."""
        at = builder.add(builder.mul(slot, word(SLOT_WORDS)), word(FIRST_SLOT))
        address, capacity = field(builder, run, at), field(builder, run, builder.add(at, word(CAPACITY)))
        had = builder.load(capacity)
        with builder.if_then(builder.icmp_signed(">", needed, had), likely=False):
            left = field(builder, run, LEFT)
            rest = builder.sub(builder.load(left), builder.sub(needed, had))
            with builder.if_then(builder.icmp_signed("<", rest, word(0)), likely=False):
                leave(context, builder, run, NO_MEMORY, slot, needed)
            resize = cgutils.get_or_insert_function(
                builder.module, ir.FunctionType(pointer, [pointer, word]), RESIZE
            )  # fmt: skip
            new = builder.ptrtoint(
                builder.call(resize, [builder.inttoptr(builder.load(address), pointer), needed]), word
            )
            with builder.if_then(builder.icmp_signed("==", new, word(0)), likely=False):
                leave(context, builder, run, NO_MEMORY, slot, needed)
            builder.store(rest, left)
            builder.store(new, address)
            builder.store(needed, capacity)
        return builder.load(address)

    def slot_of(dtype: Any) -> Any:
        @intrinsic  # type: ignore[untyped-decorator]
        def room(typing_context: Any, run: Any, slot: Any, count: Any) -> Any:
            memory = Memory(dtype)

            def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
                element = context.get_data_type(dtype)
                size = word(context.get_abi_sizeof(element))
                address = with_room(context, builder, args[0], args[1], builder.mul(args[2], size))
                return builder.inttoptr(address, element.as_pointer())

            return signature(memory, record, types.int64, types.int64), generate

        return room

    def short_array_of(dtype: Any) -> Any:
        @intrinsic(prefer_literal=True)  # type: ignore[untyped-decorator]
        def short_array(typing_context: Any, count: Any) -> Any:
            def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
                element = context.get_data_type(dtype)
                return cgutils.alloca_once(builder, element, size=word(sig.args[0].literal_value))

            return signature(Memory(dtype), count), generate

        return short_array

    @intrinsic  # type: ignore[untyped-decorator]
    def clear(typing_context: Any, memory: Any, count: Any) -> Any:
        def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            size = word(context.get_abi_sizeof(args[0].type.pointee))
            cgutils.memset(builder, args[0], builder.mul(args[1], size), 0)
            return context.get_dummy_value()

        return signature(types.none, memory, types.int64), generate

    @intrinsic  # type: ignore[untyped-decorator]
    def poll(typing_context: Any, run: Any, place: Any) -> Any:
        def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            # An atomic load is made anew in every iteration, and costs what any other does.
            stop = builder.load_atomic(field(builder, args[0], STOP), "monotonic", 8)
            with builder.if_then(builder.icmp_signed("!=", stop, word(0)), likely=False):
                leave(context, builder, args[0], STOPPED, args[1], word(0))
            return context.get_dummy_value()

        return signature(types.none, record, types.int64), generate

    @intrinsic  # type: ignore[untyped-decorator]
    def fail(typing_context: Any, run: Any, place: Any, number: Any) -> Any:
        def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            leave(context, builder, args[0], FAILED, args[1], args[2])
            # What follows is never reached, but must be somewhere.
            builder.position_at_end(builder.append_basic_block("after"))
            return context.get_dummy_value()

        return signature(types.none, record, types.int64, types.int64), generate

    numbers = {FLOAT: types.float64, INT: types.int64, BOOL: types.boolean}
    found: dict[str, Any] = {"clear": clear, "poll": poll, "fail": fail}
    for kind, stem in ((FLOAT, "floats"), (INT, "ints"), (BOOL, "bools")):
        found[stem] = slot_of(numbers[kind])
        found["few_" + stem] = short_array_of(numbers[kind])
    memories = {kind.upper(): Memory(dtype) for kind, dtype in numbers.items()}
    found["_KINDS"] = {**numbers, **memories, "run": record}
    return found
