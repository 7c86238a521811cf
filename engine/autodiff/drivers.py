"""Derivatives of a function of tensors: gradient, Jacobian, Hessian and the products, over the recorders.

A function here takes a list of tensors and returns an operand or a structure of operands; it may run several times.
`xs` are operands; integers that are differentiated count as floats.
"""

from __future__ import annotations

from ..core.dispatch import apply
from ..core.dtypes import WEAK_COUNT, WEAK_FLOAT
from ..core.errors import failure
from ..core.following import follows
from ..core.limits import size_text
from ..core.operands import as_operand, plain, shape_text, tensor
from ..core.state import RECORDERS, STATE
from ..core.tensor import OPERATORS, Tensor
from ..core.tensor import count as count
from ..core.tensor import is_complex as is_complex
from ..core.tensor import shape_of as shape_of
from .forward import Forward, tangent_of
from .tape import OutsideLog, Tape, gradient, seed_for

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from ..core.dtypes import DType

    Function = Callable[[list[Any]], Any]


# What a record takes, with its result.
RECORD_BYTES = 130


def source(x: Any) -> Tensor:
    """A tensor of its own for an input that is differentiated, connected to `x` for the recorders around."""
    x = as_operand(x)
    if x.__class__ is int:
        try:
            return Tensor(float(x), WEAK_COUNT) if STATE.weak_float is WEAK_FLOAT else tensor(float(x))
        except OverflowError:
            raise failure("E0303", "this integer is too large for a float", "write it as a float: 1e300") from None
    if x.__class__ is float or x.__class__ is complex:
        fresh = tensor(x)
        return Tensor(fresh.value, fresh.dtype)
    if x.__class__ is not Tensor:
        return tensor(x)
    if x.dtype.weak and x.dtype.kind == "i":
        x = tensor(OPERATORS.add(x, tensor(0.0)))
    if x.on is not None and any(follows(x, r.token) for r in RECORDERS):
        return apply(OPERATORS.identity, (x,), None)  # type: ignore[no-any-return]
    return Tensor(x.value, x.dtype)


def tangentless(x: Any) -> str | None:
    """The name of the dtype of an input that carries no tangent (a bool, an integer tensor, a string), or None."""
    x = as_operand(x)
    if x.__class__ is Tensor:
        # A bare list of integers is a list of floats where it is differentiated.
        return None if x.dtype.differentiable or (x.dtype.weak and x.dtype.kind == "i") else x.dtype.name
    return {bool: "bool", str: "string"}.get(x.__class__)


def fit_tangent(t: Any, x: Tensor, what: str) -> Any:
    """A tangent checked against its input `x`; None for the only one that an integer can have, zero."""
    if x.__class__ is Tensor and x.dtype.differentiable:
        return fit_seed(t, x, what, "its input")
    value = plain(as_operand(t))
    if value.any() if hasattr(value, "any") else value:
        name = x.dtype.name if x.__class__ is Tensor else tangentless(x)
        raise failure(
            "E0301", f"{what} is given for an input of dtype {name}, which cannot be differentiated",
            "give it floats: x=3.0, or cast(x, float64)",
        )  # fmt: skip
    return None


def under(recorder: Any, f: Function, inputs: list[Any]) -> Any:
    """What a function gives while a recorder hears of it."""
    RECORDERS.append(recorder)
    try:
        return f(inputs)
    finally:
        RECORDERS.remove(recorder)


def recorded(
    f: Function, xs: Sequence[Any], wanted: Sequence[bool] | None = None, shown: bool = False
) -> tuple[Tape, list[Tensor], Any]:
    """Run `f` under a new tape that watches the (wanted) inputs. Where it is to be `shown`, every result is kept."""
    tape = Tape(changing=not shown)
    if shown:
        tape.log = OutsideLog()
    tensors = [source(x) for x in xs]
    for i, x in enumerate(tensors):
        if x.dtype.differentiable and (wanted is None or wanted[i]):
            tape.watch(x)
    y = under(tape, f, tensors)
    kept = len(tape.log) // 4 * RECORD_BYTES
    if STATE.checkpoint is not None and kept > STATE.checkpoint:
        STATE.notify(
            "N0606",
            f"the tape keeps {size_text(kept)} for this derivative: --checkpoint {size_text(STATE.checkpoint)} is for kernels",
        )
    return tape, tensors, y


