"""The names of the language: what a dotted or bare name of NumPy's, TensorFlow's, JAX's or math's means here."""

from __future__ import annotations

import math

from ...parser.fields import Record
from ..core.dtypes import SPELLINGS, numpys
from ..core.errors import CATCHABLE
from ..core.operation import Operation
from ..core.tensor import OPERATORS
from ..kinds import names as kinds
from ..ops.registry import NAMES
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
    map filter iter next print pow isinstance type repr
    grad value_and_grad jacobian jacfwd jacrev hessian jvp vjp hvp custom_gradient
    finfo as_dtype GradientTape Variable no_op device name_scope tf.Variable math.floor math.ceil math.trunc
    getattr setattr callable ord chr super staticmethod classmethod property Tensor
    """.split()
)
# Functions that are written in the language, each with its file of engine/library/.
WRITTEN = {
    name: file
    for file, names in (
        (
            "control",
            "cond while_loop fori_loop scan map_fn vectorized_map foldl foldr switch_case case linearize checkpoint",
        ),
        ("builtins", "object set frozenset hash issubclass hasattr divmod"),
        ("nest", "tree_map"),
        ("numpy", "printoptions set_printoptions assert_equal assert_allclose"),
        ("python/functools", "partial"),
        ("tape", "ForwardAccumulator function gradients hessians"),
        ("optimize", "minimize lbfgs_minimize value_and_gradient pack unpack"),
    )
    for name in names.split()
}
# Classes of exceptions: those of tf.errors, and Python's.
TENSORFLOW_ERRORS = frozenset(name for name, (base, *_) in CATCHABLE.items() if "OpError" in (name, base))
PYTHON_ERRORS = frozenset({"Exception", *CATCHABLE}) - TENSORFLOW_ERRORS
INTRINSIC_ALIASES = {
    alias: name
    for name, aliases in (
        ("checkpoint", "recompute_grad remat"),
        ("vectorized_map", "vmap vectorize"),
        ("function", "jit autograph"),
        ("no_op", "stop_recording"),
        ("name_scope", "control_dependencies"),
        ("assert_equal", "assert_array_equal"),
        ("switch_case", "switch"),
        ("print", "print_ Print"),
        ("Tensor", "ndarray"),
        ("tree_map", "map_structure tree_multimap"),
    )
    for alias in aliases.split()
}

# Bare built-ins of Python that mean Python's function, not the row that NumPy calls the same.
BUILTINS_FIRST = frozenset("abs min max sum round sorted any all pow slice".split())

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
    for module, names, advice in (
        ("signal", "fft ifft rfft irfft fft2d ifft2d", None),
        ("image", "", None),
        ("train", "", FILES),
        ("saved_model", "", FILES),
        ("summary", "", FILES),
        ("distribute", "", "a program runs on one machine: leave this line out"),
        ("datasets", "", BIND),
        ("applications", "", "no trained weights are here: build the network of its layers"),
        ("config", "", None),
        ("keras", "", None),
        ("raw_ops", "", None),
        ("autodiff", "ForwardAccumulator GradientTape", None),
        ("bitwise", "bitwise_and bitwise_or bitwise_xor invert left_shift right_shift", None),
        ("dtypes", "as_dtype cast complex saturate_cast " + " ".join(SPELLINGS), None),
        ("nest", "map_structure", None),
        ("tree", "map map_structure", None),
        ("tree_util", "tree_map tree_multimap", None),
        ("testing", "assert_allclose assert_array_equal assert_equal", None),
    )
}

# Functions of Python that nothing here can call. As names of inputs they are as good as any: a table of prices has a
# column `open`.
FORBIDDEN = frozenset(
    """
    open eval exec compile globals locals vars delattr input breakpoint exit quit memoryview
    bytes bytearray dir help id
    """.split()
)


# The functions of cmath that are complex where those of math have no value.
COMPLEX_FUNCTIONS = frozenset("acos acosh asin asinh atan atanh cos cosh exp log log10 sin sinh sqrt tan tanh".split())


def of_complex(name: str) -> Operation:
    """A function of cmath: the row of that name, computed in complex numbers."""
    row = NAMES[name]

    def function(z: Any, *others: Any) -> Any:
        cast = OPERATORS.cast
        return row(*(cast(x, dtype="complex128") for x in (z, *others)))

    if row.longer is not None:
        return Operation("cmath." + name, "z, base=None", "composite", function=lambda z, base: (
            function(z) if base is None else function(z) / function(base)
        ))  # fmt: skip
    return Operation("cmath." + name, "z", "composite", function=function)


class Meaning(Record):
    """What a name of the vocabulary stands for: an expression of the core program."""

    kind: str  # "row" "intrinsic" "constant" "dtype" "library"
    value: Any


def bare(name: str) -> Meaning | None:
    """The meaning of a bare name."""
    if name in ("cond", "divmod"):  # Python's, whose names rows have too
        return Meaning("library", (WRITTEN[name], name))
    if name in BUILTINS_FIRST or name in PYTHON_ERRORS:
        return Meaning("intrinsic", name)
    return under_prefix(name)


def under_prefix(name: str) -> Meaning | None:
    """The meaning of a name under a module's prefix, where `max` is NumPy's and not Python's."""
    if name in CONSTANTS:
        return Meaning("constant", CONSTANTS[name])
    row = NAMES.get(name)
    if row is not None:
        return Meaning("row", row)
    if name in INTRINSIC_ALIASES:
        name = INTRINSIC_ALIASES[name]
    if name in WRITTEN:
        return Meaning("library", (WRITTEN[name], name))
    if name in library.OPERATIONS:
        return Meaning("library", library.OPERATIONS[name])
    if name in INTRINSICS or kinds.function(name) is not None:
        return Meaning("intrinsic", name)
    if name in kinds.FILES:
        found = library.find_of_kind([name])
        return None if found is None else Meaning("library", found)
    dtype = SPELLINGS.get(name)
    if dtype is not None:
        return Meaning("dtype", dtype)
    return None


