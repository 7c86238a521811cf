"""Zero skipping: rows of tangents that are zero are passed over in products of matrices.

A direction often moves few rows of a matrix: an angle moves the bones behind it, a basis vector one row of a table. In
sums of products `out[i, j] += a[i, k] * d[k, j]` over all k, the rows of zeros of the tangent d add nothing wherever a is
finite. Which rows these are is found once for each direction, and whether a is finite once for all.
"""

from __future__ import annotations

from .. import ir
from ..ir import BOOL, Array, Stmt, Var
from .dependence import affine, follow, static_range
from .statements import everything, with_blocks

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .dependence import Affine

# What a row has at least, and how often the rows are gone through: less is not worth a question.
LEAST_ROW, LEAST_TIMES = 8, 8


class Product:
    """The sum over k in such a product: `rows` of `length` elements of `tangent`, from `first` on; `factor` is a."""

    __slots__ = ("factor", "first", "length", "rows", "tangent")

    def __init__(self, tangent: Array, first: int, rows: int, length: int, factor: Array) -> None:
        self.tangent = tangent
        self.first = first
        self.rows = rows
        self.length = length
        self.factor = factor


def skip_zero_rows(block: list[Stmt], tangents: set[Array]) -> tuple[list[Stmt], list[Stmt]]:
    """Statements to go before all directions, and the block of one direction.

    `tangents` are the arrays that depend on the direction.
    """
    finite: dict[Array, Array] = {}
    before: list[Stmt] = []
    found: list[Stmt] = []
    for s in block:
        product = None
        if s.__class__ is ir.Loop and times(s) >= LEAST_TIMES:
            own = {inner.array for inner in everything([s]) if isinstance(inner, ir.Store | ir.AddTo | ir.Alloc)}
            product = product_in(s, tangents, own)
        if product is None:
            found.append(s)
            continue
        if product.factor not in finite:
            finite[product.factor] = Array(BOOL, (1,))
            before += all_finite(product.factor, finite[product.factor])
        marks = Array(BOOL, (product.rows,))
        found += marked(product, finite[product.factor], marks)
        found.append(guarded(s, marks))
    return before, found


def times(s: Any) -> int:
    """How often the body of a loop runs, if it is known."""
    bounds = static_range(s)
    return 0 if bounds is None else bounds[1] - bounds[0] + 1


def innermost(s: Any) -> ir.Loop | None:
    """The loop over rows in a nest that only sums products: the last but one."""
    while s.__class__ is ir.Loop and static_range(s) is not None and not s.carried and not s.stacks and not s.stop_when:
        loops = [inner for inner in s.body if inner.__class__ is ir.Loop]
        rest = [inner for inner in s.body if inner.__class__ is not ir.Loop]
        if len(loops) != 1 or not all(isinstance(inner, ir.Set | ir.Load) for inner in rest):
            return None
        if not any(inner.__class__ is ir.Loop for inner in loops[0].body):
            found: ir.Loop = s
            return found
        (s,) = loops
    return None


