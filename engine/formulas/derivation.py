"""The derivatives of a program, or of a row, as text in a notation."""

from __future__ import annotations

from ..core.errors import failure
from ..core.state import STATE, Site, end_of
from ..ops.operation import REQUIRED
from ..program.names import did_you_mean
from .derive import derivative, tidy
from .nodes import SYMBOL, Node, begin, check_growth, check_written, length, symbol, walk
from .notations import NOTATIONS, Code, define
from .symbols import Formula, node_of
from .trace import formula_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..ops.operation import Operation
    from ..program.core import CoreProgram


IMPORTS = {
    "python": [("import numpy as np", "np."), ("from scipy import special", "special.")],
    "c": [("#include <math.h>", "")],
}


class Derivation:
    """A derivative of a program: by which inputs, one after the other, and its formula.

    `length` counts operations and distinct variables, with a name for every common subexpression; `program_length` is that
    of the program's value.
    """

    def __init__(self, wrt: tuple[str, ...], node: Node, inputs: list[str], program_length: int, site: Site) -> None:
        self.wrt = wrt
        self._node = node
        self._site = site
        self.inputs = inputs
        self.length = length(node)
        self.program_length = program_length

    def __repr__(self) -> str:
        return f"{self.label}: {self}" if self.wrt else str(self)

    def __str__(self) -> str:
        return self.text()

    @property
    def label(self) -> str:
        """`d/dx`, `d2/dx dy`; `value` for none."""
        if not self.wrt:
            return "value"
        order = len(self.wrt) if len(self.wrt) > 1 else ""
        names = list(dict.fromkeys(self.wrt))
        powers = [f"d{name}{count if (count := self.wrt.count(name)) > 1 else ''}" for name in names]
        return f"d{order}/{' '.join(powers)}"

    def text(self, notation: str = "plain") -> str:
        """The formula in a notation: plain, latex; or, as a function of all inputs, python (for NumPy) or c.

        Raises AdiffError E0513 where the notation has no name for a function.
        """
        if notation not in NOTATIONS:
            raise failure("E0812", f"no notation is named {notation!r}", f"there are {', '.join(NOTATIONS)}")
        kind = NOTATIONS[notation]
        STATE.site = self._site
        check_written(self._node, issubclass(kind, Code))
        if issubclass(kind, Code):
            return define(kind, "_".join(["d", *self.wrt]) if self.wrt else "value", self.inputs, self._node)
        return kind().write(self._node)


def derivations(core: CoreProgram, wrt: Sequence[str] | None, order: int) -> list[Derivation]:
    """The derivatives of an order by `wrt` (default: by all inputs): each combination once, in the order of the names.

    Raises AdiffError E0513 for a program that has no formula, E0502 for a row without a derivative, E0803 for a name that is
    no input.
    """
    begin()
    node = formula_of(core)
    inputs = list(core.inputs)
    inputs += [x.value for x in walk(node) if x.kind == SYMBOL and x.value not in inputs]
    names = inputs if wrt is None else list(dict.fromkeys(wrt))
    for name in names:
        if name not in inputs:
            from ...parser.suggest import suggest

            hint = did_you_mean(suggest(name, inputs)) or f"its inputs are {', '.join(inputs)}"
            raise failure("E0803", f"'{name}' is not an input of the program", hint, end_of(core.source))
    STATE.site = site = end_of(core.source)
    if order and not names:
        raise failure("E0803", "the program reads no input, so there is nothing to differentiate by")
    size = length(node)
    found: dict[tuple[str, ...], Node] = {(): tidy(node, {})}
    for before in range(order):
        for formula in found.values() if before else ():
            check_growth(formula)
        found = {
            (*done, name): derivative(formula, symbol(name))
            for done, formula in found.items()
            for name in names[names.index(done[-1]) if done else 0 :]
        }
    return [Derivation(by, formula, inputs, size, site) for by, formula in found.items()]


def as_program(found: Sequence[Derivation], notation: str) -> str:
    """Functions of the derivatives in python or c, with what they import; in latex, a formula under each name."""
    if notation == "latex":
        return "\n".join(f"% {d.label}\n\\[ {d.text(notation)} \\]" for d in found)
    functions = [d.text(notation) for d in found]
    imports = [line + "\n" for line, use in IMPORTS[notation] if any(use in text for text in functions)]
    return ("\n\n" if notation == "python" else "\n").join(["".join(imports)] * bool(imports) + functions)


def derivative_of_row(op: Operation) -> str:
    """The derivative of a row as the language writes it, or each by its input. Raises AdiffError where it has no formula."""
    begin()
    names = [p.name for p in op.parameters if p.kind != "static" and p.default is REQUIRED]
    node = node_of(op.call([Formula(symbol(name)) for name in names], {}))
    found = {name: NOTATIONS["plain"]().write(derivative(node, symbol(name))) for name in names}
    return "; ".join(f"by {name}: {text}" if len(names) > 1 else text for name, text in found.items())
