"""Running emitted kernels without Numba: the source is plain Python, and NumPy's scalars give it IEEE arithmetic."""

from __future__ import annotations

import math
from collections.abc import Callable
from types import CodeType
from typing import Any

import numpy as np
from adiff.engine.kernels import ir, running
from adiff.engine.kernels.built import Built
from adiff.engine.kernels.machine import record
from adiff.engine.kernels.machine.externals import EXTERNALS, ROUTINES
from adiff.engine.kernels.source import emit
from adiff.engine.kernels.source.helpers import helpers
from adiff.engine.kernels.symbols.regions import dissolved
from legality import check
from scipy import special


class Ieee:
    """`math` as machine code has it: infinities and nan in the place of exceptions."""

    inf, nan, pi = np.float64(math.inf), np.float64(math.nan), np.float64(math.pi)

    def __getattr__(self, name: str) -> Callable[..., Any]:
        function = getattr(math, name)
        fallback = {"pow": "power", "asin": "arcsin", "acos": "arccos", "atan": "arctan", "asinh": "arcsinh"}
        fallback |= {"acosh": "arccosh", "atanh": "arctanh", "atan2": "arctan2", "fabs": "abs"}

        def call(*values: Any) -> Any:
            try:
                return np.float64(function(*values))
            except (ValueError, OverflowError):
                if name in ("lgamma", "gamma"):
                    return np.float64({"lgamma": special.gammaln, "gamma": special.gamma}[name](*values))
                return np.float64(getattr(np, fallback.get(name, name))(*values))

        setattr(self, name, call)
        return call


class Interpreted(running.Compiled):
    """A kernel that has no machine code; who calls it again is given its results where they are as usual (usual.py)."""

    def usual(self) -> Any:
        flags = len(self.emitted.results) - 1 if self.built.noted else None
        truth = 1 if self.built.whole else None

        def call(values: Any, passed: Any, patient: bool = True) -> list[Any] | None:
            # Machine code is given the memory of an array, whatever its shape.
            results = self.entry(*[v.reshape(-1) if isinstance(v, np.ndarray) else v for v in values])
            if (flags is not None and any(results[flags])) or (truth is not None and results[truth]):
                return None
            if not all(np.isfinite(x).all() for x in results):
                return None
            found = [x for k, x in enumerate(results) if k not in (flags, truth)]
            return [found[0], *(x + 0.0 for x in found[1:])]

        return call


def of_numpy(constant: Any) -> Any:
    """Code whose float literals are NumPy's: Python's would raise where machine code divides by zero."""
    if constant.__class__ is float:
        return np.float64(constant)
    if constant.__class__ is tuple:
        return tuple(map(of_numpy, constant))
    if constant.__class__ is CodeType:
        return constant.replace(co_consts=of_numpy(constant.co_consts))
    return constant


def identity(function: Any = None, **options: Any) -> Any:
    return function if function is not None else lambda inner: inner


class Run:
    """The memory slots of one run."""

    def __init__(self) -> None:
        self.slots: dict[int, Any] = {}

    def room(self, dtype: str, slot: int, count: int) -> Any:
        found = np.full(count, 99, dtype=dtype)
        old = self.slots.get(slot)
        if old is not None:
            if len(old) >= count:
                return old
            found[: len(old)] = old
        self.slots[slot] = found
        return found


def clear(memory: Any, count: int) -> None:
    memory[:count] = 0


def fail(run: Run, place: int, number: int) -> None:
    raise ir.Left(record.FAILED, place, int(number))


def host_calls() -> dict[str, Any]:
    """What compiler.py gives to kernels that are compiled."""
    found: dict[str, Any] = {"clear": clear, "poll": lambda run, place: None, "fail": fail, "prange": range}
    found.update(ROUTINES)
    found.update({name: getattr(special, external.name) for name, external in EXTERNALS.items()})
    for stem, dtype in (("floats", "float64"), ("ints", "int64"), ("bools", "bool")):
        found[stem] = lambda run, slot, count, dtype=dtype: run.room(dtype, slot, count)
        found["few_" + stem] = lambda count, dtype=dtype: np.full(count, 99, dtype=dtype)
    return found


NAMESPACE: dict[str, Any] = {}


def interpreted(built: Built, keep: Any = None) -> running.Compiled:
    """What stands for `collection.compile_kernel`."""
    if not NAMESPACE:
        functions = helpers(identity)
        functions["math"] = Ieee()  # for the functions themselves, whose globals these are
        NAMESPACE.update(functions)
        NAMESPACE.update(host_calls())
        NAMESPACE.update(float=np.float64)
    emitted = built.emitted or emit.emit(built.kernel)
    own = NAMESPACE | {"held": lambda number, count, dtype: np.frombuffer(emitted.held[number], dtype, count)}
    exec(of_numpy(compile(emitted.text, "<kernel>", "exec")), own)
    function = own["kernel"]

    def entry(*values: Any, **options: Any) -> Any:
        try:
            with np.errstate(all="ignore"):
                results = function(Run(), *[np.float64(v) if isinstance(v, float) else v for v in values])
        except (ArithmeticError, IndexError, ValueError):
            raise ir.Left from None
        return tuple(r.item() if isinstance(r, np.generic) else r for r in results)

    return Interpreted(built, entry, emitted)  # type: ignore[arg-type]


FOUND_LEGAL: list[ir.Kernel] = []  # the last one


def checked(pass_: Callable[[ir.Kernel], Any], regions: bool = True) -> Callable[[ir.Kernel], Any]:
    """A pass with the legality of its input and output asserted; without `regions` if it comes after the rules."""

    def run(kernel: ir.Kernel) -> Any:
        if kernel not in FOUND_LEGAL:  # what one pass gives is mostly what the next is given
            check(kernel, regions)
        result = pass_(kernel)
        FOUND_LEGAL[:] = [result[0] if result.__class__ is tuple else result]
        check(FOUND_LEGAL[0], regions)
        return result

    return run


def run_as_python(kernel: ir.Kernel, at: dict[str, Any]) -> list[Any]:
    """The results of a kernel, between passes too, with its parameters as `at` has them."""
    plain = ir.Kernel(kernel.parameters, dissolved(kernel.body), kernel.results)
    found = interpreted(Built(plain, ())).entry(*[at[p.name] for p in kernel.parameters])
    return [np.array(x, dtype=float) for x in found]


def meant(pass_: Callable[[ir.Kernel], Any], at: dict[str, Any]) -> Callable[[ir.Kernel], Any]:
    """A pass that is asserted to change no result of a kernel at a point, but for the order of sums."""

    def run(kernel: ir.Kernel) -> Any:
        before = run_as_python(kernel, at)
        result = pass_(kernel)
        after = run_as_python(result[0] if result.__class__ is tuple else result, at)
        for one, other in zip(before, after, strict=True):
            np.testing.assert_allclose(other, one, rtol=1e-12, atol=1e-12, err_msg=str(pass_))
        return result

    return run
