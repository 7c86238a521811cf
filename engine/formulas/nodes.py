"""Formulas as directed acyclic graphs: equal formulas are one node, and what makes nodes simplifies them.

    number     value: a Fraction, or a float that a program wrote with decimals
    symbol     value: the name of an input
    constant   value: "pi" or "e"
    sum        value: (constant, coefficients) of the args, which are neither numbers nor sums; `2*x` is a sum of one term
    product    args: base, exponent, base, exponent, ...; no numeric factor; `2*(x + y)` is 2 times the product of one sum
    call       args: of the row and the static parameters in value

Powers merge and numbers fold where the result is the same wherever the operands are defined, as real numbers: sqrt(x)*sqrt(x)
is x, and sqrt(x**2) stays.
"""

from __future__ import annotations

from fractions import Fraction
from math import isqrt, log2

from ..core.errors import failure
from ..ops.exponential import log

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    Real = Any  # a Fraction, or a float
    Pairs = Iterable[tuple["Node", "Node"]]

# What is written in one piece has at most so many nodes, and numbers up to this.
MOST_WRITTEN = 20_000
MOST_GROWN = 10 * MOST_WRITTEN  # of one that is differentiated again
MOST_NUMBER = 10**300
NUMBER, SYMBOL, CONSTANT, SUM, PRODUCT, CALL = "number", "symbol", "constant", "sum", "product", "call"
# A power of numbers is folded to an integer of at most so many bits.
FOLDED_BITS = 200
# A formula for which more operands are written than this is nothing that anyone reads.
MOST_OPERANDS = 300_000


class Node:
    """One formula. Nodes are made by the functions below, once for each formula, so that `is` compares them."""

    __slots__ = ("args", "kind", "serial", "value")

    def __init__(self, kind: str, args: tuple[Node, ...], value: Any) -> None:
        self.kind = kind
        self.args = args
        self.value = value
        self.serial = len(KNOWN)


KNOWN: dict[Any, Node] = {}
ROOM = [MOST_OPERANDS]


def make(kind: str, args: tuple[Node, ...] = (), value: Any = None) -> Node:
    """The node of exactly these fields."""
    key = (kind, args, value)
    node = KNOWN.get(key)
    if node is None:
        ROOM[0] -= 1 + len(args)
        if ROOM[0] < 0:
            raise failure("E0513", "the formula is too long to be written down", HINT)
        node = KNOWN[key] = Node(kind, args, value)
    return node


# --- numbers ----------------------------------------------------------------------------------------------------------


def real(x: Any) -> Real:
    """A number of a program: a float that is whole is the integer. Raises AdiffError E0513 for nan and infinities."""
    if x.__class__ is float:
        if x - x != 0.0:
            raise failure("E0513", f"a formula cannot hold the number {x}", HINT)
        return Fraction(x) if x == int(x) and abs(x) < 2**53 else x
    return Fraction(x)


HINT = "`adiff grad` gives the derivative at a point"


def exact(x: Real) -> Fraction:
    """The decimal number that a float is written as."""
    return Fraction(repr(x)) if x.__class__ is float else x


def computed(found: Fraction, *operands: Real) -> Real:
    if not any(x.__class__ is float for x in operands):
        return found
    try:
        return real(float(found))
    except OverflowError:
        return real(float("inf"))


def plus(a: Real, b: Real) -> Real:
    return computed(exact(a) + exact(b), a, b)


def times(a: Real, b: Real) -> Real:
    return computed(exact(a) * exact(b), a, b)


def number(x: Any) -> Node:
    return make(NUMBER, (), real(x))


def root(x: int, n: int) -> int | None:
    """The n-th root of a natural number that has a whole one."""
    found = isqrt(x) if n == 2 else round(x ** (1 / n)) if x < 2**53 else 0
    return found if found**n == x else None


ZERO, ONE, TWO, MINUS, HALF = [number(x) for x in (0, 1, 2, -1, Fraction(1, 2))]
PI, E = make(CONSTANT, (), "pi"), make(CONSTANT, (), "e")


ALWAYS = dict(KNOWN)


def begin() -> None:
    """Forget all formulas: what comes next has the order, and the room, of a first formula."""
    KNOWN.clear()
    KNOWN.update(ALWAYS)
    ROOM[0] = MOST_OPERANDS


def symbol(name: str) -> Node:
    return make(SYMBOL, (), name)


# --- sums -------------------------------------------------------------------------------------------------------------


