"""A door to a kernel: one function of Python in machine code (door_code.py) that takes a point as a caller has it, looks
whether its values are such as the kernel is for, makes the arrays of the results, calls the kernel, and looks whether
these are as usual (usual.py). In Python the same takes ten times as long, longer than many a kernel.

A door has one frame (frames.py), so that one thread at a time is inside: others, like points and results that are not as
usual, take the way through Python.
"""

from __future__ import annotations

import ctypes
import sys
import weakref
from _thread import allocate_lock
from math import prod

from ..ir import FLOAT, Unsupported
from . import written
from .door_code import (
    ANY,
    ARRAY,
    CALL,
    CALLED,
    DOOR,
    FLOATING,
    FREE,
    INPUT,
    NUMBER,
    RESULT,
    SAME,
    SPOILED,
    WHOLE,
    WHOLES,
    WORDS,
    call_text,
    callable_by,
    door_text,
)
from .frames import LITTLE
from .record import CAPACITY, LEFT, NEEDED, NO_MEMORY, WHERE, WHY, address_of, array_of
from .spare import free

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from .frames import Frame
    from .usual import Usual

# What Python calls with its arguments in a row.
METH_FASTCALL = 0x80
# Where NumPy's C interface has PyArray_New.
PYARRAY_NEW = 93
# An integer is compared as a word.
WORD_LIMIT = 2**63
# How Python calls the function of all doors, and what must be kept for it; and the addresses of what calls kernels, by
# signature, with the same.
FUNCTION: list[tuple[Method, Any]] = []
CALLS: dict[str, tuple[int, Any]] = {}


