"""What IR is legal, as code."""

from typing import Any

from adiff.engine.kernels.ir import If, Kernel, Loop, Stmt, Var, defined, inside, operands

Block = list[Stmt]


def verify(kernel: Kernel) -> None:
    """Raise AssertionError unless a kernel is legal: every variable is defined once, before it is read, where it is seen."""
    once: set[Var] = set()

    def define(x: Var, seen: set[Var]) -> None:
        assert x not in once, f"{x} is defined twice"
        once.add(x)
        seen.add(x)

    def read(x: Any, seen: set[Var], where: Any) -> None:
        if x.__class__ is Var:
            assert x in seen, f"{x} is read before it is defined, in {where}"
        else:
            assert x is None or x.__class__ in (float, int, bool), f"{x!r} is no operand"

    def visit(block: Block, outer: set[Var]) -> set[Var]:
        seen = set(outer)
        for stmt in block:
            for x in operands(stmt):
                read(x, seen, stmt)
            fields: Any = stmt
            if stmt.__class__ is If:
                then, orelse = visit(fields.then, seen), visit(fields.orelse, seen)
                for _, a, b in fields.outs:
                    read(a, then, stmt)
                    read(b, orelse, stmt)
            elif stmt.__class__ is Loop:
                head = set(seen)
                for x in inside(stmt):
                    define(x, head)
                tested = visit(fields.test, head)
                read(fields.condition, tested, stmt)
                body = visit(fields.body, head)
                read(fields.stop_when, body, stmt)
                for phi, initial, after, out in fields.carried:
                    read(after, body, stmt)
                    for x in (initial, after, out):
                        if x.__class__ is Var:
                            assert (x.kind, x.shape) == (phi.kind, phi.shape), (
                                f"{phi} of {phi.kind} meets {x} of {x.kind}"
                            )
            for x in defined(stmt):
                define(x, seen)
        return seen

    top: set[Var] = set()
    for parameter in kernel.parameters:
        define(parameter, top)
    after = visit(kernel.body, top)
    for x in kernel.results:
        read(x, after, "results")
