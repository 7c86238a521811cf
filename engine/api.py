"""The Python face of adiff: `program(text)` gives a Program, and a Program its value and every derivative.

>>> import adiff
>>> adiff.program("x**2 * y").value_and_gradient({"x": 3.0, "y": 2.0})
(18.0, {'x': 12.0, 'y': 9.0})
"""

from __future__ import annotations

import sys
import time
from _thread import RLock

from ..parser.errors import AdiffError
from ..parser.parse import parse
from ..parser.source import Source, Span
from .autodiff import drivers, taylor
from .core import limits
from .core.dispatch import as_operand, shape_text, tensor
from .core.dtypes import FLOAT32, WEAK_FLOAT32
from .core.errors import failure, listing, span_of
from .core.limits import LIMITS, out_of_memory
from .core.state import RECORDERS, STATE
from .core.tensor import OPERATORS, Tensor
from .eager.builtins import INTRINSICS
from .eager.compile import Compiler
from .eager.structure import flatten
from .eager.values import UNSET
from .plain import Binding, bind, to_plain, type_of
from .program.core import For, Node, While
from .program.lower import did_you_mean, lower

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from .kernels.runtime import Kernels

# Closures nest as deeply as the text does; a frame of Python's own costs no C stack.
RECURSION_LIMIT = 400_000

COMMANDS = ("value", "grad", "jacobian", "hessian", "jvp", "vjp", "hvp", "derivative", "tape", "check", "run")


# One evaluation at a time: the record of the one that runs is global. Threads take turns.
LOCK = RLock()

CHOICES = {
    "dtype": ("float64", "float32"),
    "kinks": ("adiff", "tensorflow", "jax", "torch", "error"),
    "mode": ("auto", "forward", "reverse"),
    "engine": ("auto", "tape", "kernel"),
}
OPTIONS = frozenset(
    (*CHOICES, "tangent", "cotangent", "vector", "order", "max_steps", "max_memory", "timeout", "write")
)


def check_options(command: str, at: Any, wrt: Any, options: Mapping[str, Any]) -> None:
    """Refuse what the command line cannot say and a caller from Python can."""
    if command not in COMMANDS:
        raise AdiffError("E0811", f"no such command: {command!r}", None, f"the commands are {', '.join(COMMANDS)}")
    if at is not None and not hasattr(at, "items"):
        raise AdiffError("E0812", "`at` must be a dict from names to values")
    if wrt.__class__ is str:
        raise AdiffError("E0812", "`wrt` must be a list of names", None, f"write wrt=[{wrt!r}]")
    for name, value in options.items():
        if name not in OPTIONS:
            raise AdiffError("E0811", f"no such option: {name}", None, f"the options are {', '.join(sorted(OPTIONS))}")
        if value is not None and name in CHOICES and value not in CHOICES[name]:
            raise AdiffError("E0812", f"{name} cannot be {value!r}", None, f"it is one of {', '.join(CHOICES[name])}")
    order = options.get("order")
    if order is not None and (order.__class__ is not int or order < 0):
        raise AdiffError("E0812", f"order cannot be {order!r}", None, "it is a whole number: order=2")


class Notice:
    """Something worth knowing about a result that is right; `span` is its place, or None."""

    __slots__ = ("code", "message", "span")

    def __init__(self, code: str, message: str, span: Span | None) -> None:
        self.code = code
        self.message = message
        self.span = span

    def __repr__(self) -> str:
        return f"Notice({self.code!r}, {self.message!r})"


class Outcome:
    """What one evaluation gave; attributes that the command does not give are None."""

    __slots__ = (
        "check", "cotangents", "derivatives", "emitted", "engine", "gradients", "hessian", "jacobian", "mode", "notices", "product",
        "reason", "tangent", "tape", "timings", "types", "value",
    )  # fmt: skip

    value: Any
    gradients: dict[str, Any] | None
    jacobian: dict[str, Any] | None
    hessian: dict[str, dict[str, Any]] | None
    tangent: Any
    cotangents: dict[str, Any] | None
    product: dict[str, Any] | None
    derivatives: list[Any] | None
    tape: list[Any] | None
    check: Any
    types: dict[str, tuple[str, tuple[int, ...]]]
    notices: list[Notice]
    emitted: str | None
    engine: str
    mode: str | None
    reason: str
    timings: dict[str, float]

    def __init__(self) -> None:
        for name in self.__slots__:
            setattr(self, name, None)
        self.types = {}
        self.notices = []
        self.timings = {}
        self.engine = "tape"
        self.reason = "the tape tier runs every program"


