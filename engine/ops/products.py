"""Products of matrices and tensors: matmul, the two-tensor contraction behind einsum, and what is made of them."""

from __future__ import annotations

from ..core import limits
from ..core.errors import failure
from .arithmetic import PRODUCTS
from .operation import Operation, multilinear
from .structure import index, reshape
from .support import adjoint, conjugate, count, shape_of, strong_terms

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# --- products beyond the floats -------------------------------------------------------------------------------------

# Elements of the products that are formed at once.
CHUNK = 1 << 20


def rounded_matmul(np: Any, a: Any, b: Any, strong: str = "") -> Any:
    """np.matmul as if every product were rounded before it is added; the zeros of the cotangents in `strong`, which is "",
    "a", "b" or "ab", are strong.

    BLAS fuses both, so that of two products beyond the floats, one of either sign, the last one remains. Complex numbers
    it multiplies by 1 + 0j in the end, which makes nan of either part where the other is not finite.
    """
    if np.result_type(a, b).kind == "c":
        from .complex import by_parts

        return by_parts(np, lambda x, y: rounded_matmul(np, x, y, strong), a, b, np.matmul)
    found = np.matmul(a, b)
    if found.dtype.kind != "f" or np.isfinite(found).all():
        return found
    return with_rounded_terms(np, found, a, b, strong)


