"""What is known of the code that is being written: where each variable of the IR is, and what is read later."""

from __future__ import annotations

from ..ir import Apply, Stack, Var, blocks, ends, free, operands, walk
from .memory import Buffer, Ref
from .scalars import BOUND, kind_of
from .text import Affine, Lines, Names, is_atom, literal, variable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from ..ir import Block, Stmt
    from .fusion import Group
    from .memory import Shape

ROOM = {"f": "floats", "i": "ints", "b": "bools"}


class State:
    """A block that is being emitted: how many of its statements still read each variable, and its open groups."""

    def __init__(self, block: Block, last: Iterable[Any], own: Iterable[Var] = ()) -> None:
        self.left: dict[Var, int] = {}
        self.own: set[Var] = set(own)
        self.open: dict[Shape, Group] = {}
        self.lazies: dict[Var, None] = {}
        self.block = block
        self.done: set[Stmt] = set()  # statements that were emitted before their turn
        self.met: set[Any] = set()  # flags and checks, by condition
        for stmt in block:
            for x in reads(stmt):
                self.left[x] = self.left.get(x, 0) + 1
        for x in dict.fromkeys(last):
            if x.__class__ is Var:
                self.left[x] = self.left.get(x, 0) + 1


def reads(stmt: Stmt) -> dict[Var, None]:
    """What a statement reads, its blocks included."""
    return free([stmt]) if blocks(stmt) else dict.fromkeys(operands(stmt))


class Code:
    def __init__(self, body: Block, results: list[Any]) -> None:
        self.lines = Lines()
        self.entry: list[str] = []
        self.names = Names()
        self.slots = 0
        self.helpers: set[str] = set()
        self.texts: dict[Var, str] = {}
        self.places: dict[Var, Affine] = {}
        self.bounds: dict[Var, int] = {}
        self.refs: dict[Var, Ref] = {}
        self.lazy: dict[Var, Apply] = {}
        self.costs: dict[Var, tuple[int, int]] = {}  # of an element, and the depth of its tree
        self.pending: dict[Var, Group] = {}
        self.home: dict[Var, Buffer] = {}
        self.stacks: dict[Stack, Buffer] = {}
        self.useless: set[Stmt] = set()  # updates that nobody sees
        self.hits: dict[int, str] = {}
        self.collected: dict[Var, str] = {}  # sums of what a loop adds to one element
        self.constants: list[Any] = []
        self.known: dict[int, Var] = {}
        self.uses: dict[Var, int] = {}
        for stmt in walk(body):
            for x in (*operands(stmt), *ends(stmt)):
                self.uses[x] = self.uses.get(x, 0) + 1
        for x in results:
            if x.__class__ is Var:
                self.uses[x] = self.uses.get(x, 0) + 1
        self.state = State(body, results)

    # --- names and numbers ------------------------------------------------------------------------------------------

    def new(self, hint: Var | str | None) -> str:
        return self.names.new(hint.name.rpartition("_")[0] if hint.__class__ is Var else hint or "t")  # type: ignore[arg-type]

    def name(self, x: Var) -> str:
        """The name of a number that is assigned now."""
        name = self.texts[x] = self.new(x)
        return name

    def shared(self, x: Var) -> bool:
        return self.uses.get(x, 0) > 1

    def text(self, x: Any, kind: str | None = None) -> str:
        """A number as text."""
        if x.__class__ is not Var:
            return literal(x, kind or kind_of(x))
        self.settle(x)
        text = self.texts[x]
        if kind is None or kind == x.kind:
            return text
        return f"float({text})" if kind == "f" else f"({text} != 0)" if kind == "b" else f"int({text})"

    def atom(self, x: Any) -> str:
        """A number as text that may be repeated, and stand in an inner loop."""
        text = self.text(x)
        if x.__class__ is Var and not is_atom(text):
            name = self.new(x)
            self.lines.add(f"{name} = {text}")
            self.texts[x] = text = name
        return text

    def bound(self, x: Any) -> int:
        """A bound of the absolute value of a number."""
        if x.__class__ is Var:
            return 1 if x.kind == "b" else self.bounds.get(x, BOUND) if x.kind == "i" else BOUND
        return abs(int(x)) if x == x and abs(x) < BOUND else BOUND

    def place(self, x: Any) -> Affine:
        """An integer as a part of an index."""
        if x.__class__ is not Var:
            return Affine(int(x))
        self.settle(x)
        found = self.places.get(x)
        if found is None:
            text = self.atom(x)
            found = Affine(int(text)) if text.isdigit() else variable(text)
        return found

    # --- memory -----------------------------------------------------------------------------------------------------

    def slot(self) -> int:
        self.slots += 1
        return self.slots - 1

    def buffer(self, x: Var, hint: str = "a") -> Buffer:
        """Memory for an array: that of the result that it becomes, or a slot of its own."""
        found = self.home.get(x)
        if found is not None and not any(r.buffer is found for v, r in self.refs.items() if self.state.left.get(v)):
            return found
        name = self.new(hint)
        self.entry.append(f"{name} = {ROOM[x.kind]}(run, {self.slot()}, {max(1, x.size)})")
        return Buffer(name, x.kind, x.size, swappable=True)

    def known_indices(self, values: Any, size: int) -> Var:
        """Known indices, checked and counted from the front, as a constant."""
        import numpy as np

        found = self.known.get(id(values))
        if found is None:
            array = np.asarray(values, dtype=np.int64)
            found = Var("i", array.shape, "places")
            self.constant(found, np.where(array < 0, array + size, array))
            self.known[id(values)] = found
            self.held = [*getattr(self, "held", []), values]
        return found

    def constant(self, x: Var, values: Any) -> None:
        import numpy as np

        name = self.new("known")
        self.constants.append((name, np.ascontiguousarray(values)))
        self.refs[x] = Ref(Buffer(name, x.kind, x.size, writable=False), x.shape)

    @staticmethod
    def rank_of_indices(indices: Any) -> int:
        import numpy as np

        return len(indices.shape) if indices.__class__ is Var else np.ndim(indices)

    def settle(self, x: Any) -> None:
        """Compute a variable now, if an open group has it."""
        raise NotImplementedError
