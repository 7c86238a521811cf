"""Running kernels: from a program and its inputs to compiled code, and from its results back to values."""

from __future__ import annotations

import time

from ...parser.errors import AdiffError
from ..core.dtypes import FLOAT64, WEAK_FLOAT
from ..core.limits import LIMITS, memory_of_adiff, step_limit
from ..core.state import STATE, Site
from ..core.tensor import Tensor
from ..program.core import CoreProgram
from . import store
from .built import LONG, from_plain, to_plain
from .inputs import CAREFUL, SIZES, KnownTensor, OfInteger, arguments, is_integer, specification
from .ir import FLOAT, SINGLE, Fault, Hasty, Left, Needed, Parted, Resized, Sized, Stopped, Unsupported
from .readings import Reading, is_finite, reshaped
from .work import LOAD_SECONDS, outlined, surely_quick, tape_seconds, worthwhile

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any

    from ...parser.source import Source
    from .built import Built
    from .construction.paths import Paths
    from .emitted import Emitted
    from .machine.code import Code, Entry
    from .machine.usual import Usual


# Seconds, the compiler's import among them, that finding out that there can be no kernel takes where that is kept.
WORTH_KEEPING = 0.02
# Smaller integers are float32 numbers.
LARGEST_WHOLE = 2**24
# So many tensors of integers become a part of kernels of one program, each of others.
MOST_PARTS = 16


class Compiled:
    """A kernel ready to run: what is known of it, what is called, and what was compiled."""

    __slots__ = ("built", "emitted", "entry", "lines", "reading", "seconds", "unfinished")

    def __init__(self, built: Built, entry: Entry, emitted: Emitted) -> None:
        self.built = built
        self.entry = entry
        self.emitted = emitted
        # The rows of what it printed when it ran last, and how many; None if it prints nothing.
        self.lines: tuple[Any, int] | None = None
        # How its results were read when it ran last.
        self.reading: Reading | None = None
        # How long that took.
        self.seconds = 0.0
        # Whether that was before an error or a signal ended it.
        self.unfinished = False

    def write(self, write: Callable[[str], object], formatted: Callable[[Any, str | None, str], str]) -> None:
        """Write what the kernel printed when it ran last, its values as `formatted` gives them."""
        if self.lines is not None:
            from .lowering.printing import text_of

            (rows, count), self.lines = self.lines, None
            self.unfinished = False
            for line in text_of(rows, count, self.built.printed, formatted):
                write(line)

    def usual(self) -> Usual:
        """How it is called by those who take results only where they are as most are."""
        from .machine.usual import Usual

        built, last = self.built, len(self.emitted.results) - 1
        flags = last - built.closed if built.noted else None
        return Usual(self.entry, flags, 1 if built.whole else None, last if built.closed else None)

    @property
    def source(self) -> str:
        """The source of the kernel."""
        return self.emitted.text


def compile_kernel(built: Built, keep: Callable[[Emitted, Code], object] | None = None) -> Compiled:
    """Emit what `build` made, compile and load it; `keep` is given what was made."""
    from .compilation.compiler import compile_source
    from .machine.code import Entry
    from .source.emit import emit

    assert built.kernel is not None
    emitted = built.emitted or emit(built.kernel, built.precision)
    code = compile_source(emitted)
    compiled = Compiled(built, Entry(emitted, code), emitted)
    if keep is not None:
        keep(emitted, code)
    return compiled


def load_kernel(built: Built, kept: dict[str, Any], source: Source) -> Compiled:
    """A kernel that was compiled by another process. Raises Unsupported where its code is not for this one."""
    from .emitted import emitted_from_plain
    from .machine.code import Code, Entry, processor

    if kept["processor"] != processor():
        raise Unsupported("machine code for another processor")
    emitted = emitted_from_plain(kept["emitted"], source)
    return Compiled(built, Entry(emitted, Code(kept["object"], kept["symbol"], kept["externals"])), emitted)


