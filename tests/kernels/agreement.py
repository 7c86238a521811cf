"""One program on both tiers: value, gradients, notices and errors must be the same."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import adiff
import numpy as np
from adiff import AdiffError

# Relative, or in units of the largest element of an array: sums and powers round differently.
TOLERANCE = 1e-13
# What is smaller than the rounding errors of the other derivatives may be made of rounding errors itself.
ROUNDING = 2.0**-52


# The programs of one test: what asks for a text again is answered by the kernels that are there (conftest.py).
program_of = functools.cache(adiff.program)


def outcome(program: Any, at: Any, engine: str, command: str, wrt: Any, **options: Any) -> Any:
    try:
        return program.evaluate(command, at, wrt, engine=engine, **options)
    except AdiffError as error:
        return error


KINKS = frozenset(("N0301", "N0501", "N0502", "N0503"))
ORIGINS = frozenset(("N0601", "N0602"))  # where a nan or an infinity began


def spans(notices: Any, codes: frozenset[str] = KINKS) -> set[Any]:
    return {(n.code, n.message, n.span and (n.span.start, n.span.end)) for n in notices if n.code in codes}


def leaves(x: Any, path: str = "") -> dict[str, Any]:
    """The parts of a nested dict or list by their paths."""
    items = x.items() if isinstance(x, dict) else enumerate(x) if isinstance(x, list) else None
    if items is None:
        return {} if x is None and not path else {path: x}
    return {key: leaf for name, part in items for key, leaf in leaves(part, f"{path}/{name}").items()}


def largest(x: Any) -> float:
    """The size of the largest finite element: what the blocks of one matrix are measured by."""
    if x is None:
        return 0.0
    values = np.abs(np.asarray(x))
    return float(values[np.isfinite(values)].max(initial=0.0))


def close(a: Any, b: Any, tolerance: float, least: float = 0.0) -> bool:
    """Equal up to the tolerance, relative to an element, to the largest of an array, or to a size of at `least`."""
    if a is None or b is None:
        return a is b
    if isinstance(a, (list, tuple)):
        return type(a) is type(b) and len(a) == len(b) and all(close(x, y, tolerance) for x, y in zip(a, b))
    if isinstance(a, dict):
        return type(b) is dict and a.keys() == b.keys() and all(close(a[k], b[k], tolerance) for k in a)
    if isinstance(a, (str, bool)) or isinstance(b, (str, bool)):
        return type(a) is type(b) and a == b
    a, b = np.asarray(a), np.asarray(b)
    if a.shape != b.shape:
        return False
    if a.size == 0:
        return True
    if np.iscomplexobj(a) and np.iscomplexobj(b):
        # Which part is infinite or nan counts too, which NumPy takes for the same.
        odd = ~(np.isfinite(a) & np.isfinite(b))
        if odd.any() and not all(
            close(getattr(a, part)[odd], getattr(b, part)[odd], tolerance) for part in ("real", "imag")
        ):
            return False
        a, b = np.where(odd, 0, a), np.where(odd, 0, b)
    finite = np.abs(a[np.isfinite(a)])
    scale = max(finite.max() if a.ndim and finite.size else 0.0, least)
    return np.allclose(b, a, rtol=tolerance, atol=tolerance * scale, equal_nan=True)


def type_of(x: Any) -> Any:
    """What a value is: the class of a number, the dtype of an array, or those of its parts."""
    if isinstance(x, dict):
        return {name: type_of(part) for name, part in x.items()}
    if isinstance(x, (list, tuple)):
        return type(x), [type_of(part) for part in x]
    return str(x.dtype) if hasattr(x, "dtype") else type(x)


def agree(
    text: Any,
    at: dict[str, Any],
    wrt: Any = None,
    command: str = "grad",
    tolerance: float = TOLERANCE,
    rounding: float = ROUNDING,
    also: Callable[[Any, Any], None] | None = None,
    **options: Any,
) -> str:
    """Assert that both tiers agree; "" if a kernel gave the answer, else why none did.

    `text` may be a Program, whose kernels answer in other tests too. `also` is given the outcomes of both, where a kernel gave the second.
    """
    program = program_of(text) if text.__class__ is str else text
    text = program.source.text
    tape = outcome(program, at, "tape", command, wrt, **options)
    kernel = outcome(program, at, "kernel", command, wrt, **options)
    where = f"\n{text}\nat {at}"
    if isinstance(tape, AdiffError) or isinstance(kernel, AdiffError):
        assert isinstance(tape, AdiffError), f"only the kernel fails: {kernel!r}{where}"
        assert isinstance(kernel, AdiffError), f"only the tape fails: {tape!r}{where}"
        assert (tape.code, tape.message, tape.hint) == (kernel.code, kernel.message, kernel.hint), where
        tape_place, kernel_place = ((e.span.start, e.span.end) if e.span else None for e in (tape, kernel))
        assert tape_place == kernel_place, f"at {tape_place} and {kernel_place}{where}"
        return "an error"
    if kernel.engine == "tape":
        return str(kernel.reason)
    assert type_of(tape.value) == type_of(kernel.value), f"value {tape.value!r} and {kernel.value!r}{where}"
    assert close(tape.value, kernel.value, tolerance), f"value {tape.value!r} and {kernel.value!r}{where}"
    for part in ("gradients", "jacobian", "hessian", "tangent", "cotangents", "product", "derivatives"):
        mine, theirs = leaves(getattr(tape, part)), leaves(getattr(kernel, part))
        assert mine.keys() == theirs.keys(), f"{part} of {list(mine)} and {list(theirs)}{where}"
        scale = max((largest(g) for g in mine.values()), default=0.0)
        if part not in ("hessian", "jacobian", "product"):
            scale *= rounding
        for name, g in mine.items():
            assert close(g, theirs[name], tolerance, scale), f"{part} {name} {g!r} and {theirs[name]!r}{where}"
    assert tape.mode == kernel.mode, where
    # A kernel whose work the tape would not repeat in a moment does not say where a nan began.
    codes = KINKS if any(n.code == "N0603" for n in kernel.notices) else KINKS | ORIGINS
    assert spans(tape.notices, codes) == spans(kernel.notices, codes), f"{tape.notices} and {kernel.notices}{where}"
    if also is not None:
        also(tape, kernel)
    return ""
