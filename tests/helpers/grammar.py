"""Texts from a grammar with weights."""

import re
from collections.abc import Callable, Sequence
from typing import Any

Pick = Callable[[Sequence[Any]], Any]
Forms = dict[str, list[str]]


def text_of(forms: Forms, pick: Pick, symbol: str, depth: int) -> str:
    """A text of a symbol. The first quarter of the forms of each symbol is what ends a text that is deep enough."""
    texts = forms[symbol]
    text = pick(texts if depth > 0 else texts[: 1 + len(texts) // 4])
    text = re.sub("<[a-z]+>", lambda found: text_of(forms, pick, found.group(), depth - 1), text)
    return text.replace("\n", "\n    ") if symbol == "<block>" else text
