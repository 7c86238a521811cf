"""Regions: what a row computes in statements of its own, with the row's rule for the adjoint."""

from __future__ import annotations

from ...core.dtypes import INT64
from ...core.state import STATE
from ...ops.registry import ROWS
from .. import ir
from ..ir import BOOL, FLOAT, Stmt, Unsupported, Var
from ..passes.statements import everything, with_blocks
from .build import Builder
from .pairs import Pair, by_parts, has_complex, pair_of, paired
from .strength import claim
from .symbol import NUMBERS, Lazy, Sym, raw

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ...core.operation import Operation
    from ..operations.vocabulary import Vocabulary

# The rows whose kernels hold as they are for the adjoint: what they are linear in, it takes apart itself.
TRANSPARENT = ("linear", "partials", "composite")
# Linear rows that a library computes, and one that is its own transpose.
OPAQUE = ("fsum", "share_ties", "linspace_points")
# A row without singular points whose statements have other derivatives than its rule where numbers are infinite.
INFINITE = ("cumlogsumexp_along",)
# Rows whose statements look for the largest element, and whose rules have no singular point where several are.
COMPARING = ("logsumexp", "softmax", "log_softmax", "cumlogsumexp_along", "power_norm")


def computed(k: Vocabulary, op: Operation, inputs: tuple[Any, ...], attributes: dict[str, Any]) -> Any:
    """What a row's own kernel gives for its inputs, within a region where the row has a rule of its own."""
    kernel, builder = op.kernel, k.builder
    assert callable(kernel)
    operands = tuple(operand(builder, x) for x in inputs)
    if "b" not in op.accepts and all(is_truth(x) for x in operands[op.skip :]):
        raise Unsupported(f"{op.name} of truth values, which is an error if it is reached")
    if any(x.__class__ is Pair for x in operands):
        operands = tuple(pair_of(builder, x) for x in operands)
    elif op.dtype == "float" or (op.dtype.__class__ is not str and op.derivative == "rule"):
        operands = tuple(floats(builder, x) for x in operands)
    if op.derivative in TRANSPARENT and op.name not in OPAQUE:
        return outcome(kernel(k, *operands, **attributes))
    operands = tuple(in_memory(builder, x) for x in operands)
    body, found = builder.nested(lambda: results(builder, kernel(k, *operands, **attributes)))
    given = found if found.__class__ is tuple else (found,)
    complex_results, complex_operands = (tuple(x.__class__ is Pair for x in each) for each in (given, operands))
    pairs = (complex_results, complex_operands) if any(complex_results + complex_operands) else None
    parts, operands = unpaired(given), unpaired(operands)
    if pairs is not None or found.__class__ is tuple:
        parts = tuple(builder.stored(x.stored) if x.__class__ is Lazy else x for x in parts)  # type: ignore[arg-type]
        given = parts if pairs is None else tuple(paired(parts, pairs[0], builder))
        found = given if found.__class__ is tuple else given[0]
    made = {x.stored for x in parts if x.__class__ is Lazy}
    for s in [s for s in body if s.__class__ is ir.Alloc and s.array in made]:
        body.remove(s)
        builder.append(s)
    if op.dtype == "int" or "output_type" in attributes:
        from ...ops.structure import as_dtype

        chosen = attributes.get("output_type")
        claim(builder, INT64 if chosen is None else as_dtype(chosen))
        builder.strong.update(map(held, parts))
    results_held, operands_held = list(map(held, parts)), tuple(map(held, operands))
    builder.append(ir.Region(op.name, results_held, operands_held, attributes, body, STATE.site, pairs))
    return found


def is_truth(x: Any) -> bool:
    return x.__class__ is bool or (x.__class__ in (Sym, Lazy) and x.kind == BOOL)


def outcome(found: Any) -> Any:
    """A result of rank 0 as its element."""
    return found.element(()) if found.__class__ is Lazy and found.shape == () else found


def operand(builder: Builder, x: Any) -> Any:
    if x.__class__ in (Sym, Lazy, Pair) or x.__class__ in NUMBERS:
        return x
    return pair_of(builder, x) if has_complex(x) else builder.operand(x)


