"""The library that is written in the language itself: which file of `engine/library/` defines a dotted name.

`tf.keras.layers.Dense` is `Dense` in `engine/library/keras/layers.adiff`. A file is parsed when a program first names something
of it. Errors inside it point at the program's call.
"""

from __future__ import annotations

import os
from functools import cache

from ...parser.source import Source

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .core import CoreProgram

FOLDER = os.path.join(os.path.dirname(os.path.dirname(__file__)), "library")
# Modules that TensorFlow has under several names.
ALIASES = {
    "optimizers": "keras/optimizers",
    "losses": "keras/losses",
    "metrics": "keras/metrics",
    "initializers": "keras/initializers",
}
# The files that may be named by programs, found in the folder when the first name with their first part is looked up.
ROOTS = frozenset(
    ("keras", "optimizers", "losses", "metrics", "initializers", "Module", "clip_by_global_norm", "global_norm")
)


class LibrarySource(Source):
    """The text of a file of the library."""

    __slots__ = ()
    library = True


def find(path: list[str]) -> tuple[str, int] | None:
    """The file that defines a dotted name, and the slot of its frame that holds it; None where there is none."""
    if not path or path[0] not in ROOTS:
        return None
    path = [part for part in path if part != "legacy"]
    file = file_of(path[:-1])
    if file is None:
        return None
    names = core_of(file).slot_names
    return (file, names.index(path[-1])) if path[-1] in names and path[-1][0] != "_" else None


def file_of(modules: list[str]) -> str | None:
    """The file of a module, as a path below the folder without its extension."""
    file = "/".join(modules)
    file = ALIASES.get(file, file) or "tensorflow"
    return file if os.path.exists(os.path.join(FOLDER, file + ".adiff")) else None


def members(modules: list[str]) -> list[str]:
    """The public names that a module's file defines, for suggestions."""
    file = file_of(modules) if modules and modules[0] in ROOTS else None
    return [] if file is None else [name for name in core_of(file).slot_names if name[:1] not in ("_", "")]


def is_module(path: list[str]) -> bool:
    """Whether a dotted name is that of a module of the library, or of a folder of such."""
    return path[0] in ROOTS and (file_of(path) is not None or os.path.isdir(os.path.join(FOLDER, *path)))


@cache
def core_of(file: str) -> CoreProgram:
    """The core program of a file."""
    from ...parser.parse import parse
    from .lower import lower

    with open(os.path.join(FOLDER, *file.split("/")) + ".adiff", encoding="utf-8") as text:
        source = LibrarySource(text.read(), f"adiff/{file}")
    return lower(source, parse(source))
