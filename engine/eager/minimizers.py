"""Minimisers as programs call them, served by SciPy, and what packs their variables into the one vector that they take."""

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
from ..core.tensor import OPERATORS, Tensor, shape_of
from ..kinds.access import iterate
from ..kinds.kind import Kind
from ..kinds.variable import Variable
from ..plain import to_plain
from .derived import Derived, callable_of, invoke
from .structure import flatten, rebuild
from .transforms import Arguments, gradients_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

WITHOUT_GRADIENT = ("nelder-mead", "powell", "cobyla")
WITH_PRODUCTS = ("newton-cg", "trust-ncg")
METHODS = (*WITHOUT_GRADIENT, *WITH_PRODUCTS, "trust-exact", "cg", "bfgs", "l-bfgs-b", "tnc", "slsqp")


class Minimum(Kind):
    """The result of a minimiser: facts by name."""

    __slots__ = ("attributes", "facts")
    description = "the result of a minimizer"

    def __init__(self, **facts: Any) -> None:
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

    def path_ends(self, evaluate: Callable[[], Any]) -> None:
        """Tell tapes around, if there are some, that the path of what the function reads beside its argument ends here."""
        if RECORDERS:
            path_ends([as_operand(x) for x in flatten(evaluate())], self.what)

    def tensor(self, x: Any) -> Any:
        return wrap(np.array(x, dtype=self.dtype.name), self.dtype)

    def number(self, y: Any) -> float:
        y = as_operand(y)
        if (
            y.__class__ is str
            or int(np.prod(shape_of(y))) != 1
            or (y.__class__ is Tensor and y.dtype.kind not in "bif")
        ):
            raise failure(
                "E0507", f"{self.what} needs a number as the value, and got {describe(y)}", "sum or average it"
            )
        return float(np.ravel(y.value if y.__class__ is Tensor else y)[0])

    def array(self, g: Any) -> Any:
        g = as_operand(g)
        if g.__class__ is str or (g.__class__ is Tensor and g.dtype.kind not in "bif"):
            raise failure("E0301", f"{self.what} needs floats, and got {describe(g)}")
        return np.asarray(g.value if g.__class__ is Tensor else g, dtype=np.float64)

    def pair(self, found: Any) -> tuple[float, Any]:
        """A value and its gradient, which a function returned."""
        if found.__class__ not in (tuple, list) or len(found) != 2:
            raise failure("E0508", f"{self.what} needs a function that returns (value, gradient)")
        g = self.array(found[1])
        if g.size != self.start.size:
            raise failure(
                "E0302",
                f"{self.what}: the gradient has shape {shape_text(g.shape)}, and x has {shape_text(self.start.shape)}",
            )
        return self.number(found[0]), g.reshape(-1)


