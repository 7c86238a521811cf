"""Emission: a kernel as Python source that Numba compiles, written as one would write it by hand."""

from __future__ import annotations

import math

from . import ir
from .ir import BOOL, FLOAT, INT, Array, Stmt, Var
from .primitives import TEXT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

DTYPES = {FLOAT: "float64", INT: "int64", BOOL: "bool_"}


def source(kernel: ir.Kernel, name: str = "kernel") -> str:
    """The source of a function of the kernel's parameters that returns the tuple of its results."""
    used = used_positions(kernel)
    printer = Printer(used)
    printer.block(kernel.body, 1)
    parameters = ", ".join(p.name for p in kernel.parameters)
    results = ", ".join(text(r) for r in kernel.results)
    body = "\n".join(printer.lines)
    return f"def {name}({parameters}):\n{body}\n    return ({results},)\n"


def text(x: Any) -> str:
    """An operand in source form."""
    if x.__class__ is Var or x.__class__ is Array:
        return x.name
    if x.__class__ is float:
        if math.isnan(x):
            return "math.nan"
        if math.isinf(x):
            return "math.inf" if x > 0 else "(-math.inf)"
    return repr(x) if not (x.__class__ in (int, float) and (x < 0 or str(x)[0] == "-")) else f"({x!r})"


def used_positions(kernel: ir.Kernel) -> set[Any]:
    """The loops' counters that are read anywhere."""
    found: set[Any] = set()

    def walk(block: list[Stmt]) -> None:
        for s in block:
            if s.__class__ is ir.ReverseLoop:
                found.add(s.trips)
                walk(s.body)
            elif s.__class__ is ir.Loop:
                walk(s.body)
            elif s.__class__ is ir.If:
                walk(s.then)
                walk(s.orelse)

    walk(kernel.body)
    return found