class Program:
    """A program of the language. Its methods take `at`, the values of the inputs by name.

    Values are Python numbers, nested lists, NumPy arrays or what `constant` gives. Errors are AdiffError.
    """

    def __init__(self, text: str, name: str = "<expr>") -> None:
        start = time.perf_counter()
        self.source = Source(text, name)
        with deep_recursion():
            self.core = lower(self.source, parse(self.source))
        self.parse_seconds = time.perf_counter() - start
        self._compiled: dict[tuple[bool, bool, bool], Any] = {}
        self.kernels: Kernels | None = None

    @property
    def inputs(self) -> tuple[str, ...]:
        """The names to be bound from outside, in order of first use."""
        return tuple(self.core.inputs)

    @property
    def optional(self) -> tuple[str, ...]:
        """The names of the vocabulary (`e`, `gamma`, ...) that the program reads and that may be bound all the same."""
        return tuple(self.core.optional)

    def __repr__(self) -> str:
        return f"Program({self.source.text!r})"

    # --- the friendly methods ---------------------------------------------------------------------------------------

    def value(self, at: Mapping[str, Any] | None = None, **options: Any) -> Any:
        """The value of the program."""
        return self.evaluate("value", at, **options).value

    def value_and_gradient(
        self,
        at: Mapping[str, Any] | None = None,
        wrt: Sequence[str] | None = None,
        engine: str = "auto",
        **options: Any,
    ) -> tuple[Any, dict[str, Any]]:
        """The value and the gradient with respect to each input (or those in `wrt`); None where unconnected."""
        outcome = self.evaluate("grad", at, wrt, engine=engine, **options)
        assert outcome.gradients is not None
        return outcome.value, outcome.gradients

    def jacobian(
        self, at: Mapping[str, Any] | None = None, wrt: Sequence[str] | None = None, mode: str = "auto", **options: Any
    ) -> dict[str, Any]:
        """d value / d input, of shape value.shape + input.shape, by name."""
        outcome = self.evaluate("jacobian", at, wrt, mode=mode, **options)
        assert outcome.jacobian is not None
        return outcome.jacobian

    def hessian(
        self, at: Mapping[str, Any] | None = None, wrt: Sequence[str] | None = None, **options: Any
    ) -> dict[str, dict[str, Any]]:
        """Every block of the Hessian by row and column name."""
        outcome = self.evaluate("hessian", at, wrt, **options)
        assert outcome.hessian is not None
        return outcome.hessian

    def jvp(self, at: Mapping[str, Any], tangent: Mapping[str, Any], **options: Any) -> tuple[Any, Any]:
        """The value and the derivative in the direction `tangent` (inputs it does not name stay fixed)."""
        outcome = self.evaluate("jvp", at, tangent=tangent, **options)
        return outcome.value, outcome.tangent

    def vjp(
        self, at: Mapping[str, Any], cotangent: Any = None, wrt: Sequence[str] | None = None, **options: Any
    ) -> tuple[Any, dict[str, Any]]:
        """The value and the cotangents of the inputs for a cotangent of the value (default: ones)."""
        outcome = self.evaluate("vjp", at, wrt, cotangent=cotangent, **options)
        assert outcome.cotangents is not None
        return outcome.value, outcome.cotangents

    def hvp(
        self, at: Mapping[str, Any], vector: Mapping[str, Any], wrt: Sequence[str] | None = None, **options: Any
    ) -> dict[str, Any]:
        """The Hessian times `vector`, by input, without forming the Hessian."""
        outcome = self.evaluate("hvp", at, wrt, vector=vector, **options)
        assert outcome.product is not None
        return outcome.product

    # --- the one door -----------------------------------------------------------------------------------------------

    def evaluate(
        self, command: str, at: Mapping[str, Any] | None = None, wrt: Sequence[str] | None = None, **options: Any
    ) -> Outcome:
        """Everything the command line asks for; `command` is one of COMMANDS.

        Options: dtype, kinks, mode, tangent, cotangent, vector, order, max_steps, max_memory, timeout, engine, write.
        """
        check_options(command, at, wrt, options)
        with LOCK:
            return self._evaluate(command, at, wrt, options)

    def _evaluate(
        self, command: str, at: Mapping[str, Any] | None, wrt: Sequence[str] | None, options: dict[str, Any]
    ) -> Outcome:
        if STATE.running:
            raise AdiffError(
                "E0811", "an evaluation cannot start inside another", None, "call it after `write` has returned"
            )
        STATE.reset()
        STATE.running = True
        STATE.write = options.get("write")
        STATE.kinks = options.get("kinks") or "adiff"
        if options.get("dtype") == "float32":
            STATE.default_float = FLOAT32
            STATE.weak_float = WEAK_FLOAT32
        try:
            with deep_recursion(), limits.enforced(
                options.get("max_steps"), options.get("max_memory"), options.get("timeout")
            ):  # fmt: skip
                return Evaluation(self, at or {}, wrt, {**options, "command": command}).run(command)
        except RecursionError:
            raise AdiffError(
                "E0605",
                "the program nests too deeply to be evaluated",
                Span(self.source, 0, 0),
                "give parts of it names",
            ) from None
        except MemoryError:
            raise out_of_memory() from None
        finally:
            STATE.running = False
            STATE.write = None
            STATE.trace = STATE.trace_adjoint = None
            RECORDERS.clear()

    @property
    def has_loops(self) -> bool:
        """Whether the program has a loop of its own anywhere, functions included."""
        return contains_loop(self.core.body)

    def compiled(self, scalars: bool, fast: bool, stable: bool = True) -> Any:
        key = (scalars, fast, stable)
        if key not in self._compiled:
            self._compiled[key] = Compiler(INTRINSICS, scalars, fast, stable).block(self.core.body)
        return self._compiled[key]


