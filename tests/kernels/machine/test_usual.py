"""Calls whose results are taken where they are as usual: what is looked at, what is given, and that nobody shares it."""

from __future__ import annotations

import ctypes
import threading

import adiff
import numpy as np
import pytest
from adiff.engine.kernels.compilation import native
from adiff.engine.kernels.emitted import Emitted
from adiff.engine.kernels.ir import Left
from adiff.engine.kernels.machine import code, record, settled, spare, usual

# A value x, an array of n times x in 3 (or 600, or 9000) places, one flag, and a number.
KERNEL = """def kernel(run, n, x, a):
    y = floats(run, 0, {size})
    z = ints(run, 1, 1)
    w = floats(run, 2, n)
    for i in range({size}):
        y[i] = a[i] * x
    for i in range(n):
        w[i] = x
    z[0] = int(x == 5.0)
    if n < 0:
        fail(run, 7, n)
    return x, x == 6.0, y, -x, z
"""
SIZES = [3, 600, 9000]  # copied, made for each call, and written again where nobody holds it


def entry_of(size: int) -> code.Entry:
    results = ["f", "b", (0, "f", size), "f", (1, "i", 1)]
    emitted = Emitted(KERNEL.format(size=size), "ifF", results, 3)
    return code.Entry(emitted, native.compiled(emitted))


def call(kernel: usual.Usual, n: int, x: float, a: np.ndarray, patient: bool = True) -> list[object] | None:
    return kernel([n, x, a], [n, x, record.elements_of(a)], patient)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("n", [4, 100_000])  # little memory, and more than waits with the kernel
@pytest.mark.parametrize("patient", [True, False])
def test_results(size: int, n: int, patient: bool) -> None:
    kernel = usual.Usual(entry_of(size), 4, 1)
    a = np.arange(size) - 1.0
    held = []
    for x in (2.0, 3.0, 0.0, -0.0):
        found = call(kernel, n, x, a, patient)
        assert found is not None
        held.append((x, found))
    for x, (value, y, z) in held:  # nothing is written again that a caller holds
        assert (value, z) == (x, -x)
        assert np.signbit(value) == np.signbit(x)
        np.testing.assert_array_equal(y, a * x)
        # Derivatives have no zeros with a sign.
        assert not np.signbit(y[y == 0]).any()
        assert z != 0 or not np.signbit(z)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("n", [4, 100_000])
def test_what_is_unusual(size: int, n: int) -> None:
    kernel = usual.Usual(entry_of(size), 4, 1)
    a = np.ones(size)
    for x in (5.0, 6.0, np.inf, -np.inf, np.nan):  # a flag, a truth value, and what is not finite
        assert call(kernel, n, x, a) is None
    for place in (0, size - 1):
        for odd in (np.inf, np.nan):
            b = a.copy()
            b[place] = odd
            assert call(kernel, n, 2.0, b) is None
    assert call(kernel, n, 2.0, np.full(size, 1e308)) is None
    assert call(kernel, n, 1.0, np.full(size, 1e308)) is not None


def test_a_kernel_that_leaves() -> None:
    kernel = usual.Usual(entry_of(3), 4, 1)
    assert call(kernel, -1, 2.0, np.ones(3)) is None
    with pytest.raises(Left):
        call(kernel, -1, 2.0, np.ones(3), patient=False)
    assert call(kernel, 4, 2.0, np.ones(3)) is not None


def test_much_memory_and_large_results_serve_the_next_call() -> None:
    kernel = usual.Usual(entry_of(9000), 4, 1)
    a = np.arange(9000.0)
    addresses = []
    for k in range(4):
        found = call(kernel, 100_000, 2.0 + k / 2, a)
        assert found is not None
        (left,) = [left for owner, left in spare.SPARE.items() if owner is kernel.frames]
        assert left.size == 800_000
        assert left.result_size == 72_000
        words = left.record[record.FIRST_SLOT : record.FIRST_SLOT + 3 * record.SLOT_WORDS : record.SLOT_WORDS]
        addresses.append((words[2], words[0], record.elements_of(found[1])))
        assert addresses[-1][1] == addresses[-1][2]
        if k == 1:
            kept = found[1]  # somebody holds it
        del found
    assert len({taken for taken, _, _ in addresses}) == 1
    assert addresses[0] == addresses[1]
    assert addresses[2][1] != addresses[1][1]
    assert addresses[2] == addresses[3]
    np.testing.assert_array_equal(kept, a * 2.5)
    frames = kernel.frames
    del kernel, left
    assert frames not in spare.SPARE


@pytest.mark.parametrize(("size", "n"), [(3, 50), (9000, 20_000)])
def test_threads_have_frames_of_their_own(size: int, n: int) -> None:
    kernel = usual.Usual(entry_of(size), 4, 1)
    wrong: list[object] = []

    def work(x: float) -> None:
        a = np.arange(size) + x
        for _ in range(2000 if size == 3 else 200):
            found = call(kernel, n, x, a)
            if found is None or found[0] != x or not np.array_equal(found[1], a * x):
                wrong.append(found)

    threads = [threading.Thread(target=work, args=(10.0 + k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_addresses_are_numpys_own() -> None:
    whole = np.arange(10.0)
    frozen = np.arange(3.0)
    frozen.flags.writeable = False
    for array in (
        whole,
        whole[3:],
        frozen,
        np.empty(0),
        np.arange(6).reshape(2, 3),
        np.asfortranarray(np.ones((2, 3))),
    ):
        assert record.elements_of(array) == array.ctypes.data


def test_what_looks_is_kept(tmp_path: object, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another process loads it; a damaged entry is made again; and it is the same for every kernel."""
    monkeypatch.setenv("ADIFF_CACHE_DIR", str(tmp_path))
    made: list[str] = []
    original = native.object_code
    monkeypatch.setattr(native, "object_code", lambda text, *more: made.append(text) or original(text, *more))
    for _ in range(2):
        settled.FUNCTION.clear()
        values = np.array([-0.0, 1.0])
        plan = settled.plan_of([(settled.DERIVATIVE, values.ctypes.data, 2)])
        assert settled.settle()(ctypes.addressof(plan)) == 0
        assert not np.signbit(values).any()
    assert len(made) == 1
    settled.FUNCTION.clear()


def test_a_view_that_is_not_aligned_is_copied() -> None:
    program = adiff.program("sum(x**3)")
    run = program.repeated("grad", {"x": np.arange(3.0)}, engine="kernel")
    bytes_of = np.zeros(25, np.uint8)
    odd = bytes_of[1:].view(np.float64)
    odd[:] = [1.0, 2.0, 3.0]
    assert run.direct is not None
    found = run.direct({"x": odd}, {})
    assert found is not None
    np.testing.assert_array_equal(found.gradients["x"], [3.0, 12.0, 27.0])
