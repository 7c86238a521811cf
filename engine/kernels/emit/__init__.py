"""Emission: from the IR of a kernel, in primitive rows, to Python source that Numba compiles."""

from __future__ import annotations

from typing import Any

from ..ir import Emitted, Kernel, Var
from .control import Emitter
from .memory import Buffer, Ref
from .reductions import sources
from .scalars import kind_of


def emit(kernel: Kernel) -> Emitted:
    """The source of a kernel. Raises Unsupported for what cannot be written."""
    code = Emitter(kernel.body, kernel.results)
    inputs = [code.new("p") for _ in kernel.parameters]
    for x, name in zip(kernel.parameters, inputs):
        if x.shape:
            code.refs[x] = Ref(Buffer(name, x.kind, x.size, writable=False), x.shape)
        else:
            code.texts[x] = name
    outputs = [code.new("r") for _ in kernel.results]
    code.block(kernel.body, kernel.results, (), outer=True)
    hand_over(code, kernel.results, outputs)
    for number, hit in sorted(code.hits.items()):
        code.entry[hit] = "False"
        code.add(f"if {hit}:", f"    run[FLAGS + {number}] = 1")
    code.add("return 0")
    given = ", ".join(["run", *inputs, *[name for name, _ in code.constants], *outputs])
    entry = [f"    {name} = {text}" for name, text in code.entry.items()]
    text = "\n".join([f"def kernel({given}):", *entry, *code.lines, ""])
    text = "\n".join([*sources(text), text])
    parameters = [(x.kind, x.shape) for x in kernel.parameters]
    results = [(kind_of(x), getattr(x, "shape", ())) for x in kernel.results]
    values = [values for _, values in code.constants]
    return Emitted(text, parameters, results, code.slots, len(kernel.flags), values, code.narrow)


def hand_over(code: Emitter, results: list[Any], outputs: list[str]) -> None:
    """Bring the results where the caller expects them. What lies in a slot gets the caller's memory in place of the slot."""
    arrays = []
    for x, name in zip(results, outputs):
        if x.__class__ is Var and x.shape:
            ref = code.refs.get(x)
            if ref is not None and ref.whole and ref.buffer.writable and "(run, " in code.entry[ref.buffer.name]:
                code.entry[ref.buffer.name] = name
            else:
                arrays.append((Buffer(name, x.kind, x.size), x))
    code.deliver(arrays)
    for x, name in zip(results, outputs):
        if x.__class__ is not Var or not x.shape:
            code.add(f"{name}[0] = {code.text(x)}")


__all__ = ["emit"]
