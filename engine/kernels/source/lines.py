"""Lines of source, and values that wait to be written where they are read: those that are read once, nearby."""

from __future__ import annotations

import re

from .. import ir
from ..ir import Array, Stack, Stmt, Unsupported, Var
from ..passes.statements import LEAVING, changes, operands, touched
from .naming import Naming, number
from .primitives import TEXT
from .usage import arrays_changed, read_once

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any, ClassVar

    from ..passes.widths import Precision

# Longer expressions get a name.
LONGEST = 50
CALL = re.compile(r"[\w.]+\((\{\d\}(, )?)*\)")
# Blocks inside blocks: Python's parser takes less than 100.
DEEPEST = 95


class Waiting:
    """An expression that is read once, and is written there: its text and what it reads, and whether it may leave the
    kernel."""

    __slots__ = ("leaves", "reads", "statement", "text")

    def __init__(self, statement: Stmt, text: str, reads: set[Any], leaves: bool) -> None:
        self.statement = statement
        self.text = text
        self.reads = reads
        self.leaves = leaves


class Lines(Naming):
    """The part of the printer that writes lines, and expressions inside them."""

    printers: ClassVar[dict[type, Callable[[Any, Any, int], None]]]  # of the statements

    def __init__(self, kernel: ir.Kernel, precision: Precision | None = None) -> None:
        super().__init__(kernel, precision)
        self.lines: list[str] = []
        self.once = read_once(kernel)
        self.waiting: dict[Var, Waiting] = {}
        # What has waited for its reader and reads a variable or an array.
        self.reading: dict[Any, list[Var]] = {}
        # What a loop hands on under the name of what it replaces.
        self.same: dict[Var, Var] = {}
        # Arrays that are read where a loop kept them: the name of that memory, and where the iteration's part begins.
        self.kept: dict[Array, str] = {}

    def text(self, x: Any) -> str:
        """An operand in source form."""
        if x.__class__ is Var and x in self.waiting:
            return self.waiting.pop(x).text
        return self.name(x) if x.__class__ in (Var, Array, Stack) else number(x)

    def line(self, level: int, code: str) -> None:
        if level > DEEPEST:
            raise Unsupported("blocks nested this deeply")
        self.lines.append("    " * level + code)

    def block(self, block: list[Stmt], level: int, after: Sequence[Any] = ()) -> None:
        """A block; `after` is what the caller reads at its end, in one place each."""
        outer, self.waiting = self.waiting, {}
        for s in block:
            self.flush(s, level)
            self.printers[s.__class__](self, s, level)
        for var in [var for var in self.waiting if not any(var is x for x in after)]:
            self.write(var, level)
        self.waiting = {**outer, **self.waiting}

    def let(self, var: Var, value: Any, level: int) -> None:
        """`var = value`, unless they are the same by name."""
        name, code = self.name(var), bare(self.text(value))
        if code != name:
            self.line(level, f"{name} = {code}")

    def write(self, var: Var, level: int) -> None:
        found = self.waiting.pop(var)
        self.line(level, f"{self.name(var)} = {bare(found.text)}")

    def flush(self, s: Stmt, level: int) -> None:
        """Write what must be computed before a statement, and cannot be written inside it."""
        direct = set(operands(s))
        if s.__class__ is ir.Check or s.blocks:
            for var in [var for var, found in self.waiting.items() if found.leaves and var not in direct]:
                self.write(var, level)  # of two errors the first is the program's
        changed = changes(s) | arrays_changed(s)
        changed.update(phi for var, phi in self.same.items() if var in changed)
        within: dict[Any, None] | None = None
        for var in self.concerned(s, direct, changed):
            found, read = self.waiting[var], var in direct
            if read and isinstance(s, ir.Loop | ir.ReverseLoop | ir.If):
                read = (s.__class__ is ir.If and s.condition is var) or (
                    s.__class__ is ir.Loop and any(initial is var for _, initial, _ in s.carried)
                )
                inside = s.__class__ is ir.If and any(x is var for _, a, b in s.merges for x in (a, b))
                if inside or not read or found.reads & self.set_at_start(s):
                    self.write(var, level)
                continue
            if read:
                # A text that names an operand twice would compute it twice.
                if isinstance(s, ir.Set) and TEXT[s.op].count(f"{{{s.args.index(var)}}}") != 1:
                    self.write(var, level)
            elif not found.reads.isdisjoint(changed):
                self.write(var, level)
            else:
                within = touched(s) if within is None else within
                if var in within:
                    self.write(var, level)

    def concerned(self, s: Stmt, direct: set[Any], changed: set[Any]) -> list[Var]:
        """What waits that a statement may read, or change what it reads, in its order."""
        if s.blocks:
            return list(self.waiting)
        near = {*direct, getattr(s, "var", None)}
        for x in changed:
            near.update(self.reading.get(x, ()))
        found = [x for x in near if x in self.waiting]
        return [var for var in self.waiting if var in near] if len(found) > 1 else found

    def set_at_start(self, s: Stmt) -> set[Var]:
        """What a loop that starts sets before all that it starts with has been read."""
        if s.__class__ is not ir.Loop:
            return set()
        named = ((self.same.get(var), initial) for var, initial, _ in s.carried)
        return {phi for phi, initial in named if phi is not None and phi is not initial}

    def assign(self, s: ir.Set, level: int) -> None:
        reads = {x for x in s.args if x.__class__ is Var}
        for x in s.args:
            if x.__class__ is Var and x in self.waiting:
                reads |= self.waiting[x].reads
        leaves = s.op in LEAVING or any(
            self.waiting[x].leaves for x in s.args if x.__class__ is Var and x in self.waiting
        )
        statics = {key: number(value) for key, value in (s.attributes or {}).items()}
        template = TEXT[s.op]
        args = [self.text(x) for x in s.args]
        if CALL.fullmatch(template):
            args = [bare(arg) for arg in args]
        code = template.format(*args, **statics)
        self.put(s, code, reads, level, leaves)

    def load(self, s: ir.Load, level: int) -> None:
        reads: set[Any] = {s.array}
        if s.index.__class__ is Var:
            reads |= {s.index} if s.index not in self.waiting else self.waiting[s.index].reads
        leaves = s.index in self.waiting and self.waiting[s.index].leaves
        if s.array in self.kept:
            self.put(s, f"{self.kept[s.array]} + {self.text(s.index)}]", reads, level, leaves)
            return
        code = f"{self.name(s.array)}[{bare(self.text(s.index))}]"
        if self.widths is not None and s.array in self.widths.rounded and s.var not in self.widths.doubles:
            code = f"_single({code})"  # where it is read, whatever that stands in
        self.put(s, code, reads, level, leaves)

    def put(self, s: Any, code: str, reads: set[Any], level: int, leaves: bool) -> None:
        if s.var in self.once and len(code) <= LONGEST and s.var not in reads:
            self.waiting[s.var] = Waiting(s, code, reads, leaves)
            for x in reads:
                self.reading.setdefault(x, []).append(s.var)
        else:
            self.line(level, f"{self.name(s.var)} = {bare(code)}")


def bare(code: str) -> str:
    """An expression without the parentheses around all of it."""
    return code[1:-1] if code[:1] == "(" and code[-1:] == ")" and balanced(code[1:-1]) else code


def balanced(code: str) -> bool:
    depth = 0
    for ch in code:
        depth += (ch == "(") - (ch == ")")
        if depth < 0:
            return False
    return depth == 0
