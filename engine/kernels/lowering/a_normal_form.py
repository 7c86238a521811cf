"""A-normal form of calls: each is moved out of its expression, to a statement of its own before the one that needs it.

(Flanagan, Sabry, Duba and Felleisen, The essence of compiling with continuations, PLDI 1993.)

A recursion that runs as a loop can stop at a call and go on from there only between statements. What `and`, `or` and
`a if c else b` evaluate on a condition becomes a branch. Where steps are counted, whatever may take one is moved out with
the calls, so that all are taken in the order of evaluation.
"""

from __future__ import annotations

from ...program import core as c
from ..ir import Unsupported

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# Slots for the values of calls, beyond those of the program's own variables.
FIRST_SLOT = 1_000_000


def calls_of(node: Any) -> list[c.Call]:
    """The calls of the program's functions in a statement or an expression, not looking into functions."""
    found: list[c.Call] = []
    pending = [node]
    while pending:
        item = pending.pop()
        if item.__class__ in (list, tuple):
            pending.extend(item)
        elif item.__class__ is c.MakeFunction:
            continue
        elif isinstance(item, c.Node):
            if item.__class__ is c.Call and item.function.__class__ is c.Load:
                found.append(item)
            pending.extend(getattr(item, name) for name in item.__slots__ if name != "site")
    return found


def may_take_steps(node: Any) -> bool:
    """Whether there is any call or comprehension in an expression, not looking into functions."""
    pending = [node]
    while pending:
        item = pending.pop()
        if item.__class__ in (c.Call, c.Comprehension):
            return True
        if item.__class__ in (list, tuple):
            pending.extend(item)
        elif isinstance(item, c.Node) and item.__class__ is not c.MakeFunction:
            pending.extend(getattr(item, name) for name in item.__slots__ if name != "site")
    return False


class Hoisted:
    """A function's body with its calls hoisted; `calls` are the calls that are statements now.

    `counted` is whether steps are: then other calls and comprehensions are hoisted too.
    """

    __slots__ = ("body", "calls", "count", "counted")

    def __init__(self, body: list[c.Stmt], counted: bool) -> None:
        self.counted = counted
        self.calls: set[int] = set()
        self.count = 0
        self.body = self.block(body)

    def slot(self, site: Any) -> tuple[c.Store, c.Load]:
        slot = FIRST_SLOT + self.count
        self.count += 1
        return c.Store(0, slot, "a call", site), c.Load(0, slot, "a call", site)

    def block(self, body: list[c.Stmt]) -> list[c.Stmt]:
        out: list[c.Stmt] = []
        for s in body:
            self.statement(s, out)
        return out

    def statement(self, s: Any, out: list[c.Stmt]) -> None:
        if s.__class__ is c.If:
            out.append(c.If(self.expression(s.test, out), self.block(s.body), self.block(s.orelse), s.site))
        elif s.__class__ is c.For:
            out.append(
                c.For(s.target, self.expression(s.iterable, out), self.block(s.body), self.block(s.orelse), s.site)
            )
        elif s.__class__ is c.While:
            if calls_of(s.test):
                raise Unsupported("a recursion in the condition of a loop")
            out.append(c.While(s.test, self.block(s.body), self.block(s.orelse), s.site))
        elif isinstance(s, c.Evaluate | c.Assign | c.Augment | c.Return):
            fields = {name: getattr(s, name) for name in s.__slots__}
            if s.value is not None:
                fields["value"] = self.expression(s.value, out)
            out.append(s.__class__(*fields.values()))
        else:
            out.append(s)

    def expression(self, node: Any, out: list[c.Stmt]) -> Any:
        """The expression without calls; what computes them is added to `out`."""
        if node.__class__ is c.MakeFunction or not self.goes_out(node):
            return node
        if node.__class__ is c.Comprehension:
            return self.stored(node, out) if self.counted else node
        if node.__class__ is c.Choose:
            test = self.expression(node.test, out)
            store, load = self.slot(node.site)
            out.append(c.If(test, self.assigned(store, node.then), self.assigned(store, node.otherwise), node.site))
            return load
        if node.__class__ is c.Logical:
            first, *rest = node.values
            store, load = self.slot(node.site)
            out.append(c.Assign([store], self.expression(first, out), None, False, node.site))
            others = rest[0] if len(rest) == 1 else c.Logical(node.symbol, rest, node.site)
            test = load if node.symbol == "and" else c.Not(load, node.site)
            out.append(c.If(test, self.assigned(store, others), [], node.site))
            return load
        if node.__class__ is c.Comparison and self.goes_out(node.rights[1:]):
            raise Unsupported("a recursion in a chain of comparisons")
        moved = node.__class__(*(self.field(node, name, out) for name in node.__slots__))
        if node.__class__ is not c.Call:
            return moved
        if node.function.__class__ is c.Load:
            self.calls.add(id(moved))
            return self.stored(moved, out)
        return self.stored(moved, out) if self.counted else moved

    def goes_out(self, node: Any) -> bool:
        """Whether there is anything in an expression that is hoisted."""
        return may_take_steps(node) if self.counted else bool(calls_of(node))

    def stored(self, node: Any, out: list[c.Stmt]) -> c.Load:
        """A node as a statement of its own."""
        # Of what has no place of its own, errors in its parts say theirs.
        site = getattr(node, "site", None) or node.clauses[0].site
        store, load = self.slot(site)
        out.append(c.Assign([store], node, None, False, site))
        return load

    def assigned(self, store: c.Store, node: Any) -> list[c.Stmt]:
        out: list[c.Stmt] = []
        value = self.expression(node, out)
        out.append(c.Assign([store], value, None, False, store.site))
        return out

    def field(self, node: Any, name: str, out: list[c.Stmt]) -> Any:
        value = getattr(node, name)
        return value if name == "site" else self.part(value, out)

    def part(self, value: Any, out: list[c.Stmt]) -> Any:
        if value.__class__ in (list, tuple):
            return value.__class__(self.part(item, out) for item in value)
        return self.expression(value, out) if isinstance(value, c.Expr) else value
