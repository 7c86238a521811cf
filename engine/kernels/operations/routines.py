"""Kernels of what only a library decides: eigenvectors and singular vectors with LAPACK's signs, eigenvalues of any
matrix, logarithms and roots of matrices, sums that are rounded once.

The kernel calls the tape's own evaluation of the row on a whole matrix (externals.py). Where the row fails, the kernel
is left and the tape words the error.
"""

from __future__ import annotations

from math import prod

from ...core.tensor import OPERATORS
from ...ops.decompositions import columns_by, differences, hermitian, inverses_off_diagonal
from ...ops.linalg import small_cofactor
from ...ops.support import adjoint, is_complex, shape_of
from .. import ir
from ..ir import FLOAT, Array, Unsupported, Var
from ..machine.code import ROUTINE
from ..machine.externals import IN_COMPLEX, complex_results
from ..symbols.arrays import lazy, view
from ..symbols.pairs import Pair
from ..symbols.symbol import Lazy, Sym, raw
from .array_loops import Loops

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..differentiation.tangent import Tangent
    from .array_loops import Index


def result_shapes(row: str, rows: int, columns: int, paired: bool = False) -> list[tuple[tuple[int, ...], bool]]:
    """The shapes of a routine's results, in their order, and whether they are complex; `paired` where the matrix is."""
    least = min(rows, columns)
    shapes: list[tuple[int, ...]] = [(rows, columns)]
    if row in ("eigh", "eig"):
        shapes = [(rows,), (rows, rows)]
    elif row == "svd_thin":
        shapes = [(rows, least), (least,), (least, columns)]
    elif row == "svd_complete":
        shapes = [(rows, rows), (least,), (columns, columns)]
    elif row == "qr_complete":
        shapes = [(rows, rows), (rows, columns)]
    elif row == "qr_tall":
        shapes = [(rows, columns), (columns, columns)]
    elif row in ("fsum", "det"):
        shapes = [()]
    elif row == "slogdet":
        shapes = [(), ()]
    return list(zip(shapes, complex_results(row, len(shapes), paired)))


def changes(row: str, matrix: Any, results: list[Any], change: Any) -> list[Any]:
    """The tangents of a routine's results for that of its matrix: the rules of the rows, forwards."""
    matmul = OPERATORS["matmul"]
    if row in ("logm", "sqrtm"):
        return [OPERATORS[f"{row}_change"](matrix, change)]
    if row == "fsum":
        return [OPERATORS["sum"](change)]
    if row == "eigh":
        w, v = results
        within = matmul(adjoint(v), matmul(hermitian(change), v))
        return [real(OPERATORS["diag_part"](within)), matmul(v, within * inverses_off_diagonal(differences(w)))]
    if row == "eig":
        values, v = results
        within = OPERATORS["solve"](v, matmul(change, v))
        dv = matmul(v, within * inverses_off_diagonal(differences(values)))
        # Vectors stay of length 1.
        length = OPERATORS["sum"](v.re * dv.re + v.im * dv.im, axis=-2)
        return [OPERATORS["diag_part"](within), dv - columns_by(v, length)]
    if row == "svd_thin":
        u, s, vh = results
        return changes_of_svd(u, s, vh, change)
    if row == "cholesky":
        # I. Murray, "Differentiation of the Cholesky decomposition" (2016).
        (factor,) = results
        inverse = OPERATORS["inv"](factor)
        within = matmul(inverse, matmul(hermitian(change), adjoint(inverse)))
        return [matmul(factor, OPERATORS["tril"](within) - diagonal(within) * 0.5)]
    if row == "qr_tall":
        # S. Walter and L. Lehmann (2010): q^H dq is anti-Hermitian, and dr inv(r) upper triangular.
        q, r = results
        scaled = matmul(change, OPERATORS["inv"](r))
        within = matmul(adjoint(q), scaled)
        below = OPERATORS["tril"](within, k=-1)
        turning = below - adjoint(below) + (diagonal(within) - adjoint(diagonal(within))) * 0.5
        upper = within - turning
        return [scaled - matmul(q, upper), matmul(upper, r)]
    if row == "det":
        (y,) = results
        side = shape_of(matrix)[-1]
        if side <= 3:
            return [OPERATORS["sum"](small_cofactor(matrix) * change)]
        return [y * trace_of(OPERATORS["solve"](matrix, change))]
    if row == "slogdet":
        sign, _ = results
        slope = trace_of(OPERATORS["solve"](matrix, change))
        return [sign * OPERATORS["complex"](0.0, slope.im), slope.re]
    raise Unsupported(f"the derivative of {row}")


