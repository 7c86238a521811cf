"""`tf.gradients` in functions under `@tf.function`, which are called under a tape of their own."""

from __future__ import annotations

from ..core.operands import as_operand, operand_dtype
from ..core.tensor import Tensor
from ..program import core as c
from ..program.loops import nodes
from .structure import flatten, rebuild
from .tapes import GradientTape
from .values import Derived, invoke

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .values import Function

RUNNING: list[GradientTape] = []  # the tapes of the functions that are being called, the innermost last


def graph_tape() -> GradientTape | None:
    """The tape of the innermost of those functions; None outside of them."""
    return RUNNING[-1] if RUNNING else None


def takes_gradients(node: Any) -> bool:
    """Whether `tf.gradients` is named in a part of the core program."""
    return any(isinstance(x, c.LibraryName) and x.name in ("gradients", "hessians") for x in nodes(node))


def under_tape(f: Function) -> Derived:
    """The function whose calls a tape records that follows every float of the arguments."""

    def run(args: list[Any], keywords: dict[str, Any]) -> Any:
        tape = GradientTape(True, True)
        given = rebuild(args, [followed(tape, x) for x in flatten(args)])
        tape.enter()
        RUNNING.append(tape)
        try:
            return invoke(f, list(given), keywords)
        finally:
            RUNNING.remove(tape)
            tape.leave()

    return Derived(f.name, run)


def followed(tape: GradientTape, x: Any) -> Any:
    is_float = x.__class__ is float or (x.__class__ is Tensor and operand_dtype(as_operand(x)).differentiable)
    return tape.watch(x) if is_float else x
