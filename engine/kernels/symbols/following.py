"""Which inputs a tape would say that a value depends on, noted while a program is specialised.

The statements of a kernel tell what it computes; a tape's answer also rests on what its rows are given. A row's result
depends on all its operands, whatever its elements are made of; a comparison ends a path at a place that can be told.
These statements stand beside those that compute, in a kernel that is made to find such answers (connection.py).
"""

from __future__ import annotations

from ...core.state import STATE
from ...ops.structure import as_dtype
from .. import ir
from ..ir import BOOL, FLOAT, INT, Unsupported, Var
from .pairs import Pair
from .symbol import Lazy, Sym, raw
from .values import Selected

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from ...core.operation import Operation
    from ...core.state import Site
    from .build import Builder

COMPARISONS = frozenset("less less_equal greater greater_equal equal not_equal".split())
CHOICES = ("where", "tf.where", "where_select")
# Under this reason a path ends in a way that is not followed.
UNKNOWN = ""
COUNTED = "a place where it counts as an integer"


class Linked(ir.Stmt):
    """What a row of the tape gives, in variables and arrays, of its operands; it `carries` derivatives or does not."""

    __slots__ = ("carries", "operands", "results")
    results: list[Any]
    operands: list[Any]
    carries: bool

    def __init__(self, results: list[Any], operands: list[Any], carries: bool) -> None:
        self.results = results
        self.operands = operands
        self.carries = carries


class Ended(ir.Stmt):
    """Paths through `operands` end here, for a reason."""

    __slots__ = ("operands", "reason", "site")
    operands: list[Any]
    reason: str
    site: Site

    def __init__(self, operands: list[Any], reason: str, site: Site) -> None:
        self.operands = operands
        self.reason = reason
        self.site = site


class Renewed(ir.Stmt):
    """All elements of an array are written anew, from here on."""

    __slots__ = ("array",)
    array: ir.Array

    def __init__(self, array: ir.Array) -> None:
        self.array = array