def total(pairs: Iterable[tuple[Real, Node]]) -> Node:
    """The sum of coefficients times formulas, like terms collected."""
    constant: Real = Fraction(0)
    terms: dict[Node, Real] = {}
    pending = [(c, node) for c, node in pairs if c and node is not ZERO][::-1]
    if len(pending) == 1 and pending[0][0] != -1:
        c, node = pending[0]
        return node if c == 1 else multiply(number(c), node)
    while pending:
        c, node = pending.pop()
        if node.kind == NUMBER:
            constant = plus(constant, times(c, node.value))
        elif node.kind == SUM:
            constant = plus(constant, times(c, node.value[0]))
            pending.extend((times(c, k), term) for k, term in reversed(list(zip(node.value[1], node.args))))
        elif node.kind == PRODUCT and len(node.args) == 2 and node.args[1] is ONE:
            pending.append((c, node.args[0]))
        else:
            terms[node] = plus(terms.get(node, Fraction(0)), c)
    terms = {node: c for node, c in terms.items() if c}
    if not terms:
        return number(constant)
    (first, c), *more = terms.items()
    if not more and not constant and c == 1:
        return first
    args = sorted(terms, key=lambda node: node.serial)
    return make(SUM, tuple(args), (constant, tuple([terms[node] for node in args])))


def add(*nodes: Node) -> Node:
    return total([(Fraction(1), node) for node in nodes])


def terms_of(node: Node) -> list[tuple[Real, Node]]:
    """A formula as coefficients times terms, of which a constant is 1."""
    if node.kind != SUM:
        return [(node.value, ONE)] if node.kind == NUMBER else [(Fraction(1), node)]
    constant, coefficients = node.value
    return [*zip(coefficients, node.args), *([(constant, ONE)] if constant else [])]


# --- products ---------------------------------------------------------------------------------------------------------


def factors_of(node: Node) -> tuple[Real, dict[Node, Node]]:
    """A formula as a number times powers: exponents by base."""
    if node.kind == NUMBER:
        return node.value, {}
    if node.kind == SUM and len(node.args) == 1 and not node.value[0]:
        return node.value[1][0], factors_of(node.args[0])[1]
    if node.kind == PRODUCT:
        return Fraction(1), dict(zip(node.args[::2], node.args[1::2]))
    return Fraction(1), {node: ONE}


def product(coefficient: Real, pairs: Pairs) -> Node:
    """A number times powers (base, exponent), equal bases collected."""
    found: dict[Node, Node] = {}
    pending = list(pairs)
    while pending:
        pair = pending.pop()
        c, simple = powers(*pair)
        coefficient = times(coefficient, c)
        for base, exponent in simple:
            if base in found:
                pending.append((base, add(found.pop(base), exponent)))
            elif base.kind == NUMBER and (base, exponent) != pair and is_whole(exponent):  # 10 of sqrt(10)**2
                pending.append((base, exponent))
            else:
                found[base] = exponent
    if not coefficient or not found:
        return number(coefficient)
    turned = next((b for b, e in found.items() if e is ONE and b.kind == SUM and is_mixed(b)), None)
    if turned is not None and coefficient < 0:  # (y - x)*z for -(x - y)*z
        del found[turned]
        coefficient = times(coefficient, Fraction(-1))
        return product(coefficient, [*found.items(), (total([(Fraction(-1), turned)]), ONE)])
    bases = sorted(found, key=lambda node: node.serial)
    term = bases[0]
    if len(bases) > 1 or found[term] is not ONE:
        term = make(PRODUCT, tuple([x for base in bases for x in (base, found[base])]))
    elif term.kind == SUM:
        if coefficient in (1, -1):
            return total([(coefficient, term)])
        term = make(PRODUCT, (term, ONE))
    return term if coefficient == 1 else make(SUM, (term,), (Fraction(0), (coefficient,)))


def is_mixed(node: Node) -> bool:
    """Whether a sum has terms of both signs."""
    signs = {c > 0 for c, _ in terms_of(node)}
    return len(signs) == 2


def powers(base: Node, exponent: Node) -> tuple[Real, list[tuple[Node, Node]]]:
    """base**exponent as a number times powers that are as simple as can be."""
    one = Fraction(1)
    n = exponent.value if exponent.kind == NUMBER else None
    whole = is_whole(exponent)
    if n == 0:
        return one, []
    if base.kind == NUMBER:
        return (one, [(base, exponent)] if base is not ONE else []) if n is None else number_power(base.value, n)
    if n == 1 and base.kind not in (SUM, PRODUCT):
        return one, [(base, exponent)]
    if base is E:
        c, factors = factors_of(exponent)
        logarithms = [b for b, e in factors.items() if b.kind == CALL and b.value[0] is log and e is ONE]
        if len(logarithms) == 1:
            del factors[logarithms[0]]
            return powers(logarithms[0].args[0], product(c, factors.items()))
    elif base.kind == PRODUCT:
        pairs = list(zip(base.args[::2], base.args[1::2]))
        if whole:
            return one, [(b, multiply(e, exponent)) for b, e in pairs]
        if len(pairs) == 1 and (pairs[0][0] is E or not is_even(pairs[0][1])):
            return one, [(pairs[0][0], multiply(pairs[0][1], exponent))]
    elif base.kind == SUM and len(base.args) == 1 and not base.value[0]:
        c, term = base.value[1][0], base.args[0]
        if whole or c > 0:
            k, radicals = powers(number(c), exponent)
            if not radicals:
                m, simple = powers(term, exponent)
                return times(k, m), simple
    return one, [(base, exponent)]