class Evaluation:
    """One evaluation of a program at a point."""

    def __init__(
        self, program: Program, at: Mapping[str, Any], wrt: Sequence[str] | None, options: dict[str, Any]
    ) -> None:
        self.program = program
        self.core = program.core
        self.options = options
        self.outcome = Outcome()
        self.outcome.timings["parse"] = program.parse_seconds
        self.forward_seconds = 0.0
        self.write = STATE.write
        self.point = self.bind_all(at)
        self.names = self.choose_sources(wrt)
        self.structured: Any = None
        start = time.perf_counter()
        # A tape shows the program as it is written, without the rewrites that keep digits.
        self.body = program.compiled(STATE.weak_float.bits == 64, True, options.get("command") != "tape")
        self.outcome.timings["compile"] = time.perf_counter() - start

    # --- inputs -----------------------------------------------------------------------------------------------------

    def bind_all(self, at: Mapping[str, Any]) -> dict[str, Any]:
        inputs = self.core.inputs
        unbound = [name for name in inputs if name not in at]
        if unbound:
            given = ", ".join(f"--at {name}=..." for name in unbound)
            noun = "input" if len(unbound) == 1 else "inputs"
            raise AdiffError(
                "E0801", f"{listing(repr(n) for n in unbound)} {'is' if len(unbound) == 1 else 'are'} not bound",
                first_use(self.program, unbound[0]), f"bind the {noun}: {given}" + self.near_names(unbound, at),
            )  # fmt: skip
        point: dict[str, Any] = {}
        for name, value in at.items():
            if name in inputs or name in self.core.optional:
                point[name] = bind(value, name)
            else:
                STATE.notify("N0801", f"'{name}' is bound, and the program has no input of that name")
        return point

    def near_names(self, unbound: list[str], at: Mapping[str, Any]) -> str:
        spare = [name for name in at if name not in self.core.inputs and name not in self.core.optional]
        return f" ('{spare[0]}' is bound and not used)" if spare else ""

    def choose_sources(self, wrt: Sequence[str] | None) -> list[str]:
        inputs = list(self.core.inputs) + [n for n in self.point if n not in self.core.inputs]
        if wrt is None:
            return inputs
        from ..parser.suggest import suggest

        for name in wrt:
            if name not in inputs:
                close = did_you_mean(suggest(name, inputs))
                raise AdiffError(
                    "E0803", f"'{name}' is not an input of the program", None,
                    close or (f"its inputs are {', '.join(inputs)}" if inputs else "it has no inputs"),
                )  # fmt: skip
        return list(dict.fromkeys(wrt))

    # --- running ----------------------------------------------------------------------------------------------------

    def execute(self, values: Mapping[str, Any]) -> Any:
        """Run the program once on the given inputs; its result, before any conversion."""
        core = self.core
        frame: list[Any] = [UNSET] * core.size
        frame[0] = None
        frame[1] = UNSET
        for name, (slot, node) in core.optional.items():
            if name in values:
                frame[slot] = values[name]
            else:
                meaning = node.value if hasattr(node, "value") else INTRINSICS[node.name]
                frame[slot] = meaning
        for name, slot in core.inputs.items():
            frame[slot] = values[name]
        start = time.perf_counter()
        signal = self.body(frame)
        self.forward_seconds += time.perf_counter() - start
        STATE.write = None  # what a program prints is printed once, however often it runs
        if signal is not None:
            result = signal[0] if signal.__class__ is tuple else UNSET
        elif self.options.get("last_statement"):
            result = frame[0] if core.ends_with_value else None
        else:
            result = frame[1]
        return result

    def result_of(self, values: Mapping[str, Any]) -> Any:
        result = self.execute(values)
        if result is UNSET or result is None:
            raise failure(
                "E0304", "the program has no value: nothing in it is an expression or an assignment with one",
                "end it with the expression to evaluate; `adiff run FILE` runs a program for what it prints", self.end_site(),
            )  # fmt: skip
        return result

    def end_site(self) -> Any:
        from .core.state import Site

        text = self.program.source.text
        end = len(text.rstrip())
        start = text.rfind("\n", 0, end) + 1
        start += len(text[start:end]) - len(text[start:end].lstrip())
        return Site(None, self.program.source, start, end)

    def sources(self) -> list[Any]:
        return [self.point[name] for name in self.names]

    def function(self, inputs: list[Any]) -> Any:
        """The program as a function of the sources, its result one tensor."""
        values = {**self.point, **dict(zip(self.names, inputs))}
        result = self.result_of(values)
        self.structured = result
        return self.numeric(result)

    def numeric(self, result: Any) -> Any:
        """A result as one operand: a list of tensors of one shape is stacked, any other structure is summed."""
        STATE.site = self.end_site()
        if result.__class__ in (list, tuple, dict):
            leaves = [as_operand(leaf) for leaf in flatten(result)]
            if any(leaf.__class__ is str or (leaf.__class__ is Tensor and leaf.dtype.kind == "s") for leaf in leaves):
                raise failure("E0304", "the result holds strings, and strings have no derivative", site=self.end_site())
            shapes = {leaf.shape if leaf.__class__ is Tensor else () for leaf in leaves}
            if result.__class__ is not dict and len(shapes) == 1 and len(leaves) == len(result):
                return as_operand(list(result))
            total: Any = 0.0
            for leaf in leaves:
                total = total + (OPERATORS["sum_to"](leaf, shape=()) if getattr(leaf, "shape", ()) else leaf)
            return total
        operand = as_operand(result)
        if operand.__class__ is str or (operand.__class__ is Tensor and operand.dtype.kind == "s"):
            raise failure("E0304", "the result is a string, and strings have no derivative", site=self.end_site())
        return operand

    # --- commands ---------------------------------------------------------------------------------------------------

    def run(self, command: str) -> Outcome:
        outcome = self.outcome
        start = time.perf_counter()
        getattr(self, "command_" + command)()
        total = time.perf_counter() - start
        outcome.timings["forward"] = self.forward_seconds
        if command not in ("value", "run"):
            outcome.timings["derivative"] = total - self.forward_seconds
        differentiated = () if command in ("value", "run") else self.names
        for name in self.core.inputs:
            value = self.point[name]
            # A bare integer that is differentiated is a float.
            found = type_of(drivers.source(value) if name in differentiated else value)
            if found is not None:
                outcome.types[name] = found
        self.explain_non_finite(command)
        outcome.notices = [Notice(n.code, n.message, span_of(n.site)) for n in STATE.notices]
        return outcome

    def keep_value(self, value: Any) -> None:
        STATE.site = self.end_site()
        found = type_of(value)
        if found is not None:
            self.outcome.types["value"] = found
        self.outcome.value = to_plain(value)

    def kernel(self, sources: list[str] | None) -> tuple[Any, list[Any]] | None:
        """The value and the gradients of `sources` from the kernel tier, or None where the tape is to run."""
        engine = self.options.get("engine") or "auto"
        program = self.program
        if engine == "tape":
            self.outcome.reason = "asked for"
            return None
        if engine == "auto" and not program.has_loops:
            self.outcome.reason = "no loop that would repay a compiler"
            return None
        if STATE.weak_float.bits != 64 or STATE.kinks == "error" or self.limited:
            self.outcome.reason = "the kernel tier computes in float64, without limits and without --kinks error"
            return None
        if engine == "auto" and program.kernels is None:
            from .kernels.work import surely_small

            if surely_small(self.core, self.point):
                self.outcome.reason = "the tape is done before a kernel would be compiled"
                return None
        from .kernels.ir import Unsupported
        from .kernels.runtime import Kernels

        if program.kernels is None:
            program.kernels = Kernels(self.core)
        try:
            found = program.kernels.evaluate(self.point, sources, engine == "kernel")
        except Unsupported as why:
            self.outcome.reason = f"no kernel for {why}"
            return None
        if found is None:
            self.outcome.reason = "the tape is done before a kernel would be compiled"
            return None
        value, gradients, compiled = found
        self.outcome.engine = "kernel"
        self.outcome.reason = "asked for" if engine == "kernel" else "enough work to repay the compiler"
        self.outcome.emitted = compiled.source
        return value, gradients

    @property
    def limited(self) -> bool:
        return any(self.options.get(name) is not None for name in ("max_steps", "timeout"))

    def command_value(self) -> None:
        found = self.kernel(None)
        if found is not None:
            self.keep_value(found[0] if not hasattr(found[0], "shape") else bind(found[0], "value"))
            return
        self.keep_value(self.result_of(self.point))

    def command_run(self) -> None:
        self.options["last_statement"] = True
        result = self.execute(self.point)
        if result is not UNSET and result is not None:
            self.keep_value(result)

    def command_grad(self) -> None:
        from .autodiff.tape import gradient, seed_for
        from .eager.tapes import unconnected_reason_of

        sources = self.sources()
        if self.kernel_gradients():
            return
        tape, tensors, y = drivers.recorded(self.function, sources)
        y = as_operand(y)
        self.warn_sources(tensors)
        if y.__class__ is Tensor and y.shape != ():
            STATE.notify(
                "N0503",
                f"the result has shape {shape_text(y.shape)}: its elements are summed for the gradient",
                self.end_site(),
            )
        log = tape.log.copy() if tape.breaks or len(tape.log) < 4000 else None
        gradients = gradient(tape, [y], [seed_for(y)], [[x] for x in tensors], consume=True)
        self.outcome.gradients = {}
        for name, x, g in zip(self.names, tensors, gradients):
            if g is None and x.dtype.differentiable:
                reason, site = unconnected_reason_of(tape, log, x, [x], [y])
                STATE.notify("N0502", f"{name}: the gradient is None: {reason}", site or self.end_site())
            self.outcome.gradients[name] = self.shaped(g, x)
        structured = self.structured
        self.keep_value(y if structured.__class__ not in (list, tuple, dict) else structured)

    def kernel_gradients(self) -> bool:
        """Value and gradients by the kernel tier, if it takes the program."""
        names = [name for name in self.names if drivers.source(self.point[name]).dtype.differentiable]
        if len(names) != len(self.names) or not names:
            return False
        found = self.kernel(names)
        if found is None:
            return False
        value, gradients = found
        if hasattr(value, "shape") and value.shape:
            shape = shape_text(value.shape)
            STATE.notify(
                "N0503", f"the result has shape {shape}: its elements are summed for the gradient", self.end_site()
            )
        self.outcome.gradients = dict(zip(names, gradients))
        self.keep_value(bind(value, "value") if hasattr(value, "shape") else value)
        return True

    def shaped(self, g: Any, x: Tensor) -> Any:
        """A derivative for the outside, in the dtype of its input."""
        if g is None:
            return None
        g = as_operand(g) + 0.0  # a derivative of -0.0 is 0.0 to everybody
        if g.__class__ is int:
            g = float(g)
        if x.dtype.name in ("float32", "complex64") and (g.__class__ is float or g.dtype.name == "float64"):
            g = OPERATORS["cast"](tensor(g), dtype="float32")
        return to_plain(g)

    def warn_sources(self, tensors: list[Tensor]) -> None:
        for name, x in zip(self.names, tensors):
            if not x.dtype.differentiable:
                STATE.notify(
                    "N0504", f"'{name}' has dtype {x.dtype.name} and cannot be differentiated: its gradient is None; "
                    f"bind a float, or write cast({name}, float64)",
                )  # fmt: skip

    def quietly(self, derive: Callable[[], Any]) -> Any:
        """What `derive` finds in forward mode, with the notices that the reverse sweep gives.

        A tangent passes through both sides of `where`, and only a sweep knows which singular points take part.
        """
        STATE.quiet = True
        try:
            found = derive()
        finally:
            STATE.quiet = False
        drivers.value_and_gradients(self.function, self.sources())
        return found

    def command_jacobian(self) -> None:
        wanted = self.options.get("mode") or "auto"
        y, blocks, mode = self.quietly(lambda: drivers.jacobian(self.function, self.sources(), wanted))
        self.outcome.mode = mode
        tensors = [drivers.source(x) for x in self.sources()]
        self.warn_sources(tensors)
        self.outcome.jacobian = {n: self.shaped(b, x) for n, b, x in zip(self.names, blocks, tensors)}
        self.explain_missing(self.outcome.jacobian)
        self.keep_value(y)

    def explain_missing(self, blocks: Mapping[str, Any]) -> None:
        for name, block in blocks.items():
            if block is None:
                STATE.notify("N0502", f"{name}: the result does not depend on it", self.end_site())

    def command_hessian(self) -> None:
        y, gradients, blocks = self.quietly(lambda: drivers.hessian(self.function, self.sources()))
        tensors = [drivers.source(x) for x in self.sources()]
        self.warn_sources(tensors)
        outcome = self.outcome
        outcome.gradients = {n: self.shaped(g, x) for n, g, x in zip(self.names, gradients, tensors)}
        outcome.hessian = {}
        for i, row in enumerate(self.names):
            outcome.hessian[row] = {}
            for j, column in enumerate(self.names):
                block = blocks[i][j]
                if block is None and gradients[i] is not None and gradients[j] is not None:
                    block = drivers.zeros(tensors[i].shape + tensors[j].shape)
                outcome.hessian[row][column] = self.shaped(block, tensors[i])
        self.explain_missing(outcome.gradients)
        self.keep_value(y)

    def directions(self, given: Mapping[str, Any] | None, option: str) -> list[Any]:
        given = given or {}
        if not given:
            raise AdiffError(
                "E0804", f"a direction is needed: --{option} x=1", None, f"give one per input: --{option} x=1,y=0"
            )
        for name in given:
            if name not in self.point:
                raise AdiffError(
                    "E0803",
                    f"--{option}: '{name}' is not an input of the program",
                    None,
                    f"its inputs are {', '.join(self.point)}",
                )
        return [bind(given[name], name) if name in given else None for name in self.names]

    def command_jvp(self) -> None:
        tangents = self.directions(self.options.get("tangent"), "tangent")
        y, tangent = self.quietly(lambda: drivers.jvp(self.function, self.sources(), tangents))
        self.keep_value(y)
        shape = y.shape if y.__class__ is Tensor else ()
        self.outcome.tangent = to_plain(drivers.zeros(shape) if tangent is None else as_float(tangent))
        if tangent is None:
            STATE.notify("N0502", "the result does not depend on the inputs with a tangent", self.end_site())

    def command_vjp(self) -> None:
        cotangent = self.options.get("cotangent")
        cotangent = None if cotangent is None else bind(cotangent, "cotangent")
        y, gradients = drivers.vjp(self.function, self.sources(), cotangent)
        tensors = [drivers.source(x) for x in self.sources()]
        self.warn_sources(tensors)
        self.outcome.cotangents = {n: self.shaped(g, x) for n, g, x in zip(self.names, gradients, tensors)}
        self.explain_missing(self.outcome.cotangents)
        self.keep_value(y)

    def command_hvp(self) -> None:
        vectors = self.directions(self.options.get("vector"), "vector")
        y, gradients, products = self.quietly(lambda: drivers.hvp(self.function, self.sources(), vectors))
        tensors = [drivers.source(x) for x in self.sources()]
        self.warn_sources(tensors)
        self.outcome.gradients = {n: self.shaped(strip(g), x) for n, g, x in zip(self.names, gradients, tensors)}
        self.outcome.product = {n: self.shaped(p, x) for n, p, x in zip(self.names, products, tensors)}
        self.explain_missing(self.outcome.product)
        self.keep_value(strip(y))

    def command_derivative(self) -> None:
        if len(self.names) != 1:
            raise AdiffError(
                "E0805", f"derivative needs one input, and the program has {len(self.names)}", None,
                "choose one: --wrt x" if self.names else "the program reads no input",
            )  # fmt: skip
        order = self.options.get("order")
        order = 1 if order is None else order
        found = self.taylor_derivatives(order)
        if found is None:
            found = drivers.derivatives(self.scalar_function, self.sources()[0], order)
        self.keep_value(found[0])
        self.outcome.derivatives = [to_plain(as_float(d)) for d in found[1:]]

    def taylor_derivatives(self, order: int) -> list[Any] | None:
        """The derivatives by Taylor mode, or None for a program that it does not cover."""
        x = self.sources()[0]
        if order < 3 or not isinstance(x, float | int) or not taylor.covers(self.core):
            return None
        value = self.scalar_function([drivers.source(x)])
        if value.__class__ is not float and not (value.__class__ is Tensor and value.value.__class__ is float):
            return None
        try:
            found: list[Any] = taylor.derivatives(self.scalar_function, float(x), order)
        except taylor.Unsupported:
            return None
        return found

    def scalar_function(self, inputs: list[Any]) -> Any:
        y = self.function(inputs)
        drivers.scalar_seed(y, "derivative")
        return y

    def command_tape(self) -> None:
        from .tape_rows import tape_rows

        tape, tensors, y = drivers.recorded(self.function, self.sources())
        y = as_operand(y)
        rows, gradients = tape_rows(tape, dict(zip(self.names, tensors)), y)
        self.outcome.tape = rows
        self.outcome.gradients = {n: self.shaped(g, x) for n, g, x in zip(self.names, gradients, tensors)}
        self.keep_value(y)

    def command_check(self) -> None:
        from .check import check

        self.command_grad()
        self.outcome.check = check(self)

    # --- NaN and infinity -------------------------------------------------------------------------------------------

    def explain_non_finite(self, command: str) -> None:
        """Where the first NaN or infinity came from, if the results hold one: the program is run again, traced."""
        if command in ("tape", "check") or STATE.kinks == "error":
            return
        outcome = self.outcome
        derived = (
            outcome.gradients,
            outcome.jacobian,
            outcome.hessian,
            outcome.tangent,
            outcome.cotangents,
            outcome.product,
            outcome.derivatives,
        )
        if all_finite(outcome.value) and all(all_finite(part) for part in derived):
            return
        if outcome.engine == "kernel":
            STATE.notify(
                "N0603", "the result holds nan or inf; --engine tape finds where the first one arises", self.end_site()
            )
            return
        from .diagnose import find_origin

        self.body = self.program.compiled(STATE.weak_float.bits == 64, False)
        find_origin(self, derivative=command not in ("value", "run"))


