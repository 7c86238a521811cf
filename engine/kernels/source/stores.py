"""Memory in source: arrays, constants, what is kept of an array that loops change, and where it may run out or fail."""

from __future__ import annotations

from .. import ir
from ..ir import BOOL, DTYPES, INT, Array, Stmt
from ..machine.externals import IN_FLOAT32
from ..machine.failures import BESIDE, FAR
from ..passes.statements import everything
from .lines import Lines, bare
from .naming import MEMORY, number, scalar_kind
from .primitives import TEXT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ...core.state import Site
    from ..passes.widths import Precision

# Arrays of so many elements live on the machine's stack, where their elements may become registers.
FEW = 32
# The room of a log, or of heads whose number is not known, at first.
ROOM = 1024


class Stores(Lines):
    """The part of the printer for statements on memory, and for what leaves the kernel."""

    def __init__(self, kernel: ir.Kernel, precision: Precision | None = None) -> None:
        super().__init__(kernel, precision)
        self.known: list[str] = []  # the arrays that are constants, before the function
        self.held: list[bytes] = []  # the elements of those that are long
        self.results = {r for r in kernel.results if r.__class__ is Array}
        # The memory slots of arrays, heads and logs.
        self.slots: dict[Any, int] = {}
        self.slot_sites: list[Site | None] = []
        loops = [s.site for s in kernel.body if s.__class__ is ir.Loop and s.site is not None]
        self.anywhere = loops[0] if loops else first_site(kernel.body)
        # The place of the outermost loop of the program around what is printed.
        self.within: Site | None = None
        self.sites: list[tuple[Site | None, tuple[Any, ...] | None]] = []

    def place(self, site: Site | None, failure: tuple[Any, ...] | None) -> int:
        """The number of a place in the program, with what an error there says."""
        if (site, failure) not in self.sites:
            self.sites.append((site, failure))
        return self.sites.index((site, failure))

    def check(self, s: ir.Check, level: int) -> None:
        index = self.text(s.index)
        number = bare(index)
        if scalar_kind(s.index) == BOOL:
            self.line(level, f"if not {index}:" if s.low else f"if {bare(index)}:")
            # Of a float, whether it is above or below 0, or neither.
            number = "0" if s.value is None else bare(TEXT["int_sign"].format(self.text(s.value)))
        else:
            self.line(level, f"if not {s.low} <= {index} < {s.size}:")
            if s.value is not None:
                number = f"max({-FAR}, min({number}, {FAR})) * {BESIDE} + {bare(self.text(s.value))}"
        self.failing(self.place(s.site, s.failure), number, level + 1)

    def failing(self, place: int, number: str, level: int) -> None:
        """Leave here: a number is not as it should be."""
        self.line(level, f"fail(run, {place}, {number})")

    def room(self, owner: Any, memory: str, count: Any, site: Site | None = None) -> str:
        """Memory for `count` elements: what belongs to one `owner` is one slot. `site` is where it may run out."""
        if owner not in self.slots:
            self.slots[owner] = len(self.slots)
            self.slot_sites.append(site)
        slot = self.slots[owner]
        return f"{memory}(run, {slot}, {count})"

    def alloc(self, s: ir.Alloc, level: int) -> None:
        name, size = self.name(s.array), s.array.size
        few = size <= FEW and s.array not in self.results
        memory = self.memory(s.array)
        made = f"few_{memory}({size})" if few else self.room(s.array, memory, size, s.array.grown)
        self.line(level, f"{name} = {made}")
        if s.zero:
            self.line(level, f"clear({name}, {size})")

    def constant(self, s: ir.Constant, level: int) -> None:
        kind = self.stored(s.array)
        dtype = f"dtype={DTYPES[kind]!r}"
        if len(s.values) < ir.LONG_CONSTANT:
            self.known.append(f"{self.name(s.array)} = np.array([{', '.join(map(number, s.values))}], {dtype})")
        else:
            self.known.append(f"{self.name(s.array)} = held({len(self.held)}, {len(s.values)}, {dtype})")
            self.held.append(ir.bytes_of(kind, s.values))

    def store(self, s: ir.Store, level: int) -> None:
        self.line(level, f"{self.name(s.array)}[{bare(self.text(s.index))}] = {bare(self.text(s.value))}")

    def routine(self, s: ir.Routine, level: int) -> None:
        name = s.name if self.widths is None else s.name + IN_FLOAT32
        self.line(level, f"{name}({self.name(s.value)}, {self.name(s.array)}, {s.rows}, {s.columns})")

    def add_to(self, s: ir.AddTo, level: int) -> None:
        self.line(level, f"{self.name(s.array)}[{bare(self.text(s.index))}] += {bare(self.text(s.value))}")

    def open_log(self, s: ir.OpenLog, level: int) -> None:
        self.line(level, f"{self.beside(s.array, 'room')} = {ROOM}")
        self.make_log(s.array, level)
        self.line(level, f"{self.beside(s.array, 'top')} = 0")

    def make_log(self, array: Array, level: int) -> None:
        room = self.beside(array, "room")
        for suffix, memory in (("at", MEMORY[INT]), ("was", self.memory(array))):
            made = self.room((suffix, array), memory, room, self.within or self.anywhere)
            self.line(level, f"{self.beside(array, suffix)} = {made}")

    def keep(self, s: ir.Keep, level: int) -> None:
        name, index = self.name(s.array), bare(self.text(s.index))
        top, room, at, was = (self.beside(s.array, suffix) for suffix in ("top", "room", "at", "was"))
        self.line(level, f"if {top} == {room}:")
        self.line(level + 1, f"{room} *= 2")
        self.make_log(s.array, level + 1)
        self.line(level, f"{at}[{top}] = {index}")
        self.line(level, f"{was}[{top}] = {name}[{index}]")
        self.line(level, f"{top} += 1")

    def mark(self, s: ir.Mark, level: int) -> None:
        self.line(level, f"{self.name(s.var)} = {self.beside(s.array, 'top')}")

    def take_back(self, s: ir.TakeBack, level: int) -> None:
        top, at, was = (self.beside(s.array, suffix) for suffix in ("top", "at", "was"))
        self.line(level, f"{top} -= 1")
        self.line(level, f"{self.name(s.array)}[{at}[{top}]] = {was}[{top}]")

    def rewind(self, s: ir.Rewind, level: int) -> None:
        self.line(level, f"while {self.beside(s.array, 'top')} > {self.text(s.value)}:")
        self.take_back(ir.TakeBack(s.array), level + 1)

    def accumulate(self, s: ir.Accumulate, level: int) -> None:
        self.line(level, f"{self.name(s.var)} += {bare(self.text(s.value))}")


def first_site(block: list[Stmt]) -> Site | None:
    """A place in the program that a block computes something for."""
    for s in everything(block):
        site: Site | None = getattr(s, "site", None)
        if site is not None and site.source is not None:
            return site
    return None
