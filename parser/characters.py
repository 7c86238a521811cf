"""What to say of a character that is in no program."""

from __future__ import annotations

from .place import Place
from .table import NAME, NUMBER
from .words import FAMILIAR

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .mistake import Mistake

# What a program writes for the signs of printed mathematics and of word processors.
SIGNS = {
    "<=": "≤⩽", ">=": "≥⩾", "!=": "≠", "*": "×·⋅∙•∗", "/": "÷∕⁄", "-": "−–—‐‑", "sqrt(...)": "√", "cbrt(...)": "∛", "inf": "∞",
    "sum(...)": "∑", "prod(...)": "∏", "grad(f)": "∂∇", "and": "∧", "or": "∨", "not": "¬", "in": "∈", "not in": "∉", "->": "→",
    "lambda x: ...": "⇒", "=": "←≔", "==": "≡", "allclose(a, b)": "≈", '"': "“”„«»″", "'": "‘’‚′", "...": "…", "radians(...)": "°",
}  # fmt: skip
WRITTEN = {sign: text for text, signs in SIGNS.items() for sign in signs}
SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺", "0123456789-+")
SUBSCRIPTS = str.maketrans("₀₁₂₃₄₅₆₇₈₉", "0123456789")
# LaTeX commands whose meaning has another spelling than their name.
LATEX = {
    "frac": "(a)/(b)", "dfrac": "(a)/(b)", "tfrac": "(a)/(b)", "cdot": "*", "times": "*", "div": "/", "le": "<=", "leq": "<=",
    "ge": ">=", "geq": ">=", "ne": "!=", "neq": "!=", "infty": "inf", "partial": "grad(f)", "nabla": "grad(f)", "left": "(",
    "right": ")",
}  # fmt: skip
# ASCII characters that begin nothing: the code, and what to write.
ASCII = {
    "?": ("E0112", "to choose between two values write: a if condition else b"),
    "$": ("E0113", "leave it out; a name stands for itself"),
    "`": ("E0113", "quote text with ' or \""),
}


def unknown_piece(place: Place) -> Mistake:
    """A piece of text that is no token of the language (and not a word that is kept for Python)."""
    piece = place.piece
    if piece[0] in "'\"":
        return _quote(place)
    if piece == "\\":
        return _backslash(place)
    if piece == "^":
        return _caret(place)
    if piece == "!":
        return _exclamation(place)
    if piece in ASCII:
        code, hint = ASCII[piece]
        return place.mistake(code, f"'{piece}' is not part of the language", hint)
    for position, character in enumerate(piece):
        if not (character.isascii() and (character.isalnum() or character == "_")) and not character.isidentifier():
            return _character(place, position)
    return _character(place, 0)


def _character(place: Place, position: int) -> Mistake:
    """One character of the piece, which may be a word that is a name up to there."""
    character = place.piece[position]
    start = place.start + position
    if character.isprintable():
        return _sign(place, position, character, start)
    code = ord(character)
    if 0xD800 <= code <= 0xDFFF:
        message = "the text holds half of a character (a lone surrogate), so it was not read in its right encoding"
        return place.mistake("E0114", message, "save the program as UTF-8", start, start + 1)
    from unicodedata import name

    message = f"the invisible character U+{code:04X} ({name(character, 'control').lower()}) is not part of the language"
    hint = "replace it by an ordinary space" if character.isspace() else "delete it"
    return place.mistake("E0114", message, hint, start, start + 1)


def _sign(place: Place, position: int, character: str, start: int) -> Mistake:
    power = ""
    for sign in place.source(start, place.line_end()):
        if ord(sign) not in SUPERSCRIPTS:
            break
        power += sign
    if power:
        digits = power.translate(SUPERSCRIPTS)
        base = place.piece[:position]
        if not base and place.touches() and place.at(-1) in (NAME, NUMBER):
            base = place.previous
        return place.mistake(
            "E0113",
            f"a raised '{power}' is not part of the language",
            f"write {base}**{digits}",
            start,
            start + len(power),
        )
    from unicodedata import name, normalize

    title = "" if character in WRITTEN else f" (U+{ord(character):04X} {name(character, '')})"
    message = f"the character '{character}'{title} is not part of the language"
    plain = normalize("NFKC", character).replace("⁄", "/")
    if ord(character) in SUBSCRIPTS:
        plain = place.piece.translate(SUBSCRIPTS)
    elif character in WRITTEN:
        plain = WRITTEN[character]
    hint = f"write {plain}" if plain != character and plain.isascii() else None
    return place.mistake("E0113", message, hint, start, start + 1)


def _quote(place: Place) -> Mistake:
    quote = place.piece[0]
    if quote == "'" and place.at(-1) == NAME and place.touches():
        # `f'(x)` begins like an f-string, but a bracket after the quote is how a derivative is written on paper.
        if place.previous.lower() not in PREFIXES or place.piece[1:2] == "(":
            hint = f"for the derivative of {place.previous} write grad({place.previous})"
            return place.mistake("E0129", "a prime does not mark a derivative here", hint, None, place.start + 1)
    start = place.start_at(-1) if place.at(-1) == NAME and place.touches() else place.start
    if place.piece.startswith(quote * 3):
        return place.mistake(
            "E0106", "this string is never closed", f"close it with {quote * 3}", start, place.start + 3
        )
    message, end = "this string is not closed before the end of its line", max(place.line_end(), place.start + 1)
    return place.mistake("E0106", message, f"close it with {quote}", start, end)


PREFIXES = frozenset(("r", "b", "f", "u", "rb", "br", "rf", "fr"))


def _backslash(place: Place) -> Mistake:
    command = place.following
    if place.at(1) == NAME and place.start_at(1) == place.end:
        hint = f"write {LATEX.get(command) or command + '(...)' * (command in FAMILIAR)}"
        return place.mistake("E0127", f"'\\{command}' is LaTeX, which adiff does not read", hint, None, place.end_at(1))
    hint = "delete it, or the spaces after it"
    if place.source(place.end, place.line_end()).strip():
        hint = "delete it; to divide write /"
    return place.mistake("E0127", "a backslash stands only at the very end of a line, to continue it on the next", hint)


def _caret(place: Place) -> Mistake:
    if place.following == "=" and place.start_at(1) == place.end:
        return place.mistake("E0107", "'^=' is not a power here", "write **= for the power", None, place.end_at(1))
    hint = "write ** for the power; bitwise_xor(a, b) is the exclusive or"
    if place.previous in FAMILIAR:
        hint = f"write {place.previous}(...)**{place.following}"
    return place.mistake("E0107", "'^' is not the power operator", hint)


def _exclamation(place: Place) -> Mistake:
    if place.begins_statement() and place.at(1) == NAME:
        return notebook_command(place)
    if place.ends_value() and place.following != "=":
        named = place.at(-1) in (NAME, NUMBER) and place.text_at(-2) != "."
        hint = f"write factorial({place.previous if named else '...'})"
        return place.mistake("E0129", "'!' is not the factorial here", hint, place.start_at(-1) if named else None)
    return place.mistake("E0112", "'!' is not part of the language", "write 'not' for the negation")


def notebook_command(place: Place) -> Mistake:
    """`%matplotlib inline`, `!pip install`: the lines of a notebook that are not Python."""
    message = f"a line that begins with '{place.piece}' is a command to the notebook, not part of the program"
    hint = "delete the line; the negation is written 'not x'" if place.piece == "!" else "delete the line"
    return place.mistake("E0126", message, hint, None, max(place.line_end(), place.end))
