"""Cotangents times partials, and the partials that a policy chooses: what the reverse sweep and tangents are made of."""

from __future__ import annotations

from ...core.state import STATE
from ...ops.registry import ROWS
from .. import ir
from ..ir import FLOAT, Array, Var
from ..symbols.build import Builder
from ..symbols.symbol import Sym, raw

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ...core.operation import Singular

# What changes what a float is (passes/widths.py), and what changes its cotangent back.
CONVERSE = {"narrow": "to_double", "widen": "shorten", "strengthen": "weaken"}
CONVERSE |= {back: there for there, back in CONVERSE.items()}
CONVERSE["rounded"] = "to_double"


def chosen(builder: Builder, spot: Singular, mask: Any, p: Any, symbols: tuple[Any, ...], again: bool) -> Any:
    """A partial with the policy's choice where it is singular.

    If it is to be differentiated `again`, the formula is kept where it gives the choice itself: it has derivatives of
    its own, and a constant has none.
    """
    choice = spot.choice(STATE.kinks)
    if mask is False or mask is NotImplemented or choice is None:
        return p
    value = choice(*symbols) if callable(choice) else float(choice)
    if again:
        if value.__class__ is float and value != value:
            value = p * value  # nan, and so are its derivatives
        differs = ROWS["not_equal"](p, value)
        mask = differs if mask is True else ROWS["logical_and"](mask, differs)
    if mask.__class__ is bool:
        return value if mask else p
    return builder.apply(ROWS["where_select"], (mask, value, p), None)


def fresh(builder: Builder, op: str, args: tuple[Any, ...], kind: str) -> Sym:
    """A statement that is never shared: it reads accumulators, which change."""
    var = Var(kind)
    builder.append(ir.Set(var, op, tuple(raw(a) for a in args), STATE.site, None))
    return Sym(builder, var)


def symbol_of(builder: Builder, x: Any) -> Any:
    """What a region holds, as a rule takes it."""
    return Sym(builder, x) if x.__class__ is Var else builder.stored(x) if x.__class__ is Array else x


def product(builder: Builder, g: Sym, p: Any) -> Any:
    """g * p, where a zero cotangent stays zero whatever it meets."""
    if p.__class__ in (int, float):
        if p == 1:
            return g
        if p == -1:
            return fresh(builder, "negative", (g,), FLOAT)
        if p - p == 0.0:
            return fresh(builder, "multiply", (g, float(p)), FLOAT)
        p = float(p)
    else:
        p = builder.to_float(p)
    return fresh(builder, "strong_multiply", (g, p), FLOAT)