def dotted(parts: list[str]) -> Meaning | None:
    """The meaning of `tf.math.log` and its like; None where the module has no such name here."""
    meaning = member(parts) or written(parts)
    root = "numpy" if "numpy" in parts[:-1] else MODULES.get(parts[0], parts[0])  # tf.experimental.numpy is NumPy
    if meaning is None or root not in ("tensorflow", "numpy"):
        return meaning
    from ..ops.tensorflow import NUMPY, TENSORFLOW

    if meaning.kind == "row":
        rows = TENSORFLOW if root == "tensorflow" else NUMPY
        return Meaning("row", rows.get(meaning.value.name, meaning.value))
    if root == "tensorflow" and meaning.value == "Variable":
        return Meaning("intrinsic", "tf.Variable")
    if root == "tensorflow" and meaning.kind == "intrinsic" and kinds.function(meaning.value) is not None:
        return Meaning("intrinsic", "tf." + meaning.value)
    if root == "tensorflow" and meaning.kind == "library" and of_kind(parts):
        return Meaning("library", (*meaning.value, True))
    return meaning


def called(parts: list[str]) -> Meaning | None:
    """The meaning of a dotted name that is called: np.float32(2) makes a number of NumPy's."""
    meaning = dotted(parts)
    if meaning is not None and meaning.kind == "dtype" and MODULES.get(parts[0], parts[0]) == "numpy":
        return Meaning("dtype", numpys(meaning.value))
    return meaning


