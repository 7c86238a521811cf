"""Derivatives inside a program that is run on whole columns: Jacobians, Hessians and the directional forms.

A sweep from the one at a place of every row's result gives every row its own row of the Jacobian; a tangent of every row's
own gives every row its own directional derivative.
"""

from __future__ import annotations

from ..autodiff import drivers
from ..autodiff.forward import Forward, tangent_of
from ..autodiff.tape import Tape, gradient
from ..core.operands import as_operand
from ..core.state import RECORDERS, STATE
from ..core.tensor import OPERATORS, Tensor, shape_of
from .column_derivatives import (
    ColumnArguments,
    ColumnDerived,
    ColumnTape,
    column_of,
    end_of,
    require_scalar,
    source_of,
    value_and_gradients,
)
from .columns import Column, unit, whole_column
from .derived import callable_of
from .row_sets import NotTogether, Rows, Table
from .structure import flatten, rebuild
from .transforms import directions_of, filled, gradients_of, parts_of, sequence
from .values import Builtin

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .column_derivatives import Call


def jacobians_of(table: Table, call: Call) -> dict[str, Builtin]:
    """The built-ins, for columns of `table`; `call(f, args, keywords)` calls a value of the program."""

    def jacobian_as(name: str) -> Callable[..., ColumnDerived]:
        def jacobian(f: Any, argnums: Any = 0) -> ColumnDerived:
            callable_of(f, name)

            def run(args: list[Any], keywords: dict[str, Any]) -> Any:
                arguments = ColumnArguments(call, f, args, keywords, argnums)
                arguments.require_tangents(name)
                structure: Any = None

                def parts(inputs: list[Any]) -> list[Any]:
                    nonlocal structure
                    structure = arguments.function(inputs)
                    if structure.__class__ is list:
                        structure = as_operand(structure)
                    return flatten(structure)

                ys, rows = jacobians(table, parts, arguments.leaves)
                return rebuild(structure, [arguments.result(blocks_of(y, row, arguments)) for y, row in zip(ys, rows)])

            return ColumnDerived(name, run)

        return jacobian

    def hessian(f: Any, argnums: Any = 0) -> ColumnDerived:
        callable_of(f, "hessian")

        def run(args: list[Any], keywords: dict[str, Any]) -> Any:
            arguments = ColumnArguments(call, f, args, keywords, argnums)
            arguments.require_tangents("hessian")
            scalar = arguments.scalar("hessian")

            def gradients(inputs: list[Any]) -> list[Any]:
                with drivers.several_directions():
                    y, found = value_and_gradients(table, scalar, inputs, "hessian")
                return gradients_of(found, y, inputs)

            ys, rows = jacobians(table, gradients, arguments.leaves, quiet=True)
            return arguments.result([arguments.result(blocks_of(y, row, arguments)) for y, row in zip(ys, rows)])

        return ColumnDerived("hessian", run)

    def jvp(f: Any, primals: Any, tangents: Any) -> Any:
        callable_of(f, "jvp")
        args, directions = parts_of(primals, tangents)
        arguments = ColumnArguments(call, f, args, {}, tuple(range(len(args))))
        seeds = directions_of(args, directions)
        if len(args) != len(directions) or len(seeds) != len(arguments.leaves):
            raise NotTogether("jvp with tangents that do not fit the primals")
        y, t = directional(table, arguments.function, arguments.leaves, seeds)
        return y, drivers.in_width(drivers.zeros(shape_of(y)), y, 0.0) if t is None else t

    def linearize(f: Any, *primals: Any) -> Any:
        callable_of(f, "linearize")
        given = list(primals)
        value = call(f, given, {})
        return value, ColumnDerived("linearize", lambda tangents, _: jvp(f, tuple(given), tuple(tangents))[1])

    def vjp(f: Any, *primals: Any) -> Any:
        callable_of(f, "vjp")
        arguments = ColumnArguments(call, f, list(primals), {}, tuple(range(len(primals))))
        arguments.require_tangents("vjp")
        rows = table.active
        tape, sources, y = recorded(table, arguments.function, arguments.leaves)
        y = as_operand(y)

        def pull(cotangents: list[Any], keywords: dict[str, Any]) -> Any:
            if table.present(rows) != table.active.size:
                raise NotTogether("a derivative that only some of its rows ask for")
            if y.__class__ is not Column:
                return arguments.result(gradients_of([None for _ in sources], y, arguments.leaves))
            end = end_of(tape, y)
            seed = fitted(table, cotangents[0], y, y.shape) if cotangents else OPERATORS["ones_like"](end)
            found = gradient(tape, [end], [seed], [[x] for x in sources], consume=False)
            table.end_forbidden()
            columns = [column_of(table, g, y, x, rows) for g, x in zip(found, sources)]
            return arguments.result(gradients_of(columns, y, arguments.leaves))

        return y, ColumnDerived("vjp", pull)

    def hvp(f: Any, primals: Any, vectors: Any) -> Any:
        callable_of(f, "hvp")
        single = primals.__class__ is not tuple
        args, directions = ([primals], [vectors]) if single else (list(primals), sequence(vectors))
        arguments = ColumnArguments(call, f, args, {}, tuple(range(len(args))))
        seeds = directions_of(args, directions)
        if len(args) != len(directions) or len(seeds) != len(arguments.leaves):
            raise NotTogether("hvp with vectors that do not fit the primals")
        found = arguments.result(gradients_of(*products(table, arguments, seeds), arguments.leaves))
        return found[0] if single else found

    return {
        **{name: Builtin(name, jacobian_as(name)) for name in ("jacobian", "jacfwd", "jacrev")},
        "hessian": Builtin("hessian", hessian), "jvp": Builtin("jvp", jvp), "linearize": Builtin("linearize", linearize),
        "vjp": Builtin("vjp", vjp), "hvp": Builtin("hvp", hvp),
    }  # fmt: skip


