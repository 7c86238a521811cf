"""The names of the language: what a dotted or bare name of NumPy's, TensorFlow's, JAX's or math's means here."""

from __future__ import annotations

import math
import os
from functools import cache

from ..core.dtypes import SPELLINGS, DType, numpys
from ..core.errors import CATCHABLE
from ..kinds import names as kinds
from ..ops.operation import Operation
from ..ops.registry import NAMES, ROWS
from ..version import VERSION
from . import library
from .core import Expr, Intrinsic, LibraryName, Literal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

CONSTANTS: dict[str, Any] = {
    "pi": math.pi,
    "e": math.e,
    "π": math.pi,
    "τ": math.tau,
    "tau": math.tau,
    "inf": math.inf,
    "Inf": math.inf,
    "nan": math.nan,
    "newaxis": None,
    "euler_gamma": 0.5772156649015329,
}

# Functions that are no rows: each executor supplies them under these names.
INTRINSICS = frozenset(
    """
    len range zip enumerate list tuple dict int float bool complex str abs min max sum round sorted reversed any all
    map filter iter next print isinstance type repr
    custom_gradient as_dtype GradientTape Variable no_op device name_scope tf.Variable
    getattr setattr callable ord chr super staticmethod classmethod property Tensor
    """.split()
)
# Classes of exceptions: those of tf.errors, and Python's.
TENSORFLOW_ERRORS = frozenset(name for name, (base, *_) in CATCHABLE.items() if "OpError" in (name, base))
PYTHON_ERRORS = frozenset({"Exception", *CATCHABLE}) - TENSORFLOW_ERRORS
INTRINSIC_ALIASES = {
    "stop_recording": "no_op",
    "control_dependencies": "name_scope",
    "print_": "print",
    "Print": "print",
    "ndarray": "Tensor",
}

# Bare built-ins of Python that mean Python's function, not the row that NumPy calls the same.
BUILTINS_FIRST = frozenset("abs min max sum round sorted any all slice".split())

# Modules whose names are bound without an import, and the prefixes under them that change nothing.
MODULES = {
    "tf": "tensorflow",
    "tensorflow": "tensorflow",
    "np": "numpy",
    "numpy": "numpy",
    "jnp": "jax.numpy",
    "jax": "jax",
    "lax": "jax.lax",
    "functools": "functools",
    "random": "random",
    "math": "math",
    "cmath": "cmath",
    "scipy": "scipy",
    "tfp": "tensorflow_probability",
    "adiff": "adiff",
}
IMPORTABLE = frozenset(
    """
    tensorflow numpy jax jax.numpy math cmath scipy scipy.special scipy.linalg numpy.linalg jax.nn jax.scipy
    jax.scipy.special jax.numpy.linalg tensorflow.math tensorflow.linalg adiff jax.lax jax.scipy.linalg numpy.random
    tensorflow.experimental.numpy tensorflow.random functools jax.random jax.tree_util scipy.optimize tensorflow_probability
    """.split()
)
# Imports that pasted cells carry and that mean nothing here.
IGNORED_IMPORTS = frozenset({"__future__", "typing"})
# Modules of which every name is there, and whatever is called is passed over.
PASSED_OVER = frozenset({"matplotlib", "seaborn", "logging", "warnings", "traceback", "IPython"})
SUBMODULES = frozenset(
    """
    math linalg nn numpy lax special scipy experimental random errstate keras compat v1 v2 raw_ops autodiff nest
    tree tree_util debugging config sets sparse ragged strings queue data image signal bitwise dtypes testing io train
    optimize optimizer
    """.split()
)
FILES = "programs read and write no files: get_weights() and set_weights(values) carry weights from model to model"
BIND = "nothing is read or downloaded here: bind a file's data as an input (--at x=@data.csv, --at x_train=@train.npy)"
# Modules that may be imported, and of which no name is there; and what to write instead.
NOT_SERVED: dict[str, str] = {
    **dict.fromkeys(("pandas", "sklearn", "tensorflow_datasets", "PIL"), BIND),
    **dict.fromkeys(("tempfile", "pathlib", "json"), FILES),
    "re": "tf.strings.regex_replace and tf.strings.regex_full_match take patterns",
}
# Modules about other things than dense tensors. What they call `size`, `add` or `range` is no function of that name here
# (tf.sets.size counts distinct elements), so of them there is what is named, and nothing else; and what to write instead.
APART: dict[str, tuple[frozenset[str], str | None]] = {
    module: (frozenset(names.split()), advice)
    for modules, names, advice in (
        ("signal", "fft ifft rfft irfft fft2d ifft2d", None),
        ("config image keras raw_ops", "", None),
        ("train saved_model summary", "", FILES),
        ("distribute", "", "a program runs on one machine: leave this line out"),
        ("datasets", "", BIND),
        ("applications", "", "no trained weights are here: build the network of its layers"),
        ("autodiff", "ForwardAccumulator GradientTape", None),
        ("bitwise", "bitwise_and bitwise_or bitwise_xor invert left_shift right_shift", None),
        ("dtypes", "as_dtype cast complex saturate_cast " + " ".join(SPELLINGS), None),
        ("nest", "map_structure tree_map", None),
        ("tree", "map map_structure", None),
        ("tree_util", "tree_map tree_multimap", None),
        ("testing", "assert_allclose assert_array_equal assert_equal", None),
    )
    for module in modules.split()
}

