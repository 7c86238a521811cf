"""Which file of this folder holds the functions of a module or a class of TensorFlow's."""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

# The first part of a dotted name after `tf.` -> the file.
FILES: dict[str, str] = {
    "FIFOQueue": "queues",
    "IndexedSlices": "indexed_slices",
    "PaddingFIFOQueue": "queues",
    "PriorityQueue": "queues",
    "RaggedTensor": "ragged_functions",
    "RaggedTensorSpec": "ragged_functions",
    "RandomShuffleQueue": "queues",
    "SparseTensor": "sparse_functions",
    "SparseTensorSpec": "debugging",
    "TensorArray": "tensor_array",
    "TensorSpec": "debugging",
    "as_string": "strings",
    "data": "dataset",
    "debugging": "debugging",
    "io": "strings",
    "is_tensor": "debugging",
    "numpy_random": "numpy_random",
    "queue": "queues",
    "ragged": "ragged_functions",
    "sets": "sets",
    "sparse": "sparse_functions",
    "strings": "strings",
}
# Of these the ones that mean nothing without `tf.`: inputs of programs have such names.
PREFIXED = frozenset({"data", "debugging", "io", "numpy_random", "queue"})


def function(name: str) -> Callable[..., Any] | None:
    """The function of a kind under its dotted name without `tf.`; None where there is none. Imports the kind's file."""
    file = FILES.get(name.partition(".")[0])
    if file is None:
        return None
    found: Callable[..., Any] | None = import_module(f"{__package__}.{file}").FUNCTIONS.get(name)
    return found


def modules() -> list[str]:
    """The first parts that stand without `tf.` too: `strings.length(s)`."""
    return [name for name in FILES if name not in PREFIXED]


def members(path: list[str]) -> list[str]:
    """The names of the functions of a kind's module or class under its dotted name, for suggestions."""
    start = next((i for i, part in enumerate(path) if part in FILES), len(path))
    prefix = ".".join(path[start:]) + "."
    known = import_module(f"{__package__}.{FILES[path[start]]}").FUNCTIONS if path[start:] else []
    return [name.removeprefix(prefix) for name in known if name.startswith(prefix)]
