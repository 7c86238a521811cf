"""The kernels of one program: what each is specialised to, what had to be learnt for that, and what the engine asks."""

from __future__ import annotations

from ..core.limits import memory_of_adiff
from ..core.state import STATE, end_of
from ..core.tensor import Tensor
from . import store
from .collection import Collection
from .inputs import CAREFUL, ROOMS, SIZES, KnownTensor, arguments, is_integer, specification
from .ir import Crowded, Hasty, Needed, Parted, Resized, Sized, Told, Unsupported, Untold
from .readings import Reading, reshaped
from .running import called, run, typed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any

    from ...parser.source import Source
    from ..program.core import CoreProgram
    from .built import Built
    from .construction.paths import Paths
    from .running import Compiled


# For an assertion that fails on the tape sooner than so many seconds no kernel is made that tells its message.
TELLING_SECONDS = 0.5
# So many tensors of integers become a part of kernels of one program, each of others.
MOST_PARTS = 16
# Lists that have outgrown their room have so many times the room in the next kernel; for so many items at most.
MORE_ROOM = 8
MOST_ROOM = 1 << 25


def without_comments(text: str) -> str:
    """A program's text without its comments."""
    import re

    return re.sub(r"""("(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')|#[^\n]*""", lambda found: found[1] or "", text)


def whole(value: Any) -> bool:
    """Whether an input may be a part of a kernel: an integer, or integers."""
    return value.__class__ in (int, bool) or (value.__class__ is Tensor and value.dtype.kind == "i")


def without_derivative(derivatives: Any) -> bool:
    """Whether derivatives, in whatever structure, are None or numbers that are zero."""
    if derivatives.__class__ in (list, tuple):
        return all(map(without_derivative, derivatives))
    if derivatives.__class__ is dict:
        return all(map(without_derivative, derivatives.values()))
    return derivatives is None or (derivatives.__class__ is float and derivatives == 0.0)