# Functions of Python that nothing here can call. As names of inputs they are as good as any: a table of prices has a
# column `open`.
FORBIDDEN = frozenset(
    """
    open eval exec compile globals locals vars delattr input breakpoint exit quit memoryview
    bytes bytearray dir help id
    """.split()
)


def defined(found: tuple[str, str] | None) -> LibraryName | None:
    """What a file of the library defines, of its path and the name there; None for None."""
    return None if found is None else LibraryName(*found, False)


# What dotted names mean of which the last part alone means something else, or nothing.
MEMBERS: dict[str, Expr] = {
    **{name: Literal(row) for name, row in NAMES.items() if "." in name},
    **{f"internal.{row.name}": Literal(row) for row in ROWS.values() if row.internal},  # the library alone calls these
    **{name: LibraryName(*place, False) for name, place in library.WRITTEN.items() if "." in name},
    **{f"np.{name}": Literal(SPELLINGS[name]) for name in ("int", "float", "bool", "complex", "str")},
    **{f"errors.{name}": Intrinsic(name) for name in TENSORFLOW_ERRORS},
    **dict.fromkeys(("cond", "lax.cond"), LibraryName("control", "cond", False)),  # that of matrices is linalg.cond
    **dict.fromkeys(("tf.random.set_seed", "tf.set_random_seed"), LibraryName("numpy_random", "seed", False)),
    "tree.map": LibraryName("control", "tree_map", False),
    "linalg.LinAlgError": Intrinsic("LinAlgError"),
    "UnconnectedGradients.NONE": Literal("none"),
    "UnconnectedGradients.ZERO": Literal("zero"),
    "__version__": Literal(VERSION),
}


def is_constant(meaning: Expr) -> bool:
    """Whether what a name means is a number or a text, and nothing to call."""
    return meaning.__class__ is Literal and meaning.value.__class__ not in (Operation, DType)


def is_function(meaning: Expr | None) -> bool:
    return meaning is not None and (meaning.__class__ is not Literal or meaning.value.__class__ is Operation)


def bare(name: str) -> Expr | None:
    """The meaning of a bare name."""
    if name in ("cond", "divmod"):  # Python's, whose names rows have too
        return LibraryName(*library.WRITTEN[name], False)
    if name in BUILTINS_FIRST or name in PYTHON_ERRORS:
        return Intrinsic(name)
    return under_prefix(name)


def under_prefix(name: str) -> Expr | None:
    """The meaning of a name under a module's prefix, where `max` is NumPy's and not Python's."""
    for table in (CONSTANTS, NAMES):
        if name in table:
            return Literal(table[name])
    name = INTRINSIC_ALIASES.get(name, name)
    if name in library.WRITTEN:
        return LibraryName(*library.WRITTEN[name], False)
    if name in INTRINSICS or kinds.function(name) is not None:
        return Intrinsic(name)
    if name in kinds.FILES:
        return defined(library.find_of_kind([name]))
    return Literal(SPELLINGS[name]) if name in SPELLINGS else None


