"""Kernels of what only a library decides: eigenvectors and singular vectors with LAPACK's signs, eigenvalues of any
matrix, logarithms and roots of matrices, sums that are rounded once.

The kernel calls the tape's own evaluation of the row on a whole matrix (externals.py). Where the row fails, the kernel
is left and the tape words the error.
"""

from __future__ import annotations

from math import prod

from ..core.tensor import OPERATORS
from ..ops.decompositions import columns_by, differences, inverses_off_diagonal
from . import ir
from .array_loops import Loops
from .arrays import lazy, view
from .build import Lazy, Sym, raw
from .ir import FLOAT, Array, Unsupported, Var
from .pairs import Pair

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .array_loops import Index
    from .tangent import Tangent


def result_shapes(row: str, rows: int, columns: int) -> list[tuple[int, ...]]:
    """The shapes of a routine's results, in their order."""
    least = min(rows, columns)
    if row == "eigh":
        return [(rows,), (rows, rows)]
    if row == "svd_thin":
        return [(rows, least), (least,), (least, columns)]
    if row == "eig":
        return [(rows,), (rows,), (rows, rows), (rows, rows)]
    return [()] if row == "fsum" else [(rows, columns)]


def changes(row: str, matrix: Any, results: list[Any], change: Any) -> list[Any]:
    """The tangents of a routine's results for that of its matrix: the rules of the rows, forwards."""
    matmul, transpose = OPERATORS["matmul"], OPERATORS["matrix_transpose"]
    if row in ("logm", "sqrtm"):
        return [OPERATORS[f"{row}_change"](matrix, change)]
    if row == "fsum":
        return [OPERATORS["sum"](change)]
    if row == "eigh":
        w, v = results
        within = matmul(transpose(v), matmul((change + transpose(change)) * 0.5, v))
        return [OPERATORS["diag_part"](within), matmul(v, within * inverses_off_diagonal(differences(w)))]
    if row == "eig":
        builder = results[0].builder
        values, v = Pair(builder, *results[:2]), Pair(builder, *results[2:])
        within = OPERATORS["solve"](v, matmul(change, v))
        dv = matmul(v, within * inverses_off_diagonal(differences(values)))
        # Vectors stay of length 1.
        length = OPERATORS["sum"](v.re * dv.re + v.im * dv.im, axis=-2)
        parts = (OPERATORS["diag_part"](within), dv - columns_by(v, length))
        return [part for pair in parts for part in (pair.re, pair.im)]
    if row == "svd_thin":
        # J. Townsend, "Differentiating the singular value decomposition" (2016).
        u, s, vh = results
        v = transpose(vh)
        within = matmul(transpose(u), matmul(change, v))
        gaps = inverses_off_diagonal(differences(s * s))
        by_column, by_row = columns_by(within, s), transpose(columns_by(transpose(within), s))
        along_u, along_v = matmul(change, v), matmul(transpose(change), u)
        du = matmul(u, (by_column + transpose(by_column)) * gaps)
        dv = matmul(v, (by_row + transpose(by_row)) * gaps)
        du = du + columns_by(along_u - matmul(u, within), 1.0 / s)
        dv = dv + columns_by(along_v - matmul(v, transpose(within)), 1.0 / s)
        return [du, OPERATORS["diag_part"](within), transpose(dv)]
    raise Unsupported(f"the derivative of {row}")


def follow(tangent: Tangent, s: ir.Routine) -> None:
    """The statements that give the tangents of a routine's results."""
    builder, lanes = tangent.builder, tangent.lanes
    row = s.name.removeprefix("routine_")
    shapes = result_shapes(row, s.rows, s.columns)

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

    starts = [1 + sum(prod(shape) for shape in shapes[:i]) for i in range(len(shapes))]
    matrix = part(s.value, (s.rows, s.columns), 0)
    results = [part(s.array, shape, start) for shape, start in zip(shapes, starts)]
    for lane in range(lanes):
        change = part(tangent.dots[s.value], (s.rows, s.columns), 0, lane, lanes)
        for found, shape, start in zip(changes(row, matrix, results, change), shapes, starts):
            x = builder.settle(lazy(builder, found))

            def put(
                index: Index, x: Lazy = x, shape: tuple[int, ...] = shape, start: int = start, lane: int = lane
            ) -> None:
                place = tangent.place(raw(builder.integer("add", builder.flat(index, shape), start)), lane)
                value = builder.to_float(x.element(index))
                builder.append(ir.Store(tangent.dots[s.array], place, raw(value)))

            builder.each(shape, put)


class Routines(Loops):
    """The part of the vocabulary that calls rows of the table on whole matrices."""

    def routine(self, row: str, x: Any) -> list[Lazy]:
        """The results of a row for each matrix in the last two axes of x."""
        x = self.settled(x)
        rows, columns = x.shape[-2:]
        shapes = result_shapes(row, rows, columns)
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

    def eig(self, x: Any) -> tuple[Pair, Pair]:
        """Eigenvalues and eigenvectors of a real matrix, complex."""
        if x.__class__ is Pair:
            raise Unsupported("eig of complex numbers")
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
