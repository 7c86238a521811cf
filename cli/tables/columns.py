"""Columns of a table as numbers for a program, and as text for a reader."""

from __future__ import annotations

from ...parser.errors import AdiffError
from .. import errors
from ..files import number_of
from .read import arrow, chunks

TYPE_CHECKING = False
if TYPE_CHECKING:
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
            array, missing = stacked(name, column, wrong), np.array([value is None for value in column], bool)
        else:
            missing = column.is_null().to_numpy(zero_copy_only=False)
            array = of_arrow(name, column)
            array = stacked(name, array, wrong) if isinstance(array, list) else array
        if self.na is not None and missing.any() and array.dtype.kind in "fiub":
            array = np.where(missing, np.asarray(self.na), array)
            missing = np.zeros(len(array), bool)
        return array, missing, wrong

    def of_text(self, name: str, column: list[str], wrong: dict[int, AdiffError]) -> tuple[Any, Any]:
        import numpy as np

        kind = self.kinds.get(name)
        cells = [cell.strip() for cell in column]
        missing = np.array([not cell for cell in cells], bool)
        numbers = numbers_of(cells)
        if kind is None:
            there = [number for number, cell in zip(numbers, cells) if cell]
            kind = "text" if there and not any(number is not None for number in there) else "whole"
        if kind == "text":
            self.kinds[name] = kind
            truths = all(cell.lower() in TRUTHS for cell in cells if cell)
            return np.array([TRUTHS.get(cell.lower(), False) for cell in cells] if truths else cells), missing
        if None in numbers:
            for row, (number, cell) in enumerate(zip(numbers, cells)):
                if cell and number is None:
                    wrong[row] = AdiffError("E0712", f"column '{name}': {cell!r} is not a number")
            numbers = [0 if number is None else number for number in numbers]
        if kind == "whole" and float not in set(map(type, numbers)):
            self.kinds[name] = kind
            try:
                return np.array(numbers, "int64"), missing
            except OverflowError:
                pass
        self.kinds[name] = "floats"
        return np.array(numbers, "float64"), missing


def numbers_of(cells: list[str]) -> list[Any]:
    """The number in each cell, None where there is none."""
    for kind in () if "_" in "".join(cells) else (int, float):
        try:
            return list(map(kind, cells))
        except ValueError:
            continue
    return [number_of(cell) for cell in cells]


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


def of_arrow(name: str, column: Any) -> Any:
    """A typed column: of numbers an array, with zeros where it is null, and else a list."""
    pa = arrow()
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if pa.types.is_decimal(column.type):
        column = column.cast(pa.float64())
    kind = column.type
    if pa.types.is_floating(kind) or pa.types.is_integer(kind) or pa.types.is_boolean(kind):
        return column.fill_null(pa.scalar(0).cast(kind)).to_numpy(zero_copy_only=False)
    if isinstance(kind, pa.ListType | pa.LargeListType | pa.FixedSizeListType) or kind in (
        pa.string(),
        pa.large_string(),
    ):
        return column.to_pylist()
    raise errors.unusable("--rows", f"column '{name}' holds {kind}, which is no number")


def form(value: Any) -> str:
    """The form of a value in words."""
    import numpy as np

    try:
        shape = list(np.shape(value))
    except ValueError:
        return "a list whose rows differ in length"
    return "a text" if isinstance(value, str) else f"a tensor of shape {shape}" if shape else "a number"


def stacked(name: str, values: list[Any], wrong: dict[int, AdiffError]) -> Any:
    """Values of rows as an array, and the errors of those that have another form than the first one, which stands for them and
    for None."""
    import numpy as np

    first = next((value for value in values if value is not None), 0.0)
    found = [first if value is None else value for value in values]
    try:
        array = np.array(found)
        if array.dtype.kind in "fib" or all(isinstance(value, str) for value in found):
            return array
    except ValueError:
        pass
    expected, first = next(((x, value) for value in found if "differ" not in (x := form(value))), ("a number", 0.0))
    for row, value in enumerate(found):
        if (other := form(value)) != expected:
            found[row] = first
            wrong[row] = AdiffError("E0712", f"column '{name}' holds {other}, where {expected} is expected")
    return np.array(found)


def listed(column: Any, valid: Any = None) -> list[Any]:
    """The cells of a column as values of Python, None where not `valid`."""
    if hasattr(column, "type"):
        found = column.to_pylist()
    elif isinstance(column, list):
        found = column
    elif column.dtype.name == "float32":
        found = [float(str(x)) for x in column]  # whose text is the shortest one of a float32
    else:
        found = column.tolist()
    return found if valid is None else [value if there else None for value, there in zip(found, valid.tolist())]
