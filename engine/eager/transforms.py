"""What finds the derivatives of engine/library/transforms.adiff."""

from __future__ import annotations

from ..autodiff import drivers, hessians
from ..autodiff.tape import gradient, seed_for
from ..core.errors import failure, plural
from ..core.operands import as_operand, describe, shape_text
from ..core.state import STATE
from ..core.tensor import Tensor, shape_of
from ..kinds.functions import Derived, callable_of, invoke
from ..ops.operation import static
from .structure import flatten, rebuild

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any


class Call:
    """A call of a function, with the numeric leaves of its differentiated arguments laid out flat."""

    __slots__ = ("args", "f", "keywords", "leaves", "name", "numbers", "single", "structures")

    def __init__(self, name: str, f: Any, args: Sequence[Any], keywords: dict[str, Any], argnums: Any) -> None:
        self.name = name
        self.f = f
        self.args = args
        self.keywords = keywords
        argnums = static(argnums)
        self.single = argnums.__class__ not in (list, tuple, range)
        self.numbers = [argnums] if self.single else list(argnums)
        for n in self.numbers:
            if n.__class__ is not int:
                raise failure("E0304", f"{name}: argnums is an integer or a tuple of integers, and has {describe(n)}")
            if not -len(args) <= n < len(args):
                raise failure("E0508", f"argnums={n}, and the function was called with {plural(len(args), 'argument')}")
        self.structures = [args[n] for n in self.numbers]
        self.leaves = flatten(self.structures)
        found = [drivers.tangentless(leaf) for leaf in self.leaves]
        if found and all(found):
            raise failure(
                "E0301", f"{name} needs a float, and an argument of dtype {found[0]} cannot be differentiated",
                "write cast(x, float64)",
            )  # fmt: skip

    def function(self, inputs: list[Any]) -> Any:
        """The function of the leaves."""
        args = list(self.args)
        for n, value in zip(self.numbers, rebuild(self.structures, inputs)):
            args[n] = value
        return invoke(self.f, args, self.keywords)

    def scalar(self, inputs: list[Any]) -> Any:
        """The same where the result must be a number."""
        y = as_operand(self.function(inputs))
        if y.__class__ is str or (y.__class__ is Tensor and y.dtype.kind == "s"):
            raise failure(
                "E0304", f"{self.name} needs a function with a number as its result, and this one's is a string"
            )
        if y.__class__ is Tensor and y.shape != ():
            raise failure(
                "E0507",
                f"{self.name} needs a function with a scalar result, and this one's has shape {shape_text(y.shape)}",
                "use jacobian, or sum the result",
            )
        return y

    def result(self, leaves: list[Any]) -> Any:
        if len(flatten(self.structures)) != len(self.leaves):
            raise failure(
                "E0508", "the function changes the list that it is differentiated by", "copy it there: list(xs)"
            )
        built = rebuild(self.structures, leaves)
        return built[0] if self.single else tuple(built)

    def filled(self, row: list[Any], y: Any, shape: tuple[int, ...], *by: Any) -> Any:
        """A row of derivatives of `y`, or of its derivative `by` a leaf, by all leaves, in the structure of the arguments.

        JAX's convention for functions: zero for an argument that plays no part. An argument whose dtype carries no
        tangent has no derivative: None, and a notice.
        """
        return self.result([filled(b, y, shape + shape_of(as_operand(x)), *by, x) for b, x in zip(row, self.leaves)])


def filled(found: Any, y: Any, shape: tuple[int, ...], *leaves: Any) -> Any:
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


def value_and_gradients(call: Call) -> tuple[Any, Any]:
    y, gradients = drivers.value_and_gradients(call.scalar, call.leaves)
    return y, call.filled(gradients, y, ())


def jacobian(call: Call, mode: str) -> Any:
    structure: Any = None

    def parts(inputs: list[Any]) -> list[Any]:
        nonlocal structure
        structure = call.function(inputs)
        if structure.__class__ is list:
            structure = as_operand(structure)  # a list is a tensor here, as it is everywhere
        return flatten(structure)

    ys, rows, _ = drivers.jacobians(parts, call.leaves, mode)
    return rebuild(structure, [call.filled(row, y, shape_of(y)) for y, row in zip(ys, rows)])


def hessian(call: Call) -> Any:
    y, _, rows = hessians.hessian(call.scalar, call.leaves)
    return call.result([call.filled(row, y, shape_of(as_operand(x)), x) for x, row in zip(call.leaves, rows)])


def jvp(call: Call, tangents: list[Any]) -> tuple[Any, Any]:
    y, tangent = drivers.jvp(call.function, call.leaves, tangents)
    return y, drivers.handed_back(drivers.zeros(shape_of(y)) if tangent is None else tangent, y, 0.0)


def vjp(call: Call) -> tuple[Any, Derived]:
    tape, tensors, y = drivers.recorded(call.function, call.leaves)
    y = as_operand(y)

    def pull(cotangents: list[Any], keywords: dict[str, Any]) -> Any:
        g = drivers.fit_seed(cotangents[0], y, "the cotangent", "the result") if cotangents else seed_for(y)
        return call.filled(gradient(tape, [y], [g], [[x] for x in tensors], consume=False), y, ())

    return y, Derived("vjp", pull)


def hvp(call: Call, vectors: list[Any]) -> Any:
    y, _, products = hessians.hvp(call.scalar, call.leaves, vectors)
    return call.filled(products, y, ())


def directions(primals: Any, given: Any) -> list[Any]:
    """The directions of the leaves of primals: a list is a tensor beside a leaf, as it is everywhere."""
    structures = (list, tuple, dict)
    if primals.__class__ not in structures:
        return [as_operand(given)] if given.__class__ is list else flatten(given)
    if given.__class__ not in structures or len(primals) != len(given):
        return flatten(given)
    beside = zip(*(x.values() if x.__class__ is dict else x for x in (primals, given)))
    return [found for x, d in beside for found in directions(x, d)]


def derived(name: str, f: Any, argnums: Any, derivative: Any) -> Derived:
    """The function that gives a derivative of `f` for the arguments of a call."""
    callable_of(f, name)
    called = name.removeprefix("value_and_")
    return Derived(name, lambda args, keywords: invoke(derivative, [Call(called, f, args, keywords, argnums)], {}))


def called(name: str, f: Any, args: Sequence[Any]) -> Call:
    """A call that is differentiated by all its arguments."""
    return Call(name, callable_of(f, name), args, {}, tuple(range(len(args))))


FUNCTIONS: dict[str, Any] = {
    f"internal.{function.__name__}": function
    for function in (value_and_gradients, jacobian, hessian, jvp, vjp, hvp, directions, derived, called)
}
