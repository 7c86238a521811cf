"""Scalar primitives: the source text of the rows that a kernel computes directly, and of what is no row.

A row's text stands in the row (`kernel=`): `{0}`, `{1}`, ... for the operands and `{alpha}` for a static parameter; the
kind of the result follows from the row's dtype rule. The helpers that texts call (`_sigmoid`, ...) are defined in
prelude.py or taken from ops/special_*.py; they are compiled into the kernel. The text gives what the row gives, for
infinities, nan and signed zeros too.
"""

from __future__ import annotations

from ...ops.registry import ROWS
from ...ops.support import real_of_float
from ..ir import BOOL, FLOAT, INT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# What is no row: conversions, integers (of 64 bits; the tape takes over beyond them) and cotangents.
OWN = {
    "to_float": "float({0})",
    "to_int": "_whole({0})",
    "int_of_bool": "int({0})",
    "int_add": "_int_add({0}, {1})",
    "int_subtract": "_int_subtract({0}, {1})",
    "int_multiply": "_int_multiply({0}, {1})",
    "int_floor_divide": "({0} // _divisor({1}))",
    "int_mod": "({0} % _divisor({1}))",
    "int_sign": "((1 if {0} > 0 else 0) - (1 if {0} < 0 else 0))",
    "int_power": "_int_power({0}, {1})",
    "int_fmod": "(abs({0}) % _divisor(abs({1})) * (1 if {0} > 0 else -1))",
    "int_factorial": "_int_factorial({0})",
    "int_comb": "_int_comb({0}, {1})",
    "revolve": "revolve({0}, {1})",
    "to_single": "_single({0})",
    "to_double": "_double({0})",
    "narrow": "_single({0})",
    "rounded": "_single({0})",
    "strong": "_double({0})",
    "widen": "_double({0})",
    "shorten": "_single({0})",
    "weaken": "_double({0})",
    "strengthen": "_double({0})",
    "copy": "{0}",
    # A number that is the same whatever the inputs are, and which a tape may follow (Builder.inert).
    "inert": "{0}",
    # One of which it is not certain that it depends on what its operand does (differentiation/must_reach.py).
    "unsure": "{0}",
    "zero": "0.0",
    # A power of two by which the divisor of a quotient has a reciprocal.
    "divisor_unit": "_divisor_unit({0})",
    # A constant of the derivative that is being taken (tapes.py).
    "weight": "{0}",
    # The value of a function with a derivative of its own: with the slope {2} by {1}, and with a rule (custom_rules.py).
    "sloped": "{0}",
    "opaque": "{0}",
}
TEXT: dict[str, str] = {name: row.kernel for name, row in ROWS.items() if row.kernel.__class__ is str} | OWN

# Rows whose text holds for integers too; the others compute in floats or leave integers to the tape.
FOR_INTEGERS = frozenset("abs minimum maximum fmin fmax clip_between".split())
LOGIC = frozenset("logical_and logical_or logical_xor logical_not".split())
# Operations on the bits of integers; of truth values, what they are of those.
BITS = {"bitwise_and": "logical_and", "bitwise_or": "logical_or", "bitwise_xor": "logical_xor", "invert": "logical_not"}
SHIFTS = {"left_shift": "multiply", "right_shift": "floor_divide"}
# What a static parameter may be that stands in a text.
STATIC = (int, float, bool, type(None))


def kind_of_row(name: str, joined: str) -> str:
    """The kind of a row's result for operands of a joined kind."""
    rule = ROWS[name].dtype
    if rule == "bool" or (name in BITS and joined == BOOL):
        return BOOL
    return FLOAT if rule == "float" or rule is real_of_float else (INT if joined == BOOL else joined)


def attributes_covered(name: str, attributes: dict[str, Any]) -> bool:
    """Whether a row's text takes these static parameters."""
    return all(value.__class__ in STATIC and f"{{{key}}}" in TEXT[name] for key, value in attributes.items())
