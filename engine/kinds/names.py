"""Which file of this folder holds the functions of a module or a class of TensorFlow's."""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

# The first part of a dotted name after `tf.` -> the file.
FILES: dict[str, str] = {
    "IndexedSlices": "indexed_slices",
    "SparseTensor": "sparse_functions",
    "sets": "sets",
    "sparse": "sparse_functions",
}


def function(name: str) -> Callable[..., Any] | None:
    """The function of a kind under its dotted name without `tf.`; None where there is none. Imports the kind's file."""
    file = FILES.get(name.partition(".")[0])
    if file is None:
        return None
    found: Callable[..., Any] | None = import_module(f"{__package__}.{file}").FUNCTIONS.get(name)
    return found


def members(module: str) -> list[str]:
    """The names of the functions of a kind's module or class, for suggestions."""
    file = FILES.get(module)
    if file is None:
        return []
    known = import_module(f"{__package__}.{file}").FUNCTIONS
    return [name.partition(".")[2] for name in known if name.startswith(module + ".")]
