"""Programs that apply a row to its samples: its results, weighted, as one number to differentiate."""

from __future__ import annotations

import ast
import zlib
from collections.abc import Iterator
from typing import Any

import adiff
import numpy as np
from adiff.engine.core.dtypes import of_numpy
from adiff.engine.core.operands import plain
from adiff.engine.core.operation import REQUIRED, Operation
from adiff.engine.core.tensor import Tensor
from adiff.engine.ops.registry import NAMES
from harness import cases

# Names that Python's own functions have in programs: the rows go by another.
OTHER_NAMES = {"round": "rint"}


class RowProgram:
    """`text` applied at `at`; `wrt` are the inputs that it can be differentiated by."""

    def __init__(self) -> None:
        self.text = ""
        self.at: dict[str, Any] = {}
        self.wrt: list[str] = []

    def input(self, x: Any) -> str:
        """A float or an array of floats as an input of the program."""
        name = f"x{len(self.wrt)}"
        self.at[name] = x
        self.wrt.append(name)
        return name

    def argument(self, x: Any) -> str:
        """A sample as the program writes it: floats are inputs, anything else is a literal."""
        if x.__class__ is list:
            return f"[{', '.join(map(self.argument, x))}]"
        if x.__class__ is float or (isinstance(x, np.ndarray) and x.dtype.kind == "f"):
            return self.input(x)
        return repr(x.tolist() if isinstance(x, np.ndarray) else x)

    def weighted(self, name: str, value: Any) -> str:
        """The sum of a result's elements, each with a weight of its own."""
        value = value if value.__class__ in (list, tuple) else plain(value)
        if value.__class__ in (list, tuple):
            return " + ".join(self.weighted(f"{name}[{i}]", part) for i, part in enumerate(value)) or "0.0"
        shape, kind = np.shape(value), np.asarray(value).dtype.kind
        if kind in "bi":
            name = f"cast({name}, float64)"
        if kind == "c":
            name = f"real({name} * (0.6 - 0.8j))"
        weight = f"w{sum(known[0] == 'w' for known in self.at)}"
        drawn = np.random.default_rng(zlib.crc32(weight.encode())).uniform(0.5, 1.5, shape)
        self.at[weight] = drawn if shape else float(drawn)
        return f"sum({name} * {weight})" if shape else f"{name} * {weight}"


def of_sample(row: Operation, inputs: Any, static: dict[str, Any]) -> RowProgram:
    """A row at one of its samples."""
    found = RowProgram()
    static = {name: value for name, value in static.items() if value is not REQUIRED}
    arguments = [found.argument(x) for x in inputs]
    if any(p.kind == "list" and p.variadic for p in row.parameters) and inputs and inputs[-1].__class__ is list:
        arguments[-1] = arguments[-1][1:-1]
    arguments += [f"{name}={value!r}" for name, value in static.items()]
    total = found.weighted("r", row.call([operand(x) for x in inputs], static))
    found.text = f"r = {OTHER_NAMES.get(row.name, row.name)}({', '.join(arguments)})\n{total}"
    return found


def of_example(row: Operation) -> RowProgram:
    """A row's example, its first argument an input where that can be; and an input to differentiate by in any case."""
    assert row.example is not None
    found = RowProgram()
    tree = ast.parse(row.example[0], mode="eval").body
    call: Any = tree
    while not isinstance(call, ast.Call):
        call = call.value
    first = number(call.args[0]) if call.args and set(row.accepts) != {"b", "i"} else None
    if (
        first is not None
        and row.family not in ("creation", "partition", "losses")
        and not NAMES[row.name].parameters[0].name.startswith("shape")
    ):
        call.args[0] = ast.Name(found.input(first), ast.Load())
    other = "sum(x0 * x0)" if found.wrt else f"{found.input(0.5)} ** 2"
    text = ast.unparse(tree)
    value = adiff.program(text).value({name: x for name, x in found.at.items() if name in text})
    found.text = f"r = {text}\n{found.weighted('r', value)} + {other}"
    return found


def number(node: ast.expr) -> Any:
    """A literal of numbers as floats."""
    try:
        value = np.array(ast.literal_eval(node))
    except ValueError:
        return None
    if value.dtype.kind not in "if":
        return None
    return value.astype(float) if value.ndim else float(value)


def operand(x: Any) -> Any:
    """A sample as what a row takes."""
    if x.__class__ is list:
        return [operand(part) for part in x]
    return Tensor(x, of_numpy(x.dtype)) if isinstance(x, np.ndarray) else x


def programs(row: Operation) -> Iterator[RowProgram]:
    """The programs of a row: one for each real sample, or its example where it has none."""
    samples = [] if row.derivative in ("none", "missing") else cases(row)
    samples = [case for case in samples if not any(np.iscomplexobj(value) for value in case.values)]
    if not samples:
        yield of_example(row)
    for case in samples:
        yield of_sample(row, case.inputs, case.static)
