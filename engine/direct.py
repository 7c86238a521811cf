"""A command at points like one where a kernel has answered: the kernel called with no more than must be done each time."""

from __future__ import annotations

import sys
from operator import itemgetter
from time import perf_counter

from .compiled_commands import GIVEN
from .kernels.inputs import within_limit
from .kernels.ir import Left, Stopped, Unsupported
from .kernels.machine.record import ELEMENTS, WORD_AT
from .outcome import Outcome

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from .api import Program
    from .kernels.machine.door import Door
    from .kernels.readings import Reading

ARRAY, WHOLES, NUMBER, FLOATING, WHOLE, FIXED = "array", "array of integers", "number", "float", "whole", "fixed"
# Options under which every evaluation must be looked at as a whole.
DECIDED_EACH_TIME = frozenset(("max_steps", "max_memory", "timeout", "dtype", "write"))
# The options that are values by name, as inputs are, and the one that is a value like the result.
DIRECTIONS = {"jvp": "tangent", "hvp": "vector"}
COTANGENT = "cotangent"
OF_EACH_CALL = frozenset((*DIRECTIONS.values(), COTANGENT))
# A notice that depends on the kinds of the inputs alone.
SUMMED = "N0503"

# What takes no longer need not be stopped.
QUICK_SECONDS = 0.1
# So many times that a kernel takes are remembered.
MOST_BOUNDS = 1000
# A kernel that has been called so often is given a door: machine code that takes a millisecond to load, and twenty to compile
# where no process has yet.
DOOR_CALLS = 500
# What makes an object before it is given its attributes.
MADE = Outcome.__new__
# The flags of an array that a kernel takes as it is: contiguous in C's order, and aligned.
AS_IT_IS = 0x101


