"""Higher-order functions: cond, while_loop, fori_loop, scan, maps and folds over rows."""

from __future__ import annotations

from ...core.tensor import OPERATORS
from ..ir import Unsupported
from ..symbols.symbol import Lazy
from ..symbols.values import FUNCTIONS, Closure, Each, Frame, List, Made, rebuild
from .statements import Specialiser
from .steps import count_step

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


def cond(machine: Specialiser, predicate: Any, true_fn: Any, false_fn: Any, *operands: Any) -> Any:
    def side(chosen: Any) -> Any:
        return machine.invoke(chosen, list(operands), {}) if chosen.__class__ in FUNCTIONS else chosen

    condition = machine.truth(predicate)
    if condition.__class__ is bool:
        return side(true_fn if condition else false_fn)
    return machine.choice(condition, lambda: side(true_fn), lambda: side(false_fn))


def switch_case(machine: Specialiser, branch_index: Any, branch_fns: Any, *operands: Any) -> Any:
    branches = [b[1] if b.__class__ is tuple else b for b in machine.items(branch_fns)]
    if branch_index.__class__ is not int:
        raise machine.needed([branch_index], "a switch_case whose index depends on data")
    chosen = branches[branch_index] if 0 <= branch_index < len(branches) else branches[-1]
    return machine.invoke(chosen, list(operands), {})


def while_loop(machine: Specialiser, cond: Any, body: Any, loop_vars: Any, maximum_iterations: Any = None) -> Any:
    site = machine.place
    several = loop_vars.__class__ in (List, tuple)
    state = tuple(machine.items(loop_vars)) if several else (loop_vars,)
    if maximum_iterations is not None:
        raise Unsupported("a while_loop with a largest number of iterations")
    # JAX passes the whole tuple as one argument; TensorFlow spreads it.
    whole = several and cond.__class__ is Closure and len(cond.code.parameters) == 1 and len(state) > 1

    def run(frame: Frame) -> None:
        def args() -> list[Any]:
            return [frame["state"]] if whole else list(frame["state"])

        def step() -> None:
            count_step(machine, site)
            made = machine.invoke(body, args(), {})
            items = machine.items(made) if made.__class__ in (List, tuple) else [made]
            frame["state"] = tuple(machine.builder.settle(item) for item in items)

        machine.repeat(lambda: machine.truth(machine.invoke(cond, args(), {})), frame, step, set())

    state = machine.with_frame({"state": state}, run)["state"]
    if not several:
        return state[0]
    return state if loop_vars.__class__ is tuple else List(list(state))


def fori_loop(machine: Specialiser, lower: Any, upper: Any, body_fun: Any, init_val: Any) -> Any:
    from .static import range_

    return folded(
        machine, range_(machine, lower, upper), init_val, lambda value, i: machine.invoke(body_fun, [i, value], {})
    )


def folded(machine: Specialiser, items: Any, first: Any, step: Callable[[Any, Any], Any]) -> Any:
    """A fold that stays a loop."""

    def run(frame: Frame) -> None:
        received: list[Any] = []

        def receive(item: Any) -> None:
            received[:] = [item]

        def body() -> None:
            frame["value"] = machine.builder.settle(step(frame["value"], received[0]))

        machine.go_through(items, frame, receive, body, set())

    return machine.with_frame({"value": first}, run)["value"]


def rows_of(machine: Specialiser, xs: Any) -> Each:
    """The rows of a tensor, or of every tensor of a structure together."""
    if xs.__class__ is dict:
        raise Unsupported("the rows of a dict's tensors")
    if xs.__class__ is tuple or (
        xs.__class__ is List
        and xs.items is not None
        and xs.items
        and xs.items[0].__class__ is Lazy
        and xs.items[0].shape
    ):
        parts = [rows_of(machine, part) for part in machine.items(xs)]
        if len({part.length for part in parts}) > 1:
            raise Unsupported("tensors of different lengths")
        several = xs.__class__ is List
        make: Any = (lambda items: List(list(items))) if several else tuple
        return Each(
            parts[0].length, lambda i: make(part.item(i) for part in parts), all(part.loopable for part in parts)
        )
    return machine.each_of(xs)


def leaves_of(x: Any) -> list[Any]:
    """The numbers and tensors of a structure, in order."""
    if x.__class__ is tuple or x.__class__ is List:
        items: Any = x.items if x.__class__ is List else x
        if items is None:
            raise Unsupported("a list that grows, as what a function is given or returns")
        return [leaf for item in items for leaf in leaves_of(item)]
    if x.__class__ is dict or x is None:
        raise Unsupported("a dict or nothing, as what a function is given or returns")
    return [x]


def stacked(machine: Specialiser, run: Callable[[Callable[[Any], None]], Any]) -> tuple[Any, Any]:
    """What `run(add)` returns, and what it added, stacked."""
    found: list[Any] = []
    last: list[Any] = []

    def collect(frame: Frame) -> None:
        def add(y: Any) -> None:
            leaves = leaves_of(y)
            last[:] = [y]
            # One list per leaf, reached from the frame, so that loops carry them.
            columns = frame["lists"]
            if len(columns) < len(leaves):
                columns = frame["lists"] = tuple(List([]) for _ in leaves)
            for column, leaf in zip(columns, leaves):
                machine.grow(column, leaf)

        found.append(run(add))

    columns = machine.with_frame({"lists": ()}, collect)["lists"]
    if not columns:
        raise Unsupported("map_fn over an empty list")
    stacks = [machine.apply_row(OPERATORS["stack"], [column], {}) for column in columns]
    return found[0], rebuild(last[0], stacks)


