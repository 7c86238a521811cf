"""A tape as a graph, for Graphviz or Mermaid, or drawn as SVG: a node for each step, an edge for each input with its local partial."""

from __future__ import annotations

from .json import dumps
from .numbers import is_array, scalar_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any


DIGITS = 6
WIDTH, HEIGHT, RIGHT, DOWN = 130, 44, 220, 74  # of a node in SVG, and from one to the next


def render(tape: Sequence[Any], language: str) -> str:
    """The graph in the language `dot`, `mermaid` or `svg`."""
    nodes: dict[str, tuple[str, bool]] = {}
    edges: list[tuple[str, str, str]] = []
    for row in tape:
        nodes[str(row.name)] = (f"{row.name} = {row.operation}\n{short(row.value)}", False)
        partials = list(row.partials or ())
        for index, label in enumerate(map(str, row.inputs)):
            nodes.setdefault(label, (label, True))
            edges.append((label, str(row.name), short(partials[index]) if index < len(partials) else ""))
    return {"dot": dot, "mermaid": mermaid, "svg": svg}[language](nodes, edges)


def short(value: Any) -> str:
    """A value in a few characters."""
    if is_array(value) and value.shape:
        return "×".join(map(str, value.shape))
    return scalar_text(value.item() if is_array(value) else value, DIGITS)


def dot(nodes: dict[str, tuple[str, bool]], edges: list[tuple[str, str, str]]) -> str:
    """Graphviz: https://graphviz.org/doc/info/lang.html"""
    lines = ["digraph tape {", "  rankdir=LR;"]
    for name, (label, leaf) in nodes.items():
        lines.append(f"  {dumps(name)} [label={dumps(label)}{', shape=box' if leaf else ''}];")
    lines += [f"  {dumps(start)} -> {dumps(end)} [label={dumps(label)}];" for start, end, label in edges]
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


def svg(nodes: dict[str, tuple[str, bool]], edges: list[tuple[str, str, str]]) -> str:
    """A drawing: https://www.w3.org/TR/SVG11/. A node is one column right of the last of its inputs, in the free row that is
    nearest to their mean."""
    from html import escape

    column: dict[str, int] = {}
    row: dict[str, int] = {}
    inputs: dict[str, list[str]] = {}
    for start, end, _ in edges:
        inputs.setdefault(end, []).append(start)
    taken: dict[int, set[int]] = {}
    for name in sorted(nodes, key=lambda name: name in inputs):  # the tape has inputs before what is made of them
        own = inputs.get(name, [])
        column[name] = 1 + max((column[start] for start in own), default=-1)
        mean = sum(row[start] for start in own) / len(own) if own else 0.0
        rows = taken.setdefault(column[name], set())
        row[name] = min((k for k in range(len(rows) + int(mean) + 2) if k not in rows), key=lambda k: abs(k - mean))
        rows.add(row[name])
    place = {name: (20 + RIGHT * column[name], 20 + DOWN * row[name]) for name in nodes}
    size = [40 + WIDTH + RIGHT * max(column.values(), default=0), 40 + HEIGHT + DOWN * max(row.values(), default=0)]
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{size[0]}" height="{size[1]}" font-family="sans-serif" font-size="13">',
        '<rect width="100%" height="100%" fill="white"/>',
    ]
    for start, end, label in edges:
        (x, y), (u, v) = (place[start][0] + WIDTH, place[start][1] + HEIGHT // 2), place[end]
        v += HEIGHT // 2
        # An edge over several columns goes below the nodes between.
        dip = HEIGHT if column[end] - column[start] > 1 and y == v else 0
        lines.append(f'<path d="M{x},{y} C{x + 60},{y + dip} {u - 60},{v + dip} {u},{v}" fill="none" stroke="grey"/>')
        long = column[end] - column[start] > 1  # whose middle may lie on a node
        x, y = (u - 45, v + (y - v) // 4 + dip // 3) if long else ((x + u) // 2, (y + v) // 2)
        lines.append(f'<text x="{x}" y="{y - 4}" text-anchor="middle" fill="grey">{escape(label)}</text>')
    for name, (label, leaf) in nodes.items():
        x, y = place[name]
        lines.append(
            f'<rect x="{x}" y="{y}" width="{WIDTH}" height="{HEIGHT}" rx="{0 if leaf else 12}" fill="aliceblue" stroke="black"/>'
        )
        texts = label.split("\n")
        for k, text in enumerate(texts):
            down = y + HEIGHT // 2 + 5 + 18 * k - 9 * (len(texts) - 1)
            lines.append(f'<text x="{x + WIDTH // 2}" y="{down}" text-anchor="middle">{escape(text)}</text>')
    return "\n".join([*lines, "</svg>", ""])
