"""Structured control flow: blocks, and branches whose condition is data, with what their sides leave merged (phi functions).

`break`, `continue` and `return` under such a branch become flags that guard what follows them. The sides of a branch
run on the frames, lists and dicts themselves, one after the other from the same state, and what they left is merged.
"""

from __future__ import annotations

from ...core.state import STATE
from ...program import core as c
from .. import ir
from ..ir import BOOL, FLOAT, INT, LIMIT, Array, Unsupported, Var
from ..symbols.arrays import rows_of_list
from ..symbols.pairs import Pair, pair_of
from ..symbols.strength import is_strong
from ..symbols.symbol import NUMBERS, Lazy, Sym, join, kind_of, raw
from ..symbols.values import (
    CONFLICT,
    FLAGS,
    FUNCTIONS,
    GONE,
    RESULT,
    RETURN,
    SUSPEND,
    UNSET,
    VALUE,
    Chosen,
    Frame,
    List,
    Unset,
    equal,
)
from ..symbols.whole import note_branch
from .expressions import Expressions
from .heap import ITEMS, Heap, Rows, contents, sole
from .records import Alike, form_of_all

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .heap import Contents

    Side = Callable[[], None]

ZEROS: dict[str, Any] = {FLOAT: 0.0, INT: 0, BOOL: False}