def with_rounded_terms(np: Any, found: Any, a: Any, b: Any, strong: str) -> Any:
    """A product of matrices, anew by its terms where it is beyond the floats and its factors are not, and where strong zeros
    may account for a nan."""
    left, right = np.atleast_2d(a), b if b.ndim > 1 else b[:, None]
    fits = np.isfinite(left).all(axis=-1)[..., :, None] & np.isfinite(right).all(axis=-2)[..., None, :]
    shape = fits.shape
    again = fits & ~np.isfinite(found.reshape(shape))
    if strong:
        lost = np.matmul(np.isnan(left) * 1.0, right != 0) + np.matmul((left != 0) * 1.0, np.isnan(right))
        again |= np.isnan(found.reshape(shape)) & (lost == 0)
    places = np.nonzero(again)
    if not len(places[0]):
        return found
    rows = np.broadcast_to(left, (*shape[:-1], left.shape[-1]))
    columns = np.swapaxes(np.broadcast_to(right, (*shape[:-2], *right.shape[-2:])), -1, -2)
    exact = np.array(found).reshape(shape)
    step = max(CHUNK // left.shape[-1], 1)
    for start in range(0, len(places[0]), step):
        some = tuple([place[start : start + step] for place in places])
        terms = PRODUCTS[strong](np, rows[some[:-1]], columns[(*some[:-2], some[-1])])
        exact[some] = np.sum(terms.T.copy(), axis=0)  # one after the other
    return exact.reshape(np.shape(found))[()]


def rounded_sums(np: Any, times: Any, sums: Any, a: Any, b: Any, strong: str = "") -> Any:
    """A sum of products of vectors, by the terms alone where `times` is beyond the floats and no element is, and where the
    zeros of cotangents are strong."""
    if np.result_type(a, b).kind == "c":
        from .complex import by_parts

        return by_parts(np, lambda x, y: rounded_sums(np, times, sums, x, y, strong), a, b, times)
    found = times(a, b)
    if np.isfinite(found).all() or not (strong or (np.isfinite(a).all() and np.isfinite(b).all())):
        return found
    return sums(a, b, strong)


# --- matrix products ------------------------------------------------------------------------------------------------


def _matmul(np: Any, a: Any, b: Any, strong: str = "") -> Any:
    a, b = np.asarray(a), np.asarray(b)
    if not a.ndim or not b.ndim:
        raise failure("E0302", "matmul takes tensors, not scalars", "multiply by a number with *")
    inner = b.shape[-2] if b.ndim > 1 else b.shape[0]
    if a.shape[-1] != inner:
        raise failure(
            "E0302", f"matmul: shapes {list(a.shape)} and {list(b.shape)} do not fit: {a.shape[-1]} is not {inner}",
            "the last size of the first must be the last but one of the second",
        )  # fmt: skip
    return rounded_matmul(np, a, b, strong)


def column_of(x: Any) -> Any:
    """Vectors along the last axis as matrices of one column."""
    return reshape(x, shape=(*shape_of(x), 1))


def row_of(x: Any) -> Any:
    """Vectors along the last axis as matrices of one row."""
    return reshape(x, shape=(*shape_of(x)[:-1], 1, *shape_of(x)[-1:]))


def _matmul_back(g: Any, y: Any, a: Any, b: Any, strong: str = "") -> tuple[Any, Any]:
    rank_a, rank_b = len(shape_of(a)), len(shape_of(b))
    # g meets b in the cotangent of a, and a in that of b.
    both_a, both_b = "b" in strong, "a" in strong
    if rank_a == 1 and rank_b == 1:
        return lambda: strong_terms(g, conjugate(b), both_a), lambda: strong_terms(g, conjugate(a), both_b)
    first, second = "ab" if both_a else "a", "ab" if both_b else "b"
    # A vector on the other side takes the place of a matrix transposed, which would be a copy of it.
    if rank_a == 1:
        first = "ab" if both_a else "b"
        return (
            lambda: index(strong_matmul(conjugate(b), column_of(g), strong=first), index=(Ellipsis, 0)),
            lambda: strong_terms(row_of(g), column_of(conjugate(a)), both_b),
        )
    if rank_b == 1:
        second = "ab" if both_b else "a"
        return (
            lambda: strong_terms(column_of(g), conjugate(b), both_a),
            lambda: index(strong_matmul(row_of(g), conjugate(a), strong=second), index=(Ellipsis, 0, slice(None))),
        )
    if rank_b == 2 and rank_a > 2:  # one matrix for a whole batch: sum the batch within the product
        rows, columns = reshape(a, shape=(-1, shape_of(a)[-1])), reshape(g, shape=(-1, shape_of(g)[-1]))
        return (
            lambda: strong_matmul(g, adjoint(b), strong=first),
            lambda: strong_matmul(adjoint(rows), columns, strong=second),
        )
    return lambda: strong_matmul(g, adjoint(b), strong=first), lambda: strong_matmul(adjoint(a), g, strong=second)


matmul: Operation = multilinear(
    "matmul", "a, b", _matmul_back, array=_matmul, dtype="arithmetic", kernel=lambda k, a, b: k.matmul(a, b), symbol="@",
    depends="product", doc="The matrix product a @ b, over matching batches of matrices, or with vectors.",
    example=("matmul([[1, 2], [3, 4]], [[1, 1], [0, 1]])", [[1, 3], [3, 7]]),
)  # fmt: skip
strong_matmul: Operation = multilinear(
    "strong_matmul", "a, b | strong", _matmul_back, array=_matmul, dtype="arithmetic",
    kernel=lambda k, a, b, strong: k.matmul(a, b, strong), internal=True, depends="product",
    doc="The matrix product in which the zeros of the factors that are cotangents, of 'a' and 'b', stay zero beside inf or nan.",
    example=("strong_matmul([[0, 1]], [[inf], [2]], 'a')", [[2.0]]),
)  # fmt: skip


# --- contractions ---------------------------------------------------------------------------------------------------


def _contract(np: Any, a: Any, b: Any, first: Any, second: Any, output: Any, strong: str = "") -> Any:
    """One matrix product: shared labels that stay are batches, shared ones that go are summed, the rest are free."""
    a, b = np.asarray(a), np.asarray(b)
    size = dict(zip(first, a.shape)) | dict(zip(second, b.shape))
    batch = [n for n in first if n in second and n in output]
    summed = [n for n in first if n in second and n not in output]
    free_a = [n for n in first if n not in second]
    free_b = [n for n in second if n not in first]

    def sizes(labels: list[int]) -> int:
        return count([size[n] for n in labels])

    limits.allocate(count([size[n] for n in output]), a.itemsize)
    left = a.transpose([first.index(n) for n in batch + free_a + summed])
    right = b.transpose([second.index(n) for n in batch + summed + free_b])
    left = left.reshape(sizes(batch), sizes(free_a), sizes(summed))
    right = right.reshape(sizes(batch), sizes(summed), sizes(free_b))
    product = rounded_matmul(np, left, right, strong) if summed else PRODUCTS[strong](np, left, right)
    found = batch + free_a + free_b
    return product.reshape([size[n] for n in found]).transpose([found.index(n) for n in output])


def _contract_back(
    g: Any, y: Any, a: Any, b: Any, first: Any, second: Any, output: Any, strong: str = ""
) -> tuple[Any, Any]:
    of_a, of_b = "ab" if "b" in strong else "a", "ab" if "a" in strong else "a"
    return (
        lambda: contract(g, conjugate(b), first=output, second=second, output=first, strong=of_a),
        lambda: contract(g, conjugate(a), first=output, second=first, output=second, strong=of_b),
    )


contract: Operation = multilinear(
    "contract", "a, b | first, second, output, strong=''", _contract_back, array=_contract, dtype="arithmetic",
    kernel=lambda k, a, b, first, second, output, strong: k.contract(a, b, first, second, output, strong), code="contract",
    internal=True, depends="product",
    doc="The sum of products of two tensors over the labels that the output does not have: what einsum is made of. The "
    "zeros of the factors that are cotangents, named in `strong`, stay zero beside inf or nan.",
    example=("contract([1, 2], [3, 4], [0], [0], [])", 11),
)  # fmt: skip