class Printer:
    def __init__(self, trips: set[Any]) -> None:
        self.lines: list[str] = []
        self.trips = trips

    def line(self, level: int, code: str) -> None:
        self.lines.append("    " * level + code)

    def block(self, block: list[Stmt], level: int) -> None:
        if not block:
            self.line(level, "pass")
        for s in block:
            PRINTERS[s.__class__](self, s, level)

    def set(self, s: ir.Set, level: int) -> None:
        code = TEXT[s.op].format(*map(text, s.args), **{key: text(value) for key, value in (s.attributes or {}).items()})
        if code[0] == "(" and code[-1] == ")" and balanced(code[1:-1]):
            code = code[1:-1]
        self.line(level, f"{s.var.name} = {code}")

    def load(self, s: ir.Load, level: int) -> None:
        self.line(level, f"{s.var.name} = {s.array.name}[{text(s.index)}]")

    def check(self, s: ir.Check, level: int) -> None:
        self.line(level, f"if not {s.low} <= {text(s.index)} < {s.size}:")
        self.line(level + 1, "raise IndexError")

    def alloc(self, s: ir.Alloc, level: int) -> None:
        make = "zeros" if s.zero else "empty"
        self.line(level, f"{s.array.name} = np.{make}({s.array.size}, dtype=np.{DTYPES[s.array.kind]})")

    def store(self, s: ir.Store, level: int) -> None:
        self.line(level, f"{s.array.name}[{text(s.index)}] = {text(s.value)}")

    def add_to(self, s: ir.AddTo, level: int) -> None:
        self.line(level, f"{s.array.name}[{text(s.index)}] += {text(s.value)}")

    def accumulate(self, s: ir.Accumulate, level: int) -> None:
        self.line(level, f"{s.var.name} += {text(s.value)}")

    def loop(self, s: ir.Loop, level: int) -> None:
        for phi, initial, _ in s.carried:
            self.line(level, f"{phi.name} = {text(initial)}")
        counted = s.trips in self.trips or bool(s.stacks)
        straight = s.test is None and s.stop_when is None and s.start == 0 and s.step == 1
        if counted and not straight:
            self.line(level, f"{s.trips.name} = 0")
        # A loop that may end early, or whose end is not known, keeps its heads in arrays that grow.
        grows = s.test is not None or s.stop_when is not None
        size = "1024" if grows else s.trips.name
        bounds = f"range({text(s.start)}, {text(s.stop)}, {text(s.step)})"
        if s.step == 1:
            bounds = f"range({text(s.stop)})" if s.start == 0 else f"range({text(s.start)}, {text(s.stop)})"
        if counted and straight:
            trips = text(s.stop) if s.stop.__class__ is int and s.stop >= 0 else f"max({text(s.stop)}, 0)"
            self.line(level, f"{s.trips.name} = {trips}")
        elif s.stacks and not grows:
            size = f"len({bounds})"
        for stack in s.stacks.values():
            self.line(level, f"{stack.name} = np.empty({size}, dtype=np.{DTYPES[stack.kind]})")
        if s.test is None:
            assert s.index is not None
            self.line(level, f"for {s.index.name} in {bounds}:")
        else:
            self.line(level, "while True:")
            self.block(s.test, level + 1) if s.test else None
            self.line(level + 1, f"if not ({text(s.condition)}):")
            self.line(level + 2, "break")
        place = s.index.name if straight and s.index is not None else s.trips.name
        for phi, stack in s.stacks.items():
            if grows:
                self.line(level + 1, f"if {s.trips.name} == {stack.name}.size:")
                self.line(level + 2, f"{stack.name} = _grow({stack.name})")
            self.line(level + 1, f"{stack.name}[{place}] = {phi.name}")
        if counted and not straight:
            self.line(level + 1, f"{s.trips.name} += 1")
        if s.body or not s.carried:
            self.block(s.body, level + 1)
        moved = [(phi.name, text(following)) for phi, _, following in s.carried if text(following) != phi.name]
        if moved:
            phis = {name for name, _ in moved}
            if any(value in phis for _, value in moved):
                names, values = zip(*moved)
                self.line(level + 1, f"{', '.join(names)} = {', '.join(values)}")
            else:
                for name, value in moved:
                    self.line(level + 1, f"{name} = {value}")
        if s.stop_when is not None:
            self.line(level + 1, f"if {text(s.stop_when)}:")
            self.line(level + 2, "break")

    def reverse_loop(self, s: ir.ReverseLoop, level: int) -> None:
        k = s.position.name
        self.line(level, f"for {k} in range({s.trips.name} - 1, -1, -1):")
        if s.index is not None:
            place = k
            if s.step != 1:
                place = f"{place} * {text(s.step)}"
            if s.start != 0:
                place = f"{text(s.start)} + {place}"
            self.line(level + 1, f"{s.index.name} = {place}")
        for phi, stack in s.restore:
            self.line(level + 1, f"{phi.name} = {stack.name}[{k}]")
        self.block(s.body, level + 1)

    def if_(self, s: ir.If, level: int) -> None:
        if not s.then and not s.merges and s.orelse:
            self.line(level, f"if not {text(s.condition)}:")
            self.block(s.orelse, level + 1)
            return
        self.line(level, f"if {text(s.condition)}:")
        then = [(v.name, text(a)) for v, a, _ in s.merges]
        orelse = [(v.name, text(b)) for v, _, b in s.merges]
        for k, (block, values) in enumerate(((s.then, then), (s.orelse, orelse))):
            if k == 1:
                if not block and not values:
                    return
                self.line(level, "else:")
            if block or not values:
                self.block(block, level + 1)
            for name, value in values:
                self.line(level + 1, f"{name} = {value}")


def balanced(code: str) -> bool:
    depth = 0
    for ch in code:
        depth += (ch == "(") - (ch == ")")
        if depth < 0:
            return False
    return depth == 0


PRINTERS: dict[type, Any] = {
    ir.Set: Printer.set,
    ir.Load: Printer.load,
    ir.Check: Printer.check,
    ir.Alloc: Printer.alloc,
    ir.Store: Printer.store,
    ir.AddTo: Printer.add_to,
    ir.Accumulate: Printer.accumulate,
    ir.Loop: Printer.loop,
    ir.ReverseLoop: Printer.reverse_loop,
    ir.If: Printer.if_,
}
