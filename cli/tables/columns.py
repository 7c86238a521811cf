"""Columns of a table as numbers for a program, and as text for a reader."""

from __future__ import annotations

from ...parser.errors import AdiffError
from .. import errors
from ..files import number_of
from ..formats.delimited import numbers as number_texts
from ..formats.delimited import texts
from .read import arrow, chunks

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

TRUTHS = {"true": True, "false": False}


class Inputs:
    """What the columns of a table mean to a program. A column of text is one of whole numbers until another number comes, of
    numbers, or of strings where no cell of its first chunk is a number; an empty cell is missing, or `na`."""

    def __init__(self, na: float | None) -> None:
        self.na = na
        self.kinds: dict[str, str] = {}

    def read(self, name: str, column: Any, text: bool) -> tuple[Any, Any, dict[int, AdiffError]]:
        """The values of a column, where they are missing, and the error of each cell that means nothing."""
        import numpy as np

        wrong: dict[int, AdiffError] = {}
        if text:
            array, missing = self.of_text(name, column, wrong)
        elif isinstance(column, np.ndarray):
            array, missing = column, np.zeros(len(column), bool)
        elif isinstance(column, list):
            missing = np.array([value is None for value in column], bool)
            array = stacked(column)
            if array.dtype.kind == "O" and not missing.all():
                wrong.update(misfits(name, column))
                array = stacked([None if row in wrong else value for row, value in enumerate(column)])
        else:
            array, missing = of_arrow(name, column)
        if self.na is not None and missing.any() and array.dtype.kind in "fiub":
            array = np.where(missing, np.asarray(self.na), array)
            missing = np.zeros(len(array), bool)
        return array, missing, wrong

    def of_text(self, name: str, column: Any, wrong: dict[int, AdiffError]) -> tuple[Any, Any]:
        import numpy as np

        kind = self.kinds.get(name)
        pa = arrow()
        if pa is not None and not isinstance(column, list) and kind != "text":
            found = by_arrow(pa, column, kind != "floats")
            if found is not None:
                self.kinds[name] = "floats" if found[0].dtype.kind == "f" or kind == "floats" else "whole"
                return found[0].astype("float64") if kind == "floats" else found[0], found[1]
        cells = [cell.strip() for cell in (column if isinstance(column, list) else column.to_pylist())]
        missing = np.array([not cell for cell in cells], bool)
        numbers = [number_of(cell) for cell in cells]
        if kind is None:
            there = [number for number, cell in zip(numbers, cells) if cell]
            kind = "text" if there and not any(number is not None for number in there) else "whole"
        if kind == "text":
            self.kinds[name] = kind
            truths = all(cell.lower() in TRUTHS for cell in cells if cell)
            return np.array([TRUTHS.get(cell.lower(), False) for cell in cells] if truths else cells), missing
        for row, (number, cell) in enumerate(zip(numbers, cells)):
            if cell and number is None:
                wrong[row] = AdiffError("E0712", f"column '{name}': {cell!r} is not a number")
        if kind == "floats" or any(number.__class__ is float for number in numbers):
            kind = "floats"
        self.kinds[name] = kind
        filled = [0 if number is None else number for number in numbers]
        try:
            return np.array(filled, "float64" if kind == "floats" else "int64"), missing
        except OverflowError:
            self.kinds[name] = "floats"
            return np.array(filled, "float64"), missing


def read_column(path: str, name: str) -> Any:
    """One column of a table as a vector: what `t=@d.csv:t` binds."""
    import numpy as np

    parts = []
    inputs = Inputs(None)
    for chunk in chunks(path, "", True, None):
        if name not in chunk.names:
            raise errors.unusable(path, f"no column {name!r}", f"its columns are {', '.join(chunk.names[:20])}")
        array, missing, wrong = inputs.read(name, chunk.columns[chunk.names.index(name)], chunk.text)
        for row in sorted({*wrong, *np.flatnonzero(missing).tolist()}):
            said = wrong[row].message if row in wrong else f"column '{name}' is empty"
            raise errors.unusable(chunk.place(row), said)
        parts.append(array)
    return np.concatenate(parts)


