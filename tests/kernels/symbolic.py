"""Rows applied to symbols, and the kernels that come of it run as plain Python."""

from typing import Any

import machine
import numpy as np
from adiff.engine.core.dtypes import BOOL, FLOAT64, WEAK_INT
from adiff.engine.core.state import STATE
from adiff.engine.core.tensor import OPERATORS, Tensor
from adiff.engine.kernels.builder import Builder
from adiff.engine.kernels.emit import emit
from adiff.engine.kernels.ir import Apply, Kernel, Var, walk
from adiff.engine.kernels.operations import dead_code, expand
from harness import flatten
from legal import verify

DTYPES = {"f": FLOAT64, "i": WEAK_INT, "b": BOOL}


def getitem(builder: Builder, x: Any, index: Any) -> Any:
    """x[index]."""
    return builder.apply(OPERATORS.index, (x,), {"index": index})


def setitem(builder: Builder, x: Any, index: Any, value: Any) -> Any:
    """x with x[index] replaced by a value."""
    return builder.apply(OPERATORS.index_update, (x, value), {"index": index})


class Program:
    """Rows applied to symbols in the place of floats and of arrays of some kinds."""

    def __init__(self, kinds: str = "fib") -> None:
        self.kinds = kinds
        STATE.reset()
        self.builder = Builder()
        self.parameters: list[Var] = []
        self.values: list[Any] = []

    def put(self, x: Any) -> Any:
        if x.__class__ is list and any(isinstance(part, np.ndarray) or part.__class__ is float for part in x):
            return [self.put(part) for part in x]
        if not isinstance(x, np.ndarray) and x.__class__ is not float:
            return x
        if np.asarray(x).dtype.kind not in self.kinds:
            return tensors(x)
        values = np.asarray(x)
        self.values.append(values)
        self.parameters.append(Var(values.dtype.kind, values.shape, "x"))
        return self.builder.sym(self.parameters[-1], DTYPES[values.dtype.kind])

    def results(self, found: Any) -> list[Any]:
        """What the kernel gives, in the IR of the rows themselves and expanded."""
        operands = [self.builder.operand(x) for x in flatten(found)]
        kernel = Kernel(self.parameters, self.builder.preamble + self.builder.block, operands, self.builder.flags)
        verify(kernel)
        expand(kernel)
        verify(kernel)
        dead_code(kernel)
        verify(kernel)
        for stmt in walk(kernel.body):
            assert stmt.__class__ is not Apply or is_primitive(stmt.row), stmt.row  # type: ignore[attr-defined]
        status, found, _ = machine.call(emit(kernel), self.values)
        assert status == 0
        return found


def is_primitive(row: Any) -> bool:
    return bool(row.code) or row.kernel.__class__ is str or row is OPERATORS.cast


def tensors(x: Any) -> Any:
    if x.__class__ is list and any(isinstance(part, np.ndarray) for part in x):
        return [tensors(part) for part in x]
    return Tensor(x, DTYPES[np.asarray(x).dtype.kind]) if isinstance(x, np.ndarray) or x.__class__ is float else x


def agree(found: Any, expected: Any, tolerance: float = 1e-12) -> None:
    found, expected = np.asarray(found), np.asarray(expected)
    assert (found.shape, found.dtype.kind) == (expected.shape, expected.dtype.kind)
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=1e-14)
