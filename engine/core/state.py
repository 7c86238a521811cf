"""What an evaluation carries along: settings, active recorders, the place in the source, notices.

One evaluation runs at a time in a thread of control; `STATE` is its record. Everything here is reset by `reset`.
"""

from __future__ import annotations

from _thread import RLock, allocate_lock

from ...parser.fields import Record
from ...parser.source import Span
from .dtypes import FLOAT32, FLOAT64, WEAK_FLOAT, DType

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ...parser.source import Source
    from ..ops.operation import Operation


class Site:
    """A place in a program at which an operation is applied."""

    __slots__ = ("end", "op", "source", "start")

    def __init__(self, op: Operation | None, source: Source | None, start: int, end: int) -> None:
        self.op = op
        self.source = source
        self.start = start
        self.end = end

    def of(self, op: Operation) -> Site:
        """The same place, for an operation that a rule, a composite or a rewrite applies there."""
        return Site(op, self.source, self.start, self.end)


NOWHERE = Site(None, None, 0, 0)


def end_of(source: Source) -> Site:
    """A program's last line, where what is said of its result belongs."""
    end = len(source.text.rstrip())
    start = source.text.rfind("\n", 0, end) + 1
    start += len(source.text[start:end]) - len(source.text[start:end].lstrip())
    return Site(None, source, start, end)


def span_of(site: Site) -> Span | None:
    """The source span of a site, if it has a place in a source."""
    return None if site.source is None else Span(site.source, site.start, site.end)


class Notice(Record):
    """Something worth knowing about a result that is right: a kink, a NaN's origin, a missing gradient. `span` is its place, or
    None."""

    code: str
    message: str
    span: Span | None

    def to_plain(self) -> dict[str, Any]:
        """The notice for JSON."""
        return {"code": self.code, "message": self.message, "span": self.span}

    def __repr__(self) -> str:
        return f"Notice({self.code!r}, {self.message!r})"


class State:
    """The record of the evaluation that is running."""

    def __init__(self) -> None:
        # Active recorders, outermost first. The list object never changes: hot code keeps a reference to it.
        self.recorders: list[Any] = []
        # Contexts of NumPy's that the evaluation is in, by the names of their functions.
        self.contexts: dict[str, Any] = {}
        self.reset()

    def enter(self, function: str, **options: Any) -> None:
        """Stay in a context of NumPy's, `errstate` or `printoptions`, to the end of the evaluation."""
        import numpy as np

        if function not in self.contexts:
            self.contexts[function] = getattr(np, function)(**options)
            self.contexts[function].__enter__()

    def reset(self) -> None:
        self.recorders.clear()
        self.site: Site = NOWHERE
        # How many statements around handle a ZeroDivisionError, so that bare numbers divided by zero raise one.
        self.dividing = 0
        self.masks: dict[int, tuple[Any, Any]] = {}
        # Where a copy of the last tape goes that a gradient is asked of; None where nobody wants it.
        self.last_tape: list[Any] | None = None
        # Takes a line that says how far a long call is; None where nobody watches.
        self.progress: Any = None
        # Gives what a file of the library defines, in the run of the program that is evaluated.
        self.library: Any = None
        # Where the program called the library function that is running.
        self.outside: Site = NOWHERE
        self.notices: list[Notice] = []
        self.seen: set[tuple[Any, ...]] = set()
        # The singular points that have been told, by place, with what decides which one that is.
        self.singular: dict[tuple[int, int], tuple[tuple[int, str], Notice]] = {}
        self.kinks = "adiff"
        # The bytes that a long loop may keep for its reverse sweep; None means what it takes.
        self.checkpoint: int | None = None
        self.default_float: DType = FLOAT64
        self.weak_float: DType = WEAK_FLOAT
        # The generator of numbers drawn without a seed, once there is one; None where a draw could not be repeated.
        self.draws: list[Any] | None = None
        self.tensorflow_float: DType = FLOAT32  # what a bare float becomes through `tf.`
        # Python's floats are float64; with --dtype float32 even a literal must compute in float32.
        # Called with every result, and with every cotangent, while the origin of a NaN is looked for; None otherwise.
        self.trace: Any = None
        self.trace_adjoint: Any = None
        self.depth = 0
        # Forward mode passes through branches that are not taken; its kinks are no news (see api.quietly).
        self.quiet = False
        # Takes what the program prints; None while it is run again for its derivatives alone.
        self.write: Any = None
        # Set when a zero tangent met an infinite partial: forward mode cannot tell 0 from nan there.
        self.ambiguous = False
        # Set while a JVP is found by transposing a VJP: its cotangents are placeholders, so their zeros mean nothing.
        self.transposing = False
        # Set while the notices are found for derivatives along several directions, or for second ones: where places share
        # what is equal at hand, it may differ in one of those.
        self.several = False

    def end(self) -> None:
        """What an evaluation leaves behind, whatever ended it."""
        self.recorders.clear()
        self.write = self.trace = self.trace_adjoint = None
        while self.contexts:
            self.contexts.popitem()[1].__exit__(None, None, None)

    def outward(self, site: Site) -> Site:
        """A site; for one in the library the place of the program's call of it."""
        if site.source is None or not site.source.library:
            return site
        outside = self.outside
        return Site(site.op, outside.source, outside.start, outside.end)

    def notify(self, code: str, message: str, site: Site | None = None) -> None:
        """Report once per place and message; a singular point once per place."""
        site = self.outward(self.site if site is None else site)
        if code == "N0501":
            self.notify_singular(message, site)
            return
        key = (code, message, site.start, site.end)
        if key not in self.seen:
            self.seen.add(key)
            self.notices.append(Notice(code, message, span_of(site)))

    def notify_singular(self, message: str, site: Site) -> None:
        """Report a singular point once per place.

        The derivative of a derivative meets it again, in operations that the user never wrote: what was met while more
        recorders were active counts. Of several kinds, met in whatever order, the first in the alphabet is told.
        """
        rank = -len(self.recorders), message
        place = site.start, site.end
        known = self.singular.get(place)
        if known is None:
            notice = Notice("N0501", message, span_of(site))
            self.notices.append(notice)
            self.singular[place] = rank, notice
        elif rank < known[0]:
            known[1].message = message
            self.singular[place] = rank, known[1]


# One evaluation at a time: the record of the one that runs is global. Threads take turns.
LOCK = RLock()
STATE = State()
RECORDERS = STATE.recorders
# Held while an evaluation runs. Wherever a Ctrl-C strikes, `with` lets go of a lock; it may pass over lines of a `finally`.
RUNNING = allocate_lock()
