"""The kernels of a program: found in memory or on disk, or made, by what the inputs are and what a command asks for."""

from __future__ import annotations

import time

from ...parser.errors import AdiffError
from ...parser.fields import Record
from ..core.dtypes import STRONG, WEAK, DType
from ..core.limits import memory_of_adiff
from ..core.state import STATE, Site
from ..core.tensor import Tensor
from ..plain import all_finite
from .compile import store
from .compile.load import Code
from .compile.rows import RowsEntry
from .compile.run import Entry
from .inputs import Input, argument, described
from .ir import Emitted, Fault, Unsupported, walk

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from ...parser.source import Source
    from ..program.core import CoreProgram
    from .inputs import Request

# A kernel whose IR is larger is not worth the time to compile it.
MOST_STATEMENTS = 6_000
# Inputs whose values a program may want to be known, one after the other.
MOST_KNOWN = 20
# Seconds: a call that takes no longer need not be interrupted.
QUICK = 0.05


class Compiled:
    """A kernel that can be called. `facts` is what is known of its results, in plain types, as the store keeps it."""

    def __init__(
        self, request: Request, inputs: Mapping[str, Input], facts: dict[str, Any], emitted: Emitted, code: Any,
        by_row: Sequence[bool] | None = None,
    ) -> None:  # fmt: skip
        self.request = request
        self.inputs = dict(inputs)
        self.facts = facts
        self.text = emitted.text
        self.entry: Any = Entry(emitted, code) if by_row is None else RowsEntry(emitted, code, by_row)
        # Why sources do not reach the value, once that has been asked.
        self.reasons: list[tuple[str, str, Any]] = []
        self.loaded = False  # whether it was kept by an earlier run, and not compiled now
        # How long the last call took, in seconds, and the integers that it was given if it was quick.
        self.seconds = 0.0
        self.quick_for: list[int] | None = None

    def __call__(self, point: Mapping[str, Any], given: Sequence[Any] = ()) -> Found:
        """What the kernel finds at a point, for tangents or a cotangent. Raises Unsupported, and Failed for the tape to run."""
        values = [argument(name, point[name], spec) for name, spec in self.inputs.items() if spec.kind]
        # What bounds the loops: where it is as it was in a call that was quick, nobody will want to stop this one.
        bounds = [x for x in values if x.__class__ is int]
        patient = self.quick_for == bounds and not self.facts["conditional"]
        start = time.perf_counter()
        results, flags = self.entry(*values, *given, patient=patient)
        self.seconds = time.perf_counter() - start
        self.quick_for = bounds if self.seconds < QUICK else None
        return Found(self, results, flags)


class Kernels:
    """The kernels of one program."""

    def __init__(self, core: CoreProgram) -> None:
        self.core = core
        self.known: set[str] = set()  # inputs whose values decide sizes
        # Whether zeros are strong in the products of derivatives: found out where a derivative is not finite.
        self.careful = False
        self.made: dict[Any, Compiled] = {}
        self.refused: dict[Any, Unsupported] = {}

    def inputs(self, point: Mapping[str, Any], request: Request) -> dict[str, Input]:
        """What a kernel at a point is specialised to. Raises Unsupported."""
        if STATE.weak_float.bits == 32:
            raise Unsupported("float32")
        names = [*self.core.inputs, *(name for name in self.core.optional if name in point)]
        return {name: described(name, point[name], name in request.names, name in self.known) for name in names}

    def key(self, inputs: Mapping[str, Input], request: Request) -> tuple[Any, ...]:
        return (
            tuple([(name, *spec.key()) for name, spec in inputs.items()]), request.key(), STATE.kinks, STATE.checkpoint, self.careful,
            STATE.write is not None and "print" in self.core.source.text,
        )  # fmt: skip

    def by_row(self, inputs: Mapping[str, Input]) -> Sequence[bool] | None:
        """Which parameters have a value in each row, for kernels of rows."""
        return None

    def at_hand(self, point: Mapping[str, Any], request: Request) -> Compiled | None:
        """The kernel, if this process has it."""
        if not self.made:
            return None
        try:
            return self.made.get(self.key(self.inputs(point, request), request))
        except Unsupported:
            return None

    def kept(self, point: Mapping[str, Any], request: Request) -> Compiled | None:
        """The kernel, if this process or the store has it."""
        found, known = None, -1
        while found is None and known < len(self.known):
            known = len(self.known)
            try:
                inputs = self.inputs(point, request)
            except Unsupported:
                return None
            key = self.key(inputs, request)
            found = self.made.get(key) or self.loaded(key, inputs, request)
        return found

    def loaded(self, key: Any, inputs: dict[str, Input], request: Request) -> Compiled | None:
        """The kernel that the store has, or None; what the store says of an input that decides sizes is noted."""
        entry = store.load(self.stored_key(key))
        if entry is None:
            return None
        emitted, code, facts = entry
        if "needs" in facts:
            self.known.add(facts["needs"])
            return None
        if "refused" in facts:
            reason, place = facts["refused"]
            self.refused[key] = Unsupported(reason, place and Site(None, self.core.source, *place))
            return None
        try:
            found = Compiled(request, inputs, facts, emitted, code, self.by_row(inputs))
        except Unsupported:
            return None  # object code that this system does not load: it is made again, and replaced
        found.loaded = True
        self.made[key] = found
        return found

    def note(self, key: Any, facts: dict[str, Any]) -> None:
        """Keep what was found out in place of a kernel."""
        store.save(self.stored_key(key), Emitted("", [], [], 0, 0, [], False), Code(b"", ()), facts)

    def refusal(self, point: Mapping[str, Any], request: Request) -> Unsupported | None:
        """Why there is no kernel, where that is known."""
        try:
            return self.refused.get(self.key(self.inputs(point, request), request))
        except Unsupported as why:
            return why

    def stored_key(self, key: Any) -> str:
        return store.key_of(self.core.source.text, key)

    def find(self, point: Mapping[str, Any], request: Request) -> Compiled:
        """The kernel, which is made if it must be. Raises Unsupported, with the reason."""
        for _ in range(MOST_KNOWN):
            found = self.kept(point, request)
            if found is not None:
                return found
            inputs = self.inputs(point, request)
            key = self.key(inputs, request)
            if key in self.refused:
                raise self.refused[key]
            from .trace import NeedsValue

            try:
                return self.make(key, inputs, request)
            except NeedsValue as needs:
                if needs.name in self.known:
                    raise
                self.known.add(needs.name)
                self.note(key, {"needs": needs.name})
            except Unsupported as why:
                why.__traceback__ = None
                self.refused[key] = why
                if why.__class__ is Unsupported:
                    self.note(key, {"refused": (str(why), why.site and (why.site.start, why.site.end))})
                raise
        raise Unsupported("a program in which so many inputs decide sizes")

    def make(self, key: Any, inputs: dict[str, Input], request: Request) -> Compiled:
        """Construct, compile and keep a kernel."""
        by_row = self.by_row(inputs)
        facts, emitted, code = compiled_source(self.core, inputs, request, self.careful, by_row)
        found = self.made[key] = Compiled(request, inputs, facts, emitted, code, by_row)
        store.save(self.stored_key(key), emitted, code, facts)
        return found


