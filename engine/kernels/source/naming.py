"""Names of variables in the source of a kernel, and the kinds of what they hold."""

from __future__ import annotations

import math

from .. import ir
from ..inputs import SOME
from ..ir import BOOL, FLOAT, INT, SINGLE, Array, Stack, Var
from ..passes.widths import widths
from .legend import RESERVED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..passes.widths import Precision

STEMS = frozenset("v x l m n b c d r i k t h a ab da s ra w notes p".split())
MEMORY = {FLOAT: "floats", INT: "ints", BOOL: "bools"}


def scalar_kind(x: Any) -> str:
    """The kind of a scalar result, which may be a number."""
    if x.__class__ is Var:
        return x.kind
    return {bool: BOOL, int: INT}.get(x.__class__, FLOAT)


def number(x: Any) -> str:
    """A number in source form."""
    if x.__class__ is float:
        if math.isnan(x):
            return "math.nan"
        if math.isinf(x):
            return "math.inf" if x > 0 else "(-math.inf)"
    return f"({x!r})" if x.__class__ in (int, float) and str(x)[0] == "-" else repr(x)


class Naming:
    """The part of the printer that names things."""

    def __init__(self, kernel: ir.Kernel, precision: Precision | None = None) -> None:
        self.widths = None if precision is None else widths(kernel, precision)
        # What is float64 among the names that stand for no variable of the kernel.
        self.wide: list[str] = []
        # Of variables, and of what belongs to them: (owner, suffix).
        self.names: dict[Any, str] = {}
        self.taken = set(RESERVED)
        self.counts: dict[str, int] = {}
        for p in kernel.parameters:
            # An input keeps its own name where it can.
            if p.name.isascii() and p.name.isidentifier() and p.name not in self.taken and p.name[0] != "_":
                self.names[p] = p.name
                self.taken.add(p.name)

    def precision(self) -> tuple[str, list[str], list[str]]:
        """How the kernel computes in float32, if it does, and the variables that are float64 all the same."""
        found = self.widths
        if found is None:
            return "", [], []
        doubles = [self.names[x] for x in found.doubles if x.__class__ is Var and x in self.names]
        sums = [self.names[x] for x in found.sums if x in self.names]
        return found.mode, sorted(sums), sorted(doubles + self.wide)

    def stored(self, x: Any) -> str:
        """The kind of a variable, of an array's elements, or of a number."""
        kind: str = x.kind if x.__class__ in (Array, Stack) else scalar_kind(x)
        if self.widths is None or kind != FLOAT or x in self.widths.doubles:
            return kind
        return kind if x.__class__ is float and self.widths.mode == SOME else SINGLE

    def given(self, x: Any) -> str:
        """The kind of a result, as who called the kernel is to have it."""
        return SINGLE if self.widths is not None and x in self.widths.rounded else self.stored(x)

    def letter(self, x: Any) -> str:
        """The kind of a parameter."""
        return self.stored(x).upper() if x.__class__ is Array else self.stored(x)

    def memory(self, x: Any) -> str:
        """What gives the memory of an array, or of what is kept of one."""
        return "doubles" if self.widths is not None and x in self.widths.doubles else MEMORY[x.kind]

    def name(self, x: Any) -> str:
        """The name of a variable in the source: its kind's letter, and a number."""
        found = self.names.get(x)
        if found is None:
            stem = x.name.rstrip("0123456789")
            stem = stem if stem in STEMS else "p"
            while found is None or found in self.taken:
                self.counts[stem] = self.counts.get(stem, 0) + 1
                found = f"{stem}{self.counts[stem]}"
            self.taken.add(found)
            self.names[x] = found
        return found

    def beside(self, x: Any, suffix: str) -> str:
        """The name of a variable that belongs to another: its name and a suffix."""
        found = self.names.get((x, suffix))
        if found is None:
            found = wanted = f"{self.name(x)}_{suffix}"
            number = 1
            while found in self.taken:
                number += 1
                found = f"{wanted}{number}"
            self.taken.add(found)
            self.names[x, suffix] = found
        return found
