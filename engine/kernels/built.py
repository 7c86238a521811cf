"""What is known of a kernel when it runs, beside its code; and that as plain data, for the folder of kept kernels."""

from __future__ import annotations

from ..core.state import Site
from .ir import Unsupported

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from ...parser.source import Source
    from . import ir
    from .emitted import Emitted
    from .passes.widths import Precision


# Among the inputs of a meeting: what has a dtype of its own whatever the inputs are.
ANY = "*"
# A gradient of so many elements is left to no host (closing.py).
LONG = 1000
# Of a source that no path through the program leads from to the result: a run tells what became of it.
UNEXPLAINED = ("", None)


# What is noted where a tangent inside the program is not finite, instead of the code of a notice.
UNFINITE = "unfinite"


class Noted:
    """A singular point, or what another notice is about, that a kernel watches.

    `certain` says that the tape would follow the value there too.
    """

    __slots__ = ("certain", "code", "message", "site")

    def __init__(self, message: str, site: Any, certain: bool, code: str = "N0501") -> None:
        self.message = message
        self.site = site
        self.certain = certain
        self.code = code

    @property
    def what(self) -> tuple[Any, ...]:
        """What is said, and of which place."""
        return self.code, self.message, self.site and (self.site.start, self.site.end)


class Built:
    """A kernel before emission.

    `shape` is that of the program's value; `noted` are the singular points whose flags are the last result; `lost`
    names the sources that the result does not depend on, with the reason and its place; `counted` the float
    parameters that must be whole, `uncounted` those of which not all may be that are named together; `sure` the sources
    that every path connects to the result, `sure_if_running` those that do if the parameters at the positions in `bounds`
    are at least as large as it says, so that their loops run.
    `estimate` is the program that a tape would run, with the work of `passes` gradients, and `outline` what that work
    is estimated from. A kernel that was kept has no IR. Of a loop over the rows of a table, `emitted` is the
    source, `columns` what it writes: kind and elements of each, and `fails` whether it notes rows that fail. `whole` says
    that the second result tells whether the first, a float, is an integer of the program; `mixed` that it may be one, where
    derivatives stand beside it.
    `meetings` names the inputs from which real numbers come that meet complex ones, and those from which the complex ones
    come.
    `hasty` says that gradients which are not finite are to be found anew, every product formed as a tape forms it (`Slopes`).
    `parted` says that data decides the lengths of parts of tensors in it.
    `spared` says that loops have stayed loops in it that could have been written out.
    `closed` says that the last result counts what is not finite in its long gradients, whose zeros have no sign.
    `loads` names the library that the kernel imports, for its results or for functions that it calls; "" for none.
    """

    __slots__ = (
        "apart",
        "bare",
        "bounds",
        "closed",
        "columns",
        "counted",
        "doubtful",
        "emitted",
        "estimate",
        "fails",
        "hasty",
        "kernel",
        "loads",
        "lost",
        "meetings",
        "mixed",
        "noted",
        "outline",
        "parted",
        "passes",
        "places",
        "precision",
        "printed",
        "printed_counts",
        "shape",
        "spared",
        "structure",
        "sure",
        "sure_if_running",
        "uncounted",
        "whole",
    )  # fmt: skip

    def __init__(self, kernel: ir.Kernel | None, shape: tuple[int, ...]) -> None:
        self.kernel = kernel
        self.shape = shape
        # That of a kernel that computes in float32.
        self.precision: Precision | None = None
        # How a result that is a list, a tuple or a dict is put together (structures.py).
        self.structure: Any = None
        # What a result is whose leaves are summed for derivatives: "dict", "list" or "tuple"; None where it is one tensor.
        self.apart: str | None = None
        self.estimate = kernel
        self.passes = 1.0
        # Whether it makes float32 of bare numbers alone.
        self.bare = False
        self.outline: list[Any] | None = None
        self.noted: list[Noted] = []
        # What the text of what it prints is made of (printing.py).
        self.printed: Any = None
        # Which of them are integers where inputs are that are differentiated (printing.py).
        self.printed_counts: list[tuple[list[str], list[str]]] = []
        self.lost: dict[str, tuple[str, Any]] = {}
        self.counted: list[int] = []
        self.uncounted: list[list[int]] = []
        self.sure: set[str] = set()
        self.sure_if_running: set[str] = set()
        self.bounds: list[tuple[int, int]] = []
        self.emitted: Emitted | None = None
        self.columns: list[tuple[str, int]] = []
        self.fails = False
        self.whole = False
        self.mixed = False
        self.closed = False
        self.parted = False
        self.spared = False
        self.hasty = False
        self.loads = ""
        # The places in a value of what may be an integer of the program where it is a whole number.
        self.doubtful: list[int] = []
        self.meetings: list[tuple[list[str], list[str]]] = []
        # Where paths from inputs end, and why (connection.py).
        self.places: list[tuple[str, Any]] = []

    def settle_dtypes(self, values: dict[str, Any]) -> None:
        """Raises Unsupported where real and complex numbers meet that may both have dtypes of their own: an error."""
        for sides in self.meetings:
            if all(any(name == ANY or has_dtype(values[name]) for name in side) for side in sides):
                raise Unsupported("complex numbers beside real ones that have a dtype of their own")

    @property
    def unexplained(self) -> list[str]:
        """The sources that no path through the program leads from, for reasons that a run tells."""
        return [name for name, (reason, _) in self.lost.items() if not reason]

    def surely_connected(self, name: str, values: Sequence[Any]) -> bool:
        """Whether the result depends on a source for these arguments of the kernel, whatever its derivative is."""
        if name in self.sure:
            return True
        if name not in self.sure_if_running:
            return False
        for k, least in self.bounds:  # noqa: SIM110 -- a generator is a call for each
            if values[k] < least:
                return False
        return True


