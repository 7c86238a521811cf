"""What to say of a word in a place where it does not belong."""

from __future__ import annotations

from .place import COMPOUND, LAYOUT, Place
from .table import END, NAME, NEWLINE, NUMBER

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .mistake import Mistake

# Statements of Python that adiff has no use for, and what to do instead.
NO_STATEMENT = {
    "yield": ("'yield' inside an expression is", "write it as a statement of its own: yield value"),
    "async": ("asynchronous functions are", "leave out async"),
    "await": ("asynchronous functions are", "leave out await"),
}

# Words of other languages, and of older Pythons.
FOREIGN_BY_HINT = {
    "write 'elif'": "elseif elsif",
    "write ':' instead of then": "then",
    "write 'def'": "function func",
    "write 'def', or 'lambda' for one expression": "fn",
    "leave it out: a name is made by assigning to it": "let var const",
    "write 'if' and 'elif'": "switch match",
    "write for x in values:": "foreach",
    "write while not ...:": "until",
    "write if not ...:": "unless",
    "a block is marked by ':' and indentation": "begin",
    "write % for the remainder": "mod",
    "write // for the whole quotient": "div",
    "write != between conditions": "xor",
    "write 'and'": "AND And",
    "write 'or'": "OR Or",
    "write 'not'": "NOT Not",
}
FOREIGN = {word: hint for hint, words in FOREIGN_BY_HINT.items() for word in words.split()}

# Functions that are often written without brackets in mathematics. (What functions there are is the engine's to say;
# this only words a hint.)
_FAMILIAR = (
    "sin cos tan asin acos atan arcsin arccos arctan sinh cosh tanh exp log ln log2 log10 sqrt abs print sum prod "
    "len int float round sigmoid relu max min erf gamma det inv grad"
)
FACTORS = frozenset("abcuvwxyz")  # letters that stand for numbers one by one
FAMILIAR = frozenset(_FAMILIAR.split())

# What a prefix says of the digits after it.
BASES = {"0x": ("hexadecimal", "0 to 9 and a to f"), "0b": ("binary", "0 and 1"), "0o": ("octal", "0 to 7")}


# Keywords that are values, or may stand before one.
VALUES = ("True", "False", "None", "not")


def is_keyword(place: Place, offset: int = 0) -> bool:
    return place.text_at(offset).isidentifier() and place.text_at(offset) in place.table.fixed


def reserved_word(place: Place) -> Mistake:
    """A keyword of Python that starts nothing in this language."""
    word = place.piece
    subject, hint = NO_STATEMENT[word]
    if _used_as_name(place):
        return keyword_as_name(place, 0)
    return place.mistake("E0122", f"{subject} not part of the language", hint)


def keyword_as_name(place: Place, offset: int) -> Mistake:
    word, start, end = place.text_at(offset), place.start_at(offset), place.end_at(offset)
    return place.mistake("E0121", f"'{word}' is a keyword and cannot be a name", f"write {word}_", start, end)


def misused_keyword(place: Place) -> Mistake | None:
    """A keyword, here or just before, that was meant as a name: `lambda = 2`, `x.in`, `2*is`."""
    if place.piece in ("lambda", "not") and place.operand_expected() and not place.accepts(place.piece):
        if not _used_as_name(place):
            message = f"'{place.piece}' binds less tightly than the operator before it"
            return place.mistake("E0111", message, f"put it in brackets: ({place.piece} ...)")
    named = place.previous in (".", "def", "class", "as", "import", "global", "nonlocal")
    if is_keyword(place) and place.piece not in VALUES and place.accepts(NAME) and (named or _used_as_name(place)):
        return keyword_as_name(place, 0)
    if is_keyword(place, -1) and place.previous not in (*VALUES, "and", "or", "if", "else", "in", "is", "for"):
        after = place.text_at(-2) in ("=", "+", "-", "*", "/", "**", "(", "[", ",") and _ends_operand(place, 0)
        if after or place.piece == "=" != place.following:
            return keyword_as_name(place, -1)
    # `lambda*x + 1` and `lambda/2` read as parameters for a while.
    for offset in (-2, -3):
        if place.text_at(offset) == "lambda" and place.text_at(offset + 1) in ("*", "/", "**"):
            return keyword_as_name(place, offset)
    return None


def _used_as_name(place: Place) -> bool:
    """Whether what follows a keyword would follow a name."""
    if place.at(1) in LAYOUT and place.previous in ("+", "-", "*", "/", "**", "="):
        return True
    return _ends_operand(place, 1) or place.following == "="


def _ends_operand(place: Place, offset: int) -> bool:
    kind, piece = place.at(offset), place.text_at(offset)
    if kind in (NEWLINE, END):
        return place.text_at(offset - 1) not in ("raise", "yield")
    return kind in place.table.closing or piece in ("+", "*", "/", "**", ",", "%", "=", "==", "<", ">", "<=", ">=")


def foreign_word(place: Place) -> Mistake | None:
    """A word of another language, here or just before."""
    if place.piece == "if" and place.previous == "else":
        return place.mistake("E0120", "'else if' is written elif here", "write 'elif'", place.start_at(-1))
    # Any of these may be the name of something, so it must stand beside a value like an operator or a keyword.
    for offset, beside in ((0, place.ends_value()), (-1, place.begins_value())):
        word = place.text_at(offset)
        if beside and place.at(offset) == NAME and word in FOREIGN:
            message, start, end = (
                f"'{word}' is not a word of the language",
                place.start_at(offset),
                place.end_at(offset),
            )
            return place.mistake("E0120", message, FOREIGN[word], start, end)
    return None