def require_scalar(y: Any, what: str) -> None:
    if y.__class__ is Tensor and y.shape != ():
        raise failure(
            "E0507",
            f"{what} needs a scalar result, and this one has shape {shape_text(y.shape)}",
            "sum(...) makes it one",
        )


def value_and_gradients(f: Function, xs: Sequence[Any]) -> tuple[Any, list[Any]]:
    """The value and one cotangent per input (None where unconnected); a result that is no scalar is summed."""
    return vjp(f, xs, None)


def vjp(f: Function, xs: Sequence[Any], cotangent: Any) -> tuple[Any, list[Any]]:
    """The value and the cotangents of the inputs for a cotangent of the result (None: ones)."""
    tape, tensors, y = recorded(f, xs)
    y = as_operand(y)
    g = seed_for(y) if cotangent is None else fit_seed(cotangent, y, "the cotangent", "the result")
    return y, gradient(tape, [y], [g], [[x] for x in tensors], consume=True)


def fit_seed(seed: Any, like: Any, what: str, of: str) -> Any:
    """A tangent or cotangent, checked against the value it belongs to."""
    seed = as_operand(seed)
    if seed.__class__ is int or seed.__class__ is bool:
        seed = float(seed)
    if seed.__class__ is Tensor and seed.dtype.weak and seed.dtype.kind == "i":
        seed = OPERATORS.add(seed, 0.0)
    dtype = getattr(like, "dtype", WEAK_FLOAT)
    if seed.__class__ is Tensor and dtype.weak and seed.dtype is dtype.strong and seed.on is None:
        # What is beside a bare number adopts what it meets, as that does.
        seed = Tensor(seed.value, dtype) if seed.shape else plain(seed)
    strong = seed.__class__ is Tensor and like.__class__ is Tensor and not (seed.dtype.weak or dtype.weak)
    if strong and seed.dtype is not dtype and seed.dtype.kind == dtype.kind == "f":
        raise failure(
            "E0301", f"{what} is {seed.dtype.name}, and {of} is {dtype.name}: dtypes do not mix",
            f"cast(..., {dtype.name}) makes it one",
        )  # fmt: skip
    if shape_of(seed) != shape_of(like):
        if shape_of(seed) == ():
            return OPERATORS.broadcast_to(in_width(seed, like, 0.0), shape=shape_of(like))
        raise failure(
            "E0302", f"{what} has shape {shape_text(shape_of(seed))}, and {of} has shape {shape_text(shape_of(like))}"
        )
    return in_width(seed, like, 0.0)


def with_tangents(xs: Sequence[Any], tangents: Sequence[Any], what: str) -> tuple[Forward, list[Tensor]]:
    """An accumulator, and the inputs with their tangents on it; None is no tangent."""
    forward = Forward()
    tensors = [source(x) for x in xs]
    for x, t in zip(tensors, tangents):
        seed = None if t is None else fit_tangent(t, x, what)
        if seed is not None:
            forward.watch(x, seed)
    return forward, tensors


