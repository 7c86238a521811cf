"""A kernel in source form, with what a caller must know of it."""

from __future__ import annotations

from .built import site_from_plain, site_to_plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from ...parser.source import Source
    from ..core.state import Site


class Emitted:
    """A kernel in source form: `kernel(run, parameters ...)` returns the tuple of its results.

    `parameters` holds the kind of each, in upper case for arrays; `results` the kind of each scalar, and for arrays
    (memory slot, kind, size); `slots` is the number of memory slots. `heaviest` says how many statements one iteration
    may take of the loops that ask whether to go on: 0 where none does, infinity where one is long for certain; and of a
    loop over rows about how many one row takes.
    `slot_sites` gives the place in the program of every slot whose size a loop decides, None for the others; `sites`
    the places that the source refers to by number, with what an error there says. Where the kernel computes in float32,
    `single` says how (widths.py), and `sums` and `doubles` name the variables that are float64 all the same; `rounded`
    are the places of results that are so in memory alone. `held` are
    the elements of long constant arrays, in memory as they are: the source names them by number.
    """

    __slots__ = (
        "doubles", "heaviest", "held", "parameters", "results", "rounded", "single", "sites", "slot_sites", "slots", "sums", "text",
    )  # fmt: skip

    def __init__(
        self,
        text: str,
        parameters: str,
        results: list[Any],
        slots: int,
        heaviest: float = 0.0,
        slot_sites: Sequence[Site | None] = (),
        sites: Sequence[tuple[Site | None, tuple[Any, ...] | None]] = (),
        single: str = "",
        sums: Sequence[str] = (),
        doubles: Sequence[str] = (),
        held: Sequence[bytes] = (),
        rounded: Sequence[int] = (),
    ) -> None:
        self.single = single
        self.sums = sums
        self.doubles = doubles
        self.held = held
        self.rounded = rounded
        self.text = text
        self.parameters = parameters
        self.results = results
        self.slots = slots
        self.heaviest = heaviest
        self.slot_sites = slot_sites
        self.sites = sites

    def to_plain(self, source: Source) -> dict[str, Any]:
        """All of it, in types that marshal keeps."""
        plain = {name: getattr(self, name) for name in self.__slots__}
        plain["slot_sites"] = [site_to_plain(site, source) for site in self.slot_sites]
        plain["sites"] = [(site_to_plain(site, source), failure) for site, failure in self.sites]
        return plain


def emitted_from_plain(plain: dict[str, Any], source: Source) -> Emitted:
    """What `to_plain` was given, for the same program."""
    emitted = Emitted(**plain)
    # Where there is no place, the tape is asked: that must be seen of a kernel that was kept too.
    emitted.slot_sites = [None if site is None else site_from_plain(site, source) for site in plain["slot_sites"]]
    emitted.sites = [
        (None if site is None else site_from_plain(site, source), failure) for site, failure in plain["sites"]
    ]
    return emitted
