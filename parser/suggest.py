"""Which known names a misspelt one may have been."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

MOST = 3
# Beyond this nobody mistyped a name; the bound keeps hostile input cheap.
LONGEST = 64


def suggest(word: str, candidates: Iterable[str]) -> list[str]:
    """At most three of the candidates, the likeliest first; none where nothing is near."""
    if len(word) > LONGEST:
        return []
    bound = allowance(word)
    folded = word.casefold()
    found = []
    for candidate in set(candidates):
        if candidate == word:
            continue
        edits = distance(folded, candidate.casefold(), bound)
        if edits <= bound:
            # Mistakes are rarely in the first letter, and a name cut short or drawn out is likelier than another name.
            drawn_out = folded.startswith(candidate.casefold()) or candidate.casefold().startswith(folded)
            found.append((edits, candidate[:1].casefold() != folded[:1], not drawn_out, candidate))
    found.sort()
    # Several are named only where nothing tells them apart.
    return [entry[3] for entry in found if entry[:3] == found[0][:3]][:MOST]


def allowance(word: str) -> int:
    """How many edits still leave a word recognisable."""
    length = len(word)
    return 0 if length < 2 else 1 if length < 5 else 2 if length < 9 else 3


def distance(first: str, second: str, bound: int) -> int:
    """The least number of letters to insert, delete, change or swap with their neighbour; ``bound + 1`` if it is more.

    This is the Damerau-Levenshtein distance in the form that edits no part twice (optimal string alignment).
    """
    if abs(len(first) - len(second)) > bound:
        return bound + 1
    before: list[int] = []
    previous = list(range(len(second) + 1))
    for row, letter in enumerate(first, start=1):
        current = [row]
        for column, other in enumerate(second, start=1):
            edits = min(previous[column] + 1, current[column - 1] + 1, previous[column - 1] + (letter != other))
            if row > 1 and column > 1 and letter == second[column - 2] and first[row - 2] == other:
                edits = min(edits, before[column - 2] + 1)
            current.append(edits)
        if min(current) > bound and min(previous) > bound:
            return bound + 1
        before, previous = previous, current
    return min(previous[-1], bound + 1)
