"""IR as text for people, and what IR is legal as code."""

from typing import Any

from adiff.engine.kernels.ir import Apply, If, Kernel, Loop, Stmt, Var, defined, inside, operands

Block = list[Stmt]


def text(block: Block, depth: int = 0) -> str:
    """A block as text, for people."""
    pad = "    " * depth
    lines: list[str] = []
    for stmt in block:
        fields: Any = stmt
        if stmt.__class__ is Apply:
            given = ", ".join([*map(repr, fields.inputs), *(f"{k}={v!r}" for k, v in fields.attributes.items())])
            lines.append(f"{pad}{', '.join(map(repr, fields.outs))} = {fields.row.name}({given})")
        elif stmt.__class__ is Loop:
            head = (
                "while" if fields.index is None else f"for {fields.index} in {fields.start}:{fields.stop}:{fields.step}"
            )
            phis = ", ".join(f"{phi} = {initial} -> {after} -> {out}" for phi, initial, after, out in fields.carried)
            lines.append(f"{pad}{head} [{fields.position} of {fields.trips}] carrying {phis}")
            if fields.index is None:
                lines += [text(fields.test, depth + 1), f"{pad}  while {fields.condition}"]
            lines.append(text(fields.body, depth + 1))
            if fields.stop_when is not None:
                lines.append(f"{pad}  stop when {fields.stop_when}")
        elif stmt.__class__ is If:
            lines += [f"{pad}if {fields.condition}", text(fields.then, depth + 1), f"{pad}else"]
            lines += [text(fields.orelse, depth + 1), f"{pad}  -> {fields.outs}"]
        else:
            values = ", ".join(f"{name}={getattr(stmt, name)!r}" for name in stmt.__slots__ if name != "values")
            lines.append(f"{pad}{stmt.__class__.__name__}({values})")
    return "\n".join(line for line in lines if line)


def verify(kernel: Kernel) -> None:
    """Raise AssertionError unless a kernel is legal: every variable is defined once, before it is read, where it is seen."""
    once: set[Var] = set()

    def define(x: Var, seen: set[Var]) -> None:
        assert x not in once, f"{x} is defined twice"
        once.add(x)
        seen.add(x)

    def read(x: Any, seen: set[Var], where: Any) -> None:
        if x.__class__ is Var:
            assert x in seen, (
                f"{x} is read before it is defined, in\n{text([where]) if isinstance(where, Stmt) else where}"
            )
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


__all__ = ["text", "verify"]
