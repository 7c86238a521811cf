"""Formulas as text: in the language itself, in LaTeX, for NumPy and in C."""

from __future__ import annotations

from fractions import Fraction
from keyword import kwlist
from re import fullmatch

from ..core.errors import failure
from ..ops import arithmetic
from .nodes import (
    CALL,
    CONSTANT,
    HALF,
    HINT,
    NUMBER,
    ONE,
    PRODUCT,
    SUM,
    SYMBOL,
    E,
    Node,
    factors_of,
    length,
    terms_of,
    walk,
)  # fmt: skip

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, ClassVar

    from .nodes import Real

# How tightly the outermost operator of a text binds.
LOGIC, CONDITION, ADDITION, MULTIPLICATION, POWER, ATOM = range(6)
Text = tuple[str, int]
RESERVED = {
    "python": [*kwlist, "np", "special"],
    "c": """auto break case char const continue default do double else enum extern float for goto if inline int long register
        restrict return short signed sizeof static struct switch typedef union unsigned void volatile while main
        unix linux NAN INFINITY""".split(),
}
GREEK = """alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi pi rho sigma tau upsilon phi chi psi omega Gamma
    Delta Theta Lambda Xi Pi Sigma Upsilon Phi Psi Omega""".split()
LATEX_FUNCTIONS = "sin cos tan sinh cosh tanh arcsin arccos arctan log".split()
LATEX_NAMES = {
    "gamma": r"\Gamma", "lgamma": r"\log\Gamma", "digamma": r"\psi", "zeta": r"\zeta", "maximum": r"\max",
    "minimum": r"\min", "arctan2": r"\operatorname{atan2}", "sign": r"\operatorname{sgn}",
    **{f"{kind}{n}": f"{kind.upper()}_{n}" for kind in "jyik" for n in (0, 1)},
    **{name: rf"\{name}" for name in LATEX_FUNCTIONS},
}  # fmt: skip
LATEX_TEXTS = {
    "abs": r"\left|{0}\right|", "floor": r"\left\lfloor {0} \right\rfloor", "ceil": r"\left\lceil {0} \right\rceil",
    "floor_divide": r"\left\lfloor \frac{{{0}}}{{{1}}} \right\rfloor", "cbrt": r"\sqrt[3]{{{0}}}",
    "jv": r"J_{{{0}}}\left({1}\right)", "polygamma": r"\psi^{{\left({0}\right)}}\left({1}\right)",
}  # fmt: skip
# The functions of C's math.h that have other names than in the code of kernels.
C_NAMES = {"abs": "fabs", "gamma": "tgamma", "scipy_gammaln": "lgamma", "_maximum": "fmax", "_minimum": "fmin"}
C_FUNCTIONS = """exp exp2 expm1 log log2 log10 log1p sqrt cbrt sin cos tan asin acos atan atan2 sinh cosh tanh asinh
    acosh atanh erf erfc tgamma lgamma floor ceil trunc rint fmod copysign hypot fabs fmax fmin pow""".split()


# Internal rows that programs have under another name.
PUBLIC = {"signum": "sign", "where_select": "where"}
# Rows that C and NumPy write as an expression.
C_TEXTS = {
    "signum": "(({0} > 0.0) - ({0} < 0.0))", "logical_not": "!{0}", "logical_xor": "(!{0} != !{1})", "round": "rint({0})",
    # As exact as Python's: floor(1/0.1) is 10.
    "floor_divide": "(rint(({0} - fmod({0}, {1}))/{1}) - (fmod({0}, {1})*copysign(1.0, {1}) < 0.0))",
    "mod": "(fmod({0}, {1}) + (fmod({0}, {1})*copysign(1.0, {1}) < 0.0 ? {1} : 0.0))",
}  # fmt: skip
NUMPY_TEXTS = {"comb": "special.binom({0}, {1})", "factorial": "special.gamma(({0}) + 1)"}
COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")


