"""Kernels of eigenvalues and singular values by Jacobi's rotations.

The vectors that are found here have signs of their own: they serve the derivatives of the values. A program that reads
vectors, or differentiates twice, gets LAPACK's (routines.py), which costs a call for each matrix.
"""

from __future__ import annotations

from ...core.tensor import OPERATORS
from ..ir import Unsupported
from ..symbols.symbol import Lazy
from .routines import Routines
from .sorting import Sorting

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .array_loops import Index

# Sweeps of Jacobi's method: it converges quadratically, and 6 to 10 are what any matrix takes.
SWEEPS = 16


class Rotating(Sorting, Routines):
    """The part of the vocabulary that finds eigenvalues and singular values."""

    def eigh(self, x: Any) -> Any:
        """Rising eigenvalues of the symmetric part of a matrix by Jacobi's rotations, and the vectors to go with them."""
        x = self.square(x)
        if self.builder.signed:
            self.leave_unless_finite(x)
            return self.eigh_by_lapack(x)
        self.leave_unless_ordinary(x)
        n = x.shape[-1]
        batch = x.shape[:-2]
        values, vectors = self.changing((*batch, n)), self.changing(x.shape)

        def stack(at: Index) -> None:
            table, turned = self.changing((n, n)), self.changing((n, n))
            self.each(
                (n, n),
                lambda index: self.put(table, index, (x.element((*at, *index)) + x.element((*at, *index[::-1]))) * 0.5),
            )
            self.each((n, n), lambda index: self.put(turned, index, self.choose(OPERATORS["equal"](*index), 1.0, 0.0)))

            def rotate(p: Any, q: Any) -> None:
                entry, a, d = self.read(table, (p, q)), self.read(table, (p, p)), self.read(table, (q, q))

                def turn() -> None:
                    t = OPERATORS["rotation_tangent"](a, d, entry)
                    c = 1.0 / OPERATORS["hypot"](t, 1.0)
                    s = t * c
                    self.rotate_columns(table, n, p, q, c, s)
                    self.rotate_rows(table, n, p, q, c, s)
                    self.rotate_columns(turned, n, p, q, c, s)

                small = self.floats.epsilon * 1e-2 * OPERATORS["sqrt"](abs(a)) * OPERATORS["sqrt"](abs(d))
                self.when(abs(entry) > small, turn)

            self.sweep(n, rotate)
            order = self.ranks(lambda i: self.read(table, (i, i)), n, False)

            def hand_out(i: Any) -> None:
                place = self.place_in(order, i, n)
                self.put(values, (*at, i), self.read(table, (place, place)))
                self.count(n, lambda k: self.put(vectors, (*at, k, i), self.read(turned, (k, place))))

            self.count(n, hand_out)

        self.each(batch, stack)
        assert vectors.stored is not None
        vectors.stored.role = "unsigned"
        return values, vectors

    def rotate_columns(self, table: Lazy, rows: int, p: Any, q: Any, c: Any, s: Any) -> None:
        def visit(k: Any) -> None:
            a, b = self.read(table, (k, p)), self.read(table, (k, q))
            self.put(table, (k, p), c * a - s * b)
            self.put(table, (k, q), s * a + c * b)

        self.count(rows, visit)

    def rotate_rows(self, table: Lazy, columns: int, p: Any, q: Any, c: Any, s: Any) -> None:
        def visit(k: Any) -> None:
            a, b = self.read(table, (p, k)), self.read(table, (q, k))
            self.put(table, (p, k), c * a - s * b)
            self.put(table, (q, k), s * a + c * b)

        self.count(columns, visit)

    def sweep(self, n: int, rotate: Callable[[Any, Any], None]) -> None:
        """All pairs p < q, again and again."""

        def pairs(p: Any) -> None:
            self.span(n - 1 - p, n, lambda t: rotate(p, self.bound(p + 1 + t, n - 1)))

        self.count(SWEEPS, lambda _: self.count(n - 1, pairs))

    def ranks(self, value: Callable[[Any], Any], n: int, falling: bool) -> Lazy:
        """The order of a few numbers."""
        keys = self.empty((n,))
        self.count(n, lambda i: self.put(keys, (i,), -value(i) if falling else value(i)))
        return self.argsort(keys, 0, False)

    def svd(self, x: Any) -> Any:
        """Falling singular values by one-sided Jacobi rotations, and the vectors to go with them: (u, s, v^T) reduced.

        Matrices that have not full rank are the tape's: the vectors that belong to 0 are arbitrary, and taken from there.
        """
        if self.builder.signed:
            return self.svd_by_lapack(x)
        return self.singular(x, True)

    def matrix_rank(self, x: Any, tol: Any) -> Any:
        """The number of singular values above rounding, or above `tol`."""
        x = self.settled(x)
        if x.ndim < 2 or tol.__class__ in (list, tuple):
            raise Unsupported("matrix_rank of a vector, or with several tolerances")
        self.leave_unless_finite(x)
        s = (self.svd_by_lapack(x) if self.builder.signed else self.singular(x, False))[1]
        size = self.floats.epsilon * max(x.shape[-2:])
        least = OPERATORS["max"](s, axis=-1, keepdims=True) * size if tol is None else float(tol)
        return OPERATORS["count_nonzero"](OPERATORS["greater"](s, least), axis=-1)

    def singular(self, x: Any, full: bool) -> tuple[Lazy, Lazy, Lazy]:
        """Singular values and vectors; without vectors unless the matrix must have `full` rank."""
        x = self.settled(x)
        rows, columns = x.shape[-2:]
        tall = rows >= columns
        m, n = (rows, columns) if tall else (columns, rows)
        batch = x.shape[:-2]
        u, s, vh = self.changing((*batch, rows, n)), self.changing((*batch, n)), self.changing((*batch, n, columns))
        # Squares of the largest elements are to stay in the range of floats, as LAPACK has them.
        low = self.floats.least_root / self.floats.epsilon

        def stack(at: Index) -> None:
            table, turned, sizes = self.changing((m, n)), self.changing((n, n)), self.changing((n,))
            self.each((m, n), lambda index: self.put(table, index, x.element((*at, *(index if tall else index[::-1])))))
            self.each((n, n), lambda index: self.put(turned, index, self.choose(OPERATORS["equal"](*index), 1.0, 0.0)))

            def larger(i: Any, top: Any) -> tuple[Any, ...]:
                return self.fold(n, (top,), lambda k, top: (OPERATORS["maximum"](top, abs(self.read(table, (i, k)))),))

            top = self.fold(m, (0.0,), larger)[0]
            inside = OPERATORS["greater"](top, low) & OPERATORS["less"](top, 1.0 / low)
            self.leave_if(~(inside | OPERATORS["equal"](top, 0.0)))

            def dot(p: Any, q: Any) -> Any:
                def term(k: Any, total: Any) -> tuple[Any, ...]:
                    return (total + self.read(table, (k, p)) * self.read(table, (k, q)),)

                return self.fold(m, (0.0,), term)[0]

            def rotate(p: Any, q: Any) -> None:
                entry, a, d = dot(p, q), dot(p, p), dot(q, q)

                def turn() -> None:
                    t = OPERATORS["rotation_tangent"](a, d, entry)
                    c = 1.0 / OPERATORS["hypot"](t, 1.0)
                    self.rotate_columns(table, m, p, q, c, t * c)
                    self.rotate_columns(turned, n, p, q, c, t * c)

                self.when(abs(entry) > self.floats.epsilon * 0.1 * OPERATORS["sqrt"](a) * OPERATORS["sqrt"](d), turn)

            self.sweep(n, rotate)
            self.count(n, lambda i: self.put(sizes, (i,), OPERATORS["sqrt"](dot(i, i))))
            largest = self.fold(n, (0.0,), lambda i, top: (OPERATORS["maximum"](top, self.read(sizes, (i,))),))[0]
            order = self.ranks(lambda i: self.read(sizes, (i,)), n, True)

            def hand_out(i: Any) -> None:
                place = self.place_in(order, i, n)
                size = self.read(sizes, (place,))
                self.put(s, (*at, i), size)
                if not full:
                    return
                self.leave_if(~OPERATORS["greater"](size, self.floats.epsilon * max(m, n) * largest))
                self.count(
                    m,
                    lambda k: self.put(
                        u if tall else vh, (*at, k, i) if tall else (*at, i, k), self.read(table, (k, place)) / size
                    ),
                )
                self.count(
                    n,
                    lambda k: self.put(
                        vh if tall else u, (*at, i, k) if tall else (*at, k, i), self.read(turned, (k, place))
                    ),
                )

            self.count(n, hand_out)

        self.each(batch, stack)
        for vectors in (u, vh):
            assert vectors.stored is not None
            vectors.stored.role = "unsigned"
        return u, s, vh


__all__ = ["Rotating"]