def run(compiled: Compiled, values: list[Any]) -> tuple[Any, ...]:
    """The results of a kernel, its notices given.

    Raises Unsupported where the answer is for the tape to give: an error, or a doubt whether a value is connected.
    """
    built = compiled.built
    for position in built.counted:
        if values[position].__class__ is not OfInteger:
            raise Unsupported("a range to a float")
    results = called(compiled, values)
    if built.sloped and not are_finite(built, results):
        raise Hasty("a gradient that is not finite, for the way in which it was found")
    if built.closed:
        results = results[:-1]
    if compiled.emitted.single:
        results = as_float32(compiled, results)
    results = typed(compiled, results)
    if built.noted:
        hit = [noted for flag, noted in zip(results[-1], built.noted) if flag]
        results = results[:-1]
        if STATE.kinks == "error" and any(noted.code == "N0501" for noted in hit):
            raise Unsupported("a singular point that is an error", hit[0].site)
        told = {noted.what for noted in hit if noted.certain}
        for noted in hit:
            # Of two operands that meet the point one is enough for the tape to say so.
            if noted.what not in told:
                why = "a singular point of which it is not known whether the result depends on it"
                raise (Parted if built.parted else Unsupported)(why, noted.site)
        for noted in hit:
            if noted.certain:
                STATE.notify(noted.code, noted.message, noted.site)
    if built.printed is not None:
        *rest, rows, count = results
        results = tuple(rest)
        compiled.lines = rows, count[0]
    return (results[0], *map(unsigned, results[1:]))


def are_finite(built: Built, results: tuple[Any, ...]) -> bool:
    """Whether the gradients among the results of a kernel are finite."""
    if built.closed:
        *rest, unfinite = results
        if unfinite:
            return False
        results = tuple(rest)
    end = len(results) - bool(built.noted) - (0 if built.printed is None else 2)
    return all(is_finite(x) for x in results[1:end] if not built.closed or getattr(x, "size", 1) < LONG)


def typed(compiled: Compiled, results: tuple[Any, ...]) -> tuple[Any, ...]:
    """The results with the value as the integer that it is of the program, if so; what tells is no result any more.

    Raises Unsupported where nothing tells.
    """
    built = compiled.built
    if built.whole:
        value, is_whole, *rest = results
        if is_whole and compiled.emitted.single and not abs(value) < LARGEST_WHOLE:
            raise Unsupported("an integer that float32 may not hold")
        results = (int(value) if is_whole else value, *rest)
    if built.doubtful:
        value = results[0]
        if any(float(value[place] if hasattr(value, "__len__") else value).is_integer() for place in built.doubtful):
            raise Unsupported("a result of which it depends on data whether it is an integer")
    return results


def unsigned(derivative: Any) -> Any:
    """A derivative whose zeros are 0.0, as a sum that begins with 0.0 has them. An array is changed in place."""
    derivative += 0.0
    return derivative


def as_float32(compiled: Compiled, results: tuple[Any, ...]) -> tuple[Any, ...]:
    """The results of a kernel with its float32 numbers as NumPy's.

    Of a value of float32 all derivatives are, those too that the kernel has from bare numbers alone.
    """
    import numpy as np

    kinds = [kind if kind.__class__ is str else kind[1] for kind in compiled.emitted.results]
    if kinds[0] == SINGLE and compiled.built.printed is None:
        kinds = [SINGLE if kind == FLOAT else kind for kind in kinds]
    found = []
    for kind, x in zip(kinds, results, strict=True):
        if kind == SINGLE:
            with np.errstate(all="ignore"):
                x = np.asarray(x, np.float32) if hasattr(x, "dtype") else np.float32(x)
        found.append(x)
    return tuple(found)


