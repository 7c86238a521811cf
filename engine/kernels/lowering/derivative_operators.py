"""Derivative operators inside programs: grad, value_and_grad, jacobian, hessian, jvp, vjp and hvp of a function.

The function runs on symbols into a block of its own, with variables of its own for what it is differentiated by; the
block is differentiated by source transformation and put where the call stands. Few inputs are followed in forward
mode, all in one pass: its code assigns once, so that whatever is around can be differentiated in its turn. More are
swept for in reverse, which an outer tangent goes through; for an outer adjoint there is a rule (second_order.py).
"""

from __future__ import annotations

from math import prod

from ...core.operation import Operation
from ...ops.registry import NAMES
from .. import ir
from ..differentiation.activity import dependencies, reach
from ..differentiation.must_reach import surely_reached_inside
from ..differentiation.tangent import unsure
from ..ir import FLOAT, Array, Unsupported, Var
from ..symbols.arrays import array_of_list
from ..symbols.regions import ruled
from ..symbols.symbol import NUMBERS, Lazy, Sym, raw
from ..symbols.values import Chosen, Closure, List, Made, flatten, rebuild
from .differentiated import (
    Differentiated,
    Leaves,
    can_write_out,
    few,
    handed_back,
    note_unfinite,
    rounds,
    seed_array,
    seed_number,
    source_of,
    stands_alone,
    surrounded,
    symbol,
    width_of,
)
from .statements import Specialiser
from .steps import count_again, steps_so_far

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from ..symbols.build import Builder


class Arguments(Leaves):
    """The numbers and arrays in the differentiated arguments of a call, as sources of their own."""

    def __init__(self, machine: Specialiser, structure: list[Any]) -> None:
        self.structure = structure
        self.symbols = [source_of(machine.builder, x) for x in flatten(structure)]
        super().__init__([x.var if x.__class__ is Sym else x.stored for x in self.symbols])
        if not self.total:
            raise Unsupported("a derivative by no inputs")

    def rebuilt(self, values: Sequence[Any]) -> list[Any]:
        """The structure with other leaves."""
        found: list[Any] = rebuild(self.structure, list(values))
        return found


class Call(Differentiated):
    """A call of a function that is differentiated by some of its arguments."""

    def __init__(
        self, machine: Specialiser, f: Any, args: Sequence[Any], keywords: dict[str, Any], argnums: Any
    ) -> None:
        if f.__class__ not in (Closure, Chosen, Made, Operation):
            raise Unsupported("a derivative of what is no function of the program")
        self.machine = machine
        self.builder = machine.builder
        self.single = argnums.__class__ is int
        numbers = [argnums] if self.single else list(argnums)
        if any(n.__class__ is not int or not -len(args) <= n < len(args) for n in numbers):
            raise Unsupported("argnums that do not fit")
        numbers = [n % len(args) for n in numbers]
        self.arguments = self.leaves = Arguments(machine, [args[n] for n in numbers])
        self.auxiliary: Any = None
        given = list(args)
        for n, x in zip(numbers, self.arguments.rebuilt(self.leaves.symbols)):
            given[n] = x
        machine.derived += 1
        machine.builder.derives = True
        try:
            self.block, self.result = self.builder.nested(
                lambda: self.builder.settle(machine.invoke(f, given, keywords))
            )
        finally:
            machine.derived -= 1

    def scalar(self, has_aux: bool = False) -> Any:
        """The result as a number or a symbol; what is none is the tape's to explain."""
        y = self.result
        if has_aux:
            pair = sequence(y)
            if len(pair) != 2:
                raise Unsupported("has_aux=True for a function that does not return a pair")
            y, self.auxiliary = pair
        if y.__class__ is Lazy and not y.shape:
            extra, y = self.builder.nested(lambda: y.element(()))
            self.block.extend(extra)
        if y.__class__ not in (Sym, *NUMBERS):
            raise Unsupported("the gradient of a function whose result is no number")
        return y

    def structured(self, values: Sequence[Any]) -> Any:
        """Derivatives in the structure of the arguments."""
        found = self.arguments.rebuilt(values)
        return found[0] if self.single else tuple(found)

    def gradients(self, y: Any) -> list[Any]:
        """The gradient of a scalar by each leaf, as the program gets it; the block is put in its place."""
        return [
            handed_back(self.builder, g, raw(y), width_of(self.builder, x))
            for g, x in zip(self.found(y), self.leaves.sources)
        ]

    def found(self, y: Any) -> list[Any]:
        """The same as it was found."""
        if y.__class__ is not Sym or y.kind != FLOAT:
            self.splice(self.block)
            return [self.zeros(x) for x in self.leaves.sources]
        if self.leaves.total <= few(self.machine) and not ruled(self.block) and not rounds(self.machine, self.block):
            tangent = self.pushed(y.var, self.basis(), self.along())
            return self.slopes(y, tangent.of(y.var))
        # What is differentiated around this must find its way through the sweep.
        return self.swept_apart(y) if surrounded(self.machine) and stands_alone(self.block) else self.swept(y)


