"""One program on both tiers: value, gradients, notices and errors must be the same."""

from __future__ import annotations

from typing import Any

import adiff
import numpy as np
from adiff import AdiffError

# Relative, or in units of the largest element of an array: sums and powers round differently.
TOLERANCE = 1e-13


def outcome(program: Any, at: Any, engine: str, command: str, wrt: Any, **options: Any) -> Any:
    try:
        return program.evaluate(command, at, wrt, engine=engine, **options)
    except AdiffError as error:
        return error


def spans(notices: Any) -> set[Any]:
    return {
        (n.code, n.message, None if n.span is None else (n.span.start, n.span.end)) for n in notices if n.code in ("N0501", "N0502", "N0503")
    }  # fmt: skip


def close(a: Any, b: Any, tolerance: float) -> bool:
    if a is None or b is None:
        return a is b
    if isinstance(a, (str, bool)) or isinstance(b, (str, bool)):
        return type(a) is type(b) and a == b
    a, b = np.asarray(a), np.asarray(b)
    if a.shape != b.shape:
        return False
    if a.size == 0:
        return True
    finite = np.abs(a[np.isfinite(a)])
    scale = finite.max() if a.ndim and finite.size else 0.0
    return np.allclose(b, a, rtol=tolerance, atol=tolerance * scale, equal_nan=True)


def agree(
    text: str,
    at: dict[str, Any],
    wrt: Any = None,
    command: str = "grad",
    tolerance: float = TOLERANCE,
    **options: Any,
) -> str:
    """Assert that both tiers agree; "" if a kernel gave the answer, else why none did."""
    program = adiff.program(text)
    tape = outcome(program, at, "tape", command, wrt, **options)
    kernel = outcome(program, at, "kernel", command, wrt, **options)
    where = f"\n{text}\nat {at}"
    if isinstance(tape, AdiffError) or isinstance(kernel, AdiffError):
        assert isinstance(tape, AdiffError), f"only the kernel fails: {kernel!r}{where}"
        assert isinstance(kernel, AdiffError), f"only the tape fails: {tape!r}{where}"
        assert (tape.code, tape.message, tape.hint) == (kernel.code, kernel.message, kernel.hint), where
        assert (tape.span and tape.span.start) == (kernel.span and kernel.span.start), where
        return "an error"
    if kernel.engine == "tape":
        return str(kernel.reason)
    assert close(tape.value, kernel.value, tolerance), f"value {tape.value!r} and {kernel.value!r}{where}"
    for name, g in (tape.gradients or {}).items():
        assert close(g, kernel.gradients[name], tolerance), f"d/d{name} {g!r} and {kernel.gradients[name]!r}{where}"
    assert spans(tape.notices) == spans(kernel.notices), f"{tape.notices} and {kernel.notices}{where}"
    return ""