class Control(Expressions):
    """The part of the specialiser that runs statements under control flow."""

    # How lengths of lists came from others: by how much they are longer.
    offsets: dict[Var, tuple[Var, int]]
    # Dicts that stand for others, which ones depending on data: a change would have to reach all of them.
    frozen_dicts: dict[int, dict[Any, Any]]

    def freeze(self, x: Any) -> None:
        """Let nothing change a list or a dict any more."""
        if x.__class__ is List:
            x.frozen = True
        else:
            self.frozen_dicts[id(x)] = x

    def is_frozen(self, x: Any) -> bool:
        return bool(x.frozen) if x.__class__ is List else id(x) in self.frozen_dicts

    def statement(self, node: c.Stmt, frame: Frame) -> None:
        raise NotImplementedError

    def longer(self, length: Any, more: int) -> Any:
        """The length of a list that has grown."""
        if length.__class__ is int:
            return length + more
        base, before = self.offsets.get(length.var, (length.var, 0))
        if before + more == 0:
            return Sym(self.builder, base)
        found = self.builder.integer("add", Sym(self.builder, base), before + more)
        self.offsets[found.var] = (base, before + more)
        return found

    def within(self, block: list[ir.Stmt], x: Any) -> Any:
        """`x` as a float, converted at the end of its own block."""
        if x.__class__ is not Sym:
            return float(x)
        if x.kind == FLOAT:
            return x
        if x.var in self.builder.strong:
            raise Unsupported("an integer with a dtype of its own on one path, and a float on another")
        if x.kind == INT and not self.builder.countable(x):
            block.append(ir.Check(x.var, -LIMIT, LIMIT + 1, STATE.site))
        converted = Var(FLOAT)
        block.append(ir.Set(converted, "to_float", (x.var,), STATE.site, None))
        return Sym(self.builder, converted)

    def block(self, statements: list[c.Stmt], frame: Frame) -> None:
        for k, statement in enumerate(statements):
            self.statement(statement, frame)
            stopped = self.stopped(frame)
            if stopped is True:
                return
            if stopped is not False:
                if statements[k + 1 :]:
                    self.guarded(stopped, frame, lambda k=k: self.block(statements[k + 1 :], frame))  # type: ignore[misc]
                return

    def stopped(self, frame: Frame) -> Any:
        """Whether a break, continue or return has been reached: a bool, or a symbol."""
        flags = [frame[name] for name in FLAGS if frame[name] is not False]
        if frame.get(GONE) is True or any(flag is True for flag in flags):
            return True
        result: Any = False
        for flag in flags:
            result = flag if result is False else self.builder.emit("logical_or", (result, flag), BOOL)
        return result

    def guarded(self, stopped: Sym, frame: Frame, run: Side) -> None:
        """Run what follows a possible break, continue or return."""
        flags = [name for name in FLAGS if frame[name] is not False]

        def there() -> None:
            if len(flags) == 1:
                frame[flags[0]] = True

        def here() -> None:
            for name in flags:
                frame[name] = False
            run()

        self.branch(stopped, frame, there, here, flags)

    # --- branches ---------------------------------------------------------------------------------------------------

    def branch(self, condition: Sym, frame: Frame, then: Side, orelse: Side, guards: list[str] | None = None) -> None:
        """Run both sides from the same frame, and merge what they assigned. `guards` are false where `orelse` runs."""
        builder = self.builder
        # Where the function has returned, nothing reads its variables any more.
        gone = [guards is not None and all(name in (RETURN, SUSPEND) for name in guards), False]
        heap = Heap([*self.frames, frame])
        sides: list[dict[int, Contents]] = []
        blocks: list[list[ir.Stmt]] = []
        self.dynamic += 1
        self.around.append(heap)
        try:
            for run in (then, orelse):
                block, _ = builder.nested(lambda run=run: self.side(frame, run))  # type: ignore[misc]
                sides.append(heap.changes())
                gone[len(blocks)] |= any(frame.get(name) is True for name in (RETURN, SUSPEND, GONE))
                blocks.append(block)
                heap.restore()
        finally:
            self.around.pop()
        self.dynamic -= 1
        merging = Merging(self, condition, blocks, heap, sides)
        for key in {**sides[0], **sides[1]}:
            x, before = heap.objects[key], heap.before[key]
            a, b = sides[0].get(key, before), sides[1].get(key, before)
            if x.__class__ is dict and a.keys() != b.keys():
                raise Unsupported("a dict that has a key on some paths of the program only")
            # What would be the result has no say in what variables are.
            for slot in sorted({**a, **b}, key=lambda slot: slot == RESULT):
                left, right = a.get(slot, UNSET), b.get(slot, UNSET)
                if slot == ITEMS:
                    refuse_records(x, left, right)
                merging.place = (key, slot) if x is self.frames[-1] else None
                if guards is not None and x is frame and slot in guards and right is False:
                    # Nothing was reached on the side where the flags were false, so the flag is what it was.
                    merged = before[slot]
                elif any(gone) and x is frame and slot not in FLAGS and slot != VALUE:
                    merged = merging.remaining(left, right, gone)
                elif slot == ITEMS and x.__class__ is List:
                    merged = merging.items(left, right)
                else:
                    merged = merging.merge(left, right, x.__class__ is Frame and slot == VALUE)
                heap.put((key, slot), merged)
        if all(gone):
            frame[GONE] = True
        builder.append(ir.If(condition.var, blocks[0], blocks[1], merging.merges))

    def side(self, frame: Frame, run: Side) -> None:
        run()
        # What is not in memory yet must be computed where its parts are.
        for key in (RESULT, VALUE):
            frame[key] = self.builder.settle(frame.get(key, UNSET))

    def choice(self, condition: Sym, then: Callable[[], Any], orelse: Callable[[], Any]) -> Any:
        """A value that depends on a condition; each side is computed only when it is taken."""
        frame = Frame()

        def side(compute: Callable[[], Any]) -> None:
            frame["value"] = self.builder.settle(compute())

        self.branch(condition, frame, lambda: side(then), lambda: side(orelse))
        flatten(self.builder.block)
        if frame["value"].__class__ is Unset:
            raise Unsupported("a choice between values of different kinds or shapes")
        return frame["value"]

    def if_(self, node: c.If, frame: Frame) -> None:
        condition = self.condition(node.test, frame, node.site)
        if condition.__class__ is bool:
            self.block(node.body if condition else node.orelse, frame)
            return
        self.branch(condition, frame, lambda: self.block(node.body, frame), lambda: self.block(node.orelse, frame))


# What takes no longer than to decide whether it is to be computed, and cannot fail.
COMPARING = frozenset(
    "less less_equal greater greater_equal equal not_equal logical_and logical_or logical_not".split()
)


