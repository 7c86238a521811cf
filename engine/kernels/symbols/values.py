"""What the specialiser knows beside symbols and arrays: frames, functions, ranges, and what is not assigned."""

from __future__ import annotations

from ...core.operation import Operation, static
from ...ops.registry import NAMES
from ...program import core as c
from ..ir import FLOAT, LIMIT, Unsupported
from .pairs import Pair
from .symbol import Lazy, Sym

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

# Loops over lists, and lists of rows, are written out up to this length.
MAX_UNROLL = 64
# The entries of a frame beside its variables: control flags, the value returned, the enclosing frame, the result.
BREAK, CONTINUE, RETURN, VALUE, PARENT, RESULT = "$break", "$continue", "$return", "$value", "$parent", "$result"
# A recursive call whose result is not there yet has stopped the function.
SUSPEND = "$suspend"
# Every path has returned or stopped.
GONE = "$gone"
FLAGS = (BREAK, CONTINUE, RETURN, SUSPEND)


class Unset:
    """A variable that some path has not assigned; reading it leaves the kernel tier, which words no such error."""


UNSET = Unset()
# A variable, or what a function returns, where the paths that meet leave values of different kinds.
CONFLICT = Unset()


class Frame(dict):  # type: ignore[type-arg]
    """The variables of a function by slot, and the entries named above."""

    __slots__ = ()


def new_frame(parent: Frame | None) -> Frame:
    """A frame in which nothing has happened."""
    flags = dict.fromkeys(FLAGS, False)
    return Frame({PARENT: parent, RESULT: UNSET, VALUE: UNSET, **flags})


class List:
    """A list of the program's: known `items`, or the rows of an array, of which the first `length` are its items.

    A list that stands for another one, which one depending on data, is `frozen`: a change of it would have to reach both.
    What an assignment has made for a variable of its own frame has that as its `home`.
    """

    description = "a list"
    __slots__ = ("array", "frozen", "home", "items", "length")

    def __init__(self, items: list[Any]) -> None:
        self.items: list[Any] | None = items
        self.array: Any = None
        self.length: Any = len(items)
        self.frozen = False
        self.home: Frame | None = None


class Records(List):
    """A list of lists or tuples of numbers, all of one form, to which a loop appends (records.py)."""

    __slots__ = ()

    @property
    def columns(self) -> list[List]:
        """For each number of an item the list of these."""
        columns: list[List] | None = self.items
        assert columns is not None
        return columns

    @property
    def form(self) -> Any:
        return self.array


class Grid:
    """A list of lists of numbers, all of one length, or a list of such lists, or one of its lists (grids.py).

    `cells` is the list of all the numbers; this one has those of `shape` from `start` on, which may be a symbol.
    """

    description = "a list of lists"
    __slots__ = ("cells", "shape", "start")

    def __init__(self, cells: List, shape: tuple[int, ...], start: Any) -> None:
        self.cells = cells
        self.shape = shape
        self.start = start


class Variable:
    """A Variable of the program. `value` is a symbol or an array in memory that is its own; tapes that record follow it.

    `tapes` are those that record now, the outermost first.
    """

    description = "a Variable"
    __slots__ = ("tapes", "trainable", "value")

    def __init__(self, value: Any, trainable: bool, tapes: list[Any]) -> None:
        self.value = value
        self.trainable = trainable
        self.tapes = tapes

    def read(self) -> Any:
        """The present value, as the tapes follow it."""
        found = self.value
        for tape in self.tapes:
            found = tape.accessed(self, found)
        return found


def read(x: Any) -> Any:
    """What an operation takes: the value of a Variable, and anything else as it is."""
    if x.__class__ is Rounded:
        return x.value
    return x.read() if x.__class__ is Variable else x


class Rounded:
    """What `round` gives of a float: an integer of a bare number, and a float of one that is differentiated."""

    description = "a number"
    __slots__ = ("found", "source")

    def __init__(self, found: Any, source: Any) -> None:
        self.found = found
        self.source = source

    @property
    def value(self) -> Any:
        """It as a float, which may be an integer of the program; the tape takes the step where an integer would be
        another number, or has no sign."""
        builder, found = self.source.builder, self.found
        builder.doubtful.add(found.var)

        def differ() -> tuple[Any, ...]:
            negative = builder.apply(NAMES["signbit"], (found,), None)
            return abs(found) > float(LIMIT), (found == 0.0) & negative

        for condition in builder.aside(differ):
            builder.arrays.leave_if(condition)
        return found


