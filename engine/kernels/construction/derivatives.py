"""The kernels of the directional commands, of Jacobians and of Hessians.

A Hessian-vector product is the tangent of the adjoint. A dense Hessian is a loop over the basis directions around it,
and a Jacobian one over the tangent's directions or the adjoint's rows, inside one kernel; what does not depend on the
direction is computed before the loop.
"""

from __future__ import annotations

from .. import ir
from ..built import Built, Noted
from ..differentiation.adjoint import adjoint
from ..differentiation.tangent import Tangent
from ..inputs import SOME, source_of
from ..ir import BOOL, FLOAT, INT, Array, Stmt, Unsupported, Var
from ..outline import statements
from ..passes.dead_code import without_dead_code
from ..symbols.build import Builder
from ..symbols.regions import dissolved, for_tangents, left_to_statements, ruled
from ..symbols.symbol import Sym
from ..work import COMMAND_WORK, hessian_work
from .construct import Lowered
from .directions import Directions, Sources, beside, count, defined, split, store_lane, within

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

# Directions that one pass of a Hessian's or Jacobian's loop follows together, at most; a program of more statements
# than these would be long in compiling for half as many, or for several at all.
LANES = 4
SHORT, LONG = 60, 200


def jvp(lowered: Lowered, moved: Sequence[str]) -> Built:
    """Value, tangent, flags; the tangents of the sources `moved` are further parameters."""
    result = lowered.summed()
    kernel, noted, flags = watched(lowered, result)
    seeds = parameters_for(lowered, moved)
    tangent = Tangent(kernel, seeds)
    body = tangent.run(kernel.body)
    found = tangent_of_value(tangent, lowered)
    results = [lowered.value, *([] if found is None else [found]), *flags]
    extra = [x if x.__class__ is Array else x[0] for x in seeds.values()]
    return lowered.built(ir.Kernel(kernel.parameters + extra, body, results), told_by_tape(lowered, noted), result)


