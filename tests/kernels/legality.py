"""What makes a kernel's statements legal, asserted before and after each pass."""

from __future__ import annotations

import functools
import re
from typing import Any

from adiff.engine.kernels import ir
from adiff.engine.kernels.construction.construct import kind_of_value as kind
from adiff.engine.kernels.ir import BOOL, FLOAT, INT
from adiff.engine.kernels.source.primitives import OWN, TEXT, kind_of_row

# The kinds of operands and result of what is no row.
OWN_KINDS = {
    "to_float": ("fib", FLOAT),
    "to_int": ("fib", INT),
    "int_of_bool": ("ib", INT),
    "zero": ("", FLOAT),
    "divisor_unit": ("f", FLOAT),
    "to_single": ("fib", FLOAT),
    "to_double": ("fib", FLOAT),
}


def check(kernel: ir.Kernel, regions: bool = True) -> None:
    """Assert that a kernel's statements are legal.

    - Whatever is read is defined on every path that leads there, once. What a side of a branch defines is known again in
      a later branch on the same condition (the reverse sweep takes the sides that were taken), and nowhere else.
    - An operation is known, has as many operands as its text names, and a result of the kind that its row says; arrays
      hold one kind, are indexed by integers, and inside their bounds where the index is known; conditions are truth
      values; what a loop carries, and what a branch merges, keeps its kind; no variable that is a truth value is added to.
    - What notes, or takes back, what an array was before finds a log that was opened.
    - Regions stand only where rules are still to be applied: not (`regions` False) after the adjoint.
    """
    Checker(regions).run(kernel)


def fits(given: Any, wanted: str) -> bool:
    """Whether an operand may stand for a number of a kind: known integers and truth values become floats."""
    return kind(given) == wanted or (wanted == FLOAT and given.__class__ in (int, bool))


def counts(given: Any, wanted: str) -> bool:
    """Whether an operand may be added to a number of a kind: counts count what is true."""
    return fits(given, wanted) or (wanted == INT and kind(given) == BOOL)


def kept(given: Any, wanted: str) -> bool:
    """Whether an operand may be kept as a number of a kind: of rows on truth values, 0 and 1 are such."""
    return fits(given, wanted) or {kind(given), wanted} == {INT, BOOL}


# What is known from where a statement defines it.
DEFINED = frozenset((ir.Var, ir.Array, ir.Stack))
METHODS = {
    kind: f"of_{kind.__name__.lower()}"
    for kind in vars(ir).values()
    if kind.__class__ is type and issubclass(kind, ir.Stmt) and kind is not ir.Stmt
}


