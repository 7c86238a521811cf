"""Derivative operators inside programs: grad, value_and_grad, jacobian, hessian, jvp, vjp and hvp of a function.

The function runs on symbols into a block of its own, with variables of its own for what it is differentiated by; the
block is differentiated by source transformation and put where the call stands. Few inputs are followed in forward
mode, all in one pass: its code assigns once, so that whatever is around can be differentiated in its turn. More are
swept for in reverse, which an outer tangent goes through and an outer adjoint does not.
"""

from __future__ import annotations

from ..core.operation import Operation
from . import ir
from .activity import active_set, surely_reached
from .adjoint import Adjoint
from .build import NUMBERS, Builder, Lazy, Sym, raw
from .ir import BOOL, FLOAT, INT, Array, Unsupported, Var
from .products import fresh
from .regions import dissolved, ruled
from .specialise import Specialiser
from .tangent import Tangent
from .values import Chosen, Closure, List, Made

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

# Inputs that are followed in forward mode, where the code may be differentiated in its turn and where it is not.
FEW = 8
LEAST = 2


class Leaves:
    """The numbers and arrays in the differentiated arguments of a call, as sources of their own."""

    def __init__(self, machine: Specialiser, structure: list[Any]) -> None:
        builder = machine.builder
        self.structure = structure
        self.sources: list[Any] = []
        self.symbols: list[Any] = []
        for x in flatten(structure):
            if x.__class__ is Lazy and x.kind == FLOAT and x.shape:
                array = Array(FLOAT, x.shape)
                builder.append(ir.Alloc(array, False))
                builder.fill(array, x)
                self.sources.append(array)
                self.symbols.append(builder.stored(array))
                continue
            if x.__class__ is Lazy and not x.shape:
                x = x.element(())
            if (
                x.__class__ is bool
                or x.__class__ not in (*NUMBERS, Sym)
                or (x.__class__ is Sym and x.kind not in (FLOAT, INT))
            ):
                raise Unsupported("a derivative by an argument of this kind")
            var = Var(FLOAT, "p")
            builder.append(ir.Set(var, "copy", (raw(builder.to_float(x)),), None, None))
            self.sources.append(var)
            self.symbols.append(Sym(builder, var))
        self.sizes = [x.size if x.__class__ is Array else 1 for x in self.sources]
        self.total = sum(self.sizes)
        if not self.total:
            raise Unsupported("a derivative by nothing")

    def rebuilt(self, values: Sequence[Any]) -> list[Any]:
        """The structure with other leaves."""
        found: list[Any] = rebuild(self.structure, list(values))
        return found


def few(machine: Specialiser) -> int:
    """How many inputs are followed in forward mode rather than swept for."""
    return FEW if machine.builder.outer or machine.derived or machine.tapes else LEAST


def settled(builder: Builder, x: Any) -> Any:
    """A result with its arrays in memory, where they were computed."""
    return rebuild(x, [builder.settle(leaf) for leaf in flatten(x)])


def flatten(x: Any) -> list[Any]:
    if x.__class__ is List and x.items is not None:
        x = x.items
    if x.__class__ in (list, tuple):
        return [leaf for item in x for leaf in flatten(item)]
    if x.__class__ is dict:
        return [leaf for item in x.values() for leaf in flatten(item)]
    return [x]


def rebuild(structure: Any, leaves: list[Any]) -> Any:
    """The structure with its leaves replaced in order; `leaves` is used up."""
    if structure.__class__ is List:
        return List([rebuild(item, leaves) for item in structure.items or ()])
    if structure.__class__ in (list, tuple):
        return structure.__class__([rebuild(item, leaves) for item in structure])
    if structure.__class__ is dict:
        return {key: rebuild(item, leaves) for key, item in structure.items()}
    return leaves.pop(0)


