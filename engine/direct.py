"""A command at points like one where a kernel has answered: the kernel called with no more than must be done each time."""

from __future__ import annotations

import sys
import time

from .compiled_commands import GIVEN
from .outcome import Outcome

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from .api import Program
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
# The square of so many numbers is the quickest look at them all; of more, it is handed to threads, which are waited for.
FEW = 10_000


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
        self.quick: dict[tuple[int, ...], bool] = {}
        # Name, kind, and what it is compared with, of each input, and of each value that the result is multiplied by.
        self.inputs: list[tuple[str, str, Any]] = []
        self.seeds: list[tuple[str, str, Any]] = []
        # The places of the integers among the kernel's arguments.
        self.bounding: list[int] = []
        self.dtypes: dict[str, Any] = {}
        if self.compiled is not None and not self.different_each_time(outcome):
            self.parse_seconds = program.parse_seconds
            self.pattern = Outcome()
            for name in ("engine", "reason", "mode", "types", "notices", "emitted", "kernel"):
                setattr(self.pattern, name, getattr(outcome, name))
            self.usable = self.plan(program, at, options)

    def different_each_time(self, outcome: Outcome) -> bool:
        built = self.compiled.built
        return (
            self.command not in GIVEN
            or not DECIDED_EACH_TIME.isdisjoint(self.options)
            or any(notice.code != SUMMED for notice in outcome.notices)
            or bool(built.counted or built.doubtful)
            or built.printed is not None
            or built.structure is not None
            or bool(self.compiled.emitted.single)
        )

    def plan(self, program: Program, at: Mapping[str, Any], options: Mapping[str, Any]) -> bool:
        """Find what each parameter of the kernel is, so far as that is decided by looking at the point."""
        np: Any = sys.modules.get("numpy")
        if np is not None:  # where nobody has loaded it, no input is an array, and a program of numbers does without
            self.dtypes = {ARRAY: np.dtype(np.float64), WHOLES: np.dtype(np.int64)}
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
        if len(handed + self.seeds) != len(self.compiled.emitted.parameters) or len(self.inputs) != len(at):
            return False
        from .kernels.inputs import within_limit
        from .kernels.ir import Left, Stopped, Unsupported

        # What every call needs, imported once.
        self.within_limit = within_limit
        self.leaving = Left, Unsupported
        self.stopped = Stopped
        self.reading = reading
        self.give = GIVEN[self.command]
        return True

    def kind_of(self, value: Any, differentiated: bool, fixed: bool) -> tuple[str, Any] | None:
        """How an input is looked at, and what it is compared with; None where an evaluation as a whole must look at it.

        An input that is `fixed` is a part of the kernel.
        """
        cls = value.__class__
        if fixed:
            return (FIXED, value) if cls is int and not differentiated else None
        if cls.__name__ == "ndarray" and value.ndim:
            if value.dtype == self.dtypes[ARRAY]:
                return ARRAY, value.shape
            return (WHOLES, value.shape) if value.dtype == self.dtypes[WHOLES] and not differentiated else None
        if differentiated and (cls is float or cls is int):
            return NUMBER, None  # an integer that is differentiated is a float
        if cls is float:
            return FLOATING, None
        if cls is int:
            return WHOLE, None
        return (FIXED, value) if cls is bool or cls is str else None

    def is_for(self, wrt: Sequence[str] | None, options: Mapping[str, Any]) -> bool:
        """Whether an evaluation with these options is the same but for its values."""
        return wrt.__class__ is self.wrt.__class__ and wrt == self.wrt and lasting(options) == self.options

    def arguments(self, at: Mapping[str, Any]) -> list[Any] | None:
        """The values of the inputs as the kernel takes them, or None for a point of another kind."""
        if at.__class__ is not dict or len(at) != len(self.inputs):
            return None
        return self.taken(self.inputs, at)

    def directions(self, options: Mapping[str, Any]) -> list[Any] | None:
        """The same of what the result is to be multiplied by."""
        if self.command == "vjp":
            given = options.get(COTANGENT)
            if given is not None:
                return self.taken(self.seeds, options)
            ((_, kind, shape),) = self.seeds
            if kind == NUMBER:
                return [1.0]
            import numpy as np

            return [np.ones(shape).reshape(-1)]
        given = options.get(DIRECTIONS[self.command])
        if given.__class__ is not dict or len(given) != len(self.seeds):
            return None
        return self.taken(self.seeds, given)

    def taken(self, kinds: list[tuple[str, str, Any]], values: Mapping[str, Any]) -> list[Any] | None:
        found: list[Any] = []
        for name, kind, detail in kinds:
            value = values.get(name)
            cls = value.__class__
            if kind in self.dtypes:
                if cls.__name__ != "ndarray" or value.shape != detail or value.dtype != self.dtypes[kind]:  # type: ignore[union-attr]
                    return None
                if not value.flags.c_contiguous:  # type: ignore[union-attr]
                    value = value.copy()  # type: ignore[union-attr]
                if kind == WHOLES and not self.within_limit(value):
                    return None
                found.append(value)
            elif kind == FIXED:
                if cls is not detail.__class__ or value != detail:
                    return None
            elif kind == FLOATING:
                if cls is not float:
                    return None
                found.append(value)
            elif (cls is float or cls is int) if kind == NUMBER else cls is int:
                if abs(value) > 2**53 and cls is int:  # type: ignore[arg-type]
                    return None
                found.append(float(value) if kind == NUMBER else value)  # type: ignore[arg-type]
            else:
                return None
        return found

    def __call__(self, at: Mapping[str, Any], options: Mapping[str, Any]) -> Outcome | None:
        """The outcome at a point, or None where it must be looked at more closely."""
        start = time.perf_counter()
        given = self.arguments(at)
        if given is None:
            return None
        if self.seeds:
            seeds = self.directions(options)
            if seeds is None:
                return None
            given += seeds
        built = self.compiled.built
        try:
            results = self.called(given)
            if built.noted:
                if any(results[-1]):
                    return None
                results = results[:-1]
            if built.whole:
                if results[1]:
                    return None
                results = (results[0], *results[2:])
            if not all_finite(results):
                return None
            value, derivatives = self.reading(results, given)
        except self.leaving:
            return None
        outcome, pattern = Outcome(), self.pattern
        if not self.give(outcome, self.reading.sources, derivatives):
            return None
        outcome.value = value
        outcome.engine = pattern.engine
        outcome.reason = pattern.reason
        outcome.mode = pattern.mode
        outcome.emitted = pattern.emitted
        outcome.kernel = pattern.kernel
        outcome.types = pattern.types.copy()
        outcome.notices = pattern.notices.copy()
        seconds = time.perf_counter() - start
        outcome.timings = {"parse": self.parse_seconds, "compile": 0.0, "forward": 0.0, "derivative": seconds}
        if self.command == "value":
            del outcome.timings["derivative"]
            outcome.timings["forward"] = seconds
        return outcome

    def called(self, given: list[Any]) -> Any:
        """The kernel's results. A kernel is watched, so that signals stop it, unless it is known to be done at once."""
        bounds = tuple([given[k] for k in self.bounding])
        quick = self.quick.get(bounds)
        if quick:
            return self.compiled.entry(*given)
        from .kernels.work import surely_ends, surely_quick

        start = time.perf_counter()
        if quick is None:
            quick = surely_quick(self.compiled.built, given, self.compiled.emitted.heaviest)
        try:
            results = self.compiled.entry(*given, patient=quick)
        except self.stopped as stopped:
            from .kernels.failures import interruption

            raise interruption(stopped, self.compiled.emitted) from None
        # Where data do not bound loops, the next run takes as long as this one.
        if not quick and surely_ends(self.compiled.built, given):
            quick = time.perf_counter() - start < QUICK_SECONDS
        if len(self.quick) > 1000:
            self.quick.clear()
        self.quick[bounds] = quick
        return results


def lasting(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options that are given, less those whose values are those of one call."""
    return {name: x for name, x in options.items() if x is not None and name not in OF_EACH_CALL}


def all_finite(results: Sequence[Any]) -> bool:
    """Whether no element of a kernel's results is nan or infinite; False too where the squares of a few overflow."""
    for x in results:
        if x.__class__ is float:
            if x - x != 0.0:
                return False
        elif hasattr(x, "dtype") and x.dtype.char == "d":
            import numpy as np

            if x.size > FEW:
                if not np.isfinite(x).all():
                    return False
            else:
                squares = float(np.vdot(x, x))  # which does not warn
                if squares - squares != 0.0:
                    return False
    return True
