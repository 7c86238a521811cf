"""Machine code of a kernel by LLVM alone: its source translated (llvm_module.py), optimised and compiled.

llvmlite's binding is imported here, and only when a kernel is compiled.
"""

from __future__ import annotations

from _thread import allocate_lock
from contextlib import contextmanager

from ..machine.code import Code
from .llvm_module import SYMBOL, module_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from ..emitted import Emitted

LOCK = allocate_lock()
OPTION = allocate_lock()
MACHINES: list[Any] = []
# Longer sources are compiled without a search for operations to pair, whose time grows with their length's square.
MOST_LINES_PAIRED = 400


def compiled(emitted: Emitted) -> Code:
    """The machine code of emitted source, for this machine."""
    text, externals = module_text(emitted, wide_vectors())
    with LOCK:
        return Code(object_code(text, emitted.text.count("\n") <= MOST_LINES_PAIRED), SYMBOL, externals)


def object_code(text: str, paired: bool = True) -> bytes:
    """A module's machine code; `paired` says whether like operations side by side become one on vectors.

    Raises RuntimeError for text that is no module.
    """
    from llvmlite import binding

    machine = target_machine()
    module = binding.parse_assembly(text)
    module.verify()  # what the parser lets pass would end the process in LLVM's passes
    with settings():
        optimise(module, machine, paired)
        if not is_sound(module):
            # LLVM's passes over pairs may leave an operation before one that it needs: wrong, or the process's end.
            module = binding.parse_assembly(text)
            optimise(module, machine, False)
            module.verify()
        code: bytes = machine.emit_object(module)
    return code


def is_sound(module: Any) -> bool:
    """Whether LLVM takes a module for one that means something."""
    try:
        module.verify()
    except RuntimeError:
        return False
    return True


# Options of LLVM's passes and of its making of machine code: how they are to be set here, and what LLVM has by itself.
#
# Loops that sum become vectors, with what they add in the order that the source says. And loops of more than a few
# iterations are not written out before they could become vectors: at 20 to 40 iterations that made products of matrices
# two to three times as slow. Sums of where one loop ended and how often the next runs are followed no further than an index
# needs: through thirty loops, each of which goes on where the last one ended, that took minutes. And before the instructions of
# a long block are put in order, each load and store in it is held against no more others than these: of products of small
# matrices, which are such blocks, that took four times as long as all else that is done to machine code.
SETTINGS = (
    ("--force-ordered-reductions", "true", "false"),
    ("--unroll-full-max-count", "16", str(2**32 - 1)),
    ("--scalar-evolution-huge-expr-threshold", "32", "4096"),
    ("--dag-maps-huge-region", "200", "1000"),
)


@contextmanager
def settings() -> Iterator[None]:
    """SETTINGS, which are the whole process's, and nobody can ask LLVM what they were: afterwards they are what LLVM has by
    itself, so that what others compile is as it would be without us, unless they have set the same options."""
    from llvmlite import binding

    with OPTION:
        for name, ours, _ in SETTINGS:
            binding.set_option("adiff", f"{name}={ours}")
        try:
            yield
        finally:
            for name, _, default in SETTINGS:
                binding.set_option("adiff", f"{name}={default}")


def target_machine() -> Any:
    """This machine, with all that it can do."""
    if not MACHINES:
        from llvmlite import binding

        binding.initialize_native_target()
        binding.initialize_native_asmprinter()
        MACHINES.append(
            binding.Target.from_default_triple().create_target_machine(
                cpu=binding.get_host_cpu_name(),
                features=binding.get_host_cpu_features().flatten(),
                opt=3,
                reloc="default",
                codemodel="jitdefault",
                jit=True,
            )
        )
    return MACHINES[0]


def wide_vectors() -> bool:
    """Whether this machine has vectors of 512 bits, and hardly slows its clock down for them: since Ice Lake and Zen 4."""
    from llvmlite import binding

    return bool(binding.get_host_cpu_features().get("avx512vbmi2"))


def optimise(module: Any, machine: Any, paired: bool) -> None:
    """LLVM's passes over a module, as a C compiler's -O3."""
    from llvmlite import binding

    module.triple = machine.triple
    module.data_layout = str(machine.target_data)
    options = binding.create_pipeline_tuning_options(speed_level=3)
    options.loop_vectorization = True
    options.slp_vectorization = paired
    options.loop_interleaving = True
    options.loop_unrolling = True
    builder = binding.create_pass_builder(machine, options)
    builder.getModulePassManager().run(module, builder)
