"""The steps of a program, counted where the tape counts them (core/limits.py): an iteration, an item, a call.

Their number is an entry of the program's frame, which loops carry as they carry its variables. Nothing is counted, and
nothing is in the kernel for it, unless there is a limit.
"""

from __future__ import annotations

from .. import ir
from ..ir import Unsupported
from ..symbols.symbol import raw

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ...core.state import Site
    from .statements import Specialiser

STEPS = "$steps"


def count_step(machine: Specialiser, site: Site) -> None:
    """Count a step at a place, and leave the kernel where it is one too many."""
    most = machine.most_steps
    if most is None:
        return
    if machine.derived:
        raise Unsupported("a limit of steps where a function is differentiated")
    if machine.recursion is not None:
        raise Unsupported("a limit of steps in a recursion")
    builder, frame = machine.builder, machine.frames[0]
    done = builder.integer("add", frame[STEPS], 1)
    if done.__class__ is not int or done > most:
        builder.append(ir.Check(raw(done), 0, most + 1, site, ("too_many_steps", most)))
    frame[STEPS] = done