def product_in(s: ir.Loop, tangents: set[Array], own: set[Array]) -> Product | None:
    """The product that a nest of loops computes, and does nothing else."""
    rows = innermost(s)
    if rows is None or rows is s or rows.index is None:
        return None
    inner: Any = next(x for x in rows.body if x.__class__ is ir.Loop)
    bounds, along = static_range(rows), static_range(inner)
    if (
        bounds is None or along is None or bounds[0] != 0 or along[0] != 0 or inner.carried or inner.stop_when
        or along[1] + 1 < LEAST_ROW or not all(isinstance(x, ir.Set | ir.Load | ir.AddTo) for x in inner.body)
    ):  # fmt: skip
        return None
    known: dict[Var, Affine] = {}
    loaded: dict[Var, ir.Load] = {}
    sets: dict[Var, ir.Set] = {}
    for x in everything([s]):
        if x.__class__ is ir.Set:
            sets[x.var] = x
            follow(x, known)
        elif x.__class__ is ir.Load:
            loaded[x.var] = x
    made: Product | None = None
    for x in inner.body:
        if x.__class__ is not ir.AddTo:
            continue
        product = sets.get(x.value)
        while product is not None and product.op == "copy":
            product = sets.get(product.args[0])
        if product is None or product.op != "multiply":
            return None
        factors = [loaded.get(a) for a in product.args]
        moving = [load for load in factors if load is not None and load.array in tangents]
        still = [load for load in factors if load is not None and load.array not in tangents]
        if len(moving) != 1 or len(still) != 1 or moving[0].array in own or still[0].array in own:
            return None
        place = dict(affine(moving[0].index, known))
        # Of several directions that are followed together, the elements stand side by side.
        first, lanes = place.pop(None, 0), place.get(inner.index, 0)
        length = (along[1] + 1) * lanes
        if {var: n for var, n in place.items() if n} != {rows.index: length, inner.index: lanes}:
            return None
        first -= first % lanes
        found = Product(moving[0].array, first, bounds[1] + 1, length, still[0].array)
        if made is not None and (made.tangent, made.first, made.factor) != (found.tangent, first, found.factor):
            return None
        made = found
    return made


def guarded(s: Any, marks: Array) -> Stmt:
    """The nest, which sums the products of the rows that are marked."""
    rows: Any = innermost(s)

    def visit(nest: Any) -> Any:
        if nest is rows:
            met = Var(BOOL)
            return rows.replace(body=[ir.Load(met, marks, rows.index), ir.If(met, rows.body, [], [])])
        return with_blocks(nest, lambda body: [visit(x) if x.__class__ is ir.Loop else x for x in body])

    changed: Stmt = visit(s)
    return changed


def loop(index: Var, trips: int, carried: list[tuple[Var, Any, Any]], body: list[Stmt]) -> ir.Loop:
    return ir.Loop(index, 0, trips, 1, None, None, carried, body, None, {}, Var(ir.INT, "t"), None)


def all_finite(array: Array, answer: Array) -> list[Stmt]:
    """Whether no element of an array is nan or infinite, in `answer`."""
    index, x, rest, good, so_far, following = (Var(kind) for kind in (ir.INT, ir.FLOAT, ir.FLOAT, BOOL, BOOL, BOOL))
    body: list[Stmt] = [
        ir.Load(x, array, index),
        ir.Set(rest, "subtract", (x, x), None, None),
        ir.Set(good, "equal", (rest, 0.0), None, None),
        ir.Set(following, "logical_and", (so_far, good), None, None),
    ]
    return [
        ir.Alloc(answer, False),
        loop(index, array.size, [(so_far, True, following)], body),
        ir.Store(answer, 0, so_far),
    ]


def marked(product: Product, finite: Array, marks: Array) -> list[Stmt]:
    """Mark the rows that add something: those with an element that is not zero, or all, where not all is finite."""
    row, column, start, place = (Var(ir.INT) for _ in range(4))
    known, all_rows, so_far, moved, following = (Var(BOOL) for _ in range(5))
    x = Var(ir.FLOAT)
    inside: list[Stmt] = [
        ir.Set(place, "add", (start, column), None, None),
        ir.Load(x, product.tangent, place),
        ir.Set(moved, "not_equal", (x, 0.0), None, None),
        ir.Set(following, "logical_or", (so_far, moved), None, None),
    ]
    scaled = Var(ir.INT)
    body: list[Stmt] = [
        ir.Set(scaled, "multiply", (row, product.length), None, None),
        ir.Set(start, "add", (scaled, product.first), None, None),
        loop(column, product.length, [(so_far, all_rows, following)], inside),
        ir.Store(marks, row, so_far),
    ]
    return [
        ir.Alloc(marks, False),
        ir.Load(known, finite, 0),
        ir.Set(all_rows, "logical_not", (known,), None, None),
        loop(row, product.rows, [], body),
    ]
