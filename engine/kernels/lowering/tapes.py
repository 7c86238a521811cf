"""GradientTape blocks: what the statements of a block computed, differentiated by source transformation.

A tape remembers where in the kernel its recording began and ended, and what it watches: a copy of each watched value,
with a variable or an array of its own. Asked for a derivative, it takes the statements between, as a call of `grad`
takes those of its function. The first derivative replaces the statements by themselves and their adjoint or tangents;
others, and those of a block that goes on, take a copy of the statements. Where a tape would answer None, or with a
notice that gives a reason, the tape tier answers.
"""

from __future__ import annotations

from ...core.operands import shape_text
from ...core.state import STATE
from .. import ir
from ..built import Noted
from ..ir import FLOAT, INT, Aliased, Unsupported, Var
from ..symbols.symbol import NUMBERS, Lazy, Sym, raw
from ..symbols.values import List, Recorder, Variable, flatten, plain, rebuild
from .differentiated import seed_array, seed_number, source_of
from .heap import references
from .tape_derivatives import Asked, operand

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .statements import Specialiser


def gradient_tape(machine: Specialiser, persistent: Any = False, watch_accessed_variables: Any = True) -> Tape:
    if persistent.__class__ is not bool or watch_accessed_variables.__class__ is not bool:
        raise Unsupported("a GradientTape with options that depend on data")
    return Tape(machine, persistent, watch_accessed_variables)