# --- sweeps and tangents --------------------------------------------------------------------------------------------


def recorded(table: Table, f: Callable[[list[Any]], Any], leaves: list[Any]) -> tuple[Tape, list[Tensor], Any]:
    """Run `f` on columns that a new tape watches."""
    rows = table.active
    sources = [source_of(table, x) for x in leaves]
    tape = Tape()
    for x in sources:
        tape.watch(x)
    RECORDERS.append(tape)
    try:
        return tape, sources, f([Column(table, x, rows) for x in sources])
    finally:
        RECORDERS.remove(tape)


def jacobians(
    table: Table, f: Callable[[list[Any]], list[Any]], leaves: list[Any], quiet: bool = False
) -> tuple[list[Any], list[list[Any]]]:
    """The results of a function and a row of blocks for each, of shape y.shape + x.shape in every row."""
    rows = table.active
    tape, sources, found = recorded(table, f, leaves)
    ys = [as_operand(y) for y in found]
    outer, STATE.quiet = STATE.quiet, STATE.quiet or quiet
    try:
        return ys, [swept(table, tape, y, sources, rows) for y in ys]
    finally:
        STATE.quiet = outer


def swept(table: Table, tape: Tape, y: Any, sources: list[Tensor], rows: Rows) -> list[Column | None]:
    import numpy as np

    if y.__class__ is not Column:
        return [None for _ in sources]
    end = end_of(tape, y)
    parts = [
        gradient(tape, [end], [unit(end, place)], [[x] for x in sources], consume=False)
        for place in np.ndindex(y.shape)
    ]
    table.end_forbidden()
    found: list[Column | None] = []
    for k, x in enumerate(sources):
        column = [part[k] for part in parts]
        if all(g is None for g in column):
            found.append(None)
            continue
        filled_in = [OPERATORS["zeros_like"](x) if g is None else g for g in column]
        if y.shape:
            shape = (x.value.shape[0], *y.shape, *x.value.shape[1:])
            filled_in = [OPERATORS["reshape"](OPERATORS["stack"](filled_in, axis=1), shape=shape)]
        found.append(column_of(table, filled_in[0], y, x, rows))
    return found


def tape_jacobian(
    t: ColumnTape, target: Any, sources: Any, unconnected_gradients: Any = "none", parallel_iterations: Any = None,
    experimental_use_pfor: Any = None,
) -> Any:  # fmt: skip
    """`t.jacobian(target, sources)`."""
    targets, leaves = t.asked(target, sources, unconnected_gradients)
    if len({x.rows for x in leaves}) > 1:
        raise NotTogether("a Jacobian by what different rows have")
    t.claim()
    rows = [swept(t.table, t.tape, y, [x.tensor for x in leaves], leaves[0].rows) for y in targets]
    if any(block is None for row in rows for block in row):
        raise NotTogether("a derivative by what the target does not depend on")
    return rebuild(target, [rebuild(sources, row) for row in rows])


def blocks_of(y: Any, row: list[Column | None], arguments: ColumnArguments) -> list[Any]:
    """Blocks of a Jacobian, zeros where an argument plays no part."""
    return [filled(b, y, shape_of(y) + shape_of(as_operand(x)), x) for b, x in zip(row, arguments.leaves)]


