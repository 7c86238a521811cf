"""The library that is written in the language itself: which file of `engine/library/` defines a dotted name.

`tf.keras.layers.Dense` is `Dense` in `engine/library/keras/layers.adiff`. A file is parsed when a program first names something
of it. Errors inside it point at the program's call.
"""

from __future__ import annotations

import os
from functools import cache

from ...parser.source import Source
from ..core.operation import Operation

TYPE_CHECKING = False
if TYPE_CHECKING:
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
INITIALIZER = "_initializer"  # tf.random_normal_initializer is RandomNormal of Keras' initializers
# Names of value kinds that stand without a module, and the file of theirs.
KINDS = {
    name: file
    for file, names in (
        ("queue", "FIFOQueue PaddingFIFOQueue PriorityQueue RandomShuffleQueue"),
        ("strings", "as_string"),
        ("specs", "TensorSpec RaggedTensorSpec SparseTensorSpec is_tensor"),
    )
    for name in names.split()
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
    if path and anywhere and path[-1].endswith(INITIALIZER):
        path = ["keras", "initializers", path[-1].removesuffix(INITIALIZER).title().replace("_", "")]
    if not path or not (anywhere or path[0] in ROOTS):
        return None
    path = [part for part in path if part != "legacy"]
    module = file_of(path[:-1])
    file = None if module is None else public(module).get(path[-1])
    return None if file is None else (file, path[-1])


def find_of_kind(path: list[str]) -> tuple[str, str] | None:
    """The file that defines a name of a value kind, `["ragged", "range"]` or `["FIFOQueue"]`, and the name there."""
    file = public("kinds/" + KINDS.get(path[0], path[0])).get(path[-1]) if 0 < len(path) < 3 else None
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

# Operations that are written in the language: the files of `engine/library/operations/`, and the names that each serves. The
# function of a name with a colon is called as what stands behind it.
OPERATIONS: dict[str, tuple[str, str]] = {
    name.partition(":")[0]: (f"operations/{family}", name.rpartition(":")[2])
    for family, names in {
        "reductions": "average",
        "losses": """
            sigmoid_cross_entropy_with_logits softmax_cross_entropy_with_logits sparse_softmax_cross_entropy_with_logits
            clip_by_norm l2_loss moments
        """,
        "activations": """
            hard_silu hard_swish:hard_silu hardswish:hard_silu celu mish squareplus gelu gelu_tanh jax.nn.gelu:gelu_tanh
            quick_gelu jax.nn.leaky_relu:leaky_relu_of_jax
        """,
        "exponential": "squared_difference reciprocal_no_nan",
        "rounding": "ldexp",
        "trigonometric": "deg2rad radians:deg2rad rad2deg degrees:rad2deg",
        "samples": "nansum nanmean dist slopes np.gradient:slopes jnp.gradient:slopes polyfit block",
        "sequences": """
            convolve scipy.signal.convolve:scipy_convolve correlate interp polyval vander trapezoid trapz:trapezoid cov corrcoef
            diff fft2d np.fft.fft2:fft2d jnp.fft.fft2:fft2d ifft2d np.fft.ifft2:ifft2d jnp.fft.ifft2:ifft2d
        """,
        "scans": """
            tf.cumsum:tensorflow_cumsum tf.math.cumsum:tensorflow_cumsum tf.cumprod:tensorflow_cumprod
            tf.math.cumprod:tensorflow_cumprod jax.lax.cumsum:cumsum_of_jax jax.lax.cumprod:cumprod_of_jax
            jax.lax.cummax:cummax_of_jax jax.lax.cummin:cummin_of_jax jax.lax.cumlogsumexp:cumlogsumexp_of_jax
        """,
        "shapes": """
            fliplr flipud rot90 meshgrid hstack vstack row_stack:vstack dstack column_stack append split tf.split:split_sizes
            array_split hsplit vsplit band_part matrix_band_part:band_part set_diag matrix_set_diag:set_diag pad strided_slice
            atleast_1d atleast_2d atleast_3d tile broadcast_arrays unstack
        """,
        "sorting": """
            top_k median quantile percentile digitize unique tf.unique:tensorflow_unique
            tf.unique_with_counts:unique_with_counts
        """,
        "gathering": """
            gather_nd scatter_nd tensor_scatter_nd_update tensor_scatter_update:tensor_scatter_nd_update tensor_scatter_nd_add
            tensor_scatter_add:tensor_scatter_nd_add tensor_scatter_nd_sub tensor_scatter_sub:tensor_scatter_nd_sub
            tf.where:tensorflow_where tf.compat.v1.where:tensorflow_where
        """,
        "creation": "logspace geomspace tri sequence_mask",
        "linalg": """
            matvec inner vdot vecdot outer kron multi_dot matrix_power vector_norm matrix_norm normalize l2_normalize
            condition_number np.linalg.cond:condition_number jnp.linalg.cond:condition_number cholesky_solve solve_triangular
            pinv tf.linalg.lstsq:tensorflow_lstsq matrix_solve_ls:tensorflow_lstsq eigvals eigvalsh
            self_adjoint_eigvals:eigvalsh adjoint tf.linalg.solve:tensorflow_solve lstsq triangular_solve qr svd
            tf.linalg.qr:tensorflow_qr tf.linalg.svd:tensorflow_svd tf.svd:tensorflow_svd tf.linalg.trace:tensorflow_trace
            tf.trace:tensorflow_trace tf.norm:tensorflow_norm tf.linalg.norm:tensorflow_norm tf.matmul:tensorflow_matmul
            tf.linalg.matmul:tensorflow_matmul tensordot
        """,
        "convolution": """
            conv1d conv2d max_pool1d max_pool2d max_pool:max_pool2d avg_pool1d avg_pool2d avg_pool:avg_pool2d
        """,
        "partition": """
            dynamic_partition dynamic_stitch parallel_dynamic_stitch:dynamic_stitch boolean_mask bincount segment_sum segment_mean
            segment_prod segment_max segment_min unsorted_segment_sum unsorted_segment_mean unsorted_segment_sqrt_n
            unsorted_segment_prod unsorted_segment_max unsorted_segment_min confusion_matrix jax.ops.segment_sum:jax_segment_sum
        """,
    }.items()
    for name in names.split()
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
