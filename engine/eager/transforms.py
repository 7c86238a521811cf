"""Derivatives as functions of functions: grad, value_and_grad, jacobian, hessian, jvp, vjp, hvp, custom_gradient."""

from __future__ import annotations

from ..autodiff import drivers
from ..autodiff.tape import Tape, describe_break, ends_path, gradient
from ..core.dispatch import add_mark, as_operand, at_row, describe, follows, shape_text, tensor
from ..core.errors import failure, plural
from ..core.operation import Operation, static
from ..core.state import RECORDERS, STATE, Site
from ..core.tensor import OPERATORS, Tensor, Token, shape_of
from .structure import flatten, rebuild
from .values import Builtin, Function

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


class Derived:
    """A function made from a function: `grad(f)`."""

    __slots__ = ("name", "run")
    description = "a function"

    def __init__(self, name: str, run: Callable[[list[Any], dict[str, Any]], Any]) -> None:
        self.name = name
        self.run = run

    def call(self, args: list[Any], keywords: dict[str, Any]) -> Any:
        return self.run(list(args), keywords)


def callable_of(f: Any, what: str) -> Any:
    if not (f.__class__ in (Function, Builtin, Derived) or hasattr(f, "call")):
        raise failure(
            "E0304",
            f"{what} needs a function, and got {describe(f)}",
            f"write {what}(f)(x), or {what}(lambda x: ...)(x)",
        )
    return f


def invoke(f: Any, args: list[Any], keywords: dict[str, Any]) -> Any:
    from .calls import invoke as call

    return call(f, args, keywords)


class Arguments:
    """The arguments of a call with the numeric leaves of the differentiated ones laid out flat."""

    def __init__(self, f: Any, args: list[Any], keywords: dict[str, Any], argnums: Any) -> None:
        self.f = f
        self.args = args
        self.keywords = keywords
        numbers = static(argnums)
        self.single = numbers.__class__ is int
        self.numbers: list[int] = []
        for n in [numbers] if self.single else list(numbers):
            if not -len(args) <= n < len(args):
                raise failure("E0508", f"argnums={n}, and the function was called with {plural(len(args), 'argument')}")
            self.numbers.append(n % len(args))
        self.structures = [args[n] for n in self.numbers]
        self.leaves = flatten(self.structures)
        self.auxiliary: Any = None

    def require_tangents(self, what: str) -> None:
        """Refuse arguments none of which can be differentiated."""
        found = [drivers.tangentless(leaf) for leaf in self.leaves]
        if found and all(found):
            raise failure(
                "E0301", f"{what} needs a float, and an argument of dtype {found[0]} cannot be differentiated",
                "write cast(x, float64)",
            )  # fmt: skip

    def function(self, inputs: list[Any]) -> Any:
        """`f` as a function of the leaves."""
        replaced = rebuild(self.structures, list(inputs))
        args = list(self.args)
        for n, value in zip(self.numbers, replaced):
            args[n] = value
        return invoke(self.f, args, self.keywords)

    def scalar(self, what: str, has_aux: bool = False) -> Callable[[list[Any]], Any]:
        def run(inputs: list[Any]) -> Any:
            y = self.function(inputs)
            if has_aux:
                if y.__class__ not in (tuple, list) or len(y) != 2:
                    raise failure("E0508", "has_aux=True needs a function that returns (value, auxiliary)")
                y, self.auxiliary = y
            y = as_operand(y)
            if y.__class__ is str or (y.__class__ is Tensor and y.dtype.kind == "s"):
                raise failure(
                    "E0304", f"{what} needs a function with a number as its result, and this one's is a string"
                )
            if y.__class__ is Tensor and y.shape != ():
                raise failure(
                    "E0507", f"{what} needs a function with a scalar result, and this one's has shape {shape_text(y.shape)}",
                    "use jacobian, or sum the result",
                )  # fmt: skip
            return y

        return run

    def result(self, leaves: list[Any]) -> Any:
        built = rebuild(self.structures, leaves)
        return built[0] if self.single else tuple(built)


def filled(found: Any, y: Any, shape: tuple[int, ...], *leaves: Any) -> Any:
    """A derivative of `y` by `leaves`. JAX's convention for functions: zero for an argument that plays no part.

    An argument whose dtype carries no tangent has no derivative: None, and a notice.
    """
    if found is not None:
        return drivers.handed_back(found, y, leaves[0])
    for leaf in leaves:
        dtype = drivers.tangentless(leaf)
        if dtype is not None:
            STATE.notify(
                "N0504", f"an argument of dtype {dtype} cannot be differentiated: its derivative is None; "
                "pass a float, or write cast(x, float64)",
            )  # fmt: skip
            return None
    return drivers.in_width(drivers.zeros(shape), y, leaves[0])