def unpaired(values: tuple[Any, ...]) -> tuple[Any, ...]:
    """Values with both parts of each pair side by side."""
    return tuple(part for x in values for part in ((x.re, x.im) if x.__class__ is Pair else (x,)))


def floats(builder: Builder, x: Any) -> Any:
    """An operand with integers and truth values as floats."""
    if x.__class__ is not Lazy:
        return builder.to_float(x)
    return x if x.kind == FLOAT else Lazy(builder, FLOAT, x.shape, lambda index: builder.to_float(x.element(index)))


def in_memory(builder: Builder, x: Any) -> Any:
    """An operand that the adjoint can name: an array of its own, a variable or a number."""
    if x.__class__ is Pair:
        return by_parts(x, lambda part: in_memory(builder, part))
    if x.__class__ is not Lazy:
        return x
    if x.shape == ():
        return x.element(())
    return x if x.stored is not None and not x.volatile else builder.materialised(x)


def held(x: Any) -> Any:
    """An operand or result of a region as the IR holds it."""
    return x.stored if x.__class__ is Lazy else raw(x)


def results(builder: Builder, found: Any) -> Any:
    """What a kernel gave, in memory or in a variable that is set here."""
    if found.__class__ is tuple:
        return tuple(results(builder, x) for x in found)
    if found.__class__ is Pair:
        return Pair(builder, results(builder, found.re), results(builder, found.im))
    if found.__class__ is Lazy:
        if found.shape == ():
            return results(builder, found.element(()))
        made = any(s.__class__ is ir.Alloc and s.array is found.stored for s in builder.block)
        return found if made else builder.materialised(found)
    var = Var(FLOAT if found.__class__ is float else found.kind if found.__class__ is Sym else ir.INT)
    builder.append(ir.Set(var, "copy", (raw(found),), None, None))
    return Sym(builder, var)


def dissolved(block: list[Stmt]) -> list[Stmt]:
    """A block with its regions replaced by their statements."""
    return without(block, lambda s: True)


def for_tangents(block: list[Stmt]) -> list[Stmt]:
    """A block with those regions replaced by their statements that forward mode can follow so: not the rows on complex
    numbers whose formulas part, on an axis or where numbers are equal, and have no derivative there, and not those whose
    tangents are what their rules say."""
    return without(block, lambda s: not moved_by_rule(s) and not (s.pairs is not None and by_partials(s)))


def by_partials(s: ir.Region) -> bool:
    return s.row in ROWS and ROWS[s.row].derivative == "partials"


def moved_by_rule(s: ir.Region) -> bool:
    """Whether the tangents of a region's results come from the row's rule, because its statements choose otherwise among
    elements that are tied."""
    return chooses(s) and s.pairs is None and s.row in ROWS and (bool(ROWS[s.row].singular) or s.row in INFINITE)


def without(block: list[Stmt], unwanted: Callable[[ir.Region], bool]) -> list[Stmt]:
    found: list[Stmt] = []
    for s in block:
        if s.__class__ is ir.Region and unwanted(s):
            found.extend(without(s.body, unwanted))
        elif s.__class__ is ir.Region:
            found.append(s)
        else:
            found.append(with_blocks(s, lambda inner: without(inner, unwanted)))
    return found


def ruled(block: list[Stmt], chosen: bool = False) -> bool:
    """Whether some row in a block has a derivative that its statements need not have: a rule of its own.

    With `chosen`, rows whose statements choose among elements are asked for, not routines of linear algebra.
    """
    return any(s.__class__ is ir.Region and (chooses(s) if chosen else has_rule(s)) for s in everything(block))


def left_to_statements(block: list[Stmt]) -> bool:
    """Whether statements of a row that choose among elements, beside a rule of its own, give its tangents all the same."""
    return any(s.__class__ is ir.Region and chooses(s) and not moved_by_rule(s) for s in everything(block))


def has_rule(s: ir.Region) -> bool:
    """Whether a region's row has a rule of its own."""
    return s.row not in ROWS or ROWS[s.row].derivative == "rule"


def chooses(s: ir.Region) -> bool:
    """Whether a region's row has a rule of its own, beside which its statements choose among elements."""
    return has_rule(s) and not any(inner.__class__ is ir.Routine for inner in everything(s.body))


__all__ = ["chooses", "computed", "dissolved", "ruled"]
