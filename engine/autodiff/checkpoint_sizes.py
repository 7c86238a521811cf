"""What a budget of memory means for a long loop: how many iterations make a block, and how many states are kept."""

from __future__ import annotations

from math import comb

# No iteration is run again more often than this: where the budget has too little room, more states are kept than it has.
MOST_REPEATS = 100
# With so many states that holds for 3 * 10**11 blocks.
MOST_STATES = 8


def shares(budget: int, each: int, state: int, longest: int) -> tuple[int, int]:
    """The iterations in a block, and how many of the states at the starts of blocks there is room for.

    Half of the budget at most, in bytes, is for the iterations of one block (`each` bytes an iteration, `longest` of
    them at most), the rest for states of `state` bytes.
    """
    block = max(1, min(budget // 2 // each, longest))
    return block, max(1, (budget - block * each) // state)


def most_blocks(states: int) -> int:
    """How many blocks can be reversed if each is run MOST_REPEATS times more: Griewank and Walther's binomial."""
    return comb(states + MOST_REPEATS, states)


def states_kept(room: int) -> list[tuple[int, int]]:
    """The states that are kept, by the blocks up to whose number they are: as many as there is room for, or as it takes.

    The last entry is for any number of blocks.
    """
    return [(most_blocks(states), states) for states in range(room, max(room, MOST_STATES) + 1)]


def states_for(blocks: int, room: int) -> int:
    """How many states are kept for so many blocks."""
    kept = states_kept(room)
    return next((states for most, states in kept if blocks <= most), kept[-1][1])
