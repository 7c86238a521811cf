"""Emission: from the IR of a kernel, in primitive rows, to Python source that Numba compiles."""

from __future__ import annotations

from ..ir import Apply, If, Kernel, Loop, Var, defined, walk
from .control import Emitter
from .helpers import sources
from .memory import Buffer, Ref
from .scalars import kind_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Emitted:
    """Source text that defines `kernel(run, inputs..., constants..., results...)`, and what its parameters are."""

    __slots__ = ("constants", "flags", "helpers", "parameters", "results", "slots", "text")

    def __init__(
        self, text: str, parameters: list[tuple[str, tuple[int, ...]]], results: list[tuple[str, tuple[int, ...]]],
        slots: int, flags: int, helpers: set[str], constants: list[Any],
    ) -> None:  # fmt: skip
        self.text = text
        self.parameters = parameters
        self.results = results
        self.slots = slots
        self.flags = flags
        self.helpers = helpers
        self.constants = constants


def emit(kernel: Kernel) -> Emitted:
    """The source of a kernel. Raises Unsupported for what cannot be written."""
    code = Emitter(kernel.body, kernel.results)
    code.inline = set()
    inputs = []
    for x in kernel.parameters:
        name = code.new("p")
        inputs.append(name)
        if x.shape:
            code.refs[x] = Ref(Buffer(name, x.kind, x.size, writable=False), x.shape)
        else:
            code.texts[x] = name
    outputs = [code.new("r") for _ in kernel.results]
    code.state.own |= {out for stmt in kernel.body for out in defined(stmt)}
    code.home = homes(kernel, outputs)
    code.block(kernel.body)
    arrays, numbers = [], []
    for x, name in zip(kernel.results, outputs):
        if x.__class__ is Var and x.shape:
            buffer = code.home.get(x)
            if buffer is None or buffer.name != name:
                buffer = Buffer(name, x.kind, x.size)
            arrays.append((buffer, x))
        else:
            numbers.append((name, x))
    code.deliver(arrays)
    for name, x in numbers:
        code.lines.add(f"{name}[0] = {code.text(x)}")
    for number, hit in sorted(code.hits.items()):
        code.entry.append(f"{hit} = False")
        code.lines.add(f"if {hit}:")
        code.lines.add(f"run[FLAGS + {number}] = 1", 1)
    code.lines.add("return 0")
    given = ", ".join(["run", *inputs, *[name for name, _ in code.constants], *outputs])
    body = [f"    {line}" for line in code.entry] + code.lines.lines
    text = "\n".join([f"def kernel({given}):", *body, ""])
    helpers = sources(text)
    text = "\n".join([*helpers.values(), text])
    parameters = [(x.kind, x.shape) for x in kernel.parameters]
    results = [(kind_of(x), x.shape if x.__class__ is Var else ()) for x in kernel.results]
    values = [values for _, values in code.constants]
    return Emitted(text, parameters, results, code.slots, len(kernel.flags), set(helpers), values)


def homes(kernel: Kernel, outputs: list[str]) -> dict[Var, Buffer]:
    """Which variables may be computed in the memory of a result: the result itself, and the arrays that are updated to it."""
    made: dict[Var, Any] = {}
    for stmt in walk(kernel.body):
        for out in defined(stmt):
            made[out] = stmt
    top = {id(stmt) for stmt in kernel.body}
    found: dict[Var, Buffer] = {}

    def visit(x: Any, buffer: Buffer) -> None:
        while x.__class__ is Var and x not in found and x.shape:
            found[x] = buffer
            stmt = made.get(x)
            if stmt.__class__ is Apply and stmt.row.name in ("index_update", "index_add"):
                x = stmt.inputs[0]
            elif stmt.__class__ is Loop and id(stmt) in top:
                phi, first, after = next((p, a, b) for p, a, b, out in stmt.carried if out is x)
                if not updated(after, phi, made):
                    del found[x]
                    return
                found[phi] = buffer
                x = first
            else:
                return

    for x, name in zip(kernel.results, outputs):
        if x.__class__ is Var and x.shape:
            visit(x, Buffer(name, x.kind, x.size))
    return found


def updated(x: Any, phi: Var, made: dict[Var, Any]) -> bool:
    """Whether a variable is a carried array after updates of elements only, which change it in place."""
    while x is not phi:
        stmt = made.get(x)
        if stmt.__class__ is Apply and stmt.row.name in ("index_update", "index_add"):
            x = stmt.inputs[0]
        elif stmt.__class__ is Loop:
            inner, first, after = next((p, a, b) for p, a, b, out in stmt.carried if out is x)
            if not updated(after, inner, made):
                return False
            x = first
        elif stmt.__class__ is If:
            then, orelse = next((a, b) for out, a, b in stmt.outs if out is x)
            return updated(then, phi, made) and updated(orelse, phi, made)
        else:
            return False
    return True


__all__ = ["Emitted", "emit"]
