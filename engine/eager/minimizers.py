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
from ..core.operands import as_operand, describe, shape_text, tensor, wrap
from ..core.operation import static
from ..core.state import RECORDERS, STATE
from ..core.tensor import Tensor, shape_of
from ..kinds.kind import Kind
from ..plain import to_plain
from .structure import flatten
from .values import callable_of, invoke

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

METHODS = tuple("nelder-mead powell cobyla newton-cg trust-ncg trust-exact cg bfgs l-bfgs-b tnc slsqp".split())
# SciPy's options that a program may give, and those that would have it write to the terminal, which are passed over.
OPTIONS = frozenset(
    """
    maxiter maxfev maxfun maxcor maxls gtol ftol xtol xatol fatol xrtol eps norm c1 c2 hess_inv0 initial_trust_radius
    max_trust_radius eta adaptive initial_simplex maxCGit stepmx accuracy minfev rescale offset scale direc return_all
    """.split()
)
SILENT = frozenset(("disp", "iprint"))


class Minimum(Kind):
    """The result of a minimiser: facts by name."""

    __slots__ = ("attributes", "facts")
    description = "the result of a minimizer"

    def __init__(self, facts: dict[str, Any]) -> None:
        self.facts = facts
        self.attributes = {name: lambda found, name=name: found.facts[name] for name in facts}  # type: ignore[misc]

    def text(self, show: Callable[[Any], str]) -> str:
        return "\n".join(f"{name:>{max(map(len, self.facts))}}: {show(fact)}" for name, fact in self.facts.items())

    def to_plain(self) -> Any:
        return {name: to_plain(fact) for name, fact in self.facts.items()}


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
        y = as_operand(y)
        if y.__class__ is str or int(np.prod(shape_of(y))) != 1:
            raise failure(
                "E0507", f"{self.what} needs a number as the value, and got {describe(y)}", "sum or average it"
            )
        return float(self.array(y).ravel()[0])

    def pair(self, found: Any) -> tuple[float, Any]:
        """A value and its gradient, which a function returned."""
        if found.__class__ not in (tuple, list) or len(found) != 2:
            raise failure("E0508", f"{self.what} needs a function that returns (value, gradient)")
        if found[1] is None:
            raise failure(
                "E0508", f"{self.what}: no operation that has a derivative leads from x to the value",
                "leave out .numpy() and float(), or give jac=...",
            )  # fmt: skip
        value, g = self.number(found[0]), self.array(found[1])
        if g.size != self.start.size:
            raise failure(
                "E0302",
                f"{self.what}: the gradient has shape {shape_text(g.shape)}, and x has {shape_text(self.start.shape)}",
            )
        return value, g.reshape(-1)

    def function(self, f: Any, convert: Callable[[Any], Any]) -> Callable[..., Any]:
        """A function of the program as one of SciPy's vectors."""
        return lambda *xs: convert(invoke(f, [self.tensor(x) for x in xs], {}))


def value_and_gradient(f: Any, x: Any) -> tuple[Any, Any]:
    """f(x) and its gradient; None where nothing leads from x to it."""
    y, (g,) = drivers.value_and_gradients(lambda inputs: invoke(f, inputs, {}), [x])
    return y, g


def minimize(
    what: str, f: Any, x0: Any, method: str, with_gradient: bool, given: dict[str, Any], options: Any = None, tol: Any = None
) -> Minimum:  # fmt: skip
    """What a method of SciPy's finds. `f` returns the value, or (value, gradient) where it is `with_gradient`.

    `given` has what else SciPy takes: functions hess, hessp, callback; bounds and constraints.
    """
    if method not in METHODS:
        raise failure("E0401", f"minimize has no method '{method}'", f"the methods are {', '.join(METHODS)}")
    start = Vector(x0, what)
    taken = {
        name: start.function(one, start.array) if name in ("hess", "hessp", "callback") else one
        for name, one in given.items()
    }
    if "callback" in given:
        taken["callback"] = start.function(given["callback"], lambda found: None)
    if "constraints" in given:
        taken["constraints"] = [
            {name: one if name == "type" else start.function(one, start.array) for name, one in each.items()}
            for each in given["constraints"]
        ]
    function = start.function(callable_of(f, what), start.pair if with_gradient else start.number)
    with unrecorded():
        found = optimize.minimize(
            function, start.start, jac=with_gradient, method=method, tol=None if tol is None else static(tol),
            options=static_options(options or {}), **taken,
        )  # fmt: skip
    if RECORDERS:  # what the function reads beside its argument
        path_ends([as_operand(x) for x in flatten(invoke(f, [start.tensor(found.x)], {})) if x is not None], what)
    facts = {"message": str(found.message), "success": bool(found.success), "status": int(found.status)}
    facts |= {
        "fun": float(found.fun),
        "x": start.tensor(found.x),
        "nit": int(found.get("nit", 0)),
        "nfev": int(found.nfev),
    }
    if "jac" in found:
        facts |= {"jac": start.tensor(found.jac), "njev": int(found.get("njev", found.nfev))}
    return Minimum(facts)


def static_options(options: Any) -> dict[str, Any]:
    if options.__class__ is not dict:
        raise failure(
            "E0304", f"minimize: the options are a dict, and not {describe(options)}", "write {'maxiter': 100}"
        )
    unknown = [name for name in options if name not in OPTIONS and name not in SILENT]
    if unknown:
        raise failure(
            "E0305", f"minimize has no option {unknown[0]!r}", f"its options are {', '.join(sorted(OPTIONS))}"
        )
    return {str(name): static(as_operand(value)) for name, value in options.items() if name not in SILENT}


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "internal.minimize": minimize,
    "internal.minimum": lambda facts: Minimum(facts),
    "internal.value_and_gradient": value_and_gradient,
}