def changes_of_svd(u: Any, s: Any, vh: Any, change: Any) -> list[Any]:
    """J. Townsend, "Differentiating the singular value decomposition" (2016). Complex vectors that belong together, which
    are defined up to a phase, turn by half of what the matrix asks of both, either of them."""
    matmul = OPERATORS["matmul"]
    v = adjoint(vh)
    within = matmul(adjoint(u), matmul(change, v))
    gaps = inverses_off_diagonal(differences(s * s))
    by_column, by_row = columns_by(within, s), adjoint(columns_by(adjoint(within), s))
    along_u, along_v = matmul(change, v), matmul(adjoint(change), u)
    turn_u, turn_v = (by_column + adjoint(by_column)) * gaps, (by_row + adjoint(by_row)) * gaps
    if is_complex(u):
        phase = columns_by((diagonal(within) - adjoint(diagonal(within))) * 0.25, 1.0 / s)
        turn_u, turn_v = turn_u + phase, turn_v - phase
    du = matmul(u, turn_u) + columns_by(along_u - matmul(u, within), 1.0 / s)
    dv = matmul(v, turn_v) + columns_by(along_v - matmul(v, adjoint(within)), 1.0 / s)
    return [du, real(OPERATORS["diag_part"](within)), adjoint(dv)]


def real(x: Any) -> Any:
    return OPERATORS["real"](x) if is_complex(x) else x


def diagonal(x: Any) -> Any:
    """A matrix without what is off its diagonal."""
    return OPERATORS["tril"](x) - OPERATORS["tril"](x, k=-1)


def trace_of(x: Any) -> Any:
    return OPERATORS["sum"](OPERATORS["diag_part"](x))


def follow(tangent: Tangent, s: ir.Routine) -> None:
    """The statements that give the tangents of a routine's results."""
    builder, lanes = tangent.builder, tangent.lanes
    row = s.name.removeprefix(ROUTINE)
    paired = row.endswith(IN_COMPLEX)
    row, columns = row.removesuffix(IN_COMPLEX), s.columns // (2 if paired else 1)
    forms = result_shapes(row, s.rows, columns, paired)
    shapes = [shape for shape, is_complex in forms for _ in range(1 + is_complex)]

    def part(array: Array, shape: tuple[int, ...], first: int, lane: int = 0, step: int = 1) -> Lazy:
        def element(index: Index) -> Any:
            place = builder.integer("add", builder.flat(index, shape), first)
            place = builder.integer("add", builder.integer("multiply", place, step), lane)
            return loaded(array, place)

        return view(builder, FLOAT, shape, element)

    def loaded(array: Array, place: Any) -> Any:
        var = Var(FLOAT, "x")
        builder.append(ir.Load(var, array, raw(place)))
        return Sym(builder, var)

    def whole(array: Array, lane: int = 0, step: int = 1) -> Any:
        """The matrix that an array holds, or its tangents."""
        beside = part(array, (s.rows, s.columns), 0, lane, step)
        if not paired:
            return beside
        halves = (slice(0, columns), slice(columns, None))
        return Pair(builder, *(OPERATORS["index"](beside, index=(slice(None), half)) for half in halves))

    starts = [1 + sum(prod(shape) for shape in shapes[:i]) for i in range(len(shapes))]
    matrix = whole(s.value)
    parts: list[Any] = [scalar(part(s.array, shape, start)) for shape, start in zip(shapes, starts)]
    results = [Pair(builder, parts.pop(0), parts.pop(0)) if is_complex else parts.pop(0) for _, is_complex in forms]
    for lane in range(lanes):
        found_parts: list[Any] = []
        for found in changes(row, matrix, results, whole(tangent.dots[s.value], lane, lanes)):
            found_parts.extend((found.re, found.im) if found.__class__ is Pair else (found,))
        for found, shape, start in zip(found_parts, shapes, starts):
            x = builder.settle(lazy(builder, found))

            def put(
                index: Index, x: Lazy = x, shape: tuple[int, ...] = shape, start: int = start, lane: int = lane
            ) -> None:
                place = tangent.place(raw(builder.integer("add", builder.flat(index, shape), start)), lane)
                value = builder.to_float(x.element(index))
                builder.append(ir.Store(tangent.dots[s.array], place, raw(value)))

            builder.each(shape, put)


