"""Variables, TensorFlow's mutable values that methods assign, and the methods of Variables and tapes."""

from __future__ import annotations

from ...core.state import STATE
from ...core.tensor import OPERATORS
from ...ops.registry import METHODS
from .. import ir
from ..inputs import EVERY, SOME
from ..ir import FLOAT, Array, Unsupported, Var
from ..symbols.symbol import NUMBERS, Lazy, Sym, raw
from ..symbols.values import FUNCTIONS, Variable, plain
from .calls import fitting

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .calls import Calls


def variable(
    machine: Any, initial_value: Any, trainable: Any = True, name: Any = "", dtype: Any = None,
    validate_shape: Any = True, shape: Any = None,
) -> Variable:  # fmt: skip
    if initial_value.__class__ in FUNCTIONS:
        initial_value = machine.invoke(initial_value, [], {})
    mode = machine.builder.mode
    floats = "float32" if mode == EVERY else "float64"
    if trainable.__class__ is not bool or getattr(dtype, "name", floats) != floats:
        raise Unsupported("a Variable that is no tensor of floats")
    if mode == SOME:
        raise Unsupported("a Variable beside float32")  # it has the dtype of what it holds
    made = Variable(held(machine, initial_value), trainable, machine.tapes)
    machine.variables.append(made)
    return made


def held(machine: Any, value: Any) -> Any:
    """A value in a variable or an array of its own, as a constant of all derivatives."""
    builder = machine.builder
    value = plain(value)
    if value.__class__ in (list, tuple):
        value = builder.operand(value)
    if value.__class__ is Lazy and not value.shape:
        value = value.element(())
    if value.__class__ is Lazy and value.kind == FLOAT:
        array = Array(FLOAT, value.shape)
        builder.append(ir.Alloc(array, False))
        builder.fill(array, builder.apply(OPERATORS["stop_gradient"], (value,), {}))
        return builder.stored(array)
    if value.__class__ not in (float, Sym) or (value.__class__ is Sym and value.kind != FLOAT):
        raise Unsupported("a Variable that holds integers or what is no number")
    var = Var(FLOAT, "p")
    builder.append(ir.Set(var, "stop_gradient" if value.__class__ is Sym else "copy", (raw(value),), STATE.site, None))
    return Sym(builder, var)


def assigned(machine: Any, x: Variable, value: Any) -> Variable:
    """`x.assign(value)`."""
    value = plain(value)
    if value.__class__ in NUMBERS and value.__class__ is not bool:
        value = float(value)
    new = held(machine, value)
    if new.shape != x.value.shape:
        raise Unsupported("an assignment of another shape to a Variable")
    x.value = new
    return x


def part_assigned(machine: Any, x: Variable, index: Any, value: Any) -> Variable:
    """`x[index].assign(value)`."""
    if x.value.__class__ is not Lazy:
        raise Unsupported("a part of a Variable that is a number")
    index = machine.known_slices(index, x.value)
    copy = machine.builder.materialised(x.value)
    return assigned(machine, x, machine.updated(copy, index, value))


def points_assigned(machine: Any, x: Variable, indices: Any, updates: Any) -> Variable:
    """`x.scatter_nd_update(indices, updates)` at places that are known."""
    points = plain(indices)
    points = points.known.value.tolist() if points.__class__ is Lazy and points.known is not None else points
    flat = points.__class__ is list and points and all(point.__class__ is list and point for point in points)
    if not flat or {i.__class__ for point in points for i in point} != {int} or len(set(map(len, points))) != 1:
        raise Unsupported("places of a Variable that depend on data")
    return part_assigned(machine, x, tuple(list(column) for column in zip(*points)), updates)


def changed(row: str) -> Callable[..., Variable]:
    def run(machine: Any, x: Variable, delta: Any, use_locking: Any = False, read_value: Any = True) -> Variable:
        delta = plain(delta)
        delta = machine.builder.operand(delta) if delta.__class__ in (list, tuple) else delta
        return assigned(machine, x, machine.combine(OPERATORS[row], "+", x.value, delta, STATE.site))

    return run


def method(machine: Calls, value: Any, name: str, args: list[Any], keywords: dict[str, Any]) -> Any:
    """`value.name(...)` of a Variable or a tape."""
    own = METHODS_OF_VARIABLES if value.__class__ is Variable else METHODS_OF_TAPES
    run = own.get(name)
    if run is not None:
        return fitting(name, run, [machine, value, *args], keywords)
    row = METHODS.get(name)
    if row is None or value.__class__ is not Variable:
        raise Unsupported(f"the method '{name}'")
    return machine.apply_row(row, [value.read(), *args], keywords)


METHODS_OF_VARIABLES: dict[str, Callable[..., Any]] = {
    "assign": lambda machine, x, value, use_locking=False, read_value=True: assigned(machine, x, value),
    "assign_add": changed("add"),
    "assign_sub": changed("subtract"),
    "scatter_nd_update": points_assigned,
    "value": lambda machine, x: x.read(),
    "read_value": lambda machine, x: x.read(),
    "numpy": lambda machine, x: machine.still(x.value),
}
METHODS_OF_TAPES: dict[str, Callable[..., Any]] = {
    "gradient": lambda machine, tape, *args, **named: fitting("gradient", tape.gradient, list(args), named),
    "jacobian": lambda machine, tape, *args, **named: fitting("jacobian", tape.jacobian, list(args), named),
}
