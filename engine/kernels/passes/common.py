"""The last touches to a kernel before it is written down: what two statements compute of the same operands one of them
does, and sums that are collected in a row are sums.

Loops that were brought together, the rules of rows and the reverse sweep compute some things again that stand there
already. Machine code loses nothing by it but where a function is called twice; whoever reads the kernel does.
"""

from __future__ import annotations

from .. import ir
from ..ir import FLOAT, Stmt, Var
from .memory import constant_variables
from .statements import blocks_of, changes, everything, operands, with_blocks, with_operands

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# What is as short as the name of what it is.
SHORT = frozenset(("copy", "zero", "negative", "logical_not"))


def common(kernel: ir.Kernel) -> ir.Kernel:
    """The same kernel, which computes nothing twice in one place."""
    once = Once(constant_variables(kernel.body) | {x for x in kernel.parameters if x.__class__ is Var})
    body = once.block(kernel.body, {})
    return ir.Kernel(kernel.parameters, body, [once.new(r) for r in kernel.results])


class Once:
    """Statements in the order in which they run; `constant` are the variables that are set in one place and stay."""

    def __init__(self, constant: set[Var]) -> None:
        self.constant = constant
        # What stands for variables that are not computed again.
        self.names: dict[Var, Any] = {}

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

    def block(self, block: list[Stmt], known: dict[Any, Any]) -> list[Stmt]:
        """A block, where it is `known` what stands in variables, and under (array, index) what is in memory; what it finds
        out is known to those inside it alone."""
        known = dict(known) if known else {}
        kept: list[Stmt] = []
        for s in block:
            if s.__class__ is ir.Load:
                index = self.new(s.index)
                place = (s.array, index)
                if s.var not in self.constant or (index.__class__ is Var and index not in self.constant):
                    kept.append(s.replace(index=index))
                    continue
                there = known.setdefault(place, s.var)
                if there is not s.var:
                    self.names[s.var] = there
                else:
                    kept.append(s.replace(index=index))
            elif s.__class__ is ir.Store:
                store: Any = with_operands(s, self.new)
                forget(known, {store.array})
                lasting = store.index.__class__ is int or store.index in self.constant
                if lasting and self.stays(store.value, store.array.kind):
                    known[store.array, store.index] = store.value
                kept.append(store)
            elif s.__class__ is ir.Set:
                args = tuple(map(self.new, s.args))
                key = self.key(s, args)
                if key is not None:
                    found = known.setdefault(key, s.var)
                    if found is not s.var:
                        self.names[s.var] = found
                        continue
                kept.append(s.replace(args=args))
            else:
                forget(known, written(s))
                kept.append(self.inside(s, known))
        return kept

    def stays(self, x: Any, kind: str) -> bool:
        """Whether what is stored is what is found in memory of a kind, then and later."""
        if x.__class__ is Var:
            return x in self.constant and x.kind == kind
        return x.__class__ is float and kind == FLOAT

    def inside(self, s: Stmt, known: dict[Any, Var]) -> Stmt:
        """A statement that is no `Set`."""
        new = self.new
        if s.__class__ is ir.Loop:
            heads = [phi for phi, _, _ in s.carried]
            starts = [new(x) for _, x, _ in s.carried]
            start, stop, step = new(s.start), new(s.stop), new(s.step)
            with_heads = self.constant.union(heads) if heads else self.constant
            outer, self.constant = self.constant, with_heads
            test = None if s.test is None else self.block(s.test, known)
            body = self.block(s.body, known)
            self.constant = outer
            carried = [(phi, x, new(f)) for (phi, _, f), x in zip(s.carried, starts)]
            return s.replace(
                start=start, stop=stop, step=step, test=test, condition=new(s.condition), carried=carried,
                body=body, stop_when=new(s.stop_when),
            )  # fmt: skip
        if s.__class__ is ir.ReverseLoop:
            start, step = new(s.start), new(s.step)
            changed = {x for inner in s.body for x in changes(inner)}
            restored = {x for x, _ in s.restore if x.__class__ is Var} - changed
            outer, self.constant = self.constant, self.constant | restored
            body = self.block(s.body, known)
            self.constant = outer
            return s.replace(start=start, step=step, body=body)
        if s.__class__ is ir.If:
            condition = new(s.condition)
            then, orelse = self.block(s.then, known), self.block(s.orelse, known)
            return ir.If(condition, then, orelse, [(v, new(a), new(b)) for v, a, b in s.merges])
        if s.__class__ is ir.Region:
            return s  # what stands in it is compiled apart
        if s.__class__ is ir.Accumulate:
            return ir.Accumulate(s.var, new(s.value))
        return with_operands(s, new)


def written(s: Stmt) -> set[Any]:
    """The arrays in which a statement may write, inside it too."""
    return {
        inner.array
        for inner in everything([s])
        if isinstance(inner, ir.Store | ir.AddTo | ir.Alloc | ir.Constant | ir.TakeBack | ir.Rewind)
    } | {x for inner in everything([s]) if inner.__class__ is ir.ReverseLoop for x, _ in inner.restore}


def forget(known: dict[Any, Any], arrays: set[Any]) -> None:
    """What is in the memory of arrays may be something else from here on."""
    if arrays:
        for place in [place for place in known if place.__class__ is tuple and place[0] in arrays]:
            del known[place]


# --- sums -------------------------------------------------------------------------------------------------------------


def summed(kernel: ir.Kernel) -> ir.Kernel:
    """`b = x` and `b += y` in a row as `b = x + y`."""
    return ir.Kernel(kernel.parameters, summed_block(kernel.body), kernel.results)


def summed_block(block: list[Stmt]) -> list[Stmt]:
    kept: list[Any] = []
    # By accumulator, the statement that has set it, as long as nothing has read it since.
    fresh: dict[Any, int] = {}
    for s in block:
        if s.__class__ is ir.Accumulate and s.var in fresh and s.value is not s.var:
            var, value = s.var, s.value
            place = fresh.pop(var)
            fresh.pop(value, None)
            first = kept[place]
            if first.op == "copy" and not changed_since(first.args[0], kept[place + 1 :]):
                start = first.args[0]
                kept[place] = None
            else:
                start = Var(FLOAT)
                kept[place] = first.replace(var=start)
            total: Any = Var(FLOAT)
            if start.__class__ is float and value.__class__ is float:
                total = start + value
            else:
                kept.append(ir.Set(total, "add", (start, value), None, None))
            made = ir.Set(var, "copy", (total,), None, None)
            fresh[var] = len(kept)
            kept.append(made)
            continue
        inner = blocks_of(s)
        if inner or s.__class__ is not ir.Set:
            if inner:
                fresh.clear()
                s = with_blocks(s, summed_block)
            else:
                for x in (*operands(s), getattr(s, "var", None)):
                    fresh.pop(x, None)
            kept.append(s)
            continue
        for x in s.args:
            if x.__class__ is Var:
                fresh.pop(x, None)
        fresh.pop(s.var, None)
        if s.var.kind == FLOAT and s.op != "zero":
            fresh[s.var] = len(kept)
        kept.append(s)
    return [s for s in kept if s is not None]


def changed_since(x: Any, block: list[Any]) -> bool:
    """Whether a variable may have another value after a block without blocks inside it."""
    return x.__class__ is Var and any(s is not None and getattr(s, "var", None) is x for s in block)


__all__ = ["common", "summed"]