class Method(ctypes.Structure):
    """Python's PyMethodDef."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("text", ctypes.c_char_p),
    )


class Kept:
    """What the function of a door refers to by address: it is there as long as the function is, which may be longer than
    the door, with `frame` as long."""

    __slots__ = ("__weakref__", "frame", "things")

    def __init__(self, frame: Frame, taken: Sequence[int], things: list[Any]) -> None:
        self.frame = frame
        self.things = things
        # Emptied, not only freed: what is collected together with the function may still call it.
        weakref.finalize(self, empty, frame, taken).atexit = False


class Asked:
    """An input as a door looks at it: its name, whether it stands `beside` the point, what `kind` it is, and with what it is
    compared: the lengths of an array, an integer, or the object itself. One that is `passed` is a parameter."""

    __slots__ = ("beside", "detail", "kind", "name", "passed")

    def __init__(self, name: str, kind: int, detail: Any = None, beside: bool = False, passed: bool = True) -> None:
        self.name = name
        self.kind = kind
        self.detail = detail
        self.beside = beside
        self.passed = passed


class Door:
    """The door to a kernel that is called as `usual` does.

    `function(point, beside)` takes two dicts from names to values and gives the results that `usual` would give, arrays
    in the `shapes` that are given for them (None: flat), as a tuple; None where the point is none that it takes, and False
    where the results are not as usual. Integers that bound loops must be those that `expect` was told last.
    """

    def __init__(
        self, usual: Usual, inputs: Sequence[Asked], shapes: Sequence[tuple[int, ...] | None], any_beside: bool = False
    ) -> None:
        self.usual = usual
        entry = usual.entry
        self.frame = usual.frame()
        self.frame.run[LEFT] = LITTLE
        # What the words refer to by address.
        self.kept: list[Any] = [inputs, entry, usual.settle]
        owner = Kept(self.frame, entry.taken, self.kept)
        self.parameters = self.words_of([0] * len(entry.parameters))
        held = self.words_of([0] * len(inputs))
        self.mending = allocate_lock()
        self.bounds: list[int] = []
        self.inputs = self.words_of(self.input_words(inputs))
        results = self.words_of(self.result_words(shapes))
        new = self.words_of([0] * len(usual.given))
        beside = sum(x.beside for x in inputs)
        words = dict.fromkeys(WORDS, 0)
        caller, calling = call(entry.parameters)
        structure, exception, run = self.frame.addresses
        words |= {
            "state": FREE, "kernel": code_of(entry.function), "call": caller, "structure": structure,
            "exception": exception, "run": run, "plan": self.frame.plan, "settle": code_of(usual.settle),
            "count": len(inputs), "of_point": len(inputs) - beside, "beside": ANY if any_beside else beside,
            "inputs": ctypes.addressof(self.inputs), "parameters": ctypes.addressof(self.parameters),
            "held": ctypes.addressof(held), "results_count": len(usual.given), "results": ctypes.addressof(results),
            "new": ctypes.addressof(new), "dict": id(dict), "float": id(float), "int": id(int), "none": id(None),
            "false": id(False),
        }  # fmt: skip
        np = sys.modules.get("numpy")
        if np is not None:
            words |= {"array": id(np.ndarray), "make_array": array_maker()}
        self.words = self.words_of(words.values())
        method, code = door()
        self.kept += [method, code, calling]
        capsule = ctypes.pythonapi.PyCapsule_New
        capsule.restype, capsule.argtypes = ctypes.py_object, [ctypes.c_void_p] * 3
        made = ctypes.pythonapi.PyCFunction_NewEx
        made.restype, made.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p]
        bound = (capsule(ctypes.addressof(self.words), None, None), owner)
        self.function = made(ctypes.addressof(method), bound, None)

    def words_of(self, values: Any) -> Any:
        """Words in memory that stays where it is as long as the door or its function is there."""
        values = list(values)
        found = (ctypes.c_int64 * max(1, len(values)))(*values)
        self.kept.append(found)
        return found

    def input_words(self, inputs: Sequence[Asked]) -> list[int]:
        np = sys.modules.get("numpy")
        found: list[int] = []
        place = ctypes.addressof(self.parameters)
        for x in inputs:
            words = dict.fromkeys(INPUT, 0)
            words |= {"kind": x.kind, "name": id(x.name), "place": int(x.beside)}
            if x.kind in (ARRAY, WHOLES):
                dtype = np.dtype(np.float64 if x.kind == ARRAY else np.int64)  # type: ignore[union-attr]
                self.kept.append(dtype)
                lengths = self.words_of(x.detail)
                words |= {"detail": len(x.detail), "lengths": ctypes.addressof(lengths), "dtype": id(dtype)}
            elif x.kind == SAME:
                words["detail"] = id(x.detail)
            elif x.kind == WHOLE and x.passed:
                self.bounds.append(len(found) + INPUT.index("detail"))
            elif x.kind == WHOLE:
                if not -WORD_LIMIT <= x.detail < WORD_LIMIT:
                    raise Unsupported("an integer that no word holds")
                words["detail"] = x.detail
            if x.passed:
                words["to"] = place
                place += 8
            found.extend(words.values())
        return found

    def result_words(self, shapes: Sequence[tuple[int, ...] | None]) -> list[int]:
        """The words of the results, and memory of its own for each array that is none of them."""
        usual, entry, frame = self.usual, self.usual.entry, self.frame
        record, plan = frame.addresses[2], frame.plan
        places = {k: place for k, _, _, place, _ in entry.arrays}
        start = ctypes.addressof(frame.structure)
        found: list[int] = []
        for k, shape in zip(usual.given, shapes, strict=True):
            result = entry.results[k]
            kind, size = (result, 1) if result.__class__ is str else result[1:]
            if kind != FLOAT:
                raise Unsupported("a result that is none of floats")
            words = dict.fromkeys(RESULT, 0)
            if result.__class__ is str:
                words |= {"dimensions": -1, "lengths": start + getattr(entry.structure, entry.fields[k]).offset}
            else:
                lengths = (size,) if shape is None else shape
                assert prod(lengths) == size
                words |= {"dimensions": len(lengths), "lengths": ctypes.addressof(self.words_of(lengths))}
                words["to"] = record + 8 * places[k]
                if k in usual.steps:
                    words["looked_at"] = plan + 8 * usual.steps[k]
            found.extend(words.values())
        for k, kind, size, place, step in usual.made:
            if k not in usual.given:
                array = array_of(kind, size)
                self.kept.append(array)
                frame.run[place] = address_of(array)
                if step >= 0:
                    frame.words[step] = frame.run[place]
        return found

    def expect(self, bounds: Sequence[int]) -> None:
        """Take points with these integers as bounds of loops, in the order of the inputs, from now on."""
        for place, bound in zip(self.bounds, bounds, strict=True):
            self.inputs[place] = bound

    @property
    def shut(self) -> bool:
        """Whether the kernel has left with an error, so that nobody comes in until the door has been mended."""
        return bool(self.words[0] == SPOILED)

    def mend(self) -> bool:
        """Make a door usable again behind which a kernel left with an error. False if it wants more memory than a frame keeps:
        such a kernel is not called this way."""
        with self.mending:
            if not self.shut:
                return True
            run = self.frame.run
            if run[WHY] == NO_MEMORY:
                return False
            empty(self.frame, self.usual.entry.taken)
            run[WHY] = run[WHERE] = run[NEEDED] = 0
            run[LEFT] = LITTLE
            self.words[0] = FREE
            return True


def empty(frame: Frame, taken: Sequence[int]) -> None:
    """Give back the memory that a kernel took in a frame."""
    free(frame.run, taken)
    for place in taken:
        frame.run[place] = frame.run[place + CAPACITY] = 0


def possible(usual: Usual) -> bool:
    """Whether there may be a door to a kernel: where objects are as machine code expects them, and calls take little."""
    plain = sys.implementation.name == "cpython" and ctypes.sizeof(ctypes.c_void_p) == 8
    locked = not hasattr(sys, "_is_gil_enabled") or sys._is_gil_enabled()
    entry = usual.entry
    return (
        plain
        and locked
        and usual.frames.suffice
        and not usual.large
        and not entry.routines
        and callable_by(entry.parameters)
    )


def code_of(function: Any) -> int:
    """The address of a function of ctypes."""
    return ctypes.cast(function, ctypes.c_void_p).value or 0


def array_maker() -> int:
    """The address of NumPy's PyArray_New."""
    from .externals import capsule_address

    modules = sys.modules
    module = modules.get("numpy._core._multiarray_umath") or modules["numpy.core._multiarray_umath"]
    table = capsule_address(module._ARRAY_API, None)
    return ctypes.c_int64.from_address(table + 8 * PYARRAY_NEW).value


def door() -> tuple[Method, Any]:
    """How Python calls the function of all doors, loaded or compiled once in a process, and what must be kept for it."""
    if not FUNCTION:
        symbols = {name: code_of(getattr(ctypes.pythonapi, name)) for name in CALLED}
        address, code = written.function(DOOR, door_text(), symbols)
        FUNCTION.append((Method(b"kernel", address, METH_FASTCALL, None), code))
    return FUNCTION[0]


def call(parameters: str) -> tuple[int, Any]:
    """The address of what calls kernels of a signature, and what must be kept for it."""
    kinds = "".join("P" if kind.isupper() else kind for kind in parameters)
    if kinds not in CALLS:
        CALLS[kinds] = written.function(CALL, call_text(kinds))
    return CALLS[kinds]


__all__ = ["ARRAY", "FLOATING", "NUMBER", "SAME", "WHOLE", "WHOLES", "Asked", "Door", "possible"]