def is_whole(exponent: Node) -> bool:
    n = exponent.value
    return exponent.kind == NUMBER and n.__class__ is Fraction and n.denominator == 1


def is_even(exponent: Node) -> bool:
    """Whether the base of a power may be negative where the power is not: (x**2)**0.5 is no x. Symbols may be even."""
    n = exponent.value
    return exponent.kind != NUMBER or (n.__class__ is Fraction and n.numerator % 2 == 0)


def number_power(v: Real, n: Real) -> tuple[Real, list[tuple[Node, Node]]]:
    """v**n for numbers: exact, or with the integer part of the exponent in front of a radical."""
    if n == 1:
        return v, []
    if v.__class__ is float or n.__class__ is float:
        folded = v > 0 and abs(log2(v) * n) < FOLDED_BITS
        return (real(float(v) ** float(n)), []) if folded else (Fraction(1), [(number(v), number(n))])
    bits = max(v.numerator.bit_length(), v.denominator.bit_length()) * abs(n)
    if not v or bits > FOLDED_BITS or (v < 0 and n.denominator != 1):
        return (v, []) if not v and n > 0 else (Fraction(1), [(number(v), number(n))])
    whole = n.numerator // n.denominator
    c: Real = v**whole
    rest = n - whole
    simple = []
    if rest:
        for part, sign in ((v.numerator, 1), (v.denominator, -1)):
            found = root(part, rest.denominator)
            if found is not None:
                c = times(c, Fraction(found) ** (rest.numerator * sign))
            else:
                simple.append((number(part), number(sign * rest)))
    return c, simple


def multiply(*nodes: Node) -> Node:
    coefficient: Real = Fraction(1)
    pairs: list[tuple[Node, Node]] = []
    for node in nodes:
        c, factors = factors_of(node)
        coefficient = times(coefficient, c)
        pairs.extend(factors.items())
    return product(coefficient, pairs)


def power(base: Node, exponent: Node) -> Node:
    return product(Fraction(1), [(base, exponent)])


# --- measures ---------------------------------------------------------------------------------------------------------


def walk(*roots: Node) -> list[Node]:
    """Every node of formulas once, operands first."""
    found: dict[Node, None] = {}
    pending = [(node, False) for node in reversed(roots)]
    while pending:
        node, ready = pending.pop()
        if ready:
            found[node] = None
        elif node not in found:
            pending.append((node, True))
            pending.extend((x, False) for x in reversed(node.args))
    return list(found)


def size(root: Node) -> int:
    """The nodes of a formula, those of a part as often as it stands there."""
    sizes: dict[Node, int] = {}
    for node in walk(root):
        sizes[node] = 1 + sum(sizes[arg] for arg in node.args)
    return sizes[root]


def check_growth(root: Node) -> None:
    """Raise AdiffError E0513 for a formula that is too long for another derivative, which is some times as long."""
    if size(root) > MOST_GROWN:
        raise failure("E0513", "the derivatives of lower order are too long already", HINT)


def check_written(root: Node, named: bool) -> None:
    """Raise AdiffError E0513 for a formula with numbers that nobody reads or, unless its parts are named, of too many nodes."""
    for node in walk(root):
        numbers = [node.value] if node.kind == NUMBER else [node.value[0], *node.value[1]] if node.kind == SUM else []
        if any(max(abs(x.numerator), x.denominator) > MOST_NUMBER for x in numbers if x.__class__ is not float):
            raise failure("E0513", "the formula has a number of more than 300 digits", HINT)
    if not named and size(root) > MOST_WRITTEN:
        raise failure("E0513", "the formula is too long in this form", "--format c and python have names for its parts")


def length(*roots: Node) -> int:
    """The operations and distinct variables of formulas in which every common subexpression has a name and counts once."""
    count = 0
    for node in walk(*roots):
        if node.kind == SUM:
            constant, coefficients = node.value
            count += len(coefficients) - 1 + bool(constant) + sum(abs(c) != 1 for c in coefficients)
            count += len(coefficients) == 1 and not constant and coefficients[0] == -1
        elif node.kind == PRODUCT:
            exponents = node.args[1::2]
            count += sum(1 for e in exponents if e not in (ONE, MINUS)) + len(exponents) - 1
            count += all(e.kind == NUMBER and e.value < 0 for e in exponents)
        elif node.kind != NUMBER and node is not E:
            count += 1
    return count
