"""On which sources a value depends: what is differentiated, and which gradients are None.

A path is a chain of applications that carry a derivative, as a tape records them: also where the derivative is zero.
"""

from __future__ import annotations

from .ir import FLOAT, Apply, Get, If, Loop, Put, Var

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

    from .ir import Block


def path_inputs(stmt: Apply) -> Iterator[Var]:
    """The inputs of an application from which a path leads on."""
    row = stmt.row
    if row.derivative == "none" or stmt.outs[0].kind != FLOAT:
        return
    for i, x in enumerate(stmt.inputs):
        if x.__class__ is not Var or x.kind != FLOAT or i < row.skip:
            continue
        if row.derivative == "partials" and row.transpose is None and row.partials[i] is None:
            continue
        yield x


def reach(block: Block, sources: Iterable[Var], joined: Callable[[int, int], int]) -> dict[Any, int]:
    """Which sources reach the variables and stacks of a block, bit i for source i: on some way through the branches and loops if
    `joined` is "or", on every way if it is "and"."""
    sets: dict[Any, int] = {x: 1 << i for i, x in enumerate(sources)}
    for stmt in block:
        pass_on(stmt, sets, joined)
    return sets


def varied(block: Block, sources: Iterable[Any]) -> set[Any]:
    """The variables, and stacks, that a path may reach from the sources."""
    return {x for x, reached in reach(block, sources, int.__or__).items() if reached}


def pass_on(stmt: Any, sets: dict[Any, int], joined: Callable[[int, int], int]) -> None:
    """Add to `sets`, which hold a bit for each source, those that reach what a statement defines; `joined` makes one of two ways."""
    kind = stmt.__class__

    def get(x: Any) -> int:
        return sets.get(x, 0) if x.__class__ is Var else 0

    if kind is Apply:
        reached = 0
        for x in path_inputs(stmt):
            reached |= get(x)
        sets.update((out, reached) for out in stmt.outs if out.kind == FLOAT)
    elif kind is Put:
        sets[stmt.stack] = joined(sets.get(stmt.stack, get(stmt.value)), get(stmt.value))
    elif kind is Get:
        sets[stmt.out] = sets.get(stmt.stack, 0) if stmt.out.kind == FLOAT else 0
    elif kind is If:
        for part in (*stmt.then, *stmt.orelse):
            pass_on(part, sets, joined)
        sets.update((out, joined(get(a), get(b))) for out, a, b in stmt.outs if out.kind == FLOAT)
    elif kind is Loop:
        floats = [entry for entry in stmt.carried if entry[0].kind == FLOAT]
        for phi, initial, _, _ in floats:
            sets[phi] = get(initial)
        while True:
            for part in stmt.body:
                pass_on(part, sets, joined)
            moved = [joined(sets[phi], get(after)) for phi, _, after, _ in floats]
            if all(sets[phi] == now for (phi, _, _, _), now in zip(floats, moved)):
                break
            sets.update((phi, now) for (phi, _, _, _), now in zip(floats, moved))
        known = stmt.index is not None and stmt.start.__class__ is int and stmt.stop.__class__ is int
        runs = known and len(range(stmt.start, stmt.stop, stmt.step)) > 0
        for phi, _, after, out in floats:
            # After a loop that runs, what the last iteration left is what counts.
            sets[out] = get(after) if runs and after is not phi else sets[phi]
