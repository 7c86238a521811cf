"""From a program and what it is specialised to, to the kernel that gives its value or its value and gradient."""

from __future__ import annotations

from ..core.state import STATE
from ..program.core import CoreProgram
from . import ir
from .activity import may_reach, surely_reached
from .adjoint import Noted, adjoint, nested
from .build import NUMBERS, Builder, Lazy, Sym, raw
from .ir import FLOAT, Unsupported
from .simplify import simplify
from .specialise import specialise
from .tidy import tidy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any


class Built:
    """A kernel before emission.

    `shape` is that of the program's value; `noted` are the singular points whose flags are the last result; `lost`
    names the sources that the result does not depend on, with the reason and its place; `counted` the float
    parameters that must be whole; `sure` the sources that every path connects to the result.
    """

    __slots__ = ("counted", "kernel", "lost", "noted", "shape", "sure")

    def __init__(self, kernel: ir.Kernel, shape: tuple[int, ...]) -> None:
        self.kernel = kernel
        self.shape = shape
        self.noted: list[Noted] = []
        self.lost: dict[str, tuple[str, Any]] = {}
        self.counted: list[int] = []
        self.sure: set[str] = set()


def build(program: CoreProgram, spec: dict[str, Any], sources: Sequence[str] | None) -> Built:
    """The kernel of the value (sources None) or of value and gradient."""
    notices = len(STATE.notices)
    made = specialise(program, spec)
    if len(STATE.notices) > notices:
        raise Unsupported("a program that gives notices while it is compiled")
    builder, result, kernel = made.builder, made.result, made.kernel
    shape: tuple[int, ...] = ()
    if result.__class__ is Lazy:
        settled = builder.settle(result)
        if settled.stored is None or settled.stored.role in ("input", "carried"):
            settled = builder.materialised(result)
        shape = settled.shape
        value: Any = settled.stored
        summed = builder.total(shape, settled.element) if sources is not None else None
    elif result.__class__ is Sym or result.__class__ in NUMBERS:
        value = raw(result)
        summed = result
    else:
        raise Unsupported("a result that is no number and no tensor")
    plain = ir.Kernel(kernel.parameters, kernel.body, [value])
    positions = {p: k for k, p in enumerate(kernel.parameters)}
    if sources is None:
        found = Built(tidy(simplify(plain)), shape)
        found.counted = [positions[var] for var in builder.counted]
        return found
    if summed.__class__ is not Sym or summed.kind != FLOAT:
        raise Unsupported("a result that depends on no input")
    targets: dict[str, Any] = {}
    for name in sources:
        symbol = made.inputs[name]
        targets[name] = symbol.var if symbol.__class__ is Sym else symbol.stored
    differentiated, noted = adjoint(plain, summed.var, list(targets.values()))
    differentiated.results[0] = value
    found = Built(tidy(simplify(differentiated)), shape)
    found.noted = noted
    found.counted = [positions[var] for var in builder.counted]
    for name, target in targets.items():
        if not may_reach(plain, target, summed.var):
            found.lost[name] = why_lost(builder, plain, target)
        elif summed.var in surely_reached(plain, [target])[0]:
            found.sure.add(name)
    return found


def why_lost(builder: Builder, kernel: ir.Kernel, target: Any) -> tuple[str, Any]:
    """Why the gradient of a source is None, as the tape says it, and the place."""
    if target in builder.counted and not uses(kernel.body, target):
        reason = "the path from the source ends at range, where it counts as an integer, which carries no derivative"
        return reason, builder.counted[target]
    raise Unsupported("an input that the result does not depend on")


def uses(block: list[ir.Stmt], x: Any) -> bool:
    """Whether a variable is read as the number it is, beside counting with it."""
    for s in block:
        if s.__class__ is ir.Set and s.op != "to_int" and x in s.args:
            return True
        if s.__class__ is ir.Loop and any(x is a or x is b for _, a, b in s.carried):
            return True
        if s.__class__ is ir.If and any(x is a or x is b for _, a, b in s.merges):
            return True
        if any(uses(inner, x) for inner in nested(s)):
            return True
    return False
