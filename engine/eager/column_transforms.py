"""Functions that run functions, given columns: scan, map_fn, vmap, folds, and the branches and loops that are functions.

What they do with rows is theirs, as with single values; here the functions that they are given are called as a program's
calls are, and rows part where a predicate is a column.
"""

from __future__ import annotations

from ..core import limits
from ..core.operation import static
from ..core.state import STATE
from . import functional, transforms
from .column_derivatives import ColumnDerived
from .columns import Column, truths
from .derived import Derived, callable_of
from .operators import truth
from .row_sets import GONE, NotTogether, Table
from .values import Builtin, Function

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .column_derivatives import Call

# Of these the first argument is a function, and the others are values.
MAPPING = ("scan", "map_fn", "foldl", "foldr", "tree_map")


def transforms_of(table: Table, call: Call) -> dict[str, Builtin]:
    """The built-ins, for columns of `table`; `call(f, args, keywords)` calls a value of the program."""

    def called(f: Any) -> ColumnDerived:
        return ColumnDerived("a function", lambda args, keywords: call(f, args, keywords))

    def chosen(f: Any, operands: tuple[Any, ...]) -> Any:
        return call(f, list(operands), {}) if hasattr(f, "call") or f.__class__ is Function else f

    def mapping(name: str) -> Builtin:
        ordinary = transforms.TRANSFORMS[name]

        def run(f: Any, *values: Any, **keywords: Any) -> Any:
            for x in (*values, *keywords.values()):
                if name != "tree_map" and x.__class__ is list and any(i.__class__ is Column and i.shape for i in x):
                    raise NotTogether(f"{name} over a list of vectors")
            return ordinary(called(f), *values, **keywords)

        return Builtin(name, run)

    def vectorized_map(fn: Any, elems: Any = None, in_axes: Any = 0, out_axes: Any = 0) -> Any:
        if elems.__class__ is list and not functional.is_axes(elems):
            return mapping("map_fn").call([fn, elems], {})
        found = functional.vectorized_map(called(fn), elems, in_axes, out_axes)
        return ColumnDerived(found.name, found.run) if isinstance(found, Derived) else found

    def cond(predicate: Any, true_fn: Any, false_fn: Any, *operands: Any) -> Any:
        if predicate.__class__ is not Column:
            return chosen(true_fn if truth(predicate) else false_fn, operands)
        return table.choose(truths(predicate), lambda: chosen(true_fn, operands), lambda: chosen(false_fn, operands))

    def while_loop(cond: Any, body: Any, loop_vars: Any, maximum_iterations: Any = None) -> Any:
        site, rows = STATE.site, table.active
        several = loop_vars.__class__ in (list, tuple)
        state = tuple(loop_vars) if several else (loop_vars,)
        # JAX passes the whole tuple as one argument; TensorFlow spreads it.
        whole = several and cond.__class__ is Function and len(cond.code.parameters) == 1 and len(state) > 1
        most = None if maximum_iterations is None else static(maximum_iterations)
        ended: list[Any] = []
        done = 0

        def of_state(f: Any) -> Callable[[], Any]:
            args = [state] if whole else list(state)
            return lambda: call(f, args, {})

        while most is None or done < most:
            more = table.run(table.active, of_state(cond))
            STATE.site = site
            if more is GONE:
                break
            if more.__class__ is Column:
                going_on = truths(more)
                if not going_on.any():
                    break
                if not going_on.all():
                    going, staying = table.active.divided(~going_on)
                    ended.append((going, state))
                    table.active = staying
            elif not truth(more):
                break
            limits.step()
            result = table.run(table.active, of_state(body))
            if result is GONE:
                break
            state = tuple(result) if result.__class__ in (list, tuple) else (result,)
            done += 1
        if table.active.size:
            ended.append((table.active, state))
        found = table.meet(ended, rows)
        if not several:
            return found[0]
        return found if loop_vars.__class__ is tuple else list(found)

    def fori_loop(lower: Any, upper: Any, body_fun: Any, init_val: Any) -> Any:
        if Column in (lower.__class__, upper.__class__):
            raise NotTogether("fori_loop to what differs from row to row")
        return functional.fori_loop(lower, upper, called(body_fun), init_val)

    def switch_case(branch_index: Any, branch_fns: Any, *operands: Any) -> Any:
        if branch_index.__class__ is Column:
            raise NotTogether("switch_case by what differs from row to row")
        branches = [called(f[1] if f.__class__ is tuple else f) for f in branch_fns]
        return functional.switch_case(branch_index, branches, *operands)

    def partial(f: Any, *args: Any, **keywords: Any) -> ColumnDerived:
        callable_of(f, "partial")
        return ColumnDerived("partial", lambda rest, named: call(f, [*args, *rest], {**keywords, **named}))

    own: dict[str, Callable[..., Any]] = {
        "vectorized_map": vectorized_map, "cond": cond, "while_loop": while_loop, "fori_loop": fori_loop,
        "switch_case": switch_case, "partial": partial,
    }  # fmt: skip
    return {name: mapping(name) for name in MAPPING} | {name: Builtin(name, run) for name, run in own.items()}


__all__ = ["transforms_of"]