def dotted(parts: list[str]) -> Expr | None:
    """The meaning of `tf.math.log` and its like; None where the module has no such name here."""
    meaning = member(parts) or written(parts)
    root = "numpy" if "numpy" in parts[:-1] else MODULES.get(parts[0], parts[0])  # tf.experimental.numpy is NumPy
    if root not in ("tensorflow", "numpy"):
        return meaning
    from ..ops.tensorflow import NUMPY, TENSORFLOW

    if meaning.__class__ is Literal and meaning.value.__class__ is Operation:
        rows = TENSORFLOW if root == "tensorflow" else NUMPY
        return Literal(rows.get(meaning.value.name, meaning.value))
    if root == "tensorflow" and meaning.__class__ is Intrinsic:
        if meaning.name == "Variable" or kinds.function(meaning.name) is not None:
            return Intrinsic("tf." + meaning.name)
    if root == "tensorflow" and meaning.__class__ is LibraryName and of_kind(parts):
        return LibraryName(meaning.file, meaning.name, True)
    return meaning


def called(parts: list[str]) -> Expr | None:
    """The meaning of a dotted name that is called: np.float32(2) makes a number of NumPy's."""
    meaning = dotted(parts)
    if MODULES.get(parts[0], parts[0]) == "numpy" and meaning.__class__ is Literal and meaning.value.__class__ is DType:
        return Literal(numpys(meaning.value))
    return meaning


def without_versions(parts: list[str]) -> list[str]:
    """A dotted name after its first part, as it is without TensorFlow's versions."""
    return [part for part in parts[1:] if part not in ("compat", "v1", "v2", "experimental")]


def member(parts: list[str]) -> Expr | None:
    """What a module's name means whatever its defaults are."""
    if parts[0] in PASSED_OVER:
        return Intrinsic(parts[0])
    if library.file_of(["python", parts[0]]):
        return defined(library.find(["python", *parts], anywhere=True))
    if parts[0] in NOT_SERVED:
        return None
    if parts[0] == "internal":
        name = ".".join(parts)
        return MEMBERS.get(name) or defined(library.find(parts, anywhere=True)) or Intrinsic(name)
    path = without_versions(parts)
    root = MODULES.get(parts[0], parts[0])
    if len(path) > 1 and path[0] == "numpy" and root == "tensorflow":  # tf.experimental.numpy
        root, path = "numpy", path[1:]
    if root == "jax" and (path[:1] == ["random"] or path in (["custom_vjp"], ["custom_jvp"])):
        drawn = library.find(["jax", *path], anywhere=True)
        if drawn is not None:
            return defined(drawn)
    if path[:1] == ["random"] and root in ("numpy", "jax", "jax.numpy", "scipy"):
        # Theirs take other arguments, and draw from a state or a key.
        served = root == "numpy" and len(path) > 1
        return defined(library.find(["numpy_random", path[-1]], anywhere=True)) if served else None
    short = {"tensorflow": "tf", "numpy": "np", "jax.numpy": "jnp"}.get(root, root)
    for full in (".".join([short, *path]), ".".join(path)):
        if full in MEMBERS:
            return MEMBERS[full]
    if of_kind(parts):
        path = parts if parts[0] in kinds.FILES else path
        name = ".".join(path)
        return Intrinsic(name) if kinds.function(name) is not None else defined(library.find_of_kind(path))
    found = library.find(path) if root == "tensorflow" else None
    if found is not None:
        return defined(found)
    if path[:2] == ["keras", "ops"] and len(path) == 3:
        return under_prefix(path[2])  # NumPy's names, with TensorFlow's defaults
    apart = module_apart(path)
    if apart is not None and path[-1] not in APART[apart][0]:
        return None
    if root == "math" and path[-1] in ("floor", "ceil", "trunc"):  # an integer, and a float in the others' vocabularies
        return LibraryName("builtins", path[-1], False)
    if any(part not in SUBMODULES for part in path[:-1]) or "random" in path[:-1]:
        return None  # names in random are rows of their own: tf.random.normal is no other normal
    return under_prefix(path[-1]) if path else None