class Checker:
    """What is defined at each point of a kernel."""

    def __init__(self, regions: bool = True) -> None:
        self.known: set[Any] = set()
        self.sides: dict[tuple[Any, bool], set[Any]] = {}
        self.regions = regions

    def run(self, kernel: ir.Kernel) -> None:
        self.known = set(kernel.parameters)
        self.block(kernel.body)
        for r in kernel.results:
            self.use(r)

    def use(self, *operands: Any) -> None:
        for x in operands:
            if x not in self.known and x.__class__ in DEFINED:
                raise AssertionError(f"{x} is used before it is defined")

    def define(self, x: Any) -> None:
        assert x not in self.known, f"{x} is defined twice"
        self.known.add(x)

    def scoped(self, block: list[ir.Stmt], *after: Any) -> None:
        """A block whose definitions end with it; `after` is read at its end."""
        before = set(self.known)
        self.block(block)
        self.use(*after)
        # Heads and trip counts are read by the reverse sweep.
        self.known = before

    def side(self, condition: Any, taken: bool, block: list[ir.Stmt], *after: Any) -> set[Any]:
        """One side of a branch; what is defined at its end."""
        before = set(self.known)
        remembered = self.sides.setdefault((condition, taken), set())
        self.known |= remembered
        self.block(block)
        self.use(*after)
        found = self.known - before
        remembered |= found
        self.known = before
        return found

    def block(self, block: list[ir.Stmt]) -> None:
        for s in block:
            getattr(self, METHODS[s.__class__])(s)

    def of_set(self, s: ir.Set) -> None:
        self.use(*s.args)
        operation(s)
        if s.op in ("zero", "copy") and s.var in self.known:
            return  # a cotangent that starts again
        self.define(s.var)

    def of_load(self, s: ir.Load) -> None:
        self.use(s.array, s.index)
        place(s.array, s.index)
        assert s.var.kind == s.array.kind, f"{s.var} of kind {s.var.kind} is loaded from {s.array} of {s.array.kind}"
        self.define(s.var)

    def of_check(self, s: ir.Check) -> None:
        self.use(s.index, s.value)

    def of_alloc(self, s: ir.Alloc) -> None:
        self.define(s.array)

    def of_constant(self, s: ir.Constant) -> None:
        assert len(s.values) == s.array.size, f"{s.array} has {len(s.values)} elements"
        self.define(s.array)

    def of_region(self, s: ir.Region) -> None:
        assert self.regions, f"a region of {s.row} where no rule is to be applied any more"
        self.use(*s.operands)
        before = set(self.known)
        self.block(s.body)
        self.use(*s.results)
        self.known = before | set(s.results)

    def of_store(self, s: ir.Store) -> None:
        self.use(s.array, s.index, s.value)
        place(s.array, s.index)
        assert kept(s.value, s.array.kind), f"{s.value} of kind {kind(s.value)} is stored in {s.array}"

    def of_routine(self, s: ir.Routine) -> None:
        self.use(s.array, s.value)

    def of_addto(self, s: ir.AddTo) -> None:
        self.use(s.array, s.index, s.value)
        place(s.array, s.index)
        assert counts(s.value, s.array.kind), f"{s.value} of kind {kind(s.value)} is added to {s.array}"

    def of_openlog(self, s: ir.OpenLog) -> None:
        self.use(s.array)
        self.known.add(("log", s.array))

    def noted(self, array: Any) -> None:
        self.use(array)
        assert ("log", array) in self.known, f"there is no log of {array}"

    def of_keep(self, s: ir.Keep) -> None:
        self.noted(s.array)
        self.use(s.index)

    def of_mark(self, s: ir.Mark) -> None:
        self.noted(s.array)
        self.define(s.var)

    def of_takeback(self, s: ir.TakeBack) -> None:
        self.noted(s.array)

    def of_rewind(self, s: ir.Rewind) -> None:
        self.noted(s.array)
        self.use(s.value)

    def of_accumulate(self, s: ir.Accumulate) -> None:
        self.use(s.var, s.value)
        assert s.var.kind != BOOL, f"{s.var}, a truth value, is added to"
        assert counts(s.value, s.var.kind), f"{s.value} of kind {kind(s.value)} is added to {s.var}"

    def of_loop(self, s: ir.Loop) -> None:
        for _, initial, _ in s.carried:
            self.use(initial)
        for phi, initial, following in s.carried:
            self.define(phi)
            assert kept(initial, phi.kind), f"{phi} of kind {phi.kind} begins as {initial} of {kind(initial)}"
            assert kept(following, phi.kind), f"{phi} of kind {phi.kind} goes on as {following} of {kind(following)}"
        assert s.trips.kind == INT
        assert s.index is None or s.index.kind == INT
        assert all(x is None or kind(x) == INT for x in (s.start, s.stop, s.step)), "bounds that are no integers"
        assert all(x is None or kind(x) == BOOL for x in (s.condition, s.stop_when)), (
            "a condition that is no truth value"
        )
        for held, stack in s.stacks.items():
            self.use(held)
            self.define(stack)
        self.define(s.trips)
        following = [following for _, _, following in s.carried]
        if s.test is not None:
            # What the test computes is not for the body: each may be swept away on its own.
            self.scoped(s.test, s.condition)
            self.scoped(s.body, s.stop_when, *following)
        else:
            self.use(s.start, s.stop, s.step)
            before = set(self.known)
            self.define(s.index)
            self.scoped(s.body, s.stop_when, *following)
            self.known = before

    def of_reverseloop(self, s: ir.ReverseLoop) -> None:
        self.use(s.trips, s.start, s.step, *[stack for _, stack in s.restore])
        before = set(self.known)
        for x in (s.position, s.index, *[phi for phi, _ in s.restore]):
            if x.__class__ is ir.Array:
                self.use(x)
            elif x is not None:
                self.define(x)
        self.scoped(s.body)
        self.known = before

    def of_if(self, s: ir.If) -> None:
        self.use(s.condition)
        assert kind(s.condition) == BOOL, f"{s.condition} of kind {kind(s.condition)} decides a branch"
        for var, a, b in s.merges:
            assert all(fits(x, var.kind) for x in (a, b)), f"{var} of kind {var.kind} is {a} or {b}"
        then = self.side(s.condition, True, s.then, *[a for _, a, _ in s.merges])
        orelse = self.side(s.condition, False, s.orelse, *[b for _, _, b in s.merges])
        # A cotangent that starts on both sides goes on after them.
        self.known |= then & orelse
        for var, _, _ in s.merges:
            self.define(var)


