"""Statements as they are written: the block that is being filled, what it shares, and what is noted of its variables."""

from __future__ import annotations

from ...core.state import STATE
from ...ops.registry import ROWS
from .. import ir
from ..budget import check_budget
from ..ir import BOOL, FLOAT, INT, LEAST, MOST, Array, TooLarge, Unsupported, Var
from .foreseen import EVERYTHING, interval_of
from .symbol import Sym, raw
from .watch import Watch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ...core.dtypes import DType
    from ...core.state import Site
    from .following import Follower

MAX_STATEMENTS = 20_000
# After so many statements it is looked whether there is time for more.
BETWEEN_CHECKS = 64


# Rows whose results are not finite where a partial is not.
TELLING = frozenset("multiply square exp exp2 expm1 sin cos tan sinh cosh tanh sigmoid erf erfc".split())


def is_curved(op: str) -> bool:
    """Whether a row has partials that are no constants, so that one may be infinite."""
    row = ROWS.get(op)
    return row is not None and any(map(callable, row.partials))


class Blocks:
    """Emits statements into the current block, sharing what was computed before (within reach of the block).

    `mode` says in what the kernel that is being built computes (widths.py), and `careful` whether it forms every product
    as a tape does: one is built at a time, by several of these.
    """

    mode = ""
    careful = False

    def __init__(self) -> None:
        # Whether a rule has formed a plain product where a zero cotangent may meet what is not finite.
        self.hasty = False
        self.block: list[ir.Stmt] = []
        # The blocks that the current one will stand in.
        self.around: list[list[ir.Stmt]] = []
        self.memos: list[dict[Any, Sym]] = [{}]
        self.ranges: dict[Var, tuple[int, int]] = {}
        # Float inputs that the program counts with (`range(n)`): they must be whole numbers. Where it does so first, and in
        # which block.
        self.counted: dict[Var, tuple[Site, list[ir.Stmt]]] = {}
        # Those that something is made of that is taken for a float here, and counts as an integer if all of them do.
        self.uncounted: list[list[Var]] = []
        self.inputs: set[Var] = set()
        # The arrays that were put into memory after they had been made, and what they were before.
        self.late: list[tuple[Any, Any, Any]] = []
        # How the specialiser finds the value of a symbol that must be known.
        self.known_value: Callable[[Any, str], Any] = unknown
        # What a scalar was computed from, to find the inputs that decide it.
        self.made: dict[Var, tuple[str, tuple[Any, ...]]] = {}
        # Float inputs whose values are known.
        self.values: dict[Var, int] = {}
        # Floats that were computed from such inputs and bare integers alone.
        self.whole: set[Var] = set()
        # Floats that are elements of tensors.
        self.elements: set[Var] = set()
        # Floats that were computed from inputs and bare integers alone, and from which: if those inputs are bare integers
        # that are differentiated, the tape counts with them.
        self.counting: dict[Var, tuple[str, tuple[Any, ...]]] = {}
        # Floats that are integers on some paths of the program, and what they come from (whole.py).
        self.widened: dict[Var, tuple[Any, ...]] = {}
        # Floats that may be integers of the program, on nobody knows which paths.
        self.doubtful: set[Var] = set()
        # Floats that are none of the program's integers, though they are copies of what may be; and where elements of
        # tensors become such.
        self.converted: set[Var] = set()
        self.converting: set[ir.Store] = set()
        # Lists as arrays of floats, of which some elements may be integers of the program.
        self.some_whole: set[Array] = set()
        # Loop variables that may be integers in the first iteration, and are none after the loop.
        self.begun: set[Var] = set()
        # The inputs as the kernel's parameters, and those that are float32 where bare floats are not.
        self.parameters: list[Any] = []
        self.singles: set[Any] = set()
        # The casts whose derivatives have been asked for.
        self.casts: set[Var] = set()
        # Integers of a dtype of their own, which do not mix with floats.
        self.strong: set[Any] = set()
        # Whether a row is applied that the program names: what it computes with has a dtype that others meet.
        self.named = False
        # Which application of a row of the program is being written, where each has a derivative of its own, as each record
        # of a tape has: of an infinite partial the cotangents c and -c make nan, and c - c makes 0. What is computed twice
        # is found behind the sweep. None where all is shared: in what rules compute. Rows that tell of such partials by their
        # results are shared for once (`hasty`), which a kernel of many calls is small by.
        self.apart = False
        self.application: object = None
        self.shared: dict[Var, object] = {}
        # Which one: there are no two in one program.
        self.own_integers: DType | None = None
        # Arrays of integers that have been read as bare ones.
        self.read_bare: set[Array] = set()
        # How many statements have been written, and how many may be.
        self.size = 0
        self.most = MAX_STATEMENTS
        # Where paths end first that leave no trace among the statements, for what reason, and in which block.
        self.ends: dict[Any, tuple[str, Site, list[ir.Stmt]]] = {}
        # Whether eigenvectors and singular vectors must have LAPACK's signs.
        self.signed = False
        self.in_array = False  # whether an element of an array is being computed
        # Where real and complex numbers meet: the symbols of either side (pairs.py).
        self.meetings: list[tuple[set[Any], set[Any]]] = []
        # Whether the program makes a real, or a complex, number of a dtype of its own.
        self.made_strong = [False, False]
        # The floats, parts of complex numbers and arrays that have a dtype of their own whatever the inputs have; ANY stands
        # for one that is not known apart.
        self.origins: set[Any] = set()
        # Whether derivatives are taken inside the program, and their singular points.
        self.derives = False
        # Whether what is being compiled may be differentiated in its turn.
        self.outer = True
        self.watch = Watch()
        # The arrays that are known, which stand before everything else; and what is told of a singular point that a
        # row's rule finds in a mask.
        self.constants: dict[Any, Array] = {}
        self.root = self.block
        # How many stores into arrays that loops change in place have been written.
        self.overwritten = 0
        self._arrays: Any = None
        # What notes which inputs a tape would follow, in a kernel that is made for that alone (following.py).
        self.follower: Follower | None = None
        self.meets: Callable[[Any, Any, Any], None] | None = None

    def note_end(self, x: Any, reason: str) -> None:
        """Note that a path ends here of which the statements may not tell."""
        self.ends.setdefault(x, (reason, STATE.site, self.block))

    def nested(self, fill: Callable[[], Any]) -> tuple[list[ir.Stmt], Any]:
        """Run `fill` with a new block as the current one."""
        outer, self.block = self.block, []
        self.around.append(outer)
        self.memos.append({})
        try:
            result = fill()
            return self.block, result
        finally:
            self.block = self.around.pop()
            self.memos.pop()

    def mark(self) -> tuple[Any, ...]:
        """What `undo` goes back to."""
        return len(self.block), len(self.constants), len(self.late), dict(self.memos[-1]), self.size, self.in_array

    def undo(self, mark: tuple[Any, ...]) -> None:
        """Leave the block as it was at a mark."""
        length, constants, late, self.memos[-1], self.size, self.in_array = mark
        if self.block is self.root:
            length += len(self.constants) - constants  # these stand before all else, and stay
        del self.block[length:]
        for x, stored, element in reversed(self.late[late:]):
            x.stored, x.element = stored, element
        del self.late[late:]

    def emit(
        self, op: str, args: tuple[Any, ...], kind: str, attributes: dict[str, Any] | None = None, by: Any = None
    ) -> Sym:
        """`op(args)` as a symbol; what was computed before, within reach, is not computed again: where `by` is given,
        what was computed by that."""
        key = (self.key(op, args, attributes), by)
        found = self.known(key)
        if found is not None:
            self.hasty |= self.shared.get(found.var, self.application) is not self.application
            return found
        var = Var(kind)
        self.append(ir.Set(var, op, tuple(raw(a) for a in args), STATE.site, attributes))
        if self.application is not None and not self.careful and kind == FLOAT and op in TELLING:
            self.shared[var] = self.application
        self.made[var] = (op, args)
        if kind == INT and self.strong and any(a.__class__ is Sym and a.var in self.strong for a in args):
            self.strong.add(var)
        if kind == INT:
            interval = interval_of(op, [self.interval(a) for a in args])
            if interval is not None:
                self.ranges[var] = interval
        return self.remember(key, Sym(self, var))

    def key(self, op: str, args: tuple[Any, ...], attributes: dict[str, Any] | None) -> Any:
        """What tells a computation from others."""
        row = ROWS.get(op)
        place: Any = None
        if row is not None and row.singular:  # which is told of at its own place
            place = (STATE.site.start, STATE.site.end)
        if self.application is not None and is_curved(op) and (self.careful or op not in TELLING):
            place = (place, self.application)
        operands = tuple(a.var if a.__class__ is Sym else (a.__class__, a, str(a)) for a in args)
        return op, place, repr(attributes), operands

    def known(self, key: Any) -> Sym | None:
        for memo in reversed(self.memos):
            found: Sym | None = memo.get(key)
            if found is not None:
                return found
        return None

    def remember(self, key: Any, sym: Sym) -> Sym:
        self.memos[-1][key] = sym
        return sym

    def append(self, statement: ir.Stmt) -> None:
        self.size += 1
        if not self.size % BETWEEN_CHECKS:
            check_budget()
        if self.size > self.most:
            raise TooLarge("a program of this size: it would take longer to compile than to run")
        if self.strong and statement.__class__ in (ir.Store, ir.AddTo) and statement.value in self.strong:
            self.keep_strong(statement.array)
        self.block.append(statement)
        if self.follower is not None and not self.follower.inside:
            self.follower.seen(statement)

    def keep_strong(self, array: Array) -> None:
        """Note that an array is given integers with a dtype of their own."""
        if array not in self.strong and array in self.read_bare:
            raise Unsupported("a tensor of integers without a dtype of their own that is given integers with one")
        self.strong.add(array)

    def interval(self, x: Any) -> tuple[int, int]:
        """Bounds of an integer operand."""
        if x.__class__ is int:
            if not LEAST <= x <= MOST:
                raise Unsupported("an integer beyond int64")
            return (x, x)
        if x.__class__ is bool or (x.__class__ is Sym and x.kind == BOOL):
            return (0, 1)
        if x.__class__ is Sym:
            return self.ranges.get(x.var, EVERYTHING)
        return EVERYTHING

    def aside(self, run: Callable[[], Any]) -> Any:
        """What `run` gives, no row of which a tape records."""
        return run() if self.follower is None else self.follower.aside(run)


def unknown(x: Any, why: str) -> Any:
    raise Unsupported(why)