def strip(x: Any) -> Any:
    return Tensor(x.value, x.dtype) if x.__class__ is Tensor and x.on is not None else x


def as_float(x: Any) -> Any:
    x = as_operand(x)
    return float(x) if x.__class__ is int else x


def all_finite(value: Any) -> bool:
    """Whether every number in a plain result is finite."""
    cls = value.__class__
    if value is None or cls in (str, bool, int):
        return True
    if cls is float:
        return value - value == 0.0  # type: ignore[no-any-return]
    if cls is complex:
        return value.real - value.real == 0.0 and value.imag - value.imag == 0.0  # type: ignore[no-any-return]
    if cls in (list, tuple):
        return all(all_finite(v) for v in value)
    if cls is dict:
        return all(all_finite(v) for v in value.values())
    if hasattr(value, "dtype") and value.dtype.kind in "fc":
        import numpy as np

        return bool(np.isfinite(value).all())
    return True


def first_use(program: Program, name: str) -> Span | None:
    """The first place where an input is read, for the diagnostic of one that is not bound."""
    return span_of(program.core.places[name])


def contains_loop(node: Any) -> bool:
    """Whether a `for` or `while` statement is somewhere inside a node of the core program."""
    pending = [node]
    while pending:
        item = pending.pop()
        if item.__class__ in (list, tuple):
            pending.extend(item)
        elif isinstance(item, For | While):
            return True
        elif isinstance(item, Node):
            pending.extend(getattr(item, name) for name in item.__slots__ if name != "site")
    return False


