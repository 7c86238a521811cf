"""The functions of the language that are no rows, on symbols: the interpreter's own, but for those that look at numbers."""

from __future__ import annotations

from ...core.operands import as_operand
from ...core.state import STATE
from ...core.tensor import OPERATORS
from ...eager import builtins as eager
from ...eager import sequences
from ...eager.transforms import Call
from ...kinds.operators import truth
from ..ir import BOOL, FLOAT, INT, LIMIT, Unsupported
from ..symbols import Sym
from .sequences import SEQUENCES
from .values import ERROR, holds_symbol

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..builder import Builder


def one_number(x: Sym, what: str) -> None:
    if x.shape:
        raise Unsupported(f"{ERROR} ({what} needs one number)", STATE.site)


def int_(x: Any = 0) -> Any:
    if x.__class__ is not Sym:
        return eager.int_(x)
    one_number(x, "int")
    if x.kind == FLOAT:
        # The kernel stops at what is no number, and at one beyond the integers that floats hold exactly.
        x.builder.check(OPERATORS.less_equal(OPERATORS.abs(x), float(LIMIT)))
        x = OPERATORS.cast(OPERATORS.stop_gradient(x), dtype="int64")
    elif x.kind == BOOL:
        return OPERATORS.add(x, 0)
    return x.builder.sym(x.var)  # an integer as Python's are: it adopts the dtype of what it meets


def float_(x: Any = 0.0) -> Any:
    if x.__class__ is not Sym:
        return eager.float_(x)
    one_number(x, "float")
    if x.kind == FLOAT:
        return x
    found = OPERATORS.cast(x, dtype="float64")
    return x.builder.sym(found.var) if x.kind == INT and x.dtype.weak else found


def bool_(x: Any = False) -> Any:
    if x.__class__ is not Sym:
        return truth(x)
    one_number(x, "bool")
    return x if x.kind == BOOL else OPERATORS.not_equal(x, 0)


def quantified(run: Any) -> Any:
    def of_all(x: Any, axis: Any = None, keepdims: Any = False) -> Any:
        return run(as_operand(x) if holds_symbol(x) else x, axis, keepdims)

    return of_all


def isinstance_(x: Any, kinds: Any) -> bool:
    if x.__class__ is not Sym:
        return eager.isinstance_(x, kinds)
    names = {x.dtype.name}
    if not x.shape:
        names |= {BOOL: {"bool", "int"}, INT: {"int"}, FLOAT: {"float"}}[x.dtype.kind]
    return any(getattr(k, "name", None) in names for k in (kinds if kinds.__class__ in (list, tuple) else [kinds]))


def print_(*values: Any, sep: Any = " ", end: Any = "\n", flush: Any = False, file: Any = None) -> None:
    if STATE.write is not None:
        raise Unsupported("printing", STATE.site)


def declined(what: str) -> Any:
    def refuse(*args: Any, **keywords: Any) -> Any:
        raise Unsupported(what, STATE.site)

    return refuse


FUNCTIONS: dict[str, Any] = {
    **eager.FUNCTIONS, **SEQUENCES, "int": int_, "float": float_, "bool": bool_, "print": print_,
    "any": quantified(sequences.any_of), "all": quantified(sequences.all_of), "isinstance": isinstance_,
    "setattr": declined("attributes that are assigned"),
    "type": declined("the type of a value"), "GradientTape": declined("a tape of the program"),
    "Variable": declined("Variables"), "tf.Variable": declined("Variables"),
    "custom_gradient": declined("custom_gradient"),
    "internal.vjp": declined("vjp"), "internal.jacobian": declined("the Jacobian of a function of the program"),
    "internal.notify": declined("notices that data decide"),
    "iter": declined("iterators"), "next": declined("iterators"),
}  # fmt: skip


# --- functions that give derivatives of functions, by differentiating the IR ----------------------------------------------


def derivatives(builder: Builder) -> dict[str, Any]:
    """What the functions that give derivatives call (engine/library/transforms.adiff)."""

    from .. import transforms

    def value_and_gradients(call: Call) -> tuple[Any, Any]:
        y, gradients = transforms.value_and_gradients(builder, call.scalar, call.leaves)
        return y, call.result(gradients)

    def hessian(call: Call) -> Any:
        return call.result([call.result(row) for row in transforms.hessian(builder, call.scalar, call.leaves)])

    def jvp(call: Call, tangents: list[Any]) -> tuple[Any, Any]:
        return transforms.jvp(builder, lambda inputs: as_operand(call.function(inputs)), call.leaves, tangents)

    def hvp(call: Call, vectors: list[Any]) -> Any:
        """The tangent of the gradient along the vectors."""
        if len(call.leaves) != 1:
            raise Unsupported("hvp by several arguments", STATE.site)

        def gradient(inputs: list[Any]) -> Any:
            return transforms.value_and_gradients(builder, call.scalar, inputs)[1][0]

        return call.result([transforms.jvp(builder, gradient, call.leaves, vectors)[1]])

    return {f"internal.{function.__name__}": function for function in (value_and_gradients, hessian, jvp, hvp)}
