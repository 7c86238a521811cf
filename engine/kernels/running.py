"""Running one kernel: compiled or loaded, called, and its results with their notices and what it printed."""

from __future__ import annotations

import time

from ..core.limits import LIMITS
from ..core.state import STATE
from .built import LONG, UNFINITE
from .inputs import OfInteger
from .ir import FLOAT, SINGLE, Hasty, Left, Parted, Spared, Stopped, Told, Unsupported
from .readings import is_finite
from .work import surely_quick

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ...parser.source import Source
    from .built import Built, Noted
    from .emitted import Emitted
    from .machine.code import Code, Entry
    from .machine.usual import Usual
    from .readings import Reading


# Smaller integers are float32 numbers.
LARGEST_WHOLE = 2**24


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
    return Compiled(built, Entry(emitted, Code(kept["object"], kept["symbol"], kept["externals"])), emitted, True)


def run(compiled: Compiled, values: list[Any]) -> tuple[Any, ...]:
    """The results of a kernel, its notices given.

    Raises Unsupported where the answer is for the tape to give: an error, or a doubt whether a value is connected. It is
    Spared where a kernel with its loops written out might give it.
    """
    try:
        return results_of(compiled, values)
    except Unsupported as why:
        if why.__class__ is Unsupported and compiled.built.spared:
            raise Spared(str(why), why.site) from None
        raise


def results_of(compiled: Compiled, values: list[Any]) -> tuple[Any, ...]:
    """The same. Raises Unsupported."""
    built = compiled.built
    for position in built.counted:
        if values[position].__class__ is not OfInteger:
            raise Unsupported("a range to a float")
    for group in built.uncounted:
        if all(values[position].__class__ is OfInteger for position in group):
            raise Unsupported("a number of points that is counted with integers which are differentiated")
    results = called(compiled, values)
    if built.hasty and not are_finite(built, results):
        raise Hasty("a gradient that is not finite, for the way in which it was found")
    if built.closed:
        results = results[:-1]
    if compiled.emitted.single:
        results = as_float32(compiled, results)
    results = typed(compiled, results)
    if built.noted:
        hit = [noted for flag, noted in zip(results[-1], built.noted) if flag]
        results = results[:-1]
        unfinite = any(noted.code == UNFINITE for noted in hit)
        hit = [noted for noted in hit if noted.code != UNFINITE]
        if STATE.kinks == "error" and any(noted.code == "N0501" for noted in hit):
            refuse_singular(compiled, [noted for noted in hit if noted.code == "N0501"])
        told = {noted.what for noted in hit if noted.certain}
        for noted in hit:
            # Of two operands that meet the point one is enough for the tape to say so.
            if noted.what not in told:
                why = "a singular point of which it is not known whether the result depends on it"
                raise (Parted if built.parted else Unsupported)(why, noted.site)
        if unfinite:
            raise Hasty("a derivative inside the program that is not finite, for the way in which it was found")
        for noted in hit:
            if noted.certain:
                STATE.notify(noted.code, noted.message, noted.site)
    if built.printed is not None:
        *rest, rows, count = results
        results = tuple(rest)
        compiled.lines = rows, count[0]
    return (results[0], *map(unsigned, results[1:]))


def refuse_singular(compiled: Compiled, hit: list[Noted]) -> None:
    """Raise the error that singular points are. Raises Unsupported where there are several, of which the tape tells the
    first, or none that the result depends on for certain."""
    from ..core.wording import singular

    if len({noted.what for noted in hit}) > 1 or not any(noted.certain for noted in hit) or compiled.built.printed:
        raise Unsupported("a singular point that is an error", hit[0].site)
    raise singular(hit[0].message, hit[0].site)


def are_finite(built: Built, results: tuple[Any, ...]) -> bool:
    """Whether the value and the gradients among the results of a kernel are finite."""
    if built.closed:
        *rest, unfinite = results
        if unfinite:
            return False
        results = tuple(rest)
    end = len(results) - bool(built.noted) - (0 if built.printed is None else 2)
    return all(is_finite(x) for x in results[:end] if not built.closed or getattr(x, "size", 1) < LONG)


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

    Of a value of float32 all derivatives are, those too that the kernel has from bare numbers alone; of another, those by
    bare numbers are bare.
    """
    import numpy as np

    kinds = [kind if kind.__class__ is str else kind[1] for kind in compiled.emitted.results]
    for place in compiled.emitted.rounded:
        kinds[place] = SINGLE
    if kinds[0] == SINGLE and compiled.built.printed is None:
        kinds = [SINGLE if kind == FLOAT else kind for kind in kinds]
    elif kinds[0] == FLOAT and compiled.built.bare:
        kinds = [FLOAT if kind == SINGLE else kind for kind in kinds]
    found = []
    for kind, x in zip(kinds, results, strict=True):
        if kind == SINGLE:
            with np.errstate(all="ignore"):
                x = np.asarray(x, np.float32) if hasattr(x, "dtype") else np.float32(x)
        elif kind == FLOAT and hasattr(x, "dtype"):
            x = np.asarray(x, np.float64)
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
        if not isinstance(error, Unsupported) or error.__class__ is Told:
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


class Compiled:
    """A kernel ready to run: what is known of it, what is called, and what was compiled."""

    __slots__ = ("built", "emitted", "entry", "lines", "loaded", "reading", "seconds", "unfinished")

    def __init__(self, built: Built, entry: Entry, emitted: Emitted, loaded: bool = False) -> None:
        self.built = built
        # Whether another process had compiled it.
        self.loaded = loaded
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

    def last_line(self, formatted: Callable[[Any, str | None, str], str]) -> str:
        """The last line that the kernel printed before it was ended, which is not written then."""
        from .lowering.printing import text_of

        assert self.lines is not None
        rows, count = self.lines
        self.lines = rows, count - 1
        width, _ = self.built.printed
        return text_of(rows[(count - 1) * width :], 1, self.built.printed, formatted)[0]

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