def gradients_of(found: list[Any], y: Any, leaves: list[Any]) -> list[Any]:
    return [filled(g, y, shape_of(as_operand(x)), x) for g, x in zip(found, leaves)]


def value_and_grad(f: Any, argnums: Any = 0, has_aux: Any = False) -> Derived:
    callable_of(f, "value_and_grad")

    def run(args: list[Any], keywords: dict[str, Any]) -> Any:
        call = Arguments(f, args, keywords, argnums)
        call.require_tangents("grad")
        y, gradients = drivers.value_and_gradients(call.scalar("grad", has_aux), call.leaves)
        g = call.result(gradients_of(gradients, y, call.leaves))
        return ((y, call.auxiliary), g) if has_aux else (y, g)

    return Derived("value_and_grad", run)


def grad(f: Any, argnums: Any = 0, has_aux: Any = False) -> Derived:
    callable_of(f, "grad")
    both = value_and_grad(f, argnums, has_aux)

    def run(args: list[Any], keywords: dict[str, Any]) -> Any:
        y, g = both.run(args, keywords)
        return (g, y[1]) if has_aux else g

    return Derived("grad", run)


def jacobian_in(mode: str) -> Callable[..., Derived]:
    name = {"auto": "jacobian", "forward": "jacfwd", "reverse": "jacrev"}[mode]

    def jacobian(f: Any, argnums: Any = 0) -> Derived:
        callable_of(f, name)

        def run(args: list[Any], keywords: dict[str, Any]) -> Any:
            call = Arguments(f, args, keywords, argnums)
            call.require_tangents(name)
            structure: Any = None

            def parts(inputs: list[Any]) -> list[Any]:
                nonlocal structure
                structure = call.function(inputs)
                if structure.__class__ is list:
                    structure = as_operand(structure)  # a list is a tensor here, as it is everywhere
                return flatten(structure)

            ys, rows, _ = drivers.jacobians(parts, call.leaves, mode)
            shapes = [shape_of(as_operand(x)) for x in call.leaves]
            found = []
            for y, row in zip(ys, rows):
                blocks = [filled(b, y, shape_of(y) + s, x) for b, s, x in zip(row, shapes, call.leaves)]
                found.append(call.result(blocks))
            return rebuild(structure, found)

        return Derived(name, run)

    return jacobian


def hessian(f: Any, argnums: Any = 0) -> Derived:
    callable_of(f, "hessian")

    def run(args: list[Any], keywords: dict[str, Any]) -> Any:
        call = Arguments(f, args, keywords, argnums)
        call.require_tangents("hessian")
        y, _, blocks = drivers.hessian(call.scalar("hessian"), call.leaves)
        shapes = [shape_of(as_operand(x)) for x in call.leaves]
        rows = []
        for i, row in enumerate(blocks):
            rows.append(call.result([
                filled(b, y, shapes[i] + shapes[j], call.leaves[i], call.leaves[j]) for j, b in enumerate(row)
            ]))  # fmt: skip
        return call.result(rows)

    return Derived("hessian", run)


def sequence(x: Any) -> list[Any]:
    return list(x) if x.__class__ in (list, tuple) else [x]


def directions_of(call: Arguments, args: list[Any], directions: list[Any], otherwise: str) -> list[Any]:
    """The directions of the leaves of a call: a list is a tensor beside one, as it is everywhere."""
    beside = [as_operand(d) if d.__class__ is list and x.__class__ is Tensor else d for x, d in zip(args, directions)]
    found = flatten(beside)
    if len(found) != len(call.leaves):
        raise failure("E0508", otherwise)
    return found


def jvp(f: Any, primals: Any, tangents: Any) -> Any:
    """(f(primals), the tangent of the result)."""
    callable_of(f, "jvp")
    args, directions = sequence(primals), sequence(tangents)
    if len(args) != len(directions):
        raise failure("E0508", f"jvp needs one tangent per primal: {len(args)} and {len(directions)} were given")
    call = Arguments(f, args, {}, tuple(range(len(args))))
    seeds = directions_of(call, args, directions, "jvp needs tangents of the same structure as the primals")
    y, tangent = drivers.jvp(call.function, call.leaves, seeds)
    return y, drivers.handed_back(drivers.zeros(shape_of(y)) if tangent is None else tangent, y, 0.0)


