"""One command of a program at many points: what the first point decided is not decided again."""

from __future__ import annotations

import time
from math import prod

from .outcome import Outcome

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from .api import Program

ARRAY, WHOLES, NUMBER, WHOLE, FIXED = "array", "array of integers", "number", "whole", "fixed"
# Options under which every evaluation must be looked at as a whole.
DECIDED_EACH_TIME = frozenset(("max_steps", "max_memory", "timeout", "dtype", "write"))

# What takes no longer need not be stopped.
QUICK_SECONDS = 0.1
# The square of so many numbers is the quickest look at them all; of more, it is handed to threads, which are waited for.
FEW = 2000


class Repeated:
    """Evaluates one command at points like the one that it was made for.

    Where a kernel answered there, a call hands the point to it and does no more than must be done each time: a few
    microseconds. A point of another kind (names, dtypes, shapes), a singular point, a result that is not finite and
    whatever the kernel leaves to the tape are evaluated in full, so that the answers are those of `Program.evaluate`.
    """

    def __init__(
        self, program: Program, command: str, at: Mapping[str, Any], wrt: Sequence[str] | None, options: dict[str, Any]
    ) -> None:
        self.program = program
        self.command = command
        self.wrt = None if wrt is None else list(wrt)
        self.options = options
        self.first = program.evaluate(command, at, wrt, **options)
        self.names = list(at) if wrt is None else list(dict.fromkeys(wrt))
        self.inputs: list[tuple[str, str, Any]] | None = None
        self.seeds: list[Any] = []
        self.compiled: Any = None
        # Seconds that the tape has spent on calls, until a kernel is tried: None once it has been.
        self.spent: float | None = 0.0 if options.get("engine") in (None, "auto") else None
        # Whether the kernel is done in a moment, by the integers that bound its loops.
        self.quick: dict[tuple[int, ...], bool] = {}
        self.spec: dict[str, Any] = {}
        self.tools: tuple[Any, ...] = ()
        self.within_limit: Any = None
        self.dtypes: dict[str, Any] = {}
        # The places of the integers among the kernel's arguments.
        self.bounding: list[int] = []
        # Whether the result depends on every source whatever the inputs are; the shapes of the sources that need one.
        self.certain = False
        self.shapes: list[tuple[int, ...] | None] = []
        self.adopt(self.first, at)

    def adopt(self, outcome: Outcome, at: Mapping[str, Any]) -> None:
        """Use the kernel that gave an outcome from now on, if one did."""
        self.first = outcome
        self.compiled = outcome.kernel
        if self.compiled is not None:
            self.spent = None
        if self.covered():
            self.plan(at)

    def covered(self) -> bool:
        """Whether there is a way past the evaluation as a whole."""
        compiled = self.compiled
        if compiled is None or self.first.notices or not DECIDED_EACH_TIME.isdisjoint(self.options):
            return False
        if self.command == "hvp":
            return set(self.options["vector"]) <= set(self.names)
        return self.command in ("value", "grad", "jacobian")

    def plan(self, at: Mapping[str, Any]) -> None:
        """What each parameter of the kernel is, so far as that is decided by looking at the point."""
        import numpy as np

        core = self.program.core
        inputs: list[tuple[str, str, Any]] = []
        differentiated = self.names if self.command != "value" else []
        if self.command != "value" and self.wrt is None:
            differentiated = self.names = list(core.inputs) + [n for n in at if n not in core.inputs]
        fixed = self.program.kernels.known if self.program.kernels is not None else ()
        for name in [*core.inputs, *(n for n in core.optional if n in at)]:
            value = at[name]
            cls = value.__class__
            if name in fixed:
                if cls is not int or name in differentiated:
                    return
                inputs.append((name, FIXED, value))
            elif cls is np.ndarray and value.dtype == np.float64 and value.ndim:
                inputs.append((name, ARRAY, value.shape))
            elif cls is np.ndarray and value.dtype == np.int64 and value.ndim and name not in differentiated:
                inputs.append((name, WHOLES, value.shape))
            elif cls is float or (cls is int and name in differentiated):
                inputs.append((name, NUMBER, None))
            elif cls is int:
                inputs.append((name, WHOLE, None))
            elif cls is bool or cls is str:
                inputs.append((name, FIXED, value))
            else:
                return
        if self.command == "hvp":
            vectors = self.options["vector"]
            for vector, like in ((vectors[name], at[name]) for name in self.names if name in vectors):
                if vector.__class__ is not np.ndarray or vector.dtype != np.float64 or vector.shape != np.shape(like):
                    return
                self.seeds.append(np.array(vector, dtype=np.float64).reshape(-1))
        count = sum(kind != FIXED for _, kind, _ in inputs) + len(self.seeds)
        built = self.compiled.built
        if count != len(self.compiled.emitted.parameters) or built.counted or len(inputs) != len(at):
            return
        from .kernels.inputs import within_limit
        from .kernels.ir import Left, Stopped, Unsupported
        from .kernels.runtime import connected, reshaped

        # What every call needs, imported once.
        self.tools = (Left, Stopped, Unsupported, connected, reshaped)
        self.within_limit = within_limit
        self.dtypes = {ARRAY: np.dtype(np.float64), WHOLES: np.dtype(np.int64)}
        handed = [kind for _, kind, _ in inputs if kind != FIXED]
        self.bounding = [k for k, kind in enumerate(handed) if kind == WHOLE]
        self.certain = built.sure.issuperset(self.names) and built.lost.keys().isdisjoint(self.names)
        shapes = {name: detail for name, kind, detail in inputs if kind == ARRAY and len(detail) > 1}
        self.shapes = [shapes.get(name) for name in self.names]
        self.inputs = inputs
        self.spec = {name: detail if kind == ARRAY else () for name, kind, detail in inputs}

    def arguments(self, at: Mapping[str, Any]) -> list[Any] | None:
        """The kernel's arguments, or None for a point of another kind."""
        if self.inputs is None or len(at) != len(self.inputs):
            return None
        found: list[Any] = []
        for name, kind, detail in self.inputs:
            value = at.get(name)
            cls = value.__class__
            if kind in self.dtypes:
                if cls.__name__ != "ndarray" or value.shape != detail or value.dtype != self.dtypes[kind]:  # type: ignore[union-attr]
                    return None
                if not value.flags.c_contiguous:  # type: ignore[union-attr]
                    value = value.copy()  # type: ignore[union-attr]
                if kind == WHOLES and not self.within_limit(value):
                    return None
                found.append(value)
            elif kind == FIXED:
                if cls is not detail.__class__ or value != detail:
                    return None
            elif (cls is float or cls is int) if kind == NUMBER else cls is int:
                if abs(value) > 2**53 and cls is int:  # type: ignore[arg-type]
                    return None
                found.append(float(value) if kind == NUMBER else value)  # type: ignore[arg-type]
            else:
                return None
        return found + self.seeds

    def __call__(self, at: Mapping[str, Any]) -> Outcome:
        """The outcome at a point; of a call that was cut short it has the value, the derivatives and the engine."""
        given = self.arguments(at)
        found = None if given is None else self.by_kernel(given)
        return found or self.in_full(at)

    def in_full(self, at: Mapping[str, Any]) -> Outcome:
        """The evaluation as a whole. What the tape has spent what a compiler takes is compiled: more calls will come."""
        if self.spent is None:
            return self.program.evaluate(self.command, at, self.wrt, **self.options)
        from .kernels.work import START_SECONDS

        if self.spent > START_SECONDS:
            self.spent = None
            outcome = self.program.evaluate(self.command, at, self.wrt, **{**self.options, "engine": "kernel"})
            if outcome.engine == "kernel":
                outcome.reason = "called often enough to repay the compiler"
                self.adopt(outcome, at)
            return outcome
        start = time.perf_counter()
        outcome = self.program.evaluate(self.command, at, self.wrt, **self.options)
        self.spent += time.perf_counter() - start
        if outcome.kernel is not None:
            self.adopt(outcome, at)
        return outcome

    def by_kernel(self, given: list[Any]) -> Outcome | None:
        """The kernel's answer, or None where it must be looked at more closely."""
        Left, Stopped, Unsupported, connected, reshaped = self.tools
        built = self.compiled.built
        try:
            results = self.called(given)
        except (Left, Stopped):
            return None
        if built.whole and results[1]:
            return None
        if built.noted:
            if any(results[-1]):
                return None
            results = results[:-1]
        value = results[0]
        if value.__class__ is not float:
            value = reshaped(value, built.shape)
        if not finite(value):
            return None
        outcome = Outcome()
        outcome.engine = "kernel"
        outcome.reason = self.first.reason
        outcome.value = value
        if self.command == "value":
            return outcome
        if self.command == "jacobian":
            return self.with_jacobian(outcome, results[1:])
        names, n = self.names, len(self.names)
        if self.certain:
            gradients = [g if shape is None else g.reshape(shape) for shape, g in zip(self.shapes, results[1:])]
        else:
            try:
                gradients = connected(built, names, results[1 : n + 1], self.spec, given)
            except Unsupported:
                return None
        for g in gradients:
            if g is None or not finite(g):
                return None
        outcome.gradients = dict(zip(names, gradients))
        if self.command == "hvp":
            products = [reshaped(p, self.spec[name]) for name, p in zip(names, results[n + 1 :])]
            if not all(map(finite, products)):
                return None
            outcome.product = dict(zip(names, products))
        return outcome

    def with_jacobian(self, outcome: Outcome, tables: Sequence[Any]) -> Outcome | None:
        """An outcome with the blocks of the kernel's table of directions, or of its tables of rows."""
        if not self.certain or not all(map(finite, tables)):
            return None
        import numpy as np

        forward = self.first.mode == "forward"
        rows = prod(self.compiled.built.shape)
        columns = tables[0].reshape(-1, rows) if forward else None
        blocks: dict[str, Any] = {}
        start = 0
        for k, name in enumerate(self.names):
            shape = self.spec[name]
            part = tables[k] if columns is None else columns[start : start + prod(shape)].T
            start += prod(shape)
            # A derivative of -0.0 is 0.0 to everybody.
            blocks[name] = np.add(part, 0.0, order="C").reshape(self.compiled.built.shape + shape)
        outcome.jacobian = blocks
        outcome.mode = self.first.mode
        return outcome

    def called(self, given: list[Any]) -> Any:
        """The kernel's results. A kernel is watched, so that signals stop it, unless it is known to be done at once."""
        bounds = tuple([given[k] for k in self.bounding])
        quick = self.quick.get(bounds)
        if quick is not None:
            return self.compiled.entry(*given, patient=quick)
        from .kernels.work import surely_ends, surely_quick

        start = time.perf_counter()
        quick = surely_quick(self.compiled.built, given, self.compiled.emitted.heaviest)
        results = self.compiled.entry(*given, patient=quick)
        # Where data do not bound loops, the next run takes as long as this one.
        if not quick and surely_ends(self.compiled.built, given):
            quick = time.perf_counter() - start < QUICK_SECONDS
        if len(self.quick) > 1000:
            self.quick.clear()
        self.quick[bounds] = quick
        return results


def finite(x: Any) -> bool:
    """Whether no element is nan or infinite; False too where the squares of a few overflow."""
    if x.__class__ is not float and hasattr(x, "reshape") and x.ndim:
        if x.dtype.kind != "f":
            return True
        if x.size > FEW:
            import numpy as np

            return bool(np.isfinite(x).all())
        flat = x if x.ndim == 1 else x.reshape(-1)
        x = float(flat.dot(flat))
    return bool(x - x == 0.0)
