"""Loop alignment by splitting index sets: loops over arrays that are shifted by a place, brought into step.

`concat([[1.0], y[:-1]])` stores one element and then, a place on, those of y; what is computed of it element by element
goes through all of it. Such a loop is parted where the array is: the single element apart, the others in a loop of
the same length as the one that stored them, with which it can be one. Copies of whole arrays are read where they come from.
(Allen and Kennedy, Optimizing compilers for modern architectures, 2001: loop alignment, index-set splitting.)
"""

from __future__ import annotations

from .. import ir
from ..ir import INT, Array, Stmt, Var
from .cloning import cloned, defined_in, renewed
from .code_motion import hoisted
from .dead_code import without_dead_code
from .dependence import affine, static_range, sum_of
from .fuse import swept
from .memory import array_copy, plain_loop
from .statements import arrays_named, everything, with_blocks

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .dependence import Affine

# A shorter loop is not worth more code, and so many elements may stand apart.
LEAST_TRIPS, MOST_APART = 16, 3


def aligned(kernel: ir.Kernel) -> ir.Kernel:
    """The same kernel, its loops over shifted arrays parted."""
    kernel = without_dead_code(kernel, logs=True)
    body = without_copies(kernel.body, set(kernel.results))
    body = without_dead_code(ir.Kernel(kernel.parameters, body, kernel.results), logs=True).body
    # Reverse loops of derivatives inside the program count the trips of theirs.
    body = parted(body, frozenset(swept(body)))
    return ir.Kernel(kernel.parameters, hoisted(body, {}, {}), kernel.results)


# --- copies -----------------------------------------------------------------------------------------------------------


def without_copies(block: list[Stmt], needed: set[Any]) -> list[Stmt]:
    """A block that reads the sources of its copies, as long as they stay as they are."""
    block = [with_blocks(s, lambda inner: without_copies(inner, needed)) for s in block]
    own = {s.array for s in block if s.__class__ is ir.Alloc}
    k = 0
    while k < len(block):
        pair = array_copy(block[k])
        k += 1
        if pair is None or pair[1] not in own or pair[1] in needed:
            continue
        source, target = pair
        users = [n for n in range(len(block)) if n != k - 1 and mentions_array(block[n], target)]
        users = [n for n in users if block[n].__class__ is not ir.Alloc]
        if not users or users[0] < k or not all(only_loads(block[n], target) for n in users):
            continue
        if any(changes_array(s, source) for s in block[k : users[-1] + 1]):
            continue
        for n in users:
            block[n] = cloned(block[n], {target: source})
    return block


def mentions_array(s: Stmt, array: Array) -> bool:
    return any(array in arrays_named(inner) for inner in everything([s]))


def only_loads(s: Stmt, array: Array) -> bool:
    return all(inner.__class__ is ir.Load for inner in everything([s]) if array in arrays_named(inner))


def changes_array(s: Stmt, array: Array) -> bool:
    return any(inner.__class__ is not ir.Load for inner in everything([s]) if array in arrays_named(inner))


# --- parts ------------------------------------------------------------------------------------------------------------


class Parts:
    """Of the arrays that a block allocates, the parts that were stored so far; None for one filled otherwise."""

    def __init__(self) -> None:
        self.of: dict[Array, list[tuple[int, int]] | None] = {}

    def note(self, s: Any) -> None:
        if s.__class__ is ir.Alloc and s.array.role == "local" and not s.zero:
            self.of[s.array] = []
        elif s.__class__ is ir.Store and s.index.__class__ is int:
            self.add(s.array, (s.index, s.index + 1))
        elif plain_loop(s) or s.__class__ is ir.Loop:
            self.note_loop(s)
        else:
            self.spoil([s])

    def note_loop(self, s: ir.Loop) -> None:
        bounds = static_range(s)
        if bounds is None or not simple(s):
            self.spoil([s])
            return
        known = places_in(s)
        times: dict[Array, int] = {}
        for inner in s.body:
            if isinstance(inner, ir.Store | ir.AddTo):
                times[inner.array] = times.get(inner.array, 0) + 1
        for inner in s.body:
            if isinstance(inner, ir.Store | ir.AddTo) and inner.array in self.of:
                place = dict(affine(inner.index, known))
                first = place.pop(None, 0)
                if inner.__class__ is ir.Store and times[inner.array] == 1 and place == {s.index: 1}:
                    self.add(inner.array, (bounds[0] + first, bounds[1] + first + 1))
                else:
                    self.of[inner.array] = None

    def spoil(self, block: list[Stmt]) -> None:
        for s in everything(block):
            if not isinstance(s, ir.Load | ir.Alloc):
                self.of.update({x: None for x in arrays_named(s) if x in self.of})

    def add(self, array: Array, part: tuple[int, int]) -> None:
        parts = self.of.get(array)
        if parts is not None:
            parts.append(part)

    def breaks(self, array: Array) -> set[int]:
        """Where an array was parted: one long part, and few elements."""
        parts = sorted(self.of.get(array) or ())
        ends = [0, *(end for _, end in parts)]
        if len(parts) < 2 or ends[-1] != array.size or any(a != b for (a, _), b in zip(parts, ends)):
            return set()
        single = [part for part in parts if part[1] - part[0] == 1]
        if len(single) != len(parts) - 1 or len(single) > MOST_APART:
            return set()
        return set(ends[:-1])


