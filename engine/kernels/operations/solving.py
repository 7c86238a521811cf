"""Kernels of linear algebra on matrices of moderate size: triangles, elimination, exponentials, QR.

Where a matrix is singular, or not definite, the kernel is left and the tape words the error. Signs are LAPACK's, which
the algorithms determine.
"""

from __future__ import annotations

from ...core.tensor import OPERATORS
from ..ir import INT, Unsupported
from ..symbols.symbol import Lazy, broadcast
from .multiplying import Multiplying
from .rotating import Rotating

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .array_loops import Index

INFINITY = float("inf")
# The norm of a matrix up to which its exponential is squared again and again; SciPy makes what it makes of larger ones.
MOST_SQUARED = 2.0**60
# The coefficients of Pade's approximant to exp of degree 13.
PADE = (
    64764752532480000.0, 32382376266240000.0, 7771770303897600.0, 1187353796428800.0, 129060195264000.0, 10559470521600.0,
    670442572800.0, 33522128640.0, 1323241920.0, 40840800.0, 960960.0, 16380.0, 182.0, 1.0,
)  # fmt: skip


class Solving(Rotating, Multiplying):
    """The part of the vocabulary that factors matrices."""

    # --- batches ----------------------------------------------------------------------------------------------------

    def batches(self, parts: list[Lazy], ranks: list[int]) -> tuple[tuple[int, ...], Callable[[Lazy, int, Index], Any]]:
        """The common batch of arrays whose last axes are matrices, and the part of one for an index into it."""
        batch = broadcast([x.shape[: x.ndim - rank] for x, rank in zip(parts, ranks)], "a batch")

        def part(x: Lazy, rank: int, at: Index) -> Callable[..., Any]:
            own = x.shape[: x.ndim - rank]
            place = tuple(0 if n == 1 else i for i, n in zip(at[len(batch) - len(own) :], own))
            return lambda *index: x.element((*place, *index))

        return batch, part

    # --- triangles --------------------------------------------------------------------------------------------------

    def triangular_system(self, a: Any, b: Any, lower: bool, adjoint: bool) -> Any:
        """The solution of a triangular system for a matrix of right sides, row by row."""
        a, b = self.square(a), self.settled(b)
        n, m = a.shape[-1], b.shape[-1]
        if b.ndim < 2 or b.shape[-2] != n:
            raise Unsupported("a triangular system whose sides do not fit")
        batch, part = self.batches([a, b], [2, 2])
        out = self.changing((*batch, n, m))
        down = lower != adjoint

        def stack(at: Index) -> None:
            left, right = part(a, 2, at), part(b, 2, at)

            def row(k: Any) -> None:
                i = k if down else n - 1 - k
                pivot = left(i, i)
                self.leave_if(OPERATORS["equal"](pivot, 0.0))

                def column(j: Any) -> None:
                    def term(t: Any, total: Any) -> tuple[Any, ...]:
                        other = t if down else n - 1 - t
                        factor = left(other, i) if adjoint else left(i, other)
                        return (total + factor * self.read(out, (*at, other, j)),)

                    total = self.fold(k, (0.0,), term, limit=n)[0]
                    found = (right(i, j) - total) / pivot
                    # What becomes of infinities is a matter of the order of operations.
                    self.leave_if(OPERATORS["logical_not"](OPERATORS["isfinite"](found)))
                    self.put(out, (*at, i, j), found)

                self.count(m, column)

            self.count(n, row)

        self.each(batch, stack)
        return out

    def cholesky(self, x: Any) -> Any:
        """The lower triangular factor of the symmetric part of a positive definite matrix."""
        x = self.square(x)
        self.leave_unless_ordinary(x)
        n = x.shape[-1]
        out = self.changing(x.shape, zero=True)

        def stack(at: Index) -> None:
            def products(i: Any, j: Any) -> Any:
                def term(k: Any, total: Any) -> tuple[Any, ...]:
                    return (total + self.read(out, (*at, i, k)) * self.read(out, (*at, j, k)),)

                return self.fold(j, (0.0,), term, limit=n)[0]

            def column(j: Any) -> None:
                rest = x.element((*at, j, j)) - products(j, j)
                self.leave_if(~OPERATORS["greater"](rest, 0.0))
                root = OPERATORS["sqrt"](rest)
                self.put(out, (*at, j, j), root)

                def below(k: Any) -> None:
                    i = j + 1 + k
                    half = (x.element((*at, i, j)) + x.element((*at, j, i))) * 0.5
                    self.put(out, (*at, i, j), (half - products(i, j)) / root)

                self.span(n - 1 - j, n, below)

            self.count(n, column)

        self.each(x.shape[:-2], stack)
        return out

    # --- elimination ------------------------------------------------------------------------------------------------

    def eliminated(self, left: Callable[..., Any], n: int, right: Callable[..., Any] | None, m: int) -> tuple[Any, Any]:
        """Gaussian elimination with row pivoting: the triangle (with the pivots), the right sides, and the sign."""
        table = self.overwritten((n, n))
        sides = self.overwritten((n, m)) if right is not None else None
        self.each((n, n), lambda at: self.put(table, at, left(*at)))
        if sides is not None and right is not None:
            self.each((n, m), lambda at: self.put(sides, at, right(*at)))

        def column(k: Any, sign: Any) -> tuple[Any, ...]:
            def larger(t: Any, best: Any, place: Any) -> tuple[Any, ...]:
                item = abs(self.read(table, (k + t, k)))
                better = item > best
                return self.choose(better, item, best), self.choose(better, t, place)

            t = self.fold(n - k, (-1.0, 0), larger, limit=n, within=(0, n - 1))[1]
            self.bound(t, n - 1)
            pivot_row = self.bound(k + t, n - 1)
            swapped = OPERATORS["not_equal"](t, 0)

            def swap(array: Lazy, width: int) -> None:
                def exchange(j: Any) -> None:
                    a, b = self.read(array, (k, j)), self.read(array, (pivot_row, j))
                    self.put(array, (k, j), b)
                    self.put(array, (pivot_row, j), a)

                self.count(width, exchange)

            def swap_both() -> None:
                swap(table, n)
                if sides is not None:
                    swap(sides, m)

            self.when(swapped, swap_both)
            pivot = self.read(table, (k, k))

            def below(t: Any) -> None:
                i = self.bound(k + 1 + t, n - 1)
                factor = self.read(table, (i, k)) / self.choose(OPERATORS["equal"](pivot, 0.0), 1.0, pivot)

                def cell(j: Any) -> None:
                    at = self.bound(k + 1 + j, n - 1)
                    self.put(table, (i, at), self.read(table, (i, at)) - factor * self.read(table, (k, at)))

                self.span(n - 1 - k, n, cell)
                if sides is not None:
                    self.count(
                        m,
                        lambda j: self.put(sides, (i, j), self.read(sides, (i, j)) - factor * self.read(sides, (k, j))),
                    )

            self.span(n - 1 - k, n, below)
            return (self.choose(swapped, -sign, sign),)

        sign = self.fold(n, (1.0,), column)[0]
        return (table, sides), sign

    def solve(self, a: Any, b: Any) -> Any:
        """The solution of a x = b for a vector or a matrix of columns."""
        b = self.settled(b)
        rank = 1 if b.ndim == 1 else 2
        self.leave_unless_ordinary(b, rank)
        return self.solution(a, b, rank)

    def solution(self, a: Any, b: Lazy, rank: int) -> Any:
        """The same for a right side of which the last `rank` axes belong together, and whose numbers are ordinary."""
        a = self.square(a)
        self.leave_unless_ordinary(a)
        n = a.shape[-1]
        if b.ndim == 0 or b.shape[-rank] != n:
            raise Unsupported("a linear system whose sides do not fit")
        m = b.shape[-1] if rank == 2 else 1
        batch, part = self.batches([a, b], [2, rank])
        out = self.changing((*batch, n, m) if rank == 2 else (*batch, n))

        def stack(at: Index) -> None:
            side = part(b, rank, at)
            right = side if rank == 2 else lambda i, j: side(i)
            (table, sides), _ = self.eliminated(part(a, 2, at), n, right, m)

            def place(i: Any, j: Any) -> Index:
                return (*at, i, j) if rank == 2 else (*at, i)

            def row(k: Any) -> None:
                i = n - 1 - k
                pivot = self.read(table, (i, i))
                self.leave_if(OPERATORS["equal"](pivot, 0.0))

                def column(j: Any) -> None:
                    def term(t: Any, total: Any) -> tuple[Any, ...]:
                        other = n - 1 - t
                        return (total + self.read(table, (i, other)) * self.read(out, place(other, j)),)

                    total = self.fold(k, (0.0,), term, limit=n)[0]
                    self.put(out, place(i, j), (self.read(sides, (i, j)) - total) / pivot)

                self.count(m, column)

            self.count(n, row)

        self.each(batch, stack)
        return out

    def inv(self, x: Any) -> Any:
        """The inverse, column by column."""
        x = self.square(x)
        n = x.shape[-1]
        unit = self.tensor((n, n), lambda at: self.choose(OPERATORS["equal"](*at), 1.0, 0.0))
        return self.solution(x, self.settled(unit), 2)

    def pivots(self, x: Any, starts: tuple[Any, ...], step: Callable[..., Any], results: int) -> list[Lazy]:
        """For each matrix of a batch what folding over its pivots, from the sign of the permutation, gives."""
        x = self.square(x)
        self.leave_unless_ordinary(x)
        n = x.shape[-1]
        batch, part = self.batches([x], [2])
        outs = [self.empty(batch) for _ in range(results)]

        def stack(at: Index) -> None:
            (table, _), sign = self.eliminated(part(x, 2, at), n, None, 0)
            found = self.fold(n, (sign, *starts), lambda k, *state: step(self.read(table, (k, k)), *state))
            for out, value in zip(outs, found):
                self.put(out, at, value)

        self.each(batch, stack)
        return outs

    def det(self, x: Any) -> Any:
        """The determinant: a polynomial for sides up to 3, unless that is 0 or no number; else by elimination."""
        x = self.square(x)
        n = x.shape[-1]
        if n not in (2, 3):

            def step(pivot: Any, total: Any) -> tuple[Any, ...]:
                # LAPACK adds logarithms: a product on the way does not leave the floats there.
                product = total * pivot
                size = abs(product)
                within = (size >= self.floats.least) & (size < INFINITY)
                self.leave_if(~(within | OPERATORS["equal"](pivot, 0.0) | OPERATORS["equal"](total, 0.0)))
                return (product,)

            return self.pivots(x, (), step, 1)[0]

        def element(at: Index) -> Any:
            def e(i: int, k: int) -> Any:
                return x.element((*at, i, k))

            if n == 2:
                found = e(0, 0) * e(1, 1) - e(0, 1) * e(1, 0)
            else:
                minors = [e(1, i) * e(2, k) - e(1, k) * e(2, i) for i, k in ((1, 2), (2, 0), (0, 1))]
                found = e(0, 0) * minors[0] + e(0, 1) * minors[1] + e(0, 2) * minors[2]
            fine = OPERATORS["isfinite"](found) & OPERATORS["not_equal"](found, 0.0)

            def eliminated() -> Any:
                self.leave_unless_ordinary(self.tensor((n, n), lambda place: e(*place)))
                (table, _), sign = self.eliminated(e, n, None, 0)
                return self.fold(n, (sign,), lambda k, total: (total * self.read(table, (k, k)),))[0]

            return self.either(fine, lambda: found, eliminated)

        return self.tensor(x.shape[:-2], element)

    def slogdet(self, x: Any) -> Any:
        """The sign of the determinant and the logarithm of its absolute value."""

        def step(pivot: Any, sign: Any, total: Any) -> tuple[Any, ...]:
            return sign * OPERATORS["sign"](pivot), total + OPERATORS["log"](abs(pivot))

        return tuple(self.pivots(x, (0.0,), step, 2))

    # --- functions of matrices --------------------------------------------------------------------------------------

    def expm(self, x: Any) -> Any:
        """The exponential of a matrix: scaled to a norm of 4.25, Pade's approximant of degree 13, and squared again.

        N. Higham, "The scaling and squaring method for the matrix exponential revisited" (2005).
        """
        x = self.square(x)
        n, builder = x.shape[-1], self.builder
        norm = OPERATORS["max"](OPERATORS["sum"](OPERATORS["abs"](x), axis=-2))
        self.leave_unless(norm < MOST_SQUARED)
        halvings = OPERATORS["maximum"](OPERATORS["ceil"](OPERATORS["log2"](norm / 4.25)), 0.0)
        times = builder.emit("to_int", (halvings,), INT)
        a = self.settled(x * OPERATORS["exp2"](-halvings))
        unit = self.tensor((n, n), lambda at: self.choose(OPERATORS["equal"](*at), 1.0, 0.0))
        a2 = self.matmul(a, a)
        a4 = self.matmul(a2, a2)
        a6 = self.matmul(a4, a2)
        powers = (unit, a2, a4, a6)

        def even(start: int) -> Any:
            """The terms of every other degree from `start` on, the three highest with a factor a6 taken out."""
            low = [PADE[2 * i + start] * power for i, power in enumerate(powers)]
            high = [PADE[2 * i + start] * power for i, power in enumerate(powers[1:], start=4)]
            product = self.matmul(a6, self.settled(high[0] + high[1] + high[2]))
            return self.settled(product + (low[0] + low[1] + low[2] + low[3]))

        u, v = self.matmul(a, even(1)), even(0)
        out = self.changing(x.shape)
        self.copy_into(out, self.solve(self.settled(v - u), self.settled(v + u)))
        self.span(times, 1100, lambda _: self.copy_into(out, self.matmul(out, out)))
        return out

    # --- QR ---------------------------------------------------------------------------------------------------------

    def qr(self, x: Any) -> Any:
        """The reduced QR factorisation of a matrix that is not wide, by Householder's reflections as LAPACK has them."""
        x = self.settled(x)
        self.leave_unless_ordinary(x)
        m, n = x.shape[-2:]
        batch = x.shape[:-2]
        q, r = self.overwritten((*batch, m, n), zero=True), self.changing((*batch, n, n), zero=True)

        def stack(at: Index) -> None:
            work, scale = self.overwritten((m, n)), self.changing((n,))
            self.each((m, n), lambda index: self.put(work, index, x.element((*at, *index))))

            def reflect(target: Lazy, first: Index, k: Any, j: Any, length: Any, limit: int) -> None:
                """Column j of a matrix reflected by the vector in column k of `work`, which is 1 at its head."""

                def row(t: Any) -> Any:
                    return self.bound(k + 1 + t, m - 1)

                def term(t: Any, total: Any) -> tuple[Any, ...]:
                    return (total + self.read(work, (row(t), k)) * self.read(target, (*first, row(t), j)),)

                head = self.read(target, (*first, k, j))
                dot = self.fold(length, (head,), term, limit=limit)[0] * self.read(scale, (k,))
                self.put(target, (*first, k, j), head - dot)

                def cell(t: Any) -> None:
                    place = (*first, row(t), j)
                    self.put(target, place, self.read(target, place) - dot * self.read(work, (row(t), k)))

                self.span(length, limit, cell)

            def column(k: Any) -> None:
                below = m - 1 - k

                def row(t: Any) -> Any:
                    return self.bound(k + 1 + t, m - 1)

                def square(t: Any, total: Any, sizes: Any) -> tuple[Any, ...]:
                    item = self.read(work, (row(t), k))
                    return total + OPERATORS["square"](item), sizes + abs(item)

                rest, sizes = self.fold(below, (0.0, 0.0), square, limit=m)
                alpha = self.read(work, (k, k))
                flat = OPERATORS["equal"](rest, 0.0)
                total = OPERATORS["square"](alpha) + rest
                # LAPACK's squares do not leave the range of floats.
                low = self.floats.least / self.floats.epsilon
                self.leave_if(~(OPERATORS["greater"](rest, low) | OPERATORS["equal"](sizes, 0.0)))
                self.leave_if(~OPERATORS["less"](total, 1.0 / low))
                size = OPERATORS["sqrt"](total)
                beta = self.choose(flat, alpha, -OPERATORS["copysign"](size, alpha))
                self.put(scale, (k,), self.choose(flat, 0.0, (beta - alpha) / self.choose(flat, 1.0, beta)))
                divisor = self.choose(flat, 1.0, alpha - beta)
                self.span(below, m, lambda t: self.put(work, (row(t), k), self.read(work, (row(t), k)) / divisor))
                self.put(work, (k, k), beta)

                def later(t: Any) -> None:
                    reflect(work, (), k, self.bound(k + 1 + t, n - 1), below, m)

                self.span(n - 1 - k, n, later)

            self.count(n, column)

            def cell(index: Index) -> None:
                upper = OPERATORS["greater_equal"](index[1], index[0])
                self.put(r, (*at, *index), self.choose(upper, self.read(work, index), 0.0))

            def extremes(k: Any, least: Any, most: Any) -> tuple[Any, ...]:
                size = abs(self.read(work, (k, k)))
                return OPERATORS["minimum"](least, size), OPERATORS["maximum"](most, size)

            least, most = self.fold(n, (INFINITY, 0.0), extremes)

            def back(t: Any) -> None:
                k = n - 1 - t
                self.span(n - k, n, lambda j: reflect(q, at, k, self.bound(k + j, n - 1), m - 1 - k, m))

            def hand_out() -> None:
                self.each((n, n), cell)
                self.count(n, lambda j: self.put(q, (*at, j, j), 1.0))
                self.count(n, back)

            def by_lapack() -> None:
                self.each((m, n), lambda index: self.put(work, index, x.element((*at, *index))))
                found = self.call("qr_tall", work, m, n, m * n + n * n)
                self.hand_out(q, at, (m, n), found, 1)
                self.hand_out(r, at, (n, n), found, 1 + m * n)

            # Rounding decides the vectors of what depends on others.
            full = least > most * (8.0 * self.floats.epsilon * max(m, n))
            self.where_full(full, hand_out, by_lapack)

        self.each(batch, stack)
        return q, r

    def where_full(self, full: Any, fill: Callable[[], None], otherwise: Callable[[], None]) -> None:
        """`fill` for a matrix of full rank, `otherwise` for one of lower rank where no derivative is asked for; the
        derivatives of such matrices are the tape's."""
        if self.differentiated:
            self.leave_unless(full)
            fill()
            return
        self.when(full, fill)
        self.when(OPERATORS["logical_not"](full), otherwise)

    def least_squares(self, a: Any, b: Any, full: bool = False) -> Any:
        """The x of least norm that minimises |a x - b|; with `full` for a matrix of full rank, and the tape's otherwise."""
        a, b = self.settled(a), self.settled(b)
        rows, columns = a.shape[-2:]
        wide = rows < columns
        q, r = self.qr(OPERATORS["matrix_transpose"](a) if wide else a)
        n = r.shape[-1]
        sizes = self.tensor((*r.shape[:-2], n), lambda at: abs(r.element((*at, at[-1]))))
        most, least = OPERATORS["max"](sizes, axis=-1), OPERATORS["min"](sizes, axis=-1)
        poor = OPERATORS["any"](~OPERATORS["greater"](least, most * (1e3 * self.floats.epsilon * max(rows, columns))))

        def by_triangle() -> Any:
            if wide:
                return self.matmul(q, self.triangular_system(r, b, False, True))
            return self.triangular_system(r, self.matmul(OPERATORS["matrix_transpose"](q), b), False, False)

        if full or self.differentiated:
            self.leave_if(poor)
            return by_triangle()
        batch = broadcast([a.shape[:-2], b.shape[:-2]], "lstsq")
        out = self.changing((*batch, columns, b.shape[-1]))
        self.when(OPERATORS["logical_not"](poor), lambda: self.copy_into(out, by_triangle()))
        self.when(poor, lambda: self.copy_into(out, self.by_singular_values(a, b)))
        return out

    def by_singular_values(self, a: Lazy, b: Lazy) -> Any:
        """The same without what would be divided by rounding, as LAPACK does."""
        u, s, vh = self.routine("svd_thin", a)
        most: Any = self.settled(OPERATORS["max"](s, axis=-1, keepdims=True))
        least = most * (self.floats.epsilon * max(a.shape[-2:]))
        usable = self.settled(OPERATORS["greater"](s, least))
        inverse = OPERATORS["where"](usable, 1.0 / OPERATORS["where"](usable, s, 1.0), 0.0)
        within = self.matmul(OPERATORS["matrix_transpose"](u), b)
        scaled = within * OPERATORS["expand_dims"](inverse, axis=-1)
        return self.matmul(OPERATORS["matrix_transpose"](vh), scaled)


__all__ = ["Solving"]