def called(compiled: Compiled, values: list[Any]) -> tuple[Any, ...]:
    """The results of a kernel as it gives them. Raises Unsupported, or the error for which it left."""
    emitted = compiled.emitted
    compiled.lines, compiled.unfinished = None, False
    # What takes but a moment is not worth a thread, which is what signals need.
    patient = surely_quick(compiled.built, values, emitted.heaviest)
    start = time.perf_counter()
    try:
        return compiled.entry(*values, memory=LIMITS.max_memory, patient=patient)
    except Left as left:
        from .machine.failures import error_of

        error = error_of(left, emitted)
        if error.__class__ is Unsupported and compiled.built.parted:
            error = Parted(str(error), error.site)
        if not isinstance(error, Unsupported):
            keep_lines(compiled, left.arrays)
        raise error from None
    except Stopped as stopped:
        from .machine.failures import interruption

        keep_lines(compiled, stopped.arrays)
        raise interruption(stopped, emitted) from None
    finally:
        compiled.seconds = time.perf_counter() - start


def keep_lines(compiled: Compiled, arrays: dict[int, Any]) -> None:
    """What a kernel had printed when it was ended, from its results that are arrays."""
    built = compiled.built
    if built.printed is not None and arrays:
        place = len(compiled.emitted.results) - (1 if built.noted else 0) - 1
        compiled.lines, compiled.unfinished = (arrays[place - 1], arrays[place][0]), True


