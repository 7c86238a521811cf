"""What is asked of a table: its columns as arrays, the inputs that are the same in all rows, the sources."""

from __future__ import annotations

from ...parser.errors import AdiffError
from ..core.dtypes import BOOL, FLOAT32, WEAK_COMPLEX, WEAK_FLOAT, WEAK_INT, DType
from ..core.errors import listing
from ..core.state import STATE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from ..program.core import CoreProgram

# A row's value counts as a bare number (`--at x=2`), so a column is weak, whatever its container.
WEAK_OF: dict[str, DType] = {
    "float64": WEAK_FLOAT, "int64": WEAK_INT, "bool": BOOL, "complex128": WEAK_COMPLEX, "float32": FLOAT32,
}  # fmt: skip


class Request:
    """One evaluation of a table.

    `columns` holds the array of every input that differs from row to row, shape (count,) or (count, *shape);
    `constants` the value of every other; `names` the sources; `order` 0 for values, 1 for gradients, 2 for Hessians.
    """

    __slots__ = ("columns", "constants", "count", "names", "numeric", "options", "order")

    def __init__(
        self,
        core: CoreProgram,
        columns: Mapping[str, Any],
        at: Mapping[str, Any] | None,
        wrt: Sequence[str] | None,
        order: int,
        options: dict[str, Any],
    ) -> None:
        known = [*core.inputs, *core.optional]
        self.order = order
        self.options = options
        self.columns: dict[str, Any] = {name: column(name, columns[name]) for name in columns if name in known}
        at = at or {}
        self.constants: dict[str, Any] = {}
        for name, value in at.items():
            if name in self.columns:
                raise AdiffError("E0812", f"'{name}' is both a column and a constant", None, "leave one of them out")
            if name in known:
                self.constants[name] = value
            else:
                STATE.notify("N0801", f"'{name}' is bound, and the program has no input of that name")
        for name in columns:
            if name not in known and name in core.slot_names:
                STATE.notify("N0801", f"the program gives '{name}' a value itself: the column of that name is not read")
        unbound = [name for name in core.inputs if name not in self.columns and name not in self.constants]
        if unbound:
            verb = "is" if len(unbound) == 1 else "are"
            others = [name for name in columns if name not in known]
            raise AdiffError(
                "E0801", f"{listing(repr(n) for n in unbound)} {verb} not bound", None,
                "give a column of that name, or bind it with `at`"
                + (f"; the columns {', '.join(others[:8])} are not used" if others else ""),
            )  # fmt: skip
        sizes = {name: len(values) for name, values in self.columns.items()}
        if len(set(sizes.values())) > 1:
            shown = ", ".join(f"{name} has {size}" for name, size in sizes.items())
            raise AdiffError("E0302", f"the columns differ in length: {shown}", None, "a table has one row count")
        if not sizes:
            sizes = {name: len(values) for name, values in columns.items()}
        self.count = next(iter(sizes.values()), 0)
        if wrt is None:
            self.names = [name for name, values in self.columns.items() if may_be_numbers(values)] if order else []
            self.names.sort(key=known.index)
        else:
            for name in wrt:
                if name not in self.columns and name not in self.constants:
                    known_text = f"its inputs are {', '.join(core.inputs)}" if core.inputs else "it has no inputs"
                    raise AdiffError("E0803", f"'{name}' is not an input of the program", None, known_text)
            # In their order, as in an evaluation: at singular points a Hessian may depend on it.
            self.names = list(dict.fromkeys(wrt)) if order else []
        widened(self.columns)
        self.numeric = all(values.dtype.name in WEAK_OF for values in self.columns.values())

    def point(self, row: int) -> dict[str, Any]:
        """The inputs of one row, as `evaluate` takes them."""
        found = dict(self.constants)
        for name, values in self.columns.items():
            value = values[row]
            found[name] = value.tolist() if hasattr(value, "tolist") and values.dtype.name != "float32" else value
        return found

    def shape(self, name: str) -> tuple[int, ...]:
        """The shape that a source has in a row."""
        import numpy as np

        return self.columns[name].shape[1:] if name in self.columns else np.shape(self.constants[name])


def column(name: str, values: Any) -> Any:
    """A column as an array of a dtype of the language, or of objects where its items have none in common."""
    import numpy as np

    if hasattr(values, "to_numpy"):
        values = values.to_numpy()
    if hasattr(values, "__iter__") and not hasattr(values, "__getitem__") and not isinstance(values, set | frozenset):
        values = list(values)  # what gives its items once, or the values of a dict
    try:
        array = np.asarray(values)
    except ValueError:
        array = np.array([*values, None], object)[:-1]
    if array.ndim == 0:
        raise AdiffError(
            "E0802", f"the column '{name}' is no list and no array", None, "bind what is the same in all rows with `at`"
        )
    if array.ndim == 1 and array.dtype.kind in "US" and not all(isinstance(value, str | bytes) for value in values):
        array = np.array(values, object)  # NumPy makes strings of the numbers beside strings
    if array.dtype == object and any(hasattr(value, "__len__") and not isinstance(value, str) for value in array):
        raise AdiffError(
            "E0302", f"the rows of column '{name}' differ in shape", None,
            "a column holds numbers, or tensors of one shape; what is shorter can be padded",
        )  # fmt: skip
    if array.dtype.kind == "i" or (array.dtype.kind == "u" and (not array.size or array.max() < 2**63)):
        return array.astype(np.int64, copy=False)
    if array.dtype.kind == "f":
        return array.astype(np.float64 if array.dtype.itemsize > 4 else np.float32, copy=False)
    if array.dtype.kind == "c":
        return array.astype(np.complex128, copy=False)
    return array


def may_be_numbers(values: Any) -> bool:
    """Whether a column holds a number that could be differentiated by: no truth values, and no strings alone."""
    if values.dtype == object:
        return not values.size or not all(isinstance(value, str) for value in values)
    return values.dtype.kind not in "bUS"


def widened(columns: dict[str, Any]) -> None:
    """Columns of float32 beside wider ones become as wide, which loses nothing; alone they stay as they are."""
    names = {values.dtype.name for values in columns.values()}
    if "float32" in names and not names.isdisjoint(("float64", "complex128")):
        for name, values in columns.items():
            if values.dtype.name == "float32":
                columns[name] = values.astype("float64")
