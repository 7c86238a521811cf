"""Higher-order functions that give no derivatives themselves: cond, while_loop, fori_loop, scan, maps and folds."""

from __future__ import annotations

from ..autodiff import drivers
from ..core.errors import failure
from ..core.operands import as_operand
from ..core.operation import static
from ..core.state import STATE
from ..core.tensor import OPERATORS, Tensor
from ..kinds import names
from .derived import Derived, invoke
from .structure import flatten, rebuild
from .values import Function

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def cond(predicate: Any, true_fn: Any, false_fn: Any, *operands: Any) -> Any:
    """The result of the branch that the predicate chooses; only that branch runs."""
    from .operators import truth

    chosen = true_fn if truth(predicate) else false_fn
    return invoke(chosen, list(operands), {}) if hasattr(chosen, "call") or chosen.__class__ is Function else chosen


def while_loop(cond: Any, body: Any, loop_vars: Any, maximum_iterations: Any = None) -> Any:
    """`loop_vars = body(*loop_vars)` while `cond(*loop_vars)`; JAX's form with one value works too."""
    from ..core import limits
    from .operators import truth

    site = STATE.site
    several = loop_vars.__class__ in (list, tuple)
    state = list(loop_vars) if several else [loop_vars]
    # JAX passes the whole tuple as one argument; TensorFlow spreads it.
    whole = several and cond.__class__ is Function and len(cond.code.parameters) == 1 and len(state) > 1
    done = 0
    most = None if maximum_iterations is None else static(maximum_iterations)
    while most is None or done < most:
        args = [tuple(state)] if whole else state
        if not truth(invoke(cond, args, {})):
            break
        STATE.site = site
        limits.step()
        result = invoke(body, args, {})
        state = list(result) if result.__class__ in (list, tuple) else [result]
        done += 1
    if not several:
        return state[0]
    return tuple(state) if loop_vars.__class__ is tuple else state


def fori_loop(lower: Any, upper: Any, body_fun: Any, init_val: Any) -> Any:
    value = init_val
    for i in range(static(lower), static(upper)):
        value = invoke(body_fun, [i, value], {})
    return value


def scan(
    f: Any, init: Any = None, xs: Any = None, length: Any = None, reverse: Any = False, elems: Any = None,
    initializer: Any = None, unroll: Any = 1,
) -> Any:  # fmt: skip
    """JAX's scan: `carry, y = f(carry, x)` over the rows of xs; TensorFlow's: `a = fn(a, x)`, all values stacked.

    `reverse` goes from the last row to the first; the results stand in the order of the rows.
    """
    from ..kinds.access import iterate

    if elems is not None or initializer is not None:
        return scan_values(f, elems if elems is not None else init, initializer, static(reverse))
    if xs is None and length is None:
        return scan_values(f, init, None, static(reverse))
    items = [None] * static(length) if xs is None else rows_of(xs)
    if static(reverse):
        items = items[::-1]
    carry = init
    ys: list[Any] = []
    for x in items:
        pair = invoke(f, [carry, x], {})
        parts = list(iterate(pair))
        if len(parts) != 2:
            raise failure("E0508", "the function of scan returns (carry, output)")
        carry, y = parts
        ys.append(y)
    return carry, stack_structures(ys[::-1] if static(reverse) else ys)


def scan_values(f: Any, elems: Any, initializer: Any, reverse: bool) -> Any:
    items = rows_of(elems)
    if reverse:
        items = items[::-1]
    if initializer is None:
        value, items = items[0], items[1:]
        found = [value]
    else:
        value, found = initializer, []
    for x in items:
        value = invoke(f, [value, x], {})
        found.append(value)
    return stack_structures(found[::-1] if reverse else found)


def rows_of(xs: Any) -> list[Any]:
    """The rows of a tensor, or of every tensor of a structure together."""
    from ..kinds.access import iterate

    if xs.__class__ in (tuple, dict) or (xs.__class__ is list and xs and xs[0].__class__ is Tensor and xs[0].ndim > 0):
        leaves = [list(iterate(leaf)) for leaf in flatten(xs)]
        if len({len(leaf) for leaf in leaves}) > 1:
            raise failure("E0302", "the tensors differ in their first size")
        return [rebuild(xs, list(parts)) for parts in zip(*leaves)]
    return list(iterate(xs))


def stack_structures(ys: list[Any]) -> Any:
    if not ys or all(y is None for y in ys):
        return None if ys else drivers.zeros((0,))
    if hasattr(ys[0], "operate"):
        return OPERATORS.stack(ys)
    columns = list(zip(*(flatten(y) for y in ys)))
    return rebuild(ys[0], [OPERATORS.stack(list(column)) for column in columns])


def map_fn(
    fn: Any, elems: Any, dtype: Any = None, fn_output_signature: Any = None, parallel_iterations: Any = None
) -> Any:
    """`fn` of every row, stacked."""
    from .calls import invoke as call

    found = [call(fn, [x], {}) for x in rows_of(elems)]
    if any(getattr(x, "ragged", False) for x in (elems, fn_output_signature)):
        return names.function("ragged.stack")(found)  # type: ignore[misc]
    return stack_structures(found)


