"""What was missing for a kernel, learnt from evaluations, which are then tried again: one remedy for each cause.

These are values of inputs that decide what is compiled, sizes that data decides, room for lists that grow, and products
formed one by one. What is learnt is kept like kernels, so that another process knows it.
"""

from __future__ import annotations

import time

from ..core.dtypes import FLOAT32, SPELLINGS
from ..core.limits import memory_of_adiff
from ..core.state import STATE
from ..core.tensor import Tensor
from . import store
from .collection import Collection
from .inputs import CAREFUL, ROOMS, SIZES, WRITTEN, KnownTensor, arguments, specification
from .ir import Crowded, Hasty, Needed, Parted, Resized, Sized, Spared, Told, Unsupported, Untold
from .running import called
from .work import OTHER_DATA, kept_patience_seconds

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any

    from ...parser.source import Source
    from ..program.core import CoreProgram
    from .built import Built
    from .running import Compiled


# For an assertion that fails on the tape sooner than so many seconds no kernel is made that tells its message.
TELLING_SECONDS = 0.5
# So many tensors of integers become a part of kernels of one program, each of others.
MOST_PARTS = 16
# Lists that have outgrown their room have so many times the room in the next kernel; for so many items at most.
MORE_ROOM = 8
MOST_ROOM = 1 << 25
FLOAT32_SPELLINGS = [name for name, dtype in SPELLINGS.items() if dtype is FLOAT32]


def names_float32(program: CoreProgram, text: str) -> bool:
    """Whether a program, whose text is given too, names float32 anywhere but in what it prints."""
    if not any(spelling in text for spelling in FLOAT32_SPELLINGS):
        return False
    from ..program.core import Call, Intrinsic, Literal
    from ..program.loops import nodes

    named: set[int] = set()
    printed: set[int] = set()
    for node in nodes([program.body, list(program.optional.values())]):
        if node.__class__ is Literal:
            if node.value is FLOAT32 or (node.value.__class__ is str and node.value in FLOAT32_SPELLINGS):
                named.add(id(node))
        elif node.__class__ is Call and node.function.__class__ is Intrinsic and node.function.name == "print":
            printed.update(map(id, node.args))
    return not named <= printed


def whole(value: Any) -> bool:
    """Whether an input may be a part of a kernel: an integer, or integers."""
    return value.__class__ in (int, bool) or (value.__class__ is Tensor and value.dtype.kind == "i")