def jvp(f: Function, xs: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
    """The value and the tangent of the result (None where no tangent reaches it) for the inputs' tangents.

    A zero tangent that meets an infinite partial is ambiguous in forward mode; such cases are decided by the reverse
    sweep, so that both modes agree.
    """
    outer_ambiguous = STATE.ambiguous
    STATE.ambiguous = False
    forward, tensors = with_tangents(xs, tangents, "a tangent")
    y = as_operand(under(forward, f, tensors))
    tangent = tangent_of(y, forward.token)
    ambiguous, STATE.ambiguous = STATE.ambiguous, outer_ambiguous
    if ambiguous and tangent is not None and shape_of(y) == ():
        tangent = reverse_product(f, xs, tangents)
    if tangent is not None and y.dtype.kind in "f" and is_complex(tangent):
        tangent = OPERATORS.real(tangent)
    return y, tangent


def reverse_product(f: Function, xs: Sequence[Any], tangents: Sequence[Any]) -> Any:
    """A directional derivative of a scalar function as gradient times tangent; 0 * anything = 0 for a zero tangent."""
    _, gradients = value_and_gradients(f, xs)
    total: Any = 0.0
    for x, g, t in zip(xs, gradients, tangents):
        if g is not None and t is not None:
            if is_complex(g):
                g = OPERATORS.conj(g)
            term = OPERATORS.strong_multiply(fit_seed(t, source(x), "the tangent", "its input"), g)
            total = total + (OPERATORS.sum_to(term, shape=()) if shape_of(term) else term)
    return total


def basis(x: Any, i: int) -> Any:
    """The tangent (or cotangent) with a one in flat place `i` of `x`."""
    if shape_of(x) == ():
        return 1.0
    import numpy as np

    array = np.zeros(x.shape, dtype=x.dtype.name)
    array.reshape(-1)[i] = 1
    return Tensor(array, x.dtype)


def assemble(parts: list[Any], shape: tuple[int, ...], template: Any) -> Any:
    """Parts stacked into an array of `shape`; None stands for zeros of the template's shape."""
    if all(p is None for p in parts):
        return None
    filled = [zeros(shape_of(template)) if p is None else p for p in parts]
    if shape == ():
        return filled[0]
    return OPERATORS.reshape(OPERATORS.stack(filled), shape=shape)


def zeros(shape: tuple[int, ...]) -> Any:
    if shape == ():
        return 0.0
    import numpy as np

    return Tensor(np.zeros(shape), WEAK_FLOAT)


def jacobians(f: Function, xs: Sequence[Any], mode: str = "auto") -> tuple[list[Any], list[list[Any]], str]:
    """The values of a function with a list of results, a row of blocks d y / d x for each, and the mode that was used.

    A complex result is taken as a holomorphic function of its inputs, whose derivative forward mode gives; a real
    result has the direction of steepest ascent by a complex input, which reverse mode gives.
    """
    tape, tensors, found = recorded(f, xs)
    ys = [as_operand(y) for y in found]
    if any(is_complex(y) for y in ys):
        mode = "forward"
    elif any(is_complex(x) for x in tensors):
        mode = "reverse"
    outputs = sum(count(shape_of(y)) for y in ys)
    inputs = sum(count(x.shape) for x in tensors if x.dtype.differentiable)
    if mode == "auto":
        mode = "forward" if 2 * inputs < outputs else "reverse"
    if mode == "forward":
        tape.log.clear()
        blocks, ambiguous = forward_jacobians(f, xs, tensors, ys)
        if not ambiguous:
            return ys, blocks, mode
        tape, tensors, found = recorded(f, xs)
        ys = [as_operand(y) for y in found]
        mode = "reverse"
    return ys, [reverse_jacobian(tape, tensors, y) for y in ys], mode


def reverse_jacobian(tape: Tape, tensors: Sequence[Tensor], y: Any) -> list[Any]:
    """A row of blocks d y / d x, row by row."""
    shape = shape_of(y)
    rows = [gradient(tape, [y], [basis(y, i)], [[x] for x in tensors], consume=False) for i in range(count(shape))]
    return [
        assemble([row[k] for row in rows], shape + x.shape, x) if rows else zeros(shape + x.shape)
        for k, x in enumerate(tensors)
    ]


def forward_jacobians(
    f: Function, xs: Sequence[Any], tensors: list[Tensor], ys: list[Any]
) -> tuple[list[list[Any]], bool]:
    """Column by column; also whether a column met a case that forward mode cannot decide."""
    outer, STATE.ambiguous = STATE.ambiguous, False
    blocks: list[list[Any]] = [[None] * len(tensors) for _ in ys]
    for k, x in enumerate(tensors):
        if not x.dtype.differentiable:
            continue
        columns = []
        # One without elements has a tangent too, which tells what it reaches.
        for i in range(max(count(x.shape), 1)):
            forward = Forward()
            inputs = [source(v) for v in xs]
            forward.watch(inputs[k], basis(inputs[k], i) if count(x.shape) else inputs[k])
            columns.append([tangent_of(as_operand(y), forward.token) for y in under(forward, f, inputs)])
        for j, y in enumerate(ys):
            shape = shape_of(y)
            block = assemble([column[j] for column in columns], x.shape + shape, y)
            blocks[j][k] = None if block is None else transposed(block, x.shape, shape)
    ambiguous, STATE.ambiguous = STATE.ambiguous, outer
    return blocks, ambiguous


def handed_back(g: Any, y: Any, x: Any) -> Any:
    """A derivative of `y` by `x` as a program gets it: a float32 where it is one by `in_width`, its zeros without a sign."""
    return unsigned(in_width(g, y, x))


def narrower(*sources: Any) -> Any:
    """Of the sources of a derivative the one whose dtype it has: a float32 beside a bare number."""
    return next((x for x in sources if getattr(x, "dtype", WEAK_FLOAT).name == "float32"), sources[0])


def in_width(g: Any, y: Any, x: Any) -> Any:
    """A derivative of `y` by `x` in the dtype of `x`; by a bare number or list a float32 where `y` is one, else bare."""
    dtype: DType = getattr(x, "dtype", STATE.weak_float)
    of_value: DType = getattr(y, "dtype", dtype)
    if dtype.weak and of_value.name == "float32":
        dtype = of_value
    name = getattr(g, "dtype", WEAK_FLOAT).name
    if dtype.name == "float32":
        return OPERATORS.cast(tensor(g), dtype=dtype) if name == "float64" else g
    return OPERATORS.cast(g, dtype=WEAK_FLOAT) if dtype.weak and name == "float32" else g


def unsigned(g: Any) -> Any:
    """A derivative whose zeros are 0.0, whichever way it was found."""
    if g.__class__ is not Tensor:
        return g + 0.0 if g.__class__ is float else g
    value = g.value
    if value.__class__ is float:
        signed = value == 0.0
    else:
        signed = value.__class__ is complex or value.dtype.kind == "c" or not value.all()
    return OPERATORS.unsigned(g) if signed else g


def transposed(block: Any, rows: tuple[int, ...], columns: tuple[int, ...]) -> Any:
    """A block of shape rows + columns as one of shape columns + rows."""
    if shape_of(block) == ():
        return block
    flat = OPERATORS.reshape(block, shape=(count(rows), count(columns)))
    return OPERATORS.reshape(OPERATORS.transpose(flat), shape=columns + rows)


class raised:
    """Within it a flag of the state is raised: `several` where what is swept for with one cotangent stands for derivatives
    along several directions, or for second ones; `quiet` where singular points have been reported."""

    def __init__(self, flag: str) -> None:
        self.flag = flag

    def __enter__(self) -> None:
        self.outer = getattr(STATE, self.flag)
        setattr(STATE, self.flag, True)

    def __exit__(self, *exception: object) -> None:
        setattr(STATE, self.flag, self.outer)


def derivatives(f: Function, x: Any, order: int) -> list[Any]:
    """y, y', y'', ... up to `order` for a scalar function of one scalar, by nested forward mode."""

    def nth(k: int) -> Callable[[list[Any]], Any]:
        if k == 0:
            return f
        lower = nth(k - 1)

        def derivative(inputs: list[Any]) -> Any:
            _, tangent = jvp(lower, inputs, [1.0])
            return 0.0 if tangent is None else tangent

        return derivative

    return [nth(k)([source(x)]) for k in range(order + 1)]
