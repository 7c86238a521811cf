"""Functions that give derivatives of functions, by differentiating the IR."""

from __future__ import annotations

from ...core.operands import as_operand, operand_dtype
from ...core.state import STATE
from ...eager import transforms as eager
from ...eager.values import Derived, callable_of
from ..ir import FLOAT, Unsupported
from .values import ERROR

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..builder import Builder


def prepared(f: Any, args: list[Any], keywords: dict[str, Any], argnums: Any) -> eager.Arguments:
    """The arguments of a call of a derivative; its `leaves` are operands."""
    call = eager.Arguments(f, args, keywords, argnums)
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
        args, directions = eager.parts_of(primals, tangents)
        call = prepared(callable_of(f, "jvp"), args, {}, tuple(range(len(args))))
        seeds = eager.directions_of(args, directions)
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
