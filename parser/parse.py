"""From a source to its syntax tree."""

from __future__ import annotations

from .depth import MAXIMUM_DEPTH, check_depth
from .driver import Refused, drive
from .errors import AdiffError
from .lexer import tokenise, tokenise_inner
from .mistake import Mistake
from .source import Source, Span
from .table import table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .syntax import Expression, Module


PROMPT = "'>>>' and 'In [1]:' are a console's prompts: leave them out of what is pasted"


def parse(source: Source) -> Module:
    """The program's tree; raises AdiffError (E01xx) where the text is none."""
    automaton = table()
    tokens = tokenise(automaton, source.text)
    try:
        try:
            tree: Module = drive(automaton, tokens, "program")
        except Refused as refused:
            from .diagnose import diagnose

            raise diagnose(automaton, tokens, refused.index, refused.states) from None
        # No tree is deeper than its text has tokens.
        if len(tokens.kinds) > MAXIMUM_DEPTH:
            check_depth(tree)
    except Mistake as mistake:
        span = Span(source, mistake.start, mistake.end)
        hint = PROMPT if any(line.lstrip().startswith((">>> ", "In [")) for line in source.text.split("\n")) else None
        raise AdiffError(mistake.code, mistake.message, span, hint or mistake.hint, mistake.notes) from None
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