def is_axes(x: Any) -> bool:
    """Whether a second argument of vmap says along which axes, and is nothing to map over."""
    if x.__class__ is dict:
        return all(is_axes(part) for part in x.values())
    if x.__class__ in (tuple, list):
        return (x.__class__ is tuple or None in x) and all(part is None or is_axes(part) for part in x)
    return x is None or x.__class__ is int


def axes_of_leaves(structure: Any, axes: Any) -> list[Any]:
    """The axis of each leaf of `structure`; an axis stands for all leaves under its place, as in JAX."""
    if axes is None or axes.__class__ is int:
        return [axes] * len(flatten(structure))
    parts = list(structure.values()) if structure.__class__ is dict else structure
    if axes.__class__ is dict and structure.__class__ is dict and set(axes) == set(structure):
        under = [axes[key] for key in structure]
    elif axes.__class__ in (tuple, list) and structure.__class__ in (tuple, list) and len(axes) == len(structure):
        under = list(axes)
    else:
        raise failure("E0508", "in_axes does not have the structure of the arguments", "write an axis for each, or one")
    return [axis for part, each in zip(parts, under) for axis in axes_of_leaves(part, each)]


def with_tensors(x: Any) -> Any:
    """A structure whose leaves are operands: a list of numbers is a tensor, one with tensors in it is their structure."""
    if x.__class__ is dict:
        return {key: with_tensors(part) for key, part in x.items()}
    if x.__class__ is tuple:
        return tuple(map(with_tensors, x))
    nests = x.__class__ is list and any(part.__class__ in (tuple, dict) or getattr(part, "shape", ()) for part in x)
    return [with_tensors(part) for part in x] if nests else as_operand(x)


def vectorized_map(fn: Any, elems: Any = None, in_axes: Any = 0, out_axes: Any = 0) -> Any:
    """TensorFlow's `vectorized_map(fn, elems)`, and JAX's `vmap(fn, in_axes, out_axes)(xs...)`."""
    if elems is not None and not is_axes(elems):
        return map_fn(fn, elems)
    if elems is not None:
        in_axes, out_axes = elems, in_axes if in_axes != 0 else out_axes

    def run(args: list[Any], keywords: dict[str, Any]) -> Any:
        args = [with_tensors(x) for x in args]
        leaves = flatten(args)
        axes = axes_of_leaves(args, static(in_axes))
        mapped = [
            None if axis is None else rows_of(x if axis == 0 else OPERATORS.moveaxis(x, axis, 0))
            for x, axis in zip(leaves, axes)
        ]
        lengths = {len(m) for m in mapped if m is not None}
        if len(lengths) != 1:
            sizes = ", ".join(str(n) for n in sorted(lengths)) or "none"
            raise failure("E0302", f"vmap maps over axes of one size, and these have {sizes}")
        results = []
        for i in range(lengths.pop()):
            values = rebuild(args, [x if m is None else m[i] for x, m in zip(leaves, mapped)])
            results.append(invoke(fn, values, keywords))
        stacked = stack_structures(results)
        out = static(out_axes)
        return stacked if out == 0 else OPERATORS.moveaxis(stacked, 0, out)

    return Derived("vmap", run)


def foldl(fn: Any, elems: Any, initializer: Any = None) -> Any:
    items = rows_of(elems)
    if initializer is None:
        initializer, items = items[0], items[1:]
    value = initializer
    for x in items:
        value = invoke(fn, [value, x], {})
    return value


def foldr(fn: Any, elems: Any, initializer: Any = None) -> Any:
    return foldl(fn, OPERATORS.stack(rows_of(elems)[::-1]), initializer)


def switch_case(branch_index: Any, branch_fns: Any, *operands: Any, default: Any = None) -> Any:
    """The result of branch number `branch_index` of a list, pairs or a dict; the last one, or `default`, for any other."""
    if len(operands) == 1 and operands[0].__class__ is Function:
        default, operands = operands[0], ()
    pairs = branch_fns.items() if branch_fns.__class__ is dict else enumerate(branch_fns)
    branches: dict[int, Any] = dict(pair[1] if pair[1].__class__ is tuple else pair for pair in pairs)
    if not branches:
        raise failure("E0305", "switch_case needs at least one branch")
    last = branches[max(branches)] if default is None else default
    return invoke(branches.get(static(branch_index), last), list(operands), {})


def case(pred_fn_pairs: Any, default: Any = None, exclusive: Any = False, strict: Any = False) -> Any:
    """The result of the function whose predicate is the first that holds, else of `default`."""
    from .operators import truth

    pairs = list(pred_fn_pairs.items()) if pred_fn_pairs.__class__ is dict else list(pred_fn_pairs)
    hold = [i for i, (predicate, _) in enumerate(pairs) if truth(predicate)]
    if exclusive and len(hold) > 1:
        raise failure("E0401", f"case: predicates {hold[0]} and {hold[1]} hold both, and exclusive=True allows one")
    if not hold and default is None:
        raise failure("E0401", "case: no predicate holds, and there is no default", "write default=lambda: ...")
    return invoke(pairs[hold[0]][1] if hold else default, [], {})
