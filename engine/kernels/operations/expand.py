"""From the rows of a program and its derivatives to those that code is generated for (those with `code`, and element-wise rows)."""

from __future__ import annotations

from ...core.state import STATE
from ...core.tensor import OPERATORS
from ..builder import Builder
from ..ir import INT, Loop, Unsupported, Var, with_index
from ..replay import Replay
from ..symbols import frozen
from .shapes import SHAPES, broadcast
from .vocabulary import Vocabulary

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from ...core.operation import Operation
    from ..ir import Apply, Kernel

    Shape = tuple[int, ...]

# Rows that may need no statement once it does not matter on which sources a value depends.
AGAIN = frozenset(
    """add subtract multiply strong_multiply logical_and logical_or reshape transpose broadcast_to
    sum_to strong_matmul index index_update index_scatter""".split()
)


class Expansion(Builder):
    """A builder that puts other rows in the place of those that are not primitive."""

    keeps_paths = False

    def __init__(self) -> None:
        super().__init__()
        self.vocabulary = Vocabulary(self)
        # Of arrays that are zero but for a part: the part and its index.
        self.scattered: dict[Var, tuple[Any, Any]] = {}

    def emit(
        self, op: Operation, inputs: tuple[Any, ...], attributes: dict[str, Any], kinds: list[str], shapes: list[tuple[int, ...]],
        floor: int = 0,
    ) -> tuple[Any, ...]:  # fmt: skip
        macro: Any = Vocabulary.power if op is OPERATORS.power else op.kernel
        if macro is None or macro.__class__ is str:
            return self.added(op, inputs, kinds, shapes) or self.plain(op, inputs, attributes, kinds, shapes)
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

    def added(self, op: Operation, inputs: tuple[Any, ...], kinds: list[str], shapes: list[tuple[int, ...]]) -> Any:
        """Adding an array that is zero but for a part is adding that part."""
        if op is OPERATORS.add:
            for x, y in (inputs, inputs[::-1]):
                if y in self.scattered and getattr(x, "shape", ()) == shapes[0]:
                    part, index = self.scattered[y]
                    return self.emit(OPERATORS.index_add, (x, self.operand(part)), {"index": index}, kinds, shapes)
        return None


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
        if stmt.index is not None and stmt.stop_when is None and abs(stmt.step) == 1:
            ends = (self.at(stmt.start), self.at(stmt.stop))[:: stmt.step]
            low, high = [self.builder.sym(x) for x in ends]
            # Whether the trips are counted or computed, they are read after the loop.
            self.names[stmt.trips] = self.builder.operand(OPERATORS.maximum(OPERATORS.subtract(high, low), 0), INT)

    def apply(self, stmt: Apply) -> None:
        if stmt.row.name not in AGAIN and any(self.at(x).__class__ is Var for x in stmt.inputs):
            super().apply(stmt)
            return
        builder = self.builder
        saved, STATE.site = STATE.site, stmt.site or STATE.site
        try:
            inputs = tuple([builder.sym(self.at(x)) for x in stmt.inputs])
            found = builder.apply(stmt.row, inputs, with_index(stmt.attributes, self.at))
            parts = found if found.__class__ is tuple else (found,)
            self.names.update((out, builder.operand(x, out.kind)) for out, x in zip(stmt.outs, parts))
        finally:
            STATE.site = saved


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
