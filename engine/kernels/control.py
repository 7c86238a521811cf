"""Control flow of the core program: blocks, branches whose condition is data, and loops that stay loops.

`break`, `continue` and `return` under such a branch become flags that guard what follows them. Branches and loop
bodies run on the frame itself, which closures see, and what they changed is taken from it afterwards.
"""

from __future__ import annotations

from ..core.state import STATE
from ..program import core as c
from . import ir
from .arrays import get
from .build import NUMBERS, Lazy, Sym, join, kind_of, raw
from .expressions import Expressions
from .ir import BOOL, FLOAT, INT, Array, Unsupported, Var
from .values import (
    BREAK,
    CONFLICT,
    CONTINUE,
    FLAGS,
    MAX_UNROLL,
    PARENT,
    RESULT,
    RETURN,
    UNSET,
    VALUE,
    Range,
    assigned,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .values import Frame

    Side = Callable[[], None]

ZEROS: dict[str, Any] = {FLOAT: 0.0, INT: 0, BOOL: False}


class LoopPlan:
    """What a loop carries, found by running its body: the kind of each carried variable, and what is given up."""

    __slots__ = ("dropped", "kinds")

    def __init__(self) -> None:
        self.kinds: dict[Any, str] = {}
        self.dropped: set[Any] = set()


class Control(Expressions):
    """The part of the specialiser that runs statements under control flow."""

    def statement(self, node: c.Stmt, frame: Frame) -> None:
        raise NotImplementedError

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
        if any(flag is True for flag in flags):
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
        before = dict(frame)
        sides: list[Frame] = []
        blocks: list[list[ir.Stmt]] = []
        self.dynamic += 1
        for run in (then, orelse):
            block, _ = builder.nested(lambda run=run: self.side(frame, run))  # type: ignore[misc]
            sides.append(dict(frame))
            blocks.append(block)
            frame.clear()
            frame.update(before)
        self.dynamic -= 1
        merges: list[tuple[Var, Any, Any]] = []
        for key in {**sides[0], **sides[1]}:
            a, b = sides[0].get(key, UNSET), sides[1].get(key, UNSET)
            if a is b:
                frame[key] = a
            elif guards is not None and key in guards and b is False:
                # Nothing was reached on the side where the flags were false, so the flag is what it was.
                frame[key] = before[key]
            else:
                frame[key] = self.merge(a, b, condition, blocks, merges, key == VALUE)
        builder.append(ir.If(condition.var, blocks[0], blocks[1], merges))
        self.finish_merges(frame, condition)

    def side(self, frame: Frame, run: Side) -> None:
        run()
        # What is not in memory yet must be computed where its parts are.
        for key in (RESULT, VALUE):
            frame[key] = self.builder.settle(frame.get(key, UNSET))

    def finish_merges(self, frame: Frame, condition: Sym) -> None:
        for key, value in frame.items():
            if value is NEGATED:
                frame[key] = self.builder.emit("logical_not", (condition,), BOOL)

    def merge(
        self,
        a: Any,
        b: Any,
        condition: Sym,
        blocks: list[list[ir.Stmt]],
        merges: list[tuple[Var, Any, Any]],
        guarded: bool,
    ) -> Any:
        """The value after a branch of a variable that is `a` on one side and `b` on the other.

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
                return self.merged_array(given.kind, given.shape, a, b, blocks)
            else:
                return CONFLICT
        scalar = (*NUMBERS, Sym)
        if a.__class__ in scalar and b.__class__ in scalar:
            if a.__class__ in NUMBERS and a.__class__ is b.__class__ and str(a) == str(b):
                return a
            kinds = [kind_of(a), kind_of(b)]
            kind = join(kinds)
            if BOOL in kinds and kind != BOOL:
                return CONFLICT if guarded else UNSET
            if a is True and b is False:
                return condition
            if a is False and b is True:
                return NEGATED
            if kind == FLOAT:
                a = self.within(blocks[0], a)
                b = self.within(blocks[1], b)
            var = Var(kind, "m")
            if kind == INT:
                (low, high), (lower, higher) = self.builder.interval(a), self.builder.interval(b)
                self.builder.ranges[var] = (min(low, lower), max(high, higher))
            merges.append((var, raw(a), raw(b)))
            return Sym(self.builder, var)
        if a.__class__ is tuple and b.__class__ is tuple and len(a) == len(b):
            parts = tuple(self.merge(x, y, condition, blocks, merges, guarded) for x, y in zip(a, b))
            return UNSET if any(part is UNSET or part is NEGATED for part in parts) else parts
        if a.__class__ is Lazy and b.__class__ is Lazy and a.shape == b.shape and a.kind == b.kind:
            return self.merged_array(a.kind, a.shape, a, b, blocks)
        return CONFLICT if guarded else UNSET

    def merged_array(self, kind: str, shape: tuple[int, ...], a: Any, b: Any, blocks: list[list[ir.Stmt]]) -> Lazy:
        """An array that each side of a branch fills."""
        builder = self.builder
        array = Array(kind, shape)
        builder.append(ir.Alloc(array, False))
        for block, x in zip(blocks, (a, b)):
            if x is not UNSET:
                extra, _ = builder.nested(lambda x=x: builder.fill(array, x))  # type: ignore[misc]
                block.extend(extra)
        return builder.stored(array)

    def within(self, block: list[ir.Stmt], x: Any) -> Any:
        """`x` as a float, converted at the end of its own block."""
        if x.__class__ is not Sym:
            return float(x)
        if x.kind == FLOAT:
            return x
        converted = Var(FLOAT)
        block.append(ir.Set(converted, "to_float", (x.var,), STATE.site, None))
        return Sym(self.builder, converted)

    def choice(self, condition: Sym, then: Callable[[], Any], orelse: Callable[[], Any]) -> Any:
        """A value that depends on a condition; each side is computed only when it is taken."""
        frame: Frame = {}

        def side(compute: Callable[[], Any]) -> None:
            frame["value"] = self.builder.settle(compute())

        self.branch(condition, frame, lambda: side(then), lambda: side(orelse))
        if frame["value"] is UNSET:
            raise Unsupported("a choice between values of different kinds")
        return frame["value"]

    def if_(self, node: c.If, frame: Frame) -> None:
        condition = self.truth(self.expression(node.test, frame))
        if condition.__class__ is bool:
            self.block(node.body if condition else node.orelse, frame)
            return
        self.branch(condition, frame, lambda: self.block(node.body, frame), lambda: self.block(node.orelse, frame))

    # --- loops ------------------------------------------------------------------------------------------------------

    def for_(self, node: c.For, frame: Frame) -> None:
        if node.orelse:
            raise Unsupported("'else' on a loop")
        items = self.expression(node.iterable, frame)
        if items.__class__ is Lazy:
            rows = self.builder.settle(items)
            if not rows.shape:
                raise Unsupported("a loop over a number")
            counter = Range(0, rows.shape[0], 1)
            self.loop(
                node.body, frame, counter, lambda i: self.put(node.target, get(self.builder, rows, i), frame), None
            )
        elif items.__class__ is Range:
            self.loop(node.body, frame, items, lambda i: self.put(node.target, i, frame), None)
        else:
            found = self.items(items)
            if len(found) > MAX_UNROLL:
                raise Unsupported("a long loop over a list")
            self.unrolled(node, found, frame)
            frame[BREAK] = frame[CONTINUE] = False

    def unrolled(self, node: c.For, items: list[Any], frame: Frame) -> None:
        """A loop over a list, iteration by iteration."""
        for k, item in enumerate(items):
            frame[CONTINUE] = False
            self.put(node.target, item, frame)
            self.block(node.body, frame)
            frame[CONTINUE] = False
            stopped = self.stopped(frame)
            if stopped is True:
                return
            if stopped is not False:
                rest = items[k + 1 :]
                if rest:
                    self.guarded(stopped, frame, lambda rest=rest: self.unrolled(node, rest, frame))  # type: ignore[misc]
                return

    def while_(self, node: c.While, frame: Frame) -> None:
        if node.orelse:
            raise Unsupported("'else' on a loop")
        self.loop(node.body, frame, None, None, node.test)

    def loop(self, body: list[c.Stmt], frame: Frame, counter: Range | None, head: Any, test: c.Expr | None) -> None:
        plan = LoopPlan()
        before = dict(frame)
        changing = assigned(body)
        for key in sorted(changing):
            value = before.get(key, UNSET)
            if value.__class__ in (*NUMBERS, Sym):
                plan.kinds[key] = kind_of(value)
        if before[RESULT].__class__ in (*NUMBERS, Sym):
            plan.kinds[RESULT] = kind_of(before[RESULT])
        arrays: list[Any] = []
        for key in sorted(changing):
            value = before.get(key, UNSET)
            if value.__class__ is Lazy and not value.volatile and value.kind == FLOAT:
                before[key] = frame[key] = self.builder.carried(value)
                arrays.append(key)
        for _ in range(12):
            statement, after = self.attempt(body, frame, counter, head, test, plan, before, changing)
            frame.clear()
            frame.update(before)
            if statement is not None:
                break
        else:
            raise Unsupported("a loop whose values do not settle on kinds")
        self.builder.append(statement)
        frame.update(after)
        for key in arrays:
            frame[key] = self.builder.stored(before[key].stored)
        frame[BREAK] = frame[CONTINUE] = False

    def attempt(
        self, body: list[c.Stmt], frame: Frame, counter: Range | None, head: Any, test: c.Expr | None, plan: LoopPlan,
        before: Frame, changing: set[Any],
    ) -> tuple[Any, Frame]:  # fmt: skip
        """Run the body once on symbols: the loop and what it leaves, or None if the plan had to be changed."""
        builder = self.builder
        phis = {key: Var(kind, "l") for key, kind in plan.kinds.items()}
        for key, phi in phis.items():
            frame[key] = Sym(builder, phi)
        frame[BREAK] = frame[CONTINUE] = False
        if RETURN in phis:
            frame[RETURN] = False  # an iteration begins only where nothing has returned
        index = None if counter is None else self.counter_variable(counter)
        self.dynamic += 1
        test_block: list[ir.Stmt] | None = None
        condition: Any = None
        if test is not None:
            test_block, condition = builder.nested(lambda: self.truth(self.expression(test, frame)))

        def run() -> None:
            if head is not None:
                head(Sym(builder, index))  # type: ignore[arg-type]
            self.side(frame, lambda: self.block(body, frame))

        block, _ = builder.nested(run)
        self.dynamic -= 1
        stop_when: Any = None
        for flag in (BREAK, RETURN):
            value = frame[flag]
            if value is not False and value is not before[flag]:
                stop_when = value if stop_when is None else self.either(block, stop_when, value)
        carried: list[tuple[Var, Any, Any]] = []
        after: Frame = {}
        settled = True
        for key in dict.fromkeys([*phis, *frame]):
            if key in (BREAK, CONTINUE, PARENT):
                continue
            old, new = before.get(key, UNSET), frame.get(key, UNSET)
            if key in phis:
                if new.__class__ not in (*NUMBERS, Sym):
                    if key in changing:
                        raise Unsupported("a variable that is a number in one iteration and something else in the next")
                    del plan.kinds[key]
                    plan.dropped.add(key)
                    settled = False
                    continue
                kinds = [plan.kinds[key], kind_of(new)]
                kind = join(kinds)
                if BOOL in kinds and kind != BOOL:
                    raise Unsupported("a variable that is a bool in one iteration and a number in the next")
                if kind != plan.kinds[key]:
                    plan.kinds[key] = kind
                    settled = False
                    continue
                initial: Any = ZEROS[kind] if old is UNSET else old
                if kind == FLOAT:
                    initial, new = builder.to_float(initial), self.within(block, new)
                carried.append((phis[key], raw(initial), raw(new)))
                after[key] = Sym(builder, phis[key])
            elif new is not old:
                if key == RETURN or (key == VALUE and new.__class__ in (*NUMBERS, Sym)):
                    # Nothing has returned before the loop: the value starts as a dummy that the flag guards.
                    plan.kinds[key] = BOOL if key == RETURN else kind_of(new)
                    settled = False
                elif key == VALUE:
                    raise Unsupported("a tensor returned from inside a loop")
                elif old is not UNSET and key in changing:
                    raise Unsupported("a list or tensor that changes from iteration to iteration")
                elif (
                    new.__class__ in (*NUMBERS, Sym) and counter is not None and counter.nonempty
                    and key not in plan.dropped and (old is UNSET or key == RESULT)
                ):  # fmt: skip
                    # First assigned in the body, which runs: carried from a dummy, so that the last one outlives the loop.
                    phi = Var(kind_of(new), "l")
                    carried.append((phi, ZEROS[phi.kind], raw(new)))
                    after[key] = Sym(builder, phi)
                else:
                    after[key] = UNSET
        if not settled:
            return None, after
        for array in changed_in_place(block):
            # How long the log of an array is at the head of each iteration.
            phi, start, end = Var(INT, "l"), Var(INT), Var(INT)
            builder.append(ir.Mark(start, array))
            block.append(ir.Mark(end, array))
            carried.append((phi, start, end))
        bounds = (0, 0, 1) if counter is None else (counter.start, counter.stop, counter.step)
        statement = ir.Loop(
            index,
            *map(raw, bounds),
            test_block,
            raw(condition),
            carried,
            block,
            raw(stop_when),
            {},
            Var(INT, "t"),
            True,
        )
        return statement, after

    def counter_variable(self, counter: Range) -> Var:
        index = Var(INT, "i")
        (first, last), (low, high) = self.builder.interval(counter.start), self.builder.interval(counter.stop)
        bounds = (first, max(high - 1, first)) if counter.step > 0 else (min(low + 1, last), last)
        self.builder.ranges[index] = bounds
        return index

    def either(self, block: list[ir.Stmt], a: Any, b: Any) -> Any:
        """`a or b`, at the end of a block."""
        if a is True or b is True:
            return True
        var = Var(BOOL)
        block.append(ir.Set(var, "logical_or", (raw(a), raw(b)), STATE.site, None))
        return Sym(self.builder, var)

    def put(self, target: c.Target, value: Any, frame: Frame) -> None:
        raise NotImplementedError


def changed_in_place(block: list[ir.Stmt]) -> list[Array]:
    """The arrays from outside a block that it changes."""
    made: set[Array] = set()
    found: dict[Array, None] = {}

    def walk(block: list[ir.Stmt]) -> None:
        for s in block:
            if s.__class__ is ir.Alloc:
                made.add(s.array)
            elif s.__class__ is ir.Keep:
                found[s.array] = None
            for name in ("test", "body", "then", "orelse"):
                walk(getattr(s, name, None) or [])

    walk(block)
    return [array for array in found if array not in made]


class Negated:
    """Stands for the negation of the condition while the sides of a branch are merged."""


NEGATED = Negated()
