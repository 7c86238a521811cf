"""Common-subexpression elimination: what two statements compute of the same operands, or load from the same place, one does.

This is value numbering by scopes: what a block finds out is known to the blocks inside it, and to none else (Briggs, Cooper
and Simpson, Value numbering, Software: Practice and Experience 1997: the dominator-based technique).

Loops that were brought together, the rules of rows and the reverse sweep compute some things again that stand there
already. Machine code loses nothing by it but where a function is called twice; whoever reads the kernel does.
"""

from __future__ import annotations

from .. import ir
from ..ir import FLOAT, Stmt, Var
from .statements import changes, everything, with_arguments, with_operands

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# What is as short as the name of what it is.
SHORT = frozenset(("copy", "zero", "negative", "logical_not"))
# Of longer arrays it is not known which elements stay what they are when one is stored.
MOST_ELEMENTS = 32
# Statements that write in `array`.
WRITING: frozenset[Any] = frozenset((ir.Store, ir.Routine, ir.AddTo, ir.Alloc, ir.Constant, ir.TakeBack, ir.Rewind))


def computed_once(kernel: ir.Kernel) -> ir.Kernel:
    """The same kernel, which computes nothing twice in one place."""
    once = Once(staying(kernel) | {x for x in kernel.parameters if x.__class__ is Var})
    body = once.block(kernel.body)
    return ir.Kernel(kernel.parameters, body, [once.new(r) for r in kernel.results])


def staying(kernel: ir.Kernel) -> set[Var]:
    """The variables that one statement sets, and that nothing changes until it is run again."""
    times: dict[Any, int] = {}
    for s in everything(kernel.body):
        found: list[Any]
        if isinstance(s, ir.Set | ir.Load):
            found = [s.var]
        elif s.__class__ is ir.Loop:
            found = [s.index, *(phi for phi, _, _ in s.carried)]
        elif s.__class__ is ir.ReverseLoop:
            found = [s.index, s.position, *(x for x, _ in s.restore for _ in range(2))]
        elif s.__class__ is ir.If:
            found = [var for var, _, _ in s.merges]
        else:
            found = [getattr(s, "var", None)] * 2
        for var in found:
            times[var] = times.get(var, 0) + 1
    return {var for var, n in times.items() if n == 1 and var.__class__ is Var}


