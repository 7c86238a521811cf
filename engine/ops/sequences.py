"""The overlaps of two vectors, which convolutions are made of."""

from __future__ import annotations

from ..core.errors import failure
from .arithmetic import PRODUCTS
from .operation import Operation, multilinear
from .products import rounded_sums
from .support import conjugate

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def _vectors(np: Any, a: Any, b: Any, strong: Any) -> tuple[Any, Any]:
    if strong.__class__ is not str or strong not in PRODUCTS:
        raise failure("E0305", f"strong is one of {', '.join(map(repr, PRODUCTS))}")
    a, b = np.atleast_1d(a), np.atleast_1d(b)
    if a.ndim != 1 or b.ndim != 1 or not a.size or not b.size:
        raise failure("E0302", f"convolve takes two vectors, not shapes {list(a.shape)} and {list(b.shape)}")
    return a, b


def _overlaps(np: Any, a: Any, b: Any, strong: str) -> Any:
    found = np.zeros(len(a) + len(b) - 1, np.result_type(a, b))
    for k, factor in enumerate(b):
        found[k : k + len(a)] += PRODUCTS[strong](np, a, factor)
    return found


def _convolve_full(np: Any, a: Any, b: Any, strong: str = "") -> Any:
    a, b = _vectors(np, a, b, strong)
    return rounded_sums(np, np.convolve, lambda *xs: _overlaps(np, *xs), a, b, strong)


def _correlate_valid(np: Any, a: Any, b: Any, strong: str = "") -> Any:
    a, b = _vectors(np, a, b, strong)

    def complete(x: Any, y: Any) -> Any:
        return np.convolve(x, y[::-1], "valid")

    def terms(x: Any, y: Any, strong: str) -> Any:
        return _overlaps(np, x, y[::-1], strong)[len(y) - 1 : len(x)]

    return rounded_sums(np, complete, terms, a, b, strong)


def _convolve_back(g: Any, y: Any, a: Any, b: Any, strong: str = "") -> tuple[Any, Any]:
    return (
        correlate_valid(g, conjugate(b), strong="ab" if "b" in strong else "a"),
        correlate_valid(g, conjugate(a), strong="ab" if "a" in strong else "a"),
    )


def _correlate_back(g: Any, y: Any, a: Any, b: Any, strong: str = "") -> tuple[Any, Any]:
    return (
        convolve_full(g, conjugate(b), strong="ab" if "b" in strong else "a"),
        correlate_valid(conjugate(a), g, strong="ab" if "a" in strong else "b"),
    )


convolve_full: Operation = multilinear(
    "convolve_full", "a, b | strong=''", _convolve_back, array=_convolve_full, accepts="ifc", internal=True,
    doc="Every overlap of two vectors: sum_j a[k-j] b[j]; `strong` as of contract.",
    example=("convolve_full([1, 2], [1, 1])", [1, 3, 2]),
)  # fmt: skip
correlate_valid: Operation = multilinear(
    "correlate_valid", "a, b | strong=''", _correlate_back, array=_correlate_valid, accepts="ifc", internal=True,
    doc="The complete overlaps of a with a vector b that is no longer: sum_j a[k+j] b[j], without conjugation; `strong` as "
    "of contract.",
    example=("correlate_valid([1, 2, 3], [1, 1])", [3, 5]),
)  # fmt: skip
