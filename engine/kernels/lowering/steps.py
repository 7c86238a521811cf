"""Fuel: the steps of a program, counted where the tape counts them (core/limits.py): an iteration, an item, a call.

Their number is an entry of the program's frame, which loops carry as they carry its variables. Nothing is counted, and
nothing is in the kernel for it, unless there is a limit.
"""

from __future__ import annotations

from .. import ir
from ..ir import Unsupported
from ..symbols.symbol import raw

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ...core.state import Site
    from .statements import Specialiser

STEPS = "$steps"


def count_step(machine: Specialiser, site: Site) -> None:
    """Count a step at a place, and leave the kernel where it is one too many."""
    most = machine.most_steps
    if most is None:
        return
    builder, frame = machine.builder, machine.frames[0]
    done = builder.integer("add", frame[STEPS], 1)
    if done.__class__ is not int or done > most:
        builder.append(ir.Check(raw(done), 0, most + 1, site, ("too_many_steps", most)))
    frame[STEPS] = done


def steps_so_far(machine: Specialiser) -> Any:
    """The number of steps at this place of the program."""
    return machine.frames[0][STEPS]


def count_again(machine: Specialiser, before: Any, times: int) -> None:
    """Count the steps since there were `before` so many times more: the tape runs a function anew for each direction.

    Where that is too many the tape says at which one.
    """
    most = machine.most_steps
    if most is None:
        return
    builder, frame = machine.builder, machine.frames[0]
    more = builder.integer("multiply", builder.integer("subtract", frame[STEPS], before), times)
    frame[STEPS] = done = builder.integer("add", frame[STEPS], more)
    if done.__class__ is not int:
        builder.append(ir.Check(raw(done), 0, most + 1))
    elif done > most:
        raise Unsupported("more steps than the limit")
