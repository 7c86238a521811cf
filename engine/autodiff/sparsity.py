"""The sparsity pattern of a Hessian, from the tape of the gradient.

The Hessian is the Jacobian of the gradient, so an entry (i, j) can differ from zero only where element i of the gradient
depends on input j along that tape. What each tensor depends on is followed element by element through rows that are
element-wise, move elements, or say in `depends` how they join them; through every other row each element of the result
is taken to depend on all elements of the inputs, which is never too little.

After Walther, Computing sparse Hessians with automatic differentiation (ACM TOMS 34, 2008), on whole tensors.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from ..core.dispatch import apply
from ..core.dtypes import INT64
from ..core.errors import failure
from ..core.operands import plain, tensor
from ..core.tensor import Tensor, count, shape_of
from ..ops.support import axes_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from ..ops.operation import Operation
    from .tape import Tape

    Ids = np.ndarray[Any, np.dtype[np.int64]]
    Shape = tuple[int, ...]

# Stands for the inputs of an element that depends on more than MOST of them: its row is not listed. Since a Hessian is
# symmetric, its entries are found in the rows of the others, and all such elements are taken to meet each other.
MANY = -1
MOST = 400
# Numbers of inputs that are listed for one tensor, and pairs that a pattern may hold before the Hessian counts as dense.
MOST_NUMBERS = 1 << 25
MOST_PAIRS = 30_000_000
# Columns up to which it is no matter that some say in part what others say.
FEW_COLUMNS = 8


class Reach:
    """What the elements of a tensor depend on: element e on the inputs numbered (from 1) by column[e] of each of `columns`,
    which broadcast to its shape, 0 for none, and on all of `common`."""

    def __init__(self, shape: Shape, columns: list[Ids], common: frozenset[int]) -> None:
        self.shape = shape
        self.columns = columns
        self.common = common if len(common) <= MOST else frozenset((MANY,))

    def all_columns(self) -> list[Ids]:
        return [*self.columns, *map(np.array, sorted(self.common))]


class SymmetricPattern:
    """A pattern of n rows and columns: `rows` and `columns` of its entries, of both triangles and in order; `clique` is the
    number of columns that meet each other in any case."""

    def __init__(self, n: int, rows: Ids, columns: Ids, clique: int = 0) -> None:
        """From the places of entries, of which each stands for its double on the other side of the diagonal too."""
        self.n = n
        self.clique = clique
        shift = n.bit_length()
        upper = different([np.minimum(rows, columns) << shift | np.maximum(rows, columns)])
        rows, columns = upper >> shift, upper & (1 << shift) - 1
        lower = (columns << shift | rows)[rows != columns]
        keys = np.concatenate((upper, lower))
        keys.sort(kind="stable")
        self.rows, self.columns = keys >> shift, keys & (1 << shift) - 1


def hessian_pattern(tape: Tape, tensors: Sequence[Tensor], gradients: Sequence[Any]) -> SymmetricPattern:
    """The entries that may differ from zero, by the tape on which the `gradients` by `tensors` were found.

    Inputs are numbered through all tensors that can be differentiated in turn, elements in row-major order. Raises
    AdiffError E0510 where there are too many entries to be worth following.
    """
    found: dict[Any, Reach | None] = {}
    parts = parts_of(tensors)
    for x, part in zip(tensors, parts):
        if x.dtype.differentiable:
            ids = np.arange(part.start + 1, part.stop + 1).reshape(x.shape)
            found[x] = Reach(x.shape, [ids], frozenset()) if x.shape else Reach((), [], frozenset((part.stop,)))
    follow(tape.log, gradients, found)
    rows: list[Ids] = [np.empty(0, dtype=np.int64)]
    columns: list[Ids] = list(rows)
    for x, g, part in zip(tensors, gradients, parts):
        reach = found.get(g) if g.__class__ is Tensor else None
        for column in reach.all_columns() if reach else ():
            rows.append(np.arange(part.start, part.stop))
            columns.append(np.broadcast_to(column, x.shape).ravel())
    row, ids = np.concatenate(rows), np.concatenate(columns)
    clique = different([row[ids == MANY]])
    if (ids <= 0).any():
        row, ids = row[ids > 0], ids[ids > 0]
    if row.size + clique.size * (clique.size + 1) // 2 > MOST_PAIRS:
        raise failure(
            "E0510", f"the Hessian has more than {MOST_PAIRS:,} entries that may differ from zero",
            "it is not sparse: `adiff hvp` gives its product with a vector without forming it",
        )  # fmt: skip
    first, second = np.triu_indices(clique.size)
    rows, columns = [row, clique[first]], [ids - 1, clique[second]]
    return SymmetricPattern(
        max([part.stop for part in parts], default=0), np.concatenate(rows), np.concatenate(columns), clique.size
    )


def parts_of(tensors: Sequence[Tensor]) -> list[slice]:
    """The places of the elements of each tensor among those of all that can be differentiated."""
    ends = np.cumsum([0, *(count(x.shape) if x.dtype.differentiable else 0 for x in tensors)])
    return [slice(*pair) for pair in pairwise(ends.tolist())]


def follow(log: list[Any], targets: Iterable[Any], found: dict[Any, Reach | None]) -> None:
    """Note in `found` what the tensors on the way to `targets` depend on, from the sources that it holds."""
    needed = {x for x in targets if x.__class__ is Tensor}
    records = []
    for i in range(len(log) - 4, -1, -4):
        site, a, b, out = log[i : i + 4]
        outs = out if out.__class__ is tuple else (out,)
        if needed.isdisjoint(outs):
            continue
        inputs, attributes = (a, b) if a.__class__ is tuple else ((a,) if b is None else (a, b), None)
        needed.update(x for x in inputs if x.__class__ is Tensor)
        records.append((site.op, inputs, attributes, outs))
    for op, inputs, attributes, outs in reversed(records):
        parts = [found.get(x) if x.__class__ is Tensor else None for x in inputs]
        if any(parts) and op.derivative != "zero":
            for out in outs:
                found[out] = of_row(op, inputs, parts, attributes or {}, out.shape)


def of_row(
    op: Operation, inputs: Sequence[Any], parts: Sequence[Reach | None], attributes: dict[str, Any], shape: Shape
) -> Reach:
    """What the result of a row depends on."""
    some = [x for x in parts if x is not None]
    if op.moves and not (shape == () and all(x.shape == () for x in some)):
        return moved(op, inputs, parts, attributes, shape)
    if shape == ():
        return Reach((), [], frozenset().union(*map(everything, some)))
    common = frozenset().union(*(x.common for x in some))
    if op.derivative == "partials" or op.depends == "elements":
        return Reach(shape, distinct([c for x in some for c in x.columns]), common)
    if op.depends == "sums":
        return summed(op, inputs, parts, attributes, shape)
    columns: list[Ids] = []
    for k, x in enumerate(parts):
        if x is None or not x.columns:
            continue
        if not op.depends or (op.depends == "matrices" and len(x.shape) < 2):
            common |= everything(x)
            continue
        labels, output = axis_labels(op, inputs, attributes, k, shape)
        left = [n for n in labels if n in output]
        order = [left.index(n) for n in output if n in left]
        missing = tuple([i for i, n in enumerate(output) if n not in left])
        lines = joined(x, tuple([i for i, n in enumerate(labels) if n not in output]))
        columns += [np.expand_dims(c.transpose(order), missing) for c in lines]
    return Reach(shape, distinct(columns), common)


def axis_labels(
    op: Operation, inputs: Sequence[Any], attributes: dict[str, Any], k: int, shape: Shape
) -> tuple[Sequence[Any], Sequence[Any]]:
    """Labels of the axes of input k, and of those of the result, as einsum has them: what is joined is not in the result."""
    if "first" in attributes:
        return attributes["second" if k else "first"], attributes["output"]
    ranks = [len(shape_of(x)) for x in inputs]
    if op.depends == "lines":
        axes = axes_of(op.name, attributes.get("axis", 0), ranks[k])
        kept_axes = [i for i in range(ranks[k]) if i not in axes]
        return range(ranks[k]), kept_axes if len(shape) < ranks[k] else [
            i if i in kept_axes else -1 for i in range(ranks[k])
        ]
    batch = list(range(2 - max(ranks), 0))
    own = batch[len(batch) - max(ranks[k] - 2, 0) :]
    if op.depends == "matrices":
        return [*own, "row", "column"], batch + ["core"] * (len(shape) - len(batch))
    ends = [["row"] if ranks[0] > 1 else [], ["column"] if ranks[1] > 1 else []]
    return own + (["sum", *ends[1]] if k else [*ends[0], "sum"]), batch + ends[0] + ends[1]


def everything(x: Reach) -> frozenset[int]:
    """All inputs that any element depends on."""
    found = x.common.union(*(np.unique(c)[: MOST + 3].tolist() for c in x.columns)) - {0}
    return frozenset((MANY,)) if MANY in found or len(found) > MOST else found


def joined(x: Reach, axes: tuple[int, ...]) -> list[Ids]:
    """The columns of what joins all elements along some axes, which are gone."""
    rank = len(x.shape)
    axes = tuple([axis % rank for axis in axes])
    rest = tuple([n for i, n in enumerate(x.shape) if i not in axes])
    if len(x.columns) * count([x.shape[i] for i in axes]) > MOST:
        return [np.full(rest, MANY)]
    whole = [np.moveaxis(np.broadcast_to(c, x.shape), axes, range(len(axes))) for c in x.columns]
    return [line for c in whole for line in c.reshape(-1, *rest)]


def different(parts: Sequence[Ids]) -> Ids:
    """The different numbers, in order: parts are nearly so already, which sorting makes use of."""
    found = np.concatenate(parts)
    found.sort(kind="stable")
    return found[np.concatenate(([True], found[1:] != found[:-1]))] if found.size else found


def distinct(columns: list[Ids]) -> list[Ids]:
    """Columns without those that say the same as another, and of many only as many as the longest set of inputs needs."""
    found: list[Ids] = []
    for c in columns:
        if not any(c is other or np.array_equal(c, other) for other in found[-FEW_COLUMNS:]):
            found.append(c)
    if len(found) <= FEW_COLUMNS:
        return found
    # Each element's inputs in falling order and once: a stencil that is applied again and again brings each by many ways.
    shape = np.broadcast_shapes(*(c.shape for c in found))
    if len(found) * count(shape) > MOST_NUMBERS:
        return [np.full(shape, MANY)]
    sets = np.stack([np.broadcast_to(c, shape) for c in found])
    sets.sort(axis=0)
    sets[1:][sets[1:] == sets[:-1]] = 0
    sets.sort(axis=0)
    if (sets[:-MOST] > 0).any():
        return [np.full(shape, MANY)]
    return [c for c in sets[::-1] if c.any()]


def summed(
    op: Operation, inputs: Sequence[Any], parts: Sequence[Reach | None], attributes: dict[str, Any], shape: Shape
) -> Reach:
    """What a row gives that adds each element of its inputs to one of the result, which the transpose tells: it brings
    cotangents back."""
    assert op.transpose is not None
    size = count(shape)
    found = op.transpose(Tensor(np.arange(1, size + 1).reshape(shape), INT64), None, *inputs, **attributes)
    sums: list[tuple[Ids, Ids]] = []
    once = True
    for x, back in zip(parts, found if found.__class__ is tuple else (found,)):
        if x is not None:
            back = plain(back() if callable(back) else back)
            target = np.broadcast_to(np.asarray(back, dtype=np.int64), x.shape).ravel()
            once = once and np.bincount(target)[1:].max(initial=0) <= 1
            sums += [(target, np.broadcast_to(c, x.shape).ravel()) for c in x.all_columns()]
    if once:
        placed = np.zeros((len(sums), size + 1), dtype=np.int64)
        for column, (target, c) in zip(placed, sums):
            column[target] = c
        return Reach(shape, distinct([column[1:].reshape(shape) for column in placed]), frozenset())
    target, ids = (np.concatenate(part) for part in zip(*sums))
    there = (target > 0) & (ids != 0)
    target, keys = target[there] - 1, ids[there] + 1
    shift = int(keys.max(initial=0)).bit_length()
    unique = different([target << shift | keys])
    target, ids = unique >> shift, (unique & (1 << shift) - 1) - 1
    sizes = np.bincount(target, minlength=size)
    table = np.zeros((min(sizes.max(initial=0), MOST, max(MOST_NUMBERS // size, 1)), size), dtype=np.int64)
    place = np.arange(target.size) - (np.cumsum(sizes) - sizes)[target]
    fits = place < len(table)
    table[place[fits], target[fits]] = ids[fits]
    table[:1, sizes > len(table)] = MANY
    return Reach(shape, list(table.reshape(-1, *shape)), frozenset())


def moved(
    op: Operation, inputs: Sequence[Any], parts: Sequence[Reach | None], attributes: dict[str, Any], shape: Shape
) -> Reach:
    """What a row gives that only moves elements: the row itself, applied to the columns."""
    common: frozenset[int] = frozenset()
    own = [x.all_columns() if x else [] for x in parts]
    if len(inputs) - op.skip == 1:
        part = parts[op.skip]
        assert part is not None
        own[op.skip], common = part.columns, part.common
    columns: list[Ids] = []
    for number in range(max(map(len, own))):
        operands = list(inputs[: op.skip])
        for x, ids in zip(inputs[op.skip :], own[op.skip :]):
            column = np.array(np.broadcast_to(ids[number] if number < len(ids) else 0, shape_of(x)), dtype=np.int64)
            operands.append(Tensor(column, INT64) if column.ndim else tensor(int(column)))
        columns.append(np.asarray(plain(apply(op, tuple(operands), attributes)), dtype=np.int64))
    if shape == ():
        return Reach((), [], common | frozenset(int(c) for c in columns) - {0})
    return Reach(shape, distinct(columns), common)
