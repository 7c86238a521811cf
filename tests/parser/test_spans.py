"""The text under each node's span."""

from typing import Any

import pytest
from adiff.parser.parse import parse
from adiff.parser.source import Source, Span
from adiff.parser.syntax import FormattedValue, Node


def nodes(root: Any) -> list[Node]:
    found = []
    pending = [root]
    while pending:
        item = pending.pop()
        if isinstance(item, list):
            pending.extend(item)
        elif isinstance(item, Node):
            found.append(item)
            pending.extend(getattr(item, field) for field in type(item).__slots__)
    return found


def texts(text: str, kind: str) -> list[str]:
    found = [node for node in nodes(parse(Source(text))) if type(node).__name__ == kind]
    return [text[node.start : node.end] for node in sorted(found, key=lambda node: (node.start, -node.end))]


@pytest.mark.parametrize(
    ("text", "kind", "expected"),
    [
        ("((a)) + b", "Name", ["a", "b"]),
        ("f(a for b in c)", "GeneratorExp", ["a for b in c"]),
        ("f((a for b in c))", "GeneratorExp", ["(a for b in c)"]),
        ("f(key = (1))", "Keyword", ["key = (1)"]),
        ("[x for x in y if z]", "Comprehension", ["for x in y if z"]),
        ("def f(x: int=1, y=2): pass", "Parameter", ["x: int=1", "y=2"]),
        ("with a as b, c: pass", "WithItem", ["a as b", "c"]),
        ("\r\nx = 1\r\n\r\ny = 2\r\n", "Assign", ["x = 1", "y = 2"]),
        ("f'a {x + 1!r:>{w}} b'", "Binary", ["x + 1"]),
        ("f'a {x + 1!r:>{w}} b'", "FormattedValue", ["{x + 1!r:>{w}}", "{w}"]),
        ("'é' 'x'; f'''é\n{y}'''", "Name", ["y"]),
    ],
)
def test_text_under_the_span(text: str, kind: str, expected: list[str]) -> None:
    assert texts(text, kind) == expected


def test_a_node_s_span_holds_its_children_s(accepted: str) -> None:
    for node in nodes(parse(Source(accepted))):
        assert 0 <= node.start <= node.end <= len(accepted)
        if isinstance(node, FormattedValue):
            continue
        for child in nodes([getattr(node, field) for field in type(node).__slots__]):
            if type(node).__name__ != "FunctionDef":  # Decorators stand before what they decorate, as in Python.
                assert node.start <= child.start <= child.end <= node.end


@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
def test_positions_with_every_line_ending(ending: str) -> None:
    source = Source(f"ab{ending}{ending}\tcd{ending}", "file")
    assert source.position(0) == (1, 1)
    assert source.position(len(f"ab{ending}")) == (2, 1)
    place = source.text.index("cd")
    span = Span(source, place, place + 2)
    assert (span.line, span.column, span.end_line, span.end_column) == (3, 2, 3, 4)
    assert span.text == "cd"
    assert [source.line(number) for number in (1, 2, 3, 4)] == ["ab", "", "\tcd", ""]
