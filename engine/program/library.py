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
    "python/tqdm/auto": "python/tqdm",
    "python/tqdm/notebook": "python/tqdm",
}
INITIALIZERS = {
    f"{short}_initializer": ["keras", "initializers", name]
    for short, name in (
        ("zeros", "Zeros"), ("ones", "Ones"), ("constant", "Constant"), ("random_normal", "RandomNormal"),
        ("random_uniform", "RandomUniform"),
    )
}  # fmt: skip
# The files that may be named by programs, found in the folder when the first name with their first part is looked up.
ROOTS = frozenset(
    ("keras", "optimizers", "losses", "metrics", "initializers", "Module", "clip_by_global_norm", "global_norm")
)


# Modules of Python's: the files of `engine/library/python/`, and what of functools the interpreter has.
PYTHON = frozenset(("collections", "contextlib", "datetime", "functools", "itertools", "time", "timeit", "tqdm"))


class LibrarySource(Source):
    """The text of a file of the library."""

    __slots__ = ()
    library = True


def find(path: list[str], anywhere: bool = False) -> tuple[str, int] | None:
    """The file that defines a dotted name, and the slot of its frame that holds it; None where there is none.

    Names that begin with none of ROOTS are found only where nothing else has their name, `anywhere`.
    """
    if path and anywhere:
        path = INITIALIZERS.get(path[-1], path)
    if not path or not (anywhere or path[0] in ROOTS):
        return None
    path = [part for part in path if part != "legacy"]
    file = file_of(path[:-1])
    if file is None:
        return None
    return (file, core_of(file).slot_names.index(path[-1])) if path[-1] in public(file) else None


def file_of(modules: list[str]) -> str | None:
    """The file of a module, as a path below the folder without its extension."""
    file = "/".join(modules)
    file = ALIASES.get(file, file) or "tensorflow"
    return file if os.path.exists(os.path.join(FOLDER, file + ".adiff")) else None


def members(modules: list[str]) -> list[str]:
    """The public names that a module's file defines, for suggestions."""
    file = file_of(modules) if modules and modules[0] in ROOTS else None
    return [] if file is None else public(file)


def public(file: str) -> list[str]:
    """The names that a file defines for programs: not its own, and none of the language that it reads."""
    core = core_of(file)
    return [name for name in core.slot_names if name[:1] not in ("_", "") and name not in core.optional]


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
