"""Calls of a loaded kernel: arguments in, results and flags out.

Machine code takes the words of a call (the parameters, the constants and the places of the results, of a status and of a byte
for each flag), a run record (load.py), and which rows to run for: a call that is for no table has one row. A `Frame` holds a
record and words for one call at a time; the memory that the kernel takes in its slots stays with the frame for the next call.
"""

from __future__ import annotations

import ctypes
from struct import Struct

from ...core.limits import LIMITS, MACHINE
from . import load
from .load import CAPACITY, ENTRY, LEFT, NO_MEMORY, SLOT_WORDS, STOP, first_slot

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from .load import Code

# Bytes of slots that stay with a frame between calls, at most.
KEPT = 256 << 20
WORD_OF = {"f": "d", "i": "q", "b": "q"}
RESULT_OF = {"f": "d", "i": "q", "b": "?7x"}
DTYPES = {"f": "float64", "i": "int64", "b": "bool"}
# In NumPy's C interface (PyArrayObject) the address of an array's elements follows what every object begins with.
ELEMENTS = object.__basicsize__
WORD_AT = ctypes.c_int64.from_address
WORD, ADDRESS = ctypes.c_int64, ctypes.c_void_p
FUNCTION: Any = ctypes.CFUNCTYPE(ctypes.c_int, ADDRESS, ADDRESS, WORD, WORD)
RELEASE = ctypes.CFUNCTYPE(None, ADDRESS)(("PyMem_RawFree", ctypes.pythonapi))


class Failed(Exception):
    """The kernel has left: the tape is to run the program."""


class OutOfMemory(Failed):
    """There is no memory for the kernel's slots, or no more is allowed."""


class Stopped(Failed):
    """The kernel has left because the stop word was set."""


def elements_of(array: Any) -> int:
    """The address of a NumPy array's elements: `__array_interface__` says the same ten times as slowly."""
    return WORD_AT(id(array) + ELEMENTS).value


class Frame:
    """The run record and the words of one call. `held` is how many bytes the slots have."""

    def __init__(self, interface: Any, size: int) -> None:
        first = first_slot(interface.flags)
        self.slots = range(first, first + SLOT_WORDS * interface.slots, SLOT_WORDS)
        self.record = (WORD * self.slots.stop)()
        self.run = ctypes.addressof(self.record)
        self.buffer = ctypes.create_string_buffer(size)
        self.address = ctypes.addressof(self.buffer)
        self.held = 0
        self.allowed = 0

    def begin(self, allowed: int) -> None:
        """Prepare a call whose slots may have some bytes."""
        if self.held > allowed:
            self.free()
        self.allowed = allowed
        self.record[LEFT] = allowed - self.held
        self.record[STOP] = 0

    def end(self, kept: int) -> None:
        self.held = self.allowed - self.record[LEFT]
        if self.held > kept:
            self.free()

    def free(self, release: Any = RELEASE, capacity: int = CAPACITY) -> None:
        """Give back the memory of the slots."""
        for place in self.slots:
            if self.record[place]:
                release(self.record[place])
                self.record[place] = self.record[place + capacity] = 0
        self.held = 0

    __del__ = free


