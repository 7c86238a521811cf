"""Emitted source run as plain Python, for tests: pointers are NumPy arrays of the exact size."""

import math
import re
from types import FunctionType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
from adiff.engine.kernels import emit as emission
from adiff.engine.kernels import kernels
from adiff.engine.kernels.compile import numba_backend, store
from adiff.engine.kernels.compile.run import Failed
from adiff.engine.kernels.emit import emit
from adiff.engine.kernels.emit.code import ROOM
from adiff.engine.kernels.ir import Emitted, Kernel
from adiff.engine.ops.kernel_functions import helper
from legal import verify
from scipy import special

FLAGS = 2
DTYPES = {"f": np.float64, "i": np.int64, "b": np.bool_}
MATH = SimpleNamespace(
    inf=math.inf, nan=math.nan, pi=math.pi, pow=np.power, asin=np.arcsin, acos=np.arccos, atan=np.arctan, atan2=np.arctan2,
    asinh=np.arcsinh, acosh=np.arccosh, atanh=np.arctanh, copysign=math.copysign, fmod=np.fmod,
    erf=special.erf, erfc=special.erfc, gamma=special.gamma, lgamma=special.gammaln,
    **{name: getattr(np, name) for name in "exp exp2 expm1 log log2 log10 log1p sqrt tanh sin cos tan sinh cosh hypot floor ceil trunc".split()},
)  # fmt: skip


def helpers(text: str) -> dict[str, Any]:
    """The functions of the prelude that a text calls, and those that they call, as plain Python."""
    found: dict[str, Any] = {"math": MATH, "np": np}
    pending = re.findall(r"\b[a-z_]\w*(?=\()", text)
    while pending:
        name = pending.pop()
        function = None if name in found else helper(name) or getattr(special, name.removeprefix("scipy_"), None)
        if function.__class__ is FunctionType:
            pending += function.__code__.co_names
            function = FunctionType(function.__code__, found, name, function.__defaults__)
        if function is not None:
            found[name] = function
    return found


class Pointer:
    """Memory without negative indices."""

    def __init__(self, values: Any) -> None:
        self.values = values

    def __getitem__(self, place: Any) -> Any:
        assert 0 <= place < len(self.values), f"a load from {place} of {len(self.values)}"
        return self.values[place]

    def __setitem__(self, place: Any, x: Any) -> None:
        assert 0 <= place < len(self.values), f"a store to {place} of {len(self.values)}"
        self.values[place] = x


def call(emitted: Emitted, arguments: list[Any]) -> tuple[int, list[Any], set[int]]:
    """The status, the results and the flags of emitted source."""
    slots: dict[int, Any] = {}

    def room(kind: str) -> Any:
        def get(run: Any, slot: int, count: int) -> Any:
            assert 0 <= slot < emitted.slots
            old = slots.get(slot)
            made = np.full(max(count, 0), 77, DTYPES[kind])  # no zeros by accident
            if old is not None:
                made = made if len(made) > len(old) else old.copy()
                made[: len(old)] = old[: len(made)]
            slots[slot] = made
            return Pointer(made)

        return get

    def clear(pointer: Any, count: int) -> None:
        pointer.values[:count] = 0

    namespace = {
        "FLAGS": FLAGS, "clear": clear, **{f"{stack}{name}": room(kind) for kind, name in ROOM.items() for stack in ("", "stack_of_")},
        "poll": lambda run: None, **helpers(emitted.text),
    }  # fmt: skip
    exec(compile(emitted.text, "<kernel>", "exec"), namespace)
    run = np.zeros(FLAGS + emitted.flags + 1, np.int64)
    given = [
        Pointer(np.array(x, DTYPES[kind]).ravel()) if shape else DTYPES[kind](x)
        for x, (kind, shape) in zip(arguments, emitted.parameters)
    ]
    results = [np.full(int(np.prod(shape, dtype=int)), 77, DTYPES[kind]) for kind, shape in emitted.results]
    with np.errstate(all="ignore"):
        status = namespace["kernel"](
            run, *given, *[Pointer(x.ravel()) for x in emitted.constants], *map(Pointer, results)
        )
    found = [x.reshape(shape)[()] for x, (_, shape) in zip(results, emitted.results)]
    return status, found, {n for n in range(emitted.flags) if run[FLAGS + n]}


class InPython:
    """An `Entry` whose source runs as plain Python."""

    def __init__(self, interface: Any, emitted: Emitted) -> None:
        self.emitted = emitted

    def __call__(self, *values: Any, patient: bool = True) -> tuple[tuple[Any, ...], tuple[int, ...]]:
        status, results, flags = call(self.emitted, list(values))
        if status:
            raise Failed
        return tuple([x if np.shape(x) else x.item() for x in results]), tuple(sorted(flags))


def without_compiler(patch: pytest.MonkeyPatch) -> None:
    """Kernels are legal IR, are run as plain Python, and are kept nowhere."""

    def checked(kernel: Kernel) -> Emitted:
        verify(kernel)
        return emit(kernel)

    patch.setattr(emission, "emit", checked)
    patch.setattr(kernels, "Entry", InPython)
    patch.setattr(numba_backend, "compiled", lambda emitted, by_row=None: emitted)
    patch.setattr(store, "load", lambda key: None)
    patch.setattr(store, "save", lambda *entry: True)
