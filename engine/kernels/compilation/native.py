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
    text, externals = module_text(emitted)
    with LOCK:
        return Code(object_code(text, emitted.text.count("\n") <= MOST_LINES_PAIRED), SYMBOL, externals)


def object_code(text: str, paired: bool = True) -> bytes:
    """A module's machine code; `paired` says whether like operations side by side become one on vectors."""
    from llvmlite import binding

    machine = target_machine()
    module = binding.parse_assembly(text)
    with sums_in_order():
        optimise(module, machine, paired)
    code: bytes = machine.emit_object(module)
    return code


@contextmanager
def sums_in_order() -> Iterator[None]:
    """LLVM vectorises loops that sum, and adds in the order that the source says, which it does not by itself.

    The option is the whole process's, and nobody can ask LLVM what it was: afterwards it is what LLVM has by itself, so
    that what others compile is as it would be without us, unless they have set the same option.
    """
    from llvmlite import binding

    with OPTION:
        binding.set_option("adiff", "--force-ordered-reductions=true")
        try:
            yield
        finally:
            binding.set_option("adiff", "--force-ordered-reductions=false")


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
