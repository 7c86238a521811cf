"""Emitted source to object code: Numba's translation from Python to LLVM, by a pipeline of our own, and LLVM's optimiser.

Numba's own pipeline runs some thirty passes over a function and a helper's machinery of dispatchers, wrappers and
libraries. Of these a kernel wants: bytecode to Numba's IR, type inference, and lowering to LLVM. All functions of a kernel
come into one module, which is optimised once.
"""

from __future__ import annotations

import inspect
import math
from _thread import allocate_lock
from contextlib import nullcontext
from functools import cache
from types import FunctionType

from llvmlite import binding, ir
from numba.core import bytecode, cgutils, funcdesc, interpreter
from numba.core import ir as numba_ir
from numba.core.compiler import Flags
from numba.core.imputils import user_function
from numba.core.lowering import Lower
from numba.core.targetconfig import ConfigStack
from numba.core.typeinfer import TypeInferer
from numba.core.typing.templates import fold_arguments, signature

from ...ops.kernel_functions import helper
from ...ops.scipy_functions import EXTERNALS
from .load import ENTRY, FAILED, FLAGS, Code, first_slot
from .numba_target import Callee, target, types
from .numba_types import INTRINSICS, MATH, MEMORIES, NP, NUMBERS, RECORD, add_room, float_function

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from ..ir import Emitted

LOCK = allocate_lock()
# LLVM's option by which loops that sum become vectors, with what they add in the order that the source says: sums of rational
# functions take two thirds of the time. LLVM then takes up to four times as long, so long sources go without; so do products of
# matrices with short rows, which take thrice the time.
ORDERED = "--force-ordered-reductions"
MOST_LINES_ORDERED = 200
WORD, STATUS = ir.IntType(64), ir.IntType(32)


def compiled(emitted: Emitted, columns: Sequence[bool] | None = None) -> Code:
    """The object code of emitted source, for this machine;`columns` says which parameters have a value for each row."""
    with LOCK:
        return Compilation(emitted).code(columns)


