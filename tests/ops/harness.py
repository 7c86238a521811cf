"""Rows under test: their samples, and their derivatives in every way that the engine can find them."""

import itertools
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from adiff.engine.autodiff.forward import Forward, tangent_of
from adiff.engine.autodiff.tape import Tape, gradient
from adiff.engine.core.dtypes import FLOAT64, DType, of_numpy
from adiff.engine.core.operands import plain
from adiff.engine.core.state import RECORDERS, STATE
from adiff.engine.core.tensor import Tensor
from adiff.engine.ops.operation import Operation
from adiff.engine.ops.registry import ROWS

# The samples of rows on arrays: lines `name: (inputs, static), ...`, of Python's literals and these tensors. A nested list is an
# array, and a tuple among the inputs a list of arrays.
TENSORS = {
    "VECTOR": [0.7, -1.3, 2.1, 0.4],
    "POSITIVE": [0.9, 0.3, 1.7, 0.6],
    "WIDE": [[0.5, -1.2, 0.8], [2.1, 0.3, -0.7]],
    "TALL": [[0.9, -0.4], [0.2, 1.3], [-0.6, 0.5]],
    "SQUARE": [[1.9, 0.4, -0.3], [0.2, 1.4, 0.6], [-0.5, 0.1, 2.2]],
    "DEFINITE": [[2.3, 0.4, -0.2], [0.4, 1.7, 0.3], [-0.2, 0.3, 3.1]],
    "CUBE": [[[0.3, -0.8], [1.1, 0.6]], [[-1.4, 0.2], [0.7, 1.9]]],
    "BATCH": [[[1.3, 0.4], [-0.2, 0.9]], [[2.1, -0.5], [0.3, 1.6]]],
}
SAMPLES = {
    name: eval(f"[{entries}]", TENSORS.copy())
    for name, _, entries in (
        line.partition(": ")
        for line in (Path(__file__).parent.parent / "data" / "row_samples.txt").read_text().splitlines()
    )
}
ELEMENTWISE = [row for row in ROWS.values() if row.domain.__class__ is list]


def generator(row: Operation) -> np.random.Generator:
    """Random numbers that a row gets at every run, whatever rows there are beside it."""
    return np.random.default_rng(zlib.crc32(row.name.encode()))


def scalar_points(row: Operation, count: int) -> list[tuple[float, ...]]:
    """Points in the domain of an element-wise row; an input without an interval is a whole number."""
    rng = generator(row)
    return [
        tuple(float(rng.uniform(*interval)) if interval else float(rng.integers(1, 4)) for interval in row.domain)
        for _ in range(count)
    ]


class Case:
    """A row at one sample: `values` are the arrays that may be differentiated, wherever they hide in the inputs."""

    def __init__(self, row: Operation, inputs: Sequence[Any], static: dict[str, Any]) -> None:
        self.row = row
        self.inputs = inputs
        self.static = static
        self.values: list[Any] = []
        for item in inputs:
            for leaf in item if item.__class__ is list else [item]:
                if is_differentiable(leaf):
                    self.values.append(np.asarray(leaf))

    def outputs(self, leaves: Sequence[Any]) -> list[Any]:
        """The differentiable results for given leaves (tensors in place of `values`)."""
        rest = iter(leaves)

        def put(item: Any) -> Any:
            if item.__class__ is list:
                return [put(part) for part in item]
            if is_differentiable(item):
                return next(rest)
            if isinstance(item, np.ndarray):
                dtype = of_numpy(item.dtype)
                assert dtype is not None
                return Tensor(item, dtype)
            return item

        result = self.row.call([put(item) for item in self.inputs], dict(self.static))
        return [y for y in flatten(result) if is_differentiable(plain(y))]

    def __repr__(self) -> str:
        return f"{self.row.name}{tuple(self.inputs)!r} {self.static}"


def flatten(result: Any) -> list[Any]:
    if isinstance(result, (tuple, list)):
        return [leaf for part in result for leaf in flatten(part)]
    return [result]


def is_differentiable(x: Any) -> bool:
    return x.__class__ in (float, complex) or (isinstance(x, np.ndarray) and x.dtype.kind in "fc")


def cases(row: Operation) -> list[Case]:
    """The samples of a row, as arrays."""
    if row.domain.__class__ is list:
        columns = np.array(scalar_points(row, 3)).T
        inputs = [column if interval else int(column[0]) for column, interval in zip(columns, row.domain)]
        return [Case(row, inputs, {p.name: p.default for p in row.parameters if p.kind == "static"})]
    return [Case(row, [arrays(x) for x in inputs], dict(static)) for inputs, static in SAMPLES.get(row.name, ())]


def arrays(x: Any) -> Any:
    """An input of a sample with its lists as arrays."""
    if x.__class__ is tuple:
        return [arrays(part) for part in x]
    return np.array(x) if x.__class__ is list else x


def differentiable_cases() -> Iterator[tuple[str, Case]]:
    """Every sample of every row that has a derivative, with a name for it."""
    for row in ROWS.values():
        if row.derivative not in ("none", "missing"):
            for number, case in enumerate(cases(row)):
                if case.values:
                    yield f"{row.name}-{number}", case


def dtype_of(value: Any) -> DType:
    dtype = of_numpy(np.asarray(value).dtype)
    assert dtype is not None
    return dtype


def as_tensors(values: Sequence[Any]) -> list[Tensor]:
    return [Tensor(v if np.ndim(v) else v.item(), dtype_of(v)) for v in values]


