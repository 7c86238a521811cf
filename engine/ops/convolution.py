"""Convolution and pooling over one or two axes, channels last: windows by indexing, then products, maxima and means."""

from __future__ import annotations

from math import prod

from ..core import limits
from ..core.errors import failure
from ..core.operands import shown
from ..core.operation import composite
from ..core.tensor import OPERATORS
from .products import matmul
from .reductions import reduce_max, reduce_sum
from .support import cases, floating, shape_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

LINE = [[[0.3, -1.2], [0.7, 0.4], [-0.6, 1.1], [0.9, 0.2], [-0.1, 0.8]]]
PLANE = [
    [
        [[0.3, -1.2], [0.7, 0.4], [-0.6, 1.1]],
        [[0.9, 0.2], [-0.1, 0.8], [1.4, -0.5]],
        [[0.6, -0.9], [1.7, 0.1], [-1.3, 2.1]],
    ]
]


def per_axis(name: str, value: Any, rank: int) -> tuple[int, ...]:
    """A size or stride for each axis of a window: from one number, from one for each, or from TensorFlow's [1, ..., 1]."""
    found = tuple(value) if value.__class__ in (list, tuple) else (value,)
    if len(found) == rank + 2 and found[0] == found[-1] == 1:
        found = found[1:-1]
    if len(found) == 1:
        found *= rank
    if len(found) != rank or any(n.__class__ is not int or n < 1 for n in found):
        raise failure("E0305", f"{name}: {shown(value)} is not one whole number, or one for each of {rank} axes")
    return found