def member(parts: list[str]) -> Meaning | None:
    """What a module's name means whatever its defaults are."""
    if parts[0] in PASSED_OVER:
        return Meaning("intrinsic", parts[0])
    if library.file_of(["python", parts[0]]):
        found = library.find(["python", *parts], anywhere=True)
        return None if found is None else Meaning("library", found)
    if parts[0] in NOT_SERVED:
        return None
    if parts[0] == "internal":
        found = library.find(parts, anywhere=True)
        return Meaning("library", found) if found is not None else Meaning("intrinsic", ".".join(parts))
    path = [p for p in parts[1:] if p not in ("compat", "v1", "v2", "experimental")]
    root = MODULES.get(parts[0], parts[0])
    if len(path) > 1 and path[0] == "numpy" and root == "tensorflow":  # tf.experimental.numpy
        root, path = "numpy", path[1:]
    if root == "jax" and (path[:1] == ["random"] or path in (["custom_vjp"], ["custom_jvp"])):
        drawn = library.find(["jax", *path], anywhere=True)
        if drawn is not None:
            return Meaning("library", drawn)
    if path[:1] == ["random"] and root in ("numpy", "jax", "jax.numpy", "scipy"):
        # Theirs take other arguments, and draw from a state or a key.
        served = root == "numpy" and len(path) > 1
        drawn = library.find(["numpy_random", path[-1]], anywhere=True) if served else None
        return None if drawn is None else Meaning("library", drawn)
    if path in (["random", "set_seed"], ["set_random_seed"]) and root == "tensorflow":
        return Meaning("library", ("numpy_random", "seed"))
    short = {"tensorflow": "tf", "numpy": "np", "jax.numpy": "jnp"}.get(root, root)
    for full in (".".join([short, *path]), ".".join(path)):
        row = NAMES.get(full)
        if row is not None and "." in full:
            return Meaning("row", row)
        if full in library.OPERATIONS and "." in full:
            return Meaning("library", library.OPERATIONS[full])
    if of_kind(parts):
        path = parts if parts[0] in kinds.FILES else path
        if kinds.function(".".join(path)) is not None:
            return Meaning("intrinsic", ".".join(path))
        found = library.find_of_kind(path)
        return None if found is None else Meaning("library", found)
    found = library.find(path) if root == "tensorflow" else None
    if found is not None:
        return Meaning("library", found)
    if path[:2] == ["keras", "ops"] and len(path) == 3:
        return under_prefix(path[2])  # NumPy's names, with TensorFlow's defaults
    if path == ["linalg", "LinAlgError"]:
        return Meaning("intrinsic", "LinAlgError")
    if path[:1] == ["errors"] and len(path) == 2:
        return Meaning("intrinsic", path[1]) if path[1] in TENSORFLOW_ERRORS else None
    apart = module_apart(path)
    if apart is not None and path[-1] not in APART[apart][0]:
        return None
    if root == "cmath" and len(path) == 1 and path[0] in COMPLEX_FUNCTIONS:
        return Meaning("row", of_complex(path[0]))
    if (
        root == "math" and ".".join(["math", *path]) in INTRINSICS
    ):  # an integer, and a float in the others' vocabularies
        return Meaning("intrinsic", ".".join(["math", *path]))
    if path[-2:] == ["tree", "map"]:
        return Meaning("library", (WRITTEN["tree_map"], "tree_map"))
    if path[-1:] == ["cond"] and "linalg" not in path and root != "numpy":
        return Meaning("library", (WRITTEN["cond"], "cond"))  # the condition number is linalg.cond
    if path[:1] == ["UnconnectedGradients"] and path[1:] in (["NONE"], ["ZERO"]):
        return Meaning("constant", path[1].lower())
    if path == ["__version__"]:
        from ..version import VERSION

        return Meaning("constant", VERSION)
    if len(path) > 1 and any(p not in SUBMODULES for p in path[:-1]):
        return None
    if "random" in path[:-1]:
        return None  # its names are rows of their own: tf.random.normal is no other normal
    if root == "numpy" and path[-1] in ("int", "float", "bool", "complex", "str"):
        return Meaning("dtype", SPELLINGS[path[-1]])
    return under_prefix(path[-1]) if path else None


def written(parts: list[str]) -> Meaning | None:
    """The meaning of TensorFlow's small functions, which the library has in the language itself."""
    if MODULES.get(parts[0]) != "tensorflow":
        return None
    path = [p for p in parts[1:] if p not in ("compat", "v1", "v2", "experimental", "math", "nn", "linalg", "numpy")]
    found = library.find(path, anywhere=True) if path[:1] not in (["internal"], ["kinds"]) else None
    return Meaning("library", found) if found is not None else None


