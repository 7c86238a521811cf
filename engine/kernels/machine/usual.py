"""Calls of a kernel by those who take its results only where they are as most are: finite, at no singular point, the
program's integers apart. Of such calls only what differs from one to the next is done each time.

A frame (frames.py) keeps the arrays of short results too, of which every caller is given a copy.
"""

from __future__ import annotations

import ctypes
import weakref

from ..built import LONG
from ..ir import FLOAT, WIDTHS
from .frames import LITTLE, Frame, Frames, frame_of
from .record import LEFT, PLENTY, address_of, array_of
from .settled import ADDRESS, DERIVATIVE, FLAGS, STEP, TRUTH, VALUE, plan_of, settle
from .spare import taken_up

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from .code import Entry

# Bytes of a result that are copied sooner than memory for it is made known to the kernel.
SHORT = 1 << 12


class Usual:
    """Calls one kernel. Of its results the one at `flags` tells of singular points, that at `truth` whether the value is
    an integer of the program, and that at `count` counts what is not finite in the long derivatives; they are None where
    there is none such, and none of them is given."""

    def __init__(self, entry: Entry, flags: int | None, truth: int | None, count: int | None = None) -> None:
        self.entry = entry
        self.function = entry.function
        self.settle = settle()
        self.frames = Frames(entry.taken)
        self.frames.suffice = entry.frames.suffice
        weakref.finalize(self, self.frames.clear).atexit = False
        self.given = [k for k in range(len(entry.results)) if k not in (flags, truth, count)]
        # What each result is, for those that are looked at.
        self.roles: dict[int, int] = {}
        for k, result in enumerate(entry.results):
            role = VALUE if k == 0 else FLAGS if k in (flags, count) else TRUTH if k == truth else DERIVATIVE
            kind, size = (result, 1) if result.__class__ is str else result[1:]
            if count is not None and role == DERIVATIVE and size >= LONG:
                continue  # the kernel has looked at it itself
            if size and (role in (FLAGS, TRUTH) or kind == FLOAT):
                self.roles[k] = role
        # Where the plan has the addresses of what is looked at.
        self.steps = steps = {k: STEP * step + ADDRESS for step, k in enumerate(self.roles)}
        # The arrays that are kept (number, kind, length, and the place of the address in the record), and those that are
        # made for each call (number, kind, length, and the places of the address in the record and in the plan, or -1).
        self.kept: list[tuple[int, str, int, int]] = []
        self.made: list[tuple[int, str, int, int, int]] = []
        # Where each result is: a field of the structure, the place k among the arrays kept, or ~k among those made.
        self.parts: list[Any] = [*entry.fields]
        for k, kind, size, place, _ in entry.arrays:
            if k == flags or (kind == FLOAT and size * WIDTHS[FLOAT] <= SHORT):
                self.parts[k] = len(self.kept)
                self.kept.append((k, kind, size, place))
            else:
                self.parts[k] = ~len(self.made)
                self.made.append((k, kind, size, place, steps.get(k, -1)))
        self.parts = [self.parts[k] for k in self.given]
        # The large results, with their places among the arrays made: memory for which the next call may have too.
        self.large = [(k, number) for number, (k, *_) in enumerate(self.made) if k in entry.large]

    def __call__(self, values: Sequence[Any], passed: Sequence[Any], patient: bool = True) -> list[Any] | None:
        """The results for values of the parameters, `passed` being these with addresses in the place of arrays; None
        where they are not as usual. May raise Left; signals stop the kernel, with Stopped, where the caller is not
        `patient`."""
        frames = self.frames
        if not patient or self.entry.routines:
            return self.at_large(values, patient)
        frame: Any
        if frames.suffice:
            try:
                frame = frames.waiting.pop()
            except IndexError:
                frame = self.frame()
        else:
            frame = taken_up(frames) or self.frame()
        status = -1
        # Loops in the place of comprehensions, which are calls.
        found: list[Any] = []
        made: list[Any] = []
        try:
            for array in self.made:
                made.append(self.provide(frame, *array))
            status = self.function(*frame.addresses, *passed)
            if status or self.settle(frame.plan):
                return None
            kept, results = frame.kept, frame.structure
            for part in self.parts:
                if part.__class__ is str:
                    found.append(getattr(results, part))
                else:
                    found.append(kept[part].copy() if part >= 0 else made[~part])
            return found
        finally:
            if status:
                frames.drop(frame)
            else:
                size = PLENTY - frame.run[LEFT]
                if size <= LITTLE and not self.large:
                    frames.waiting.append(frame)
                else:
                    large = {k: made[number] for k, number in self.large}
                    frames.leave(frame, size, large, self.entry.large_size)

    def frame(self) -> Frame:
        """A frame for one call, with its arrays and the plan of what is to be looked at."""
        frame = frame_of(self.entry)
        addresses = {}
        for k, kind, size, place in self.kept:
            array = array_of(kind, size)
            frame.kept.append(array)
            addresses[k] = frame.run[place] = address_of(array)
        start = ctypes.addressof(frame.structure)
        parts = []
        for k, role in self.roles.items():
            result = self.entry.results[k]
            if result.__class__ is str:
                parts.append((role, start + getattr(self.entry.structure, self.entry.fields[k]).offset, 1))
            else:
                parts.append((role, addresses.get(k, 0), result[2]))
        frame.words = plan_of(parts)
        frame.plan = ctypes.addressof(frame.words)
        return frame

    def provide(self, frame: Frame, number: int, kind: str, size: int, place: int, step: int) -> Any:
        """An array for a result of one call: that of the call before, if it is large and nobody holds it."""
        if frame.results:
            array = frame.array(number, kind, size)
            if array is not None:
                return array
        array = array_of(kind, size)
        address = frame.run[place] = address_of(array)
        if step >= 0:
            frame.words[step] = address
        return array

    def at_large(self, values: Sequence[Any], patient: bool) -> list[Any] | None:
        """The same of a kernel that takes more time, or calls Python: a call costs little beside that."""
        results = self.entry(*values, patient=patient)
        arrays = [(k, role) for k, role in self.roles.items() if hasattr(results[k], "__len__")]
        plan = plan_of([(role, address_of(results[k]), len(results[k])) for k, role in arrays])
        usual = not self.settle(ctypes.addressof(plan))
        found = [results[k] for k in self.given]
        for k, role in self.roles.items():
            x = results[k]
            if x.__class__ is float:
                usual &= x - x == 0.0
            elif role == TRUTH or x.__class__ is int:
                usual &= not x
        return [x + 0.0 if k and x.__class__ is float else x for k, x in enumerate(found)] if usual else None