def minimize(
    fun: Any, x0: Any, args: Any = (), method: Any = None, jac: Any = None, hess: Any = None, hessp: Any = None,
    bounds: Any = None, constraints: Any = (), tol: Any = None, callback: Any = None, options: Any = None,
) -> Minimum:  # fmt: skip
    """`scipy.optimize.minimize`. Derivatives that are not given are adiff's own."""
    callable_of(fun, "minimize", "write minimize(lambda x: ..., x0)")
    x0 = Vector(x0, "minimize")
    extra = list(args) if args.__class__ in (tuple, list) else [args]
    constraints = [constraints] if constraints.__class__ is dict else list(iterate(constraints))
    name = (
        str(static(method)).lower()
        if method is not None
        else "slsqp"
        if constraints
        else "bfgs"
        if bounds is None
        else "l-bfgs-b"
    )
    if name not in METHODS:
        raise failure("E0401", f"minimize has no method '{name}'", f"the methods are {', '.join(METHODS)}")

    def objective(inputs: list[Any]) -> Any:
        y = invoke(fun, [*inputs, *extra], {})
        return y[0] if jac is True and y.__class__ in (tuple, list) and y else y

    def with_gradient(x: Any) -> tuple[float, Any]:
        y, (g,) = drivers.value_and_gradients(objective, [x0.tensor(x)])
        if g is None:
            raise failure(
                "E0508", "minimize: no operation that has a derivative leads from x to the value",
                "leave out .numpy() and float(), or give jac=...",
            )  # fmt: skip
        return x0.number(y), x0.array(g)

    def called(f: Any) -> Any:
        return lambda x, *rest: x0.array(invoke(f, [x0.tensor(one) for one in (x, *rest)] + extra, {}))

    given: dict[str, Any] = {"bounds": None if bounds is None else [ends(pair) for pair in iterate(bounds)]}
    function: Any = with_gradient
    if name in WITHOUT_GRADIENT:
        function = lambda x: x0.number(objective([x0.tensor(x)]))  # noqa: E731
    elif jac is True:
        function = lambda x: x0.pair(invoke(fun, [x0.tensor(x), *extra], {}))  # noqa: E731
    elif jac.__class__ not in (type(None), bool, str):
        gradient = called(callable_of(jac, "minimize", "write jac=lambda x: ..., or leave it out"))
        function = lambda x: (x0.number(objective([x0.tensor(x)])), gradient(x))  # noqa: E731
    if hess is not None or hessp is not None:
        given["hess" if hess is not None else "hessp"] = called(hess if hess is not None else hessp)
    elif name in WITH_PRODUCTS:
        given["hessp"] = lambda x, p: dense(drivers.hvp(objective, [x0.tensor(x)], [x0.tensor(p)])[2][0], x.shape, x0)
    elif name == "trust-exact":
        given["hess"] = lambda x: dense(drivers.hessian(objective, [x0.tensor(x)])[2][0][0], 2 * x.shape, x0)
    if constraints:
        given["constraints"] = [constraint(one, x0) for one in constraints]
    if callback is not None:
        given["callback"] = lambda xk: invoke(callback, [x0.tensor(xk)], {})
    with unrecorded():
        found = optimize.minimize(
            function, x0.start, jac=name not in WITHOUT_GRADIENT, method=name,
            tol=None if tol is None else static(tol), options={} if options is None else static_items(options), **given,
        )  # fmt: skip
    x0.path_ends(lambda: objective([x0.tensor(found.x)]))
    facts = {"message": str(found.message), "success": bool(found.success), "status": int(found.status)}
    facts |= {
        "fun": float(found.fun),
        "x": x0.tensor(found.x),
        "nit": int(found.get("nit", 0)),
        "nfev": int(found.nfev),
    }
    if "jac" in found:
        facts |= {"jac": x0.tensor(found.jac), "njev": int(found.get("njev", found.nfev))}
    return Minimum(**facts)


def dense(found: Any, shape: tuple[int, ...], x0: Vector) -> Any:
    """A derivative as an array; zeros for None."""
    return np.zeros(shape) if found is None else x0.array(found)


def ends(pair: Any) -> tuple[float | None, ...]:
    """The lower and the upper bound of a number."""
    found = tuple(None if end is None else float(static(as_operand(end))) for end in iterate(pair))
    if len(found) != 2:
        raise failure("E0302", f"minimize: a bound is a pair (low, high), and this one has {len(found)} values")
    return found


# SciPy's options that a program may give, and those that would have it write to the terminal, which are passed over.
OPTIONS = frozenset(
    """
    maxiter maxfev maxfun maxcor maxls gtol ftol xtol xatol fatol xrtol eps norm c1 c2 hess_inv0 initial_trust_radius
    max_trust_radius eta adaptive initial_simplex maxCGit stepmx accuracy minfev rescale offset scale direc return_all
    """.split()
)
SILENT = frozenset(("disp", "iprint"))


def static_items(options: Any) -> dict[str, Any]:
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


def constraint(one: Any, x0: Vector) -> dict[str, Any]:
    """A constraint {'type': 'eq' or 'ineq', 'fun': f}, with adiff's Jacobian unless there is a 'jac'."""
    if one.__class__ is not dict or one.get("type") not in ("eq", "ineq") or "fun" not in one:
        raise failure("E0508", "minimize: a constraint is {'type': 'eq', 'fun': f}, or 'ineq' where f(x) is at least 0")
    extra = list(one.get("args", ()))

    def value(inputs: list[Any]) -> Any:
        return as_operand(invoke(one["fun"], [*inputs, *extra], {}))

    def jacobian(x: Any) -> Any:
        if one.get("jac") is not None:
            return x0.array(invoke(one["jac"], [x0.tensor(x), *extra], {}))
        y, (found,), _ = drivers.jacobian(value, [x0.tensor(x)])
        return dense(found, shape_of(y) + x.shape, x0)

    return {"type": one["type"], "fun": lambda x: x0.array(value([x0.tensor(x)])), "jac": jacobian}


