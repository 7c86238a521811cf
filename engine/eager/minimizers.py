"""SciPy's minimisers on functions of the program: what engine/library/optimize.adiff calls."""

from __future__ import annotations

import warnings
from contextlib import contextmanager

import numpy as np
from scipy import optimize

from ..autodiff import drivers
from ..core.dtypes import WEAK_FLOAT
from ..core.errors import failure
from ..core.following import path_ends
from ..core.operands import as_operand, describe, tensor, wrap
from ..core.state import RECORDERS, STATE
from ..core.tensor import Tensor
from ..kinds.functions import Function, callable_of, invoke
from ..ops.operation import static
from .structure import flatten, rebuild

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any


@contextmanager
def unrecorded() -> Iterator[None]:
    """A context in which no tape around hears of what is evaluated, and after which the place is what it was before."""
    recorders, site = RECORDERS.copy(), STATE.site
    RECORDERS.clear()
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            yield
    except (ValueError, TypeError, RuntimeError) as fault:  # what SciPy says of its arguments
        trace = fault.__traceback__
        while trace is not None and trace.tb_next is not None:
            trace = trace.tb_next
        if trace is None or not trace.tb_frame.f_globals["__name__"].startswith(("scipy.", "numpy.")):
            raise
        STATE.site = site
        raise failure("E0401", f"minimize: {str(fault).splitlines()[0] if str(fault) else 'SciPy refused'}") from None
    finally:
        RECORDERS[:] = recorders
        STATE.site = site


class Vector:
    """The argument of a function to minimise: SciPy's vectors of float64 as tensors of the dtype of the start."""

    def __init__(self, start: Any, what: str) -> None:
        x = tensor(start)
        if x.dtype.kind not in "if" or x.ndim > 1:
            raise failure(
                "E0302",
                f"{what} starts from a vector of floats, and got {describe(start)}",
                "pack(variables) makes one",
            )
        path_ends((x,), what)
        self.what = what
        self.dtype = x.dtype if x.dtype.kind == "f" else WEAK_FLOAT
        self.start = np.array(x.value, dtype=np.float64).reshape(-1)

    def tensor(self, x: Any) -> Any:
        return wrap(np.array(x, dtype=self.dtype.name), self.dtype)

    def array(self, y: Any) -> Any:
        """What a function of the program returned, as an array."""
        y = as_operand(y)
        if y.__class__ is str or (y.__class__ is Tensor and y.dtype.kind not in "bif"):
            raise failure("E0301", f"{self.what} needs floats, and got {describe(y)}")
        return np.asarray(y.value if y.__class__ is Tensor else y, dtype=np.float64)

    def number(self, y: Any) -> float:
        return float(self.array(y).ravel()[0])

    def pair(self, found: Any) -> tuple[float, Any]:
        """A value and its gradient, which a function returned."""
        return self.number(found[0]), self.array(found[1]).reshape(-1)

    def function(self, f: Any, convert: Callable[[Any], Any]) -> Callable[..., Any]:
        """A function of the program as one of SciPy's vectors."""
        return lambda *xs: convert(invoke(f, [self.tensor(x) for x in xs], {}))


def value_and_gradient(f: Any, x: Any) -> tuple[Any, Any]:
    """f(x) and its gradient; None where nothing leads from x to it."""
    y, (g,) = drivers.value_and_gradients(lambda inputs: invoke(f, inputs, {}), [x])
    return y, g


def minimize(
    what: str, f: Any, x0: Any, method: str, with_gradient: bool, given: dict[str, Any], options: Any = None, tol: Any = None
) -> dict[str, Any]:  # fmt: skip
    """The facts that a method of SciPy's finds. `f` returns the value, or (value, gradient) where it is `with_gradient`.

    `given` has what else SciPy takes: functions hess, hessp, callback; bounds and constraints.
    """
    start = Vector(x0, what)
    functions = [
        start.function(x, start.array) if x.__class__ is Function or hasattr(x, "call") else x for x in flatten(given)
    ]
    given = rebuild(given, functions)
    function = start.function(callable_of(f, what), start.pair if with_gradient else start.number)
    with unrecorded():
        found = optimize.minimize(
            function, start.start, jac=with_gradient, method=method, tol=None if tol is None else static(tol),
            options={str(name): static(as_operand(x)) for name, x in (options or {}).items()}, **given,
        )  # fmt: skip
    if RECORDERS:  # what the function reads beside its argument
        path_ends([as_operand(x) for x in flatten(invoke(f, [start.tensor(found.x)], {})) if x is not None], what)
    facts = {
        "message": str(found.message), "success": bool(found.success), "status": int(found.status), "fun": float(found.fun),
        "x": start.tensor(found.x), "nit": int(found.get("nit", 0)), "nfev": int(found.nfev),
    }  # fmt: skip
    if "jac" in found:
        facts |= {"jac": start.tensor(found.jac), "njev": int(found.get("njev", found.nfev))}
    return facts


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "internal.minimize": minimize,
    "internal.value_and_gradient": value_and_gradient,
}
