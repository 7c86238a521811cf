"""Why a text is no program: from the place where the parser stopped to a message that helps.

The parser says only that a token fits nothing. Each rule below looks at that token and its neighbours for one sort of
mistake, and the first that recognises its own decides; so the order goes from what is certain (a character that is in
no program) to what is guessed. All of it runs after the fact: a text without mistakes pays for none of this.
"""

from __future__ import annotations

from .characters import notebook_command, unknown_piece
from .place import CLOSED_BY, COMPOUND, LAYOUT, Place
from .table import BAD_DEDENT, BAD_DEPTH, BAD_TABS, INDENT, NAME, NUMBER, UNKNOWN, Table
from .words import NO_STATEMENT, foreign_word, misused_keyword, orphan, reserved_word, side_by_side

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .lexer import Tokens
    from .mistake import Mistake

_BINARY = "+ - * / // % ** @ & | << >> == != < > <= >= and or in is not"
BINARY = frozenset(_BINARY.split())
_ASSIGNMENTS = "= += -= *= /= //= %= **= @= &= |= <<= >>="
ASSIGNMENTS = frozenset(_ASSIGNMENTS.split())


def diagnose(table: Table, tokens: Tokens, index: int, states: list[int]) -> Mistake:
    """The mistake at the token that the parser refused, given the parser's stack of states."""
    place = Place(table, tokens, index, states)
    for rule in RULES:
        found = rule(place)
        if found is not None:
            return found
    return unexpected(place)


def empty(place: Place) -> Mistake | None:
    if len(place.tokens.kinds) == 1:
        return place.mistake("E0102", "there is nothing here to evaluate", "write an expression, for example x**2")
    return None


INDENTATION = {
    BAD_TABS: (
        "E0119", "the indentation of this line mixes tabs and spaces in another way than the line before",
        "indent every line with spaces",
    ),
    BAD_DEPTH: ("E0139", "blocks are nested more than 100 levels deep", "move the inner ones into functions"),
    BAD_DEDENT: ("E0118", "the indentation of this line matches no line before it", "indent it like the other lines of its block"),
}  # fmt: skip


def indentation(place: Place) -> Mistake | None:
    """Lines whose margin is wrong."""
    if place.kind in INDENTATION:
        return place.mistake(*INDENTATION[place.kind])
    if place.accepts(INDENT):
        words = place.statement_before()
        where = f"after '{words[0]}'" if words and words[0] in COMPOUND else "here"
        message, hint = f"an indented block is missing {where}", "indent the lines that belong to it, or write pass"
        return place.mistake("E0117", message, hint, *place.first_character())
    if place.kind == INDENT:
        message, hint = "this line is indented, but no block begins here", "give it the indentation of the line before"
        return place.mistake("E0118", message, hint, place.start, place.start)
    return None


def character(place: Place) -> Mistake | None:
    if place.piece in NO_STATEMENT:
        return reserved_word(place)
    if place.piece == "%" and place.begins_statement():
        return notebook_command(place)
    return unknown_piece(place) if place.kind == UNKNOWN else None


def brackets(place: Place) -> Mistake | None:
    """A bracket that does not find its partner."""
    opened = place.open_brackets()
    pieces, starts = place.tokens.pieces, place.tokens.starts
    if opened:
        innermost = opened[-1]
        bracket, start = pieces[innermost], starts[innermost]
        partner = CLOSED_BY[bracket]
        if place.kind in place.table.closing and place.piece != partner:
            message = f"'{place.piece}' cannot close the '{bracket}' before it"
            return place.mistake("E0105", message, f"write '{partner}' here")
        later = place.kind in LAYOUT or "\n" in place.source(start, place.start)
        if later and not place.is_closed():
            message = f"this '{bracket}' is never closed"
            return place.mistake("E0103", message, f"close it with '{partner}'", start, start + 1)
    elif place.kind in place.table.closing:
        hint = "delete it, or open it before"
        if place.piece == "}" and place.begins_statement():
            hint = "delete it: a block ends where its indentation ends"
        return place.mistake("E0104", f"this '{place.piece}' closes nothing", hint)
    return None


