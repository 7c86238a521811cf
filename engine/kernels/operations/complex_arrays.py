"""Kernels of rows on complex arrays: products in order, and what LAPACK finds of complex matrices.

Each is the method of the real kernel's name; real operands go on to that.
"""

from __future__ import annotations

from math import prod

from ...core.tensor import OPERATORS
from ...ops.support import adjoint, axes_of, from_front, to_front
from ..ir import Unsupported
from ..machine.externals import IN_COMPLEX
from ..symbols.pairs import Pair, by_parts
from ..symbols.symbol import Lazy
from .complex_formulas import either, product, strong_product
from .rearranging import Rearranging
from .reducing import Reducing
from .routines import result_shapes
from .scanning import Scanning
from .solving import Solving

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .array_loops import Index


class ComplexArrays(Rearranging, Reducing, Scanning, Solving):
    """The part of the vocabulary that takes pairs."""

    # --- products in order ------------------------------------------------------------------------------------------

    def running(
        self, x: Pair, step: Callable[[Any, Any], tuple[Any, ...]], start: Any = None, reverse: bool = False
    ) -> Pair:
        """Along axis 0 the states of `state = step(place, state)`, from `start`, or the first element, on."""
        x = x.settled()
        n = x.shape[0]
        outs = [self.empty(x.shape) for _ in range(2)]

        def line(rest: Index) -> None:
            def place(i: Any) -> Index:
                return (n - 1 - i if reverse else i, *rest)

            def keep(at: Index, state: Any) -> None:
                for out, part in zip(outs, state):
                    self.put(out, at, part)

            def turn(i: Any, re: Any, im: Any) -> tuple[Any, ...]:
                at = place(i if start is not None else i + 1)
                following = step(at, (re, im))
                keep(at, (re, im) if start is not None else following)
                return following

            if start is not None:
                self.fold(n, start, turn)
            else:
                first = element(x, place(0))
                keep(place(0), first)
                self.fold(n - 1, first, turn)

        if n:
            self.each(x.shape[1:], line)
        return Pair(self.builder, *outs)

    def cumulative(self, row: str, x: Any, axis: int) -> Any:
        if x.__class__ is not Pair:
            return super().cumulative(row, x, axis)
        lines = to_front(x, (axis,)).settled()
        found = self.running(lines, lambda at, state: product(state, element(lines, at)))
        return from_front(found, (axis,), x.shape)

    def linear_recurrence(self, a: Any, b: Any, reverse: bool, strong: bool = False) -> Any:
        if a.__class__ is not Pair and b.__class__ is not Pair:
            return super().linear_recurrence(a, b, reverse, strong)
        careful = self.builder.careful
        times = strong_product if strong and careful else product
        self.builder.hasty |= strong and not careful
        a, b = (x.settled() for x in (a, b))

        def step(at: Index, state: Any) -> tuple[Any, ...]:
            scaled, term = times(state, element(a, at)), element(b, at)
            return scaled[0] + term[0], scaled[1] + term[1]

        return self.running(b, step, None, reverse)

    def prod(self, x: Any, axis: Any, keepdims: Any) -> Any:
        if x.__class__ is not Pair:
            return super().prod(x, axis, keepdims)
        axes = axes_of("prod", axis, len(x.shape))
        if 0 in [x.shape[a] for a in axes]:
            raise Unsupported("prod of nothing")
        lines = to_front(x, axes).settled() if axes else x
        if not axes:
            return lines
        shape = tuple(1 if a in axes else n for a, n in enumerate(x.shape) if keepdims or a not in axes)
        rest = lines.shape[1:]
        outs = [self.empty(rest) for _ in range(2)]

        def line(at: Index) -> None:
            first = element(lines, (0, *at))  # 1 + 0j times what is infinite in one part is nan in the other
            found = self.fold(lines.shape[0] - 1, first, lambda i, *part: product(part, element(lines, (i + 1, *at))))
            for out, part in zip(outs, found):
                self.put(out, at, part)

        self.each(rest, line)
        return by_parts(Pair(self.builder, *outs), lambda part: OPERATORS["reshape"](part, shape=shape))

    def product_of_others(self, x: Any) -> Any:
        if x.__class__ is not Pair:
            return super().product_of_others(x)
        x = x.settled()

        def runs(reverse: bool) -> Any:
            edge = x.shape[0] - 1 if reverse else 0

            def times(at: Index, state: Any) -> Any:
                item = element(x, at)
                # The first is itself: 1 + 0j times what is infinite in one part is nan in the other.
                return either(OPERATORS["equal"](at[0], edge), item, product(state, item))

            return self.running(x, times, (1.0, 0.0), reverse)

        before, after = runs(False), runs(True)
        return OPERATORS["multiply"](before, after)

    def std(self, x: Any, axis: Any, ddof: Any, keepdims: Any) -> Any:
        if x.__class__ is not Pair:
            return super().std(x, axis, ddof, keepdims)
        parts = [super(ComplexArrays, self).std(part, axis, ddof, keepdims) for part in (x.re, x.im)]
        return OPERATORS["hypot"](*[part if part.shape else part.element(()) for part in parts])

    # --- matrices ---------------------------------------------------------------------------------------------------

    def by_lapack(self, row: str, x: Pair) -> Any:
        """The results of a row for each matrix in the last two axes of x."""
        x = x.settled()
        if len(x.shape) < 2:
            raise Unsupported("a complex vector as a matrix")
        rows, columns = x.shape[-2:]
        if not row.startswith(("svd", "qr")) and rows != columns:
            raise Unsupported("a matrix that is not square")
        self.leave_unless_finite(x)  # type: ignore[arg-type]
        batch = x.shape[:-2]
        results = result_shapes(row, rows, columns, True)
        outs = [self.changing((*batch, *shape)) for shape, is_complex in results for _ in range(1 + is_complex)]
        shapes = [shape for shape, is_complex in results for _ in range(1 + is_complex)]

        def stack(at: Index) -> None:
            beside = self.changing((rows, 2 * columns))

            def put(index: Index) -> None:
                for k, part in enumerate(element(x, (*at, *index))):
                    self.put(beside, (index[0], self.builder.integer("add", index[1], k * columns)), part)

            self.each((rows, columns), put)
            found = self.call(row + IN_COMPLEX, beside, rows, 2 * columns, sum(map(prod, shapes)))
            first = 1
            for out, shape in zip(outs, shapes):
                self.hand_out(out, at, shape, found, first)
                first += prod(shape)

        self.each(batch, stack)
        parts: list[Any] = list(outs)
        given = tuple(
            Pair(self.builder, parts.pop(0), parts.pop(0)) if is_complex else parts.pop(0) for _, is_complex in results
        )
        return given if len(given) > 1 else given[0]

    def cholesky(self, x: Any) -> Any:
        return self.by_lapack("cholesky", x) if x.__class__ is Pair else super().cholesky(x)

    def qr(self, x: Any) -> Any:
        return self.by_lapack("qr_tall", x) if x.__class__ is Pair else super().qr(x)

    def det(self, x: Any) -> Any:
        return self.by_lapack("det", x) if x.__class__ is Pair else super().det(x)

    def slogdet(self, x: Any) -> Any:
        return self.by_lapack("slogdet", x) if x.__class__ is Pair else super().slogdet(x)

    def eigh(self, x: Any) -> Any:
        return self.by_lapack("eigh", x) if x.__class__ is Pair else super().eigh(x)

    def svd(self, x: Any) -> Any:
        return self.by_lapack("svd_thin", x) if x.__class__ is Pair else super().svd(x)

    def svd_complete(self, x: Any) -> Any:
        return self.without_derivative("svd_complete", x) if x.__class__ is Pair else super().svd_complete(x)

    def qr_complete(self, x: Any) -> Any:
        return self.without_derivative("qr_complete", x) if x.__class__ is Pair else super().qr_complete(x)

    def without_derivative(self, row: str, x: Pair) -> Any:
        """The results of a row that has no derivative, where none may be asked for."""
        if self.differentiated:
            raise Unsupported(f"the derivative of {row} of complex numbers")
        return self.by_lapack(row, x)

    def eig(self, x: Any) -> Any:
        return self.by_lapack("eig", x) if x.__class__ is Pair else super().eig(x)

    def logm(self, x: Any) -> Any:
        return self.by_lapack("logm", x) if x.__class__ is Pair else super().logm(x)

    def sqrtm(self, x: Any) -> Any:
        return self.by_lapack("sqrtm", x) if x.__class__ is Pair else super().sqrtm(x)

    def triangular_system(self, a: Any, b: Any, lower: bool, adjoint: bool) -> Any:
        if a.__class__ is not Pair and b.__class__ is not Pair:
            return super().triangular_system(a, b, lower, adjoint)
        if a.shape[-1] != a.shape[-2] or len(b.shape) < 2 or b.shape[-2] != a.shape[-1]:
            raise Unsupported("a triangular system that does not fit")
        triangle = OPERATORS["tril" if lower else "triu"](a)
        return OPERATORS["solve"](hermitian(triangle) if adjoint else triangle, b)

    def least_squares(self, a: Any, b: Any, full: bool = False) -> Any:
        if a.__class__ is not Pair and b.__class__ is not Pair:
            return super().least_squares(a, b, full)
        rows, columns = a.shape[-2:]
        wide = rows < columns
        q, r = self.qr(hermitian(a) if wide else a)
        sizes = OPERATORS["abs"](OPERATORS["diag_part"](r))
        most, least = OPERATORS["max"](sizes, axis=-1), OPERATORS["min"](sizes, axis=-1)
        self.leave_unless(least > most * (1e3 * self.floats.epsilon * max(rows, columns)))
        if wide:
            return OPERATORS["matmul"](q, self.triangular_system(r, b, False, True))
        return self.triangular_system(r, OPERATORS["matmul"](hermitian(q), b), False, False)


# The name of a parameter hides that of the function in the methods above.
hermitian = adjoint


def element(x: Pair, at: Any) -> tuple[Any, Any]:
    """Both parts of an element."""
    return tuple(part.element(at) if part.__class__ is Lazy else part for part in (x.re, x.im))


__all__ = ["ComplexArrays"]