# --- the operators ----------------------------------------------------------------------------------------------------


def value_and_grad(machine: Specialiser, f: Any, argnums: Any = 0, has_aux: Any = False) -> Made:
    def run(args: list[Any], keywords: dict[str, Any]) -> Any:
        call = Call(machine, f, args, keywords, argnums)
        y = call.scalar(has_aux is True)
        g = call.structured(call.gradients(y))
        return ((y, call.auxiliary), g) if has_aux is True else (y, g)

    return Made(run, (f,))


def grad(machine: Specialiser, f: Any, argnums: Any = 0, has_aux: Any = False) -> Made:
    both = value_and_grad(machine, f, argnums, has_aux)

    def run(args: list[Any], keywords: dict[str, Any]) -> Any:
        y, g = both.run(args, keywords)
        return (g, y[1]) if has_aux is True else g

    return Made(run, (f,))


def jacobian(machine: Specialiser, f: Any, argnums: Any = 0, mode: str = "auto") -> Made:
    def run(args: list[Any], keywords: dict[str, Any]) -> Any:
        before = steps_so_far(machine)
        call = Call(machine, f, args, keywords, argnums)
        y, lanes = call.result, call.leaves.total
        found = derived(call, y, lanes)
        outputs = prod(y.shape) if y.__class__ is Lazy else 1
        if mode == "forward" or (mode == "auto" and 2 * lanes < outputs):
            count_again(machine, before, lanes)
        return found

    def derived(call: Call, y: Any, lanes: int) -> Any:
        if y.__class__ is not Lazy or not y.shape or y.kind != FLOAT or y.stored is None:
            return call.structured(call.gradients(call.scalar()))
        if not can_write_out(call.block, lanes):
            raise Unsupported("a Jacobian by this many numbers inside the program")
        tangent = call.pushed(y.stored, call.basis(), call.along())
        return call.structured(call.columns(y.stored, tangent))

    return Made(run, (f,))


def jacobian_in(mode: str) -> Callable[..., Made]:
    return lambda machine, f, argnums=0: jacobian(machine, f, argnums, mode)


def hessian(machine: Specialiser, f: Any, argnums: Any = 0) -> Made:
    def run(args: list[Any], keywords: dict[str, Any]) -> Any:
        return jacobian(machine, grad(machine, f, argnums), argnums, "reverse").run(args, keywords)

    if argnums.__class__ is not int:
        raise Unsupported("a Hessian by several arguments")
    return Made(run, (f,))


def sequence(x: Any) -> list[Any]:
    if x.__class__ is List and x.items is not None:
        return list(x.items)
    return list(x) if x.__class__ in (list, tuple) else [x]


def items_of(x: Any) -> list[Any] | None:
    """The items of a structure; None for a leaf."""
    if x.__class__ is dict:
        return list(x.values())
    return sequence(x) if x.__class__ in (List, list, tuple) else None


def tensor_of(builder: Builder, x: Any) -> Any:
    """A list of lists of numbers as an array."""
    if x.__class__ is not List:
        return x
    if x.items is None:
        raise Unsupported("a list that grows as a direction")
    return array_of_list(builder, [tensor_of(builder, item) for item in x.items])


def parts_of(builder: Builder, primals: Any, directions: Any) -> tuple[list[Any], list[Any]]:
    """Primals and what is given for each. Beside a tensor alone a list is that tensor's, unless it holds what is."""
    if primals.__class__ is Lazy and primals.shape and directions.__class__ is List:
        held = directions.items
        if not (held and len(held) == 1 and getattr(tensor_of(builder, held[0]), "shape", ()) == primals.shape):
            return [primals], [directions]
    return sequence(primals), sequence(directions)


def directions_of(builder: Builder, primals: Any, directions: Any) -> list[Any]:
    """The directions of the leaves of primals: a list is a tensor beside a leaf, as it is everywhere."""
    within, given = items_of(primals), items_of(directions)
    if within is None:
        return [tensor_of(builder, directions)] if directions.__class__ is List else flatten(directions)
    if given is None or len(within) != len(given):
        return flatten(directions)
    return [found for x, d in zip(within, given) for found in directions_of(builder, x, d)]