class Kernels:
    """The kernels of one program, by what they are specialised to; `evaluate` is what the engine calls."""

    def __init__(self, program: CoreProgram, source: Source) -> None:
        self.program = program
        self.source = source
        # Whether a kernel that is not there may be worth its compilation; if not, it is not looked into.
        self.may_compile = True
        # What the program's text says of the tape: the seconds that it takes at least, and the library that it imports.
        self.least_seconds, self.loads = 0.0, ""
        # The seconds that the tape would take for what was evaluated last; None where nobody knows.
        self.tape_seconds: float | None = None
        # What tells the tensors apart that are a part of a kernel.
        self.parts: set[str] = set()
        self.built: dict[str, Any] = {}
        self.kept: dict[str, dict[str, Any]] = {}
        self.compiled: dict[str, Compiled] = {}
        # The inputs whose values decide what is compiled (`ones(n)`): found by trying, so kept like kernels.
        self.known: set[str] = set((store.load(self.key("known")) or {}).get("names", ()))
        # The sizes that data decided last, where kernels are made for them; and how they have differed.
        self.sizes: tuple[Any, ...] | None = (store.load(self.key("sizes")) or {}).get("sizes")
        self.several: dict[int, set[tuple[Any, ...]]] = {}
        # While a program is evaluated, the point and the sources, and whether sizes were looked for at this point.
        self.evaluated: tuple[dict[str, Any], Sequence[str]] = ({}, ())
        self.sized = False
        # Whether a result that is not finite is being computed anew, product by product.
        self.careful = False

    def makes_float32(self, values: dict[str, Any]) -> bool:
        """Whether the program itself may make float32 of bare numbers."""
        kinds = {x.dtype.name if x.__class__ is Tensor and not x.dtype.weak else "" for x in values.values()}
        return "float32" in self.source.text and kinds.isdisjoint(("float64", "complex128"))

    def specified(self, values: dict[str, Any], sources: Sequence[str]) -> dict[str, Any]:
        """What a kernel for these inputs is specialised to. Raises Unsupported, also where kernels would be too many."""
        spec = specification(values, sources, self.known, self.makes_float32(values))
        self.parts.update(kind[0].digest for kind in spec.values() if kind.__class__ is list and is_part(kind[0]))
        if len(self.parts) > MOST_PARTS or any(len(sizes) > MOST_PARTS for sizes in self.several.values()):
            raise Unsupported("integers that decide how long results are, and are others in every evaluation")
        if self.sizes is not None:
            spec[SIZES] = self.sizes
        if self.careful:
            spec[CAREFUL] = True
        self.evaluated = values, sources
        return spec

    def key(self, parts: Any) -> str:
        """Everything that a kernel depends on, on this machine."""
        return store.key_of(self.source.text, STATE.kinks, (parts, STATE.checkpoint, step_limit()))

    def find(self, key: str) -> bool:
        """Whether a kernel is here, or was kept by another process."""
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
            STATE.notify("N0502", f"{name}: the gradient is None: {reason}", site)
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
        try:
            while True:
                try:
                    return run()
                except Unsupported as why:
                    if not self.may_try_again(why):
                        raise
                    why.__traceback__ = None
        finally:
            self.evaluated = {}, ()  # nobody's arrays are held

    def may_try_again(self, why: Unsupported) -> bool:
        """Whether what was missing is known now: the values of inputs, or sizes that data decides."""
        if why.__class__ is Needed:
            values, _ = self.evaluated
            if all(counts(values[name]) for name in why.names) or self.sizes is not None:
                return self.learn(why.names)
            self.sizes = ()
            return True
        if why.__class__ is Hasty:
            self.careful = True
            return True
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

    def prepared(self, parts: Any, make: Callable[[], Built], given: list[Any], always: bool) -> Compiled | None:
        """The compiled kernel that `make` describes; None where the tape is the sooner way (unless `always`).

        `parts` says what it depends on beside the program: command, inputs, sources.
        """
        key = self.key(parts)
        if not self.find(key) and key not in self.built:
            if not always and not self.may_compile:
                return None
            start = time.perf_counter()
            with memory_of_adiff():
                self.built[key] = self.attempt(make)
            # Not one that more is to be known for, which is asked again in a moment.
            if self.built[key].__class__ is Unsupported and time.perf_counter() - start > WORTH_KEEPING:
                store.save(key, {"refused": refused(self.built[key])})
        built = self.built[key]
        if isinstance(built, Unsupported):
            raise built
        self.tape_seconds = tape_seconds(built, given)
        if not always:
            seconds = 0.0 if key in self.compiled else LOAD_SECONDS if key in self.kept else None
            if not worthwhile(built, given, seconds, self.least_seconds, self.loads):
                return None
        return self.ready(key, make)

    def form(self, parts: Any, make: Callable[[], tuple[Any, ...]]) -> tuple[Any, ...]:
        """The form of a value that `make` finds, or that was kept. Raises Unsupported."""
        key = self.key(parts)
        if key not in self.built:
            entry = store.load(key)
            if entry is not None:
                self.built[key] = entry["form"]
            else:
                self.built[key] = self.attempt(make)
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
            return make()
        except Unsupported as why:
            why.__context__ = why.__cause__ = None  # it is kept, and these would keep what was evaluated
            return why
        except AdiffError as error:
            if error.code == "E0603":
                raise
            # Of values that are not known: the tape may not reach it, or know more.
            place = STATE.site if STATE.site.source is self.source else None
            return Unsupported(f"what may be an error: {error.message}", place)
        except RecursionError:
            return Unsupported("a program that is nested so deeply")
        except MemoryError:
            return Unsupported("a program that takes more memory than there is while it is compiled")
        except Exception as fault:
            return Fault(fault)
        finally:
            STATE.site = site
            STATE.weak_float, STATE.default_float = floats


def counts(value: Any) -> bool:
    """Whether an input may be a part of a kernel: an integer, or integers."""
    return value.__class__ in (int, bool) or (value.__class__ is Tensor and value.dtype.kind == "i")


def refused(why: Unsupported) -> tuple[str, int | None, int]:
    """Why there is no kernel, with the place, in types that marshal keeps."""
    return str(why), None if why.site is None else why.site.start, 0 if why.site is None else why.site.end


def is_part(x: Any) -> bool:
    """Whether an input that is known is a tensor."""
    return x.__class__ is KnownTensor


def without_derivative(derivatives: Any) -> bool:
    """Whether derivatives, in whatever structure, are None or numbers that are zero."""
    if derivatives.__class__ in (list, tuple):
        return all(map(without_derivative, derivatives))
    if derivatives.__class__ is dict:
        return all(map(without_derivative, derivatives.values()))
    return derivatives is None or (derivatives.__class__ is float and derivatives == 0.0)


__all__ = [
    "Compiled",
    "Kernels",
    "Unsupported",
    "arguments",
    "compile_kernel",
    "load_kernel",
    "run",
    "specification",
]
