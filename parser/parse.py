"""From a source to its syntax tree."""

from __future__ import annotations

from .builder import INNER
from .depth import MAXIMUM_DEPTH, check_depth
from .driver import Refused, drive
from .errors import AdiffError
from .lexer import tokenise, tokenise_inner
from .mistake import Mistake
from .source import Source, Span
from .table import table

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Iterator

    from .syntax import Expression, Module


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
