"""Rows that have no code of their own, in terms of rows that have: what `k` is in the `kernel` of an array row.

The definitions keep what the rows' functions on NumPy arrays keep: no overflow on the way, infinities, the order of nan.
"""

from __future__ import annotations

import math

from ...core.tensor import OPERATORS, count, shape_of
from ...ops.scans import exclusive_product
from ..ir import BOOL, FLOAT, INT, PRODUCTS, If
from .shapes import axes_of, need

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .expand import Expansion

# A search goes through all numbers: among more of them it is left to the tape.
MOST_SEARCHED = 1000


def where(condition: Any, a: Any, b: Any) -> Any:
    return OPERATORS.where_select(condition, a, b)


def number_of(condition: Any) -> Any:
    """1.0 where a condition holds, else 0.0."""
    return where(condition, 1.0, 0.0)


def ordinary(product: Any) -> Any:
    """Whether a product has neither left the range of floats nor reached its ends."""
    return OPERATORS.logical_and(OPERATORS.abs(product) >= 2.2250738585072014e-308, OPERATORS.isfinite(product))


def product(a: Any, b: Any, strong: str) -> Any:
    return OPERATORS[PRODUCTS[strong]](*((b, a) if strong == "b" else (a, b)))


class Vocabulary:
    """Made once for an expansion. Operands are symbols and numbers, and so are results."""

    def __init__(self, builder: Expansion) -> None:
        self.builder = builder

    def __getattr__(self, name: str) -> Any:
        """Any other word is a row that has code of its own."""
        found = OPERATORS.get(name)
        if found is None or not (found.code or found.kernel.__class__ is str):
            raise AttributeError(name)
        return found

    def primitive(self, op: Any, *inputs: Any, **attributes: Any) -> Any:
        """A row that has code of its own, whose operands are symbols in the kind that it computes in."""
        from .expand import result_shapes

        operands = tuple([self.builder.operand(x) for x in inputs])
        shapes = result_shapes(op, operands, attributes)
        return self.builder.sym(self.builder.plain(op, operands, attributes, [inputs[0].kind], shapes)[0])

    def full(self, value: float, shape: tuple[int, ...]) -> Any:
        return self.builder.full(value, shape)

    def places(self, size: int, rank: int = 1, axis: int = 0) -> Any:
        """0, 1, 2, ... along an axis of an array that is 1 along the others."""
        made = self.builder.emit(OPERATORS.ramp, (0, 1), {"num": size}, [INT], [(size,)])[0]
        self.builder.bounds[made] = (0, max(size - 1, 0))
        return OPERATORS.reshape(self.builder.sym(made), shape=tuple([size if i == axis else 1 for i in range(rank)]))

    # --- sums and moments -------------------------------------------------------------------------------------------

    def sum_to(self, x: Any, shape: tuple[int, ...]) -> Any:
        extra = len(x.shape) - len(shape)
        axes = [i for i, n in enumerate(x.shape) if i < extra or (shape[i - extra] == 1 and n != 1)]
        return OPERATORS.reshape(OPERATORS.sum(x, axis=tuple(axes)), shape=shape)

    def mean(self, x: Any, axis: Any, keepdims: Any) -> Any:
        return OPERATORS.sum(x, axis=axis, keepdims=keepdims) / float(self.joined(x, axis))

    def joined(self, x: Any, axis: Any) -> int:
        """How many elements a reduction joins."""
        return count([x.shape[i] for i in axes_of(axis, len(x.shape))])

    def var(self, x: Any, axis: Any, ddof: Any, keepdims: Any) -> Any:
        need(self.joined(x, axis) > ddof)
        deviation = x - self.mean(x, axis, True)
        return OPERATORS.sum(deviation * deviation, axis=axis, keepdims=keepdims) / float(self.joined(x, axis) - ddof)

    def std(self, x: Any, axis: Any, ddof: Any, keepdims: Any) -> Any:
        return self.root(self.var(x, axis, ddof, keepdims), x - self.mean(x, axis, True), axis, keepdims)

    def euclidean_norm(self, x: Any, axis: Any, keepdims: Any) -> Any:
        return self.root(OPERATORS.sum(x * x, axis=axis, keepdims=keepdims), x, axis, keepdims)

    def root(self, squares: Any, x: Any, axis: Any, keepdims: Any) -> Any:
        """The root of a sum of squares of x. The kernel is left where a square may have left the range of floats."""
        ordinary = OPERATORS.logical_and(squares > 1e-280, squares < 1e300)
        with self.builder.inside([]) as otherwise:
            zero = ~OPERATORS.any(OPERATORS.not_equal(x, 0.0), axis=axis, keepdims=keepdims)
            self.builder.check(OPERATORS.all(OPERATORS.logical_or(ordinary, zero)))
        self.builder.block.append(If(self.builder.operand(OPERATORS.all(ordinary)), [], otherwise, []))
        return OPERATORS.sqrt(squares)

    # --- products ---------------------------------------------------------------------------------------------------

    def matmul(self, a: Any, b: Any, strong: str = "") -> Any:
        shape_a, shape_b = shape_of(a), shape_of(b)
        inner = -1
        rank = max(len(shape_a), len(shape_b), 2) - 2  # of the batch
        labels = tuple(range(rank))

        def of(shape: tuple[int, ...], own: tuple[int, ...]) -> tuple[int, ...]:
            return (*labels[rank - max(len(shape) - 2, 0) :], *own) if len(shape) > 1 else (inner,)

        first, second = of(shape_a, (rank, inner)), of(shape_b, (inner, rank + 1))
        output = labels + ((rank,) if len(shape_a) > 1 else ()) + ((rank + 1,) if len(shape_b) > 1 else ())
        return OPERATORS.contract(a, b, first=first, second=second, output=output, strong=strong)

    def contract(self, a: Any, b: Any, first: Any, second: Any, output: Any, strong: str = "") -> Any:
        """Where no label belongs to one factor alone, or none is summed, products of elements, and their sum."""
        first, second, output = tuple(first), tuple(second), tuple(output)
        summed = tuple([n for n in first if n not in output])
        if summed and set(first) != set(second):
            return NotImplemented
        order = output + summed
        parts = []
        for x, names in ((a, first), (b, second)):
            kept = [n for n in order if n in names]
            x = OPERATORS.transpose(x, axes=tuple([names.index(n) for n in kept]))
            sizes = dict(zip(kept, shape_of(x)))
            parts.append(OPERATORS.reshape(x, shape=tuple([sizes.get(n, 1) for n in order])))
        found = product(parts[0], parts[1], strong)
        return OPERATORS.sum(found, axis=tuple(range(len(output), len(order)))) if summed else found

    def prod(self, x: Any, axis: Any, keepdims: Any) -> Any:
        """The kernel is left where the product is 0, or has left the range of floats."""
        product = self.primitive(OPERATORS.prod, x, axis=axis, keepdims=keepdims)
        if x.kind == FLOAT:
            self.builder.check(OPERATORS.all(ordinary(product)))
        return product

    def product_of_others(self, x: Any) -> Any:
        """The kernel is left as by `prod`, and for zeros beside which a product of the others left the range."""
        before, after = [exclusive_product(x, reverse) for reverse in (False, True)]
        self.builder.check(OPERATORS.all(OPERATORS.logical_and(ordinary(before), ordinary(after))))
        return before * after

    def power(self, a: Any, b: Any) -> Any:
        """A power with a known exponent as products."""
        floats = b.__class__ in (int, float) and getattr(a, "kind", FLOAT) == FLOAT
        if not floats or abs(b) > 8 or not float(2 * b).is_integer():
            return NotImplemented
        if b in (0, 1):
            return a if b else self.builder.full(1.0, shape_of(a))
        if b == 0.5:  # sqrt has other values at -0 and -inf
            return where(OPERATORS.equal(a, -math.inf), math.inf, OPERATORS.sqrt(OPERATORS.unsigned(a)))
        if b == -0.5:
            return OPERATORS.divide(1.0, OPERATORS.power(a, 0.5))
        if not float(b).is_integer():
            return NotImplemented
        if b < 0:
            return OPERATORS.power(OPERATORS.divide(1.0, a), -b)
        half = a if b < 4 else OPERATORS.power(a, int(b) // 2)
        product = OPERATORS.multiply(half, half)
        return product * a if int(b) % 2 else product

    # --- systems ----------------------------------------------------------------------------------------------------

    def solve(self, a: Any, b: Any) -> Any:
        if len(b.shape) == 1:
            return OPERATORS.index(self.solve(a, OPERATORS.reshape(b, shape=(-1, 1))), index=(Ellipsis, 0))
        for x in (a, b):  # Numba's solve refuses others
            self.builder.check(OPERATORS.all(OPERATORS.isfinite(x)))
        return self.primitive(OPERATORS.solve, a, b)

    def inv(self, x: Any) -> Any:
        rows, columns = [self.places(x.shape[-1], 2, axis) for axis in (0, 1)]
        return self.solve(x, number_of(OPERATORS.equal(rows, columns)))

    # --- exponentials -----------------------------------------------------------------------------------------------

    def finite(self, top: Any) -> Any:
        """A largest element, to be subtracted. The kernel is left where it is not finite."""
        self.builder.check(OPERATORS.all(OPERATORS.isfinite(top)))
        return top

    def largest(self, x: Any, axis: Any) -> Any:
        return self.finite(OPERATORS.max(x, axis=axis, keepdims=True))

    def exponentials(self, x: Any, top: Any) -> Any:
        return OPERATORS.exp(x - self.finite(top))

    def softmax(self, x: Any, axis: Any) -> Any:
        weights = OPERATORS.exp(x - self.largest(x, axis))
        return weights / OPERATORS.sum(weights, axis=axis, keepdims=True)

    def log_total(self, x: Any, axis: Any, top: Any) -> Any:
        """The logarithm of the sum of exp(x - top): log1p of the sum of all but one largest element."""
        largest = OPERATORS.equal(x, top)
        rest = OPERATORS.sum(where(largest, 0.0, OPERATORS.exp(x - top)), axis=axis, keepdims=True)
        return OPERATORS.log1p(rest + (OPERATORS.sum(number_of(largest), axis=axis, keepdims=True) - 1.0))

    def log_softmax(self, x: Any, axis: Any) -> Any:
        top = self.largest(x, axis)
        return x - top - self.log_total(x, axis, top)

    def logsumexp(self, x: Any, axis: Any, keepdims: Any) -> Any:
        top = self.largest(x, axis)
        found = top + self.log_total(x, axis, top)
        return found if keepdims else OPERATORS.reshape(found, shape=shape_of(OPERATORS.sum(x, axis=axis)))

    # --- ties -------------------------------------------------------------------------------------------------------

    def tie_weights(self, x: Any, y: Any, axes: Any) -> Any:
        nan = OPERATORS.logical_and(OPERATORS.isnan(x), OPERATORS.isnan(y))
        tied = number_of(OPERATORS.logical_or(OPERATORS.equal(x, y), nan))
        return tied / OPERATORS.sum(tied, axis=axes, keepdims=True)

    # --- moving -----------------------------------------------------------------------------------------------------

    def index_scatter(self, x: Any, shape: tuple[int, ...], index: Any) -> Any:
        kind = getattr(x, "kind", FLOAT)
        zeros = self.builder.full(0.0 if kind == FLOAT else 0, tuple(shape))
        return OPERATORS.index_update(zeros, x, index=index)

    def shifted(self, x: Any, step: int) -> Any:
        n = x.shape[0]
        rest = ((0, 0),) * (len(x.shape) - 1)
        size = min(abs(step), n)
        kept = OPERATORS.index(x, index=slice(0, n - size) if step > 0 else slice(size, n))
        return OPERATORS.pad_zeros(kept, pad_width=(((size, 0) if step > 0 else (0, size)), *rest))

    def roll(self, x: Any, shift: Any, axis: Any) -> Any:
        if axis is None:
            return OPERATORS.reshape(self.roll(OPERATORS.reshape(x, shape=-1), shift, 0), shape=x.shape)
        need(axis.__class__ is int and shift.__class__ is int)
        size = x.shape[axis]
        cut = -shift % size if size else 0
        before = (slice(None),) * (axis % len(x.shape))
        parts = [OPERATORS.index(x, index=(*before, part)) for part in (slice(cut, None), slice(0, cut))]
        return OPERATORS.concat(parts, axis=len(before))

    def triangle(self, x: Any, k: int, lower: bool) -> Any:
        rank = len(x.shape)
        above = self.places(x.shape[-1], rank, rank - 1) - self.places(x.shape[-2], rank, rank - 2)
        return where(above <= k if lower else above >= k, x, 0.0 if x.kind == FLOAT else 0)

    # --- tests, counts, points --------------------------------------------------------------------------------------

    def count_nonzero(self, x: Any, axis: Any, keepdims: Any) -> Any:
        return OPERATORS.sum(x if x.kind == BOOL else OPERATORS.not_equal(x, 0), axis=axis, keepdims=keepdims)

    def searchsorted(self, a: Any, v: Any, right: bool) -> Any:
        """How many of the sorted numbers come before v; nan comes after all numbers."""
        need(len(a.shape) == 1 and a.size <= MOST_SEARCHED)
        a = OPERATORS.reshape(a, shape=(a.size, *(1,) * len(shape_of(v))))
        before = (OPERATORS.less_equal if right else OPERATORS.less)(a, v)
        return OPERATORS.sum(OPERATORS.logical_or(before, OPERATORS.not_equal(v, v)), axis=0)

    def linspace(self, start: Any, stop: Any, num: int, endpoint: bool, axis: int) -> Any:
        need(shape_of(start) == shape_of(stop) == ())
        gaps = max(num - 1 if endpoint else num, 1)
        places = self.places(num)
        found = OPERATORS.cast(places, dtype="float64") * ((stop - start) / float(gaps)) + start
        return where(OPERATORS.equal(places, num - 1), stop, found) if endpoint and num > 1 else found
