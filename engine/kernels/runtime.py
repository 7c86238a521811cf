"""Running kernels: from a program and its inputs to compiled code, and from its results back to values.

Numba is imported here and nowhere else, and only when a kernel is compiled.
"""

from __future__ import annotations

from ...parser.errors import AdiffError
from ..autodiff.pullback import singular_notice
from ..core.state import STATE
from ..core.tensor import Tensor
from ..program.core import CoreProgram
from . import emit, ir
from .activity import may_reach, surely_reached
from .adjoint import Noted, adjoint, nested
from .build import NUMBERS, Builder, Lazy, Sym, raw
from .ir import FLOAT, INT, Unsupported
from .primitives import LIMIT, helpers
from .simplify import simplify
from .specialise import specialise
from .tidy import tidy
from .work import worthwhile

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any


# What a kernel raises where the answer, or the error in the user's words, is the tape's to give.
LEAVING = (ArithmeticError, IndexError, ValueError)


class Built:
    """A kernel before emission.

    `shape` is that of the program's value; `noted` are the singular points whose flags are the last result; `lost`
    names the sources that the result does not depend on, with the reason and its place; `counted` the float
    parameters that must be whole; `sure` the sources that every path connects to the result.
    """

    __slots__ = ("counted", "kernel", "lost", "noted", "shape", "sure")

    def __init__(self, kernel: ir.Kernel, shape: tuple[int, ...]) -> None:
        self.kernel = kernel
        self.shape = shape
        self.noted: list[Noted] = []
        self.lost: dict[str, tuple[str, Any]] = {}
        self.counted: list[int] = []
        self.sure: set[str] = set()


class Compiled:
    """A kernel ready to run; `source` is what was compiled."""

    __slots__ = ("built", "run", "source")

    def __init__(self, built: Built, run: Callable[..., Any], source: str) -> None:
        self.built = built
        self.run = run
        self.source = source


def specification(values: dict[str, Any], sources: Sequence[str]) -> dict[str, Any]:
    """What a kernel is specialised to: the kind or shape of every input, or its value where that is no number.

    Raises Unsupported for inputs that kernels do not take.
    """
    found: dict[str, Any] = {}
    for name, value in values.items():
        cls = value.__class__
        if cls is Tensor:
            whole = value.dtype.kind == "i"
            if value.dtype.name not in ("float64", "int64") or (
                whole and (not value.dtype.weak or name not in sources)
            ):
                raise Unsupported(f"an input of dtype {value.dtype.name}")
            found[name] = value.shape if value.shape else FLOAT
        elif cls is float or (cls is int and name in sources):
            found[name] = FLOAT
        elif cls is int:
            found[name] = INT
        elif cls is bool or cls is str or value is None:
            found[name] = [value]
        else:
            raise Unsupported("an input that is no number and no tensor")
    return found


def arguments(program: CoreProgram, values: dict[str, Any], spec: dict[str, Any]) -> list[Any]:
    """The inputs in the order of the kernel's parameters, arrays flat."""
    found: list[Any] = []
    for name in [*program.inputs, *(n for n in program.optional if n in spec)]:
        kind = spec[name]
        value = values[name]
        value = value.value if value.__class__ is Tensor else value
        if kind.__class__ is tuple:
            import numpy as np

            found.append(np.ascontiguousarray(value, dtype=np.float64).reshape(-1))
        elif kind == FLOAT:
            found.append(float(value))
        elif kind == INT:
            if abs(value) > LIMIT:
                raise Unsupported("an integer beyond 2**53")
            found.append(int(value))
    return found


def build(program: CoreProgram, spec: dict[str, Any], sources: Sequence[str] | None) -> Built:
    """The kernel of the value (sources None) or of value and gradient."""
    notices = len(STATE.notices)
    made = specialise(program, spec)
    if len(STATE.notices) > notices:
        raise Unsupported("a program that gives notices while it is compiled")
    builder, result, kernel = made.builder, made.result, made.kernel
    shape: tuple[int, ...] = ()
    if result.__class__ is Lazy:
        settled = builder.settle(result)
        if settled.stored is None or settled.stored.role in ("input", "carried"):
            settled = builder.materialised(result)
        shape = settled.shape
        value: Any = settled.stored
        summed = builder.total(shape, settled.element) if sources is not None else None
    elif result.__class__ is Sym or result.__class__ in NUMBERS:
        value = raw(result)
        summed = result
    else:
        raise Unsupported("a result that is no number and no tensor")
    plain = ir.Kernel(kernel.parameters, kernel.body, [value])
    positions = {p: k for k, p in enumerate(kernel.parameters)}
    if sources is None:
        found = Built(tidy(simplify(plain)), shape)
        found.counted = [positions[var] for var in builder.counted]
        return found
    if summed.__class__ is not Sym or summed.kind != FLOAT:
        raise Unsupported("a result that depends on no input")
    targets: dict[str, Any] = {}
    for name in sources:
        symbol = made.inputs[name]
        targets[name] = symbol.var if symbol.__class__ is Sym else symbol.stored
    differentiated, noted = adjoint(plain, summed.var, list(targets.values()))
    differentiated.results[0] = value
    found = Built(tidy(simplify(differentiated)), shape)
    found.noted = noted
    found.counted = [positions[var] for var in builder.counted]
    for name, target in targets.items():
        if not may_reach(plain, target, summed.var):
            found.lost[name] = why_lost(builder, plain, target)
        elif summed.var in surely_reached(plain, [target])[0]:
            found.sure.add(name)
    return found


