"""Memory that kernels leave to their next call: whose it is, how much it is, and when it goes."""

from __future__ import annotations

import gc
import threading

import numpy as np
import pytest
from adiff.engine.kernels.compilation import native
from adiff.engine.kernels.emitted import Emitted
from adiff.engine.kernels.ir import Left
from adiff.engine.kernels.machine import code, record, spare

LENGTH = 20_000
# A result y, of x twice over in memory slot 1.
DOUBLED = f"""def kernel(run, x):
    y = floats(run, 0, {LENGTH})
    w = floats(run, 1, {LENGTH})
    for i in range({LENGTH}):
        w[i] = x + i
    for i in range({LENGTH}):
        y[i] = 2.0 * w[i]
    return (y,)
"""
# Two slots, of n and m numbers.
TWO = """def kernel(run, n, m):
    a = ints(run, 0, n)
    b = ints(run, 1, m)
    for i in range(n):
        a[i] = i
    for i in range(m):
        b[i] = 2 * i
    s = 0
    for i in range(n):
        s += a[i]
    for i in range(m):
        s += b[i]
    return (s,)
"""


@pytest.fixture(autouse=True)
def nothing_waits() -> None:
    for owner in list(spare.SPARE):
        spare.forget(owner)


def doubled() -> code.Entry:
    emitted = Emitted(DOUBLED, "f", [(0, "f", LENGTH)], 2)
    return code.Entry(emitted, native.compiled(emitted))


def two() -> code.Entry:
    emitted = Emitted(TWO, "ii", ["i"], 2)
    return code.Entry(emitted, native.compiled(emitted))


def expected(x: float) -> np.ndarray:
    return 2.0 * (x + np.arange(LENGTH))


def test_a_result_that_is_held_is_not_written_again() -> None:
    entry = doubled()
    (first,) = entry(1.0)
    (part,) = (y[5:] for y in entry(2.0))
    (last,) = entry(3.0)
    np.testing.assert_array_equal(first, expected(1.0))
    np.testing.assert_array_equal(part, expected(2.0)[5:])
    np.testing.assert_array_equal(last, expected(3.0))


def test_a_result_that_nobody_holds_is_the_next_ones_memory() -> None:
    entry = doubled()
    place = record.address_of(entry(1.0)[0])
    (again,) = entry(2.0)
    assert record.address_of(again) == place
    np.testing.assert_array_equal(again, expected(2.0))


def test_a_result_that_was_made_read_only_is_not_given_out_again() -> None:
    entry = doubled()
    entry(1.0)[0].flags.writeable = False
    (again,) = entry(2.0)
    assert again.flags.writeable


@pytest.mark.parametrize("change", [("shape", (2, LENGTH // 2)), ("dtype", np.int64), ("shape", (LENGTH, 1))])
def test_a_result_that_was_changed_in_place_is_not_given_out_again(change: tuple[str, object]) -> None:
    entry = doubled()
    setattr(entry(1.0)[0], *change)
    (again,) = entry(2.0)
    np.testing.assert_array_equal(again, expected(2.0), strict=True)


def test_what_waits_is_the_kernels_that_ran_last_up_to_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    bytes_of_one = 2 * 8 * LENGTH
    monkeypatch.setattr(spare, "LIMIT", 2 * bytes_of_one)
    entries = [doubled() for _ in range(3)]
    for entry in entries:
        entry(1.0)
    assert list(spare.SPARE) == [entry.owner for entry in entries[1:]]
    monkeypatch.setattr(spare, "LIMIT", bytes_of_one - 1)
    entries[2](1.0)
    assert [(s.size, s.results) for s in spare.SPARE.values()] == [(bytes_of_one // 2, {})]
    monkeypatch.setattr(spare, "LIMIT", 0)
    entries[2](1.0)
    assert not spare.SPARE


def test_what_waits_goes_with_the_kernel() -> None:
    entry = doubled()
    entry(1.0)
    assert list(spare.SPARE) == [entry.owner]
    del entry
    gc.collect()
    assert not spare.SPARE


def test_the_limit_of_memory_is_that_of_each_call() -> None:
    entry = two()
    total = 8 * 1000
    assert entry(1000, 0, memory=total) == (499_500,)
    # The slots have changed places: what waits is of no use, and must not count.
    assert entry(0, 1000, memory=total) == (999_000,)
    assert entry(500, 500, memory=total) == (124_750 + 249_500,)
    with pytest.raises(Left):
        entry(501, 500, memory=total)
    assert entry(10, 10, memory=8 * 20) == (135,)


def test_threads_do_not_share_what_waits() -> None:
    entry = doubled()
    wrong: list[float] = []

    def run(x: float) -> None:
        for k in range(50):
            (y,) = entry(x + k)
            if not np.array_equal(y, expected(x + k)):
                wrong.append(x + k)

    threads = [threading.Thread(target=run, args=(1000.0 * k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
