"""The minimum of a program over some of its inputs: SciPy's methods, and loops of gradient descent.

Without a method L-BFGS-B runs first, and Newton's method in a trust region with the exact Hessian follows where there are at
most MOST_EXACT numbers without bounds: where L-BFGS-B stands still far from the minimum, since the scales of the inputs
differ by many orders, it goes on.
"""

from __future__ import annotations

import warnings

import numpy as np
from scipy.optimize import Bounds, nnls
from scipy.optimize import minimize as scipy_minimize

from ..parser.errors import AdiffError
from .core.operands import shape_text
from .objective import Constraint, Objective, Variables, comparisons, placed
from .unbound import first_use, unbound_hint

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from .api import Program
    from .outcome import Outcome

    Report = Callable[[int, float, float, dict[str, Any]], None]

# The names that SciPy has for its methods, and the options in which each takes the tolerance and the number of iterations.
SCIPY: dict[str, tuple[str, Callable[[float, int], dict[str, Any]]]] = {
    "l-bfgs-b": ("L-BFGS-B", lambda t, n: {"ftol": 0.0, "gtol": t, "maxiter": n, "maxfun": 20 * n}),
    "bfgs": ("BFGS", lambda t, n: {"gtol": t, "maxiter": n}),
    "newton-cg": ("Newton-CG", lambda t, n: {"xtol": 1e-12, "maxiter": n}),
    "trust-ncg": ("trust-ncg", lambda t, n: {"gtol": t, "maxiter": n}),
    "tnc": ("TNC", lambda t, n: {"ftol": 0.0, "xtol": 0.0, "gtol": t, "maxfun": n}),
    "slsqp": ("SLSQP", lambda t, n: {"ftol": t**2, "maxiter": n}),
}
DESCENTS = ("gradient-descent", "momentum", "adam")
METHODS = (*SCIPY, *DESCENTS)
WITH_BOUNDS = ("l-bfgs-b", "tnc", "slsqp")
WITH_PRODUCTS = ("newton-cg", "trust-ncg")
NEWTON = "l-bfgs-b, then newton"
EXACT = {"gtol": 1e-14, "maxiter": 200, "max_trust_radius": 1e12}  # of SciPy's Newton steps
MOST_EXACT = 100  # numbers up to which the Hessian is found
PROMISE = 1e-10  # of the value: a Newton step that promises less changes nothing
FAR = 1e12  # times the largest entry of the start, or 1: a minimum farther away is none
FEASIBLE = 1e-7  # how far a constraint may be off where it holds, and counts as one that is reached


class Minimum:
    """What a minimisation found. `start` and `optimum` have the inputs by name; `outcome` is that of the program there."""

    start: dict[str, Any]
    optimum: dict[str, Any]
    outcome: Outcome
    value: float
    gradient_norm: float
    iterations: int
    evaluations: int
    method: str
    converged: bool
    verdict: str


def minimize(
    program: Program,
    start: Mapping[str, Any],
    at: Mapping[str, Any],
    method: str | None = None,
    bounds: Mapping[str, tuple[Any, Any]] | None = None,
    constraints: Sequence[str] = (),
    learning_rate: float = 0.01,
    max_iterations: int = 10_000,
    tolerance: float = 1e-8,
    report: Report | None = None,
    **options: Any,
) -> Minimum:
    """The minimum of a program whose value is a number, over the inputs in `start`; those in `at` stay as they are.

    `bounds` gives an input's least and greatest values, which are broadcast to its shape. `constraints` are comparisons
    by <=, >= and ==. `report` hears of each iteration: its number, value, gradient norm and the
    inputs by name. `options` are those of `Program.evaluate`. The gradient norm is that of what is left of the gradient when
    the parts that bounds and constraints hold are taken off: its largest entry. Raises AdiffError.
    """
    if max_iterations < 1:
        raise AdiffError("E0812", "--max-iterations: minimize takes at least one iteration", None, "write 1 or more")
    variables = Variables(start, options.get("dtype") == "float32")
    compared = [pair for text in constraints for pair in comparisons(text)]
    for one, _, text in ((program, "", ""), *compared):
        for name in one.inputs:
            if name not in start and name not in at:
                hint = unbound_hint(one, name) or f"give it a start: --start {name}=..., or fix it: --at {name}=..."
                raise placed(AdiffError("E0801", f"'{name}' is not bound", first_use(one, name), hint), text)
    elsewhere = {name for one, *_ in compared for name in (*one.inputs, *one.optional)}
    objective = Objective(program, variables, at, elsewhere, options)
    lower, upper = limits_of(variables, bounds or {})
    held = [Constraint(*pair, variables, at, options) for pair in compared]
    task = Task(objective, lower, upper, held, tolerance, max_iterations, report)
    name = method or ("slsqp" if constraints else NEWTON)
    x, value = variables.start.clip(lower, upper), objective.best[1]
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")  # SciPy's words about its line searches, which the verdict says
        if not np.isfinite(value):
            message = "it is not finite at the start"
        elif name in DESCENTS:
            x, message = task.descend(name, x, learning_rate)
        else:
            x, message = task.by_scipy("l-bfgs-b" if name == NEWTON else name, x)
        if name == NEWTON and not task.endless and x.size <= MOST_EXACT and not bounds and np.isfinite(value):
            x = task.by_newton(x)
        return task.minimum(name, x, message)