def simple(s: ir.Loop) -> bool:
    """Whether a loop goes through elements, each for itself so far as it says itself."""
    return (
        not s.carried and not s.stacks and s.stop_when is None and not s.own
        and all(isinstance(inner, ir.Set | ir.Load | ir.Store | ir.Keep) and inner.__class__ is not ir.Routine
                for inner in s.body)
    )  # fmt: skip


def places_in(s: ir.Loop) -> dict[Var, Affine]:
    known: dict[Var, Affine] = {}
    for inner in s.body:
        if inner.__class__ is ir.Set:
            place = sum_of(inner, known)
            if place is not None:
                known[inner.var] = {var: n for var, n in place.items() if n or var is None}
    return known


def parted(block: list[Stmt], counted: frozenset[Var]) -> list[Stmt]:
    """A block whose loops over parted arrays are parted as these are; those that are `counted` stay."""
    parts = Parts()
    found: list[Stmt] = []
    for each in block:
        s: Any = with_blocks(each, lambda inner: parted(inner, counted))
        pieces: list[Stmt] = [s]
        bounds = static_range(s) if s.__class__ is ir.Loop else None
        long = bounds is not None and bounds[0] == 0 and bounds[1] + 1 >= LEAST_TRIPS
        if bounds is not None and long and s.trips not in counted and simple(s):
            cuts = cuts_of(s, parts)
            if len(cuts) > 1:
                ends = [*sorted(cuts)[1:], bounds[1] + 1]
                pieces = [x for a, b in zip(sorted(cuts), ends) for x in part_of(s, a, b)]
        for piece in pieces:
            parts.note(piece)
        found += pieces
    return found


def cuts_of(s: ir.Loop, parts: Parts) -> set[int]:
    """Where a loop over whole arrays is to be parted; nowhere, if they are parted in too many ways."""
    known = places_in(s)
    size = (static_range(s) or (0, 0))[1] + 1
    cuts: set[int] = set()
    for inner in s.body:
        if inner.__class__ is ir.Load and inner.array.size == size:
            place = affine(inner.index, known)
            if {var: n for var, n in place.items() if n} == {s.index: 1}:
                cuts |= parts.breaks(inner.array)
    ends = [*sorted(cuts)[1:], size]
    long = [a for a, b in zip(sorted(cuts), ends) if b - a > 1]
    return cuts if len(long) <= 1 and len(cuts) <= MOST_APART + 1 else set()


def part_of(s: ir.Loop, start: int, stop: int) -> list[Stmt]:
    """The iterations from `start` to before `stop`."""
    names: dict[Any, Any] = {x: renewed(x) for x in defined_in(s.body)}
    index: Any = start
    before: list[Stmt] = []
    if stop - start > 1:
        own = Var(INT, "i")
        index = own
        if start:
            index = Var(INT)
            before = [ir.Set(index, "add", (own, start), None, None)]
    names[s.index] = index
    body = [*before, *folded([cloned(inner, names) for inner in s.body])]
    if stop - start == 1:
        return body
    return [s.replace(index=own, start=0, stop=stop - start, body=body, trips=Var(INT, "t"))]


def folded(block: list[Stmt]) -> list[Stmt]:
    """Statements with integers that are known in the place of those that compute them."""
    names: dict[Any, Any] = {}
    found: list[Stmt] = []
    for s in block:
        s = cloned(s, names) if names else s
        if s.__class__ is ir.Set and s.var.kind == INT and all(x.__class__ is int for x in s.args):
            place = sum_of(s, {})
            if place is not None:
                names[s.var] = place.get(None, 0)
                continue
        found.append(s)
    return found
