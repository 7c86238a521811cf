"""What blocks hand on when they end: numbers at once, and arrays in the memory where they are expected."""

from __future__ import annotations

from ..ir import Apply, If, Loop, Var, defined
from .code import reads
from .fusion import Reading
from .memory import Buffer, Ref
from .scalars import is_elementwise
from .statements import Statements
from .text import NAME

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from ..ir import Block


class Handing(Statements):
    def deliver(self, wanted: list[tuple[Buffer, Any]], swap: bool = False) -> None:
        """Bring arrays into the memory where they are expected, as if all were written at once."""
        rest = []
        exchanged: list[tuple[Buffer, Buffer]] = []
        for buffer, v in wanted:
            ref = self.refs.get(v)
            if ref is None:
                rest.append((buffer, v))
            elif ref.buffer is not buffer:
                free_to_take = swap and ref.whole and ref.buffer.swappable and buffer.swappable and v in self.state.own
                once = [w for _, w in wanted].count(v) == 1 and ref.buffer not in [b for b, _ in wanted]
                if free_to_take and once and self.state.left.get(v, 0) == 1:
                    exchanged.append((buffer, ref.buffer))
                else:
                    rest.append((buffer, v))
        found: list[dict[Buffer, bool]] = []
        for _ in range(2):  # the first time stores what is costly
            found = []
            for _buffer, v in rest:
                reading = Reading()
                self.prepare(v, v.shape, reading, True, {})
                found.append(reading.reads)
        late = []
        for buffer, v in sorted(rest, key=lambda item: item[1].shape):
            ref = Ref(buffer, v.shape)
            direct = all(
                buffer not in reads or (reads[buffer] and other[1].shape == v.shape)
                for other, reads in zip(rest, found)
            ) and buffer not in {b for (_, w), reads in zip(rest, found) if w is v for b in reads if not reads[b]}
            if direct and not self.settled_conflict(buffer, v.shape):
                alone = all(buffer not in reads for reads in found)
                if alone and self.cleared(v, ref):
                    self.release(v)
                else:
                    self.store(v, ref, consumed=[v])
            else:
                other_ref = Ref(self.buffer(Var(v.kind, v.shape, "a")), v.shape)
                self.store(v, other_ref)
                late.append((buffer, other_ref.buffer))
        self.close_all()
        for buffer, other in [*exchanged, *late]:
            if swap and buffer.swappable:
                self.lines.add(f"{buffer.name}, {other.name} = {other.name}, {buffer.name}")
            else:
                self.lines.add(f"for i in range({buffer.size}):")
                self.lines.add(f"{buffer.name}[i] = {other.name}[i]", 1)

    def settled_conflict(self, buffer: Buffer, shape: Any) -> bool:
        """Close the groups that a store to this memory must come after; whether that is impossible."""
        group = self.state.open.get(shape)
        if group is not None and (buffer in group.adds or buffer in group.writes or group.reads.get(buffer) is False):
            self.close(group)
        return False

    def exchange(self, pairs: list[tuple[str, str]]) -> None:
        """Assign texts to names as if at once."""
        pairs = [(name, text) for name, text in pairs if name != text]
        while pairs:
            for k, (name, text) in enumerate(pairs):
                if not any(name in NAME.findall(other) for other_name, other in pairs if other_name != name):
                    self.lines.add(f"{name} = {text}")
                    del pairs[k]
                    break
            else:
                name, text = pairs[0]
                old = self.new("old")
                self.lines.add(f"{old} = {name}")
                pairs = [(n, renamed(t, name, old)) for n, t in pairs]


def renamed(text: str, name: str, other: str) -> str:
    """Text with one name for another one."""
    return NAME.sub(lambda found: other if found[0] == name else found[0], text)


def base(x: Any, block: Block) -> Var | None:
    """The array from outside a block that `x` is, after updates in the block."""
    made = {out: stmt for stmt in block for out in defined(stmt)}
    while x.__class__ is Var and x in made:
        stmt: Any = made[x]
        if stmt.__class__ is Apply and stmt.row.name in ("index_update", "index_add"):
            x = stmt.inputs[0]
        elif stmt.__class__ is Loop:
            x = next((first for _, first, _, out in stmt.carried if out is x), None)
        elif stmt.__class__ is If:
            one, other = next(
                ((base(a, stmt.then), base(b, stmt.orelse)) for out, a, b in stmt.outs if out is x), (None, None)
            )
            x = one or other
        else:
            return None
    return x if x.__class__ is Var else None


def inlined(block: Block, last: Iterable[Any]) -> set[Var]:
    """The numbers of a block that one of its statements alone reads, once, in an expression of numbers, or that its end does."""
    count: dict[Var, int] = {}
    fit: set[Var] = set()
    for stmt in block:
        once = stmt.__class__ is Apply and is_elementwise(stmt.row) and not stmt.outs[0].shape
        given = [x for x in stmt.inputs if x.__class__ is Var] if once else reads(stmt)  # type: ignore[attr-defined]
        for x in given:
            count[x] = count.get(x, 0) + 1
            if once:
                fit.add(x)
    for x in last:
        if x.__class__ is Var:
            count[x] = count.get(x, 0) + 1
            fit.add(x)
    return {x for x in fit if count[x] == 1 and not x.shape}
