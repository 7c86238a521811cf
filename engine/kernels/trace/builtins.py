"""The functions of the language that are no rows, on symbols: the interpreter's own, but for those that look at numbers."""

from __future__ import annotations

from ...core.operands import as_operand, operand_dtype
from ...core.state import STATE
from ...core.tensor import OPERATORS
from ...eager import builtins as eager
from ...eager import sequences
from ...eager import transforms as eager_transforms
from ...kinds.functions import Derived, callable_of
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
    "type": declined("the type of a value"), "GradientTape": declined("a tape of the program"), "vjp": declined("vjp"),
    "Variable": declined("Variables"), "tf.Variable": declined("Variables"),
    "custom_gradient": declined("custom_gradient"),
    **dict.fromkeys(("jacobian", "jacfwd", "jacrev"), declined("the Jacobian of a function of the program")),
    "iter": declined("iterators"), "next": declined("iterators"),
}  # fmt: skip


# --- functions that give derivatives of functions, by differentiating the IR ----------------------------------------------


def prepared(f: Any, args: list[Any], keywords: dict[str, Any], argnums: Any) -> eager_transforms.Arguments:
    """The arguments of a call of a derivative; its `leaves` are operands."""
    call = eager_transforms.Arguments(f, args, keywords, argnums)
    call.leaves = [as_operand(x) for x in call.leaves]
    if any(operand_dtype(x).kind != FLOAT for x in call.leaves):
        raise Unsupported("a derivative by what is no float", STATE.site)
    return call


def derivatives(builder: Builder) -> dict[str, Any]:
    """The functions of the language that give derivatives."""
    from .. import transforms

    def value_and_grad(f: Any, argnums: Any = 0, has_aux: Any = False) -> Derived:
        callable_of(f, "value_and_grad")

        def run(args: list[Any], keywords: dict[str, Any]) -> Any:
            call = prepared(f, args, keywords, argnums)
            y, found = transforms.value_and_gradients(builder, call.scalar("grad", has_aux), call.leaves)
            return (y, call.auxiliary) if has_aux else y, call.result(found)

        return Derived("value_and_grad", run)

    def grad(f: Any, argnums: Any = 0, has_aux: Any = False) -> Derived:
        both = value_and_grad(f, argnums, has_aux)

        def run(args: list[Any], keywords: dict[str, Any]) -> Any:
            y, g = both.run(args, keywords)
            return (g, y[1]) if has_aux else g

        return Derived("grad", run)

    def hessian(f: Any, argnums: Any = 0) -> Derived:
        callable_of(f, "hessian")

        def run(args: list[Any], keywords: dict[str, Any]) -> Any:
            call = prepared(f, args, keywords, argnums)
            blocks = transforms.hessian(builder, call.scalar("hessian"), call.leaves)
            return call.result([call.result(row) for row in blocks])

        return Derived("hessian", run)

    def jvp(f: Any, primals: Any, tangents: Any) -> Any:
        args, directions = eager_transforms.parts_of(primals, tangents)
        call = prepared(callable_of(f, "jvp"), args, {}, tuple(range(len(args))))
        seeds = eager_transforms.directions_of(args, directions)
        if len(seeds) != len(call.leaves):
            raise Unsupported(f"{ERROR} (tangents like the primals)", STATE.site)
        return transforms.jvp(builder, lambda inputs: as_operand(call.function(inputs)), call.leaves, seeds)

    def hvp(f: Any, primals: Any, vectors: Any) -> Any:
        """The tangent of the gradient along the vectors."""
        if primals.__class__ is tuple:
            raise Unsupported("hvp by several arguments", STATE.site)
        return jvp(grad(f), (primals,), (vectors,))[1]

    return {
        "grad": grad, "value_and_grad": value_and_grad, "hessian": hessian, "jvp": jvp, "hvp": hvp,
    }  # fmt: skip
