"""The kernels of one program by what they are made for: found here or in the store, or made, and kept."""

from __future__ import annotations

import time
from math import inf

from ...parser.errors import AdiffError
from ..core.dtypes import FLOAT64, WEAK_FLOAT
from ..core.garbage import without_collection
from ..core.limits import LIMITS, is_not_loaded, memory_of_adiff, step_limit
from ..core.state import STATE, Site
from . import store
from .built import from_plain, to_plain
from .ir import Cramped, Fault, Needed, Parted, Sized, TooLate, Unsupported
from .running import compile_kernel, load_kernel
from .work import BUDGET_SHARE, import_seconds, load_seconds, outlined, ready_seconds, tape_seconds, worthwhile

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ...parser.source import Source
    from .built import Built
    from .emitted import Emitted
    from .machine.code import Code
    from .outlook import Forecast
    from .running import Compiled


# Seconds, the compiler's import among them, that finding out that there can be no kernel takes where that is kept.
WORTH_KEEPING = 0.02
# What is no last word: more is to be known for a kernel, which is asked for again in a moment; adiff is at fault; or the
# moment is.
PASSING = (Cramped, Fault, Needed, Parted, Sized)

NOT_LOADED = "compiled code, for which a library cannot be loaded"


def refused(why: Unsupported) -> tuple[str, int | None, int]:
    """Why there is no kernel, with the place, in types that marshal keeps."""
    return str(why), None if why.site is None else why.site.start, 0 if why.site is None else why.site.end


