"""Functions of functions that are loops or branches."""

from __future__ import annotations

from ...eager import functional as eager
from ...eager.derived import invoke
from ...eager.values import Function
from .loops import repeated
from .sequences import range_, sequence
from .values import Frame

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .tracer import Tracer


def functions(t: Tracer) -> dict[str, Any]:
    def cond(predicate: Any, true_fn: Any, false_fn: Any, *operands: Any) -> Any:
        def result(f: Any) -> Any:
            return invoke(f, list(operands), {}) if hasattr(f, "call") or f.__class__ is Function else f

        return t.choice(t.truth(predicate), lambda: result(true_fn), lambda: result(false_fn))

    def fori_loop(lower: Any, upper: Any, body_fun: Any, init_val: Any) -> Any:
        state = Frame([init_val])

        def iteration(i: Any) -> None:
            state[0] = invoke(body_fun, [i, state[0]], {})

        return repeated(t, state, body_fun, [], state, iteration, sequence(range_(lower, upper)))

    def while_loop(cond: Any, body: Any, loop_vars: Any, maximum_iterations: Any = None) -> Any:
        if maximum_iterations is not None:
            return eager.while_loop(cond, body, loop_vars, maximum_iterations)
        cls = loop_vars.__class__
        several = cls in (list, tuple)
        # JAX passes the whole tuple as one argument; TensorFlow spreads it.
        whole = (
            cond.__class__ is Function and len(cond.code.parameters) == 1 and len(loop_vars) > 1 if several else True
        )
        state = Frame([tuple(loop_vars) if several else loop_vars])

        def iteration(item: Any) -> None:
            found = call(body)
            state[0] = tuple(found) if several else found

        def call(f: Any) -> Any:
            return invoke(f, [state[0]] if whole else list(state[0]), {})

        found = repeated(t, state, body, [], state, iteration, None, lambda: t.truth(call(cond)))
        return cls(found) if several else found

    return {"cond": cond, "fori_loop": fori_loop, "while_loop": while_loop}
