"""Value numbering of whole arrays: what one holds that another holds already is read there, and nobody computes it again.

The rule of a row begins where the row itself began: it asks once more for the order of what has been sorted, and for the
largest of the elements. Rows, loops and stores that do the same with the same contents leave the same contents behind; what
nobody reads any more is dead code then, whole loops at a time.
"""

from __future__ import annotations

from ...ops.registry import ROWS
from .. import ir
from ..ir import Array, Stmt, Var
from .common_subexpressions import Once, staying, written
from .dead_code import without_dead_code
from .statements import everything, inside, operands, with_blocks

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# What is compared: statements whose effect is what they store, and the variables that they hand on.
COMPARED = (ir.Set, ir.Load, ir.Store, ir.AddTo, ir.Accumulate, ir.Alloc, ir.Loop, ir.If)
# Rows whose result is their operand.
SAME = frozenset(("copy", "stop_gradient"))


def without_redundant_arrays(kernel: ir.Kernel) -> ir.Kernel:
    """The same kernel without what fills arrays as others are filled."""
    once = Contents(staying(kernel) | {x for x in kernel.parameters if x.__class__ is Var})
    body = once.block(kernel.body)
    if not once.shared:
        return kernel
    return without_dead_code(ir.Kernel(kernel.parameters, body, [once.new(r) for r in kernel.results]))


class Contents(Once):
    """Statements in the order in which they run, and what arrays hold after each: equal contents are equal keys."""

    def __init__(self, single: set[Var]) -> None:
        super().__init__(single)
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

    def statements(self, block: list[Stmt]) -> list[Stmt]:
        """A block's statements, with those of the regions in it among them."""
        kept: list[Stmt] = []
        for s in block:
            if s.__class__ is ir.Region:
                kept.extend(self.row(s))
                continue
            found = self.statement(s)
            if found is not None:
                kept.append(found)
        return kept

    def statement(self, s: Stmt) -> Stmt | None:
        if s.__class__ is ir.Set and s.op in SAME and s.var in self.constant:
            x = self.new(s.args[0])
            if x.__class__ is not Var or (x in self.constant and x.kind == s.var.kind):
                self.names[s.var] = x
                return None
        changed = written(s)
        s, named = self.reading(s, changed)
        before = {array: self.content(array) for array in named}
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
        pair = fresh_copy(found, before)
        for array in changed:
            if pair is not None:
                self.holds(array, before.get(pair[0], self.content(pair[0])))
            else:
                self.holds(array, object() if does is None else (does, form.numbers[array]))
        if does is not None:
            self.hand_on(found, does, form.numbers)
        return found

    def row(self, s: Any) -> list[Stmt]:
        """A region: its statements stand where it does, and its results are what its row makes of its operands."""
        operands = tuple([self.new(x) if x.__class__ is Var else x for x in s.operands])
        parts = [x if x.__class__ is Var else self.content(x) if x.__class__ is Array else repr(x) for x in operands]
        known = s.row in ROWS and all(x.__class__ is not Var or x in self.constant for x in operands)
        does = self.forms.setdefault((s.row, *parts, repr(s.attributes), s.pairs), len(self.forms)) if known else None
        body = self.statements(s.body)
        if does is not None:
            for k, x in enumerate(s.results):
                if x.__class__ is Array:
                    self.holds(x, (does, k))
                elif x.__class__ is Var and (does, k) in self.known:
                    self.names[x] = self.known[does, k]
                    self.shared = True
                elif x.__class__ is Var and x in self.constant:
                    self.learn(self.known, (does, k), self.new(x))
        return body

    def hand_on(self, s: Any, does: int, numbers: dict[Any, int]) -> None:
        """The variables that a statement sets for those after it: others may be the same."""
        handed = [phi for phi, _, _ in s.carried] if s.__class__ is ir.Loop else []
        handed = [var for var, _, _ in s.merges] if s.__class__ is ir.If else handed
        for var in handed:
            if var not in self.single:
                continue
            key = (does, numbers[var])
            if key in self.known:
                self.names[var] = self.known[key]
                self.shared = True
            else:
                self.learn(self.known, key, var)

    def reading(self, s: Stmt, changed: set[Any]) -> tuple[Stmt, set[Array]]:
        """A statement that reads the first array of those that hold the same, where it changes neither, and the arrays
        that it names then."""
        names: dict[Any, Any] = {}
        named = arrays_of(s)
        for array in named - changed:
            content = self.content(array)
            holder = self.holders.get(content)
            if holder is not None and holder is not array and holder not in changed and self.content(holder) == content:
                names[array] = holder
        if not names:
            return s, named
        self.shared = True
        s = renamed(s, names)
        return s, arrays_of(s)


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


def fresh_copy(s: Stmt, before: dict[Array, Any]) -> tuple[Array, Array] | None:
    """(source, target) of loops that do nothing but copy elements to the same places of an array that holds nothing yet."""
    if s.__class__ is not ir.Loop:
        return None
    loads, stores = [], []
    for inner in everything([s]):
        if inner.__class__ is ir.Load:
            loads.append(inner)
        elif inner.__class__ is ir.Store:
            stores.append(inner)
        elif not (inner.__class__ is ir.Set or (inner.__class__ is ir.Loop and not inner.carried and not inner.stacks)):
            return None
    if len(loads) != 1 or len(stores) != 1:
        return None
    source, target = loads[0].array, stores[0].array
    alike = (source.kind, source.size) == (target.kind, target.size) and loads[0].index is stores[0].index
    fresh = before[target] == ("made", False, target.kind, target.shape)
    return (source, target) if alike and fresh and stores[0].value is loads[0].var else None


def arrays_of(s: Stmt) -> set[Array]:
    """The arrays that a statement names, inside it too."""
    found: set[Any] = set()
    for inner in inside(s):
        if inner.__class__ is ir.Set:
            found.update(inner.args)
            continue
        found.add(getattr(inner, "array", None))
        found.update(operands(inner))
        if inner.blocks:
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


__all__ = ["without_redundant_arrays"]