def map_fn(
    machine: Specialiser, fn: Any, elems: Any, dtype: Any = None, fn_output_signature: Any = None,
    parallel_iterations: Any = None,
) -> Any:  # fmt: skip
    return mapped(machine, rows_of(machine, elems), lambda item: machine.invoke(fn, [item], {}))


def mapped(machine: Specialiser, items: Each, f: Callable[[Any], Any]) -> Any:
    if items.length.__class__ is not int or not items.length:
        raise Unsupported("map_fn over a list that may be empty")
    return stacked(
        machine, lambda add: machine.with_frame({}, lambda frame: each(machine, items, frame, lambda x: add(f(x))))
    )[1]


def each(machine: Specialiser, items: Each, frame: Frame, visit: Callable[[Any], None]) -> None:
    machine.walk(items, frame, visit)


def refuse_lists_of_lists(x: Any) -> None:
    """They are tensors to map over, which the tape makes. Raises Unsupported."""
    parts: Any = x if x.__class__ is tuple else x.items if x.__class__ is List else None
    if x.__class__ is List and any(part.__class__ is List for part in parts or ()):
        raise Unsupported("vmap over a list of lists")
    for part in parts or ():
        refuse_lists_of_lists(part)


def vectorized_map(machine: Specialiser, fn: Any, elems: Any = None, in_axes: Any = 0, out_axes: Any = 0) -> Any:
    if elems.__class__ is tuple:
        raise Unsupported("vmap with axes")
    if elems is not None and elems.__class__ is not int:
        return map_fn(machine, fn, elems)

    def run(args: list[Any], keywords: dict[str, Any]) -> Any:
        axes = [in_axes] * len(args) if in_axes.__class__ is int else machine.items(in_axes)
        parts: list[Any] = []
        for x, axis in zip(args, axes):
            refuse_lists_of_lists(x)
            if axis not in (0, None):
                if x.__class__ is not Lazy:
                    raise Unsupported("vmap along an axis of what is no tensor")
                x = machine.apply_row(OPERATORS["moveaxis"], [x, axis, 0], {})
            parts.append(x if axis is None else rows_of(machine, x))
        lengths = {part.length for part in parts if part.__class__ is Each}
        if len(lengths) != 1:
            raise Unsupported("vmap over tensors of different lengths")
        items = Each(
            lengths.pop(),
            lambda i: [part.item(i) if part.__class__ is Each else part for part in parts],
            all(part.loopable for part in parts if part.__class__ is Each),
        )
        found = mapped(machine, items, lambda values: machine.invoke(fn, list(values), keywords))
        return found if out_axes == 0 else machine.apply_row(OPERATORS["moveaxis"], [found, 0, out_axes], {})

    return Made(run, (fn,))


def foldl(machine: Specialiser, fn: Any, elems: Any, initializer: Any = None) -> Any:
    items = rows_of(machine, elems)
    if initializer is None:
        initializer, items = items.item(0), rest_of(machine, items)
    return folded(
        machine, items, machine.builder.settle(initializer), lambda value, x: machine.invoke(fn, [value, x], {})
    )


def rest_of(machine: Specialiser, items: Each) -> Each:
    if items.length.__class__ is not int or not items.length:
        raise Unsupported("a fold of a list that may be empty")
    return Each(items.length - 1, lambda i: items.item(machine.builder.integer("add", i, 1)), items.loopable)


def scan(
    machine: Specialiser, f: Any, init: Any = None, xs: Any = None, length: Any = None, reverse: Any = False,
    elems: Any = None, initializer: Any = None, unroll: Any = 1,
) -> Any:  # fmt: skip
    if reverse is not False:
        raise Unsupported("scan with reverse=True")
    if elems is not None or initializer is not None or (xs is None and length is None):
        rows = rows_of(machine, elems if elems is not None else init)
        return scan_values(machine, f, rows, initializer)
    items = Each(length, lambda i: None, True) if xs is None else rows_of(machine, xs)

    def run(add: Callable[[Any], None]) -> Any:
        def step(carry: Any, x: Any) -> Any:
            pair = machine.items(machine.invoke(f, [carry, x], {}))
            if len(pair) != 2:
                raise Unsupported("scan with a function that does not return a pair")
            add(pair[1])
            return pair[0]

        return folded(machine, items, init, step)

    return stacked(machine, run)


def scan_values(machine: Specialiser, f: Any, items: Each, initializer: Any) -> Any:
    def run(add: Callable[[Any], None]) -> None:
        first, rest = initializer, items
        if initializer is None:
            first, rest = machine.builder.settle(items.item(0)), rest_of(machine, items)
            add(first)

        def step(value: Any, x: Any) -> Any:
            found = machine.builder.settle(machine.invoke(f, [value, x], {}))
            add(found)
            return found

        folded(machine, rest, first, step)

    return stacked(machine, run)[1]


def function(machine: Specialiser, f: Any = None, **options: Any) -> Any:
    """`@tf.function` and `jit`: the function itself."""
    if f is None:
        return Made(lambda args, keywords: args[0])
    if f.__class__ not in FUNCTIONS:
        raise Unsupported("this value as a function")
    return f


def checkpoint(machine: Specialiser, f: Any) -> Any:
    """The function itself: what a kernel's loops do between their heads is computed again in the reverse sweep anyway."""
    return function(machine, f)


FUNCTIONALS: dict[str, Callable[..., Any]] = {
    "cond": cond, "switch_case": switch_case, "while_loop": while_loop, "fori_loop": fori_loop, "scan": scan,
    "map_fn": map_fn, "vectorized_map": vectorized_map, "foldl": foldl, "function": function, "checkpoint": checkpoint,
}  # fmt: skip