class Plain:
    """The language itself, which is Python's too where the names are its own."""

    name = "plain"
    words: ClassVar[dict[str, str]] = {"logical_and": "and", "logical_or": "or"}
    signs: ClassVar[dict[str, str]] = {}
    joins_numbers = False  # whether a word between numbers gives a truth value
    pi = "pi"
    prefix = ""  # of functions

    def __init__(self, shared: dict[Node, str] | None = None) -> None:
        self.shared = shared or {}  # the names of common subexpressions

    def write(self, node: Node, level: int = LOGIC) -> str:
        """The text of a formula, in parentheses where it binds less tightly than `level`."""
        text, binds = self.text(node)
        return text if binds >= level else self.parentheses(text)

    def text(self, node: Node) -> Text:
        if node in self.shared:
            return self.shared[node], ATOM
        if node.kind == NUMBER:
            return self.number(node.value)
        if node.kind == SYMBOL:
            return self.symbol(node.value), ATOM
        if node.kind == CONSTANT:
            return (self.pi, ATOM) if node is not E else self.exponential(ONE)
        if node.kind == CALL:
            return self.call(node)
        terms = in_order(terms_of(node))
        if len(terms) == 1 and terms[0][0] > 0:
            return self.term(*terms[0])
        text = ""
        for c, term in terms:
            sign = ("-" if c < 0 else "") if not text else (" - " if c < 0 else " + ")
            body, binds = self.term(abs(c), term)
            text += sign + (body if binds >= MULTIPLICATION else self.parentheses(body))
        return text, ADDITION

    def term(self, c: Real, term: Node) -> Text:
        """A positive number times a term, as a quotient."""
        if c == 1 and (term in self.shared or term.kind not in (NUMBER, PRODUCT)):
            return self.text(term)
        over: list[Text] = []
        under: list[Text] = []
        upper, lower = (c, 1) if c.__class__ is float else (c.numerator, c.denominator)
        if upper != 1:
            over.append(self.number(upper))
        if lower != 1:
            under.append(self.number(lower))
        factors = {term: ONE} if term in self.shared else factors_of(term)[1]
        for base, exponent in sorted(factors.items(), key=lambda pair: (place(*pair), pair[0].serial)):
            if exponent.kind == NUMBER and exponent.value < 0 and base is not E:
                under.append(self.power(base, Node(NUMBER, (), -exponent.value)))  # of no table: writing makes none
            else:
                over.append(self.power(base, exponent))
        return self.quotient(over, under) if under else self.product(over)

    def parentheses(self, text: str) -> str:
        return f"({text})"

    def number(self, value: Real | int) -> Text:
        if value.__class__ is Fraction and value.denominator != 1:
            return f"{value.numerator}/{value.denominator}", MULTIPLICATION
        text = repr(value) if value.__class__ is float else str(int(value))
        return text, ADDITION if value < 0 else ATOM

    def symbol(self, name: str) -> str:
        return name

    def product(self, factors: list[Text]) -> Text:
        if len(factors) < 2:
            return factors[0] if factors else self.number(1)
        return "*".join(text if binds > ADDITION else self.parentheses(text) for text, binds in factors), MULTIPLICATION

    def quotient(self, over: list[Text], under: list[Text]) -> Text:
        upper, binds = self.product(over)
        lower, tight = self.product(under)
        upper = upper if binds > ADDITION else self.parentheses(upper)
        return f"{upper}/{lower if tight > MULTIPLICATION else self.parentheses(lower)}", MULTIPLICATION

    def power(self, base: Node, exponent: Node) -> Text:
        if exponent.value == 1:
            return self.text(base)
        if base is E:
            return self.exponential(exponent)
        return self.root(base) if exponent.value == HALF.value else self.raised(base, exponent)

    def exponential(self, exponent: Node) -> Text:
        return f"{self.prefix}exp({self.write(exponent)})", ATOM

    def root(self, base: Node) -> Text:
        return f"{self.prefix}sqrt({self.write(base)})", ATOM

    def raised(self, base: Node, exponent: Node) -> Text:
        return f"{self.write(base, ATOM)}**{self.write(exponent, ATOM)}", POWER

    def call(self, node: Node) -> Text:
        op = node.value[0]
        if op is arithmetic.where_select:
            return self.where(*node.args)
        if op.symbol in COMPARISONS:
            left, right = (self.write(x, ADDITION) for x in node.args)
            return f"{left} {self.signs.get(op.symbol, op.symbol)} {right}", CONDITION
        if op.name in self.words and (self.joins_numbers or all(map(is_condition, node.args))):
            return f" {self.words[op.name]} ".join(self.write(x, CONDITION) for x in node.args), LOGIC
        return self.applied(node)

    def applied(self, node: Node) -> Text:
        options = [f"{name}={value!r}" for name, value in options_of(node)]
        return f"{name_of(node)}({', '.join([*map(self.write, node.args), *options])})", ATOM

    def where(self, condition: Node, a: Node, b: Node) -> Text:
        return f"{self.prefix}where({self.write(condition)}, {self.write(a)}, {self.write(b)})", ATOM


def is_condition(node: Node) -> bool:
    return node.kind == CALL and node.value[0].dtype == "bool"


def name_of(node: Node) -> str:
    """The name of a row in programs. Raises AdiffError E0513 for a step of other rows' rules, which has none."""
    op = node.value[0]
    if op.internal and op.name not in PUBLIC:
        raise failure("E0513", f"the language has no name for a part of this derivative ({op.name})", HINT)
    name: str = op.name
    return PUBLIC.get(name, name)