def why_lost(builder: Builder, kernel: ir.Kernel, target: Any) -> tuple[str, Any]:
    """Why the gradient of a source is None, as the tape says it, and the place."""
    if target in builder.counted and not uses(kernel.body, target):
        reason = "the path from the source ends at range, where it counts as an integer, which carries no derivative"
        return reason, builder.counted[target]
    raise Unsupported("an input that the result does not depend on")


def uses(block: list[ir.Stmt], x: Any) -> bool:
    """Whether a variable is read as the number it is, beside counting with it."""
    for s in block:
        if s.__class__ is ir.Set and s.op != "to_int" and x in s.args:
            return True
        if s.__class__ is ir.Loop and any(x is a or x is b for _, a, b in s.carried):
            return True
        if s.__class__ is ir.If and any(x is a or x is b for _, a, b in s.merges):
            return True
        if any(uses(inner, x) for inner in nested(s)):
            return True
    return False


NAMESPACE: dict[str, Any] = {}


def compile_kernel(built: Built, values: list[Any]) -> Compiled:
    """Emit what `build` made, and compile it for arguments like these."""
    from numba import njit, typeof

    text = emit.source(built.kernel)
    if not NAMESPACE:
        NAMESPACE.update(helpers(njit))
    namespace = dict(NAMESPACE)
    # The source is ours throughout: names are generated, and nothing of the program's text is in it.
    exec(compile(text, "<kernel>", "exec"), namespace)
    dispatcher = njit(error_model="numpy")(namespace["kernel"])
    dispatcher.compile(tuple(map(typeof, values)))
    return Compiled(built, dispatcher, text)


def run(compiled: Compiled, values: list[Any]) -> tuple[Any, ...]:
    """The results of a kernel, its notices given.

    Raises Unsupported where the answer is for the tape to give: an error, or a doubt whether a value is connected.
    """
    built = compiled.built
    for position in built.counted:
        if not values[position].is_integer():
            raise Unsupported("a range of a broken number")
    try:
        results: tuple[Any, ...] = compiled.run(*values)
    except LEAVING:
        raise Unsupported("an operation that fails, or leaves the integers that a float holds") from None
    if built.noted:
        hit = [noted for flag, noted in zip(results[-1], built.noted) if flag]
        results = results[:-1]
        if not all(noted.certain for noted in hit):
            raise Unsupported("a singular point that may not be connected to an input")
        for noted in hit:
            STATE.notify("N0501", singular_notice(noted.spot, noted.spot.choice(STATE.kinks)), noted.site)
    return results


def reshaped(x: Any, shape: tuple[int, ...]) -> Any:
    """A result as a plain value of a shape."""
    if hasattr(x, "reshape") and x.ndim:
        return x.reshape(shape)
    return x if x.__class__ in (float, int, bool) else x.item()


class Kernels:
    """The kernels of one program, by what they are specialised to; `evaluate` is what the engine calls."""

    def __init__(self, program: CoreProgram) -> None:
        self.program = program
        # Tests want to see a fault of the compiler; users want their answer.
        self.strict = False
        self.built: dict[Any, Any] = {}
        self.compiled: dict[Any, Compiled] = {}

    def evaluate(
        self, values: dict[str, Any], sources: Sequence[str] | None, always: bool
    ) -> tuple[Any, list[Any], Compiled] | None:
        """The value and the gradients of `sources`, and the kernel that gave them.

        None where the tape is the sooner way (unless `always`). Raises Unsupported for programs outside this tier.
        """
        spec = specification(values, sources or ())
        key = (repr(sorted(spec.items())), None if sources is None else tuple(sources), STATE.kinks)
        if key not in self.built:
            self.built[key] = self.attempt(lambda: build(self.program, spec, sources))
        built = self.built[key]
        if built.__class__ is Unsupported:
            raise built
        given = arguments(self.program, values, spec)
        if not always:
            kernel = built.kernel
            scalars = {p: v for p, v in zip(kernel.parameters, given) if p.__class__ is ir.Var}
            if not worthwhile(kernel, scalars, key in self.compiled):
                return None
        if key not in self.compiled:
            compiled = self.attempt(lambda: compile_kernel(built, given))
            if compiled.__class__ is Unsupported:
                self.built[key] = compiled
                raise compiled
            self.compiled[key] = compiled
        compiled = self.compiled[key]
        value, *found = run(compiled, given)
        gradients: list[Any] = []
        for name, g in zip(sources or (), found):
            if name in built.lost:
                gradients.append(None)
                continue
            g = reshaped(g, spec[name] if spec[name].__class__ is tuple else ())
            if name not in built.sure and is_zero(g):
                raise Unsupported("an input of which it is doubtful that the result depends on it")
            gradients.append(g)
        for name, (reason, site) in built.lost.items():
            STATE.notify("N0502", f"{name}: the gradient is None: {reason}", site)
        return reshaped(value, built.shape), gradients, compiled

    def attempt(self, make: Callable[[], Any]) -> Any:
        """What `make` makes, or the reason why it cannot; whatever fails here, the tape does not."""
        site = STATE.site
        try:
            return make()
        except Unsupported as why:
            return why
        except AdiffError:
            return Unsupported("a part of the program that is an error, if it is reached")
        except Exception as fault:
            if self.strict:
                raise
            return Unsupported(f"this program ({type(fault).__name__} in the compiler)")
        finally:
            STATE.site = site


def is_zero(g: Any) -> bool:
    return not g if g.__class__ is float else not g.any()


__all__ = [
    "Built",
    "Compiled",
    "Kernels",
    "Unsupported",
    "arguments",
    "build",
    "compile_kernel",
    "run",
    "specification",
]
