"""One program on both tiers: numbers, None, errors and notice codes must be the same."""

from typing import Any

import adiff
import numpy as np
from adiff import AdiffError

PARTS = ("value", "gradients", "cotangents", "tangent", "product", "jacobian", "hessian")
COMMANDS = ("value", "grad", "vjp", "jvp", "hvp", "jacobian", "hessian")
# Relative, or in units of the largest element of an array: sums and powers round differently.
TOLERANCE = 1e-12
# What a kernel of long runs says in the place of where a nan began.
ORIGINS = frozenset(("N0601", "N0602", "N0603", "N0606"))


def outcome(program: Any, command: str, at: Any, wrt: Any, engine: str, options: Any) -> Any:
    """The outcome of an evaluation, or its error."""
    try:
        return program.evaluate(command, at, wrt, engine=engine, **options)
    except AdiffError as error:
        return error


def close(a: Any, b: Any, tolerance: float = TOLERANCE, least: float = 0.0) -> bool:
    """Equal structures of equal types, and numbers equal relative to the largest of their array, or to a size of `least`."""
    if a.__class__ in (dict, list, tuple):
        if a.__class__ is not b.__class__ or len(a) != len(b):
            return False
        pairs = [(a[k], b.get(k, KeyError)) for k in a] if a.__class__ is dict else zip(a, b)
        return all(close(x, y, tolerance, least) for x, y in pairs)
    if not (hasattr(a, "dtype") or a.__class__ in (float, int)):
        return a.__class__ is b.__class__ and bool(a == b)
    if a.__class__ is int and b.__class__ is float:
        a = float(a)  # a variable of a kernel has one kind: the join of what is assigned to it
    if a.__class__ is not b.__class__ or getattr(a, "dtype", 0) != getattr(b, "dtype", 0) or np.shape(a) != np.shape(b):
        return False
    return bool(np.allclose(b, a, rtol=tolerance, atol=tolerance * max(largest(a), least), equal_nan=True))


def largest(x: Any) -> float:
    """The size of the largest finite number in a structure."""
    if x.__class__ is dict:
        return max(map(largest, x.values()), default=0.0)
    if x.__class__ in (list, tuple):
        return max(map(largest, x), default=0.0)
    if x is None or x.__class__ is str:
        return 0.0
    values = np.abs(np.asarray(x, float))
    return float(values[np.isfinite(values)].max(initial=0.0))


def differentiable(at: dict[str, Any]) -> list[str]:
    """The inputs that hold floats."""
    return [name for name, x in at.items() if x.__class__ is float or getattr(x, "dtype", None) == np.float64]


def directions(at: dict[str, Any], names: list[str]) -> dict[str, Any]:
    """A direction in which every element moves differently."""
    return {
        name: np.linspace(0.5, 1.0, np.size(at[name])).reshape(np.shape(at[name]))[()] + 0.25 * k
        for k, name in enumerate(names)
    }


def options_of(command: str, at: dict[str, Any], names: list[str]) -> dict[str, Any]:
    """The options that a command needs."""
    option = {"jvp": "tangent", "hvp": "vector"}.get(command)
    return (
        {option: {name: float(x) if np.ndim(x) == 0 else x for name, x in directions(at, names).items()}}
        if option
        else {}
    )


def notices(found: Any) -> list[Any]:
    """The notices of an outcome: singular points with their places, of the others what they are about."""
    return sorted(
        (n.code, n.message, n.span and n.span.start) if n.code == "N0501" else (n.code, n.message.partition(":")[0], None)
        for n in found.notices if n.code not in ORIGINS
    )  # fmt: skip


def agree(
    text: Any, at: dict[str, Any], command: str = "grad", wrt: list[str] | None = None, tolerance: float = TOLERANCE,
    codes_only: bool = False, size: float = 0.0, **options: Any,
) -> str:  # fmt: skip
    """Assert that the tiers agree on a command. Returns "" where a kernel ran, else the reason; of an error its code.

    Differences are relative to at least `size`: that of the intermediate results, whose rounding may be all that a result is.
    """
    program = adiff.program(text) if text.__class__ is str else text
    at = {name: x for name, x in at.items() if name in (*program.inputs, *program.optional)}
    names = differentiable(at) if wrt is None else wrt
    options = {**options_of(command, at, names), **options}
    sources = None if command == "value" else names
    tape = outcome(program, command, at, sources, "tape", options)
    kernel = outcome(program, command, at, sources, "kernel", options)
    where = f"{command} by {names} of\n{program.source.text}\nat {at}"
    if isinstance(tape, AdiffError) or isinstance(kernel, AdiffError):
        assert isinstance(tape, AdiffError), f"only the kernel fails: {kernel!r}\n{where}"
        assert isinstance(kernel, AdiffError), f"only the tape fails: {tape!r}\n{where}"
        assert (tape.code, tape.message, tape.hint) == (kernel.code, kernel.message, kernel.hint), where
        assert (tape.span and tape.span.start) == (kernel.span and kernel.span.start), where
        return tape.code
    for part in PARTS:
        mine, theirs = getattr(tape, part), getattr(kernel, part)
        # What is smaller than the rounding errors of the other derivatives may be made of rounding errors itself.
        least = largest(mine) if part in ("hessian", "jacobian", "product") else 1e-3 * largest(mine)
        assert close(mine, theirs, tolerance, max(least, size)), f"{part}\n{mine!r}\n{theirs!r}\n{where}"
    assert tape.mode == kernel.mode, where
    told, heard = notices(tape), notices(kernel)
    if codes_only:
        told, heard = [sorted({code for code, _, _ in found}) for found in (told, heard)]
    assert told == heard, f"{told}\n{heard}\n{where}"
    return "" if kernel.engine == "kernel" else str(kernel.reason)


__all__ = ["COMMANDS", "agree", "differentiable", "outcome"]