def options_of(node: Node) -> list[tuple[str, Any]]:
    """The static parameters of a call that are not the defaults."""
    op, static = node.value
    defaults = {p.name: p.default for p in op.parameters}
    return [(name, value) for name, value in static if value != defaults[name]]


def place(base: Node, exponent: Node) -> int:
    """The place of a factor in a product: numbers, symbols, powers, sums, functions, exponentials."""
    if exponent.kind != NUMBER:
        return 5 if base is E else 2
    return {NUMBER: 0, CONSTANT: 0, SYMBOL: 1, SUM: 3}.get(base.kind, 4)


def in_order(terms: list[tuple[Real, Node]]) -> list[tuple[Real, Node]]:
    """The terms of a sum as one writes them: a polynomial by falling powers, others by growing length, and no minus in front."""
    monomials = [factors_of(term)[1] for _, term in terms]
    if all(b.kind == SYMBOL and e.kind == NUMBER and e.value > 0 for m in monomials for b, e in m.items()):
        found = sorted(terms, key=lambda pair: falling(factors_of(pair[1])[1]))
    else:
        found = sorted(terms, key=lambda pair: length(pair[1]))
    first = next((pair for pair in found if pair[0] > 0), found[0])
    return [first, *(pair for pair in found if pair is not first)]


def falling(monomial: dict[Node, Node]) -> tuple[Real, list[int]]:
    return -sum(e.value for e in monomial.values()), sorted(base.serial for base in monomial)


class Latex(Plain):
    name = "latex"
    words: ClassVar[dict[str, str]] = {"logical_and": r"\land", "logical_or": r"\lor"}
    signs: ClassVar[dict[str, str]] = {"<=": r"\le", ">=": r"\ge", "!=": r"\ne", "==": "="}
    pi = r"\pi"

    def parentheses(self, text: str) -> str:
        return rf"\left({text}\right)"

    def number(self, value: Real | int) -> Text:
        if value.__class__ is Fraction and value.denominator != 1:
            sign = "-" if value < 0 else ""
            return rf"{sign}\frac{{{abs(value.numerator)}}}{{{value.denominator}}}", ADDITION if sign else ATOM
        text, binds = super().number(value)
        digits, _, exponent = text.partition("e")
        return (rf"{digits} \cdot 10^{{{int(exponent)}}}", MULTIPLICATION) if exponent else (digits, binds)

    def symbol(self, name: str) -> str:
        stem = fullmatch(r"([^\W\d_]+?)_?(\d\w*|(?<=_)\w+)?", name)
        letters, index = (stem[1], stem[2]) if stem else (name, None)
        head: str = "\\" + letters if letters in GREEK else letters if len(letters) == 1 else rf"\mathrm{{{letters}}}"
        below = index if index is None or index.isdigit() or len(index) == 1 else rf"\mathrm{{{index}}}"
        return head if below is None else f"{head}_{{{below}}}"

    def product(self, factors: list[Text]) -> Text:
        if len(factors) < 2:
            return super().product(factors)
        found = ""
        for text, binds in factors:
            text = text if binds > ADDITION else self.parentheses(text)
            found += (r" \cdot " if text[0].isdigit() else " ") * bool(found) + text
        return found, MULTIPLICATION

    def quotient(self, over: list[Text], under: list[Text]) -> Text:
        return rf"\frac{{{self.product(over)[0]}}}{{{self.product(under)[0]}}}", MULTIPLICATION

    def exponential(self, exponent: Node) -> Text:
        return ("e", ATOM) if exponent is ONE else (f"e^{{{self.write(exponent)}}}", POWER)

    def root(self, base: Node) -> Text:
        return rf"\sqrt{{{self.write(base)}}}", ATOM

    def raised(self, base: Node, exponent: Node) -> Text:
        name = base.value[0].name if base.kind == CALL else ""
        if name in LATEX_FUNCTIONS and exponent.kind == NUMBER and exponent.value > 0:
            return rf"\{name}^{{{self.write(exponent)}}}{self.parentheses(self.write(base.args[0]))}", POWER
        return f"{self.write(base, ATOM)}^{{{self.write(exponent)}}}", POWER

    def applied(self, node: Node) -> Text:
        name = name_of(node)
        if name == "factorial":
            return f"{self.write(node.args[0], ATOM)}!", POWER
        if name in LATEX_TEXTS:
            return LATEX_TEXTS[name].format(*map(self.write, node.args)), ATOM
        escaped = name.replace("_", r"\_")
        name = LATEX_NAMES.get(name, rf"\operatorname{{{escaped}}}")
        return name + self.parentheses(", ".join(map(self.write, node.args))), ATOM

    def where(self, condition: Node, a: Node, b: Node) -> Text:
        rows = rf"{self.write(a)} & \text{{if }} {self.write(condition)} \\ {self.write(b)} & \text{{otherwise}}"
        return rf"\begin{{cases}} {rows} \end{{cases}}", CONDITION


