"""Calls of kernels that take little memory: what is used again, by whom, and when it goes."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from adiff.engine.kernels.compilation import native
from adiff.engine.kernels.emitted import Emitted
from adiff.engine.kernels.ir import Left
from adiff.engine.kernels.machine import code, frames, record, spare

# The first n squares times x in memory slot 1, and a result y of 3 numbers; a check that fails for negative n.
SQUARES = """def kernel(run, n, x):
    y = floats(run, 0, 3)
    w = floats(run, 1, n)
    for i in range(n):
        w[i] = x * i * i
    if n < 0:
        fail(run, 7, n)
    for i in range(3):
        y[i] = w[i]
    s = 0.0
    for i in range(n):
        s += w[i]
    return s, y
"""
LITTLE = frames.LITTLE // 8


@pytest.fixture
def squares() -> code.Entry:
    emitted = Emitted(SQUARES, "if", ["f", (0, "f", 3)], 2)
    return code.Entry(emitted, native.compiled(emitted))


def check(found: tuple[object, ...], n: int, x: float) -> None:
    total, y = found
    assert total == pytest.approx(x * (n - 1) * n * (2 * n - 1) / 6)
    np.testing.assert_array_equal(y, [0.0, x, 4.0 * x])


def slot(frame: frames.Frame, entry: code.Entry) -> tuple[int, int]:
    """The address and the bytes of the memory that the kernel took."""
    place = entry.taken[0]
    return frame.run[place], frame.run[place + record.CAPACITY]


def test_memory_and_record_serve_the_next_call(squares: code.Entry) -> None:
    check(squares(100, 2.0), 100, 2.0)
    (frame,) = squares.frames.waiting
    before = slot(frame, squares)
    assert before[1] == 800
    check(squares(50, 3.0), 50, 3.0)
    assert squares.frames.waiting == [frame]
    assert slot(frame, squares) == before
    check(squares(200, 1.0), 200, 1.0)
    assert slot(frame, squares)[1] == 1600


def test_results_are_nobody_elses(squares: code.Entry) -> None:
    first, second = squares(5, 1.0), squares(5, 2.0)
    check(first, 5, 1.0)
    check(second, 5, 2.0)


def test_much_memory_is_left_where_others_may_have_its_place(squares: code.Entry) -> None:
    check(squares(LITTLE, 1.0), LITTLE, 1.0)
    assert len(squares.frames.waiting) == 1
    check(squares(LITTLE + 1, 1.0), LITTLE + 1, 1.0)
    assert not squares.frames.waiting
    assert not squares.frames.suffice
    assert squares.owner not in spare.SPARE
    check(squares(LITTLE + 1, 2.0), LITTLE + 1, 2.0)
    assert squares.owner in spare.SPARE


def test_a_call_that_fails_leaves_nothing_behind(squares: code.Entry) -> None:
    check(squares(10, 1.0), 10, 1.0)
    with pytest.raises(Left) as left:
        squares(-4, 1.0)
    assert (left.value.why, left.value.where, left.value.number) == (record.FAILED, 7, -4)
    assert not squares.frames.waiting
    check(squares(10, 2.0), 10, 2.0)
    assert squares.frames.waiting[0].run[record.WHY] == 0


def test_a_limit_of_memory_is_none_of_a_frames(squares: code.Entry) -> None:
    check(squares(100, 1.0), 100, 1.0)
    with pytest.raises(Left):
        squares(100, 1.0, memory=799)
    check(squares(100, 1.0, memory=800), 100, 1.0)


def test_threads_have_frames_of_their_own(squares: code.Entry) -> None:
    wrong: list[BaseException] = []
    start = threading.Barrier(4)

    def work(x: float) -> None:
        start.wait()
        try:
            for n in range(3, 300):
                check(squares(n, x), n, x)
        except BaseException as error:
            wrong.append(error)

    threads = [threading.Thread(target=work, args=(float(k),)) for k in range(1, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    assert 1 <= len(squares.frames.waiting) <= 4


def test_the_memory_goes_with_the_kernel(squares: code.Entry, monkeypatch: pytest.MonkeyPatch) -> None:
    squares(10, 1.0)
    freed: list[int] = []
    free = spare.free
    monkeypatch.setattr(spare, "free", lambda words, taken: (freed.append(words[taken[0]]), free(words, taken)))
    (frame,) = squares.frames.waiting
    address, _ = slot(frame, squares)
    squares.frames.clear()
    assert freed == [address]
    assert not squares.frames.waiting