class Kernels(Collection):
    """The kernels of one program, by what they are specialised to; `evaluate` is what the engine calls."""

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
        # Whether the text names float32, but in a comment.
        self.names_float32 = "float32" in source.text and "float32" in without_comments(source.text)
        # Whether a result that is not finite is being computed anew, product by product.
        self.careful = False

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
        if self.careful:
            spec[CAREFUL] = True
        self.evaluated = values, sources
        return spec

    def evaluate(
        self, values: dict[str, Any], sources: Sequence[str] | None, always: bool, last: bool = False
    ) -> tuple[Any, list[Any], Compiled] | None:
        """The value (that of the `last` statement) and the gradients of `sources`, and the kernel that gave them.

        None where the tape is the sooner way (unless `always`). Raises Unsupported for programs outside this tier.
        """
        spec = self.specified(values, sources or ())
        given = arguments(self.program, values, spec)
        command = "gradient" if sources is not None else "run" if last else "value"
        key = (command, sorted(spec.items()), sources)

        def make() -> Built:
            from .construction.construct import build

            built = build(self.program, spec, sources, True, last)
            self.explicable(built, spec, sources or ())
            return built

        compiled = self.prepared(key, make, given, always)
        if compiled is None:
            return None
        built = compiled.built
        built.settle_dtypes(values)
        if built.printed is not None and any(is_integer(values[name]) for name in sources or ()):
            raise Unsupported("'print' where an integer is differentiated")  # it is printed as the integer that it is
        reading = compiled.reading = Reading(built, "value" if sources is None else "grad", sources or (), spec)
        value, *found = run(compiled, given)
        with reading.looking(lambda: self.paths(spec, sources or (), given)):
            gradients = reading.derivatives(found, given) or []
            value = self.own_type(compiled, value, gradients, spec, given)
            missing = [name for name, g in zip(sources or (), gradients) if g is None]
            reasons = reading.reasons(missing) if missing else {}
        for name in missing:
            reason, site = reasons[name]
            STATE.notify("N0502", f"{name}: the gradient is None: {reason}", site or end_of(self.source))
        if built.structure is not None:
            from .lowering.structures import unpacked

            return unpacked(value, built.structure), gradients, compiled
        return reshaped(value, built.shape), gradients, compiled

    def own_type(self, compiled: Compiled, value: Any, derivatives: Any, spec: dict[str, Any], given: list[Any]) -> Any:
        """The value beside its derivatives, an integer where it is one of the program's: then it depends on no source,
        and the kernel of the value alone tells. Raises Unsupported where that one cannot."""
        if not compiled.built.mixed or not float(value).is_integer() or not without_derivative(derivatives):
            return value

        def make() -> Built:
            from .construction.construct import build

            return build(self.program, spec, None, True)

        key = self.key(("type", sorted(spec.items())))
        if not self.find(key) and key not in self.built:
            self.built[key] = self.attempt(make)
        plain = self.ready(key, make)
        return typed(plain, called(plain, given))[0]

    def write_unfinished(
        self, write: Callable[[str], object], formatted: Callable[[Any, str | None, str], str]
    ) -> None:
        """Write what the kernel that an error or a signal has ended had printed by then."""
        for compiled in self.compiled.values():
            if compiled.unfinished:
                compiled.write(write, formatted)

    def paths(self, spec: dict[str, Any], sources: Sequence[str], given: list[Any]) -> Paths:
        """Which sources the result depends on for these arguments, and why it does not on the others.

        Raises Unsupported where that is the tape's to find out.
        """
        key = self.key(("paths", sorted(spec.items()), tuple(sources)))
        if not self.find(key):
            self.describe_paths(key, spec, sources)
        compiled = self.ready(key, lambda: self.connection(spec, sources))
        from .construction.paths import Paths

        return Paths(compiled.built, sources, called(compiled, given)[0])

    def connection(self, spec: dict[str, Any], sources: Sequence[str]) -> Built:
        from .construction.connection import build_connection

        return build_connection(self.program, spec, sources)

    def describe_paths(self, key: str, spec: dict[str, Any], sources: Sequence[str]) -> None:
        if key not in self.built:
            self.built[key] = self.attempt(lambda: self.connection(spec, sources))

    def choices(self, values: dict[str, Any], sources: Sequence[str]) -> tuple[Any, Any, dict[str, bool]]:
        """What a run chooses, how far it is from singular points, and by which sources something in it is not analytic
        (construction/choices.py). Raises Unsupported, also for more of them than are noted."""
        spec = self.specified(values, sources)
        given = arguments(self.program, values, spec)

        def make() -> Built:
            from .construction.choices import build_choices

            return build_choices(self.program, spec, sources)

        compiled = self.prepared(("choices", sorted(spec.items()), tuple(sources)), make, given, True)
        assert compiled is not None
        chosen, distant, notes = called(compiled, given)
        if max(notes[:2]) > len(chosen):
            raise Unsupported("more choices than are compared")
        analytic = {name: not flag for name, flag in zip(sources, notes[2:])}
        return chosen[: notes[0]].copy(), distant[: notes[1]].copy(), analytic

    def explicable(self, built: Built, spec: dict[str, Any], sources: Sequence[str]) -> None:
        """Raise Unsupported where sources do not reach the result, and no kernel can tell why."""
        if built.unexplained:
            key = self.key(("paths", sorted(spec.items()), tuple(sources)))
            self.describe_paths(key, spec, sources)
            if isinstance(self.built[key], Unsupported):
                why = self.built[key]
                raise Unsupported(f"an input that the result does not depend on: {why}", why.site)

    def source_text(self, values: dict[str, Any], sources: Sequence[str] | None) -> str:
        """The source of the kernel of the value, or of value and gradient, with what it calls. Raises Unsupported."""
        from .construction.construct import build
        from .source.emit import emit
        from .source.legend import legend

        spec = self.specified(values, sources or ())
        arguments(self.program, values, spec)
        built = self.attempt(lambda: build(self.program, spec, sources))
        if isinstance(built, Unsupported):
            raise built
        emitted = emit(built.kernel, built.precision)
        return legend(emitted) + emitted.text

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
        self.sized = self.careful = False
        site = STATE.site
        try:
            while True:
                try:
                    return run()
                except Unsupported as why:
                    if not self.may_try_again(why):
                        raise
                    why.__traceback__ = None
                    STATE.site = site
        finally:
            self.evaluated = {}, ()  # nobody's arrays are held

    def may_try_again(self, why: Unsupported) -> bool:
        """Whether what was missing is known now: the values of inputs, or sizes that data decides."""
        if why.__class__ is Needed:
            values, _ = self.evaluated
            if all(whole(values[name]) for name in why.names) or self.sizes is not None:
                return self.learn(why.names)
            self.sizes = ()
            return True
        if why.__class__ is Hasty:
            self.careful = True
            return True
        if isinstance(why, Crowded):
            return self.make_room(why)
        if why.__class__ is Untold:
            self.tell()
            return False
        stale, self.sized = not self.sized, True
        if why.__class__ is Parted and self.sizes is None:
            self.sizes = ()
        elif isinstance(why, Resized):
            found = () if why.size is None else (why.size,)
            self.sizes = (*(self.sizes or ())[: why.number], *found)
        elif why.__class__ is Sized:
            self.sizes = self.sizes or ()
            try:
                self.sizes = (*self.sizes, self.next_size())
            except Unsupported:
                return False
        elif self.sizes and stale:
            # There is no kernel for the sizes of another evaluation; those of this one may be others.
            self.sizes = ()
            return True
        else:
            return False
        self.several.setdefault(len(self.sizes), set()).add(self.sizes)
        store.save(self.key("sizes"), {"sizes": self.sizes})
        return True

    def roomy(self) -> tuple[tuple[int, int], ...]:
        """The room that lists have in loops, as a specification says it."""
        return tuple(sorted(self.rooms.items()))

    def make_room(self, why: Crowded) -> bool:
        """Let lists have more room in a loop; False where that is too much."""
        room = why.room * MORE_ROOM
        if room > MOST_ROOM:
            return False
        if self.rooms.get(why.start, 0) < room:
            self.rooms = {**self.rooms, why.start: room}
            store.save(self.key("rooms"), {"rooms": self.rooms})
        return True

    def tell(self) -> None:
        """Raise Told for the assertion for which a kernel has left, where a kernel tells its message sooner than the tape."""
        values, sources = self.evaluated
        spec = self.specified(values, sources)
        given = arguments(self.program, values, spec)
        key = self.key(("telling", sorted(spec.items())))

        def make() -> Built:
            from .construction.construct import build

            return build(self.program, spec, None, last=True, telling=True)

        if not self.find(key) and key not in self.built:
            if self.tape_seconds is not None and self.tape_seconds < TELLING_SECONDS:
                return
            with memory_of_adiff():
                self.built[key] = self.attempt(make)
        if isinstance(self.built[key], Unsupported):
            return
        compiled = self.ready(key, make)
        try:
            called(compiled, given)
        except Told as told:
            told.teller = compiled
            raise

    def next_size(self) -> Any:
        """The first size that is not known, an integer or a tuple of several. Raises Unsupported where it is not found."""
        values, sources = self.evaluated
        spec = self.specified(values, sources)
        given = arguments(self.program, values, spec)
        key = self.key(("size", sorted(spec.items())))

        def make() -> Built:
            from .construction.construct import build

            return build(self.program, spec, None, probe=True)

        if not self.find(key) and key not in self.built:
            with memory_of_adiff():
                self.built[key] = self.attempt(make)
        if isinstance(self.built[key], Unsupported):
            raise self.built[key]
        found = called(self.ready(key, make), given)[0]
        return tuple(found.tolist()) if hasattr(found, "tolist") else int(found)