def has_dtype(x: Any) -> bool:
    """Whether a value is of a dtype of its own: no bare number or list."""
    dtype = getattr(x, "dtype", None)
    return dtype is not None and not dtype.weak


def to_plain(built: Built, source: Source) -> dict[str, Any]:
    """All of it but the IR, in types that marshal keeps. Raises Unsupported for places outside the program's text."""
    return {
        "shape": built.shape,
        "structure": built.structure,
        "apart": built.apart,
        "noted": [(n.message, site_to_plain(n.site, source), n.certain, n.code) for n in built.noted],
        "lost": {name: (reason, site_to_plain(site, source)) for name, (reason, site) in built.lost.items()},
        "printed": built.printed,
        "printed_counts": built.printed_counts,
        "counted": built.counted,
        "uncounted": built.uncounted,
        "sure": sorted(built.sure),
        "sure_if_running": sorted(built.sure_if_running),
        "bounds": built.bounds,
        "columns": built.columns,
        "fails": built.fails,
        "meetings": built.meetings,
        "passes": built.passes,
        "outline": built.outline,
        "whole": built.whole,
        "bare": built.bare,
        "mixed": built.mixed,
        "closed": built.closed,
        "parted": built.parted,
        "spared": built.spared,
        "hasty": built.hasty,
        "loads": built.loads,
        "doubtful": built.doubtful,
        "places": [(reason, site_to_plain(site, source)) for reason, site in built.places],
    }


def from_plain(plain: dict[str, Any], source: Source) -> Built:
    """What `to_plain` was given, for the same program."""
    built = Built(None, plain["shape"])
    built.structure = plain["structure"]
    built.apart = plain["apart"]
    built.noted = [
        Noted(message, site_from_plain(site, source), certain, code) for message, site, certain, code in plain["noted"]
    ]
    built.lost = {name: (reason, site_from_plain(site, source)) for name, (reason, site) in plain["lost"].items()}
    built.printed = plain["printed"]
    built.printed_counts = plain["printed_counts"]
    built.counted = plain["counted"]
    built.uncounted = plain["uncounted"]
    built.sure = set(plain["sure"])
    built.sure_if_running = set(plain["sure_if_running"])
    built.bounds = plain["bounds"]
    built.columns = plain["columns"]
    built.fails = plain["fails"]
    built.meetings = plain["meetings"]
    built.passes = plain["passes"]
    built.closed = plain["closed"]
    built.parted = plain["parted"]
    built.spared = plain["spared"]
    built.hasty = plain["hasty"]
    built.loads = plain["loads"]
    built.outline = plain["outline"]
    built.whole = plain["whole"]
    built.bare = plain["bare"]
    built.mixed = plain["mixed"]
    built.doubtful = plain["doubtful"]
    built.places = [(reason, site_from_plain(site, source)) for reason, site in plain["places"]]
    return built


def site_to_plain(site: Site | None, source: Source) -> tuple[int, int] | None:
    """A place as offsets in the program's text; None for nowhere."""
    if site is None or site.source is None:
        return None
    if site.source is not source:
        raise Unsupported("code from another program")
    return site.start, site.end


def site_from_plain(place: tuple[int, int] | None, source: Source) -> Site:
    return Site(None, None, 0, 0) if place is None else Site(None, source, *place)