def value_of(case: Case, values: Sequence[Any]) -> list[Any]:
    return [np.asarray(plain(y)) for y in case.outputs(as_tensors(values))]


def numbers(x: Any, like: Any) -> Any:
    """A cotangent or tangent as an array; None stands for zero."""
    return np.zeros_like(like) if x is None else np.broadcast_to(np.asarray(plain(x)), np.shape(like))


def seeds(parts: Sequence[Any]) -> list[Any]:
    return [Tensor(p if np.ndim(p) else p.item(), dtype_of(p)) for p in parts]


def vjp(case: Case, values: Sequence[Any], cotangents: Sequence[Any]) -> list[Any]:
    """The cotangents of the values by one reverse sweep."""
    found = cotangents_of(case, as_tensors(values), cotangents)
    return [numbers(c, v) for c, v in zip(found, values)]


def cotangents_of(case: Case, leaves: Sequence[Any], cotangents: Sequence[Any]) -> list[Any]:
    """The same as tensors; an outer recorder may look on."""
    tape = Tape()
    for leaf in leaves:
        tape.watch(leaf)
    RECORDERS.append(tape)
    try:
        outputs = case.outputs(leaves)
    finally:
        RECORDERS.remove(tape)
    return gradient(tape, outputs, seeds(cotangents), [[leaf] for leaf in leaves], True)


@contextmanager
def pushed(values: Sequence[Any], tangents: Sequence[Any]) -> Iterator[tuple[list[Any], Forward]]:
    """The values as tensors with tangents, and what pushes these forward."""
    leaves = as_tensors(values)
    forward = Forward()
    for leaf, tangent in zip(leaves, seeds(tangents)):
        forward.watch(leaf, tangent)
    RECORDERS.append(forward)
    try:
        yield leaves, forward
    finally:
        RECORDERS.remove(forward)


def jvp(case: Case, values: Sequence[Any], tangents: Sequence[Any]) -> list[Any]:
    """The tangents of the outputs by one forward pass."""
    with pushed(values, tangents) as (leaves, forward):
        outputs = case.outputs(leaves)
    return [numbers(tangent_of(y, forward.token), plain(y)) for y in outputs]


def second_forward_over_reverse(
    case: Case, values: Sequence[Any], cotangents: Sequence[Any], tangents: Sequence[Any]
) -> list[Any]:
    """The change of the VJP along tangents: a forward accumulator outside a tape."""
    with pushed(values, tangents) as (leaves, forward):
        found = cotangents_of(case, leaves, cotangents)
    return [numbers(None if c is None else tangent_of(c, forward.token), v) for c, v in zip(found, values)]


def second_reverse_over_reverse(
    case: Case, values: Sequence[Any], cotangents: Sequence[Any], tangents: Sequence[Any]
) -> list[Any]:
    """The gradient of <VJP, tangents>: a tape outside a tape. Equal to the change of the VJP along the tangents."""
    leaves = as_tensors(values)
    outer = Tape()
    for leaf in leaves:
        outer.watch(leaf)
    RECORDERS.append(outer)
    try:
        found = cotangents_of(case, leaves, cotangents)
    finally:
        RECORDERS.remove(outer)
    targets = [(c, t) for c, t in zip(found, seeds(tangents)) if c.__class__ is Tensor]
    results = gradient(outer, [c for c, _ in targets], [t for _, t in targets], [[leaf] for leaf in leaves], True)
    return [numbers(c, v) for c, v in zip(results, values)]


def along(values: Sequence[Any], tangents: Sequence[Any], step: float) -> list[Any]:
    return [v + step * t for v, t in zip(values, tangents)]


def richardson(function: Any, step: float = 2e-3) -> list[Any]:
    """The derivative at 0 of a function of one number that returns arrays: central differences, extrapolated twice."""
    table = []
    for h in (step, step / 2, step / 4):
        table.append([(a - b) / (2 * h) for a, b in zip(function(h), function(-h))])
    first = [[(4 * b - a) / 3 for a, b in zip(low, high)] for low, high in itertools.pairwise(table)]
    return [(16 * b - a) / 15 for a, b in zip(*first)]


def inner(a: Sequence[Any], b: Sequence[Any]) -> float:
    """The real inner product of lists of arrays; Re(conj(a)*b) for complex ones."""
    return float(sum(np.real(np.sum(np.conj(x) * y)) for x, y in zip(a, b)))


def random_like(rng: np.random.Generator, parts: Sequence[Any]) -> list[Any]:
    return [
        np.asarray(rng.normal(size=p.shape) + (1j * rng.normal(size=p.shape) if p.dtype.kind == "c" else 0.0))
        for p in parts
    ]


def nested_derivative(row: Callable[..., Any], point: Sequence[float], path: Sequence[int]) -> float:
    """A mixed partial derivative at a scalar point by one nested tape per entry of `path`."""
    leaves = [Tensor(float(x), FLOAT64) for x in point]
    tapes = []
    for _ in path:
        tape = Tape()
        for leaf in leaves:
            tape.watch(leaf)
        RECORDERS.append(tape)
        tapes.append(tape)
    y: Any = row(*leaves)
    for index in path:
        tape = tapes.pop()
        RECORDERS.remove(tape)
        found = gradient(tape, [y], [1.0], [[leaves[index]]], True)[0]
        y = 0.0 if found is None else found
    return float(plain(y))


def fresh() -> None:
    """The state of an evaluation that has not begun."""
    STATE.reset()
