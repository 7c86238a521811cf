"""The Python face of adiff: `program(text)` gives a Program, and a Program its value and every derivative.

>>> import adiff
>>> adiff.program("x**2 * y").value_and_gradient({"x": 3.0, "y": 2.0})
(18.0, {'x': 12.0, 'y': 9.0})
"""

from __future__ import annotations

import os
import sys
import time
from math import inf

from ..parser.errors import AdiffError, AdiffValueError
from ..parser.parse import parse
from ..parser.source import Source, Span
from ..parser.syntax import ExprStmt
from . import tier
from .command import ENGINE
from .commands import COMMANDS
from .core import limits
from .core.dtypes import FLOAT32, FLOAT64, WEAK_FLOAT32
from .core.errors import listing, span_of
from .core.limits import LIMITS, MOST_ORDER, out_of_memory
from .core.state import LOCK, RUNNING, STATE
from .eager.builtins import INTRINSICS
from .eager.compile import Compiler
from .evaluation import Evaluation, notices_told
from .outcome import Notice, Outcome
from .plain import Binding, bind
from .program.loops import outermost_loop
from .program.lower import lower

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any, TypeVar

    from ..parser.syntax import Module
    from .check import Check
    from .formulas.derivation import Derivation
    from .kernels.kernels import Kernels
    from .program.session import Session
    from .repeated import Repeated
    from .rows.results import RowsOutcome

    F = TypeVar("F", bound=Callable[..., Any])
    Point = Mapping[str, Any] | None
    Names = Sequence[str] | str | None
    Result = TypeVar("Result")

# Closures call one another as deeply as the text nests. Such calls take no C stack (Python 3.11 on), so the limit is
# only there to be above what the parser and the limit on calls let through.
RECURSION_LIMIT = 400_000

# What a caller from Python may give beside the options of a command; and of options that are amounts the types, what they are
# more than, the most, and what they count.
BESIDE = frozenset(("write", "progress", "last_statement", "last_tape"))
AMOUNTS: dict[str, tuple[Any, ...]] = {
    "checkpoint": ((int,), 0, inf, "a number of bytes: checkpoint=500_000_000"),
    "max_memory": ((int,), 0, inf, "a number of bytes: max_memory=500_000_000"),
    "max_steps": ((int,), 0, inf, "a number of steps: max_steps=1_000_000"),
    "timeout": ((int, float), 0, inf, "a number of seconds: timeout=2.5"),
    "order": ((int,), -1, MOST_ORDER, f"a whole number from 0 to {MOST_ORDER}: order=2"),
}

ROWS_OPTIONS = ("kinks", "max_memory", "max_steps", "timeout")


def listed_names(wrt: Names) -> Sequence[str] | None:
    """The names in `wrt`, which may be one text: "x", or "x,y" as on the command line."""
    return [name.strip() for name in wrt.split(",")] if isinstance(wrt, str) else wrt


def check_options(command: str, wrt: Any, options: Mapping[str, Any]) -> None:
    """Refuse what the command line cannot say and a caller from Python can."""
    if not (wrt is None or hasattr(wrt, "__iter__")):
        raise AdiffError("E0812", "`wrt` must be a name or a list of names", None, 'write wrt="x" or wrt=["x", "y"]')
    for name, value in options.items():
        option = COMMANDS[command].given(name)
        if option is None and name not in BESIDE:
            known = sorted(option.key for option in COMMANDS[command].options if COMMANDS[command].given(option.key))
            raise AdiffError(
                "E0811",
                f"{command} has no option {name}, and the program no such input",
                None,
                f"its options are {', '.join(known)}",
            )
        choices = () if option is None else ENGINE.choices if name == "engine" else option.choices
        if choices and value is not None and value not in choices:
            raise AdiffError("E0812", f"{name} cannot be {value!r}", None, f"it is one of {', '.join(choices)}")
    for name, (types, above, most, meaning) in AMOUNTS.items():
        amount = options.get(name)
        if amount is not None and not (amount.__class__ in types and above < amount <= most):
            raise AdiffError("E0812", f"{name} cannot be {amount!r}", None, f"it is {meaning}")


