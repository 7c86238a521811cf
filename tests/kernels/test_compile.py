"""Emitted texts, written by hand, compiled and run: what they may call, and how calls end."""

import math
import os
import re
import signal
import threading
from typing import Any

import numpy as np
import pytest
from adiff.engine.core.limits import enforced
from adiff.engine.kernels.compile.run import Entry, Failed, OutOfMemory
from adiff.engine.kernels.ir import Emitted
from adiff.engine.ops.registry import ROWS
from adiff.parser.errors import AdiffError

compiled = pytest.importorskip("adiff.engine.kernels.compile.numba_backend", exc_type=ImportError).compiled

FLOAT, INT, BOOL = ("f", ()), ("i", ()), ("b", ())


def written(text: str, parameters: Any, results: Any, slots: int = 0, flags: int = 0, constants: Any = ()) -> Emitted:
    """A text with what the emission says of it."""
    return Emitted(text, parameters, results, slots, flags, list(constants), False)


def entry(text: str, parameters: Any, results: Any, **more: Any) -> Entry:
    emitted = written(text, parameters, results, **more)
    return Entry(emitted, compiled(emitted))


LOOP = """
def kernel(run, x, n, r0, r1):
    heads = floats(run, 0, n + 1)
    t = x
    for i in range(n):
        heads[i] = t
        t = _sigmoid(t) * 1.5 if t > 0.5 else math.sin(t) + t * t
        if i % 4096 == 0:
            poll(run)
    r0[0] = t
    g = 1.0
    for k in range(n - 1, -1, -1):
        t = heads[k]
        if t > 0.5:
            s = _sigmoid(t)
            g = g * 1.5 * s * (1.0 - s)
        else:
            g = g * (math.cos(t) + 2.0 * t)
    r1[0] = g
    return 0
"""


def loop(x: float, n: int) -> tuple[float, float]:
    g, t = 1.0, x
    for _ in range(n):
        if t > 0.5:
            s = 1.0 / (1.0 + math.exp(-t))
            t, g = 1.5 * s, g * 1.5 * s * (1.0 - s)
        else:
            t, g = math.sin(t) + t * t, g * (math.cos(t) + 2.0 * t)
    return t, g


def test_a_loop_and_its_adjoint() -> None:
    run = entry(LOOP, [FLOAT, INT], [FLOAT, FLOAT], slots=1)
    for n in (5, 0, 3000, 7):
        results, flags = run(0.3, n)
        assert results == pytest.approx(loop(0.3, n), rel=1e-12)
        assert flags == ()
    assert run(0.3, 5, patient=False) == run(0.3, 5)


def test_memory_is_limited() -> None:
    text = "def kernel(run, n, r):\n    a = floats(run, 0, n)\n    a[n - 1] = 1.0\n    r[0] = a[n - 1]\n    return 0\n"
    run = entry(text, [INT], [FLOAT], slots=1)
    assert run(1 << 20)[0] == (1.0,)
    limits = enforced(None, 1 << 20, None)
    try:
        limits.__enter__()
        with pytest.raises(OutOfMemory):
            run(1 << 18)
        assert run(1 << 16)[0] == (1.0,)
    finally:
        limits.lift()
    with pytest.raises(OutOfMemory):
        run(1 << 50)
    assert run(1 << 20)[0] == (1.0,)


STATIC = {
    "alpha": 0.2, "order": 1, "n": 0, "order_a": 1, "order_b": 0, "decimals": 2, "rtol": 1e-5, "atol": 1e-8,
    "rel_tol": 1e-9, "abs_tol": 0.0, "equal_nan": False, "nan": 0.0, "posinf": None, "neginf": 5.0, "deg": True,
}  # fmt: skip
NUMBERS = (0.3, 0.7, 1.9, -0.4, 3.5, 0.0, -2.0, math.inf, math.nan)
SCALAR_ROWS = sorted(
    name
    for name, row in ROWS.items()
    if isinstance(row.kernel, str) and row.array and row.dtype != "bool" and (row.accepts is None or "f" in row.accepts)
)


@pytest.mark.parametrize("start", range(8))
def test_rows_of_numbers_compute_what_the_tape_does(start: int) -> None:
    names = SCALAR_ROWS[start::8]
    lines, used = [], []
    for k, name in enumerate(names):
        text: Any = ROWS[name].kernel
        static = {x: STATIC[x] for x in re.findall(r"\{([a-z_]+)\}", text)}
        count = 1 + max(map(int, re.findall(r"\{(\d)\}", text)))
        for x, value in static.items():
            text = text.replace(f"{{{x}}}", repr(value))
        for place, letter in enumerate("abc"):
            text = text.replace(f"{{{place}}}", letter)
        lines.append(f"    if which == {k}:\n        r[0] = {text}\n")
        used.append((count, static))
    run = entry(f"def kernel(run, which, a, b, c, r):\n{''.join(lines)}    return 0\n", [INT, *[FLOAT] * 3], [FLOAT])
    for k, (name, (count, static)) in enumerate(zip(names, used)):
        for i in range(len(NUMBERS)):
            values = [NUMBERS[(i + 4 * j) % len(NUMBERS)] for j in range(3)]
            try:
                (got,), _ = run(k, *values)
            except Failed:
                continue
            evaluate: Any = ROWS[name].array
            with np.errstate(all="ignore"):
                wanted = evaluate(np, *map(np.asarray, values[:count]), **static)
            if np.isrealobj(wanted):
                assert got == pytest.approx(float(wanted), rel=1e-12, abs=1e-12, nan_ok=True), (name, values)


ENDLESS = (
    "def kernel(run, x, r):\n    while x > 0.0:\n        poll(run)\n        x = x + 1.0\n    r[0] = x\n    return 0\n"
)


def test_ctrl_c_stops_a_kernel() -> None:
    run = entry(ENDLESS, [FLOAT], [FLOAT])
    timer = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        run(1.0, patient=False)
    timer.join()
    assert run(-1.0)[0] == (-1.0,)


def test_a_time_limit_stops_a_kernel() -> None:
    run = entry(ENDLESS, [FLOAT], [FLOAT])
    limits = enforced(None, None, 0.2)
    try:
        limits.__enter__()
        with pytest.raises(AdiffError, match="time limit"):
            run(1.0, patient=False)
    finally:
        limits.lift()
    assert run(-1.0, patient=False)[0] == (-1.0,)


def test_threads_run_one_kernel_at_once() -> None:
    run = entry(LOOP, [FLOAT, INT], [FLOAT, FLOAT], slots=1)
    wanted = [run(0.01 * k, 20_000) for k in range(8)]
    found: list[Any] = [None] * 8
    threads = [
        threading.Thread(target=lambda k=k: found.__setitem__(k, run(0.01 * k, 20_000))) for k in range(8)
    ]  # fmt: skip
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == wanted


def test_a_power_may_have_an_integer_exponent() -> None:
    text = "def kernel(run, x, r):\n    r[0] = math.sin(x / 2) ** 2 + x**-1\n    return 0\n"
    (value,), _ = entry(text, [FLOAT], [FLOAT])(0.7)
    assert value == pytest.approx(math.sin(0.35) ** 2 + 1 / 0.7, rel=1e-15)