OPENED_BY = {"else": "if", "elif": "if", "except": "try", "finally": "try"}


def orphan(place: Place) -> Mistake | None:
    """A statement that cannot begin where it stands."""
    opener = OPENED_BY.get(place.piece)
    if place.accepts("except") and place.accepts("finally") and place.at(-1) in LAYOUT:
        message = "the 'try' before this line has no 'except' and no 'finally'"
        hint = "write except ValueError: and a block after that of try"
        return place.mistake("E0130", message, hint, *place.first_character())
    if opener and place.begins_statement():
        hint = f"indent it like its {opener}, with nothing but the {opener}'s block between them"
        return place.mistake("E0130", f"this '{place.piece}' has no '{opener}' before it", hint)
    if opener == "if" and place.accepts(NEWLINE):
        hint = "write it, and what follows, on a line of its own"
        return place.mistake("E0128", f"'{place.piece}' begins a line", hint)
    if place.piece in COMPOUND and place.previous in (":", ";") and "lambda" not in place.statement():
        hint = "write it on a line of its own" + (", indented" if place.previous == ":" else "")
        return place.mistake("E0128", f"'{place.piece}' cannot follow '{place.previous}' on the same line", hint)
    if place.at(-1) == NEWLINE and place.accepts("def") and not place.accepts(NAME):
        hint = "define a function on this line, or delete the '@' line"
        return place.mistake("E0128", "a decorator stands before a function or class", hint)
    return None


def side_by_side(place: Place) -> Mistake | None:
    """Two values with nothing between them: `2x`, `sin x`, `x y`."""
    if not place.ends_value() or not place.begins_value():
        return None
    left, right = place.previous, place.piece
    start = place.start_at(-1)
    if place.kind == NAME and place.following == "=" and "=" in place.statement() and not place.open_brackets():
        return place.mistake("E0110", "two assignments stand side by side", "write ';' or a new line between them")
    if place.at(-1) == NUMBER:
        found = _after_number(place, left, right, start)
        if found is not None:
            return found
    if place.at(-1) == NAME and place.text_at(-2) == "/" and left.startswith("d") and place.text_at(-3).startswith("d"):
        message = f"'{place.text_at(-3)}/{left}' does not mark a derivative here"
        hint = "write grad(f) for the derivative of a function f"
        return place.mistake("E0129", message, hint, place.start_at(-3), place.end_at(-1))
    if place.at(-1) == NAME and left in FAMILIAR:
        simple = place.at(0) in (NAME, NUMBER) and not place.rest_of_line()
        argument = right if simple else "..."
        message = f"the argument of '{left}' must stand in brackets"
        return place.mistake("E0109", message, f"write {left}({argument})", start)
    if place.at(-1) in place.table.closing or place.kind in place.table.opening:
        hint = "write '*' between them to multiply, ',' to separate"
        return place.mistake("E0110", "an operator is missing between two values", hint)
    hint = "write an operator between them, or a comma"
    if right.startswith("."):
        hint = f"write {left}*0{right} to multiply"
    elif place.at(-1) == NAME and place.kind in (NAME, NUMBER) and not place.following:
        hint = f"write {left}*{right} to multiply, {left}({right}) to call a function"
    elif place.at(-1) == NUMBER and place.kind == NAME:
        hint = f"write {left}*{right} to multiply"
    return place.mistake("E0110", "two values stand side by side with nothing between them", hint, start)


def _after_number(place: Place, left: str, right: str, start: int) -> Mistake | None:
    touching = place.touches()
    if touching and (left[:2].lower() in BASES or (left == "0" and ("0" + right[0]).lower() in BASES)):
        base, digits = BASES[(left + right)[:2].lower()]
        message = f"'{right}' is not part of a {base} number" if left != "0" else f"this {base} number has no digits"
        return place.mistake("E0123", message, f"its digits are {digits}", start)
    if touching and place.kind == NUMBER:
        hint = "leave out the others"
        if left[-1] == "." and right[0] == "." and left[:-1].isdigit():
            hint = f"write one point; whole numbers in a row are range({left[:-1]}, {right[1:]})"
        return place.mistake("E0123", "a number has at most one decimal point", hint, start)
    if touching and right[0] == "_":
        together = (left + right).replace("_", "")
        hint = f"write {together if together.isdigit() else left + '*' + right}"
        return place.mistake("E0123", "an underscore in a number must stand between two digits", hint, start)
    if touching and right in ("e", "E"):
        sign = place.following if place.following in ("+", "-") else ""
        hint = f"write {left}e{sign}1 for a power of ten, {left}*e to multiply"
        return place.mistake("E0123", "the exponent of this number has no digits", hint, start)
    if place.kind == NAME or place.kind in place.table.opening:
        factor = right.replace("π", "pi*", 1).rstrip("*") if right[0] == "π" else right
        call = place.following == "(" and place.kind == NAME
        hint = f"write {left}*{factor}{'(...)' if call else ''}" if place.kind == NAME else f"write {left}*(...)"
        if not call and 2 <= len(right) <= 3 and set(right) <= FACTORS:
            hint = f"write {left}*{'*'.join(right)}, or {left}*{right} where '{right}' is one name"
        return place.mistake("E0108", "multiplication is not implied by writing factors together", hint, start)
    if place.kind == NUMBER and not touching:
        hint = f"write an operator or a comma between them: {left}, {right}"
        if left.isdigit() and right.isdigit() and len(right) == 3:
            hint = f"write {left}_{right} for one number, '{left}, {right}' for two"
        return place.mistake("E0110", "two numbers stand side by side with nothing between them", hint, start)
    return None
