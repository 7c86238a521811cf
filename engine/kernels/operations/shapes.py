"""The shapes of what rows give, from the shapes of their operands, by families of rows."""

from __future__ import annotations

from ...core.tensor import count
from ..ir import index_shape

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    Shape = tuple[int, ...]


def need(condition: bool) -> None:
    """Raise ValueError, which becomes Unsupported, where shapes do not go together."""
    if not condition:
        raise ValueError


# --- axes -----------------------------------------------------------------------------------------------------------


def axis_of(axis: Any, rank: int) -> int:
    """An axis counted from the front."""
    from numpy.lib.array_utils import normalize_axis_index

    return normalize_axis_index(axis, rank)


def axes_of(axis: Any, rank: int) -> tuple[int, ...]:
    """Axes in rising order, counted from the front; None stands for all."""
    from numpy.lib.array_utils import normalize_axis_tuple

    return tuple(sorted(normalize_axis_tuple(range(rank) if axis is None else axis, rank)))


def order_of(axes: Any, rank: int) -> tuple[int, ...]:
    """The order of axes that `transpose` is asked for."""
    found = tuple(range(rank))[::-1] if axes is None else tuple([axis_of(a, rank) for a in axes])
    need(sorted(found) == list(range(rank)))
    return found


def broadcast(*shapes: Shape) -> Shape:
    """The shape to which shapes broadcast together."""
    from numpy import broadcast_shapes

    return broadcast_shapes(*shapes)


def reduced_shape(shape: Shape, axes: Sequence[int], keepdims: Any = False) -> Shape:
    if keepdims:
        return tuple([1 if i in axes else n for i, n in enumerate(shape)])
    return tuple([n for i, n in enumerate(shape) if i not in axes])


def full_shape(shape: Any, size: int) -> Shape:
    """A shape that `reshape` is asked for, with the size that is left open."""
    sizes = tuple(shape) if shape.__class__ in (tuple, list) else (shape,)
    need(all(n.__class__ is int and n >= -1 for n in sizes) and sizes.count(-1) < 2)
    if -1 in sizes:
        others = -count(sizes)
        need(others > 0 and size % others == 0)
        sizes = tuple([size // others if n == -1 else n for n in sizes])
    need(count(sizes) == size)
    return sizes


# --- families -------------------------------------------------------------------------------------------------------


def same(*shapes: Shape, **attributes: Any) -> Shape:
    return shapes[0]


def reduction(x: Shape, axis: Any = None, keepdims: Any = False, **attributes: Any) -> Shape:
    return reduced_shape(x, axes_of(axis, len(x)), keepdims)


def of_elements(x: Shape, axis: Any = None, **attributes: Any) -> Shape:
    """Reductions of which that of no elements is an error, or is reported."""
    need(all(x[i] for i in axes_of(axis, len(x))))
    return reduction(x, axis, **attributes)


def along(*shapes: Shape, axis: int = 0, **attributes: Any) -> Shape:
    axis_of(axis, len(shapes[0]))
    need(all(shape == shapes[0] for shape in shapes))
    return shapes[0]


def concat(*shapes: Shape, axis: int = 0) -> Shape:
    axis = axis_of(axis, len(shapes[0]))
    need(len({(*s[:axis], *s[axis + 1 :]) for s in shapes}) == 1 and all(len(s) == len(shapes[0]) for s in shapes))
    return (*shapes[0][:axis], sum(s[axis] for s in shapes), *shapes[0][axis + 1 :])


def stack(*shapes: Shape, axis: int = 0) -> Shape:
    need(len(set(shapes)) == 1)
    axis = axis_of(axis, len(shapes[0]) + 1)
    return (*shapes[0][:axis], len(shapes), *shapes[0][axis:])


def broadcast_to(x: Shape, shape: Any) -> Shape:
    sizes: Shape = tuple(shape) if shape.__class__ in (tuple, list) else (shape,)
    need(all(n.__class__ is int and n >= 0 for n in sizes) and broadcast(x, sizes) == sizes)
    return sizes


def transpose(x: Shape, axes: Any = None) -> Shape:
    return tuple([x[i] for i in order_of(axes, len(x))])


def pad_zeros(x: Shape, pad_width: Any) -> Shape:
    return tuple([low + n + high for n, (low, high) in zip(x, pad_width, strict=True)])


def contract(a: Shape, b: Shape, first: Any, second: Any, output: Any, strong: str = "") -> Shape:
    sizes = dict(zip(first, a, strict=True))
    need(all(sizes.setdefault(label, n) == n for label, n in zip(second, b, strict=True)))
    return tuple([sizes[label] for label in output])


def take_rows(x: Shape, indices: Any, axis: int = 0) -> Shape:
    axis = axis_of(axis, len(x))
    return x[:axis] + tuple(indices.shape) + x[axis + 1 :]


def put_rows(x: Shape, indices: Any, axis: int, size: int) -> Shape:
    chosen = indices.shape
    need(axis >= 0 and x[axis : axis + len(chosen)] == chosen)
    return (*x[:axis], size, *x[axis + len(chosen) :])


def written(x: Shape, value: Shape, index: Any) -> Shape:
    selection = index_shape(x, index)
    while len(value) > len(selection) and value[0] == 1:
        value = value[1:]
    need(broadcast(selection, value) == selection)
    return x


def matrix(x: Shape) -> Shape:
    """That of square matrices."""
    need(len(x) > 1 and x[-1] == x[-2] > 0)
    return x


def solve(a: Shape, b: Shape, **attributes: Any) -> Shape:
    columns = b if len(b) > 1 else (*b, 1)
    need(matrix(a)[-1] == columns[-2])
    found = (*broadcast(a[:-2], columns[:-2]), *columns[-2:])
    return found if len(b) > 1 else found[:-1]


SHAPES: dict[str, Callable[..., Any]] = {
    **dict.fromkeys(("cast", "flip"), same),
    **dict.fromkeys(("sum", "prod", "any", "all"), reduction),
    **dict.fromkeys(("max", "min", "mean", "argmax", "argmin"), of_elements),
    **dict.fromkeys(("cumsum_along", "cumprod_along", "linear_recurrence"), along),
    "concat": concat, "stack": stack, "broadcast_to": broadcast_to, "transpose": transpose,
    "reshape": lambda x, shape: full_shape(shape, count(x)), "pad_zeros": pad_zeros,
    "index": lambda x, index: index_shape(x, index), "index_update": written, "index_add": written,
    "take_rows": take_rows, "put_rows": put_rows, "ramp": lambda start, step, num: (num,),
    "contract": contract,
    "inv": matrix, "solve": solve,
}  # fmt: skip
