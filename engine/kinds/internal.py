"""What the files of engine/library/kinds/ call as `internal.name`: checks of arguments, errors, and parts of Datasets."""

from __future__ import annotations

from itertools import islice

from ..core.dtypes import INT64, NUMPY, WEAK_FLOAT
from ..core.errors import failure
from ..core.following import path_ends
from ..core.limits import allocate
from ..core.operands import describe
from ..core.state import STATE
from ..core.tensor import Tensor
from ..ops.creation import checked_shape
from ..ops.operation import static
from ..ops.random import generator, seed_draws, unseeded
from ..ops.support import FOR_LIBRARY, integers
from .kind import call, of_dtype

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


def int64(x: Any, name: Any = "", what: Any = "") -> Tensor:
    """An argument that must be integers, as a tensor of int64."""
    return Tensor(x if x.__class__ is int else integers(name, what, list(x) if x.__class__ is tuple else x), INT64)


def update(variable: Any, change: Any) -> Any:
    """Assign what a function makes of the value of a Variable, outside every tape."""
    return variable.replace(lambda old: call(change, old))


def csv_fields(line: str, delimiter: Any, quotes: Any) -> list[str]:
    """The fields of a record of CSV."""
    from csv import QUOTE_MINIMAL, QUOTE_NONE, Error, reader

    if delimiter.__class__ is not str or len(delimiter) != 1:
        raise failure("E0304", "tf.io.decode_csv: field_delim must be one character")
    try:
        records = reader([line], delimiter=delimiter, quoting=QUOTE_MINIMAL if quotes else QUOTE_NONE, strict=True)
        return next(records) or [""]
    except (Error, ValueError) as fault:
        raise failure("E0304", f"tf.io.decode_csv: {fault} in the record {line!r}") from fault


def kept(items: Any, count: int | None) -> list[Any]:
    """The items of what is a result, as far as there is memory for them; None if their count is unknown."""
    if count is not None:
        allocate(count, 253)
    found = []
    for item in items:
        found.append(item)
        if len(found) % 100_000 == 0:  # there may be no end of them
            allocate(len(found), 500)
    return found


def taken(items: Any, most: int) -> list[Any]:
    """The next items, so many of them or as many as there are."""
    return list(islice(items, min(max(most, 0), 1 << 62)))


class Draws:
    """What draws from a seed as NumPy does: `draw(kind, size, ...)` gives numbers by a method of NumPy's generators."""

    __slots__ = ("source",)
    description = "a random generator"

    def __init__(self, source: Any) -> None:
        self.source = source

    def call(self, args: list[Any], keywords: dict[str, Any]) -> Any:
        import numpy as np

        kind, size, *given = args
        shape = None if size is None else checked_shape(static(size))
        arrays = [np.array(x) if x.__class__ is list else x for x in map(static, given)]
        try:
            if kind == "permutation":
                found = self.source.permutation(*arrays)
            elif kind == "choice":
                found = self.source.choice(arrays[0], shape, *arrays[1:])
            elif kind in ("random", "standard_normal"):
                found = getattr(self.source, kind)(*arrays, shape)
            else:  # RandomState calls its integers otherwise
                found = (getattr(self.source, "integers", None) or self.source.randint)(*arrays, shape)
        except (ValueError, OverflowError) as fault:
            raise failure("E0401", f"{kind}: {fault}") from None
        except TypeError:
            raise failure(
                "E0304", f"{kind} does not take these arguments: sizes are integers, the rest is real"
            ) from None
        if not getattr(found, "shape", ()):
            return found if found.__class__ is float else int(found)
        return Tensor(found, WEAK_FLOAT if found.dtype.kind == "f" else NUMPY[INT64])


def draws(name: Any, *seed: Any) -> Draws:
    """A generator from a seed; without one that of NumPy's functions, which follows from the program's."""
    if not seed:
        unseeded(name)
        return Draws(STATE.draws[1])  # type: ignore[index]
    if name != "np.random.RandomState":
        return Draws(generator(name, static(seed[0])))
    import numpy as np

    try:
        return Draws(np.random.RandomState(static(seed[0])))
    except (ValueError, TypeError):
        raise failure("E0401", "np.random: a seed is a whole number from 0 to 2**32 - 1, or a list of such") from None


FUNCTIONS: dict[str, Callable[..., Any]] = {
    **FOR_LIBRARY,
    "internal.draws": draws,
    "internal.seed_draws": lambda seed: seed_draws(static(seed)),
    **{
        f"internal.{function.__name__}": function
        for function in (
            allocate, csv_fields, describe, int64, kept, of_dtype, path_ends, taken, update,
        )
    },
}  # fmt: skip
