"""Emission: a kernel as source in a subset of Python, written as one would write it by hand for a compiler of loops."""

from __future__ import annotations

from .. import ir
from ..emitted import Emitted
from ..ir import INT, Array, Stack, Stmt, Var
from ..passes.parallel_loops import parallel_loops
from ..passes.polls import asking
from ..passes.statements import everything
from .lines import bare
from .stores import ROOM, Stores, first_site
from .usage import Replaced, read_where_kept, used_positions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ...core.state import Site
    from ..passes.widths import Precision


def emit(kernel: ir.Kernel, precision: Precision | None = None) -> Emitted:
    """The source of a kernel. What it calls is listed in compiler.py; `precision` is that of one in float32."""
    printer = Printer(kernel, precision)
    printer.block(kernel.body, 1, kernel.results)
    parameters = ", ".join(["run", *map(printer.text, kernel.parameters)])
    results = ", ".join(bare(printer.text(r)) for r in kernel.results)
    if len(kernel.results) == 1:
        results = f"({results},)"
    body = "".join(line + "\n" for line in printer.lines)
    known = "".join(line + "\n" for line in printer.known)
    return Emitted(
        f"{known}def kernel({parameters}):\n{body}    return {results}\n",
        "".join(map(printer.letter, kernel.parameters)),
        [
            (printer.slots[r], printer.stored(r), r.size) if r.__class__ is Array else printer.stored(r)
            for r in kernel.results
        ],
        len(printer.slots),
        printer.heaviest,
        printer.slot_sites,
        printer.sites,
        *printer.precision(),
        printer.held,
        [k for k, r in enumerate(kernel.results) if printer.given(r) != printer.stored(r)],
    )