class Once:
    """Statements in the order in which they run; `single` are the variables that are set in one place and stay."""

    def __init__(self, single: set[Var]) -> None:
        self.single = single
        # The same with what loops carry, in a loop's body: it changes at its end.
        self.constant = set(single)
        # What stands for variables that are not computed again.
        self.names: dict[Var, Any] = {}
        # Which variable holds what is computed, and what is in the memory of arrays, by index; and how both were before.
        self.known: dict[Any, Var] = {}
        self.memory: dict[Any, dict[Any, Any]] = {}
        # What choices choose from: condition and sides.
        self.choices: dict[Any, Any] = {}
        self.learnt: list[tuple[dict[Any, Any], Any, Any]] = []

    def new(self, x: Any) -> Any:
        return self.names.get(x, x) if x.__class__ is Var else x

    def key(self, s: ir.Set, args: tuple[Any, ...]) -> Any:
        """What a statement computes; None where it may be something else the next time."""
        if s.op in SHORT or s.attributes or s.var not in self.constant:
            return None
        parts: list[Any] = [s.op, s.var.kind]
        for x in args:
            if x.__class__ is Var:
                if x not in self.constant:
                    return None
                parts.append(x)
            else:
                parts.append((x.__class__, repr(x)))  # 0.0 is none of 0, False and -0.0
        return tuple(parts)

    def block(self, block: list[Stmt]) -> list[Stmt]:
        """A block; what it finds out is known to those inside it, and to none else."""
        start = len(self.learnt)
        kept = self.statements(block)
        while len(self.learnt) > start:
            table, key, before = self.learnt.pop()
            if before is None:
                del table[key]
            else:
                table[key] = before
        return kept

    def statements(self, block: list[Stmt]) -> list[Stmt]:
        return [s for s in map(self.statement, block) if s is not None]

    def learn(self, table: dict[Any, Any], key: Any, value: Any) -> None:
        """Put something in a table until the block ends."""
        self.learnt.append((table, key, table.get(key)))
        table[key] = value

    def forget(self, arrays: set[Any]) -> None:
        """What is in the memory of arrays may be something else from here on."""
        for array in arrays:
            if self.memory.get(array):
                self.learn(self.memory, array, {})

    def overwrite(self, array: Any, index: Any) -> None:
        """One element is something else from here on: which of the others is that one too is known if all places are."""
        there = self.memory.get(array)
        if there:
            known = index.__class__ is int and len(there) < MOST_ELEMENTS
            self.learn(
                self.memory, array, {k: v for k, v in there.items() if known and k.__class__ is int and k != index}
            )

    def remember(self, array: Any, index: Any, value: Any) -> None:
        """A value is in the memory of an array."""
        if array not in self.memory:
            self.learn(self.memory, array, {})
        self.learn(self.memory[array], index, value)

    def statement(self, s: Stmt) -> Stmt | None:
        """A statement as it is after those before it; None if it need not be."""
        if s.__class__ is ir.Load:
            return self.load(s)
        if s.__class__ is ir.Store:
            store: Any = with_operands(s, self.new)
            self.overwrite(store.array, store.index)
            if self.lasts(store.index) and self.stays(store.value, store.array.kind):
                self.remember(store.array, store.index, store.value)
            return store  # type: ignore[no-any-return]
        if s.__class__ is ir.Set:
            args = tuple(map(self.new, s.args))
            if s.op == "where_select":
                args = args[0], self.chosen(args[1], args[0], 1), self.chosen(args[2], args[0], 2)
                self.learn(self.choices, s.var, args)
            key = self.key(s, args)
            if key is not None:
                if key in self.known:
                    self.names[s.var] = self.known[key]
                    return None
                self.learn(self.known, key, s.var)
            return with_arguments(s, args)
        self.forget(written(s))
        return self.inside(s)

    def chosen(self, x: Any, condition: Any, side: int) -> Any:
        """What `x` is on a side of a choice: a choice on the same condition has been made there."""
        while condition in self.constant and x.__class__ is Var and x in self.constant and x in self.choices:
            test, *sides = self.choices[x]
            inner = sides[side - 1]
            if test is not condition or not self.stays(inner, x.kind):
                break
            x = inner
        return x

    def load(self, s: ir.Load) -> Stmt | None:
        index = self.new(s.index)
        if s.var in self.constant and self.lasts(index):
            there = self.memory.get(s.array, {}).get(index)
            if there is not None:
                self.names[s.var] = there
                return None
            self.remember(s.array, index, s.var)
        return s if index is s.index else s.replace(index=index)

    def lasts(self, index: Any) -> bool:
        """Whether an index is the same until the block ends."""
        return index.__class__ is int or index in self.constant

    def stays(self, x: Any, kind: str) -> bool:
        """Whether what is stored is what is found in memory of a kind, then and later."""
        if x.__class__ is Var:
            return x in self.single and x.kind == kind
        return x.__class__ is float and kind == FLOAT

    def inside(self, s: Stmt) -> Stmt:
        """A statement that is no `Set`."""
        new = self.new
        if s.__class__ is ir.Loop:
            starts = [new(x) for _, x, _ in s.carried]
            start, stop, step = new(s.start), new(s.stop), new(s.step)
            heads = {phi for phi, _, _ in s.carried} - self.constant
            self.constant |= heads
            test = None if s.test is None else self.block(s.test)
            body = self.block(s.body)
            self.constant -= heads
            carried = [(phi, x, new(f)) for (phi, _, f), x in zip(s.carried, starts)]
            return s.replace(
                start=start, stop=stop, step=step, test=test, condition=new(s.condition), carried=carried,
                body=body, stop_when=new(s.stop_when),
            )  # fmt: skip
        if s.__class__ is ir.ReverseLoop:
            start, step = new(s.start), new(s.step)
            changed = {x for inner in s.body for x in changes(inner)}
            restored = {x for x, _ in s.restore if x.__class__ is Var} - changed - self.constant
            self.constant |= restored
            body = self.block(s.body)
            self.constant -= restored
            return s.replace(start=start, step=step, body=body)
        if s.__class__ is ir.If:
            condition = new(s.condition)
            then, orelse = self.block(s.then), self.block(s.orelse)
            return ir.If(condition, then, orelse, [(v, new(a), new(b)) for v, a, b in s.merges])
        if s.__class__ is ir.Region:
            return s  # what stands in it is compiled apart
        if s.__class__ is ir.Accumulate:
            return ir.Accumulate(s.var, new(s.value))
        return with_operands(s, new)


def written(s: Stmt) -> set[Any]:
    """The arrays in which a statement may write, inside it too."""
    if not s.blocks:
        return {s.array} if s.__class__ in WRITING else set()  # type: ignore[attr-defined]
    found: set[Any] = set()
    for inner in everything([s]):
        if inner.__class__ in WRITING:
            found.add(inner.array)
        elif inner.__class__ is ir.ReverseLoop:
            found.update(x for x, _ in inner.restore)
    return found


__all__ = ["computed_once"]
