"""Results as files of NumPy: `.npy` of one array, `.npz` of all of them by the names that they have as columns; and as a table
of Parquet or Arrow, of the columns that CSV has."""

from __future__ import annotations

from .. import errors
from .delimited import field, names
from .numbers import entries, plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..output import Output
    from ..request import Request
    from ..result import Result


def write(request: Request, result: Result, output: Output) -> None:
    """Write the file. Raises AdiffError E0713 where it cannot hold the result."""
    if output.style.format in ("npy", "npz"):
        output.write_bytes(content(result, request.text("output"), output.style.format))
        return
    from ..tables.write import Arrow

    if result.header:
        found = list(zip(result.header, zip(*result.rows)))
    else:
        pairs = ((head, x) for name, value in result.columns for head, x in zip(names(name, value), entries(value)))
        found = [(head, (scalar,)) for head, (_, scalar, _) in pairs]
    kept = [[x if x is None or isinstance(x, str | int | float) else field(x) for x in column] for _, column in found]
    table = Arrow(output, request.command, output.style.format)
    table.write([name for name, _ in found], kept, [None] * len(found))
    table.finish()


def content(result: Result, path: str, form: str) -> bytes:
    """The bytes of the file; of a value and one derivative, `.npy` has the derivative. Raises AdiffError E0713 where it cannot
    hold the result."""
    import io

    import numpy

    found = dict(result.columns)
    if form == "npy" and len(found) > 1:
        found.pop("value", None)
    if not found or (form == "npy" and len(found) > 1):
        names = ", ".join(found) or "none"
        raise errors.unwritable(path, f"holds one array, and the result has {names}: .npz and .json hold more")
    buffer = io.BytesIO()
    arrays = {name: array(path, name, value) for name, value in found.items()}
    if form == "npz":
        numpy.savez(buffer, **arrays)
    else:
        numpy.save(buffer, *arrays.values())
    return buffer.getvalue()


def array(path: str, name: str, value: Any) -> Any:
    """A value as an array."""
    import numpy

    try:
        found = numpy.asarray(plain(value))
    except ValueError:
        found = numpy.asarray(None)
    if found.dtype.kind not in "fiubc":
        raise errors.unwritable(path, f"{name} is no array of numbers: .json holds it")
    return found
