"""Products of matrices and tensors: matmul, the two-tensor contraction behind einsum, and what is made of them."""

from __future__ import annotations

from itertools import combinations

from ..core import limits
from ..core.errors import failure, plural
from ..core.operands import as_operand
from ..core.operation import Operation, composite, multilinear
from .arithmetic import PRODUCTS
from .reductions import reduce_sum
from .shapes import transpose
from .structure import index, reshape, stack
from .support import adjoint, axis_of, conjugate, count, shape_of, strong_terms

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
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


def _column(x: Any) -> Any:
    return reshape(x, shape=(*shape_of(x), 1))


def _row(x: Any) -> Any:
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
            lambda: index(strong_matmul(conjugate(b), _column(g), strong=first), index=(Ellipsis, 0)),
            lambda: strong_terms(_row(g), _column(conjugate(a)), both_b),
        )
    if rank_b == 1:
        second = "ab" if both_b else "a"
        return (
            lambda: strong_terms(_column(g), conjugate(b), both_a),
            lambda: index(strong_matmul(_row(g), conjugate(a), strong=second), index=(Ellipsis, 0, slice(None))),
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


def _read_equation(equation: str, ranks: Sequence[int]) -> tuple[list[list[str]], list[str]]:
    """The labels of the operands and of the result; an ellipsis becomes labels `...0`, `...1`, counted from the right.

    Raises AdiffError E0305 for a malformed equation, E0302 for one that does not fit the operands.
    """
    text = equation.replace(" ", "")
    inputs, arrow, output = text.partition("->")
    terms = inputs.split(",")
    if len(terms) != len(ranks):
        raise failure(
            "E0305", f"einsum: '{equation}' is for {plural(len(terms), 'operand')}, and {len(ranks)} were given"
        )

    def labels(term: str, rank: int | None, widest: int) -> list[str]:
        before, dots, after = term.partition("...")
        letters = [*before, *after]
        if any(not letter.isalpha() for letter in letters):
            raise failure("E0305", f"einsum: '{term}' in '{equation}' is not a row of letters")
        hidden = widest if rank is None else rank - len(letters)
        if rank is not None and (hidden < 0 or (hidden > 0 and not dots)):
            raise failure(
                "E0302", f"einsum: '{term}' is for {plural(len(letters), 'dimension')}, and that operand has {rank}",
            )  # fmt: skip
        return [*before, *(f"...{i}" for i in reversed(range(hidden if dots else 0))), *after]

    operands = [labels(term, rank, 0) for term, rank in zip(terms, ranks)]
    widest = max(sum(len(n) > 1 for n in term) for term in operands)
    flat = [n for term in operands for n in term]
    if arrow:
        result = labels(output, None, widest)
        for n in result:
            if n not in flat:
                raise failure("E0305", f"einsum: the result's label '{n}' is in no operand")
            if result.count(n) > 1:
                raise failure("E0305", f"einsum: the result names the label '{n}' twice")
    else:
        hidden = [f"...{i}" for i in reversed(range(widest))]
        result = hidden + sorted(n for n in set(flat) if flat.count(n) == 1 and len(n) == 1)
    return operands, result


def _simplified(x: Any, labels: list[str], size: dict[str, int], kept_labels: set[str]) -> tuple[Any, list[str]]:
    """An operand with each label once, of full size, and in use elsewhere: diagonals taken, lonely labels summed."""
    import numpy as np

    shape = shape_of(x)
    broad = [i for i, n in enumerate(labels) if shape[i] == 1 != size[n]]
    if broad:
        x = reshape(x, shape=tuple([n for i, n in enumerate(shape) if i not in broad]))
        labels = [n for i, n in enumerate(labels) if i not in broad]
    distinct = list(dict.fromkeys(labels))
    if len(distinct) < len(labels):
        grids = np.ix_(*[np.arange(size[n]) for n in distinct])
        x = index(x, index=tuple([grids[distinct.index(n)] for n in labels]))
        labels = distinct
    lonely = tuple([i for i, n in enumerate(labels) if n not in kept_labels])
    if lonely:
        x = reduce_sum(x, axis=lonely)
        labels = [n for n in labels if n in kept_labels]
    return x, labels


def _einsum(equation: Any, operands: Any, optimize: Any = None) -> Any:
    """The sum over the labels that the result does not name, two operands at a time in a greedy order."""
    if equation.__class__ is not str:
        raise failure("E0304", "einsum: the first argument is the equation, such as 'ij,jk->ik'")
    single = "," not in equation and operands.__class__ is list and len(operands) != 1
    xs = [as_operand(operands)] if operands.__class__ is not list or single else [as_operand(x) for x in operands]
    terms, output = _read_equation(equation, [len(shape_of(x)) for x in xs])
    size: dict[str, int] = {}
    for k, (x, labels) in enumerate(zip(xs, terms)):
        for n, length in zip(labels, shape_of(x)):
            if size.get(n, 1) == 1:
                size[n] = length
            elif length not in (1, size[n]):
                name = "an axis under '...'" if len(n) > 1 else f"label '{n}'"
                raise failure("E0302", f"einsum: {name} has size {length} in operand {k} and {size[n]} before")
    pairs = []
    for k, (x, labels) in enumerate(zip(xs, terms)):
        elsewhere = {n for i, other in enumerate(terms) if i != k for n in other} | set(output)
        pairs.append(_simplified(x, labels, size, elsewhere))
    while len(pairs) > 1:
        i, k = _cheapest(pairs, size)
        (b, second), (a, first) = pairs.pop(k), pairs.pop(i)
        later = {n for _, labels in pairs for n in labels} | set(output)
        # A label that was summed in all but one operand by broadcasting is lonely only now.
        a, first = _simplified(a, first, size, later | set(second))
        b, second = _simplified(b, second, size, later | set(first))
        joined = [n for n in dict.fromkeys(first + second) if n in later]
        number = {n: i for i, n in enumerate(dict.fromkeys(first + second))}
        found = contract(
            a, b, first=tuple([number[n] for n in first]), second=tuple([number[n] for n in second]),
            output=tuple([number[n] for n in joined]),
        )  # fmt: skip
        pairs.append((found, joined))
    x, labels = _simplified(*pairs[0], size, set(output))
    missing = [n for n in output if n not in labels]  # only where every operand has size 1 under a label
    if missing:
        x = reshape(x, shape=(*shape_of(x), *(1 for _ in missing)))
        labels = labels + missing
    return x if labels == output else transpose(x, axes=tuple([labels.index(n) for n in output]))


def _cheapest(pairs: Sequence[tuple[Any, list[str]]], size: dict[str, int]) -> tuple[int, int]:
    """The two operands whose product costs least: the greedy order."""

    def cost(pair: tuple[int, int]) -> int:
        return count([size[n] for n in {*pairs[pair[0]][1], *pairs[pair[1]][1]}])

    return min(combinations(range(len(pairs)), 2), key=cost)


einsum = composite(
    "einsum", "equation, *operands | optimize=None", _einsum,
    doc="Einstein's summation: labels that the result does not name are summed, as in NumPy, with '...' for the rest.",
    example=("einsum('ij,j->i', [[1, 2], [3, 4]], [1, 1])", [3, 7]),
)  # fmt: skip


def _dot(a: Any, b: Any) -> Any:
    """The sum of products over the last axis of a, and of b over the last but one."""
    a, b = as_operand(a), as_operand(b)
    if shape_of(a) == () or shape_of(b) == ():
        return a * b
    rank_a, rank_b = len(shape_of(a)), len(shape_of(b))
    if rank_b <= 2:
        return matmul(a, b)
    if shape_of(a)[-1] != shape_of(b)[-2]:
        raise failure(
            "E0302",
            f"dot: shapes {list(shape_of(a))} and {list(shape_of(b))} do not fit: {shape_of(a)[-1]} is not {shape_of(b)[-2]}",
        )
    first, rest = tuple(range(rank_a)), tuple(range(rank_a, rank_a + rank_b - 2))
    second = (*rest, first[-1], rank_a + rank_b)
    return contract(a, b, first=first, second=second, output=(*first[:-1], *rest, second[-1]))


def _cross(a: Any, b: Any, axis: Any = -1) -> Any:
    a, b = as_operand(a), as_operand(b)
    sizes = [shape_of(x)[axis_of("cross", axis, len(shape_of(x)))] for x in (a, b)]
    if any(size not in (2, 3) for size in sizes):
        raise failure("E0302", f"cross: vectors have 3 elements, or 2, and these have {sizes[0]} and {sizes[1]}")

    def part(x: Any, i: int) -> Any:
        return index(x, index=(*(slice(None),) * axis_of("cross", axis, len(shape_of(x))), i))

    upward = part(a, 0) * part(b, 1) - part(a, 1) * part(b, 0)
    if sizes == [2, 2]:
        return upward
    a2 = part(a, 2) if sizes[0] == 3 else 0.0
    b2 = part(b, 2) if sizes[1] == 3 else 0.0
    rank = len(shape_of(upward)) + 1
    return stack(
        [part(a, 1) * b2 - a2 * part(b, 1), a2 * part(b, 0) - part(a, 0) * b2, upward],
        axis=axis_of("cross", axis, rank),
    )


dot = composite(
    "dot", "a, b", _dot, method=True,
    doc="The product of vectors, of matrices, or over the last axis of a and the last but one of b.",
    example=("dot([1, 2], [3, 4])", 11),
)  # fmt: skip
cross = composite(
    "cross", "a, b | axis=-1", _cross, doc="The vector product.", example=("cross([1, 0, 0], [0, 1, 0])", [0, 0, 1]),
)  # fmt: skip
