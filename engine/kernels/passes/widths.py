"""Width inference: in kernels that compute in float32, which of their floats are float64 all the same.

The IR has one kind of floats. In a kernel of float32 inputs, or under `--dtype float32`, it stands for float32, but for

bare floats    what literals and integers alone give, and bare inputs, where the default is float64: they are rounded where
               they meet a float32, as on the tape
sums           what a reduction, or the reverse sweep of a loop, adds up and does nothing else with: in float64, rounded
               where it is read. NumPy adds float32 pairwise, whose error grows with the logarithm of their number; one
               after the other it would grow with the number itself
"""

from __future__ import annotations

from .. import ir
from ..inputs import SOME
from ..ir import FLOAT, LIMIT, Array, Stack, Stmt, Unsupported, Var
from .statements import blocks_of, everything, operands, with_blocks

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# What a float is: one or the other, a bare one, a float32, a float64 that the program has made.
LITERAL, BARE, SINGLE, DOUBLE = 0, 1, 2, 3
# What it is by the operations that change it. The program's own casts are `to_single` and `strong`; where they do change
# what a float is they are called as below, and have derivatives that change it back (differentiation/products.py).
WIDTHS = {
    "to_single": SINGLE,
    "narrow": SINGLE,
    "rounded": SINGLE,
    "shorten": SINGLE,
    "to_double": BARE,
    "weaken": BARE,
    "strong": DOUBLE,
    "widen": DOUBLE,
    "strengthen": DOUBLE,
}
# What a cast of the program's is called by what its operand is; one that changes nothing is a copy.
NAMED = {
    "to_single": {LITERAL: "narrow", BARE: "narrow", DOUBLE: "shorten"},
    "strong": {LITERAL: "strengthen", BARE: "strengthen", SINGLE: "widen"},
}
# What the operand of such a cast is.
OPERAND = {"narrow": BARE, "shorten": DOUBLE, "strengthen": BARE, "widen": SINGLE}


class Floats:
    """The bounds of one kind of floats.

    `epsilon` is the gap behind 1, `least` the smallest of full precision; a square of a number from `least_root` on has
    full precision, and so has each part that counts of a sum of squares between the two of `squares`.
    """

    __slots__ = ("epsilon", "largest", "least", "least_root", "squares")

    def __init__(
        self, epsilon: float, least: float, largest: float, least_root: float, squares: tuple[float, float]
    ) -> None:
        self.epsilon = epsilon
        self.least = least
        self.largest = largest
        self.least_root = least_root
        self.squares = squares


OF_FLOAT64 = Floats(2.0**-52, 2.2250738585072014e-308, 1.7976931348623157e308, 1e-150, (1e-280, 1e300))
OF_FLOAT32 = Floats(2.0**-23, 1.1754943508222875e-38, 3.4028234663852886e38, 1e-15, (1e-22, 1e37))


class Precision:
    """In what a kernel computes: `mode` is EVERY or SOME, `bare` are the parameters that are float64 in the latter.

    `exact` are arrays that hold integers too and are float64 in either, `alike` those that must not hold both. `known` are
    variables and arrays that are float32, whatever is left of what made them so.
    """

    __slots__ = ("alike", "bare", "exact", "known", "mode")

    def __init__(self, mode: str, bare: set[Any], exact: list[Array], alike: list[Array]) -> None:
        self.mode = mode
        self.known: set[Any] = set()
        self.bare = bare
        self.exact = exact
        self.alike = alike

    def hold_both(self, table: Array, value: Any, sources: list[Any]) -> None:
        """Take a table of derivatives as float64, where those by bare numbers are bare beside those by float32."""
        if self.mode == SOME and value not in self.known and not self.bare.isdisjoint(sources):
            self.exact.append(table)

    def leave_bare(self, seed: Any) -> None:
        """Take a parameter that comes with a derivative, a tangent or a cotangent, as float64. Raises Unsupported for
        an array: those are float32."""
        if seed.__class__ is Array:
            raise Unsupported("a tangent of float64 beside float32")
        self.bare.add(seed)