def vjp(f: Any, *primals: Any) -> Any:
    """(f(*primals), a function from a cotangent of the result to those of the primals)."""
    callable_of(f, "vjp")
    args = list(primals)
    call = Arguments(f, args, {}, tuple(range(len(args))))
    call.require_tangents("vjp")
    tape, tensors, y = drivers.recorded(call.function, call.leaves)
    y = as_operand(y)

    def pull(cotangents: list[Any], keywords: dict[str, Any]) -> Any:
        from ..autodiff.tape import gradient, seed_for

        g = drivers.fit_seed(cotangents[0], y, "the cotangent", "the result") if cotangents else seed_for(y)
        found = gradient(tape, [y], [g], [[x] for x in tensors], consume=False)
        return call.result(gradients_of(found, y, call.leaves))

    return y, Derived("vjp", pull)


def hvp(f: Any, primals: Any, vectors: Any) -> Any:
    """The Hessian of a scalar function at the primals, times the vectors."""
    callable_of(f, "hvp")
    single = primals.__class__ is not tuple
    args, directions = ([primals], [vectors]) if single else (list(primals), sequence(vectors))
    if len(args) != len(directions):
        raise failure("E0508", f"hvp needs one vector per primal: {len(args)} and {len(directions)} were given")
    call = Arguments(f, args, {}, tuple(range(len(args))))
    vectors_of = directions_of(call, args, directions, "hvp needs vectors of the same structure as the primals")
    y, _, products = drivers.hvp(call.scalar("hvp"), call.leaves, vectors_of)
    found = call.result(gradients_of(products, y, call.leaves))
    return found[0] if single else found


def linearize(f: Any, *primals: Any) -> Any:
    """(f(*primals), the function from tangents of the primals to the tangent of the result)."""
    callable_of(f, "linearize")
    given = list(primals)
    value = invoke(f, given, {})

    def push(tangents: list[Any], keywords: dict[str, Any]) -> Any:
        return jvp(f, tuple(given), tuple(tangents))[1]

    return value, Derived("linearize", push)


def partial(f: Any, *args: Any, **keywords: Any) -> Derived:
    """`functools.partial`: f with its first arguments given."""
    callable_of(f, "partial")
    return Derived("partial", lambda rest, named: invoke(f, [*args, *rest], {**keywords, **named}))


def tree_map(f: Any, tree: Any, *rest: Any) -> Any:
    """`f` of every leaf, and of the leaves in the same places of other structures."""
    columns = [flatten(tree), *(flatten(other) for other in rest)]
    if len({len(column) for column in columns}) > 1:
        raise failure("E0508", "tree_map needs structures of one form")
    return rebuild(tree, [invoke(f, list(leaves), {}) for leaves in zip(*columns)])


def custom_gradient(f: Any) -> Derived:
    """A function with a derivative of its own: `f` returns (value, function from cotangent to cotangents).

    The rule is honoured in both modes and at any order: forward mode uses the transpose of the rule.
    """
    callable_of(f, "custom_gradient")

    def run(args: list[Any], keywords: dict[str, Any]) -> Any:
        before = {recorder: len(recorder.log) for recorder in RECORDERS if recorder.log is not None}
        pair = invoke(f, args, keywords)
        if pair.__class__ not in (tuple, list) or len(pair) != 2:
            raise failure("E0509", "a custom_gradient function returns (value, gradient function)")
        value, rule = pair
        callable_of(rule, "custom_gradient")
        outputs = [as_operand(v) for v in flatten(value)]
        inputs = flatten(args)
        operands = tuple(as_operand(x) for x in inputs)
        tell_captured(before, operands)

        def vjp_rule(g: Any, y: Any, *xs: Any) -> tuple[Any, ...]:
            cotangents = list(g) if len(outputs) > 1 else [g]
            found = invoke(rule, cotangents, {})
            flat = flatten(found) if found.__class__ in (list, tuple, dict) else [found]
            if len(flat) != len(operands):
                raise failure(
                    "E0509", f"the gradient function returned {len(flat)} cotangent{'s' if len(flat) != 1 else ''} "
                    f"for {len(operands)} argument{'s' if len(operands) != 1 else ''}",
                )  # fmt: skip
            if any(c is None for c in flat):
                STATE.notify(
                    "N0502", "the gradient function of a custom_gradient returns None: no derivative passes to that argument",
                )  # fmt: skip
            return tuple(None if c is None else as_operand(c) for c in flat)

        row = Operation(getattr(f, "name", "custom_gradient"), "x", "rule", vjp=vjp_rule)
        results = apply_custom(row, operands, outputs)
        return rebuild(value, results)

    return Derived(getattr(f, "name", "custom_gradient"), run)