def flatten(block: list[ir.Stmt]) -> None:
    """Make an `and` or an `or` of comparisons, which ends a block as a branch, one operation without a branch."""
    last = block[-1]
    if last.__class__ is not ir.If or len(last.merges) != 1 or last.condition.__class__ is not Var:
        return
    ((var, a, b),) = last.merges
    # Where the left side decides, the value is the left side's.
    if b is False or b is last.condition:
        op, side, other, right = "logical_and", last.then, last.orelse, a
    elif a is True or a is last.condition:
        op, side, other, right = "logical_or", last.orelse, last.then, b
    else:
        return
    if var.kind != BOOL or (right.kind if right.__class__ is Var else kind_of(right)) != BOOL or other:
        return
    if all(s.__class__ is ir.Set and s.op in COMPARING for s in side):
        block[-1:] = [*side, ir.Set(var, op, (last.condition, right), STATE.site, None)]


def refuse_records(x: List, left: Any, right: Any) -> None:
    """Raise Alike where lists or tuples are appended to a list on one side of a branch only."""
    if left.__class__ is tuple and right.__class__ is tuple and len(left) != len(right):
        form = form_of_all(max(left, right, key=len))
        if form is not None:
            raise Alike(x, form, True)


class Merging:
    """The values after a branch: `merges` are those of its statement."""

    def __init__(
        self,
        machine: Control,
        condition: Sym,
        blocks: list[list[ir.Stmt]],
        heap: Heap,
        sides: list[dict[int, Contents]],
    ) -> None:
        self.machine = machine
        self.builder = machine.builder
        self.condition = condition
        self.blocks = blocks
        self.heap = heap
        # What each side has changed.
        self.sides = sides
        self.merges: list[tuple[Var, Any, Any]] = []
        # Lists that both sides made, by their pair: names of one list stay names of one.
        self.pairs: dict[int, tuple[Any, Any, Any]] = {}
        # The variable at hand, where it is one of the function that is running: no expression holds its value aside.
        self.place: tuple[int, Any] | None = None

    def merge(self, a: Any, b: Any, guarded: bool = False) -> Any:
        """The value after the branch of a variable that is `a` on one side and `b` on the other.

        A `guarded` value is read only where the side that set it was taken, so the other side may hold anything.
        """
        if a is b:
            return a
        if a is CONFLICT or b is CONFLICT:
            return CONFLICT
        if a is UNSET or b is UNSET:
            if not guarded:
                return UNSET
            given = b if a is UNSET else a
            if given.__class__ in (*NUMBERS, Sym):
                zero = ZEROS[kind_of(given)]
                a, b = (zero, b) if a is UNSET else (a, zero)
            elif given.__class__ is tuple:
                empty = (UNSET,) * len(given)
                a, b = (empty, b) if a is UNSET else (a, empty)
            elif given.__class__ is Lazy:
                return self.array(given.kind, given.shape, a, b)
            elif given.__class__ in (Pair, complex):
                nothing = Pair(self.builder, UNSET, UNSET)
                a, b = (nothing, b) if a is UNSET else (a, nothing)
            elif given.__class__ is List and self.held(given, int(a is UNSET)).__class__ is tuple:
                empty = (UNSET,) * len(self.held(given, int(a is UNSET)))
                a, b = (List(list(empty)), b) if a is UNSET else (a, List(list(empty)))
            else:
                return CONFLICT
        scalar = (*NUMBERS, Sym)
        if a.__class__ in (Pair, complex) and b.__class__ in (Pair, complex):
            a, b = pair_of(self.builder, a), pair_of(self.builder, b)
            re, im = self.merge(a.re, b.re, guarded), self.merge(a.im, b.im, guarded)
            return CONFLICT if re.__class__ is Unset or im.__class__ is Unset else Pair(self.builder, re, im)
        if a.__class__ in scalar and b.__class__ in scalar:
            return self.scalar(a, b)
        if a.__class__ is tuple and b.__class__ is tuple and len(a) == len(b):
            parts = tuple(self.merge(x, y, guarded) for x, y in zip(a, b))
            return CONFLICT if any(part.__class__ is Unset for part in parts) else parts
        if (
            a.__class__ is Lazy
            and b.__class__ is Lazy
            and a.shape == b.shape
            and (BOOL in (a.kind, b.kind)) <= (a.kind == b.kind)
        ):
            if a.kind != b.kind:
                raise Unsupported("a tensor of integers on one path, and of floats on another")
            return self.array(a.kind, a.shape, a, b)
        if a.__class__ is List and b.__class__ is List:
            return self.lists(a, b, guarded)
        if a.__class__ is dict and b.__class__ is dict:
            return self.dicts(a, b)
        if a.__class__ in FUNCTIONS and b.__class__ in FUNCTIONS:
            return a if equal(a, b) else Chosen(self.condition, a, b)
        if a.__class__ is str and a == b:
            return a
        return CONFLICT

    def remaining(self, a: Any, b: Any, gone: list[bool]) -> Any:
        """The value of a variable that is read only where the side that is not gone was taken."""
        found = self.merge(a, b, True)
        if found is not CONFLICT:
            return found
        return self.merge(UNSET, b, True) if gone[0] else self.merge(a, UNSET, True)

    def scalar(self, a: Any, b: Any) -> Any:
        builder = self.builder
        if a.__class__ in NUMBERS and a.__class__ is b.__class__ and str(a) == str(b):
            return a
        kinds = [kind_of(a), kind_of(b)]
        kind = join(kinds)
        if BOOL in kinds and kind != BOOL:
            return CONFLICT
        if a is True and b is False:
            return self.condition
        if a is False and b is True:
            return builder.emit("logical_not", (self.condition,), BOOL)
        var = Var(kind, "m")
        if kind == FLOAT:
            note_branch(builder, var, a, b)
            a, b = self.machine.within(self.blocks[0], a), self.machine.within(self.blocks[1], b)
        if kind == INT:
            (low, high), (lower, higher) = builder.interval(a), builder.interval(b)
            builder.ranges[var] = (min(low, lower), max(high, higher))
            if is_strong(builder, a) or is_strong(builder, b):
                builder.strong.add(var)
        self.merges.append((var, raw(a), raw(b)))
        return Sym(builder, var)

    def array(self, kind: str, shape: tuple[int, ...], a: Any, b: Any) -> Lazy:
        """An array that each side of the branch fills."""
        array = Array(kind, shape)
        self.builder.append(ir.Alloc(array, False))
        self.fill(array, a, b)
        return self.builder.stored(array)

    def fill(self, array: Array, a: Any, b: Any) -> None:
        for block, x in zip(self.blocks, (a, b)):
            if x.__class__ is Lazy:
                extra, _ = self.builder.nested(lambda x=x: self.builder.fill(array, x))  # type: ignore[misc]
                block.extend(extra)

    def held(self, x: List, side: int) -> Any:
        """The contents of a list as a side has left it."""
        changed = self.sides[side].get(id(x))
        return contents(x)[ITEMS] if changed is None else changed[ITEMS]

    def lists(self, a: List, b: List, guarded: bool) -> Any:
        """The list after the branch, where the sides leave different ones."""
        known = self.pairs.get(id(a)) or self.pairs.get(id(b))
        if known is not None:
            return known[2] if known[0] is a and known[1] is b else CONFLICT
        held = [self.held(x, side) for side, x in enumerate((a, b))]
        if guarded and any(item is UNSET for h in held if h.__class__ is tuple for item in h):
            items: Any = tuple(self.merge(x, y, True) for x, y in zip(*held))
            if any(item.__class__ is Unset for item in items):
                return CONFLICT
        else:
            items = self.items(*held)
        made = List([])
        if items.__class__ is Rows:
            made.items, made.array, made.length = None, items.array, items.length
        else:
            made.items, made.length = list(items), len(items)
        if any(id(x) in self.heap.objects for x in (a, b)) and not self.sole(a, b):
            # It stands for a list that has other names: a change of either would have to show in both.
            made.frozen = a.frozen = b.frozen = True
        made.frozen |= a.frozen or b.frozen
        self.pairs[id(a)] = self.pairs[id(b)] = (a, b, made)
        return made

    def dicts(self, a: dict[Any, Any], b: dict[Any, Any]) -> Any:
        """The dict after the branch, where the sides leave different ones."""
        known = self.pairs.get(id(a)) or self.pairs.get(id(b))
        if known is not None:
            return known[2] if known[0] is a and known[1] is b else CONFLICT
        held = [self.sides[side].get(id(x), x) for side, x in enumerate((a, b))]
        if list(held[0]) != list(held[1]):
            return CONFLICT
        made = {key: self.merge(value, held[1][key]) for key, value in held[0].items()}
        if any(value.__class__ is Unset for value in made.values()):
            return CONFLICT
        freeze = self.machine.freeze
        freeze(made)
        if any(id(x) in self.heap.objects for x in (a, b)):
            # As of lists: it stands for a dict that has other names.
            freeze(a)
            freeze(b)
        self.pairs[id(a)] = self.pairs[id(b)] = (a, b, made)
        return made

    def sole(self, a: List, b: List) -> bool:
        """Whether two lists that meet have no names but variables in which they meet, of the function that is running."""
        if self.place is None:
            return False
        before, frame = self.heap.before, self.place[0]
        left, right = ({**before, **side} for side in self.sides)
        places = {
            (frame, slot)
            for slot in {**left[frame], **right[frame]}
            if left[frame].get(slot) is a and right[frame].get(slot) is b
        }
        if left[frame].get(RESULT) is not right[frame].get(RESULT):
            places.add((frame, RESULT))  # which is one with the variable, or is no value
        return all(sole(places, x, [before, left, right]) for x in (a, b))

    def items(self, a: Any, b: Any) -> Any:
        """The contents of a list after the branch."""
        if a.__class__ is tuple and b.__class__ is tuple and len(a) == len(b):
            return tuple(self.merge(x, y) for x, y in zip(a, b))
        if a.__class__ is Rows and b.__class__ is Rows and a.array is b.array:
            return Rows(a.array, self.length(a.length, b.length))
        sides = [self.rows(x, block) for x, block in zip((a, b), self.blocks)]
        arrays = [x.array for x in sides if x.array is not None]
        shape, kind = arrays[0].shape[1:], join([x.kind for x in arrays])
        if any(x.shape[1:] != shape or (BOOL in (x.kind, kind) and x.kind != kind) for x in arrays):
            raise Unsupported("a list whose items are of different kinds or shapes, depending on data")
        array = Array(kind, (max(x.shape[0] for x in arrays), *shape), role="list")
        self.builder.append(ir.Alloc(array, False))
        stored = [x.stored for x in arrays]
        if kind == FLOAT and (INT in [x.kind for x in arrays] or any(x in self.builder.some_whole for x in stored)):
            self.builder.some_whole.add(array)
        self.fill(array, sides[0].array, sides[1].array)
        return Rows(self.builder.stored(array), self.length(sides[0].length, sides[1].length))

    def rows(self, held: Any, block: list[ir.Stmt]) -> Rows:
        """The contents of a list as an array, made at the end of a side."""
        if held.__class__ is Rows:
            return held
        if not held:
            return Rows(None, 0)
        if any(item.__class__ not in (*NUMBERS, Sym, Lazy) for item in held):
            raise Unsupported("a list of lists that grows by data")
        extra, array = self.builder.nested(lambda: rows_of_list(self.builder, list(held)))
        block.extend(extra)
        return Rows(array, len(held))

    def length(self, a: Any, b: Any) -> Any:
        offsets = self.machine.offsets
        here = [offsets.get(x.var) if x.__class__ is Sym else None for x in (a, b)]
        if here[0] is not None and here[0] == here[1]:
            # As long on both sides.
            base, more = here[0]
            return self.machine.longer(Sym(self.builder, base), more)
        return self.scalar(a, b)
