"""From a source to its syntax tree."""

from __future__ import annotations

from .builder import INNER
from .driver import Refused, drive
from .errors import AdiffError
from .lexer import tokenise, tokenise_inner
from .mistake import Mistake
from .source import Source, Span
from .syntax import Binary, Node
from .table import table

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Iterator
    from typing import Any

    from .syntax import Expression, Module


# Each level costs a recursive walk a few Python frames of about half a kilobyte, so this depth costs it some 20 MB.
MAXIMUM_DEPTH = 10_000
PROMPT = "'>>>' and 'In [1]:' are a console's prompts: they are passed over where the whole text begins with one"


def parse(source: Source) -> Module:
    """The program's tree; raises AdiffError (E01xx) where the text is none."""
    automaton = table()
    text = source.text
    if ">>>" in text or "In [" in text:
        from .console import without_prompts

        text, source.passed = without_prompts(text)
    try:
        while True:
            tokens = tokenise(automaton, text)
            try:
                tree: Module = drive(automaton, tokens, "program")
                break
            except Refused as refused:
                from .console import blanked, command
                from .diagnose import diagnose
                from .place import Place

                found = command(Place(automaton, tokens, refused.index, refused.states))
                if found is None:
                    raise diagnose(automaton, tokens, refused.index, refused.states) from None
                text = blanked(text, *found)
                source.passed = [*source.passed, found]
        # No tree is deeper than its text has tokens.
        if len(tokens.kinds) > MAXIMUM_DEPTH:
            check_depth(tree)
    except Mistake as mistake:
        span = Span(source, mistake.start, mistake.end)
        prompted = any(line.lstrip().startswith((">>> ", "In [")) for line in text.split("\n"))
        hint = PROMPT if prompted else None
        raise AdiffError(mistake.code, mistake.message, span, hint or mistake.hint) from None
    return tree


def check_depth(root: Node) -> None:
    """Raise Mistake where nodes are nested deeper than MAXIMUM_DEPTH.

    Going from a Binary to its left operand does not count: a long sum is a deep tree, but a loop walks down its spine.
    """
    pending: list[tuple[Any, int]] = [(root, 0)]
    while pending:
        item, depth = pending.pop()
        if type(item) is list:
            pending.extend([(element, depth) for element in item])
        elif isinstance(item, Node):
            if depth > MAXIMUM_DEPTH:
                raise Mistake(
                    "E0139",
                    f"this is nested more than {MAXIMUM_DEPTH} levels deep",
                    item.start,
                    item.end,
                    "give a part of it a name in a statement of its own",
                )
            if type(item) is Binary:
                pending.append((item.right, depth + 1))
                pending.append((item.left, depth))
            else:
                pending.extend([(getattr(item, field), depth + 1) for field in type(item).__slots__])


def parse_inner(text: str, start: int, end: int, base: int) -> Expression:
    """The expression ``text[start:end]`` inside a literal that begins at offset ``base``; raises Mistake."""
    automaton = table()
    tokens = tokenise_inner(automaton, text, start, end, base)
    try:
        tree: Expression = drive(automaton, tokens, "replacement")
    except Refused as refused:
        from .diagnose import diagnose

        raise diagnose(automaton, tokens, refused.index, refused.states) from None
    return tree


def pieces(text: str, start: int, end: int) -> Iterator[re.Match[str]]:
    """What the lexer cuts a part of a text into."""
    return table().pattern.finditer(text, start, end)


INNER.extend((parse_inner, pieces))