class Printer(Stores):
    """Prints statements: loops and branches here, what stands inside them in the classes that this one is made of."""

    def __init__(self, kernel: ir.Kernel, precision: Precision | None = None) -> None:
        super().__init__(kernel, precision)
        self.trips = used_positions(kernel)
        self.asking, self.heaviest, self.whole = asking(kernel)
        self.shared = parallel_loops(kernel)
        self.unmoved = read_where_kept(kernel)
        self.replaced = Replaced(kernel)
        # The place of the outermost loop of the program around every loop, by its trips.
        self.around: dict[Var, Site | None] = {}

    def loop(self, s: ir.Loop, level: int) -> None:
        outer = self.within
        self.within = self.around[s.trips] = outer or s.site
        self.forward_loop(s, level)
        self.within = outer

    def forward_loop(self, s: ir.Loop, level: int) -> None:
        for phi, initial, _ in s.carried:
            self.let(phi, initial, level)
        counted = s.trips in self.trips or bool(s.stacks)
        straight = s.test is None and s.stop_when is None and s.start == 0 and s.step == 1
        trips = self.name(s.trips) if counted else ""
        start, stop = self.text(s.start), self.text(s.stop)
        bounds = f"range({start}, {stop}, {self.text(s.step)})"
        if s.step == 1:
            bounds = f"range({stop})" if s.start == 0 else f"range({start}, {stop})"
        if s in self.shared:
            bounds = f"p{bounds}"
        if counted:
            known = stop if s.stop.__class__ is int else f"max({stop}, 0)"
            self.line(level, f"{trips} = {known if straight else 0}")
        if counted and straight and not s.body and not s.carried:
            return  # only the reverse sweep goes through its iterations
        # A loop that may end early, or whose end is not known, keeps its heads in arrays that grow.
        grows = bool(s.stacks) and (s.test is not None or s.stop_when is not None)
        room = trips if not s.stacks or (straight and not grows) else self.beside(s.trips, "room")
        if grows:
            self.line(level, f"{room} = {ROOM}")
        elif s.stacks and not straight:
            self.line(level, f"{room} = len({bounds})")
        for stack in s.stacks.values():
            self.heads(s, stack, room, level)
        self.line(level, "while True:" if s.index is None else f"for {self.name(s.index)} in {bounds}:")
        first = len(self.lines)
        self.ask(s, level + 1)
        if s.test is not None:
            self.block(s.test, level + 1, [s.condition])
            if s.condition is not True:
                self.line(level + 1, f"if not {self.text(s.condition)}:")
                self.line(level + 2, "break")
        place = self.name(s.index) if straight and s.index is not None else trips
        if grows:
            self.line(level + 1, f"if {trips} == {room}:")
            self.line(level + 2, f"{room} *= 2")
            for stack in s.stacks.values():
                self.heads(s, stack, room, level + 2)
        for phi, stack in s.stacks.items():
            if phi.__class__ is Array:
                self.copy(
                    f"{self.name(stack)}[{place} * {stack.width} + {{0}}] = {self.name(phi)}[{{0}}]",
                    stack.width,
                    level + 1,
                )
            else:
                self.line(level + 1, f"{self.name(stack)}[{place}] = {self.name(phi)}")
        if counted and not straight:
            self.line(level + 1, f"{trips} += 1")
        self.turn(s, level + 1)
        if s.stop_when is not None:
            self.line(level + 1, f"if {self.text(s.stop_when)}:")
            self.line(level + 2, "break")
        self.ask(s, level + 1, True)
        if len(self.lines) == first:
            self.line(level + 1, "pass")

    def heads(self, s: ir.Loop, stack: Stack, room: str, level: int) -> None:
        """Memory for the heads of a loop, as many as `room` says."""
        count = room if stack.width == 1 else f"{room} * {stack.width}"
        site = self.within or first_site(s.body)
        self.line(level, f"{self.name(stack)} = {self.room(stack, self.memory(stack), count, site)}")

    def copy(self, element: str, count: int, level: int) -> None:
        """A statement for each element."""
        i = self.name(Var(INT, "i"))
        self.line(level, f"for {i} in range({count}):")
        self.line(level + 1, element.format(i))

    def ask(self, s: ir.Loop | ir.ReverseLoop, level: int, at_end: bool = False) -> None:
        """Leave here if the run is to stop: at the head of an iteration, or at its end."""
        if s in self.asking and nested(s) is at_end:
            site = first_site(s.body) or getattr(s, "site", None)
            self.line(level, f"poll(run, {self.place(site, None)})")

    def turn(self, s: ir.Loop, level: int) -> None:
        """The body of a loop, and what it hands on."""
        moved = [(phi, following) for phi, _, following in s.carried if following is not phi]
        if any(inner.__class__ is ir.Store for inner in s.body):
            # LLVM makes vectors of what is handed on if it is there before anything is stored.
            self.once -= {following for _, following in moved}
        for phi, following in moved:
            if self.widths is None and following not in self.names and self.replaced.by(s, phi, following):
                self.names[following] = self.name(phi)
                self.same[following] = phi
        # Several are handed on together, so what they are must be known before.
        self.block(s.body, level, [moved[0][1]] if len(moved) == 1 else [])
        if any(following is phi for _, following in moved for phi, _ in moved):
            names = ", ".join(self.name(phi) for phi, _ in moved)
            self.line(level, f"{names} = {', '.join(self.text(following) for _, following in moved)}")
            return
        for phi, following in moved:
            self.let(phi, following, level)

    def reverse_loop(self, s: ir.ReverseLoop, level: int) -> None:
        k = self.name(s.position)
        self.line(level, f"for {k} in range({self.name(s.trips)} - 1, -1, -1):")
        self.ask(s, level + 1)
        if s.index is not None:
            place = k
            if s.step != 1:
                place = f"{place} * {self.text(s.step)}"
            if s.start != 0:
                place = f"{self.text(s.start)} + {place}"
            self.line(level + 1, f"{self.name(s.index)} = {place}")
        for phi, stack in s.restore:
            if (s, phi) in self.unmoved:
                self.kept[phi] = f"{self.name(stack)}[{k} * {stack.width}"
            elif phi.__class__ is Array:
                self.copy(
                    f"{self.name(phi)}[{{0}}] = {self.name(stack)}[{k} * {stack.width} + {{0}}]", stack.width, level + 1
                )
            else:
                self.line(level + 1, f"{self.name(phi)} = {self.name(stack)}[{k}]")
        outer = self.within
        self.within = outer or self.around.get(s.trips)
        self.block(s.body, level + 1)
        self.within = outer
        self.ask(s, level + 1, True)

    def if_(self, s: ir.If, level: int) -> None:
        condition = self.text(s.condition)
        then = [(v, a) for v, a, _ in s.merges]
        orelse = [(v, b) for v, _, b in s.merges]
        if self.nothing(s.then, then) and not self.nothing(s.orelse, orelse):
            self.line(level, f"if not {condition}:")
            self.side(s.orelse, orelse, level + 1)
            return
        self.line(level, f"if {bare(condition)}:")
        self.side(s.then, then, level + 1)
        if not self.nothing(s.orelse, orelse):
            self.line(level, "else:")
            self.side(s.orelse, orelse, level + 1)

    def nothing(self, block: list[Stmt], values: list[tuple[Var, Any]]) -> bool:
        """Whether a side has nothing to do: what it gives has that name already."""
        return not block and all(self.same.get(var) is value for var, value in values)

    def side(self, block: list[Stmt], values: list[tuple[Var, Any]], level: int) -> None:
        first = len(self.lines)
        self.block(block, level, [value for _, value in values])
        for var, value in values:
            self.let(var, value, level)
        if len(self.lines) == first:
            self.line(level, "pass")


def nested(s: ir.Loop | ir.ReverseLoop) -> bool:
    """Whether a loop had better ask at the end of an iteration: loops in it are sure to run then, and LLVM loads what no
    iteration changes once, before all of them. Where an iteration is straight code, it makes vectors of the little that such
    a loop hands on, which takes longer."""
    counted = s.__class__ is ir.ReverseLoop or s.index is not None
    return counted and any(isinstance(x, ir.Loop | ir.ReverseLoop) for x in everything(s.body))


Printer.printers = {
    ir.Set: Printer.assign,
    ir.Load: Printer.load,
    ir.Check: Printer.check,
    ir.Alloc: Printer.alloc,
    ir.Constant: Printer.constant,
    ir.Store: Printer.store,
    ir.Routine: Printer.routine,
    ir.AddTo: Printer.add_to,
    ir.OpenLog: Printer.open_log,
    ir.Keep: Printer.keep,
    ir.Mark: Printer.mark,
    ir.TakeBack: Printer.take_back,
    ir.Rewind: Printer.rewind,
    ir.Accumulate: Printer.accumulate,
    ir.Loop: Printer.loop,
    ir.ReverseLoop: Printer.reverse_loop,
    ir.If: Printer.if_,
}
