"""What an array holds that another array holds already: the first one is read, and nobody computes the second.

The rule of a row begins where the row itself began: it asks once more for the order of what has been sorted, and for the
largest of the elements. Rows, loops and stores that do the same with the same contents leave the same contents behind; what
nobody reads any more is dead code then, whole loops at a time.
"""

from __future__ import annotations

from ...ops.registry import ROWS
from .. import ir
from ..ir import Array, Stmt, Var
from .common import Once, written
from .memory import constant_variables
from .simplify import simplify
from .statements import everything, operands, with_blocks

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# What is compared: statements whose effect is what they store, and the variables that they hand on.
COMPARED = (ir.Set, ir.Load, ir.Store, ir.AddTo, ir.Accumulate, ir.Alloc, ir.Loop, ir.If)


def repeated(kernel: ir.Kernel) -> ir.Kernel:
    """The same kernel without what fills arrays as others are filled."""
    constant = constant_variables(kernel.body)
    once = Contents(constant | {x for x in kernel.parameters if x.__class__ is Var}, handed_on(kernel.body) - constant)
    body = once.block(kernel.body)
    if not once.shared:
        return kernel
    return simplify(ir.Kernel(kernel.parameters, body, [once.new(r) for r in kernel.results]))


def handed_on(block: list[Stmt]) -> set[Var]:
    """The variables that one loop, or one branch, hands on, and nothing else sets."""
    times: dict[Var, int] = {}
    for s in everything(block):
        if s.__class__ is ir.Loop:
            found = [phi for phi, _, _ in s.carried]
        elif s.__class__ is ir.If:
            found = [var for var, _, _ in s.merges]
        elif s.__class__ is ir.ReverseLoop:
            found = [x for x, _ in s.restore]
        else:
            found = [s.var] if isinstance(s, ir.Set | ir.Load | ir.Accumulate | ir.Mark) else []
        for var in found:
            times[var] = times.get(var, 0) + 1
    return {var for var, n in times.items() if n == 1}


class Contents(Once):
    """Statements in the order in which they run, and what arrays hold after each: equal contents are equal keys."""

    def __init__(self, single: set[Var], handed: set[Var]) -> None:
        super().__init__(single)
        self.constant |= handed
        self.handed = handed
        self.contents: dict[Array, Any] = {}
        # The first array that holds what it holds, by that.
        self.holders: dict[Any, Array] = {}
        self.shared = False
        # What statements do, by number.
        self.forms: dict[Any, int] = {}

    def content(self, array: Array) -> Any:
        """What an array holds here; what was there before anything was stored is its own."""
        return self.contents.get(array, array)

    def holds(self, array: Array, content: Any) -> None:
        """An array holds something from here on."""
        self.learn(self.contents, array, content)
        holder = self.holders.get(content)
        if holder is None or self.content(holder) != content:
            self.learn(self.holders, content, array)

    def statement(self, s: Stmt) -> Stmt | None:
        if s.__class__ is ir.Region:
            return self.row(s)
        s = self.reading(s)
        changed = written(s)
        before = {array: self.content(array) for array in arrays_of(s)}
        if s.__class__ is ir.Loop or s.__class__ is ir.ReverseLoop:
            for array in changed:  # at the head of any iteration
                self.learn(self.contents, array, object())
        found = super().statement(s)
        if found is None:
            return None
        if s.__class__ is ir.Alloc:
            self.holds(s.array, ("made", s.zero, s.array.kind, s.array.shape))
            return found
        if not changed and s.__class__ not in (ir.Loop, ir.If):
            return found
        form = Form(found, self, before)
        does = self.forms.setdefault(form.key, len(self.forms)) if form.certain else None
        for array in changed:
            self.holds(array, object() if does is None else (does, form.numbers[array]))
        if does is not None:
            self.hand_on(found, does, form.numbers)
        return found

    def row(self, s: Any) -> Stmt:
        """A region: its statements stand where it does, and its results are what its row makes of its operands."""
        operands = tuple([self.new(x) if x.__class__ is Var else x for x in s.operands])
        parts = [x if x.__class__ is Var else self.content(x) if x.__class__ is Array else repr(x) for x in operands]
        known = s.row in ROWS and all(x.__class__ is not Var or x in self.constant for x in operands)
        does = self.forms.setdefault((s.row, *parts, repr(s.attributes), s.pairs), len(self.forms)) if known else None
        body = [inner for inner in map(self.statement, s.body) if inner is not None]
        if does is not None:
            for k, x in enumerate(s.results):
                if x.__class__ is Array:
                    self.holds(x, (does, k))
                elif x.__class__ is Var and (does, k) in self.known:
                    self.names[x] = self.known[does, k]
                    self.shared = True
                elif x.__class__ is Var and x in self.constant:
                    self.learn(self.known, (does, k), self.new(x))
        return s.replace(operands=operands, body=body)  # type: ignore[no-any-return]

    def hand_on(self, s: Any, does: int, numbers: dict[Any, int]) -> None:
        """The variables that a statement sets for those after it: others may be the same."""
        handed = [phi for phi, _, _ in s.carried] if s.__class__ is ir.Loop else []
        handed = [var for var, _, _ in s.merges] if s.__class__ is ir.If else handed
        for var in handed:
            if var not in self.handed:
                continue
            key = (does, numbers[var])
            if key in self.known:
                self.names[var] = self.known[key]
                self.shared = True
            else:
                self.learn(self.known, key, var)

    def reading(self, s: Stmt) -> Stmt:
        """A statement that reads the first array of those that hold the same, where it changes neither."""
        changed = written(s)
        names: dict[Any, Any] = {}
        for array in arrays_of(s) - changed:
            content = self.content(array)
            holder = self.holders.get(content)
            if holder is not None and holder is not array and holder not in changed and self.content(holder) == content:
                names[array] = holder
        if not names:
            return s
        self.shared = True
        return renamed(s, names)


