"""What is known of the code that is being written: where each variable of the IR is, and until when it is read."""

from __future__ import annotations

from ..ir import Apply, Var, blocks, defined, ends, free, operands, walk
from .memory import VIEWS, Affine, Buffer, Ref, variable
from .scalars import BOUND, converted, is_atom, kind_of, literal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from ..ir import Block, Stack, Stmt
    from .fusion import Group
    from .memory import Shape

ROOM = {"f": "floats", "i": "ints", "b": "bools"}
# Rows of arrays that are computed where an element is needed, beside the element-wise ones.
LAZY = VIEWS | {"ramp", "take_rows"}


def reads(stmt: Stmt) -> dict[Var, None]:
    """What a statement reads, its blocks included."""
    return free([stmt]) if blocks(stmt) else dict.fromkeys(operands(stmt))


class State:
    """A block that is being emitted: what it defines, which statement is the last to read a variable, and the open groups."""

    def __init__(self, block: Block, last: Iterable[Any] = (), own: Iterable[Var] = ()) -> None:
        self.position = 0
        self.own = {*own, *[x for stmt in block for x in defined(stmt)]}
        self.open: dict[Shape, Group] = {}
        self.lazies: dict[Var, None] = {}
        self.last_read = {x: len(block) for x in last if x.__class__ is Var}
        for position in reversed(range(len(block))):
            for x in reads(block[position]):
                self.last_read.setdefault(x, position)


class Code:
    def __init__(self, body: Block, results: list[Any]) -> None:
        self.lines: list[str] = []
        self.depth = 1
        self.entry: dict[str, str] = {}  # what is assigned before the first line
        self.counts: dict[str, int] = {}  # names by hint
        self.slots = 0
        self.texts: dict[Var, str] = {}
        self.places: dict[Var, Affine] = {}
        self.bounds: dict[Var, int] = {}
        self.refs: dict[Var, Ref] = {}
        self.lazy: dict[Var, Apply] = {}
        self.costs: dict[Var, int] = {}  # of an element of a lazy array
        self.pending: dict[Var, Group] = {}
        self.stacks: dict[Stack, Buffer] = {}
        self.hits: dict[int, str] = {}
        self.collected: dict[Any, str] = {}  # the sums of what statements of a loop add to one element
        self.constants: list[Any] = []
        self.inline: set[Var] = set()  # numbers that become a part of the line that reads them
        self.within: set[Var] = set()  # indices that are known to lie within the axis
        self.uses: dict[Any, int] = {}
        read = [x for stmt in walk(body) for x in (*operands(stmt), *ends(stmt))]
        for x in read + results:
            self.uses[x] = self.uses.get(x, 0) + 1
        self.state = State([])
        self.narrow = False  # whether there are products of matrices whose rows are shorter than a vector or two

    # --- names and numbers ------------------------------------------------------------------------------------------

    def add(self, *lines: str) -> None:
        """Lines at the indentation that is reached."""
        self.lines += ["    " * self.depth + line for line in lines]

    def new(self, hint: Var | str = "t") -> str:
        """A new name, numbered by hint: no name of a helper ends so."""
        text = hint if isinstance(hint, str) else hint.name.rpartition("_")[0]
        text = text if text.isascii() and text.isalpha() and len(text) < 16 else "t"
        self.counts[text] = self.counts.get(text, 0) + 1
        return f"{text}_{self.counts[text]}"

    def assign(self, x: Var, text: str) -> None:
        """A number under a name, its own one unless the text is a name or a number."""
        self.texts[x] = text
        if not is_atom(text):
            self.texts[x] = self.new(x)
            self.add(f"{self.texts[x]} = {text}")

    def shared(self, x: Var) -> bool:
        return self.uses.get(x, 0) > 1

    def text(self, x: Any, kind: str | None = None) -> str:
        """A number as text."""
        if x.__class__ is not Var:
            return literal(x, kind or kind_of(x))
        self.settle(x)
        return converted(self.texts[x], x.kind, kind or x.kind)

    def atom(self, x: Any) -> str:
        """A number as text that may be repeated, and stand in an inner loop."""
        text = self.text(x)
        if x.__class__ is Var:
            self.assign(x, text)
        return self.texts.get(x, text)

    def bound(self, x: Any) -> int:
        """A bound of the absolute value of a number."""
        if x.__class__ is Var:
            return 1 if x.kind == "b" else self.bounds.get(x, BOUND) if x.kind == "i" else BOUND
        return abs(int(x)) if x == x and abs(x) < BOUND else BOUND

    def place(self, x: Any) -> Affine:
        """An integer as a part of an index."""
        if x.__class__ is not Var:
            return Affine(int(x))
        if x not in self.places:
            text = self.atom(x)
            self.places[x] = Affine(int(text)) if text.isdigit() else variable(text)
        return self.places[x]

    # --- memory -----------------------------------------------------------------------------------------------------

    def slot(self) -> int:
        self.slots += 1
        return self.slots - 1

    def buffer(self, x: Var) -> Buffer:
        """New memory for an array."""
        name = self.new("a")
        self.entry[name] = f"{ROOM[x.kind]}(run, {self.slot()}, {max(1, x.size)})"
        return Buffer(name, x.kind, x.size)

    def constant(self, x: Var, values: Any) -> None:
        import numpy as np

        name = self.new("known")
        self.constants.append((name, np.ascontiguousarray(values)))
        self.refs[x] = Ref(Buffer(name, x.kind, x.size, writable=False), x.shape)

    def indices(self, values: Any) -> Var:
        """The indices of a row that takes or puts rows as a variable: known ones, which lie within the axis, are a constant."""
        import numpy as np

        if values.__class__ is Var:
            return values
        found = Var("i", np.shape(values), "places")
        self.constant(found, np.asarray(values, dtype=np.int64))
        self.within.add(found)
        return found

    def settle(self, x: Any) -> None:
        """Compute a variable now, if an open group has it."""
        raise NotImplementedError
