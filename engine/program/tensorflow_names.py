"""TensorFlow's public names: what an error may call TensorFlow's, and what it may suggest after `tf.`."""

from __future__ import annotations

import os

# A module a paragraph.
with open(os.path.join(os.path.dirname(__file__), "tensorflow_names.txt"), encoding="utf-8") as text:
    PARAGRAPHS = [paragraph.partition(":") for paragraph in text.read().split("\n\n")]
NAMES: dict[str, list[str]] = {module: names.split() for module, _, names in PARAGRAPHS}


def parts_of(path: list[str]) -> tuple[str, str]:
    """The module and the name of a dotted name, given as the parts after `tf.`."""
    path = [part for part in path if part not in ("compat", "v1", "v2", "experimental")]
    return ("tf", ".".join(path)) if len(path) < 2 else (path[0], ".".join(path[1:]))