class Form:
    """What a statement does, whatever its variables and arrays are called: `key`, if that is `certain`; `numbers` are those
    of the variables and arrays in it."""

    def __init__(self, s: Stmt, known: Contents, before: dict[Array, Any]) -> None:
        self.known = known
        self.before = before
        self.numbers: dict[Any, int] = {}
        self.inside = defined(s)
        self.certain = True
        self.key = self.of(s)

    def of(self, s: Any) -> Any:
        if s.__class__ not in COMPARED:
            self.certain = False
            return None
        if s.__class__ is ir.Loop and s.stacks:
            self.certain = False
        parts: list[Any] = [s.__class__]
        for name in s.__slots__:
            if name not in ("site", "trips"):
                parts.append(self.part(getattr(s, name)))
        return tuple(parts)

    def part(self, x: Any) -> Any:
        """A field of a statement."""
        if x.__class__ is Var:
            return self.variable(x)
        if x.__class__ is Array:
            return self.array(x)
        if x.__class__ in (list, tuple):
            return tuple([self.part(item) for item in x])
        if isinstance(x, Stmt):
            return self.of(x)
        if x is None or x.__class__ is str:
            return x
        if x.__class__ is dict:
            self.certain &= not x
            return None
        return x.__class__, repr(x)  # 0.0 is none of 0, False and -0.0

    def variable(self, x: Var) -> Any:
        if x in self.inside:
            return self.numbers.setdefault(x, len(self.numbers)), x.kind
        if x not in self.known.constant:
            self.certain = False
        return x

    def array(self, x: Array) -> Any:
        if x in self.inside:
            return self.numbers.setdefault(x, len(self.numbers)), x.kind, x.shape
        if x not in self.numbers:
            self.numbers[x] = len(self.numbers)
            # One that has taken the place of another inside of the statement may hold something else before it.
            self.certain &= x in self.before
            return self.numbers[x], x.kind, x.size, x.role, self.before.get(x)
        return self.numbers[x]


def defined(s: Stmt) -> set[Any]:
    """The variables that a statement sets, and the arrays that are made inside it."""
    found: set[Any] = set()
    added: set[Any] = set()
    for inner in everything([s]):
        if inner.__class__ is ir.Loop:
            found.update((inner.index, *(phi for phi, _, _ in inner.carried)))
        elif inner.__class__ is ir.If:
            found.update(var for var, _, _ in inner.merges)
        elif isinstance(inner, ir.Set | ir.Load):
            found.add(inner.var)
        elif inner.__class__ is ir.Accumulate:
            added.add(inner.var)
        elif inner.__class__ is ir.Alloc and inner is not s:
            found.add(inner.array)
    return found


def arrays_of(s: Stmt) -> set[Array]:
    """The arrays that a statement names, inside it too."""
    found: set[Any] = set()
    for inner in everything([s]):
        found.add(getattr(inner, "array", None))
        found.update(operands(inner))
        found.update(getattr(inner, "results", ()))
        found.update(getattr(inner, "stacks", ()))
        found.update(x for x, _ in getattr(inner, "restore", ()))
    return {x for x in found if x.__class__ is Array}


def renamed(s: Stmt, names: dict[Any, Any]) -> Stmt:
    """A statement that reads other arrays in the place of some."""
    s = with_blocks(s, lambda block: [renamed(inner, names) for inner in block])
    if s.__class__ is ir.Load and s.array in names:
        return s.replace(array=names[s.array])
    return s


__all__ = ["repeated"]