class Direct:
    """Calls the kernel that gave `outcome` at `at`, at points like it.

    A point of another kind (names, dtypes, shapes), a singular point, a result that is not finite and whatever the
    kernel leaves to the tape give None: an evaluation as a whole is to answer. `usable` says whether there is such a
    way at all.
    """

    def __init__(
        self, program: Program, command: str, at: Mapping[str, Any], wrt: Sequence[str] | None,
        options: dict[str, Any], outcome: Outcome,
    ) -> None:  # fmt: skip
        self.command = command
        self.wrt = wrt if wrt is None else wrt.__class__(wrt)  # type: ignore[call-arg]
        self.options = lasting(options)
        self.compiled = outcome.kernel
        self.usable = False
        # Whether the kernel is done in a moment, by the integers that bound its loops.
        self.quick: dict[Any, bool] = {}
        # Name, kind, and what it is compared with, of each input, and of each value that the result is multiplied by.
        self.inputs: list[tuple[str, str, Any]] = []
        self.seeds: list[tuple[str, str, Any]] = []
        # What NumPy calls an array, and floats and integers of 64 bits; None where nobody has loaded it, no input is an
        # array, and a program of numbers does without.
        np: Any = sys.modules.get("numpy")
        self.array = self.float64 = self.int64 = None
        if np is not None:
            self.array, self.float64, self.int64 = np.ndarray, np.dtype(np.float64), np.dtype(np.int64)
        if self.compiled is not None and not self.different_each_time(outcome):
            self.part = "forward" if command == "value" else "derivative"
            self.timings = {"parse": program.parse_seconds, "compile": 0.0, "forward": 0.0}
            # What is the same in every outcome.
            self.pattern = {name: getattr(outcome, name) for name in ("engine", "reason", "mode", "emitted", "kernel")}
            self.types, self.notices = outcome.types, outcome.notices
            self.usable = self.plan(program, at, options)

    def different_each_time(self, outcome: Outcome) -> bool:
        built = self.compiled.built
        return (
            self.command not in GIVEN
            or not DECIDED_EACH_TIME.isdisjoint(self.options)
            or any(notice.code != SUMMED for notice in outcome.notices)
            or bool(built.counted or built.uncounted or built.doubtful)
            or built.printed is not None
            or built.structure is not None
            or bool(self.compiled.emitted.single)
            or not built.lost.keys().isdisjoint(self.compiled.reading.sources)
        )

    def plan(self, program: Program, at: Mapping[str, Any], options: Mapping[str, Any]) -> bool:
        """Find what each parameter of the kernel is, so far as that is decided by looking at the point."""
        reading: Reading = self.compiled.reading
        core = program.core
        sources = reading.sources
        fixed = program.kernels.known if program.kernels is not None else ()
        for name in [*core.inputs, *(n for n in core.optional if n in at)]:
            kind = self.kind_of(at.get(name), name in sources, name in fixed)
            if kind is None:
                return False
            self.inputs.append((name, *kind))
        if self.command == "vjp":
            shape = self.compiled.built.shape
            self.seeds.append((COTANGENT, ARRAY if shape else NUMBER, shape))
        for name in reading.moved:
            shape = reading.shape(name)
            self.seeds.append((name, ARRAY if shape else NUMBER, shape))
        handed = [kind for _, kind, _ in self.inputs if kind != FIXED]
        self.bounding = [k for k, kind in enumerate(handed) if kind == WHOLE]
        self.bounds = itemgetter(*self.bounding) if self.bounding else nothing
        if len(handed + self.seeds) != len(self.compiled.emitted.parameters) or len(self.inputs) != len(at):
            return False
        self.reading = reading
        self.give = GIVEN[self.command]
        self.usual = self.compiled.usual()
        # What the kernel is called by once that pays, and how often it has been called without; `entrance` keeps it.
        self.door: Any = None
        self.entrance: Door | None = None
        self.calls = 0
        # Where a value is multiplied by what nobody has given, it is so by ones.
        self.ones: dict[str, Any] | None = None
        # Whether what comes through the door is the value and its derivatives as they are.
        self.as_they_are = False
        return True

    def open_door(self, given: list[Any]) -> None:
        """Have the kernel called by machine code from now on, where it can be, at points with the integers of this one."""
        from .kernels.machine import door

        if not door.possible(self.usual):
            return
        kinds = {
            ARRAY: door.ARRAY,
            WHOLES: door.WHOLES,
            NUMBER: door.NUMBER,
            FLOATING: door.FLOATING,
            WHOLE: door.WHOLE,
        }
        asked = []
        for name, kind, detail in self.inputs:
            if kind != FIXED:
                asked.append(door.Asked(name, kinds[kind], detail))
            else:
                fixed = door.WHOLE if detail.__class__ is int else door.SAME
                asked.append(door.Asked(name, fixed, detail, passed=False))
        asked.extend(door.Asked(name, kinds[kind], detail, beside=True) for name, kind, detail in self.seeds)
        shapes = self.reading.as_they_are()
        decided = all(k in self.bounding for k, _ in self.reading.built.bounds)
        self.as_they_are = shapes is not None and decided and self.reading.surely_connected(given)
        try:
            flat: list[Any] = [None] * len(self.usual.given)
            self.entrance = door.Door(self.usual, asked, shapes or flat, any_beside=self.command == "vjp")
        except Unsupported:
            return
        self.expect(given)
        self.door = self.entrance.function

    def beside(self, options: Mapping[str, Any]) -> Any:
        """What the result is to be multiplied by, where the door looks for it."""
        if self.command != "vjp":
            return options.get(DIRECTIONS[self.command])
        if options.get(COTANGENT) is not None:
            return options
        if self.ones is None:
            ((_, kind, shape),) = self.seeds
            self.ones = {COTANGENT: 1.0}
            if kind != NUMBER:
                import numpy as np

                self.ones = {COTANGENT: np.ones(shape)}
        return self.ones

    def kind_of(self, value: Any, differentiated: bool, fixed: bool) -> tuple[str, Any] | None:
        """How an input is looked at, and what it is compared with; None where an evaluation as a whole must look at it.

        An input that is `fixed` is a part of the kernel.
        """
        cls = value.__class__
        if fixed:
            return (FIXED, value) if cls is int and not differentiated else None
        if cls is self.array and value.ndim:
            if value.dtype == self.float64:
                return ARRAY, value.shape
            return (WHOLES, value.shape) if value.dtype == self.int64 and not differentiated else None
        if differentiated and (cls is float or cls is int):
            return NUMBER, None  # an integer that is differentiated is a float
        if cls is float:
            return FLOATING, None
        if cls is int:
            return WHOLE, None
        return (FIXED, value) if cls is bool or cls is str else None

    def is_for(self, wrt: Sequence[str] | None, options: Mapping[str, Any]) -> bool:
        """Whether an evaluation with these options is the same but for its values."""
        if wrt.__class__ is not self.wrt.__class__ or wrt != self.wrt:
            return False
        return options == self.options or lasting(options) == self.options

    def directions(self, options: Mapping[str, Any], found: list[Any], passed: list[Any]) -> bool:
        """Add what the result is to be multiplied by, as `take` does."""
        given: Any = options if self.command == "vjp" else options.get(DIRECTIONS[self.command])
        if self.command == "vjp" and given.get(COTANGENT) is None:
            ((_, kind, shape),) = self.seeds
            if kind == NUMBER:
                given = {COTANGENT: 1.0}
            else:
                import numpy as np

                given = {COTANGENT: np.ones(shape)}
        elif self.command != "vjp" and (given.__class__ is not dict or len(given) != len(self.seeds)):
            return False
        return self.take(self.seeds, given, found, passed)

    def take(
        self, kinds: list[tuple[str, str, Any]], values: Mapping[str, Any], found: list[Any], passed: list[Any]
    ) -> bool:
        """Add values by name as the kernel takes them to what was `found`, and with addresses in the place of arrays to
        what is to be `passed`; False where one is of another kind."""
        for name, kind, detail in kinds:
            value: Any = values.get(name)
            cls = value.__class__
            if kind is ARRAY or kind is WHOLES:
                dtype = self.float64 if kind is ARRAY else self.int64
                if cls is not self.array or value.shape != detail:
                    return False
                if value.dtype is not dtype and value.dtype != dtype:
                    return False
                if value.flags.num & AS_IT_IS != AS_IT_IS:
                    value = value.copy()
                if kind is WHOLES and not within_limit(value):
                    return False
                found.append(value)
                passed.append(WORD_AT(id(value) + ELEMENTS).value)
                continue
            if kind is FLOATING:
                if cls is not float:
                    return False
            elif kind is NUMBER or kind is WHOLE:
                if cls is int and -(2**53) <= value <= 2**53:
                    if kind is NUMBER:
                        value = float(value)
                elif kind is WHOLE or cls is not float:
                    return False
            elif cls is not detail.__class__ or value != detail:
                return False
            else:
                continue  # it is a part of the kernel
            found.append(value)
            passed.append(value)
        return True

    def __call__(self, at: Mapping[str, Any], options: Mapping[str, Any]) -> Outcome | None:
        """The outcome at a point, or None where it must be looked at more closely."""
        start = perf_counter()
        door = self.door
        found = None if door is None else door(at, self.beside(options) if self.seeds else None)
        if found is None:
            read = self.through_python(at, options)
            if read is None:
                return None
            value, derivatives = read
        elif found is False:
            self.mend()
            return None
        elif self.as_they_are:
            value, derivatives = found[0], found[1:]
        else:
            given: list[Any] = []
            if not self.take_all(at, options, given, []):
                return None
            try:
                value, derivatives = self.reading(found, given)
            except Unsupported:
                return None
        # All attributes at once: one by one they take longer than many a kernel.
        outcome = MADE(Outcome)
        outcome.__dict__ = pattern = self.pattern.copy()
        pattern["value"] = value
        pattern["types"] = self.types.copy()
        pattern["notices"] = self.notices.copy()
        self.give(outcome, self.reading.sources, derivatives)
        pattern["timings"] = timings = self.timings.copy()
        timings[self.part] = perf_counter() - start
        return outcome

    def take_all(self, at: Mapping[str, Any], options: Mapping[str, Any], given: list[Any], passed: list[Any]) -> bool:
        """Add the point, and what the result is to be multiplied by, as `take` does."""
        if at.__class__ is not dict or len(at) != len(self.inputs):
            return False
        return self.take(self.inputs, at, given, passed) and (not self.seeds or self.directions(options, given, passed))

    def through_python(self, at: Mapping[str, Any], options: Mapping[str, Any]) -> tuple[Any, Any] | None:
        """The value and the derivatives at a point that no door has taken, or None."""
        given: list[Any] = []
        passed: list[Any] = []
        if not self.take_all(at, options, given, passed):
            return None
        bounds = self.bounds(given)
        quick = self.quick.get(bounds)
        try:
            results = self.usual(given, passed) if quick else self.watched(given, passed, bounds)
            if results is None:
                return None
            found = self.reading(results, given)
        except (Left, Unsupported):
            return None
        if quick or self.quick.get(bounds):
            self.calls += 1
            if self.calls == DOOR_CALLS:
                self.open_door(given)
            else:
                self.expect(given)
        return found

    def expect(self, given: list[Any]) -> None:
        """Let points with the integers of this one through the door from now on, if they are read as it is."""
        if self.entrance is not None and (not self.as_they_are or self.reading.surely_connected(given)):
            self.entrance.expect([given[k] for k in self.bounding])

    def mend(self) -> None:
        """After an unusual result: where the kernel has left with an error, its door is shut, perhaps for good."""
        if self.entrance is not None and self.entrance.shut and not self.entrance.mend():
            self.door = None

    def watched(self, given: list[Any], passed: list[Any], bounds: Any) -> Any:
        """The results of a kernel of which it is not known that it is done at once, so that signals must stop it."""
        from .kernels.work import surely_ends, surely_quick

        start = perf_counter()
        built = self.compiled.built
        if bounds not in self.quick and surely_quick(built, given, self.compiled.emitted.heaviest):
            self.keep(bounds, True)
            return self.usual(given, passed)
        try:
            results = self.usual(given, passed, patient=False)
        except Stopped as stopped:
            from .kernels.machine.failures import interruption

            raise interruption(stopped, self.compiled.emitted) from None
        # Where data do not bound loops, the next run takes as long as this one.
        self.keep(bounds, surely_ends(built, given) and perf_counter() - start < QUICK_SECONDS)
        return results

    def keep(self, bounds: Any, quick: bool) -> None:
        """Remember for the integers that bound loops whether the kernel is done in a moment."""
        if len(self.quick) > MOST_BOUNDS:
            self.quick.clear()
        self.quick[bounds] = quick


def nothing(given: list[Any]) -> None:
    """Where no integers bound loops, every run takes as long as any other."""


def lasting(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options that are given, less those whose values are those of one call."""
    return {name: x for name, x in options.items() if x is not None and name not in OF_EACH_CALL}
