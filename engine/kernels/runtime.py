"""Running kernels: from a program and its inputs to compiled code, and from its results back to values."""

from __future__ import annotations

from ...parser.errors import AdiffError
from ..core.state import STATE
from ..core.tensor import Tensor
from ..program.core import CoreProgram
from . import ir
from .construct import Built, build
from .ir import FLOAT, INT, Left, Unsupported
from .primitives import LIMIT
from .work import worthwhile

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any


# What a kernel raises where the answer, or the error in the user's words, is the tape's to give.
LEAVING = (Left, ArithmeticError, IndexError, ValueError)


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


def compile_kernel(built: Built) -> Compiled:
    """Emit what `build` made, compile and load it."""
    from .compiler import compile_source
    from .emit import emit
    from .machine import Entry

    emitted = emit(built.kernel)
    return Compiled(built, Entry(emitted, compile_source(emitted)), emitted.text)


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
        if hit and STATE.kinks == "error":
            raise Unsupported("a singular point that is an error")
        if not all(noted.certain for noted in hit):
            raise Unsupported("a singular point that may not be connected to an input")
        for noted in hit:
            STATE.notify("N0501", noted.message, noted.site)
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
        given = arguments(self.program, values, spec)
        compiled = self.prepared(key, lambda: build(self.program, spec, sources), given, always)
        if compiled is None:
            return None
        built = compiled.built
        value, *found = run(compiled, given)
        gradients = connected(built, sources or (), found, spec, given)
        for name, (reason, site) in built.lost.items():
            STATE.notify("N0502", f"{name}: the gradient is None: {reason}", site)
        return reshaped(value, built.shape), gradients, compiled

    def prepared(self, key: Any, make: Callable[[], Built], given: list[Any], always: bool) -> Compiled | None:
        """The compiled kernel for a key; None where the tape is the sooner way (unless `always`)."""
        if key not in self.built:
            self.built[key] = self.attempt(make)
        built = self.built[key]
        if built.__class__ is Unsupported:
            raise built
        if not always:
            scalars = {p: v for p, v in zip(built.kernel.parameters, given) if p.__class__ is ir.Var}
            if not worthwhile(built.kernel, scalars, key in self.compiled, built.estimate, built.passes):
                return None
        if key not in self.compiled:
            compiled = self.attempt(lambda: compile_kernel(built))
            if compiled.__class__ is Unsupported:
                self.built[key] = compiled
                raise compiled
            self.compiled[key] = compiled
        return self.compiled[key]

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


def connected(
    built: Built, sources: Sequence[str], found: Sequence[Any], spec: dict[str, Any], values: Sequence[Any]
) -> list[Any]:
    """The derivatives by source in their shapes, None for one that the result does not depend on."""
    gradients: list[Any] = []
    for name, g in zip(sources, found):
        if name in built.lost:
            gradients.append(None)
            continue
        g = reshaped(g, spec[name] if spec[name].__class__ is tuple else ())
        if is_zero(g) and not built.surely_connected(name, values):
            raise Unsupported("an input of which it is doubtful that the result depends on it")
        gradients.append(g)
    return gradients


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