class Widths:
    """What is kept in float64, of variables, arrays and heads; and the sums among the variables. Of the former, `rounded`
    are arrays of sums that are float32 to whoever is given them."""

    __slots__ = ("doubles", "mode", "rounded", "sums")

    def __init__(self, mode: str, doubles: set[Any], sums: set[Var], rounded: set[Array]) -> None:
        self.mode = mode
        self.doubles = doubles
        self.sums = sums
        self.rounded = rounded


def widths(kernel: ir.Kernel, precision: Precision) -> Widths:
    """The floats of a kernel that are float64 all the same. Raises Unsupported where that depends on the path taken."""
    doubles: set[Any] = set(precision.exact)
    for s in everything(kernel.body):
        if s.__class__ is ir.Set and s.op == "to_double":
            doubles.add(s.var)
        elif s.__class__ is ir.Routine:
            # Routines take, and give, float64; what they compute in is float32 (externals.py).
            doubles |= {s.array, s.value}
    if precision.mode == SOME:
        doubles |= Levels(kernel, precision).settled().doubles()
    rounded = collected(kernel) - doubles
    doubles |= rounded
    return Widths(precision.mode, doubles, {x for x in sums(kernel.body) if x not in doubles}, rounded)


# --- bare floats ------------------------------------------------------------------------------------------------------