def by_arrow(pa: Any, column: Any, whole: bool) -> tuple[Any, Any] | None:
    """Texts as numbers, and where they are missing; None where one of them is no number, as Arrow sees it."""
    from pyarrow import compute as pc

    empty = pc.equal(column, "")
    if pc.any(empty).as_py():
        column = pc.if_else(empty, "0", column)
    # Arrow takes 0x10 for a whole number, which it is not in a table.
    whole = whole and not pc.any(pc.match_substring(column, "x", ignore_case=True)).as_py()
    for kind in [pa.int64()] * whole + [pa.float64()]:
        try:
            return pc.cast(column, kind).to_numpy(zero_copy_only=False), empty.to_numpy(zero_copy_only=False)
        except pa.ArrowInvalid:
            continue
    return None


def of_arrow(name: str, column: Any) -> tuple[Any, Any]:
    """A typed column, and where it is null."""
    import numpy as np

    pa = arrow()
    kind = column.type
    missing = column.is_null().to_numpy(zero_copy_only=False)
    if pa.types.is_dictionary(kind):
        column = column.dictionary_decode()
        kind = column.type
    if pa.types.is_decimal(kind):
        column = column.cast(pa.float64())
        kind = column.type
    if pa.types.is_floating(kind) or pa.types.is_integer(kind) or pa.types.is_boolean(kind):
        return (column.fill_null(pa.scalar(0).cast(kind)) if column.null_count else column).to_numpy(
            zero_copy_only=False
        ), missing
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return np.array(column.fill_null("").to_pylist(), str), missing
    if pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind):
        return stacked(column.to_pylist()), missing
    raise errors.unusable("--rows", f"column '{name}' holds {kind}, which is no number")


def misfits(name: str, values: list[Any]) -> dict[int, AdiffError]:
    """The errors of values that have another form than the first one."""
    import numpy as np

    def form(value: Any) -> str:
        try:
            shape = list(np.shape(value))
        except ValueError:
            return "a list whose rows differ in length"
        return "a text" if isinstance(value, str) else f"a tensor of shape {shape}" if shape else "a number"

    forms = {row: form(value) for row, value in enumerate(values) if value is not None}
    first = next((x for x in forms.values() if "differ" not in x), "a number")
    said = f"column '{name}' holds {{}}, where {first} is expected"
    return {row: AdiffError("E0712", said.format(x)) for row, x in forms.items() if x != first}


def stacked(values: list[Any]) -> Any:
    """Values of rows as an array, of objects where they have no common shape; None stands for any of the others."""
    import numpy as np

    any_of_them = next((value for value in values if value is not None), 0.0)
    found = [any_of_them if value is None else value for value in values]
    try:
        array = np.array(found)
        if array.dtype.kind in "fib" or all(isinstance(value, str) for value in found):
            return array
    except ValueError:
        pass
    array = np.empty(len(found), object)
    array[:] = found
    return array


def as_texts(column: Any, valid: Any, delimiter: str) -> Sequence[str]:
    """The cells of a column as text, quoted where they need it; empty where not `valid`."""
    if (
        not isinstance(column, list)
        and not hasattr(column, "type")
        and column.dtype.kind in "fiub"
        and column.ndim == 1
    ):
        found: Sequence[str] = number_texts(column)
    else:
        cells = (
            column if isinstance(column, list) else column.to_pylist() if hasattr(column, "type") else column.tolist()
        )
        found = texts(cells, delimiter)
    return found if valid is None else [text if there else "" for text, there in zip(found, valid.tolist())]


def lines(columns: Sequence[Sequence[str]], delimiter: str) -> str:
    """Columns of texts as lines."""
    rows = list(map(delimiter.join, zip(*columns)))
    if len(columns) == 1:
        rows = [row or '""' for row in rows]  # a reader takes a line with nothing on it for no record at all
    return "\n".join(rows) + "\n" if rows else ""