def other_operators(place: Place) -> Mistake | None:
    """Operators of other languages, which the lexer has cut into two of ours."""
    first, second = (place.previous, place.piece) if place.touches() else (place.piece, "")
    start = place.start_at(-1) if second else place.start
    end = place.end
    if place.previous in ("+", "-") and place.text_at(-2) == place.previous and place.end_at(-2) == place.start_at(-1):
        # `x++` is a sum without its last value, so the parser stops only after it.
        if place.ends_value(-3) and not place.begins_value():
            first, second, start, end = place.previous, place.previous, place.start_at(-2), place.end_at(-1)
    if not second and place.at(1) not in LAYOUT and place.start_at(1) == place.end:
        second, end = place.following, place.end_at(1)
    for operator, stop in ((first + second, end), (place.piece, place.end)):
        if operator in OPERATORS and not (operator == "//" and not place.begins_statement()):
            message = "has no meaning here" if operator in place.table.fixed else "is not part of the language"
            return place.mistake("E0112", f"'{operator}' {message}", OPERATORS[operator], start, stop)
    return None


OPERATORS = {
    "&&": "write 'and'",
    "||": "write 'or'",
    "++": "write x += 1",
    "--": "write x -= 1",
    "=>": "write >= to compare, lambda x: ... for a function",
    "->": "write lambda x: ...",
    "=<": "write <=",
    "<>": "write !=",
    "===": "write ==",
    "!==": "write !=",
    ":=": "assign on a line of its own: name = value",
    "***": "write ** for the power",
    "/*": "write # before each line of a comment",
    "//": "write # before a comment",
    ".*": "write *; arrays are multiplied element by element, @ is the matrix product",
    "./": "write /; arrays are divided element by element",
    ".**": "write **",
    "..": "write range(a, b) for numbers in a row, '...' for all axes",
    "::": "write '.' to reach a name inside another",
}


def bars(place: Place) -> Mistake | None:
    """`|x|`."""
    if place.piece != "|" or not place.operand_expected():
        return None
    rest = place.rest_of_line()
    if "|" in rest:
        inside = "".join(rest[: rest.index("|")])
        written = f"abs({inside})" if inside.isidentifier() else "abs(...)"
        return place.mistake("E0129", "bars do not mark the absolute value", f"write {written}")
    return None


def equals(place: Place) -> Mistake | None:
    """`=` where a comparison was meant, or with nothing to its right."""
    if place.piece == "=":
        words = place.statement()
        first = words[0] if words else ""
        if first == "for":
            return place.mistake("E0128", "a for statement takes its values after 'in'", "write for i in range(n):")
        if place.previous == "=":
            return place.mistake("E0116", "'= =' does not compare", "write == without a space", place.start_at(-1))
        if place.previous in BINARY or not words:
            return None
        if place.previous in CLOSED_BY or place.previous == ",":
            return place.mistake("E0111", "there is no name before '='", "write the name of the argument")
        if first == "def" and not place.open_brackets():
            message = "':' is missing before the body of this function"
            return place.mistake("E0115", message, "write def f(x): return ...")
        if first in COMPOUND or first in ("assert", "return"):
            return place.mistake("E0116", "'=' assigns; it does not compare", "write ==")
        where = "inside brackets" if place.open_brackets() else "here"
        return place.mistake("E0116", f"an assignment cannot stand {where}", "write == to compare")
    ends = place.kind in LAYOUT or place.kind in place.table.closing or place.piece == ","
    if place.previous in ASSIGNMENTS and ends:
        message = f"there is no value after '{place.previous}'"
        return place.mistake("E0111", message, "write one", place.start_at(-1), place.end_at(-1))
    return None


def braces(place: Place) -> Mistake | None:
    """`if (x > 0) {`."""
    words = place.statement()
    if place.piece == "{" and words and words[0] in COMPOUND and not place.open_brackets():
        return place.mistake("E0120", "braces do not mark a block", "write ':' here, and indent the lines of the block")
    return None


def colon(place: Place) -> Mistake | None:
    """A compound statement without its `:`, or with something else missing before it."""
    words = place.statement()
    first = words[0] if words else ""
    if "lambda" in words and ":" not in words[len(words) - words[::-1].index("lambda") :]:
        if place.accepts(":") and (place.kind in LAYOUT or place.begins_value()):
            message = "':' is missing after the parameters of lambda"
            return place.mistake("E0115", message, "write lambda x: ...", *_gap(place))
    if first not in COMPOUND:
        return None
    if place.previous in ("if", "elif", "while") and len(words) == 1 and (place.kind in LAYOUT or place.piece == ":"):
        return place.mistake("E0111", f"there is no condition after '{first}'", "write one", *_gap(place))
    if place.accepts(":") and place.piece != ":" and not place.open_brackets():
        if place.kind in LAYOUT or ":" not in place.rest_of_line():
            return place.mistake("E0115", f"':' is missing after '{first}'", "write ':' here", *_gap(place))
    if first == "for" and place.accepts("in") and "in" not in words:
        return place.mistake("E0128", "'in' is missing in this for statement", "write for x in values:", *_gap(place))
    if first == "def" and place.accepts("(") and len(words) == 2:
        message = "the brackets for the parameters are missing"
        return place.mistake("E0128", message, f"write def {words[1]}():", *_gap(place))
    if first == "def" and len(words) == 1:
        message = "the name of the function is missing after 'def'"
        return place.mistake("E0128", message, "write def f(x):", *_gap(place))
    return None