class Collection:
    """Kernels by key, and the reasons why there are none."""

    def __init__(self, source: Source) -> None:
        self.source = source
        # Whether a kernel that is not there may be worth its compilation; if not, it is not looked into.
        self.may_compile = True
        # What the program's text says of the tape: the seconds that it takes at least, and the library that it imports.
        self.least_seconds, self.loads = 0.0, ""
        # What it has spent on the same command before.
        self.spent = 0.0
        # The seconds after which what is being made of a program is no kernel that would be before the tape.
        self.budget = inf
        # Whether the tape can be left for a kernel, and the seconds until one is ready that has waited for that.
        self.waits = False
        self.ready_seconds: float | None = None
        # The key of the kernel that was asked for last.
        self.latest = ""
        # The seconds that the tape would take for what was evaluated last; None where nobody knows.
        self.tape_seconds: float | None = None
        # What is known of them; what another process has compiled and nobody has loaded; those that are ready.
        self.built: dict[str, Any] = {}
        self.kept: dict[str, dict[str, Any]] = {}
        self.compiled: dict[str, Compiled] = {}

    def key(self, parts: Any) -> str:
        """Everything that a kernel depends on, on this machine."""
        return store.key_of(self.source.text, STATE.kinks, (parts, STATE.checkpoint, step_limit()))

    def expect(self, forecast: Forecast | None) -> None:
        """Take what is expected of the command that comes; None where a kernel is to answer whatever it takes."""
        if forecast is None:
            self.may_compile, self.least_seconds, self.loads, self.budget, self.spent = True, 0.0, "", inf, 0.0
            return
        self.may_compile, self.budget = forecast.may_compile, forecast.budget
        self.least_seconds, self.loads, self.spent = forecast.least_seconds, forecast.loads, forecast.spent

    def find(self, key: str) -> bool:
        """Whether a kernel is here, or was kept by another process."""
        known = self.built.get(key)
        if known.__class__ is Cramped and (known.limit is None or known.limit != LIMITS.max_memory):
            del self.built[key]
        if key not in self.built:
            entry = store.load(key)
            if entry is not None:
                try:
                    if "refused" in entry:
                        self.built[key] = self.refusal(*entry["refused"])
                    else:
                        self.built[key] = from_plain(entry["built"], self.source)
                        self.kept[key] = entry
                except store.BROKEN:
                    store.forget(key)
        return key in self.compiled or key in self.kept

    def refusal(self, reason: str, start: int | None, end: int) -> Unsupported:
        """Why there is no kernel, as it was kept."""
        return Unsupported(reason, None if start is None else Site(None, self.source, start, end))

    def ready(self, key: str, make: Callable[[], Built]) -> Compiled:
        """The kernel, loaded or compiled. Raises Unsupported."""
        if key in self.compiled:
            return self.compiled[key]
        with memory_of_adiff():
            return self.made_ready(key, make)

    def made_ready(self, key: str, make: Callable[[], Built]) -> Compiled:
        if key in self.kept:
            entry = self.kept.pop(key)
            try:
                self.compiled[key] = load_kernel(self.built[key], entry, self.source)
            except (Unsupported, *store.BROKEN):
                store.forget(key)
                self.built[key] = self.attempt(make)
            except Exception as fault:
                if not is_not_loaded(fault):
                    raise
                self.kept[key] = entry
                raise Cramped(NOT_LOADED, LIMITS.max_memory) from None
        if key not in self.compiled:
            built = self.built[key]
            if not isinstance(built, Unsupported):
                from ..core.cores import cores
                from .compilation.compiler import chosen

                # What is wrong in the environment is the user's to mend, and no reason to take the tape.
                chosen()
                cores()
                made = self.attempt(lambda: compile_kernel(built, lambda *made: self.keep(key, built, *made)))
            else:
                made = built
            if isinstance(made, Unsupported):
                self.built[key] = made
                raise made
            self.compiled[key] = made
        return self.compiled[key]

    def keep(self, key: str, built: Built, emitted: Emitted, code: Code) -> None:
        """Keep a kernel for other processes, where that can be."""
        from .machine.code import processor

        outlined(built)
        try:
            store.save(
                key,
                {
                    "built": to_plain(built, self.source),
                    "emitted": emitted.to_plain(self.source),
                    "object": code.object,
                    "symbol": code.symbol,
                    "externals": list(code.externals),
                    "processor": processor(),
                },
            )
        except (Unsupported, ValueError):
            pass  # what marshal does not take is made anew

    def prepared(self, parts: Any, make: Callable[[], Built], given: list[Any], always: bool) -> Compiled | None:
        """The compiled kernel that `make` describes; None where the tape is the sooner way (unless `always`).

        `parts` says what it depends on beside the program: command, inputs, sources. Raises TooLate where that is found
        while it is made.
        """
        key, spent = self.key(parts), 0.0
        self.latest = key
        if not self.find(key) and key not in self.built:
            if not always and (not self.may_compile or self.tape_is_sooner(parts)):
                return None
            start = time.perf_counter()
            with memory_of_adiff():
                self.built[key] = self.within_budget(parts, make)
            built, spent = self.built[key], time.perf_counter() - start
            final = isinstance(built, Unsupported) and not isinstance(built, PASSING)
            if final and spent > WORTH_KEEPING:
                store.save(key, {"refused": refused(built)})
        built = self.built[key]
        if isinstance(built, Unsupported):
            raise built
        self.tape_seconds = tape_seconds(built, given)
        if not always:
            seconds = 0.0 if key in self.compiled else load_seconds() if key in self.kept else None
            if not worthwhile(built, given, seconds, self.least_seconds, self.loads, self.waits, self.spent):
                if self.tape_seconds is None:
                    self.ready_seconds = seconds
                if spent > WORTH_KEEPING:
                    store.save(self.key(("seconds", parts)), {"seconds": ready_seconds(built)})
                return None
        return self.ready(key, make)

    def tape_is_sooner(self, parts: Any) -> bool:
        """Whether a kernel, of which it was found out how long it takes to be ready, is not before the tape has done all."""
        entry = store.load(self.key(("seconds", parts))) if self.least_seconds else None
        return entry is not None and self.least_seconds + self.spent + import_seconds(self.loads) < entry["seconds"]

    def within_budget(self, parts: Any, make: Callable[[], Any]) -> Any:
        """What `attempt` gives, within the budget. Raises TooLate, which is kept for other processes."""
        from .budget import budget

        try:
            with budget(self.budget):
                return self.attempt(make)
        except TooLate:
            store.save(self.key(("seconds", parts)), {"seconds": self.budget / BUDGET_SHARE})
            raise

    def form(self, parts: Any, make: Callable[[], tuple[Any, ...]]) -> tuple[Any, ...]:
        """The form of a value that `make` finds, or that was kept. Raises Unsupported, and TooLate."""
        key = self.key(parts)
        if key not in self.built:
            entry = store.load(key)
            if entry is not None:
                self.built[key] = entry["form"]
            else:
                if self.tape_is_sooner(parts):
                    raise TooLate
                self.built[key] = self.within_budget(parts, make)
                if self.built[key].__class__ is tuple:
                    store.save(key, {"form": self.built[key]})
        found = self.built[key]
        if isinstance(found, Unsupported):
            raise found
        form: tuple[Any, ...] = found
        return form

    def attempt(self, make: Callable[[], Any]) -> Any:
        """What `make` makes, or the reason why it cannot; whatever fails here, the tape does not."""
        site, floats = STATE.site, (STATE.weak_float, STATE.default_float)
        # What a kernel is made of knows no float32: what it computes in is decided last (widths.py).
        STATE.weak_float, STATE.default_float = WEAK_FLOAT, FLOAT64
        try:
            return without_collection(make)
        except Unsupported as why:
            why.__context__ = why.__cause__ = None  # it is kept, and these would keep what was evaluated
            return why
        except TooLate:
            raise
        except AdiffError as error:
            if error.code == "E0603":
                raise
            # Of values that are not known: the tape may not reach it, or know more.
            place = STATE.site if STATE.site.source is self.source else None
            reason = f"what may be an error: {error.message}"
            if error.code == "E0602" and LIMITS.max_memory is not None:
                return Cramped(reason, LIMITS.max_memory, place)
            return Unsupported(reason, place)
        except RecursionError:
            return Unsupported("a program that is nested so deeply")
        except MemoryError:
            return Cramped("a program that takes more memory than there is while it is compiled", LIMITS.max_memory)
        except Exception as fault:
            return Cramped(NOT_LOADED, LIMITS.max_memory) if is_not_loaded(fault) else Fault(fault)
        finally:
            STATE.site = site
            STATE.weak_float, STATE.default_float = floats
