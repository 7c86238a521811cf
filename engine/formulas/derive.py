"""Derivatives of formulas by formulas, written the shorter way."""

from __future__ import annotations

from fractions import Fraction
from functools import reduce
from math import gcd

from ..core.errors import failure
from ..ops import arithmetic
from ..ops.exponential import log
from ..ops.rounding import maximum, minimum
from .nodes import (
    HINT,
    MINUS,
    NUMBER,
    ONE,
    PRODUCT,
    SUM,
    SYMBOL,
    ZERO,
    E,
    Node,
    add,
    factors_of,
    length,
    multiply,
    number,
    power,
    product,
    terms_of,
    total,
    walk,
)  # fmt: skip
from .symbols import Formula, applied, node_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..ops.operation import Operation
    from .nodes import Real

# Where the first operand is taken.
CHOICES = {maximum: arithmetic.greater_equal, minimum: arithmetic.less_equal}
# A product of sums is multiplied out if it has at most so many terms.
MOST_TERMS = 24


def derivative(node: Node, x: Node) -> Node:
    """The derivative of a formula by a symbol. Raises AdiffError E0502 and E0513."""
    found: dict[Node, Node] = {}
    known: dict[Node, Node] = {}
    for part in walk(node):
        found[part] = tidy(by_rule(part, x, found), known)
    return found[node]


def by_rule(node: Node, x: Node, of: dict[Node, Node]) -> Node:
    """The derivative of one node by those of its operands."""
    if node.kind == SYMBOL:
        return ONE if node is x else ZERO
    if all(of[arg] is ZERO for arg in node.args):
        return ZERO
    if node.kind == SUM:
        pairs = [(c, of[term]) for c, term in zip(node.value[1], node.args)]
        return multiply(number(pairs[0][0]), pairs[0][1]) if len(pairs) == 1 else total(pairs)
    if node.kind == PRODUCT:
        return product_rule(list(zip(node.args[::2], node.args[1::2])), of)
    op, static = node.value
    if op is arithmetic.where_select:
        return applied(op, [node.args[0], of[node.args[1]], of[node.args[2]]], None)
    if op in CHOICES:
        holds = applied(CHOICES[op], list(node.args), None)
        return applied(arithmetic.where_select, [holds, *(of[arg] for arg in node.args)], None)
    return add(*[
        multiply(partial(op, i, node, dict(static)), of[arg]) for i, arg in enumerate(node.args) if of[arg] is not ZERO
    ])  # fmt: skip


def product_rule(powers: list[tuple[Node, Node]], of: dict[Node, Node]) -> Node:
    """The derivative of a product, by halves: else it would have a term for each factor with all the others."""
    if len(powers) == 1:
        return of_power(*powers[0], of)
    half = len(powers) // 2
    a, b = (product(Fraction(1), part) for part in (powers[:half], powers[half:]))
    return add(multiply(product_rule(powers[:half], of), b), multiply(a, product_rule(powers[half:], of)))


def of_power(base: Node, exponent: Node, of: dict[Node, Node]) -> Node:
    """The derivative of base**exponent."""
    found = ZERO
    if of[base] is not ZERO:
        found = multiply(exponent, power(base, add(exponent, MINUS)), of[base])
    if of[exponent] is not ZERO:
        logarithm = ONE if base is E else applied(log, [base], None)
        found = add(found, multiply(power(base, exponent), logarithm, of[exponent]))
    return found


def partial(op: Operation, i: int, node: Node, static: dict[str, Any]) -> Node:
    """The partial of a row by its input number i: its own rule, run on formulas."""
    if op.derivative in ("zero", "none"):
        return ZERO
    rule = op.partials[i] if op.derivative == "partials" else None
    if rule is None:
        why = op.reason or "it has none by this argument"
        raise failure("E0502", f"the derivative of {op.name} is not available: {why}", HINT)
    return node_of(rule(Formula(node), *map(Formula, node.args), **static) if callable(rule) else rule, op)