class Call:
    """A call of a function that is differentiated by some of its arguments."""

    def __init__(
        self, machine: Specialiser, f: Any, args: Sequence[Any], keywords: dict[str, Any], argnums: Any
    ) -> None:
        if f.__class__ not in (Closure, Chosen, Made, Operation):
            raise Unsupported("a derivative of what is no function of the program's")
        self.machine = machine
        self.builder = machine.builder
        self.single = argnums.__class__ is int
        numbers = [argnums] if self.single else list(argnums)
        if any(n.__class__ is not int or not -len(args) <= n < len(args) for n in numbers):
            raise Unsupported("argnums that do not fit")
        numbers = [n % len(args) for n in numbers]
        self.leaves = Leaves(machine, [args[n] for n in numbers])
        self.auxiliary: Any = None
        given = list(args)
        for n, x in zip(numbers, self.leaves.rebuilt(self.leaves.symbols)):
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
                raise Unsupported("a function that does not return a value and something more")
            y, self.auxiliary = pair
        if y.__class__ is Lazy and not y.shape:
            extra, y = self.builder.nested(lambda: y.element(()))
            self.block.extend(extra)
        if y.__class__ not in (Sym, *NUMBERS):
            raise Unsupported("the gradient of what is no number")
        return y

    def splice(self, block: list[ir.Stmt]) -> None:
        """Put statements where the call stands."""
        for s in block:
            self.builder.append(s)

    def structured(self, values: Sequence[Any]) -> Any:
        """Derivatives in the structure of the arguments."""
        found = self.leaves.rebuilt(values)
        return found[0] if self.single else tuple(found)

    # --- forward ------------------------------------------------------------------------------------------------------

    def basis(self) -> dict[Any, Any]:
        """Every direction of the sources, one a lane."""
        builder, lanes = self.builder, self.leaves.total
        seeds: dict[Any, Any] = {}
        first = 0
        for x, size in zip(self.leaves.sources, self.leaves.sizes):
            if x.__class__ is Var:
                seeds[x] = [1.0 if lane == first else 0.0 for lane in range(lanes)]
            else:
                seeds[x] = array = Array(FLOAT, x.shape if lanes == 1 else (*x.shape, lanes), "da")
                builder.append(ir.Alloc(array, True))
                for i in range(size):
                    builder.append(ir.Store(array, i * lanes + first + i, 1.0))
            first += size
        return seeds

    def pushed(self, result: Any, seeds: dict[Any, Any], lanes: int) -> Tangent:
        """The block with tangents, put in its place."""
        kernel = ir.Kernel(list(self.leaves.sources), dissolved(self.block), [result])
        tangent = Tangent(kernel, seeds, lanes, True, self.builder.watch)
        self.splice(tangent.run(self.block))
        return tangent

    def slopes(self, y: Any, tangents: list[Any]) -> list[Any]:
        """One tangent of `y` for each direction, as one derivative for each leaf."""
        builder = self.builder
        found: list[Any] = []
        first = 0
        for x, size in zip(self.leaves.sources, self.leaves.sizes):
            part = tangents[first : first + size]
            first += size
            if x.__class__ is Var:
                found.append(symbol(builder, part[0]))
                continue
            array = Array(FLOAT, x.shape)
            builder.append(ir.Alloc(array, False))
            for i, t in enumerate(part):
                builder.append(ir.Store(array, i, t))
            found.append(builder.stored(array))
        return found

    # --- gradients ----------------------------------------------------------------------------------------------------

    def gradients(self, y: Any) -> list[Any]:
        """The gradient of a scalar by each leaf; the block is put in its place."""
        if y.__class__ is not Sym or y.kind != FLOAT:
            self.splice(self.block)
            return [self.zeros(x) for x in self.leaves.sources]
        if self.leaves.total <= few(self.machine) and not ruled(self.block):
            tangent = self.pushed(y.var, self.basis(), self.leaves.total)
            return self.slopes(y, tangent.of(y.var))
        return self.swept(y)

    def swept(self, y: Sym) -> list[Any]:
        """The gradient by a reverse sweep."""
        builder, sources = self.builder, self.leaves.sources
        kernel = ir.Kernel(list(sources), self.block, [y.var])
        transform = Adjoint(active_set(kernel, y.var, sources), surely_reached(kernel, sources)[1], True)
        body = transform.sweep(self.block, y.var, sources)
        self.splice([ir.Set(flag, "copy", (0,), None, None) for flag in transform.flags])
        self.splice(body)
        for noted, flag in zip(transform.noted, transform.flags):
            hit = fresh(builder, "not_equal", (flag, 0), BOOL)
            builder.append(ir.If(hit.var, [builder.watch.flag(noted)], [], []))
        found: list[Any] = []
        for x in sources:
            if x.__class__ is Array:
                found.append(builder.stored(transform.arrays[x]))
                continue
            var = Var(FLOAT, "c")
            builder.append(ir.Set(var, "copy", (transform.bars[x],), None, None))
            found.append(Sym(builder, var))
        return found

    def zeros(self, x: Any) -> Any:
        if x.__class__ is Var:
            return 0.0
        array = Array(FLOAT, x.shape)
        self.builder.append(ir.Alloc(array, True))
        return self.builder.stored(array)


def symbol(builder: Builder, x: Any) -> Any:
    return Sym(builder, x) if x.__class__ is Var else x


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


