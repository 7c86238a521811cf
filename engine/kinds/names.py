"""Where the functions of a module or a class of TensorFlow's are: in a file of this folder, or in the language itself.

What is written in the language is in `engine/library/kinds/`, and calls a file of this folder as `internal.MODULE.NAME`.
"""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

# The first part of a dotted name after `tf.` -> its file of engine/library/kinds/.
FILES: dict[str, str] = {
    **dict.fromkeys("FIFOQueue PaddingFIFOQueue PriorityQueue RandomShuffleQueue".split(), "queue"),
    **dict.fromkeys("TensorSpec RaggedTensorSpec SparseTensorSpec is_tensor".split(), "specs"),
    **{name: name for name in "IndexedSlices RaggedTensor SparseTensor TensorArray data debugging io".split()},
    **{name: name for name in "queue ragged sets sparse strings".split()},
    "as_string": "strings",
}
# And its file of this folder, of those that have one.
PYTHON = {
    "RaggedTensor": "ragged",
    "SparseTensor": "sparse",
    "ragged": "ragged",
    "sparse": "sparse",
    "strings": "strings",
}
# Of these the ones that mean nothing without `tf.`: inputs of programs have such names.
PREFIXED = frozenset({"data", "debugging", "io", "queue"})


def function(name: str) -> Callable[..., Any] | None:
    """The function of a kind under its dotted name without `tf.`; None where there is none. Imports the kind's file."""
    module = name.removeprefix("internal.").partition(".")[0]
    file = PYTHON.get(module, "internal" if name != module and name.startswith("internal.") else "")
    if not file:
        return None
    found: Callable[..., Any] | None = import_module(f"{__package__}.{file}").FUNCTIONS.get(name)
    return found


def modules() -> list[str]:
    """The first parts that stand without `tf.` too: `strings.length(s)`."""
    return [name for name in FILES if name not in PREFIXED]
