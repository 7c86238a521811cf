"""Derivatives as functions of functions: grad, value_and_grad, jacobian, hessian, jvp, vjp, hvp; and the table of all such."""

from __future__ import annotations

from ..autodiff import drivers, hessians
from ..autodiff.tape import gradient
from ..core.errors import failure, plural
from ..core.operands import as_operand, shape_text
from ..core.operation import static
from ..core.state import STATE
from ..core.tensor import OPERATORS, Tensor, shape_of
from ..kinds.functions import Derived, callable_of, invoke
from .custom_rules import custom_gradient
from .structure import flatten, rebuild

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


STRUCTURES = (list, tuple, dict)


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
        if len(flatten(self.structures)) != len(self.leaves):
            raise failure(
                "E0508", "the function changes the list that it is differentiated by", "copy it there: list(xs)"
            )
        built = rebuild(self.structures, leaves)
        return built[0] if self.single else tuple(built)


def filled(found: Any, y: Any, shape: tuple[int, ...], *leaves: Any) -> Any:
    """A derivative of `y` by `leaves`. JAX's convention for functions: zero for an argument that plays no part.

    An argument whose dtype carries no tangent has no derivative: None, and a notice.
    """
    if found is not None:
        return drivers.handed_back(found, y, drivers.narrower(*leaves))
    for leaf in leaves:
        dtype = drivers.tangentless(leaf)
        if dtype is not None:
            STATE.notify(
                "N0504", f"an argument of dtype {dtype} cannot be differentiated: its derivative is None; "
                "pass a float, or write cast(x, float64)",
            )  # fmt: skip
            return None
    return drivers.in_width(drivers.zeros(shape), y, drivers.narrower(*leaves))


def gradients_of(found: list[Any], y: Any, leaves: list[Any]) -> list[Any]:
    return [filled(g, y, shape_of(as_operand(x)), x) for g, x in zip(found, leaves)]


def derived(name: str, f: Any, argnums: Any, derivative: Callable[[Arguments], Any]) -> Derived:
    """The function that gives a derivative of `f` for the arguments of a call."""
    callable_of(f, name)

    def run(args: list[Any], keywords: dict[str, Any]) -> Any:
        call = Arguments(f, args, keywords, argnums)
        call.require_tangents(name.removeprefix("value_and_"))
        return derivative(call)

    return Derived(name, run)


def value_and_grad(f: Any, argnums: Any = 0, has_aux: Any = False, holomorphic: Any = False) -> Derived:
    def both(call: Arguments) -> Any:
        y, gradients = drivers.value_and_gradients(call.scalar("grad", has_aux), call.leaves)
        found = gradients_of(gradients, y, call.leaves)
        # The derivative f'(z), of which the gradient is the conjugate.
        g = call.result([OPERATORS.conj(x) for x in found] if holomorphic else found)
        return ((y, call.auxiliary), g) if has_aux else (y, g)

    return derived("value_and_grad", f, argnums, both)


def grad(f: Any, argnums: Any = 0, has_aux: Any = False, holomorphic: Any = False) -> Derived:
    callable_of(f, "grad")
    both = value_and_grad(f, argnums, has_aux, holomorphic)

    def run(args: list[Any], keywords: dict[str, Any]) -> Any:
        y, g = both.run(args, keywords)
        return (g, y[1]) if has_aux else g

    return Derived("grad", run)


def jacobian_in(mode: str) -> Callable[..., Derived]:
    name = {"auto": "jacobian", "forward": "jacfwd", "reverse": "jacrev"}[mode]

    def blocks(call: Arguments) -> Any:
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
            filled_row = [filled(b, y, shape_of(y) + s, x) for b, s, x in zip(row, shapes, call.leaves)]
            found.append(call.result(filled_row))
        return rebuild(structure, found)

    return lambda f, argnums=0: derived(name, f, argnums, blocks)


def hessian(f: Any, argnums: Any = 0) -> Derived:
    def blocks(call: Arguments) -> Any:
        y, _, found = hessians.hessian(call.scalar("hessian"), call.leaves)
        shapes = [shape_of(as_operand(x)) for x in call.leaves]
        rows = []
        for i, row in enumerate(found):
            rows.append(call.result([
                filled(b, y, shapes[i] + shapes[j], call.leaves[i], call.leaves[j]) for j, b in enumerate(row)
            ]))  # fmt: skip
        return call.result(rows)

    return derived("hessian", f, argnums, blocks)


def sequence(x: Any) -> list[Any]:
    return list(x) if x.__class__ in (list, tuple) else [x]


def parts_of(primals: Any, directions: Any) -> tuple[list[Any], list[Any]]:
    """Primals and what is given for each. Beside a tensor alone a list is that tensor's, unless it holds what is."""
    args = sequence(primals)
    alone = primals.__class__ not in STRUCTURES and directions.__class__ is list and bool(getattr(primals, "shape", ()))
    if alone and not (len(directions) == 1 and shape_of(as_operand(directions[0])) == shape_of(primals)):
        return args, [directions]
    return args, sequence(directions)


def directions_of(primals: Any, directions: Any) -> list[Any]:
    """The directions of the leaves of primals: a list is a tensor beside a leaf, as it is everywhere."""
    if primals.__class__ not in STRUCTURES:
        return [as_operand(directions)] if directions.__class__ is list else flatten(directions)
    if directions.__class__ not in STRUCTURES or len(primals) != len(directions):
        return flatten(directions)
    beside = zip(*(x.values() if x.__class__ is dict else x for x in (primals, directions)))
    return [found for x, d in beside for found in directions_of(x, d)]


def seeded(name: str, what: str, f: Any, args: list[Any], directions: list[Any]) -> tuple[Arguments, list[Any]]:
    """A call with these arguments, and the directions of its leaves."""
    callable_of(f, name)
    if len(args) != len(directions):
        raise failure("E0508", f"{name} needs one {what} per primal: {len(args)} and {len(directions)} were given")
    call = Arguments(f, args, {}, tuple(range(len(args))))
    seeds = directions_of(args, directions)
    if len(seeds) != len(call.leaves):
        raise failure("E0508", f"{name} needs {what}s of the same structure as the primals")
    return call, seeds


def jvp(f: Any, primals: Any, tangents: Any) -> Any:
    """(f(primals), the tangent of the result)."""
    call, seeds = seeded("jvp", "tangent", f, *parts_of(primals, tangents))
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
        from ..autodiff.tape import seed_for

        g = drivers.fit_seed(cotangents[0], y, "the cotangent", "the result") if cotangents else seed_for(y)
        found = gradient(tape, [y], [g], [[x] for x in tensors], consume=False)
        return call.result(gradients_of(found, y, call.leaves))

    return y, Derived("vjp", pull)


def hvp(f: Any, primals: Any, vectors: Any) -> Any:
    """The Hessian of a scalar function at the primals, times the vectors."""
    single = primals.__class__ is not tuple
    parts = ([primals], [vectors]) if single else (list(primals), sequence(vectors))
    call, seeds = seeded("hvp", "vector", f, *parts)
    y, _, products = hessians.hvp(call.scalar("hvp"), call.leaves, seeds)
    found = call.result(gradients_of(products, y, call.leaves))
    return found[0] if single else found


TRANSFORMS: dict[str, Any] = {
    "grad": grad, "value_and_grad": value_and_grad, "jacobian": jacobian_in("auto"), "jacfwd": jacobian_in("forward"),
    "jacrev": jacobian_in("reverse"), "hessian": hessian, "jvp": jvp, "vjp": vjp, "hvp": hvp,
    "custom_gradient": custom_gradient,
}  # fmt: skip