def jacobian(machine: Specialiser, f: Any, argnums: Any = 0) -> Made:
    def run(args: list[Any], keywords: dict[str, Any]) -> Any:
        call = Call(machine, f, args, keywords, argnums)
        y, lanes = call.result, call.leaves.total
        if y.__class__ is not Lazy or not y.shape or y.kind != FLOAT or y.stored is None:
            return call.structured(call.gradients(call.scalar()))
        if lanes > FEW:
            raise Unsupported("a Jacobian by more inputs than are followed together")
        builder = call.builder
        tangent = call.pushed(y.stored, call.basis(), lanes)
        blocks: list[Any] = []
        first = 0
        for x, size in zip(call.leaves.sources, call.leaves.sizes):
            block = Array(FLOAT, (*y.shape, *(x.shape if x.__class__ is Array else ())))
            builder.append(ir.Alloc(block, True))
            if tangent.has(y.stored):
                for i in range(size):
                    copy_lane(builder, block, tangent.dots[y.stored], y.stored.size, size, i, lanes, first + i)
            blocks.append(builder.stored(block))
            first += size
        return call.structured(blocks)

    return Made(run, (f,))


def copy_lane(
    builder: Builder, block: Array, tangents: Array, rows: int, width: int, column: int, lanes: int, lane: int
) -> None:
    """One lane of an array of tangents as a column of a block."""

    def one(k: Sym) -> None:
        t = builder.load(tangents, builder.integer("add", builder.integer("multiply", k, lanes), lane))
        place = builder.integer("add", builder.integer("multiply", k, width), column)
        builder.append(ir.Store(block, raw(place), t.var))

    builder.count(rows, one)


def hessian(machine: Specialiser, f: Any, argnums: Any = 0) -> Made:
    def run(args: list[Any], keywords: dict[str, Any]) -> Any:
        return jacobian(machine, grad(machine, f, argnums), argnums).run(args, keywords)

    if argnums.__class__ is not int:
        raise Unsupported("a Hessian by several arguments")
    return Made(run, (f,))


def sequence(x: Any) -> list[Any]:
    if x.__class__ is List and x.items is not None:
        return list(x.items)
    return list(x) if x.__class__ in (list, tuple) else [x]


def jvp(machine: Specialiser, f: Any, primals: Any, tangents: Any) -> Any:
    """(f(primals), the tangent of the result)."""
    args = sequence(primals)
    directions = flatten(sequence(tangents))
    call = Call(machine, f, args, {}, tuple(range(len(args))))
    builder, sources = call.builder, call.leaves.sources
    if len(directions) != len(sources):
        raise Unsupported("tangents of another structure than the primals")
    seeds: dict[Any, Any] = {}
    for x, t in zip(sources, directions):
        seeds[x] = seed_array(builder, x, t) if x.__class__ is Array else [seed_number(builder, t)]
    y = call.result
    result = y.stored if y.__class__ is Lazy else raw(y)
    if y.__class__ not in (Sym, Lazy, *NUMBERS) or (y.__class__ is Lazy and y.kind != FLOAT):
        raise Unsupported("the tangent of a result of this kind")
    if result.__class__ not in (Var, Array) or result.kind != FLOAT:
        call.splice(call.block)
        return y, 0.0
    tangent = call.pushed(result, seeds, 1)
    if result.__class__ is Var:
        return y, symbol(builder, tangent.of(result)[0])
    return y, builder.stored(tangent.dots[result]) if tangent.has(result) else call.zeros(result)


def seed_number(builder: Builder, t: Any) -> Any:
    if t.__class__ is Lazy and not t.shape:
        t = t.element(())
    if t.__class__ is bool or t.__class__ not in (*NUMBERS, Sym):
        raise Unsupported("a tangent of another shape")
    return raw(builder.to_float(t))


def seed_array(builder: Builder, x: Array, t: Any) -> Array:
    if t.__class__ is Lazy and t.shape and t.shape != x.shape:
        raise Unsupported("a tangent of another shape")
    number = None if t.__class__ is Lazy and t.shape else seed_number(builder, t)
    array = Array(FLOAT, x.shape, "da")
    builder.append(ir.Alloc(array, False))
    builder.fill(array, t if number is None else Lazy(builder, FLOAT, x.shape, lambda index: symbol(builder, number)))
    return array


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
    y, found = value_and_grad(machine, f, tuple(range(len(primals)))).run(list(primals), {})

    def pull(cotangents: list[Any], keywords: dict[str, Any]) -> Any:
        if not cotangents:
            return found
        c = seed_number(machine.builder, cotangents[0])
        return rebuild(found, [scaled(machine, c, g) for g in flatten(found)])

    return y, Made(pull, (f,))


def scaled(machine: Specialiser, c: Any, g: Any) -> Any:
    from ..ops.registry import NAMES

    if not any(x.__class__ in (Sym, Lazy) for x in (symbol(machine.builder, c), g)):
        return c * g
    return machine.builder.settle(machine.builder.apply(NAMES["multiply"], (symbol(machine.builder, c), g), None))


OPERATORS: dict[str, Callable[..., Any]] = {
    "grad": grad, "value_and_grad": value_and_grad, "jacobian": jacobian, "jacfwd": jacobian, "jacrev": jacobian,
    "hessian": hessian, "jvp": jvp, "vjp": vjp, "hvp": hvp,
}  # fmt: skip