# --- the shorter way --------------------------------------------------------------------------------------------------


def tidy(node: Node, known: dict[Node, Node]) -> Node:
    """A sum with common factors taken out, and multiplied out where that is shorter; any product of which sums are factors.

    `known` keeps what has been found before.
    """
    if node not in known:
        known[node] = tidied(node, known)
    return known[node]


def tidied(node: Node, known: dict[Node, Node]) -> Node:
    if node.kind == SUM and len(node.args) == 1 and not node.value[0]:
        return multiply(number(node.value[1][0]), tidy(node.args[0], known))
    if node.kind == PRODUCT:
        factors: list[Node] = []
        for base, exponent in factors_of(node)[1].items():
            base = tidy(base, known) if base.kind == SUM else base
            c, rest = content(base) if exponent is ONE else (Fraction(1), base)
            factors += [number(c), power(rest, exponent)]
        return multiply(*factors)
    if node.kind != SUM:
        return node
    multiplied = expanded(node)
    return factored(node) if multiplied is node else min(factored(node), factored(multiplied), key=length)


def expanded(node: Node) -> Node:
    """A sum with the products of sums in it multiplied out, if there are not many terms then."""
    terms: list[tuple[Real, Node]] = []
    for c, term in terms_of(node):
        parts = [[(c, ONE)]]
        for base, exponent in factors_of(term)[1].items():
            n = exponent.value if exponent.kind == NUMBER else 0
            if base.kind == SUM and n in (1, 2, 3):
                parts.extend([terms_of(base)] * int(n))
            else:
                parts.append([(Fraction(1), power(base, exponent))])
        products: list[Node] = [ONE]
        for part in parts:
            products = [multiply(x, number(k), t) for x in products for k, t in part]
            if len(products) > MOST_TERMS:
                return node
        terms.extend((Fraction(1), x) for x in products)
    return node if len(terms) == len(terms_of(node)) else total(terms)


def factored(node: Node) -> Node:
    """A sum with the factors taken out that all terms have. Polynomials stay: 3*x**2 + 2*x."""
    terms = [(c, factors_of(term)[1]) for c, term in terms_of(node)]
    if len(terms) < 2:
        return node
    common: dict[Node, Node] = {}
    for base, exponent in terms[0][1].items():
        exponents = [factors.get(base) for _, factors in terms]
        if all(e is exponent for e in exponents):
            common[base] = exponent
        elif all(e is not None and e.kind == NUMBER for e in exponents):
            values = [e.value for e in exponents if e is not None]
            if min(values) > 0 or max(values) < 0:
                common[base] = number(min(values))
    if not common or all(is_monomial(factors) for _, factors in terms):
        return node
    inner = total([
        (c, product(Fraction(1), [*factors.items(), *((b, multiply(MINUS, e)) for b, e in common.items())]))
        for c, factors in terms
    ])  # fmt: skip
    multiplied = expanded(inner)
    if length(multiplied) < length(inner):
        inner = multiplied
    c, inner = content(inner)
    return product(c, [*common.items(), (factored(inner), ONE)])


def is_monomial(factors: dict[Node, Node]) -> bool:
    return all(b.kind == SYMBOL and e.kind == NUMBER and e.value > 0 for b, e in factors.items())


def content(node: Node) -> tuple[Real, Node]:
    """The greatest common divisor of a sum's coefficients, with the sign that all of them have, and the rest."""
    coefficients = [c for c, _ in terms_of(node)]
    if node.kind != SUM or any(c.__class__ is float for c in coefficients):
        return Fraction(1), node
    divisor = reduce(gcd, [abs(c.numerator) for c in coefficients])
    under = reduce(gcd, [c.denominator for c in coefficients])
    c = Fraction(divisor, under) * (-1 if max(coefficients) < 0 else 1)
    return c, total([(k / c, term) for k, term in terms_of(node)])
