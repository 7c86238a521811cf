"""Running emitted kernels without Numba: the source is plain Python, and NumPy's scalars give it IEEE arithmetic."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable
from typing import Any

import numpy as np
from adiff.engine.kernels import emit, ir, runtime
from adiff.engine.kernels.primitives import helpers


class Ieee:
    """`math` as machine code has it: infinities and nan in the place of exceptions."""

    inf, nan = np.float64(math.inf), np.float64(math.nan)

    def __getattr__(self, name: str) -> Callable[..., Any]:
        function = getattr(math, name)
        fallback = {"pow": "power", "asin": "arcsin", "acos": "arccos", "atan": "arctan", "asinh": "arcsinh"}
        fallback |= {"acosh": "arccosh", "atanh": "arctanh", "atan2": "arctan2", "fabs": "abs"}

        def call(*values: Any) -> Any:
            try:
                return np.float64(function(*values))
            except (ValueError, OverflowError):
                if name in ("lgamma", "gamma"):
                    from scipy import special

                    return np.float64({"lgamma": special.gammaln, "gamma": special.gamma}[name](*values))
                return np.float64(getattr(np, fallback.get(name, name))(*values))

        setattr(self, name, call)
        return call


class Float64(ast.NodeTransformer):
    """Literals as NumPy's floats: Python's would raise where machine code divides by zero."""

    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        if isinstance(node.value, float):
            return ast.Call(ast.Name("_f", ast.Load()), [node], [])
        return node


def identity(function: Any = None, **options: Any) -> Any:
    return function if function is not None else lambda inner: inner


NAMESPACE: dict[str, Any] = {}


def interpreted(built: runtime.Built, values: list[Any]) -> runtime.Compiled:
    """What stands for `runtime.compile_kernel`."""
    if not NAMESPACE:
        NAMESPACE.update(helpers(identity))
        NAMESPACE.update(math=Ieee(), _f=np.float64, float=np.float64)
    text = emit.source(built.kernel)
    tree = ast.fix_missing_locations(Float64().visit(ast.parse(text)))
    exec(compile(tree, "<kernel>", "exec"), NAMESPACE)
    function = NAMESPACE["kernel"]

    def run(*values: Any) -> Any:
        with np.errstate(all="ignore"):
            results = function(*[np.float64(v) if isinstance(v, float) else v for v in values])
        return tuple(r.item() if isinstance(r, np.generic) else r for r in results)

    return runtime.Compiled(built, run, text)


def checked(pass_: Callable[[ir.Kernel], ir.Kernel]) -> Callable[[ir.Kernel], ir.Kernel]:
    """A pass with the legality of its input and output asserted."""

    def run(kernel: ir.Kernel) -> ir.Kernel:
        ir.check(kernel)
        result = pass_(kernel)
        ir.check(result)
        return result

    return run