class Tape(Recorder):
    """A GradientTape of the program."""

    def __init__(self, machine: Specialiser, persistent: bool, automatic: bool) -> None:
        self.machine = machine
        self.builder = machine.builder
        self.persistent = persistent
        self.automatic = automatic
        self.used = False
        # The block it records in; statements that mark where recording began and ended.
        self.block: list[ir.Stmt] | None = None
        self.begin: ir.Stmt | None = None
        self.end: ir.Stmt | None = None
        # What was recorded, where a derivative has taken the place of it.
        self.record: list[ir.Stmt] | None = None
        self.watched: list[Any] = []
        # What each copy was made of: on a tape both names may stand for one tensor.
        self.originals: list[tuple[Any, Any]] = []
        # For each Variable what it held, and the copies of that.
        self.variables: dict[Variable, list[tuple[Any, Any]]] = {}

    # --- recording ----------------------------------------------------------------------------------------------------

    def mark(self) -> ir.Stmt:
        """A statement that says where. What is computed after it is not shared with what came before."""
        found = ir.Set(Var(INT, "mark"), "copy", (0,), None, None)
        self.builder.append(found)
        self.forget()
        return found

    def forget(self) -> None:
        for memo in self.builder.memos:
            memo.clear()

    def enter(self) -> None:
        if self.block is not None:
            raise Unsupported("a GradientTape that records twice")
        self.block = self.builder.block
        self.builder.derives = True
        self.begin = self.mark()
        active = self.machine.tapes
        for variable in self.machine.variables:
            if self.automatic and variable.trainable:
                self.follow(variable)
        active.append(self)

    def leave(self) -> None:
        if self in self.machine.tapes:
            self.machine.tapes.remove(self)
            if self.builder.block is self.block:
                self.end = self.mark()

    def follow(self, variable: Variable) -> Any:
        """The copy of what a Variable holds that this tape follows."""
        held = variable.value
        for tape in self.machine.tapes:
            for before, copy in tape.variables.get(variable, ()):
                if before is held:
                    self.variables.setdefault(variable, []).append((held, copy))
                    return copy
        if self.builder.block is not self.block:
            raise Unsupported("a Variable that a GradientTape meets first in a loop or branch of its block")
        copy = source_of(self.builder, held)
        self.variables.setdefault(variable, []).append((held, copy))
        return copy

    def accessed(self, variable: Variable, value: Any) -> Any:
        """What a read of a Variable gives while the tape records; `value` is what an outer tape has made of it."""
        known = self.variables.get(variable)
        if known is None and not (self.automatic and variable.trainable):
            return value
        for before, copy in known or ():
            if before is variable.value:
                return copy
        return self.follow(variable)

    def watch(self, x: Any) -> Any:
        """Follow a value or a structure of values: the structure with what stands for them from now on."""
        if self.block is None or self.builder.block is not self.block:
            raise Unsupported("'watch' in a loop or branch of the GradientTape's block, or outside of it")
        if x.__class__ is List and x.items is not None:
            x.items[:] = [self.watch(item) for item in x.items]
            return x
        if x.__class__ is tuple:
            return tuple(self.watch(item) for item in x)
        if x.__class__ is dict:
            for key in x:
                x[key] = self.watch(x[key])
            return x
        if x.__class__ is Variable:
            if x not in self.variables:
                self.follow(x)
            return x
        known = operand(x)
        folded = known is None or getattr(x, "known", None) is not None
        if folded and references(self.machine.frames, x) > 1:
            # It is computed where it is read, and another name of the same tensor would not be followed.
            raise Aliased("a constant that a GradientTape watches, and that goes by several names")
        self.forget()
        if known is None or not any(known in tape.watched for tape in self.machine.tapes):
            x = source_of(self.builder, x)
            if known is not None:
                self.originals.append((known, operand(x)))
            known = operand(x)
        self.watched.append(known)
        return x

    # --- derivatives --------------------------------------------------------------------------------------------------

    def claim(self, unconnected: Any) -> None:
        """Take the one derivative that the block may be asked for, unless it is persistent."""
        if unconnected not in ("none", "zero"):
            raise Unsupported("unconnected_gradients that are neither 'none' nor 'zero'")
        if self.used and not self.persistent:
            raise Unsupported("a GradientTape that is asked twice")
        self.used = True
        if not self.persistent:
            self.leave()
        if self.block is None or self.builder.block is not self.block:
            raise Unsupported(
                "a derivative that is asked for in another loop, branch or function than the GradientTape's block"
            )

    def gradient(
        self, target: Any, sources: Any, output_gradients: Any = None, unconnected_gradients: Any = "none"
    ) -> Any:
        self.claim(unconnected_gradients)
        targets = [self.target(t) for t in flatten(target)]
        weights = [None] * len(targets)
        if output_gradients is not None:
            # One tensor and a plain list: the list is the tensor's cotangent.
            several = target.__class__ in (List, tuple, dict)
            weights = flatten(output_gradients) if several else [plain(output_gradients)]
        if len(weights) != len(targets):
            raise Unsupported("output_gradients of another structure than the targets")
        builder = self.builder
        asked = Asked(self, sources, output_gradients is not None)

        def total() -> Any:
            found: Any = 0.0
            for t, weight in zip(targets, weights):
                found = builder.scalar_or_static("add", found, self.summed(t, weight))
            return found

        def summed() -> list[Any]:
            extra, y = builder.nested(total)
            return asked.handed_back(extra, y)

        found = asked.placed(summed)
        if output_gradients is None:
            for t in targets:
                if t.__class__ is Lazy:
                    message = f"the target has shape {shape_text(t.shape)}: its elements are summed"
                    builder.append(builder.watch.flag(Noted(message, STATE.site, True, "N0503")))
        return asked.structured(found)

    def target(self, x: Any) -> Any:
        x = x.read() if x.__class__ is Variable else x
        if x.__class__ is Lazy and not x.shape:
            x = x.element(())
        if operand(x) is None:
            raise Unsupported("the derivative of a target that the GradientTape does not follow")
        return x

    def summed(self, y: Any, weight: Any) -> Any:
        """The sum of a target's elements, each with its weight."""
        builder = self.builder

        def weighed(x: Any) -> Any:
            """A weight as a constant of this derivative."""
            var = Var(FLOAT)
            builder.append(ir.Set(var, "weight", (raw(x),), None, None))
            return Sym(builder, var)

        if y.__class__ is Sym:
            return (
                y
                if weight is None
                else builder.scalar_or_static("multiply", y, weighed(seed_number(builder, weight, y.var)))
            )
        if weight is None:
            return builder.total(y.shape, y.element)
        if weight.__class__ is not Lazy and weight.__class__ not in NUMBERS and weight.__class__ is not Sym:
            weight = builder.operand(plain(weight))
        weights = builder.stored(seed_array(builder, y.stored, weight))
        return builder.total(
            y.shape,
            lambda index: builder.scalar_or_static("multiply", y.element(index), weighed(weights.element(index))),
        )

    def jacobian(
        self, target: Any, sources: Any, unconnected_gradients: Any = "none", parallel_iterations: Any = None,
        experimental_use_pfor: Any = None,
    ) -> Any:  # fmt: skip
        self.claim(unconnected_gradients)
        parts = flatten(target)
        found = []
        for t in parts:
            y = self.target(t)
            asked = Asked(self, sources, False)
            if y.__class__ is Sym:
                blocks = asked.placed(lambda asked=asked, y=y: asked.handed_back([], y))  # type: ignore[misc]
            else:
                blocks = asked.placed(lambda asked=asked, y=y: asked.jacobian(y))  # type: ignore[misc]
            found.append(asked.structured(blocks))
        return rebuild(target, found) if target.__class__ in (List, tuple, dict) else found[0]