class Entry:
    """A kernel that can be called; several threads may do so at once. `columns` says which parameters have a value for each row
    of a table (rows.py)."""

    def __init__(self, interface: Any, code: Code, columns: Sequence[bool] | None = None) -> None:
        self.library = load.load(code)
        self.interface = interface
        self.function: Any = FUNCTION(self.library[ENTRY])
        self.frames: list[Frame] = []
        self.constants = [elements_of(x) for x in interface.constants]
        parameters, results = interface.parameters, interface.results
        by_row = columns or [False] * len(parameters)
        self.arrays: list[Any] = [
            (k, shape, kind, by_row[k]) for k, (kind, shape) in enumerate(parameters) if shape or by_row[k]
        ]
        self.made: list[Any] = [(k, shape, kind) for k, (kind, shape) in enumerate(results) if shape]
        if self.arrays or self.made:
            import numpy

            self.numpy = numpy
            dtypes = {kind: numpy.dtype(name) for kind, name in DTYPES.items()}
            self.arrays = [(k, shape, dtypes[kind], rows) for k, shape, kind, rows in self.arrays]
            self.made = [(k, shape, dtypes[kind]) for k, shape, kind in self.made]
        # The words, then for calls that are for no table a word for each result, for the status, and a byte for each flag.
        given = "".join("q" if shape or rows else WORD_OF[kind] for (kind, shape), rows in zip(parameters, by_row))
        self.pack = Struct(f"={given}{len(self.constants) + len(results) + 2}q").pack_into
        self.offset = 8 * (len(given) + len(self.constants) + len(results) + 2)
        self.unpack = Struct(
            "=" + "".join("8x" if shape else RESULT_OF[kind] for kind, shape in results) + "q"
        ).unpack_from
        self.flags_at = self.offset + 8 * (len(results) + 1)

    def __call__(self, *values: Any, patient: bool = True) -> tuple[tuple[Any, ...], tuple[int, ...]]:
        """The results for values of the parameters, and the numbers of the flags that are set: scalars as Python numbers, arrays
        as new NumPy arrays.

        Unless the caller is `patient`, Ctrl-C and time limits stop the kernel, and raise what they raise. Raises Failed,
        OutOfMemory, Stopped.
        """
        given, kept = self.addresses(values) if self.arrays else (values, None)
        try:
            frame = self.frames.pop()
        except IndexError:
            frame = Frame(self.interface, self.flags_at + self.interface.flags)
        places: Any = range(frame.address + self.offset, frame.address + self.flags_at + 1, 8)
        made: list[Any] = []
        if self.made:
            places = list(places)
            for k, shape, dtype in self.made:
                made.append(self.numpy.empty(shape, dtype))
                places[k] = elements_of(made[-1])
        self.pack(frame.buffer, 0, *given, *self.constants, *places)
        self.run(frame, patient, (kept, made))
        *results, status = self.unpack(frame.buffer, self.offset)
        flags: Any = frame.buffer[self.flags_at : self.flags_at + self.interface.flags]
        self.frames.append(frame)
        if status:
            raise Failed
        for (k, _, _), array in zip(self.made, made):
            results.insert(k, array)
        return tuple(results), tuple([number for number, flag in enumerate(flags) if flag])

    def addresses(self, values: Sequence[Any], rows: tuple[int, ...] = ()) -> tuple[list[Any], list[Any]]:
        """Values of the parameters, with addresses in the place of arrays, and the arrays."""
        given, kept = list(values), []
        for k, shape, dtype, by_row in self.arrays:
            array = values[k]
            if array.__class__ is not self.numpy.ndarray or array.dtype is not dtype or not array.flags.c_contiguous:
                array = self.numpy.asarray(array, dtype, "C")
            if array.shape != (rows + shape if by_row else shape):
                raise ValueError(f"an array of shape {array.shape} for one of {shape}")
            kept.append(array)
            given[k] = elements_of(array)
        return given, kept

    def run(self, frame: Frame, patient: bool, kept: Any) -> None:
        """Call the kernel. Where it raises, the frame is used no more."""
        limit = LIMITS.max_memory
        held = frame.held
        frame.begin(MACHINE if limit is None else limit)
        if patient:
            status = self.function(frame.address, frame.run, 0, 1)
        else:
            from .threads import interruptible

            def work(held: Any = (frame, kept)) -> int:
                # A kernel that has been told to stop may run for a moment longer: what it reads and writes is kept until then.
                found: int = self.function(frame.address, frame.run, 0, 1)
                return found

            status = interruptible(work, lambda: frame.record.__setitem__(STOP, 1))
        if status == NO_MEMORY and held:
            # A slot that this call needs less of than the last one may hold what another lacks.
            frame.free()
            self.run(frame, patient, kept)
        elif status:
            raise OutOfMemory if status == NO_MEMORY else Stopped
        frame.end(KEPT)