def limits_of(variables: Variables, bounds: Mapping[str, tuple[Any, Any]]) -> tuple[Any, Any]:
    """The least and the greatest value of each number."""
    known = {name: shape for name, shape, _ in variables.parts}
    ends: tuple[dict[str, Any], dict[str, Any]] = ({}, {})
    for name, shape in known.items():
        for end, default, found in zip((0, 1), (-np.inf, np.inf), ends):
            value = bounds[name][end] if name in bounds else None
            try:
                found[name] = np.broadcast_to(np.asarray(default if value is None else value, dtype=np.float64), shape)
            except (TypeError, ValueError):
                raise AdiffError(
                    "E0812", f"--bounds: what is given for '{name}' does not fit its shape {shape_text(shape)}"
                ) from None
    lower, upper = (variables.pack(found) for found in ends)
    if not (lower <= upper).all():
        raise AdiffError("E0812", "--bounds: a lower bound is above the upper one", None, "write x=LOW:HIGH")
    return lower, upper


class Task:
    """One minimisation: the objective within bounds and constraints, and how long it may go on."""

    def __init__(
        self, objective: Objective, lower: Any, upper: Any, constraints: list[Constraint], tolerance: float, most: int,
        report: Report | None,
    ) -> None:  # fmt: skip
        self.objective = objective
        self.lower = lower
        self.upper = upper
        self.constraints = constraints
        self.tolerance = tolerance
        self.most = most
        self.report = report
        self.iterations = 0
        self.endless = False
        if report is not None:
            self.tell(objective.variables.start)

    def tell(self, x: Any) -> None:
        if self.report is not None:
            f, g = self.objective.evaluate(x)
            self.report(self.iterations, f, self.norm(x, g), self.objective.variables.unpack(x))

    def iterated(self, x: Any) -> None:
        """Count an iteration that has come to x. (SciPy calls this, with a place that it may change afterwards.)"""
        self.iterations += 1
        self.tell(np.array(x))

    def iterated_by_scipy(self, x: Any) -> None:
        """Count an iteration, and end the method where it has left all scales behind."""
        self.iterated(x)
        self.endless = bool(np.abs(x).max() > FAR * max(1.0, np.abs(self.objective.variables.start).max()))
        if self.endless:
            raise StopIteration

    def norm(self, x: Any, g: Any) -> float:
        """The largest entry of what is left of the gradient: less the best sum, with weights that are not negative, of the
        gradients of all constraints that are reached (the conditions of Karush, Kuhn and Tucker)."""
        free = self.free(x, g, FEASIBLE)
        rows = [np.zeros((0, x.size))]
        for one in self.constraints:
            values, slopes = one.value(x), one.slopes(x)
            rows += [slopes[values <= FEASIBLE]] if one.kind == "ineq" else [slopes, -slopes]
        g, reached = g[free], np.concatenate(rows)[:, free]
        if reached.size and np.isfinite(reached).all() and np.isfinite(g).all():
            g = g - reached.T @ nnls(reached.T, g)[0]
        return float(np.abs(g).max(initial=0.0))

    def free(self, x: Any, g: Any, near: float = 0.0) -> Any:
        """Which numbers no bound holds: those between their bounds, and those whose way down leads inwards."""
        return ~(((x <= self.lower + near) & (g >= 0)) | ((x >= self.upper - near) & (g <= 0)))

    def by_scipy(self, method: str, x: Any) -> tuple[Any, str]:
        """Where a method of SciPy's ends, and what it says of that."""
        name, options_of = SCIPY[method]
        given: dict[str, Any] = {}
        if method in WITH_PRODUCTS:
            given["hessp"] = self.objective.hvp
        if method in WITH_BOUNDS and (np.isfinite(self.lower) | np.isfinite(self.upper)).any():
            given["bounds"] = Bounds(self.lower, self.upper)
        if self.constraints:
            given["constraints"] = [{"type": c.kind, "fun": c.value, "jac": c.slopes} for c in self.constraints]
        found = scipy_minimize(
            self.objective, x, jac=True, method=name, callback=self.iterated_by_scipy,
            options=options_of(self.tolerance, self.most), **given,
        )  # fmt: skip
        if self.endless:
            return found.x, "the value falls without end: there is no minimum that way"
        if self.iterations >= self.most:
            return found.x, f"{self.most} iterations were not enough"
        said = "" if found.success else f", says SciPy's {name}: {str(found.message).strip().rstrip('.:').lower()}"
        return found.x, f"no smaller value was found{said}"

    def by_newton(self, x: Any) -> Any:
        """Where Newton's steps end: in units of each number in which the Hessian has ones on its diagonal, since SciPy's
        steps lose their way where its entries are of very different sizes."""
        sizes = np.abs(np.diag(self.objective.exact_hessian(x)))
        unit = 1 / np.sqrt(np.where(np.isfinite(sizes) & (sizes > 0), sizes, 1.0))

        def value_and_gradient(scaled: Any) -> tuple[float, Any]:
            f, g = self.objective(scaled * unit)
            return f, g * unit

        found = scipy_minimize(
            value_and_gradient, x / unit, jac=True, method="trust-exact", options=EXACT,
            hess=lambda scaled: self.objective.exact_hessian(scaled * unit) * unit * unit[:, None],
            callback=lambda scaled: self.iterated(scaled * unit),
        )  # fmt: skip
        return found.x * unit

    def descend(self, method: str, x: Any, rate: float) -> tuple[Any, str]:
        """Gradient descent, with momentum 0.9, or Adam (Kingma and Ba, 2015) with its usual 0.9, 0.999 and 1e-8."""
        mean, square = np.zeros_like(x), np.zeros_like(x)
        f, g = self.objective.evaluate(x)
        while self.iterations < self.most:
            if np.abs(g).max(initial=0.0) <= self.tolerance:
                break
            k = self.iterations + 1
            if method == "adam":
                mean, square = 0.9 * mean + 0.1 * g, 0.999 * square + 0.001 * g**2
                step = rate * mean / (1 - 0.9**k) / (np.sqrt(square / (1 - 0.999**k)) + 1e-8)
            else:
                mean = (0.9 * mean if method == "momentum" else 0.0) + g
                step = rate * mean
            f, g = self.objective.evaluate(x - step)
            if not (np.isfinite(f) and np.isfinite(g).all()):
                return (
                    x,
                    f"the value or its gradient is not finite after {k} iterations; a smaller --learning-rate may help",
                )
            x = x - step
            self.iterated(x)
        return x, f"{self.most} iterations were not enough"

    def promise(self, x: Any, g: Any) -> float:
        """Half the decrease that a Newton step promises; infinite where the Hessian is not positive definite."""
        free = self.free(x, g)
        h = self.objective.exact_hessian(x)[np.ix_(free, free)]
        scale = 1 / np.sqrt(np.diag(h))
        try:
            return float(
                np.sum(np.linalg.solve(np.linalg.cholesky(scale[:, None] * h * scale), scale * g[free]) ** 2) / 2
            )
        except np.linalg.LinAlgError:
            return np.inf

    def minimum(self, method: str, x: Any, message: str) -> Minimum:
        """The answer, with a verdict: converged where the gradient is small, or where a Newton step promises nothing."""
        objective = self.objective
        f, g = objective.evaluate(x)
        norm = self.norm(x, g)
        broken = any(
            (c.value(x) < -FEASIBLE).any() or (c.kind == "eq" and (c.value(x) > FEASIBLE).any())
            for c in self.constraints
        )
        verdict = f"not converged: the gradient's largest entry is {norm:.3g}; {message}"
        if broken or not np.isfinite(f):
            verdict = f"not converged: {'a constraint does not hold' if broken else f'the value is {f}'}; {message}"
        elif norm <= self.tolerance:
            verdict = f"converged: the gradient is zero to {self.tolerance:g}"
        elif np.isfinite(f) and not self.constraints and x.size <= MOST_EXACT:
            if self.promise(x, g) <= PROMISE * abs(f):
                verdict = "converged: no step makes the value smaller by more than rounding"
        found = Minimum()
        found.start, found.optimum = (objective.variables.unpack(one) for one in (objective.variables.start, x))
        found.outcome, found.value, found.gradient_norm = objective.outcome(x), f, norm
        found.iterations, found.evaluations = self.iterations, objective.evaluations
        found.method, found.verdict, found.converged = method, verdict, not verdict.startswith("not")
        return found
