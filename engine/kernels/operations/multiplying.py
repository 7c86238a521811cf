"""Kernels of products of arrays: matrix products of any rank, contractions, convolutions."""

from __future__ import annotations

from ...ops.support import strong_terms
from ..ir import FLOAT, INT, Unsupported
from ..symbols.arrays import lazy
from ..symbols.symbol import Lazy, broadcast
from .array_loops import Loops

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .array_loops import Index


class Multiplying(Loops):
    """The part of the vocabulary that sums products."""

    def term(self, a: Any, b: Any, strong: str) -> Any:
        """A product of two numbers, in which the zeros of the factors that are cotangents, named in `strong`, are strong."""
        if not strong:
            return a * b
        return strong_terms(b, a) if strong == "b" else strong_terms(a, b, strong == "ab")

    def matmul(self, a: Any, b: Any, strong: str = "") -> Any:
        """The product of matrices in the last two axes, or with vectors."""
        a, b = lazy(self.builder, a), lazy(self.builder, b)
        if not a.ndim or not b.ndim or a.shape[-1] != b.shape[-2 if b.ndim > 1 else 0]:
            raise Unsupported("a matrix product of these shapes")
        rows, columns = a.shape[-2:-1], b.shape[-1:] if b.ndim > 1 else ()
        stacks = a.shape[:-2], b.shape[:-2]
        batch = broadcast(list(stacks), "matmul")

        def of(x: Lazy, own: tuple[int, ...], index: Index, *inner: Any) -> Any:
            at = tuple(0 if n == 1 else i for i, n in zip(index[len(batch) - len(own) :], own))
            return x.element((*at, *inner))

        out = self.zeros((*batch, *rows, *columns), self.kind(a, b))

        # Row by row of b, so that memory is read in its order.
        def stack(at: Index) -> None:
            def row(i: Index) -> None:
                def term(k: Any) -> None:
                    left = of(a, stacks[0], at, *i, k)
                    self.each(
                        columns,
                        lambda j: self.add(out, (*at, *i, *j), self.term(left, of(b, stacks[1], at, k, *j), strong)),
                    )

                if columns:
                    self.count(a.shape[-1], term)
                else:
                    zero = 0.0 if out.kind == FLOAT else 0
                    total = self.fold(
                        a.shape[-1],
                        (zero,),
                        lambda k, s: (s + self.term(of(a, stacks[0], at, *i, k), of(b, stacks[1], at, k), strong),),
                    )
                    self.put(out, (*at, *i), total[0])

            self.each(rows, row)

        self.each(batch, stack)
        return out

    def kind(self, a: Lazy, b: Lazy) -> str:
        return FLOAT if FLOAT in (a.kind, b.kind) else INT

    def contract(self, a: Any, b: Any, first: Any, second: Any, output: Any, strong: str = "") -> Any:
        """The sum of products over the labels that the output does not have."""
        a, b = lazy(self.builder, a), lazy(self.builder, b)
        size = dict(zip(first, a.shape)) | dict(zip(second, b.shape))
        summed = [n for n in first if n not in output]
        out = self.zeros(tuple(size[n] for n in output), self.kind(a, b))
        # The labels of a first, then those that only b has: the innermost loop goes along a row of b where it can.
        order = [*first, *(n for n in second if n not in first)]
        if summed and second and second[-1] in summed and first[-1] != second[-1]:
            order = [*(n for n in order if n != second[-1]), second[-1]]

        def visit(index: Index) -> None:
            at = dict(zip(order, index))
            factors = a.element(tuple(at[n] for n in first)), b.element(tuple(at[n] for n in second))
            self.add(out, tuple(at[n] for n in output), self.term(*factors, strong))

        self.each(tuple(size[n] for n in order), visit)
        return out

    def convolve(self, a: Any, b: Any, strong: str = "") -> Any:
        """Every overlap of two vectors: sum_j a[k-j] b[j]."""
        a, b = self.vector(a), self.vector(b)
        out = self.zeros((a.shape[0] + b.shape[0] - 1,), self.kind(a, b))
        self.each(
            (a.shape[0], b.shape[0]),
            lambda at: self.add(out, (at[0] + at[1],), self.term(a.element(at[:1]), b.element(at[1:]), strong)),
        )
        return out

    def correlate(self, a: Any, b: Any, strong: str = "") -> Any:
        """The complete overlaps of a with a vector that is no longer: sum_j a[k+j] b[j]."""
        a, b = self.vector(a), self.vector(b)
        out = self.zeros((a.shape[0] - b.shape[0] + 1,), self.kind(a, b))
        shape = (out.shape[0], b.shape[0])

        def visit(at: Index) -> None:
            self.add(out, at[:1], self.term(a.element((at[0] + at[1],)), b.element(at[1:]), strong))

        self.each(shape, visit)
        return out

    def vector(self, x: Any) -> Lazy:
        x = lazy(self.builder, x)
        if x.ndim > 1 or 0 in x.shape:
            raise Unsupported("a convolution of these shapes")
        return x if x.ndim else self.tensor((1,), lambda index: x.element(()), x.kind)


__all__ = ["Multiplying"]