def lanes_for(lowered: Lowered, total: int) -> int:
    """How many directions a pass follows."""
    size = statements(lowered.kernel.body)
    return min(LANES if size < SHORT else max(LANES // 2, 1) if size < LONG else 1, total)


def watched(lowered: Lowered, result: Any) -> tuple[ir.Kernel, list[Noted], list[Any]]:
    """The value's kernel for forward mode, which leaves and raises flags as a sweep back does; what these note; they."""
    kernel, noted = adjoint(
        lowered.kernel,
        result,
        list(lowered.targets.values()),
        watch=lowered.builder.watch,
        several=True,
        precision=lowered.precision,
    )
    flags = kernel.results[1 + len(lowered.targets) :]
    if noted or ruled(lowered.kernel.body):
        return without_dead_code(ir.Kernel(kernel.parameters, kernel.body, [lowered.value, *flags])), noted, flags
    return ir.Kernel(lowered.kernel.parameters, for_tangents(lowered.kernel.body), [lowered.value]), noted, flags


def told_by_tape(lowered: Lowered, noted: list[Noted]) -> list[Noted]:
    """The singular points of a kernel in forward mode, of tangents of an adjoint, or of an adjoint by rows: beside rows
    with rules of their own whose tangents choose on their own, the tape's to decide."""
    left = left_to_statements(lowered.kernel.body)
    return [Noted(n.message, n.site, False, n.code) for n in noted] if left else noted


def parameters_for(lowered: Lowered, moved: Sequence[str]) -> dict[Any, Any]:
    """The directions of sources, which are called after them, bare where these are. Raises Unsupported where that would
    be an array."""
    found: dict[Any, Any] = {}
    for part, x in lowered.targets.items():
        if source_of(part) not in moved:
            continue
        direction: Any = Array(FLOAT, x.shape, "da", "input") if x.__class__ is Array else Var(FLOAT, "d")
        direction.name = f"d_{part.replace('.', '_')}"
        if lowered.precision is not None and lowered.precision.mode == SOME and x in lowered.precision.bare:
            lowered.precision.leave_bare(direction)
        found[x] = direction if direction.__class__ is Array else [direction]
    return found


def tangent_of_value(tangent: Tangent, lowered: Lowered) -> Any:
    """The operand that holds the tangent of the value; None where it has none."""
    if not tangent.has(lowered.value):
        return None
    found = tangent.dots[lowered.value]
    return found if found.__class__ is Array else found[0]


def vjp(lowered: Lowered) -> Built:
    """Value, cotangents of the sources, flags; the cotangent of the value is the last parameter."""
    shape, builder = lowered.shape, lowered.builder
    given: Any = Array(FLOAT, shape, "p", "input") if shape else Var(FLOAT, "p")
    given.name = "cotangent"
    if (
        lowered.precision is not None
        and lowered.precision.mode == SOME
        and lowered.value not in lowered.precision.known
    ):
        lowered.precision.leave_bare(given)
    lowered.kernel.parameters.append(given)
    result = lowered.summed(
        (lambda index: builder.load(given, builder.flat(index, shape))) if shape else lambda index: Sym(builder, given)
    )
    kernel, noted = adjoint(
        lowered.kernel,
        result,
        list(lowered.targets.values()),
        watch=lowered.builder.watch,
        slopes=lowered.slopes,
        precision=lowered.precision,
    )
    kernel.results[0] = lowered.value
    return lowered.built(kernel, noted, result)


def hvp(lowered: Lowered, moved: Sequence[str]) -> Built:
    """Value, gradients, products, flags; the vectors of the sources `moved` are further parameters."""
    result = scalar_result(lowered)
    kernel, noted = adjoint(
        lowered.kernel,
        result,
        list(lowered.targets.values()),
        True,
        lowered.builder.watch,
        several=True,
        slopes=lowered.slopes,
        precision=lowered.precision,
    )
    kernel.results[0] = lowered.value
    seeds = parameters_for(lowered, moved)
    tangent = Tangent(kernel, seeds)
    body = tangent.run(kernel.body)
    products: list[Any] = []
    for bar in kernel.results[1 : 1 + len(lowered.targets)]:
        if bar.__class__ is Array and not tangent.has(bar):
            zeros = Array(FLOAT, bar.shape, "da")
            body.append(ir.Alloc(zeros, True))
            products.append(zeros)
        else:
            products.append(tangent.dots[bar] if bar.__class__ is Array else tangent.of(bar)[0])
    flags = kernel.results[1 + len(lowered.targets) :]
    results = [*kernel.results[: 1 + len(lowered.targets)], *products, *flags]
    extra = [x if x.__class__ is Array else x[0] for x in seeds.values()]
    return lowered.built(ir.Kernel(kernel.parameters + extra, body, results), told_by_tape(lowered, noted), result)


def scalar_result(lowered: Lowered) -> Var:
    if lowered.shape or lowered.complex is not None:
        raise Unsupported("the Hessian of a tensor, or of a complex number")  # the tape words the error
    return lowered.summed()


def hessian(lowered: Lowered, lanes: int | None = None) -> Built:
    """Value, gradients of the connected sources, the Hessian with a column for each direction, flags."""
    result = scalar_result(lowered)
    sources = Sources(lowered, result)
    total = sources.total
    if not total:
        return constant(lowered, result, sources)
    lanes = lanes_for(lowered, total) if lanes is None else lanes
    kernel, noted = adjoint(
        lowered.kernel,
        result,
        sources.targets,
        True,
        lowered.builder.watch,
        slopes=lowered.slopes,
        precision=lowered.precision,
    )
    kernel.results[0] = lowered.value
    flags = kernel.results[1 + len(sources.targets) :]
    seeds = sources.seeds(lanes)
    tangent = Tangent(kernel, seeds, lanes)
    body = tangent.run(kernel.body)
    bars = kernel.results[1 : 1 + len(sources.targets)]
    products = [tangent.dots.get(bar) for bar in bars]
    table = Array(FLOAT, (total * total,), "a")
    if lowered.precision is not None:
        lowered.precision.hold_both(table, lowered.value, sources.targets)

    def collect(builder: Builder, direction: Any) -> None:
        """Store the products of a pass, one beside the other in each row of the table."""

        def columns(chosen: Sequence[int]) -> None:
            for offset, size, bar, product in zip(sources.offsets, sources.sizes, bars, products):
                if product is not None:
                    beside(
                        builder, table, offset, total, direction, product, size, lanes, chosen, bar.__class__ is Array
                    )

        def one_by_one() -> None:
            for lane in range(lanes):
                within(builder, direction, lane, lanes, total, lambda lane=lane: columns([lane]))  # type: ignore[misc]

        if total % lanes == 0:
            columns(range(lanes))
            return
        full = builder.emit("less_equal", (direction, total - lanes), BOOL)
        builder.append(
            ir.If(full.var, builder.nested(lambda: columns(range(lanes)))[0], builder.nested(one_by_one)[0], [])
        )

    made = Directions(lowered, sources, seeds, lanes, [lowered.value, *bars], flags)
    outer = made.kernel(kernel.parameters, dissolved(kernel.body), body, [table], collect, products)
    built = lowered.built(outer, told_by_tape(lowered, noted), result)
    built.passes = hessian_work(total)
    return built


# --- Jacobians --------------------------------------------------------------------------------------------------------


def forward_jacobian(lowered: Lowered, lanes: int | None = None) -> Built:
    """Value, a table of tangents by direction, flags. Of complex sources the directions are those of the real axis."""
    result = lowered.summed()
    sources = Sources(lowered, result, real=True)
    total = sources.total
    if not total:
        return constant(lowered, result, sources)
    lanes = lanes_for(lowered, total) if lanes is None else lanes
    kernel, noted, flags = watched(lowered, result)
    seeds = sources.seeds(lanes)
    tangent = Tangent(kernel, seeds, lanes)
    body = tangent.run(kernel.body)
    size = count(lowered.shape)
    table = Array(FLOAT, (total * size,), "a")
    moved = tangent.dots.get(lowered.value)

    def collect(builder: Builder, direction: Any) -> None:
        for lane in range(lanes):

            def column(lane: int = lane) -> None:
                start = builder.integer("multiply", builder.integer("add", direction, lane), size)
                if moved is not None:
                    store_lane(builder, table, start, moved, size, lane, lanes, moved.__class__ is Array)

            within(builder, direction, lane, lanes, total, column)

    made = Directions(lowered, sources, seeds, lanes, [lowered.value], flags)
    outer = made.kernel(kernel.parameters, dissolved(kernel.body), body, [table], collect, [moved])
    built = lowered.built(outer, told_by_tape(lowered, noted), result)
    built.passes = COMMAND_WORK["jvp"] * total
    return built


def constant(lowered: Lowered, result: Any, sources: Sources) -> Built:
    """Value: of a result that depends on no input. Raises Unsupported where it depends on inputs without elements."""
    if sources.targets:
        raise Unsupported("derivatives by inputs without elements alone")
    return lowered.built(ir.Kernel(lowered.kernel.parameters, lowered.kernel.body, [lowered.value]), [], result)


def slope(lowered: Lowered) -> Built:
    """Value, the cotangents of each source, flags: the Jacobian of a number."""
    result = lowered.summed()
    sources = Sources(lowered, result)
    if not sources.total:
        return constant(lowered, result, sources)
    kernel, noted = adjoint(
        lowered.kernel,
        result,
        sources.targets,
        watch=lowered.builder.watch,
        several=True,
        slopes=lowered.slopes,
        precision=lowered.precision,
    )
    kernel.results[0] = lowered.value
    return lowered.built(kernel, noted, result)


def reverse_jacobian(lowered: Lowered) -> Built:
    """Value, a table of cotangents by row for each source, flags.

    The flags are those of one more row, the sum of all: a tape gives its notices, and those that rules give for a row.
    """
    if not lowered.shape:
        return slope(lowered)
    reaching = Sources(lowered, lowered.value)
    if not reaching.total:
        return constant(lowered, lowered.value, reaching)
    builder, shape = lowered.builder, lowered.shape
    size = count(shape)
    weights = Array(FLOAT, shape, "p", "input")
    plain = lowered.kernel
    result = lowered.summed(lambda index: builder.load(weights, builder.flat(index, shape)))
    sources = Sources(lowered, result)
    kernel, noted = adjoint(
        ir.Kernel([*plain.parameters, weights], plain.body, [lowered.value]),
        result,
        sources.targets,
        False,
        lowered.builder.watch,
        several=True,
        slopes=lowered.slopes,
        precision=lowered.precision,
    )
    kernel.results[0] = lowered.value
    inner = without_dead_code(ir.Kernel(kernel.parameters, dissolved(kernel.body), kernel.results))
    bars = inner.results[1 : 1 + len(sources.targets)]
    flags = inner.results[1 + len(sources.targets) :]
    before, inside = split(inner.body, {weights}, set())
    tables = [Array(FLOAT, (size * n,), "a") for n in sources.sizes]
    gathered = [Array(INT, x.shape, "notes") for x in flags]
    row = Var(INT, "i")
    rows = size + (1 if flags else 0)
    outer = Builder()
    outer.ranges[row] = (0, rows - 1)
    block: list[Stmt] = [ir.Alloc(x, True) for x in [*tables, *gathered]]
    results: list[Any] = [lowered.value]
    if lowered.value not in defined(before) | set(plain.parameters):
        out = Array(lowered.value.kind, shape, "a")
        block.append(ir.Alloc(out, False))
        results = [out]

    def fill() -> None:
        i = Sym(outer, row)
        outer.append(ir.Alloc(weights, True))
        a_row = outer.emit("less", (i, size), BOOL)

        def everything() -> None:
            outer.count(size, lambda k: outer.append(ir.Store(weights, k.var, 1.0)))

        one = outer.nested(lambda: outer.append(ir.Store(weights, row, 1.0)))[0]
        outer.append(ir.If(a_row.var, one, outer.nested(everything)[0] if flags else [], []))
        outer.block.extend(inside)
        if results[0] is not lowered.value:
            store_lane(outer, results[0], 0, lowered.value, size, 0, 1, True)

        def keep() -> None:
            for bar, n, table in zip(bars, sources.sizes, tables):
                store_lane(outer, table, outer.integer("multiply", i, n), bar if bar.__class__ is Array else [bar], n, 0, 1,
                       bar.__class__ is Array)  # fmt: skip

        def note() -> None:
            for flag, out in zip(flags, gathered):
                store_lane(outer, out, 0, flag, out.size, 0, 1, True)

        outer.append(ir.If(a_row.var, outer.nested(keep)[0], outer.nested(note)[0], []))

    loop_body, _ = outer.nested(fill)
    loop = ir.Loop(row, 0, rows, 1, None, None, [], loop_body, None, {}, Var(INT, "t"), None)
    whole = ir.Kernel(plain.parameters, [*block, *before, loop], [*results, *tables, *gathered])
    built = lowered.built(whole, told_by_tape(lowered, noted), result)
    built.passes = max(float(size), 1.0)
    return built