class Letter:
    """One of several texts that are known, which one depending on data: the number of it among `words`, or, of the letters
    of a text, its code."""

    description = "a text that depends on data"
    __slots__ = ("code", "words")

    def __init__(self, code: Any, words: tuple[str, ...] | None = None) -> None:
        self.code = code
        self.words = words

    def number(self, text: Any) -> int | None:
        """The code of a text; None of one that it cannot be."""
        if self.words is None:
            return ord(text) if text.__class__ is str and len(text) == 1 else None
        return self.words.index(text) if text in self.words else None


class Selected:
    """A part of a tensor whose length data decides: the rows for which `keep` holds. `key` tells selections apart.

    Rows that are indices into a tensor say into what shape: `places`. Rows that are next to one another say from which on
    and before which: `bounds`.
    """

    description = "a part of a tensor whose length depends on data"
    __slots__ = ("bounds", "keep", "key", "places", "rows")

    def __init__(
        self, rows: Lazy, keep: Lazy, key: Any, places: tuple[int, ...] | None = None,
        bounds: tuple[Any, Any] | None = None,
    ) -> None:  # fmt: skip
        if rows.builder.follower is not None and rows.kind == FLOAT:
            rows.builder.follower.link([], rows)
        self.rows = rows
        self.keep = keep
        self.key = key
        self.places = places
        self.bounds = bounds

    def of(self, rows: Lazy) -> Selected:
        """The same part of other rows."""
        return Selected(rows, self.keep, self.key, None, self.bounds)


class Recorder:
    """A GradientTape of the program (tapes.py)."""

    description = "a GradientTape"


class Each:
    """Something to go through: the item at each position, of which there are `length`.

    `loopable` says that a position that is a symbol will do. `lists` are the program's lists that are gone through: items
    are theirs at the time they are asked for, and as many as the one has `along` which it goes. An iterator (what `zip` and
    its kin give) can be gone through `once`, where `depth` blocks around may run any number of times.
    """

    description = "an iterator"
    __slots__ = ("along", "depth", "item", "length", "lists", "loopable", "once", "taken")

    def __init__(
        self, length: Any, item: Callable[[Any], Any], loopable: bool, lists: tuple[List, ...] = (),
        depth: int | None = None, along: List | None = None,
    ) -> None:  # fmt: skip
        self.length = length
        self.item = item
        self.loopable = loopable
        # With their lengths.
        self.lists = tuple((x, x.length) for x in lists)
        self.along = along
        self.once = depth is not None
        self.depth = depth
        self.taken = False

    @property
    def sources(self) -> tuple[List, ...]:
        return tuple(x for x, _ in self.lists)

    def present(self) -> int:
        """How many items there are now, of a number that is known."""
        if all(same_length(x.length, n) for x, n in self.lists):
            return self.length  # type: ignore[no-any-return]
        if self.along is None or self.along.length.__class__ is not int:
            raise Unsupported("a list whose length changes in a loop over it")
        length: int = self.along.length
        if length > MAX_UNROLL:
            raise Unsupported("a list that grows in a loop over it")
        return length

    def unchanged(self) -> None:
        """Check that the lists are as long as they were: raises Unsupported."""
        if not all(same_length(x.length, n) for x, n in self.lists):
            raise Unsupported("a list whose length changes in a loop over it")


def same_length(a: Any, b: Any) -> bool:
    return a is b or (a.__class__ is int and b.__class__ is int and a == b)


class Mismatch(Unsupported):
    """What a loop carries is of another kind after an iteration; with `peel`, the first one on its own may help."""

    def __init__(self, message: str, peel: bool = True) -> None:
        super().__init__(message)
        self.peel = peel


class Recursive(Exception):
    """A function calls itself as data decides: it must run as a loop over a stack of frames."""

    def __init__(self, code: c.FunctionCode) -> None:
        self.code = code


class Mutual(Exception):
    """Functions that run as loops call one another: one loop must run the frames of all of them."""

    def __init__(self, codes: set[c.FunctionCode]) -> None:
        self.codes = codes


class Chosen:
    """One of two functions, which one depending on data."""

    description = "a function"
    __slots__ = ("condition", "otherwise", "then")

    def __init__(self, condition: Sym, then: Any, otherwise: Any) -> None:
        self.condition = condition
        self.then = then
        self.otherwise = otherwise


