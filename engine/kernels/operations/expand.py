"""From the rows of a program and its derivatives to those that code is generated for (those with `code`, and element-wise rows)."""

from __future__ import annotations

from ...core.state import STATE
from ...core.tensor import OPERATORS
from ..builder import Builder
from ..ir import Check, Flag, Get, If, Loop, Put, Unsupported, Var, blocks, defined, inside, operands
from ..replay import Replay
from ..symbols import frozen
from .shapes import SHAPES, broadcast
from .vocabulary import Vocabulary

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from ...ops.operation import Operation
    from ..ir import Block, Kernel

    Shape = tuple[int, ...]


class Expansion(Builder):
    """A builder that puts other rows in the place of those that are not primitive."""

    def __init__(self) -> None:
        super().__init__()
        self.vocabulary = Vocabulary(self)

    def emit(
        self, op: Operation, inputs: tuple[Any, ...], attributes: dict[str, Any], kinds: list[str], shapes: list[tuple[int, ...]],
        floor: int = 0,
    ) -> tuple[Any, ...]:  # fmt: skip
        macro: Any = Vocabulary.power if op is OPERATORS.power else op.kernel
        if macro is None or macro.__class__ is str:
            return self.plain(op, inputs, attributes, kinds, shapes)
        key = ("expanded", op.name, *[x if x.__class__ is Var else repr(x) for x in inputs], frozen(attributes), *kinds)
        for scope in reversed(self.scopes[floor:]):
            if key in scope.known:
                return scope.known[key]  # type: ignore[no-any-return]
        results = macro(self.vocabulary, *[self.sym(x) for x in inputs], **attributes)
        if results is NotImplemented:
            return self.plain(op, inputs, attributes, kinds, shapes)
        parts = results if results.__class__ is tuple else (results,)
        found = tuple([self.operand(x, kind) for x, kind in zip(parts, kinds * len(parts))])
        assert [getattr(x, "shape", ()) for x in found] == list(shapes), op
        self.scopes[-1].known[key] = found
        return found

    def plain(self, op: Any, inputs: Any, attributes: Any, kinds: Any, shapes: Any) -> tuple[Any, ...]:
        """The row itself."""
        return super().emit(op, inputs, attributes, kinds, shapes)


class Expanding(Replay):
    """Appends the statements of a kernel to an expansion."""

    builder: Expansion

    def loop(self, stmt: Loop) -> None:
        """A loop does not carry what stays as it is."""
        kept = []
        for phi, initial, after, out in stmt.carried:
            if after is phi or (after is initial if after.__class__ is Var else repr(after) == repr(initial)):
                self.names[phi] = self.names[out] = self.at(initial)
            else:
                kept.append((phi, initial, after, out))
        stmt.carried = kept
        super().loop(stmt)


def expand(kernel: Kernel) -> None:
    """Leave only primitive rows in a kernel."""
    builder = Expansion()
    replay = Expanding(builder)
    replay.repeats_checks = True
    replay.block(kernel.body)
    kernel.body = builder.preamble + builder.block
    kernel.results = [replay.at(x) for x in kernel.results]


def result_shapes(op: Operation, operands: Sequence[Any], attributes: dict[str, Any]) -> list[Shape]:
    """The shapes of a row's results. Raises Unsupported for a row that kernels do not take, and for operands that do not fit."""
    shapes = [getattr(x, "shape", ()) for x in operands]
    rule = SHAPES.get(op.name)
    try:
        if rule is None and op.kernel.__class__ is str:
            return [broadcast(*shapes) if any(shapes) else ()]
        found: Any = expanded(op, operands, attributes) if rule is None else rule(*shapes, **attributes)
    except (IndexError, TypeError, ValueError):
        raise Unsupported(f"operands of {op.name} that do not fit", STATE.site) from None
    return found if found.__class__ is list else [found]


def expanded(op: Operation, operands: Sequence[Any], attributes: dict[str, Any]) -> list[Shape]:
    """The shapes that the expansion of a row gives, which is made on the side."""
    builder = Expansion()
    if not callable(op.kernel):
        raise Unsupported(f"the operation {op.name.removesuffix('_along')}", STATE.site)
    try:
        found = op.kernel(builder.vocabulary, *[builder.sym(x) for x in operands], **attributes)
    except AttributeError:
        raise Unsupported(f"the operation {op.name}", STATE.site) from None
    return [getattr(x, "shape", ()) for x in (found if found.__class__ is tuple else (found,))]


# --- dead code: what no result, check, flag or other effect needs goes -----------------------------------------------------


def dead_code(kernel: Kernel) -> None:
    """Remove what is not needed from a kernel."""
    needed: set[Any] = set(kernel.results)
    size = 0
    while size < len(needed):  # what a loop hands to its next iteration may need what was passed already
        size = len(needed)
        mark(kernel.body, needed)
    kernel.body = swept(kernel.body, needed)


def mark(block: Block, needed: set[Any]) -> bool:
    """Add the statements of a block that are needed, and what they read, to the variables, stacks and statements that are
    `needed`; whether there are any."""
    found = False
    for stmt in reversed(block):
        fields: Any = stmt
        if stmt.__class__ is Loop:
            for phi, initial, after, out in fields.carried:
                if phi in needed or out in needed:
                    needed.update((phi, initial, after, out))
        elif stmt.__class__ is If:
            for out, a, b in fields.outs:
                if out in needed:
                    needed.update((a, b))
        within = [mark(inner, needed) for inner in reversed(blocks(stmt))]
        effect = stmt.__class__ in (Check, Flag) or (stmt.__class__ is Put and fields.stack in needed)
        if effect or any(within) or not needed.isdisjoint((*defined(stmt), *inside(stmt))):
            found = True
            needed.add(stmt)
            if stmt.__class__ is Loop:
                needed.update((fields.start, fields.stop, fields.condition, fields.stop_when))
            else:
                needed.update(operands(stmt))
            if stmt.__class__ is Get:
                needed.add(fields.stack)
    return found


def swept(block: Block, needed: set[Any]) -> Block:
    kept: Block = [stmt for stmt in block if stmt in needed]
    for stmt in kept:
        fields: Any = stmt
        if stmt.__class__ is If:
            fields.then, fields.orelse = swept(fields.then, needed), swept(fields.orelse, needed)
            fields.outs = [entry for entry in fields.outs if entry[0] in needed]
        elif stmt.__class__ is Loop:
            fields.test, fields.body = swept(fields.test, needed), swept(fields.body, needed)
            fields.carried = [entry for entry in fields.carried if entry[0] in needed]
            fields.stacks = [stack for stack in fields.stacks if stack in needed]
    return kept