def written(parts: list[str]) -> Expr | None:
    """The meaning of TensorFlow's small functions, which the library has in the language itself."""
    if MODULES.get(parts[0]) != "tensorflow":
        return None
    path = [part for part in without_versions(parts) if part not in ("math", "nn", "linalg", "numpy")]
    return None if path[:1] in (["internal"], ["kinds"]) else defined(library.find(path, anywhere=True))


def has_attributes(parts: list[str]) -> bool:
    """Whether a dotted name is a dtype or a class of the library: `tf.float32.max`, `tf.random.Generator.from_seed`."""
    meaning = dotted(parts) if len(parts) > 1 else None
    return meaning.__class__ is LibraryName or (meaning.__class__ is Literal and meaning.value.__class__ is DType)


def is_module(path: list[str]) -> bool:
    return importable(".".join([MODULES.get(path[0], path[0]), *path[1:]])) is not None


def importable(name: str) -> list[str] | None:
    """The path of a module that programs may import; None for any other."""
    path = name.split(".")
    if name == "random":
        return ["pyrandom"]  # without an import, random is that of tf.
    if path[0] == "keras":
        path = ["tensorflow", *path]
    if name in IMPORTABLE or (path[0] == "tensorflow" and library.is_module(path[1:])):
        return path
    if path[0] in PASSED_OVER or path[0] in NOT_SERVED or library.file_of(["python", *path]):
        return path
    return None


def of_kind(parts: list[str]) -> bool:
    """Whether a dotted name is one of a value kind: `tf.ragged.constant`, `strings.length`."""
    if MODULES.get(parts[0], parts[0]) in ("tensorflow", "adiff"):
        parts = without_versions(parts)
    return bool(parts) and parts[0] in kinds.FILES


def module_apart(parts: list[str]) -> str | None:
    """The last module of APART on the way of a dotted name; None where there is none."""
    return next((part for part in reversed(parts[:-1]) if part in APART), None)


def near(parts: list[str]) -> list[list[str]]:
    """What a dotted name that means nothing may have been: its last part is misspelt, or else a module on the way."""
    from ...parser.suggest import suggest

    if of_kind(parts[:-1]):
        known: Iterable[str] = library.public("kinds/" + parts[-2])
    elif library.members(parts[1:-1]):
        known = library.members(parts[1:-1])
    else:
        tensorflows = MODULES.get(parts[0], parts[0]) == "tensorflow" and "numpy" not in parts
        known = tensorflow_names(parts)[0] if tensorflows else callable_names()
    for i in reversed(range(1, len(parts))):
        names = suggest(parts[i], known if i == len(parts) - 1 else SUBMODULES)
        found = [way for name in names if dotted(way := [*parts[:i], name, *parts[i + 1 :]]) is not None]
        if found:
            return found
    return []


@cache
def tensorflow_modules() -> dict[str, list[str]]:
    """TensorFlow's public names by their modules."""
    with open(os.path.join(os.path.dirname(__file__), "tensorflow_names.txt"), encoding="utf-8") as text:
        paragraphs = [paragraph.partition(":") for paragraph in text.read().split("\n\n")]
    return {module: names.split() for module, _, names in paragraphs}


def tensorflow_names(parts: list[str]) -> tuple[list[str], str]:
    """The names that TensorFlow has in the module of a dotted name, and the name there."""
    path = without_versions(parts)
    module, name = ("tf", path) if len(path) < 2 else (path[0], path[1:])
    return tensorflow_modules().get(module, []), ".".join(name)


def is_tensorflows(parts: list[str]) -> bool:
    """Whether TensorFlow has a dotted name that means nothing here."""
    known, name = tensorflow_names(parts)
    return MODULES.get(parts[0], parts[0]) == "tensorflow" and name in known


def callable_names() -> set[str]:
    """The names of functions as they are written after a module's name."""
    return {name.rpartition(".")[2] for name in function_names()}


def function_names() -> list[str]:
    """Every name that can be called, for did-you-mean."""
    return [*NAMES, *INTRINSICS, *INTRINSIC_ALIASES, *library.WRITTEN]
