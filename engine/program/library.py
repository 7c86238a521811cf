"""The library that is written in the language itself: which file of `engine/library/` defines a dotted name.

`tf.keras.layers.Dense` is `Dense` in `engine/library/keras/layers.adiff`. A file is parsed when a program first names something
of it. Errors inside it point at the program's call.
"""

from __future__ import annotations

import os
from functools import cache

from ...parser.source import Source
from ..kinds.names import FILES
from ..ops.operation import Operation

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

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
# What a line of a file defines at the top level.
DEFINITION = r"(?:class|def) (\w+)|((?:\w+ = )+)"
# The files that may be named by programs, found in the folder when the first name with their first part is looked up.
ROOTS = frozenset(
    """
    keras optimizers losses metrics initializers Module clip_by_global_norm global_norm print train saved_model summary profiler
    """.split()
)


class LibrarySource(Source):
    """The text of a file of the library."""

    __slots__ = ()
    library = True


def find(path: list[str], anywhere: bool = False) -> tuple[str, str] | None:
    """The file that defines a dotted name, and the name there; None where there is none.

    Names that begin with none of ROOTS are found only where nothing else has their name, `anywhere`.
    """
    if not path or not (anywhere or path[0] in ROOTS):
        return None
    path = [part for part in path if part != "legacy"]
    module = file_of(path[:-1])
    file = None if module is None else public(module).get(path[-1])
    return None if file is None else (file, path[-1])


def find_of_kind(path: list[str]) -> tuple[str, str] | None:
    """The file that defines a name of a value kind, `["ragged", "range"]` or `["FIFOQueue"]`, and the name there."""
    file = public("kinds/" + FILES[path[0]]).get(path[-1]) if 0 < len(path) < 3 else None
    return None if file is None else (file, path[-1])


def file_of(modules: list[str]) -> str | None:
    """The file of a module, as a path below the folder without its extension."""
    file = "/".join(modules)
    file = ALIASES.get(file, file) or "tensorflow"
    return file if os.path.exists(os.path.join(FOLDER, file + ".adiff")) else None


def operation_of(function: Any, file: str = "") -> Operation | None:
    """What a function that is named, or is defined in a file, is as a row (see `operations`); None if it is no operation."""
    file = getattr(function, "file", "") or file
    return operations(file).get(function.name) if file.startswith("operations/") else None


def members(modules: list[str]) -> list[str]:
    """The public names that a module defines, for suggestions."""
    module = file_of(modules) if modules and modules[0] in ROOTS else None
    return [] if module is None else list(public(module))


@cache
def public(module: str) -> dict[str, str]:
    """The names that a module defines for programs, each with its file: `layers.adiff`, or a part, `layers.recurrent.adiff`.

    They are read off the text, so that a file is parsed only when a name of it is used.
    """
    from re import match

    folder, _, name = module.rpartition("/")
    found: dict[str, str] = {}
    for entry in sorted(os.listdir(os.path.join(FOLDER, folder))):
        if entry.startswith(name + ".") and entry.endswith(".adiff"):
            file = (folder and folder + "/") + entry.removesuffix(".adiff")
            for line in text_of(file).splitlines():
                definition = match(DEFINITION, line)
                if definition:
                    names = definition[1] or definition[2]
                    found.update({n: file for n in names.split(" = ") if n and n[0] != "_"})
    return found


def text_of(file: str) -> str:
    with open(os.path.join(FOLDER, *file.split("/")) + ".adiff", encoding="utf-8") as text:
        return text.read()


def is_module(path: list[str]) -> bool:
    """Whether a dotted name is that of a module of the library, or of a folder of such."""
    return path[0] in ROOTS and (file_of(path) is not None or os.path.isdir(os.path.join(FOLDER, *path)))


# --- operations -------------------------------------------------------------------------------------------------------


def named(file: str) -> dict[str, tuple[str, str]]:
    """The names under which programs call what a file defines, with the file and the definition: those in the comment
    `# Names: ...` above it, of which one with a dot is for one vocabulary where the last part means something else, or its own."""
    found = {}
    for comment, name, _ in definitions(file):
        names = comment.removeprefix(NAMES).split() if comment.startswith(NAMES) else [name] if name[0] != "_" else []
        found.update(dict.fromkeys(names, (file, name)))
    return found


def definitions(file: str) -> Iterator[tuple[str, str, str]]:
    """The functions and classes of a file: the line above, the name, and the signature or the bases."""
    before, *parts = text_of(file).replace("\nclass ", "\ndef ").split("\ndef ")
    for part in parts:
        name, _, signature = part.partition("\n")[0].removesuffix(":").removesuffix(")").partition("(")
        yield before.rpartition("\n")[2], name, signature
        before = part


NAMES = "# Names: "
OPERATION_FILES = [
    f"operations/{file.removesuffix('.adiff')}" for file in sorted(os.listdir(os.path.join(FOLDER, "operations")))
]
OPERATIONS = {name: place for file in OPERATION_FILES for name, place in named(file).items()}
# All functions of the language that are written in it.
WRITTEN = {
    **OPERATIONS,
    **{
        name: place
        for file in ("builtins", "builtins.sets", "control", "numpy", "optimize", "tape", "transforms")
        for name, place in named(file).items()
    },
    "partial": ("python/functools", "partial"),
}
OPERATION = r'^def (\w+)\(([^\n]*)\):\n    """(.*?)\n\n    >>> ([^\n]*)\n    ([^\n]*)\n    """'


@cache
def operations(file: str) -> dict[str, Operation]:
    """What the functions of a file of operations are, read off their first lines and docstrings, as rows that are called by
    nobody: signature, names, doc and example."""
    from ast import literal_eval
    from re import DOTALL, MULTILINE, findall

    rows = {}
    for name, signature, doc, text, value in findall(OPERATION, text_of(file), MULTILINE | DOTALL):
        names = [key for key, (_, function) in OPERATIONS.items() if function == name]
        rows[name] = Operation(
            names[0],
            signature,
            "composite",
            aliases=" ".join(names[1:]),
            doc=" ".join(doc.split()),
            example=(text, literal_eval(value)),
        )
        rows[name].family = file.removeprefix("operations/")
    return rows
