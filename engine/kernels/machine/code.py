"""Machine code of kernels: loading it by llvmlite alone, and calling it.

A kernel is a function `int kernel(results *, exception **, run *, parameters ...)`: Numba's convention, so that both
compilers' kernels are called alike; nobody looks at the exception. It gives 0 if it went to its end. `run` is the
record that it shares with its host (record.py). Nothing else is shared, so that several threads may run one kernel, each
with a record of its own.
"""

from __future__ import annotations

import ctypes
import weakref

from ...core.cores import cores
from ..ir import BOOL, FLOAT, INT, SINGLE, WIDTHS, Left, Stopped, Unsupported
from . import frames, spare
from .record import (
    CAPACITY,
    FIRST_SLOT,
    LEFT,
    NEEDED,
    NO_MEMORY,
    PLENTY,
    SLOT_WORDS,
    STOP,
    STOPPED,
    THREADS,
    WHERE,
    WHY,
    address_of,
    array_of,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from ..emitted import Emitted

RESIZE = "adiff_resize"
# How the names of constant arrays begin whose elements are beside the code, before their numbers.
HELD = "adiff_held_"
# How the names of externals begin that are Python's.
ROUTINE = "routine_"

NOTHING_MORE: Mapping[str, int] = {}
SCALARS = {FLOAT: ctypes.c_double, INT: ctypes.c_int64, BOOL: ctypes.c_bool, SINGLE: ctypes.c_float}


class Code:
    """Object code, the name of its function, and what it calls of other libraries (externals.py)."""

    __slots__ = ("externals", "object", "symbol")

    def __init__(self, code: bytes, symbol: str, externals: Sequence[str] = ()) -> None:
        self.object = code
        self.symbol = symbol
        self.externals = externals


def resize_address() -> int:
    """The address of a `realloc` that any thread may call."""
    return ctypes.cast(ctypes.pythonapi.PyMem_RawRealloc, ctypes.c_void_p).value or 0


def processor() -> str:
    """The processor of this machine, with what it can do."""
    from llvmlite import binding

    return f"{binding.get_host_cpu_name()} {binding.get_host_cpu_features().flatten()}"


class Loader:
    """Turns object code into addresses, in one process."""

    def __init__(self) -> None:
        from llvmlite import binding

        binding.initialize_native_target()
        binding.initialize_native_asmprinter()
        self.binding = binding
        machine = binding.Target.from_default_triple().create_target_machine(jit=True)
        self.jit = binding.create_lljit_compiler(machine, suppress_errors=True)
        self.libraries = 0

    def load(
        self, code: Code, held: Sequence[bytes] = (), symbols: Mapping[str, int] = NOTHING_MORE
    ) -> tuple[int, Any]:
        """The address of the function, and what must be kept as long as it may be called. `held` are the elements of the
        constant arrays that are not in the code, and `symbols` addresses that it asks for.

        Raises Unsupported for code that is broken, or calls what is not here.
        """
        self.libraries += 1
        library = (
            self.binding.JITLibraryBuilder()
            .add_current_process()
            .add_object_img(code.object)
            .import_symbol(RESIZE, resize_address())
            .export_symbol(code.symbol)
        )
        for name in code.externals:
            from .externals import address

            library.import_symbol(name, address(name))
        for name, place in symbols.items():
            library.import_symbol(name, place)
        for number, elements in enumerate(held):
            library.import_symbol(f"{HELD}{number}", ctypes.cast(ctypes.c_char_p(elements), ctypes.c_void_p).value or 0)
        try:
            kept = library.link(self.jit, f"kernel{self.libraries}")
        except RuntimeError as fault:
            raise Unsupported("machine code that this system does not load") from fault
        return kept[code.symbol], (kept, held)


LOADER: list[Loader] = []


def loader() -> Loader:
    """The process's loader."""
    if not LOADER:
        LOADER.append(Loader())
    return LOADER[0]


class Entry:
    """A kernel that can be called."""

    def __init__(self, emitted: Emitted, code: Code) -> None:
        address, self.kept = loader().load(code, emitted.held)
        # Whether it never takes long between two questions: routines of libraries ask none.
        self.asks = not code.externals
        # Whether Python runs inside the kernel.
        self.routines = any(name.startswith(ROUTINE) for name in code.externals)
        # How many threads share its loops.
        self.threads = cores() if "prange(" in emitted.text else 1
        self.parameters = emitted.parameters
        self.results = emitted.results
        self.slots = emitted.slots
        kinds: list[Any] = [SCALARS.get(letter, ctypes.c_void_p) for letter in self.parameters]
        pointer = ctypes.c_void_p
        self.function = ctypes.CFUNCTYPE(ctypes.c_int, pointer, pointer, pointer, *kinds)(address)
        fields = [
            (f"r{k}", SCALARS.get(r, pointer) if r.__class__ is str else pointer) for k, r in enumerate(self.results)
        ]
        self.structure: Any = type("Results", (ctypes.Structure,), {"_fields_": fields})
        # What every call needs, found once: the record's type, which values are addresses, where the arrays of results
        # go (number, kind, length, place of the address, bytes), and where the addresses are of what is to be freed.
        self.record: Any = ctypes.c_int64 * (FIRST_SLOT + SLOT_WORDS * self.slots)
        self.addressed = [letter.isupper() for letter in self.parameters]
        self.arrays: list[tuple[int, str, int, int, int]] = []
        own = set()
        for k, result in enumerate(self.results):
            if result.__class__ is not str:
                slot, kind, size = result
                own.add(slot)
                self.arrays.append((k, kind, size, FIRST_SLOT + SLOT_WORDS * slot, size * WIDTHS[kind]))
        if any(kind != INT for _, kind, *_ in self.arrays):
            array_of(FLOAT, 0)  # what imports NumPy, which is no part of a run
        self.taken = [FIRST_SLOT + SLOT_WORDS * slot for slot in range(self.slots) if slot not in own]
        # The large results, which like the memory taken wait for the next call.
        self.large = [k for k, _, _, _, width in self.arrays if width >= spare.LARGE]
        self.large_size = sum(width for _, _, _, _, width in self.arrays if width >= spare.LARGE)
        self.leaves = bool(self.taken or self.large)
        # Nobody looks at what a kernel raises.
        self.nobody = ctypes.c_void_p()
        self.exception = ctypes.addressof(self.nobody)
        self.owner = object()
        weakref.finalize(self, spare.forget, self.owner).atexit = False
        self.frames = frames.Frames(self.taken)
        self.frames.suffice = not self.large and not self.routines
        weakref.finalize(self, self.frames.clear).atexit = False
        self.fields = [f"r{k}" for k in range(len(self.results))]
        # Of each result its field or, of an array, the number among the arrays.
        among = {k: number for number, (k, *_) in enumerate(self.arrays)}
        self.parts: list[Any] = [among.get(k, name) for k, name in enumerate(self.fields)]

    def __call__(
        self,
        *values: Any,
        memory: int | None = None,
        patient: bool = True,
        started: Callable[[Any], object] | None = None,
    ) -> tuple[Any, ...]:
        """The results for values of the parameters: scalars as Python numbers, arrays as flat NumPy arrays (short ones
        of integers as arrays of ctypes).

        `memory` limits the bytes that the kernel takes beside them. Where the caller is not `patient`, signals are
        answered, and stop the kernel; `started` is given the record, for callers that stop it themselves. Raises Left
        where the kernel left, and Stopped.
        """
        if patient and memory is None and started is None and self.frames.suffice:
            return frames.call(self, values)
        allowed = PLENTY if memory is None else memory
        had = self.taken_up(allowed)
        run = self.record() if had is None else had.record
        run[THREADS] = self.threads
        left = run[LEFT] = allowed if had is None else allowed - had.size
        run[STOP] = run[WHY] = run[WHERE] = run[NEEDED] = 0
        if started is not None:
            started(run)
        given = [address_of(v) if addressed else v for addressed, v in zip(self.addressed, values)]
        arrays = self.provide(run, had)
        results = self.structure()
        places = ctypes.addressof(results), self.exception, ctypes.addressof(run)
        if patient and started is None and not self.routines:
            try:
                status = self.function(*places, *given)
            finally:
                self.put_away(run, arrays, had if run[LEFT] == left else None)
        else:
            status = self.run_watched(run, arrays, places, given, values, patient)
        if status:
            if run[WHY] == STOPPED and self.asks:
                # The signal was none that ends anything.
                self.asks = False
                return self(*values, memory=memory, patient=patient, started=started)
            if had is not None and run[WHY] == NO_MEMORY:
                # A slot that this call needs less of than the last one may hold what another lacks.
                spare.forget(self.owner)
                return self(*values, memory=memory, patient=patient, started=started)
            raise Left(run[WHY], run[WHERE], run[NEEDED], arrays)
        return tuple([arrays[k] if k in arrays else getattr(results, name) for k, name in enumerate(self.fields)])

    def run_watched(
        self, run: Any, arrays: dict[int, Any], places: tuple[int, ...], given: list[Any], values: Any, patient: bool
    ) -> int:
        """The status of a run that may be told to stop: by signals, unless the caller is patient."""
        # A kernel that has been told to stop may run for a moment longer: what it reads and writes is kept until then.
        kept: list[Any] = [values, arrays]

        def call() -> int:
            try:
                return self.function(*places, *given)  # type: ignore[no-any-return]
            finally:
                # Whoever stops it may do so too late: the record is not used again.
                self.put_away(self.record(*run), arrays, None)
                del kept[:]
                if self.routines:
                    from .externals import settle

                    settle()

        if patient:
            return call()
        from .threads import interruptible, stoppable

        try:
            status: int = (stoppable if self.asks else interruptible)(call, lambda: run.__setitem__(STOP, 1))
            if status and run[WHY] == STOPPED:
                ctypes.pythonapi.PyErr_CheckSignals()
        except BaseException as cause:
            if run[STOP] and run[WHY] == STOPPED:
                raise Stopped(run[WHERE], arrays) from cause
            raise
        return status

    def taken_up(self, allowed: int) -> spare.Spare | None:
        """What the last call left, if it is no more than this one may take."""
        had = spare.taken_up(self.owner) if self.leaves else None
        if had is not None and had.size > allowed:
            had.free()
            return None
        return had

    def provide(self, run: Any, had: spare.Spare | None) -> dict[int, Any]:
        """Arrays for the results that are arrays, in the slots where the kernel looks for them."""
        arrays: dict[int, Any] = {}
        for k, kind, size, place, width in self.arrays:
            made = had.array(k, kind, size) if had is not None and had.results else None
            if made is None:
                made = array_of(kind, size)
                run[place] = address_of(made)
                run[place + CAPACITY] = width
            arrays[k] = made
        return arrays

    def put_away(self, run: Any, arrays: dict[int, Any], had: spare.Spare | None) -> None:
        """Leave what the kernel took, and its large results, to the next call; `had` is what it had, if that is all."""
        if self.leaves:
            large = {k: arrays[k] for k in self.large}
            if had is None:
                size = sum([run[place + CAPACITY] for place in self.taken])
                had = spare.Spare(run, self.taken, size, large, self.large_size)
            else:
                had.results, had.result_size = large, self.large_size
            spare.leave(self.owner, had)