def tell_captured(before: dict[Any, int], operands: tuple[Any, ...]) -> None:
    """Say so if a custom_gradient function used followed values besides its arguments: its rule leaves them out.

    `before` holds the length of each tape's log when the function was called; a log is (site, input, input, result)
    after (site, input, input, result), or in its general form (site, inputs, attributes, result).
    """
    for recorder, start in before.items():
        own = {id(x) for x in operands}
        captured = []
        log = recorder.log
        for i in range(start, len(log), 4):
            for part in (log[i + 1], log[i + 2]):
                for x in part if part.__class__ is tuple else (part,):
                    if id(x) not in own and follows(x, recorder.token):
                        captured.append(x)
            results = log[i + 3]
            own.update(map(id, results if results.__class__ is tuple else (results,)))
        if captured:
            recorder.broken(STATE.site, captured, "a custom_gradient function that takes it from outside")
            STATE.notify(
                "N0506", "the custom_gradient function uses a value from outside: its rule is for the arguments alone, "
                "so no derivative passes to that value; make it an argument",
            )  # fmt: skip


def apply_custom(row: Operation, operands: tuple[Any, ...], outputs: list[Any]) -> list[Any]:
    """Record one call of a custom rule: fresh results, linked to the inputs by the rule alone."""
    fresh = [Tensor(x.value, x.dtype) if x.__class__ is Tensor else tensor(x) for x in outputs]
    out: Any = tuple(fresh) if len(fresh) > 1 else fresh[0]
    site = STATE.site
    STATE.site = Site(row, site.source, site.start, site.end)
    for recorder in tuple(RECORDERS):
        if any(follows(x, recorder.token) for x in operands):
            out = recorder.record(row, operands, {}, out)
    STATE.site = site
    return list(out) if out.__class__ is tuple else [out]


class Connections:
    """Which tensors a checkpointed function takes its derivatives from, and what they lead to: nothing is recorded.

    What it closes over (tensors, Variables it reads) takes part in its derivative as its arguments do.
    """

    __slots__ = ("log", "recorders", "sources", "token")

    def __init__(self, recorders: list[Any]) -> None:
        self.recorders = recorders
        self.sources: dict[Tensor, None] = {}
        self.token = Token()
        self.log = None

    def record(self, op: Operation, inputs: tuple[Any, ...], attributes: Any, out: Any) -> Any:
        if ends_path(op, out):
            self.broken(at_row(op), (), describe_break(op, out))
            return out
        return self.mark(out)

    def mark(self, out: Any) -> Any:
        """Results that the sources lead to."""
        if out.__class__ is tuple:
            return tuple([self.mark(part) for part in out])
        out = tensor(out)
        add_mark(out, self.token)
        return out

    def broken(self, site: Any, inputs: Any, reason: str) -> bool:
        """A path from the sources has ended, which is told to those who record outside."""
        told = False
        for recorder in self.recorders:
            followed = [x for x in self.sources if follows(x, recorder.token)]
            if followed and recorder.log is not None:
                told = recorder.broken(site, followed, reason) or told
        return told

    def moves(self, *applied: Any) -> bool:
        """Nothing takes the short way past `record`."""
        return False

    moves_one = moves


class Entrance:
    """Stands in for a recorder outside a checkpointed function: what that recorder follows are sources here."""

    __slots__ = ("connections", "log", "recorder", "token")

    def __init__(self, recorder: Any, connections: Connections) -> None:
        self.recorder = recorder
        self.token = recorder.token
        self.connections = connections
        self.log = None

    def accessed(self, variable: Any, snapshot: Tensor) -> None:
        accessed = getattr(self.recorder, "accessed", None)
        if accessed is not None:
            accessed(variable, snapshot)

    def record(self, op: Operation, inputs: tuple[Any, ...], attributes: Any, out: Any) -> Any:
        followed = [x for x in inputs if follows(x, self.token)]
        if ends_path(op, out):
            self.broken(at_row(op), followed, describe_break(op, out))
            return out
        self.connections.sources.update(dict.fromkeys(followed))
        return self.connections.mark(out)

    def broken(self, site: Any, inputs: Any, reason: str) -> bool:
        return self.recorder.log is not None and self.recorder.broken(site, inputs, reason)

    def moves(self, *applied: Any) -> bool:
        return False

    moves_one = moves