def compiled_source(
    core: CoreProgram, inputs: Mapping[str, Input], request: Request, careful: bool,
    by_row: Sequence[bool] | None = None,
) -> tuple[dict[str, Any], Emitted, Any]:  # fmt: skip
    """What is known of a kernel's results, its source, and its object code: with `by_row` that of a loop over rows. Raises
    Unsupported, Fault."""
    from .construct import Construction
    from .emit import emit

    saved = STATE.site
    notices, seen = list(STATE.notices), set(STATE.seen)
    try:
        kernel, facts = Construction(core, inputs, request, careful).build()
        if sum(1 for _ in walk(kernel.body)) > MOST_STATEMENTS:
            raise Unsupported("a program of which the kernel would be too large")
        emitted = emit(kernel)
        with memory_of_adiff():
            from .compile.numba_backend import compiled

            return facts, emitted, compiled(emitted, by_row)
    except (Unsupported, AdiffError, MemoryError, RecursionError):
        raise
    except Exception as fault:
        raise Fault(fault) from fault
    finally:
        STATE.site = saved
        STATE.notices[:] = notices
        STATE.seen = seen


class Found(Record):
    """The results of a call."""

    compiled: Compiled
    results: Sequence[Any]
    flags: Sequence[int]

    @property
    def value(self) -> Any:
        """The program's value: numbers, tensors, and structures of them."""
        return self.read(self.compiled.facts["value"])

    def read(self, layout: Any) -> Any:
        kind, *rest = layout
        if kind == "leaf":
            number, name, weak = rest
            found = self.results[number]
            if weak and not hasattr(found, "shape"):
                return found
            return Tensor(found, dtype_of(name, weak))
        if kind == "known":
            return rest[0]
        if kind == "dict":
            return {key: self.read(x) for key, x in rest}
        items = [self.read(x) for x in rest]
        return items if kind == "list" else tuple(items)

    def derived(self, number: int) -> Any:
        """A derivative: a number or an array. It is never -0.0."""
        found = self.results[self.compiled.facts["derived"][number]]
        found += 0.0
        return found

    @property
    def is_finite(self) -> bool:
        """Whether no result is nan or infinite."""
        return all_finite(self.results)

    @property
    def reached(self) -> list[bool]:
        """For each source whether the value depends on it."""
        mask = mask_of(self.compiled.facts, self.results)
        return [bool(mask >> i & 1) for i in range(len(self.compiled.request.names))]

    def by_source(self, reached: Sequence[bool], start: int = 0) -> dict[str, Any]:
        """Derivatives by source, from result `start` on; None for a source that the value does not depend on."""
        names = self.compiled.request.names
        return {name: self.derived(start + i) if reached[i] else None for i, name in enumerate(names)}

    def singular_points(self, source: Source) -> list[tuple[str, Site]]:
        """The text and place of each singular point at which a derivative was taken."""
        points = [self.compiled.facts["flags"][number] for number in self.flags]
        return [(text, Site(None, source, start, end)) for text, start, end in points]


def mask_of(facts: dict[str, Any], results: Sequence[Any]) -> Any:
    """Which sources reach the value, bit i for source i: a number, or an array of them for rows."""
    return facts["mask"] if facts["decided"] is None else results[facts["decided"]]


def dtype_of(name: str, weak: bool) -> DType:
    return WEAK.get(STRONG[name], STRONG[name]) if weak else STRONG[name]
