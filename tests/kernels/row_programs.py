"""For each sample of a row a program that applies it: its results, weighted, as one number to differentiate."""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np
from adiff.engine.core.dispatch import plain
from adiff.engine.core.dtypes import of_numpy
from adiff.engine.core.operation import REQUIRED, Operation
from adiff.engine.core.tensor import Tensor


class RowProgram:
    """`text` applied at `at`; `wrt` are the inputs that the row can be differentiated by."""

    def __init__(self, row: Operation, inputs: Any, static: dict[str, Any]) -> None:
        self.at: dict[str, Any] = {}
        self.wrt: list[str] = []
        static = {name: value for name, value in static.items() if value is not REQUIRED}
        arguments = [self.argument(x) for x in inputs]
        variadic = any(p.kind == "list" and p.variadic for p in row.parameters)
        if variadic and inputs and inputs[-1].__class__ is list and row.name != "einsum":
            arguments[-1] = ", ".join(self.argument(x) for x in inputs[-1])
        arguments += [f"{name}={literal(value)}" for name, value in static.items()]
        value = row.call([operand(x) for x in inputs], static)
        total = self.weighted("r", value)
        self.text = f"r = {row.name}({', '.join(arguments)})\n{total}"

    def argument(self, x: Any) -> str:
        """A float as an input of the program, anything else as a literal."""
        if x.__class__ is list:
            return f"[{', '.join(map(self.argument, x))}]"
        if x.__class__ is float or (isinstance(x, np.ndarray) and x.dtype.kind == "f"):
            name = f"x{len(self.wrt)}"
            self.at[name] = x
            self.wrt.append(name)
            return name
        return literal(x)

    def weighted(self, name: str, value: Any) -> str:
        """The sum of a result's elements, each with a weight of its own."""
        value = value if value.__class__ in (list, tuple) else plain(value)
        if value.__class__ in (list, tuple):
            return " + ".join(self.weighted(f"{name}[{i}]", part) for i, part in enumerate(value)) or "0.0"
        kind = np.asarray(value).dtype.kind
        if kind in "bi":
            name = f"cast({name}, float64)"
        weight = f"w{sum(n[0] == 'w' for n in self.at)}"
        shape = np.shape(value)
        drawn = np.random.default_rng(zlib.crc32(weight.encode())).uniform(0.5, 1.5, shape)
        self.at[weight] = drawn if shape else float(drawn)
        return f"sum({name} * {weight})" if shape else f"{name} * {weight}"


def operand(x: Any) -> Any:
    """A sample as what a row takes."""
    if x.__class__ is list:
        return [operand(part) for part in x]
    return Tensor(x, of_numpy(x.dtype)) if isinstance(x, np.ndarray) else x


def literal(x: Any) -> str:
    if isinstance(x, np.ndarray):
        return repr(x.tolist())
    if isinstance(x, Tensor):
        return repr(np.asarray(x.value).tolist())
    return repr(x)
