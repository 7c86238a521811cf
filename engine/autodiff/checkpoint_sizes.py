"""What a budget of memory means for a long loop: how many states it keeps, and how often iterations are run again."""

from __future__ import annotations

from math import comb

from ..core.errors import failure
from ..core.limits import size_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ...parser.errors import AdiffError
    from ..core.state import Site

# A loop is not run more often than this for its reverse sweep; a size is advised with which it is not run more often
# than that.
MOST_REPEATS = 100
FEW_REPEATS = 10


def shares(budget: int, each: int, state: int, longest: int) -> tuple[int, int]:
    """The iterations in a block, and the states that are kept at the starts of some blocks.

    Half of the budget at most, in bytes, is for the iterations of one block (`each` bytes an iteration, `longest` of
    them at most), the rest for states of `state` bytes.
    """
    block = max(1, min(budget // 2 // each, longest))
    return block, max(1, (budget - block * each) // state)


def most_iterations(block: int, slots: int, repeats: int = MOST_REPEATS) -> int:
    """How many iterations can be reversed if each is run `repeats` times more: Griewank and Walther's binomial."""
    return block * comb(slots + repeats, min(slots, repeats))


def least_budget(count: int, each: int, state: int, longest: int) -> int:
    """The smallest budget with which `count` iterations are run FEW_REPEATS times more at most, in round numbers."""
    budget = 1
    while most_iterations(*shares(budget, each, state, longest), FEW_REPEATS) < count:
        budget += max(1, budget // 16)
    return -(-budget // 1024) * 1024


def too_small(
    budget: int, count: int, each: int, state: int, longest: int, site: Site | None = None
) -> AdiffError:  # fmt: skip
    """The error for a budget with which the reverse sweep of a loop would hardly ever end."""
    _, slots = shares(budget, each, state, longest)
    states = "1 state" if slots == 1 else f"{slots} states"
    return failure(
        "E0606", f"--checkpoint {size_text(budget)} has room for {states} of a loop of {count} iterations: each would be run "
        f"more than {MOST_REPEATS} times",
        f"give at least --checkpoint {round(least_budget(count, each, state, longest) / 1024)}K", site,
    )  # fmt: skip
