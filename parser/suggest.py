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
    if not 1 < len(word) <= LONGEST:
        return []
    from difflib import SequenceMatcher

    folded = word.casefold()
    matcher = SequenceMatcher(None, "", folded, autojunk=False)
    # How much of two names must be alike: of a name of three letters one may be wrong.
    least = 0.66 if len(word) < 5 else 0.72
    found = []
    for candidate in set(candidates) - {word}:
        matcher.set_seq1(candidate.casefold())
        if matcher.quick_ratio() >= least and (likeness := matcher.ratio()) >= least:
            # Mistakes are rarely in the first letter.
            found.append((-likeness, candidate[:1].casefold() != folded[:1], candidate))
    found.sort()
    # Several are named only where nothing tells them apart.
    return [entry[2] for entry in found if entry[:2] == found[0][:2]][:MOST]
