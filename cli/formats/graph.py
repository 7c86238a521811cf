"""A tape as a graph, for Graphviz or Mermaid: a node for each step, an edge for each input with its local partial."""

from __future__ import annotations

from .numbers import is_array, scalar_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any


DIGITS = 6


def render(tape: Sequence[Any], language: str) -> str:
    """The graph in the language `dot` or `mermaid`."""
    nodes: dict[str, tuple[str, bool]] = {}
    edges: list[tuple[str, str, str]] = []
    for row in tape:
        nodes[str(row.name)] = (f"{row.name} = {row.operation}\n{short(row.value)}", False)
        partials = list(row.partials or ())
        for index, label in enumerate(map(str, row.inputs)):
            nodes.setdefault(label, (label, True))
            edges.append((label, str(row.name), short(partials[index]) if index < len(partials) else ""))
    return dot(nodes, edges) if language == "dot" else mermaid(nodes, edges)


def short(value: Any) -> str:
    """A value in a few characters."""
    if is_array(value) and value.shape:
        return "×".join(map(str, value.shape))
    return scalar_text(value.item() if is_array(value) else value, DIGITS)


def dot(nodes: dict[str, tuple[str, bool]], edges: list[tuple[str, str, str]]) -> str:
    """Graphviz: https://graphviz.org/doc/info/lang.html"""

    def quoted(text: str) -> str:
        return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'

    lines = ["digraph tape {", "  rankdir=LR;"]
    for name, (label, leaf) in nodes.items():
        lines.append(f"  {quoted(name)} [label={quoted(label)}{', shape=box' if leaf else ''}];")
    lines += [f"  {quoted(start)} -> {quoted(end)} [label={quoted(label)}];" for start, end, label in edges]
    return "\n".join([*lines, "}", ""])


def mermaid(nodes: dict[str, tuple[str, bool]], edges: list[tuple[str, str, str]]) -> str:
    """Mermaid: https://mermaid.js.org/syntax/flowchart.html"""
    numbers = {name: f"n{index}" for index, name in enumerate(nodes)}

    def quoted(text: str) -> str:
        for character in '#&"<>':  # '#' first: it begins what the others become
            text = text.replace(character, f"#{ord(character)};")
        return '"' + text.replace("\n", "<br>") + '"'

    lines = ["flowchart LR"]
    for name, (label, leaf) in nodes.items():
        lines.append(f"  {numbers[name]}[{quoted(label)}]" if leaf else f"  {numbers[name]}({quoted(label)})")
    for start, end, label in edges:
        arrow = f"-->|{quoted(label)}|" if label else "-->"
        lines.append(f"  {numbers[start]} {arrow} {numbers[end]}")
    return "\n".join([*lines, ""])
