"""Running kernels: from a program and its inputs to compiled code, and from its results back to values.

Numba is imported here and nowhere else, and only when a kernel is compiled.
"""

from __future__ import annotations

from ..autodiff.pullback import singular_notice
from ..core.errors import failure
from ..core.state import STATE
from ..core.tensor import Tensor
from ..program.core import CoreProgram
from . import emit, ir
from .adjoint import adjoint
from .build import NUMBERS, Builder, Lazy, Sym, raw
from .ir import FLOAT, INT, Unsupported
from .simplify import simplify
from .specialise import specialise
from .work import worthwhile

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any


class Compiled:
    """A kernel ready to run.

    `source` is what was compiled, `shape` the shape of the program's value, `sites` the places of its index checks and
    `noted` the singular points whose flags are its last result.
    """

    __slots__ = ("noted", "run", "shape", "sites", "source")

    def __init__(
        self, run: Callable[..., Any], source: str, shape: tuple[int, ...], sites: list[Any], noted: list[Any]
    ) -> None:
        self.run = run
        self.source = source
        self.shape = shape
        self.sites = sites
        self.noted = noted


def specification(values: dict[str, Any], sources: Sequence[str]) -> dict[str, Any]:
    """What a kernel is specialised to: the kind or shape of every input, or its value where that is no number.

    Raises Unsupported for inputs that kernels do not take.
    """
    found: dict[str, Any] = {}
    for name, value in values.items():
        cls = value.__class__
        if cls is Tensor:
            if value.dtype.name not in ("float64", "int64") or (value.dtype.kind == "i" and not value.dtype.weak):
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
    import numpy as np

    found: list[Any] = []
    for name in [*program.inputs, *(n for n in program.optional if n in spec)]:
        kind = spec[name]
        value = values[name]
        value = value.value if value.__class__ is Tensor else value
        if kind.__class__ is tuple:
            found.append(np.ascontiguousarray(value, dtype=np.float64).reshape(-1))
        elif kind == FLOAT:
            found.append(float(value))
        elif kind == INT:
            found.append(int(value))
    return found


def build(
    program: CoreProgram, spec: dict[str, Any], sources: Sequence[str] | None
) -> tuple[ir.Kernel, tuple[int, ...], list[Any]]:
    """The kernel of the value (sources None) or of value and gradient, before emission; the value's shape; the notices."""
    kernel, result, symbols = specialise(program, spec)
    builder = Builder()
    builder.block = kernel.body
    shape: tuple[int, ...] = ()
    if result.__class__ in (list, tuple):
        result = builder.operand(result)
    if result.__class__ is Lazy:
        settled = builder.settle(result)
        if settled.stored is None:
            settled = builder.settle(Lazy(builder, result.kind, result.shape, lambda index: result.element(index)))
        shape = settled.shape
        value: Any = settled.stored
        summed = builder.total(shape, settled.element) if sources is not None else None
    elif result.__class__ is Sym or result.__class__ in NUMBERS:
        value = raw(result)
        summed = result
    else:
        raise Unsupported("a result that is no number and no tensor")
    if sources is None:
        return simplify(ir.Kernel(kernel.parameters, kernel.body, [value])), shape, []
    targets = [symbols[name].var if symbols[name].__class__ is Sym else symbols[name].stored for name in sources]
    if summed.__class__ is not Sym:
        raise Unsupported("a result that depends on no input")
    total = builder.to_float(summed)
    differentiated, noted = adjoint(ir.Kernel(kernel.parameters, kernel.body, [total.var]), total.var, targets)
    differentiated.results[0] = value
    return simplify(differentiated), shape, noted


def compile_kernel(kernel: ir.Kernel, shape: tuple[int, ...], noted: list[Any]) -> Compiled:
    """Emit and compile what `build` made."""
    text, sites = emit.source(kernel)
    namespace: dict[str, Any] = {}
    # The source is ours throughout: names are generated, and nothing of the program's text is in it.
    exec(compile(emit.HEADER + text, "<kernel>", "exec"), namespace)
    from numba import njit

    run = njit(error_model="numpy")(namespace["kernel"])
    return Compiled(run, text, shape, sites, noted)


def run(compiled: Compiled, values: list[Any]) -> tuple[Any, ...]:
    """The results of a kernel; an index out of range is the error that the tape gives."""
    try:
        results: tuple[Any, ...] = compiled.run(*values)
    except IndexError as fault:
        site, axis, size = compiled.sites[fault.args[0]]
        STATE.site = site
        raise failure("E0405", f"index is out of range for axis {axis} of size {size}") from None
    if compiled.noted:
        for flag, (spot, site) in zip(results[-1], compiled.noted):
            if flag:
                STATE.notify("N0501", singular_notice(spot, spot.choice(STATE.kinks)), site)
        results = results[:-1]
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
            self.built[key] = build(self.program, spec, sources)
        kernel, shape, noted = self.built[key]
        given = arguments(self.program, values, spec)
        if not always:
            integers = {p: v for p, v in zip(kernel.parameters, given) if p.__class__ is ir.Var and p.kind == INT}
            if not worthwhile(kernel, integers, key in self.compiled):
                return None
        if key not in self.compiled:
            self.compiled[key] = compile_kernel(kernel, shape, noted)
        compiled = self.compiled[key]
        value, *gradients = run(compiled, given)
        shaped = [
            reshaped(g, spec[name] if spec[name].__class__ is tuple else ()) for name, g in zip(sources or (), gradients)
        ]
        return reshaped(value, shape), shaped, compiled


__all__ = ["Compiled", "Kernels", "Unsupported", "arguments", "compile_kernel", "run", "specification"]
