"""Which rows of a table are where: the sets of rows that a program's branches and loops divide it into.

One set is *active*: the rows that the statement being run is for. A branch on a column divides it, a loop makes it
smaller as rows leave, and where paths meet the sets are united. A variable that differs between the rows that meet is a
`Meeting`, put together only if it is read. Rows that cannot go on together are dropped, with the reason; someone else
evaluates them one by one.
"""

from __future__ import annotations

from ...parser.errors import AdiffError
from ..core.limits import too_many_steps
from ..core.operation import UNFIT
from ..core.state import STATE
from ..core.tensor import Tensor
from .values import UNSET

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

PENDING: Any = type("Pending", (), {})()
GONE: Any = type("Gone", (), {})()


class NotTogether(Exception):
    """What rows cannot do together; the message says what."""


class Alike(NotTogether):
    """The same, where all of these rows fail, in the same words: whoever evaluates them need not look at each."""


class NobodyLeft(Exception):
    """All active rows have left: on to the next place where paths meet."""


class Rows:
    """A set of rows: `index` holds their numbers in the table, ascending.

    `known` holds by its size every set that the rows of one evaluation have been divided into, None where several sets
    have that size: what has so many rows along its first axis is of the rows of that set.
    """

    __slots__ = ("index", "known", "places", "size", "taken")

    def __init__(self, index: Any, known: dict[int, Any]) -> None:
        self.index = index
        self.size = int(index.size)
        self.known = known
        before = known.setdefault(self.size, index)
        if before is not index and before is not None and (before != index).any():
            known[self.size] = None
        self.places: dict[Rows, Any] = {}
        # Columns of larger sets, cut down to this one.
        self.taken: dict[Any, Any] = {}

    def places_in(self, larger: Rows) -> Any:
        """Where these rows are in a set that holds them all."""
        found = self.places.get(larger)
        if found is None:
            import numpy as np

            found = np.searchsorted(larger.index, self.index)
            self.places[larger] = found
        return found

    def divided(self, mask: Any) -> tuple[Rows, Rows]:
        """The rows where a mask holds, and the others."""
        import numpy as np

        parts = []
        for places in (np.flatnonzero(mask), np.flatnonzero(~mask)):
            part = Rows(self.index[places], self.known)
            part.places[self] = places
            parts.append(part)
        return parts[0], parts[1]


class Meeting:
    """A variable where paths met: pieces (rows, value) of disjoint sets that make up `rows`."""

    __slots__ = ("pieces", "rows", "value")

    def __init__(self, pieces: list[tuple[Rows, Any]], rows: Rows) -> None:
        self.pieces = pieces
        self.rows = rows
        self.value = PENDING


