"""Functions of functions that are loops: they are written in the language itself."""

from __future__ import annotations

from ....parser.parse import parse
from ....parser.source import Source
from ...core.operation import static
from ...eager import functional as eager
from ...eager.derived import invoke
from ...eager.values import UNSET, Function
from ...program.lower import lower
from ..symbols import Sym
from .values import Frame

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .tracer import Tracer

TEXT = """
def fori_loop(lower, upper, body_fun, init_val):
    for i in range(lower, upper):
        init_val = body_fun(i, init_val)
    return init_val

def loop_of_one(cond, body, state):
    while cond(state):
        state = body(state)
    return state

def loop_of_several(cond, body, state):
    while cond(*state):
        state = tuple(body(*state))
    return state
"""


class Library:
    """The functions of the text, and those that call them."""

    def __init__(self, t: Tracer) -> None:
        self.t = t
        self.frame: Frame | None = None

    def call(self, name: str, *args: Any) -> Any:
        if self.frame is None:
            source = Source(TEXT, "<library>")
            core = lower(source, parse(source))
            self.frame = Frame([None, *[UNSET] * (core.size - 1)])
            self.names = core.slot_names
            self.t.block(core.body)(self.frame)
        return invoke(self.frame[self.names.index(name)], list(args), {})

    def functions(self) -> dict[str, Any]:
        def cond(predicate: Any, true_fn: Any, false_fn: Any, *operands: Any) -> Any:
            def result(f: Any) -> Any:
                return invoke(f, list(operands), {}) if hasattr(f, "call") or f.__class__ is Function else f

            return self.t.choice(self.t.truth(predicate), lambda: result(true_fn), lambda: result(false_fn))

        def fori_loop(lower: Any, upper: Any, body_fun: Any, init_val: Any) -> Any:
            bounds = [x if x.__class__ is Sym else static(x) for x in (lower, upper)]
            return self.call("fori_loop", *bounds, body_fun, init_val)

        def while_loop(cond: Any, body: Any, loop_vars: Any, maximum_iterations: Any = None) -> Any:
            if maximum_iterations is not None:
                return eager.while_loop(cond, body, loop_vars, maximum_iterations)
            cls = loop_vars.__class__
            if cls not in (list, tuple):
                return self.call("loop_of_one", cond, body, loop_vars)
            # JAX passes the whole tuple as one argument; TensorFlow spreads it.
            whole = cond.__class__ is Function and len(cond.code.parameters) == 1 and len(loop_vars) > 1
            found = self.call("loop_of_one" if whole else "loop_of_several", cond, body, tuple(loop_vars))
            return cls(found)

        return {"cond": cond, "fori_loop": fori_loop, "while_loop": while_loop}
