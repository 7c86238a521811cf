"""What to say of a character that is in no program."""

from __future__ import annotations

from .place import Place
from .table import NAME, NUMBER
from .words import FAMILIAR

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .mistake import Mistake

# The signs of printed mathematics and of word processors, and what a program writes for each.
WRITTEN = {
    "≤": "<=",
    "⩽": "<=",
    "≥": ">=",
    "⩾": ">=",
    "≠": "!=",
    "×": "*",
    "·": "*",
    "⋅": "*",
    "∙": "*",
    "•": "*",
    "∗": "*",
    "÷": "/",
    "∕": "/",
    "⁄": "/",
    "−": "-",
    "–": "-",
    "—": "-",
    "‐": "-",
    "‑": "-",
    "√": "sqrt(...)",
    "∛": "cbrt(...)",
    "∞": "inf",
    "∑": "sum(...)",
    "∏": "prod(...)",
    "∂": "grad(f)",
    "∇": "grad(f)",
    "∧": "and",
    "∨": "or",
    "¬": "not",
    "∈": "in",
    "∉": "not in",
    "→": "->",
    "⇒": "lambda x: ...",
    "←": "=",
    "≔": "=",
    "≡": "==",
    "≈": "allclose(a, b)",
    "“": '"',
    "”": '"',
    "„": '"',
    "«": '"',
    "»": '"',
    "‘": "'",
    "’": "'",
    "‚": "'",
    "′": "'",
    "″": '"',
    "…": "...",
    "°": "radians(...)",
    "½": "1/2",
    "¼": "1/4",
    "¾": "3/4",
    "⅓": "1/3",
    "⅔": "2/3",
}
SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺", "0123456789-+")
SUBSCRIPTS = str.maketrans("₀₁₂₃₄₅₆₇₈₉", "0123456789")
INVISIBLE = {
    "\u00a0": "a no-break space",
    "\u2007": "a figure space",
    "\u2009": "a thin space",
    "\u202f": "a narrow no-break space",
    "\u3000": "an ideographic space",
    "\u200b": "a zero-width space",
    "\u200c": "a zero-width non-joiner",
    "\u200d": "a zero-width joiner",
    "\u2060": "a word joiner",
    "\ufeff": "a byte-order mark",
    "\u00ad": "a soft hyphen",
}
WIDTHLESS = "\u200b\u200c\u200d\u2060\ufeff\u00ad"
# LaTeX commands whose meaning has another spelling than their name.
LATEX = {
    "frac": "(a)/(b)",
    "dfrac": "(a)/(b)",
    "tfrac": "(a)/(b)",
    "cdot": "*",
    "times": "*",
    "div": "/",
    "le": "<=",
    "leq": "<=",
    "ge": ">=",
    "geq": ">=",
    "ne": "!=",
    "neq": "!=",
    "infty": "inf",
    "partial": "grad(f)",
    "nabla": "grad(f)",
    "left": "(",
    "right": ")",
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
    if piece == "?":
        return place.mistake(
            "E0112",
            "'?' is not part of the language",
            "to choose between two values write: a if condition else b",
        )
    if piece == "$":
        return place.mistake("E0113", "'$' is not part of the language", "leave it out; a name stands for itself")
    if piece == "`":
        return place.mistake("E0113", "'`' is not part of the language", "quote text with ' or \"")
    for position, character in enumerate(piece):
        if not (character.isascii() and (character.isalnum() or character == "_")) and not character.isidentifier():
            return _character(place, position)
    return _character(place, 0)


def _character(place: Place, position: int) -> Mistake:
    """One character of the piece, which may be a word that is a name up to there."""
    character = place.piece[position]
    start = place.start + position
    code = ord(character)
    if 0xD800 <= code <= 0xDFFF:
        return place.mistake(
            "E0114",
            "the text holds half of a character (a lone surrogate), so it was not read in its right encoding",
            "save the program as UTF-8",
            start,
            start + 1,
        )
    if character in INVISIBLE:
        return place.mistake(
            "E0114",
            f"{INVISIBLE[character]} (U+{code:04X}) is not part of the language",
            "delete it" if character in WIDTHLESS else "replace it by an ordinary space",
            start,
            start + 1,
        )
    if not character.isprintable():
        what = "a null character" if not code else "a control character" if code < 160 else "an invisible character"
        return place.mistake(
            "E0114", f"{what} (U+{code:04X}) is not part of the language", "delete it", start, start + 1
        )
    return _sign(place, position, character, start)


def _sign(place: Place, position: int, character: str, start: int) -> Mistake:
    message = f"the character '{character}' is not part of the language"
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
    if ord(character) in SUBSCRIPTS:
        name = place.piece.translate(SUBSCRIPTS)
        return place.mistake("E0113", message, f"write {name}" if name.isidentifier() else None, start, start + 1)
    if character in WRITTEN:
        return place.mistake("E0113", message, f"write {WRITTEN[character]}", start, start + 1)
    from unicodedata import name as name_of
    from unicodedata import normalize

    plain = normalize("NFKC", character)
    if plain != character and plain.isascii() and plain.isprintable():
        return place.mistake("E0113", message, f"write {plain}", start, start + 1)
    if not character.isascii():
        title = name_of(character, "")
        message = f"the character '{character}' (U+{ord(character):04X}{' ' + title if title else ''}) " + (
            "is not part of the language"
        )
    return place.mistake("E0113", message, None, start, start + 1)


def _quote(place: Place) -> Mistake:
    quote = place.piece[0]
    if quote == "'" and place.at(-1) == NAME and place.touches():
        # `f'(x)` begins like an f-string, but a bracket after the quote is how a derivative is written on paper.
        if place.previous.lower() not in PREFIXES or place.piece[1:2] == "(":
            return place.mistake(
                "E0129",
                "a prime does not mark a derivative here",
                f"for the derivative of {place.previous} write grad({place.previous})",
                None,
                place.start + 1,
            )
    start = place.start_at(-1) if place.at(-1) == NAME and place.touches() else place.start
    if place.piece.startswith(quote * 3):
        return place.mistake(
            "E0106",
            "this string is never closed",
            f"close it with {quote * 3}",
            start,
            place.start + 3,
        )
    end = max(place.line_end(), place.start + 1)
    return place.mistake(
        "E0106",
        "this string is not closed before the end of its line",
        f"close it with {quote}",
        start,
        end,
    )


PREFIXES = frozenset(("r", "b", "f", "u", "rb", "br", "rf", "fr"))


def _backslash(place: Place) -> Mistake:
    command = place.following
    if place.at(1) == NAME and place.start_at(1) == place.end:
        if command in LATEX:
            hint = f"write {LATEX[command]}"
        elif command in FAMILIAR:
            hint = f"write {command}(...)"
        else:
            hint = f"write {command}"
        end = place.end_at(1)
        return place.mistake("E0127", f"'\\{command}' is LaTeX, which adiff does not read", hint, None, end)
    if place.source(place.end, place.line_end()).strip():
        return place.mistake(
            "E0127",
            "a backslash stands only at the very end of a line, to continue it on the next",
            "delete it; to divide write /",
        )
    return place.mistake(
        "E0127",
        "nothing but the end of the line may follow a backslash",
        "delete it, or the spaces after it",
    )


def _caret(place: Place) -> Mistake:
    if place.following == "=" and place.start_at(1) == place.end:
        return place.mistake("E0107", "'^=' is not a power here", "write **= for the power", None, place.end_at(1))
    return place.mistake(
        "E0107",
        "'^' is not the power operator",
        "write ** for the power; bitwise_xor(a, b) is the exclusive or",
    )


def _exclamation(place: Place) -> Mistake:
    if place.begins_statement() and place.at(1) == NAME:
        return notebook_command(place)
    if place.value_before() and place.following != "=":
        operand = place.previous
        if place.at(-1) in (NAME, NUMBER) and place.index and place.text_at(-2) not in (".",):
            return place.mistake(
                "E0129", "'!' is not the factorial here", f"write factorial({operand})", place.start_at(-1)
            )
        return place.mistake("E0129", "'!' is not the factorial here", "write factorial(...)")
    return place.mistake("E0112", "'!' is not part of the language", "write 'not' for the negation")


def notebook_command(place: Place) -> Mistake:
    """`%matplotlib inline`, `!pip install`: the lines of a notebook that are not Python."""
    return place.mistake(
        "E0126",
        f"a line that begins with '{place.piece}' is a command to the notebook, not part of the program",
        "delete the line",
        None,
        max(place.line_end(), place.end),
    )