class Table:
    """The rows of one evaluation: which are active, which wait where paths will meet, which were dropped."""

    def __init__(self) -> None:
        import numpy as np

        # The errors of rows at singular points that are none to be at: they fail where the sweep that met these is done.
        self.forbidden: dict[int, AdiffError] = {}
        self.reset(np.arange(0))

    def reset(self, index: Any) -> None:
        """Begin with these rows."""
        import numpy as np

        self.all = self.active = Rows(index, {})
        self.dropped: list[tuple[Any, BaseException]] = []
        self.failed: list[tuple[Any, AdiffError]] = []
        self.lost = np.zeros(index.size, bool)
        # A row of operations whose rule may spread nan from rows that an operation has no part in.
        self.doubtful = ""
        self.steps: Any = None  # of each row, where they are limited
        # (rows, frame) that left the loop being run, that wait for its next iteration; (rows, value) that returned.
        self.broken: list[tuple[Rows, list[Any]]] = []
        self.waiting: list[tuple[Rows, list[Any]]] = []
        self.returned: list[tuple[Rows, Any]] = []
        # Lists made while only some rows were active may be changed by those; lists put together and what they were put
        # together from, by nobody.
        self.owners: dict[int, tuple[Any, Rows]] = {}
        self.frozen: dict[int, Any] = {}
        # The rows that the elements of a tensor belong to, and which of those depend on a source, for notices.
        self.rows_of: dict[Tensor, tuple[Rows, Any]] = {}

    def of_size(self, size: int) -> Any:
        """The numbers of the rows that are of the only set of a size, None where none or several sets are of it."""
        return self.all.known.get(size)

    # --- leaving ----------------------------------------------------------------------------------------------------

    def drop(self, reason: BaseException) -> None:
        """All active rows leave for good."""
        rows = self.active
        if rows.size:
            self.dropped.append((rows.index, reason))
            self.lost[rows.places_in(self.all)] = True
            self.active = Rows(rows.index[:0], rows.known)

    def leave(self, mask: Any, reason: str) -> None:
        """The active rows where a mask holds leave for good; raises NobodyLeft if those were all."""
        going, staying = self.active.divided(mask)
        self.active = going
        self.drop(NotTogether(reason))
        self.active = staying
        if not staying.size:
            raise NobodyLeft

    def fail(self, mask: Any, error: Callable[..., AdiffError], keys: Any = None) -> None:
        """The active rows where a mask holds fail here; raises NobodyLeft if those were all.

        `error` gives the error of them all, or of the rows with one of the `keys`, of which there is one for each active
        row.
        """
        going, staying = self.active.divided(mask)
        self.active = staying
        self.end(going, error, None if keys is None else keys[mask])
        if not staying.size:
            raise NobodyLeft

    def count_step(self, most: int) -> None:
        """Count a step of the active rows; those for which it is one too many fail."""
        import numpy as np

        if self.steps is None:
            self.steps = np.zeros(self.all.size, np.int64)
        places = self.active.places_in(self.all)
        done = self.steps[places] + 1
        self.steps[places] = done
        over = done > most
        if over.any():
            self.fail(over, lambda: too_many_steps(most))

    def end(self, rows: Rows, error: Callable[..., AdiffError], keys: Any = None) -> None:
        """Rows, none of them active, have failed: all with one error, or with the error of each row's key."""
        if not rows.size:
            return
        import numpy as np

        self.lost[rows.places_in(self.all)] = True
        if self.forbidden:
            first = self.at_forbidden(rows)
            if first.any():
                by_error: dict[AdiffError, list[int]] = {}
                for row in rows.index[first].tolist():
                    by_error.setdefault(self.forbidden[row], []).append(row)
                self.failed.extend((np.array(numbers), found) for found, numbers in by_error.items())
                rows, keys = Rows(rows.index[~first], rows.known), None if keys is None else keys[~first]
                if not rows.size:
                    return
        if keys is None:
            self.failed.append((rows.index, error()))
            return
        distinct, which = np.unique(keys, return_inverse=True)
        together = rows.index[np.argsort(which, kind="stable")]
        parts = np.split(together, np.cumsum(np.bincount(which))[:-1])
        self.failed.extend((part, error(key)) for part, key in zip(parts, distinct.tolist()))

    def at_forbidden(self, rows: Rows) -> Any:
        """Which rows have met a singular point that is an error."""
        import numpy as np

        return np.isin(rows.index, list(self.forbidden))

    def forbid(self, places: Any, error: AdiffError) -> None:
        """Rows, by their places among all, are at a singular point that is an error: the first one counts."""
        for row in self.all.index[places].tolist():
            self.forbidden.setdefault(row, error)

    def end_forbidden(self) -> None:
        """Let the active rows fail that have met a singular point; raises NobodyLeft if those were all."""
        if self.forbidden:
            met = self.at_forbidden(self.active)
            if met.any():
                self.fail(met, lambda: next(iter(self.forbidden.values())))

    @property
    def divided(self) -> bool:
        """Whether rows that are not active are still to come back."""
        return self.active is not self.all and self.active.size != self.present(self.all)

    def present(self, rows: Rows) -> int:
        """How many of the rows have not left for good."""
        return rows.size - int(self.lost[rows.places_in(self.all)].sum())

    # --- branches ---------------------------------------------------------------------------------------------------

    def run(self, rows: Rows, side: Callable[[], Any]) -> Any:
        """What `side` gives with `rows` active; GONE if none is left. `active` is afterwards what stayed."""
        self.active = rows
        depth = STATE.depth
        try:
            return side()
        except NobodyLeft:
            self.active = Rows(rows.index[:0], rows.known)
        except RECOVERABLE as reason:
            if getattr(reason, "code", "") in FINAL:
                raise
            self.drop(reason)
        STATE.depth = depth
        return GONE

    def choose(self, mask: Any, then: Callable[[], Any], otherwise: Callable[[], Any]) -> Any:
        """`then` for the active rows where the mask holds, `otherwise` for the others, each on its own rows."""
        whole = self.active
        yes, no = whole.divided(mask)
        if not no.size:
            return then()
        if not yes.size:
            return otherwise()
        pieces = []
        for rows, side in ((yes, then), (no, otherwise)):
            value = self.run(rows, side)
            if value is not GONE:
                pieces.append((self.active, value))
        return self.meet(pieces, whole)

    def united(self, parts: list[Rows], whole: Rows | None = None) -> Rows:
        """The union of disjoint sets; `whole` itself where they make it up."""
        if len(parts) == 1:
            return parts[0]
        size = sum(part.size for part in parts)
        if whole is not None and size == whole.size:
            return whole
        import numpy as np

        return Rows(np.sort(np.concatenate([part.index for part in parts])), parts[0].known)

    def meet(self, pieces: list[tuple[Rows, Any]], whole: Rows | None = None) -> Any:
        """The value of pieces put together; their rows are active afterwards."""
        if not pieces:
            raise NobodyLeft
        self.active = self.united([rows for rows, _ in pieces], whole)
        return pieces[0][1] if len(pieces) == 1 else self.settled(Meeting(pieces, self.active))

    def meet_frames(self, frame: list[Any], pieces: list[tuple[Rows, list[Any]]], whole: Rows | None = None) -> Any:
        """Let the frames of several paths become one; GONE if there is no path, else None."""
        if not pieces:
            self.active = Rows(self.all.index[:0], self.all.known)
            return GONE
        self.active = rows = self.united([part for part, _ in pieces], whole)
        if len(pieces) == 1:
            frame[:] = pieces[0][1]
            return None
        first = pieces[0][1]
        for slot in range(len(frame)):
            value = first[slot]
            if all(other[slot] is value for _, other in pieces):
                frame[slot] = value
            else:
                frame[slot] = Meeting([(part, other[slot]) for part, other in pieces], rows)
        return None

    # --- values that differ between rows ----------------------------------------------------------------------------

    def settled(self, meeting: Meeting) -> Any:
        """The value of a meeting for the active rows."""
        if meeting.value is not PENDING:
            return meeting.value
        if self.active is meeting.rows:
            pieces = meeting.pieces
        else:
            pieces = self.pieces_here(meeting)
            if len(pieces) == 1:
                value = pieces[0][1]
                return self.settled(value) if value.__class__ is Meeting else value
        rows = self.active
        value = self.joined(pieces)
        if self.active is rows is meeting.rows:
            meeting.value = value
        return value

    def pieces_here(self, meeting: Meeting) -> list[tuple[Rows, Any]]:
        """The pieces that hold active rows, cut down to those."""
        import numpy as np

        number = np.empty(meeting.rows.size, np.int64)
        for i, (rows, _) in enumerate(meeting.pieces):
            number[rows.places_in(meeting.rows)] = i
        here = number[self.active.places_in(meeting.rows)]
        found = np.flatnonzero(np.bincount(here, minlength=len(meeting.pieces)))
        if len(found) == 1:
            return [(self.active, meeting.pieces[found[0]][1])]
        return [(Rows(self.active.index[here == i], self.active.known), meeting.pieces[i][1]) for i in found]

    def joined(self, pieces: list[tuple[Rows, Any]]) -> Any:
        """One value for the active rows; rows whose values do not go together with most others leave."""
        from .columns import Unlike, join

        active = self.active
        resolved = []
        for rows, value in pieces:
            if value.__class__ is Meeting:
                value = self.run(rows, lambda value=value: self.settled(value))  # type: ignore[misc]
                if value is GONE:
                    continue
                rows = self.active
            resolved.append((rows, value))
        self.active = (
            active if sum(r.size for r, _ in resolved) == active.size else self.united([r for r, _ in resolved])
        )
        while True:
            if not resolved:
                raise NobodyLeft
            try:
                if any(value is UNSET for _, value in resolved):
                    raise Unlike
                return join(self, resolved)
            except Unlike:
                # The smallest piece leaves, and those without a value before all.
                resolved.sort(key=lambda piece: (piece[1] is not UNSET, piece[0].size))
                going, value = resolved.pop(0)
                rest = [rows for rows, _ in resolved]
                self.active = going
                self.drop(
                    Alike("a variable that some rows read before it is assigned")
                    if value is UNSET
                    else NotTogether("a variable that is of different kinds in different rows")
                )
                if rest:
                    self.active = self.united(rest)

    # --- lists ------------------------------------------------------------------------------------------------------

    def own(self, items: Any) -> Any:
        """Remember that a container was made for the active rows."""
        if self.active is not self.all:
            self.owners[id(items)] = (items, self.active)
        return items

    def rows_having(self, items: Any) -> Rows:
        """The rows that a container was made for."""
        owner = self.owners.get(id(items))
        return self.all if owner is None else owner[1]

    def not_frozen(self, items: Any) -> None:
        """Raise NotTogether for a container that was put together from several, or is one of those."""
        if id(items) in self.frozen:
            raise NotTogether("a list that was put together from several, or one of those")

    def has_alone(self, items: Any) -> bool:
        """Whether the active rows are all that a container is for, so that it can change in place."""
        self.not_frozen(items)
        return not self.divided or self.present(self.rows_having(items)) == self.active.size

    def others_of(self, items: Any) -> Rows:
        """The rows that a container is for besides the active ones, without those that have left for good."""
        rows = self.rows_having(items)
        import numpy as np

        there = ~self.lost[rows.places_in(self.all)]
        there &= ~np.isin(rows.index, self.active.index, assume_unique=True)
        return Rows(rows.index[there], rows.known)

    def may_change(self, items: Any) -> None:
        """Raise NotTogether unless the active rows are all that a container is for."""
        if not self.has_alone(items):
            raise NotTogether("a list that only some of its rows change")


# Errors that end everything, and not only the rows that meet them: the time is over, the memory is spent.
FINAL = frozenset(("E0602", "E0603"))
# What one side of a branch may fail with while the other goes on.
RECOVERABLE: tuple[type[BaseException], ...] = (NotTogether, AdiffError, *UNFIT)

__all__ = ["GONE", "RECOVERABLE", "Alike", "Meeting", "NobodyLeft", "NotTogether", "Rows", "Table"]