def lbfgs_minimize(
    value_and_gradients_function: Any, initial_position: Any = None, previous_optimizer_results: Any = None,
    num_correction_pairs: Any = 10, tolerance: Any = 1e-8, x_tolerance: Any = 0, f_relative_tolerance: Any = 0,
    initial_inverse_hessian_estimate: Any = None, max_iterations: Any = 50, parallel_iterations: Any = 1,
    stopping_condition: Any = None, max_line_search_iterations: Any = 50, f_absolute_tolerance: Any = 0,
) -> Minimum:  # fmt: skip
    """`tfp.optimizer.lbfgs_minimize` of one start. It is SciPy's L-BFGS-B, whose steps are others."""
    f = callable_of(value_and_gradients_function, "lbfgs_minimize", "write a function that returns (value, gradient)")
    if initial_position is None:
        raise failure("E0305", "lbfgs_minimize needs 'initial_position'", "pack(variables) makes one")
    x0 = Vector(initial_position, "lbfgs_minimize")
    options = {
        "gtol": static(tolerance), "ftol": static(f_relative_tolerance), "maxiter": static(max_iterations),
        "maxls": static(max_line_search_iterations), "maxcor": static(num_correction_pairs), "maxfun": 10**9,
    }  # fmt: skip
    with unrecorded():
        found = optimize.minimize(
            lambda x: x0.pair(invoke(f, [x0.tensor(x)], {})), x0.start, jac=True, method="L-BFGS-B", options=options
        )
    x0.path_ends(lambda: invoke(f, [x0.tensor(found.x)], {}))
    return Minimum(
        converged=bool(found.success), failed=found.status == 2, num_iterations=int(found.nit),
        num_objective_evaluations=int(found.nfev), position=x0.tensor(found.x),
        objective_value=x0.tensor(found.fun), objective_gradient=x0.tensor(found.jac),
    )  # fmt: skip


def value_and_gradient(f: Any, *args: Any) -> Any:
    """`tfp.math.value_and_gradient`: (f(*args), its gradient by each); a result that is no scalar is summed for it."""
    call = Arguments(
        callable_of(f, "value_and_gradient"), list(args), {}, 0 if len(args) == 1 else tuple(range(len(args)))
    )
    y, gradients = drivers.value_and_gradients(call.function, call.leaves)
    return y, call.result(gradients_of(gradients, y, call.leaves))


def pack(variables: Any) -> Any:
    """The elements of all variables, or tensors, as one vector (a dynamic_stitch)."""
    parts = [OPERATORS.reshape(as_operand(x), shape=(-1,)) for x in flatten(variables)]
    if not parts:
        raise failure("E0401", "pack needs at least one variable")
    places = np.split(np.arange(sum(x.shape[0] for x in parts)), np.cumsum([x.shape[0] for x in parts])[:-1])
    return OPERATORS.dynamic_stitch([as_operand(place.tolist()) for place in places], parts)


def unpack(vector: Any, variables: Any) -> Any:
    """The parts of a vector in the shapes and the structure of `variables` (a dynamic_partition); Variables among them are
    assigned."""
    vector, leaves = as_operand(vector), flatten(variables)
    shapes = [shape_of(x) if x.__class__ is Variable else shape_of(as_operand(x)) for x in leaves]
    sizes = [int(np.prod(shape)) for shape in shapes]
    if shape_of(vector) != (sum(sizes),):
        raise failure(
            "E0302", f"unpack needs a vector of {sum(sizes)} elements for these variables, and got {describe(vector)}"
        )
    owners = as_operand(np.repeat(np.arange(len(sizes)), sizes).tolist())
    parts = OPERATORS.dynamic_partition(vector, owners, len(sizes))
    parts = [OPERATORS.reshape(part, shape=shape) for part, shape in zip(parts, shapes)]
    for x, part in zip(leaves, parts):
        if x.__class__ is Variable:
            x.assign_value(part)
    return rebuild(variables, parts)


def shape_n(input: Any, out_type: Any = None) -> list[Any]:
    """The shape of each of several tensors."""
    keywords = {} if out_type is None else {"out_type": out_type}
    return [OPERATORS.shape.call((x,), keywords) for x in iterate(input)]


def py_function(func: Any = None, inp: Any = None, Tout: Any = None) -> Any:
    """TensorFlow's call of a Python function from a graph: a call; without a function, a decorator."""
    if func is None:
        return Derived("py_function", lambda args, keywords: args[0])
    return invoke(func, list(iterate(inp)), {})


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "py_function": py_function,
    "minimize": minimize,
    "lbfgs_minimize": lbfgs_minimize,
    "value_and_gradient": value_and_gradient,
    "pack": pack,
    "unpack": unpack,
    "shape_n": shape_n,
}