def fitted(table: Table, seed: Any, like: Any, shape: tuple[int, ...]) -> Tensor:
    """A tangent or cotangent for what has `shape` in every row, as a tensor of the active rows."""
    seed = as_operand(seed)
    if seed.__class__ not in (Column, Tensor, int, float):
        raise NotTogether("a tangent that is no number")
    found = whole_column(table, seed)
    if found.dtype.kind == "i" and found.dtype.weak:
        found = OPERATORS["add"](found, 0.0)
    own = found.value.shape[1:]
    if found.dtype.kind != "f" or (own != shape and own):
        raise NotTogether("a tangent of another shape or kind than its value")
    dtype = getattr(like, "dtype", found.dtype)
    if found.dtype is not dtype and not (found.dtype.weak or dtype.weak):
        raise NotTogether("a tangent of another dtype than its value")
    fit: Tensor = drivers.in_width(found, like, 0.0)
    if own == shape:
        return fit
    size = found.value.shape[0]
    repeated = OPERATORS["reshape"](fit, shape=(size, *(1 for _ in shape)))
    return OPERATORS["broadcast_to"](repeated, shape=(size, *shape))  # type: ignore[no-any-return]


def directional(
    table: Table, f: Callable[[list[Any]], Any], leaves: list[Any], seeds: list[Any]
) -> tuple[Any, Column | None]:
    """The value of every row and its tangent for the tangents of the inputs, None where none reaches it."""
    outer, STATE.ambiguous = STATE.ambiguous, False
    forward, rows = Forward(), table.active
    sources = [source_of(table, x) for x in leaves]
    for x, t in zip(sources, seeds):
        forward.watch(x, fitted(table, t, x, x.value.shape[1:]))
    RECORDERS.append(forward)
    try:
        y = as_operand(f([Column(table, x, rows) for x in sources]))
        table.end_forbidden()
    finally:
        RECORDERS.remove(forward)
        ambiguous, STATE.ambiguous = STATE.ambiguous, outer
    t = tangent_of(y.tensor, forward.token) if y.__class__ is Column else None
    if t is None:
        return y, None
    if ambiguous and not y.shape:
        _, gradients = value_and_gradients(table, f, leaves)
        t = along(table, gradients, seeds, leaves).tensor
        return y, column_of(table, t, y, 0.0, table.active)
    return y, column_of(table, t, y, 0.0, y.rows)


def along(table: Table, gradients: list[Column | None], seeds: list[Any], leaves: list[Any]) -> Column:
    """The sum of gradients times tangents, in which a zero tangent meets no infinity."""
    total: Any = OPERATORS["zeros_like"](whole_column(table, 0.0))
    for g, t, x in zip(gradients, seeds, leaves):
        if g is None:
            continue
        term = OPERATORS["strong_multiply"](fitted(table, t, x, shape_of(as_operand(x))), g.here())
        axes = tuple(range(1, 1 + len(g.shape)))
        total = total + (OPERATORS["sum"](term, axis=axes) if axes else term)
    return Column(table, total, table.active)


def products(table: Table, arguments: ColumnArguments, seeds: list[Any]) -> tuple[list[Any], Any]:
    """The Hessian of a scalar function times vectors, forward over reverse, None where the function has no gradient; and the
    function's value."""
    f, leaves = arguments.scalar("hvp"), arguments.leaves
    outer, STATE.ambiguous = STATE.ambiguous, False
    forward, tape, rows = Forward(), Tape(), table.active
    sources = [source_of(table, x) for x in leaves]
    for x, t in zip(sources, seeds):
        forward.watch(x, fitted(table, t, x, x.value.shape[1:]))
        tape.watch(x)
    RECORDERS.append(forward)
    try:
        RECORDERS.append(tape)
        try:
            y = f([Column(table, x, rows) for x in sources])
        finally:
            RECORDERS.remove(tape)
        if y.__class__ is not Column:
            return [None for _ in leaves], y
        require_scalar(y, "hvp")
        end = end_of(tape, y)
        gradients = gradient(tape, [end], [OPERATORS["ones_like"](end)], [[x] for x in sources], consume=True)
        table.end_forbidden()
    finally:
        RECORDERS.remove(forward)
        ambiguous, STATE.ambiguous = STATE.ambiguous, outer
    if ambiguous:

        def slope(inputs: list[Any]) -> Column:
            _, found = value_and_gradients(table, f, inputs, "hvp")
            return along(table, found, seeds, inputs)

        _, found = value_and_gradients(table, slope, leaves)
        return [
            None if g is None else drivers.zeros(x.value.shape[1:]) if p is None else p
            for g, p, x in zip(gradients, found, sources)
        ], y
    products = []
    for g, x in zip(gradients, sources):
        t = None if g is None else tangent_of(g, forward.token)
        zeros = None if g is None else drivers.zeros(x.value.shape[1:])
        products.append(zeros if t is None else column_of(table, t, y, x, rows))
    return products, y


__all__ = ["jacobians_of", "tape_jacobian"]
