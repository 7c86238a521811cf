"""Derivatives of functions inside a program, and along all directions: blocks differentiated where they stand."""

from __future__ import annotations

from ..core.operands import as_operand, operand_dtype
from ..core.state import STATE
from ..core.tensor import OPERATORS, count, shape_of
from .adjoint import Adjoint, zeros
from .ir import FLOAT, INT, Apply, Loop, Unsupported, Var
from .paths import varied
from .replay import Replay
from .symbols import Sym
from .tangent import Tangent

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from .builder import Builder
    from .ir import Block

    Function = Callable[[list[Any]], Any]


def source(builder: Builder, x: Any) -> Sym:
    """A variable of its own for an argument that is differentiated: what else depends on the argument has no part in it."""
    x = as_operand(x)
    if operand_dtype(x).kind != FLOAT:
        raise Unsupported("a derivative by what is no float", STATE.site)
    # Appended here: an equal application would be shared, and with it what the function computes.
    out = Var(FLOAT, shape_of(x))
    builder.definitions[out] = made = Apply((out,), OPERATORS.positive, (builder.operand(x),), {}, STATE.site)
    builder.block.append(made)
    return builder.sym(out, getattr(x, "dtype", None))  # type: ignore[no-any-return]


def value_and_gradients(builder: Builder, run: Function, leaves: Sequence[Any]) -> tuple[Any, list[Any]]:
    """The scalar result of a function, and its gradient by each leaf."""
    sources = [source(builder, x) for x in leaves]
    start = len(builder.block)
    y = run(list(sources))
    if shape_of(y):
        raise Unsupported("the gradient of a function whose result is no number")
    return y, gradients(builder, builder.block[start:], y, [x.var for x in sources], 1.0)


def gradients(builder: Builder, recorded: Block, y: Any, sources: Sequence[Var], seed: Any) -> list[Any]:
    """The cotangents of sources for the cotangent `seed` of `y`, which `recorded` statements of the block at hand compute."""
    adjoint = Adjoint(builder, varied(recorded, sources), STATE.checkpoint)
    if y.__class__ is Sym:
        adjoint.add(y.var, seed)
        adjoint.sweep(recorded)
    return [adjoint.current(x) for x in sources]


def jvp(builder: Builder, run: Function, leaves: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
    """The result of a function and its derivative along tangents."""
    sources = [source(builder, x) for x in leaves]
    with builder.inside([]) as side:
        y = run(list(sources))
    forward = Tangent(builder, side, {x.var: as_operand(t) for x, t in zip(sources, tangents)})
    forward.block(side)
    if y.__class__ is not Sym:
        return y, zeros(builder, shape_of(y))
    return builder.sym(forward.at(y.var), y.dtype), forward.of(y.var)


def hessian(builder: Builder, run: Function, leaves: Sequence[Any]) -> list[list[Any]]:
    """Every block of the Hessian of a scalar function: of leaf i by leaf j, of shape leaf_i.shape + leaf_j.shape."""
    sources = [source(builder, x) for x in leaves]
    with builder.inside([]) as side:
        y = run(list(sources))
        if shape_of(y):
            raise Unsupported("the Hessian of a function whose result is no number")
        found = gradients(builder, list(side), y, [x.var for x in sources], 1.0)
    outs = [g.var if g.__class__ is Sym else g for g in found]
    rows = along_directions(builder, side, [x.var for x in sources], outs, Replay(builder))
    starts = [sum(x.size for x in sources[:k]) for k in range(len(sources))]
    return [
        [transposed_rows(table, start, b.shape, a.shape) for start, b in zip(starts, sources)]
        for table, a in zip(rows, sources)
    ]


def transposed_rows(rows: Any, start: int, source_shape: tuple[int, ...], shape: tuple[int, ...]) -> Any:
    """Derivatives by the elements of a source, which stand in rows from `start` on, as one array of shape + source_shape."""
    size = count(source_shape)
    part = OPERATORS.index(rows, index=(slice(start, start + size, 1),))
    return OPERATORS.reshape(OPERATORS.transpose(OPERATORS.reshape(part, shape=(size, -1))), shape=shape + source_shape)


def along_directions(
    builder: Builder, side: Block, sources: Sequence[Var], results: Sequence[Any], primal: Replay
) -> list[Any]:  # fmt: skip
    """The derivatives of results that a block computes along the unit vectors of all sources: for each result an array whose
    row i belongs to direction i.

    `primal` replays the block first: of what the loop over directions runs again, what no direction changes is found there.
    """
    primal.repeats_checks = True
    primal.block(side)

    def row(direction: Sym) -> list[Any]:
        forward = Tangent(builder, side, seeds(sources, direction), shared=primal)
        forward.block(side)
        return [forward.of(y) for y in results]

    return tables(builder, sum(x.size for x in sources), [getattr(y, "size", 1) for y in results], row)


def tables(builder: Builder, count: int, sizes: Sequence[int], row: Callable[[Sym], list[Any]]) -> list[Any]:
    """Arrays of `count` rows, one for each size; `row` gives the elements of their rows at an index, in a loop."""
    i, position = Var(INT, (), "direction"), Var(INT, (), "count")
    carried = []
    with builder.inside([]) as body:
        for x, size in zip(row(builder.sym(i)), sizes):
            table = Var(FLOAT, (count, size), "rows")
            operands = (table, builder.operand(OPERATORS.reshape(x, shape=(size,))))
            index = (i, slice(0, size, 1))
            after = builder.emit(OPERATORS.index_update, operands, {"index": index}, [FLOAT], [table.shape])[0]
            carried.append((table, after))
    ends = [
        (table, builder.operand(zeros(builder, table.shape)), after, Var(FLOAT, table.shape, "rows"))
        for table, after in carried
    ]
    builder.block.append(Loop(i, 0, count, 1, [], True, ends, body, None, position, Var(INT, (), "trips"), [], None))
    return [builder.sym(out) for _, _, _, out in ends]


def seeds(sources: Sequence[Var], direction: Any) -> dict[Var, Any]:
    """The tangents of sources along the unit vector of a direction that is counted over all their elements."""
    found: dict[Var, Any] = {}
    start = 0
    for x in sources:
        places: Any = float(start)
        if x.shape:
            places = OPERATORS.reshape(ramp(direction.builder, start, x.size), shape=x.shape)
        hit = OPERATORS.equal(places, direction)
        found[x] = OPERATORS.cast(hit, dtype="float64")
        start += x.size
    return found


def ramp(builder: Builder, start: int, count: int) -> Any:
    """start, start + 1, ... as floats."""
    return builder.sym(builder.emit(OPERATORS.ramp, (float(start), 1.0), {"num": count}, [FLOAT], [(count,)])[0])
