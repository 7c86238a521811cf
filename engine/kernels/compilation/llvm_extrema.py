"""Loops over the largest or the smallest of many numbers.

`s = _maximum(s, x[i])`, or `s = _maximum(x[i], s)`, keeps a nan, and of equal numbers the first argument, which is what
decides between 0.0 and -0.0; the compiler cannot do either on vectors. LLVM's own maximum and minimum keep a nan too, but
-0.0 is less than 0.0 to them: so a loop that found a zero is run once more as it is written.
"""

from __future__ import annotations

import ast

from ..ir import WIDTHS
from .llvm_writer import TYPES, joined

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .llvm_writer import Value, Writer

EXTREMA = {"_maximum": "maximum", "_minimum": "minimum"}
# Shorter loops are not worth more code.
LEAST_TRIPS = 64


def over_many(node: ast.For) -> tuple[str, str, ast.expr] | None:
    """(accumulator, function, operand) of a loop of many iterations that does nothing but look for an extremum."""
    match node:
        case ast.For(
            iter=ast.Call(args=[ast.Constant(value=int(trips))]),
            body=[
                ast.Assign(
                    targets=[ast.Name(id=name)],
                    value=ast.Call(func=ast.Name(id=called), args=[a, b]),
                )
            ],
        ) if called in EXTREMA and trips >= LEAST_TRIPS:
            for first, operand in ((a, b), (b, a)):
                read = {inner.id for inner in ast.walk(operand) if isinstance(inner, ast.Name)}
                if isinstance(first, ast.Name) and first.id == name and name not in read:
                    return name, called, operand
    return None


def accumulate(w: Writer, name: str, function: str, operand: Value) -> None:
    """One step of such a loop, of floats, by LLVM's function."""
    before = w.read(name)
    kind = joined(before[0], operand[0])
    own, type_ = f"llvm.{EXTREMA[function]}.f{8 * WIDTHS[kind]}", TYPES[kind]
    w.module.declare(f"{type_} @{own}({type_}, {type_})")
    texts = [f"{type_} {w.to(kind, x)[1]}" for x in (before, operand)]
    w.assign(name, w.value(kind, f"call {type_} @{own}({', '.join(texts)})"))