class Follower:
    """Notes what rows are given, for a builder. `listed` are the arrays whose elements are values each of its own."""

    def __init__(self, builder: Builder) -> None:
        self.builder = builder
        self.listed: set[ir.Array] = set()
        # Whether a row is being computed, whose own steps are no rows of the tape.
        self.inside = False
        # Of how many comparisons the chain consists that is being evaluated; 0 outside of any.
        self.links = 0

    def aside(self, run: Callable[[], Any]) -> Any:
        """What `run` gives, as a part of a row."""
        outer, self.inside = self.inside, True
        try:
            return run()
        finally:
            self.inside = outer

    def apply(self, op: Operation, inputs: tuple[Any, ...], run: Callable[[], Any], dtype: Any) -> Any:
        """What `run` gives for a row, which has been asked for a `dtype`, or for none."""
        if op.function is not None and not self.builder.computed_whole(op, inputs, dtype):
            return run()  # the rows that it is made of, as on the tape
        inputs, aside = taking_part(op, inputs)
        self.end(list(self.operands(aside)), UNKNOWN)
        operands = list(self.operands(inputs))
        if op.function is not None or op.derivative == "composite":
            self.end(operands, UNKNOWN)
            return self.row(operands, True, run)
        if op.name in COMPARISONS and self.links:
            found = self.aside(lambda: self.builder.settle(run()))
            self.end(operands, op.name)
            return found
        if op.derivative == "none":
            found = self.row(operands, False, run)
        else:
            found = self.row(operands, True, run)
        kind = getattr(found, "kind", None)
        if op.derivative == "none" or kind in (INT, BOOL):
            self.end(operands, description(op, kind, dtype))
        return found

    def row(self, operands: list[Any], carries: bool, run: Callable[[], Any]) -> Any:
        """What `run` gives, as the results of one row."""
        results: list[Any] = []
        vars = {x for x in operands if x.__class__ is Var}

        def held(x: Any) -> Any:
            if x.__class__ in (list, tuple):
                return x.__class__([held(part) for part in x])
            if x.__class__ is Pair:
                return Pair(self.builder, held(x.re), held(x.im))
            if x.__class__ is Selected:
                return Selected(held(x.rows), x.keep, x.key, x.places, x.bounds)
            if x.__class__ is Lazy and x.kind == FLOAT:
                if not operands and carries:
                    return x
                found = self.builder.materialised(x)
                results.append(found.stored)
                return found
            if x.__class__ is Lazy and operands and x.stored is None and not getattr(x.element, "view", False):
                return self.builder.materialised(x)  # here, where it is a step of this row
            if x.__class__ is float and operands and carries:
                return copy(x)
            if x.__class__ is Sym and x.kind == FLOAT:
                if x.var in vars and (len(operands) > 1 or not carries):
                    return copy(x)
                results.append(x.var)
            return x

        def copy(x: Any) -> Sym:
            builder, var = self.builder, Var(FLOAT)
            builder.append(ir.Set(var, "copy", (raw(x),), STATE.site, None))
            if x.__class__ is Sym and x.var in builder.doubtful:
                builder.doubtful.add(var)
            if x.__class__ is Sym and x.var in builder.widened:
                builder.widened[var] = builder.widened[x.var]
            results.append(var)
            return Sym(builder, var)

        found = self.aside(lambda: held(run()))
        if operands or not carries:
            self.builder.append(Linked(results, operands, carries))
        return found

    def operands(self, x: Any) -> Iterator[Any]:
        """The floats among operands, as variables and arrays."""
        if x.__class__ in (list, tuple):
            for part in x:
                yield from self.operands(part)
        elif x.__class__ is Pair:
            yield from self.operands((x.re, x.im))
        elif x.__class__ is Sym and x.kind == FLOAT:
            yield x.var
        elif x.__class__ is Lazy and x.kind == FLOAT and x.known is None:
            if x.stored is None:
                x = self.aside(lambda: self.builder.materialised(x))
            yield x.stored

    def end(self, operands: list[Any], reason: str) -> None:
        """Note that paths end here."""
        if operands:
            self.builder.append(Ended(operands, reason, STATE.site))

    def link(self, results: list[Any], x: Any) -> None:
        """Note that a tape follows results where it follows `x`."""
        if not self.inside:
            self.builder.append(Linked(results, list(self.operands(x)), True))

    def counted(self, x: Var) -> None:
        """Note that a float counts as an integer here, which may be known while the program is specialised."""
        self.end([x], COUNTED)

    def seen(self, s: ir.Stmt) -> None:
        """Look at a statement that is appended outside of any row."""
        if s.__class__ is not ir.Set or s.var.kind == FLOAT:
            return
        operands = [x for x in s.args if x.__class__ is Var and x.kind == FLOAT]
        if operands:
            counts = s.op == "to_int" and operands[0] in self.builder.inputs
            self.end(operands, COUNTED if counts else UNKNOWN)


def taking_part(op: Operation, inputs: tuple[Any, ...]) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """The operands that a row's result may depend on, and those that carry no derivative: a condition, a count."""
    if op.name in CHOICES:
        return inputs[1:], inputs[:1]
    if op.derivative != "partials" or None not in op.partials or op.transpose is not None:
        return inputs, ()
    carrying = tuple(x for x, partial in zip(inputs, op.partials) if partial is not None)
    return carrying, tuple(x for x, partial in zip(inputs, op.partials) if partial is None)


def description(op: Operation, kind: Any, dtype: Any) -> str:
    """What a tape says of a row that ends paths."""
    if op.name == "stop_gradient":
        return "stop_gradient"
    if op.name == "cast":
        return f"the cast to {as_dtype(dtype).name}" if kind in (INT, BOOL) else UNKNOWN
    told = op.derivative == "none" and op.reason and op.name not in COMPARISONS
    return f"{op.name} ({op.reason})" if told else op.name


def refuse(builder: Builder, what: str) -> None:
    """What is not followed, where it is to be. Raises Unsupported."""
    if builder.follower is not None:
        raise Unsupported(f"{what} on the way from an input that may not reach the result")
