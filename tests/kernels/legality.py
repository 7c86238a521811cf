"""What makes a kernel's statements legal, asserted before and after each pass."""

from __future__ import annotations

from typing import Any

from adiff.engine.kernels import ir


def check(kernel: ir.Kernel) -> None:
    """Assert that whatever is read is defined on every path that leads there, once.

    What a side of a branch defines is known again in a later branch on the same condition (the reverse sweep takes the
    sides that were taken), and nowhere else.
    """
    Checker().run(kernel)


class Checker:
    """What is defined at each point of a kernel."""

    def __init__(self) -> None:
        self.known: set[Any] = set()
        self.sides: dict[tuple[Any, bool], set[Any]] = {}

    def run(self, kernel: ir.Kernel) -> None:
        self.known = set(kernel.parameters)
        self.block(kernel.body)
        for r in kernel.results:
            self.use(r)

    def use(self, *operands: Any) -> None:
        for x in operands:
            if x.__class__ in (ir.Var, ir.Array, ir.Stack):
                assert x in self.known, f"{x} is used before it is defined"

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
            getattr(self, f"of_{s.__class__.__name__.lower()}")(s)

    def of_set(self, s: ir.Set) -> None:
        self.use(*s.args)
        if s.op in ("zero", "copy") and s.var in self.known:
            return  # a cotangent that starts again
        self.define(s.var)

    def of_load(self, s: ir.Load) -> None:
        self.use(s.array, s.index)
        self.define(s.var)

    def of_check(self, s: ir.Check) -> None:
        self.use(s.index, s.value)

    def of_alloc(self, s: ir.Alloc) -> None:
        self.define(s.array)

    def of_constant(self, s: ir.Constant) -> None:
        self.define(s.array)

    def of_region(self, s: ir.Region) -> None:
        self.use(*s.operands)
        before = set(self.known)
        self.block(s.body)
        self.use(*s.results)
        self.known = before | set(s.results)

    def of_store(self, s: ir.Store) -> None:
        self.use(s.array, s.index, s.value)

    def of_routine(self, s: ir.Routine) -> None:
        self.use(s.array, s.value)

    def of_addto(self, s: ir.AddTo) -> None:
        self.use(s.array, s.index, s.value)

    def of_openlog(self, s: ir.OpenLog) -> None:
        self.use(s.array)

    def of_keep(self, s: ir.Keep) -> None:
        self.use(s.array, s.index)

    def of_mark(self, s: ir.Mark) -> None:
        self.use(s.array)
        self.define(s.var)

    def of_takeback(self, s: ir.TakeBack) -> None:
        self.use(s.array)

    def of_rewind(self, s: ir.Rewind) -> None:
        self.use(s.array, s.value)

    def of_accumulate(self, s: ir.Accumulate) -> None:
        self.use(s.var, s.value)

    def of_loop(self, s: ir.Loop) -> None:
        for _, initial, _ in s.carried:
            self.use(initial)
        for phi, _, _ in s.carried:
            self.define(phi)
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
        then = self.side(s.condition, True, s.then, *[a for _, a, _ in s.merges])
        orelse = self.side(s.condition, False, s.orelse, *[b for _, _, b in s.merges])
        # A cotangent that starts on both sides goes on after them.
        self.known |= then & orelse
        for var, _, _ in s.merges:
            self.define(var)
