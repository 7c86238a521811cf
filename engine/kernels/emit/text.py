"""Pieces of source text: names, literals, lines with their indentation, and sums of indices times numbers."""

from __future__ import annotations

import math
import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

NAME = re.compile(r"[A-Za-z_][A-Za-z_0-9]*")
ATOM = re.compile(r"[A-Za-z_][A-Za-z_0-9.]*|[0-9][0-9.e+]*")


def literal(x: Any, kind: str) -> str:
    """A number as source text, of the given kind."""
    if kind == "b":
        return repr(bool(x))
    if kind == "i":
        return repr(int(x)) if x >= 0 else f"({int(x)})"
    x = float(x)
    if math.isfinite(x):
        return repr(x) if math.copysign(1.0, x) > 0 else f"({x!r})"
    return "math.nan" if x != x else "math.inf" if x > 0 else "(-math.inf)"


def is_atom(text: str) -> bool:
    """Whether text is a name or a number, which may stand anywhere and be repeated."""
    return ATOM.fullmatch(text) is not None


class Affine:
    """A sum of integer variables times known integers, plus an integer."""

    __slots__ = ("constant", "terms")

    def __init__(self, constant: int = 0, terms: tuple[tuple[str, int], ...] = ()) -> None:
        self.constant = constant
        self.terms = terms

    def __add__(self, other: Affine) -> Affine:
        if not other.terms:
            return Affine(self.constant + other.constant, self.terms)
        if not self.terms:
            return Affine(self.constant + other.constant, other.terms)
        terms = dict(self.terms)
        for name, factor in other.terms:
            terms[name] = terms.get(name, 0) + factor
        kept = tuple([(name, factor) for name, factor in terms.items() if factor])
        return Affine(self.constant + other.constant, kept)

    def __mul__(self, factor: int) -> Affine:
        if factor == 1:
            return self
        if factor == 0:
            return ZERO
        return Affine(self.constant * factor, tuple([(name, n * factor) for name, n in self.terms]))

    def __eq__(self, other: object) -> bool:
        return other.__class__ is Affine and self.constant == other.constant and set(self.terms) == set(other.terms)

    def __hash__(self) -> int:
        return hash((self.constant, frozenset(self.terms)))

    def __str__(self) -> str:
        text = ""
        for name, factor in sorted(self.terms, key=lambda term: (term[1] < 0, -abs(term[1]))):
            part = name if abs(factor) == 1 else f"{name} * {abs(factor)}"
            text += (" - " if factor < 0 else " + ") + part
        if self.constant or not text:
            text += (" - " if self.constant < 0 else " + ") + str(abs(self.constant))
        return text[3:] if text.startswith(" + ") else "-" + text[3:]

    def as_operand(self) -> str:
        """As text that may stand in any expression."""
        text = str(self)
        return text if is_atom(text) else f"({text})"


ZERO = Affine()


def variable(name: str) -> Affine:
    return Affine(0, ((name, 1),))


class Lines:
    """Lines of source text that are being written, at an indentation."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.depth = 1

    def add(self, line: str, depth: int = 0) -> None:
        self.lines.append("    " * (self.depth + depth) + line)


class Names:
    """Names for variables, numbered by hint: no name of a helper ends so."""

    def __init__(self) -> None:
        self.counts: dict[str, int] = {}

    def new(self, hint: str) -> str:
        hint = hint if hint.isascii() and hint.isalpha() and len(hint) < 16 else "t"
        number = self.counts[hint] = self.counts.get(hint, 0) + 1
        return f"{hint}_{number}"