class Levels:
    """What each float of a kernel is, found by going through its statements until nothing changes."""

    def __init__(self, kernel: ir.Kernel, precision: Precision) -> None:
        self.kernel = kernel
        self.precision = precision
        self.level: dict[Any, int] = {
            p: BARE if p in precision.bare else SINGLE for p in kernel.parameters if p.kind == FLOAT
        }
        self.level.update(dict.fromkeys(precision.known, SINGLE))
        self.seen: set[Any] = set(self.level)
        self.changed = True
        while self.changed:
            self.changed = False
            self.block(kernel.body)

    def settled(self) -> Levels:
        """The same. Raises Unsupported where what a float is depends on the path taken."""
        for s in everything(self.kernel.body):
            self.settle(s)
        return self

    def named(self, before: set[Var]) -> Levels:
        """The same, with the program's casts called by what they do; those of `before` are so already.

        Raises Unsupported where a float64 that the program has made meets a float32, which is an error, and where what
        came after one of those casts was named has made its operand something else."""
        for s in everything(self.kernel.body):
            self.refuse_mixed(s)
            if s.__class__ is ir.Set and s.var in before and self.of(s.args[0]) not in (OPERAND[s.op], LITERAL):
                raise Unsupported("a cast in a derivative inside the program, of what is a float32 on some paths only")
        name_casts(self.kernel.body, self)
        for s in everything(self.kernel.body):
            if s.__class__ is ir.Set and s.op == "as_wide":
                was, single = (self.of(x) == SINGLE for x in (s.args[0], s.var))
                s.op = "copy" if was == single else "narrow" if single else "to_double"
                s.args = s.args[:1]
        return self

    def refuse_mixed(self, s: Stmt) -> None:
        """Raise Unsupported where a float64 that the program has made, and a float32, are what one statement takes, or
        where one variable or array holds both."""
        met: list[set[int]] = []
        if s.__class__ is ir.Set:
            met = [] if s.op in WIDTHS or s.op == "as_wide" else [set(map(self.of, s.args))]
            met.append({self.made(s), self.of(s.var)})
        elif s.__class__ is ir.Load:
            met = [{self.of(s.var), self.of(s.array)}]
        elif s.__class__ is ir.Accumulate:
            met = [{self.of(s.var), self.of(s.value)}]
        elif isinstance(s, ir.Store | ir.AddTo):
            met = [{self.of(s.array), self.of(s.value)}]
        elif s.__class__ is ir.Loop:
            met = [set(map(self.of, each)) for each in s.carried]
        elif s.__class__ is ir.If:
            met = [set(map(self.of, each)) for each in s.merges]
        if any({SINGLE, DOUBLE} <= each for each in met):
            raise Unsupported("float64 beside float32")

    def singles(self) -> set[Any]:
        return {x for x, level in self.level.items() if level == SINGLE}

    def doubles(self) -> set[Any]:
        return {x for x in self.seen if self.level.get(x, LITERAL) != SINGLE}

    def of(self, x: Any) -> int:
        return self.level.get(x, LITERAL) if x.__class__ in (Var, Array, Stack) and x.kind == FLOAT else LITERAL

    def rise(self, x: Any, level: int) -> None:
        if x.kind == FLOAT:
            self.seen.add(x)
            if level > self.level.get(x, LITERAL):
                self.level[x] = level
                self.changed = True

    def made(self, s: ir.Set) -> int:
        """What an operation gives."""
        if s.op in WIDTHS:
            return WIDTHS[s.op]
        if s.op == "as_wide":  # a derivative that the program has taken, and of what
            found, *like = map(self.of, s.args)
            return SINGLE if SINGLE in like else min(found, BARE)
        floats = [x for x in s.args if x.__class__ is float or getattr(x, "kind", "") == FLOAT]
        alone = LITERAL if s.op == "zero" or all(x.__class__ in (int, bool) for x in s.args) else BARE
        return max(map(self.of, floats), default=alone)

    def block(self, block: list[Stmt]) -> None:
        for s in block:
            if s.__class__ is ir.Set:
                self.rise(s.var, self.made(s))
            elif s.__class__ is ir.Load:
                self.rise(s.var, self.of(s.array))
            elif s.__class__ is ir.Accumulate:
                self.rise(s.var, self.of(s.value))
            elif isinstance(s, ir.Store | ir.AddTo):
                self.rise(s.array, self.of(s.value))
            elif s.__class__ in (ir.Alloc, ir.Constant):
                self.rise(s.array, LITERAL)
            elif s.__class__ is ir.Loop:
                for phi, initial, following in s.carried:
                    self.rise(phi, max(self.of(initial), self.of(following)))
                for held, stack in s.stacks.items():
                    self.rise(stack, self.of(held))
            elif s.__class__ is ir.ReverseLoop:
                for held, stack in s.restore:
                    self.rise(held, self.of(stack))
            elif s.__class__ is ir.If:
                for var, a, b in s.merges:
                    self.rise(var, max(self.of(a), self.of(b)))
            for inner in blocks_of(s):
                self.block(inner)

    def settle(self, s: Stmt) -> None:
        """Refuse what is a bare float or a float32, as it comes: the tape rounds neither."""
        self.refuse_mixed(s)
        met: list[tuple[Any, Any]] = []
        if s.__class__ is ir.Loop:
            met = [(phi, x) for phi, *sides in s.carried for x in sides[runs(s) :]]
        elif s.__class__ is ir.If:
            met = [(var, x) for var, *sides in s.merges for x in sides]
        elif isinstance(s, ir.Store) and (s.array.mixed or s.array in self.precision.alike):
            met = [(s.array, s.value)]
        if any(x.kind == FLOAT and self.of(x) == SINGLE and self.of(y) in (BARE, DOUBLE) for x, y in met):
            raise Unsupported("a number that is a float32 on some paths only")


def name_casts(block: list[Stmt], levels: Levels) -> set[Var]:
    """Call the program's casts in a block by what they do, before their derivatives are asked for; which change a width."""
    found: set[Var] = set()
    for s in everything(block):
        if s.__class__ is ir.Set and s.op in NAMED:
            s.op = NAMED[s.op].get(levels.of(s.args[0]), "copy")
            if s.op != "copy":
                found.add(s.var)
    return found