class Code(Plain):
    """A notation of functions, in which common subexpressions have names: how these, an input and a function are written."""

    named: str
    input: str
    no_inputs = ""
    function: str

    def symbol(self, name: str) -> str:
        return name + "_" if name in RESERVED[self.name] else name


class Python(Code):
    name = "python"
    words: ClassVar[dict[str, str]] = {}
    pi = "np.pi"
    prefix = "np."
    named, input, function = "    {} = {}\n", "{}", "def {}({}):\n{}    return {}\n"

    def applied(self, node: Node) -> Text:
        op = node.value[0]
        args = [self.write(x) for x in node.args]
        if op.name in NUMPY_TEXTS:
            return NUMPY_TEXTS[op.name].format(*args), ATOM
        names = [] if options_of(node) else [name_of(node), *op.aliases]
        function = next(filter(None, map(numpy_function, names)), None)
        if function is not None:
            return f"{function}({', '.join(args)})", ATOM
        raise failure("E0513", f"neither NumPy nor SciPy has a function '{op.name}'", "--format plain writes it")


def numpy_function(name: str) -> str | None:
    """The function of NumPy or scipy.special with the name of a row of numbers, which gives what the row does."""
    import numpy as np

    if callable(getattr(np, name, None)):
        return f"np.{name}"
    from scipy import special

    return f"special.{name}" if callable(getattr(special, name, None)) else None


class C(Code):
    name = "c"
    words: ClassVar[dict[str, str]] = {"logical_and": "&&", "logical_or": "||"}
    joins_numbers = True
    pi = "3.141592653589793"
    named, input, no_inputs = "    const double {} = {};\n", "double {}", "void"
    function = "double {}({}) {{\n{}    return {};\n}}\n"

    def symbol(self, name: str) -> str:
        found = super().symbol(name)
        return found + "_" if found in C_FUNCTIONS or found.startswith(("M_", "FP_")) else found  # macros of math.h

    def number(self, value: Real | int) -> Text:
        if value.__class__ is Fraction and value.denominator != 1:
            return f"{float(value.numerator)!r}/{float(value.denominator)!r}", MULTIPLICATION
        return repr(float(value)), ADDITION if value < 0 else ATOM

    def raised(self, base: Node, exponent: Node) -> Text:
        return f"pow({self.write(base)}, {self.write(exponent)})", ATOM

    def applied(self, node: Node) -> Text:
        op = node.value[0]
        if op.name in C_TEXTS and not options_of(node):
            return C_TEXTS[op.name].format(*(self.write(x, ATOM) for x in node.args)), ATOM
        found = fullmatch(r"([\w.]+)\(\{0\}(, \{1\})?\)", op.kernel if op.kernel.__class__ is str else "")
        called = "" if found is None else found[1].rpartition(".")[2]
        name = C_NAMES.get(called, called)
        if name not in C_FUNCTIONS:
            raise failure("E0513", f"C has no function '{op.name}'", "--format plain or python writes it")
        return f"{name}({', '.join(map(self.write, node.args))})", ATOM

    def where(self, condition: Node, a: Node, b: Node) -> Text:
        return f"({self.write(condition)} ? {self.write(a)} : {self.write(b)})", ATOM


NOTATIONS: dict[str, type[Plain]] = {kind.name: kind for kind in (Plain, Latex, Python, C)}


def define(kind: type[Code], name: str, inputs: list[str], node: Node) -> str:
    """A function of the inputs, with names for what its formula holds twice."""
    uses: dict[Node, int] = {}
    parts = walk(node)
    for part in parts:
        for arg in part.args:
            uses[arg] = uses.get(arg, 0) + 1
    shared: dict[Node, str] = {}
    names: list[tuple[str, str]] = []
    for part in parts:
        if uses.get(part, 0) > 1 and part.args and length(part) > 2:
            name_of_part = f"t{len(names) + 1}"
            while name_of_part in inputs:
                name_of_part += "_"
            names.append((name_of_part, kind(shared).write(part)))
            shared[part] = name_of_part
    notation = kind(shared)
    parameters = ", ".join(kind.input.format(notation.symbol(x)) for x in inputs) or kind.no_inputs
    lines = "".join(kind.named.format(*pair) for pair in names)
    return kind.function.format(name, parameters, lines, notation.write(node))