class Made:
    """A function made from functions, or from nothing: what the language's own functions return."""

    description = "a function"
    __slots__ = ("parts", "run")

    def __init__(self, run: Callable[[list[Any], dict[str, Any]], Any], parts: tuple[Any, ...] = ()) -> None:
        self.run = run
        self.parts = parts


class Closure:
    """A function of the program with the frame it was made in."""

    description = "a function"
    __slots__ = ("code", "defaults", "frame")

    def __init__(self, code: c.FunctionCode, defaults: list[Any], frame: Frame) -> None:
        self.code = code
        self.defaults = defaults
        self.frame = frame


class Range:
    """A range whose bounds may be symbols."""

    description = "a range"
    __slots__ = ("start", "step", "stop")

    def __init__(self, start: Any, stop: Any, step: Any) -> None:
        self.start = start
        self.stop = stop
        self.step = step

    @property
    def known(self) -> bool:
        return all(x.__class__ is int for x in (self.start, self.stop, self.step))

    @property
    def nonempty(self) -> bool:
        return self.known and len(self.range()) > 0

    def range(self) -> range:
        return range(self.start, self.stop, self.step)

    def __getitem__(self, i: int) -> Any:
        if not self.known:
            raise Unsupported("an item of a range whose bounds depend on data")
        return self.range()[i]


def symbolic(x: Any) -> bool:
    if x.__class__ in (Sym, Lazy, Pair, Variable, Selected, Grid, Records):
        return True
    if x.__class__ in (list, tuple):
        return any(symbolic(item) for item in x)
    if x.__class__ is List:
        return x.items is None or any(symbolic(item) for item in x.items)
    return False


def plain(x: Any) -> Any:
    """What a row takes: lists of the program's as Python's, or as the arrays that they are."""
    if x.__class__ is List:
        if x.items is not None:
            return [plain(item) for item in x.items]
        if x.length.__class__ is not int:
            raise Unsupported("a list that grows by data, as a tensor")
        return x.array if x.length == x.array.shape[0] else first_rows(x.array, x.length)
    if x.__class__ is Grid:
        from ..lowering.grids import tensor_of

        return tensor_of(x)
    if x.__class__ is Records:
        from ..lowering import records

        return records.tensor_of(x, plain)
    if x.__class__ is tuple:
        return tuple(plain(item) for item in x)
    if x.__class__ is dict:
        return {key: plain(value) for key, value in x.items()}
    return read(x)


def flatten(x: Any) -> list[Any]:
    """The leaves of a structure, in order."""
    if x.__class__ is List and x.items is not None:
        x = x.items
    if x.__class__ in (list, tuple):
        return [leaf for item in x for leaf in flatten(item)]
    if x.__class__ is dict:
        return [leaf for item in x.values() for leaf in flatten(item)]
    return [x]


def rebuild(structure: Any, leaves: list[Any]) -> Any:
    """The structure with its leaves replaced in order; `leaves` is used up."""
    if structure.__class__ is List:
        return List([rebuild(item, leaves) for item in structure.items or ()])
    if structure.__class__ in (list, tuple):
        return structure.__class__([rebuild(item, leaves) for item in structure])
    if structure.__class__ is dict:
        return {key: rebuild(item, leaves) for key, item in structure.items()}
    return leaves.pop(0)


def first_rows(array: Any, length: int) -> Any:
    from .arrays import get

    return get(array.builder, array, slice(0, length))


def static_index(index: Any) -> Any:
    if index.__class__ is Sym:
        raise Unsupported("an index that depends on data")
    return static(index)


def equal(a: Any, b: Any) -> bool:
    """Whether two values that are known are the same."""
    if a is b:
        return True
    if a.__class__ is not b.__class__:
        return False
    if a.__class__ is Closure:
        return a.code is b.code and a.frame is b.frame and all(x is y for x, y in zip(a.defaults, b.defaults))
    if a.__class__ is c.Intrinsic:
        return bool(a.name == b.name)
    if isinstance(a, Recorder):
        return True  # one that has recorded: an iteration makes its own
    return a.__class__ is str and bool(a == b)


# What can be called.
FUNCTIONS = (Closure, Chosen, Made, Operation, c.Intrinsic)