class Compilation:
    """The compilation of one emitted source; it stands for the library that Numba's lowering adds modules to."""

    name = "kernel"

    def __init__(self, emitted: Emitted) -> None:
        self.emitted = emitted
        self.modules: list[str] = []
        self.context = target()
        self.typing = self.context.typing_context
        self.codegen = self.context.codegen()
        self.flags = Flags()
        self.flags.error_model = "numpy"
        self.flags.nrt = False
        self.flags.noalias = True
        self.target = self.context.subtarget()
        self.namespace = self.names()

    # What Numba's lowering asks of a library.

    def create_ir_module(self, name: str) -> Any:
        return self.codegen._create_empty_module(name)

    def add_ir_module(self, module: Any) -> None:
        self.modules.append(str(module))

    def add_linking_library(self, library: Any) -> None:
        self.modules.append(library.get_llvm_str())

    # Functions.

    def names(self) -> dict[str, Any]:
        """What the emitted source finds around it. The source is ours throughout: names are generated, and nothing of the
        program's text is in it."""
        namespace: dict[str, Any] = {}
        exec(compile(self.emitted.text, "<kernel>", "exec"), namespace)
        own = {name: x for name, x in namespace.items() if x.__class__ is FunctionType}
        namespace.update(FLAGS=FLAGS, math=MATH, np=NP)
        pending = list(own)
        while pending:
            name = pending.pop()
            found: Any = None
            if name in own:
                found = own[name]
            elif name in namespace:
                continue
            elif name in EXTERNALS:
                # The loader finds a function of SciPy by its name. Cython's functions take one more integer.
                found = float_function(name, EXTERNALS[name], [ir.IntType(32)(0)])
            else:
                found = INTRINSICS.get(name) or helper(name)
            if found.__class__ is FunctionType:
                pending += [x for x in found.__code__.co_names if x not in namespace]
                found = FunctionType(found.__code__, namespace, name, found.__defaults__)
                found = found if name == "kernel" else self.helper(found)
            if found is not None:
                namespace[name] = found
        return namespace

    def lower(self, function: Any, args: tuple[Any, ...], known: dict[Any, Any]) -> Any:
        """Add a function for arguments of some types to the modules; its descriptor, also as `known[args]`."""
        known[args] = None
        with ConfigStack().enter(self.flags.copy()):
            identity = bytecode.FunctionIdentity.from_function(function)
            code = interpreter.Interpreter(identity).interpret(bytecode.ByteCode(identity))
            for block in code.blocks.values():
                if isinstance(block.body[-1], numba_ir.Raise):
                    block.body = [numba_ir.StaticRaise(ArithmeticError, (), block.body[-1].loc)]
            code.generator_info = None
            inferer = TypeInferer(self.typing, code, Quiet())
            with self.typing.callstack.register(self.target.target, inferer, identity, args):
                for number, (name, kind) in enumerate(zip(code.arg_names, args)):
                    inferer.seed_argument(name, number, kind)
                inferer.build_constraint()
                inferer.propagate()
                typemap, result, calltypes = inferer.unify()
            descriptor = funcdesc.PythonFunctionDescriptor.from_specialized_function(
                code, typemap, result, calltypes,
                mangler=self.target.mangler, inline=False, noalias=True, abi_tags=(),
            )  # fmt: skip
            known[args] = descriptor
            with self.target.push_code_library(self):
                Lowering(self.target, self, descriptor, code).lower()
            return descriptor

    def helper(self, function: Any) -> Callee:
        """A function of its own in the module, compiled for each types of arguments that it is called with."""
        pysig = inspect.signature(function)
        known: dict[Any, Any] = {}

        def define(*args: Any, **kws: Any) -> tuple[Any, Any]:
            folded = fold_arguments(
                pysig, args, kws, lambda i, p, x: types.unliteral(x), lambda i, p, x: types.Omitted(x), None
            )
            if folded not in known:
                self.lower(function, folded, known)
            descriptor = known[folded]
            # Helpers that call themselves return floats: what this one returns is not known yet.
            result = types.float64 if descriptor is None else descriptor.restype
            return signature(result, *folded).replace(pysig=pysig), call

        def call(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            return user_function(known[sig.args], ())(context, builder, sig, args)

        return Callee(define)

    # Object code.

    def code(self, columns: Sequence[bool] | None) -> Code:
        emitted = self.emitted
        kinds = [MEMORIES[kind] if shape else NUMBERS[kind] for kind, shape in emitted.parameters]
        kinds += [MEMORIES[x.dtype.kind] for x in emitted.constants]
        kinds += [MEMORIES[kind] for kind, _ in emitted.results]
        kernel = self.lower(self.namespace["kernel"], (RECORD, *kinds), {})
        host = self.create_ir_module("host")
        add_room(host, first_slot(emitted.flags))
        add_entry(host, self.target, kernel, emitted, columns or [False] * len(emitted.parameters))
        module = binding.parse_assembly(str(host))
        for text in self.modules:
            module.link_in(binding.parse_assembly(text))
        declared = {f.name for f in module.functions if f.is_declaration}
        for function in module.functions:
            if not function.is_declaration and function.name != ENTRY:
                function.linkage = "internal"
        module.verify()
        ordered = emitted.text.count("\n") <= MOST_LINES_ORDERED and not emitted.narrow
        return Code(object_code(module, ordered), sorted(declared & EXTERNALS.keys()))


class Quiet:
    """Type inference catches warnings around each of its thousands of constraints; none of ours warns."""

    def catch_warnings(self, *place: Any, **more: Any) -> Any:
        return nullcontext()


class Lowering(Lower):  # type: ignore[misc]
    def emit_environment_object(self) -> None:
        """None: it is for functions that use Python objects."""


def add_entry(module: Any, context: Any, kernel: Any, emitted: Emitted, columns: Sequence[bool]) -> None:
    """Define `int adiff_entry(long *words, long *run, long first, long last)`, which calls the kernel for rows of a table.

    The words are the parameters, the constants and the places of the results, then where to write a byte for each row, its
    status, and a byte for each flag of each row. `columns` says which parameters have a value for each row: their words are
    addresses of the first row's. The function returns early, with its status, where a row is stopped or finds no memory.
    """
    kind = ir.FunctionType(STATUS, [WORD.as_pointer(), WORD.as_pointer(), WORD, WORD])
    function = ir.Function(module, kind, ENTRY)
    words, run, first, last = function.args
    byte = ir.IntType(8)
    builder = ir.IRBuilder(function.append_basic_block())
    kinds = kernel.argtypes[1:]
    loaded = [builder.load(builder.gep(words, [WORD(k)], inbounds=True)) for k in range(len(kinds) + 2)]
    statuses, flags = [builder.inttoptr(x, byte.as_pointer()) for x in loaded[-2:]]
    sizes = [math.prod(shape) if by_row else 0 for (_, shape), by_row in zip(emitted.parameters, columns)]
    sizes += [0] * len(emitted.constants) + [math.prod(shape) for _, shape in emitted.results]
    declared = context.declare_function(module, kernel)
    with cgutils.for_range(builder, last, first) as loop:
        row = loop.index
        args = [argument(context, builder, x, word, builder.mul(row, WORD(size)) if size else None)
                for x, word, size in zip(kinds, loaded, sizes)]  # fmt: skip
        left, result = context.call_conv.call_function(builder, declared, kernel.restype, kernel.argtypes, [run, *args])
        status = builder.select(left.is_ok, builder.trunc(result, STATUS), left.code)
        builder.store(builder.trunc(status, byte), builder.gep(statuses, [row], inbounds=True))
        for number in range(emitted.flags):
            flag = builder.gep(run, [WORD(FLAGS + number)], inbounds=True)
            at = builder.add(builder.mul(row, WORD(emitted.flags)), WORD(number))
            builder.store(builder.trunc(builder.load(flag), byte), builder.gep(flags, [at], inbounds=True))
            builder.store(WORD(0), flag)
        with builder.if_then(builder.icmp_signed(">", status, STATUS(FAILED)), likely=False):
            builder.ret(status)
    builder.ret(STATUS(0))


def argument(context: Any, builder: Any, kind: Any, word: Any, start: Any) -> Any:
    """An argument of the kernel from its word: the number or the address that it is, or what is at `start` of an address."""
    pointer = kind in MEMORIES.values()
    if pointer or start is not None:
        element = kind.dtype if pointer else kind
        place = builder.inttoptr(word, context.get_data_type(element).as_pointer())
        if start is not None:
            place = builder.gep(place, [start], inbounds=True)
        return place if pointer else context.data_model_manager[kind].from_data(builder, builder.load(place))
    if kind is types.float64:
        return builder.bitcast(word, ir.DoubleType())
    return word if kind is types.int64 else builder.icmp_signed("!=", word, WORD(0))


@cache
def target_machine() -> Any:
    """This machine, with all that it can do."""
    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    return binding.Target.from_default_triple().create_target_machine(
        cpu=binding.get_host_cpu_name(), features=binding.get_host_cpu_features().flatten(), opt=3, reloc="default",
        codemodel="jitdefault", jit=True,
    )  # fmt: skip


def object_code(module: Any, ordered: bool) -> bytes:
    """LLVM's passes over a module, as a C compiler's -O3, and its machine code."""
    module.triple = target_machine().triple
    module.data_layout = str(target_machine().target_data)
    options = binding.create_pipeline_tuning_options(speed_level=3)
    options.loop_vectorization = options.slp_vectorization = True
    options.loop_interleaving = options.loop_unrolling = True
    builder = binding.create_pass_builder(target_machine(), options)
    # The option is the whole process's: afterwards it has what LLVM has by itself.
    if ordered:
        binding.set_option("adiff", f"{ORDERED}=true")
    try:
        builder.getModulePassManager().run(module, builder)
        code: bytes = target_machine().emit_object(module)
        return code
    finally:
        binding.set_option("adiff", f"{ORDERED}=false")