class deep_recursion:
    """Raise Python's recursion limit for the time of an evaluation."""

    def __enter__(self) -> None:
        self.saved = sys.getrecursionlimit()
        if self.saved < RECURSION_LIMIT:
            sys.setrecursionlimit(RECURSION_LIMIT)

    def __exit__(self, *exception: object) -> None:
        sys.setrecursionlimit(self.saved)


def program(text: str, name: str = "<expr>") -> Program:
    """Parse a program. Raises AdiffError E01xx for text that is no program and E02xx for names that mean nothing."""
    return Program(text, name)


# The characters of the plain decimals that most bindings are: `0.5` needs no parser.
DECIMAL_DIGITS = frozenset("0123456789.")


def constant(text: str, name: str = "<constant>", **limits_in_force: Any) -> Binding:
    """The value of a constant expression of the language: what `--at x=pi/4` binds.

    `max_steps`, `max_memory` and `timeout` limit it as they limit an evaluation.
    """
    stripped = text.strip()
    number = stripped[1:] if stripped[:1] in ("-", "+") else stripped
    if number.isdecimal() and number.isascii() and len(number) < 400 and (number[0] != "0" or len(number) == 1):
        return Binding(int(stripped))
    if DECIMAL_DIGITS.issuperset(number) and number.count(".") == 1 and number[0] != "." and number[-1] != ".":
        return Binding(float(stripped))
    core = Program(text, name)
    if core.inputs:
        raise AdiffError(
            "E0806", f"a binding must be a constant, and this one reads {listing(repr(n) for n in core.inputs)}",
            first_use(core, core.inputs[0]), "write a number, a list or an expression of constants: x=pi/4",
        )  # fmt: skip
    STATE.reset()
    try:
        with LOCK, deep_recursion(), limits.enforced(
            limits_in_force.get("max_steps"), limits_in_force.get("max_memory"), limits_in_force.get("timeout")
        ):  # fmt: skip
            evaluation = Evaluation(core, {}, None, {})
            value = evaluation.result_of({})
    except MemoryError:
        raise out_of_memory() from None
    finally:
        RECORDERS.clear()
    if value.__class__ in (list, tuple):
        value = bind(value, name)
    return Binding(value)


__all__ = ["COMMANDS", "LIMITS", "AdiffError", "Binding", "Notice", "Outcome", "Program", "constant", "program"]