def _gap(place: Place) -> tuple[int, int]:
    """Just after the token before, where something is missing."""
    end = place.end_at(-1) if place.index else place.start
    return end, end


def condition(place: Place) -> Mistake | None:
    """`a if b` without its `else`."""
    if place.accepts("else") and "if" in place.statement() and not place.operand_expected():
        if place.kind in LAYOUT or place.kind in place.table.closing or place.piece in (",", "=", ":"):
            message = "'else' is missing: both values of a condition are needed"
            return place.mistake("E0128", message, "write a if condition else b", *_gap(place))
    return None


def commas(place: Place) -> Mistake | None:
    if place.piece == ";" and place.open_brackets():
        hint = "separate elements with ','; write a matrix as a list of rows: [[1, 2], [3, 4]]"
        return place.mistake("E0125", "';' cannot stand inside brackets", hint)
    if place.piece != ",":
        return None
    if place.previous == ",":
        return place.mistake("E0125", "there is nothing between two commas", "delete one of them")
    if place.previous in CLOSED_BY:
        return place.mistake("E0125", f"there is nothing between '{place.previous}' and ','", "delete the comma")
    if place.begins_statement():
        return place.mistake("E0125", "there is nothing before this comma", "delete it")
    return None


def operands(place: Place) -> Mistake | None:
    """An operator that lacks one of its values."""
    if not place.operand_expected():
        return None
    previous, piece = place.previous, place.piece
    before = place.index > 0 and previous in BINARY and place.at(-1) not in LAYOUT
    if before:
        here = place.start_at(-1), place.end_at(-1)
        if previous == "%" and place.at(-2) == NUMBER:
            percentage = f"write {place.text_at(-2)}/100 for a percentage"
            return place.mistake("E0111", "there is no value after '%'", percentage, *here)
        if piece in BINARY:
            message = f"there is no value between '{previous}' and '{piece}'"
            return place.mistake("E0111", message, "write one, or delete one of the operators", here[0])
        hint = "write one" if previous.isalpha() else "write one, or delete the operator"
        return place.mistake("E0111", f"there is no value after '{previous}'", hint, *here)
    if piece in BINARY and piece not in ("in", "is"):
        return place.mistake("E0111", f"there is no value before '{piece}'", "write one, or delete the operator")
    if piece in ASSIGNMENTS and place.begins_statement():
        return place.mistake("E0111", f"there is no name before '{piece}'", "write the name to assign to")
    return None


def member(place: Place) -> Mistake | None:
    """Nothing usable after a dot."""
    if place.previous != ".":
        return None
    hint = "write 0.5 for a half, x.T for an attribute" if place.kind == NUMBER else "write one, or delete the dot"
    return place.mistake("E0128", "a name is missing after '.'", hint, place.start_at(-1), place.end_at(-1))


def unexpected(place: Place) -> Mistake:
    """The token itself, and what could stand there if that is a single thing."""
    wanted = [text for text in (":", "=", ")", "]", "}", "in", "import", "else") if place.accepts(text)]
    hint = None
    if place.accepts(NAME) and not place.accepts(NUMBER):
        hint = "a name is expected here"
    elif place.accepts(NAME):
        hint = "a value is expected here"
    elif len(wanted) == 1:
        hint = f"'{wanted[0]}' is expected here"
    gap = _gap(place) if place.kind in LAYOUT else ()
    return place.mistake("E0101", f"{place.described()} was not expected here", hint, *gap)


RULES = (
    empty,
    indentation,
    character,
    other_operators,
    brackets,
    braces,
    foreign_word,
    misused_keyword,
    orphan,
    equals,
    colon,
    side_by_side,
    condition,
    bars,
    commas,
    member,
    operands,
)