def checkpoint(f: Any) -> Any:
    """`f`, its intermediate values forgotten and computed again in the reverse sweep."""
    callable_of(f, "checkpoint")

    def run(args: list[Any], keywords: dict[str, Any]) -> Any:
        if all(recorder.log is None for recorder in RECORDERS):
            return invoke(f, args, keywords)  # nobody keeps what could be forgotten
        from .situation import Situation

        # What f reads may be another by the time of the sweep, and what it changes is not to be changed twice.
        before = Situation([f, *args, *keywords.values()])
        saved = RECORDERS.copy()
        connections = Connections(saved)
        RECORDERS[:] = [*[Entrance(recorder, connections) for recorder in saved], connections]
        try:
            value = invoke(f, args, keywords)
        finally:
            RECORDERS[:] = saved
        leaves = flatten(value)
        places = [k for k, x in enumerate(leaves) if follows(x, connections.token)]
        if not places:
            return value
        sources = list(connections.sources)

        def vjp_rule(g: Any, y: Any, *xs: Any) -> tuple[Any, ...]:
            from .long_loops import with_limits_off

            tape = Tape()
            for x in sources:
                tape.watch(x)
            found: list[Any] = []

            def again() -> None:
                RECORDERS.append(tape)
                try:
                    found[:] = flatten(invoke(f, list(args), keywords))
                finally:
                    RECORDERS.remove(tape)

            with_limits_off(lambda: before.again(again))
            cotangents = list(g) if len(places) > 1 else [g]
            return tuple(gradient(tape, [found[k] for k in places], cotangents, [[x] for x in sources], consume=True))

        row = Operation("checkpoint", "x", "rule", vjp=vjp_rule)
        results = apply_custom(row, tuple(sources), [leaves[k] for k in places])
        for k, result in zip(places, results):
            leaves[k] = result
        return rebuild(value, leaves)

    return Derived("checkpoint", run)


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
    columns = list(zip(*(flatten(y) for y in ys)))
    return rebuild(ys[0], [OPERATORS["stack"](list(column)) for column in columns])


def map_fn(
    fn: Any, elems: Any, dtype: Any = None, fn_output_signature: Any = None, parallel_iterations: Any = None
) -> Any:
    """`fn` of every row, stacked."""
    from .calls import invoke as call

    return stack_structures([call(fn, [x], {}) for x in rows_of(elems)])


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
            None if axis is None else rows_of(x if axis == 0 else OPERATORS["moveaxis"](x, axis, 0))
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
        return stacked if out == 0 else OPERATORS["moveaxis"](stacked, 0, out)

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
    return foldl(fn, OPERATORS["stack"](rows_of(elems)[::-1]), initializer)


def switch_case(branch_index: Any, branch_fns: Any, *operands: Any) -> Any:
    """The result of branch number `branch_index`; the last one for an index out of range."""
    branches = [b[1] if b.__class__ is tuple else b for b in branch_fns]
    i = static(branch_index)
    if not 0 <= i < len(branches):
        i = len(branches) - 1
    return invoke(branches[i], list(operands), {})


def function(f: Any = None, **options: Any) -> Any:
    """`@tf.function` and `jit`: the program is compiled by its own means, so the function itself."""
    if f is None:
        return Derived("function", lambda args, keywords: args[0])
    return callable_of(f, "function")


TRANSFORMS: dict[str, Any] = {
    "grad": grad, "value_and_grad": value_and_grad, "jacobian": jacobian_in("auto"), "jacfwd": jacobian_in("forward"),
    "jacrev": jacobian_in("reverse"), "hessian": hessian, "jvp": jvp, "vjp": vjp, "hvp": hvp,
    "linearize": linearize, "partial": partial, "tree_map": tree_map,
    "custom_gradient": custom_gradient, "checkpoint": checkpoint, "cond": cond, "while_loop": while_loop,
    "fori_loop": fori_loop, "scan": scan, "map_fn": map_fn, "vectorized_map": vectorized_map, "foldl": foldl,
    "foldr": foldr, "switch_case": switch_case, "function": function,
}  # fmt: skip
