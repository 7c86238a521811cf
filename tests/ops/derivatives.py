"""Rows called as programs call them, and derivatives of functions of arrays: what the tests of the tensor families use.

A function takes tensors, one for each array, and returns a tensor; a result that is no scalar is summed.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from adiff.engine.autodiff.forward import Forward, tangent_of
from adiff.engine.autodiff.tape import Tape, gradient, seed_for
from adiff.engine.core import operands
from adiff.engine.core.dtypes import COMPLEX128, WEAK_FLOAT, DType, of_numpy
from adiff.engine.core.state import RECORDERS, STATE
from adiff.engine.core.tensor import Tensor
from adiff.engine.eager.builtins import INTRINSICS
from adiff.engine.eager.calls import invoke
from adiff.engine.eager.compile import Compiler
from adiff.engine.eager.libraries import member
from adiff.engine.ops.registry import NAMES, ROWS
from adiff.engine.program import library

Function = Callable[..., Any]
COMPILER = Compiler(INTRINSICS)


def call(name: str, *inputs: Any, **static: Any) -> Any:
    """A row, or an operation written in the language, applied as a program applies it, with arrays for tensors."""
    if name in library.OPERATIONS:
        file, function = library.OPERATIONS[name]
        STATE.library = lambda file, name: member(COMPILER, file, name)
        written = member(COMPILER, file, function)
        named = {library.operations(file)[function].parameter_of(key): operand(x) for key, x in static.items()}
        return invoke(written, [operand(x) for x in inputs], named)
    row = NAMES.get(name) or ROWS[name]
    tensors = {p.name for p in row.parameters if p.kind != "static"}
    keywords = {key: operand(x) if key in tensors else x for key, x in static.items()}
    return row.call([operand(x) for x in inputs], keywords)


def operand(x: Any) -> Any:
    if isinstance(x, np.ndarray):
        return tensor(x)
    return [operand(part) for part in x] if isinstance(x, list) else x


def plain(x: Any) -> Any:
    """Numbers, arrays and lists of those."""
    return [plain(part) for part in x] if isinstance(x, (list, tuple)) else operands.plain(x)


def value(name: str, *inputs: Any, **static: Any) -> Any:
    """The plain value of a row."""
    return plain(call(name, *inputs, **static))


def tensor(x: Any, dtype: DType | None = None) -> Tensor:
    """A tensor of an array or number; a weak float64 unless told otherwise."""
    array = np.asarray(x) if dtype is None else np.asarray(x, dtype=dtype.name)
    if dtype is None:
        dtype = (
            WEAK_FLOAT if array.dtype.kind == "f" else COMPLEX128 if array.dtype.kind == "c" else of_numpy(array.dtype)
        )
    assert dtype is not None
    native = array.ndim == 0 and dtype.name in ("float64", "complex128", "int64", "bool")
    return Tensor(array.item() if native else array, dtype)


def weighted(f: Function, weights: Any) -> Function:
    """The sum of the elements of f's result, each with a weight."""
    return lambda *xs: call("sum", f(*xs) * tensor(weights))


def grad(f: Function, *points: Any, dtype: DType | None = None, seed: Any = None) -> Any:
    """The gradient for each point, alone for one point; None where there is no path."""
    tape = Tape()
    inputs = [tensor(x, dtype) for x in points]
    for x in inputs:
        tape.watch(x)
    RECORDERS.append(tape)
    try:
        y = f(*inputs)
    finally:
        RECORDERS.remove(tape)
    found = gradient(tape, [y], [seed_for(y) if seed is None else tensor(seed)], [[x] for x in inputs], True)
    plain_found = [None if g is None else operands.plain(g) for g in found]
    return plain_found[0] if len(points) == 1 else plain_found


def jvp(f: Function, points: Sequence[Any], tangents: Sequence[Any]) -> Any:
    """The tangent of f by forward mode; 0.0 where there is no path."""
    forward = Forward()
    inputs = [tensor(x) for x in points]
    for x, t in zip(inputs, tangents):
        forward.watch(x, float(t) if np.ndim(t) == 0 and not np.iscomplexobj(t) else tensor(t))
    RECORDERS.append(forward)
    try:
        y = f(*inputs)
    finally:
        RECORDERS.remove(forward)
    found = tangent_of(y, forward.token)
    return 0.0 if found is None else operands.plain(found)


def hessian(f: Function, point: Any) -> Any:
    """The matrix of second derivatives of a scalar f of one array, reverse over reverse, a row at a time."""
    size = np.size(point)
    rows = []
    for k in range(size):
        outer, inner = Tape(), Tape()
        x = tensor(point)
        outer.watch(x)
        inner.watch(x)
        RECORDERS.extend([outer, inner])
        try:
            y = f(x)
            RECORDERS.remove(inner)
            (g,) = gradient(inner, [y], [seed_for(y)], [[x]], True)
            if g is None:
                rows.append(np.zeros(size))
                continue
            part = call("index", call("reshape", g, (-1,)), index=k)
            RECORDERS.remove(outer)
            (h,) = gradient(outer, [part], [1.0], [[x]], True)
        finally:
            RECORDERS.clear()
        rows.append(np.zeros(size) if h is None else np.ravel(np.broadcast_to(operands.plain(h), np.shape(point))))
    return np.array(rows)


def directional(f: Function, point: Any, directions: Sequence[Any]) -> float:
    """The derivative of a scalar f along one direction after another, to any order, by nested accumulators."""
    accumulators = [Forward() for _ in directions]
    x = tensor(point)
    moved: Any = x
    for accumulator, direction in zip(accumulators, directions):
        parameter = tensor(0.0)
        accumulator.watch(parameter, 1.0)
        RECORDERS.append(accumulator)
        moved = moved + parameter * tensor(direction)
    try:
        y = f(moved)
        for accumulator in reversed(accumulators):
            RECORDERS.remove(accumulator)
            y = tangent_of(y, accumulator.token)
            if y is None:
                return 0.0
    finally:
        RECORDERS.clear()
    return float(operands.plain(y))


def numeric(f: Function, point: Any, direction: Any, step: float = 1e-3) -> float:
    """The directional derivative of a scalar f by central differences of order six."""
    x, d = np.asarray(point), np.asarray(direction)

    def at(k: int) -> float:
        return float(np.real(operands.plain(f(tensor(x + k * step * d)))))

    return (45 * (at(1) - at(-1)) - 9 * (at(2) - at(-2)) + (at(3) - at(-3))) / (60 * step)


def notices() -> list[str]:
    return [notice.message for notice in STATE.notices]
