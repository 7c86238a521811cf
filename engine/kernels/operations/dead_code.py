"""Dead code: what no result, check, flag or other effect needs goes."""

from __future__ import annotations

from ..ir import Check, Flag, Get, If, Loop, Put, blocks, defined, inside, operands

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..ir import Block, Kernel


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
