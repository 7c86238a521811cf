"""Functions of floats on arrays, element by element."""

from __future__ import annotations

import ctypes
import math
from time import perf_counter
from types import FunctionType
from typing import TYPE_CHECKING, Any

import numpy as np

from .kernel_functions import helper
from .scipy_functions import EXTERNALS, address

if TYPE_CHECKING:
    from collections.abc import Callable

Array = Any
# After so many seconds of Python a function is compiled, which takes about one.
PATIENCE = 0.5
COMPILED: dict[str, Any] = {}


def map_floats(name: str, *inputs: Any, **static: Any) -> Array:
    """The function of floats of that name at each element of inputs that broadcast, and at the numbers in `static`."""
    arrays, parameters = [np.asarray(x, dtype=np.float64) for x in inputs], tuple(static.values())
    if name not in COMPILED:
        columns = np.broadcast_arrays(*arrays)
        found = by_python(helper(name), [x.ravel().tolist() for x in columns], parameters)
        if found is not None:
            return np.reshape(found, columns[0].shape)
        COMPILED[name] = compiled(name)
    with np.errstate(all="ignore"):
        return COMPILED[name](*arrays, *parameters)


def by_python(
    function: Callable[..., float], columns: list[list[float]], parameters: tuple[Any, ...]
) -> list[float] | None:
    """The values; or None where it takes long, or an operation has no finite result: Python raises what in IEEE 754 is
    an infinity or nan."""
    end, found = perf_counter() + PATIENCE, []
    try:
        for point in zip(*columns):
            found.append(function(*point, *parameters))
            if perf_counter() > end:
                return None
    except (ArithmeticError, ValueError):
        return None
    return found


def compiled(name: str) -> Any:
    """A ufunc of a function of floats, with those that it calls."""
    from numba import njit, vectorize

    names: dict[str, Any] = {"math": math}

    def add(known: str) -> None:
        found = helper(known) if known not in EXTERNALS else None
        if known in EXTERNALS:
            double = ctypes.c_double
            names[known] = ctypes.CFUNCTYPE(double, *[double] * EXTERNALS[known])(address(known))
        elif found is not None and known not in names:
            names[known] = found
            if found.__class__ is FunctionType:
                for other in found.__code__.co_names:
                    add(other)
                names[known] = njit(error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)(
                    FunctionType(found.__code__, names, known)
                )

    add(name)
    return vectorize(FunctionType(helper(name).__code__, names, name))