class Learning(Collection):
    """The kernels of one program, and what was learnt of it for them."""

    def __init__(self, program: CoreProgram, source: Source) -> None:
        super().__init__(source)
        self.program = program
        # What tells the tensors and floats apart that are a part of a kernel.
        self.parts: set[str] = set()
        # The inputs whose values decide what is compiled (`ones(n)`): found by trying, so kept like kernels.
        self.known: set[str] = set((store.load(self.key("known")) or {}).get("names", ()))
        # The sizes that data decided last, where kernels are made for them; and how they have differed.
        self.sizes: tuple[Any, ...] | None = (store.load(self.key("sizes")) or {}).get("sizes")
        self.several: dict[int, set[tuple[Any, ...]]] = {}
        # The room for lists that grow in loops of unknown length, where one has needed more than at first.
        self.rooms: dict[int, int] = (store.load(self.key("rooms")) or {}).get("rooms", {})
        # While a program is evaluated, the point and the sources, and whether sizes were looked for at this point.
        self.evaluated: tuple[dict[str, Any], Sequence[str]] = ({}, ())
        self.sized = False
        self.names_float32 = names_float32(program, source.text)
        # Whether a result that is not finite is being computed anew, product by product.
        self.careful = False
        # Whether loops are written out that could stay loops: a kernel in which they did was left, and False if one in which
        # they were written was no better. None where nothing is known.
        self.written: bool | None = (store.load(self.key("written")) or {}).get("written")
        # Whether that is being tried.
        self.trial = False

    def makes_float32(self, values: dict[str, Any]) -> bool:
        """Whether the program itself may make float32 of bare numbers."""
        kinds = {x.dtype.name if x.__class__ is Tensor and not x.dtype.weak else "" for x in values.values()}
        return self.names_float32 and kinds.isdisjoint(("float64", "complex128"))

    def specified(self, values: dict[str, Any], sources: Sequence[str]) -> dict[str, Any]:
        """What a kernel for these inputs is specialised to. Raises Unsupported, also where kernels would be too many."""
        spec = specification(values, sources, self.known, self.makes_float32(values))
        self.parts.update(
            kind[0].digest if kind[0].__class__ is KnownTensor else f"{name}={kind[0]!r}"
            for name, kind in spec.items()
            if kind.__class__ is list and kind[0].__class__ in (KnownTensor, float)
        )
        if len(self.parts) > MOST_PARTS or any(len(sizes) > MOST_PARTS for sizes in self.several.values()):
            raise Unsupported("inputs that must be known, and are others in every evaluation")
        if self.sizes is not None:
            spec[SIZES] = self.sizes
        if self.rooms:
            spec[ROOMS] = self.roomy()
        if self.written:
            spec[WRITTEN] = True
        if self.careful:
            spec[CAREFUL] = True
        self.evaluated = values, sources
        return spec

    def roomy(self) -> tuple[tuple[int, int], ...]:
        """The room that lists have in loops, as a specification says it."""
        return tuple(sorted(self.rooms.items()))

    def learn(self, names: Iterable[str]) -> bool:
        """Specialise to the values of these inputs from now on; False if that was so already."""
        if self.known.issuperset(names):
            return False
        self.known.update(names)
        store.save(self.key("known"), {"names": sorted(self.known)})
        return True

    def answered(self, run: Callable[[], Any]) -> Any:
        """What `run` gives, tried again while what was missing can be found out. Raises Unsupported.

        Refusals are kept, and with a traceback they would keep the arrays of an evaluation: whoever catches one drops it.
        """
        self.sized = self.careful = self.trial = False
        site, start = STATE.site, time.thread_time()
        try:
            while True:
                try:
                    found = run()
                    if self.trial and found is None:  # the tape is sooner than such a kernel: nothing is known of it
                        self.written = None
                    elif self.trial:
                        self.end_trial(True)
                    return found
                except Unsupported as why:
                    if not REMEDIES.get(why.__class__, Learning.leave_sizes)(self, why):
                        if self.trial:
                            self.end_trial(False)
                        raise
                    why.__traceback__ = None
                    STATE.site = site
                    # What was in vain has been spent all the same.
                    now = time.thread_time()
                    self.budget, start = self.budget - (now - start), now
        finally:
            self.evaluated = {}, ()  # nobody's arrays are held

    # --- how long the tape takes where only data tells ---------------------------------------------------------------------

    def patience(self, ready: float) -> float:
        """How long the tape goes on before the kernel that was asked for last is loaded, which takes so many seconds."""
        return kept_patience_seconds(ready, self.duration()["tape"])

    def duration(self) -> dict[str, float]:
        """The seconds after which the tape was left for the kernel that was asked for last, and what that took then."""
        return store.load(self.key(("duration", self.latest))) or {"tape": 0.0, "kernel": 0.0}

    def learn_duration(self, tape: float, kernel: float) -> None:
        """Note that the tape was left after so many seconds for a kernel that took so many; where that says that there was
        less to do than at the time that is noted, forget this."""
        known, key = self.duration(), self.key(("duration", self.latest))
        if tape > known["tape"]:
            store.save(key, {"tape": tape, "kernel": kernel})
        elif kernel * OTHER_DATA < known["kernel"]:
            store.forget(key)

    # --- what was missing, and the remedy: whether there is one -----------------------------------------------------------

    def take_values(self, why: Needed) -> bool:
        """Specialise to the values that are asked for; or first, where these are no integers, to sizes that data decides."""
        values, _ = self.evaluated
        if all(whole(values[name]) for name in why.names) or self.sizes is not None:
            return self.learn(why.names)
        self.sizes = ()
        return True

    def take_care(self, _: Hasty) -> bool:
        """Compute this result anew, product by product; False if that was so already."""
        again, self.careful = self.careful, True
        return not again

    def make_room(self, why: Crowded) -> bool:
        """Let lists have more room in a loop; False where that is too much."""
        room = why.room * MORE_ROOM
        if room > MOST_ROOM:
            return False
        if self.rooms.get(why.start, 0) < room:
            self.rooms = {**self.rooms, why.start: room}
            store.save(self.key("rooms"), {"rooms": self.rooms})
        return True

    def write_out(self, _: Spared) -> bool:
        """Write loops out that had stayed loops, unless that has been tried in vain."""
        if self.written is not None:
            return False
        self.written = self.trial = True
        return True

    def end_trial(self, better: bool) -> None:
        """Note whether a kernel with its loops written out gives what another one has not."""
        self.written, self.trial = better, False
        store.save(self.key("written"), {"written": better})

    def take_parts(self, why: Parted) -> bool:
        """Specialise to the lengths that parts of tensors have."""
        return self.take_sizes(()) if self.sizes is None else self.leave_sizes(why)

    def take_other_sizes(self, why: Resized) -> bool:
        """Specialise to the sizes of this evaluation, as far as they are known."""
        found = () if why.size is None else (why.size,)
        return self.take_sizes((*(self.sizes or ())[: why.number], *found))

    def take_next_size(self, _: Sized) -> bool:
        """Specialise to one more size, which a kernel of its own finds out."""
        self.sized = True
        self.sizes = self.sizes or ()
        try:
            return self.take_sizes((*self.sizes, self.next_size()))
        except Unsupported:
            return False

    def leave_sizes(self, _: Unsupported) -> bool:
        """Forget the sizes of another evaluation, once: there is no kernel for them, and those of this one may be others."""
        stale, self.sized = not self.sized, True
        if not self.sizes or not stale:
            return False
        self.sizes = ()
        return True

    def take_sizes(self, sizes: tuple[Any, ...]) -> bool:
        self.sized = True
        self.sizes = sizes
        self.several.setdefault(len(sizes), set()).add(sizes)
        store.save(self.key("sizes"), {"sizes": sizes})
        return True

    def tell(self, _: Untold) -> bool:
        """Raise Told for the assertion for which a kernel has left, where a kernel tells its message sooner than the tape."""
        slow = self.tape_seconds is None or self.tape_seconds >= TELLING_SECONDS
        found = self.beside("telling", slow, last=True, telling=True)
        if found is None or isinstance(found, Unsupported):
            return False
        compiled, given = found
        try:
            called(compiled, given)
        except Told as told:
            told.teller = compiled
            raise
        return False

    def next_size(self) -> Any:
        """The first size that is not known, an integer or a tuple of several. Raises Unsupported where it is not found."""
        found = self.beside("size", True, probe=True)
        assert found is not None
        if isinstance(found, Unsupported):
            raise found
        size = called(*found)[0]
        return tuple(size.tolist()) if hasattr(size, "tolist") else int(size)

    def beside(
        self, purpose: str, worthwhile: bool, **options: bool
    ) -> tuple[Compiled, list[Any]] | Unsupported | None:
        """A kernel of the program that tells what another could not, with its arguments; why there is none, or None where
        it is not worth making."""
        values, sources = self.evaluated
        spec = self.specified(values, sources)
        given = arguments(self.program, values, spec)
        key = self.key((purpose, sorted(spec.items())))

        def make() -> Built:
            from .construction.construct import build

            return build(self.program, spec, None, **options)

        if not self.find(key) and key not in self.built:
            if not worthwhile:
                return None
            with memory_of_adiff():
                self.built[key] = self.attempt(make)
        found = self.built[key]
        return found if isinstance(found, Unsupported) else (self.ready(key, make), given)


# What an evaluation is tried again with, by what was missing; after anything else `Learning.leave_sizes`.
REMEDIES: dict[type[Unsupported], Callable[[Learning, Any], bool]] = {
    Needed: Learning.take_values,
    Hasty: Learning.take_care,
    Crowded: Learning.make_room,
    Untold: Learning.tell,
    Parted: Learning.take_parts,
    Resized: Learning.take_other_sizes,
    Sized: Learning.take_next_size,
    Spared: Learning.write_out,
}