def windows(
    name: str, x: Any, sizes: tuple[int, ...], strides: Any, padding: Any, dilations: Any, fill: float
) -> tuple[Any, list[tuple[int, int]], tuple[int, ...]]:
    """The windows of x, of shape [samples, windows..., sizes..., channels]; the padding of each axis; the windows' number."""
    import numpy as np

    shape, rank = shape_of(x), len(sizes)
    if len(shape) != rank + 2:
        raise failure("E0302", f"{name} needs an input of rank {rank + 2}, channels last, and got shape {list(shape)}")
    steps, gaps = per_axis(name, strides, rank), per_axis(name, dilations, rank)
    if str(padding).upper() not in ("SAME", "VALID"):
        raise failure("E0305", f"{name}: the padding is 'SAME' or 'VALID', and not {padding!r}")
    pads, places, counts = [], [], []
    for axis, (size, step, gap, n) in enumerate(zip(sizes, steps, gaps, shape[1:-1])):
        span = (size - 1) * gap + 1
        count = -(-n // step) if str(padding).upper() == "SAME" else (n - span) // step + 1
        if count < 1:
            raise failure(
                "E0302", f"{name}: a window of {span} is larger than the axis of {n}", "padding='SAME' pads it"
            )
        extra = max((count - 1) * step + span - n, 0) if str(padding).upper() == "SAME" else 0
        pads.append((extra // 2, extra - extra // 2))
        limits.allocate(count * size, 8)
        at = np.arange(count)[:, None] * step + np.arange(size) * gap
        places.append(at.reshape([count if k == axis else size if k == rank + axis else 1 for k in range(2 * rank)]))
        counts.append(count)
    if any(pad != (0, 0) for pad in pads):
        x = OPERATORS.pad(x, pad_width=((0, 0), *pads, (0, 0)), constant_values=fill)
    whole = slice(None)
    return OPERATORS.index(x, index=(whole, *places, whole)), pads, tuple(counts)


def _conv(name: str, rank: int) -> Any:
    def run(input: Any, filters: Any, strides: Any = 1, padding: Any = "VALID", dilations: Any = 1) -> Any:
        x, w = floating(input), floating(filters)
        kernel = shape_of(w)
        if len(kernel) != rank + 2 or (len(shape_of(x)) == rank + 2 and kernel[-2] != shape_of(x)[-1]):
            raise failure(
                "E0302", f"{name}: filters of shape {list(kernel)} do not fit an input of shape {list(shape_of(x))}",
                "filters are [sizes..., channels, filters]",
            )  # fmt: skip
        found, _, counts = windows(name, x, kernel[:rank], strides, padding, dilations, 0.0)
        rows = prod(kernel[:-1])
        flat = OPERATORS.reshape(found, shape=(shape_of(x)[0] * prod(counts), rows))
        out = matmul(flat, OPERATORS.reshape(w, shape=(rows, kernel[-1])))
        return OPERATORS.reshape(out, shape=(shape_of(x)[0], *counts, kernel[-1]))

    return run


def _pool(name: str, rank: int, mean: bool) -> Any:
    def run(input: Any, ksize: Any, strides: Any = None, padding: Any = "VALID") -> Any:
        import numpy as np

        x = floating(input)
        sizes = per_axis(name, ksize, rank)
        axes = tuple(range(1 + rank, 1 + 2 * rank))
        step = sizes if strides is None else strides
        found, pads, _ = windows(name, x, sizes, step, padding, 1, 0.0 if mean else -np.inf)
        if not mean:
            return reduce_max(found, axis=axes)
        inside = OPERATORS.constant(np.pad(np.ones((1, *shape_of(x)[1:-1], 1)), ((0, 0), *pads, (0, 0))).tolist())
        number, _, _ = windows(name, inside, sizes, step, "VALID", 1, 0.0)
        return reduce_sum(found, axis=axes) / OPERATORS.cast(reduce_sum(number, axis=axes), dtype=x.dtype.name)

    return run


conv1d = composite(
    "conv1d", "input, filters | stride=1, padding='VALID', dilations=1",
    lambda input, filters, stride=1, padding="VALID", dilations=1: _conv("conv1d", 1)(
        input, filters, stride, padding, dilations
    ),
    domain=cases(((LINE, [[[0.5], [1.5]], [[-0.7], [0.2]]]), {}),
                 ((LINE, [[[0.5], [1.5]], [[-0.7], [0.2]]]), {"stride": 2, "padding": "SAME"})),
    doc="Convolution of [samples, steps, channels] with filters [size, channels, filters], as TensorFlow has it (no flip).",
    example=("conv1d([[[1.0], [2.0], [4.0]]], [[[1.0]], [[-1.0]]])", [[[-1.0], [-2.0]]]),
)  # fmt: skip
conv2d = composite(
    "conv2d", "input, filters | strides=1, padding='VALID', dilations=1", _conv("conv2d", 2),
    domain=cases(((PLANE, [[[[0.5], [1.5]], [[-0.7], [0.2]]], [[[1.1], [-0.4]], [[0.6], [0.9]]]]), {}),
                 ((PLANE, [[[[0.5], [1.5]], [[-0.7], [0.2]]], [[[1.1], [-0.4]], [[0.6], [0.9]]]]), {"strides": 2, "padding": "SAME"})),
    doc="Convolution of [samples, rows, columns, channels] with filters [height, width, channels, filters] (no flip).",
    example=("conv2d([[[[1.0], [2.0]], [[3.0], [4.0]]]], [[[[1.0]], [[1.0]]]])", [[[[3.0]], [[7.0]]]]),
)  # fmt: skip


def _pool_row(kind: str, rank: int, doc: str, example: tuple[Any, Any]) -> Any:
    name = f"{kind}_pool{rank}d"
    tests = cases(((LINE, 2), {}), ((LINE, 3), {"strides": 2, "padding": "SAME"}))
    if rank == 2:
        tests = cases(((PLANE, 2), {"strides": 1}), ((PLANE, 2), {"padding": "SAME"}))
    axes = "steps" if rank == 1 else "rows, columns"
    return composite(
        name, "input, ksize | strides=None, padding='VALID'", _pool(name, rank, kind == "avg"),
        aliases=f"{kind}_pool" if rank == 2 else "", domain=tests, doc=doc.format(f"[samples, {axes}, channels]"),
        example=(f"{name}({example[0]}, 2)", example[1]),
    )  # fmt: skip


LARGEST, MEAN = (
    "The largest element of each window of {}.",
    "The mean of each window of {}; elements of the padding do not count.",
)
ROW, SQUARE = [[[1.0], [3.0], [2.0], [5.0]]], [[[[1.0], [2.0]], [[3.0], [4.0]]]]
max_pool1d = _pool_row("max", 1, LARGEST, (ROW, [[[3.0], [5.0]]]))
max_pool2d = _pool_row("max", 2, LARGEST, (SQUARE, [[[[4.0]]]]))
avg_pool1d = _pool_row("avg", 1, MEAN, (ROW, [[[2.0], [3.5]]]))
avg_pool2d = _pool_row("avg", 2, MEAN, (SQUARE, [[[[2.5]]]]))