@functools.cache
def asked(op: str) -> tuple[int, set[str]]:
    """The number of the last operand that an operation's text names, and its static parameters."""
    return max(map(int, re.findall(r"\{(\d+)\}", TEXT[op])), default=-1), set(re.findall(r"\{([a-z]\w*)\}", TEXT[op]))


# Operations on operands of some kinds that are known to be legal.
LEGAL: set[Any] = set()


def operation(s: ir.Set) -> None:
    """Assert that an operation is known, and takes and gives what it says."""
    kinds = tuple([kind(x) for x in s.args])
    key = s.op, kinds, s.var.kind, tuple(s.attributes or ())
    # What is selected may be a number of a kind that its class does not tell apart.
    if s.op != "where_select" and key in LEGAL:
        return
    assert s.op in TEXT, f"{s.op} is no operation"
    last, attributes = asked(s.op)
    assert len(s.args) > last, f"{s.op} has {len(s.args)} operands"
    assert attributes == set(s.attributes or ()), f"{s.op} has the parameters {s.attributes}"
    if s.op in OWN_KINDS:
        operands, result = OWN_KINDS[s.op]
        assert set(kinds) <= set(operands), f"{s.op} of {kinds}"
        assert s.var.kind == result, f"{s.op} gives {s.var} of kind {s.var.kind}"
    elif s.op.startswith("int_"):
        assert set(kinds) <= {INT}, f"{s.op} of {kinds}"
        assert s.var.kind == INT, f"{s.op} gives {s.var} of kind {s.var.kind}"
    elif s.op == "where_select":  # what it selects may be truth values, and stays that
        assert kinds[0] == BOOL, f"{s.op} by {s.args[0]} of kind {kinds[0]}"
        assert all(fits(x, s.var.kind) for x in s.args[1:]), f"{s.op} of {kinds} gives {s.var} of kind {s.var.kind}"
    elif s.op not in OWN:
        joined = FLOAT if FLOAT in kinds else INT if INT in kinds else BOOL
        assert s.var.kind == kind_of_row(s.op, joined), f"{s.op} of {kinds} gives {s.var} of kind {s.var.kind}"
    LEGAL.add(key)


def place(array: Any, index: Any) -> None:
    """Assert that an index is an integer, and inside the array if it is known."""
    assert kind(index) == INT, f"{array} is indexed by {index} of kind {kind(index)}"
    if index.__class__ is int and array.__class__ is ir.Array and array.size:
        assert 0 <= index < array.size, f"{array} is indexed by {index}"