def for_callers(work: F) -> F:
    """The function, each AdiffError of which is made an AdiffValueError in place; the end of a time limit stays as it is."""

    def called(*arguments: Any, **options: Any) -> Any:
        try:
            return work(*arguments, **options)
        except AdiffError as error:
            if error.__class__ is AdiffError:
                error.__class__ = AdiffValueError
            raise

    called.__doc__, called.__name__, called.__wrapped__ = work.__doc__, work.__name__, work  # type: ignore[attr-defined]
    return called  # type: ignore[return-value]


class Program:
    """A program of the language. Its methods take `at`, the values of the inputs by name.

    Values are Python numbers, nested lists, NumPy arrays or what `constant` gives. Errors are AdiffError, and ValueError.
    """

    @for_callers
    def __init__(self, text: str, name: str = "<expr>", constant: bool = False, session: Session | None = None) -> None:
        start = time.perf_counter()
        if text.__class__ is not str:
            message = f"a program is a text, and not a {text.__class__.__name__}"
            raise AdiffError("E0812", message, None, "of a file: adiff.load(path)")
        self.source = Source(text, name)
        with deep_recursion():
            self.core = lower(self.source, self._parsed(constant), session)
        self.parse_seconds = time.perf_counter() - start
        self._compiled: dict[tuple[bool, bool, bool], Any] = {}
        self.kernels: Kernels | None = None
        self.row_seconds = 0.0  # that the tape has spent on rows of tables
        self.session = session  # of the prompt that it is a line of
        self.gives_way = True  # the tape to a kernel; not where there is none

    def _parsed(self, constant: bool) -> Module:
        """The syntax tree; of a constant, one expression."""
        module = parse(self.source)
        if constant and (len(module.body) > 1 or module.body[0].__class__ is not ExprStmt):
            wrong = next((line for line in module.body if line.__class__ is not ExprStmt), module.body[-1])
            raise AdiffError(
                "E0806", "a value is one expression, and this is a program", Span(self.source, wrong.start, wrong.end),
                "separate bindings with a comma: x=2,y=3" if " " in self.source.name else "compute in the program itself",
            )  # fmt: skip
        return module

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

    def __reduce__(self) -> tuple[type[Program], tuple[str, str]]:
        # What has been compiled stays behind: machine code in memory is of one process, and on disk of them all.
        return type(self), (self.source.text, self.source.name)

    # --- the friendly methods: inputs by name in `at`, by keyword, or both -------------------------------------------

    def value(self, at: Point = None, **options: Any) -> Any:
        """The value of the program: program("x**2").value(x=3.0) is 9.0."""
        return self.evaluate("value", at, **options).value

    def gradient(self, at: Point = None, wrt: Names = None, **options: Any) -> dict[str, Any]:
        """The gradient with respect to each input (or those in `wrt`); None where unconnected."""
        return self.value_and_gradient(at, wrt, **options)[1]

    def value_and_gradient(self, at: Point = None, wrt: Names = None, **options: Any) -> tuple[Any, dict[str, Any]]:
        """The value and the gradient with respect to each input (or those in `wrt`); None where unconnected."""
        outcome = self.evaluate("grad", at, wrt, **options)
        return outcome.value, outcome.gradients

    def jacobian(self, at: Point = None, wrt: Names = None, **options: Any) -> dict[str, Any]:
        """d value / d input, of shape value.shape + input.shape, by name; `mode` is "auto", "forward" or "reverse"."""
        return self.evaluate("jacobian", at, wrt, **options).jacobian

    def hessian(self, at: Point = None, wrt: Names = None, **options: Any) -> dict[str, dict[str, Any]]:
        """Every block of the Hessian by row and column name; with `sparse=True` blocks are SparseTensors."""
        return self.evaluate("hessian", at, wrt, **options).hessian

    def laplacian(self, at: Point = None, wrt: Names = None, **options: Any) -> Any:
        """The trace of the Hessian, without forming it."""
        return self.evaluate("laplacian", at, wrt, **options).laplacian

    def derivatives(self, at: Point = None, order: int = 1, wrt: Names = None, **options: Any) -> list[Any]:
        """The first, second, ... derivative of a scalar function of one input, up to `order`."""
        return self.evaluate("derivative", at, wrt, order=order, **options).derivatives

    def jvp(self, at: Point = None, tangent: Point = None, **options: Any) -> tuple[Any, Any]:
        """The value and the derivative in the direction `tangent` (inputs it does not name stay fixed)."""
        outcome = self.evaluate("jvp", at, tangent=tangent, **options)
        return outcome.value, outcome.tangent

    def vjp(
        self, at: Point = None, cotangent: Any = None, wrt: Names = None, **options: Any
    ) -> tuple[Any, dict[str, Any]]:
        """The value and the cotangents of the inputs for a cotangent of the value (default: ones)."""
        outcome = self.evaluate("vjp", at, wrt, cotangent=cotangent, **options)
        return outcome.value, outcome.cotangents

    def hvp(self, at: Point = None, vector: Point = None, wrt: Names = None, **options: Any) -> dict[str, Any]:
        """The Hessian times `vector`, by input, without forming the Hessian."""
        return self.evaluate("hvp", at, wrt, vector=vector, **options).product

    def check(self, at: Point = None, wrt: Names = None, **options: Any) -> Check:
        """The gradient held against an independent computation: `.ok` is True, False, or None where neither is known."""
        return self.evaluate("check", at, wrt, **options).check

    @for_callers
    def derive(self, wrt: Names = None, order: int = 1, timeout: float | None = None) -> list[Derivation]:
        """The derivatives of an order as formulas: `program("x**2").derive()[0].text()` is "2*x".

        Raises AdiffError E0513 for a program that has no formula: loops, tapes, tensors.
        """
        from .formulas.derivation import derivations

        wrt = listed_names(wrt)
        check_options("derivative", wrt, {"order": order, "timeout": timeout})
        with LOCK:
            begin({})
            return limited({"timeout": timeout}, lambda: derivations(self.core, wrt, order))

    @for_callers
    def rows(
        self,
        columns: Point = None,
        wrt: Names = None,
        order: int = 1,
        engine: str = "auto",
        at: Point = None,
        **options: Any,
    ) -> RowsOutcome:
        """The program once for each row of a table: values, gradients (order 1), Hessians (order 2).

        `columns` maps names to arrays or lists of n items, each item as a bare number is; columns that are no input are
        ignored, with a notice where the program gives such a name a value itself. `at` binds the inputs that are the
        same in all rows. `wrt` names the sources; by default they are the inputs that have a column. A row that fails has
        its error under its number in `.errors`, and nan elsewhere.
        Options: kinks, max_steps (of a row), max_memory, timeout.
        """
        from .rows.run import rows

        if not all(x is None or hasattr(x, "items") for x in (columns, at)):
            raise AdiffError("E0812", "columns must be a dict from names to arrays, and `at` one to values")
        columns, options = self.bound("grad", columns, options)
        wrt = listed_names(wrt)
        if order.__class__ is not int or order not in (0, 1, 2):
            raise AdiffError(
                "E0812", f"order cannot be {order!r}", None, "0: values; 1: gradients too; 2: Hessians too"
            )
        check_options("grad", wrt, {**options, "engine": engine})
        for name in options:
            if name not in ROWS_OPTIONS:
                raise AdiffError(
                    "E0811", f"rows has no option {name}", None, f"its options are {', '.join(ROWS_OPTIONS)}"
                )
        with LOCK, deep_recursion():
            return rows(self, columns, at, wrt, order, {**options, "engine": engine})

    @for_callers
    def repeated(self, command: str, at: Point = None, wrt: Names = None, **options: Any) -> Repeated:
        """A function that evaluates one command at points like `at`, for those who do so thousands of times.

        It takes such a point and gives an Outcome, as `evaluate` does. Where a kernel answers, a call costs microseconds
        beside the kernel's own time, for every command but `derivative`; and where the tape does, its time is counted
        over all calls: a kernel is compiled when that is more than compiling takes, or at the
        fifteenth call. Options: those of `evaluate`.
        """
        from .repeated import Repeated

        at, options = self.bound(command, at, options)
        return Repeated(self, command, at, listed_names(wrt), options)

    # --- the one door -----------------------------------------------------------------------------------------------

    def bound(self, command: str, at: Point, given: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        """The point with the inputs that are given by keyword, and the options that are left."""
        if command not in COMMANDS:
            from ..parser.suggest import suggest
            from .program.names import did_you_mean

            raise AdiffError(
                "E0811", f"no such command: {command!r}; the commands are {', '.join(COMMANDS)}",
                hint=did_you_mean(suggest(str(command), COMMANDS)),
            )  # fmt: skip
        if at is not None and not hasattr(at, "items"):
            raise AdiffError("E0812", "`at` must be a dict from names to values")
        names = {*self.core.inputs, *self.core.optional}
        inputs = {n: x for n, x in given.items() if n in names and not COMMANDS[command].given(n)}
        return {**(at or {}), **inputs}, {n: x for n, x in given.items() if n not in inputs}

    @for_callers
    def evaluate(self, command: str, at: Point = None, wrt: Names = None, **options: Any) -> Outcome:
        """Everything the command line asks for; `command` is one of COMMANDS.

        What the program prints goes to standard output, or to the function `write`, or nowhere with write=None.

        Options: dtype, kinks, mode, tangent, cotangent, vector, order, max_steps, max_memory, timeout, checkpoint (the bytes that
        a long loop may keep for its reverse sweep), engine, write. Without max_memory the process has no limit of memory, but
        nothing larger than the machine's memory is made.
        """
        at, options = self.bound(command, at, options)
        wrt = listed_names(wrt)
        check_options(command, wrt, options)
        options.setdefault("write", getattr(sys.stdout, "write", None))  # none where it is closed
        with LOCK:
            if RUNNING.locked():
                raise AdiffError(
                    "E0811", "an evaluation cannot start inside another", None, "call it after `write` has returned"
                )
            with RUNNING:
                return self._evaluate(command, at, wrt, options)

    def _evaluate(
        self, command: str, at: Mapping[str, Any], wrt: Sequence[str] | None, options: dict[str, Any]
    ) -> Outcome:
        begin(options)
        given = {**options, "command": command}
        start = time.thread_time()

        def evaluated() -> Outcome:
            try:
                outcome = Evaluation(self, at, wrt, given).run()
                if outcome.engine == "tape" and options.get("engine") in (None, "auto"):
                    tier.spend(self.source.text, command, time.thread_time() - start)
                return outcome
            except limits.GivesWay as tape:
                limits.stay()
                begin(options)
                given["awaited"] = tape.args[0]
                return Evaluation(self, at, wrt, given).run()

        try:
            return limited(options, evaluated)
        except AdiffError as error:
            if error.span is not None and error.span.source.library and STATE.outside.source is not None:
                error.span = span_of(STATE.outside)  # of a function that the library handed out
            explain_none(error)
            error.notices = notices_told()
            raise
        except RecursionError:
            raise AdiffError(
                "E0605",
                "the program nests too deeply to be evaluated",
                Span(self.source, 0, 0),
                "give parts of it names",
            ) from None
        except MemoryError as fault:
            # Where in the loop it ran out is chance; a kernel names the loop too.
            STATE.site = outermost_loop(self.core.body, STATE.site) or STATE.site
            raise out_of_memory(options.get("max_memory"), fault) from None

    def compiled(self, scalars: bool, fast: bool, stable: bool = True) -> Any:
        key = (scalars, fast, stable)
        if key not in self._compiled:
            self._compiled[key] = Compiler(INTRINSICS, scalars, fast, stable).program(self.core)
        return self._compiled[key]


def explain_none(error: AdiffError) -> None:
    """Say in the hint of an error that speaks of None why a gradient is None: the notice that says so stays unheard."""
    reasons = [notice for notice in STATE.notices if notice.code == "N0502" and "is None" in notice.message]
    if reasons and "None" in error.message:
        span = reasons[-1].span
        where = "" if span is None else f" (in line {span.source.text.count(chr(10), 0, span.start) + 1})"
        error.advice = reasons[-1].message + where


def begin(options: dict[str, Any]) -> None:
    """The state in which an evaluation starts."""
    STATE.reset()
    STATE.write = options.get("write")
    STATE.progress = options.get("progress")
    STATE.last_tape = [] if options.get("last_tape") else None
    STATE.kinks = options.get("kinks") or "adiff"
    # A pattern is read off all the records.
    STATE.checkpoint = None if options.get("sparse") else options.get("checkpoint")
    if options.get("dtype") == "float32":
        STATE.default_float = FLOAT32
        STATE.weak_float = WEAK_FLOAT32
    elif options.get("dtype") == "float64":
        STATE.tensorflow_float = FLOAT64


def limited(options: Mapping[str, Any], work: Callable[[], Result]) -> Result:
    """What `work` returns under the limits of `options`. They end and leave nothing behind, whatever ends it."""
    enforced = limits.enforced(options.get("max_steps"), options.get("max_memory"), options.get("timeout"))
    try:
        with deep_recursion(), enforced:
            return work()
    finally:
        enforced.lift()
        STATE.end()


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


def load(path: str | os.PathLike[str]) -> Program:
    """The program in a file of UTF-8. Raises AdiffError E0711 where it cannot be read, and what `program` raises."""
    try:
        with open(path, encoding="utf-8-sig", newline="") as file:
            text = file.read()
    except (OSError, ValueError) as error:
        raise AdiffError("E0711", f"{os.fspath(path)}: {getattr(error, 'strerror', None) or error}") from None
    return Program(text, os.fspath(path))


# The characters of the plain decimals that most bindings are: `0.5` needs no parser.
DECIMAL_DIGITS = frozenset("0123456789.")


@for_callers
def constant(text: str, name: str = "<constant>", **limits_in_force: Any) -> Binding:
    """The value of a constant expression of the language: what `--at x=pi/4` binds.

    `max_steps`, `max_memory` and `timeout` limit it as they limit an evaluation.
    """
    if text.__class__ is not str:
        raise AdiffError("E0812", f"a constant is a text, and not a {text.__class__.__name__}")
    stripped = text.strip()
    number = stripped[1:] if stripped[:1] in ("-", "+") else stripped
    if number.isdecimal() and number.isascii() and len(number) < 400 and (number[0] != "0" or len(number) == 1):
        return Binding(int(stripped))
    if DECIMAL_DIGITS.issuperset(number) and number.count(".") == 1 and number[0] != "." and number[-1] != ".":
        return Binding(float(stripped))
    core = Program(text, name, constant=True)
    if core.inputs:
        from .unbound import first_use

        raise AdiffError(
            "E0806", f"what is given must be a constant, and this reads {listing(repr(n) for n in core.inputs)}",
            first_use(core, core.inputs[0]), "write a number, a list or an expression of constants: x=pi/4",
        )  # fmt: skip
    STATE.reset()
    try:
        with LOCK:
            value = limited(limits_in_force, lambda: Evaluation(core, {}, None, {}).result_of({}))
    except MemoryError:
        raise out_of_memory(limits_in_force.get("max_memory")) from None
    if value.__class__ in (list, tuple):
        value = bind(value, name)
    return Binding(value)


__all__ = [
    "COMMANDS", "LIMITS", "AdiffError", "Binding", "Notice", "Outcome", "Program", "constant", "program",
]  # fmt: skip
