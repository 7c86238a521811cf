"""Results as files of NumPy: `.npy` of one array, `.npz` of all of them by the names that they have as columns."""

from __future__ import annotations

from .. import errors
from .numbers import plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..result import Result


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