def scalar(x: Lazy) -> Any:
    """An array without axes as its element."""
    return x if x.shape else x.element(())


class Routines(Loops):
    """The part of the vocabulary that calls rows of the table on whole matrices."""

    def routine(self, row: str, x: Any) -> list[Lazy]:
        """The results of a row for each matrix in the last two axes of x."""
        x = self.settled(x)
        rows, columns = x.shape[-2:]
        shapes = [shape for shape, is_complex in result_shapes(row, rows, columns) for _ in range(1 + is_complex)]
        batch = x.shape[:-2]
        outs = [self.changing((*batch, *shape)) for shape in shapes]
        sizes = [prod(shape) for shape in shapes]

        def stack(at: Index) -> None:
            matrix = self.changing((rows, columns))
            self.each((rows, columns), lambda index: self.put(matrix, index, x.element((*at, *index))))
            results = self.call(row, matrix, rows, columns, sum(sizes))
            first = 1
            for out, shape, size in zip(outs, shapes, sizes):
                self.hand_out(out, at, shape, results, first)
                first += size

        self.each(batch, stack)
        return outs

    def call(self, row: str, matrix: Lazy, rows: int, columns: int, size: int) -> Lazy:
        """The results of a routine side by side, after the one that tells of success."""
        builder = self.builder
        assert matrix.stored is not None
        results = Array(FLOAT, (1 + size,), role="updated")
        builder.append(ir.Alloc(results, True))
        builder.append(ir.Routine(results, 0, matrix.stored, f"routine_{row}", rows, columns))
        found = builder.stored(results)
        self.leave_if(OPERATORS["equal"](self.read(found, (0,)), 0.0))
        return found

    def hand_out(self, out: Lazy, at: Index, shape: tuple[int, ...], results: Lazy, first: int) -> None:
        def put(index: Index) -> None:
            place = self.builder.integer("add", self.builder.flat(index, shape), first)
            self.put(out, (*at, *index), self.read(results, (place,)))

        self.each(shape, put)

    def square(self, x: Any) -> Lazy:
        """An array of square matrices, in memory."""
        found = self.settled(x)
        if found.ndim < 2 or found.shape[-1] != found.shape[-2]:
            raise Unsupported("a matrix that is not square")
        return found

    def eigh_by_lapack(self, x: Any) -> tuple[Lazy, Lazy]:
        """Rising eigenvalues of the symmetric part, and eigenvectors."""
        values, vectors = self.routine("eigh", self.square(x))
        return values, vectors

    def svd_by_lapack(self, x: Any) -> tuple[Lazy, Lazy, Lazy]:
        """The reduced singular value decomposition (u, s, v^T)."""
        u, s, vh = self.routine("svd_thin", x)
        return u, s, vh

    def svd_complete(self, x: Any) -> tuple[Any, ...]:
        """The singular value decomposition with square u and v^T."""
        return tuple(self.routine("svd_complete", x))

    def qr_complete(self, x: Any) -> tuple[Any, ...]:
        """The QR factorisation with a square q."""
        return tuple(self.routine("qr_complete", x))

    def eig(self, x: Any) -> tuple[Pair, Pair]:
        """Eigenvalues and eigenvectors of a real matrix, complex."""
        parts = self.routine("eig", self.square(x))
        return Pair(self.builder, *parts[:2]), Pair(self.builder, *parts[2:])

    def logm(self, x: Any) -> Lazy:
        """The principal logarithm."""
        return self.routine("logm", self.square(x))[0]

    def sqrtm(self, x: Any) -> Lazy:
        """The principal square root."""
        return self.routine("sqrtm", self.square(x))[0]

    def fsum(self, x: Any) -> Any:
        """The sum of all elements, rounded once."""
        x = self.settled(x)
        size = prod(x.shape)
        line = self.changing((1, size))
        self.each(x.shape, lambda index: self.put(line, (0, self.builder.flat(index, x.shape)), x.element(index)))
        return self.read(self.call("fsum", line, 1, size, 1), (1,))


__all__ = ["Routines"]