def has_attributes(parts: list[str]) -> bool:
    """Whether a dotted name is a dtype or a class of the library: `tf.float32.max`, `tf.random.Generator.from_seed`."""
    meaning = dotted(parts) if len(parts) > 1 else None
    return meaning is not None and meaning.kind in ("dtype", "library")


def is_module(path: list[str]) -> bool:
    return importable(".".join([MODULES.get(path[0], path[0]), *path[1:]])) is not None


def importable(name: str) -> list[str] | None:
    """The path of a module that programs may import; None for any other."""
    path = name.split(".")
    if name == "random":
        return ["pyrandom"]  # without an import, random is that of tf.
    if path[0] == "keras":
        path = ["tensorflow", *path]
    if name in IMPORTABLE or (path[0] == "tensorflow" and library.is_module(path[1:] or [""])):
        return path
    if path[0] in PASSED_OVER or path[0] in NOT_SERVED or library.file_of(["python", *path]):
        return path
    return None


def of_kind(parts: list[str]) -> bool:
    """Whether a dotted name is one of a value kind: `tf.ragged.constant`, `strings.length`."""
    if MODULES.get(parts[0], parts[0]) in ("tensorflow", "adiff"):
        parts = [p for p in parts[1:] if p not in ("compat", "v1", "v2", "experimental")]
    return bool(parts) and parts[0] in kinds.FILES


def module_apart(parts: list[str]) -> str | None:
    """The last module of APART on the way of a dotted name; None where there is none."""
    return next((part for part in reversed(parts[:-1]) if part in APART), None)


def members_near(parts: list[str]) -> list[str]:
    """What the last part of a dotted name that means nothing may have been, under the prefix as it is."""
    from ...parser.suggest import suggest

    if of_kind(parts[:-1]):
        return suggest(parts[-1], [*kinds.members(parts[:-1]), *library.public("kinds/" + parts[-2])])
    if library.members(parts[1:-1]):
        return suggest(parts[-1], library.members(parts[1:-1]))
    known: Iterable[str] = callable_names()
    if MODULES.get(parts[0], parts[0]) == "tensorflow" and "numpy" not in parts:
        from .tensorflow_names import NAMES as TENSORFLOW
        from .tensorflow_names import parts_of

        known = TENSORFLOW.get(parts_of(parts[1:])[0], ())
    return suggest(parts[-1], [name for name in known if dotted([*parts[:-1], name]) is not None])


def is_tensorflows(parts: list[str]) -> bool:
    """Whether TensorFlow has a dotted name that means nothing here."""
    from .tensorflow_names import NAMES as TENSORFLOW
    from .tensorflow_names import parts_of

    module, name = parts_of(parts[1:])
    return MODULES.get(parts[0], parts[0]) == "tensorflow" and name in TENSORFLOW.get(module, ())


def ways_near(parts: list[str]) -> list[list[str]]:
    """What a dotted name whose end is known may have been, had its modules been spelt right."""
    from ...parser.suggest import suggest

    found = []
    for i in range(1, len(parts) - 1):
        for module in suggest(parts[i], SUBMODULES):
            way = [*parts[:i], module, *parts[i + 1 :]]
            if parts[-1] in callable_names() and dotted(way) is not None:
                found.append(way)
    return found


def callable_names() -> set[str]:
    """The names of functions as they are written after a module's name."""
    return {name.rpartition(".")[2] for name in function_names()}


def function_names() -> list[str]:
    """Every name that can be called, for did-you-mean."""
    return [*NAMES, *INTRINSICS, *INTRINSIC_ALIASES, *WRITTEN, *library.OPERATIONS]


def expression_of(meaning: Meaning) -> Expr:
    if meaning.kind == "library":
        return LibraryName(*meaning.value[:2], len(meaning.value) > 2)
    return Intrinsic(meaning.value) if meaning.kind == "intrinsic" else Literal(meaning.value)
