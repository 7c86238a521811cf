"""Copy propagation, and what else makes a kernel what one would have written: accumulators that collect once, or a few times
in a row, become plain values, and what the reverse sweep left in two branches on one condition becomes one branch."""

from __future__ import annotations

from .. import ir
from ..ir import FLOAT, Stmt, Var
from .dead_code import without_dead_code
from .statements import (
    blocks_of,
    changes,
    constant_variables,
    operands,
    touched,
    with_arguments,
    with_blocks,
    with_operands,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def tidy(kernel: ir.Kernel) -> ir.Kernel:
    """The same kernel, in fewer statements."""
    for _ in range(3):
        kernel = ir.Kernel(kernel.parameters, started_late(kernel.body), kernel.results)
        kernel = without_copies(kernel)
        kernel = ir.Kernel(kernel.parameters, Aliases().block(kernel.body, {}), kernel.results)
        kernel = ir.Kernel(kernel.parameters, joined(kernel.body), kernel.results)
        kernel = without_dead_code(kernel)
    return kernel


# --- accumulators ---------------------------------------------------------------------------------------------------


def started_late(block: list[Stmt]) -> list[Stmt]:
    """`b = 0.0; b += x` as `b = x`, and the zero put off to where it is needed."""
    kept: list[Stmt] = []
    waiting: dict[Var, Stmt] = {}
    for s in block:
        if s.__class__ is ir.Set and s.op == "zero":
            waiting[s.var] = s
            continue
        if s.__class__ is ir.Accumulate and s.var in waiting and s.value is not s.var:
            release(s.value, waiting, kept)
            del waiting[s.var]
            kept.append(ir.Set(s.var, "copy", (s.value,), None, None))
            continue
        mentioned = [var for var in touched(s) if var in waiting] if waiting else []
        if s.__class__ is ir.If:
            # Each side starts what it collects in.
            moved = [waiting.pop(var) for var in mentioned if not any(x is var for x in operands(s))]
            s = ir.If(s.condition, moved + s.then, moved + s.orelse, s.merges)
        kept.extend(waiting.pop(var) for var in mentioned if var in waiting)
        kept.append(with_blocks(s, started_late))
    kept.extend(waiting.values())
    return kept


def release(x: Any, waiting: dict[Var, Stmt], kept: list[Stmt]) -> None:
    if x.__class__ is Var and x in waiting:
        kept.append(waiting.pop(x))


# --- copies ---------------------------------------------------------------------------------------------------------


def without_copies(kernel: ir.Kernel) -> ir.Kernel:
    """Copies of what never changes replaced by it, constants and products with 1 among them."""
    assigned: dict[Var, int] = {}
    changing: set[Var] = set()

    def count(block: list[Stmt]) -> None:
        for s in block:
            if s.__class__ is ir.Set:
                assigned[s.var] = assigned.get(s.var, 0) + 1
            elif s.__class__ is ir.Accumulate:
                changing.add(s.var)
            for inner in blocks_of(s):
                count(inner)

    count(kernel.body)
    changing.update(var for var, times in assigned.items() if times > 1)
    names: dict[Var, Any] = {}

    def new(x: Any) -> Any:
        return names.get(x, x) if x.__class__ is Var else x

    def walk(block: list[Stmt]) -> list[Stmt]:
        kept: list[Stmt] = []
        for s in block:
            if s.__class__ is ir.Set:
                op, args = shorter(s.op, tuple(new(a) for a in s.args))
                source = args[0] if op == "copy" else 0.0
                if op in ("copy", "zero") and s.var not in changing and source not in changing:
                    names[s.var] = source
                    continue
                kept.append(with_arguments(s, args) if op == s.op else ir.Set(s.var, op, args, s.site, s.attributes))
            elif s.__class__ is ir.Loop:
                initials = [new(initial) for _, initial, _ in s.carried]
                test = None if s.test is None else walk(s.test)
                body = walk(s.body)
                carried = [(phi, i, new(f)) for (phi, _, f), i in zip(s.carried, initials)]
                kept.append(
                    s.replace(
                        start=new(s.start), stop=new(s.stop), step=new(s.step), test=test, condition=new(s.condition),
                        carried=carried, body=body, stop_when=new(s.stop_when),
                    )
                )  # fmt: skip
            elif s.__class__ is ir.ReverseLoop:
                kept.append(s.replace(start=new(s.start), step=new(s.step), body=walk(s.body)))
            elif s.__class__ is ir.If:
                then, orelse = walk(s.then), walk(s.orelse)
                kept.append(ir.If(new(s.condition), then, orelse, [(v, new(a), new(b)) for v, a, b in s.merges]))
            else:
                kept.append(with_operands(s, new))
        return kept

    body = walk(kernel.body)
    # A result may have become a number or a variable of the same value.
    return ir.Kernel(kernel.parameters, body, [new(r) if r.__class__ is Var else r for r in kernel.results])


class Aliases:
    """Uses of a copy of an accumulator replaced by the accumulator, as long as that has not changed."""

    def block(self, block: list[Stmt], alias: dict[Var, Var]) -> list[Stmt]:
        """`alias` maps a copy to what it is a copy of; it is updated to what holds at the end."""
        kept: list[Stmt] = []

        def new(x: Any) -> Any:
            return alias.get(x, x) if x.__class__ is Var else x

        for s in block:
            changed = changes(s)
            if s.__class__ is ir.Set:
                args = tuple(new(a) for a in s.args)
                if s.op == "copy" and args[0] is s.var:
                    continue
                kept.append(with_arguments(s, args))
                self.forget(alias, changed)
                if s.op == "copy" and args[0].__class__ is Var:
                    alias[s.var] = args[0]
            elif s.__class__ is ir.If:
                then, orelse = dict(alias), dict(alias)
                sides = self.block(s.then, then), self.block(s.orelse, orelse)
                merges = [
                    (v, then.get(a, a) if a.__class__ is Var else a, orelse.get(b, b) if b.__class__ is Var else b)
                    for v, a, b in s.merges
                ]
                kept.append(ir.If(new(s.condition), *sides, merges))
                self.forget(alias, changed)
            elif isinstance(s, ir.Loop | ir.ReverseLoop):
                self.forget(alias, changed)
                kept.append(with_blocks(s, lambda inner: self.block(inner, dict(alias))))
            elif s.__class__ is ir.Accumulate:
                kept.append(ir.Accumulate(s.var, new(s.value)))
                self.forget(alias, changed)
            else:
                kept.append(with_operands(s, new))
        return kept

    def forget(self, alias: dict[Var, Var], changed: set[Var]) -> None:
        for var in changed:
            alias.pop(var, None)
        if not changed.isdisjoint(alias.values()):
            for copy in [copy for copy, source in alias.items() if source in changed]:
                del alias[copy]


def shorter(op: str, args: tuple[Any, ...]) -> tuple[str, tuple[Any, ...]]:
    """Products with a known 1 as copies: cotangents start from it. So is what is known to be one now."""
    if op == "strong_multiply":
        # What is finite or starts from a number needs no look at whether it is zero.
        if args[0].__class__ is float and args[0] == 0.0:
            return "copy", args[:1]
        if any(a.__class__ is float and a - a == 0.0 and (a != 0.0 or k == 1) for k, a in enumerate(args)):
            op = "multiply"
    if op == "multiply":
        for a, b in (args, args[::-1]):
            if a.__class__ is float and abs(a) == 1.0:
                return ("copy" if a == 1.0 else "negative"), (b,)
    if op in ("unsure", "inert"):
        return "copy", args
    if op == "rounded" and args[0].__class__ is float and abs(args[0]) == 1.0:
        return "copy", args
    if op == "add" and args[1].__class__ is int and args[1] == 0 and getattr(args[0], "kind", None) == ir.INT:
        return "copy", args[:1]
    if op == "not_equal" and all(a.__class__ in (int, float) for a in args):
        return "copy", (args[0] != args[1],)
    if op == "logical_and":
        for a, b in (args, args[::-1]):
            if a.__class__ is bool:
                return "copy", (b if a else False,)
    if op == "negative" and args[0].__class__ is float:
        return "copy", (-args[0],)
    return op, args


# --- branches -------------------------------------------------------------------------------------------------------


def joined(block: list[Stmt]) -> list[Stmt]:
    """Neighbouring branches on one condition as one, and branches on what is known as the side that is taken."""
    kept: list[Stmt] = []
    pending = block[::-1]
    while pending:
        s = pending.pop()
        if s.__class__ is ir.If and s.condition.__class__ is bool and not s.merges:
            pending.extend(reversed(s.then if s.condition else s.orelse))
            continue
        last = kept[-1] if kept else None
        if s.__class__ is ir.If and last.__class__ is ir.If and last.condition is s.condition and not last.merges:
            kept[-1] = ir.If(s.condition, last.then + s.then, last.orelse + s.orelse, s.merges)
        else:
            kept.append(s)
    return [with_blocks(s, joined) for s in kept]


# --- sums -------------------------------------------------------------------------------------------------------------


def summed(kernel: ir.Kernel) -> ir.Kernel:
    """`b = x` and `b += y` in a row as `b = x + y`."""
    return ir.Kernel(kernel.parameters, summed_block(kernel.body, constant_variables(kernel.body)), kernel.results)


def summed_block(block: list[Stmt], constant: set[Var]) -> list[Stmt]:
    kept: list[Any] = []
    # By accumulator, the statement that has set it, as long as nothing has read it since.
    fresh: dict[Any, int] = {}
    for s in block:
        if s.__class__ is ir.Accumulate and s.var in fresh and s.value is not s.var:
            var, value = s.var, s.value
            place = fresh.pop(var)
            fresh.pop(value, None)
            first = kept[place]
            if first.op == "copy" and (first.args[0].__class__ is not Var or first.args[0] in constant):
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
                s = with_blocks(s, lambda inner: summed_block(inner, constant))
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