def jvp(machine: Specialiser, f: Any, primals: Any, tangents: Any) -> Any:
    """(f(primals), the tangent of the result)."""
    args, given = parts_of(machine.builder, primals, tangents)
    directions = directions_of(machine.builder, args, given)
    call = Call(machine, f, args, {}, tuple(range(len(args))))
    builder, sources = call.builder, call.leaves.sources
    if len(args) != len(given) or len(directions) != len(sources):
        raise Unsupported("tangents of another structure than the primals")
    seeds: dict[Any, Any] = {}
    for x, t in zip(sources, directions):
        seeds[x] = seed_array(builder, x, t) if x.__class__ is Array else [seed_number(builder, t, x)]
    y = call.result
    result = y.stored if y.__class__ is Lazy else raw(y)
    if y.__class__ not in (Sym, Lazy, *NUMBERS) or (y.__class__ is Lazy and y.kind != FLOAT):
        raise Unsupported("the tangent of a result that is no number and no tensor")
    if result.__class__ not in (Var, Array) or result.kind != FLOAT:
        call.splice(call.block)
        return y, 0.0
    tangent = call.pushed(result, seeds, [tuple(sources)])
    if result.__class__ is Var:
        return y, handed_back(builder, symbol(builder, tangent.of(result)[0]), result)
    assert result.__class__ is Array
    moved = builder.stored(tangent.dots[result]) if tangent.has(result) else call.zeros(result)
    return y, handed_back(builder, moved, width_of(builder, result))


def hvp(machine: Specialiser, f: Any, primals: Any, vectors: Any) -> Any:
    """The Hessian of a scalar function at the primals, times the vectors."""
    single = primals.__class__ is not tuple
    args, directions = ([primals], [vectors]) if single else (list(primals), sequence(vectors))
    gradient = grad(machine, f, tuple(range(len(args))))

    def packed(given: list[Any], keywords: dict[str, Any]) -> Any:
        found = gradient.run(given, keywords)
        if len(found) != 1:
            raise Unsupported("a Hessian product by several arguments")
        return found[0]

    _, product = jvp(machine, Made(packed, (f,)), args, directions)
    return product if single else (product,)


def vjp(machine: Specialiser, f: Any, *primals: Any) -> Any:
    """(f(*primals), a function from a cotangent of the result to those of the primals)."""
    call = Call(machine, f, list(primals), {}, tuple(range(len(primals))))
    call.scaled = True
    y = call.scalar()
    block, sources = ir.Kernel([], call.block, []), call.leaves.sources
    connected = y.__class__ is Sym and y.var in reach(dependencies(block, steps=False), sources)
    surely = y.__class__ is Sym and y.var in surely_reached_inside(block, sources)[0]
    found = call.structured(call.gradients(y))

    def pull(cotangents: list[Any], keywords: dict[str, Any]) -> Any:
        if not (cotangents and connected):
            return found
        c = seed_number(machine.builder, cotangents[0], raw(y))
        # The tape begins its sweep with the cotangent: beside what is not finite the two may differ.
        if machine.careful:
            raise Unsupported("a cotangent, beside what is not finite")
        if c.__class__ is Var and not surely:
            c = raw(unsure(machine.builder, c))
        note_unfinite(machine.builder, [c])
        return rebuild(
            found,
            [
                scaled(machine, c, g, (raw(y), width_of(machine.builder, x)))
                for g, x in zip(flatten(found), call.leaves.sources)
            ],
        )

    return y, Made(pull, (f,))


def scaled(machine: Specialiser, c: Any, g: Any, like: tuple[Any, ...]) -> Any:
    """A gradient times a cotangent, as wide as others."""
    builder = machine.builder
    if not any(x.__class__ in (Sym, Lazy) for x in (symbol(builder, c), g)):
        return c * g + 0.0
    found = builder.apply(NAMES["multiply"], (symbol(builder, c), g), None)
    found = builder.settle(handed_back(builder, found, *like))
    note_unfinite(builder, found.stored if found.__class__ is Lazy else [raw(found)])
    return found


OPERATORS: dict[str, Callable[..., Any]] = {
    "grad": grad, "value_and_grad": value_and_grad, "jacobian": jacobian_in("auto"),
    "jacfwd": jacobian_in("forward"), "jacrev": jacobian_in("reverse"), "hessian": hessian, "jvp": jvp, "vjp": vjp, "hvp": hvp,
}  # fmt: skip