def runs(s: ir.Loop) -> bool:
    """Whether a loop has an iteration, if what `checked` has put before it lets the kernel go on."""
    if s.test is not None or s.start.__class__ is not int or s.step.__class__ is not int:
        return False
    return bool(range(s.start, s.stop, s.step)) if s.stop.__class__ is int else s.step == 1


def checked(block: list[Stmt], levels: Levels) -> list[Stmt]:
    """The statements, with checks that the loops run which begin with a bare float and go on with a float32.

    The bare float is rounded before the first iteration, and not where it meets a float32 there. Where there is none the
    result would be bare, which is the tape's to give.
    """
    found: list[Stmt] = []
    for s in block:
        if s.__class__ is ir.Loop and s.stop.__class__ is Var and runs(s):
            begun = [(phi, initial) for phi, initial, _ in s.carried if levels.of(phi) == SINGLE]
            if any(levels.of(initial) == BARE for _, initial in begun):
                found.append(ir.Check(s.stop, s.start + 1, LIMIT + 1, s.site))
        found.append(with_blocks(s, lambda inner: checked(inner, levels)))
    return found


# --- sums -------------------------------------------------------------------------------------------------------------


def sums(block: list[Stmt]) -> set[Var]:
    """The variables that collect a sum: what a reduction carries, and what loops begun after it only add to."""
    found: set[Var] = set()
    begun: dict[Var, int] = {}
    steps: set[Var] = set()  # what is a state of a loop: read, or made anew, where it is added to

    def walk(block: list[Stmt], depth: int) -> None:
        for s in block:
            steps.update(x for x in operands(s) if x in begun and depth > begun[x] and x is not own_of(s))
            if s.__class__ is ir.Set:
                if depth > begun.setdefault(s.var, depth):
                    steps.add(s.var)
            elif s.__class__ is ir.Accumulate:
                if s.var.kind == FLOAT and depth > begun.get(s.var, depth):
                    found.add(s.var)
            elif s.__class__ is ir.Loop and not s.own:
                for phi, _, following in s.carried:
                    chain = summed(s.body, phi, following) if phi.kind == FLOAT else None
                    if chain is not None:
                        carried.update(chain)
            inside = depth + isinstance(s, ir.Loop | ir.ReverseLoop)
            for inner in blocks_of(s):
                walk(inner, inside)

    carried: set[Var] = set()
    walk(block, 0)
    return found - steps | carried


def collected(kernel: ir.Kernel) -> set[Array]:
    """The arrays that collect sums: cotangents, to which loops add and into which nothing else is written but zeros."""
    added: set[Array] = set()
    written: set[Array] = {x for x in kernel.parameters if x.__class__ is Array}
    for s in everything(kernel.body):
        if s.__class__ is ir.AddTo and s.array.kind == FLOAT:
            added.add(s.array)
        elif s.__class__ is ir.Store and s.value.__class__ is not float:
            written.add(s.array)
    return added - written


def own_of(s: Stmt) -> Any:
    """The variable that a statement adds to."""
    return s.var if s.__class__ is ir.Accumulate and s.value is not s.var else None


def summed(body: list[Stmt], phi: Var, following: Any) -> list[Var] | None:
    """The variables that a sum goes through in an iteration, begun with `phi`; None where it is no sum."""
    reading = [s for s in everything(body) if any(x is phi for x in operands(s))]
    if len(reading) != 1 or following.__class__ is not Var:
        return None
    (s,) = reading
    if not any(s is x for x in body):
        return None
    if s.__class__ is ir.Set and s.var is following:
        adds = s.op == "add" or (s.op == "subtract" and s.args[0] is phi)
        read_again = any(x is following for other in everything(body) for x in operands(other))
        return [phi, following] if adds and s.args.count(phi) == 1 and not read_again else None
    if s.__class__ is ir.Loop and not s.own:
        for inner, initial, turned in s.carried:
            if initial is phi and inner is following:
                chain = summed(s.body, inner, turned)
                return None if chain is None else [phi, *chain]
    return None
