"""The extrema of segments; what else cuts tensors into parts is written in the language (library/operations/partition.adiff)."""

from __future__ import annotations

from ..core import limits
from ..core.operands import plain
from ..core.tensor import OPERATORS
from .gathering import put_rows, take_rows
from .operation import rule
from .support import count, found_by_rule, meet

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .operation import Operation


def _extremum(name: str, largest: bool) -> Operation:
    def array(np: Any, x: Any, indices: Any, total: int, empty: float | None) -> Any:
        limit = np.finfo(x.dtype) if x.dtype.kind == "f" else np.iinfo(x.dtype)
        start = limit.min if largest else limit.max
        limits.allocate(total * max(count(x.shape[1:]), 1))
        out = np.full((total, *x.shape[1:]), start, dtype=x.dtype)
        infinite = (-np.inf if largest else np.inf) if x.dtype.kind == "f" else start
        out[indices] = infinite
        (np.maximum if largest else np.minimum).at(out, indices, x)
        if empty is not None:
            out[np.bincount(indices, minlength=total) == 0] = empty
        return out

    def vjp(g: Any, y: Any, x: Any, indices: Any, total: int, empty: float | None) -> Any:
        x, y = OPERATORS.stop_gradient(x), OPERATORS.stop_gradient(y)
        tied = OPERATORS.equal(x, take_rows(y, indices=indices, axis=0))
        ties = put_rows(OPERATORS.where(tied, 1.0, 0.0), indices=indices, axis=0, size=total)
        meet(row, plain(ties) > 1, matters=plain(g) != 0)
        shared = take_rows(g, indices=indices, axis=0) / take_rows(ties, indices=indices, axis=0)
        return OPERATORS.where(tied, shared, 0.0)

    word = "largest" if largest else "smallest"
    row = rule(
        name, "x | indices, total, empty", vjp, internal=True, array=array, dtype="first", accepts="if", analytic=False,
        singular=[
            found_by_rule(
                f"the {word} of a segment is not differentiable where several elements are it",
                "they share the cotangent equally"
            )
        ],
        doc=f"The {word} elements of segments: what segment_{'max' if largest else 'min'} is made of.",
        example=(f"{name}([1.0, 4.0, 2.0], [0, 0, 1], 2, None)", [4.0, 2.0] if largest else [1.0, 2.0]),
    )  # fmt: skip
    return row


segments_max = _extremum("segments_max", True)
segments_min = _extremum("segments_min", False)
